//! DROP RULE and DROP DEFAULT, and the procedures that bind these objects to columns and alias types.
//!
//! What is bound to an alias type is bound to its columns too, those that have something else bound by themselves and,
//! under `futureonly`, all that are there excepted. A binding belongs to the transaction like any definition.
//!
//! Sources: documentation of sp_bindrule, sp_unbindrule, sp_bindefault, sp_unbindefault; the texts of sys.messages.

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use crate::refusals::cannot_drop;
use catalog::{Binding, ModuleKind, ObjectRef, ProcedureDef, TableDef, same_name};
use executor::SqlError;
use ir::ObjectName;
use session_state::messages;
use std::sync::Arc;
use types::{SqlType, Value};

/// What something is bound to.
enum Target {
    Column(Arc<TableDef>, usize),
    Type(Arc<ProcedureDef>),
}

impl Commands<'_> {
    /// DROP RULE, DROP DEFAULT; 3701, 3716, 3717.
    pub(crate) fn drop_bindable(
        &mut self,
        kind: ModuleKind,
        name: &ObjectName,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let schema = self.schema_of(name);
        let scope = self.state.definitions();
        let catalog = &self.state.database.catalog;
        let Some(found) = catalog.module(scope, schema.as_deref(), &name.name, kind) else {
            let is = |c: &catalog::ColumnDef| {
                c.default.as_ref().is_some_and(|d| same_name(&d.name, &name.name))
            };
            let constraint = kind == ModuleKind::Default
                && catalog
                    .objects_in(scope)
                    .iter()
                    .any(|o| matches!(o, ObjectRef::Table(table) if table.columns.iter().any(is)));
            if constraint {
                let text = "Cannot drop a default constraint by DROP DEFAULT statement. Use ALTER TABLE to drop a \
                            constraint default.";
                return Err(SqlError::new(3717, 16, text));
            }
            return self.drop_module(kind, name, frame);
        };
        self.local(name)?;
        if !self.may_change(&ObjectRef::Procedure(found.clone()), true) {
            return Err(cannot_drop(kind.word(), &name.name));
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            catalog.lock_bindable(txn, scope, &found)?;
            if catalog.is_bound(Some(scope), found.object_id) {
                let text = format!(
                    "The {} '{}' cannot be dropped because it is bound to one or more column.",
                    kind.word(),
                    name.name
                );
                let state = if kind == ModuleKind::Default { 3 } else { 1 };
                return Err(SqlError::new(3716, 16, text).with_state(state));
            }
            Ok(catalog.drop_module(txn, scope, kind, Some(&found.schema), &found.name)?)
        })
    }

    /// sp_bindrule @rulename, @objname, @futureonly; sp_bindefault @defname, @objname, @futureonly.
    pub(crate) fn bind(
        &mut self,
        kind: ModuleKind,
        args: &[Argument],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let is_rule = kind == ModuleKind::Rule;
        let (procedure, parameter) = match is_rule {
            true => ("sp_bindrule", "@rulename"),
            false => ("sp_bindefault", "@defname"),
        };
        let name = arguments::needed(procedure, args, 0, parameter)?;
        let wanted = arguments::needed(procedure, args, 1, "@objname")?;
        let future = arguments::text(args, 2, "@futureonly");
        if future.is_some_and(|text| !text.eq_ignore_ascii_case("futureonly")) {
            return Err(messages::error(if is_rule { 15106 } else { 15100 }, &[]));
        }
        let Some(object) = self.bindable_named(kind, name) else {
            return Err(messages::error(if is_rule { 15017 } else { 15016 }, &[name]));
        };
        let binding = Binding::of(&object);
        match self.bind_target(wanted)? {
            Target::Column(table, ordinal) => {
                check_column(kind, &table, ordinal)?;
                self.bind_columns(kind, &[(table, ordinal)], None, Some(&binding), frame)?;
                self.tell_bound(if is_rule { 15514 } else { 15511 });
            }
            Target::Type(ty) => {
                let before = ty.bindings.of_kind(kind);
                let columns = match future {
                    Some(_) => Vec::new(),
                    None => self.columns_of_type(&ty, |column| {
                        let bound = column.bound(kind).map(|b| b.object_id);
                        (bound.is_none() || bound == before) && may_have(kind, column)
                    }),
                };
                let of_type = Some((&*ty, Some(object.object_id)));
                self.bind_columns(kind, &columns, of_type, Some(&binding), frame)?;
                self.tell_bound(if is_rule { 15515 } else { 15512 });
                if future.is_none() {
                    self.tell_bound(if is_rule { 15516 } else { 15513 });
                }
            }
        }
        Ok(())
    }

    /// sp_unbindrule and sp_unbindefault @objname, @futureonly.
    pub(crate) fn unbind(
        &mut self,
        kind: ModuleKind,
        args: &[Argument],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let is_rule = kind == ModuleKind::Rule;
        let procedure = if is_rule { "sp_unbindrule" } else { "sp_unbindefault" };
        let wanted = arguments::needed(procedure, args, 0, "@objname")?;
        let future = arguments::text(args, 1, "@futureonly");
        let future = future.is_some_and(|text| text.eq_ignore_ascii_case("futureonly"));
        match self.bind_target(wanted)? {
            Target::Column(table, ordinal) => {
                if table.columns[ordinal].bound(kind).is_none() {
                    return Err(messages::error(if is_rule { 15238 } else { 15236 }, &[wanted]));
                }
                self.bind_columns(kind, &[(table, ordinal)], None, None, frame)?;
                self.tell_bound(if is_rule { 15522 } else { 15519 });
            }
            Target::Type(ty) => {
                let Some(before) = ty.bindings.of_kind(kind) else {
                    return Err(messages::error(if is_rule { 15239 } else { 15237 }, &[wanted]));
                };
                let columns = match future {
                    true => Vec::new(),
                    false => self.columns_of_type(&ty, |column| {
                        column.bound(kind).is_some_and(|bound| bound.object_id == before)
                    }),
                };
                self.bind_columns(kind, &columns, Some((&*ty, None)), None, frame)?;
                self.tell_bound(if is_rule { 15523 } else { 15520 });
                if !future {
                    self.tell_bound(if is_rule { 15524 } else { 15521 });
                }
            }
        }
        Ok(())
    }

    fn tell_bound(&mut self, number: i32) {
        self.sink.message(&messages::info(number, &[]));
    }

    /// Binds `to`, or nothing, to columns and to a type, all or none.
    fn bind_columns(
        &mut self,
        kind: ModuleKind,
        columns: &[(Arc<TableDef>, usize)],
        ty: Option<(&ProcedureDef, Option<i32>)>,
        to: Option<&Binding>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.in_catalog(frame, |catalog, txn, scope| {
            if let Some(module) =
                to.and_then(|to| catalog.bindable_by_id(Some(scope), to.object_id))
            {
                catalog.lock_bindable(txn, scope, &module)?;
            }
            if let Some((ty, object)) = ty {
                catalog.bind_type(txn, scope, ty, kind, object)?;
            }
            for (table, ordinal) in columns {
                let name = table.columns[*ordinal].name.clone();
                let change = catalog::AlterTable::BindColumn { name, kind, to: to.cloned() };
                catalog.alter_table(txn, scope, Some(&table.schema), &table.name, &change)?;
            }
            Ok(())
        })
    }

    fn bindable_named(&self, kind: ModuleKind, name: &str) -> Option<Arc<ProcedureDef>> {
        let mut parts = session_state::name_parts(name).into_iter().rev();
        let bare = parts.next()?;
        let schema = parts.next().filter(|s| !s.is_empty());
        let name = ObjectName { database: None, schema, name: bare };
        let schema = self.schema_of(&name);
        let scope = self.state.definitions();
        self.state.database.catalog.module(scope, schema.as_deref(), &name.name, kind)
    }

    /// What `[[schema.]table.]column` or `[schema.]type` names; of two parts a column comes first. 4185, 15148.
    fn bind_target(&self, wanted: &str) -> Result<Target, SqlError> {
        let scope = self.state.definitions();
        let catalog = &self.state.database.catalog;
        let missing = || messages::error(15148, &[wanted]);
        let mut parts = session_state::name_parts(wanted).into_iter().rev();
        let last = parts.next().unwrap_or_default();
        let (middle, first) = (parts.next(), parts.next().filter(|s| !s.is_empty()));
        if let Some(table) = &middle {
            let name = ObjectName { database: None, schema: first.clone(), name: table.clone() };
            let schema = self.schema_of(&name);
            let found = catalog.table(scope, schema.as_deref(), table);
            if let Some(found) = found
                && let Some(ordinal) = found.column(&last)
            {
                return match self.may_change(&ObjectRef::Table(found.clone()), false) {
                    true => Ok(Target::Column(found, ordinal)),
                    false => Err(missing()),
                };
            }
        }
        if first.is_some() {
            return Err(missing());
        }
        if let Some(ty) = catalog.module(scope, middle.as_deref(), &last, ModuleKind::AliasType) {
            return match self.may_change(&ObjectRef::Procedure(ty.clone()), false) {
                true => Ok(Target::Type(ty)),
                false => Err(missing()),
            };
        }
        let system = middle.as_deref().is_none_or(|schema| same_name(schema, "sys"));
        if system && SqlType::from_name(&last.to_ascii_lowercase(), &[]).is_some() {
            let text = "This action cannot be performed on a system type.";
            return Err(SqlError::new(4185, 16, text));
        }
        Err(missing())
    }

    /// The columns of the database's tables that were declared with an alias type.
    fn columns_of_type(
        &self,
        ty: &ProcedureDef,
        mut wanted: impl FnMut(&catalog::ColumnDef) -> bool,
    ) -> Vec<(Arc<TableDef>, usize)> {
        let mut found = Vec::new();
        for object in self.state.database.catalog.objects_in(self.state.definitions()) {
            let ObjectRef::Table(table) = object else { continue };
            if matches!(table.temporal, catalog::Temporal::History { .. }) {
                continue;
            }
            for (ordinal, column) in table.columns.iter().enumerate() {
                if column.alias == Some(ty.object_id) && wanted(column) {
                    found.push((table.clone(), ordinal));
                }
            }
        }
        found
    }
}

/// Has a column a type and a kind of value that a rule or default can be bound to?
fn may_have(kind: ModuleKind, column: &catalog::ColumnDef) -> bool {
    let large = column.ty.is_max();
    let plain = !column.is_made() && !column.marks.sparse && !large;
    plain && (kind == ModuleKind::Rule || (column.identity.is_none() && column.default.is_none()))
}

/// 15101, 15102, 15103, 15107.
fn check_column(kind: ModuleKind, table: &TableDef, ordinal: usize) -> Result<(), SqlError> {
    let column = &table.columns[ordinal];
    if may_have(kind, column) {
        return Ok(());
    }
    Err(messages::error(
        match (kind, column) {
            (ModuleKind::Rule, _) => 15107,
            (_, column) if column.identity.is_some() => 15102,
            (_, column) if column.default.is_some() => 15103,
            _ => 15101,
        },
        &[],
    ))
}
