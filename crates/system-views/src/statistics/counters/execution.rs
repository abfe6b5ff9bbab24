//! Counters of what is run: Plan Cache, Transactions and SQL Errors.
//!
//! The plan cache's look-ups are those in the cache that sessions share: what a session has at hand itself it does not look for
//! (docs/plan-cache.md). Errors are those told to clients; no error takes a database offline, so there is no row of such.

use super::{BASE, PLAIN, RATE, RATIO, Readings, total};
use crate::context::{Context, Database};
use crate::statistics::snapshot::Snapshot;
use engine::Isolation;
use interpreter::{CacheLookups, CachedPlan, PlanKind};
use runtime::clock;
use std::sync::Arc;
use telemetry::Counter;

/// Bytes of a page of the cache.
const PAGE_BYTES: usize = 8192;

/// Plan Cache.
pub(super) fn plans(r: &mut Readings, context: &Context<'_>) {
    let all = context.server.plans();
    let [texts, modules] = context.server.plan_lookups();
    let both =
        CacheLookups { lookups: texts.lookups + modules.lookups, hits: texts.hits + modules.hits };
    let is_module = |plan: &Arc<CachedPlan>| plan.kind() == PlanKind::Proc;
    tell(r, "_Total", all.iter().collect(), both);
    tell(r, "SQL Plans", all.iter().filter(|plan| !is_module(plan)).collect(), texts);
    tell(r, "Object Plans", all.iter().filter(|plan| is_module(plan)).collect(), modules);
}

fn tell(r: &mut Readings, instance: &str, plans: Vec<&Arc<CachedPlan>>, asked: CacheLookups) {
    let bytes: usize = plans.iter().map(|plan| plan.size_bytes()).sum();
    // The cache itself is one of those that hold it.
    let in_use = plans.iter().filter(|plan| plan.holders() > 1).count();
    r.of("SQLServer:Plan Cache", instance)
        .add("Cache Hit Ratio", RATIO, asked.hits)
        .add("Cache Hit Ratio Base", BASE, asked.lookups)
        .add("Cache Pages", PLAIN, bytes.div_ceil(PAGE_BYTES) as u64)
        .add("Cache Object Counts", PLAIN, plans.len() as u64)
        .add("Cache Objects in use", PLAIN, in_use as u64);
}

/// Transactions.
pub(super) fn transactions(r: &mut Readings, snapshot: &Snapshot, databases: &[Database]) {
    let all = || snapshot.transactions.iter().map(|(_, transaction)| transaction);
    let under_snapshot = || all().filter(|t| t.isolation == Isolation::Snapshot);
    let now = clock::unix_ns();
    let age_ns = |begun: u64| now.saturating_sub(begun);
    let longest_ns = all().map(|t| age_ns(t.begun_unix_ns)).max().unwrap_or(0);
    let open = || databases.iter().filter_map(|database| database.open.as_ref());
    let version_bytes: u64 = open().map(|open| open.engine.stats().version_bytes).sum();
    r.of("SQLServer:Transactions", "")
        .add("Transactions", PLAIN, all().count() as u64)
        .add("Snapshot Transactions", PLAIN, under_snapshot().count() as u64)
        .add(
            "Update Snapshot Transactions",
            PLAIN,
            under_snapshot().filter(|t| t.writes).count() as u64,
        )
        .add("Longest Transaction Running Time", PLAIN, longest_ns / 1_000_000_000)
        .add("Version Store Size (KB)", PLAIN, version_bytes.div_ceil(1024));
}

/// SQL Errors.
pub(super) fn errors(r: &mut Readings) {
    let [user, info, connection] =
        [Counter::UserErrors, Counter::InfoErrors, Counter::ConnectionErrors].map(total);
    let told = [
        ("_Total", user + info + connection),
        ("User Errors", user),
        ("Kill Connection Errors", connection),
        ("Info Errors", info),
    ];
    for (instance, errors) in told {
        r.of("SQLServer:SQL Errors", instance).add("Errors/sec", RATE, errors);
    }
}
