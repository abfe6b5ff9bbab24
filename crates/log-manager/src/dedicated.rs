//! The dedicated writer: an OS thread that does nothing but advance the flusher.
//!
//! The other form of the switch (`leader`) has no thread: see `flush.rs`. While this one runs, polls and committers
//! leave the machine to it and only raise the signal. It polls while writes are outstanding, and otherwise sleeps
//! under LOGMGR_QUEUE. In a simulated world, which has one thread, it is never started.

use crate::core::Core;
use runtime::{clock, sim, task, threads};
use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use telemetry::WaitType;

impl Core {
    /// Starts a dedicated writer, unless one runs or this is a simulation (which has one thread).
    pub(crate) fn start_dedicated(self: &Arc<Core>) {
        if sim::active() || self.modes.dedicated.swap(true, AcqRel) {
            return;
        }
        let core = self.clone();
        let started = threads::spawn("log writer", move || core.run_dedicated());
        if started.is_err() {
            // As leader the log works as well.
            self.modes.dedicated.store(false, Release);
        }
    }

    fn run_dedicated(&self) {
        if let Some(cpu) = self.fixed.writer_cpu {
            // Unpinned is slower, not wrong.
            let _ = threads::pin_current(cpu);
        }
        let stop = || self.modes.writer.load(SeqCst) == 0 || self.modes.closed.load(SeqCst);
        loop {
            if stop() {
                self.modes.dedicated.store(false, SeqCst);
                // Switched back on before that was seen, without a thread of its own?
                if stop() || self.modes.dedicated.swap(true, SeqCst) {
                    break;
                }
            }
            let work = task::poll_all() + self.look_if_due();
            if work > 0 {
                continue;
            }
            if self.outlook.outstanding.load(Relaxed) > 0 {
                // The device answers within microseconds; a sleeping thread would not.
                std::thread::yield_now();
                continue;
            }
            if self.signal.fall_asleep(task::current_waker()) && !stop() {
                let glance = clock::now_ns() + self.fixed.delayed_ns / 3;
                task::park(WaitType::LogMgrQueue, Some(glance));
            }
            self.signal.awake();
        }
        // News that came while nobody else looked.
        self.signal.raise();
        self.drive();
    }
}
