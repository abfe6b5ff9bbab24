//! Wait statistics: what `sys.dm_os_wait_stats` shows.
//!
//! Recorded by the waiter when it runs again. `wait_ns` is the whole time off the processor and
//! contains `signal_ns`, the time between being woken and running (SQL Server counts so too).

use crate::shard::{Shard, WaitCell, bump, each, mine};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

named! {
    /// Why a task waits.
    pub enum WaitType {
        WriteLog = "WRITELOG",
        LogBuffer = "LOGBUFFER",
        LogMgrReserveAppend = "LOGMGR_RESERVE_APPEND",
        LogMgrQueue = "LOGMGR_QUEUE",
        LogMgrFlush = "LOGMGR_FLUSH",
        LckMX = "LCK_M_X",
        LckMS = "LCK_M_S",
        LckMU = "LCK_M_U",
        LckMIx = "LCK_M_IX",
        LckMIs = "LCK_M_IS",
        LckMIu = "LCK_M_IU",
        LckMSix = "LCK_M_SIX",
        LckMSchM = "LCK_M_SCH_M",
        LckMSchS = "LCK_M_SCH_S",
        LckMRsS = "LCK_M_RS_S",
        LckMRsU = "LCK_M_RS_U",
        LckMRinNl = "LCK_M_RIn_NL",
        LckMRinS = "LCK_M_RIn_S",
        LckMRinU = "LCK_M_RIn_U",
        LckMRinX = "LCK_M_RIn_X",
        LckMRxS = "LCK_M_RX_S",
        LckMRxU = "LCK_M_RX_U",
        LckMRxX = "LCK_M_RX_X",
        PageIoLatchSh = "PAGEIOLATCH_SH",
        PageIoLatchEx = "PAGEIOLATCH_EX",
        PageIoLatchUp = "PAGEIOLATCH_UP",
        PageLatchEx = "PAGELATCH_EX",
        PageLatchSh = "PAGELATCH_SH",
        PageLatchUp = "PAGELATCH_UP",
        LatchEx = "LATCH_EX",
        LatchSh = "LATCH_SH",
        SosSchedulerYield = "SOS_SCHEDULER_YIELD",
        SosWorkDispatcher = "SOS_WORK_DISPATCHER",
        ThreadPool = "THREADPOOL",
        IoCompletion = "IO_COMPLETION",
        AsyncIoCompletion = "ASYNC_IO_COMPLETION",
        WriteCompletion = "WRITE_COMPLETION",
        AsyncNetworkIo = "ASYNC_NETWORK_IO",
        SleepTask = "SLEEP_TASK",
        SleepBpoolFlush = "SLEEP_BPOOL_FLUSH",
        CheckpointQueue = "CHECKPOINT_QUEUE",
        CheckpointSync = "CHKPT",
        LazyWriterSleep = "LAZYWRITER_SLEEP",
        DirtyPagePoll = "DIRTY_PAGE_POLL",
        ResourceSemaphore = "RESOURCE_SEMAPHORE",
        ResMgrThrottled = "RESMGR_THROTTLED",
        MemoryAllocationExt = "MEMORY_ALLOCATION_EXT",
        TransactionMutex = "TRANSACTION_MUTEX",
        Waitfor = "WAITFOR",
        CxPacket = "CXPACKET",
        CxConsumer = "CXCONSUMER",
        CMemThread = "CMEMTHREAD",
        Backup = "BACKUPIO",
        PreemptiveOsFileOps = "PREEMPTIVE_OS_FILEOPS",
        PreemptiveOsCryptOps = "PREEMPTIVE_OS_CRYPTOPS",
        Misc = "MISCELLANEOUS",
    }
}

/// One row of the statistics. Times in nanoseconds since the last [`clear`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitStat {
    pub name: &'static str,
    pub waiting_tasks_count: u64,
    pub wait_time_ns: u64,
    pub max_wait_time_ns: u64,
    pub signal_wait_time_ns: u64,
}

static EPOCH: AtomicU64 = AtomicU64::new(0);
static BASE: Mutex<Option<Vec<WaitStat>>> = Mutex::new(None);

/// A wait of `wait_ns` in all is over, of which `signal_ns` passed after the wake-up.
pub fn record(wait: WaitType, wait_ns: u64, signal_ns: u64) {
    if !crate::RECORDING {
        return;
    }
    let shard = mine();
    refresh(&shard.waits, &shard.waits_epoch, &EPOCH);
    add(&shard.waits[wait as usize], wait_ns, signal_ns);
}

/// Every wait type, in the enum's order, also those without a wait.
pub fn snapshot() -> Vec<WaitStat> {
    let base = BASE.lock();
    let mut now = totals();
    if let Some(base) = base.as_ref() {
        subtract(&mut now, base);
    }
    now
}

/// Figures start from zero: `DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR)`.
pub fn clear() {
    let mut base = BASE.lock();
    EPOCH.fetch_add(1, Relaxed);
    *base = Some(totals());
}

/// Every wait type since the process began, whatever was cleared.
pub fn totals() -> Vec<WaitStat> {
    let names = WaitType::ALL.iter().map(|w| w.name());
    sum(names, |s| (&s.waits, &s.waits_epoch), EPOCH.load(Relaxed))
}

/// Maxima cannot be subtracted, so the writer resets its own when it first sees a newer clearing.
pub(crate) fn refresh(cells: &[WaitCell], mine: &AtomicU64, current: &AtomicU64) {
    let current = current.load(Relaxed);
    if mine.load(Relaxed) != current {
        for cell in cells {
            cell.max_ns.store(0, Relaxed);
        }
        mine.store(current, Relaxed);
    }
}

pub(crate) fn add(cell: &WaitCell, wait_ns: u64, signal_ns: u64) {
    bump(&cell.count, 1);
    bump(&cell.wait_ns, wait_ns);
    bump(&cell.signal_ns, signal_ns);
    if wait_ns > cell.max_ns.load(Relaxed) {
        cell.max_ns.store(wait_ns, Relaxed);
    }
}

pub(crate) fn sum<'a, const N: usize>(
    names: impl Iterator<Item = &'static str>,
    cells: impl Fn(&'a Shard) -> (&'a [WaitCell; N], &'a AtomicU64),
    epoch: u64,
) -> Vec<WaitStat>
where
    'static: 'a,
{
    let mut all: Vec<WaitStat> = names
        .map(|name| WaitStat {
            name,
            waiting_tasks_count: 0,
            wait_time_ns: 0,
            max_wait_time_ns: 0,
            signal_wait_time_ns: 0,
        })
        .collect();
    each(|shard| {
        let (cells, shard_epoch) = cells(shard);
        let fresh = shard_epoch.load(Relaxed) == epoch;
        for (stat, cell) in all.iter_mut().zip(cells) {
            stat.waiting_tasks_count += cell.count.load(Relaxed);
            stat.wait_time_ns += cell.wait_ns.load(Relaxed);
            stat.signal_wait_time_ns += cell.signal_ns.load(Relaxed);
            if fresh {
                stat.max_wait_time_ns = stat.max_wait_time_ns.max(cell.max_ns.load(Relaxed));
            }
        }
    });
    all
}

pub(crate) fn subtract(now: &mut [WaitStat], base: &[WaitStat]) {
    for (stat, base) in now.iter_mut().zip(base) {
        stat.waiting_tasks_count -= base.waiting_tasks_count.min(stat.waiting_tasks_count);
        stat.wait_time_ns -= base.wait_time_ns.min(stat.wait_time_ns);
        stat.signal_wait_time_ns -= base.signal_wait_time_ns.min(stat.signal_wait_time_ns);
    }
}
