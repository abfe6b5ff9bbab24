//! Expressions as text, for plans and tests: `($0 + CAST(@v1 AS bigint)) > 5`.

use std::fmt;

use types::{SqlType, Value, format};

use super::expr::*;
use super::query::{AggFunc, SortKey};

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Const(value) => constant(f, value, self.ty),
            ExprKind::Col(id) => write!(f, "#{}", id.0),
            ExprKind::Slot(slot) => write!(f, "${slot}"),
            ExprKind::Param(param) => write!(f, "?{}", param.0),
            ExprKind::Var(var) => write!(f, "@{}", var.0),
            ExprKind::Sys(var) => write!(f, "@@{var:?}"),
            ExprKind::Neg(e) => write!(f, "-{e}"),
            ExprKind::BitNot(e) => write!(f, "~{e}"),
            ExprKind::Arith { op, left, right } => {
                write!(f, "({left} {} {right})", arith_symbol(*op))
            }
            ExprKind::Concat { left, right } => write!(f, "({left} || {right})"),
            ExprKind::Steps(steps) => {
                f.write_str("STEPS[")?;
                commas(f, steps)?;
                f.write_str("]")
            }
            ExprKind::Total => f.write_str("TOTAL"),
            ExprKind::Compare { op, left, right } => write!(f, "{left} {} {right}", op.symbol()),
            ExprKind::And(left, right) => write!(f, "({left} AND {right})"),
            ExprKind::Or(left, right) => write!(f, "({left} OR {right})"),
            ExprKind::Not(e) => write!(f, "NOT ({e})"),
            ExprKind::IsNull { input, negated } => {
                write!(f, "{input} IS {}NULL", if *negated { "NOT " } else { "" })
            }
            ExprKind::Like { input, pattern, escape, negated } => {
                write!(f, "{input} {}LIKE {pattern}", if *negated { "NOT " } else { "" })?;
                escape.iter().try_for_each(|e| write!(f, " ESCAPE {e}"))
            }
            ExprKind::In { input, list, negated } => {
                write!(f, "{input} {}IN (", if *negated { "NOT " } else { "" })?;
                commas(f, list)?;
                f.write_str(")")
            }
            ExprKind::Case { branches, otherwise } => {
                f.write_str("CASE")?;
                for (when, then) in branches {
                    write!(f, " WHEN {when} THEN {then}")?;
                }
                otherwise.iter().try_for_each(|e| write!(f, " ELSE {e}"))?;
                f.write_str(" END")
            }
            ExprKind::Cast { input, mode, style } => {
                let word = match mode {
                    CastMode::Explicit | CastMode::Implicit => "CAST",
                    CastMode::Try => "TRY_CAST",
                    CastMode::Nearest => "NEAREST",
                    CastMode::Latest => "LATEST",
                    CastMode::Store { .. } => "STORE",
                };
                write!(f, "{word}({input} AS {}", self.ty)?;
                style.iter().try_for_each(|s| write!(f, ", {s}"))?;
                f.write_str(")")
            }
            ExprKind::Func { func, args } => {
                write!(f, "{func:?}[")?;
                commas(f, args)?;
                f.write_str("]")
            }
            ExprKind::Xml { method, args } => {
                let (name, query) = method.shown();
                write!(f, "{name} '{query}' [")?;
                commas(f, args)?;
                f.write_str("]")
            }
            ExprKind::Subquery { kind, .. } => {
                subquery(f, kind)?;
                f.write_str("subquery")
            }
            ExprKind::SubPlan { kind, plan } => {
                subquery(f, kind)?;
                write!(f, "plan {}", plan.0)
            }
            ExprKind::NextIdentity => f.write_str("NEXT_IDENTITY"),
        }
    }
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.expr, if self.desc { " DESC" } else { "" })
    }
}

impl fmt::Display for AggFunc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AggFunc::Count => "COUNT",
            AggFunc::CountBig => "COUNT_BIG",
            AggFunc::Sum => "SUM",
            AggFunc::Avg => "AVG",
            AggFunc::Min => "MIN",
            AggFunc::Max => "MAX",
            AggFunc::StDev => "STDEV",
            AggFunc::StDevP => "STDEVP",
            AggFunc::Var => "VAR",
            AggFunc::VarP => "VARP",
            AggFunc::ChecksumAgg => "CHECKSUM_AGG",
            AggFunc::StringAgg => "STRING_AGG",
            AggFunc::PercentileCont => "APPROX_PERCENTILE_CONT",
            AggFunc::PercentileDisc => "APPROX_PERCENTILE_DISC",
            AggFunc::Clr(_, aggregate) => aggregate.name(),
        })
    }
}

fn subquery(f: &mut fmt::Formatter<'_>, kind: &SubqueryKind) -> fmt::Result {
    match kind {
        SubqueryKind::Scalar => Ok(()),
        SubqueryKind::Exists => f.write_str("EXISTS "),
        SubqueryKind::In { needle } => write!(f, "{needle} IN "),
        SubqueryKind::Quantified { needle, op, all } => {
            write!(f, "{needle} {} {} ", op.symbol(), if *all { "ALL" } else { "ANY" })
        }
    }
}

fn commas(f: &mut fmt::Formatter<'_>, list: &[Expr]) -> fmt::Result {
    for (i, e) in list.iter().enumerate() {
        write!(f, "{}{e}", if i > 0 { ", " } else { "" })?;
    }
    Ok(())
}

/// As T-SQL writes it; with its type where the text alone would be read as another.
fn constant(f: &mut fmt::Formatter<'_>, value: &Value, ty: SqlType) -> fmt::Result {
    match value {
        Value::Null => f.write_str("NULL"),
        Value::Str(text) => {
            let trimmed = text.trim_end_matches(' ');
            write!(f, "'{}'", trimmed.replace('\'', "''"))
        }
        Value::Int(_) | Value::Binary(_) | Value::Float(_) => {
            f.write_str(&format::shell(value, ty))
        }
        _ => write!(f, "{} {}", ty.name(), format::shell(value, ty)),
    }
}
