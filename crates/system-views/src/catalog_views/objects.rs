//! Objects: sys.objects and the views of one kind of object each.
//!
//! Columns and types: SQL Server 2022's documentation of each view. What cannot exist here yet (sequences,
//! synonyms) is a view without rows.

use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object::{self, Object, What};
use catalog::{Retention, TableDef, Temporal};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &OBJECTS,
    &ALL_OBJECTS,
    &SYSTEM_OBJECTS,
    &TABLES,
    &PERIODS,
    &VIEWS_VIEW,
    &ALL_VIEWS,
    &SYSTEM_VIEWS,
    &PROCEDURES,
    &SCHEMAS,
];

type Rows = Result<Vec<Object>, SqlError>;

fn user(context: &Context<'_>, _: &[Value]) -> Rows {
    let mut all: Vec<Object> = object::system_tables().collect();
    all.extend(object::user_objects(context));
    Ok(all)
}

fn all(context: &Context<'_>, args: &[Value]) -> Rows {
    let mut all = user(context, args)?;
    all.extend(object::system_objects());
    Ok(all)
}

fn system(_: &Context<'_>, _: &[Value]) -> Rows {
    Ok(object::system_objects())
}

/// A table, and where its large values lie.
pub struct Table {
    object: Object,
    lob_data_space_id: i32,
}

impl std::ops::Deref for Table {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.object
    }
}

/// Large values lie where the rows do, wherever TEXTIMAGE_ON would have them.
fn tables(context: &Context<'_>, _: &[Value]) -> Result<Vec<Table>, SqlError> {
    let groups = context.database.catalog.filegroups();
    let place = |table: &TableDef| {
        let is_large = |c: &catalog::ColumnDef| c.ty.is_max() && !c.is_volatile();
        if table.is_memory() || !table.columns.iter().any(is_large) {
            return 0;
        }
        let named = || groups.iter().position(|g| catalog::same_name(&g.name, &table.filegroup));
        table.partitioned.map_or_else(|| named().map_or(1, |i| i as i32 + 1), |p| p.scheme)
    };
    let row = |object: Object| Table {
        lob_data_space_id: object.table().map_or(0, |table| place(table)),
        object,
    };
    Ok(object::tables(context).into_iter().map(row).collect())
}

fn procedures(context: &Context<'_>, _: &[Value]) -> Rows {
    let all = object::user_objects(context);
    Ok(all.into_iter().filter(|o| o.kind() == "P").collect())
}

fn views(context: &Context<'_>, _: &[Value]) -> Rows {
    let all = object::user_objects(context);
    Ok(all.into_iter().filter(|o| o.kind() == "V").collect())
}

fn system_views(_: &Context<'_>, _: &[Value]) -> Rows {
    Ok(object::system_objects().into_iter().filter(|o| o.kind() == "V").collect())
}

fn all_views(context: &Context<'_>, args: &[Value]) -> Rows {
    let mut all = views(context, args)?;
    all.extend(system_views(context, args)?);
    Ok(all)
}

/// No rows: nothing of the kind exists.
pub fn none<T>(_: &Context<'_>, _: &[Value]) -> Result<Vec<T>, SqlError> {
    Ok(Vec::new())
}

