//! sp_addextendedproperty, sp_updateextendedproperty and sp_dropextendedproperty: names with values that hang on the
//! database, on what it has, and on parts of that, found by up to three levels of kinds and names.
//!
//! Promises: what a property is of neither changes nor goes until the transaction ends; who may not ALTER a thing hears
//! the same as if it were not there (15135).
//!
//! Sources: documentation of the three procedures and of sys.extended_properties; the texts of sys.messages.

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use catalog::{
    ModuleKind, ObjectRef, ProcedureDef, PropertyChange, PropertyClass, PropertyDef,
    PropertyTarget, TableDef, same_name,
};
use executor::SqlError;
use ir::ObjectName;
use security::{Permission, Target};
use session_state::Halted;
use session_state::messages;
use session_state::object_target;
use syntax::ast::{StatementKind, TypeDefinition, bracketed_in};
use types::{SqlType, Value, Variant};

/// Bytes of a value at most.
const VALUE_BYTES_MAX: usize = 7_500;

/// How often a thing is looked for anew that changed while its lock was waited for.
const ROUNDS_MAX: u32 = 100;

/// The kinds of one of the three levels.
const LEVELS: [&[&str]; 3] = [
    &[
        "ASSEMBLY",
        "CONTRACT",
        "EVENT NOTIFICATION",
        "FILEGROUP",
        "MESSAGE TYPE",
        "PARTITION FUNCTION",
        "PARTITION SCHEME",
        "PLAN GUIDE",
        "REMOTE SERVICE BINDING",
        "ROUTE",
        "SCHEMA",
        "SERVICE",
        "TRIGGER",
        "TYPE",
        "USER",
    ],
    &[
        "AGGREGATE",
        "DEFAULT",
        "FUNCTION",
        "LOGICAL FILE NAME",
        "PROCEDURE",
        "QUEUE",
        "RULE",
        "SEQUENCE",
        "SYNONYM",
        "TABLE",
        "TABLE_TYPE",
        "TYPE",
        "VIEW",
        "XML SCHEMA COLLECTION",
    ],
    &["COLUMN", "CONSTRAINT", "EVENT NOTIFICATION", "INDEX", "PARAMETER", "TRIGGER"],
];

/// A kind in capitals and a name, for each level that is given.
type Levels = Vec<(String, String)>;

/// What a property is to be of, with what has to stay as it is meanwhile.
struct Found {
    target: PropertyTarget,
    /// The name of a part that has none in the catalog.
    part: Option<Box<str>>,
    object: Option<ObjectRef>,
    permission: Permission,
    on: Target,
}

impl Found {
    fn of(class: PropertyClass, major: i32, on: Target) -> Found {
        let target = PropertyTarget::whole(class, major);
        Found { target, part: None, object: None, permission: Permission::Alter, on }
    }
}

