//! One shard of cells per thread; the registry of all shards.
//!
//! Invariants:
//! 1. A shard has one writer at a time: the thread that holds it. Writers load and store, Relaxed.
//! 2. Shards live for ever. A thread that ends gives its shard back, and its figures stay in it.
//! 3. Readers may see a count before its time; they never see a figure that was not recorded.

use crate::histogram::Cells;
use crate::log_timing::LogCells;
use crate::{Counter, LatchClass, LockKind, SpinClass, WaitType};
use parking_lot::Mutex;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Default)]
pub(crate) struct WaitCell {
    pub count: AtomicU64,
    pub wait_ns: AtomicU64,
    pub signal_ns: AtomicU64,
    /// The longest wait since `Shard::epoch` was current.
    pub max_ns: AtomicU64,
}

#[derive(Default)]
pub(crate) struct SpinCell {
    pub collisions: AtomicU64,
    pub spins: AtomicU64,
    pub backoffs: AtomicU64,
    pub sleep_ns: AtomicU64,
}

#[derive(Default)]
pub(crate) struct LockCell {
    pub requests: AtomicU64,
    pub waits: AtomicU64,
    pub wait_ns: AtomicU64,
    pub timeouts: AtomicU64,
    pub deadlocks: AtomicU64,
}

#[repr(align(128))]
pub(crate) struct Shard {
    pub counters: [AtomicU64; Counter::COUNT],
    pub waits: [WaitCell; WaitType::COUNT],
    pub latches: [WaitCell; LatchClass::COUNT],
    pub spins: [SpinCell; SpinClass::COUNT],
    pub locks: [LockCell; LockKind::COUNT],
    pub commits: Cells,
    /// Of pages, by threads of each node: in their own memory, and in another node's.
    pub lookups: [[AtomicU64; 2]; crate::nodes::NODES_MAX],
    /// Made by the thread when it first times a log write.
    pub log: OnceLock<Box<LogCells>>,
    /// Counts the delayed commits of this thread, for the sampling.
    pub commit_turn: AtomicU64,
    /// The clearing of waits / latches that the maxima above belong to.
    pub waits_epoch: AtomicU64,
    pub latches_epoch: AtomicU64,
}

impl Shard {
    fn new() -> Shard {
        Shard {
            counters: std::array::from_fn(|_| AtomicU64::new(0)),
            waits: std::array::from_fn(|_| WaitCell::default()),
            latches: std::array::from_fn(|_| WaitCell::default()),
            spins: std::array::from_fn(|_| SpinCell::default()),
            locks: std::array::from_fn(|_| LockCell::default()),
            commits: Cells::default(),
            lookups: std::array::from_fn(|_| [const { AtomicU64::new(0) }; 2]),
            log: OnceLock::new(),
            commit_turn: AtomicU64::new(0),
            waits_epoch: AtomicU64::new(0),
            latches_epoch: AtomicU64::new(0),
        }
    }
}

/// The single writer's addition: no read-modify-write.
#[inline(always)]
pub(crate) fn bump(cell: &AtomicU64, n: u64) {
    cell.store(cell.load(Relaxed).wrapping_add(n), Relaxed);
}

struct Registry {
    all: Vec<&'static Shard>,
    free: Vec<&'static Shard>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { all: Vec::new(), free: Vec::new() });

struct GiveBack;

impl Drop for GiveBack {
    fn drop(&mut self) {
        if let Some(shard) = MINE.take() {
            REGISTRY.lock().free.push(shard);
        }
    }
}

thread_local! {
    static MINE: Cell<Option<&'static Shard>> = const { Cell::new(None) };
    static GIVE_BACK: GiveBack = const { GiveBack };
}

/// The calling thread's shard.
#[inline(always)]
pub(crate) fn mine() -> &'static Shard {
    match MINE.get() {
        Some(shard) => shard,
        None => take(),
    }
}

#[cold]
fn take() -> &'static Shard {
    let mut registry = REGISTRY.lock();
    let shard = registry.free.pop().unwrap_or_else(|| {
        let shard: &'static Shard = Box::leak(Box::new(Shard::new()));
        registry.all.push(shard);
        shard
    });
    drop(registry);
    MINE.set(Some(shard));
    // A thread past its destructors keeps the shard for good; its figures still count.
    let _ = GIVE_BACK.try_with(|_| ());
    shard
}

pub(crate) fn each(mut f: impl FnMut(&'static Shard)) {
    for shard in REGISTRY.lock().all.iter() {
        f(shard);
    }
}
