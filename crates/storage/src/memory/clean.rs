//! Taking out what nobody needs: versions that no snapshot sees, rows that are deleted or were never committed.
//!
//! Whoever leaves something behind puts the row in a list, once: `queued` says that it is in one. Whoever cleans takes the
//! lists. So a row is in at most one list at most once, and only the cleaner, who has taken it from there, frees it:
//! - `queued` is cleared before the row is looked at: what is left behind after that brings it back into a list.
//! - A row that is killed gets `queued` set once more, for good. If it was set already, somebody has put it into a list
//!   meanwhile, and it is freed when it comes out of that; else nobody will put it into one any more.
//!
//! A version is needed if a snapshot sees it and not the one above it. One long reader keeps what it sees, and no other
//! version.

use crate::memory::leaving::Leaving;
use crate::memory::lists::Listed;
use crate::memory::reclaim::{Guard, pin};
use crate::memory::row::{Row, Top};
use crate::memory::sight::{States, commit_of};
use crate::memory::table::Table;
use crate::memory::version::Version;
use log_manager::Lsn;
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, slot};
use std::sync::atomic::{AtomicUsize, Ordering::*};
use stdx::{CachePadded, fetch};

/// So many pieces of memory are given back at a time, by whoever comes along when that may be.
const LEAVING_MAX: usize = 4096;

/// So many rows lie between two looks ahead: enough for a line to come, few enough for it to be there still.
const AHEAD: usize = 4;

/// What snapshots need.
pub trait Needs {
    /// Every snapshot is at or above this.
    fn horizon(&self) -> Lsn;

    /// Whether a snapshot sees a commit at `since` and not one at `until`.
    fn needs(&self, since: Lsn, until: Lsn) -> bool;
}

/// Rows that have left something behind.
pub(crate) struct Queue {
    pub(super) lists: Box<[CachePadded<Mutex<List>>]>,
    /// About how many there are.
    len: AtomicUsize,
}

/// Those that one slot has listed, and what has become of its lists.
#[derive(Default)]
pub(super) struct List {
    pub rows: Vec<Listed>,
    /// How many have been taken for cleaning.
    pub taken: u64,
    pub depth_max: usize,
    pub served_ns: u64,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            lists: (0..MAX_SLOTS).map(|_| CachePadded::default()).collect(),
            len: AtomicUsize::new(0),
        }
    }
}

/// What cleaning will look at begins to come: a row, later what is on top of it, later what is below that.
#[inline]
fn fetch_ahead(rows: &[Listed], at: usize, guard: &Guard) {
    if at == 0 {
        rows.iter().take(3 * AHEAD).for_each(Listed::fetch);
    }
    if let Some(listed) = rows.get(at + 3 * AHEAD) {
        listed.fetch();
    }
    // SAFETY: they are in a list, so nobody has freed them.
    let row = |at: usize| rows.get(at).map(|listed| unsafe { listed.row() });
    if let Some(top) = row(at + 2 * AHEAD).and_then(|row| row.newest(guard)) {
        fetch(top);
    }
    if let Some(below) = row(at + AHEAD).and_then(|row| row.newest(guard)?.older(guard)) {
        fetch(below);
    }
}

/// What became of a row.
enum Fate {
    Clean,
    /// There is more to take out, later.
    Later,
    Dead,
}

impl Table {
    /// The row has versions that may not be needed. Its transaction's snapshot is in use, or it is on top of nothing.
    pub(crate) fn queue(&self, row: &Row) {
        if !row.queued.load(Relaxed) && !row.queued.swap(true, AcqRel) {
            // First: who takes the list subtracts what is in it.
            self.queue.len.fetch_add(1, Relaxed);
            self.queue.lists[slot()].lock().rows.push(Listed::of(row));
        }
    }

    /// About how many rows wait to be cleaned.
    pub fn to_clean(&self) -> usize {
        self.queue.len.load(Relaxed)
    }

