//! INFORMATION_SCHEMA: the standard's names for what the catalog views say.
//!
//! Columns and types: SQL Server's documentation of each view.

mod constraints;
mod domains;
mod privileges;
mod routines;
mod usage;

use crate::catalog_views::columns::of_object;
use crate::catalog_views::objects::checks;
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object::{self, Object};
use crate::types_table::user_types;
use executor::SqlError;
use types::{Collation, Len, SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&TABLES, &COLUMNS, &SCHEMATA, &VIEWS_VIEW];
/// Those of the files below it.
pub static CONSTRAINTS: &[&dyn Declared] = constraints::VIEWS;
/// See `CONSTRAINTS`.
pub static DOMAINS: &[&dyn Declared] = domains::VIEWS;
/// See `CONSTRAINTS`.
pub static PRIVILEGES: &[&dyn Declared] = privileges::VIEWS;
/// See `CONSTRAINTS`.
pub static ROUTINES: &[&dyn Declared] = routines::VIEWS;

/// See `CONSTRAINTS`.
pub static USAGE: &[&dyn Declared] = usage::VIEWS;

/// An object with the name of its database.
pub struct Named {
    pub catalog: String,
    pub object: Object,
}

/// The name that TABLE_CATALOG shows.
pub fn catalog_name(context: &Context<'_>) -> String {
    context.name().to_string()
}

/// Users' objects of some kinds.
pub fn objects_of(context: &Context<'_>, kinds: &[&str]) -> Vec<Named> {
    let mut all = object::user_objects(context);
    all.retain(|o| kinds.contains(&o.kind()));
    let catalog = catalog_name(context);
    all.into_iter().map(|object| Named { catalog: catalog.clone(), object }).collect()
}

fn tables(context: &Context<'_>, _: &[Value]) -> Result<Vec<Named>, SqlError> {
    Ok(objects_of(context, &["U", "V"]))
}

view! {
    TABLES = "INFORMATION_SCHEMA.TABLES" of Named as t, rows tables;
    TABLE_CATALOG nvarchar(128) null = &t.catalog;
    TABLE_SCHEMA nvarchar(128) null = &t.object.schema;
    TABLE_NAME sysname = &t.object.name;
    TABLE_TYPE varchar(10) null = if t.object.kind() == "U" { "BASE TABLE" } else { "VIEW" };
}

/// A type in the standard's terms.
#[derive(Clone, Copy)]
pub struct Standard {
    /// Characters of a text, bytes of a binary; -1 for (max).
    pub length: Option<i32>,
    /// The same in bytes.
    pub octets: Option<i32>,
    pub precision: Option<u8>,
    pub radix: Option<i16>,
    pub scale: Option<i32>,
    /// Fractional digits of a date or time.
    pub fraction: Option<i16>,
    pub charset: Option<&'static str>,
    pub collation: Option<Collation>,
}

/// See [`Standard`].
pub fn standard(ty: SqlType) -> Standard {
    let nothing = Standard {
        length: None,
        octets: None,
        precision: None,
        radix: None,
        scale: None,
        fraction: None,
        charset: None,
        collation: None,
    };
    let sized = |len: Len, width: i32| {
        let (length, octets) = match len {
            Len::N(n) => (n as i32, n as i32 * width),
            Len::Max => (-1, -1),
        };
        Standard { length: Some(length), octets: Some(octets), ..nothing }
    };
    let text = |len, width| Standard {
        charset: Some(if width == 1 { "iso_1" } else { "UNICODE" }),
        collation: Some(Collation::default()),
        ..sized(len, width)
    };
    let number = |precision: u8, radix: i16, scale: Option<i32>| Standard {
        precision: Some(precision),
        radix: Some(radix),
        scale,
        ..nothing
    };
    let moment = |fraction: u8| Standard { fraction: Some(fraction as i16), ..nothing };
    match ty {
        SqlType::Char(n) => text(Len::N(n), 1),
        SqlType::VarChar(len) => text(len, 1),
        SqlType::NChar(n) => text(Len::N(n), 2),
        SqlType::NVarChar(len) => text(len, 2),
        SqlType::Binary(n) => sized(Len::N(n), 1),
        SqlType::VarBinary(len) => sized(len, 1),
        SqlType::TinyInt => number(3, 10, Some(0)),
        SqlType::SmallInt => number(5, 10, Some(0)),
        SqlType::Int => number(10, 10, Some(0)),
        SqlType::BigInt => number(19, 10, Some(0)),
        SqlType::Decimal { precision, scale, .. } => number(precision, 10, Some(scale as i32)),
        SqlType::Money => number(19, 10, Some(4)),
        SqlType::SmallMoney => number(10, 10, Some(4)),
        SqlType::Float => number(53, 2, None),
        SqlType::Real => number(24, 2, None),
        SqlType::Date | SqlType::SmallDateTime => moment(0),
        SqlType::DateTime => moment(3),
        SqlType::Time(s) | SqlType::DateTime2(s) | SqlType::DateTimeOffset(s) => moment(s),
        SqlType::Bit | SqlType::UniqueIdentifier | SqlType::Variant => nothing,
        SqlType::Xml | SqlType::TypedXml { .. } => sized(Len::Max, 1),
        SqlType::Clr(ty) => sized(ty.bytes_max().map_or(Len::Max, Len::N), 1),
    }
}

/// A column of a table or view.
pub struct Column {
    catalog: String,
    schema: String,
    table: String,
    name: String,
    place: i32,
    default: Option<String>,
    nullable: bool,
    type_name: &'static str,
    standard: Standard,
    /// Schema and name of its alias type.
    domain: Option<(String, String)>,
}

