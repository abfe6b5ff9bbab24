//! Columns of tables and views, types, and what identity and computed columns add.
//!
//! Columns and types: SQL Server 2022's documentation of each view.

use crate::context::{Context, built_in};
use crate::declare::{Declared, NULL, variant, view};
use crate::object::{self, Object, What, default_id};
use crate::shape;
use crate::types_table::{self, ColumnType, TYPES, TypeRow, column_type, long_type, user_types};
use catalog::{ColumnDef, Identity, Marks, ModuleKind, PeriodEdge, TableDef};
use executor::SqlError;
use std::sync::Arc;
use types::{SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &COLUMNS,
    &ALL_COLUMNS,
    &SYSTEM_COLUMNS,
    &IDENTITY_COLUMNS,
    &COMPUTED_COLUMNS,
    &MASKED_COLUMNS,
    &TYPES_VIEW,
    &TABLE_TYPES,
    &ASSEMBLY_TYPES,
    &ASSEMBLIES,
];

/// A column of a table or view.
#[derive(Clone)]
pub struct Column {
    pub object_id: i32,
    pub name: String,
    /// From 1.
    pub id: i32,
    pub sql_type: SqlType,
    pub ty: ColumnType,
    pub nullable: bool,
    pub identity: Option<Identity>,
    /// A view or an inline function shows it: an identity has no seed there.
    pub is_shown: bool,
    /// The last value given by the identity, if one has been.
    pub last_identity: Option<i64>,
    /// 0: no default.
    pub default_id: i32,
    /// 0: no rule.
    pub rule_id: i32,
    /// A computed column's text, and PERSISTED.
    pub computed: Option<(String, bool)>,
    /// Computed whenever it is read.
    pub volatile: bool,
    pub generated: Option<PeriodEdge>,
    pub marks: Marks,
    pub mask: Option<Arc<types::Mask>>,
}

impl Column {
    fn seeded(&self) -> Option<Identity> {
        self.identity.filter(|_| !self.is_shown)
    }

    /// `generated_always_type` and its name.
    pub fn generated_always(&self) -> (u8, &'static str) {
        match self.generated {
            None => (0, "NOT_APPLICABLE"),
            Some(PeriodEdge::Start) => (1, "AS_ROW_START"),
            Some(PeriodEdge::End) => (2, "AS_ROW_END"),
        }
    }
}

impl Column {
    /// The name of its type, of the system.
    pub fn type_name(&self) -> &'static str {
        match (self.ty.system, long_type(self.ty.user)) {
            (189, _) => "timestamp",
            (_, Some(long)) => match long.system {
                34 => "image",
                35 => "text",
                _ => "ntext",
            },
            _ => self.sql_type.name(),
        }
    }
}

/// The columns of an object, none when it has none.
pub fn of_object(context: &Context<'_>, object: &Object) -> Vec<Column> {
    match &object.what {
        What::Table(table) => {
            let last = table.columns.iter().any(|c| c.identity.is_some());
            let last = last.then(|| context.current_identity(table)).flatten();
            of_table(object.id, table, last)
        }
        What::Procedure(module) if shape::is_shaped(module.kind) => {
            let shape = shape::of_module(context, module);
            let mut all = shape.map_or_else(Vec::new, |table| of_table(object.id, &table, None));
            let is_shown = matches!(module.kind, ModuleKind::View | ModuleKind::InlineFunction);
            all.iter_mut().for_each(|column| column.is_shown = is_shown);
            all
        }
        What::SystemView(view) => {
            let columns = view.columns().into_iter().zip(1..);
            columns.map(|(c, id)| column(object.id, c.name, id, c.ty, c.nullable)).collect()
        }
        _ => Vec::new(),
    }
}

/// A column of which nothing more is to say.
fn column(object_id: i32, name: &str, id: i32, sql_type: SqlType, nullable: bool) -> Column {
    Column {
        object_id,
        name: name.to_string(),
        id,
        sql_type,
        ty: column_type(sql_type),
        nullable,
        computed: None,
        volatile: false,
        identity: None,
        is_shown: false,
        last_identity: None,
        default_id: 0,
        rule_id: 0,
        generated: None,
        marks: Marks::default(),
        mask: None,
    }
}

