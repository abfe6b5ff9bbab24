//! Aggregates, collected by the SELECT they belong to.
//!
//! An aggregate over an outer reference is the outer query's: `SELECT (SELECT MAX(t.a)) FROM t` is one row. Inside, its
//! value is a column of that query's grouping like any other. Source: messages 147, 8124 and 4101, and the SQL standard.

use ir::*;
use syntax::ast;
use types::{Len, SqlType};

use crate::context::{Binder, Clause, Place};
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A call of an aggregate: its argument is bound here, its value becomes a column of the
    /// grouping, of this SELECT or of one around it. 147, 130.
    #[inline(never)]
    pub fn aggregate(&mut self, f: &ast::FunctionCall, func: AggFunc, line: u32) -> Result<Expr> {
        let Some(state) = self.selects.last_mut() else {
            return Err(
                self.no_grouping(self.scopes.last().map_or(Place::Other, |s| s.place), line)
            );
        };
        if state.in_aggregate {
            return Err(nested(line));
        }
        state.in_aggregate = true;
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
        let mut agg = Aggregate {
            out: ColId(0),
            func,
            distinct,
            arg,
            joining,
            warns: func.warns_of_null() && !approximate,
            ty,
        };
        let mut queries = false;
        agg.for_each_arg(&mut |e| {
            queries |= e.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. }));
        });
        if queries {
            return Err(nested(line));
        }
        let owner = self.owner(&agg, line)?;
        let known = self.selects[owner]
            .aggs
            .iter()
            .find(|a| {
                a.func == func
                    && a.distinct == distinct
                    && a.arg == agg.arg
                    && a.joining == agg.joining
            })
            .map(|a| a.out);
        let out = match known {
            Some(out) => out,
            None => {
                agg.out = self.new_col();
                let out = agg.out;
                if func == AggFunc::StringAgg {
                    self.note_plain([(out, ty)].into_iter());
                }
                self.selects[owner].aggs.push(agg);
                out
            }
        };
        Ok(Expr::col(out, ty, nullable))
    }

    /// The SELECT whose rows an aggregate is of: that of its column, also where that is an outer reference, else the one
    /// around it. It has to be in a clause that comes after the grouping. 8124, 4101 and those of [`Self::no_grouping`].
    fn owner(&self, agg: &Aggregate, line: u32) -> Result<usize> {
        let here = self.selects.len() - 1;
        let mut columns = Vec::new();
        agg.for_each_arg(&mut |e| e.columns(&mut columns));
        columns.sort_unstable_by_key(|id| id.0);
        columns.dedup();
        let scope_of = |id: &ColId| self.scopes.iter().rposition(|scope| scope.has(*id));
        let scopes: Vec<usize> = columns.iter().filter_map(scope_of).collect();
        let own = self.selects[here].depth - 1;
        let innermost = scopes.iter().copied().max().unwrap_or(own);
        // A computed column may stand for several.
        let several = scopes.len() > 1 && self.volatile.is_empty();
        if scopes.iter().any(|s| *s != innermost) || innermost < own && several {
            return Err(BindError::new(
                8124,
                16,
                line,
                "Multiple columns are specified in an aggregated expression containing an outer reference. If an \
                 expression being aggregated contains an outer reference, then that outer reference must be the only \
                 column referenced in the expression.",
            ));
        }
        let Some(owner) = self.selects.iter().position(|s| s.depth == innermost + 1) else {
            return Err(self.no_grouping(self.scopes[innermost].place, line));
        };
        let state = &self.selects[owner];
        if owner < here && state.in_aggregate {
            return Err(nested(line));
        }
        match state.clause {
            Clause::SelectList | Clause::Having | Clause::OrderBy => Ok(owner),
            Clause::GroupBy => Err(BindError::new(
                144,
                15,
                line,
                "Cannot use an aggregate or a subquery in an expression used for the group by \
                 list of a GROUP BY clause.",
            )),
            Clause::On => Err(self.no_grouping(Place::On, line)),
            Clause::Where | Clause::Other => Err(self.no_grouping(Place::Other, line)),
        }
    }

    /// Why rows seen there are not aggregated: 147, 157, 158, 1015, 4101.
    fn no_grouping(&self, place: Place, line: u32) -> BindError {
        let (number, text) = match place {
            Place::Applied => (
                4101,
                "Aggregates on the right side of an APPLY cannot reference columns from the left side.",
            ),
            Place::On => (
                1015,
                "An aggregate cannot appear in an ON clause unless it is in a subquery contained in a HAVING clause or \
                 select list, and the column being aggregated is an outer reference.",
            ),
            Place::Set => {
                (157, "An aggregate may not appear in the set list of an UPDATE statement.")
            }
            Place::Output => (158, "An aggregate may not appear in the OUTPUT clause."),
            Place::Other | Place::MergeCondition(_) => (
                147,
                "An aggregate may not appear in the WHERE clause unless it is in a subquery \
                 contained in a HAVING clause or a select list, and the column being \
                 aggregated is an outer reference.",
            ),
        };
        BindError::new(number, 15, line, text)
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

    /// 8711: two STRING_AGG in orders of which neither begins as the other is.
    pub fn check_orders(&self, aggs: &[Aggregate]) -> Result<()> {
        let texts = aggs.iter().filter(|agg| agg.func == AggFunc::StringAgg);
        let orders = texts.filter_map(|agg| agg.joining.as_deref()).map(|j| &j.order[..]);
        let mut longest: &[SortKey] = &[];
        for order in orders {
            let (short, long) = match order.len() < longest.len() {
                true => (order, longest),
                false => (longest, order),
            };
            if !long.starts_with(short) {
                return Err(self.error(
                    8711,
                    "Multiple ordered aggregate functions in the same scope have mutually incompatible orderings.",
                ));
            }
            longest = long;
        }
        Ok(())
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
        if let Some(long) = self.long_name(&arg) {
            let text = format!("Operand data type {long} is invalid for {name} operator.");
            return Err(BindError::new(8117, 16, line, text));
        }
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
        if let AggFunc::Clr(ty, _) = func {
            if f.distinct {
                return Err(invalid(arg.ty));
            }
            let ty = SqlType::Clr(ty);
            return Ok((Some(self.coerce(arg, ty, CastMode::Implicit)?), ty));
        }
        if (arg.ty.is_xml() || arg.ty.is_spatial())
            && (f.distinct || !matches!(func, AggFunc::Count | AggFunc::CountBig))
        {
            return Err(invalid(arg.ty));
        }
        if arg.is_null_constant() && matches!(func, AggFunc::Count | AggFunc::CountBig) {
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
            AggFunc::StringAgg
            | AggFunc::PercentileCont
            | AggFunc::PercentileDisc
            | AggFunc::Clr(..) => Err(invalid(arg.ty)),
        }
    }
}

/// 130.
fn nested(line: u32) -> BindError {
    BindError::new(
        130,
        15,
        line,
        "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.",
    )
}
