//! Reading a range of a tree in key order, a leaf at a time, as of the statement's snapshot.

use crate::{EngineError, Tree, Txn};
use log_manager::Lsn;
use mvcc::Stamp;
use transaction::VersionSeen;

/// A scan in progress. Owns its position and buffers, so any number may be open in a transaction; the transaction is
/// handed to each step. It reads as of the snapshot of the statement that began it.
pub struct Scan {
    pub(crate) inner: storage::Scan,
    pub(crate) tree: Tree,
    pub(crate) snapshot: Lsn,
    pub(crate) nolock: bool,
    pub(crate) key: Vec<u8>,
    pub(crate) row: Vec<u8>,
}

/// What to do with a row that the scan has met.
enum Take {
    InPlace,
    Older,
    Skip,
}

impl Scan {
    /// The next visible row as (key, row), or `None` at the end. Yields by itself when its quantum is over.
    #[allow(clippy::should_implement_trait, clippy::type_complexity, reason = "a lending iterator")]
    pub fn next<'a>(
        &'a mut self,
        txn: &mut Txn,
    ) -> Result<Option<(&'a [u8], &'a [u8])>, EngineError> {
        loop {
            runtime::task::maybe_yield();
            let Some((stamp, key, row)) = self.inner.next()? else { return Ok(None) };
            let take = decide(txn, stamp, self.snapshot, self.nolock);
            if matches!(take, Take::Skip) {
                continue;
            }
            self.key.clear();
            self.key.extend_from_slice(key);
            if matches!(take, Take::Older) {
                let found = txn.older(self.tree.number(), &self.key, self.snapshot, &mut self.row);
                if matches!(found, VersionSeen::Nothing) {
                    continue;
                }
            } else {
                self.row.clear();
                self.row.extend_from_slice(row);
            }
            return Ok(Some((&self.key, &self.row)));
        }
    }
}

#[inline]
fn decide(txn: &mut Txn, stamp: Stamp, snapshot: Lsn, nolock: bool) -> Take {
    use mvcc::Visibility::*;
    if nolock {
        return if stamp.is_ghost() { Take::Skip } else { Take::InPlace };
    }
    match txn.sees(stamp, snapshot) {
        Visible => Take::InPlace,
        Older if stamp.has_older() => Take::Older,
        VisibleGhost | Older | Spin => Take::Skip,
    }
}
