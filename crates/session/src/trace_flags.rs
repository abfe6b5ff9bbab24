//! Trace flags of the whole server, and what those with a meaning do. Which have one is said by
//! `commands::trace_flags`.
//!
//! Invariant: what a flag does is in force as long as the flag is on, whoever turned it on: `-T` or DBCC TRACEON.

use crate::Instance;

const NO_GHOST_CLEANUP: i32 = 661;
/// Buffer pools take their memory at the start.
pub(crate) const LARGE_PAGES: i32 = 834;
const GROW_TOGETHER: i32 = 1117;
const DEADLOCKS: [i32; 2] = [1204, 1222];
const NO_INDEX_STATISTICS: i32 = 2330;
/// The machine is taken as one node. At the start.
pub(crate) const ONE_NODE: i32 = 8015;

impl Instance {
    /// Those given at the start, once everything is open.
    pub(crate) fn start_trace_flags(&self) {
        for &flag in &self.config.trace_flags {
            self.set_trace_flag(flag, true);
        }
        if self.config.trace_flags.contains(&LARGE_PAGES) {
            self.populate_memory();
        }
    }

    /// Sets a trace flag for the whole server.
    pub(crate) fn set_trace_flag(&self, flag: i32, on: bool) {
        let mut flags = self.trace_flags.lock();
        let changed = if on { flags.insert(flag) } else { flags.remove(&flag) };
        if !changed {
            return;
        }
        match flag {
            NO_GHOST_CLEANUP => engine::set_ghost_cleanup(!on),
            GROW_TOGETHER => engine::set_grow_together(on),
            NO_INDEX_STATISTICS => {
                // The switch tells the same; a flag turned off leaves the default.
                let form = on.then_some("OFF");
                let set = self.change_switches(|switches| switches.set("INDEX_STATISTICS", form));
                debug_assert!(set.is_ok(), "the switch has this value");
            }
            flag if DEADLOCKS.contains(&flag) => {
                engine::log_deadlocks(DEADLOCKS.iter().any(|flag| flags.contains(flag)));
            }
            _ => {}
        }
    }

    /// Those that are on for the whole server, in order.
    pub fn trace_flags(&self) -> Vec<i32> {
        self.trace_flags.lock().iter().copied().collect()
    }
}
