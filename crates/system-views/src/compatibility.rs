//! The system tables of early versions, as views: sysobjects, syscolumns, sysindexes and their like.
//!
//! Columns and types: SQL Server's documentation of each compatibility view. They are found without a schema too.

mod principals;
mod server;

use crate::catalog_views::columns::{Column, of_object};
use crate::catalog_views::constraints::{self, foreign_keys, key};
use crate::catalog_views::databases::{File, files_of};
use crate::catalog_views::indexes::{self, Index};
use crate::context::{Context, Database};
use crate::declare::{Declared, NULL, view};
use crate::object::{self, Object, What};
use crate::types_table::{self, TYPES, TypeRow, long_type, user_types};
use executor::SqlError;
use types::{SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &SYSOBJECTS,
    &SYSCOLUMNS,
    &SYSINDEXES,
    &SYSINDEXKEYS,
    &SYSDATABASES,
    &SYSTYPES,
    &SYSFILES,
    &SYSCOMMENTS,
    &SYSFOREIGNKEYS,
    &SYSREFERENCES,
];

/// Those of the files below it.
pub static PRINCIPALS: &[&dyn Declared] = principals::VIEWS;
/// See `PRINCIPALS`.
pub static SERVER: &[&dyn Declared] = server::VIEWS;

/// Does a view of sys need no schema, by its name in lower case? Those that were tables of early versions.
pub fn needs_no_schema(name: &str) -> bool {
    name.starts_with("sys") && !name.starts_with("system_") && name != "sysname"
}

fn objects(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    let mut all: Vec<Object> = object::system_tables().collect();
    all.extend(object::user_objects(context));
    all.extend(object::system_objects());
    Ok(all)
}

impl Object {
    /// The low four bits of `sysstat`: 3 user table, 2 view, 4 procedure, 8 constraint...
    fn sysstat(&self) -> i16 {
        match self.kind() {
            "U" => 3,
            "V" => 2,
            "P" => 4,
            "PK" => 9,
            "D" => 6,
            _ => 0,
        }
    }
}

view! {
    SYSOBJECTS = "sys.sysobjects" of Object as o, rows objects;
    name sysname = &o.name;
    id int = o.id;
    xtype char(2) = format!("{:<2}", o.kind());
    uid smallint null = o.schema_id as i16;
    info smallint null = 0i16;
    status int null = 0;
    base_schema_ver int null = 0;
    replinfo int null = 0;
    parent_obj int = o.parent;
    crdate datetime = o.created;
    ftcatid smallint null = 0i16;
    schema_ver int null = 0;
    stats_schema_ver int null = 0;
    type char(2) null = format!("{:<2}", if o.kind() == "PK" { "K" } else { o.kind() });
    userstat smallint null = i16::from(o.kind() == "U");
    sysstat smallint null = o.sysstat();
    indexdel smallint null = 0i16;
    refdate datetime = o.created;
    version int null = 0;
    deltrig int null = 0;
    instrig int null = 0;
    updtrig int null = 0;
    seltrig int null = 0;
    category int null = if o.is_system() { 2 } else { 0 };
    cache smallint null = 0i16;
}

fn columns(context: &Context<'_>, args: &[Value]) -> Result<Vec<Column>, SqlError> {
    Ok(objects(context, args)?.iter().flat_map(|o| of_object(context, o)).collect())
}

/// The types of early versions, which tell a nullable int apart (`type` of syscolumns, SS_DATA_TYPE of sp_columns).
pub fn wire_type(ty: SqlType, nullable: bool) -> u8 {
    match ty {
        SqlType::TinyInt | SqlType::SmallInt | SqlType::Int if nullable => 38,
        SqlType::BigInt if nullable => 108,
        SqlType::BigInt => 63,
        SqlType::Float | SqlType::Real if nullable => 109,
        SqlType::Money | SqlType::SmallMoney if nullable => 110,
        SqlType::DateTime | SqlType::SmallDateTime if nullable => 111,
        SqlType::Decimal { numeric: true, .. } if nullable => 108,
        SqlType::Decimal { numeric: true, .. } => 63,
        SqlType::Decimal { .. } if nullable => 106,
        SqlType::Decimal { .. } => 55,
        SqlType::Bit => 50,
        SqlType::Char(_) | SqlType::NChar(_) if !nullable => 47,
        ty if ty.is_character() => 39,
        SqlType::Binary(_) if !nullable => 45,
        ty if ty.is_binary() => 37,
        SqlType::UniqueIdentifier => 37,
        SqlType::Date | SqlType::Time(_) | SqlType::DateTime2(_) | SqlType::DateTimeOffset(_) => 0,
        ty => ty.system_type_id(),
    }
}

