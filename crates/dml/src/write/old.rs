//! The row that is there: what is read of it before it is changed, and whether it stays where it is.

use super::{Known, TableWriter};
use crate::keys::encode_key;
use crate::lob;
use crate::nulls::check_unmade_nulls;
use executor::{Cx, SqlError, engine_error};
use std::borrow::Cow;
use types::{External, Value};

impl TableWriter {
    /// Locks a row and reads all its columns; none when it is gone.
    pub(crate) fn read(
        &self,
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<Option<Vec<Value>>, SqlError> {
        let all: Vec<usize> = (0..self.table.columns.len()).collect();
        self.old(&all, locator, cx)
    }

    /// The columns of a row that matter: as they were found, or read by its key. None: it is gone.
    pub(super) fn known_or_read<'k>(
        &self,
        known: Option<Known<'k>>,
        needed: &[usize],
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<Option<Cow<'k, [Value]>>, SqlError> {
        match known {
            Some(known) => Ok(Some(Cow::Borrowed(known.old))),
            None => Ok(self.old(needed, locator, cx)?.map(Cow::Owned)),
        }
    }

    /// Locks a row and reads columns of it; the others are NULL.
    pub(super) fn old(
        &self,
        needed: &[usize],
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<Option<Vec<Value>>, SqlError> {
        let mut values = vec![Value::Null; self.table.columns.len()];
        if needed.is_empty() || self.tree.is_none() {
            return Ok(Some(values));
        }
        let (Some(tree), Some(txn)) = (&self.tree, cx.txn.as_deref_mut()) else { return Ok(None) };
        let mut row = Vec::new();
        let found = txn.read_latest_locked(tree, locator, &mut row);
        if !found.map_err(|e| engine_error(e, Some(&self.table), cx))? {
            return Ok(None);
        }
        for column in needed {
            values[*column] = executor::lob::column(&self.table, &row, *column, cx)?;
        }
        Ok(Some(values))
    }

    /// The large values that the row under `locator` names, by column; none when there is no such row.
    pub(super) fn references(
        &self,
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<Option<Vec<Option<External>>>, SqlError> {
        let (Some(tree), Some(txn)) = (&self.tree, cx.txn.as_deref_mut()) else { return Ok(None) };
        let mut row = Vec::new();
        let found = txn.read_latest_locked(tree, locator, &mut row);
        if !found.map_err(|e| engine_error(e, Some(&self.table), cx))? {
            return Ok(None);
        }
        Ok(Some(lob::references(&self.table, &row)))
    }

    /// Whether `values` may take the place of the row `old` that lies under `locator`: the key is the same (always so in
    /// a heap), and so are the columns of a private table's UNIQUE constraints.
    pub fn same_key(
        &mut self,
        values: &[Value],
        old: impl Fn(usize) -> Value,
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let mut unique = self.table.unique.iter().flat_map(|key| &key.columns);
        if unique.any(|(i, _)| values[*i] != old(*i)) {
            check_unmade_nulls(&self.table, values, cx)?;
            return Ok(false);
        }
        if self.key_columns.is_empty() {
            return Ok(true);
        }
        // A key has no bytes for NULL: refused here, not when the row is written.
        check_unmade_nulls(&self.table, values, cx)?;
        let mut full;
        let values = match &self.upkeep {
            // The key may have computed columns in it.
            Some(upkeep) if upkeep.makes => {
                full = values.to_vec();
                upkeep.compute(&self.table, &mut full, cx)?;
                &full[..]
            }
            _ => values,
        };
        encode_key(&self.table, &self.key_columns, values, &mut self.key_values, &mut self.key)?;
        let tail = if self.table.has_uniquifier() { 8 } else { 0 };
        Ok(self.key == locator[..locator.len().saturating_sub(tail)])
    }
}
