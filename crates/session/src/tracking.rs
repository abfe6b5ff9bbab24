//! Change tracking's part of the instance: what ALTER DATABASE says, and the task that cleans up.

use catalog::TrackingSpec;
use parking_lot::Mutex;
use runtime::clock;
use runtime::task::{self, Waker};
use session_state::OpenDatabase;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use syntax::ast::{ChangeTracking, RetentionUnit};
use telemetry::WaitType;

/// How often changes that have become too old are looked for.
const PAUSE_NS: u64 = 60_000_000_000;

/// The statement's words as the catalog has them.
pub(crate) fn spec(tracking: &ChangeTracking) -> TrackingSpec {
    let unit = |unit| match unit {
        RetentionUnit::Minutes => 1,
        RetentionUnit::Hours => 2,
        RetentionUnit::Days => 3,
    };
    TrackingSpec {
        on: tracking.on,
        retention: tracking.retention.map(|r| (r.number, unit(r.unit))),
        auto_cleanup: tracking.auto_cleanup,
    }
}

/// How the task that cleans a database up is told to end.
#[derive(Clone, Default)]
pub(crate) struct Cleanup {
    stop: Arc<AtomicBool>,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Cleanup {
    /// The task's body. An error is as good as nothing to do: the next round begins where this one has ended.
    pub fn run(&self, open: &OpenDatabase) {
        *self.waker.lock() = Some(task::current_waker());
        let mut due = clock::now_ns() + PAUSE_NS;
        while !self.stop.load(Ordering::Acquire) {
            if clock::now_ns() >= due {
                if open.catalog.configuration().tracking().is_some_and(|t| t.auto_cleanup) {
                    let _ = commands::clean_tracked(open, &self.stop);
                }
                due = clock::now_ns() + PAUSE_NS;
            }
            task::park(WaitType::SleepTask, Some(due));
        }
    }

    /// Ends it soon.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        if let Some(waker) = &*self.waker.lock() {
            waker.wake();
        }
    }
}
