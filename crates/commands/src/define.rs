//! Data definition: through the catalog in the session's transaction, or through the host for whole databases.

mod change;
pub(crate) mod ddl_trigger;
pub(crate) mod dependents;
mod drop;
mod fill_factor;
mod fulltext;
mod global_tables;
mod indexed_view;
mod key_bytes;
mod modules;
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
mod xml_schemas;

use crate::Commands;
use crate::define::change::writer;
use crate::refusals::{database_denied, no_object};
use crate::security::Defined;
use catalog::{
    Catalog, CatalogError, DdlScope, ModuleKind, ObjectRef, PutMode, TableDef, TableSpec, Temporal,
};
use executor::{Cx, EnvironmentChange, SqlError, SqlMessage};
use ir::ObjectName;
use ir::ddl::{AlterTable, CreateTable, Ddl};
use planner::Plan;
use security::{Permission, Target};
use session_state::is_temporary;
use std::sync::Arc;
use syntax::ast::AlterDatabaseAction;
use types::Value;

impl Commands<'_> {
    /// CREATE, ALTER, DROP.
    pub fn define(&mut self, ddl: &Ddl, frame: &mut [Value]) -> Result<(), SqlError> {
        match ddl {
            Ddl::CreateDatabase(create) => {
                self.no_transaction("CREATE DATABASE")?;
                if !self.may_create_database() {
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
                let before = self.state.database.catalog.collation();
                self.host.alter_database(&name, alter, &is_cancelled)?;
                let after = self.state.database.catalog.collation();
                if before != after {
                    let change = EnvironmentChange::Collation { old: before, new: after };
                    self.sink.environment(change);
                }
                if let AlterDatabaseAction::Rename(new) = &alter.action {
                    let text = format!("The database name '{}' has been set.", new.value);
                    self.sink.message(&SqlMessage::info(5021, 0, text));
                }
                Ok(())
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
                let defined = Defined::Module(&create.name, *kind);
                self.check_module_execute_as(&create.options, defined)?;
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

    /// 12331, 12332.
    pub(crate) fn no_memory_ddl(&self) -> Result<(), SqlError> {
        self.alone("memory optimized tables")
    }

    /// What is not undone with a transaction cannot be part of one, nor of a DDL trigger's: 12331, 12332.
    pub(crate) fn alone(&self, what: &str) -> Result<(), SqlError> {
        if self.state.trancount() == 0 {
            return Ok(());
        }
        let (number, text) = match self.state.watched {
            true => {
                (12332, "Database and server triggers on DDL operations CREATE, ALTER and DROP are")
            }
            false => (12331, "DDL statements ALTER, DROP and CREATE inside user transactions are"),
        };
        Err(SqlError::new(number, 16, format!("{text} not supported with {what}.")))
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
        self.check_column_schemas(spec.columns.iter().map(|column| column.ty))?;
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
        self.check_column_schemas(changes.iter().flat_map(|change| match change {
            catalog::AlterTable::AddColumns(columns) => columns.iter().map(|c| c.ty).collect(),
            catalog::AlterTable::AlterColumn { ty, .. } => vec![*ty],
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
        } else {
            self.fill_changes(&mut changes);
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
        applied.map_err(|error| match changes[..] {
            [catalog::AlterTable::AddIndex(_)] if error.number == 1919 => error
                .naming(&format!("in table '{}' is", name.name), &format!("in table '{name}' is")),
            [catalog::AlterTable::AddIndex(_)] => error,
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
        let own = || format!("'{}.{}'", table.name, name.name);
        dropped.map_err(|error| match error.number {
            3701 => missing(),
            3723 => error.naming(&own(), &format!("'{shown}'")),
            _ => error,
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
        self.fill_table(&mut spec);
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

/// Why a table could not be made, 1750 after what is about its keys and indexes.
fn unmade(error: CatalogError) -> SqlError {
    SqlError::from(error).of_constraints()
}
