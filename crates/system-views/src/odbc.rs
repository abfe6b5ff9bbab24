//! What the catalog procedures of ODBC and JDBC (sp_columns, sp_tables, sp_datatype_info ...) select from: views of our
//! own, named as SQL Server names its own (`spt_`), with every column those procedures show.
//!
//! Source of numbers, lengths and precisions: SQL Server's documentation of each procedure, and ODBC's of data types.

use crate::catalog_views::columns::of_object;
use crate::catalog_views::indexes::{self, Index};
use crate::catalog_views::modules::parameters_of;
use crate::compatibility::wire_type;
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object::{self, Object};
use crate::types_table::{column_type, user_types};
use executor::SqlError;
use types::{Len, SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&TABLES, &COLUMNS, &PROCEDURES, &PARAMETERS, &INDEX_KEYS, &REFERENCE_TEXTS];

/// A type in ODBC's terms.
#[derive(Clone, Copy)]
pub struct OdbcType {
    /// Data type codes of ODBC 2 and of ODBC 3.
    pub code2: i16,
    /// See `code2`.
    pub code3: i16,
    pub precision: i32,
    /// Bytes as transferred.
    pub length: i32,
    pub scale: Option<i16>,
    pub radix: Option<i16>,
    /// Verbose type and its subcode.
    pub verbose: i16,
    /// See `verbose`.
    pub sub: Option<i16>,
    /// Bytes, of texts and binaries.
    pub octets: Option<i32>,
    /// A date or time that clients before 2008 do not know: they see a text.
    pub recent: bool,
}

/// system_type_id of rowversion, and of the texts of old.
const ROWVERSION: u8 = 189;
const IMAGE: u8 = 34;
const TEXT: u8 = 35;
const NTEXT: u8 = 99;

/// Longest (max) value, in bytes.
const UNLIMITED: i32 = i32::MAX;

/// See [`OdbcType`]: text, ntext or image of so many characters.
fn long_odbc_type(code: i16, chars: i32) -> OdbcType {
    OdbcType {
        code2: code,
        code3: code,
        verbose: code,
        precision: chars,
        ..odbc_type(SqlType::VarChar(Len::Max))
    }
}

/// See [`OdbcType`].
pub fn odbc_type(ty: SqlType) -> OdbcType {
    let number = |code: i16, precision: i32, length: i32, scale: Option<i16>| OdbcType {
        code2: code,
        code3: code,
        precision,
        length,
        scale,
        radix: Some(10),
        verbose: code,
        sub: None,
        octets: None,
        recent: false,
    };
    let text = |code: i16, chars: i32, bytes: i32| OdbcType {
        radix: None,
        octets: Some(bytes),
        ..number(code, chars, bytes, None)
    };
    let sized = |code: i16, len: Len, width: i32| match len {
        Len::N(n) => text(code, n as i32, n as i32 * width),
        Len::Max => text(code, UNLIMITED / width, UNLIMITED),
    };
    let moment = |code2: i16, code3: i16, length: i32, sub: i16| OdbcType {
        code2,
        code3,
        verbose: 9,
        sub: Some(sub),
        radix: None,
        ..number(
            code3,
            column_type(ty).precision as i32,
            length,
            Some(column_type(ty).scale as i16),
        )
    };
    match ty {
        SqlType::Bit => OdbcType { radix: None, ..number(-7, 1, 1, None) },
        SqlType::TinyInt => number(-6, 3, 1, Some(0)),
        SqlType::SmallInt => number(5, 5, 2, Some(0)),
        SqlType::Int => number(4, 10, 4, Some(0)),
        SqlType::BigInt => number(-5, 19, 8, Some(0)),
        SqlType::Decimal { precision, scale, numeric } => number(
            if numeric { 2 } else { 3 },
            precision as i32,
            precision as i32 + 2,
            Some(scale as i16),
        ),
        SqlType::Money => number(3, 19, 21, Some(4)),
        SqlType::SmallMoney => number(3, 10, 12, Some(4)),
        SqlType::Float => number(6, 15, 8, None),
        SqlType::Real => number(7, 7, 4, None),
        SqlType::Char(n) => text(1, n as i32, n as i32),
        SqlType::VarChar(len) => sized(12, len, 1),
        SqlType::NChar(n) => text(-8, n as i32, n as i32 * 2),
        SqlType::NVarChar(len) => sized(-9, len, 2),
        SqlType::Binary(n) => text(-2, n as i32, n as i32),
        SqlType::VarBinary(len) => sized(-3, len, 1),
        SqlType::Date => OdbcType { recent: true, ..moment(9, 91, 6, 1) },
        SqlType::Time(_) => {
            OdbcType { verbose: -154, sub: Some(0), recent: true, ..moment(-154, -154, 12, 0) }
        }
        SqlType::DateTime | SqlType::SmallDateTime => moment(11, 93, 16, 3),
        SqlType::DateTime2(_) => OdbcType { recent: true, ..moment(11, 93, 16, 3) },
        SqlType::DateTimeOffset(_) => {
            OdbcType { verbose: -155, sub: Some(0), recent: true, ..moment(-155, -155, 20, 0) }
        }
        SqlType::UniqueIdentifier => OdbcType { radix: None, ..number(-11, 36, 16, None) },
        SqlType::Variant => OdbcType { radix: None, ..number(-150, 8000, 8000, None) },
        SqlType::Xml | SqlType::TypedXml { .. } => text(-152, 0, UNLIMITED),
        SqlType::Clr(ty) => {
            let bytes = ty.bytes_max().map_or(0, i32::from);
            text(-151, bytes, if bytes == 0 { UNLIMITED } else { bytes })
        }
    }
}

