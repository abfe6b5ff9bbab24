//! The types as sys.types lists them, and what catalog views say of a column's type.
//!
//! Source of ids, lengths and precisions: SQL Server's documentation of sys.types and sys.columns.

use crate::context::Context;
use catalog::{ModuleKind, ObjectRef, ProcedureDef, same_name};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use types::{Collation, Len, SqlType};

/// A row of sys.types.
#[derive(Clone)]
pub struct TypeRow {
    pub name: Cow<'static, str>,
    /// system_type_id.
    pub system: u8,
    /// user_type_id.
    pub user: i32,
    /// Bytes; -1 for (max) types.
    pub max_length: i16,
    pub precision: u8,
    pub scale: u8,
    pub collated: bool,
    /// The database's that is asked about.
    pub collation: Collation,
    pub nullable: bool,
    pub schema_id: i32,
    /// Where it is not its schema's owner.
    pub owner: Option<i32>,
    pub user_defined: bool,
    /// Of a table type: its object id.
    pub table: Option<i32>,
    pub memory_optimized: bool,
    pub bindings: catalog::TypeBindings,
}

fn row(name: &'static str, id: u8, max_length: i16, precision: u8, scale: u8) -> TypeRow {
    let user = id as i32;
    TypeRow {
        name: Cow::Borrowed(name),
        system: id,
        user,
        max_length,
        precision,
        scale,
        collated: false,
        collation: Collation::default(),
        nullable: true,
        schema_id: crate::object::SYS,
        owner: None,
        user_defined: false,
        table: None,
        memory_optimized: false,
        bindings: catalog::TypeBindings::default(),
    }
}

fn text(name: &'static str, id: u8, max_length: i16) -> TypeRow {
    TypeRow { collated: true, ..row(name, id, max_length, 0, 0) }
}

/// Every system type, in the order of sys.types.
pub static TYPES: LazyLock<Vec<TypeRow>> = LazyLock::new(|| {
    vec![
        row("image", 34, 16, 0, 0),
        text("text", 35, 16),
        row("uniqueidentifier", 36, 16, 0, 0),
        row("date", 40, 3, 10, 0),
        row("time", 41, 5, 16, 7),
        row("datetime2", 42, 8, 27, 7),
        row("datetimeoffset", 43, 10, 34, 7),
        row("tinyint", 48, 1, 3, 0),
        row("smallint", 52, 2, 5, 0),
        row("int", 56, 4, 10, 0),
        row("smalldatetime", 58, 4, 16, 0),
        row("real", 59, 4, 24, 0),
        row("money", 60, 8, 19, 4),
        row("datetime", 61, 8, 23, 3),
        row("float", 62, 8, 53, 0),
        row("sql_variant", 98, 8016, 0, 0),
        text("ntext", 99, 16),
        row("bit", 104, 1, 1, 0),
        row("decimal", 106, 17, 38, 38),
        row("numeric", 108, 17, 38, 38),
        row("smallmoney", 122, 4, 10, 4),
        row("bigint", 127, 8, 19, 0),
        TypeRow { user: 128, ..row("hierarchyid", 240, 892, 0, 0) },
        TypeRow { user: 129, ..row("geometry", 240, -1, 0, 0) },
        TypeRow { user: 130, ..row("geography", 240, -1, 0, 0) },
        row("varbinary", 165, 8000, 0, 0),
        text("varchar", 167, 8000),
        row("binary", 173, 8000, 0, 0),
        text("char", 175, 8000),
        TypeRow { nullable: false, ..row("timestamp", 189, 8, 0, 0) },
        text("nvarchar", 231, 8000),
        text("nchar", 239, 8000),
        row("xml", 241, -1, 0, 0),
        TypeRow { system: 231, user: 256, nullable: false, ..text("sysname", 231, 256) },
    ]
});

/// The row of a type by name.
pub fn by_name(name: &str) -> Option<&'static TypeRow> {
    let name = match name.to_ascii_lowercase().as_str() {
        "rowversion" => "timestamp".to_string(),
        "integer" => "int".to_string(),
        "dec" => "decimal".to_string(),
        other => other.to_string(),
    };
    TYPES.iter().find(|t| t.name == name)
}

/// Alias and table types of the database, by their ids.
pub fn user_types(context: &Context<'_>) -> Vec<TypeRow> {
    if context.stand_in.is_some() {
        return Vec::new();
    }
    let all = context.database.catalog.objects_in(context.scope());
    let mut rows: Vec<TypeRow> = all
        .iter()
        .filter_map(|object| match object {
            ObjectRef::Procedure(module) => of_module(context, module),
            ObjectRef::Table(_) => None,
        })
        .collect();
    rows.sort_by_key(|row| row.user);
    rows
}

fn of_module(context: &Context<'_>, module: &Arc<ProcedureDef>) -> Option<TypeRow> {
    let named = TypeRow {
        name: Cow::Owned(module.name.to_string()),
        user: module.object_id,
        schema_id: context.schema_id(&module.schema),
        owner: context.own_owner(module.object_id),
        user_defined: true,
        ..row("", 243, -1, 0, 0)
    };
    if module.kind == ModuleKind::TableType {
        return Some(TypeRow {
            table: Some(module.object_id),
            nullable: false,
            memory_optimized: semantics::type_names::is_memory_optimized(module),
            ..named
        });
    }
    let alias = semantics::type_names::alias_of(module)?;
    let base = column_type(alias.ty);
    Some(TypeRow {
        system: base.system,
        max_length: base.max_length,
        precision: base.precision,
        scale: base.scale,
        collated: base.collation.is_some(),
        nullable: alias.nullable,
        bindings: module.bindings,
        ..named
    })
}

