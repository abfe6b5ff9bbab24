//! Rows decoded one by one, each held against the scan's predicate.

use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::holds;
use crate::message::SqlError;
use planner::Scan;
use types::Value;

/// Decodes a row into the batch; takes it off again when the predicate does not hold.
#[inline]
pub(super) fn emit(
    plan: &Scan,
    key: &[u8],
    row: &[u8],
    cx: &mut Cx<'_>,
    out: &mut Batch,
) -> Result<bool, SqlError> {
    let table = &*plan.table;
    for &column in &plan.columns {
        let value = crate::lob::column(table, row, column, cx)?;
        out.values_mut().push(value);
    }
    if plan.locator {
        out.values_mut().push(Value::binary(key));
    }
    out.finish_row();
    passes(plan, cx, out)
}

/// The row's columns from an entry that has them all.
pub(super) fn emit_entry(
    plan: &Scan,
    index: &catalog::IndexDef,
    entry: &[u8],
    cx: &mut Cx<'_>,
    out: &mut Batch,
) -> Result<bool, SqlError> {
    for &column in &plan.columns {
        let Some(at) = index.position(column) else {
            stdx::fatal!("index {} does not have column {column}", index.name);
        };
        out.values_mut().push(index.layout.decode_column(entry, at).unwrap_or_default());
    }
    if plan.locator {
        out.values_mut().push(Value::binary(&crate::index::locator(&index.layout, entry)?));
    }
    out.finish_row();
    passes(plan, cx, out)
}

/// Does the predicate hold for the last row? Else it is taken off, and also when that fails.
#[inline]
pub(super) fn passes(plan: &Scan, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
    let Some(predicate) = &plan.predicate else { return Ok(true) };
    let held = holds(predicate, out.last(), cx);
    if !matches!(held, Ok(true)) {
        out.pop();
    }
    held
}
