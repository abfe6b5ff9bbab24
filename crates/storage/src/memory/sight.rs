//! What a transaction sees of a row: one version, or none; and whether that is still so when it commits.

use crate::memory::reclaim::Guard;
use crate::memory::row::Row;
use crate::memory::version::Version;
use log_manager::Lsn;
use mvcc::{Stamp, Visibility, Xid, XidStatus, visible};

/// What is known of transactions.
pub trait States {
    fn status(&self, xid: Xid) -> XidStatus;

    /// Whether a transaction has begun to commit, or has committed: it is past the point at which it looks at what others
    /// have written, or will look once more at all that is written by now. One answer of one moment: between two
    /// questions it may have gone from preparing to committed.
    fn has_prepared(&self, xid: Xid) -> bool;
}

/// Whose eyes: a transaction's, as of a snapshot.
pub struct Sight<'a, S: States> {
    /// Commits below are seen.
    pub snapshot: Lsn,
    pub own: Xid,
    pub states: &'a S,
}

/// What others have done, since a snapshot, to a row that a transaction has read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    No,
    /// The row that it has seen is another one by now, or gone.
    Row,
    /// A row has come that it has not seen.
    Phantom,
}

impl<S: States> Sight<'_, S> {
    /// The version that it sees, a deletion too.
    #[inline]
    pub(crate) fn version<'g>(&self, row: &Row, guard: &'g Guard) -> Option<&'g Version> {
        let mut at = row.newest(guard);
        while let Some(version) = at {
            match self.of(version.stamp()) {
                Visibility::Visible | Visibility::VisibleGhost => return Some(version),
                // Its number is drawn and will be known in nanoseconds.
                Visibility::Spin => std::hint::spin_loop(),
                Visibility::Older => at = version.older(guard),
            }
        }
        None
    }

    /// The row that it sees.
    #[inline]
    pub(crate) fn row<'g>(&self, row: &Row, guard: &'g Guard) -> Option<&'g Version> {
        self.version(row, guard).filter(|version| !version.stamp().is_ghost())
    }

    #[inline]
    fn of(&self, stamp: Stamp) -> Visibility {
        visible(stamp, self.snapshot, self.own, |xid| self.states.status(xid))
    }

    /// When the commit was that made a version; `None` while there is none.
    #[inline]
    pub(crate) fn commit_of(&self, stamp: Stamp) -> Option<Lsn> {
        commit_of(stamp, self.states)
    }

    /// Whether somebody else has written the row since the snapshot, or is about to commit having done so. Whoever
    /// asks has said before that it is preparing, and a fence stands between: see [`crate::memory::Table::changed`].
    pub(crate) fn changed(&self, row: &Row, guard: &Guard) -> Changed {
        let mut at = row.newest(guard);
        let mut moved = false;
        while let Some(version) = at {
            let stamp = version.stamp();
            let foreign = stamp.xid().filter(|xid| *xid != self.own);
            if stamp.xid().is_some() && foreign.is_none() {
                at = version.older(guard);
                continue;
            }
            match (self.commit_of(stamp), foreign) {
                (Some(csn), _) if csn.0 == 0 || csn < self.snapshot => break,
                (None, Some(xid)) if !self.states.has_prepared(xid) => {}
                _ => moved = true,
            }
            at = version.older(guard);
        }
        if !moved {
            return Changed::No;
        }
        // Its own changes hide what it saw before them; that is older.
        match at.is_some_and(|version| !version.stamp().is_ghost()) {
            true => Changed::Row,
            false => Changed::Phantom,
        }
    }
}

/// When the commit was that made a version, by what is known of transactions.
#[inline]
pub(crate) fn commit_of(stamp: Stamp, states: &impl States) -> Option<Lsn> {
    loop {
        let Some(xid) = stamp.xid() else { return stamp.csn() };
        match states.status(xid) {
            XidStatus::Committed(csn) => return Some(csn),
            XidStatus::Committing => std::hint::spin_loop(),
            XidStatus::Active | XidStatus::Aborted => return None,
        }
    }
}
