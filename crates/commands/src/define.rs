//! Data definition: through the catalog in the session's transaction, or through the host for whole databases.

mod change;
pub(crate) mod ddl_trigger;
pub(crate) mod dependents;
mod global_tables;
mod indexed_view;
mod key_bytes;
pub mod native;
mod partition;
mod partition_switch;
mod reorganize;
mod scoped_configuration;
pub(crate) mod security_policy;
mod sequence;
pub mod statistics;
mod temporary_tables;
pub(crate) mod trigger;
mod user_types;

use crate::Commands;
use crate::define::change::writer;
use crate::define::dependents::Bound;
use crate::define::security_policy::calls;
use crate::refusals::{cannot_drop, database_denied, no_object};
use catalog::{
    Catalog, CatalogError, DdlScope, ModuleKind, ModuleOptions, ObjectRef, PredicateDef,
    ProcedureDef, PutMode, TableDef, TableSpec, Temporal,
};
use executor::{Cx, SqlError, SqlMessage};
use ir::ObjectName;
use ir::ddl::{AlterTable, CreateProcedure, CreateTable, Ddl};
use planner::Plan;
use security::{Access, Permission, Target};
use session_state::is_temporary;
use std::sync::Arc;
use syntax::ast::{AlterDatabaseAction, DropKind, DropObjects, TriggerScope};
use types::Value;

