//! Taking back a transaction that the crash cut short, some records at a time.
//!
//! Losers touched different rows (each held its own locked), so their order does not matter, and they may take turns.
//! Until a loser is undone nobody reads or changes its rows: its stamp is on them (`transaction::XidTable::is_loser`), and
//! the engine waits where it meets it.

use crate::{Loser, RecoveryError};
use log_manager::{Lease, LogReader, Lsn};
use mvcc::Xid;
use std::sync::Arc;
use transaction::{Kind, Shared, Trees, TxnContext, undo_some};

/// The undo of one loser, begun or not.
pub struct Undo {
    context: TxnContext,
    walk: Option<LogReader>,
}

impl Undo {
    pub fn new(shared: &Arc<Shared>, xid: Xid, loser: &Loser) -> Undo {
        Undo { context: TxnContext::of_loser(shared.clone(), xid, loser.last), walk: None }
    }

    /// Undoes at most `records` more; whether nothing of the loser is left. Suspends. After an error, or after the end,
    /// it may not be called again before the database has been opened anew.
    pub fn step(
        &mut self,
        shared: &Arc<Shared>,
        trees: &impl Trees,
        records: u64,
    ) -> Result<bool, RecoveryError> {
        let all = undo_some(shared, &mut self.context, Lsn::NONE, trees, &mut self.walk, records)?;
        if all {
            self.context.log_note(Kind::Abort, &[], Lease::Rollback)?;
        }
        Ok(all)
    }
}
