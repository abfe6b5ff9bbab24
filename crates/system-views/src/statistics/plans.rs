//! The plan cache: sys.dm_exec_cached_plans, sys.dm_exec_query_stats, sys.dm_exec_query_plan and its text form; and how
//! often texts were compiled, which is all that sys.dm_exec_query_optimizer_info tells here.
//!
//! Columns and types: SQL Server's documentation of each. Figures of fast statements (singleton inserts, point reads) are
//! counted exactly and timed one time in 64 (docs/plan-cache.md). Logical writes are not counted by statement: 0.

use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use interpreter::{CachedPlan, PlanStatement, StatementFigures};
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&CACHED_PLANS, &QUERY_STATS, &QUERY_PLAN, &TEXT_QUERY_PLAN, &OPTIMIZER_INFO];

fn count(n: u64) -> i64 {
    n.min(i64::MAX as u64) as i64
}

fn us(ns: u64) -> i64 {
    count(ns / 1_000)
}

/// Plans of the cache.
fn plans(context: &Context<'_>, _: &[Value]) -> Result<Vec<Arc<CachedPlan>>, SqlError> {
    Ok(context.server.plans())
}

fn compilations(_: &Context<'_>, _: &[Value]) -> Result<Vec<u64>, SqlError> {
    Ok(vec![telemetry::counters::get(telemetry::Counter::Compilations)])
}

view! {
    OPTIMIZER_INFO = "sys.dm_exec_query_optimizer_info" of u64 as n, rows compilations;
    counter nvarchar(4000) = "optimizations";
    occurrence bigint = count(*n);
    value float null = 1.0;
}

view! {
    CACHED_PLANS = "sys.dm_exec_cached_plans" of Arc<CachedPlan> as p, rows plans;
    bucketid int = (stdx::mix64(p.number()) % 40_009) as i32;
    refcounts int = p.holders().min(i32::MAX as usize) as i32;
    usecounts int = p.uses().min(i32::MAX as u64) as i32;
    size_in_bytes int = p.size_bytes().min(i32::MAX as usize) as i32;
    memory_object_address varbinary(8) = Value::binary(&p.number().to_be_bytes());
    cacheobjtype nvarchar(34) = if p.is_stub() { "Compiled Plan Stub" } else { "Compiled Plan" };
    objtype nvarchar(16) = p.kind().name();
    plan_handle varbinary(64) = Value::binary(&p.handle());
    pool_id int = 2;
    parent_plan_handle varbinary(64) null = NULL;
}

/// A statement of a plan.
pub struct Query {
    plan: Arc<CachedPlan>,
    statement: PlanStatement,
    figures: StatementFigures,
}

fn queries(context: &Context<'_>, _: &[Value]) -> Result<Vec<Query>, SqlError> {
    let of_plan = |plan: Arc<CachedPlan>| {
        let statements = plan.statements().into_iter();
        statements
            .map(|statement| Query { plan: plan.clone(), figures: statement.figures, statement })
            .collect::<Vec<_>>()
    };
    Ok(context.server.plans().into_iter().flat_map(of_plan).collect())
}

/// The same for statements that differ in literals, letters' case and spaces only.
fn hash(text: &str) -> Value {
    let mut hash = 0x71_7565_7279u64;
    let mut add = |word: &str| {
        for byte in word.bytes() {
            hash = stdx::mix64(hash ^ u64::from(byte.to_ascii_lowercase()));
        }
    };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end_of = |f: &dyn Fn(char) -> bool| rest.find(|c: char| !f(c)).unwrap_or(rest.len());
        let (end, word) = match first {
            c if c.is_whitespace() => (end_of(&char::is_whitespace), ""),
            '0'..='9' => (end_of(&|c| c.is_ascii_alphanumeric() || c == '.'), "?"),
            '\'' => {
                // A quote within is written twice, which reads as two literals.
                let end = rest[1..].find('\'').map_or(rest.len(), |quote| quote + 2);
                (end, "?")
            }
            c if c.is_alphanumeric() || "_@#$".contains(c) => {
                let end = end_of(&|c| c.is_alphanumeric() || "_@#$".contains(c));
                (end, &rest[..end])
            }
            c => (c.len_utf8(), &rest[..c.len_utf8()]),
        };
        add(word);
        rest = &rest[end..];
    }
    Value::binary(&hash.to_be_bytes())
}