/// A view whose columns begin with those of sys.objects.
macro_rules! object_view {
    (
        $(#[$doc:meta])*
        $view:ident = $full:literal as $o:ident, rows $rows:expr;
        $($more:tt)*
    ) => {
        $crate::catalog_views::objects::object_view! {
            $(#[$doc])*
            $view = $full of $crate::object::Object as $o, rows $rows;
            $($more)*
        }
    };
    (
        $(#[$doc:meta])*
        $view:ident = $full:literal of $item:ty as $o:ident, rows $rows:expr;
        $($more:tt)*
    ) => {
        $crate::declare::view! {
            $(#[$doc])*
            $view = $full of $item as $o, rows $rows;
            name sysname = &$o.name;
            object_id int = $o.id;
            principal_id int null = $o.owner;
            schema_id int = $o.schema_id;
            parent_object_id int = $o.parent;
            type char(2) null = format!("{:<2}", $o.kind());
            type_desc nvarchar(60) null = $o.kind_desc();
            create_date datetime = $o.created;
            modify_date datetime = $o.created;
            is_ms_shipped bit = $o.is_system();
            is_published bit = false;
            is_schema_published bit = false;
            $($more)*
        }
    };
}

pub(crate) use object_view;

object_view! { OBJECTS = "sys.objects" as o, rows user; }
object_view! { ALL_OBJECTS = "sys.all_objects" as o, rows all; }
object_view! { SYSTEM_OBJECTS = "sys.system_objects" as o, rows system; }

/// `temporal_type` and its name.
fn temporal(o: &Object) -> (u8, &'static str) {
    match o.table().map(|t| t.temporal) {
        Some(Temporal::History { .. }) => (1, "HISTORY_TABLE"),
        Some(Temporal::Versioned { .. }) => (2, "SYSTEM_VERSIONED_TEMPORAL_TABLE"),
        _ => (0, "NON_TEMPORAL_TABLE"),
    }
}

/// The history table's id, and how long rows are kept in it.
fn history_of(o: &Object) -> Option<(i32, Option<Retention>)> {
    match o.table()?.temporal {
        Temporal::Versioned { history, retention } => Some((history, retention)),
        _ => None,
    }
}

/// `history_retention_period`, its unit and the unit's name.
fn retention(o: &Object) -> Option<(i32, i32, &'static str)> {
    let (_, retention) = history_of(o)?;
    Some(match retention {
        None => (-1, -1, "INFINITE"),
        Some(Retention { number, unit }) => {
            let name = match unit {
                3 => "DAY",
                4 => "WEEK",
                5 => "MONTH",
                _ => "YEAR",
            };
            (number, unit, name)
        }
    })
}

/// A period.
pub struct Period {
    table: i32,
    start: i32,
    end: i32,
}

fn periods(context: &Context<'_>, _: &[Value]) -> Result<Vec<Period>, SqlError> {
    let period = |o: &Object| {
        let (start, end) = o.table()?.period()?;
        Some(Period { table: o.id, start: start as i32 + 1, end: end as i32 + 1 })
    };
    Ok(object::tables(context).iter().filter_map(period).collect())
}

view! {
    PERIODS = "sys.periods" of Period as p, rows periods;
    name sysname null = "SYSTEM_TIME";
    period_type tinyint null = 1u8;
    period_type_desc nvarchar(60) null = "SYSTEM_TIME_PERIOD";
    object_id int = p.table;
    start_column_id int = p.start;
    end_column_id int = p.end;
}

object_view! {
    TABLES = "sys.tables" of Table as o, rows tables;
    lob_data_space_id int = o.lob_data_space_id;
    filestream_data_space_id int null = NULL;
    max_column_id_used int = o.table().map_or(0, |t| t.columns.len() as i32);
    lock_on_bulk_load bit = false;
    uses_ansi_nulls bit null = true;
    is_replicated bit null = false;
    has_replication_filter bit null = false;
    is_merge_published bit null = false;
    is_sync_tran_subscribed bit null = false;
    has_unchecked_assembly_data bit = false;
    text_in_row_limit int null = 0;
    large_value_types_out_of_row bit null = false;
    is_tracked_by_cdc bit null = false;
    lock_escalation tinyint null = 0u8;
    lock_escalation_desc nvarchar(60) null = "TABLE";
    is_filetable bit null = false;
    is_memory_optimized bit null = o.table().is_some_and(|t| t.is_memory());
    durability tinyint null = u8::from(!is_durable(o));
    durability_desc nvarchar(60) null =
        if is_durable(o) { "SCHEMA_AND_DATA" } else { "SCHEMA_ONLY" };
    temporal_type tinyint null = temporal(o).0;
    temporal_type_desc nvarchar(60) null = temporal(o).1;
    history_table_id int null = history_of(o).map(|(id, _)| id);
    is_remote_data_archive_enabled bit null = false;
    is_external bit = false;
    history_retention_period int null = retention(o).map(|r| r.0);
    history_retention_period_unit int null = retention(o).map(|r| r.1);
    history_retention_period_unit_desc nvarchar(10) null = retention(o).map(|r| r.2);
    is_node bit null = false;
    is_edge bit null = false;
    data_retention_period int null = -1;
    data_retention_period_unit int null = -1;
    data_retention_period_unit_desc nvarchar(10) null = "INFINITE";
    ledger_type tinyint null = 0u8;
    ledger_type_desc nvarchar(60) null = "NON_LEDGER_TABLE";
    ledger_view_id int null = NULL;
    is_dropped_ledger_table bit null = false;
}

/// Are its rows there after the server has been started again?
fn is_durable(o: &Object) -> bool {
    o.table().and_then(|t| t.memory).is_none_or(|memory| memory.durable)
}

/// Is it a view WITH CHECK OPTION?
pub fn checks(o: &Object) -> bool {
    match &o.what {
        What::Procedure(view) => binder::has_check_option(view),
        _ => false,
    }
}

macro_rules! view_view {
    ($view:ident = $full:literal, rows $rows:expr) => {
        object_view! {
            $view = $full as o, rows $rows;
            is_replicated bit null = false;
            has_replication_filter bit null = false;
            has_opaque_metadata bit = false;
            has_unchecked_assembly_data bit = false;
            with_check_option bit = checks(o);
            is_date_correlation_view bit = false;
            is_tracked_by_cdc bit null = false;
            has_snapshot bit null = false;
            ledger_view_type tinyint null = 0u8;
            ledger_view_type_desc nvarchar(60) null = "NON_LEDGER_VIEW";
            is_dropped_ledger_view bit null = false;
        }
    };
}

view_view!(VIEWS_VIEW = "sys.views", rows views);
view_view!(ALL_VIEWS = "sys.all_views", rows all_views);
view_view!(SYSTEM_VIEWS = "sys.system_views", rows system_views);

object_view! {
    PROCEDURES = "sys.procedures" as o, rows procedures;
    is_auto_executed bit = false;
    is_execution_replicated bit null = false;
    is_repl_serializable_only bit null = false;
    skips_repl_constraints bit null = false;
}

/// A schema.
pub struct Schema {
    id: i32,
    name: Box<str>,
    owner: i32,
}

fn schemas(context: &Context<'_>, _: &[Value]) -> Result<Vec<Schema>, SqlError> {
    let directory = context.database.catalog.directory(context.scope());
    let schema =
        |s: &security::SchemaDef| Schema { id: s.id, name: s.name.clone(), owner: s.owner };
    Ok(directory.schemas.values().map(schema).collect())
}

view! {
    SCHEMAS = "sys.schemas" of Schema as s, rows schemas;
    name sysname = &s.name;
    schema_id int = s.id;
    principal_id int null = s.owner;
}

/// The column of a DEFAULT, from 1.
pub fn default_column(object: &Object) -> i32 {
    match &object.what {
        What::Default(_, ordinal) => *ordinal as i32 + 1,
        _ => 0,
    }
}
