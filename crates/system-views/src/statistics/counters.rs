//! Performance counters, under SQL Server's names.
//!
//! Source of names and types: SQL Server's documentation of sys.dm_os_performance_counters and of each object
//! (reference: `Databases`, `Buffer Manager`, `Buffer Node`, `Memory Node`, `Memory Manager`, `Locks`, `Latches`,
//! `Wait Statistics`, `General Statistics`, `SQL Statistics`, `Access Methods`, `Plan Cache`, `Transactions`, `SQL Errors`). A name is blank-padded to 128 characters, as there. Rates
//! are running totals: sample twice. Figures of a database begin when it is opened.

mod execution;
mod memory;

use super::snapshot::{self, Snapshot};
use crate::context::{Context, Database};
use crate::declare::{Declared, view};
use executor::SqlError;
use runtime::clock;
use telemetry::waits::WaitStat;
use telemetry::{Counter, locks::LockStat};
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&COUNTERS];

/// A value as it is.
const PLAIN: i32 = 65_792;
/// A running total.
const RATE: i32 = 272_696_576;
/// Numerator of a ratio; of an average; the base of either.
const RATIO: i32 = 537_003_264;
const AVERAGE: i32 = 1_073_874_176;
const BASE: i32 = 1_073_939_712;

/// A counter's reading.
pub struct Reading {
    object: &'static str,
    name: String,
    instance: String,
    value: i64,
    kind: i32,
}

impl Reading {
    pub fn object_name(&self) -> String {
        padded(self.object)
    }

    pub fn counter_name(&self) -> String {
        padded(&self.name)
    }

    pub fn instance_name(&self) -> String {
        padded(&self.instance)
    }

    pub fn value(&self) -> i64 {
        self.value
    }

    pub fn kind(&self) -> i32 {
        self.kind
    }
}

/// Readings as they are collected, of one object at a time.
struct Readings {
    all: Vec<Reading>,
    object: &'static str,
    instance: String,
}

impl Readings {
    fn of(&mut self, object: &'static str, instance: &str) -> &mut Readings {
        self.object = object;
        instance.clone_into(&mut self.instance);
        self
    }

    fn add(&mut self, name: &str, kind: i32, value: u64) -> &mut Readings {
        let (object, instance) = (self.object, self.instance.clone());
        let value = value.min(i64::MAX as u64) as i64;
        self.all.push(Reading { object, name: name.to_owned(), instance, value, kind });
        self
    }
}

fn total(counter: Counter) -> u64 {
    telemetry::counters::get(counter)
}

pub fn readings(context: &Context<'_>, _: &[Value]) -> Result<Vec<Reading>, SqlError> {
    let mut r = Readings { all: Vec::new(), object: "", instance: String::new() };
    let databases = context.server.databases();
    let snapshot = Snapshot::take(context);
    statements(&mut r);
    general(&mut r, &snapshot);
    of_databases(&mut r, &databases);
    buffers(&mut r, &databases, context.server.facts().start_unix_ns);
    memory::of_nodes(&mut r, &databases, context.server.facts().limit_kb);
    memory::manager(&mut r, context, &databases);
    latches(&mut r);
    locks(&mut r);
    waits(&mut r, &snapshot);
    execution::plans(&mut r, context);
    execution::transactions(&mut r, &snapshot, &databases);
    execution::errors(&mut r);
    Ok(r.all)
}

fn statements(r: &mut Readings) {
    r.of("SQLServer:SQL Statistics", "")
        .add("Batch Requests/sec", RATE, total(Counter::BatchRequests))
        .add("SQL Compilations/sec", RATE, total(Counter::Compilations))
        .add("SQL Re-Compilations/sec", RATE, total(Counter::Recompilations))
        .add("SQL Attention rate", RATE, total(Counter::Attentions))
        .add("Auto-Param Attempts/sec", RATE, total(Counter::AutoParamAttempts))
        .add("Failed Auto-Params/sec", RATE, total(Counter::AutoParamsFailed))
        .add("Safe Auto-Params/sec", RATE, total(Counter::AutoParamsSafe))
        .add("Unsafe Auto-Params/sec", RATE, total(Counter::AutoParamsUnsafe));
    r.of("SQLServer:Access Methods", "")
        .add("Page Splits/sec", RATE, total(Counter::PageSplits))
        .add("Pages Allocated/sec", RATE, total(Counter::PagesAllocated))
        .add("Page Deallocations/sec", RATE, total(Counter::PagesDeallocated));
}

