//! Spinlock statistics: what `sys.dm_os_spinlock_stats` shows. Only contended acquisitions are recorded.

use crate::shard::{bump, each, mine};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

named! {
    /// What a spinlock guards.
    pub enum SpinClass {
        LogCacheAccess = "LOGCACHE_ACCESS",
        LogFlushQ = "LOGFLUSHQ",
        LogLease = "LOGLC",
        XdesMgr = "XDESMGR",
        Xdes = "XDES",
        OptIdxStats = "OPT_IDX_STATS",
        OptIdxMissKey = "OPT_IDX_MISS_KEY",
        LockHash = "LOCK_HASH",
        SosScheduler = "SOS_SCHEDULER",
        SosTask = "SOS_TASK",
        SosObjectStore = "SOS_OBJECT_STORE",
        SosSuspendQueue = "SOS_SUSPEND_QUEUE",
        SqlMgr = "SQL_MGR",
        Mutex = "MUTEX",
        BufFreeList = "BUF_FREE_LIST",
        BufHash = "BUF_HASH",
        DpList = "DP_LIST",
        VersionStore = "VERSIONSTORE",
        Alloc = "ALLOC_CACHES_HASH",
        Test = "SBS_DISPATCH",
    }
}

/// One row of the statistics, since the last [`clear`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpinStat {
    pub name: &'static str,
    pub collisions: u64,
    pub spins: u64,
    /// Time asleep in back-off, nanoseconds.
    pub sleep_time_ns: u64,
    pub backoffs: u64,
}

impl SpinStat {
    /// CPU time that the spins took, in nanoseconds, by the calibrated clock; `None` before it was calibrated. Time
    /// asleep is not in it.
    pub fn cpu_ns(&self) -> Option<f64> {
        cost().map(|cost| self.spins as f64 * cost.ns)
    }

    /// The same as a share (0 to 1) of `cpu_ns`, the CPU time that the process used meanwhile.
    pub fn share_of(&self, cpu_ns: u64) -> Option<f64> {
        self.cpu_ns().filter(|_| cpu_ns > 0).map(|spent| spent / cpu_ns as f64)
    }
}

/// What one spin costs on this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpinCost {
    /// Nanoseconds.
    pub ns: f64,
    /// Ticks of the CPU's constant-rate counter: on x86-64 cycles of the nominal clock. 0 where there is none.
    pub cycles: f64,
}

/// As bits; 0: not known yet.
static COST_NS: AtomicU64 = AtomicU64::new(0);
static COST_CYCLES: AtomicU64 = AtomicU64::new(0);

/// What a spin was found to cost. Whoever owns the clock measures it.
pub fn set_cost(cost: SpinCost) {
    COST_CYCLES.store(cost.cycles.to_bits(), Relaxed);
    COST_NS.store(cost.ns.to_bits(), Relaxed);
}

/// What a spin costs; `None` before anybody measured it.
pub fn cost() -> Option<SpinCost> {
    let ns = f64::from_bits(COST_NS.load(Relaxed));
    (ns > 0.0).then(|| SpinCost { ns, cycles: f64::from_bits(COST_CYCLES.load(Relaxed)) })
}

static BASE: Mutex<Option<Vec<SpinStat>>> = Mutex::new(None);

/// One or more contended acquisitions are over.
pub fn record(class: SpinClass, collisions: u64, spins: u64, backoffs: u64, sleep_ns: u64) {
    if !crate::RECORDING {
        return;
    }
    let cell = &mine().spins[class as usize];
    bump(&cell.collisions, collisions);
    bump(&cell.spins, spins);
    bump(&cell.backoffs, backoffs);
    bump(&cell.sleep_ns, sleep_ns);
}

/// Every class, in the enum's order, also those that never collided.
pub fn snapshot() -> Vec<SpinStat> {
    let base = BASE.lock();
    let mut now = totals();
    for (stat, base) in now.iter_mut().zip(base.as_deref().unwrap_or(&[])) {
        stat.collisions -= base.collisions.min(stat.collisions);
        stat.spins -= base.spins.min(stat.spins);
        stat.sleep_time_ns -= base.sleep_time_ns.min(stat.sleep_time_ns);
        stat.backoffs -= base.backoffs.min(stat.backoffs);
    }
    now
}

/// Figures start from zero: `DBCC SQLPERF('sys.dm_os_spinlock_stats', CLEAR)`.
pub fn clear() {
    let mut base = BASE.lock();
    *base = Some(totals());
}

fn totals() -> Vec<SpinStat> {
    let mut all: Vec<SpinStat> = SpinClass::ALL
        .iter()
        .map(|c| SpinStat {
            name: c.name(),
            collisions: 0,
            spins: 0,
            sleep_time_ns: 0,
            backoffs: 0,
        })
        .collect();
    each(|shard| {
        for (stat, cell) in all.iter_mut().zip(&shard.spins) {
            stat.collisions += cell.collisions.load(Relaxed);
            stat.spins += cell.spins.load(Relaxed);
            stat.sleep_time_ns += cell.sleep_ns.load(Relaxed);
            stat.backoffs += cell.backoffs.load(Relaxed);
        }
    });
    all
}