impl Commands<'_> {
    /// The procedure of that name, in lower case, in the database that its name may name.
    pub(crate) fn property_procedure(
        &mut self,
        name: &ObjectName,
        args: &[Argument],
        frame: &mut [Value],
    ) -> Result<(), Halted> {
        let home = self.enter_database_of(name)?;
        let result = self.change_property(&name.name.to_ascii_lowercase(), args, frame);
        self.come_home(home);
        Ok(result?)
    }

    fn change_property(
        &mut self,
        procedure: &str,
        args: &[Argument],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let change = match procedure {
            "sp_addextendedproperty" => PropertyChange::Add,
            "sp_updateextendedproperty" => PropertyChange::Update,
            _ => PropertyChange::Drop,
        };
        let has_value = change != PropertyChange::Drop;
        check_names(procedure, args, has_value)?;
        let invalid = || messages::error(15600, &[procedure]);
        let Some(given) = arguments::given(args, 0, "@name") else {
            return Err(arguments::missing(procedure, "@name"));
        };
        let name = given.value.as_ref().and_then(Value::as_str).unwrap_or("");
        if name.is_empty() || name.chars().count() > 128 {
            return Err(invalid());
        }
        let value = match arguments::given(args, 1, "@value").filter(|_| has_value) {
            Some(argument) => variant(argument)?,
            None => Value::Null,
        };
        let levels = levels(args, 1 + usize::from(has_value)).ok_or_else(invalid)?;
        for _ in 0..ROUNDS_MAX {
            let found = match self.property_target(&levels) {
                Ok(found) => found,
                Err(Missing::Level(at)) => {
                    return Err(messages::error(15135, &[&shown(&levels[..=at])]));
                }
                Err(Missing::Form) => return Err(invalid()),
            };
            let access = self.state.identity.access();
            if self.state.identity.is_limited() && !access.allows(found.permission, found.on) {
                return Err(messages::error(15135, &[&shown(&levels)]));
            }
            let property =
                PropertyDef { name: name.into(), value: value.clone(), part: found.part };
            let (target, object) = (found.target, found.object);
            let done = self.in_catalog(frame, |catalog, txn, scope| {
                if let Some(object) = &object {
                    let held = catalog.hold_object(txn, scope, object)?;
                    let now = catalog.object_in(Some(scope), object.object_id());
                    if !held || version(now.as_ref()) != version(Some(object)) {
                        return Ok(None);
                    }
                } else if matches!(target.class, PropertyClass::Schema | PropertyClass::Principal) {
                    catalog.hold_directory(txn)?;
                }
                Ok(Some(catalog.change_property(txn, scope, target, property, change)?))
            })?;
            match done {
                Some(true) => return Ok(()),
                Some(false) => {
                    let number = if change == PropertyChange::Add { 15233 } else { 15217 };
                    return Err(messages::error(number, &[name, &shown(&levels)]));
                }
                // It has changed while its lock was waited for.
                None => {}
            }
        }
        Err(messages::error(15135, &[&shown(&levels)]))
    }

    fn property_target(&mut self, levels: &Levels) -> Result<Found, Missing> {
        let Some((kind, name)) = levels.first() else {
            return Ok(Found::of(PropertyClass::Database, 0, Target::Database));
        };
        let directory = self.state.identity.access().database().clone();
        let catalog = self.state.database.catalog.clone();
        let space = |kind| {
            let scope = self.state.definitions();
            let all = catalog.modules_of_kind(scope, kind);
            all.into_iter().find(|module| same_name(&module.name, name))
        };
        let of_module = |class, module: std::sync::Arc<ProcedureDef>| Found {
            object: Some(ObjectRef::Procedure(module.clone())),
            ..Found::of(class, module.object_id, Target::Database)
        };
        let found = match (kind.as_str(), levels.len()) {
            ("SCHEMA" | "USER", 2..) => {
                let schema = directory.schema(name).ok_or(Missing::Level(0))?;
                return self.property_of_object(&schema.name, &levels[1..]);
            }
            ("SCHEMA", _) => directory
                .schema(name)
                .map(|s| Found::of(PropertyClass::Schema, s.id, Target::Schema(s.id))),
            ("USER", _) => {
                let found = directory.principals.values().find(|p| same_name(&p.name, name));
                found.map(|p| Found::of(PropertyClass::Principal, p.id, Target::Principal(p.id)))
            }
            ("TYPE", 1) => {
                return self.property_of_object("dbo", &[("TYPE".into(), name.clone())]).map_err(
                    |missing| match missing {
                        Missing::Level(_) => Missing::Level(0),
                        form => form,
                    },
                );
            }
            ("FILEGROUP", count @ 1..=2) => {
                let groups = catalog.filegroups();
                let place = groups.iter().position(|g| same_name(&g.name, name));
                let place = place.ok_or(Missing::Level(0))?;
                match levels.get(1) {
                    None => {
                        let id = place as i32 + 1;
                        Some(Found::of(PropertyClass::DataSpace, id, Target::Database))
                    }
                    Some((kind, file)) if kind == "LOGICAL FILE NAME" => {
                        let files = &groups[place].files;
                        let found = files.iter().find(|f| same_name(&f.name, file));
                        let found = found.ok_or(Missing::Level(count - 1))?;
                        let id = found.file_id as i32;
                        Some(Found::of(PropertyClass::File, id, Target::Database))
                    }
                    Some(_) => return Err(Missing::Form),
                }
            }
            ("PARTITION FUNCTION", 1) => space(ModuleKind::PartitionFunction)
                .map(|module| of_module(PropertyClass::PartitionFunction, module)),
            ("PARTITION SCHEME", 1) => space(ModuleKind::PartitionScheme)
                .map(|module| of_module(PropertyClass::DataSpace, module)),
            ("TRIGGER", 1) => {
                let kind = ModuleKind::DatabaseTrigger;
                let found = catalog.module(self.state.definitions(), None, name, kind);
                found.map(|module| of_module(PropertyClass::Object, module))
            }
            // Nothing of these kinds is there.
            (_, 1) => None,
            _ => return Err(Missing::Form),
        };
        found.ok_or(Missing::Level(0))
    }

    /// Of an object of a schema, or of a part of it. Numbers of levels count from the schema's.
    fn property_of_object(
        &mut self,
        schema: &str,
        levels: &[(String, String)],
    ) -> Result<Found, Missing> {
        let missing = Missing::Level(1);
        let [(kind, name), rest @ ..] = levels else { return Err(Missing::Form) };
        let kinds: &[ModuleKind] = match kind.as_str() {
            "TABLE" => &[],
            "VIEW" => &[ModuleKind::View],
            "PROCEDURE" => &[ModuleKind::Procedure],
            "FUNCTION" => {
                &[ModuleKind::ScalarFunction, ModuleKind::InlineFunction, ModuleKind::TableFunction]
            }
            "SEQUENCE" => &[ModuleKind::Sequence],
            "SYNONYM" => &[ModuleKind::Synonym],
            "RULE" => &[ModuleKind::Rule],
            "DEFAULT" => &[ModuleKind::Default],
            "XML SCHEMA COLLECTION" => &[ModuleKind::XmlSchemaCollection],
            "TYPE" => &[ModuleKind::AliasType, ModuleKind::TableType],
            "TABLE_TYPE" => &[ModuleKind::TableType],
            "LOGICAL FILE NAME" => return Err(Missing::Form),
            _ if rest.is_empty() => return Err(missing),
            _ => return Err(Missing::Form),
        };
        let scope = self.state.definitions();
        let catalog = self.state.database.catalog.clone();
        let object = match kind.as_str() {
            "TABLE" => catalog.table(scope, Some(schema), name).map(ObjectRef::Table),
            _ => {
                let mut found =
                    kinds.iter().filter_map(|k| catalog.module(scope, Some(schema), name, *k));
                found.next().map(ObjectRef::Procedure)
            }
        };
        let object = object.ok_or(missing)?;
        let on = object_target(self.state.identity.access(), &object);
        let id = object.object_id();
        let is_type = matches!(kind.as_str(), "TYPE" | "TABLE_TYPE");
        let class = match kind.as_str() {
            _ if is_type => PropertyClass::Type,
            "XML SCHEMA COLLECTION" => PropertyClass::XmlSchemaCollection,
            _ => PropertyClass::Object,
        };
        let mut found = Found { object: Some(object.clone()), ..Found::of(class, id, on) };
        if is_type {
            found.permission = Permission::Control;
        }
        let Some((part, part_name)) = rest.first() else { return Ok(found) };
        let missing = Missing::Level(2);
        let minor = |class, minor: i32| PropertyTarget { class, major: id, minor };
        let target = match (kind.as_str(), part.as_str(), &object) {
            ("TABLE" | "VIEW", "TRIGGER", _) => {
                let all = catalog.triggers_of(scope, id);
                let trigger = all.into_iter().find(|t| same_name(&t.name, part_name));
                let trigger = trigger.ok_or(missing)?;
                found.object = Some(ObjectRef::Procedure(trigger.clone()));
                Some(PropertyTarget::whole(PropertyClass::Object, trigger.object_id))
            }
            (_, "COLUMN", ObjectRef::Table(table)) => table
                .column(part_name)
                .map(|ordinal| minor(PropertyClass::Object, ordinal as i32 + 1)),
            ("TABLE" | "VIEW", "INDEX", object) => {
                let table = object.rows().ok_or(missing)?;
                let clustered = table.is_clustered_key(part_name).then_some(1);
                let index = table.index(part_name).map(|index| index.index_id);
                clustered.or(index).map(|index| minor(PropertyClass::Index, index))
            }
            (_, "CONSTRAINT", ObjectRef::Table(table)) => constraint_id(table, part_name)
                .map(|id| PropertyTarget::whole(PropertyClass::Object, id)),
            ("TABLE_TYPE", "COLUMN", ObjectRef::Procedure(module)) => {
                let place = placed(&columns_of_type(module), part_name, &mut found.part);
                place.map(|place| minor(PropertyClass::TypeColumn, place))
            }
            ("VIEW" | "FUNCTION", "COLUMN", ObjectRef::Procedure(module)) => {
                let columns = self.columns_of_module(module);
                let place = placed(&columns, part_name, &mut found.part);
                place.map(|place| minor(PropertyClass::Object, place))
            }
            ("PROCEDURE" | "FUNCTION", "PARAMETER", ObjectRef::Procedure(module)) => {
                let place = placed(&parameters_of(module), part_name, &mut found.part);
                place.map(|place| minor(PropertyClass::Parameter, place))
            }
            ("FUNCTION", "CONSTRAINT", _) => None,
            _ => return Err(Missing::Form),
        };
        found.target = target.ok_or(missing)?;
        Ok(found)
    }

    /// The columns of a view or of a function that gives rows; none when its text does not bind.
    fn columns_of_module(&mut self, module: &ProcedureDef) -> Vec<String> {
        let name = bracketed_in(&module.schema, &module.name);
        let from = match module.kind {
            ModuleKind::View => name,
            ModuleKind::InlineFunction | ModuleKind::TableFunction => {
                let nulls = vec!["NULL"; parameters_of(module).len()];
                format!("{name}({})", nulls.join(", "))
            }
            _ => return Vec::new(),
        };
        self.columns_of_query(&format!("SELECT * FROM {from}"))
    }
}

