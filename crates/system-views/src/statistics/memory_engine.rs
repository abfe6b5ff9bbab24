//! The engine behind memory-optimised tables: who takes memory, transactions that use them, and cleaning.
//!
//! Columns and types: SQL Server's documentation of each view. A figure that nobody keeps is NULL. Figures of the server are
//! those of its databases since each was opened, but for transactions, which are counted since it started.

use super::locks::transaction_id;
use super::memory_tables::{Weights, number, shown};
use super::snapshot::Snapshot;
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use catalog::ObjectRef;
use engine::{Doings, MemoryCleaning, MemoryQueue, TransactionInfo};
use executor::SqlError;
use telemetry::{Counter, counters};
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&CONSUMERS, &SYSTEM_CONSUMERS, &TRANSACTIONS, &TRANSACTION_STATS, &CLEANING, &QUEUES];

/// Something that takes memory in a database.
pub struct Consumer {
    hash: bool,
    what: Option<&'static str>,
    object: i32,
    xtp_object: i64,
    index: Option<i32>,
    bytes: u64,
}

fn consumers(context: &Context<'_>, _: &[Value]) -> Result<Vec<Consumer>, SqlError> {
    let of = |weights: Weights| {
        let (table, object) = (&weights.table, weights.table.object_id);
        let heap = |what, tree, index, bytes| Consumer {
            hash: false,
            what: Some(what),
            object,
            xtp_object: number(tree),
            index,
            bytes,
        };
        let mut all = Vec::new();
        for (index, tree, bytes) in &weights.indexes {
            let place = table.indexes.iter().position(|i| i.tree == *tree && !i.clustered);
            all.push(match table.buckets(place) {
                None => heap("Range index heap", table.tree, Some(*index), *bytes),
                Some(_) => Consumer {
                    hash: true,
                    what: None,
                    ..heap("", table.tree, Some(*index), *bytes)
                },
            });
        }
        if let Some((tree, bytes)) = weights.lob {
            all.push(heap("LOB Page Allocator", tree, None, bytes));
        }
        all.push(heap("Table heap", table.tree, None, weights.rows + weights.heap_index));
        all
    };
    Ok(shown(context).into_iter().flat_map(of).collect())
}

impl Consumer {
    /// Unlike that of any other: the tree, and the index.
    fn id(&self) -> i64 {
        self.xtp_object << 12 | i64::from(self.index.unwrap_or(0))
    }
}

view! {
    CONSUMERS = "sys.dm_db_xtp_memory_consumers" of Consumer as c, rows consumers;
    memory_consumer_id bigint = c.id();
    memory_consumer_type int = if c.hash { 3 } else { 2 };
    memory_consumer_type_desc nvarchar(64) = if c.hash { "HASH" } else { "VARHEAP" };
    memory_consumer_desc nvarchar(64) null = c.what;
    object_id bigint null = i64::from(c.object);
    xtp_object_id bigint null = c.xtp_object;
    index_id int null = c.index;
    allocated_bytes bigint = c.bytes as i64;
    used_bytes bigint null = c.bytes as i64;
    allocation_count int null = NULL;
    partition_count int null = NULL;
    sizeclass_count int null = NULL;
    min_sizeclass int null = NULL;
    max_sizeclass int null = NULL;
    memory_consumer_address varbinary(8) null = NULL;
}

fn queues(context: &Context<'_>) -> Vec<MemoryQueue> {
    let mut all: Vec<MemoryQueue> = Vec::new();
    for database in context.server.databases() {
        let Some(open) = &database.open else { continue };
        let queues = open.engine.memory_queues();
        all.resize(all.len().max(queues.len()), MemoryQueue::default());
        all.iter_mut().zip(&queues).for_each(|(sum, queue)| sum.add(queue));
    }
    all
}

/// What the work of cleaning lies in: SQL Server's system heap.
fn system(context: &Context<'_>, _: &[Value]) -> Result<Vec<MemoryQueue>, SqlError> {
    let mut sum = MemoryQueue::default();
    queues(context).iter().for_each(|queue| sum.add(queue));
    Ok(vec![sum])
}

