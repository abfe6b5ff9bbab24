//! Resource Governor: its definition (sys.resource_governor_*), and what is in force and has been used
//! (sys.dm_resource_governor_*).
//!
//! Columns and types: SQL Server's documentation of each view. Counts that nobody keeps apart by group (locks, plans) are 0,
//! and so are those of I/O, which is not governed; a pool's caches are not divided either, and count to `default`.

use crate::context::{Context, moment};
use crate::declare::{Declared, view};
use crate::facts::{GovernorFacts, GroupFigures, QuotaFigures};
use catalog::{DEFAULT_GROUP, GovernorDef, GroupDef, PoolDef};
use executor::SqlError;
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&CONFIGURATION, &POOLS, &GROUPS, &RUNNING_CONFIGURATION, &RUNNING_POOLS, &RUNNING_GROUPS];

type Rows<T> = Result<Vec<T>, SqlError>;

fn defined(context: &Context<'_>, _: &[Value]) -> Rows<Arc<GovernorDef>> {
    Ok(vec![context.server.governor().defined])
}

fn pools(context: &Context<'_>, _: &[Value]) -> Rows<PoolDef> {
    Ok(context.server.governor().defined.pools.clone())
}

fn groups(context: &Context<'_>, _: &[Value]) -> Rows<GroupDef> {
    Ok(context.server.governor().defined.groups.clone())
}

fn importance(group: &GroupDef) -> &'static str {
    ["Low", "Medium", "High"][group.importance.min(2) as usize]
}

view! {
    CONFIGURATION = "sys.resource_governor_configuration" of Arc<GovernorDef> as g, rows defined;
    classifier_function_id int = g.classifier;
    is_enabled bit = g.enabled;
    max_outstanding_io_per_volume int = 0;
}

view! {
    POOLS = "sys.resource_governor_resource_pools" of PoolDef as p, rows pools;
    pool_id int = p.id;
    name sysname = &p.name;
    min_cpu_percent int = p.min_cpu as i32;
    max_cpu_percent int = p.max_cpu as i32;
    min_memory_percent int = p.min_memory as i32;
    max_memory_percent int = p.max_memory as i32;
    cap_cpu_percent int = p.cap_cpu as i32;
    min_iops_per_volume int = p.min_iops as i32;
    max_iops_per_volume int = p.max_iops as i32;
}

view! {
    GROUPS = "sys.resource_governor_workload_groups" of GroupDef as g, rows groups;
    group_id int = g.id;
    name sysname = &g.name;
    importance sysname = importance(g);
    request_max_memory_grant_percent int = g.memory_grant_percent as i32;
    request_max_cpu_time_sec int = g.cpu_time_sec as i32;
    request_memory_grant_timeout_sec int = g.grant_timeout_sec as i32;
    max_dop int = g.max_dop as i32;
    group_max_requests int = g.max_requests as i32;
    pool_id int = g.pool;
    external_pool_id int = DEFAULT_GROUP;
    request_max_memory_grant_percent_numeric float = f64::from(g.memory_grant_percent);
}

fn running(context: &Context<'_>, _: &[Value]) -> Rows<GovernorFacts> {
    Ok(vec![context.server.governor()])
}

view! {
    RUNNING_CONFIGURATION = "sys.dm_resource_governor_configuration" of GovernorFacts as g, rows running;
    classifier_function_id int = g.in_force.classifier;
    is_reconfiguration_pending bit = g.in_force != g.defined;
    max_outstanding_io_per_volume int = 0;
}

fn running_groups(context: &Context<'_>, _: &[Value]) -> Rows<GroupFigures> {
    Ok(context.server.governor().groups)
}

fn ms(ns: u64) -> i64 {
    (ns / 1_000_000) as i64
}

view! {
    RUNNING_GROUPS = "sys.dm_resource_governor_workload_groups" of GroupFigures as g, rows running_groups;
    group_id int = g.def.id;
    name sysname = &g.def.name;
    pool_id int = g.def.pool;
    external_pool_id int = DEFAULT_GROUP;
    statistics_start_time datetime = moment(g.since_unix_ns);
    total_request_count bigint = g.requests as i64;
    total_queued_request_count bigint = g.queued as i64;
    active_request_count int = g.active as i32;
    queued_request_count int = g.waiting as i32;
    total_cpu_limit_violation_count bigint = g.cpu_violations as i64;
    total_cpu_usage_ms bigint = ms(g.cpu_ns);
    max_request_cpu_time_ms bigint = ms(g.cpu_ns_max);
    blocked_task_count int = 0;
    total_lock_wait_count bigint = 0i64;
    total_lock_wait_time_ms bigint = 0i64;
    total_query_optimization_count bigint = 0i64;
    total_suboptimal_plan_generation_count bigint = 0i64;
    total_reduced_memgrant_count bigint = 0i64;
    max_request_grant_memory_kb bigint = 0i64;
    active_parallel_thread_count bigint = 0i64;
    importance sysname = importance(&g.def);
    request_max_memory_grant_percent int = g.def.memory_grant_percent as i32;
    request_max_cpu_time_sec int = g.def.cpu_time_sec as i32;
    request_memory_grant_timeout_sec int = g.def.grant_timeout_sec as i32;
    group_max_requests int = g.def.max_requests as i32;
    max_dop int = g.def.max_dop as i32;
    effective_max_dop int = g.effective_max_dop;
    total_cpu_usage_preemptive_ms bigint = 0i64;
    request_max_memory_grant_percent_numeric float = f64::from(g.def.memory_grant_percent);
}

