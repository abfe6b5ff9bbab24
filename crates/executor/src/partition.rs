//! How many rows the partitions of a table have.
//!
//! Partitions are logical (`catalog::PartitionFunctionDef`): which rows one has is found by looking at all of the table.

use crate::lob;
use crate::ops::engine_tree;
use catalog::{PartitionFunctionDef, TableDef};
use engine::{Database, EngineError, ReadOptions, ScanOptions, TxnOptions};
use std::ops::Bound;
use std::sync::Arc;

/// How many rows each partition has now, committed or not; `None` while somebody else, or the asker, alters the table.
pub fn count_partitions(
    db: &Arc<Database>,
    table: &TableDef,
    column: usize,
    function: &PartitionFunctionDef,
) -> Option<Vec<i64>> {
    let mut counts = vec![0; function.fanout()];
    let mut txn = db.begin(TxnOptions { lock_timeout_ms: Some(0), ..TxnOptions::default() });
    txn.begin_statement();
    let counted = (|| -> Result<(), EngineError> {
        let options = ScanOptions { read: ReadOptions::nolock(), reverse: false, one_value: false };
        let tree = engine_tree(db, table);
        let mut scan = txn.scan(&tree, Bound::Unbounded, Bound::Unbounded, options)?;
        while let Some((_, row)) = scan.next(&mut txn)? {
            // A large value that is gone belongs to a row that is going.
            if let Some(value) = lob::column_in(table, row, column, &mut txn)? {
                counts[function.partition_of(&value) - 1] += 1;
            }
        }
        Ok(())
    })();
    txn.end_statement();
    let ended = txn.rollback();
    (counted.is_ok() && ended.is_ok()).then_some(counts)
}
