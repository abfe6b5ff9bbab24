//! What procedures and functions have used: sys.dm_exec_procedure_stats, sys.dm_exec_function_stats and, without rows,
//! sys.dm_exec_trigger_stats (each session compiles triggers for itself); sys.dm_exec_plan_attributes; and what is told of
//! missing indexes, which is nothing.
//!
//! Columns and types: SQL Server's documentation of each. Calls are counted exactly; a session times its first 64 calls of
//! a module and one in 64 after them, and totals are scaled up. Logical writes and spills are not counted by module: 0.

use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use catalog::ModuleKind;
use executor::SqlError;
use interpreter::{CachedPlan, StatementFigures};
use std::sync::Arc;
use types::{Value, Variant};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &PROCEDURES,
    &FUNCTIONS,
    &TRIGGERS,
    &ATTRIBUTES,
    &MISSING_DETAILS,
    &MISSING_GROUPS,
    &MISSING_STATS,
    &MISSING_COLUMNS,
];

/// A plan of a procedure or function, and what its calls have used.
pub struct Called {
    plan: Arc<CachedPlan>,
    figures: StatementFigures,
}

impl Called {
    fn object_id(&self) -> i32 {
        self.plan.object_id().unwrap_or(0)
    }
}

/// Those of one kind; procedures of the system are built in and belong to no catalog.
fn called(context: &Context<'_>, kind: ModuleKind) -> Vec<Called> {
    let all = context.server.plans().into_iter();
    let one = |plan: Arc<CachedPlan>| {
        let is_built_in = plan.object_id().is_some_and(|id| id < 0);
        let found = match is_built_in {
            true => ModuleKind::Procedure,
            false => plan.module_kind()?,
        };
        let figures = plan.calls().filter(|_| found == kind)?;
        Some(Called { plan, figures })
    };
    all.filter_map(one).collect()
}

fn procedures(context: &Context<'_>, _: &[Value]) -> Result<Vec<Called>, SqlError> {
    Ok(called(context, ModuleKind::Procedure))
}

fn functions(context: &Context<'_>, _: &[Value]) -> Result<Vec<Called>, SqlError> {
    Ok(called(context, ModuleKind::ScalarFunction))
}

fn triggers(_: &Context<'_>, _: &[Value]) -> Result<Vec<Called>, SqlError> {
    Ok(Vec::new())
}

fn count(n: u64) -> i64 {
    n.min(i64::MAX as u64) as i64
}

fn us(ns: u64) -> i64 {
    count(ns / 1_000)
}