impl Commands<'_> {
    /// CREATE, ALTER, DROP.
    pub fn define(&mut self, ddl: &Ddl, frame: &mut [Value]) -> Result<(), SqlError> {
        match ddl {
            Ddl::CreateDatabase(create) => {
                self.no_transaction("CREATE DATABASE")?;
                if !self.may_on_server(Permission::CreateAnyDatabase) {
                    return Err(database_denied("CREATE DATABASE", "master"));
                }
                self.host.create_database(create)?;
                self.own_database(&create.name.value)
            }
            Ddl::AlterDatabase(alter) => {
                if let AlterDatabaseAction::Scoped { secondary, action } = &alter.action {
                    return self.scoped_configuration(*secondary, action);
                }
                self.no_transaction("ALTER DATABASE")?;
                let name = match &alter.name {
                    Some(name) => name.value.clone(),
                    None => self.state.database.name.clone(),
                };
                let own = name.eq_ignore_ascii_case(&self.state.database.name);
                let may = match own {
                    true => self.check_database(Permission::Alter).is_ok(),
                    false => self.may_on_server(Permission::AlterAnyDatabase),
                };
                if !may {
                    return Err(SqlError::new(
                        5011,
                        14,
                        format!(
                            "User does not have permission to alter database '{name}', the database does not exist, \
                             or the database is not in a state that allows access checks."
                        ),
                    ));
                }
                let cancel = self.cancel;
                let is_cancelled = || cancel.load(std::sync::atomic::Ordering::Relaxed);
                self.host.alter_database(&name, alter, &is_cancelled)
            }
            Ddl::CreateTable(create) => self.create_table(create, frame),
            Ddl::AlterTable(alter) => self.alter_table(alter, frame),
            Ddl::IndexView(index) => self.index_view(index, frame),
            Ddl::Reorganize(reorganize) => self.reorganize(reorganize, frame),
            Ddl::CreateProcedure(create) => self.create_procedure(create, frame),
            Ddl::PrivateUnique { table, key } => self.private_unique(table, key),
            Ddl::CreateView(create) => {
                let kind = ModuleKind::View;
                self.create_module(kind, create.mode, &create.name, &create.text, frame)
            }
            Ddl::CreateFunction(kind, create) => {
                self.check_module_execute_as(&create.options, create.name.schema.as_deref())?;
                self.check_native(*kind, create)?;
                self.create_module(*kind, create.mode, &create.name, &create.text, frame)
            }
            Ddl::DefineSequence(sequence, ty) => self.define_sequence(sequence, *ty, frame),
            Ddl::CreateSynonym(synonym) => self.create_synonym(synonym, frame),
            Ddl::CreateTrigger(create, text) => self.create_trigger(create, text, frame),
            Ddl::EnableTrigger(enable) => self.enable_triggers(enable, frame),
            Ddl::CreateDdlTrigger { create, text, events } => {
                self.create_ddl_trigger(create, text, events, frame)
            }
            Ddl::EnableDdlTrigger(enable) => self.enable_ddl_triggers(enable, frame),
            Ddl::CreateBindable { kind, name, text } => {
                self.create_module(*kind, PutMode::Create, name, text, frame)
            }
            Ddl::CreateType { alias, name, text } => self.create_type(*alias, name, text, frame),
            Ddl::SecurityPolicy { policy, changes } => self.define_policy(policy, changes, frame),
            Ddl::Partition(change) => self.define_partitioning(change, frame),
            Ddl::Switch(switch) => self.switch_partition(switch, frame),
            Ddl::Drop(drop) => self.drop_objects(drop, frame),
        }
    }

    fn no_transaction(&self, what: &str) -> Result<(), SqlError> {
        if self.state.trancount() == 0 {
            return Ok(());
        }
        Err(SqlError::new(
            226,
            16,
            format!("{what} statement not allowed within multi-statement transaction."),
        ))
    }

    /// 12331.
    pub(crate) fn no_memory_ddl(&self) -> Result<(), SqlError> {
        if self.state.trancount() == 0 {
            return Ok(());
        }
        Err(SqlError::new(
            12331,
            16,
            "DDL statements ALTER, DROP and CREATE inside user transactions are not supported with memory optimized \
             tables.",
        ))
    }

    pub(crate) fn local(&self, name: &ObjectName) -> Result<(), SqlError> {
        match &name.database {
            Some(d) if !d.eq_ignore_ascii_case(&self.state.database.name) => {
                Err(SqlError::unsupported("definition of an object in another database"))
            }
            _ => Ok(()),
        }
    }

    fn create_table(&mut self, create: &CreateTable, frame: &mut [Value]) -> Result<(), SqlError> {
        if is_temporary(&create.name.name) {
            return self.create_private(&create.spec).map(|_| ());
        }
        self.local(&create.name)?;
        let spec = self.table_to_create(&create.spec)?;
        self.check_column_types(spec.columns.iter().filter_map(|column| column.alias))?;
        if spec.memory.is_some() {
            self.no_memory_ddl()?;
        }
        if let Some(versioning) = &spec.versioning {
            if let Some((schema, _)) = &versioning.history {
                self.check_schema(schema)?;
            }
            let start = catalog::AlterTable::StartVersioning(versioning.clone());
            return self.in_definition(frame, |catalog, cx, scope| {
                let made = catalog.create_table(writer(cx), scope, &spec).map_err(unmade)?;
                change_table(catalog, cx, scope, Some(&made.schema), &made.name, &start)
            });
        }
        let made = self.in_catalog(frame, |catalog, txn, scope| {
            catalog.create_table(txn, scope, &spec).map_err(unmade)
        })?;
        self.note_global(&made);
        self.tell_long_keys(&made, &[]);
        Ok(())
    }

    fn alter_table(&mut self, alter: &AlterTable, frame: &mut [Value]) -> Result<(), SqlError> {
        if !is_temporary(&alter.name.name) {
            self.local(&alter.name)?;
        }
        let mut changes = alter.changes.clone();
        if let Some(catalog::AlterTable::AddColumns(columns)) = changes.first_mut() {
            for (column, absent) in columns.iter_mut().zip(&alter.absent) {
                if let Some(expr) = absent {
                    let plan = planner::plan_expr(expr);
                    column.absent = Some(self.evaluate(&plan, frame)?);
                }
            }
        }
        let name = &alter.name;
        if is_temporary(&name.name) {
            return self.alter_private(name, &changes);
        }
        let schema = self.schema_of(name);
        if let Some(object) = self.state.find_object(schema.as_deref(), &name.name)
            && !self.may_change(&object, false)
        {
            return Err(no_object(&name.to_string()));
        }
        self.check_column_types(changes.iter().flat_map(|change| match change {
            catalog::AlterTable::AddColumns(columns) => {
                columns.iter().filter_map(|c| c.alias).collect()
            }
            catalog::AlterTable::AlterColumn { alias, .. } => {
                alias.iter().copied().collect::<Vec<_>>()
            }
            _ => Vec::new(),
        }))?;
        let masks = |c: &catalog::AlterTable| matches!(c, catalog::AlterTable::MaskColumn { .. });
        let may_mask = || {
            let access = self.state.identity.access();
            access.allows(Permission::AlterAnyMask, Target::Database)
        };
        if changes.iter().any(masks) && self.state.identity.is_limited() && !may_mask() {
            let text = "User does not have permission to perform this action.";
            return Err(SqlError::new(15247, 16, text).with_state(5));
        }
        let scope = self.state.definitions();
        let table = self.state.database.catalog.table(scope, schema.as_deref(), &name.name);
        if table.is_some_and(|table| table.is_memory()) {
            if let Some(what) = alter.on_disk {
                return Err(catalog::not_in_memory("operation", what).into());
            }
            self.no_memory_ddl()?;
        }
        self.check_bound_columns(schema.as_deref(), &name.name, &changes)?;
        let rebuilds =
            |c: &catalog::AlterTable| matches!(c, catalog::AlterTable::RebuildIndex { .. });
        if let Some(object) = self.state.find_object(schema.as_deref(), &name.name)
            && let Some(rows) = object.rows().filter(|rows| rows.is_disabled_view())
            && changes.iter().any(rebuilds)
        {
            return self.reindex_view(rows, &changes, frame);
        }
        let applied = self.apply_changes(schema.as_deref(), &name.name, &changes, frame);
        applied.map_err(|mut error| match changes[..] {
            [catalog::AlterTable::AddIndex(_)] => {
                if error.number == 1919 {
                    let own = format!("in table '{}' is", name.name);
                    error.text = error.text.replacen(&own, &format!("in table '{name}' is"), 1);
                }
                error
            }
            _ => error.of_constraints(),
        })
    }

    /// 4922: columns that go or change their type while a schema-bound module names them.
    fn check_bound_columns(
        &self,
        schema: Option<&str>,
        name: &str,
        changes: &[catalog::AlterTable],
    ) -> Result<(), SqlError> {
        let scope = self.state.definitions();
        let Some(table) = self.state.database.catalog.table(scope, schema, name) else {
            return Ok(());
        };
        for change in changes {
            let (action, column) = match change {
                catalog::AlterTable::DropColumn { name, .. } => ("DROP COLUMN", name),
                catalog::AlterTable::AlterColumn { name, .. } => ("ALTER COLUMN", name),
                _ => continue,
            };
            if let Some(ordinal) = table.column(column)
                && let Some(object) = self.column_dependent(&table, column)
            {
                let column = table.columns[ordinal].name.clone();
                let objects = vec![("object", object)];
                let used = CatalogError::ColumnInUse { action, column, objects };
                return Err(used.into());
            }
        }
        Ok(())
    }

    /// Changes a table's definition step by step, with what each asks of the rows.
    pub fn apply_changes(
        &mut self,
        schema: Option<&str>,
        name: &str,
        changes: &[catalog::AlterTable],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        if changes.is_empty() {
            return Ok(());
        }
        use catalog::AlterTable::{AddIndex, AddPrimaryKey, AddUnique};
        let adds = |change: &catalog::AlterTable| {
            matches!(change, AddIndex(_) | AddPrimaryKey(_) | AddUnique(_))
        };
        let table = |vm: &Self| {
            let scope = vm.state.definitions();
            vm.state.database.catalog.table(scope, schema, name)
        };
        let known = changes.iter().any(adds).then(|| table(self)).flatten();
        let known = known.map(|table| key_bytes::key_names(&table));
        self.in_definition(frame, |catalog, cx, scope| {
            changes
                .iter()
                .try_for_each(|change| change_table(catalog, cx, scope, schema, name, change))
        })?;
        if let (Some(known), Some(table)) = (known, table(self)) {
            self.tell_long_keys(&table, &known);
        }
        Ok(())
    }

    /// DROP INDEX i ON t: the schema of `name` is the table, its database the table's schema. 3701.
    fn drop_index(&mut self, name: &ObjectName, frame: &mut [Value]) -> Result<(), SqlError> {
        let shown = name.to_string();
        let missing = || {
            let text = format!(
                "Cannot drop the index '{shown}', because it does not exist or you do not have permission."
            );
            SqlError::new(3701, 11, text).with_state(7)
        };
        let Some(table) = &name.schema else { return Err(missing()) };
        let table =
            ObjectName { database: None, schema: name.database.clone(), name: table.clone() };
        let schema = self.schema_of(&table);
        if is_temporary(&table.name) {
            // One that is not unique is of no use there, and its name was not kept.
            let change = catalog::AlterTable::DropIndex { name: name.name.as_str().into() };
            return self.alter_private(&table, &[change]);
        }
        let Some(found) = self.state.find_object(schema.as_deref(), &table.name) else {
            return Err(missing());
        };
        if !self.may_change(&found, false) {
            return Err(missing());
        }
        if matches!(&found, ObjectRef::Table(table) if table.is_memory()) {
            return Err(catalog::not_in_memory("operation", "DROP INDEX").into());
        }
        if let ObjectRef::Procedure(view) = &found
            && let Some(rows) = &view.rows
            && rows.index(&name.name).is_some_and(|index| index.clustered)
        {
            return self.unindex_view(view, frame);
        }
        let change = catalog::AlterTable::DropIndex { name: name.name.as_str().into() };
        let dropped = self.apply_changes(schema.as_deref(), &table.name, &[change], frame);
        // The index is named as the statement names it.
        dropped.map_err(|mut error| match error.number {
            3701 => missing(),
            3723 => {
                let own = format!("'{}.{}'", table.name, name.name);
                error.text = error.text.replacen(&own, &format!("'{shown}'"), 1);
                error
            }
            _ => error,
        })
    }

    fn create_procedure(
        &mut self,
        create: &CreateProcedure,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.check_module_execute_as(&create.options, create.name.schema.as_deref())?;
        if is_temporary(&create.name.name) {
            return self.create_own_procedure(create);
        }
        if catalog::is_global_name(&create.name.name) {
            let what = format!("global temporary procedure {}", create.name.name);
            return Err(SqlError::unsupported(what));
        }
        let kind = ModuleKind::Procedure;
        self.check_native(kind, create)?;
        self.create_module(kind, create.mode, &create.name, &create.text, frame)
    }

    pub(crate) fn create_module(
        &mut self,
        kind: ModuleKind,
        mode: PutMode,
        name: &ObjectName,
        text: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        match kind {
            ModuleKind::Procedure => no_database_part(name, "CREATE/ALTER PROCEDURE")?,
            ModuleKind::View => no_database_part(name, "CREATE VIEW")?,
            kind if kind.is_function() => no_database_part(name, "CREATE FUNCTION")?,
            _ => self.local(name)?,
        }
        let options = ModuleOptions {
            quoted_identifier: self.state.options.quoted_identifier,
            ansi_nulls: self.state.options.settings().ansi_nulls,
        };
        let schema = self.module_schema(kind, mode, name)?;
        if mode != PutMode::Create {
            self.check_alterable(kind, schema.as_deref(), name)?;
        }
        let text = &syntax::as_created(text);
        self.check_schema_binding(kind, name, text)?;
        let alters = mode != PutMode::Create && (kind.is_function() || kind == ModuleKind::View);
        if let Some(old) =
            alters.then(|| self.known_module(schema.as_deref(), name, kind)).flatten()
        {
            self.check_dependents("ALTER", name, &Bound::of(&old))?;
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            let schema = schema.as_deref();
            if kind == ModuleKind::InlineFunction && mode != PutMode::Create {
                let concerns = |p: &PredicateDef| calls(p, schema, &name.name);
                catalog.check_policies(scope, "ALTER", &name.to_string(), concerns)?;
            }
            catalog.put_module(txn, scope, kind, mode, schema, &name.name, text, options)?;
            Ok(())
        })?;
        if kind == ModuleKind::Procedure {
            self.tell_missing(schema.as_deref(), &name.name, text);
        }
        Ok(())
    }

    fn known_module(
        &self,
        schema: Option<&str>,
        name: &ObjectName,
        kind: ModuleKind,
    ) -> Option<Arc<ProcedureDef>> {
        let scope = self.state.definitions();
        self.state.database.catalog.module(scope, schema, &name.name, kind)
    }

    /// 2010: ALTER of a name that is an object's of another kind.
    fn check_alterable(
        &self,
        kind: ModuleKind,
        schema: Option<&str>,
        name: &ObjectName,
    ) -> Result<(), SqlError> {
        let Some(found) = self.state.find_own(schema, &name.name) else { return Ok(()) };
        let same = match &found {
            ObjectRef::Table(_) => false,
            ObjectRef::Procedure(module) => module.kind == kind,
        };
        if same || !self.may_change(&found, false) {
            return Ok(());
        }
        let text =
            format!("Cannot perform alter on '{name}' because it is an incompatible object type.");
        Err(SqlError::new(2010, 16, text))
    }

    /// 2007 for each procedure that a new one calls and that is not there.
    fn tell_missing(&mut self, schema: Option<&str>, module: &str, text: &str) {
        let quoted_identifier = self.state.options.quoted_identifier;
        let mut told: Vec<String> = Vec::new();
        for mention in syntax::mentions(text, &syntax::LexOptions { quoted_identifier }) {
            let name = ObjectName::from(&mention.name);
            let is_call = mention.kind == syntax::MentionKind::Procedure;
            let elsewhere = mention.name.server.is_some()
                || name.database.is_some()
                || self.state.stands_for(&name).is_some();
            // Those of the system are there, or are looked for when they are called.
            let start = name.name.get(..3).unwrap_or_default();
            let system = start.eq_ignore_ascii_case("sp_") || start.eq_ignore_ascii_case("xp_");
            if !is_call || elsewhere || system || name.name.starts_with('#') {
                continue;
            }
            let written = name.schema.as_deref().or(schema);
            let found = self.state.find_object(written, &name.name);
            let dbo = || self.state.find_object(Some("dbo"), &name.name);
            if found.or_else(|| name.schema.is_none().then(dbo).flatten()).is_some() {
                continue;
            }
            let shown = name.to_string();
            if told.iter().any(|known| catalog::same_name(known, &shown)) {
                continue;
            }
            let text = format!(
                "The module '{module}' depends on the missing object '{shown}'. The module will still be created; \
                 however, it cannot run successfully until the object exists."
            );
            let message = SqlMessage::info(2007, mention.name.span.line, text);
            self.sink.message(&SqlMessage { procedure: Some(module.to_owned()), ..message });
            told.push(shown);
        }
    }

    pub(crate) fn drop_module(
        &mut self,
        kind: ModuleKind,
        name: &ObjectName,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        no_database_part(name, &format!("DROP {}", kind.word().to_uppercase()))?;
        let schema = self.schema_of(name);
        if let Some(found) = self.known_module(schema.as_deref(), name, kind) {
            if !self.may_change(&ObjectRef::Procedure(found.clone()), true) {
                return Err(cannot_drop(kind.word(), &name.to_string()));
            }
            self.check_native_drop(&found)?;
            if kind.is_function() || matches!(kind, ModuleKind::View | ModuleKind::Sequence) {
                self.check_dependents(drop_verb(kind), name, &Bound::of(&found))?;
            }
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            let schema = schema.as_deref();
            if kind == ModuleKind::InlineFunction {
                let concerns = |p: &PredicateDef| calls(p, schema, &name.name);
                catalog.check_policies(scope, "DROP FUNCTION", &name.to_string(), concerns)?;
            }
            Ok(catalog.drop_module(txn, scope, kind, schema, &name.name).map_err(|e| match e {
                CatalogError::CannotDrop { kind, .. } => {
                    CatalogError::CannotDrop { kind, name: name.to_string().into() }
                }
                other => other,
            })?)
        })
    }

    /// DROP FUNCTION of any kind; 3701.
    fn drop_function(&mut self, name: &ObjectName, frame: &mut [Value]) -> Result<(), SqlError> {
        let schema = self.schema_of(name);
        let kind = match self.state.find_object(schema.as_deref(), &name.name) {
            Some(ObjectRef::Procedure(module)) if module.kind.is_function() => module.kind,
            _ => ModuleKind::ScalarFunction,
        };
        self.drop_module(kind, name, frame)
    }

    /// Each of the names is a drop of its own: one that fails does not keep the others.
    fn drop_objects(&mut self, drop: &DropObjects, frame: &mut [Value]) -> Result<(), SqlError> {
        let mut failed: Vec<SqlError> = Vec::new();
        for name in &drop.names {
            let parts = ObjectName::from(name);
            if let Some(error) = self.another_kind(drop.kind, &parts) {
                failed.push(error);
                continue;
            }
            let result = match drop.kind {
                DropKind::Database => {
                    self.no_transaction("DROP DATABASE")?;
                    self.drop_database(&parts.name)
                }
                DropKind::Table if is_temporary(&parts.name) => self.drop_private(&parts),
                DropKind::Table => {
                    self.local(&parts)?;
                    self.drop_table(&parts, frame)
                }
                DropKind::Procedure if is_temporary(&parts.name) => {
                    self.drop_own_procedure(&parts.name)
                }
                DropKind::Procedure => self.drop_module(ModuleKind::Procedure, &parts, frame),
                DropKind::View => self.drop_module(ModuleKind::View, &parts, frame),
                DropKind::Function => self.drop_function(&parts, frame),
                DropKind::Sequence => self.drop_module(ModuleKind::Sequence, &parts, frame),
                DropKind::Synonym => self.drop_module(ModuleKind::Synonym, &parts, frame),
                DropKind::Trigger => self.drop_module(ModuleKind::Trigger, &parts, frame),
                DropKind::DatabaseTrigger => {
                    self.drop_ddl_trigger(TriggerScope::Database, &parts.name, frame)
                }
                DropKind::ServerTrigger => {
                    self.drop_ddl_trigger(TriggerScope::Server, &parts.name, frame)
                }
                DropKind::SecurityPolicy => {
                    self.drop_module(ModuleKind::SecurityPolicy, &parts, frame)
                }
                DropKind::Rule => self.drop_bindable(ModuleKind::Rule, &parts, frame),
                DropKind::Default => self.drop_bindable(ModuleKind::Default, &parts, frame),
                DropKind::Type => self.drop_type(&parts, frame),
                DropKind::Index => self.drop_index(&parts, frame),
            };
            match result {
                Err(error) if drop.if_exists && matches!(error.number, 218 | 3701) => {}
                Err(error) if matches!(error.number, 3701 | 3705 | 3726 | 3729) => {
                    failed.push(error)
                }
                other => other?,
            }
        }
        let Some(last) = failed.pop() else { return Ok(()) };
        let before =
            failed.iter().map(|error| SqlMessage { line: error.line, ..error.to_message() });
        let before = before.collect();
        Err(last.with_ahead(before))
    }

    /// 3705: the name is that of an object of another kind, which another statement drops.
    fn another_kind(&self, kind: DropKind, name: &ObjectName) -> Option<SqlError> {
        let word = |kind: DropKind| {
            Some(match kind {
                DropKind::Table => "table",
                DropKind::View => "view",
                DropKind::Procedure => "procedure",
                DropKind::Function => "function",
                DropKind::Synonym => "synonym",
                _ => return None,
            })
        };
        let wanted = word(kind)?;
        let schema = self.schema_of(name);
        let found = self.state.find_own(schema.as_deref(), &name.name)?;
        let is = match &found {
            _ if name.database.is_some() || is_temporary(&name.name) => return None,
            ObjectRef::Table(_) => "table",
            ObjectRef::Procedure(module) => match module.kind {
                kind @ (ModuleKind::View | ModuleKind::Procedure | ModuleKind::Synonym) => {
                    kind.word()
                }
                kind if kind.is_function() => kind.word(),
                _ => return None,
            },
        };
        if is == wanted || !self.may_change(&found, true) {
            return None;
        }
        let (wanted, other) = (wanted.to_uppercase(), is.to_uppercase());
        let text = format!(
            "Cannot use DROP {wanted} with '{name}' because '{name}' is a {is}. Use DROP {other}."
        );
        Some(SqlError::new(3705, 16, text))
    }

    fn drop_table(&mut self, name: &ObjectName, frame: &mut [Value]) -> Result<(), SqlError> {
        let schema = self.schema_of(name);
        if let Some(found) = self.state.find_object(schema.as_deref(), &name.name)
            && !self.may_change(&found, true)
        {
            return Err(cannot_drop("table", &name.name));
        }
        let catalog = &self.state.database.catalog;
        let scope = self.state.definitions();
        if catalog
            .table(scope, schema.as_deref(), &name.name)
            .is_some_and(|table| table.is_memory())
        {
            self.no_memory_ddl()?;
        }
        if let Some(table) = catalog.table(scope, schema.as_deref(), &name.name) {
            self.check_dependents("DROP TABLE", name, &Bound::of_table(&table))?;
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            if let Some(table) = catalog.table(Some(scope), schema.as_deref(), &name.name) {
                let concerns = |p: &PredicateDef| p.table == table.object_id;
                catalog.check_policies(scope, "DROP TABLE", &name.to_string(), concerns)?;
            }
            Ok(catalog.drop_table(txn, scope, schema.as_deref(), &name.name)?)
        })
    }

    /// The schema that a name without one means: the user's default one, if the object is there.
    pub(crate) fn schema_of(&self, name: &ObjectName) -> Option<String> {
        let default = self.state.default_schema().filter(|_| name.schema.is_none());
        let scope = self.state.definitions();
        let found = default.filter(|schema| {
            self.state.database.catalog.object(scope, Some(schema), &name.name).is_some()
        });
        found.map(str::to_owned).or_else(|| name.schema.clone())
    }

    /// What CREATE TABLE creates, in the user's default schema if it names none; 262, 2760.
    fn table_to_create(&self, spec: &TableSpec) -> Result<TableSpec, SqlError> {
        let mut spec = spec.clone();
        if catalog::is_global_name(&spec.name) {
            spec.schema = "dbo".into();
            return Ok(spec);
        }
        if spec.schema.is_empty() {
            spec.schema = self.state.default_schema().unwrap_or("dbo").into();
        }
        self.check_database(Permission::CreateTable)?;
        self.check_schema(&spec.schema)?;
        Ok(spec)
    }

    /// The schema of a module to create or alter, after the permissions; 262, 2760, 208.
    fn module_schema(
        &self,
        kind: ModuleKind,
        mode: PutMode,
        name: &ObjectName,
    ) -> Result<Option<String>, SqlError> {
        let schema = name.schema.clone();
        let schema = schema.or_else(|| self.state.default_schema().map(str::to_owned));
        let scope = self.state.definitions();
        let found = self.state.database.catalog.module(scope, schema.as_deref(), &name.name, kind);
        match found.filter(|_| mode != PutMode::Create) {
            Some(found) => {
                if !self.may_change(&ObjectRef::Procedure(found), false) {
                    return Err(SqlError::new(208, 16, format!("Invalid object name '{name}'.")));
                }
            }
            None => {
                self.check_database(match kind {
                    ModuleKind::Procedure => Permission::CreateProcedure,
                    ModuleKind::TableType | ModuleKind::AliasType => Permission::CreateType,
                    // With its table's: see `create_trigger`.
                    ModuleKind::Trigger
                    | ModuleKind::DatabaseTrigger
                    | ModuleKind::ServerTrigger => return Ok(schema),
                    // ALTER of the schema is asked for.
                    ModuleKind::Sequence
                    | ModuleKind::Synonym
                    | ModuleKind::SecurityPolicy
                    | ModuleKind::PartitionFunction
                    | ModuleKind::PartitionScheme => {
                        self.check_schema(schema.as_deref().unwrap_or("dbo"))?;
                        return Ok(schema);
                    }
                    ModuleKind::Rule => Permission::CreateRule,
                    ModuleKind::Default => Permission::CreateDefault,
                    ModuleKind::View => Permission::CreateView,
                    ModuleKind::ScalarFunction
                    | ModuleKind::InlineFunction
                    | ModuleKind::TableFunction => Permission::CreateFunction,
                })?;
                self.check_schema(schema.as_deref().unwrap_or("dbo"))?;
            }
        }
        Ok(schema)
    }

    /// A new database belongs to the login that made it.
    fn own_database(&mut self, name: &str) -> Result<(), SqlError> {
        let access = self.state.identity.access().clone();
        let login = access.login().filter(|login| *login != security::SA_ID);
        let sid = login.and_then(|login| access.server().principals.get(&login)?.sid.clone());
        let (Some(sid), Some(open)) = (sid, self.host.database(name)) else { return Ok(()) };
        open.catalog.set_owner(&sid)?;
        Ok(())
    }

    fn drop_database(&mut self, name: &str) -> Result<(), SqlError> {
        if !self.may_drop_database(name) {
            return Err(SqlError::new(
                3701,
                11,
                format!(
                    "Cannot drop the database '{name}', because it does not exist or you do not have permission."
                ),
            ));
        }
        if name.eq_ignore_ascii_case(&self.state.database.name) {
            return Err(SqlError::new(
                3702,
                16,
                format!("Cannot drop database \"{name}\" because it is currently in use."),
            )
            .with_state(3));
        }
        self.host.drop_database(name)
    }

    /// CONTROL of the database, or ALTER ANY DATABASE.
    fn may_drop_database(&mut self, name: &str) -> bool {
        if self.may_on_server(Permission::AlterAnyDatabase) {
            return true;
        }
        let access = self.state.identity.access().clone();
        let Some(login) = access.login() else { return false };
        let Some(open) = self.host.database(name) else { return false };
        let directory = open.catalog.directory(None);
        let Some(user) = security::user_of(access.server(), login, &directory) else {
            return false;
        };
        let there = Access::new(access.server().clone(), Some(login), directory, user);
        there.allows(Permission::Control, Target::Database)
    }

    /// TRUNCATE TABLE.
    pub fn truncate(&mut self, table: &TableDef, frame: &mut [Value]) -> Result<(), SqlError> {
        if table.is_private() {
            return self.truncate_private(table);
        }
        self.check_alter(table)?;
        self.in_catalog(frame, |catalog, txn, scope| {
            Ok(catalog.truncate_table(txn, scope, Some(&table.schema), &table.name)?)
        })
    }

    /// SELECT INTO: the table from the query's columns, then the rows, all one statement's work.
    pub fn select_into(
        &mut self,
        plan: &Plan,
        name: &ObjectName,
        spec: &TableSpec,
        frame: &mut [Value],
    ) -> Result<u64, SqlError> {
        if !is_temporary(&name.name) {
            self.local(name)?;
        }
        // Both steps must stand or fall together.
        let own = self.state.transaction.count == 0;
        if own {
            self.state.transaction.begin(None, &self.state.options);
        }
        let private = self.state.transaction.private.mark();
        let created: Result<Arc<TableDef>, SqlError> = if is_temporary(&name.name) {
            self.create_private(spec)
        } else {
            self.table_to_create(spec).and_then(|spec| {
                let made = self.in_catalog(frame, |catalog, txn, scope| {
                    Ok(catalog.create_table(txn, scope, &spec)?)
                })?;
                self.note_global(&made);
                Ok(made)
            })
        };
        let rows = created.and_then(|table| {
            self.in_statement(frame, |cx, _| dml::insert_query(plan, &table, &mut cx.reborrow()))
        });
        if rows.is_err() {
            self.state.transaction.private.rollback_to(private);
        }
        if own {
            let state = &mut *self.state;
            match &rows {
                Ok(_) => state.transaction.commit(&state.database, None)?,
                Err(_) => state.transaction.rollback_all()?,
            }
        }
        rows
    }
}