view! {
    SYSCOLUMNS = "sys.syscolumns" of Column as c, rows columns;
    name sysname null = &c.name;
    id int = c.object_id;
    xtype tinyint = c.ty.system;
    typestat tinyint null = u8::from(!c.nullable);
    xusertype smallint null = c.ty.user as i16;
    length smallint = c.ty.max_length;
    xprec tinyint = c.ty.precision;
    xscale tinyint = c.ty.scale;
    colid smallint null = c.id as i16;
    xoffset smallint = 0i16;
    bitpos tinyint = 0u8;
    reserved tinyint = 0u8;
    colstat smallint = i16::from(c.identity.is_some());
    cdefault int = c.default_id;
    domain int = c.rule_id;
    number smallint = 0i16;
    colorder smallint null = c.id as i16;
    autoval varbinary(8000) null = NULL;
    offset smallint = 0i16;
    collationid int null = c.ty.collation.map(|_| 872_468_488);
    language int null = 0;
    status tinyint null = u8::from(c.nullable) * 8 + u8::from(c.identity.is_some()) * 128;
    type tinyint = match long_type(c.ty.user) {
        Some(long) => long.system,
        None => wire_type(c.sql_type, c.nullable),
    };
    usertype smallint null = c.ty.user as i16;
    printfmt varchar(255) null = NULL;
    prec smallint null = c.length_or_precision();
    scale int null = c.has_scale().then_some(c.ty.scale as i32);
    iscomputed int null = i32::from(c.computed.is_some());
    isoutparam int null = 0;
    isnullable int null = i32::from(c.nullable);
    collation sysname null = c.ty.collation.map(|k| k.name());
    tdscollation binary(5) null =
        c.ty.collation.map(|k| Value::binary(&k.to_wire()));
}

impl Column {
    /// Characters or bytes of a text, digits of a number.
    fn length_or_precision(&self) -> i16 {
        match self.ty.system {
            231 | 239 if self.ty.max_length > 0 => self.ty.max_length / 2,
            165 | 167 | 173 | 175 | 231 | 239 => self.ty.max_length,
            _ => self.ty.precision as i16,
        }
    }

    fn has_scale(&self) -> bool {
        !matches!(self.ty.system, 36 | 59 | 62 | 104 | 165 | 167 | 173 | 175 | 231 | 239)
    }
}

fn all_indexes(context: &Context<'_>, _: &[Value]) -> Result<Vec<Index>, SqlError> {
    Ok(indexes::all(context))
}

impl Index {
    /// `status` of sysindexes: 2 unique, 16 clustered, 2048 primary key, 4096 UNIQUE constraint.
    fn status(&self) -> i32 {
        let bits =
            [(self.unique, 2), (self.id == 1, 16), (self.primary, 2048), (self.constraint, 4096)];
        bits.into_iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum()
    }
}

view! {
    SYSINDEXES = "sys.sysindexes" of Index as i, rows all_indexes;
    id int = i.table.object_id;
    status int null = i.status();
    first binary(6) null = NULL;
    indid smallint null = i.id as i16;
    root binary(6) null = NULL;
    minlen smallint null = 0i16;
    keycnt smallint null = i.keys.len() as i16;
    groupid smallint null = i.data_space_id as i16;
    dpages int null = 0;
    reserved int null = 0;
    used int null = 0;
    rowcnt bigint null = i.rows;
    rowmodctr int null = 0;
    reserved3 int null = 0;
    reserved4 int null = 0;
    xmaxlen smallint null = 0i16;
    maxirow smallint null = 0i16;
    OrigFillFactor tinyint null = i.fill_factor();
    StatVersion tinyint null = 0u8;
    reserved2 int null = 0;
    FirstIAM binary(6) null = NULL;
    impid smallint null = 0i16;
    lockflags smallint null = 0i16;
    pgmodctr int null = 0;
    keys varbinary(1088) null = NULL;
    name sysname null = i.name.as_deref();
    statblob varbinary(max) null = NULL;
    maxlen int null = 8000;
    rows int null = i.rows.min(i32::MAX as i64) as i32;
}