/// Why there is nothing that a property could be of.
#[derive(Clone, Copy)]
enum Missing {
    /// No such thing at that level.
    Level(usize),
    /// No such combination of kinds.
    Form,
}

/// The number of a part, from 1, and its name as it is written.
fn placed(names: &[String], wanted: &str, part: &mut Option<Box<str>>) -> Option<i32> {
    let place = names.iter().position(|name| same_name(name, wanted))?;
    *part = Some(names[place].as_str().into());
    Some(place as i32 + 1)
}

/// Of a definition.
fn version(object: Option<&ObjectRef>) -> Option<u64> {
    Some(match object? {
        ObjectRef::Table(table) => table.version,
        ObjectRef::Procedure(module) => module.version,
    })
}

/// 8144, 8145.
fn check_names(procedure: &str, args: &[Argument], has_value: bool) -> Result<(), SqlError> {
    const NAMES: [&str; 8] = [
        "@name",
        "@value",
        "@level0type",
        "@level0name",
        "@level1type",
        "@level1name",
        "@level2type",
        "@level2name",
    ];
    let known = |name: &str| {
        NAMES.iter().any(|n| n.eq_ignore_ascii_case(name) && (has_value || *n != "@value"))
    };
    if args.len() > NAMES.len() - usize::from(!has_value) {
        let text = format!("Procedure or function {procedure} has too many arguments specified.");
        return Err(SqlError::new(8144, 16, text).with_state(2));
    }
    match args.iter().filter_map(|a| a.name.as_deref()).find(|name| !known(name)) {
        Some(name) => {
            let text = format!("{name} is not a parameter for procedure {procedure}.");
            Err(SqlError::new(8145, 16, text).with_state(2))
        }
        None => Ok(()),
    }
}

