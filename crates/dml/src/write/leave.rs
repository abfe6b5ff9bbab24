//! Rows that go: deleted, or taken to the place that a new key gives them.

use super::{Known, TableWriter, change_row};
use crate::foreign::Fate;
use crate::index::Row;
use crate::lob;
use crate::nulls::check_nulls;
use crate::upkeep::Upkeep;
use engine::{Change, Found, InsertHint};
use executor::{Cx, SqlError, engine_error, private_error};
use types::Value;

impl TableWriter {
    /// Deletes the row under `locator`. False when it is gone.
    pub fn delete(&mut self, locator: &[u8], cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.delete_known(locator, None, cx)
    }

    /// The same of a row that was found. False as [`TableWriter::update_found`] says it.
    pub(crate) fn delete_found(
        &mut self,
        locator: &[u8],
        known: Known<'_>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        self.delete_known(locator, Some(known), cx)
    }

    fn delete_known(
        &mut self,
        locator: &[u8],
        known: Option<Known<'_>>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        self.breathe()?;
        let found = known.map(|known| known.found);
        let Some(mut upkeep) = self.upkeep.take() else {
            return self.delete_row(locator, found, cx);
        };
        let verb = upkeep.verb.unwrap_or("DELETE");
        let result = (|| {
            let Some(old) = self.known_or_read(known, &upkeep.needed, locator, cx)? else {
                return Ok(false);
            };
            let old = &*old;
            if let Some(found) = found
                && self.goes_together(&upkeep, cx)
            {
                let was = Row { values: old, bytes: Some(&found.row) };
                return self.delete_together(&mut upkeep, locator, found, was, cx);
            }
            if !self.take(&mut upkeep, locator, found, old, cx)? {
                return Ok(false);
            }
            upkeep.foreign.left(old, Fate::Deleted, verb, cx).map(|()| true)
        })();
        self.upkeep = Some(upkeep);
        result
    }

    /// The row and its entries go; `old`: the columns of it that matter. False when it is gone.
    fn take(
        &mut self,
        upkeep: &mut Upkeep,
        locator: &[u8],
        found: Option<&Found>,
        old: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        if !self.delete_row(locator, found, cx)? {
            return Ok(false);
        }
        let was = Row { values: old, bytes: found.map(|found| &found.row[..]) };
        upkeep.remove(&self.table, was, locator, cx)?;
        upkeep.keep_version(&self.table, old, cx)?;
        upkeep.track(&self.table, Some(old), None, cx)?;
        Ok(true)
    }

    /// Takes a row away that [`TableWriter::arrive`] will put elsewhere; none when it is gone.
    pub fn leave(
        &mut self,
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<Option<Vec<Value>>, SqlError> {
        self.breathe()?;
        let Some(mut upkeep) = self.upkeep.take() else {
            return Ok(self.delete_row(locator, None, cx)?.then(Vec::new));
        };
        let result = (|| {
            let Some(old) = self.old(&upkeep.needed, locator, cx)? else { return Ok(None) };
            Ok(self.take(&mut upkeep, locator, None, &old, cx)?.then_some(old))
        })();
        self.upkeep = Some(upkeep);
        result
    }

    /// Puts a row in its new place; `old` is what [`TableWriter::leave`] gave.
    pub fn arrive(
        &mut self,
        old: &[Value],
        values: &[Value],
        hint: &mut InsertHint,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        self.breathe()?;
        let Some(mut upkeep) = self.upkeep.take() else {
            check_nulls(&self.table, values, "UPDATE", cx)?;
            return self.insert_row(values, false, hint, cx).map(drop);
        };
        let result = self.insert_kept(&mut upkeep, values, Some(old), hint, cx);
        self.upkeep = Some(upkeep);
        result.map(|_| ())
    }

    /// Changes a row that is locked, wherever its key leads.
    pub(crate) fn change(
        &mut self,
        locator: &[u8],
        old: &[Value],
        new: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        if self.same_key(new, |i| old[i].clone(), locator, cx)? {
            self.update(locator, new, cx)?;
        } else if let Some(old) = self.leave(locator, cx)? {
            self.arrive(&old, new, &mut InsertHint::default(), cx)?;
        }
        Ok(())
    }

    fn delete_row(
        &mut self,
        locator: &[u8],
        found: Option<&Found>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let Some(tree) = &self.tree else {
            let result = cx.env.private().delete(self.table.place, locator);
            return result.map_err(|e| private_error(e, &self.table));
        };
        if let Some(lob) = &self.lob {
            let Some(references) = self.references(locator, cx)? else { return Ok(false) };
            lob::delete(&self.table, lob, references.into_iter().flatten(), cx)?;
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a row is deleted without a transaction");
        };
        let changed = change_row(txn, tree, locator, found, Change::Gone);
        changed.map_err(|e| engine_error(e, Some(&self.table), cx))
    }
}