view! {
    SYSTEM_CONSUMERS = "sys.dm_xtp_system_memory_consumers" of MemoryQueue as q, rows system;
    memory_consumer_id bigint = 1i64;
    memory_consumer_type int = 2;
    memory_consumer_type_desc nvarchar(16) = "VARHEAP";
    memory_consumer_desc nvarchar(64) null = "System heap";
    lookaside_id bigint null = NULL;
    pagepool_id bigint null = NULL;
    allocated_bytes bigint = q.bytes as i64;
    used_bytes bigint null = (q.depth * 8) as i64;
    allocation_count int null = NULL;
    partition_count int null = NULL;
    sizeclass_count int null = NULL;
    min_sizeclass int null = NULL;
    max_sizeclass int null = NULL;
    memory_consumer_address varbinary(8) null = NULL;
}

/// A transaction that has touched memory-optimised tables.
pub struct Active {
    database: i32,
    info: TransactionInfo,
}

fn active(context: &Context<'_>, _: &[Value]) -> Result<Vec<Active>, SqlError> {
    let own = context.database.id as i32;
    let all = Snapshot::take(context).transactions.into_iter();
    let all = all.filter(|(database, info)| *database == own && info.memory_snapshot.is_some());
    Ok(all.map(|(database, info)| Active { database, info }).collect())
}

view! {
    TRANSACTIONS = "sys.dm_db_xtp_transactions" of Active as t, rows active;
    xtp_transaction_id bigint = t.info.id as i64;
    transaction_id bigint = transaction_id(t.database, &t.info);
    session_id smallint = t.info.session.map_or(0, |session| session as i16);
    begin_tsn bigint = t.info.memory_snapshot.map_or(0, |snapshot| snapshot.0 as i64);
    end_tsn bigint = 0i64;
    state int = 0;
    state_desc nvarchar(16) null = "ACTIVE";
    result int = 0;
    result_desc nvarchar(24) null = "IN PROGRESS";
    last_error int null = 0;
    is_speculative bit null = false;
    is_prepared bit null = false;
    is_delayed_durability bit null = NULL;
    memory_address varbinary(8) null = NULL;
    database_address varbinary(8) null = NULL;
    thread_id int null = NULL;
    read_set_row_count int null = NULL;
    write_set_row_count int null = NULL;
    scan_set_count int null = NULL;
    savepoint_garbage_count int null = NULL;
    log_bytes_required bigint null = NULL;
    count_of_allocations int null = NULL;
    allocated_bytes int null = NULL;
    reserved_bytes int null = NULL;
    commit_dependency_count int null = 0;
    commit_dependency_total_attempt_count int null = 0;
    scan_area int null = NULL;
    scan_area_desc nvarchar(16) null = NULL;
    scan_location int null = NULL;
    dependent_1_address varbinary(8) null = NULL;
    dependent_2_address varbinary(8) null = NULL;
    dependent_3_address varbinary(8) null = NULL;
    dependent_4_address varbinary(8) null = NULL;
    dependent_5_address varbinary(8) null = NULL;
    dependent_6_address varbinary(8) null = NULL;
    dependent_7_address varbinary(8) null = NULL;
    dependent_8_address varbinary(8) null = NULL;
}

/// All transactions since the server started, and what was done with rows of the databases that are open.
#[derive(Default)]
pub struct Totals {
    total: u64,
    read_only: u64,
    aborted: u64,
    failed: u64,
    conflicts: u64,
    duplicates: u64,
    doings: Doings,
}

fn totals(context: &Context<'_>, _: &[Value]) -> Result<Vec<Totals>, SqlError> {
    let aborted = counters::get(Counter::XtpAborts);
    let mut totals = Totals {
        total: counters::get(Counter::XtpTransactions),
        // One that was taken back has written nothing by then.
        read_only: counters::get(Counter::XtpReadOnly).saturating_sub(aborted),
        aborted,
        failed: counters::get(Counter::XtpValidationFailures),
        conflicts: counters::get(Counter::XtpConflicts),
        duplicates: counters::get(Counter::XtpDuplicates),
        doings: Doings::default(),
    };
    for database in context.server.databases() {
        let Some(open) = &database.open else { continue };
        for object in open.catalog.objects_in(None) {
            let ObjectRef::Table(table) = object else { continue };
            if !table.is_memory() {
                continue;
            }
            if let Some(facts) = open.engine.tree(table.tree).memory_facts() {
                let (sum, one) = (&mut totals.doings, facts.doings);
                sum.inserts += one.inserts;
                sum.updates += one.updates;
                sum.deletes += one.deletes;
                sum.scans += one.scans;
                sum.returned += one.returned;
            }
        }
    }
    Ok(vec![totals])
}