/// One change of a table's definition, and of its history's where the table is versioned, with what it asks of the rows.
fn change_table(
    catalog: &Catalog,
    cx: &mut Cx<'_>,
    scope: &mut DdlScope,
    schema: Option<&str>,
    name: &str,
    change: &catalog::AlterTable,
) -> Result<(), SqlError> {
    let altered = catalog.alter_table(writer(cx), scope, schema, name, change)?;
    let history = |table: &TableDef| match table.temporal {
        Temporal::Versioned { history, .. } => catalog.table_by_id(Some(scope), history),
        _ => None,
    };
    let parents = altered.new.foreign_keys.iter();
    let parents = parents.filter_map(|k| catalog.table_by_id(Some(scope), k.table));
    let parents: Vec<Arc<TableDef>> = parents.chain(history(&altered.new)).collect();
    let former = history(&altered.old);
    dml::carry_out(&altered, &parents, cx)?;
    let (Some(former), Some(change)) = (former, Catalog::change_of_history(change)) else {
        return Ok(());
    };
    let altered = catalog.alter_history(writer(cx), scope, &former, &change)?;
    dml::carry_out(&altered, &[], cx)
}

/// 166: a name of three parts where two are allowed.
/// Why a table could not be made, 1750 after what is about its keys and indexes.
fn unmade(error: CatalogError) -> SqlError {
    SqlError::from(error).of_constraints()
}

fn no_database_part(name: &ObjectName, what: &str) -> Result<(), SqlError> {
    if name.database.is_none() {
        return Ok(());
    }
    let text = format!(
        "'{what}' does not allow specifying the database name as a prefix to the object name."
    );
    Err(SqlError::new(166, 15, text))
}

/// DROP of what others may be bound to.
fn drop_verb(kind: ModuleKind) -> &'static str {
    match kind {
        ModuleKind::View => "DROP VIEW",
        ModuleKind::Sequence => "DROP SEQUENCE",
        _ => "DROP FUNCTION",
    }
}
