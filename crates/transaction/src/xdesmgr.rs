//! The classic transaction manager's shared part: one counter of ids and one of active writers behind the XDESMGR
//! spinlock. Off by default; a transaction that writes while it is on takes the lock three times, as in SQL Server:
//! for its id, to ask at its commit whether other writers are active, and when it ends.
//!
//! Invariants: ids drawn rise over all slots; `active` counts the transactions that have drawn one and not left, also
//! when the switch is thrown in between: who drew one leaves, whatever the switch says then.

use runtime::spin::SpinLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use stdx::CachePadded;
use telemetry::SpinClass;

#[derive(Default)]
struct Central {
    next: u64,
    active: u64,
    /// Commits that found other writers active.
    beside_others: u64,
}

/// See the top of the file.
pub(crate) struct XdesMgr {
    on: AtomicBool,
    central: CachePadded<SpinLock<Central>>,
}

/// Figures of the classic transaction manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct XdesStats {
    /// Writers active now that began under the spinlock.
    pub active_writers: u64,
    /// Commits that found another writer active.
    pub commits_beside_others: u64,
}

impl XdesMgr {
    pub(crate) fn new() -> XdesMgr {
        let central = SpinLock::new(SpinClass::XdesMgr, Central::default());
        XdesMgr { on: AtomicBool::new(false), central: CachePadded::new(central) }
    }

    pub(crate) fn set(&self, on: bool) {
        self.on.store(on, Relaxed);
    }

    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Relaxed)
    }

    /// A number above all drawn before and above `at_least`; the caller is an active writer until it leaves.
    pub(crate) fn draw(&self, at_least: u64) -> u64 {
        let mut central = self.central.lock();
        central.next = central.next.max(at_least) + 1;
        central.active += 1;
        central.next
    }

    /// Whether others write beside the caller, who is about to commit.
    pub(crate) fn is_more_than_one_writer_active(&self) -> bool {
        let mut central = self.central.lock();
        let others = central.active > 1;
        central.beside_others += u64::from(others);
        others
    }

    /// The caller, who has drawn a number, has ended.
    pub(crate) fn leave(&self) {
        let mut central = self.central.lock();
        match central.active.checked_sub(1) {
            Some(left) => central.active = left,
            None => stdx::fatal!("a transaction left the transaction manager twice"),
        }
    }

    pub(crate) fn stats(&self) -> XdesStats {
        let central = self.central.lock();
        XdesStats { active_writers: central.active, commits_beside_others: central.beside_others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn numbers_are_drawn_once_and_writers_are_counted() {
        let m = Arc::new(XdesMgr::new());
        let threads: Vec<_> = (0..4u64)
            .map(|_| {
                let m = m.clone();
                std::thread::spawn(move || {
                    let mut drawn = Vec::new();
                    for _ in 0..2_000 {
                        drawn.push(m.draw(0));
                        m.is_more_than_one_writer_active();
                        m.leave();
                    }
                    assert!(drawn.is_sorted_by(|a, b| a < b));
                    drawn
                })
            })
            .collect();
        let mut all: Vec<u64> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (1..=8_000).collect::<Vec<_>>());
        assert_eq!(m.stats().active_writers, 0);
    }

    #[test]
    fn a_commit_learns_of_other_writers() {
        let m = XdesMgr::new();
        assert_eq!(m.draw(41), 42);
        assert!(!m.is_more_than_one_writer_active());
        assert_eq!(m.draw(7), 43);
        assert!(m.is_more_than_one_writer_active());
        m.leave();
        assert!(!m.is_more_than_one_writer_active());
        assert_eq!(m.stats(), XdesStats { active_writers: 1, commits_beside_others: 1 });
    }
}
