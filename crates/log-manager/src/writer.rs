//! A writer of its own: a thread, or a task of somebody's scheduler, that does nothing but advance the flusher.
//!
//! The default form of the switch (`leader`) has none: see `flush.rs`. While one runs, polls and committers leave the
//! machine to it and only raise the signal. A thread polls while writes are outstanding, and otherwise sleeps under
//! LOGMGR_QUEUE; a task sleeps whenever it has nothing to do, and then waits its turn among the scheduler's others, as
//! SQL Server's log writer does. In a simulated world, which has one thread, the thread is never started.
//!
//! Invariants: every change of the mode or the place is a new `writer_term`; a writer belongs to one term and ends
//! when it is over. `dedicated` is held by at most one writer; one that comes while the last is still there waits.

use crate::core::Core;
use crate::flush::Flusher;
use runtime::{clock, numa, sim, task, threads};
use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use telemetry::WaitType;

/// Between two looks whether the last writer has gone.
const HANDOVER_NS: u64 = 200_000;
/// Tries to move the ring's pages to the writer's node.
const MOVES: u32 = 100;

impl Core {
    /// Lets the ring lie on a NUMA node, or on none. A page that a write under way holds cannot move: then the machine
    /// tries again whenever there is none.
    pub(crate) fn bind_ring(&self, node: Option<usize>) -> std::io::Result<()> {
        let mut f = self.flusher.lock();
        f.moving = None;
        match (self.ring.bind(node), node) {
            (Err(error), Some(node)) if error.raw_os_error() == Some(libc::EIO) => {
                f.moving = Some((node, MOVES));
                drop(f);
                self.signal.raise();
                Ok(())
            }
            (done, _) => done,
        }
    }

    /// One try of the machine, which has it locked.
    #[cold]
    pub(crate) fn move_ring(&self, f: &mut Flusher) {
        if let Some((node, tries)) = f.moving
            && f.outstanding() == 0
        {
            let stays = self.ring.bind(Some(node)).is_err();
            f.moving = (stays && tries > 1).then_some((node, tries - 1));
        }
    }

    /// Ends the present writer's term; the number of the next.
    pub(crate) fn new_term(&self) -> u64 {
        let term = self.modes.writer_term.fetch_add(1, SeqCst) + 1;
        // It notices, and looks once more on its way out.
        self.signal.raise();
        term
    }

    /// Starts a thread that writes, unless this is a simulation (which has one thread).
    pub(crate) fn start_dedicated(self: &Arc<Core>) {
        let term = self.new_term();
        if sim::active() {
            return;
        }
        let core = self.clone();
        // Not started, the log works as well as leader.
        let _ = threads::spawn("log writer", move || {
            let (cpus, seat) = core.writer_cpus.lock().clone();
            // Anywhere is not where the scheduler is bound to that has begun it. Refused is slower, not wrong.
            let _ = threads::pin_current_to(match cpus.is_empty() {
                true => threads::process_affinity(),
                false => &cpus,
            });
            // Its own, and not that of who changed the switch. Refused, memory lies where it is touched first.
            let _ = numa::sit(seat);
            core.run_writer(term, true);
        });
    }

    /// Writes until `term` is over. `polls`: the calling thread is the writer's own, and may keep its CPU.
    pub(crate) fn run_writer(&self, term: u64, polls: bool) {
        let over = || self.modes.writer_term.load(SeqCst) != term || self.modes.closed.load(SeqCst);
        while self.modes.dedicated.swap(true, SeqCst) {
            if over() {
                return;
            }
            task::sleep_ns(HANDOVER_NS, WaitType::LogMgrQueue);
        }
        while !over() {
            let mut work = self.look_if_due();
            if polls {
                work += task::poll_all();
            }
            if work > 0 {
                task::maybe_yield();
                continue;
            }
            if polls && self.outlook.outstanding.load(Relaxed) > 0 {
                // The device answers within microseconds; a sleeping thread would not.
                std::thread::yield_now();
                continue;
            }
            if self.signal.fall_asleep(task::current_waker()) && !over() {
                let glance = clock::now_ns() + self.fixed.delayed_ns / 3;
                task::park(WaitType::LogMgrQueue, Some(glance));
            }
            self.signal.awake();
        }
        self.modes.dedicated.store(false, SeqCst);
        // News that came while nobody else looked.
        self.signal.raise();
        self.drive();
    }
}