view! {
    TRANSACTION_STATS = "sys.dm_xtp_transaction_stats" of Totals as t, rows totals;
    total_count bigint = t.total as i64;
    read_only_count bigint = t.read_only as i64;
    total_aborts bigint = t.aborted as i64;
    user_aborts bigint = t.aborted.saturating_sub(t.failed + t.conflicts) as i64;
    validation_failures bigint = t.failed as i64;
    // What is not committed is not read: there is nothing to depend on.
    dependencies_taken bigint = 0i64;
    dependencies_failed bigint = 0i64;
    savepoint_create bigint null = NULL;
    savepoint_rollbacks bigint null = NULL;
    savepoint_refreshes bigint null = NULL;
    log_bytes_written bigint null = NULL;
    log_IO_count bigint null = NULL;
    phantom_scans_started bigint null = NULL;
    phatom_scans_retries bigint null = NULL;
    phantom_rows_touched bigint null = NULL;
    phantom_rows_expiring bigint null = NULL;
    phantom_rows_expired bigint null = NULL;
    phantom_rows_expired_removed bigint null = NULL;
    scans_started bigint null = t.doings.scans as i64;
    scans_retried bigint null = 0i64;
    rows_returned bigint null = t.doings.returned as i64;
    rows_touched bigint null = NULL;
    rows_expiring bigint null = NULL;
    rows_expired bigint null = NULL;
    rows_expired_removed bigint null = NULL;
    rows_inserted bigint null = t.doings.inserts as i64;
    rows_updated bigint null = t.doings.updates as i64;
    rows_deleted bigint null = t.doings.deletes as i64;
    write_conflicts bigint null = t.conflicts as i64;
    unique_constraint_violations bigint null = t.duplicates as i64;
}

fn cleaning(context: &Context<'_>, _: &[Value]) -> Result<Vec<MemoryCleaning>, SqlError> {
    let mut sum = MemoryCleaning::default();
    for database in context.server.databases() {
        let Some(open) = &database.open else { continue };
        let one = open.engine.memory_cleaning();
        sum.examined += one.examined;
        sum.by_transactions += one.by_transactions;
        sum.by_background += one.by_background;
    }
    Ok(vec![sum])
}

view! {
    CLEANING = "sys.dm_xtp_gc_stats" of MemoryCleaning as c, rows cleaning;
    rows_examined bigint = c.examined as i64;
    rows_no_sweep_needed bigint = (c.by_transactions + c.by_background) as i64;
    rows_first_in_bucket bigint null = NULL;
    rows_first_in_bucket_removed bigint null = NULL;
    rows_marked_for_unlink bigint null = NULL;
    parallel_assist_count bigint = c.by_transactions as i64;
    idle_worker_count bigint = c.by_background as i64;
    // Whatever is left behind is listed: nobody has to look for it.
    sweep_scans_started bigint = 0i64;
    sweep_scans_retries bigint = 0i64;
    sweep_rows_touched bigint = 0i64;
    sweep_rows_expiring bigint = 0i64;
    sweep_rows_expired bigint = 0i64;
    sweep_rows_expired_removed bigint = 0i64;
}

/// The rows that one scheduler has listed for cleaning.
pub struct OfSlot {
    id: i32,
    queue: MemoryQueue,
}

/// One for each scheduler; those of other threads that have had something to list besides.
fn by_slot(context: &Context<'_>, _: &[Value]) -> Result<Vec<OfSlot>, SqlError> {
    let schedulers = context.server.schedulers().len();
    let mut all = queues(context);
    all.resize(all.len().max(schedulers), MemoryQueue::default());
    let all = all.into_iter().zip(0..).map(|(queue, id)| OfSlot { id, queue });
    Ok(all.filter(|of| (of.id as usize) < schedulers || of.queue.enqueued > 0).collect())
}

view! {
    QUEUES = "sys.dm_xtp_gc_queue_stats" of OfSlot as q, rows by_slot;
    queue_id int = q.id;
    total_enqueues bigint = q.queue.enqueued as i64;
    total_dequeues bigint = q.queue.dequeued as i64;
    current_queue_depth bigint = q.queue.depth as i64;
    maximum_queue_depth bigint = q.queue.depth_max as i64;
    last_service_ticks bigint = q.queue.served_ns as i64;
}
