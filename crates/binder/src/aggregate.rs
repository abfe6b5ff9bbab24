//! Aggregates and window functions, collected by the SELECT they belong to.

use syntax::ast;
use types::SqlType;

use crate::context::{Binder, Clause};
use crate::error::{BindError, Result};
use crate::functions::aggregate_func;
use crate::ir::*;

impl Binder<'_> {
    /// A call of an aggregate: its argument is bound here, its value becomes a column of the
    /// grouping. 147, 130.
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
        let arg = self.aggregate_arg(f, func, line);
        if let Some(s) = self.selects.last_mut() {
            s.in_aggregate = false;
        }
        let (arg, ty) = arg?;
        let nullable = !matches!(func, AggFunc::Count | AggFunc::CountBig);
        // Counted exactly: that is within what the approximation promises.
        let approximate = f.name.name.is("APPROX_COUNT_DISTINCT");
        let distinct = (f.distinct || approximate) && !matches!(func, AggFunc::Min | AggFunc::Max);
        let state = self.selects.last().expect("checked above");
        let known = state
            .aggs
            .iter()
            .find(|a| a.func == func && a.distinct == distinct && a.arg == arg)
            .map(|a| a.out);
        let out = match known {
            Some(out) => out,
            None => {
                let out = self.new_col();
                let agg = Aggregate { out, func, distinct, arg, ty };
                self.selects.last_mut().expect("checked above").aggs.push(agg);
                out
            }
        };
        Ok(Expr::col(out, ty, nullable))
    }

    /// The argument as the aggregate takes it, and the type of the result.
    fn aggregate_arg(
        &mut self,
        f: &ast::FunctionCall,
        func: AggFunc,
        line: u32,
    ) -> Result<(Option<Expr>, SqlType)> {
        let name = f.name.name.value.to_lowercase();
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
                    SqlType::Decimal { scale, .. } => {
                        let scale = if func == AggFunc::Avg { scale.max(6) } else { scale };
                        (arg.ty, SqlType::Decimal { precision: 38, scale })
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
        }
    }

    /// A call with OVER: 4108 outside select list and ORDER BY.
    pub fn window(
        &mut self,
        f: &ast::FunctionCall,
        name: &str,
        over: &ast::Over,
        line: u32,
    ) -> Result<Expr> {
        let allowed = self
            .selects
            .last()
            .is_some_and(|s| matches!(s.clause, Clause::SelectList | Clause::OrderBy));
        if !allowed {
            return Err(BindError::new(
                4108,
                15,
                line,
                "Windowed functions can only appear in the SELECT or ORDER BY clauses.",
            ));
        }
        if over.frame.is_some() {
            return Err(BindError::unsupported("ROWS or RANGE in OVER", line));
        }
        let partition =
            over.partition_by.iter().map(|e| self.expr(e)).collect::<Result<Vec<Expr>>>()?;
        let mut order = Vec::with_capacity(over.order_by.len());
        for item in &over.order_by {
            if matches!(item.expr.kind, ast::ExprKind::Literal(_)) {
                return Err(BindError::new(
                    5308,
                    16,
                    line,
                    "Windowed functions, aggregates and NEXT VALUE FOR functions do not support \
                     integer indices as ORDER BY clause expressions.",
                ));
            }
            let expr = self.expr(&item.expr)?;
            order.push(SortKey { expr, desc: item.descending });
        }
        let needs_order = |ok: bool| {
            if ok {
                return Ok(());
            }
            Err(BindError::new(
                4112,
                15,
                line,
                format!("The function '{name}' must have an OVER clause with ORDER BY."),
            ))
        };
        let mut args = f.args.iter();
        let mut nullable = false;
        let (func, ty) = match name {
            "ROW_NUMBER" | "RANK" | "DENSE_RANK" => {
                needs_order(!order.is_empty())?;
                let func = match name {
                    "ROW_NUMBER" => WindowFunc::RowNumber,
                    "RANK" => WindowFunc::Rank,
                    _ => WindowFunc::DenseRank,
                };
                (func, SqlType::BigInt)
            }
            "NTILE" => {
                needs_order(!order.is_empty())?;
                let Some(count) = args.next() else {
                    return Err(BindError::new(
                        174,
                        15,
                        line,
                        "The ntile function requires 1 argument(s).",
                    ));
                };
                let count = self.expr(count)?;
                let count = self.coerce(count, SqlType::BigInt, CastMode::Implicit)?;
                (WindowFunc::NTile(count), SqlType::BigInt)
            }
            "LAG" | "LEAD" | "FIRST_VALUE" | "LAST_VALUE" => {
                needs_order(!order.is_empty())?;
                let Some(arg) = args.next() else {
                    return Err(BindError::new(
                        174,
                        15,
                        line,
                        format!("The {} function requires 1 argument(s).", name.to_lowercase()),
                    ));
                };
                let arg = self.expr(arg)?;
                let ty = arg.ty;
                nullable = true;
                let offset = match args.next() {
                    Some(e) => {
                        let e = self.expr(e)?;
                        Some(self.coerce(e, SqlType::BigInt, CastMode::Implicit)?)
                    }
                    None => None,
                };
                let default = match args.next() {
                    Some(e) => {
                        let e = self.expr(e)?;
                        Some(self.coerce(e, ty, CastMode::Implicit)?)
                    }
                    None => None,
                };
                let func = match name {
                    "LAG" => WindowFunc::Lag { arg, offset, default },
                    "LEAD" => WindowFunc::Lead { arg, offset, default },
                    "FIRST_VALUE" => WindowFunc::FirstValue(arg),
                    _ => WindowFunc::LastValue(arg),
                };
                (func, ty)
            }
            _ => match aggregate_func(name) {
                Some(func) => {
                    if f.distinct {
                        return Err(BindError::new(
                            10759,
                            15,
                            line,
                            "Use of DISTINCT is not allowed with the OVER clause.",
                        ));
                    }
                    let (arg, ty) = self.aggregate_arg(f, func, line)?;
                    nullable = !matches!(func, AggFunc::Count | AggFunc::CountBig);
                    (WindowFunc::Aggregate { func, arg }, ty)
                }
                None => {
                    return Err(BindError::new(
                        195,
                        15,
                        line,
                        format!("'{}' is not a recognized function name.", f.name.name.value),
                    ));
                }
            },
        };
        let out = self.new_col();
        let window = Window { out, func, partition, order, ty };
        self.selects.last_mut().expect("checked above").windows.push(window);
        Ok(Expr::col(out, ty, nullable))
    }
}