/// The columns that these views have in common, and those that follow.
macro_rules! called_view {
    (
        $(#[$doc:meta])*
        $view:ident = $full:literal, rows $rows:expr, $kind:literal $kind_desc:literal;
        $($column:ident)*
    ) => {
        view! {
            $(#[$doc])*
            $view = $full of Called as c, rows $rows;
            database_id int = i32::from(c.plan.database_id());
            object_id int = c.object_id();
            type char(2) = $kind;
            type_desc nvarchar(60) null = $kind_desc;
            sql_handle varbinary(64) = Value::binary(c.plan.sql_handle());
            plan_handle varbinary(64) = Value::binary(&c.plan.handle());
            cached_time datetime null = moment(c.plan.created_unix_ns());
            last_execution_time datetime null = moment(c.figures.last_unix_ns);
            execution_count bigint = count(c.figures.executions);
            total_worker_time bigint = us(c.figures.cpu_ns.total);
            last_worker_time bigint = us(c.figures.cpu_ns.last);
            min_worker_time bigint = us(c.figures.cpu_ns.min);
            max_worker_time bigint = us(c.figures.cpu_ns.max);
            total_physical_reads bigint = count(c.figures.physical_reads.total);
            last_physical_reads bigint = count(c.figures.physical_reads.last);
            min_physical_reads bigint = count(c.figures.physical_reads.min);
            max_physical_reads bigint = count(c.figures.physical_reads.max);
            total_logical_writes bigint = 0i64;
            last_logical_writes bigint = 0i64;
            min_logical_writes bigint = 0i64;
            max_logical_writes bigint = 0i64;
            total_logical_reads bigint = count(c.figures.logical_reads.total);
            last_logical_reads bigint = count(c.figures.logical_reads.last);
            min_logical_reads bigint = count(c.figures.logical_reads.min);
            max_logical_reads bigint = count(c.figures.logical_reads.max);
            total_elapsed_time bigint = us(c.figures.elapsed_ns.total);
            last_elapsed_time bigint = us(c.figures.elapsed_ns.last);
            min_elapsed_time bigint = us(c.figures.elapsed_ns.min);
            max_elapsed_time bigint = us(c.figures.elapsed_ns.max);
            $($column bigint = 0i64;)*
            total_page_server_reads bigint = 0i64;
            last_page_server_reads bigint = 0i64;
            min_page_server_reads bigint = 0i64;
            max_page_server_reads bigint = 0i64;
        }
    };
}

called_view! {
    PROCEDURES = "sys.dm_exec_procedure_stats", rows procedures, "P " "SQL_STORED_PROCEDURE";
    total_spills last_spills min_spills max_spills
}

called_view! {
    /// Of scalar functions alone.
    FUNCTIONS = "sys.dm_exec_function_stats", rows functions, "FN" "SQL_SCALAR_FUNCTION";
}

called_view! {
    TRIGGERS = "sys.dm_exec_trigger_stats", rows triggers, "TR" "SQL_TRIGGER";
    total_spills last_spills min_spills max_spills
}

/// An attribute of a plan.
pub struct Attribute {
    name: &'static str,
    value: Value,
    is_key: bool,
}

fn attributes(context: &Context<'_>, args: &[Value]) -> Result<Vec<Attribute>, SqlError> {
    let Some(Value::Binary(handle)) = args.first() else { return Ok(Vec::new()) };
    let mut all = context.server.plans().into_iter();
    let Some(plan) = all.find(|plan| **handle == plan.handle()[..]) else { return Ok(Vec::new()) };
    // As documented: ANSI_PADDING and ANSI_WARNINGS are no part of what a plan is found by here.
    let settings = plan.settings();
    let bit = |there: bool, bit: i32| if there { bit } else { 0 };
    let options = 1
        | 16
        | bit(settings & 1 != 0, 64)
        | bit(settings & 2 == 0, 32)
        | bit(settings & 4 == 0, 8)
        | bit(settings & 8 == 0, 128);
    // Of a text the beginning of its hash.
    let text = plan.sql_handle().get(..4).and_then(|b| b.try_into().ok());
    let object = plan.object_id().or_else(|| text.map(i32::from_le_bytes)).unwrap_or(0);
    let uses = plan.uses().min(i32::MAX as u64) as i32;
    let holders = plan.holders().min(i32::MAX as usize) as i32 - 1;
    let one = |name, value: Value, is_key| {
        let ty = value.natural_type();
        let value = Variant::wrap(value, ty).unwrap_or(NULL);
        Attribute { name, value, is_key }
    };
    let number = |name, n: i32, is_key| one(name, Value::Int(n), is_key);
    let small = |name, n: i16| one(name, Value::SmallInt(n), true);
    Ok(vec![
        number("set_options", options, true),
        number("objectid", object, true),
        number("dbid", i32::from(plan.database_id()), true),
        number("dbid_execute", 0, true),
        // Who runs it is asked when it is planned.
        number("user_id", -2, true),
        small("language_id", 0),
        small("date_format", 1),
        one("date_first", Value::TinyInt(7), true),
        number("status", 0, true),
        number("required_cursor_options", 0, true),
        number("acceptable_cursor_options", 0, true),
        small("merge_action_type", 0),
        number("inuse_exec_context", 0, false),
        number("free_exec_context", holders, false),
        number("hits_exec_context", (uses - holders).max(0), false),
        number("misses_exec_context", 0, false),
        number("removed_exec_context", 0, false),
        number("inuse_cursors", 0, false),
        number("free_cursors", 0, false),
        number("hits_cursors", 0, false),
        number("misses_cursors", 0, false),
        number("removed_cursors", 0, false),
        one("sql_handle", Value::binary(plan.sql_handle()), false),
    ])
}

view! {
    ATTRIBUTES = "sys.dm_exec_plan_attributes" of Attribute as a, rows attributes,
        params (varbinary(64));
    attribute varchar(128) = a.name;
    value sql_variant null = &a.value;
    is_cache_key bit = a.is_key;
}

fn nothing(_: &Context<'_>, _: &[Value]) -> Result<Vec<()>, SqlError> {
    Ok(Vec::new())
}

view! {
    MISSING_DETAILS = "sys.dm_db_missing_index_details" of () as m, rows nothing;
    index_handle int = NULL;
    database_id smallint = NULL;
    object_id int = NULL;
    equality_columns nvarchar(4000) null = NULL;
    inequality_columns nvarchar(4000) null = NULL;
    included_columns nvarchar(4000) null = NULL;
    statement nvarchar(4000) null = NULL;
}

view! {
    MISSING_GROUPS = "sys.dm_db_missing_index_groups" of () as m, rows nothing;
    index_group_handle int = NULL;
    index_handle int = NULL;
}

view! {
    MISSING_STATS = "sys.dm_db_missing_index_group_stats" of () as m, rows nothing;
    group_handle int = NULL;
    unique_compiles bigint = NULL;
    user_seeks bigint = NULL;
    user_scans bigint = NULL;
    last_user_seek datetime null = NULL;
    last_user_scan datetime null = NULL;
    avg_total_user_cost float null = NULL;
    avg_user_impact float null = NULL;
    system_seeks bigint = NULL;
    system_scans bigint = NULL;
    last_system_seek datetime null = NULL;
    last_system_scan datetime null = NULL;
    avg_total_system_cost float null = NULL;
    avg_system_impact float null = NULL;
}

view! {
    MISSING_COLUMNS = "sys.dm_db_missing_index_columns" of () as m, rows nothing, params (int);
    column_id int null = NULL;
    column_name sysname null = NULL;
    column_usage varchar(20) null = NULL;
}
