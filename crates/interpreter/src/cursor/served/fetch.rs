//! Blocks of rows: sp_cursorfetch.
//!
//! Promise: a block is sent with the column ROWSTAT behind the cursor's own; the buffer stands where the documentation of
//! sp_cursorfetch says, also before the first row and behind the last.

use super::{BLOCK_ROWS, scroll};
use crate::call::{Called, number_of, throw};
use crate::rpc::RpcParam;
use crate::vm::Vm;
use executor::SqlError;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use types::Value;

/// FETCH_SUCCEEDED and FETCH_MISSING in the column ROWSTAT.
pub(super) const SUCCEEDED: i32 = 1;
pub(super) const MISSING: i32 = 2;
/// A status of sp_cursorfetch: it stopped at the first row on its way back.
const STOPPED_AT_FIRST: i32 = 2;
/// A status: the cursor has been closed.
pub(super) const CLOSED: i32 = 0x10;

/// Where a fetch goes: the rows of the new buffer, and the call's status.
fn moved(
    kind: i32,
    number: i64,
    rows: i64,
    count: usize,
    old: &Range<usize>,
) -> (Range<usize>, i32) {
    let count = count as i64;
    let (start, end) = (old.start as i64, old.end as i64);
    let behind = count + 1;
    let block = |from: i64, rows: i64| {
        if from > count {
            return (behind as usize..behind as usize, 0);
        }
        let (from, status) = if from < 1 { (1, STOPPED_AT_FIRST) } else { (from, 0) };
        let to = from.saturating_add(rows).min(behind);
        (from as usize..to as usize, status)
    };
    let before = (0..0, 0);
    match kind {
        0x1 if rows == 0 => before,
        0x1 => block(1, rows),
        0x2 if start == 0 => block(1, rows),
        0x2 => block(end, rows),
        0x4 | 0x200 if start <= 1 => before,
        0x4 => block(start - rows, rows),
        0x200 => {
            let from = (start - rows).max(1);
            (from as usize..start as usize, 0)
        }
        0x8 if rows == 0 => (behind as usize..behind as usize, 0),
        0x8 => block((behind - rows).max(1), rows),
        0x10 if number == 0 => before,
        0x10 if number < 0 => block(behind.saturating_add(number), rows),
        0x10 => block(number, rows),
        0x20 if start.saturating_add(number) == 0 => before,
        0x20 => block(start.saturating_add(number), rows),
        _ => (old.clone(), 0),
    }
}

