//! Expressions as SQL Server's plans show them: `[t].[dbo].[p].[id]<(3)`, `CONVERT_IMPLICIT(bigint,[@i],0)`.

use super::Show;
use ir::{AggFunc, CastMode, Expr, ExprKind, FuncId, SubqueryKind, WindowFunc, arith_symbol};
use types::{SqlType, Value, format};

/// Stands in a text for the part of a run before it; no text of a query holds it.
const TOTAL: char = '\u{0}';

impl Show<'_> {
    /// An expression over a row whose slots have these names. Subqueries in it are noted.
    pub(super) fn scalar(&mut self, e: &Expr, slots: &[String]) -> String {
        let mut inner = |e: &Expr| self.scalar(e, slots);
        match &e.kind {
            ExprKind::Const(value) => constant(value, e.ty),
            ExprKind::Slot(i) => slots.get(*i as usize).cloned().unwrap_or_default(),
            ExprKind::Col(id) => format!("[Col{}]", id.0),
            ExprKind::Param(p) => self.params.get(&p.0).cloned().unwrap_or_default(),
            ExprKind::Var(v) => match self.vars.get(v.0 as usize) {
                Some(name) => format!("[{name}]"),
                None => format!("[@{}]", v.0),
            },
            ExprKind::Sys(var) => format!("@@{}", format!("{var:?}").to_lowercase()),
            ExprKind::Neg(e) => format!("-{}", inner(e)),
            ExprKind::BitNot(e) => format!("~{}", inner(e)),
            ExprKind::Arith { op, left, right } => {
                format!(
                    "{}{}{}",
                    group(inner(left), left),
                    arith_symbol(*op),
                    group(inner(right), right)
                )
            }
            ExprKind::Concat { left, right } => format!("{}+{}", inner(left), inner(right)),
            // What a part begins with is put in its place: as the run was written.
            ExprKind::Steps(steps) => steps
                .iter()
                .fold(String::new(), |total, step| inner(step).replacen(TOTAL, &total, 1)),
            ExprKind::Total => TOTAL.to_string(),
            ExprKind::Compare { op, left, right } => {
                format!("{}{}{}", inner(left), op.symbol(), inner(right))
            }
            ExprKind::And(a, b) => format!("{} AND {}", either(inner(a), a), either(inner(b), b)),
            ExprKind::Or(a, b) => format!("{} OR {}", inner(a), inner(b)),
            ExprKind::Not(e) => format!("NOT ({})", inner(e)),
            ExprKind::IsNull { input, negated } => {
                format!("{} IS {}NULL", inner(input), if *negated { "NOT " } else { "" })
            }
            ExprKind::Like { input, pattern, escape, negated } => {
                let not = if *negated { "NOT " } else { "" };
                let mut text = format!("{not}{} like {}", inner(input), inner(pattern));
                if let Some(escape) = escape {
                    text += &format!(" escape {}", inner(escape));
                }
                text
            }
            ExprKind::In { input, list, negated } => {
                let input = inner(input);
                let (op, word) = if *negated { ("<>", " AND ") } else { ("=", " OR ") };
                let all: Vec<String> =
                    list.iter().map(|e| format!("{input}{op}{}", inner(e))).collect();
                all.join(word)
            }
            ExprKind::Case { branches, otherwise } => {
                let mut text = "CASE".to_owned();
                for (when, then) in branches {
                    text += &format!(" WHEN {} THEN {}", inner(when), inner(then));
                }
                let otherwise = otherwise.as_ref().map_or("NULL".to_owned(), |e| inner(e));
                text + &format!(" ELSE {otherwise} END")
            }
            ExprKind::Cast { input, mode, style } => {
                let word = match mode {
                    CastMode::Explicit => "CONVERT",
                    CastMode::Try => "TRY_CAST",
                    CastMode::Implicit
                    | CastMode::Nearest
                    | CastMode::Latest
                    | CastMode::Store { .. } => "CONVERT_IMPLICIT",
                };
                let inner = inner(input);
                match mode {
                    // Nothing is converted: only checked.
                    CastMode::Store { .. } if input.ty == e.ty => inner,
                    _ => format!("{word}({},{inner},{})", e.ty, style.unwrap_or(0)),
                }
            }
            ExprKind::Func { func: FuncId::Clr(method), args } => {
                let row = method.row();
                let mut args: Vec<String> = args.iter().map(&mut inner).collect();
                let of = match row.is_static {
                    true => format!("{}::", row.owner.name()),
                    false => format!("{}.", args.remove(0)),
                };
                match row.is_property {
                    true => format!("{of}{}", row.name),
                    false => format!("{of}{}({})", row.name, args.join(",")),
                }
            }
            ExprKind::Func { func, args } => {
                let shown = format!("{func:?}").to_lowercase();
                let (name, part) = match shown.split_once('(') {
                    Some((name, part)) => {
                        (name.to_owned(), Some(part.trim_end_matches(')').to_owned()))
                    }
                    None => (shown, None),
                };
                let args = args.iter().map(&mut inner);
                let all: Vec<String> = part.into_iter().chain(args).collect();
                format!("{name}({})", all.join(","))
            }
            ExprKind::Xml { method, args } => {
                let (name, query) = method.shown();
                let args: Vec<String> = args.iter().map(&mut inner).collect();
                format!("{name}('{query}',{})", args.join(","))
            }
            ExprKind::SubPlan { kind, plan } => {
                let name = self.subquery(plan.0, slots);
                match kind {
                    SubqueryKind::Scalar | SubqueryKind::Exists => name,
                    SubqueryKind::In { needle } => {
                        format!("{}={name}", self.scalar(needle, slots))
                    }
                    SubqueryKind::Quantified { needle, op, .. } => {
                        format!("{}{}{name}", self.scalar(needle, slots), op.symbol())
                    }
                }
            }
            ExprKind::Subquery { .. } => "[subquery]".to_owned(),
            ExprKind::NextIdentity => "getidentity()".to_owned(),
        }
    }

    /// Several, with commas.
    pub(super) fn scalars(&mut self, list: &[Expr], slots: &[String]) -> String {
        let all: Vec<String> = list.iter().map(|e| self.scalar(e, slots)).collect();
        all.join(", ")
    }

    /// An aggregate.
    pub(super) fn aggregate(
        &mut self,
        func: AggFunc,
        distinct: bool,
        arg: Option<&Expr>,
        slots: &[String],
    ) -> String {
        let arg = arg.map_or("*".to_owned(), |e| self.scalar(e, slots));
        let func = match func {
            AggFunc::Count | AggFunc::CountBig => "Count".to_owned(),
            other => other.to_string(),
        };
        format!("{func}({}{arg})", if distinct { "DISTINCT " } else { "" })
    }

    /// A window function.
    pub(super) fn window_function(&mut self, func: &WindowFunc, slots: &[String]) -> String {
        match func {
            WindowFunc::RowNumber => "row_number".into(),
            WindowFunc::Rank => "rank".into(),
            WindowFunc::DenseRank => "dense_rank".into(),
            WindowFunc::NTile(n) => format!("ntile({})", self.scalar(n, slots)),
            WindowFunc::Aggregate { func, arg } => {
                self.aggregate(*func, false, arg.as_ref(), slots)
            }
            WindowFunc::Lag { arg, .. } => format!("LAG({})", self.scalar(arg, slots)),
            WindowFunc::Lead { arg, .. } => format!("LEAD({})", self.scalar(arg, slots)),
            WindowFunc::FirstValue { arg, .. } => {
                format!("FIRST_VALUE({})", self.scalar(arg, slots))
            }
            WindowFunc::LastValue { arg, .. } => {
                format!("LAST_VALUE({})", self.scalar(arg, slots))
            }
            WindowFunc::PercentRank => "percent_rank".into(),
            WindowFunc::CumeDist => "cume_dist".into(),
            WindowFunc::PercentileCont { at, .. } => {
                format!("PERCENTILE_CONT({})", self.scalar(at, slots))
            }
            WindowFunc::PercentileDisc { at, .. } => {
                format!("PERCENTILE_DISC({})", self.scalar(at, slots))
            }
        }
    }
}

/// In parentheses where it is itself an operation.
fn group(text: String, e: &Expr) -> String {
    match e.kind {
        ExprKind::Arith { .. } | ExprKind::Concat { .. } => format!("({text})"),
        _ => text,
    }
}

fn either(text: String, e: &Expr) -> String {
    match e.kind {
        ExprKind::Or(..) | ExprKind::In { .. } => format!("({text})"),
        _ => text,
    }
}

fn constant(value: &Value, ty: SqlType) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Str(text) => {
            let prefix =
                if matches!(ty, SqlType::NChar(_) | SqlType::NVarChar(_)) { "N" } else { "" };
            format!("{prefix}{}", quoted(text.trim_end_matches(' ')))
        }
        _ if ty.is_temporal() => quoted(&format::shell(value, ty)),
        _ => format!("({})", format::shell(value, ty)),
    }
}
