//! Where pieces of rows, or groups, pass from the branches to whoever gathers them.
//!
//! Promise: no more than there is room for; the first error ends all; who takes nothing more lets nobody wait for room.
//!
//! Left rows pass the other way, to branches that join them. Whoever hands them out takes joined rows too, and waits only
//! while there are none and no room for left rows; a branch waits for left rows, or for room for joined ones, each of which
//! the other side gives: so they never wait for each other.

use super::super::group_table::GroupTable;
use super::super::join_filter::JoinFilter;
use super::super::shared::{Grouped, SharedJoin};
use super::super::simple::Source;
use crate::batch::{BATCH_ROWS, Batch};
use crate::columns::Columns;
use crate::cx::Cx;
use crate::message::SqlError;
use crate::message::cancelled;
use parking_lot::Mutex;
use runtime::task::{self, Waker};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use telemetry::WaitType;

/// Batches that wait to be taken, for each branch.
const BATCHES_AHEAD: usize = 4;

/// The cancel flag is looked at this often while there is nothing to do, in ns.
const LOOK_NS: u64 = 50_000_000;

/// Where batches pass from the branches to whoever gathers them.
pub(super) struct Exchange {
    /// Nobody wants more. Branches take it for the flag of a cancelled statement.
    pub stop: Arc<AtomicBool>,
    room: usize,
    queue: Mutex<Queue>,
    /// Rows that do not pass them are not wanted; branches take them up when they are there.
    pub filters: OnceLock<Vec<JoinFilter>>,
    /// Slots that somebody above reads; None: all.
    pub needed: Option<Vec<bool>>,
    /// Whoever takes rows has a use for columns.
    pub by_column: bool,
    /// Branches group their rows, and hand over groups.
    pub grouped: Option<Arc<Grouped>>,
    /// What joins in the input were built of, in their order.
    pub joins: Vec<SharedJoin>,
}

/// What passes at a time.
pub(super) enum Piece {
    Rows(Batch),
    Columns(Columns),
    Groups(GroupTable),
}

#[derive(Default)]
struct Queue {
    full: VecDeque<Piece>,
    /// Buffers to be used again.
    empty: Vec<Batch>,
    empty_columns: Vec<Columns>,
    running: usize,
    error: Option<SqlError>,
    /// What branches have seen of others' commits for the batches that they have handed over.
    seen: Option<engine::Seen>,
    consumer: Option<Waker>,
    producers: Vec<Waker>,
    handed: Handed,
}

/// Left rows on their way to branches that join them.
#[derive(Default)]
struct Handed {
    batches: VecDeque<Batch>,
    /// Buffers to be used again.
    empty: Vec<Batch>,
    /// There are no more.
    ended: bool,
    /// Branches without any.
    waiting: Vec<Waker>,
}

/// What whoever hands left rows out is to do next.
pub(super) enum Next {
    /// Take these joined rows.
    Joined(Batch),
    /// Hand out more; a buffer for them.
    Left(Batch),
    /// All have been joined.
    End,
}

impl Queue {
    /// The next piece, whose room is free again; the first error instead.
    fn pop(&mut self, cx: &mut Cx<'_>) -> Result<Option<Piece>, SqlError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Some(piece) = self.full.pop_front() else { return Ok(None) };
        // Whoever gets rows answers for what they show, also when nobody asks for more of them.
        if let (Some(txn), Some(seen)) = (cx.txn.as_deref_mut(), self.seen.take()) {
            txn.note_seen(seen);
        }
        self.producers.drain(..).for_each(|w| w.wake());
        Ok(Some(piece))
    }

    /// Whatever they wait for.
    fn wake_branches(&mut self) {
        self.producers.drain(..).chain(self.handed.waiting.drain(..)).for_each(|w| w.wake());
    }
}

/// This task is among those that are woken.
fn note_waiting(waiting: &mut Vec<Waker>) {
    let me = task::current_waker();
    if !waiting.iter().any(|w| w.will_wake(&me)) {
        waiting.push(me);
    }
}

/// Until a branch wakes its consumer, or it is time to look at the cancel flag.
fn wait_for_branches(cx: &Cx<'_>) -> Result<(), SqlError> {
    if cx.cancel.load(Relaxed) {
        return Err(cancelled());
    }
    task::park(WaitType::CxConsumer, Some(runtime::clock::now_ns() + LOOK_NS));
    Ok(())
}

impl Exchange {
    /// For so many branches.
    pub fn of(branches: usize) -> Exchange {
        Exchange {
            stop: Arc::default(),
            room: branches * BATCHES_AHEAD,
            queue: Mutex::new(Queue { running: branches, ..Queue::default() }),
            filters: OnceLock::new(),
            needed: None,
            by_column: false,
            grouped: None,
            joins: Vec::new(),
        }
    }

