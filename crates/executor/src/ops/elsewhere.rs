//! Reading a table of another database.
//!
//! Promise: rows are read in a transaction of that database's own, which ends with the reading: locks that the session's
//! isolation level takes there do not outlive it.

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
    txn: Option<engine::Txn>,
}

impl<'p> Elsewhere<'p> {
    pub fn new(plan: &'p Scan, database: &'p str) -> Self {
        Elsewhere { plan, database, scan: TableScan::new(plan, None), txn: None }
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
        let txn = match &mut self.txn {
            Some(txn) => txn,
            None => {
                let txn = cx.env.elsewhere(self.database, &self.plan.table)?;
                self.txn.insert(txn)
            }
        };
        let mut own = within(cx, txn);
        let more = self.scan.next(&mut own, out);
        let lent = own.lent();
        cx.take_back(lent);
        more
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        // The transaction goes on: every reading of a statement may see one state.
        match &mut self.txn {
            Some(txn) => {
                let mut own = within(cx, txn);
                let done = self.scan.rewind(&mut own);
                let lent = own.lent();
                cx.take_back(lent);
                done
            }
            None => self.scan.rewind(cx),
        }
    }
}
