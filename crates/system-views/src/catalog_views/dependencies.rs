//! Which object names which: sys.sql_expression_dependencies and what is made of the same rows.
//!
//! Made from the texts when a view is read: nothing is kept, so a name that was not there when a module was made is found
//! once it is there, and one whose object has gone has no id. As in SQL Server, temporary tables, system objects and what a
//! text makes up while it runs (EXECUTE of a text) are not listed. Columns are told of where
//! the text can be bound.
//!
//! Columns and types: SQL Server 2022's documentation of each view and function.

use crate::context::Context;
use crate::declare::{Declared, view};
use crate::object::{self, Object, What};
use crate::shape;
use crate::types_table::{TypeRow, user_types};
use catalog::{ModuleKind, ObjectRef, ProcedureDef, same_name};
use executor::SqlError;
use std::collections::{HashMap, HashSet};
use syntax::{LexOptions, Mention, MentionKind};
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &EXPRESSION_DEPENDENCIES,
    &SQL_DEPENDENCIES,
    &SYSDEPENDS,
    &REFERENCED_ENTITIES,
    &REFERENCING_ENTITIES,
];

/// One object that names another.
#[derive(Clone)]
pub struct Reference {
    referencing: i32,
    referencing_schema: String,
    referencing_name: String,
    /// A computed column's number.
    referencing_column: i32,
    is_bound: bool,
    server: Option<String>,
    database: Option<String>,
    schema: Option<String>,
    name: String,
    /// Of an object or a type, where it is there.
    id: Option<i32>,
    column: i32,
    column_name: Option<String>,
    is_type: bool,
    by_caller: bool,
    is_ambiguous: bool,
    is_read: bool,
    is_changed: bool,
    /// Of an object: `*` stands for its columns; all columns that are named were found; an INSERT names none.
    is_select_all: bool,
    is_complete: bool,
    is_insert_all: bool,
}

impl Reference {
    fn class(&self) -> u8 {
        if self.is_type { 6 } else { 1 }
    }

    fn class_desc(&self) -> &'static str {
        if self.is_type { "TYPE" } else { "OBJECT_OR_COLUMN" }
    }

    /// The same thing named again.
    fn is_again(&self, other: &Reference) -> bool {
        let same = |a: &Option<String>, b: &Option<String>| match (a, b) {
            (Some(a), Some(b)) => same_name(a, b),
            (None, None) => true,
            _ => false,
        };
        self.referencing_column == other.referencing_column
            && self.is_type == other.is_type
            && self.by_caller == other.by_caller
            && self.column == other.column
            && same_name(&self.name, &other.name)
            && same(&self.schema, &other.schema)
            && same(&self.database, &other.database)
            && same(&self.server, &other.server)
    }
}

/// Objects and types by their names.
struct Names {
    /// By schema and name in lower case.
    objects: HashMap<(String, String), i32>,
    types: Vec<(TypeRow, String)>,
    database: String,
}

impl Names {
    fn new(context: &Context<'_>, objects: &[Object]) -> Names {
        let key = |o: &Object| (o.schema.to_lowercase(), o.name.to_lowercase());
        let named = objects.iter().filter(|o| !o.is_constraint() && o.kind() != "TT");
        Names {
            objects: named.map(|o| (key(o), o.id)).collect(),
            types: user_types(context)
                .into_iter()
                .map(|row| {
                    let schema = context.schema_name(row.schema_id);
                    (row, schema)
                })
                .collect(),
            database: context.database.name.clone(),
        }
    }

    fn object(&self, schema: &str, name: &str) -> Option<i32> {
        self.objects.get(&(schema.to_lowercase(), name.to_lowercase())).copied()
    }

    fn of_type(&self, schema: &str, name: &str) -> Option<i32> {
        let found = self
            .types
            .iter()
            .find(|(row, own)| same_name(own, schema) && row.name.eq_ignore_ascii_case(name));
        found.map(|(row, _)| row.user)
    }
}

