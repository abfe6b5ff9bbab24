//! Performance counters, under SQL Server's names.
//!
//! Source of names and types: SQL Server's documentation of sys.dm_os_performance_counters and of each object.
//! A name is blank-padded to 128 characters, as there. Rates are running totals: sample twice.

use crate::context::Context;
use crate::declare::{Declared, view};
use executor::SqlError;
use telemetry::Counter;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&COUNTERS];

/// A value as it is.
const PLAIN: i32 = 65_792;
/// A running total.
const RATE: i32 = 272_696_576;

/// A counter's reading.
pub struct Reading {
    object: &'static str,
    name: &'static str,
    instance: String,
    value: i64,
    kind: i32,
}

/// What is counted for the whole instance: its object and whether nanoseconds become milliseconds.
const OF_INSTANCE: &[(&str, &str, Counter)] = &[
    ("SQLServer:SQL Statistics", "Batch Requests/sec", Counter::BatchRequests),
    ("SQLServer:SQL Statistics", "SQL Compilations/sec", Counter::Compilations),
    ("SQLServer:SQL Statistics", "SQL Re-Compilations/sec", Counter::Recompilations),
    ("SQLServer:Buffer Manager", "Page lookups/sec", Counter::PageLookups),
    ("SQLServer:Buffer Manager", "Page reads/sec", Counter::PageReads),
    ("SQLServer:Buffer Manager", "Page writes/sec", Counter::PageWrites),
    ("SQLServer:Buffer Manager", "Checkpoint pages/sec", Counter::CheckpointPages),
    ("SQLServer:Buffer Manager", "Lazy writes/sec", Counter::LazyWrites),
    ("SQLServer:Buffer Manager", "Free list stalls/sec", Counter::FreeListStalls),
    ("SQLServer:Access Methods", "Page Splits/sec", Counter::PageSplits),
    ("SQLServer:Access Methods", "Pages Allocated/sec", Counter::PagesAllocated),
    ("SQLServer:Access Methods", "Page Deallocations/sec", Counter::PagesDeallocated),
];

/// What is counted over all databases; the instance is `_Total`.
const OF_DATABASES: &[(&str, &str, Counter)] = &[
    ("SQLServer:Databases", "Transactions/sec", Counter::Transactions),
    ("SQLServer:Databases", "Write Transactions/sec", Counter::WriteTransactions),
    ("SQLServer:Databases", "Log Flushes/sec", Counter::LogFlushes),
    ("SQLServer:Databases", "Log Bytes Flushed/sec", Counter::LogBytesFlushed),
    ("SQLServer:Databases", "Log Flush Waits/sec", Counter::LogFlushWaits),
    ("SQLServer:Locks", "Lock Waits/sec", Counter::LockWaits),
    ("SQLServer:Locks", "Lock Timeouts/sec", Counter::LockTimeouts),
    ("SQLServer:Locks", "Number of Deadlocks/sec", Counter::Deadlocks),
];

fn readings(context: &Context<'_>, _: &[Value]) -> Result<Vec<Reading>, SqlError> {
    let total = |counter: Counter| telemetry::counters::get(counter) as i64;
    let mut all = Vec::new();
    for (object, name, counter) in OF_INSTANCE {
        let (value, instance) = (total(*counter), String::new());
        all.push(Reading { object, name, instance, value, kind: RATE });
    }
    for (object, name, counter) in OF_DATABASES {
        let (value, instance) = (total(*counter), "_Total".to_string());
        all.push(Reading { object, name, instance, value, kind: RATE });
    }
    let plain = |object, name, instance: &str, value| Reading {
        object,
        name,
        instance: instance.to_string(),
        value,
        kind: PLAIN,
    };
    const DATABASES: &str = "SQLServer:Databases";
    for name in [Counter::LogGrowths, Counter::LogTruncations] {
        let shown = if name == Counter::LogGrowths { "Log Growths" } else { "Log Truncations" };
        all.push(plain(DATABASES, shown, "_Total", total(name)));
    }
    for (name, counter) in [
        ("Log Flush Wait Time", Counter::LogFlushWaitNs),
        ("Log Flush Write Time (ms)", Counter::LogFlushWriteNs),
    ] {
        all.push(plain(DATABASES, name, "_Total", total(counter) / 1_000_000));
    }
    let (mut size_kb, mut used_kb) = (0, 0);
    for database in context.server.databases() {
        let Some(open) = &database.open else { continue };
        let stats = open.engine.stats();
        let (size, used) = (stats.log_size_bytes as i64 / 1024, stats.log_used_bytes as i64 / 1024);
        (size_kb, used_kb) = (size_kb + size, used_kb + used);
        log_readings(&mut all, &database.name, size, used, &plain);
    }
    log_readings(&mut all, "_Total", size_kb, used_kb, &plain);
    let sessions = context.server.sessions();
    const GENERAL: &str = "SQLServer:General Statistics";
    let connected = sessions.iter().filter(|s| s.connection.is_some()).count() as i64;
    all.push(plain(GENERAL, "User Connections", "", connected));
    let open = sessions.iter().map(|s| s.open_transactions as i64).sum();
    all.push(plain(GENERAL, "Transactions", "", open));
    Ok(all)
}

/// The counters of one log.
fn log_readings(
    all: &mut Vec<Reading>,
    name: &str,
    size_kb: i64,
    used_kb: i64,
    plain: &impl Fn(&'static str, &'static str, &str, i64) -> Reading,
) {
    const DATABASES: &str = "SQLServer:Databases";
    all.push(plain(DATABASES, "Log File(s) Size (KB)", name, size_kb));
    all.push(plain(DATABASES, "Log File(s) Used Size (KB)", name, used_kb));
    all.push(plain(DATABASES, "Percent Log Used", name, used_kb * 100 / size_kb.max(1)));
}

fn padded(text: &str) -> String {
    format!("{text:<128}")
}

view! {
    COUNTERS = "sys.dm_os_performance_counters" of Reading as r, rows readings;
    object_name nchar(128) = padded(r.object);
    counter_name nchar(128) = padded(r.name);
    instance_name nchar(128) null = padded(&r.instance);
    cntr_value bigint = r.value;
    cntr_type int = r.kind;
}
