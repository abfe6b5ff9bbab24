//! Reading a table of another database.
//!
//! Promise: rows are read in the part that the session's transaction has in that database, where it has one, and so show
//! what that has changed; else in a transaction of their own, which ends with the reading: locks that the session's
//! isolation level takes there do not outlive it. The session's own is in this operator's hands only while it reads.

use super::Operator;
use super::scan::TableScan;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::message::SqlError;
use planner::Scan;

pub(super) struct Elsewhere<'p> {
    plan: &'p Scan,
    database: &'p str,
    scan: TableScan<'p>,
    /// One of the reading's own.
    txn: Option<Box<engine::Txn>>,
}

impl<'p> Elsewhere<'p> {
    pub fn new(plan: &'p Scan, database: &'p str) -> Self {
        Elsewhere { plan, database, scan: TableScan::new(plan, None), txn: None }
    }
}

impl Elsewhere<'_> {
    /// Does something to the scan in the transaction over there.
    fn there<R>(
        &mut self,
        cx: &mut Cx<'_>,
        work: impl FnOnce(&mut TableScan<'_>, &mut Cx<'_>) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        let mut txn = match self.txn.take() {
            Some(txn) => txn,
            None => cx.env.elsewhere(self.database, &self.plan.table)?,
        };
        let mut own = within(cx, &mut txn);
        let done = work(&mut self.scan, &mut own);
        let lent = own.lent();
        cx.take_back(lent);
        self.txn = cx.env.back(txn);
        done
    }
}

/// The same context in another transaction. Bounds and predicates may ask for parameters, not for subqueries.
fn within<'c>(cx: &'c mut Cx<'_>, txn: &'c mut engine::Txn) -> Cx<'c> {
    let params = cx.params.clone();
    let mut own = cx.reborrow();
    own.params = params;
    own.txn = Some(txn);
    own
}

impl Operator for Elsewhere<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        self.there(cx, |scan, cx| scan.next(cx, out))
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        // A transaction of its own goes on: every reading of a statement may see one state.
        self.there(cx, |scan, cx| scan.rewind(cx))
    }
}