/// A column of a key: table, index, column, place.
pub struct KeyColumn(i32, i16, i16, i16);

fn key_columns(context: &Context<'_>, _: &[Value]) -> Result<Vec<KeyColumn>, SqlError> {
    let of = |index: Index| {
        let (table, id) = (index.table.object_id, index.id as i16);
        let columns = index.keys.into_iter().zip(1..);
        columns.map(move |((ordinal, _), place)| KeyColumn(table, id, ordinal as i16 + 1, place))
    };
    Ok(indexes::all(context).into_iter().flat_map(of).collect())
}

view! {
    SYSINDEXKEYS = "sys.sysindexkeys" of KeyColumn as k, rows key_columns;
    id int = k.0;
    indid smallint null = k.1;
    colid smallint null = k.2;
    keyno smallint null = k.3;
}

fn databases(context: &Context<'_>, _: &[Value]) -> Result<Vec<Database>, SqlError> {
    Ok(context.server.databases())
}

view! {
    SYSDATABASES = "sys.sysdatabases" of Database as d, rows databases;
    name sysname = &d.name;
    dbid smallint null = d.id as i16;
    sid varbinary(85) null = Value::binary(&[1]);
    mode smallint null = 0i16;
    status int null = if d.state().0 == 6 { 66_048 } else { 65_536 };
    status2 int null = 1_090_520_064;
    crdate datetime = d.created();
    reserved datetime null = crate::context::built_in();
    category int null = 0;
    cmptlevel tinyint = d.compatibility_level();
    filename nvarchar(260) null = files_of(d).first().map(|f| f.path.clone());
    version smallint null = 957i16;
}

fn types_rows(context: &Context<'_>, _: &[Value]) -> Result<Vec<TypeRow>, SqlError> {
    let all = TYPES.iter().cloned().chain(user_types(context));
    Ok(types_table::of_database(context, all))
}

view! {
    SYSTYPES = "sys.systypes" of TypeRow as t, rows types_rows;
    name sysname = &*t.name;
    xtype tinyint = t.system;
    status tinyint null = u8::from(!t.nullable);
    xusertype smallint null = t.user as i16;
    length smallint = t.max_length;
    xprec tinyint = t.precision;
    xscale tinyint = t.scale;
    tdefault int = t.bindings.default.unwrap_or(0);
    domain int = t.bindings.rule.unwrap_or(0);
    uid smallint null = t.schema_id as i16;
    reserved smallint null = 0i16;
    collationid int null = t.collated.then_some(872_468_488);
    usertype smallint null = t.user as i16;
    variable bit null = matches!(t.system, 165 | 167 | 231);
    allownulls bit null = t.nullable;
    type tinyint = t.system;
    printfmt varchar(255) null = NULL;
    prec smallint null = if t.precision > 0 { t.precision as i16 } else { t.max_length };
    scale tinyint null = (t.precision > 0).then_some(t.scale);
    collation sysname null = t.collated.then(|| t.collation.name());
}

fn own_files(context: &Context<'_>, _: &[Value]) -> Result<Vec<File>, SqlError> {
    let files = files_of(&context.database_entry());
    Ok(files.into_iter().filter(|file| !file.is_container).collect())
}

view! {
    SYSFILES = "sys.sysfiles" of File as f, rows own_files;
    fileid smallint null = f.id as i16;
    groupid smallint null = f.filegroup as i16;
    size int = f.size();
    maxsize int = f.max_size();
    growth int = (f.growth_bytes / 8192) as i32;
    status int null = if f.filegroup == 0 { 66 } else { 2 };
    perf int null = 0;
    name sysname = &f.name;
    filename nvarchar(260) = &f.path;
}

/// A piece of a text.
pub struct Comment {
    id: i32,
    place: i16,
    text: String,
}

/// Characters of a piece.
const PIECE: usize = 4000;