/// The levels from argument number `first` on; none where they make no sense.
fn levels(args: &[Argument], first: usize) -> Option<Levels> {
    let mut levels = Levels::new();
    let mut ended = false;
    for (i, kinds) in LEVELS.iter().enumerate() {
        let text = |place: usize, what: &str| {
            let name = format!("@level{i}{what}");
            arguments::text(args, first + 2 * i + place, &name)
        };
        match (text(0, "type"), text(1, "name")) {
            (None, None) => ended = true,
            (Some(kind), Some(name)) if !ended => {
                let kind = kind.trim_end().to_uppercase();
                if !kinds.contains(&kind.as_str()) {
                    return None;
                }
                levels.push((kind, name.trim_end().to_string()));
            }
            _ => return None,
        }
    }
    Some(levels)
}

/// What messages call it.
fn shown(levels: &[(String, String)]) -> String {
    if levels.is_empty() {
        return "object specified".into();
    }
    let names: Vec<&str> = levels.iter().map(|(_, name)| name.as_str()).collect();
    names.join(".")
}

/// The value as it is kept: 206 for a (max) type, 15097 for one that is too large.
fn variant(argument: &Argument) -> Result<Value, SqlError> {
    let Some(value) = argument.value.clone().filter(|value| !value.is_null()) else {
        return Ok(Value::Null);
    };
    let bytes = match (&value, argument.ty) {
        (Value::Variant(inner), _) => data_bytes(inner.value(), inner.ty()),
        (value, ty) => data_bytes(value, ty),
    };
    if bytes > VALUE_BYTES_MAX {
        return Err(messages::error(15097, &[]));
    }
    Ok(Variant::wrap(value, argument.ty)?)
}

