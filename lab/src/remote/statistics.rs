//! The server's own statistics over a window: its views read before and after, and the difference.
//!
//! Promise: a view that the server does not have, or does not show to this login, leaves its figures empty.

use super::Desk;
use crate::cell::{Latch, Spin, Wait};
use crate::error::LabError;
use std::collections::BTreeMap;
use types::Value;

/// What the views said.
#[derive(Default)]
pub(super) struct Snapshot {
    pub waits: BTreeMap<String, Wait>,
    pub spins: BTreeMap<String, Spin>,
    pub latches: BTreeMap<String, Latch>,
    pub schedulers: usize,
    pub log_flushes: u64,
    pub log_bytes: u64,
}

const WAITS: &str = "SELECT wait_type, waiting_tasks_count, wait_time_ms, max_wait_time_ms, \
                     signal_wait_time_ms FROM sys.dm_os_wait_stats WHERE waiting_tasks_count > 0;";
const SPINS: &str = "SELECT name, collisions, spins, sleep_time, backoffs \
                     FROM sys.dm_os_spinlock_stats WHERE collisions > 0;";
const LATCHES: &str = "SELECT latch_class, waiting_requests_count, wait_time_ms, max_wait_time_ms \
                       FROM sys.dm_os_latch_stats WHERE waiting_requests_count > 0;";
const COUNTERS: &str = "SELECT counter_name, SUM(cntr_value) FROM sys.dm_os_performance_counters \
                        WHERE counter_name IN ('Log Flushes/sec', 'Log Bytes Flushed/sec') \
                        AND instance_name <> '_Total' GROUP BY counter_name;";
const SCHEDULERS: &str = "SELECT 'n', COUNT(*) FROM sys.dm_os_schedulers \
                          WHERE status = 'VISIBLE ONLINE';";

fn number(value: Option<&Value>) -> u64 {
    match value {
        Some(Value::BigInt(n)) => u64::try_from(*n).unwrap_or(0),
        Some(Value::Int(n)) => u64::try_from(*n).unwrap_or(0),
        _ => 0,
    }
}

impl Snapshot {
    pub fn take(desk: &mut Desk) -> Result<Snapshot, LabError> {
        let mut all = Snapshot::default();
        each(desk, WAITS, |name, row| {
            let wait = Wait {
                waiting_tasks_count: number(row.get(1)),
                wait_time_ms: number(row.get(2)) as f64,
                max_wait_time_ms: number(row.get(3)) as f64,
                signal_wait_time_ms: number(row.get(4)) as f64,
            };
            all.waits.insert(name, wait);
        })?;
        each(desk, SPINS, |name, row| {
            let spin = Spin {
                collisions: number(row.get(1)),
                spins: number(row.get(2)),
                spins_per_collision: 0.0,
                sleep_time_ms: number(row.get(3)) as f64,
                backoffs: number(row.get(4)),
            };
            all.spins.insert(name, spin);
        })?;
        each(desk, LATCHES, |name, row| {
            let latch = Latch {
                waiting_requests_count: number(row.get(1)),
                wait_time_ms: number(row.get(2)) as f64,
                max_wait_time_ms: number(row.get(3)) as f64,
            };
            all.latches.insert(name, latch);
        })?;
        each(desk, COUNTERS, |name, row| match name.trim_end() {
            "Log Flushes/sec" => all.log_flushes = number(row.get(1)),
            _ => all.log_bytes = number(row.get(1)),
        })?;
        each(desk, SCHEDULERS, |_, row| all.schedulers = number(row.get(1)) as usize)?;
        Ok(all)
    }

    /// What has happened since `before`. The longest waits are those of the server's life.
    pub fn subtract(&mut self, before: &Snapshot) {
        for (name, wait) in &mut self.waits {
            if let Some(b) = before.waits.get(name) {
                wait.waiting_tasks_count =
                    wait.waiting_tasks_count.saturating_sub(b.waiting_tasks_count);
                wait.wait_time_ms = (wait.wait_time_ms - b.wait_time_ms).max(0.0);
                wait.signal_wait_time_ms =
                    (wait.signal_wait_time_ms - b.signal_wait_time_ms).max(0.0);
            }
        }
        self.waits.retain(|_, wait| wait.waiting_tasks_count > 0);
        for (name, spin) in &mut self.spins {
            if let Some(b) = before.spins.get(name) {
                spin.collisions = spin.collisions.saturating_sub(b.collisions);
                spin.spins = spin.spins.saturating_sub(b.spins);
                spin.sleep_time_ms = (spin.sleep_time_ms - b.sleep_time_ms).max(0.0);
                spin.backoffs = spin.backoffs.saturating_sub(b.backoffs);
            }
            if spin.collisions > 0 {
                spin.spins_per_collision = spin.spins as f64 / spin.collisions as f64;
            }
        }
        for (name, latch) in &mut self.latches {
            if let Some(b) = before.latches.get(name) {
                latch.waiting_requests_count =
                    latch.waiting_requests_count.saturating_sub(b.waiting_requests_count);
                latch.wait_time_ms = (latch.wait_time_ms - b.wait_time_ms).max(0.0);
            }
        }
        self.latches.retain(|_, latch| latch.waiting_requests_count > 0);
        self.log_flushes = self.log_flushes.saturating_sub(before.log_flushes);
        self.log_bytes = self.log_bytes.saturating_sub(before.log_bytes);
    }
}

/// Every row of a query whose first column is a name. Refused by T-SQL: no rows.
fn each(
    desk: &mut Desk,
    query: &str,
    mut row: impl FnMut(String, &[Value]),
) -> Result<(), LabError> {
    let mut told = session::Collected::default();
    desk.connection.execute(query, &mut told)?;
    for values in told.sets.iter().flat_map(|set| &set.rows) {
        if let Some(name) = values.first().and_then(Value::as_str) {
            row(name.to_owned(), values);
        }
    }
    Ok(())
}