/// What an object names; the columns that a view uses of what it names, where `views` are asked about.
fn references_of(object: &Object, names: &Names, views: Option<&Context<'_>>) -> Vec<Reference> {
    let mut out: Vec<Reference> = Vec::new();
    let options = |quoted_identifier| LexOptions { quoted_identifier };
    match &object.what {
        What::Procedure(module) => {
            let is_module = !matches!(
                module.kind,
                ModuleKind::Synonym
                    | ModuleKind::Sequence
                    | ModuleKind::SecurityPolicy
                    | ModuleKind::Rule
                    | ModuleKind::Default
            );
            if !is_module || object.text().is_none() {
                return out;
            }
            let is_bound = object.has_option("SCHEMABINDING");
            for mention in syntax::mentions(&module.text, &options(module.quoted_identifier)) {
                // The rows that fire a trigger.
                let is_fired = module.kind == ModuleKind::Trigger
                    && (mention.name.is_bare("inserted") || mention.name.is_bare("deleted"));
                if !is_fired && mention.kind != MentionKind::Column {
                    add(&mut out, object, names, &mention, (0, is_bound));
                }
            }
            match (views, module.kind) {
                (Some(context), ModuleKind::View) => columns_of_view(&mut out, context, module),
                (Some(context), _) => columns_of_module(&mut out, context, module),
                _ => {}
            }
        }
        What::Table(table) => {
            for (i, column) in table.columns.iter().enumerate() {
                if let Some(computed) = &column.computed {
                    of_expression(&mut out, object, names, &computed.text, i as i32 + 1, table);
                }
            }
        }
        What::Check(table, i) => {
            if let Some(check) = table.checks.get(*i) {
                of_expression(&mut out, object, names, &check.text, 0, table);
            }
        }
        What::Default(table, i) => {
            let default = table.columns.get(*i).and_then(|column| column.default.as_ref());
            if let Some(default) = default {
                of_expression(&mut out, object, names, &default.text, 0, table);
            }
        }
        _ => {}
    }
    out
}

/// The columns that a view uses: each beside the object that it is of, and named as that is.
fn columns_of_view(out: &mut Vec<Reference>, context: &Context<'_>, view: &ProcedureDef) {
    for (source, columns) in shape::sources_of(context, view) {
        let id = source.object_id();
        let table = match &source {
            ObjectRef::Table(table) => Some(table.clone()),
            ObjectRef::Procedure(module) => shape::of_module(context, module),
        };
        let named = out.iter().find(|known| known.id == Some(id) && !known.is_type).cloned();
        let (Some(table), Some(named)) = (table, named) else { continue };
        for (i, column) in table.columns.iter().enumerate() {
            if columns.iter().any(|used| same_name(used, &column.name)) {
                let column_name = Some(column.name.to_string());
                put(
                    out,
                    Reference { column: i as i32 + 1, column_name, is_read: true, ..named.clone() },
                );
            }
        }
    }
}

/// The columns that the statements of a module read and change, each beside the object that it is of.
fn columns_of_module(out: &mut Vec<Reference>, context: &Context<'_>, module: &ProcedureDef) {
    for (object, used) in shape::uses_of(context, module) {
        let table = match &object {
            ObjectRef::Table(table) => Some(table.clone()),
            ObjectRef::Procedure(module) => shape::of_module(context, module),
        };
        let is_it = |known: &&mut Reference| known.id == Some(used.object_id) && !known.is_type;
        let (Some(table), Some(named)) = (table, out.iter_mut().find(is_it)) else { continue };
        named.is_select_all |= used.is_select_all;
        named.is_insert_all |= used.is_insert_all;
        named.is_complete = true;
        let named = named.clone();
        for (i, column) in table.columns.iter().enumerate() {
            let is_among =
                |names: &[String]| names.iter().any(|name| same_name(name, &column.name));
            let (is_read, is_changed) = (is_among(&used.read), is_among(&used.changed));
            if is_read || is_changed {
                put(
                    out,
                    Reference {
                        column: i as i32 + 1,
                        column_name: Some(column.name.to_string()),
                        is_read,
                        is_changed,
                        is_select_all: false,
                        is_insert_all: false,
                        is_complete: false,
                        ..named.clone()
                    },
                );
            }
        }
    }
}

