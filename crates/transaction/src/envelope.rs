//! What stands before the op in a log record: whose it is, and what comes before it.
//!
//! ```text
//! 0 kind u8 | 1 wall clock u56, microseconds since 1970 (commits; else 0)
//! transaction kinds go on:   8 xid u64 | 16 prev u64 (LSN of the transaction's record before; of a compensation:
//!                            the next one to undo)
//! then the op (storage's bytes), a tree's number u64, or images of rows (storage::memory)
//! ```
//! A fused record is begin, op (or ops) and commit in one: no xid, its start is the commit number.

use log_manager::Lsn;
use mvcc::Xid;

/// Bytes before the op in records without a transaction id.
pub const SYSTEM_ENVELOPE_BYTES: usize = 8;
/// Bytes before the op in records with one.
pub const TXN_ENVELOPE_BYTES: usize = 24;

/// What a record is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Housekeeping of storage; redo-only.
    System = 1,
    /// Begin, op and commit in one.
    Fused = 2,
    /// An op of a transaction.
    Op = 3,
    /// The op that takes another back.
    Compensation = 4,
    Commit = 5,
    /// Everything has been undone.
    Abort = 6,
    /// The transaction has made a tree; undone by freeing it.
    TreeCreated = 7,
    /// The tree goes when the transaction commits.
    TreeDropped = 8,
    /// A dropped tree's pages are free.
    DropDone = 9,
    /// The drop of the tree is committed; its pages are not free yet.
    DropPending = 10,
    /// A checkpoint: recovery begins here or below.
    Checkpoint = 11,
    /// The transaction is a part of one over several databases: whether it has committed is decided under this number.
    Prepared = 12,
    /// What a transaction has made of rows in memory, or a part of it: nothing is undone by it, and redone only once
    /// it has committed.
    Rows = 13,
    /// The last of that, and the commit.
    RowsCommit = 14,
    /// Begin, several ops and commit in one: see `together.rs`.
    FusedMany = 15,
}

/// A decoded envelope and the bytes behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope<'a> {
    pub kind: Kind,
    /// Microseconds since 1970; 0 where it is not kept.
    pub wall_us: u64,
    pub xid: Xid,
    pub prev: Lsn,
    pub body: &'a [u8],
}

impl Kind {
    #[inline]
    fn of(byte: u8) -> Option<Kind> {
        use Kind::*;
        Some(match byte {
            1 => System,
            2 => Fused,
            3 => Op,
            4 => Compensation,
            5 => Commit,
            6 => Abort,
            7 => TreeCreated,
            8 => TreeDropped,
            9 => DropDone,
            10 => DropPending,
            11 => Checkpoint,
            12 => Prepared,
            13 => Rows,
            14 => RowsCommit,
            15 => FusedMany,
            _ => return None,
        })
    }

    /// Whether a transaction has committed with it.
    pub fn commits(self) -> bool {
        matches!(self, Kind::Commit | Kind::Fused | Kind::FusedMany | Kind::RowsCommit)
    }

    /// Whether the envelope has an xid and a back link.
    pub fn has_xid(self) -> bool {
        !matches!(
            self,
            Kind::System
                | Kind::Fused
                | Kind::FusedMany
                | Kind::DropDone
                | Kind::DropPending
                | Kind::Checkpoint
        )
    }
}

/// The short envelope.
#[inline]
pub(crate) fn short(kind: Kind, wall_us: u64) -> [u8; SYSTEM_ENVELOPE_BYTES] {
    (u64::from(kind as u8) | wall_us << 8).to_le_bytes()
}

/// The envelope of a transaction's record.
#[inline]
pub(crate) fn long(kind: Kind, wall_us: u64, xid: Xid, prev: Lsn) -> [u8; TXN_ENVELOPE_BYTES] {
    let mut bytes = [0; TXN_ENVELOPE_BYTES];
    bytes[..8].copy_from_slice(&short(kind, wall_us));
    bytes[8..16].copy_from_slice(&xid.0.to_le_bytes());
    bytes[16..].copy_from_slice(&prev.0.to_le_bytes());
    bytes
}

impl<'a> Envelope<'a> {
    /// Takes a record's payload apart. `None` when it is none of ours.
    pub fn decode(payload: &'a [u8]) -> Option<Envelope<'a>> {
        let (head, body) = payload.split_at_checked(8)?;
        let word = u64_at(head);
        let kind = Kind::of(word as u8)?;
        let wall_us = word >> 8;
        if !kind.has_xid() {
            return Some(Envelope { kind, wall_us, xid: Xid::NONE, prev: Lsn::NONE, body });
        }
        let (ids, body) = body.split_at_checked(16)?;
        let (xid, prev) = (Xid(u64_at(&ids[..8])), Lsn(u64_at(&ids[8..])));
        Some(Envelope { kind, wall_us, xid, prev, body })
    }

    /// The tree's number in a body that is one.
    pub fn tree(&self) -> Option<u64> {
        self.body.get(..8).map(u64_at)
    }
}

fn u64_at(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("8 bytes"))
}
