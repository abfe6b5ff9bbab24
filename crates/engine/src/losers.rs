//! Waiting for what recovery has still to undo: as for a lock that the loser would hold.
//!
//! LOCK_TIMEOUT counts (1222), KILL and attentions end the wait. Nobody can be deadlocked so: an undo takes no locks.

use crate::{EngineError, Tree, Txn};
use mvcc::Xid;
use runtime::clock;
use std::sync::atomic::Ordering::Relaxed;

impl Txn {
    /// Until `xid` is undone; at once when it is.
    #[cold]
    pub(crate) fn await_loser(&mut self, xid: Xid) -> Result<(), EngineError> {
        let mut late = self.patience();
        let waited = self.db.await_loser(xid, &mut late);
        waited.map_err(|e| self.doom(e))
    }

    /// Until nobody but users has changed anything in `tree`.
    #[cold]
    pub(crate) fn await_losers_of(&mut self, tree: &Tree) -> Result<(), EngineError> {
        let mut late = self.patience();
        let waited = self.db.await_losers_of(tree, &mut late);
        waited.map_err(|e| self.doom(e))
    }

    /// Says when a wait that begins now has lasted long enough.
    fn patience(&self) -> impl FnMut() -> Result<(), EngineError> + use<> {
        let begun = clock::now_ns();
        let timeout = self.timeout_ns();
        let cancel = self.held.cancel.clone();
        move || {
            if cancel.as_ref().is_some_and(|cancel| cancel.load(Relaxed)) {
                return Err(EngineError::Cancelled);
            }
            match timeout {
                Some(ns) if clock::now_ns().saturating_sub(begun) >= ns => {
                    Err(EngineError::LockTimeout)
                }
                _ => Ok(()),
            }
        }
    }
}