view! {
    QUERY_STATS = "sys.dm_exec_query_stats" of Query as q, rows queries;
    sql_handle varbinary(64) = Value::binary(q.plan.sql_handle());
    statement_start_offset int = q.statement.start;
    statement_end_offset int = q.statement.end;
    plan_generation_num bigint = 1i64;
    plan_handle varbinary(64) = Value::binary(&q.plan.handle());
    creation_time datetime null = moment(q.plan.created_unix_ns());
    last_execution_time datetime null = moment(q.figures.last_unix_ns);
    execution_count bigint = count(q.figures.executions);
    total_worker_time bigint = us(q.figures.cpu_ns.total);
    last_worker_time bigint = us(q.figures.cpu_ns.last);
    min_worker_time bigint = us(q.figures.cpu_ns.min);
    max_worker_time bigint = us(q.figures.cpu_ns.max);
    total_physical_reads bigint = count(q.figures.physical_reads.total);
    last_physical_reads bigint = count(q.figures.physical_reads.last);
    min_physical_reads bigint = count(q.figures.physical_reads.min);
    max_physical_reads bigint = count(q.figures.physical_reads.max);
    total_logical_writes bigint = 0i64;
    last_logical_writes bigint = 0i64;
    min_logical_writes bigint = 0i64;
    max_logical_writes bigint = 0i64;
    total_logical_reads bigint = count(q.figures.logical_reads.total);
    last_logical_reads bigint = count(q.figures.logical_reads.last);
    min_logical_reads bigint = count(q.figures.logical_reads.min);
    max_logical_reads bigint = count(q.figures.logical_reads.max);
    total_clr_time bigint = 0i64;
    last_clr_time bigint = 0i64;
    min_clr_time bigint = 0i64;
    max_clr_time bigint = 0i64;
    total_elapsed_time bigint = us(q.figures.elapsed_ns.total);
    last_elapsed_time bigint = us(q.figures.elapsed_ns.last);
    min_elapsed_time bigint = us(q.figures.elapsed_ns.min);
    max_elapsed_time bigint = us(q.figures.elapsed_ns.max);
    query_hash binary(8) = hash(&q.statement.text);
    query_plan_hash binary(8) = hash(&q.statement.text);
    total_rows bigint = count(q.figures.rows.total);
    last_rows bigint = count(q.figures.rows.last);
    min_rows bigint = count(q.figures.rows.min);
    max_rows bigint = count(q.figures.rows.max);
    statement_sql_handle varbinary(64) null = NULL;
    statement_context_id bigint null = NULL;
    total_dop bigint null = count(q.figures.executions);
    last_dop bigint null = 1i64;
    min_dop bigint null = 1i64;
    max_dop bigint null = 1i64;
    total_grant_kb bigint null = 0i64;
    last_grant_kb bigint null = 0i64;
    min_grant_kb bigint null = 0i64;
    max_grant_kb bigint null = 0i64;
    total_used_grant_kb bigint null = 0i64;
    last_used_grant_kb bigint null = 0i64;
    min_used_grant_kb bigint null = 0i64;
    max_used_grant_kb bigint null = 0i64;
    total_ideal_grant_kb bigint null = 0i64;
    last_ideal_grant_kb bigint null = 0i64;
    min_ideal_grant_kb bigint null = 0i64;
    max_ideal_grant_kb bigint null = 0i64;
    total_reserved_threads bigint null = 0i64;
    last_reserved_threads bigint null = 0i64;
    min_reserved_threads bigint null = 0i64;
    max_reserved_threads bigint null = 0i64;
    total_used_threads bigint null = 0i64;
    last_used_threads bigint null = 0i64;
    min_used_threads bigint null = 0i64;
    max_used_threads bigint null = 0i64;
    total_columnstore_segment_reads bigint = 0i64;
    last_columnstore_segment_reads bigint = 0i64;
    min_columnstore_segment_reads bigint = 0i64;
    max_columnstore_segment_reads bigint = 0i64;
    total_columnstore_segment_skips bigint = 0i64;
    last_columnstore_segment_skips bigint = 0i64;
    min_columnstore_segment_skips bigint = 0i64;
    max_columnstore_segment_skips bigint = 0i64;
    total_spills bigint = 0i64;
    last_spills bigint = 0i64;
    min_spills bigint = 0i64;
    max_spills bigint = 0i64;
    total_num_physical_reads bigint = count(q.figures.physical_reads.total);
    last_num_physical_reads bigint = count(q.figures.physical_reads.last);
    min_num_physical_reads bigint = count(q.figures.physical_reads.min);
    max_num_physical_reads bigint = count(q.figures.physical_reads.max);
    total_page_server_reads bigint = 0i64;
    last_page_server_reads bigint = 0i64;
    min_page_server_reads bigint = 0i64;
    max_page_server_reads bigint = 0i64;
    total_num_page_server_reads bigint = 0i64;
    last_num_page_server_reads bigint = 0i64;
    min_num_page_server_reads bigint = 0i64;
    max_num_page_server_reads bigint = 0i64;
}