/// The columns of a table, or of what looks like one.
fn of_table(object_id: i32, table: &TableDef, last_identity: Option<i64>) -> Vec<Column> {
    let one = |(i, c): (usize, &ColumnDef)| {
        let plain = column(object_id, &c.name, i as i32 + 1, c.ty, c.nullable);
        let base = ColumnType { collation: plain.ty.collation.map(|_| c.collation), ..plain.ty };
        Column {
            ty: match (c.rowversion, c.alias) {
                (true, _) => ColumnType { system: 189, user: 189, ..base },
                (_, Some(user)) => match long_type(user) {
                    Some(long) => ColumnType {
                        system: long.system,
                        user,
                        max_length: long.max_length,
                        ..base
                    },
                    None => ColumnType { user, ..base },
                },
                _ => base,
            },
            computed: c.computed.as_ref().map(|k| (k.text.to_string(), k.persisted)),
            volatile: c.is_volatile(),
            identity: c.identity,
            last_identity: c.identity.and(last_identity),
            default_id: match (&c.default, &c.bound_default) {
                (Some(_), _) => default_id(table, i),
                (None, Some(bound)) => bound.object_id,
                (None, None) => 0,
            },
            rule_id: c.rule.as_ref().map_or(0, |bound| bound.object_id),
            generated: c.generated,
            marks: c.marks,
            mask: c.mask.clone(),
            ..plain
        }
    };
    table.columns.iter().enumerate().map(one).collect()
}

fn user(context: &Context<'_>, _: &[Value]) -> Result<Vec<Column>, SqlError> {
    Ok(object::user_objects(context).iter().flat_map(|o| of_object(context, o)).collect())
}

fn system(context: &Context<'_>, _: &[Value]) -> Result<Vec<Column>, SqlError> {
    Ok(object::system_objects().iter().flat_map(|o| of_object(context, o)).collect())
}

fn all(context: &Context<'_>, args: &[Value]) -> Result<Vec<Column>, SqlError> {
    let mut all = user(context, args)?;
    all.extend(system(context, args)?);
    Ok(all)
}

fn with_identity(context: &Context<'_>, args: &[Value]) -> Result<Vec<Column>, SqlError> {
    Ok(user(context, args)?.into_iter().filter(|c| c.identity.is_some()).collect())
}

fn computed(context: &Context<'_>, args: &[Value]) -> Result<Vec<Column>, SqlError> {
    Ok(user(context, args)?.into_iter().filter(|c| c.computed.is_some()).collect())
}

fn masked(context: &Context<'_>, args: &[Value]) -> Result<Vec<Column>, SqlError> {
    Ok(user(context, args)?.into_iter().filter(|c| c.mask.is_some()).collect())
}

/// A view whose columns begin with those of sys.columns.
macro_rules! column_view {
    ($view:ident = $full:literal as $c:ident, rows $rows:expr; $($more:tt)*) => {
        view! {
            $view = $full of Column as $c, rows $rows;
            object_id int = $c.object_id;
            name sysname null = &$c.name;
            column_id int = $c.id;
            system_type_id tinyint = $c.ty.system;
            user_type_id int = $c.ty.user;
            max_length smallint = $c.ty.max_length;
            precision tinyint = $c.ty.precision;
            scale tinyint = $c.ty.scale;
            collation_name sysname null = $c.ty.collation.map(|k| k.name());
            is_nullable bit null = $c.nullable;
            is_ansi_padded bit = matches!($c.ty.system, 98 | 165 | 167 | 173 | 175 | 231 | 239);
            is_rowguidcol bit = $c.marks.rowguidcol;
            is_identity bit = $c.identity.is_some();
            is_computed bit = $c.computed.is_some();
            is_filestream bit = false;
            is_replicated bit null = false;
            is_non_sql_subscribed bit null = false;
            is_merge_published bit null = false;
            is_dts_replicated bit null = false;
            is_xml_document bit = $c.ty.xml.1;
            xml_collection_id int = $c.ty.xml.0;
            default_object_id int = $c.default_id;
            rule_object_id int = $c.rule_id;
            is_sparse bit null = $c.marks.sparse;
            is_column_set bit null = $c.marks.column_set;
            generated_always_type tinyint null = $c.generated_always().0;
            generated_always_type_desc nvarchar(60) null = $c.generated_always().1;
            encryption_type int null = NULL;
            encryption_type_desc nvarchar(64) null = NULL;
            encryption_algorithm_name sysname null = NULL;
            column_encryption_key_id int null = NULL;
            column_encryption_key_database_name sysname null = NULL;
            is_hidden bit = $c.marks.hidden;
            is_masked bit = $c.mask.is_some();
            graph_type int null = NULL;
            graph_type_desc nvarchar(60) null = NULL;
            is_data_deletion_filter_column bit null = false;
            ledger_view_column_type tinyint null = NULL;
            ledger_view_column_type_desc nvarchar(60) null = NULL;
            is_dropped_ledger_column bit null = false;
            $($more)*
        }
    };
}

column_view! { COLUMNS = "sys.columns" as c, rows user; }
column_view! { ALL_COLUMNS = "sys.all_columns" as c, rows all; }
column_view! { SYSTEM_COLUMNS = "sys.system_columns" as c, rows system; }