/// Types with the collation of the database that is asked about.
pub fn of_database(context: &Context<'_>, all: impl Iterator<Item = TypeRow>) -> Vec<TypeRow> {
    let collation = context.database.catalog.collation();
    all.map(|t| TypeRow { collation, ..t }).collect()
}

/// A type by a name that may carry a schema: `sys.int`, `[int]`, `dbo.id`.
pub fn find(context: &Context<'_>, name: &str) -> Option<TypeRow> {
    let parts = session_state::name_parts(name);
    let (schema, bare) = match &parts[..] {
        [bare] => (None, bare),
        [schema, bare] => (Some(schema.as_str()).filter(|s| !s.is_empty()), bare),
        _ => return None,
    };
    if schema.is_none_or(|s| s.eq_ignore_ascii_case("sys"))
        && let Some(found) = by_name(bare)
    {
        return Some(found.clone());
    }
    let schema = context.schema_id(schema.unwrap_or("dbo"));
    user_types(context).into_iter().find(|t| same_name(&t.name, bare) && t.schema_id == schema)
}

/// The row of a user_type_id.
pub fn by_user_id(context: &Context<'_>, id: i64) -> Option<TypeRow> {
    let system = TYPES.iter().find(|t| t.user as i64 == id);
    system.cloned().or_else(|| user_types(context).into_iter().find(|t| t.user as i64 == id))
}

/// What sys.columns says of a type.
#[derive(Clone, Copy)]
pub struct ColumnType {
    pub system: u8,
    pub user: i32,
    /// Bytes; -1 for (max) types.
    pub max_length: i16,
    pub precision: u8,
    pub scale: u8,
    /// Of a character type.
    pub collation: Option<Collation>,
    /// See [`xml_of`].
    pub xml: (i32, bool),
}

/// Bytes of a decimal by precision.
fn decimal_bytes(precision: u8) -> i16 {
    match precision {
        0..=9 => 5,
        10..=19 => 9,
        20..=28 => 13,
        _ => 17,
    }
}

fn bytes(len: Len, width: i16) -> i16 {
    match len {
        Len::N(n) => (n as i16).saturating_mul(width),
        Len::Max => -1,
    }
}

/// Bytes of a time of day by its fractional digits.
fn time_bytes(scale: u8) -> i16 {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

/// text, ntext or image, by its user_type_id: types that are kept as (max) types are.
pub fn long_type(user: i32) -> Option<&'static TypeRow> {
    matches!(user, 34 | 35 | 99).then(|| TYPES.iter().find(|row| row.user == user)).flatten()
}

/// See [`ColumnType`].
pub fn column_type(ty: SqlType) -> ColumnType {
    let fixed = by_name(ty.name()).map_or((0, 0, 0), |t| (t.max_length, t.precision, t.scale));
    let fraction = |s: u8| if s == 0 { 0 } else { s + 1 };
    let (max_length, precision, scale) = match ty {
        SqlType::Decimal { precision, scale, .. } => (decimal_bytes(precision), precision, scale),
        SqlType::Char(n) | SqlType::Binary(n) => (n as i16, 0, 0),
        SqlType::NChar(n) => ((n as i16).saturating_mul(2), 0, 0),
        SqlType::VarChar(len) | SqlType::VarBinary(len) => (bytes(len, 1), 0, 0),
        SqlType::NVarChar(len) => (bytes(len, 2), 0, 0),
        SqlType::Time(s) => (time_bytes(s), 8 + fraction(s), s),
        SqlType::DateTime2(s) => (time_bytes(s) + 3, 19 + fraction(s), s),
        SqlType::DateTimeOffset(s) => (time_bytes(s) + 5, 26 + fraction(s), s),
        _ => fixed,
    };
    let system = ty.system_type_id();
    ColumnType {
        system,
        user: ty.user_type_id() as i32,
        max_length,
        precision,
        scale,
        collation: ty.is_character().then(Collation::default),
        xml: xml_of(ty),
    }
}

/// The id of the schema collection that types an xml, 0 for none, and whether it is a document.
pub fn xml_of(ty: SqlType) -> (i32, bool) {
    match ty {
        SqlType::TypedXml { schema, document } => {
            (xml_schema::owner_of(schema).unwrap_or(0), document)
        }
        _ => (0, false),
    }
}

/// The type of a parameter: the system's or an alias.
pub fn declared(
    context: &Context<'_>,
    ty: &syntax::ast::TypeName,
) -> Option<(SqlType, ColumnType)> {
    if let Some(of) = &ty.xml {
        let (schema, name) = (of.collection.schema.as_ref(), &of.collection.name.value);
        let (schema, kind) = (schema.map(|s| s.value.as_str()), ModuleKind::XmlSchemaCollection);
        let module = context.database.catalog.module(context.scope(), schema, name, kind)?;
        let schema = module.xml_schema.as_ref()?.number();
        let found = SqlType::TypedXml { schema, document: of.document };
        return Some((found, column_type(found)));
    }
    if let Some(found) = binder::type_of(ty) {
        let shown = column_type(found);
        let is_sysname = ty.name.eq_ignore_ascii_case("sysname");
        return Some((
            found,
            ColumnType { user: if is_sysname { 256 } else { shown.user }, ..shown },
        ));
    }
    let schema = ty.schema.as_ref().map(|s| s.value.as_str());
    let (scope, kind) = (context.scope(), ModuleKind::AliasType);
    let module = context.database.catalog.module(scope, schema, &ty.name, kind)?;
    let alias = semantics::type_names::alias_of(&module)?;
    Some((alias.ty, ColumnType { user: alias.id, ..column_type(alias.ty) }))
}