    /// Takes out what nobody needs, unless somebody is at it; how many versions and rows went.
    pub fn clean(&self, needs: &impl Needs, states: &impl States) -> u64 {
        let Some(_one) = self.cleaning.try_lock() else { return 0 };
        let mut leaving = Leaving::default();
        let mut gone = 0;
        // Its own first, which takes what is left for later and is not taken again.
        let own = slot();
        for at in 0..MAX_SLOTS {
            let list = &self.queue.lists[(own + at) % MAX_SLOTS];
            let rows = {
                let mut list = list.lock();
                if !list.rows.is_empty() {
                    list.taken += list.rows.len() as u64;
                    list.depth_max = list.depth_max.max(list.rows.len());
                    list.served_ns = runtime::clock::now_ns();
                }
                std::mem::take(&mut list.rows)
            };
            self.queue.len.fetch_sub(rows.len(), Relaxed);
            for (at, listed) in rows.iter().enumerate() {
                let guard = pin();
                fetch_ahead(&rows, at, &guard);
                // SAFETY: it was in a list, so nobody has freed it.
                let row = unsafe { listed.row() };
                if row.is_dead() {
                    // Killed while it was being put into this list.
                    self.free(row, &mut leaving, &guard);
                    continue;
                }
                row.queued.store(false, SeqCst);
                match self.clean_row(row, needs, states, &mut leaving, &guard) {
                    Fate::Clean => {}
                    // Now, while it is this row's turn: another list may have it, too, and see it dead.
                    Fate::Later => self.queue(row),
                    Fate::Dead => {
                        self.take_out(row, &guard);
                        if !row.queued.swap(true, AcqRel) {
                            self.free(row, &mut leaving, &guard);
                        }
                    }
                }
                if leaving.len() >= LEAVING_MAX {
                    gone += self.let_go(std::mem::take(&mut leaving), &guard);
                }
            }
        }
        gone + self.let_go(leaving, &pin())
    }

    /// Versions that are out of their chains, rows that are out of the index and of every list; how many.
    fn let_go(&self, leaving: Leaving, guard: &Guard) -> u64 {
        let gone = leaving.len() as u64;
        // SAFETY: only the cleaner, which is the caller, takes them out, and each once.
        unsafe { leaving.go(&self.slab, guard) };
        guard.hand_on();
        gone
    }

    /// A row that is out of the index and of every list.
    fn free(&self, row: &Row, leaving: &mut Leaving, guard: &Guard) {
        self.weigh(-(leaving.row(row, guard) as i64));
    }

    fn clean_row(
        &self,
        row: &Row,
        needs: &impl Needs,
        states: &impl States,
        leaving: &mut Leaving,
        guard: &Guard,
    ) -> Fate {
        let top = match row.top(guard) {
            Top::Dead => return Fate::Clean,
            Top::Empty if self.kill(row, None) => return Fate::Dead,
            Top::Empty => return Fate::Later,
            Top::Version(top) => top,
        };
        let horizon = needs.horizon();
        let mut above: &Version = top;
        let mut more = false;
        while let Some(version) = above.older(guard) {
            let (until, since) =
                (commit_of(above.stamp(), states), commit_of(version.stamp(), states));
            let is_needed = match (until, since) {
                (Some(until), _) if until < horizon => false,
                (Some(until), Some(since)) => needs.needs(since, until),
                _ => true,
            };
            if is_needed {
                more = true;
                above = version;
                continue;
            }
            self.weigh(-(leaving.version(above.unlink_older()) as i64));
        }
        let is_over = top.stamp().is_ghost()
            && !top.has_older()
            && commit_of(top.stamp(), states).is_some_and(|csn| csn < horizon);
        match (is_over, top.stamp().is_ghost() || more) {
            (true, _) if self.kill(row, Some(top)) => Fate::Dead,
            (false, false) => Fate::Clean,
            _ => Fate::Later,
        }
    }

    /// Kills a row, unless the tree beside lacks it, or something has come on top of `on`.
    fn kill(&self, row: &Row, on: Option<&Version>) -> bool {
        if !self.may_kill(row) {
            return false;
        }
        let killed = row.kill(on);
        if !killed {
            self.was_not_killed(row);
        }
        killed
    }
}
