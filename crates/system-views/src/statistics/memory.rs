//! Memory of sorts and hash tables: the grants of statements, and the pool that they come from.

use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use executor::{GrantRow, PoolFigures, SqlError};
use runtime::clock;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&GRANTS, &SEMAPHORES];

fn grants(context: &Context<'_>, _: &[Value]) -> Result<Vec<GrantRow>, SqlError> {
    Ok(context.server.query_memory().rows())
}

fn semaphores(context: &Context<'_>, _: &[Value]) -> Result<Vec<PoolFigures>, SqlError> {
    Ok(vec![context.server.query_memory().figures()])
}

fn kb(bytes: usize) -> i64 {
    (bytes / 1024) as i64
}

/// A time of the monotonic clock as one of the calendar.
fn calendar(ns: u64) -> types::DateTime {
    moment(clock::unix_ns().saturating_sub(clock::now_ns().saturating_sub(ns)))
}

view! {
    GRANTS = "sys.dm_exec_query_memory_grants" of GrantRow as g, rows grants;
    session_id smallint null = g.session as i16;
    request_id int null = 0;
    scheduler_id int null = NULL;
    dop smallint null = NULL;
    request_time datetime null = calendar(g.requested_ns);
    grant_time datetime null = g.granted_ns.map(calendar);
    requested_memory_kb bigint null = kb(g.granted_bytes.max(1 << 20));
    granted_memory_kb bigint null = g.granted_ns.map(|_| kb(g.granted_bytes));
    required_memory_kb bigint null = 1024i64;
    used_memory_kb bigint null = g.granted_ns.map(|_| kb(g.used_bytes));
    max_used_memory_kb bigint null = g.granted_ns.map(|_| kb(g.used_bytes_max));
    query_cost float null = NULL;
    timeout_sec int null = 25;
    resource_semaphore_id smallint null = 0i16;
    queue_id smallint null = NULL;
    wait_order int null = NULL;
    is_next_candidate bit null = NULL;
    wait_time_ms bigint null = match g.granted_ns {
        Some(_) => None,
        None => Some((clock::now_ns().saturating_sub(g.requested_ns) / 1_000_000) as i64),
    };
    plan_handle varbinary(64) null = NULL;
    sql_handle varbinary(64) null = NULL;
    group_id int null = 2;
    pool_id int null = g.pool;
    is_small bit null = false;
    ideal_memory_kb bigint null = NULL;
}

view! {
    SEMAPHORES = "sys.dm_exec_query_resource_semaphores" of PoolFigures as p, rows semaphores;
    resource_semaphore_id smallint null = 0i16;
    target_memory_kb bigint null = kb(p.target_bytes);
    max_target_memory_kb bigint null = kb(p.target_bytes);
    total_memory_kb bigint null = kb(p.target_bytes);
    available_memory_kb bigint null = kb(p.target_bytes - p.granted_bytes);
    granted_memory_kb bigint null = kb(p.granted_bytes);
    used_memory_kb bigint null = kb(p.used_bytes);
    grantee_count int null = p.grantees as i32;
    waiter_count int null = p.waiters as i32;
    timeout_error_count bigint null = p.timeouts as i64;
    forced_grant_count bigint null = 0i64;
    pool_id int null = 2;
}
