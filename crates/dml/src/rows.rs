//! The rows of a table, one after the other, for who changes or checks all of them.

use catalog::TableDef;
use engine::{ReadOptions, ScanOptions};
use executor::{Cx, SqlError, engine_error, engine_tree};
use std::ops::Bound;
use types::Value;

/// Hands every row of a table, whose Sch-M lock is ours, to `each`: storage key and row.
pub(crate) fn each_row(
    table: &TableDef,
    cx: &mut Cx<'_>,
    mut each: impl FnMut(&[u8], &[u8], &mut Cx<'_>) -> Result<(), SqlError>,
) -> Result<(), SqlError> {
    each_row_after(table, None, cx, |key, row, cx| each(key, row, cx).map(|()| true)).map(|_| ())
}

/// The same of rows behind a key, while `each` says to go on; whether it came to the end.
pub(crate) fn each_row_after(
    table: &TableDef,
    after: Option<&[u8]>,
    cx: &mut Cx<'_>,
    mut each: impl FnMut(&[u8], &[u8], &mut Cx<'_>) -> Result<bool, SqlError>,
) -> Result<bool, SqlError> {
    let Some(txn) = cx.txn.as_deref_mut() else {
        stdx::fatal!("the rows of a table are looked at without a transaction");
    };
    let tree = engine_tree(txn.database(), table);
    let options = ScanOptions { read: ReadOptions::nolock(), reverse: false, one_value: false };
    let lower = after.map_or(Bound::Unbounded, Bound::Excluded);
    let mut scan = txn
        .scan(&tree, lower, Bound::Unbounded, options)
        .map_err(|e| engine_error(e, Some(table), cx))?;
    let mut rows = 0u32;
    loop {
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(true) };
        let next = scan.next(txn).map_err(|e| engine_error(e, Some(table), cx))?;
        let Some((key, row)) = next else { return Ok(true) };
        if !each(key, row, cx)? {
            return Ok(false);
        }
        rows += 1;
        if rows.is_multiple_of(64) {
            cx.breathe()?;
        }
    }
}

pub(crate) fn all_columns(
    table: &TableDef,
    row: &[u8],
    cx: &mut Cx<'_>,
) -> Result<Vec<Value>, SqlError> {
    (0..table.columns.len()).map(|i| executor::lob::column(table, row, i, cx)).collect()
}
