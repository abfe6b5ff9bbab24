//! Reading a table of one session, in memory.

use super::bounds::as_slice;
use super::emit::passes;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::error::private_error;
use crate::message::SqlError;
use engine::PageSample;
use planner::Scan;
use session_table::TableError;
use std::ops::Bound;

/// Where a reading of a private table stands: what is still to come.
pub(super) struct Private {
    pub lower: Bound<Vec<u8>>,
    pub upper: Bound<Vec<u8>>,
    pub sample: Option<PageSample>,
    /// Rows met so far, of a sample.
    pub met: u64,
}

/// Rows of a table in memory that TABLESAMPLE takes or leaves together, as if they were on one page.
const PRIVATE_PAGE_ROWS: u64 = 64;

impl Private {
    /// The next rows, until the batch is full. False at the end. The rows may change between two calls; where to go on
    /// is known by key.
    pub fn read(
        &mut self,
        plan: &Scan,
        cx: &mut Cx<'_>,
        out: &mut Batch,
    ) -> Result<bool, SqlError> {
        let table = match cx.env.private().get(plan.table.place) {
            Some(table) => table.clone(),
            None => return Err(private_error(TableError::Missing, &plan.table)),
        };
        let mut rows = table.range(as_slice(&self.lower), as_slice(&self.upper));
        let mut last = None;
        let mut since_breath = 0u32;
        while !out.is_full() {
            let next = if plan.reverse { rows.next_back() } else { rows.next() };
            let Some((key, row)) = next else { return Ok(false) };
            last = Some(key.clone());
            if let Some(sample) = self.sample {
                let place = match plan.reverse {
                    true => (table.len() as u64).saturating_sub(1 + self.met),
                    false => self.met,
                };
                let page = place / PRIVATE_PAGE_ROWS;
                self.met += 1;
                if self.met.is_multiple_of(1024) {
                    cx.breathe()?;
                }
                if !sample.takes(page) {
                    continue;
                }
            }
            for &column in &plan.columns {
                out.values_mut().push(row[column].clone());
            }
            if plan.locator {
                out.values_mut().push(key.to_value());
            }
            out.finish_row();
            if !passes(plan, cx, out)? {
                since_breath += 1;
                if since_breath.is_multiple_of(1024) {
                    cx.breathe()?;
                }
            }
        }
        drop(rows);
        if let Some(last) = last {
            let bound = Bound::Excluded(last.as_bytes().to_vec());
            *(if plan.reverse { &mut self.upper } else { &mut self.lower }) = bound;
        }
        Ok(true)
    }
}
