//! The one row of a table that a whole unique key names: how it is found in order to be changed.
//!
//! What does not change from one run to the next is made once, with the plan: the recipe of the key, which columns are
//! decoded and where they go.

use catalog::TableDef;
use engine::{Found, Isolation, Looked, ReadOptions, RowLock};
use executor::{Cx, SqlError, check_memory_table, engine_error, engine_tree, eval, holds};
use ir::{Expr, ExprKind, TableHints};
use planner::Scan;
use std::sync::Arc;
use types::{KeyPart, Value, key};

/// Looks without a lock, after which a row that others keep changing is locked.
pub(crate) const LOOKS_MAX: u32 = 4;

/// A column of the table in a row of the plan.
struct Column {
    slot: usize,
    ordinal: usize,
    /// The plan's expressions read it, or whoever writes the row needs it.
    read: bool,
}

/// See the file's first lines.
pub(crate) struct Spot {
    pub table: Arc<TableDef>,
    pub tree: engine::Tree,
    /// The key's parts, as they are given.
    key: Vec<(Expr, KeyPart)>,
    columns: Vec<Column>,
    /// Only those are decoded that are read.
    narrow: bool,
    /// The slot of the row's own key, where anything asks for it (WHERE CURRENT OF).
    locator: Option<usize>,
    /// What else the row must be.
    predicate: Option<Expr>,
    pub key_bytes: Vec<u8>,
    pub found: Found,
    /// A row of the plan: what comes before the table's columns, these, and the row's key.
    pub slots: Vec<Value>,
}

impl Spot {
    /// Where the scan is of one row that can be changed where it is found. Its columns come from slot `first` on; they are
    /// read by its own expressions and by `others`. All are decoded, until [`Spot::narrow`].
    pub fn of(
        scan: &Scan,
        table: &Arc<TableDef>,
        first: usize,
        others: &[&Expr],
        db: &Arc<engine::Database>,
    ) -> Option<Spot> {
        let parts = table.key_layout.parts();
        let special = scan.table.object_id != table.object_id
            || scan.index.is_some()
            || table.has_uniquifier()
            || table.is_private()
            || table.lob.is_some()
            || !scan.locator
            || !scan.for_update
            || scan.sample.is_some()
            || scan.database.is_some()
            || scan.hints != TableHints::default();
        let range = scan.range.as_ref()?;
        if special || parts.is_empty() || !range.is_point(parts.len()) {
            return None;
        }
        let key: Vec<_> = range.prefix.iter().cloned().zip(parts.iter().copied()).collect();
        let mut exprs: Vec<&Expr> = key.iter().map(|(e, _)| e).chain(&scan.predicate).collect();
        exprs.extend(others);
        // A function of the user's reads in the transaction that is at work here.
        if exprs.iter().any(|e| e.calls_users()) {
            return None;
        }
        let reads = |slot: usize| {
            let is_it = |e: &Expr| matches!(e.kind, ExprKind::Slot(i) if i as usize == slot);
            exprs.iter().any(|e| e.any(&mut |e: &Expr| is_it(e)))
        };
        let columns = scan.columns.iter().enumerate();
        let columns = columns
            .map(|(at, ordinal)| {
                let slot = first + at;
                Column { slot, ordinal: *ordinal, read: reads(slot) }
            })
            .collect();
        let own_key = first + scan.columns.len();
        Some(Spot {
            locator: reads(own_key).then_some(own_key),
            tree: engine_tree(db, table),
            columns,
            narrow: false,
            predicate: scan.predicate.clone(),
            key_bytes: Vec::new(),
            found: Found::default(),
            slots: vec![Value::Null; own_key + 1],
            table: table.clone(),
            key,
        })
    }

    /// From now on only what is read, and these columns: see [`Spot::decode_rest`].
    pub fn narrow(&mut self, needed: &[usize]) {
        self.narrow = true;
        for column in &mut self.columns {
            column.read |= needed.contains(&column.ordinal);
            self.slots[column.slot] = Value::Null;
        }
    }

    /// Whether [`Spot::qualifies`] leaves columns out.
    pub fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// What the last [`Spot::qualifies`] has left out.
    pub fn decode_rest(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        for column in self.columns.iter().filter(|column| self.narrow && !column.read) {
            self.slots[column.slot] =
                executor::lob::column(&self.table, &self.found.row, column.ordinal, cx)?;
        }
        Ok(())
    }

    /// The key's bytes; false where a part is NULL, to which nothing is equal.
    pub fn encode_key(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.key_bytes.clear();
        for (expr, part) in &self.key {
            let value = eval(expr, &[], cx)?;
            if value.is_null() {
                return Ok(false);
            }
            key::encode_part(part, &value, &mut self.key_bytes);
        }
        self.tree.prefetch(&self.key_bytes);
        Ok(true)
    }

    /// Looks for the row without a lock.
    pub fn look(&mut self, cx: &mut Cx<'_>) -> Result<Looked, SqlError> {
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a row is changed without a transaction");
        };
        let looked = txn.look(&self.tree, &self.key_bytes, &mut self.found);
        looked.map_err(|e| engine_error(e, Some(&self.table), cx))
    }

    /// Decodes the row found; whether it is one to be changed.
    pub fn qualifies(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        for column in self.columns.iter().filter(|column| !self.narrow || column.read) {
            self.slots[column.slot] =
                executor::lob::column(&self.table, &self.found.row, column.ordinal, cx)?;
        }
        if let Some(slot) = self.locator {
            self.slots[slot] = Value::binary(&self.key_bytes);
        }
        match &self.predicate {
            Some(predicate) => holds(predicate, &self.slots, cx),
            None => Ok(true),
        }
    }

    /// Locks the row and finds it, if it is one to be changed: what cannot qualify is not locked, as in a scan.
    pub fn lock(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
        let gaps = txn.options().isolation == Isolation::Serializable;
        if gaps || self.predicate.is_some() {
            let lock = RowLock::Exclusive;
            let options = ReadOptions { lock, again: true, ..ReadOptions::default() };
            let row = &mut self.found.row;
            let there = txn.get_with(&self.tree, &self.key_bytes, options, row);
            if !there.map_err(|e| engine_error(e, Some(&self.table), cx))? || !self.qualifies(cx)? {
                return Ok(false);
            }
        }
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
        let there = txn.lock_found(&self.tree, &self.key_bytes, &mut self.found);
        Ok(there.map_err(|e| engine_error(e, Some(&self.table), cx))? && self.qualifies(cx)?)
    }

    /// Reads a row in memory, if it is one to be changed. It has no leaf to come back to, and no lock: whoever has written it
    /// since is told by the change (41302).
    pub fn read_in_memory(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
        let level = txn.options().isolation;
        check_memory_table(&TableHints::default(), level, cx.env.memory_access())?;
        let options = ReadOptions { lock: RowLock::Exclusive, ..ReadOptions::default() };
        let there = txn.get_with(&self.tree, &self.key_bytes, options, &mut self.found.row);
        Ok(there.map_err(|e| engine_error(e, Some(&self.table), cx))? && self.qualifies(cx)?)
    }
}
