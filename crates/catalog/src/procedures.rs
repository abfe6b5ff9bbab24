//! CREATE, ALTER and DROP of procedures and other modules. Their text is kept as written, in parts that fit a row.
//!
//! A procedure has no tree, so the row lock of its object row stands in for the Sch-M lock.

use crate::catalog::{Catalog, PUBLISH_ROUNDS_MAX, behind};
use crate::def::*;
use crate::scope::{Change, DdlScope, Entry};
use crate::spec::{ModuleOptions, PutMode};
use crate::{CatalogError, Txn};
use std::sync::Arc;
use types::Value;

/// UTF-16 units of a part: 6,000 bytes, so that a row of 8,060 holds it.
const PART_UNITS: usize = 3000;

impl Catalog {
    /// CREATE, ALTER or CREATE OR ALTER PROCEDURE. 2714, 208, 2760. Suspends.
    #[allow(clippy::too_many_arguments, reason = "three statements in one")]
    pub fn put_procedure(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        mode: PutMode,
        schema: Option<&str>,
        name: &str,
        text: &str,
        options: ModuleOptions,
    ) -> Result<Arc<ProcedureDef>, CatalogError> {
        self.put_module(txn, scope, ModuleKind::Procedure, mode, schema, name, text, options)
    }

    /// The same for any kind of module.
    #[allow(clippy::too_many_arguments, reason = "three statements in one")]
    pub fn put_module(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        kind: ModuleKind,
        mode: PutMode,
        schema: Option<&str>,
        name: &str,
        text: &str,
        options: ModuleOptions,
    ) -> Result<Arc<ProcedureDef>, CatalogError> {
        let old = match mode {
            PutMode::Create => None,
            _ => self.lock_module(txn, scope, kind, schema, name)?,
        };
        if mode == PutMode::Alter && old.is_none() {
            return Err(CatalogError::InvalidObject { name: name.into() });
        }
        let (procedure, modified) = match old {
            Some((old, modified)) => {
                self.delete_text(txn, &old)?;
                let procedure = ProcedureDef {
                    kind,
                    text: text.into(),
                    quoted_identifier: options.quoted_identifier,
                    ansi_nulls: options.ansi_nulls,
                    version: self.new_version(),
                    ..(*old).clone()
                };
                (procedure, modified + 1)
            }
            None => {
                let schema = self.schema(scope, schema.unwrap_or("dbo"))?;
                let object_id = self.new_object_id();
                self.claim_name(txn, &schema, &kind.key(name), object_id)?;
                let procedure = ProcedureDef {
                    kind,
                    object_id,
                    schema,
                    name: name.into(),
                    text: text.into(),
                    quoted_identifier: options.quoted_identifier,
                    ansi_nulls: options.ansi_nulls,
                    version: self.new_version(),
                    created_unix_ns: runtime::clock::unix_ns(),
                };
                (procedure, 1)
            }
        };
        let (schema, name) = (&procedure.schema, &procedure.name);
        let (id, new) = (procedure.object_id, modified == 1);
        self.put_object(txn, schema, name, kind.number(), id, modified, new)?;
        for (i, part) in parts(&procedure.text).into_iter().enumerate() {
            let row = [
                Value::Int(id),
                Value::Int(i as i32),
                options.quoted_identifier.into(),
                options.ansi_nulls.into(),
                Value::str(part),
            ];
            self.tables.modules.put(txn, &row)?;
        }
        let procedure = Arc::new(procedure);
        let object = ObjectRef::Procedure(procedure.clone());
        scope.changes.push(Change::Put(Entry { object, modified }));
        Ok(procedure)
    }

    /// DROP PROCEDURE; 3701. Suspends.
    pub fn drop_procedure(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(), CatalogError> {
        self.drop_module(txn, scope, ModuleKind::Procedure, schema, name)
    }

    /// The same for any kind of module.
    pub fn drop_module(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        kind: ModuleKind,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(), CatalogError> {
        let Some((old, _)) = self.lock_module(txn, scope, kind, schema, name)? else {
            return Err(CatalogError::CannotDrop { kind: kind.word(), name: name.into() });
        };
        self.delete_text(txn, &old)?;
        self.tables.objects.delete(txn, &[Value::Int(old.object_id)])?;
        let name = old.kind.key(&old.name);
        self.free_name(txn, &old.schema, &name)?;
        scope.changes.push(Change::Drop {
            schema: old.schema.clone(),
            name: name.into(),
            object_id: old.object_id,
        });
        Ok(())
    }

    /// As [`Catalog::lock_table`], by the object's row.
    fn lock_module(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        kind: ModuleKind,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<(Arc<ProcedureDef>, i64)>, CatalogError> {
        for _ in 0..PUBLISH_ROUNDS_MAX {
            let Some(Entry { object: ObjectRef::Procedure(procedure), modified }) =
                self.entry(Some(scope), schema, &kind.key(name))
            else {
                return Ok(None);
            };
            // A function of the other table-valued kind may be meant by ALTER and DROP.
            if !kind.replaces(procedure.kind) {
                return Ok(None);
            }
            if self.stored_modified(txn, procedure.object_id)? == Some(modified) {
                return Ok(Some((procedure, modified)));
            }
            self.wait_for_publication();
        }
        Err(behind())
    }

    fn delete_text(&self, txn: &mut Txn, old: &ProcedureDef) -> Result<(), CatalogError> {
        for i in 0..parts(&old.text).len() {
            self.tables.modules.delete(txn, &[Value::Int(old.object_id), Value::Int(i as i32)])?;
        }
        Ok(())
    }
}

/// Cuts a text into parts of at most [`PART_UNITS`]; one at least.
fn parts(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut start, mut units) = (0, 0);
    for (at, c) in text.char_indices() {
        if units + c.len_utf16() > PART_UNITS {
            out.push(&text[start..at]);
            (start, units) = (at, 0);
        }
        units += c.len_utf16();
    }
    out.push(&text[start..]);
    out
}