/// A pool, and what its groups and its memory grants come to.
pub struct RunningPool {
    def: PoolDef,
    since_unix_ns: u64,
    cpu_ns: u64,
    grants: u64,
    timeouts: u64,
    active: usize,
    active_bytes: usize,
    used_bytes: usize,
    waiting: usize,
    most_bytes: usize,
    /// Of databases bound to it.
    rows: Option<QuotaFigures>,
}

impl RunningPool {
    /// Of grants and of rows in memory.
    fn used(&self) -> usize {
        self.active_bytes + self.rows.map_or(0, |rows| rows.used_bytes as usize)
    }

    fn most(&self) -> usize {
        let of_rows = self.rows.and_then(|rows| rows.bound_bytes).unwrap_or(0);
        self.most_bytes.saturating_add(of_rows as usize)
    }
}

fn running_pools(context: &Context<'_>, _: &[Value]) -> Rows<RunningPool> {
    let facts = context.server.governor();
    let memory = context.server.query_memory();
    let rows = memory.rows();
    let pool = |def: &PoolDef| {
        let groups = || facts.groups.iter().filter(|group| group.def.pool == def.id);
        let granted = || rows.iter().filter(|r| r.pool == def.id && r.granted_ns.is_some());
        let (grants, timeouts) = memory.counts_of(def.id);
        RunningPool {
            since_unix_ns: groups().map(|group| group.since_unix_ns).min().unwrap_or(0),
            cpu_ns: groups().map(|group| group.cpu_ns).sum(),
            grants,
            timeouts,
            active: granted().count(),
            active_bytes: granted().map(|r| r.granted_bytes).sum(),
            used_bytes: granted().map(|r| r.used_bytes).sum(),
            waiting: rows.iter().filter(|r| r.pool == def.id && r.granted_ns.is_none()).count(),
            most_bytes: memory.part(def.max_memory),
            rows: facts.quotas.iter().find(|quota| quota.pool == def.id).copied(),
            def: def.clone(),
        }
    };
    Ok(facts.in_force.pools.iter().map(pool).collect())
}

fn kb(bytes: usize) -> i64 {
    (bytes / 1024) as i64
}

view! {
    RUNNING_POOLS = "sys.dm_resource_governor_resource_pools" of RunningPool as p, rows running_pools;
    pool_id int = p.def.id;
    name sysname = &p.def.name;
    statistics_start_time datetime = moment(p.since_unix_ns);
    total_cpu_usage_ms bigint = ms(p.cpu_ns);
    cache_memory_kb bigint = 0i64;
    compile_memory_kb bigint = 0i64;
    used_memgrant_kb bigint = kb(p.used_bytes);
    total_memgrant_count bigint = p.grants as i64;
    total_memgrant_timeout_count bigint = p.timeouts as i64;
    active_memgrant_count int = p.active as i32;
    active_memgrant_kb bigint = kb(p.active_bytes);
    memgrant_waiter_count int = p.waiting as i32;
    max_memory_kb bigint = kb(p.most());
    used_memory_kb bigint = kb(p.used());
    target_memory_kb bigint = kb(p.most());
    out_of_memory_count bigint = p.rows.map_or(0, |rows| rows.refused as i64);
    min_cpu_percent int = p.def.min_cpu as i32;
    max_cpu_percent int = p.def.max_cpu as i32;
    min_memory_percent int = p.def.min_memory as i32;
    max_memory_percent int = p.def.max_memory as i32;
    cap_cpu_percent int = p.def.cap_cpu as i32;
    min_iops_per_volume int null = p.def.min_iops as i32;
    max_iops_per_volume int null = p.def.max_iops as i32;
    read_io_queued_total int null = 0;
    read_io_issued_total int null = 0;
    read_io_completed_total int = 0;
    read_io_throttled_total int null = 0;
    read_bytes_total bigint = 0i64;
    read_io_stall_total_ms bigint = 0i64;
    read_io_stall_queued_ms bigint null = 0i64;
    write_io_queued_total int null = 0;
    write_io_issued_total int null = 0;
    write_io_completed_total int = 0;
    write_io_throttled_total int null = 0;
    write_bytes_total bigint = 0i64;
    write_io_stall_total_ms bigint = 0i64;
    write_io_stall_queued_ms bigint null = 0i64;
    io_issue_violations_total int null = 0;
    io_issue_delay_total_ms bigint null = 0i64;
    io_issue_ahead_total_ms bigint = 0i64;
    reserved_io_limited_by_volume_total int = 0;
    io_issue_delay_non_throttled_total_ms bigint = 0i64;
    total_cpu_delayed_ms bigint = 0i64;
    total_cpu_active_ms bigint = ms(p.cpu_ns);
    total_cpu_violation_delay_ms bigint = 0i64;
    total_cpu_violation_sec bigint = 0i64;
    total_cpu_usage_preemptive_ms bigint = 0i64;
}
