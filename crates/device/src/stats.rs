//! What was read and written through a file, and what is on its way.
//!
//! Recorded once per operation, which takes the device a thousand times longer: atomic additions to cells of the file,
//! and a short list under a lock. Operations that fail are not counted as done.

use crate::Op;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Figures of a file since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStats {
    pub reads: u64,
    pub read_bytes: u64,
    /// From submission to completion, summed; nanoseconds.
    pub read_ns: u64,
    /// Writes of both kinds; a sync is none.
    pub writes: u64,
    pub write_bytes: u64,
    pub write_ns: u64,
    /// What is on its way, oldest first.
    pub pending: Vec<PendingIo>,
}

/// An operation that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingIo {
    pub op: Op,
    pub offset: u64,
    pub bytes: u64,
    /// On `runtime::clock::now_ns`.
    pub submitted_ns: u64,
    /// Names it among those of its file.
    pub ticket: u64,
}

/// What an open file keeps of itself.
#[derive(Default)]
pub(crate) struct Recorder {
    read: Cells,
    write: Cells,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Cells {
    count: AtomicU64,
    bytes: AtomicU64,
    ns: AtomicU64,
}

#[derive(Default)]
struct Pending {
    next_ticket: u64,
    all: Vec<PendingIo>,
}

impl Recorder {
    /// An operation begins; its ticket, to be given back to [`Recorder::ended`].
    pub fn begin(&self, op: Op, offset: u64, bytes: usize, submitted_ns: u64) -> u64 {
        let mut pending = self.pending.lock();
        let ticket = pending.next_ticket;
        pending.next_ticket += 1;
        pending.all.push(PendingIo { op, offset, bytes: bytes as u64, submitted_ns, ticket });
        ticket
    }

    /// It is over: `moved` bytes in so long, or `None` when it failed.
    pub fn ended(&self, ticket: u64, op: Op, moved: Option<usize>, took_ns: u64) {
        {
            let mut pending = self.pending.lock();
            if let Some(at) = pending.all.iter().position(|io| io.ticket == ticket) {
                pending.all.remove(at);
            }
        }
        let cells = match op {
            Op::Read => &self.read,
            Op::Write | Op::WriteDurable => &self.write,
            Op::Sync | Op::SyncAll => return,
        };
        if let Some(bytes) = moved {
            cells.count.fetch_add(1, Relaxed);
            cells.bytes.fetch_add(bytes as u64, Relaxed);
            cells.ns.fetch_add(took_ns, Relaxed);
        }
    }

    pub fn stats(&self) -> FileStats {
        FileStats {
            reads: self.read.count.load(Relaxed),
            read_bytes: self.read.bytes.load(Relaxed),
            read_ns: self.read.ns.load(Relaxed),
            writes: self.write.count.load(Relaxed),
            write_bytes: self.write.bytes.load(Relaxed),
            write_ns: self.write.ns.load(Relaxed),
            pending: self.pending.lock().all.clone(),
        }
    }
}
