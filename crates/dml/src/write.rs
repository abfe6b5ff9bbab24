//! Rows into a table: values checked, encoded, keyed and handed to the engine.
//!
//! Promise: nothing is allocated per row once the buffers have grown.

mod leave;
mod old;

use crate::foreign::Fate;
use crate::index::Row;
use crate::keys::{encode_key, key_columns, keys_stay};
use crate::lob;
use crate::nulls::check_nulls;
use crate::upkeep::Upkeep;
use catalog::TableDef;
use engine::{Change, EngineError, Found, InsertHint, RowImage, Txn};
use executor::{Cx, SqlError, duplicate_key, engine_error, engine_tree, key_text, private_error};
use runtime::task::Breath;
use session_table::TableError;
use std::sync::Arc;
use types::Value;

/// Runs of equal bytes shorter than this are logged as they are.
pub const RUN_BYTES_MIN: usize = 16;

/// What a row's change counts for: some microseconds with its indexes.
const ROW_STEPS: usize = 64;

/// Writes rows of one table, with what its definition entails: computed columns, constraints, indexes.
pub struct TableWriter {
    pub(crate) table: Arc<TableDef>,
    /// None for a private table.
    pub(crate) tree: Option<engine::Tree>,
    /// Where columns lie that do not fit into their rows.
    lob: Option<engine::Tree>,
    /// The columns that updates set; of the others large values stay as they are. None: all.
    changes: Option<Vec<usize>>,
    /// Ordinals of the key columns; empty for a heap.
    key_columns: Vec<usize>,
    pub(crate) key: Vec<u8>,
    pub(crate) row: Vec<u8>,
    key_values: Vec<Value>,
    /// None for a table whose rows stand for themselves.
    upkeep: Option<Box<Upkeep>>,
    breath: Breath,
}

/// A row that is about to be changed, as it was just found.
#[derive(Clone, Copy)]
pub(crate) struct Known<'k> {
    pub found: &'k Found,
    /// Its columns; nothing, if the writer is plain.
    pub old: &'k [Value],
    /// The row that it is to become, where the writer lets it be made so ([`TableWriter::patches_rows`]).
    pub made: Option<&'k [u8]>,
}

impl TableWriter {
    /// For a table of the transaction's database, or a private one.
    pub fn new(table: &Arc<TableDef>, cx: &mut Cx<'_>) -> Result<TableWriter, SqlError> {
        let upkeep = match table.is_plain() {
            true => None,
            false => Some(Box::new(Upkeep::new(table, cx)?)),
        };
        Ok(TableWriter::with(table, upkeep, cx))
    }

    /// For rows that move as they are to another tree: no constraint is looked at.
    pub(crate) fn for_move(
        table: &Arc<TableDef>,
        cx: &mut Cx<'_>,
    ) -> Result<TableWriter, SqlError> {
        let upkeep = Some(Box::new(Upkeep::for_move(table, cx)?));
        Ok(TableWriter::with(table, upkeep, cx))
    }

    fn with(table: &Arc<TableDef>, upkeep: Option<Box<Upkeep>>, cx: &Cx<'_>) -> TableWriter {
        let (tree, lob) = if table.is_private() {
            (None, None)
        } else {
            let Some(txn) = cx.txn.as_deref() else {
                stdx::fatal!("a table is changed without a transaction");
            };
            let db = txn.database();
            (Some(engine_tree(db, table)), table.lob.map(|lob| db.tree(lob)))
        };
        TableWriter {
            tree,
            lob,
            changes: None,
            key_columns: key_columns(table),
            table: table.clone(),
            key: Vec::new(),
            row: Vec::new(),
            key_values: Vec::new(),
            upkeep,
            breath: Breath::new(),
        }
    }

    /// Before a row is written: others go first now and then, and a statement that is to stop does. Rows that were
    /// collected come from no plan that would do so.
    #[inline]
    pub(crate) fn breathe(&mut self) -> Result<(), SqlError> {
        Ok(self.breath.steps(ROW_STEPS)?)
    }

