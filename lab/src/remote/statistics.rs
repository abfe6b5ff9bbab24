//! The server's own statistics over a window: its views read before and after, and the difference.
//!
//! Promise: a view that the server does not have, or does not show to this login, leaves its figures empty.

use super::Desk;
use crate::document::{Latch, Spin, Wait};
use crate::error::LabError;
use crate::target::Sample;
use std::collections::BTreeMap;
use types::Value;

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

const SETTINGS: &str = "SELECT name, CAST(value_in_use AS bigint) FROM sys.configurations \
                        WHERE name IN ('max degree of parallelism', 'max server memory (MB)', \
                        'min server memory (MB)', 'affinity mask', 'recovery interval (min)');";

fn number(value: Option<&Value>) -> u64 {
    match value {
        Some(Value::BigInt(n)) => u64::try_from(*n).unwrap_or(0),
        Some(Value::Int(n)) => u64::try_from(*n).unwrap_or(0),
        _ => 0,
    }
}

/// What the views say now. The longest waits are those of the server's life; [`Sample::since`] leaves out what they do not
/// tell of a window.
pub(super) fn take(desk: &mut Desk) -> Result<Sample, LabError> {
    let mut all = Sample::default();
    each(desk, WAITS, |name, row| {
        let wait = Wait {
            waiting_tasks_count: number(row.get(1)),
            wait_time_ms: number(row.get(2)) as f64,
            max_wait_time_ms: Some(number(row.get(3)) as f64),
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
            max_wait_time_ms: Some(number(row.get(3)) as f64),
        };
        all.latches.insert(name, latch);
    })?;
    each(desk, COUNTERS, |name, row| match name.trim_end() {
        "Log Flushes/sec" => all.log_flushes = Some(number(row.get(1))),
        _ => all.log_bytes = Some(number(row.get(1))),
    })?;
    Ok(all)
}

/// Schedulers that run requests; 0 where the view is not shown.
pub(super) fn schedulers(desk: &mut Desk) -> Result<usize, LabError> {
    let mut schedulers = 0;
    each(desk, SCHEDULERS, |_, row| schedulers = number(row.get(1)) as usize)?;
    Ok(schedulers)
}

/// The server's version, and settings that matter to the workload.
pub(super) fn describe(desk: &mut Desk) -> Result<(String, BTreeMap<String, String>), LabError> {
    let mut version = String::new();
    each(desk, "SELECT @@VERSION;", |text, _| version = text)?;
    let mut settings = BTreeMap::new();
    each(desk, SETTINGS, |name, row| {
        let value = row.get(1).map(|value| types::format::shell(value, value.natural_type()));
        settings.insert(name, value.unwrap_or_default());
    })?;
    // The first line names SQL Server and a build, also of a server that speaks its language and names itself below.
    let named = version.lines().find(|line| line.contains("Millrace"));
    let named = named.or(version.lines().next()).unwrap_or_default();
    Ok((named.trim().to_owned(), settings))
}

/// Every row of a query whose first column is a name. Refused by T-SQL: no rows.
pub(super) fn each(
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
