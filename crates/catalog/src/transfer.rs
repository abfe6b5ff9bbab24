//! ALTER SCHEMA TRANSFER: an object goes into another schema, with what belongs to it.
//!
//! Invariants: a table's keys and constraints have their names in its schema, and a table's or view's triggers lie in it;
//! so all of them go along, or nothing does. What was granted on the object is taken back.

use crate::catalog::Catalog;
use crate::def::*;
use crate::scope::DdlScope;
use crate::{CatalogError, Txn, Wanted};
use types::Value;

impl Catalog {
    /// Moves an object; false when it is there already. 2760, 2714. Takes a table's Sch-M lock. Suspends.
    pub fn transfer(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        object: &ObjectRef,
        to: &str,
    ) -> Result<bool, CatalogError> {
        let to = self.schema(scope, to)?;
        let (schema, id) = match object {
            ObjectRef::Table(table) => (&table.schema, table.object_id),
            ObjectRef::Procedure(module) => (&module.schema, module.object_id),
        };
        if same_name(schema, &to) {
            return Ok(false);
        }
        match object {
            ObjectRef::Table(table) => self.transfer_table(txn, scope, table, &to)?,
            ObjectRef::Procedure(module) => self.transfer_module(txn, scope, module, &to)?,
        }
        for trigger in self.triggers_of(Some(scope), id) {
            self.transfer_module(txn, scope, &trigger, &to)?;
            self.forget_grants(txn, scope, trigger.object_id)?;
        }
        self.forget_rights(txn, scope, id, false)?;
        Ok(true)
    }

    fn transfer_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &TableDef,
        to: &str,
    ) -> Result<(), CatalogError> {
        let locked = self.lock_table(txn, scope, Some(&table.schema), &table.name)?;
        let Some((old, modified)) = locked else {
            return Err(CatalogError::CannotFind { name: table.name.clone() });
        };
        self.change_table(txn, scope, &old, modified, |catalog, txn, table| {
            let names = &catalog.tables.names;
            for name in names_of(&old) {
                // Whose name it is: the table's, or a constraint's.
                let key = [Value::str(&old.schema), Value::str(&name)];
                let row = names.read_locked(txn, &key)?;
                let owner = row.and_then(|row| row.last().and_then(Value::as_i64));
                let owner = owner.map_or(old.object_id, |id| id as i32);
                names.delete(txn, &key)?;
                catalog.claim_name(txn, to, &name, owner, Wanted::Table)?;
            }
            table.schema = to.into();
            Ok(())
        })?;
        Ok(())
    }

    /// Its text stays as it is written, with the schema that it names.
    fn transfer_module(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        module: &ProcedureDef,
        to: &str,
    ) -> Result<(), CatalogError> {
        let locked =
            self.lock_module(txn, scope, module.kind, Some(&module.schema), &module.name)?;
        let Some((old, modified)) = locked else {
            return Err(CatalogError::CannotFind { name: module.name.clone() });
        };
        self.move_module(txn, scope, &old, modified, (to, &old.name))
    }
}

/// The names that a table has taken in its schema: its own, and those of its keys and constraints.
fn names_of(table: &TableDef) -> Vec<Box<str>> {
    let keys = table.primary_key.iter().map(|k| &k.name);
    let indexes = table.indexes.iter().filter(|i| i.constraint_id != 0).map(|i| &i.name);
    let defaults = table.columns.iter().filter_map(|c| c.default.as_ref()).map(|d| &d.name);
    let checks = table.checks.iter().map(|c| &c.name);
    let foreign = table.foreign_keys.iter().map(|k| &k.name);
    let all = keys.chain(indexes).chain(defaults).chain(checks).chain(foreign);
    let mut names: Vec<Box<str>> = vec![table.name.clone()];
    for name in all {
        // A clustered primary key may be an index too.
        if !names.iter().any(|n| same_name(n, name)) {
            names.push(name.clone());
        }
    }
    names
}