/// An expression of a table, which is bound to what it names.
fn of_expression(
    out: &mut Vec<Reference>,
    object: &Object,
    names: &Names,
    text: &str,
    column: i32,
    table: &catalog::TableDef,
) {
    for mention in syntax::expression_mentions(text, &LexOptions::default()) {
        if mention.kind != MentionKind::Column {
            add(out, object, names, &mention, (column, true));
            continue;
        }
        let named = mention.name.name.value.as_str();
        let Some(i) = table.columns.iter().position(|c| same_name(&c.name, named)) else {
            continue;
        };
        let reference = Reference {
            schema: Some(table.schema.to_string()),
            name: table.name.to_string(),
            id: Some(table.object_id),
            column: i as i32 + 1,
            column_name: Some(table.columns[i].name.to_string()),
            is_read: true,
            ..blank(object, column, true)
        };
        put(out, reference);
    }
}

fn blank(object: &Object, referencing_column: i32, is_bound: bool) -> Reference {
    Reference {
        referencing: object.id,
        referencing_schema: object.schema.clone(),
        referencing_name: object.name.clone(),
        referencing_column,
        is_bound,
        server: None,
        database: None,
        schema: None,
        name: String::new(),
        id: None,
        column: 0,
        column_name: None,
        is_type: false,
        by_caller: false,
        is_ambiguous: false,
        is_read: false,
        is_changed: false,
        is_select_all: false,
        is_complete: false,
        is_insert_all: false,
    }
}

fn put(out: &mut Vec<Reference>, reference: Reference) {
    match out.iter_mut().find(|known| known.is_again(&reference)) {
        Some(known) => {
            known.is_read |= reference.is_read;
            known.is_changed |= reference.is_changed;
            known.is_select_all |= reference.is_select_all;
            known.is_complete |= reference.is_complete;
            known.is_insert_all |= reference.is_insert_all;
        }
        None => out.push(reference),
    }
}

fn add(
    out: &mut Vec<Reference>,
    object: &Object,
    names: &Names,
    mention: &Mention,
    (column, is_bound): (i32, bool),
) {
    let value = |part: &Option<syntax::ast::Ident>| {
        part.as_ref().map(|ident| ident.value.clone()).filter(|value| !value.is_empty())
    };
    let (schema, name) = (value(&mention.name.schema), mention.name.name.value.clone());
    let (database, server) = (value(&mention.name.database), value(&mention.name.server));
    let is_here = server.is_none()
        && database.as_ref().is_none_or(|database| same_name(database, &names.database));
    let is_system =
        schema.as_ref().is_some_and(|s| same_name(s, "sys") || same_name(s, "INFORMATION_SCHEMA"));
    if name.starts_with('#') || is_system {
        return;
    }
    // A name alone is looked for in the schema of the module, then in dbo.
    let found = |find: &dyn Fn(&str, &str) -> Option<i32>| match &schema {
        _ if !is_here => None,
        Some(schema) => find(schema, &name),
        None => find(&object.schema, &name).or_else(|| find("dbo", &name)),
    };
    let is_type = mention.kind == MentionKind::Type;
    let id = match is_type {
        true => found(&|schema, name| names.of_type(schema, name)),
        false => found(&|schema, name| names.object(schema, name)),
    };
    let by_caller = mention.kind == MentionKind::Procedure && schema.is_none();
    let is_function = matches!(mention.kind, MentionKind::Function | MentionKind::TableFunction);
    let is_built_in = match mention.kind {
        // What is not the user's is the server's.
        MentionKind::Type => id.is_none(),
        MentionKind::TableFunction => id.is_none() && schema.is_none(),
        MentionKind::Procedure => {
            id.is_none()
                && schema.as_ref().is_none_or(|s| same_name(s, "dbo"))
                && is_procedure(&name)
        }
        MentionKind::Source => {
            id.is_none() && crate::registry::find(schema.as_deref(), &name).is_some()
        }
        _ => false,
    };
    if is_built_in {
        return;
    }
    let reference = Reference {
        server,
        database,
        schema,
        name,
        id: id.filter(|_| !by_caller),
        is_type,
        by_caller,
        // It may be a method of a column.
        is_ambiguous: mention.kind == MentionKind::Function && id.is_none() && !is_bound,
        is_read: mention.kind == MentionKind::Source || (is_function && id.is_some()),
        is_changed: mention.kind == MentionKind::Target,
        ..blank(object, column, is_bound)
    };
    put(out, reference);
}

