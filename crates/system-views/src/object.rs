//! The objects of a database, as sys.objects lists them: users' own, their constraints, and the built-in ones.
//!
//! Promise: an object's id is the same for as long as the object lives. Tables and procedures have ids of the catalog;
//! a constraint's id follows from its table's and its place; a built-in object's is negative and follows from its name.

use crate::built_in_procedures::BuiltIn;
use crate::context::{Context, built_in, moment};
use crate::declare::Declared;
use crate::modules::Module;
use crate::visibility::Visibility;
use catalog::{ModuleKind, ObjectKind, ObjectRef, ProcedureDef, TableDef, TriggerDef, same_name};
use std::sync::Arc;
use types::datetime::DateTime;

/// Schema ids that every database has.
pub const DBO: i32 = 1;
/// INFORMATION_SCHEMA.
pub const INFORMATION_SCHEMA: i32 = 3;
/// sys.
pub const SYS: i32 = 4;

/// What an object is.
#[derive(Clone)]
pub enum What {
    Table(Arc<TableDef>),
    Procedure(Arc<ProcedureDef>),
    /// The primary key of a table.
    PrimaryKey(Arc<TableDef>),
    /// The DEFAULT of a column (0-based).
    Default(Arc<TableDef>, usize),
    /// A UNIQUE constraint, by its place among the table's indexes.
    Unique(Arc<TableDef>, usize),
    /// A CHECK, by its place.
    Check(Arc<TableDef>, usize),
    /// A FOREIGN KEY, by its place, and the id of the index that it goes by.
    ForeignKey(Arc<TableDef>, usize, i32),
    /// A system view, or a system function when it has parameters.
    SystemView(&'static dyn Declared),
    SystemProcedure(&'static Module),
    /// A procedure without a text.
    BuiltIn(&'static BuiltIn),
    /// A name alone: [`crate::base_tables`].
    SystemTable,
}

/// A row of sys.all_objects, with what it stands for.
#[derive(Clone)]
pub struct Object {
    pub id: i32,
    pub name: String,
    pub schema_id: i32,
    pub schema: String,
    /// Where it is not its schema's owner.
    pub owner: Option<i32>,
    /// 0 for what has no parent.
    pub parent: i32,
    pub created: DateTime,
    /// May the session read its text?
    pub is_readable: bool,
    pub what: What,
}

impl Object {
    /// `type` of sys.objects, without the blank that makes it two characters long.
    pub fn kind(&self) -> &'static str {
        match &self.what {
            What::Table(_) => "U",
            What::Procedure(module) => ObjectKind::Module(module.kind).code(),
            // Extended procedures, the server's own, are called so.
            What::SystemProcedure(module) if module.name.starts_with("xp_") => "X",
            What::BuiltIn(one) if one.parameters.is_none() => "X",
            What::SystemProcedure(_) | What::BuiltIn(_) => "P",
            What::SystemTable => "S",
            What::PrimaryKey(_) => "PK",
            What::Default(..) => "D",
            What::Unique(..) => "UQ",
            What::Check(..) => "C",
            What::ForeignKey(..) => "F",
            What::SystemView(view) if view.params().is_some() => "IF",
            What::SystemView(_) => "V",
        }
    }

    /// `type_desc`.
    pub fn kind_desc(&self) -> &'static str {
        match self.kind() {
            "U" => "USER_TABLE",
            "P" => "SQL_STORED_PROCEDURE",
            "X" => "EXTENDED_STORED_PROCEDURE",
            "PK" => "PRIMARY_KEY_CONSTRAINT",
            "D" => "DEFAULT_CONSTRAINT",
            "UQ" => "UNIQUE_CONSTRAINT",
            "C" => "CHECK_CONSTRAINT",
            "F" => "FOREIGN_KEY_CONSTRAINT",
            "IF" => "SQL_INLINE_TABLE_VALUED_FUNCTION",
            "TF" => "SQL_TABLE_VALUED_FUNCTION",
            "FN" => "SQL_SCALAR_FUNCTION",
            "TR" => "SQL_TRIGGER",
            "SO" => "SEQUENCE_OBJECT",
            "SN" => "SYNONYM",
            "SP" => "SECURITY_POLICY",
            "R" => "RULE",
            "TT" => "TYPE_TABLE",
            "S" => "SYSTEM_TABLE",
            _ => "VIEW",
        }
    }

    /// Is it a constraint of a table?
    pub fn is_constraint(&self) -> bool {
        !matches!(self.what, What::Procedure(_))
            && matches!(self.kind(), "PK" | "D" | "UQ" | "C" | "F")
    }

    /// Is it built in?
    pub fn is_system(&self) -> bool {
        let what = &self.what;
        matches!(what, What::SystemView(_) | What::SystemProcedure(_) | What::BuiltIn(_))
            || matches!(what, What::SystemTable)
    }

    /// The table behind it, if it is one.
    pub fn table(&self) -> Option<&Arc<TableDef>> {
        match &self.what {
            What::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Where its rows are: those of a table, or of an indexed view.
    pub fn rows(&self) -> Option<&Arc<TableDef>> {
        match &self.what {
            What::Table(table) => Some(table),
            What::Procedure(module) => module.rows.as_ref(),
            _ => None,
        }
    }

    /// Its text, where the session may read it.
    pub fn shown_text(&self) -> Option<&str> {
        self.text().filter(|_| self.is_readable && !self.has_option("ENCRYPTION"))
    }

    /// Its text, for procedures and functions.
    pub fn text(&self) -> Option<&str> {
        match &self.what {
            What::Procedure(p)
                if matches!(
                    p.kind,
                    ModuleKind::Sequence | ModuleKind::Synonym | ModuleKind::SecurityPolicy
                ) =>
            {
                None
            }
            What::Procedure(procedure) => Some(&procedure.text),
            What::SystemProcedure(module) => Some(module.text),
            _ => None,
        }
    }
}

/// The id of a table's primary key.
pub fn primary_key_id(table: &TableDef) -> i32 {
    table.primary_key_id()
}

/// The id of a column's DEFAULT.
pub fn default_id(table: &TableDef, ordinal: usize) -> i32 {
    table.default_id(ordinal)
}

/// The id of a built-in object: negative, from its name (FNV-1a).
pub fn system_id(full_name: &str) -> i32 {
    let mut hash = 0x811c_9dc5_u32;
    for byte in full_name.bytes() {
        hash = (hash ^ byte.to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193);
    }
    -((hash & 0x3fff_ffff) as i32) - 1
}

/// The objects that one object of the catalog stands for: itself and its constraints; none where the session does not see
/// it.
fn with_constraints(
    context: &Context<'_>,
    visibility: Option<&Visibility>,
    object: &ObjectRef,
    out: &mut Vec<Object>,
) {
    let (is_seen, is_readable) = match (visibility, object) {
        (None, _) => (true, true),
        (_, ObjectRef::Table(table)) if table.is_private() => (true, true),
        (Some(visibility), _) => visibility.of_object(context, object),
    };
    if !is_seen {
        return;
    }
    let (id, name, schema, created) = match object {
        ObjectRef::Table(t) => (t.object_id, &t.name, &t.schema, t.created_unix_ns),
        ObjectRef::Procedure(p) => (p.object_id, &p.name, &p.schema, p.created_unix_ns),
    };
    let schema_id = context.schema_id(schema);
    // The object of a table type is not called as the type is.
    let is_type = matches!(object, ObjectRef::Procedure(p) if p.kind == ModuleKind::TableType);
    let base = Object {
        id,
        name: if is_type { type_object_name(name, id) } else { name.to_string() },
        schema_id: if is_type { SYS } else { schema_id },
        schema: if is_type { "sys".to_string() } else { schema.to_string() },
        owner: if is_type { None } else { context.own_owner(id) },
        parent: match object {
            // Of a database or the server there is no object.
            ObjectRef::Procedure(p) => p.trigger.map_or(0, |t| t.parent.max(0)),
            ObjectRef::Table(_) => 0,
        },
        created: moment(created),
        is_readable,
        what: match object {
            ObjectRef::Table(t) => What::Table(t.clone()),
            ObjectRef::Procedure(p) => What::Procedure(p.clone()),
        },
    };
    out.push(base.clone());
    let table = match object {
        ObjectRef::Table(table) => table.clone(),
        // Its text may not bind any more.
        ObjectRef::Procedure(module) if is_type => match crate::shape::of_module(context, module) {
            Some(table) => table,
            None => return,
        },
        ObjectRef::Procedure(_) => return,
    };
    let table = &table;
    // What belongs to a table has no owner of its own.
    let base = Object { owner: None, ..base };
    if let Some(key) = &table.primary_key {
        out.push(Object {
            id: primary_key_id(table),
            name: key.name.to_string(),
            parent: id,
            what: What::PrimaryKey(table.clone()),
            ..base.clone()
        });
    }
    for (i, column) in table.columns.iter().enumerate() {
        if let Some(default) = &column.default {
            out.push(Object {
                id: default_id(table, i),
                name: default.name.to_string(),
                parent: id,
                what: What::Default(table.clone(), i),
                ..base.clone()
            });
        }
    }
    let mut constraint = |id: i32, name: &str, what: What| {
        out.push(Object { id, name: name.to_string(), parent: base.id, what, ..base.clone() });
    };
    for (i, index) in table.indexes.iter().enumerate() {
        if index.kind == catalog::IndexKind::Unique {
            constraint(index.constraint_id, &index.name, What::Unique(table.clone(), i));
        }
    }
    for (i, check) in table.checks.iter().enumerate() {
        constraint(check.object_id, &check.name, What::Check(table.clone(), i));
    }
    for (i, key) in table.foreign_keys.iter().enumerate() {
        let parent = match key.table == table.object_id {
            true => Some(table.clone()),
            false => context.database.catalog.table_by_id(context.scope(), key.table),
        };
        let index = parent.map_or(0, |p| crate::catalog_views::constraints::key_index(&p, key));
        constraint(key.object_id, &key.name, What::ForeignKey(table.clone(), i, index));
    }
}

/// `TT_`, the type's name and the object's id: no longer than a name may be.
fn type_object_name(name: &str, id: i32) -> String {
    let short: String = name.chars().take(116).collect();
    format!("TT_{short}_{id:08X}")
}

/// The foreign keys of other tables to this one: the table, and the key's place in it.
pub fn references_to(context: &Context<'_>, table: &TableDef) -> Vec<(Arc<TableDef>, usize)> {
    context.database.catalog.references_to(context.scope(), table)
}

/// Users' objects with their constraints.
pub fn user_objects(context: &Context<'_>) -> Vec<Object> {
    let mut all = Vec::new();
    let visibility = Visibility::of(context);
    for object in context.objects() {
        with_constraints(context, visibility.as_ref(), &object, &mut all);
    }
    all
}

/// One object of the catalog, if the session sees it.
fn one(context: &Context<'_>, object: &ObjectRef) -> Option<Object> {
    let mut all = Vec::new();
    with_constraints(context, Visibility::of(context).as_ref(), object, &mut all);
    all.into_iter().next()
}

/// The triggers of the database itself, or of the server: they are in no schema, and no objects to other views.
pub fn ddl_triggers(context: &Context<'_>, kind: ModuleKind) -> Vec<Object> {
    let master = match kind {
        ModuleKind::ServerTrigger => {
            Context::of_database(context.server, context.session, "master")
        }
        _ => None,
    };
    let context = master.as_ref().unwrap_or(context);
    let parent = match kind {
        ModuleKind::ServerTrigger => TriggerDef::OF_SERVER,
        _ => TriggerDef::OF_DATABASE,
    };
    let mut all = Vec::new();
    if context.stand_in.is_none() {
        for trigger in context.database.catalog.triggers_of(context.scope(), parent) {
            with_constraints(context, None, &ObjectRef::Procedure(trigger), &mut all);
        }
    }
    all
}

/// Built-in views, functions and procedures.
pub fn system_objects() -> Vec<Object> {
    // The tables of msdb and master are objects of theirs alone.
    let is_own = |name: &str| name.starts_with("msdb.") || name.starts_with("master.");
    let views = crate::registry::all().iter().filter(|view| !is_own(view.name()));
    let views = views.map(|view| system_view(*view));
    let procedures = crate::modules::all().iter().map(system_procedure);
    let built_in = crate::built_in_procedures::all().iter().map(built_in_procedure);
    views.chain(procedures).chain(built_in).collect()
}

/// The object of a built-in view.
pub fn system_view(view: &'static dyn Declared) -> Object {
    let (schema, name) = view.name().split_once('.').unwrap_or(("sys", view.name()));
    let (schema, schema_id) = match schema {
        "sys" => ("sys", SYS),
        "msdb" | "master" => ("dbo", DBO),
        _ => (schema, INFORMATION_SCHEMA),
    };
    Object {
        id: system_id(view.name()),
        name: name.to_string(),
        schema_id,
        schema: schema.to_string(),
        owner: None,
        parent: 0,
        created: built_in(),
        is_readable: true,
        what: What::SystemView(view),
    }
}

/// The object of a built-in procedure.
pub fn system_procedure(module: &'static Module) -> Object {
    of_sys(module.id(), module.name, What::SystemProcedure(module))
}

/// The same of one without a text.
pub fn built_in_procedure(one: &'static BuiltIn) -> Object {
    of_sys(system_id(&format!("sys.{}", one.name)), one.name, What::BuiltIn(one))
}

fn of_sys(id: i32, name: &str, what: What) -> Object {
    Object {
        id,
        name: name.to_string(),
        schema_id: SYS,
        schema: "sys".to_string(),
        owner: None,
        parent: 0,
        created: built_in(),
        is_readable: true,
        what,
    }
}

/// Users' tables.
pub fn tables(context: &Context<'_>) -> Vec<Object> {
    user_objects(context).into_iter().filter(|o| o.table().is_some()).collect()
}

/// An object by its id.
pub fn by_id(context: &Context<'_>, id: i64) -> Option<Object> {
    // A temporary table is known by its id everywhere.
    let temporary = context.session.temporary_tables();
    if let Some(table) = temporary.into_iter().find(|t| t.object_id as i64 == id) {
        return one(context, &ObjectRef::Table(table));
    }
    if id < 0 {
        return system_objects().into_iter().find(|o| o.id as i64 == id);
    }
    // Most ids are of what the catalog finds by them; those of constraints are looked for.
    let catalog = &context.database.catalog;
    let own = |id: i32| catalog.object_in(context.scope(), id).filter(|o| context.lists(o));
    let there = |_: &i32| context.stand_in.is_none();
    if let Some(found) = i32::try_from(id).ok().filter(there).and_then(own) {
        return one(context, &found);
    }
    let built_in = system_tables().find(|o| o.id as i64 == id);
    built_in.or_else(|| user_objects(context).into_iter().find(|o| o.id as i64 == id))
}

/// The system base tables.
pub fn system_tables() -> impl Iterator<Item = Object> {
    crate::base_tables::TABLES.iter().map(|(id, name)| of_sys(*id, name, What::SystemTable))
}

/// An object by its name; without a schema: of `dbo`, then a built-in one.
pub fn by_name(context: &Context<'_>, schema: Option<&str>, name: &str) -> Option<Object> {
    let wanted =
        |o: &Object| same_name(&o.name, name) && same_name(&o.schema, schema.unwrap_or("dbo"));
    // A table or a procedure before a constraint, for few names are of constraints.
    let found = if context.temporary && catalog::is_global_name(name) {
        // A global one is in the session's database.
        let session = context.session;
        session.database.catalog.object(session.definitions(), Some("dbo"), name)
    } else if context.temporary {
        let all = context.session.temporary_tables();
        let private = all.into_iter().rev().find(|t| same_name(&t.name, name));
        private.map(ObjectRef::Table).or_else(|| {
            let lasting = || context.database.catalog.object(context.scope(), schema, name);
            context.stand_in.is_none().then(lasting).flatten()
        })
    } else if context.stand_in.is_some() {
        None
    } else {
        context.database.catalog.object(context.scope(), schema, name)
    };
    if let Some(found) = found {
        return one(context, &found);
    }
    if let Some(found) = user_objects(context).into_iter().find(wanted) {
        return Some(found);
    }
    if let Some(view) = crate::registry::find_in(context.name(), schema, name) {
        return Some(system_view(view));
    }
    if let Some(module) = crate::modules::find(schema, name) {
        return Some(system_procedure(module));
    }
    crate::built_in_procedures::find(schema, name).map(built_in_procedure)
}
