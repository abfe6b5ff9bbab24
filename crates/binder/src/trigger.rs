//! Triggers: which of them a statement fires, and their bodies.
//!
//! In a trigger `inserted` and `deleted` are read-only table variables under those names, in slots 0 and 1, with the
//! columns of the table or view that it belongs to.

use std::sync::Arc;

use catalog::{Event, TableDef};
use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::statements::ProgramBinder;
use semantics::names::Names;
use semantics::triggers::fires_of;
use semantics::{BindError, Result};

/// The slot of `inserted`; that of `deleted` follows.
pub(crate) const INSERTED: u16 = 0;

impl Binder<'_> {
    /// What a change of the table fires, itself or by what follows from it; 334 for OUTPUT without INTO.
    pub fn fires(
        &self,
        table: &TableDef,
        event: Event,
        output: Option<&Output>,
    ) -> Result<Option<Arc<Fires>>> {
        if table.is_private() {
            return Ok(None);
        }
        let fires = match fires_of(self.names, table.object_id, event) {
            Some(fires) => Some(self.told(fires, table, output)?),
            None => None,
        };
        if !self.followers_fire(table, event) {
            return Ok(fires);
        }
        Ok(Some(match fires {
            Some(fires) => Arc::new(Fires { follows: true, ..(*fires).clone() }),
            None => Arc::new(Fires { event, instead: None, after: Vec::new(), follows: true }),
        }))
    }

    /// Triggers that a statement fires; 334 for OUTPUT without INTO.
    pub fn told(
        &self,
        fires: Arc<Fires>,
        table: &TableDef,
        output: Option<&Output>,
    ) -> Result<Arc<Fires>> {
        if output.is_some_and(|output| output.told().is_some()) {
            return Err(self.error(
                334,
                format!(
                    "The target table '{}' of the DML statement cannot have any enabled triggers if the statement \
                     contains an OUTPUT clause without INTO clause.",
                    table.name
                ),
            ));
        }
        Ok(fires)
    }

    /// Does some table have triggers for what follows, by foreign keys that cascade, from a change of this one?
    fn followers_fire(&self, table: &TableDef, event: Event) -> bool {
        if event == Event::Insert || table.referencing.is_empty() {
            return false;
        }
        let mut seen = vec![(table.object_id, event)];
        let mut next = 0;
        while let Some((id, event)) = seen.get(next).copied() {
            next += 1;
            let Some(parent) = self.names.table_by_id(id) else { continue };
            for child in parent.referencing.iter().filter_map(|id| self.names.table_by_id(*id)) {
                for key in child.foreign_keys.iter().filter(|k| k.table == id && !k.disabled) {
                    let Some(follows) = key.follows(event) else { continue };
                    let step = (child.object_id, follows);
                    if seen.contains(&step) {
                        continue;
                    }
                    if fires_of(self.names, child.object_id, follows).is_some() {
                        return true;
                    }
                    seen.push(step);
                }
            }
        }
        false
    }

    /// UPDATE(column) and COLUMNS_UPDATED() in a trigger: 140, 207.
    #[inline(never)]
    pub fn updated(&mut self, f: &ast::FunctionCall, name: &str, line: u32) -> Result<Expr> {
        let Some(inserted) = self.frame.tables.first().filter(|t| &*t.def.name == "inserted")
        else {
            return Err(BindError::new(
                140,
                15,
                line,
                "Can only use IF UPDATE within a CREATE TRIGGER statement.",
            ));
        };
        if name == "COLUMNS_UPDATED" {
            let ty = SqlType::VarBinary(Len::N(128));
            let kind = ExprKind::Func { func: FuncId::ColumnsUpdated, args: Vec::new() };
            return Ok(Expr::new(kind, ty, true));
        }
        let column = match f.args.as_slice() {
            [ast::Expr { kind: ast::ExprKind::Column(c), .. }] if c.qualifier.is_empty() => c,
            _ => return Err(BindError::new(102, 15, line, "Incorrect syntax near 'UPDATE'.")),
        };
        let ordinal = inserted.def.column(&column.name.value);
        let ordinal = ordinal.ok_or_else(|| BindError::invalid_column(&column.name.value, line))?;
        let args = vec![Expr::constant(Value::Int(ordinal as i32), SqlType::Int)];
        let kind = ExprKind::Func { func: FuncId::UpdatedColumn, args };
        Ok(Expr::new(kind, SqlType::Int, false))
    }
}

/// Binds the body of a trigger of `table`; `text` is its whole definition.
pub(crate) fn bind_trigger(
    create: &ast::CreateTrigger,
    text: &str,
    table: &TableDef,
    schema: Option<&str>,
    names: &dyn Names,
    uses: Option<semantics::uses::Uses>,
) -> Result<Program> {
    let line = create.name.span.line.max(1);
    let (body, atomic) = semantics::native::block(&create.options, &create.body, line)?;
    let binder = ProgramBinder::new(names, text, false).of_module(schema).atomic(atomic);
    let mut binder = binder.noting(uses);
    for (slot, name) in (INSERTED..).zip(["inserted", "deleted"]) {
        binder.declare_rows(slot, name, table)?;
    }
    binder.program(Vec::new(), body)
}

/// Binds the body of a DDL trigger; `text` is its whole definition.
pub(crate) fn bind_ddl_trigger(
    create: &ast::CreateDdlTrigger,
    text: &str,
    schema: Option<&str>,
    names: &dyn Names,
) -> Result<Program> {
    ProgramBinder::new(names, text, false).of_module(schema).program(Vec::new(), &create.body)
}