/// Bytes of a text or of binary data; others are small.
fn data_bytes(value: &Value, ty: SqlType) -> usize {
    let wide = matches!(ty, SqlType::NVarChar(_) | SqlType::NChar(_));
    match value {
        Value::Binary(bytes) => bytes.len(),
        other => match other.as_str() {
            Some(text) if wide => 2 * text.chars().map(char::len_utf16).sum::<usize>(),
            Some(text) => text.chars().count(),
            None => 0,
        },
    }
}

/// The id of a constraint of a table.
fn constraint_id(table: &TableDef, name: &str) -> Option<i32> {
    let is = |n: &str| same_name(n, name);
    if table.primary_key.as_ref().is_some_and(|key| is(&key.name)) {
        return Some(table.primary_key_id());
    }
    let unique = table.indexes.iter().filter(|i| i.constraint_id != 0);
    let unique = unique.map(|i| (&i.name, i.constraint_id));
    let checks = table.checks.iter().map(|c| (&c.name, c.object_id));
    let foreign = table.foreign_keys.iter().map(|k| (&k.name, k.object_id));
    let defaults = table.columns.iter().enumerate();
    let defaults =
        defaults.filter_map(|(i, c)| Some((&c.default.as_ref()?.name, table.default_id(i))));
    let mut all = unique.chain(checks).chain(foreign).chain(defaults);
    all.find(|(n, _)| is(n)).map(|(_, id)| id)
}

/// The names of a procedure's or function's parameters, each with its `@`.
fn parameters_of(module: &ProcedureDef) -> Vec<String> {
    let parameters = match semantics::kept::definition(module) {
        Some(StatementKind::CreateProcedure(create)) => create.parameters,
        Some(StatementKind::CreateFunction(create)) => create.parameters,
        _ => Vec::new(),
    };
    parameters.into_iter().map(|p| p.name.name).collect()
}

/// The columns of a table type.
fn columns_of_type(module: &ProcedureDef) -> Vec<String> {
    match semantics::kept::definition(module) {
        Some(StatementKind::CreateType(create)) => match create.definition {
            TypeDefinition::Table(table) => {
                table.columns.into_iter().map(|column| column.name.value).collect()
            }
            TypeDefinition::Alias { .. } => Vec::new(),
        },
        _ => Vec::new(),
    }
}