fn general(r: &mut Readings, snapshot: &Snapshot) {
    let connected = snapshot.sessions.iter().filter(|s| s.connection.is_some()).count();
    let users = || snapshot.sessions.iter().filter(|s| s.system.is_none());
    let blocked = users().filter(|s| snapshot.blocker_of(s.id).is_some()).count();
    r.of("SQLServer:General Statistics", "")
        .add("User Connections", PLAIN, connected as u64)
        .add("Logical Connections", PLAIN, users().count() as u64)
        .add("Processes blocked", PLAIN, blocked as u64)
        .add("Transactions", PLAIN, snapshot.transactions.len() as u64)
        .add("Logins/sec", RATE, total(Counter::Logins))
        .add("Logouts/sec", RATE, total(Counter::Logouts))
        .add("Connection Reset/sec", RATE, total(Counter::ConnectionResets));
}

/// What a database, or all of them together, has done.
#[derive(Clone, Copy, Default)]
struct OfDatabase {
    transactions: u64,
    write_transactions: u64,
    active: u64,
    flushes: u64,
    flushed_bytes: u64,
    flush_waits: u64,
    flush_wait_ms: u64,
    write_ms: u64,
    growths: u64,
    log_kb: u64,
    log_used_kb: u64,
    data_kb: u64,
}

impl OfDatabase {
    fn now(engine: &engine::Database) -> OfDatabase {
        let (log, done) = (engine.log_figures(), engine.activity());
        let data = engine.file_figures().into_iter().filter(|f| f.file_id != engine::LOG_FILE_ID);
        OfDatabase {
            transactions: done.transactions,
            write_transactions: done.write_transactions,
            active: engine.transactions().len() as u64,
            flushes: log.stats.flushes,
            flushed_bytes: log.stats.bytes_flushed,
            flush_waits: log.stats.flush_waits,
            flush_wait_ms: log.stats.flush_wait_ns / 1_000_000,
            write_ms: log.stats.write_ns / 1_000_000,
            growths: log.stats.growths,
            log_kb: log.size_bytes / 1024,
            log_used_kb: log.used_bytes / 1024,
            data_kb: data.map(|f| f.size_bytes).sum::<u64>() / 1024,
        }
    }

    fn add(&mut self, other: OfDatabase) {
        self.transactions += other.transactions;
        self.write_transactions += other.write_transactions;
        self.active += other.active;
        self.flushes += other.flushes;
        self.flushed_bytes += other.flushed_bytes;
        self.flush_waits += other.flush_waits;
        self.flush_wait_ms += other.flush_wait_ms;
        self.write_ms += other.write_ms;
        self.growths += other.growths;
        self.log_kb += other.log_kb;
        self.log_used_kb += other.log_used_kb;
        self.data_kb += other.data_kb;
    }

    fn tell(self, r: &mut Readings, instance: &str) {
        r.of("SQLServer:Databases", instance)
            .add("Data File(s) Size (KB)", PLAIN, self.data_kb)
            .add("Log File(s) Size (KB)", PLAIN, self.log_kb)
            .add("Log File(s) Used Size (KB)", PLAIN, self.log_used_kb)
            .add("Percent Log Used", PLAIN, self.log_used_kb * 100 / self.log_kb.max(1))
            .add("Active Transactions", PLAIN, self.active)
            .add("Transactions/sec", RATE, self.transactions)
            .add("Write Transactions/sec", RATE, self.write_transactions)
            .add("Log Flushes/sec", RATE, self.flushes)
            .add("Log Bytes Flushed/sec", RATE, self.flushed_bytes)
            .add("Log Flush Waits/sec", RATE, self.flush_waits)
            .add("Log Flush Wait Time", PLAIN, self.flush_wait_ms)
            .add("Log Flush Write Time (ms)", PLAIN, self.write_ms)
            .add("Log Growths", PLAIN, self.growths)
            .add("Log Shrinks", PLAIN, 0)
            .add("XTP Memory Used (KB)", PLAIN, 0);
    }
}

