//! Waits, spinlocks and latches, as recorded by this process.
//!
//! Columns and types: SQL Server's documentation of sys.dm_os_wait_stats, sys.dm_os_spinlock_stats and
//! sys.dm_os_latch_stats. Times are in milliseconds.

use crate::context::Context;
use crate::declare::{Declared, view};
use executor::SqlError;
use telemetry::waits::WaitStat;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&WAITS, &SPINLOCKS, &LATCHES];

fn waits(_: &Context<'_>, _: &[Value]) -> Result<Vec<WaitStat>, SqlError> {
    Ok(telemetry::waits::snapshot())
}

fn latches(_: &Context<'_>, _: &[Value]) -> Result<Vec<WaitStat>, SqlError> {
    Ok(telemetry::latches::snapshot())
}

fn spinlocks(_: &Context<'_>, _: &[Value]) -> Result<Vec<telemetry::spins::SpinStat>, SqlError> {
    Ok(telemetry::spins::snapshot())
}

/// Whole milliseconds.
fn ms(ns: u64) -> i64 {
    (ns / 1_000_000) as i64
}

view! {
    WAITS = "sys.dm_os_wait_stats" of WaitStat as w, rows waits;
    wait_type nvarchar(60) = w.name;
    waiting_tasks_count bigint = w.waiting_tasks_count as i64;
    wait_time_ms bigint = ms(w.wait_time_ns);
    max_wait_time_ms bigint = ms(w.max_wait_time_ns);
    signal_wait_time_ms bigint = ms(w.signal_wait_time_ns);
}

view! {
    SPINLOCKS = "sys.dm_os_spinlock_stats" of telemetry::spins::SpinStat as s, rows spinlocks;
    name nvarchar(256) = s.name;
    collisions bigint null = s.collisions as i64;
    spins bigint null = s.spins as i64;
    spins_per_collision real null = s.spins as f32 / s.collisions.max(1) as f32;
    sleep_time bigint null = ms(s.sleep_time_ns);
    backoffs int null = s.backoffs.min(i32::MAX as u64) as i32;
}

view! {
    LATCHES = "sys.dm_os_latch_stats" of WaitStat as l, rows latches;
    latch_class nvarchar(60) = l.name;
    waiting_requests_count bigint null = l.waiting_tasks_count as i64;
    wait_time_ms bigint null = ms(l.wait_time_ns);
    max_wait_time_ms bigint null = ms(l.max_wait_time_ns);
}