fn columns(context: &Context<'_>, args: &[Value]) -> Result<Vec<Column>, SqlError> {
    let mut all = Vec::new();
    let aliases = user_types(context);
    for Named { catalog, object } in tables(context, args)? {
        for column in of_object(context, &object) {
            let defined = object.table().and_then(|t| t.columns.get(column.id as usize - 1));
            let default = defined.and_then(|c| c.default_text()).map(str::to_owned);
            let type_name = column.type_name();
            all.push(Column {
                catalog: catalog.clone(),
                schema: object.schema.clone(),
                table: object.name.clone(),
                name: column.name,
                place: column.id,
                default,
                nullable: column.nullable,
                type_name,
                standard: match column.ty.system {
                    // A rowversion has no length.
                    189 => standard(SqlType::Bit),
                    // Of the texts of old the greatest there is.
                    34 | 35 | 99 => Standard {
                        collation: column.ty.collation,
                        length: Some(if column.ty.system == 99 { i32::MAX / 2 } else { i32::MAX }),
                        octets: Some(if column.ty.system == 99 { i32::MAX - 1 } else { i32::MAX }),
                        ..standard(column.sql_type)
                    },
                    _ => Standard { collation: column.ty.collation, ..standard(column.sql_type) },
                },
                domain: aliases
                    .iter()
                    .find(|t| t.user == column.ty.user)
                    .map(|t| (context.schema_name(t.schema_id), t.name.to_string())),
            });
        }
    }
    Ok(all)
}

view! {
    COLUMNS = "INFORMATION_SCHEMA.COLUMNS" of Column as c, rows columns;
    TABLE_CATALOG nvarchar(128) null = &c.catalog;
    TABLE_SCHEMA nvarchar(128) null = &c.schema;
    TABLE_NAME sysname = &c.table;
    COLUMN_NAME sysname null = &c.name;
    ORDINAL_POSITION int null = c.place;
    COLUMN_DEFAULT nvarchar(4000) null = c.default.as_deref();
    IS_NULLABLE varchar(3) null = if c.nullable { "YES" } else { "NO" };
    DATA_TYPE nvarchar(128) null = c.type_name;
    CHARACTER_MAXIMUM_LENGTH int null = c.standard.length;
    CHARACTER_OCTET_LENGTH int null = c.standard.octets;
    NUMERIC_PRECISION tinyint null = c.standard.precision;
    NUMERIC_PRECISION_RADIX smallint null = c.standard.radix;
    NUMERIC_SCALE int null = c.standard.scale;
    DATETIME_PRECISION smallint null = c.standard.fraction;
    CHARACTER_SET_CATALOG sysname null = NULL;
    CHARACTER_SET_SCHEMA sysname null = NULL;
    CHARACTER_SET_NAME sysname null = c.standard.charset;
    COLLATION_CATALOG sysname null = NULL;
    COLLATION_SCHEMA sysname null = NULL;
    COLLATION_NAME sysname null = c.standard.collation.map(|k| k.name());
    DOMAIN_CATALOG sysname null = c.domain.as_ref().map(|_| &c.catalog);
    DOMAIN_SCHEMA sysname null = c.domain.as_ref().map(|(schema, _)| schema);
    DOMAIN_NAME sysname null = c.domain.as_ref().map(|(_, name)| name);
}

/// A schema: the database, its own name, and its owner's.
pub struct Schema(String, Box<str>, Option<Box<str>>);

fn schemata(context: &Context<'_>, _: &[Value]) -> Result<Vec<Schema>, SqlError> {
    let catalog = catalog_name(context);
    let directory = context.database.catalog.directory(context.scope());
    let schema = |schema: &security::SchemaDef| {
        let owner = directory.principals.get(&schema.owner).map(|owner| owner.name.clone());
        Schema(catalog.clone(), schema.name.clone(), owner)
    };
    Ok(directory.schemas.values().map(schema).collect())
}

view! {
    SCHEMATA = "INFORMATION_SCHEMA.SCHEMATA" of Schema as s, rows schemata;
    CATALOG_NAME nvarchar(128) null = &s.0;
    SCHEMA_NAME nvarchar(128) = &s.1;
    SCHEMA_OWNER nvarchar(128) null = s.2.as_ref();
    DEFAULT_CHARACTER_SET_CATALOG varchar(6) null = NULL;
    DEFAULT_CHARACTER_SET_SCHEMA varchar(3) null = NULL;
    DEFAULT_CHARACTER_SET_NAME sysname null = "iso_1";
}

fn views(context: &Context<'_>, _: &[Value]) -> Result<Vec<Named>, SqlError> {
    Ok(objects_of(context, &["V"]))
}

/// A definition as these views show it: NULL past 4,000 characters.
pub fn short_definition(object: &Object) -> Option<&str> {
    object.shown_text().filter(|text| text.chars().count() <= 4000)
}

view! {
    VIEWS_VIEW = "INFORMATION_SCHEMA.VIEWS" of Named as v, rows views;
    TABLE_CATALOG nvarchar(128) null = &v.catalog;
    TABLE_SCHEMA nvarchar(128) null = &v.object.schema;
    TABLE_NAME sysname = &v.object.name;
    VIEW_DEFINITION nvarchar(4000) null = short_definition(&v.object);
    CHECK_OPTION varchar(7) null =
        if checks(&v.object) { "CASCADE" } else { "NONE" };
    IS_UPDATABLE varchar(2) = "NO";
}
