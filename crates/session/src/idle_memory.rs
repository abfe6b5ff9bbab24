//! Memory that is free goes back to the system while nothing is going on, and when there is too much of it.
//!
//! An allocator keeps what was freed for who asks next; a server that has been busy once would keep it for ever. Giving
//! it back takes the allocator's locks for some milliseconds, so it is done when the process has had next to no CPU time
//! since the last look, and when there is much to give. What is counted is bounded ([`runtime::memory::check`]), what the
//! process has in memory is that and what the allocator keeps: where it comes near the limit, that goes back at once.
//! Pages of databases stay: they are a cache, and bounded.

use runtime::{clock, memory};

/// Between two looks.
const LOOK_NS: u64 = 10_000_000_000;
/// Between two times that it goes back because there is too much.
const FULL_NS: u64 = 100_000_000;
/// There is too much from this part of the limit below it on.
const FULL_PART: u64 = 16;
/// An idle process has had less than this part of a CPU.
const IDLE_PART: u64 = 20;
/// Less than this is not worth it.
const SPARE_MIN: u64 = 32 << 20;

/// See the file's first lines.
#[derive(Default)]
pub(crate) struct IdleMemory {
    looked_ns: u64,
    full_ns: u64,
    cpu_ns: u64,
    /// What was resident after memory was given back last.
    left: u64,
}

impl IdleMemory {
    /// Whoever watches comes here often.
    pub fn look(&mut self) {
        let now = clock::now_ns();
        let elapsed = now.saturating_sub(self.looked_ns);
        // Where nobody counts, nothing is known of what is free.
        if memory::heap_bytes() == 0 {
            return;
        }
        let resident = memory::resident_bytes();
        memory::note_resident(resident);
        let limit = memory::limit_bytes();
        let full = limit - limit / FULL_PART;
        if now.saturating_sub(self.full_ns) >= FULL_NS && resident > full {
            // A limit that was lowered may never refuse anybody, and yet what can be had again is to go.
            runtime::shortage::ask(resident - full);
            memory::give_back();
            self.full_ns = clock::now_ns();
        }
        if elapsed < LOOK_NS {
            return;
        }
        let cpu = clock::process_cpu_ns();
        let busy = cpu.saturating_sub(self.cpu_ns);
        (self.looked_ns, self.cpu_ns) = (now, cpu);
        if busy * IDLE_PART > elapsed {
            return;
        }
        let used = memory::heap_bytes() + memory::mapped_bytes();
        if self.gives(memory::resident_bytes(), used) {
            memory::give_back();
            self.left = memory::resident_bytes();
        }
    }

    fn gives(&self, resident: u64, used: u64) -> bool {
        resident > used + SPARE_MIN && resident > self.left + SPARE_MIN / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_given_back_is_not_tried_again() {
        let mut idle = IdleMemory::default();
        assert!(!idle.gives(40 << 20, 20 << 20));
        assert!(idle.gives(90 << 20, 20 << 20));
        idle.left = 85 << 20;
        assert!(!idle.gives(90 << 20, 20 << 20));
        assert!(idle.gives(200 << 20, 20 << 20));
    }
}
