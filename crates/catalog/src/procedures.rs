//! CREATE, ALTER and DROP of procedures and other modules. Their text is kept as written, in parts that fit a row.
//!
//! A procedure has no tree, so the row lock of its object row stands in for the Sch-M lock.

use crate::binding::TypeBindings;
use crate::catalog::{Catalog, PUBLISH_ROUNDS_MAX, behind};
use crate::def::*;
use crate::policy::PolicyDef;
use crate::scope::{Change, DdlScope, Entry};
use crate::spec::{ModuleOptions, PutMode};
use crate::{CatalogError, Txn, Wanted};
use std::collections::BTreeMap;
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
        self.put_any(txn, scope, kind, mode, schema, name, text, options, None)
    }

    /// CREATE, ALTER or CREATE OR ALTER TRIGGER, in the schema of its table. An altered one stays disabled if it was.
    /// 2714, 208, 2111. Suspends.
    #[allow(clippy::too_many_arguments, reason = "three statements in one")]
    pub fn put_trigger(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        mode: PutMode,
        schema: &str,
        name: &str,
        text: &str,
        options: ModuleOptions,
        trigger: TriggerDef,
    ) -> Result<Arc<ProcedureDef>, CatalogError> {
        let kind = ModuleKind::Trigger;
        let trigger = (trigger, Arc::default());
        self.put_any(txn, scope, kind, mode, Some(schema), name, text, options, Some(trigger))
    }

    /// The same for a trigger of the database or of the server; the events by their numbers.
    #[allow(clippy::too_many_arguments, reason = "three statements in one")]
    pub fn put_ddl_trigger(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        kind: ModuleKind,
        mode: PutMode,
        name: &str,
        text: &str,
        options: ModuleOptions,
        events: &[u16],
    ) -> Result<Arc<ProcedureDef>, CatalogError> {
        let parent = match kind {
            ModuleKind::ServerTrigger => TriggerDef::OF_SERVER,
            _ => TriggerDef::OF_DATABASE,
        };
        let trigger = (TriggerDef::new(parent, &[], false, false), events.into());
        self.put_any(txn, scope, kind, mode, None, name, text, options, Some(trigger))
    }

    /// Another state of a trigger: enabled or not, first or last. 208. Suspends.
    pub fn set_trigger(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        trigger: &ProcedureDef,
        change: impl FnOnce(&ProcedureDef) -> ProcedureDef,
    ) -> Result<(), CatalogError> {
        let (old, modified) = self.lock_definition(txn, scope, trigger)?;
        // Its text is written anew with what stands beside it.
        let new = ProcedureDef { version: self.new_version(), ..change(&old) };
        self.write_module(txn, scope, new, modified + 1)?;
        Ok(())
    }

    /// The triggers of a table or view, of the database or the server, in the order in which they were made.
    pub fn triggers_of(&self, scope: Option<&DdlScope>, parent: i32) -> Vec<Arc<ProcedureDef>> {
        let mut found: BTreeMap<i32, Arc<ProcedureDef>> = BTreeMap::new();
        let is_wanted = |m: &ProcedureDef| m.trigger.is_some_and(|t| t.parent == parent);
        {
            let defs = self.defs.read();
            for id in defs.triggers.get(&parent).into_iter().flatten() {
                if let Some(ObjectRef::Procedure(module)) = defs.by_id.get(id)
                    && is_wanted(module)
                {
                    found.insert(*id, module.clone());
                }
            }
        }
        for change in scope.iter().flat_map(|scope| &scope.changes) {
            match change {
                Change::Put(Entry { object: ObjectRef::Procedure(module), .. })
                    if is_wanted(module) =>
                {
                    found.insert(module.object_id, module.clone());
                }
                Change::Drop { object_id, .. } => {
                    found.remove(object_id);
                }
                _ => {}
            }
        }
        found.into_values().collect()
    }

    /// With what only triggers have.
    #[allow(clippy::too_many_arguments, reason = "three statements in one")]
    fn put_any(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        kind: ModuleKind,
        mode: PutMode,
        schema: Option<&str>,
        name: &str,
        text: &str,
        options: ModuleOptions,
        trigger: Option<(TriggerDef, Arc<[u16]>)>,
    ) -> Result<Arc<ProcedureDef>, CatalogError> {
        let (trigger, ddl_events) =
            trigger.map(|(def, events)| (Some(def), events)).unwrap_or_default();
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
                // An altered view has no indexes.
                self.forget_view_rows(txn, scope, &old)?;
                let enabled = !old.trigger.is_some_and(|t| t.is_disabled());
                let procedure = ProcedureDef {
                    kind,
                    trigger: trigger.map(|t| t.enabled(enabled)),
                    ddl_events,
                    sequence: sequence_of(kind, text),
                    policy: policy_of(kind, text),
                    partitioning: crate::partition::of_text(kind, text)?,
                    xml_schema: crate::xml_schemas::of_text(kind, text, &Ok(&old))?,
                    fulltext: crate::fulltext::of_text(kind, text)?,
                    text: text.into(),
                    quoted_identifier: options.quoted_identifier,
                    ansi_nulls: options.ansi_nulls,
                    rows: None,
                    version: self.new_version(),
                    ..(*old).clone()
                };
                (procedure, modified + 1)
            }
            None => {
                let schema = self.schema(scope, schema.unwrap_or("dbo"))?;
                let object_id = self.new_object_id();
                self.claim_name(txn, &schema, &kind.key(name), object_id, wanted(kind))?;
                let procedure = ProcedureDef {
                    kind,
                    object_id,
                    schema,
                    name: name.into(),
                    text: text.into(),
                    quoted_identifier: options.quoted_identifier,
                    ansi_nulls: options.ansi_nulls,
                    trigger,
                    ddl_events,
                    bindings: TypeBindings::default(),
                    sequence: sequence_of(kind, text),
                    policy: policy_of(kind, text),
                    partitioning: crate::partition::of_text(kind, text)?,
                    xml_schema: crate::xml_schemas::of_text(kind, text, &Err(object_id))?,
                    fulltext: crate::fulltext::of_text(kind, text)?,
                    rows: None,
                    version: self.new_version(),
                    created_unix_ns: runtime::clock::unix_ns(),
                };
                (procedure, 1)
            }
        };
        self.write_module(txn, scope, procedure, modified)
    }

    /// The rows of a module whose text is not there.
    pub(crate) fn write_module(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        procedure: ProcedureDef,
        modified: i64,
    ) -> Result<Arc<ProcedureDef>, CatalogError> {
        let (schema, name) = (&procedure.schema, &procedure.name);
        let (id, new) = (procedure.object_id, modified == 1);
        self.put_object(txn, schema, name, procedure.kind.number(), id, modified, new)?;
        let (parent, flags) = match procedure.kind {
            ModuleKind::AliasType => {
                let of = |bound: Option<i32>| Some(bound.unwrap_or(0));
                (of(procedure.bindings.rule), of(procedure.bindings.default))
            }
            _ => {
                let trigger = procedure.trigger;
                (trigger.map(|t| t.parent), trigger.map(|t| t.flags as i32))
            }
        };
        let events: Vec<u8> = procedure.ddl_events.iter().flat_map(|n| n.to_le_bytes()).collect();
        let events = match events.is_empty() {
            true => Value::Null,
            false => Value::Binary(events.as_slice().into()),
        };
        for (i, part) in parts(&procedure.text).into_iter().enumerate() {
            let row = [
                Value::Int(id),
                Value::Int(i as i32),
                procedure.quoted_identifier.into(),
                procedure.ansi_nulls.into(),
                Value::str(part),
                parent.into(),
                flags.into(),
                events.clone(),
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
        if kind == ModuleKind::View {
            for trigger in self.triggers_of(Some(scope), old.object_id) {
                let kind = ModuleKind::Trigger;
                self.drop_module(txn, scope, kind, Some(&trigger.schema), &trigger.name)?;
            }
        }
        self.forget_grants(txn, scope, old.object_id)?;
        self.forget_properties_of(txn, scope, old.object_id)?;
        self.delete_text(txn, &old)?;
        self.forget_view_rows(txn, scope, &old)?;
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
    pub(crate) fn lock_module(
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

    /// The same of a definition that was read before: as it is now. 208.
    pub(crate) fn lock_definition(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        module: &ProcedureDef,
    ) -> Result<(Arc<ProcedureDef>, i64), CatalogError> {
        let found =
            self.lock_module(txn, scope, module.kind, Some(&module.schema), &module.name)?;
        found.ok_or_else(|| CatalogError::InvalidObject { name: module.name.clone() })
    }

    /// sp_rename of anything that is no table. 208, 2714. Suspends.
    pub fn rename_module(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        module: &ProcedureDef,
        to: &str,
    ) -> Result<(), CatalogError> {
        let (old, modified) = self.lock_definition(txn, scope, module)?;
        self.move_module(txn, scope, &old, modified, (&old.schema, to))
    }

    /// Gives a locked module another name or schema; its text stays. 2714.
    pub(crate) fn move_module(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        old: &ProcedureDef,
        modified: i64,
        (schema, name): (&str, &str),
    ) -> Result<(), CatalogError> {
        let key = old.kind.key(&old.name);
        self.free_name(txn, &old.schema, &key)?;
        self.claim_name(txn, schema, &old.kind.key(name), old.object_id, wanted(old.kind))?;
        let version = self.new_version();
        let mut new =
            ProcedureDef { schema: schema.into(), name: name.into(), version, ..old.clone() };
        new.rows = self.moved_view_rows(&new);
        let modified = modified + 1;
        let (kind, id) = (new.kind.number(), new.object_id);
        self.put_object(txn, &new.schema, &new.name, kind, id, modified, false)?;
        let (schema, name) = (old.schema.clone(), key.into());
        scope.changes.push(Change::Rename { schema, name, object_id: id });
        let object = ObjectRef::Procedure(Arc::new(new));
        scope.changes.push(Change::Put(Entry { object, modified }));
        Ok(())
    }

    fn delete_text(&self, txn: &mut Txn, old: &ProcedureDef) -> Result<(), CatalogError> {
        for i in 0..parts(&old.text).len() {
            self.tables.modules.delete(txn, &[Value::Int(old.object_id), Value::Int(i as i32)])?;
        }
        Ok(())
    }
}

/// Of a security policy its definition, which its text is.
pub(crate) fn policy_of(kind: ModuleKind, text: &str) -> Option<Arc<PolicyDef>> {
    match kind {
        ModuleKind::SecurityPolicy => PolicyDef::of_text(text).map(Arc::new),
        _ => None,
    }
}

/// The events of a DDL trigger as they are stored.
pub(crate) fn events_of(bytes: &[u8]) -> Arc<[u16]> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

fn sequence_of(kind: ModuleKind, text: &str) -> Option<SequenceDef> {
    if kind == ModuleKind::Sequence { SequenceDef::of_text(text) } else { None }
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

fn wanted(kind: ModuleKind) -> Wanted {
    match kind {
        ModuleKind::Trigger => Wanted::Trigger,
        ModuleKind::Procedure | ModuleKind::View => Wanted::Module,
        kind if kind.is_function() => Wanted::Module,
        _ => Wanted::Table,
    }
}