    /// Hands a piece over, of rows read by a transaction that has seen so much; false when nobody wants it. Waits for
    /// room.
    pub fn put(&self, piece: &mut Piece, seen: Option<engine::Seen>) -> bool {
        loop {
            {
                let mut queue = self.queue.lock();
                if self.is_stopped() {
                    return false;
                }
                if queue.full.len() < self.room {
                    let mut empty = match piece {
                        Piece::Rows(_) => Piece::Rows(queue.empty.pop().unwrap_or_default()),
                        Piece::Columns(_) => {
                            Piece::Columns(queue.empty_columns.pop().unwrap_or_default())
                        }
                        Piece::Groups(_) => Piece::Groups(GroupTable::default()),
                    };
                    if let Piece::Rows(batch) = &mut empty {
                        // Whoever used it before may have wanted few rows.
                        batch.set_target(BATCH_ROWS);
                    }
                    queue.full.push_back(std::mem::replace(piece, empty));
                    queue.seen = match (queue.seen, seen) {
                        (Some(a), Some(b)) => Some(a.and(b)),
                        (a, b) => a.or(b),
                    };
                    if let Some(consumer) = queue.consumer.take() {
                        consumer.wake();
                    }
                    return true;
                }
                note_waiting(&mut queue.producers);
            }
            task::park(WaitType::CxPacket, None);
        }
    }

    /// A branch has ended.
    pub fn end(&self, result: Result<(), SqlError>) {
        let mut queue = self.queue.lock();
        queue.running -= 1;
        if let Err(error) = result {
            // The first to fail says why; others were stopped by it.
            if queue.error.is_none() && !self.stop.load(Relaxed) {
                queue.error = Some(error);
            }
            self.stop.store(true, Relaxed);
            queue.wake_branches();
        }
        if let Some(consumer) = queue.consumer.take() {
            consumer.wake();
        }
    }

    /// The next piece in place of `used`; false when all branches have ended.
    pub fn take(&self, used: &mut Option<Piece>, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        loop {
            {
                let mut queue = self.queue.lock();
                if let Some(piece) = queue.pop(cx)? {
                    match used.replace(piece) {
                        Some(Piece::Rows(batch)) => queue.empty.push(batch),
                        Some(Piece::Columns(columns)) => queue.empty_columns.push(columns),
                        Some(Piece::Groups(_)) | None => {}
                    }
                    return Ok(true);
                }
                if queue.running == 0 {
                    return Ok(false);
                }
                queue.consumer = Some(task::current_waker());
            }
            wait_for_branches(cx)?;
        }
    }

    /// Tells a branch's operators what rows are not wanted, as soon as that is known, and once.
    pub fn tell_filters(&self, told: &mut bool, operator: &mut Source<'_>) {
        if let (false, Some(filters)) = (*told, self.filters.get()) {
            filters.iter().for_each(|filter| operator.narrow(Some(filter)));
            *told = true;
        }
    }

    /// Asked with the queue locked, before a branch notes that it waits: whoever stops it says so before the queue is locked to
    /// wake those who wait, so either the branch sees it or it is woken.
    fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Nobody wants more.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.queue.lock().wake_branches();
    }

    /// What comes next for whoever hands left rows out: joined rows first, then room for more left ones. Waits while there is
    /// neither. `used`: a buffer that is free.
    pub fn next_of_loops(&self, used: Batch, cx: &mut Cx<'_>) -> Result<Next, SqlError> {
        let mut used = Some(used);
        loop {
            {
                let queue = &mut *self.queue.lock();
                if let Some(piece) = queue.pop(cx)? {
                    let Piece::Rows(batch) = piece else {
                        stdx::fatal!("nested loops in branches give rows")
                    };
                    queue.empty.extend(used.take());
                    return Ok(Next::Joined(batch));
                }
                if queue.running == 0 {
                    return Ok(Next::End);
                }
                if !queue.handed.ended && queue.handed.batches.len() < self.room {
                    queue.empty.extend(used.take());
                    return Ok(Next::Left(queue.handed.empty.pop().unwrap_or_default()));
                }
                queue.consumer = Some(task::current_waker());
            }
            wait_for_branches(cx)?;
        }
    }

    /// Hands left rows to whichever branch is free; None: there are no more.
    pub fn hand_out(&self, left: Option<Batch>) {
        let handed = &mut self.queue.lock().handed;
        handed.ended |= left.is_none();
        handed.batches.extend(left);
        handed.waiting.drain(..).for_each(|w| w.wake());
    }

    /// In a branch: left rows in place of `used`. False when there are no more.
    pub fn take_left(&self, used: &mut Batch) -> bool {
        loop {
            {
                let queue = &mut *self.queue.lock();
                if self.is_stopped() {
                    return false;
                }
                if let Some(batch) = queue.handed.batches.pop_front() {
                    queue.handed.empty.push(std::mem::replace(used, batch));
                    if let Some(consumer) = queue.consumer.take() {
                        consumer.wake();
                    }
                    return true;
                }
                if queue.handed.ended {
                    return false;
                }
                note_waiting(&mut queue.handed.waiting);
            }
            task::park(WaitType::CxConsumer, None);
        }
    }
}