impl Vm<'_> {
    /// sp_cursorfetch cursor, fetchtype, rownum, nrows.
    pub(super) fn fetch_block(&mut self, params: &[RpcParam]) -> Called {
        let handle = number_of(params, 0);
        // SKIP_UPDT_CNCY changes nothing: rows have no copies of their own.
        let kind = params.get(1).map_or(0x2, |_| number_of(params, 1)) & !0x400;
        let number = i64::from(number_of(params, 2));
        let rows = params.get(3).map_or(BLOCK_ROWS, |_| i64::from(number_of(params, 3)));
        let (served, cursor) =
            self.programs.cursors.served_mut("sp_cursorfetch", handle).map_err(throw)?;
        if kind == 0x100 {
            let count = cursor.rows.as_ref().map_or(0, |rows| rows.len());
            let dynamic = served.scroll == scroll::DYNAMIC;
            let at = match served.buffer.start {
                at if at > count => -1,
                at if dynamic => at.min(1) as i32,
                at => at as i32,
            };
            self.sink.return_status(0);
            self.give(params, 2, at);
            self.give(params, 3, if dynamic { -1 } else { count as i32 });
            return Ok(0);
        }
        let forward = matches!(served.scroll, scroll::FORWARD_ONLY | scroll::FAST_FORWARD);
        if forward && !matches!(kind, 0x1 | 0x2 | 0x80)
            || served.scroll == scroll::DYNAMIC && kind == 0x10
        {
            let word = match kind {
                0x4 | 0x200 => "PREVIOUS",
                0x8 => "LAST",
                0x10 => "ABSOLUTE",
                _ => "RELATIVE",
            };
            let what = if forward { "forward only" } else { "dynamic" };
            let text = format!(
                "sp_cursorfetch: The fetch type {word} cannot be used with {what} cursors."
            );
            return Err(throw(SqlError::new(16911, 16, text)));
        }
        let ends = matches!(kind, 0x1 | 0x8);
        if rows < 0
            || rows == 0 && !ends && kind != 0x80
            || !matches!(kind, 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x20 | 0x80 | 0x200)
        {
            let text =
                "sp_cursorfetch: The value of the parameter 'nrows' or 'fetchtype' is invalid.";
            return Err(throw(SqlError::new(16902, 16, text)));
        }
        let (_, status) = self.send_block(handle, kind, number, rows).map_err(throw)?;
        self.sink.return_status(status);
        Ok(status)
    }

    /// Moves and sends what is in the buffer then; how many rows, and the status.
    pub(super) fn send_block(
        &mut self,
        handle: i32,
        kind: i32,
        number: i64,
        rows: i64,
    ) -> Result<(usize, i32), SqlError> {
        let (served, cursor) = self.programs.cursors.served_mut("sp_cursorfetch", handle)?;
        let id = served.id;
        let count = cursor.rows.as_ref().map_or(0, |rows| rows.len());
        let (buffer, mut status) = moved(kind, number, rows, count, &served.buffer);
        served.buffer = buffer.clone();
        cursor.seen.clear();
        cursor.gone.clear();
        let fresh = kind == 0x80 || cursor.again.is_some();
        let missing = if fresh { self.refresh(id, handle)? } else { BTreeSet::new() };
        let columns = self.served_columns(id);
        self.sink.columns(&columns);
        let (served, cursor) = self.programs.cursors.served_mut("sp_cursorfetch", handle)?;
        let all = cursor.rows.as_deref().map_or(&[][..], Vec::as_slice);
        let visible = cursor.def.visible;
        let mut row = Vec::with_capacity(visible + 1);
        for at in buffer.clone() {
            let Some(found) = at.checked_sub(1).and_then(|at| all.get(at)) else { break };
            row.clear();
            row.extend_from_slice(found.get(..visible).unwrap_or_default());
            row.resize(visible, Value::Null);
            row.push(Value::Int(if missing.contains(&at) { MISSING } else { SUCCEEDED }));
            self.sink.row(&row);
        }
        let sent = buffer.len();
        // The row that WHERE CURRENT OF means.
        cursor.at = buffer.start;
        let closes = served.auto_close && (sent as i64) < rows;
        self.select_done(sent as u64);
        if closes {
            self.programs.cursors.stop_serving(handle);
            status = CLOSED;
        }
        Ok((sent, status))
    }

    /// Finds each row of the buffer again; the numbers of those that are gone.
    fn find_block(&mut self, id: u32, buffer: Range<usize>) -> Result<BTreeSet<usize>, SqlError> {
        let mut missing = BTreeSet::new();
        for at in buffer {
            let Some(cursor) = self.programs.cursors.all.get_mut(&id) else { break };
            let before = std::mem::replace(&mut cursor.at, at);
            // It may have come back.
            cursor.gone.remove(&at);
            let count = cursor.rows.as_ref().map_or(0, |rows| rows.len());
            let found = (1..=count).contains(&at).then(|| self.find_again(id)).transpose();
            if let Some(cursor) = self.programs.cursors.all.get_mut(&id) {
                cursor.at = before;
            }
            if found? == Some(false) {
                missing.insert(at);
            }
        }
        Ok(missing)
    }

    /// The rows of the buffer as they are in their tables now; the numbers of those that are not there any more. A cursor
    /// that nothing can be changed through keeps its rows.
    pub(super) fn refresh(&mut self, id: u32, handle: i32) -> Result<BTreeSet<usize>, SqlError> {
        let (served, cursor) = self.programs.cursors.served_mut("sp_cursorfetch", handle)?;
        let buffer = served.buffer.clone();
        if cursor.again.is_some() {
            return self.find_block(id, buffer);
        }
        if cursor.def.targets.is_empty() {
            return Ok(BTreeSet::new());
        }
        let targets = cursor.def.targets.clone();
        let locators = |row: &[Value]| -> Vec<Value> {
            targets.iter().map(|t| row[t.locator].clone()).collect()
        };
        let fresh = self.collect_rows(id)?;
        let mut by_locator: HashMap<String, Vec<Value>> = HashMap::new();
        for row in fresh {
            by_locator.insert(format!("{:?}", locators(&row)), row);
        }
        let (_, cursor) = self.programs.cursors.served_mut("sp_cursorfetch", handle)?;
        let mut missing = BTreeSet::new();
        for at in buffer {
            let Some(row) = cursor.rows.as_mut().and_then(|rows| rows.get_mut(at - 1)) else {
                break;
            };
            match by_locator.get(&format!("{:?}", locators(row))) {
                Some(found) => row.clone_from(found),
                None => _ = missing.insert(at),
            }
        }
        Ok(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn blocks_go_where_the_documentation_says() {
        // Six rows, the buffer on the fourth: its examples A and B.
        assert_eq!(moved(0x4, 1, 5, 6, &(4..5)), (1..6, 2));
        assert_eq!(moved(0x200, 6, 5, 6, &(4..5)), (1..4, 0));
        assert_eq!(moved(0x2, 0, 4, 6, &(0..0)), (1..5, 0));
        assert_eq!(moved(0x2, 0, 4, 6, &(1..5)), (5..7, 0));
        assert_eq!(moved(0x2, 0, 4, 6, &(5..7)), (7..7, 0), "behind the last");
        assert_eq!(moved(0x4, 0, 4, 6, &(7..7)), (3..7, 0), "and back");
        assert_eq!(moved(0x4, 0, 4, 6, &(1..5)), (0..0, 0), "before the first");
        assert_eq!(moved(0x8, 0, 4, 6, &(0..0)), (3..7, 0));
        assert_eq!(moved(0x8, 0, 0, 6, &(0..0)), (7..7, 0));
        assert_eq!(moved(0x1, 0, 0, 6, &(3..4)), (0..0, 0));
        assert_eq!(moved(0x10, -2, 1, 6, &(0..0)), (5..6, 0));
        assert_eq!(moved(0x10, 9, 1, 6, &(0..0)), (7..7, 0));
        assert_eq!(moved(0x20, -2, 1, 6, &(4..5)), (2..3, 0));
        assert_eq!(moved(0x20, i64::MAX, 1, 6, &(4..5)), (7..7, 0));
        assert_eq!(moved(0x2, 0, 4, 0, &(0..0)), (1..1, 0), "of no rows");
    }
}