fn comments(context: &Context<'_>, _: &[Value]) -> Result<Vec<Comment>, SqlError> {
    let mut all = Vec::new();
    for object in object::user_objects(context) {
        let Some(text) = object.shown_text() else { continue };
        let chars: Vec<char> = text.chars().collect();
        for (piece, place) in chars.chunks(PIECE).zip(1..) {
            all.push(Comment { id: object.id, place, text: piece.iter().collect() });
        }
    }
    Ok(all)
}

view! {
    SYSCOMMENTS = "sys.syscomments" of Comment as c, rows comments;
    id int = c.id;
    number smallint null = 1i16;
    colid smallint = c.place;
    status smallint = 2i16;
    ctext varbinary(8000) null = Value::binary(&utf16(&c.text));
    texttype smallint null = 2i16;
    language smallint null = 0i16;
    encrypted bit = false;
    compressed bit = false;
    text nvarchar(4000) null = &c.text;
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

view! {
    SYSFOREIGNKEYS = "sys.sysforeignkeys" of constraints::KeyColumn as f, rows constraints::key_columns;
    constid int = f.key.object_id;
    fkeyid int = f.parent;
    rkeyid int = f.key.table;
    fkey smallint null = f.at(&f.key.columns) as i16;
    rkey smallint null = f.at(&f.key.referenced) as i16;
    keyno smallint null = f.place as i16;
}

/// The number of a key's column at a place, 0 past its end.
fn place(columns: Option<&Vec<usize>>, at: usize) -> i16 {
    columns.and_then(|all| all.get(at)).map_or(0, |ordinal| *ordinal as i16 + 1)
}

fn referring(object: &Object, at: usize) -> i16 {
    place(key(object).map(|key| &key.columns), at)
}

fn referred(object: &Object, at: usize) -> i16 {
    place(key(object).map(|key| &key.referenced), at)
}

/// The index that the key refers to.
fn referred_index(object: &Object) -> i16 {
    match &object.what {
        What::ForeignKey(_, _, index) => *index as i16,
        _ => 0,
    }
}

view! {
    SYSREFERENCES = "sys.sysreferences" of Object as o, rows foreign_keys;
    constid int = o.id;
    fkeyid int = o.parent;
    rkeyid int null = key(o).map(|key| key.table);
    rkeyindid smallint null = referred_index(o);
    keycnt smallint null = key(o).map_or(0, |key| key.columns.len() as i16);
    forkeys varbinary(32) null = NULL;
    refkeys varbinary(32) null = NULL;
    fkeydbid smallint null = 0i16;
    rkeydbid smallint null = 0i16;
    fkey1 smallint null = referring(o, 0);
    fkey2 smallint null = referring(o, 1);
    fkey3 smallint null = referring(o, 2);
    fkey4 smallint null = referring(o, 3);
    fkey5 smallint null = referring(o, 4);
    fkey6 smallint null = referring(o, 5);
    fkey7 smallint null = referring(o, 6);
    fkey8 smallint null = referring(o, 7);
    fkey9 smallint null = referring(o, 8);
    fkey10 smallint null = referring(o, 9);
    fkey11 smallint null = referring(o, 10);
    fkey12 smallint null = referring(o, 11);
    fkey13 smallint null = referring(o, 12);
    fkey14 smallint null = referring(o, 13);
    fkey15 smallint null = referring(o, 14);
    fkey16 smallint null = referring(o, 15);
    rkey1 smallint null = referred(o, 0);
    rkey2 smallint null = referred(o, 1);
    rkey3 smallint null = referred(o, 2);
    rkey4 smallint null = referred(o, 3);
    rkey5 smallint null = referred(o, 4);
    rkey6 smallint null = referred(o, 5);
    rkey7 smallint null = referred(o, 6);
    rkey8 smallint null = referred(o, 7);
    rkey9 smallint null = referred(o, 8);
    rkey10 smallint null = referred(o, 9);
    rkey11 smallint null = referred(o, 10);
    rkey12 smallint null = referred(o, 11);
    rkey13 smallint null = referred(o, 12);
    rkey14 smallint null = referred(o, 13);
    rkey15 smallint null = referred(o, 14);
    rkey16 smallint null = referred(o, 15);
}
