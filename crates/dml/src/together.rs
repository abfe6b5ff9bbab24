//! A row and its entries in indexes, written in one log record that commits them: where the statement is a transaction of
//! its own and changes this row alone ([`engine::Txn::fuse`]).
//!
//! Promise: what is written is what `write.rs` and `upkeep.rs` would write record by record. Whatever may be refused is
//! left to them, who also tell why: a duplicate, a missing parent, a row that is too long.
//!
//! A row that refers to others has them vouched for while the leaves are held (engine's `together.rs`), instead of being
//! looked at after it was written (`foreign.rs`): either way, who takes a parent away looks for references later.

use crate::index::{Row, with_entry};
use crate::ready::Parts;
use crate::upkeep::Upkeep;
use crate::write::{TableWriter, image};
use catalog::TableDef;
use engine::{Change, Found, InsertHint, Parent, Part, PartChange, TOGETHER_FEW, Together, Txn};
use executor::{Cx, SqlError, engine_error};
use smallvec::SmallVec;
use types::Value;

impl Upkeep {
    /// Makes the entries ready of a row that comes (`was` is none), goes (`is` is none) or changes, and the keys of those
    /// that it refers to. False: it is not as it was found.
    fn make_ready(
        &mut self,
        table: &TableDef,
        was: Option<Row<'_>>,
        is: Option<Row<'_>>,
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        for (writer, ready) in self.indexes.iter().zip(&mut self.ready) {
            let filter = self.rules.filters[writer.at].as_ref();
            let rows = (with_entry(filter, was, cx)?, with_entry(filter, is, cx)?);
            ready.decide((table, writer), rows, locator)?;
            if !ready.look(table, writer, cx)? {
                return Ok(false);
            }
        }
        self.foreign.note_parents(was.map(|row| row.values), is.map(|row| row.values));
        Ok(true)
    }

    /// Writes the row's own change with what has been made ready. A row that is refused fuses no more.
    fn write_ready<'p>(
        &'p mut self,
        table: &TableDef,
        row: Part<'p>,
        cx: &mut Cx<'_>,
    ) -> Result<Together, SqlError> {
        let mut parts = Parts::new();
        parts.push(row);
        for (writer, ready) in self.indexes.iter_mut().zip(&self.ready) {
            ready.parts(writer, &mut parts);
        }
        let parents: SmallVec<[Parent<'_>; TOGETHER_FEW]> = self.foreign.parents().collect();
        let txn = txn_of(cx);
        let together = txn.fuse_together(&mut parts, &parents);
        if matches!(together, Ok(Together::Refused)) {
            match self.foreign.is_empty() {
                true => txn.stop_fusing(),
                // What is written first and looks then is not written without a lock.
                false => txn.unfuse(),
            }
        }
        together.map_err(|e| engine_error(e, Some(table), cx))
    }
}

impl TableWriter {
    /// Whether the row at hand, with all that it entails, is to be tried as one record.
    #[inline]
    pub(crate) fn goes_together(&self, upkeep: &Upkeep, cx: &Cx<'_>) -> bool {
        !upkeep.writes_nothing_else() && cx.txn.as_deref().is_some_and(Txn::fuses)
    }

    /// A row that comes. False: nothing has happened, and it fuses no more.
    pub(crate) fn insert_together(
        &mut self,
        upkeep: &mut Upkeep,
        values: &[Value],
        hint: &mut InsertHint,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        self.make_row(values, cx)?;
        let is = Row { values, bytes: Some(&self.row) };
        let row = image(&self.table, &self.row);
        let change = PartChange::Insert { row, hint };
        let done = self.write_together(upkeep, (None, Some(is)), &self.key, change, cx)?;
        if !done {
            txn_of(cx).unfuse();
        }
        Ok(done)
    }

    /// A row that changes, of which the new one is made already. False: nothing has happened; unless it fuses no more, the row
    /// is not as it was found.
    pub(crate) fn update_together(
        &self,
        upkeep: &mut Upkeep,
        locator: &[u8],
        found: &Found,
        (was, is): (Row<'_>, Row<'_>),
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let row = image(&self.table, is.bytes.unwrap_or(&self.row));
        let change = PartChange::Found { found, change: Change::To(row) };
        self.write_together(upkeep, (Some(was), Some(is)), locator, change, cx)
    }

    /// A row that goes, likewise.
    pub(crate) fn delete_together(
        &self,
        upkeep: &mut Upkeep,
        locator: &[u8],
        found: &Found,
        was: Row<'_>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let change = PartChange::Found { found, change: Change::Gone };
        self.write_together(upkeep, (Some(was), None), locator, change, cx)
    }

    fn write_together(
        &self,
        upkeep: &mut Upkeep,
        (was, is): (Option<Row<'_>>, Option<Row<'_>>),
        key: &[u8],
        change: PartChange<'_>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let Some(tree) = &self.tree else { return Ok(false) };
        match upkeep.make_ready(&self.table, was, is, key, cx) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            // It comes again, after whatever else may be wrong with the row.
            Err(_) => {
                txn_of(cx).unfuse();
                return Ok(false);
            }
        }
        let done = upkeep.write_ready(&self.table, Part { tree, key, change }, cx)?;
        Ok(done == Together::Done)
    }
}

fn txn_of<'c>(cx: &'c mut Cx<'_>) -> &'c mut Txn {
    match cx.txn.as_deref_mut() {
        Some(txn) => txn,
        None => stdx::fatal!("a row is written without a transaction"),
    }
}