    /// Updates will set these columns and no others.
    pub fn changing(mut self, columns: Vec<usize>) -> TableWriter {
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.changing(&self.table, &columns);
            let made = self.table.columns.iter().enumerate().filter(|(_, c)| c.is_made());
            self.changes = Some(columns.into_iter().chain(made.map(|(i, _)| i)).collect());
            return self;
        }
        self.changes = Some(columns);
        self
    }

    /// Rows will be updated, in these columns, and nothing else be done to them: what of the table's definition is about
    /// other columns is not looked at.
    pub fn only_changing(mut self, columns: Vec<usize>) -> TableWriter {
        // A row that gets another key comes anew, with all that entails.
        if let Some(upkeep) = &mut self.upkeep
            && keys_stay(&self.table, &columns)
        {
            upkeep.only_changing(&self.table, &columns);
        }
        self.changing(columns)
    }

    /// Another run of the same statement begins.
    pub(crate) fn restart(&mut self) {
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.restart();
        }
    }

    /// Whether a row that comes may be one log record with all that it entails.
    pub(crate) fn comes_alone(&self) -> bool {
        self.is_on_pages()
            && self.lob.is_none()
            && self.upkeep.as_ref().is_none_or(|upkeep| upkeep.is_one_record(&self.table))
    }

    /// The same of one that changes or goes: no other row is looked at afterwards.
    pub(crate) fn stands_alone(&self) -> bool {
        self.comes_alone() && self.upkeep.as_ref().is_none_or(|upkeep| upkeep.foreign.are_own())
    }

    /// Whether a statement that changes one row may do without the lock of it, in a transaction of its own: nothing comes back
    /// to the row, or looks from it at others.
    pub(crate) fn passes_locks(&self) -> bool {
        self.is_on_pages()
            && self.lob.is_none()
            && self.upkeep.as_ref().is_none_or(|upkeep| upkeep.foreign.is_empty())
            && self.runs_alone()
    }

    /// Whether all that a change of a row entails is done by the writer itself: no program of the user's runs, and nothing is
    /// left for whoever ends the statement.
    pub(crate) fn runs_alone(&self) -> bool {
        self.is_keepable() && self.upkeep.as_ref().is_none_or(|upkeep| upkeep.runs_alone())
    }

    fn is_on_pages(&self) -> bool {
        self.tree.as_ref().is_some_and(|tree| !tree.is_memory())
    }

    /// Whether rows entail nothing but themselves.
    pub(crate) fn is_plain(&self) -> bool {
        self.upkeep.is_none()
    }

    /// Whether the bytes of a row may be patched where columns are set: nothing else of the row follows from these, and
    /// nothing is asked of it.
    pub(crate) fn patches_rows(&self) -> bool {
        self.upkeep.as_ref().is_none_or(|upkeep| upkeep.asks_nothing_of_rows())
    }

    /// Columns of a row as it was that must be known when it changes.
    pub(crate) fn needed(&self) -> &[usize] {
        self.upkeep.as_ref().map_or(&[], |upkeep| &upkeep.needed)
    }

    /// Whether it may serve another run of the same statement, as long as the statement's plan holds.
    pub(crate) fn is_keepable(&self) -> bool {
        self.tree.is_some() && self.upkeep.as_ref().is_none_or(|upkeep| upkeep.is_keepable())
    }

    /// What kind of statement changes the rows, for messages.
    pub fn statement(mut self, verb: &'static str) -> TableWriter {
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.verb = Some(verb);
        }
        self
    }

    /// Rows come in whatever CHECK constraints and foreign keys say of them; unique keys hold all the same.
    pub(crate) fn unchecked(mut self) -> TableWriter {
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.pass_over_constraints();
        }
        self
    }

    /// Until the statement ends nobody looks at the table's indexes but whoever finds the rows, so that entries may be written
    /// later than their rows (`may`); [`TableWriter::finish`] follows.
    pub(crate) fn may_put_off(&mut self, may: bool) {
        let may = may && self.is_on_pages();
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.may_put_off(may);
        }
    }

    /// Rows follow those of another table, in a statement of this kind; the constraint need not be looked at.
    pub(crate) fn on_behalf(&mut self, verb: &'static str, constraint: i32) {
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.verb = Some(verb);
            upkeep.behalf = Some(constraint);
        }
    }

    /// Whether the constraint that rows follow is passed over.
    pub(crate) fn exempt(&mut self, exempt: bool) {
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.foreign.exempt = upkeep.behalf.filter(|_| exempt);
            upkeep.foreign.forced = upkeep.behalf.filter(|_| !exempt);
        }
    }

    /// The engine's handle; none for a private table.
    pub fn tree(&self) -> Option<&engine::Tree> {
        self.tree.as_ref()
    }

    /// Duplicates that an index with IGNORE_DUP_KEY has turned away since this was last asked.
    pub fn take_ignored(&mut self) -> bool {
        self.upkeep.as_mut().is_some_and(|upkeep| std::mem::take(&mut upkeep.ignored))
    }

    /// Columns whose values the engine makes are among `values` as NULL, and in the row as they are: the row that was
    /// written last.
    pub fn written<'v>(&'v self, values: &'v [Value]) -> &'v [Value] {
        match &self.upkeep {
            Some(upkeep) if upkeep.makes => &upkeep.full,
            _ => values,
        }
    }

    /// Inserts a row whose values already have the columns' types. False: turned away by IGNORE_DUP_KEY.
    pub fn insert(
        &mut self,
        values: &[Value],
        hint: &mut InsertHint,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let Some(mut upkeep) = self.upkeep.take() else {
            check_nulls(&self.table, values, "INSERT", cx)?;
            return self.insert_row(values, false, hint, cx);
        };
        let result = self.insert_kept(&mut upkeep, values, None, hint, cx);
        self.upkeep = Some(upkeep);
        result
    }

    /// With indexes and constraints; `old`: the row that this one was before it moved.
    fn insert_kept(
        &mut self,
        upkeep: &mut Upkeep,
        values: &[Value],
        old: Option<&[Value]>,
        hint: &mut InsertHint,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let verb = upkeep.verb.unwrap_or(if old.is_some() { "UPDATE" } else { "INSERT" });
        upkeep.complete(&self.table, values, cx)?;
        let full = std::mem::take(&mut upkeep.full);
        let values: &[Value] = if upkeep.makes { &full } else { values };
        let result = (|| {
            let nulls = match verb {
                "MOVE" => "UPDATE",
                "MERGE" if old.is_some() => "UPDATE",
                "MERGE" => "INSERT",
                verb => verb,
            };
            check_nulls(&self.table, values, nulls, cx)?;
            upkeep.check(&self.table, values, verb, cx)?;
            // A row that changes its key is there already: it is never left out.
            let ignoring = upkeep.ignores && old.is_none();
            if self.goes_together(upkeep, cx) && self.insert_together(upkeep, values, hint, cx)? {
                return Ok(true);
            }
            let savepoint = match (ignoring && self.tree.is_some(), cx.txn.as_deref_mut()) {
                (true, Some(txn)) => Some(txn.savepoint()),
                _ => None,
            };
            let came = self.insert_row(values, ignoring, hint, cx)?;
            if !came && self.tree.is_none() {
                upkeep.ignored = true;
                return Ok(false);
            }
            if self.tree.is_some() {
                let added = match came {
                    true => {
                        let row = Row { values, bytes: Some(&self.row) };
                        upkeep.add(&self.table, row, &self.key, ignoring, cx)
                    }
                    false => Ok(false),
                };
                match (added, savepoint, cx.txn.as_deref_mut()) {
                    (Ok(true), ..) => {}
                    (Ok(false), Some(savepoint), Some(txn)) => {
                        let undone = txn.rollback_to(savepoint);
                        undone.map_err(|e| engine_error(e, Some(&self.table), cx))?;
                        upkeep.ignored = true;
                        return Ok(false);
                    }
                    (Ok(false), ..) => return Ok(false),
                    (Err(e), ..) => return Err(e),
                }
            }
            // One that has moved is told as gone from its old place.
            upkeep.track(&self.table, None, Some(values), cx)?;
            upkeep.foreign.written(&self.table, old, values, verb, cx)?;
            if let Some(old) = old {
                upkeep.foreign.left(old, Fate::Changed(values), verb, cx)?;
            }
            Ok(true)
        })();
        upkeep.full = full;
        result
    }

    /// NULLs have been looked for. False: the key that the table is in order of ignores duplicates, and so does the caller
    /// (`ignoring`).
    fn insert_row(
        &mut self,
        values: &[Value],
        ignoring: bool,
        hint: &mut InsertHint,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        if self.tree.is_none() {
            return self.insert_private(values, ignoring, cx);
        }
        self.make_row(values, cx)?;
        let (Some(tree), Some(txn)) = (&self.tree, cx.txn.as_deref_mut()) else {
            stdx::fatal!("a row is written without a transaction");
        };
        let image = image(&self.table, &self.row);
        let inserted = match txn.fuses() {
            true => txn.insert_fused(tree, &self.key, &image, hint),
            false => Ok(false),
        };
        let inserted = match inserted {
            Ok(false) => txn.insert(tree, &self.key, &image, hint),
            inserted => inserted.map(drop),
        };
        match inserted {
            Ok(()) => Ok(true),
            Err(EngineError::Duplicate) if ignoring && self.table.ignores_dup_key() => Ok(false),
            Err(e) => Err(self.explain(e, values, cx)),
        }
    }

    /// Puts the row that comes and its key into the writer's memory, and what does not fit into the row where it belongs.
    pub(crate) fn make_row(&mut self, values: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        match &self.lob {
            None => {
                self.row.clear();
                self.table.layout.encode(values, &mut self.row)?;
            }
            Some(lob) => {
                let keys = &self.key_columns;
                lob::encode(&self.table, lob, keys, values, &[], &mut self.row, cx)?;
            }
        }
        let (Some(tree), Some(txn)) = (&self.tree, cx.txn.as_deref_mut()) else {
            stdx::fatal!("a row is written without a transaction");
        };
        if self.key_columns.is_empty() {
            let id = tree.next_row_id().map_err(|e| engine_error(e, Some(&self.table), cx))?;
            self.key.clear();
            self.key.extend_from_slice(&id.to_be_bytes());
            return Ok(());
        }
        encode_key(&self.table, &self.key_columns, values, &mut self.key_values, &mut self.key)?;
        if self.table.has_uniquifier() {
            let stamp = txn.database().next_stamp();
            self.key.extend_from_slice(&stamp.to_be_bytes());
        }
        Ok(())
    }

    fn insert_private(
        &self,
        values: &[Value],
        ignoring: bool,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let ignores = |unique: Option<usize>| {
            let key = match unique {
                None => self.table.primary_key.as_ref(),
                Some(i) => self.table.unique.get(i),
            };
            ignoring && key.is_some_and(|key| key.ignore_dup_key)
        };
        match cx.env.private().insert(self.table.place, values.into()) {
            Ok(()) => Ok(true),
            Err(TableError::Duplicate { unique }) if ignores(unique) => Ok(false),
            Err(e) => Err(self.explain_private(e, values)),
        }
    }

    /// Replaces the row under `locator`. False when it is gone.
    pub fn update(
        &mut self,
        locator: &[u8],
        values: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        self.update_known(locator, None, values, cx)
    }

    /// The same of a row that was found. False of one that fuses with its transaction: it is to be found again.
    pub(crate) fn update_found(
        &mut self,
        locator: &[u8],
        known: Known<'_>,
        values: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        self.update_known(locator, Some(known), values, cx)
    }

    fn update_known(
        &mut self,
        locator: &[u8],
        known: Option<Known<'_>>,
        values: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        self.breathe()?;
        let Some(mut upkeep) = self.upkeep.take() else {
            if known.is_none_or(|known| known.made.is_none()) {
                check_nulls(&self.table, values, "UPDATE", cx)?;
            }
            return self.update_row(locator, known, values, cx);
        };
        let result = self.update_kept(&mut upkeep, locator, known, values, cx);
        self.upkeep = Some(upkeep);
        result
    }

    fn update_kept(
        &mut self,
        upkeep: &mut Upkeep,
        locator: &[u8],
        known: Option<Known<'_>>,
        values: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let verb = upkeep.verb.unwrap_or("UPDATE");
        let is_made = known.is_some_and(|known| known.made.is_some());
        upkeep.complete(&self.table, values, cx)?;
        let full = std::mem::take(&mut upkeep.full);
        let values: &[Value] = if upkeep.makes { &full } else { values };
        let result = (|| {
            if !is_made {
                check_nulls(&self.table, values, "UPDATE", cx)?;
                upkeep.check(&self.table, values, verb, cx)?;
            }
            let Some(old) = self.known_or_read(known, &upkeep.needed, locator, cx)? else {
                return Ok(false);
            };
            let old = &*old;
            if let Some(Known { found, made, .. }) = known
                && self.goes_together(upkeep, cx)
            {
                if made.is_none() {
                    self.row.clear();
                    self.table.layout.encode(values, &mut self.row)?;
                }
                let was = Row { values: old, bytes: Some(&found.row) };
                let is = Row { values, bytes: Some(made.unwrap_or(&self.row)) };
                return self.update_together(upkeep, locator, found, (was, is), cx);
            }
            if !self.update_row(locator, known, values, cx)? {
                return Ok(false);
            }
            let before = known.map(|known| &known.found.row[..]);
            let after = known.and_then(|known| known.made).unwrap_or(&self.row);
            let (was, is) =
                (Row { values: old, bytes: before }, Row { values, bytes: Some(after) });
            upkeep.change(&self.table, was, is, locator, cx)?;
            upkeep.keep_version(&self.table, old, cx)?;
            upkeep.track(&self.table, Some(old), Some(values), cx)?;
            upkeep.foreign.written(&self.table, Some(old), values, verb, cx)?;
            upkeep.foreign.left(old, Fate::Changed(values), verb, cx)?;
            Ok(true)
        })();
        upkeep.full = full;
        result
    }

    /// NULLs have been looked for.
    fn update_row(
        &mut self,
        locator: &[u8],
        known: Option<Known<'_>>,
        values: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let made = known.and_then(|known| known.made);
        let Some(tree) = &self.tree else {
            let result = cx.env.private().update(self.table.place, locator, values.into());
            return result.map_err(|e| self.explain_private(e, values));
        };
        match &self.lob {
            None if made.is_some() => {}
            None => {
                self.row.clear();
                self.table.layout.encode(values, &mut self.row)?;
            }
            Some(lob) => {
                let Some(mut kept) = self.references(locator, cx)? else { return Ok(false) };
                let mut dropped = Vec::new();
                for (i, reference) in kept.iter_mut().enumerate() {
                    if self.changes.as_ref().is_none_or(|set| set.contains(&i)) {
                        dropped.extend(reference.take());
                    }
                }
                let keys = &self.key_columns;
                lob::encode(&self.table, lob, keys, values, &kept, &mut self.row, cx)?;
                lob::delete(&self.table, lob, dropped.into_iter(), cx)?;
            }
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a row is written without a transaction");
        };
        let image = image(&self.table, made.unwrap_or(&self.row));
        let found = known.map(|known| known.found);
        let changed = change_row(txn, tree, locator, found, Change::To(image));
        changed.map_err(|e| engine_error(e, Some(&self.table), cx))
    }

    /// The statement is over: entries that waited for others to go, and constraints that are looked at now. After the
    /// last row of every statement.
    pub fn finish(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let Some(mut upkeep) = self.upkeep.take() else { return Ok(()) };
        let result = upkeep.finish(&self.table, cx);
        self.upkeep = Some(upkeep);
        result
    }

    fn explain(&self, error: EngineError, values: &[Value], cx: &Cx<'_>) -> SqlError {
        match error {
            EngineError::Duplicate => {
                duplicate_key(&self.table, self.table.clustered_index(), values)
            }
            error => engine_error(error, Some(&self.table), cx),
        }
    }

    fn explain_private(&self, error: TableError, values: &[Value]) -> SqlError {
        let columns: Option<Vec<usize>> = match &error {
            TableError::Duplicate { unique: None } => Some(self.key_columns.clone()),
            TableError::Duplicate { unique: Some(i) } => {
                self.table.unique.get(*i).map(|key| key.columns.iter().map(|(c, _)| *c).collect())
            }
            _ => None,
        };
        let mut error = private_error(error, &self.table);
        if let Some(columns) = columns {
            let keys: Vec<&Value> = columns.iter().map(|i| &values[*i]).collect();
            error.text.push_str(&key_text(&self.table, &columns, &keys));
        }
        error
    }
}

