//! The part of a task that others see: its wake state.
//!
//! `state` has two bits. PERMIT: a wake is due. PARKED: the task is suspended in `park` and not in a
//! run queue. The waker that finds PARKED without PERMIT, and it alone, puts the task into a queue:
//!
//! | from | event | to |
//! |---|---|---|
//! | 0 running | wake | PERMIT |
//! | PERMIT | park | 0, goes on |
//! | 0 | park | PARKED |
//! | PARKED | wake or timeout | PARKED + PERMIT, queued once |
//! | PARKED + PERMIT | resumed | 0 |
//! | any | ended | 0 for good: wakes set PERMIT and nobody looks |

use crate::core::Core;
use runtime::clock;
use runtime::task::Wake;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};
use telemetry::WaitType;

pub(crate) const PERMIT: u32 = 1;
pub(crate) const PARKED: u32 = 2;

/// `Task::wait` of a task that does not wait.
const NOT_WAITING: u32 = u32::MAX;

pub(crate) struct Task {
    pub name: Cow<'static, str>,
    pub home: Arc<Core>,
    /// Its place in the home scheduler's slab.
    pub index: u32,
    pub state: AtomicU32,
    /// When the permit was left.
    pub woken_ns: AtomicU64,
    wait: AtomicU32,
}

impl Task {
    pub fn new(name: Cow<'static, str>, home: Arc<Core>, index: u32) -> Task {
        Task {
            name,
            home,
            index,
            state: AtomicU32::new(0),
            woken_ns: AtomicU64::new(0),
            wait: AtomicU32::new(NOT_WAITING),
        }
    }

    pub fn set_wait(&self, wait: Option<WaitType>) {
        self.wait.store(wait.map_or(NOT_WAITING, |w| w as u32), Relaxed);
    }

    pub fn info(&self) -> TaskInfo {
        let wait = WaitType::ALL.get(self.wait.load(Relaxed) as usize);
        TaskInfo {
            name: self.name.to_string(),
            scheduler: self.home.index,
            state: wait.map_or(TaskState::Runnable, |w| TaskState::Suspended(w.name())),
        }
    }
}

impl Wake for Task {
    fn wake(&self) {
        if self.state.load(Relaxed) & PERMIT == 0 {
            self.woken_ns.store(clock::now_ns(), Relaxed);
        }
        // A read-modify-write also when the permit is there: the task must see what we did before.
        if self.state.fetch_or(PERMIT, AcqRel) == PARKED {
            self.home.enqueue(self.index);
        }
    }
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Running, or waiting for its turn.
    Runnable,
    /// Waiting, under this wait type.
    Suspended(&'static str),
}

/// A row of the task views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    pub name: String,
    pub scheduler: usize,
    pub state: TaskState,
}
