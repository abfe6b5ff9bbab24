//! Ghost clean-up: rows that are deleted and that nobody needs leave their pages, and pages of which nothing is left
//! leave their tree.
//!
//! Without it a table whose rows come at one end and go at the other would grow for ever: nobody else comes to where its
//! rows were. Where to look is told by [`transaction::Ghosts`]. A leaf that still has ghosts then (a transaction is not over,
//! a snapshot is old) is looked at again a while later.
//!
//! Invariants: a tree is cleaned under the same short lock as an insert takes, so nobody drops it meanwhile; what is
//! cleaned belongs to no transaction and is redo-only. It takes a part of the time ([`SHARE`]), and goes on at a certain
//! rate however little of a processor the server gets ([`PLACES_LEAST`], [`PAUSE_MOST_NS`]): what is not cleaned costs more.

use crate::tree::GONE;
use crate::{Database, EngineError, Tree};
use buffer_pool::PageId;
use runtime::{clock, task};
use std::sync::atomic::{AtomicBool, Ordering::*};
use storage::{Compaction, StorageError, TreeId};
use transaction::{Place, Sweeper};

static OFF: AtomicBool = AtomicBool::new(false);

/// Whether ghosts are cleaned up (trace flag 661 turns it off), in every database of the process. What is found meanwhile
/// is remembered.
pub fn set_ghost_cleanup(on: bool) {
    OFF.store(!on, Relaxed);
}

/// Of the time that it took, so many times as much passes until the next turn.
const SHARE: u64 = 4;
/// But no longer.
const PAUSE_MOST_NS: u64 = 50_000_000;
/// A turn ends after so long, and so many places; the rest has to wait for the next.
const TURN_NS: u64 = 20_000_000;
const PLACES_LEAST: usize = 256;
/// Places that are put in order together.
const BATCH: usize = 8192;
/// When a leaf that could not be cleaned is looked at again.
const AGAIN_NS: u64 = 500_000_000;
/// Leaves leave a tree one by one; after so many the inner pages above them are looked at, all of them.
const LEAVES_PER_LOOK: u64 = 64;
/// Or after as many as take as long to clean as looking has taken the last time, at so much a leaf.
const LEAF_NS: u64 = 20_000;

/// What cleaning remembers from turn to turn.
#[derive(Default)]
pub(crate) struct Cleaning {
    /// Not before then.
    after_ns: u64,
    /// What is left of the last batch.
    left: Vec<Place>,
    /// What could not be cleaned, and when it is looked at again.
    later: Vec<Place>,
    later_ns: u64,
}

/// In a log that has less room than this nothing is cleaned, in bytes: more than one place takes.
const ROOM: u64 = 64 << 10;

/// How a tree's turn went.
struct Turn {
    /// The first so many places are done with.
    done: usize,
    /// One key of each leaf that has ghosts left.
    later: Vec<Place>,
}

impl Database {
    /// Cleans where ghosts may go, for a while. Whether there is more to do. Suspends.
    pub(crate) fn clean_ghosts(&self) -> bool {
        let begun = clock::now_ns();
        // What is left in a full log is for rollbacks, each of which may leave ghosts.
        let full = !self.shared.log.has_room(ROOM);
        let mut cleaning = self.cleaning.lock();
        if full || begun < cleaning.after_ns || OFF.load(Relaxed) || self.is_recovering() {
            return false;
        }
        let mut places = std::mem::take(&mut cleaning.left);
        if begun >= cleaning.later_ns {
            self.shared.ghosts.put(cleaning.later.drain(..));
        }
        drop(cleaning);
        if places.is_empty() {
            places = self.shared.ghosts.take(BATCH);
        }
        if places.is_empty() {
            return false;
        }
        let until = begun + TURN_NS;
        let (mut at, mut later) = (0, Vec::new());
        while at < places.len() && self.goes_on(at, until) {
            let tree = places[at].0;
            let len = places[at..].iter().take_while(|place| place.0 == tree).count();
            let mine = &places[at..at + len];
            match self.clean_tree(tree, mine, until) {
                Ok(mut turn) => {
                    at += turn.done;
                    later.append(&mut turn.later);
                }
                Err(error) => {
                    if self.store.owner_of(PageId(tree)).is_ok_and(|o| o == Some(tree_id(tree))) {
                        self.note_error(&format!("cleaning ghosts: {error}"));
                    }
                    at += len;
                }
            }
        }
        let left = places.split_off(at);
        let busy = !left.is_empty() || !self.shared.ghosts.is_empty();
        let now = clock::now_ns();
        let mut cleaning = self.cleaning.lock();
        cleaning.left = left;
        if cleaning.later.is_empty() {
            cleaning.later_ns = now + AGAIN_NS;
        }
        cleaning.later.append(&mut later);
        cleaning.after_ns = now + (SHARE * (now - begun)).min(PAUSE_MOST_NS);
        busy
    }