column_view! {
    IDENTITY_COLUMNS = "sys.identity_columns" as c, rows with_identity;
    seed_value sql_variant null = c.seeded().map(|i| variant(i.seed, c.sql_type));
    increment_value sql_variant null = c.seeded().map(|i| variant(i.increment, c.sql_type));
    last_value sql_variant null = c.last_identity.map(|v| variant(v, c.sql_type));
    is_not_for_replication bit null = c.marks.not_for_replication;
}

column_view! {
    COMPUTED_COLUMNS = "sys.computed_columns" as c, rows computed;
    definition nvarchar(max) null = c.computed.as_ref().map(|(text, _)| text.clone());
    uses_database_collation bit null = true;
    is_persisted bit = c.computed.as_ref().is_some_and(|(_, persisted)| *persisted);
}

column_view! {
    MASKED_COLUMNS = "sys.masked_columns" as c, rows masked;
    masking_function nvarchar(4000) null = c.mask.as_ref().map(|mask| mask.text().to_owned());
}

/// Users' types on which the session has any right.
pub(super) fn seen_types(context: &Context<'_>) -> Vec<TypeRow> {
    let mut all = user_types(context);
    if let Some(visibility) = crate::visibility::Visibility::of(context) {
        all.retain(|t| visibility.of_type(t.user, t.schema_id));
    }
    all
}

fn type_rows(context: &Context<'_>, _: &[Value]) -> Result<Vec<TypeRow>, SqlError> {
    let all = TYPES.iter().cloned().chain(seen_types(context));
    Ok(types_table::of_database(context, all))
}

fn table_types(context: &Context<'_>, _: &[Value]) -> Result<Vec<TypeRow>, SqlError> {
    Ok(seen_types(context).into_iter().filter(|t| t.table.is_some()).collect())
}

macro_rules! type_view {
    ($view:ident = $full:literal as $t:ident, rows $rows:expr; $($more:tt)*) => {
        view! {
            $view = $full of TypeRow as $t, rows $rows;
            name sysname = &*$t.name;
            system_type_id tinyint = $t.system;
            user_type_id int = $t.user;
            schema_id int = $t.schema_id;
            principal_id int null = $t.owner;
            max_length smallint = $t.max_length;
            precision tinyint = $t.precision;
            scale tinyint = $t.scale;
            collation_name sysname null = $t.collated.then(|| $t.collation.name());
            is_nullable bit null = $t.nullable;
            is_user_defined bit = $t.user_defined;
            is_assembly_type bit = $t.system == 240;
            default_object_id int = $t.bindings.default.unwrap_or(0);
            rule_object_id int = $t.bindings.rule.unwrap_or(0);
            is_table_type bit = $t.table.is_some();
            $($more)*
        }
    };
}

type_view! { TYPES_VIEW = "sys.types" as t, rows type_rows; }

type_view! {
    TABLE_TYPES = "sys.table_types" as t, rows table_types;
    type_table_object_id int = t.table;
    is_memory_optimized bit null = t.memory_optimized;
}

/// The class of a type of the CLR, by its user_type_id.
fn assembly_class(user: i32) -> &'static str {
    match user {
        128 => "Microsoft.SqlServer.Types.SqlHierarchyId",
        129 => "Microsoft.SqlServer.Types.SqlGeometry",
        _ => "Microsoft.SqlServer.Types.SqlGeography",
    }
}

fn assembly_types(_: &Context<'_>, _: &[Value]) -> Result<Vec<TypeRow>, SqlError> {
    Ok(TYPES.iter().filter(|t| t.system == 240).cloned().collect())
}

type_view! {
    ASSEMBLY_TYPES = "sys.assembly_types" as t, rows assembly_types;
    assembly_id int = 1;
    assembly_class sysname null = assembly_class(t.user);
    is_binary_ordered bit null = t.user == 128;
    is_fixed_length bit null = false;
    prog_id nvarchar(40) null = NULL;
    assembly_qualified_name nvarchar(4000) null = format!("{}, {}", assembly_class(t.user), types::clr::ASSEMBLY);
}

/// The one assembly that every database has.
fn assemblies(_: &Context<'_>, _: &[Value]) -> Result<Vec<()>, SqlError> {
    Ok(vec![()])
}

view! {
    ASSEMBLIES = "sys.assemblies" of () as a, rows assemblies;
    name sysname = "Microsoft.SqlServer.Types";
    principal_id int null = 4;
    assembly_id int = 1;
    clr_name nvarchar(4000) null = format!("{}, processorarchitecture=msil", types::clr::ASSEMBLY.to_lowercase());
    permission_set tinyint null = 3u8;
    permission_set_desc nvarchar(60) null = "UNSAFE_ACCESS";
    is_visible bit = true;
    create_date datetime = built_in();
    modify_date datetime = built_in();
    is_user_defined bit null = false;
}