/// A table or view, and the database it is in.
pub struct Table {
    database: String,
    object: Object,
}

fn database(context: &Context<'_>) -> String {
    context.name().to_string()
}

fn tables(context: &Context<'_>, _: &[Value]) -> Result<Vec<Table>, SqlError> {
    let mut all = object::user_objects(context);
    all.extend(object::system_objects());
    all.retain(|o| matches!(o.kind(), "U" | "V"));
    // Our own helpers are nobody's views.
    all.retain(|o| !o.name.starts_with("spt_"));
    let database = database(context);
    Ok(all.into_iter().map(|object| Table { database: database.clone(), object }).collect())
}

view! {
    TABLES = "sys.spt_tables" of Table as t, rows tables;
    TABLE_QUALIFIER sysname null = &t.database;
    TABLE_OWNER sysname null = &t.object.schema;
    TABLE_NAME sysname null = &t.object.name;
    TABLE_TYPE varchar(32) null = if t.object.kind() == "U" { "TABLE" } else { "VIEW" };
    REMARKS varchar(254) null = NULL;
}

/// A column of a table, or a parameter of a procedure.
pub struct Typed {
    object_id: i32,
    database: String,
    schema: String,
    object: String,
    name: String,
    type_name: String,
    place: i32,
    nullable: bool,
    identity: bool,
    default: Option<String>,
    odbc: OdbcType,
    wire: u8,
    /// 1 in, 2 in and out, 3 a result set's table, 5 the return value.
    direction: i16,
    sparse: bool,
    column_set: bool,
    computed: bool,
    remarks: Option<&'static str>,
    /// Schema of a parameter's table type.
    type_schema: Option<String>,
    /// `;0` of a function, `;1` of a procedure.
    suffix: &'static str,
}

fn columns(context: &Context<'_>, args: &[Value]) -> Result<Vec<Typed>, SqlError> {
    let mut all = Vec::new();
    let aliases = user_types(context);
    let named = database(context);
    let functions = object::user_objects(context).into_iter();
    let functions = functions.filter(|o| matches!(o.kind(), "IF" | "TF"));
    let functions = functions.map(|object| Table { database: named.clone(), object });
    for Table { database, object } in tables(context, args)?.into_iter().chain(functions) {
        let table = object.table().cloned();
        for column in of_object(context, &object) {
            let defined = table.as_ref().and_then(|t| t.columns.get(column.id as usize - 1));
            let default = defined.and_then(|c| c.default_text()).map(str::to_owned);
            let alias = aliases.iter().find(|row| row.user == column.ty.user);
            let name = match alias {
                Some(alias) => &*alias.name,
                None if column.ty.user == 256 => "sysname",
                None => column.type_name(),
            };
            let identity = column.identity.is_some();
            all.push(Typed {
                object_id: object.id,
                sparse: column.marks.sparse,
                column_set: column.marks.column_set,
                computed: column.computed.is_some(),
                remarks: None,
                type_schema: None,
                suffix: "",
                database: database.clone(),
                schema: object.schema.clone(),
                object: object.name.clone(),
                type_name: format!("{name}{}", if identity { " identity" } else { "" }),
                place: column.id,
                nullable: column.nullable,
                identity,
                default,
                odbc: match column.ty.system {
                    IMAGE => long_odbc_type(-4, UNLIMITED),
                    TEXT => long_odbc_type(-1, UNLIMITED),
                    NTEXT => long_odbc_type(-10, UNLIMITED / 2),
                    _ => odbc_type(column.sql_type),
                },
                wire: match column.ty.system {
                    ROWVERSION => 45,
                    IMAGE => 34,
                    TEXT | NTEXT => 35,
                    _ => wire_type(column.sql_type, column.nullable),
                },
                direction: 0,
                name: column.name,
            });
        }
    }
    Ok(all)
}

