//! A piece of the log's file on its way into memory while the piece before it is being looked at.
//!
//! Promise: a hint and no more. A piece that could not be read counts as not asked for, and whoever then reads it for
//! himself meets the error.
//!
//! Invariant: while a read is under way ([`PENDING`]) its memory is the device's alone. It belongs to the [`Piece`],
//! which the operation holds as well: who has lost interest lets go of it, and it goes when the operation is over.

use device::{File, IoDone, Op};
use parking_lot::Mutex;
use runtime::task::{self, Waker};
use std::cell::UnsafeCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::*};
use stdx::{AlignedBuf, BLOCK_BYTES};
use telemetry::WaitType;

const PENDING: u8 = 0;
const GOOD: u8 = 1;
const BAD: u8 = 2;

struct Piece {
    bytes: UnsafeCell<AlignedBuf>,
    wanted: usize,
    state: AtomicU8,
    waiter: Mutex<Option<Waker>>,
}

// SAFETY: `bytes` is touched by the device while the state is PENDING, and afterwards only by [`Ahead::take`], which has
// taken the piece out of the one `Ahead` that knows it.
unsafe impl Send for Piece {}
// SAFETY: as above.
unsafe impl Sync for Piece {}

impl IoDone for Piece {
    fn complete(&self, r: io::Result<usize>, _submitted_ns: u64, _completed_ns: u64) {
        let good = r.is_ok_and(|n| n == self.wanted);
        // Release: who sees the state sees the bytes.
        self.state.store(if good { GOOD } else { BAD }, Release);
        if let Some(waker) = self.waiter.lock().take() {
            waker.wake();
        }
    }
}

/// At most one piece under way.
#[derive(Default)]
pub(crate) struct Ahead {
    /// Its first block, how many, and the read.
    under_way: Option<(u64, u64, Arc<Piece>)>,
    /// Memory of a piece that was taken before.
    spare: Option<AlignedBuf>,
}

impl Ahead {
    /// Begins to read blocks `from..from + count`, which lie at `offset`, into memory of `room` bytes. What was under
    /// way is forgotten.
    pub(crate) fn start(
        &mut self,
        file: &dyn File,
        offset: u64,
        from: u64,
        count: u64,
        room: usize,
    ) {
        let spare = self.spare.take().filter(|buf| buf.len() == room);
        let piece = Arc::new(Piece {
            bytes: UnsafeCell::new(spare.unwrap_or_else(|| AlignedBuf::zeroed(room))),
            wanted: count as usize * BLOCK_BYTES,
            state: AtomicU8::new(PENDING),
            waiter: Mutex::new(None),
        });
        // SAFETY: nobody else knows the piece yet; the memory is at least `wanted` bytes, as `count` blocks fit into
        // `room`, and does not move when the buffer's owner does.
        let at = unsafe { (*piece.bytes.get()).as_mut_ptr() };
        // SAFETY: the operation holds the piece, and with it the memory, until it is over; nobody touches it before.
        unsafe { file.submit(Op::Read, offset, at, piece.wanted, piece.clone()) };
        self.under_way = Some((from, count, piece));
    }

    /// If `block` is in the piece under way: waits for it, and gives its memory for `buf`; which blocks it holds.
    /// Suspends.
    pub(crate) fn take(&mut self, block: u64, buf: &mut AlignedBuf) -> Option<(u64, u64)> {
        let (from, count, piece) = self.under_way.take()?;
        if !(from..from + count).contains(&block) {
            return None;
        }
        while piece.state.load(Acquire) == PENDING {
            *piece.waiter.lock() = Some(task::current_waker());
            // Looked at again: the end may have come before it could find us.
            if piece.state.load(Acquire) == PENDING {
                task::park(WaitType::IoCompletion, None);
            }
        }
        if piece.state.load(Acquire) != GOOD {
            return None;
        }
        // SAFETY: the read is over (Acquire, above), and we have taken the only way to the piece but the operation's,
        // which does not touch the memory any more.
        let read = unsafe { &mut *piece.bytes.get() };
        std::mem::swap(read, buf);
        self.spare = Some(std::mem::replace(read, AlignedBuf::zeroed(0)));
        Some((from, count))
    }
}
