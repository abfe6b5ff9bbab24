//! Taking back the transactions that the crash cut short, before anybody reads.
//!
//! They touched different rows (each held its own locked), so their order does not matter; newest first is kind to
//! the log's cache.

use crate::{Analysis, RecoveryError};
use log_manager::{Lease, Lsn};
use mvcc::Xid;
use std::sync::Arc;
use transaction::{Kind, Shared, Trees, TxnContext, undo_to};

/// Undoes every loser of `analysis`; returns how many there were. Suspends.
pub fn undo_losers(
    shared: &Arc<Shared>,
    analysis: &Analysis,
    trees: &impl Trees,
) -> Result<usize, RecoveryError> {
    let mut losers: Vec<(Lsn, Xid)> =
        analysis.losers.iter().map(|(xid, last)| (*last, *xid)).collect();
    losers.sort_unstable_by(|a, b| b.cmp(a));
    for &(last, xid) in &losers {
        let mut context = TxnContext::of_loser(shared.clone(), xid, last);
        undo_to(shared, &mut context, Lsn::NONE, trees)?;
        context.log_note(Kind::Abort, &[], Lease::Rollback)?;
    }
    Ok(losers.len())
}
