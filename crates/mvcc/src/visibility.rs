//! The one question of a reader: do I see this row?
//!
//! Invariants: a CSN is visible exactly when it is below the snapshot (a snapshot is the log's tail at the start of
//! the statement, a CSN the start of a commit record, so equality means "after"). A transaction always sees its own
//! rows. `Committing` means the CSN has been or is being drawn but is not yet published: spin, it takes nanoseconds.

use crate::{Stamp, Xid};
use log_manager::Lsn;

/// What is known about a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XidStatus {
    /// Unfinished, and its CSN, if it gets one, will be above every snapshot taken so far.
    Active,
    /// Between drawing its CSN and publishing it.
    Committing,
    /// Committed at this CSN; zero when so long ago that the CSN is forgotten.
    Committed(Lsn),
    /// Rolled back or rolling back.
    Aborted,
}

/// What a reader does with a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visibility {
    /// Take it.
    Visible,
    /// The reader sees that the row is deleted.
    VisibleGhost,
    /// Not for this reader: look in the version store when the stamp says there is an older version, else the row
    /// does not exist for it.
    Older,
    /// Ask again in a few nanoseconds.
    Spin,
}

/// Whether the version stamped `stamp` is the one for a reader of `snapshot` inside transaction `own`.
#[inline]
pub fn visible(
    stamp: Stamp,
    snapshot: Lsn,
    own: Xid,
    status: impl FnOnce(Xid) -> XidStatus,
) -> Visibility {
    let csn = match stamp.xid() {
        None => Lsn(stamp.0 & Stamp::VALUE),
        Some(xid) if xid == own && !own.is_none() => return seen(stamp),
        Some(xid) => match status(xid) {
            XidStatus::Committed(csn) => csn,
            XidStatus::Committing => return Visibility::Spin,
            XidStatus::Active | XidStatus::Aborted => return Visibility::Older,
        },
    };
    if csn.0 == 0 || csn < snapshot { seen(stamp) } else { Visibility::Older }
}

#[inline]
fn seen(stamp: Stamp) -> Visibility {
    if stamp.is_ghost() { Visibility::VisibleGhost } else { Visibility::Visible }
}
