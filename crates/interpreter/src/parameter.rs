//! Table-valued parameters that a client sends: its rows become those of a table variable.
//!
//! Promise: the rows obey the type: conversions, NOT NULL, keys, defaults for the columns that were left out. A row that
//! does not is the call's error, and the call does not run.

use crate::rpc::TableValue;
use crate::vm::Vm;
use catalog::{ColumnDef, TableDef};
use executor::{SqlError, private_error};
use planner::ExprPlan;
use session_state::SessionNames;
use session_state::bind_error;
use std::sync::Arc;
use types::{Collation, Len, SqlType, Value, convert};

/// Where a column's values come from.
enum Source {
    /// A value of the row, of this type.
    Sent(usize, SqlType),
    Identity,
    Default(ExprPlan),
}

impl Vm<'_> {
    /// Fills the table variable `def` of the innermost frame; 500, 515, 2627 and what conversions answer.
    pub fn fill_table(&mut self, def: &Arc<TableDef>, sent: &TableValue) -> Result<(), SqlError> {
        // A NULL table has neither columns nor rows.
        if sent.columns.is_empty() && sent.rows.is_empty() {
            return Ok(());
        }
        if sent.columns.len() != def.columns.len() {
            return Err(SqlError::new(
                500,
                16,
                format!(
                    "Trying to pass a table-valued parameter with {} column(s) where the corresponding user-defined \
                     table type requires {} column(s).",
                    sent.columns.len(),
                    def.columns.len()
                ),
            ));
        }
        let mut sources = Vec::with_capacity(def.columns.len());
        let mut position = 0;
        for (ordinal, column) in def.columns.iter().enumerate() {
            if !sent.defaults.contains(&ordinal) {
                sources.push(Source::Sent(position, sent.columns[ordinal].ty));
                position += 1;
            } else if column.identity.is_some() {
                sources.push(Source::Identity);
            } else {
                let names = SessionNames::new(self.state, self.host);
                let bound = binder::bind_default(def, ordinal, &names).map_err(bind_error)?;
                sources.push(Source::Default(planner::plan_expr(&bound)));
            }
        }
        let mark = self.state.transaction.private.mark();
        let filled = sent.rows.iter().try_for_each(|row| self.fill_row(def, &sources, row));
        // The table is new: nothing will be undone but with it.
        self.state.transaction.private.end_statement(mark);
        filled
    }

    /// A value as the column has it; a text in the column's collation, and so in its code page.
    fn sent_value(
        &self,
        value: &Value,
        ty: SqlType,
        column: &ColumnDef,
    ) -> Result<Value, SqlError> {
        let text = match value {
            Value::Str(text)
                if column.ty.is_character() && column.collation != Collation::default() =>
            {
                text
            }
            _ => return Ok(self.state.options.assign(value, ty, column.ty)?),
        };
        let text = Value::Str(text.clone().with_rule(column.collation.rule()));
        Ok(self.state.options.assign(&text, SqlType::NVarChar(Len::Max), column.ty)?)
    }

    fn fill_row(
        &mut self,
        def: &Arc<TableDef>,
        sources: &[Source],
        sent: &[Value],
    ) -> Result<(), SqlError> {
        let mut row = Vec::with_capacity(sources.len());
        for (source, column) in sources.iter().zip(&def.columns) {
            let value = match source {
                Source::Sent(position, ty) => match sent.get(*position) {
                    None | Some(Value::Null) => Value::Null,
                    Some(value) => self.sent_value(value, *ty, column)?,
                },
                Source::Identity => {
                    let next = self.state.transaction.private.next_identity(def.place);
                    let next = Value::BigInt(next.map_err(|e| private_error(e, def))?);
                    convert::cast(&next, SqlType::BigInt, column.ty, 0)?
                }
                Source::Default(plan) => self.evaluate(plan, &mut [])?,
            };
            if value.is_null() && !column.nullable {
                return Err(dml::null_error(&column.name, &def.name, "INSERT"));
            }
            row.push(value);
        }
        let inserted = self.state.transaction.private.insert(def.place, row.into());
        inserted.map_err(|e| private_error(e, def))
    }
}