/// A built-in procedure's name, as far as it can be told by its beginning.
fn is_procedure(name: &str) -> bool {
    let begins = |with: &str| name.get(..3).is_some_and(|p| p.eq_ignore_ascii_case(with));
    begins("sp_") || begins("xp_")
}

/// What every object names, with the columns that views use.
fn columns_named(context: &Context<'_>) -> Vec<Reference> {
    let objects = object::user_objects(context);
    let names = Names::new(context, &objects);
    objects.iter().flat_map(|object| references_of(object, &names, Some(context))).collect()
}

/// Columns are kept of what is bound to them alone.
fn references(context: &Context<'_>, _: &[Value]) -> Result<Vec<Reference>, SqlError> {
    let mut all = columns_named(context);
    all.retain(|reference| reference.is_bound || reference.column == 0);
    Ok(all)
}

/// Those of objects that are there; an object of which columns are used is told of by them.
fn resolved(context: &Context<'_>, _: &[Value]) -> Result<Vec<Reference>, SqlError> {
    let mut all = columns_named(context);
    all.retain(|reference| reference.id.is_some());
    let by_columns: HashSet<(i32, Option<i32>)> = all
        .iter()
        .filter(|reference| reference.column != 0 && !reference.is_type)
        .map(|reference| (reference.referencing, reference.id))
        .collect();
    all.retain(|r| r.column != 0 || r.is_type || !by_columns.contains(&(r.referencing, r.id)));
    Ok(all)
}

/// Those that sysdepends had: objects alone.
fn resolved_objects(context: &Context<'_>, args: &[Value]) -> Result<Vec<Reference>, SqlError> {
    let mut all = resolved(context, args)?;
    all.retain(|reference| !reference.is_type);
    Ok(all)
}

/// Schema, name and class of a function's two arguments; the class in capitals. The schema has to be said.
fn asked(args: &[Value]) -> Option<(String, String, String)> {
    let text = |i: usize| args.get(i).and_then(Value::as_str);
    let mut parts = session_state::name_parts(text(0)?).into_iter().rev();
    let name = parts.next()?;
    let schema = parts.next().filter(|schema| !schema.is_empty())?;
    Some((schema, name, text(1)?.to_ascii_uppercase()))
}

/// What one object names, if its definition may be viewed.
fn referenced(context: &Context<'_>, args: &[Value]) -> Result<Vec<Reference>, SqlError> {
    let Some((schema, name, class)) = asked(args) else { return Ok(Vec::new()) };
    if class != "OBJECT" {
        return Ok(Vec::new());
    }
    let objects = object::user_objects(context);
    let names = Names::new(context, &objects);
    let asked =
        |o: &&Object| o.is_readable && same_name(&o.name, &name) && same_name(&o.schema, &schema);
    Ok(objects
        .iter()
        .filter(asked)
        .flat_map(|object| references_of(object, &names, Some(context)))
        .collect())
}

/// Who names one object or type, of those whose definition may be viewed.
fn referencing(context: &Context<'_>, args: &[Value]) -> Result<Vec<Reference>, SqlError> {
    let Some((schema, name, class)) = asked(args) else { return Ok(Vec::new()) };
    let is_type = match class.as_str() {
        "OBJECT" => false,
        "TYPE" => true,
        _ => return Ok(Vec::new()),
    };
    let objects = object::user_objects(context);
    let names = Names::new(context, &objects);
    let wanted = match is_type {
        true => names.of_type(&schema, &name),
        false => names.object(&schema, &name),
    };
    let Some(wanted) = wanted else { return Ok(Vec::new()) };
    let mut out: Vec<Reference> = Vec::new();
    let readable = objects.iter().filter(|object| object.is_readable);
    for reference in readable.flat_map(|object| references_of(object, &names, None)) {
        let is_it = match reference.by_caller {
            true => !is_type && same_name(&reference.name, &name),
            false => reference.is_type == is_type && reference.id == Some(wanted),
        };
        // A table's computed columns do not make it its own referrer.
        let is_new = !out.iter().any(|known| known.referencing == reference.referencing);
        if is_it && is_new && reference.referencing != wanted {
            out.push(reference);
        }
    }
    Ok(out)
}

