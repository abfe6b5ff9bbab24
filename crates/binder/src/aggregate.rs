//! Aggregates, collected by the SELECT they belong to.

use syntax::ast;
use types::{Len, SqlType};

use crate::context::{Binder, Clause};
use crate::error::{BindError, Result};
use crate::ir::*;

impl Binder<'_> {
    /// A call of an aggregate: its argument is bound here, its value becomes a column of the
    /// grouping. 147, 130.
    #[inline(never)]
    pub fn aggregate(&mut self, f: &ast::FunctionCall, func: AggFunc, line: u32) -> Result<Expr> {
        match self.selects.last() {
            Some(s) if s.in_aggregate => {
                return Err(BindError::new(
                    130,
                    16,
                    line,
                    "Cannot perform an aggregate function on an expression containing an aggregate \
                     or a subquery.",
                ));
            }
            Some(s)
                if matches!(s.clause, Clause::SelectList | Clause::Having | Clause::OrderBy) => {}
            Some(s) if s.clause == Clause::GroupBy => {
                return Err(BindError::new(
                    144,
                    15,
                    line,
                    "Cannot use an aggregate or a subquery in an expression used for the group by \
                     list of a GROUP BY clause.",
                ));
            }
            _ => {
                return Err(BindError::new(
                    147,
                    15,
                    line,
                    "An aggregate may not appear in the WHERE clause unless it is in a subquery \
                     contained in a HAVING clause or a select list, and the column being \
                     aggregated is an outer reference.",
                ));
            }
        }
        if let Some(s) = self.selects.last_mut() {
            s.in_aggregate = true;
        }
        let arg = match func {
            AggFunc::StringAgg => self.joining(f, line),
            AggFunc::PercentileCont | AggFunc::PercentileDisc => {
                self.approximate_percentile(f, func, line)
            }
            _ => self.aggregate_arg(f, func, line).map(|(arg, ty)| (arg, ty, None)),
        };
        if let Some(s) = self.selects.last_mut() {
            s.in_aggregate = false;
        }
        let (arg, ty, joining) = arg?;
        let nullable = !matches!(func, AggFunc::Count | AggFunc::CountBig);
        // Counted exactly: that is within what the approximation promises.
        let approximate = f.name.name.is("APPROX_COUNT_DISTINCT");
        let distinct = (f.distinct || approximate) && !matches!(func, AggFunc::Min | AggFunc::Max);
        let state = self.selects.last().expect("checked above");
        let known = state
            .aggs
            .iter()
            .find(|a| {
                a.func == func && a.distinct == distinct && a.arg == arg && a.joining == joining
            })
            .map(|a| a.out);
        let out = match known {
            Some(out) => out,
            None => {
                let out = self.new_col();
                let agg = Aggregate { out, func, distinct, arg, joining, ty };
                self.selects.last_mut().expect("checked above").aggs.push(agg);
                out
            }
        };
        Ok(Expr::col(out, ty, nullable))
    }

    /// STRING_AGG: 174, 8733.
    fn joining(
        &mut self,
        f: &ast::FunctionCall,
        line: u32,
    ) -> Result<(Option<Expr>, SqlType, Option<Box<Joining>>)> {
        let [arg, separator] = &f.args[..] else {
            return Err(BindError::new(
                174,
                15,
                line,
                "The string_agg function requires 2 argument(s).",
            ));
        };
        if f.distinct {
            return Err(BindError::new(102, 15, line, "Incorrect syntax near ','."));
        }
        let arg = self.expr(arg)?;
        let ty = match arg.ty {
            SqlType::NVarChar(Len::Max) => SqlType::NVarChar(Len::Max),
            SqlType::VarChar(Len::Max) => SqlType::VarChar(Len::Max),
            SqlType::VarChar(_) | SqlType::Char(_) => SqlType::VarChar(Len::N(8000)),
            _ => SqlType::NVarChar(Len::N(4000)),
        };
        let arg = self.coerce(arg, ty, CastMode::Implicit)?;
        let separator = self.expr(separator)?;
        let reads = separator.any(&mut |e| {
            let users = matches!(e.kind, ExprKind::Func { func: FuncId::User(_), .. });
            users || matches!(e.kind, ExprKind::Col(_) | ExprKind::Subquery { .. })
        });
        if reads {
            return Err(BindError::new(
                8733,
                16,
                line,
                "Separator parameter for STRING_AGG function must be a string literal or variable.",
            ));
        }
        let separator = self.coerce(separator, ty, CastMode::Implicit)?;
        let order = self.window_order(&f.within_group, line)?;
        Ok((Some(arg), ty, Some(Box::new(Joining { separator, order }))))
    }

    /// The argument as the aggregate takes it, and the type of the result.
    pub fn aggregate_arg(
        &mut self,
        f: &ast::FunctionCall,
        func: AggFunc,
        line: u32,
    ) -> Result<(Option<Expr>, SqlType)> {
        let name = f.name.name.value.to_lowercase();
        if !f.within_group.is_empty() {
            return Err(BindError::new(
                10757,
                15,
                line,
                format!("The function '{}' may not have a WITHIN GROUP clause.", f.name.name.value),
            ));
        }
        if f.star {
            return match func {
                AggFunc::Count => Ok((None, SqlType::Int)),
                AggFunc::CountBig => Ok((None, SqlType::BigInt)),
                _ => Err(BindError::new(102, 15, line, "Incorrect syntax near '*'.")),
            };
        }
        if f.args.len() != 1 {
            return Err(BindError::new(
                174,
                15,
                line,
                format!("The {name} function requires 1 argument(s)."),
            ));
        }
        let arg = self.expr(&f.args[0])?;
        let invalid = |ty: SqlType| {
            BindError::new(
                8117,
                16,
                line,
                format!(
                    "Operand data type {} is invalid for {name} operator.",
                    if arg.is_null_constant() { "NULL" } else { ty.message_name() }
                ),
            )
        };
        if arg.ty == SqlType::Xml
            && (f.distinct || !matches!(func, AggFunc::Count | AggFunc::CountBig))
        {
            return Err(invalid(arg.ty));
        }
        match func {
            AggFunc::Count => Ok((Some(arg), SqlType::Int)),
            AggFunc::CountBig => Ok((Some(arg), SqlType::BigInt)),
            AggFunc::Min | AggFunc::Max => {
                let ty = arg.ty;
                if ty == SqlType::Bit || arg.is_null_constant() {
                    return Err(invalid(ty));
                }
                Ok((Some(arg), ty))
            }
            AggFunc::Sum | AggFunc::Avg => {
                if !arg.ty.is_numeric() || arg.ty == SqlType::Bit || arg.is_null_constant() {
                    return Err(invalid(arg.ty));
                }
                let (operand, result) = match arg.ty {
                    SqlType::TinyInt | SqlType::SmallInt | SqlType::Int => {
                        (SqlType::Int, SqlType::Int)
                    }
                    SqlType::SmallMoney | SqlType::Money => (SqlType::Money, SqlType::Money),
                    SqlType::Real | SqlType::Float => (SqlType::Float, SqlType::Float),
                    SqlType::Decimal { scale, numeric, .. } => {
                        let scale = if func == AggFunc::Avg { scale.max(6) } else { scale };
                        (arg.ty, SqlType::Decimal { precision: 38, scale, numeric })
                    }
                    ty => (ty, ty),
                };
                let arg = self.coerce(arg, operand, CastMode::Implicit)?;
                Ok((Some(arg), result))
            }
            AggFunc::ChecksumAgg => {
                if !arg.ty.is_integer() || arg.is_null_constant() {
                    return Err(invalid(arg.ty));
                }
                let arg = self.coerce(arg, SqlType::Int, CastMode::Implicit)?;
                Ok((Some(arg), SqlType::Int))
            }
            AggFunc::StDev | AggFunc::StDevP | AggFunc::Var | AggFunc::VarP => {
                if !arg.ty.is_numeric() || arg.is_null_constant() {
                    return Err(invalid(arg.ty));
                }
                let arg = self.coerce(arg, SqlType::Float, CastMode::Implicit)?;
                Ok((Some(arg), SqlType::Float))
            }
            AggFunc::StringAgg | AggFunc::PercentileCont | AggFunc::PercentileDisc => {
                Err(invalid(arg.ty))
            }
        }
    }
}