/// A plan as a document.
pub struct Document {
    database: i16,
    object: Option<i32>,
    text: String,
}

fn document(context: &Context<'_>, args: &[Value]) -> Result<Vec<Document>, SqlError> {
    let Some(Value::Binary(handle)) = args.first() else { return Ok(Vec::new()) };
    let number = |i: usize| args.get(i).and_then(Value::as_i64);
    let all = context.server.plans().into_iter();
    let is_meant = |plan: &Arc<CachedPlan>| **handle == plan.handle()[..] && !plan.is_stub();
    let Some(plan) = all.into_iter().find(is_meant) else {
        return Ok(Vec::new());
    };
    let database = context.of_database_id(plan.database_id().into());
    let name = database.map_or_else(String::new, |c| c.database.name.clone());
    let (start, end) = (number(1).unwrap_or(0), number(2).unwrap_or(-1));
    Ok(vec![Document {
        database: plan.database_id() as i16,
        object: plan.object_id(),
        text: plan.show_plan(&name, start as i32, end as i32),
    }])
}

view! {
    QUERY_PLAN = "sys.dm_exec_query_plan" of Document as d, rows document, params (varbinary(64));
    dbid smallint null = d.database;
    objectid int null = d.object;
    number smallint null = d.object.map(|_| 1i16);
    encrypted bit = false;
    query_plan xml null = &d.text;
}

view! {
    TEXT_QUERY_PLAN = "sys.dm_exec_text_query_plan" of Document as d, rows document,
        params (varbinary(64), int, int);
    dbid smallint null = d.database;
    objectid int null = d.object;
    number smallint null = d.object.map(|_| 1i16);
    encrypted bit = false;
    query_plan nvarchar(max) null = &d.text;
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn queries_that_differ_in_literals_have_one_hash() {
        let same = [
            "SELECT a FROM t WHERE b = 1",
            "select  a from T where b=27",
            "SELECT a FROM t WHERE b = 'x'",
        ];
        assert!(same.iter().all(|text| hash(text) == hash(same[0])));
        for other in [
            "SELECT a FROM t WHERE c = 1",
            "SELECT a FROM t WHERE b > 1",
            "SELECT b1 FROM t",
            "SELECT b2 FROM t",
        ] {
            assert!(hash(other) != hash(same[0]), "{other}");
        }
        assert!(
            hash("SELECT b1 FROM t") != hash("SELECT b2 FROM t"),
            "digits of a name are no literal"
        );
    }
}