/// What views of columns and of parameters share: the type, from DATA_TYPE to SS_DATA_TYPE.
macro_rules! typed_view {
    ($view:ident = $full:literal as $c:ident, rows $rows:expr; $($first:tt)*) => {
        view! {
            $view = $full of Typed as $c, rows $rows;
            $($first)*
            DATA_TYPE_2 smallint = $c.odbc.code2;
            DATA_TYPE_3 smallint = $c.odbc.code3;
            TYPE_NAME sysname null = &$c.type_name;
            PRECISION int null = $c.odbc.precision;
            LENGTH int null = $c.odbc.length;
            SCALE smallint null = $c.odbc.scale;
            RADIX smallint null = $c.odbc.radix;
            NULLABLE smallint = i16::from($c.nullable);
            REMARKS varchar(254) null = $c.remarks;
            COLUMN_DEF nvarchar(4000) null = $c.default.as_deref();
            SQL_DATA_TYPE smallint = $c.odbc.verbose;
            SQL_DATETIME_SUB smallint null = $c.odbc.sub;
            CHAR_OCTET_LENGTH int null = $c.odbc.octets;
            ORDINAL_POSITION int = $c.place;
            IS_NULLABLE varchar(254) null = if $c.nullable { "YES" } else { "NO" };
            SS_IS_IDENTITY smallint = i16::from($c.identity);
            SS_DATA_TYPE tinyint = $c.wire;
            IS_RECENT bit = $c.odbc.recent;
            OBJECT_ID int = $c.object_id;
            SS_IS_SPARSE smallint = i16::from($c.sparse);
            SS_IS_COLUMN_SET smallint = i16::from($c.column_set);
            SS_IS_COMPUTED smallint = i16::from($c.computed);
            SS_TYPE_CATALOG_NAME sysname null = $c.type_schema.as_ref().map(|_| &$c.database);
            SS_TYPE_SCHEMA_NAME sysname null = $c.type_schema.as_ref();
        }
    };
}

typed_view! {
    COLUMNS = "sys.spt_columns" as c, rows columns;
    TABLE_QUALIFIER sysname null = &c.database;
    TABLE_OWNER sysname null = &c.schema;
    TABLE_NAME sysname = &c.object;
    COLUMN_NAME sysname = &c.name;
}

/// Procedures, and functions: ODBC takes them for procedures.
fn procedure_objects(context: &Context<'_>) -> Vec<Object> {
    let mut all = object::user_objects(context);
    all.retain(|o| matches!(o.kind(), "P" | "FN" | "IF" | "TF"));
    all.extend(object::system_objects().into_iter().filter(|o| o.kind() == "P"));
    all
}

/// What follows a procedure's name: its number in its group, 0 of a function.
fn suffix(object: &Object) -> &'static str {
    if object.kind() == "P" { ";1" } else { ";0" }
}

fn procedures(context: &Context<'_>, _: &[Value]) -> Result<Vec<Table>, SqlError> {
    let database = database(context);
    let all = procedure_objects(context).into_iter();
    Ok(all.map(|object| Table { database: database.clone(), object }).collect())
}

view! {
    PROCEDURES = "sys.spt_procedures" of Table as p, rows procedures;
    PROCEDURE_QUALIFIER sysname null = &p.database;
    PROCEDURE_OWNER sysname null = &p.object.schema;
    PROCEDURE_BARE_NAME sysname = &p.object.name;
    PROCEDURE_NAME nvarchar(134) = format!("{}{}", p.object.name, suffix(&p.object));
    NUM_INPUT_PARAMS int = -1;
    NUM_OUTPUT_PARAMS int = -1;
    NUM_RESULT_SETS int = -1;
    REMARKS varchar(254) null = NULL;
    PROCEDURE_TYPE smallint = 2i16;
}

/// A table, as a function's result or a parameter, in ODBC's terms: SQL_SS_TABLE has no length.
fn table_type(code: i16) -> OdbcType {
    OdbcType {
        code2: code,
        code3: code,
        precision: 0,
        length: 0,
        scale: Some(0),
        radix: Some(0),
        verbose: code,
        sub: None,
        octets: Some(0),
        recent: false,
    }
}

/// SQL_SS_TABLE.
const TABLE: i16 = -153;

