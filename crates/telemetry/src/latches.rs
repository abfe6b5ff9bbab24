//! Latch statistics by class: what `sys.dm_os_latch_stats` shows. Only waits are recorded.

use crate::shard::mine;
use crate::waits::{WaitStat, add, refresh, subtract, sum};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

named! {
    /// What a latch guards.
    pub enum LatchClass {
        Buffer = "BUFFER",
        AccessMethodsHobtCount = "ACCESS_METHODS_HOBT_COUNT",
        AccessMethodsHobtVirtualRoot = "ACCESS_METHODS_HOBT_VIRTUAL_ROOT",
        AllocExtentCache = "ALLOC_EXTENT_CACHE",
        AllocFreespaceCache = "ALLOC_FREESPACE_CACHE",
        FgcbAddRemove = "FGCB_ADD_REMOVE",
        LogManager = "LOG_MANAGER",
        DatabaseCheckpoint = "DATABASE_CHECKPOINT",
        VersioningTransaction = "VERSIONING_TRANSACTION",
    }
}

static EPOCH: AtomicU64 = AtomicU64::new(0);
static BASE: Mutex<Option<Vec<WaitStat>>> = Mutex::new(None);

/// A latch was had after waiting `wait_ns`.
pub fn record(class: LatchClass, wait_ns: u64) {
    if !crate::RECORDING {
        return;
    }
    let shard = mine();
    refresh(&shard.latches, &shard.latches_epoch, &EPOCH);
    add(&shard.latches[class as usize], wait_ns, 0);
}

/// Every class, in the enum's order; `waiting_tasks_count` is SQL Server's waiting_requests_count.
pub fn snapshot() -> Vec<WaitStat> {
    let base = BASE.lock();
    let mut now = totals();
    if let Some(base) = base.as_ref() {
        subtract(&mut now, base);
    }
    now
}

/// Figures start from zero.
pub fn clear() {
    let mut base = BASE.lock();
    EPOCH.fetch_add(1, Relaxed);
    *base = Some(totals());
}

/// Every class since the process began, whatever was cleared.
pub fn totals() -> Vec<WaitStat> {
    let names = LatchClass::ALL.iter().map(|w| w.name());
    sum(names, |s| (&s.latches, &s.latches_epoch), EPOCH.load(Relaxed))
}
