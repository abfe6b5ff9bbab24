//! Changes of several leaves, and the commit, in one record.
//!
//! ```text
//! envelope of a record without a transaction id, then for each change: length of the op u32, the op
//! ```
//! The changes are storage's ops, each of another page, without what they would be undone with; the record's start is the
//! commit number, with which rows are stamped. It is there whole after a crash, or it is not there: nothing is undone.

use crate::context::{on_existing, stamp_for_good};
use crate::envelope::{self, Kind};
use crate::shared::wall_us;
use crate::{SYSTEM_ENVELOPE_BYTES, Shared};
use log_manager::{Appended, Lease, LogError, RECORD_BYTES_MAX, record_bytes};
use mvcc::{Stamp, Xid};
use storage::{OnExisting, OpHeader, PageOp};

/// Bytes of a change beside key and rows, at most.
const OP_BYTES: usize = 4 + 48;

/// Whether changes of so many bytes, keys and rows, may be one record.
pub fn fits_together(changes: usize, bytes: usize) -> bool {
    record_bytes(SYSTEM_ENVELOPE_BYTES + changes * OP_BYTES + bytes) <= RECORD_BYTES_MAX
}

/// Sees to the room for such a record; whether that took no waiting. Suspends.
pub fn lease_together(shared: &Shared, changes: usize, bytes: usize) -> Result<bool, LogError> {
    let bytes = record_bytes(SYSTEM_ENVELOPE_BYTES + changes * OP_BYTES + bytes);
    if shared.log.is_leased(bytes) {
        return Ok(true);
    }
    shared.log.ensure_lease(bytes, Lease::Normal).map(|()| false)
}

/// Appends the record of changes whose leaves are held, on the room had before. `unix_ns`: the clock, if it was read just
/// before. `body` is memory to work with.
pub fn append_together<'a>(
    shared: &Shared,
    changes: impl Iterator<Item = PageOp<'a>>,
    unix_ns: Option<u64>,
    body: &mut Vec<u8>,
) -> Appended {
    body.clear();
    for op in changes {
        let op = op.for_good();
        let at = body.len();
        body.extend_from_slice(&[0; 4]);
        let mut header = OpHeader::new();
        op.encode(&mut header).iter().for_each(|part| body.extend_from_slice(part));
        let len = (body.len() - at - 4) as u32;
        body[at..at + 4].copy_from_slice(&len.to_le_bytes());
    }
    let wall_us = unix_ns.map_or_else(wall_us, |ns| ns / 1000);
    let envelope = envelope::short(Kind::FusedMany, wall_us);
    shared.log.append(&[&envelope, body])
}

/// What the row of such a change is stamped with, which was logged at `at`; the version before it is kept where somebody may
/// read that. Its leaf is latched.
#[inline]
pub fn stamp_together(shared: &Shared, op: &PageOp<'_>, at: Appended) -> Stamp {
    stamp_for_good(shared, op, at)
}

/// Whether a row may come where this ghost is: its deleter is done.
pub fn may_replace(shared: &Shared, ghost: Stamp) -> bool {
    on_existing(shared, ghost, Xid::NONE).0 == OnExisting::ReplaceGhost
}

/// The changes in the body of such a record; none for what is no change.
pub fn ops_together(body: &[u8]) -> impl Iterator<Item = Option<PageOp<'_>>> {
    let mut rest = body;
    std::iter::from_fn(move || {
        // Padding may follow.
        let (len, behind) = rest.split_first_chunk::<4>()?;
        let len = u32::from_le_bytes(*len) as usize;
        if len == 0 {
            return None;
        }
        let Some((op, behind)) = behind.split_at_checked(len) else {
            rest = &[];
            return Some(None);
        };
        rest = behind;
        Some(PageOp::decode(op))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Envelope;
    use buffer_pool::PageId;
    use storage::{LogRow, TreeId};

    #[test]
    fn changes_read_back() {
        let (tree, page) = (TreeId(PageId(8)), PageId(9));
        let row = LogRow { head: b"head", fill_len: 20, fill_byte: b' ', tail: b"t" };
        let insert = PageOp::Insert { tree, page, key: b"key", row };
        let ghost = PageOp::Ghost { tree, page, key: b"k", old_stamp: Stamp::default(), row: &[] };
        let mut bytes = envelope::short(Kind::FusedMany, 7).to_vec();
        for op in [insert, ghost] {
            let mut header = OpHeader::new();
            let op = op.encode(&mut header).concat();
            bytes.extend_from_slice(&(op.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&op);
        }
        bytes.extend_from_slice(&[0; 7]);
        let envelope = Envelope::decode(&bytes).expect("an envelope");
        assert_eq!((envelope.kind, envelope.wall_us), (Kind::FusedMany, 7));
        let ops: Vec<_> = ops_together(envelope.body).collect();
        assert_eq!(ops, [Some(insert), Some(ghost)]);
        let cut = &envelope.body[..40];
        assert!(ops_together(cut).any(|op| op.is_none()), "one that is cut is told");
    }
}
