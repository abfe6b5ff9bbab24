//! Extended properties: all of them by the ids of what they are of, and those of some things by kinds and names; and
//! sensitivity classifications.
//!
//! Columns and types: SQL Server 2022's documentation of sys.extended_properties, sys.fn_listextendedproperty and
//! sys.sensitivity_classifications.

use crate::catalog_views::columns::seen_types;
use crate::context::Context;
use crate::declare::{Declared, view};
use crate::object::{Object, What, ddl_triggers, user_objects};
use crate::types_table::user_types;
use crate::visibility::Visibility;
use catalog::{
    Classification, ModuleKind, ObjectRef, ProcedureDef, PropertyClass, PropertyDef,
    PropertyTarget, same_name,
};
use executor::SqlError;
use security::Permission::{AlterAnySensitivityClassification, ViewAnySensitivityClassification};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&EXTENDED_PROPERTIES, &EXTENDED_LIST, &SENSITIVITY_CLASSIFICATIONS];

type Property = (PropertyTarget, Arc<PropertyDef>);

fn all(context: &Context<'_>, _: &[Value]) -> Result<Vec<Property>, SqlError> {
    if context.stand_in.is_some() {
        return Ok(Vec::new());
    }
    let mut all = context.database.catalog.properties(context.scope());
    let Some(objects) = seen_objects(context) else { return Ok(all) };
    let types: HashSet<i32> = seen_types(context).into_iter().map(|t| t.user).collect();
    all.retain(|(of, _)| match of.class {
        PropertyClass::Object | PropertyClass::Parameter | PropertyClass::Index => {
            objects.contains(&of.major)
        }
        PropertyClass::Type | PropertyClass::TypeColumn => types.contains(&of.major),
        PropertyClass::Database
        | PropertyClass::Schema
        | PropertyClass::Principal
        | PropertyClass::XmlSchemaCollection
        | PropertyClass::DataSpace
        | PropertyClass::PartitionFunction
        | PropertyClass::File
        | PropertyClass::Classification => true,
    });
    Ok(all)
}

/// The ids of the objects that the session sees; None: all.
fn seen_objects(context: &Context<'_>) -> Option<HashSet<i32>> {
    Visibility::of(context)?;
    let triggers = ddl_triggers(context, ModuleKind::DatabaseTrigger);
    Some(user_objects(context).into_iter().chain(triggers).map(|o| o.id).collect())
}

/// A column's object and number, and what is said of it.
type Classified = ((i32, i32), Classification);

fn classified(context: &Context<'_>, _: &[Value]) -> Result<Vec<Classified>, SqlError> {
    if context.stand_in.is_some() {
        return Ok(Vec::new());
    }
    // Who may classify columns sees what they are classified as.
    let (view, alter) = (ViewAnySensitivityClassification, AlterAnySensitivityClassification);
    let access = context.session.identity.access();
    if context.session.identity.is_limited()
        && ![view, alter].iter().any(|p| access.allows(*p, security::Target::Database))
    {
        return Ok(Vec::new());
    }
    let mut all = context.database.catalog.classifications(context.scope());
    if !all.is_empty()
        && let Some(objects) = seen_objects(context)
    {
        all.retain(|(object, _), _| objects.contains(object));
    }
    Ok(all.into_iter().collect())
}

view! {
    SENSITIVITY_CLASSIFICATIONS = "sys.sensitivity_classifications" of Classified as c, rows classified;
    class int = 1;
    class_desc varchar(16) = "OBJECT_OR_COLUMN";
    major_id int = c.0.0;
    minor_id int = c.0.1;
    label sysname null = c.1.label.as_deref();
    label_id sysname null = c.1.label_id.as_deref();
    information_type sysname null = c.1.information_type.as_deref();
    information_type_id sysname null = c.1.information_type_id.as_deref();
    rank int null = c.1.rank.as_deref().map(rank_number);
    rank_desc sysname null = c.1.rank.as_deref();
}

fn rank_number(rank: &str) -> i32 {
    match rank {
        "LOW" => 10,
        "MEDIUM" => 20,
        "HIGH" => 30,
        "CRITICAL" => 40,
        _ => 0,
    }
}