    /// Whether a turn that is done with so many places takes another one.
    fn goes_on(&self, done: usize, until: u64) -> bool {
        (done < PLACES_LEAST || clock::now_ns() < until) && self.shared.log.has_room(ROOM)
    }

    /// Whether all that is known of is cleaned.
    #[cfg(test)]
    pub(crate) fn is_clean(&self) -> bool {
        let cleaning = self.cleaning.lock();
        self.shared.ghosts.is_empty() && cleaning.left.is_empty() && cleaning.later.is_empty()
    }

    /// Some of a tree's places, all of them if time allows.
    fn clean_tree(&self, number: u64, places: &[Place], until: u64) -> Result<Turn, EngineError> {
        if !self.shared.locks.try_enter_table(number) {
            return Ok(Turn { done: places.len(), later: places.to_vec() });
        }
        let cleaned = self.clean_entered(number, places, until);
        self.shared.locks.leave_table(number);
        cleaned
    }

    fn clean_entered(
        &self,
        number: u64,
        places: &[Place],
        until: u64,
    ) -> Result<Turn, EngineError> {
        let id = tree_id(number);
        let mut turn = Turn { done: places.len(), later: Vec::new() };
        if self.store.owner_of(id.0)? != Some(id) {
            return Ok(turn);
        }
        let tree = self.tree(id);
        if tree.inner.shape.load(Acquire) == GONE {
            return Ok(turn);
        }
        // Without it the one who has it sees to empty leaves.
        let mut compaction = tree.inner.tree.compaction();
        let mut emptied = 0;
        let mut done_below: Option<Vec<u8>> = None;
        for (i, place) in places.iter().enumerate() {
            if done_below.as_ref().is_some_and(|upper| *place.1 < upper[..]) {
                continue;
            }
            if !self.goes_on(i, until) {
                turn.done = i;
                break;
            }
            task::maybe_yield();
            let swept = tree.inner.tree.sweep(&mut Sweeper(&self.shared), &place.1)?;
            if swept.ghosts > 0 {
                turn.later.push(place.clone());
            }
            if let Some(compaction) = &mut compaction
                && swept.is_empty
                && !swept.lower.is_empty()
            {
                emptied += u64::from(compaction.empty_leaf(&swept.lower)?);
            }
            match swept.upper {
                Some(upper) => done_below = Some(upper),
                None => break,
            }
        }
        if let Some(compaction) = compaction.filter(|_| emptied > 0) {
            tidy(&tree, compaction, emptied)?;
        }
        Ok(turn)
    }
}

fn tree_id(number: u64) -> TreeId {
    TreeId(PageId(number))
}

/// Sees to the pages above leaves that have left, and to extents of which nothing is left.
fn tidy(tree: &Tree, mut turn: Compaction<'_>, emptied: u64) -> Result<(), StorageError> {
    let inner = &tree.inner;
    let all = inner.emptied.fetch_add(emptied, Relaxed) + emptied;
    if all >= inner.look_after.load(Relaxed).max(LEAVES_PER_LOOK) {
        inner.emptied.store(0, Relaxed);
        let begun = clock::now_ns();
        turn.inner(&mut || false)?;
        inner.look_after.store((clock::now_ns() - begun) / LEAF_NS, Relaxed);
    }
    turn.free_spare_extents()?;
    Ok(())
}