fn of_databases(r: &mut Readings, databases: &[Database]) {
    let mut all = OfDatabase::default();
    for database in databases {
        let Some(open) = &database.open else { continue };
        let figures = OfDatabase::now(&open.engine);
        all.add(figures);
        figures.tell(r, &database.name);
    }
    all.tell(r, "_Total");
    r.add("Log Truncations", PLAIN, total(Counter::LogTruncations));
}

fn buffers(r: &mut Readings, databases: &[Database], started_unix_ns: u64) {
    let pools = || databases.iter().filter_map(|d| d.open.as_ref()).map(|o| o.engine.pool_stats());
    let pages: usize = pools().map(|p| p.frames - p.free).sum();
    let target: usize = pools().map(|p| p.frames).sum();
    // Before the clock's hand has been round, a page has stayed for as long as the server runs.
    let up_ns = clock::unix_ns().saturating_sub(started_unix_ns);
    let life_s = pools().filter_map(|p| p.page_life_ns).min().unwrap_or(up_ns) / 1_000_000_000;
    let lookups = total(Counter::PageLookups);
    let reads = total(Counter::PageReads);
    // What was read ahead was there when it was looked up.
    let waited = reads.saturating_sub(total(Counter::ReadaheadPages));
    r.of("SQLServer:Buffer Manager", "")
        .add("Buffer cache hit ratio", RATIO, lookups.saturating_sub(waited))
        .add("Buffer cache hit ratio base", BASE, lookups.max(1))
        .add("Page lookups/sec", RATE, lookups)
        .add("Page reads/sec", RATE, reads)
        .add("Page writes/sec", RATE, total(Counter::PageWrites))
        .add("Readahead pages/sec", RATE, total(Counter::ReadaheadPages))
        .add("Checkpoint pages/sec", RATE, total(Counter::CheckpointPages))
        .add("Lazy writes/sec", RATE, total(Counter::LazyWrites))
        .add("Free list stalls/sec", RATE, total(Counter::FreeListStalls))
        .add("Database pages", PLAIN, pages as u64)
        .add("Target pages", PLAIN, target as u64)
        .add("Page life expectancy", PLAIN, life_s);
    let nodes = snapshot::memory_nodes();
    let seen = telemetry::nodes::lookups();
    for &node in &nodes {
        // On a machine of one node all of it is local, and counted elsewhere.
        let looked = match nodes.len() {
            1 => telemetry::nodes::Lookups { local: lookups, remote: 0 },
            _ => seen.get(node as usize).copied().unwrap_or_default(),
        };
        r.of("SQLServer:Buffer Node", &format!("{node:03}"))
            .add("Database pages", PLAIN, pages_of(databases, &nodes, node))
            .add("Page life expectancy", PLAIN, life_s)
            .add("Local node page lookups/sec", RATE, looked.local)
            .add("Remote node page lookups/sec", RATE, looked.remote);
    }
}

/// Pages in memory that were given to a node; a pool that was given none lies on the first.
fn pages_of(databases: &[Database], nodes: &[i32], node: i32) -> u64 {
    let open = databases.iter().filter_map(|d| d.open.as_ref());
    let all = open.flat_map(|open| open.engine.node_pages());
    let known = |of: &engine::NodePages| nodes.contains(&i32::from(of.node));
    let of = |of: &engine::NodePages| if known(of) { i32::from(of.node) } else { nodes[0] };
    all.filter(|pages| of(pages) == node).map(|pages| pages.pages as u64).sum()
}

