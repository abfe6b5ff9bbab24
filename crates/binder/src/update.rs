//! UPDATE and DELETE: the rows that change, and SET.
//!
//! Promise: each column is set once, to a value of its type; a variable that is set with it gets that value. What the
//! engine makes itself (identity, computed columns, row versions) is not set. Errors: 207, 258, 264, 271, 272, 4104, 8102,
//! 9522.

use catalog::{Event, Operation, TableDef};
use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::target::ChangeSource;
use crate::updatable::Mapped;
use semantics::{BindError, Result};

impl Binder<'_> {
    pub fn update(&mut self, update: &ast::Update) -> Result<Update> {
        self.push_ctes(&update.with);
        let maxdop = self.query_hints(&update.option)?;
        let names = update.set.iter().filter_map(|s| s.column.as_ref());
        let names: Vec<String> = names.map(|c| c.name.value.clone()).collect();
        let ChangeSource { table, hints, rel, locator, old, tables, mapped, instead, check } = self
            .change_source(
                &update.target,
                &update.from,
                update.filter.as_ref(),
                update.current_of.as_ref(),
                update.top.as_ref(),
                Some(&names),
            )?;
        self.check_history(&table, 13561)?;
        let target_column = old.first().copied();
        for item in &update.set {
            if let Some(column) = &item.column {
                self.of_target(column, &tables, target_column, item.span.line.max(1))?;
            }
        }
        self.scopes.push(Scope { tables: tables.clone(), place: Place::Set });
        // What a view makes of its rows may be read beside the columns that are known here.
        let has_place = mapped.is_none() && instead.is_none() && check.is_none();
        let around = std::mem::replace(&mut self.set_values, has_place.then(Vec::new));
        let set = self.update_set(&update.set, &table, &old, mapped.as_ref());
        let values = std::mem::replace(&mut self.set_values, around).unwrap_or_default();
        self.scopes.pop();
        let set = set?;
        let seen = tables.iter().flat_map(|t| &t.columns).map(|c| (c.id, c.ty, c.nullable));
        let own = old.iter().zip(&table.columns).map(|(id, c)| (*id, c.ty, c.nullable));
        let read =
            [(locator, semantics::lineage::LOCATOR, false)].into_iter().chain(seen).chain(own);
        let rel = self.beside(rel, values, read);
        let output = match &update.output {
            Some(output) => Some(self.output(
                output,
                &table,
                mapped.as_ref(),
                without_target(&tables, target_column),
                true,
                true,
            )?),
            None => None,
        };
        let query = Query { rel, output: Vec::new(), maxdop, hints: self.plan_hints };
        let fires = match instead {
            Some(instead) => Some(self.told(instead, &table, output.as_ref())?),
            None => self.at_target(|b| b.fires(&table, Event::Update, output.as_ref()))?,
        };
        let operations = [Operation::BeforeUpdate, Operation::AfterUpdate];
        let block = self.at_target(|b| b.blocks(&table, &old, &operations))?;
        let tracking_context = self.tracking_context(update.tracking_context.as_deref())?;
        Ok(Update {
            table,
            tracking_context,
            hints,
            query,
            locator,
            old,
            set,
            output,
            fires,
            block,
            check,
        })
    }

    /// SET of an UPDATE, over the scope that is open, of a table whose columns there are `old`: 207, 264, 271, 272, 8102.
    pub fn update_set(
        &mut self,
        items: &[ast::SetItem],
        table: &TableDef,
        old: &[ColId],
        mapped: Option<&Mapped>,
    ) -> Result<Vec<UpdateSet>> {
        let mut out = Vec::with_capacity(items.len());
        let mut seen = Vec::new();
        for item in items {
            let line = item.span.line.max(1);
            let var = item.variable.as_ref().map(|v| self.variable(v)).transpose()?;
            let ordinal = match &item.column {
                None => None,
                Some(c) => {
                    let ordinal = match mapped {
                        None => table.column(&c.name.value),
                        Some(mapped) => {
                            let named =
                                mapped.iter().find(|m| catalog::same_name(&m.name, &c.name.value));
                            match named {
                                Some(found) if found.ordinal.is_none() => {
                                    return Err(self.derived_column(&c.name.value));
                                }
                                found => found.and_then(|found| found.ordinal),
                            }
                        }
                    };
                    let ordinal =
                        ordinal.ok_or_else(|| BindError::invalid_column(&c.name.value, line))?;
                    if seen.contains(&ordinal) {
                        return Err(BindError::column_twice(&c.name.value, line));
                    }
                    if table.columns[ordinal].identity.is_some() {
                        return Err(BindError::new(
                            8102,
                            16,
                            line,
                            format!("Cannot update identity column '{}'.", c.name.value),
                        ));
                    }
                    if table.columns[ordinal].is_made() {
                        return Err(self.made_column(table, &table.columns[ordinal], false));
                    }
                    seen.push(ordinal);
                    Some(ordinal)
                }
            };
            let mut value = match &item.value {
                ast::InsertValue::Expr(e) => match (ordinal, e.change_of_itself()) {
                    (Some(ordinal), Some(_)) if table.columns[ordinal].marks.column_set => {
                        let text = "The XQuery modify method is not allowed on sparse column sets.";
                        return Err(self.error(9522, text));
                    }
                    // The target's, whatever else of that name there is.
                    (Some(ordinal), Some((name, args))) => {
                        let column = &table.columns[ordinal];
                        let value = Expr::col(old[ordinal], column.ty, column.nullable);
                        self.change_of_column(value, (&table.name, &column.name), name, args, line)?
                    }
                    _ => self.expr(e)?,
                },
                ast::InsertValue::Write(parts) => match ordinal {
                    Some(ordinal) => self.written(&table.columns[ordinal], old[ordinal], parts)?,
                    None => return Err(self.error(102, "Incorrect syntax near 'WRITE'.")),
                },
                ast::InsertValue::Default(span) => match ordinal {
                    Some(ordinal) => self.default_value(table, ordinal)?,
                    None => {
                        return Err(BindError::new(
                            156,
                            15,
                            span.line.max(1),
                            "Incorrect syntax near the keyword 'DEFAULT'.",
                        ));
                    }
                },
            };
            if let Some(op) = item.op.operator().and_then(crate::expr::arith_op) {
                let current = match (ordinal, var) {
                    // The target's, whatever else of that name there is.
                    (Some(ordinal), _) => {
                        let column = &table.columns[ordinal];
                        Expr::col(old[ordinal], column.ty, column.nullable)
                    }
                    (None, Some(var)) => self.var_expr(var),
                    (None, None) => return Err(self.error(102, "Incorrect syntax near '='.")),
                };
                value = self.arith(op, current, value)?;
            }
            if let Some(ordinal) = ordinal
                && table.columns[ordinal].marks.column_set
            {
                if var.is_some() || item.op.operator().is_some() {
                    let what = "SET of a column set together with a variable or an operator";
                    return Err(BindError::unsupported(what, line));
                }
                let set = self.set_as_xml(value)?;
                let set = self.once(set)?;
                self.update_by_set(&set, table, &mut out)?;
                continue;
            }
            out.push(match (var, ordinal) {
                (None, Some(ordinal)) => {
                    let column = &table.columns[ordinal];
                    let value = self.store(value, column.ty, column.collation, ordinal)?;
                    UpdateSet::Column { ordinal, value }
                }
                (Some(var), None) => {
                    let ty = self.frame.ty(var);
                    UpdateSet::Var { var, value: self.coerce(value, ty, CastMode::Implicit)? }
                }
                (Some(var), Some(ordinal)) => {
                    let ty = table.columns[ordinal].ty;
                    let value = self.store(value, ty, table.columns[ordinal].collation, ordinal)?;
                    // The executor converts the column's new value to the variable's type.
                    types::convert::check_implicit(ty, self.frame.ty(var))
                        .map_err(|e| BindError::of_type(e, line))?;
                    UpdateSet::Both { var, ordinal, value }
                }
                (None, None) => return Err(self.error(102, "Incorrect syntax near '='.")),
            });
        }
        self.check_set_alone(table, &seen)?;
        crate::sequence::one_number(out.iter_mut().map(|set| match set {
            UpdateSet::Column { value, .. }
            | UpdateSet::Var { value, .. }
            | UpdateSet::Both { value, .. } => value,
        }));
        Ok(out)
    }

    /// `c.WRITE (expression, offset, length)`: 258 for a column that is not of a (max) type.
    fn written(
        &mut self,
        column: &catalog::ColumnDef,
        old: ColId,
        parts: &[ast::Expr; 3],
    ) -> Result<Expr> {
        let large = matches!(
            column.ty,
            SqlType::VarChar(Len::Max) | SqlType::NVarChar(Len::Max) | SqlType::VarBinary(Len::Max)
        );
        if !large {
            let text = format!("Cannot call methods on {}.", column.ty.message_name());
            return Err(BindError::new(258, 15, self.line, text));
        }
        let [value, offset, length] = parts;
        let value = self.expr(value)?;
        let value = self.coerce(value, column.ty, CastMode::Implicit)?;
        let mut place = |part: &ast::Expr| {
            let part = self.expr(part)?;
            self.coerce(part, SqlType::BigInt, CastMode::Implicit)
        };
        let (offset, length) = (place(offset)?, place(length)?);
        // For the message about a value that is NULL.
        let name = Expr::constant(Value::str(&column.name), SqlType::NVarChar(Len::N(128)));
        let old = Expr::col(old, column.ty, column.nullable);
        let args = vec![old, value, offset, length, name];
        let kind = ExprKind::Func { func: FuncId::WriteInto, args };
        Ok(Expr::new(kind, column.ty, false))
    }

    /// 4104 for a column of SET that another table than the target is named for.
    fn of_target(
        &self,
        column: &ast::ColumnRef,
        tables: &[ScopeTable],
        target: Option<ColId>,
        line: u32,
    ) -> Result<()> {
        let is_target = |t: &&ScopeTable| t.columns.first().map(|c| c.id) == target;
        let Some(table) = tables.iter().find(is_target) else { return Ok(()) };
        let good = match column.qualifier.as_slice() {
            [] => true,
            [.., schema, name] => {
                let same =
                    |s: &String| schema.value.is_empty() || catalog::same_name(s, &schema.value);
                catalog::same_name(&table.name, &name.value)
                    && table.schema.as_ref().is_some_and(same)
            }
            [name] => catalog::same_name(&table.name, &name.value),
        };
        if good {
            return Ok(());
        }
        let parts = column.qualifier.iter().chain([&column.name]);
        let shown = parts.map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
        let text = format!("The multi-part identifier \"{shown}\" could not be bound.");
        Err(BindError::new(4104, 16, line, text))
    }

    pub fn delete(&mut self, delete: &ast::Delete) -> Result<Delete> {
        self.push_ctes(&delete.with);
        let maxdop = self.query_hints(&delete.option)?;
        let ChangeSource { table, hints, rel, locator, old, tables, mapped, instead, .. } = self
            .change_source(
                &delete.target,
                &delete.from,
                delete.filter.as_ref(),
                delete.current_of.as_ref(),
                delete.top.as_ref(),
                None,
            )?;
        self.check_history(&table, 13560)?;
        let target_column = old.first().copied();
        let output = match &delete.output {
            Some(output) => Some(self.output(
                output,
                &table,
                mapped.as_ref(),
                without_target(&tables, target_column),
                false,
                true,
            )?),
            None => None,
        };
        let query = Query { rel, output: Vec::new(), maxdop, hints: self.plan_hints };
        let fires = match instead {
            Some(instead) => Some(self.told(instead, &table, output.as_ref())?),
            None => self.at_target(|b| b.fires(&table, Event::Delete, output.as_ref()))?,
        };
        let block = self.at_target(|b| b.blocks(&table, &old, &[Operation::BeforeDelete]))?;
        let tracking_context = self.tracking_context(delete.tracking_context.as_deref())?;
        Ok(Delete { table, tracking_context, hints, query, locator, old, output, fires, block })
    }
}

/// FROM's other tables: what OUTPUT may name besides `inserted` and `deleted`.
fn without_target(tables: &[ScopeTable], target: Option<ColId>) -> Vec<ScopeTable> {
    tables.iter().filter(|t| t.columns.first().map(|c| c.id) != target).cloned().collect()
}
