//! What the statements of an instance share beside its databases: memory, files to spill to, processors, and how many
//! of those one statement may use.

use crate::memory::MemoryPool;
use crate::spill::SpillFigures;
use crate::spill::SpillSpace;
use parking_lot::Mutex;
use scheduler::Schedulers;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// See the file's first line.
pub struct Workspace {
    /// Of sorts and hash tables.
    pub memory: Arc<MemoryPool>,
    /// Where they go on when that is not enough; none: 701.
    pub spill: Option<Arc<SpillSpace>>,
    /// Where branches of a parallel plan run; none: every plan is serial.
    pub schedulers: Option<Arc<Schedulers>>,
    /// What statements have spilled since the start.
    spilled: Mutex<SpillFigures>,
    /// 'max degree of parallelism'; 0: all processors.
    max_degree: AtomicI64,
    /// 'cost threshold for parallelism'.
    cost_threshold: AtomicI64,
}

/// What Resource Governor lets the statements of a request have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// MAX_DOP; 0: no bound.
    pub max_degree: u32,
    /// REQUEST_MAX_MEMORY_GRANT_PERCENT: of the memory that its pool may have for queries.
    pub grant_percent: u32,
    /// REQUEST_MEMORY_GRANT_TIMEOUT_SEC in ns; 0: the server's.
    pub grant_timeout_ns: u64,
    /// The id of its resource pool, and its name.
    pub pool: i32,
    pub pool_name: Arc<str>,
    /// MAX_MEMORY_PERCENT of the pool: what the grants of its statements may be together, of all memory for queries.
    pub pool_percent: u32,
}

impl Default for Bounds {
    /// The group and the pool `default`, as they are at first.
    fn default() -> Bounds {
        Bounds {
            max_degree: 0,
            grant_percent: 25,
            grant_timeout_ns: 0,
            pool: 2,
            pool_name: "default".into(),
            pool_percent: 100,
        }
    }
}

/// SQL Server's default of 'cost threshold for parallelism'.
pub const COST_THRESHOLD: i64 = 5;

impl Workspace {
    pub fn new(
        memory: Arc<MemoryPool>,
        spill: Option<Arc<SpillSpace>>,
        schedulers: Option<Arc<Schedulers>>,
    ) -> Workspace {
        let (max_degree, cost_threshold) = (AtomicI64::new(0), AtomicI64::new(COST_THRESHOLD));
        let spilled = Mutex::default();
        Workspace { memory, spill, schedulers, spilled, max_degree, cost_threshold }
    }

    /// A statement has spilled.
    pub fn note_spill(&self, spilled: &SpillFigures) {
        self.spilled.lock().add(spilled);
    }

    /// What has been spilled since the start.
    pub fn spilled(&self) -> SpillFigures {
        *self.spilled.lock()
    }

    /// sp_configure's two options have changed.
    pub fn set_parallelism(&self, max_degree: i64, cost_threshold: i64) {
        self.max_degree.store(max_degree, Relaxed);
        self.cost_threshold.store(cost_threshold, Relaxed);
    }

    /// How many branches a plan of this cost may have; `hint` is OPTION (MAXDOP n), which overrides the setting, but not
    /// the `bound` of a workload group. 1: serial.
    pub fn degree(&self, hint: u32, bound: u32, cost: f64) -> usize {
        let Some(schedulers) = &self.schedulers else { return 1 };
        if cost < self.cost_threshold.load(Relaxed) as f64 {
            return 1;
        }
        let online = (0..schedulers.count()).filter(|i| schedulers.is_online(*i)).count();
        let most = match (hint as usize, self.max_degree.load(Relaxed) as usize) {
            (0, 0) => online,
            (0, set) => set,
            (hint, _) => hint,
        };
        let most = if bound > 0 { most.min(bound as usize) } else { most };
        most.min(online).max(1)
    }
}