fn latches(r: &mut Readings) {
    let all = telemetry::latches::totals();
    let waits: u64 = all.iter().map(|l| l.waiting_tasks_count).sum();
    let ms = all.iter().map(|l| l.wait_time_ns).sum::<u64>() / 1_000_000;
    r.of("SQLServer:Latches", "")
        .add("Latch Waits/sec", RATE, waits)
        .add("Total Latch Wait Time (ms)", RATE, ms)
        .add("Average Latch Wait Time (ms)", AVERAGE, ms)
        .add("Average Latch Wait Time Base", BASE, waits);
}

fn locks(r: &mut Readings) {
    let kinds = telemetry::locks::snapshot();
    let mut all = LockStat { kind: "_Total", ..LockStat::default() };
    for of in &kinds {
        all.requests += of.requests;
        all.waits += of.waits;
        all.wait_ns += of.wait_ns;
        all.timeouts += of.timeouts;
        all.deadlocks += of.deadlocks;
    }
    for of in kinds.iter().chain([&all]) {
        r.of("SQLServer:Locks", of.kind)
            .add("Lock Requests/sec", RATE, of.requests)
            .add("Lock Waits/sec", RATE, of.waits)
            .add("Lock Wait Time (ms)", RATE, of.wait_ns / 1_000_000)
            .add("Average Wait Time (ms)", AVERAGE, of.wait_ns / 1_000_000)
            .add("Average Wait Time Base", BASE, of.waits)
            .add("Lock Timeouts/sec", RATE, of.timeouts)
            .add("Number of Deadlocks/sec", RATE, of.deadlocks);
    }
}

/// A row of the object's counters, and the wait types that it sums up.
const WAITS: &[(&str, &[&str])] = &[
    ("Lock waits", &["LCK_M_"]),
    ("Log buffer waits", &["LOGBUFFER"]),
    ("Log write waits", &["WRITELOG"]),
    ("Network IO waits", &["ASYNC_NETWORK_IO"]),
    ("Non-Page latch waits", &["LATCH_"]),
    ("Page IO latch waits", &["PAGEIOLATCH_"]),
    ("Page latch waits", &["PAGELATCH_"]),
    ("Thread-safe memory objects waits", &["CMEMTHREAD"]),
    ("Wait for the worker", &["THREADPOOL"]),
];

fn waits(r: &mut Readings, snapshot: &Snapshot) {
    let stats = telemetry::waits::totals();
    for (name, prefixes) in WAITS {
        let meant = |wait: &str| prefixes.iter().any(|prefix| wait.starts_with(prefix));
        let over = || stats.iter().filter(|w| meant(w.name));
        let sum = |f: fn(&WaitStat) -> u64| over().map(f).sum::<u64>();
        let count = sum(|w| w.waiting_tasks_count);
        let ms = sum(|w| w.wait_time_ns) / 1_000_000;
        let now = snapshot.tasks.iter().filter(|t| t.wait.is_some_and(meant)).count();
        r.of("SQLServer:Wait Statistics", "Average wait time (ms)").add(name, AVERAGE, ms);
        r.of("SQLServer:Wait Statistics", "Average wait time base").add(name, BASE, count);
        r.of("SQLServer:Wait Statistics", "Cumulative wait time (ms) per second")
            .add(name, RATE, ms);
        r.of("SQLServer:Wait Statistics", "Waits in progress").add(name, PLAIN, now as u64);
        r.of("SQLServer:Wait Statistics", "Waits started per second").add(
            name,
            RATE,
            count + now as u64,
        );
    }
}

fn padded(text: &str) -> String {
    format!("{text:<128}")
}

view! {
    COUNTERS = "sys.dm_os_performance_counters" of Reading as r, rows readings;
    object_name nchar(128) = r.object_name();
    counter_name nchar(128) = r.counter_name();
    instance_name nchar(128) null = r.instance_name();
    cntr_value bigint = r.value;
    cntr_type int = r.kind;
}
