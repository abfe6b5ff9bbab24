//! Data definition of temporary tables: in the session, but part of its transaction as any other.
//!
//! Promise: what fails leaves the tables as they were. No other session sees them: global temporary tables (`##t`) are in
//! `global`.

use crate::Commands;
use catalog::{
    AlterTable, ColumnDef, KeySpec, ModuleKind, Place, ProcedureDef, PutMode, RedefinedPrivate,
    TableDef, TableSpec, same_name,
};
use executor::{SqlError, from_catalog, private_error};
use ir::ObjectName;
use ir::ddl::CreateProcedure;
use std::sync::Arc;
use types::Value;

/// Object ids of temporary procedures lie below this.
const FIRST_PROCEDURE_ID: i32 = -0x6000_0000;

/// Object ids of temporary tables lie below this: no database has them, nor has a table variable.
const FIRST_ID: i32 = -0x4000_0000;

impl Commands<'_> {
    /// CREATE TABLE #t; 2714 when this very batch or procedure has one.
    pub fn create_private(&mut self, spec: &TableSpec) -> Result<Arc<TableDef>, SqlError> {
        let level = self.state.nesting;
        let private = &mut self.state.transaction.private;
        if private.is_taken(&spec.name, level) {
            return Err(SqlError::new(
                2714,
                16,
                format!("There is already an object named '{}' in the database.", spec.name),
            )
            .with_state(6));
        }
        let number = private.new_number();
        let id = FIRST_ID - number as i32;
        let def = catalog::define_private(spec, Place::Temporary(number), id, 1);
        let def = Arc::new(def.map_err(from_catalog)?);
        private.create(def.clone(), level);
        self.settle_private();
        spec.foreign_keys.iter().for_each(|key| self.skip_key(&spec.name, key));
        Ok(def)
    }

    /// 1756: nobody enforces foreign keys of temporary tables.
    fn skip_key(&mut self, table: &str, key: &catalog::ForeignKeySpec) {
        let name = key.name.as_deref().unwrap_or(table);
        let text = format!(
            "Skipping FOREIGN KEY constraint '{name}' definition for temporary table. FOREIGN KEY constraints are not \
             enforced on local or global temporary tables."
        );
        self.sink.message(&executor::SqlMessage::info(1756, 1, text));
    }

    /// DROP TABLE #t; 3701.
    pub fn drop_private(&mut self, name: &ObjectName) -> Result<(), SqlError> {
        let private = &mut self.state.transaction.private;
        let place = private.find(&name.name).map(|table| table.place);
        if !place.is_some_and(|place| private.drop_table(place)) {
            return Err(SqlError::new(
                3701,
                11,
                format!(
                    "Cannot drop the table '{}', because it does not exist or you do not have permission.",
                    name.name
                ),
            )
            .with_state(5));
        }
        self.settle_private();
        Ok(())
    }

    /// TRUNCATE TABLE #t.
    pub fn truncate_private(&mut self, table: &TableDef) -> Result<(), SqlError> {
        let result = self.state.transaction.private.truncate(table.place);
        result.map_err(|e| private_error(e, table))?;
        self.settle_private();
        Ok(())
    }

    /// ALTER TABLE #t; 4902.
    pub fn alter_private(
        &mut self,
        name: &ObjectName,
        changes: &[AlterTable],
    ) -> Result<(), SqlError> {
        for change in changes {
            let mark = self.state.transaction.private.mark();
            self.redefine(name, |table, empty, version| {
                catalog::redefine_private(table, change, empty, version)
            })?;
            if let AlterTable::AddCheck(check) = change
                && !check.nocheck
            {
                let verified = self.verify_private(name);
                if verified.is_err() {
                    self.state.transaction.private.rollback_to(mark);
                }
                verified?;
            }
            self.settle_private();
            if let AlterTable::AddForeignKey(key) = change {
                self.skip_key(&name.name, key);
            }
        }
        Ok(())
    }

    /// CREATE UNIQUE INDEX on #t.
    pub fn private_unique(&mut self, name: &ObjectName, key: &KeySpec) -> Result<(), SqlError> {
        self.redefine(name, |table, _, version| {
            let sources = (0..table.columns.len()).map(Some).collect();
            let table = catalog::private_with_unique(table, key, version)?;
            Ok(RedefinedPrivate { table, sources })
        })?;
        self.settle_private();
        Ok(())
    }

    /// The rows that are there satisfy the constraint that has come last; 547.
    fn verify_private(&mut self, name: &ObjectName) -> Result<(), SqlError> {
        let private = &self.state.transaction.private;
        let table = private.find(&name.name).cloned();
        let rows = table.as_ref().and_then(|def| private.get(def.place).cloned());
        let (Some(def), Some(table)) = (table, rows) else { return Ok(()) };
        self.with_cx(&mut [], |cx| {
            let last = def.checks.len().saturating_sub(1);
            dml::verify_rows(&def, last, table.rows(), cx)
        })
    }

    fn redefine(
        &mut self,
        name: &ObjectName,
        change: impl FnOnce(&TableDef, bool, u64) -> Result<RedefinedPrivate, catalog::CatalogError>,
    ) -> Result<(), SqlError> {
        let private = &mut self.state.transaction.private;
        let Some(old) = private.find(&name.name).cloned() else {
            return Err(SqlError::new(
                4902,
                16,
                format!(
                    "Cannot find the object \"{name}\" because it does not exist or you do not have permissions."
                ),
            ));
        };
        let empty = private.get(old.place).is_none_or(|table| table.is_empty());
        let changed = change(&old, empty, old.version + 1).map_err(from_catalog)?;
        let (new, sources) = (Arc::new(changed.table), changed.sources);
        // A column added as IDENTITY numbers the rows that are there.
        let added = new.columns.iter().zip(&sources).filter(|(_, from)| from.is_none());
        let mut next = added.filter_map(|(c, _)| c.identity).next().map(|i| (i.seed, i.increment));
        let mut failed = None;
        let rewrite = |row: &[Value]| {
            let columns = new.columns.iter().zip(&sources);
            columns
                .map(|(column, from)| match (from, &column.identity, &mut next) {
                    (Some(i), ..) => {
                        rewritten(&row[*i], &old, *i, &new, column).unwrap_or_else(|error| {
                            failed.get_or_insert(error);
                            Value::Null
                        })
                    }
                    (None, Some(_), Some((value, step))) => {
                        let this = Value::BigInt(*value);
                        *value += *step;
                        types::convert::cast(&this, types::SqlType::BigInt, column.ty, 0)
                            .unwrap_or_default()
                    }
                    _ => column.absent.clone(),
                })
                .collect()
        };
        let mark = private.mark();
        let result = private.redefine(new.clone(), rewrite);
        if let Some((value, step)) = next {
            private.note_identity(new.place, value - step);
        }
        let result = result.map_err(|e| private_error(e, &new));
        let mut result = failed.map_or(result, Err);
        let added = new.columns.iter().zip(&sources).filter(|(_, from)| from.is_none());
        let computes = added.filter(|(c, _)| c.computed.is_some() && !c.is_volatile()).count() > 0;
        if result.is_ok() && computes && !empty {
            result = self.compute_private(&new);
        }
        if let Err(error) = result {
            self.state.transaction.private.rollback_to(mark);
            return Err(error);
        }
        Ok(())
    }

    /// The rows that are there are given what a column that has come computes.
    fn compute_private(&mut self, def: &Arc<TableDef>) -> Result<(), SqlError> {
        let Some(table) = self.state.transaction.private.get(def.place).cloned() else {
            return Ok(());
        };
        let rows = self.with_cx(&mut [], |cx| dml::computed_rows(def, table.rows(), cx))?;
        let mut rows = rows.into_iter();
        let private = &mut self.state.transaction.private;
        let result = private.redefine(def.clone(), |_| rows.next().unwrap_or_default());
        result.map_err(|e| private_error(e, def))
    }

    /// CREATE, ALTER, CREATE OR ALTER PROCEDURE #p: the session's, until it drops it or ends. Not part of a transaction.
    pub fn create_own_procedure(&mut self, create: &CreateProcedure) -> Result<(), SqlError> {
        let name = &create.name.name;
        let known = self.state.own_procedures.iter().position(|p| same_name(&p.name, name));
        match (create.mode, known) {
            (PutMode::Create, Some(_)) => {
                return Err(SqlError::new(
                    2714,
                    16,
                    format!("There is already an object named '{name}' in the database."),
                )
                .with_state(3));
            }
            (PutMode::Alter, None) => {
                return Err(SqlError::new(208, 16, format!("Invalid object name '{name}'.")));
            }
            _ => {}
        }
        self.state.own_procedures_made += 1;
        let made = self.state.own_procedures_made;
        let object_id = match known {
            Some(i) => self.state.own_procedures.swap_remove(i).object_id,
            None => FIRST_PROCEDURE_ID - made as i32,
        };
        self.state.own_procedures.push(Arc::new(ProcedureDef {
            kind: ModuleKind::Procedure,
            object_id,
            schema: "dbo".into(),
            name: name.as_str().into(),
            text: syntax::as_created(&create.text).into(),
            quoted_identifier: self.state.options.quoted_identifier,
            ansi_nulls: self.state.options.settings().ansi_nulls,
            trigger: None,
            ddl_events: Default::default(),
            bindings: catalog::TypeBindings::default(),
            sequence: None,
            policy: None,
            partitioning: None,
            xml_schema: None,
            fulltext: None,
            rows: None,
            version: made as u64,
            created_unix_ns: runtime::clock::unix_ns(),
        }));
        Ok(())
    }

    /// DROP PROCEDURE #p; 3701.
    pub fn drop_own_procedure(&mut self, name: &str) -> Result<(), SqlError> {
        let Some(i) = self.state.own_procedures.iter().position(|p| same_name(&p.name, name))
        else {
            return Err(SqlError::new(
                3701,
                11,
                format!(
                    "Cannot drop the procedure '{name}', because it does not exist or you do not have permission."
                ),
            )
            .with_state(5));
        };
        self.state.own_procedures.swap_remove(i);
        Ok(())
    }

    /// Without a transaction a definition stands as soon as it is made.
    pub(crate) fn settle_private(&mut self) {
        if self.state.transaction.count == 0 {
            self.state.transaction.private.commit();
        }
    }
}

/// A value of a row that was there, as its column is now: 515, and what conversions answer.
fn rewritten(
    value: &Value,
    old: &TableDef,
    ordinal: usize,
    new: &TableDef,
    column: &ColumnDef,
) -> Result<Value, SqlError> {
    let was = &old.columns[ordinal];
    if value.is_null() && !column.nullable && was.nullable {
        let table = format!("tempdb.dbo.{}", new.name);
        return Err(dml::null_error(&column.name, &table, "UPDATE"));
    }
    let pages = was.collation.page() == column.collation.page();
    if was.ty == column.ty && pages {
        return Ok(value.clone());
    }
    let value = column.collation.mark(value.clone());
    Ok(types::convert::assign(&value, was.ty, column.ty)?)
}