view! {
    EXTENDED_PROPERTIES = "sys.extended_properties" of Property as p, rows all;
    class tinyint = p.0.class as u8;
    class_desc nvarchar(60) null = p.0.class.name();
    major_id int = p.0.major;
    minor_id int = p.0.minor;
    name sysname = &p.1.name;
    value sql_variant null = &p.1.value;
}

/// A property that was asked for, with the kind and the name of what it is of; none of the database.
pub struct Listed {
    of: Option<(&'static str, String)>,
    property: Arc<PropertyDef>,
}

view! {
    EXTENDED_LIST = "sys.fn_listextendedproperty" of Listed as l, rows listed,
        params (sysname, varchar(128), sysname, varchar(128), sysname, varchar(128), sysname);
    objtype sysname null = l.of.as_ref().map(|(kind, _)| *kind);
    objname sysname null = l.of.as_ref().map(|(_, name)| name);
    name sysname = &l.property.name;
    value sql_variant null = &l.property.value;
}

fn listed(context: &Context<'_>, args: &[Value]) -> Result<Vec<Listed>, SqlError> {
    let text = |i: usize| args.get(i).and_then(Value::as_str).map(str::trim_end);
    let mut wanted: Vec<(String, Option<&str>)> = Vec::new();
    for level in 0..3 {
        let (kind, name) = (text(1 + 2 * level), text(2 + 2 * level));
        // What is above has to be named.
        let above = wanted.len() == level && wanted.last().is_none_or(|(_, name)| name.is_some());
        match (kind, name) {
            (None, None) => {}
            (Some(kind), _) if above => wanted.push((kind.to_uppercase(), name)),
            _ => return Ok(Vec::new()),
        }
    }
    match &mut wanted[..] {
        // Types of dbo may be named without it, and a schema by the user of its name.
        [(kind, _)] if kind == "TYPE" => wanted.insert(0, ("SCHEMA".into(), Some("dbo"))),
        [(kind, _), _, ..] if kind == "USER" => *kind = "SCHEMA".into(),
        _ => {}
    }
    let names = Names::new(context);
    let asked = text(0);
    let mut out = Vec::new();
    for (target, property) in all(context, &[])? {
        if asked.is_some_and(|name| !same_name(name, property.name.trim_end())) {
            continue;
        }
        let Some(levels) = names.levels(target, &property) else { continue };
        let fits = levels.len() == wanted.len()
            && levels.iter().zip(&wanted).all(|((kind, name), (k, n))| {
                let kinds = *kind == k.as_str() || (*kind == "TABLE_TYPE" && k == "TYPE");
                kinds && n.is_none_or(|n| same_name(n, name))
            });
        if fits {
            out.push(Listed { of: levels.into_iter().next_back(), property });
        }
    }
    Ok(out)
}

/// What there is in the database, by its ids.
struct Names<'c> {
    context: &'c Context<'c>,
    objects: HashMap<i32, Object>,
}

