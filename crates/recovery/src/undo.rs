//! Taking back a transaction that the crash cut short.
//!
//! Losers touched different rows (each held its own locked), so their order does not matter. Until a loser is undone
//! nobody enters the trees that it has changed: the engine sees to that.

use crate::{Loser, RecoveryError};
use log_manager::{Lease, Lsn};
use mvcc::Xid;
use std::sync::Arc;
use transaction::{Kind, Shared, Trees, TxnContext, undo_to};

/// Undoes one loser. Suspends. After an error it may not be called again for the loser before the database has been
/// opened anew.
pub fn undo(
    shared: &Arc<Shared>,
    xid: Xid,
    loser: &Loser,
    trees: &impl Trees,
) -> Result<(), RecoveryError> {
    let mut context = TxnContext::of_loser(shared.clone(), xid, loser.last);
    undo_to(shared, &mut context, Lsn::NONE, trees)?;
    context.log_note(Kind::Abort, &[], Lease::Rollback)?;
    Ok(())
}
