//! Counters that only rise: what the performance counters are made of. Readers take differences.

use crate::shard::{bump, each, mine};
use std::sync::atomic::Ordering::Relaxed;

named! {
    /// What is counted. Names are SQL Server's counter names where it has one.
    pub enum Counter {
        LogFlushes = "Log Flushes/sec",
        LogBytesFlushed = "Log Bytes Flushed/sec",
        LogFlushWaits = "Log Flush Waits/sec",
        LogFlushWaitNs = "Log Flush Wait Time",
        LogFlushWriteNs = "Log Flush Write Time (ms)",
        LogFlushQueueNs = "Log Flush Queue Time",
        LogFlushWakeNs = "Log Flush Wake Time",
        LogRecords = "Log Records/sec",
        LogGrowths = "Log Growths",
        LogTruncations = "Log Truncations",
        Transactions = "Transactions/sec",
        WriteTransactions = "Write Transactions/sec",
        Rollbacks = "Rollbacks/sec",
        SingletonInserts = "Singleton Inserts/sec",
        PageLookups = "Page lookups/sec",
        PageReads = "Page reads/sec",
        ReadaheadPages = "Readahead pages/sec",
        PageWrites = "Page writes/sec",
        PageSplits = "Page Splits/sec",
        PagesAllocated = "Pages Allocated/sec",
        PagesDeallocated = "Page Deallocations/sec",
        CheckpointPages = "Checkpoint pages/sec",
        LazyWrites = "Lazy writes/sec",
        FreeListStalls = "Free list stalls/sec",
        Deadlocks = "Number of Deadlocks/sec",
        LockWaits = "Lock Waits/sec",
        LockTimeouts = "Lock Timeouts/sec",
        VersionsCreated = "Version Store unit creation",
        VersionsRemoved = "Version Store unit truncation",
        BatchRequests = "Batch Requests/sec",
        Compilations = "SQL Compilations/sec",
        Recompilations = "SQL Re-Compilations/sec",
        AutoParamAttempts = "Auto-Param Attempts/sec",
        AutoParamsSafe = "Safe Auto-Params/sec",
        AutoParamsFailed = "Failed Auto-Params/sec",
        AutoParamsUnsafe = "Unsafe Auto-Params/sec",
        Attentions = "SQL Attention rate",
        UserErrors = "User Errors",
        InfoErrors = "Info Errors",
        ConnectionErrors = "Kill Connection Errors",
        ContextSwitches = "Context Switches/sec",
        RemoteWakes = "Remote Wakes/sec",
        SchedulerSleeps = "Scheduler Sleeps/sec",
        Logins = "Logins/sec",
        Logouts = "Logouts/sec",
        ConnectionResets = "Connection Reset/sec",
        XtpTransactions = "Transactions created/sec",
        XtpReadOnly = "Read-only transactions prepared/sec",
        XtpAborts = "Transactions aborted/sec",
        XtpValidationFailures = "Transaction validation failures/sec",
        XtpConflicts = "Write conflicts/sec",
        XtpDuplicates = "Unique constraint violations/sec",
    }
}

/// Counts `n` more. A load and a store to the thread's own cell.
#[inline]
pub fn add(counter: Counter, n: u64) {
    if crate::RECORDING {
        bump(&mine().counters[counter as usize], n);
    }
}

/// The sum over all threads, since the process began. Transactions contain the singleton inserts, which are counted
/// once for both kinds of transactions.
pub fn get(counter: Counter) -> u64 {
    let of = |counter: Counter| {
        let mut sum = 0u64;
        each(|shard| sum = sum.wrapping_add(shard.counters[counter as usize].load(Relaxed)));
        sum
    };
    match counter {
        Counter::Transactions | Counter::WriteTransactions => {
            of(counter) + of(Counter::SingletonInserts)
        }
        other => of(other),
    }
}

/// The calling thread's own figure: only what it has counted itself. A load.
#[inline]
pub fn mine_of(counter: Counter) -> u64 {
    mine().counters[counter as usize].load(Relaxed)
}