type Levels = Vec<(&'static str, String)>;

impl<'c> Names<'c> {
    fn new(context: &'c Context<'c>) -> Names<'c> {
        let objects = user_objects(context).into_iter().map(|o| (o.id, o)).collect();
        Names { context, objects }
    }

    /// The kinds and names of what a property is of and of what that lies in, from the highest; none when it is gone.
    fn levels(&self, target: PropertyTarget, property: &PropertyDef) -> Option<Levels> {
        let id = target.major;
        let part = || Some(property.part.as_deref()?.to_string());
        let catalog = &self.context.database.catalog;
        Some(match target.class {
            PropertyClass::Database => Vec::new(),
            PropertyClass::XmlSchemaCollection => {
                let module = self.module(id, ModuleKind::XmlSchemaCollection)?;
                let name = module.name.to_string();
                vec![("SCHEMA", module.schema.to_string()), ("XML SCHEMA COLLECTION", name)]
            }
            PropertyClass::Object => {
                if let Some(trigger) = self.module(id, ModuleKind::DatabaseTrigger) {
                    return Some(vec![("TRIGGER", trigger.name.to_string())]);
                }
                let object = self.objects.get(&id)?;
                let mut levels = self.of_object(object)?;
                if target.minor > 0 {
                    let column = object.table().and_then(|t| {
                        t.columns.get(target.minor as usize - 1).map(|c| c.name.to_string())
                    });
                    levels.push(("COLUMN", column.or_else(part)?));
                }
                levels
            }
            PropertyClass::Parameter => {
                let mut levels = self.of_object(self.objects.get(&id)?)?;
                levels.push(("PARAMETER", part()?));
                levels
            }
            PropertyClass::Index => {
                let object = self.objects.get(&id)?;
                let table = object.table()?;
                let index = table.indexes.iter().find(|i| i.index_id == target.minor);
                let index = index.map(|i| i.name.to_string());
                let clustered = || table.clustered_name().filter(|_| target.minor == 1);
                let mut levels = self.of_object(object)?;
                levels.push(("INDEX", index.or_else(|| clustered().map(str::to_string))?));
                levels
            }
            PropertyClass::Type | PropertyClass::TypeColumn => {
                let found = user_types(self.context).into_iter().find(|t| t.user == id)?;
                let kind = if found.table.is_some() { "TABLE_TYPE" } else { "TYPE" };
                let schema = self.context.schema_name(found.schema_id);
                let mut levels = vec![("SCHEMA", schema), (kind, found.name.to_string())];
                if target.class == PropertyClass::TypeColumn {
                    levels.push(("COLUMN", part()?));
                }
                levels
            }
            PropertyClass::Schema => {
                let all = self.context.schemas();
                let (_, name) = all.into_iter().find(|(schema, _)| *schema == id)?;
                vec![("SCHEMA", name.to_string())]
            }
            PropertyClass::Principal => {
                let directory = catalog.directory(self.context.scope());
                vec![("USER", directory.principals.get(&id)?.name.to_string())]
            }
            PropertyClass::DataSpace | PropertyClass::PartitionFunction => {
                let named = |kind: ModuleKind| {
                    let all = catalog.modules_of_kind(self.context.scope(), kind);
                    all.into_iter().find(|m| m.object_id == id).map(|m| m.name.to_string())
                };
                let groups = catalog.filegroups();
                let group = usize::try_from(id - 1).ok().and_then(|i| groups.get(i));
                if target.class == PropertyClass::PartitionFunction {
                    vec![("PARTITION FUNCTION", named(ModuleKind::PartitionFunction)?)]
                } else if let Some(group) = group {
                    vec![("FILEGROUP", group.name.to_string())]
                } else {
                    vec![("PARTITION SCHEME", named(ModuleKind::PartitionScheme)?)]
                }
            }
            PropertyClass::Classification => return None,
            PropertyClass::File => catalog.filegroups().iter().find_map(|group| {
                let file = group.files.iter().find(|f| i64::from(f.file_id) == i64::from(id))?;
                let group = ("FILEGROUP", group.name.to_string());
                Some(vec![group, ("LOGICAL FILE NAME", file.name.to_string())])
            })?,
        })
    }

    /// A module of a kind that is not among the objects of schemas.
    fn module(&self, id: i32, kind: ModuleKind) -> Option<Arc<ProcedureDef>> {
        let catalog = &self.context.database.catalog;
        match catalog.object_in(self.context.scope(), id)? {
            ObjectRef::Procedure(module) if module.kind == kind => Some(module),
            _ => None,
        }
    }

    fn of_object(&self, object: &Object) -> Option<Levels> {
        let under_parent = |kind| {
            let parent = self.objects.get(&object.parent)?;
            let mut levels = self.of_object(parent)?;
            levels.push((kind, object.name.clone()));
            Some(levels)
        };
        let kind = match &object.what {
            What::Table(_) => "TABLE",
            What::Procedure(module) => match module.kind {
                ModuleKind::Trigger => return under_parent("TRIGGER"),
                ModuleKind::Procedure => "PROCEDURE",
                ModuleKind::View => "VIEW",
                ModuleKind::Sequence => "SEQUENCE",
                ModuleKind::Synonym => "SYNONYM",
                ModuleKind::Rule => "RULE",
                ModuleKind::Default => "DEFAULT",
                kind if kind.is_function() => "FUNCTION",
                _ => return None,
            },
            _ if object.is_constraint() => return under_parent("CONSTRAINT"),
            _ => return None,
        };
        Some(vec![("SCHEMA", object.schema.clone()), (kind, object.name.clone())])
    }
}