fn parameters(context: &Context<'_>, _: &[Value]) -> Result<Vec<Typed>, SqlError> {
    let database = database(context);
    let types = user_types(context);
    let mut all = Vec::new();
    for object in procedure_objects(context) {
        let base = |name: &str, ty: SqlType, place: i32, direction: i16, nullable: bool| Typed {
            object_id: object.id,
            database: database.clone(),
            schema: object.schema.clone(),
            object: object.name.clone(),
            name: name.to_string(),
            type_name: ty.name().to_string(),
            place,
            nullable,
            identity: false,
            default: None,
            odbc: odbc_type(ty),
            wire: wire_type(ty, nullable),
            direction,
            sparse: false,
            column_set: false,
            computed: false,
            remarks: None,
            type_schema: None,
            suffix: suffix(&object),
        };
        match object.kind() {
            "P" => all.push(base("@RETURN_VALUE", SqlType::Int, 0, 5, false)),
            "FN" => {}
            _ => all.push(Typed {
                type_name: "table".to_string(),
                odbc: table_type(0),
                wire: 0,
                remarks: Some("Result table returned by table valued function"),
                ..base("@TABLE_RETURN_VALUE", SqlType::Int, 0, 3, false)
            }),
        }
        for p in parameters_of(context, &object) {
            let user = types.iter().find(|row| row.user == p.ty.user);
            let parameter = match p.id {
                0 => base("@RETURN_VALUE", p.sql_type, 0, 5, true),
                _ => base(&p.name, p.sql_type, p.id, if p.output { 2 } else { 1 }, true),
            };
            let type_name = match user {
                Some(row) => row.name.to_string(),
                None => parameter.type_name.clone(),
            };
            all.push(match user.filter(|row| row.table.is_some()) {
                Some(row) => Typed {
                    type_name,
                    odbc: table_type(TABLE),
                    wire: 0,
                    type_schema: Some(context.schema_name(row.schema_id)),
                    ..parameter
                },
                None => Typed { type_name, ..parameter },
            });
        }
    }
    Ok(all)
}

typed_view! {
    PARAMETERS = "sys.spt_parameters" as c, rows parameters;
    PROCEDURE_QUALIFIER sysname null = &c.database;
    PROCEDURE_OWNER sysname null = &c.schema;
    PROCEDURE_BARE_NAME sysname = &c.object;
    PROCEDURE_NAME nvarchar(134) = format!("{}{}", c.object, c.suffix);
    COLUMN_NAME sysname = &c.name;
    COLUMN_TYPE smallint = c.direction;
}

/// An index described in words, as sp_helpindex does.
pub struct Described {
    index: Index,
    group: String,
}

fn described(context: &Context<'_>, _: &[Value]) -> Result<Vec<Described>, SqlError> {
    let groups = context.database.catalog.filegroups();
    let group = |index: &Index| {
        let group = groups.get(index.data_space_id as usize - 1);
        group.map_or("PRIMARY".to_string(), |g| g.name.to_string())
    };
    let all = indexes::all(context).into_iter().filter(|i| i.id > 0);
    Ok(all.map(|index| Described { group: group(&index), index }).collect())
}

impl Described {
    /// `a, b(-)`.
    fn keys(&self) -> String {
        let table = &self.index.table;
        let columns = &self.index.keys;
        let shown = columns.iter().map(|(ordinal, descending)| {
            format!("{}{}", table.columns[*ordinal].name, if *descending { "(-)" } else { "" })
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

view! {
    INDEX_KEYS = "sys.spt_index_keys" of Described as d, rows described;
    object_id int = d.index.table.object_id;
    index_id int = d.index.id;
    index_name sysname null = d.index.name.as_deref();
    index_description varchar(210) null =
        format!("{} located on {}", d.index.described(), d.group);
    index_keys nvarchar(2078) null = Some(d.keys()).filter(|keys| !keys.is_empty());
}

/// A foreign key in words, as sp_helpconstraint shows it.
pub struct ReferenceText {
    object_id: i32,
    keys: String,
    references: String,
}

fn reference_texts(context: &Context<'_>, _: &[Value]) -> Result<Vec<ReferenceText>, SqlError> {
    let names = |table: &catalog::TableDef, columns: &[usize]| {
        let names = columns.iter().map(|i| table.columns[*i].name.to_string());
        names.collect::<Vec<_>>().join(", ")
    };
    let mut all = Vec::new();
    for table in crate::object::tables(context).iter().filter_map(|o| o.table()) {
        for key in &table.foreign_keys {
            let parent = context.database.catalog.table_by_id(context.scope(), key.table);
            let references = parent.map_or_else(String::new, |p| {
                let columns = names(&p, &key.referenced);
                format!("REFERENCES {}.{}.{} ({columns})", context.database.name, p.schema, p.name)
            });
            let keys = names(table, &key.columns);
            all.push(ReferenceText { object_id: key.object_id, keys, references });
        }
    }
    Ok(all)
}

view! {
    REFERENCE_TEXTS = "sys.spt_foreign_keys" of ReferenceText as r, rows reference_texts;
    object_id int = r.object_id;
    constraint_keys nvarchar(2126) null = &r.keys;
    referenced_keys nvarchar(2126) null = &r.references;
}