/// Changes a row in its place where it was found, or else by its key. False: it is gone; where it was not locked before, it
/// is to be found again.
fn change_row(
    txn: &mut Txn,
    tree: &engine::Tree,
    locator: &[u8],
    found: Option<&Found>,
    change: Change<'_>,
) -> Result<bool, EngineError> {
    // A row in memory has no place where it was found.
    if let Some(found) = found.filter(|_| !tree.is_memory()) {
        let changed = txn.change_found(tree, locator, found, change)?;
        // Otherwise the leaf is full, or somebody has changed it: the key is locked.
        if changed || txn.passes_locks() {
            return Ok(changed);
        }
    }
    match change {
        Change::To(row) => txn.update(tree, locator, &row),
        Change::Gone => txn.delete(tree, locator),
    }
}

/// The row as the engine takes it, with its longest run of padding named.
#[inline]
pub fn image<'r>(table: &TableDef, row: &'r [u8]) -> RowImage<'r> {
    match table.layout.longest_run(row, RUN_BYTES_MIN) {
        Some((offset, len, byte)) => run_image(row, offset, len, byte),
        None => RowImage::new(row),
    }
}

/// A row with a run that is known.
#[inline]
pub fn run_image(row: &[u8], offset: u16, len: u16, byte: u8) -> RowImage<'_> {
    RowImage::with_run(row, engine::Run { offset, len, byte })
}