view! {
    EXPRESSION_DEPENDENCIES = "sys.sql_expression_dependencies" of Reference as d, rows references;
    referencing_id int = d.referencing;
    referencing_minor_id int = d.referencing_column;
    referencing_class tinyint null = 1u8;
    referencing_class_desc nvarchar(60) null = "OBJECT_OR_COLUMN";
    is_schema_bound_reference bit = d.is_bound;
    referenced_class tinyint null = d.class();
    referenced_class_desc nvarchar(60) null = d.class_desc();
    referenced_server_name sysname null = d.server.as_ref();
    referenced_database_name sysname null = d.database.as_ref();
    referenced_schema_name sysname null = d.schema.as_ref();
    referenced_entity_name sysname null = &d.name;
    referenced_id int null = d.id;
    referenced_minor_id int = d.column;
    is_caller_dependent bit = d.by_caller;
    is_ambiguous bit = d.is_ambiguous;
}

view! {
    SQL_DEPENDENCIES = "sys.sql_dependencies" of Reference as d, rows resolved;
    // 0 and 1: objects, not bound and bound; 2: types.
    class tinyint = if d.is_type { 2u8 } else { u8::from(d.is_bound) };
    class_desc nvarchar(60) null = match (d.is_type, d.is_bound) {
        (true, _) => "TYPE",
        (_, true) => "OBJECT_OR_COLUMN_REFERENCE_SCHEMA_BOUND",
        _ => "OBJECT_OR_COLUMN_REFERENCE_NON_SCHEMA_BOUND",
    };
    object_id int = d.referencing;
    column_id int = d.referencing_column;
    referenced_major_id int = d.id;
    referenced_minor_id int = d.column;
    is_selected bit = d.is_read;
    is_updated bit = d.is_changed;
    is_select_all bit = d.is_select_all;
}

view! {
    SYSDEPENDS = "sys.sysdepends" of Reference as d, rows resolved_objects;
    id int = d.referencing;
    depid int = d.id;
    number smallint null = d.referencing_column as i16;
    depnumber smallint null = d.column as i16;
    status smallint null = 0i16;
    deptype tinyint = u8::from(d.is_bound);
    depdbid smallint null = 0i16;
    depsiteid smallint null = 0i16;
    selall bit = false;
    resultobj bit = d.is_changed;
    readobj bit = d.is_read;
}

view! {
    REFERENCED_ENTITIES = "sys.dm_sql_referenced_entities" of Reference as d, rows referenced,
        params (nvarchar(517), nvarchar(60));
    referencing_minor_id int = d.referencing_column;
    referenced_server_name sysname null = d.server.as_ref();
    referenced_database_name sysname null = d.database.as_ref();
    referenced_schema_name sysname null = d.schema.as_ref();
    referenced_entity_name sysname = &d.name;
    referenced_minor_name sysname null = d.column_name.as_ref();
    referenced_id int null = d.id;
    referenced_minor_id int = d.column;
    referenced_class tinyint null = d.class();
    referenced_class_desc nvarchar(60) null = d.class_desc();
    is_caller_dependent bit = d.by_caller;
    is_ambiguous bit = d.is_ambiguous;
    is_selected bit = d.is_read;
    is_updated bit = d.is_changed;
    is_select_all bit = d.is_select_all;
    is_all_columns_found bit = d.is_complete;
    is_insert_all bit = d.is_insert_all;
    is_incomplete bit = false;
}

view! {
    REFERENCING_ENTITIES = "sys.dm_sql_referencing_entities" of Reference as d, rows referencing,
        params (nvarchar(517), nvarchar(60));
    referencing_schema_name sysname = &d.referencing_schema;
    referencing_entity_name sysname = &d.referencing_name;
    referencing_id int = d.referencing;
    referencing_class tinyint null = 1u8;
    referencing_class_desc nvarchar(60) null = "OBJECT_OR_COLUMN";
    is_caller_dependent bit = d.by_caller;
}
