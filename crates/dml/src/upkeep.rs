//! What a table's definition entails for each of its rows: columns that the engine makes, CHECK constraints, entries of
//! indexes, former versions, foreign keys.
//!
//! Promises: the row is written first, then its entries, then constraints on other rows are looked at; of a unique
//! index whose columns an UPDATE sets all old entries go before any new one comes.

use crate::error::from_binder;
use crate::foreign::{ForeignKeys, conflict};
use crate::index::{IndexWriter, Row, has_entry, with_entry};
use crate::period::Period;
use crate::put_off::{BYTES_MAX, FIRST, Pending, PutOff, What};
use crate::ready::{Fate, ReadyEntry};
use crate::recipe::Entry;
use crate::tracking::Tracker;
use binder::TableRules;
use catalog::{IndexDef, TableDef};
use executor::{Cx, SqlError, eval, test};
use ir::{Expr, ExprKind};
use std::sync::Arc;
use types::Value;

/// Kept by a [`crate::TableWriter`] for as long as its statement runs.
pub(crate) struct Upkeep {
    pub rules: Arc<TableRules>,
    pub indexes: Vec<IndexWriter>,
    pub foreign: ForeignKeys,
    /// Some column's values are made here.
    pub makes: bool,
    /// The row written last, with them.
    pub full: Vec<Value>,
    /// Columns of a row as it was that must be known when it changes.
    pub needed: Vec<usize>,
    /// Some index turns duplicates away without an error.
    pub ignores: bool,
    pub ignored: bool,
    /// The statement's kind in messages, where it is not what is done to the row.
    pub verb: Option<&'static str>,
    /// The foreign key whose action is carried out.
    pub behalf: Option<i32>,
    /// For each index: new entries wait until the statement ends.
    defer: Vec<bool>,
    late: Vec<Pending>,
    /// Entries that may be written later than their rows.
    put_off: Option<PutOff>,
    /// Rows move as they are.
    moving: bool,
    /// CHECK constraints are passed over, and the foreign keys of the table itself.
    unchecked: bool,
    /// Which of the rules bound to columns are asked: of an UPDATE those of columns that it sets.
    asked: Vec<usize>,
    /// Of a table with one.
    period: Option<Box<Period>>,
    /// Of a table whose changes are tracked.
    tracker: Option<Box<Tracker>>,
    /// Of a table below indexed views: the columns that they read.
    viewed: Option<Vec<usize>>,
    /// Some rule calls a function of the user's, which may read anything in the transaction.
    calls: bool,
    /// For each index, what happens to the entry of the row at hand.
    pub ready: Vec<ReadyEntry>,
}

impl Upkeep {
    pub fn new(table: &Arc<TableDef>, cx: &mut Cx<'_>) -> Result<Upkeep, SqlError> {
        let foreign = match table.is_private() {
            true => ForeignKeys::default(),
            false => ForeignKeys::of(table, cx)?,
        };
        let mut upkeep = Upkeep::with(table, foreign, cx)?;
        if let Some(period) = &mut upkeep.period
            && period.keep_history(table, cx)?
        {
            upkeep.needed = (0..table.columns.len()).collect();
        }
        if let Some(tracker) = Tracker::of(table, cx) {
            upkeep.needed.extend(tracker.needed());
            upkeep.needed.sort_unstable();
            upkeep.needed.dedup();
            upkeep.tracker = Some(Box::new(tracker));
        }
        if !table.views.is_empty() && !table.is_private() {
            upkeep.view(table, cx)?;
        }
        Ok(upkeep)
    }

    /// Notes which columns the indexed views above the table read.
    fn view(&mut self, table: &TableDef, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let mut columns = Vec::new();
        for view in &table.views {
            let change = cx.env.view_change(*view, &[table.object_id])?;
            columns.extend_from_slice(change.columns_of(table.object_id));
        }
        columns.sort_unstable();
        columns.dedup();
        self.needed.extend_from_slice(&columns);
        self.needed.sort_unstable();
        self.needed.dedup();
        self.viewed = Some(columns);
        Ok(())
    }

    /// Without constraints, and with rowversions as they are.
    pub fn for_move(table: &Arc<TableDef>, cx: &mut Cx<'_>) -> Result<Upkeep, SqlError> {
        let mut upkeep = Upkeep::with(table, ForeignKeys::default(), cx)?;
        (upkeep.moving, upkeep.ignores, upkeep.verb) = (true, false, Some("MOVE"));
        Ok(upkeep)
    }

    fn with(table: &Arc<TableDef>, foreign: ForeignKeys, cx: &Cx<'_>) -> Result<Upkeep, SqlError> {
        let rules =
            binder::rules_with(table, &|name| cx.env.function(name)).map_err(from_binder)?;
        let indexes = match cx.txn.as_deref() {
            Some(txn) if !table.is_private() => IndexWriter::all(table, txn.database()),
            _ => Vec::new(),
        };
        let mut needed: Vec<usize> = foreign.columns().collect();
        for writer in &indexes {
            needed.extend(columns_of(&table.indexes[writer.at], rules.filters[writer.at].as_ref()));
        }
        needed.sort_unstable();
        needed.dedup();
        let ready = indexes.iter().map(|_| ReadyEntry::default()).collect();
        let late = indexes.iter().map(|_| Pending::default()).collect();
        Ok(Upkeep {
            makes: table.columns.iter().any(|c| c.is_made()),
            asked: (0..rules.bound.len()).collect(),
            calls: calls_users(&rules),
            ignores: table.ignores_dup_key()
                || indexes.iter().any(|w| table.indexes[w.at].ignore_dup_key),
            defer: vec![false; indexes.len()],
            rules,
            indexes,
            foreign,
            full: Vec::new(),
            needed,
            ignored: false,
            verb: None,
            behalf: None,
            late,
            put_off: None,
            moving: false,
            unchecked: false,
            period: Period::of(table, cx).map(Box::new),
            tracker: None,
            viewed: None,
            ready,
        })
    }

    /// Another run of the same statement begins.
    pub fn restart(&mut self) {
        self.ignored = false;
        self.late.iter_mut().for_each(|late| *late = Pending::default());
        self.put_off = None;
        self.foreign.restart();
    }

    /// Whether what is known holds for another run: former versions and tracked changes are of one moment.
    pub fn is_keepable(&self) -> bool {
        self.period.is_none() && self.tracker.is_none()
    }

    /// Whether no program of the user's runs for a row, and nothing is noted of it for the end of the statement.
    pub fn runs_alone(&self) -> bool {
        self.viewed.is_none() && self.runs_no_program()
    }

    /// Whether no program of the user's runs for a row.
    pub fn runs_no_program(&self) -> bool {
        !self.calls
    }

    /// Whether a row may be one log record with all that is written for it, and nothing is looked at afterwards but rows that
    /// it refers to, which can be vouched for. (A rowversion is numbered in its transaction.)
    pub fn is_one_record(&self, table: &TableDef) -> bool {
        self.foreign.can_be_vouched_for()
            && self.is_keepable()
            && self.runs_alone()
            && !self.ignores
            && !table.columns.iter().any(|column| column.rowversion)
    }

    /// Whether nothing but the row itself is written for it, and it refers to no other.
    pub fn writes_nothing_else(&self) -> bool {
        self.indexes.is_empty() && self.foreign.are_of_others()
    }

    /// Whether a row is neither completed nor looked at: no column follows from others, and no constraint is about the row
    /// itself.
    pub fn asks_nothing_of_rows(&self) -> bool {
        let follows = self.makes || !self.is_keepable() || self.viewed.is_some();
        !follows && self.rules.checks.is_empty() && self.asked.is_empty()
    }

    /// Which columns updates set: entries of unique indexes over them wait for all others to go.
    pub fn changing(&mut self, table: &TableDef, columns: &[usize]) {
        for (writer, defer) in self.indexes.iter().zip(&mut self.defer) {
            let index = &table.indexes[writer.at];
            let set = |i: usize| columns.contains(&i) || table.columns[i].is_made();
            *defer = index.unique && index.columns.iter().any(|(i, _)| set(*i));
        }
        if let Some(tracker) = &mut self.tracker {
            tracker.changing(table, columns);
        }
        self.asked.retain(|at| columns.contains(&self.rules.bound[*at].0));
    }

    /// Rows will only change, and keep their keys: indexes and foreign keys over none of these columns have nothing to do,
    /// and of a row nothing need be known for them.
    pub fn only_changing(&mut self, table: &TableDef, columns: &[usize]) {
        let set = |i: usize| columns.contains(&i) || table.columns[i].is_made();
        let filters = &self.rules.filters;
        let columns_of = |at: usize| columns_of(&table.indexes[at], filters[at].as_ref());
        self.indexes.retain(|writer| columns_of(writer.at).into_iter().any(set));
        self.defer = vec![false; self.indexes.len()];
        self.ready.truncate(self.indexes.len());
        self.late.truncate(self.indexes.len());
        self.foreign.keep_those_over(set);
        // Others, too, want to know what a row was.
        if self.is_keepable() && self.viewed.is_none() {
            self.needed = self.indexes.iter().flat_map(|writer| columns_of(writer.at)).collect();
            self.needed.extend(self.foreign.columns());
            self.needed.sort_unstable();
            self.needed.dedup();
        }
    }

    /// No CHECK constraint is looked at, nor any foreign key of the table.
    pub fn pass_over_constraints(&mut self) {
        self.unchecked = true;
        self.foreign.forget_own();
    }

    /// Puts the row with the columns that are made here into `full`.
    pub fn complete(
        &mut self,
        table: &TableDef,
        values: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        if !self.makes {
            return Ok(());
        }
        let mut full = std::mem::take(&mut self.full);
        full.clear();
        full.extend_from_slice(values);
        for (i, column) in table.columns.iter().enumerate() {
            // A row that only moves keeps the stamp it has.
            let keeps = self.moving && !full[i].is_null();
            if column.rowversion && !keeps {
                let stamp = match cx.txn.as_deref_mut() {
                    Some(txn) => {
                        txn.next_stamp().map_err(|e| executor::from_engine(e, Some(table), ""))?
                    }
                    None => 0,
                };
                full[i] = Value::binary(&stamp.to_be_bytes());
            }
        }
        if let Some(period) = &self.period {
            period.complete(&mut full, self.moving);
        }
        let computed = self.compute(table, &mut full, cx);
        self.full = full;
        computed
    }

    /// Fills computed columns in.
    pub fn compute(
        &self,
        table: &TableDef,
        values: &mut [Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        for (ordinal, expr) in &self.rules.computed {
            let mut cx = cx.reborrow();
            cx.table = Some(table);
            values[*ordinal] = eval(expr, values, &mut cx)?;
        }
        Ok(())
    }

    /// 513 for a rule that is false, 547 for a CHECK.
    pub fn check(
        &self,
        table: &TableDef,
        values: &[Value],
        verb: &str,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        if self.moving || self.unchecked {
            return Ok(());
        }
        for at in &self.asked {
            let (ordinal, rule) = &self.rules.bound[*at];
            if test(rule, values, cx)? == Some(false) {
                return Err(against_rule(table, *ordinal, cx));
            }
        }
        for (check, rule) in table.checks.iter().zip(&self.rules.checks) {
            if !check.disabled && test(rule, values, cx)? == Some(false) {
                let columns: Vec<usize> = check.column.into_iter().collect();
                return Err(conflict(verb, "CHECK", &check.name, (table, &columns), cx));
            }
        }
        Ok(())
    }

    /// A row has changed, or has gone: what it was goes to the table's history, if it has one. 13535.
    pub fn keep_version(
        &mut self,
        table: &TableDef,
        old: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        match &mut self.period {
            Some(period) => period.keep_version(table, old, cx),
            None => Ok(()),
        }
    }

    /// A row has come (`old` is none), has gone (`new` is none) or has changed: noted for the indexed views above the
    /// table, and where changes are tracked.
    pub fn track(
        &mut self,
        table: &TableDef,
        old: Option<&[Value]>,
        new: Option<&[Value]>,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        if let Some(columns) = &self.viewed {
            // A change of other columns is nothing to the views.
            let both = old.zip(new);
            if both.is_none_or(|(old, new)| columns.iter().any(|at| old[*at] != new[*at])) {
                cx.note_for_views(table, old, new)?;
            }
        }
        let Some(tracker) = &mut self.tracker else { return Ok(()) };
        match (old, new) {
            (Some(old), Some(new)) => tracker.updated(table, old, new, cx),
            (Some(old), None) => tracker.deleted(table, old, cx),
            (None, Some(new)) => tracker.inserted(table, new, cx),
            (None, None) => Ok(()),
        }
    }

    /// Entries of a row that has come; one that is new (`ignoring`) may be turned away by IGNORE_DUP_KEY: false, and what
    /// was written of it must go.
    pub fn add(
        &mut self,
        table: &TableDef,
        row: Row<'_>,
        locator: &[u8],
        ignoring: bool,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let values = row.values;
        self.begin_row(table);
        for i in 0..self.indexes.len() {
            let at = self.indexes[i].at;
            let index = &table.indexes[at];
            if !has_entry(self.rules.filters[at].as_ref(), values, cx)? {
                continue;
            }
            let entry = &mut self.ready[i].new;
            self.indexes[i].make(table, row, locator, entry)?;
            match self.insert_ready(i, table, values, cx) {
                Ok(()) => {}
                Err(e) if index.ignore_dup_key && ignoring && matches!(e.number, 2601 | 2627) => {
                    return Ok(false);
                }
                Err(e) => return Err(e),
            }
        }
        self.end_row(table, cx)?;
        Ok(true)
    }

    /// Writes the new entry that is ready, now or later.
    fn insert_ready(
        &mut self,
        i: usize,
        table: &TableDef,
        values: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let Entry { key, row, .. } = &self.ready[i].new;
        if self.defer[i] {
            cx.hold(Pending::bytes_of(key, row))?;
            self.late[i].push(What::Comes, key, row);
            return Ok(());
        }
        match self.puts_off(i, What::Comes) {
            true => Ok(()),
            false => self.indexes[i].insert(table, &self.ready[i].new, values, cx),
        }
    }

    /// Takes the old entry away that is ready, now or later.
    fn delete_ready(
        &mut self,
        i: usize,
        table: &TableDef,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        match self.puts_off(i, What::Goes) {
            true => Ok(()),
            false => self.indexes[i].delete(table, &self.ready[i].old, cx),
        }
    }

    /// Changes what stands under the key of the new entry that is ready, now or later.
    fn update_ready(
        &mut self,
        i: usize,
        table: &TableDef,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        match self.puts_off(i, What::Changes) {
            true => Ok(()),
            false => self.indexes[i].update(table, &self.ready[i].new, cx),
        }
    }

    /// Puts the change of the entry that is ready off, where it may be.
    #[inline]
    fn puts_off(&mut self, i: usize, what: What) -> bool {
        let Some(put_off) = self.put_off.as_mut().filter(|put_off| put_off.takes(i)) else {
            return false;
        };
        let ReadyEntry { old, new, .. } = &self.ready[i];
        match what {
            What::Goes => put_off.push(i, what, &old.key, &[]),
            What::Changes | What::Comes => put_off.push(i, what, &new.key, &new.row),
        }
        true
    }

    /// Entries of a row that has gone.
    pub fn remove(
        &mut self,
        table: &TableDef,
        old: Row<'_>,
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        self.begin_row(table);
        for i in 0..self.indexes.len() {
            let writer = &self.indexes[i];
            if has_entry(self.rules.filters[writer.at].as_ref(), old.values, cx)? {
                writer.key_of(table, old, locator, &mut self.ready[i].old)?;
                self.delete_ready(i, table, cx)?;
            }
        }
        self.end_row(table, cx)
    }

    /// Entries of a row that has changed in its place.
    pub fn change(
        &mut self,
        table: &TableDef,
        old: Row<'_>,
        new: Row<'_>,
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        self.begin_row(table);
        for i in 0..self.indexes.len() {
            let writer = &self.indexes[i];
            let filter = self.rules.filters[writer.at].as_ref();
            let rows = (with_entry(filter, Some(old), cx)?, with_entry(filter, Some(new), cx)?);
            let fate = self.ready[i].decide((table, writer), rows, locator)?;
            if fate == Fate::Changes {
                self.update_ready(i, table, cx)?;
            }
            if matches!(fate, Fate::Goes | Fate::Moves) {
                self.delete_ready(i, table, cx)?;
            }
            if matches!(fate, Fate::Comes | Fate::Moves) {
                self.insert_ready(i, table, new.values, cx)?;
            }
        }
        self.end_row(table, cx)
    }

    /// From here to the end of the statement, which sees to [`Upkeep::finish`], entries may be written later than their
    /// rows, or may not.
    pub fn may_put_off(&mut self, may: bool) {
        let may = may && !self.indexes.is_empty() && !self.ignores && self.runs_no_program();
        self.put_off = may.then(PutOff::default);
    }

    /// A row's entries are about to change.
    #[inline]
    fn begin_row(&mut self, table: &TableDef) {
        let Some(put_off) = &mut self.put_off else { return };
        if put_off.rows > FIRST {
            return;
        }
        put_off.rows += 1;
        if put_off.rows > FIRST {
            let columns = |writer: &IndexWriter| &table.indexes[writer.at].columns;
            let at_once = |writer| self.foreign.look_through(columns(writer));
            put_off.at_once = self.indexes.iter().map(at_once).collect();
            put_off.pending.resize_with(self.indexes.len(), Pending::default);
        }
    }

    /// They have, or are to: when there is no room for more, what was put off is written.
    #[inline]
    fn end_row(&mut self, table: &TableDef, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let Some(put_off) = &mut self.put_off else { return Ok(()) };
        if put_off.rows <= FIRST {
            return Ok(());
        }
        let bytes: usize = put_off.pending.iter().map(Pending::bytes).sum();
        if bytes <= put_off.held {
            return Ok(());
        }
        if bytes <= BYTES_MAX && cx.try_hold(bytes - put_off.held)? {
            put_off.held = bytes;
            return Ok(());
        }
        self.write_put_off(table, cx)
    }

    /// Writes what was put off.
    fn write_put_off(&mut self, table: &TableDef, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let Some(put_off) = &mut self.put_off else { return Ok(()) };
        for (writer, pending) in self.indexes.iter_mut().zip(&mut put_off.pending) {
            if !pending.is_empty() {
                pending.write(writer, table, cx)?;
            }
        }
        Ok(())
    }

    /// The statement is over.
    pub fn finish(&mut self, table: &Arc<TableDef>, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.write_put_off(table, cx)?;
        self.put_off = None;
        for (writer, late) in self.indexes.iter_mut().zip(&mut self.late) {
            if !late.is_empty() {
                std::mem::take(late).write(writer, table, cx)?;
            }
        }
        if let Some(period) = &mut self.period {
            period.finish(cx)?;
        }
        if let Some(tracker) = &mut self.tracker {
            tracker.finish(table, cx)?;
        }
        // What is done to the rows by now does not matter: SQL Server names the statement.
        let verb = self.verb.unwrap_or("UPDATE");
        self.foreign.finish(table, verb, cx)
    }
}

/// The columns that an index's entries are made of, and those that say whether there is one.
fn columns_of(index: &IndexDef, filter: Option<&Expr>) -> Vec<usize> {
    let mut columns: Vec<usize> = index.columns.iter().map(|(i, _)| *i).collect();
    columns.extend(&index.stored);
    if let Some(filter) = filter {
        filter.walk(&mut |e| {
            if let ExprKind::Slot(i) = e.kind {
                columns.push(i as usize);
            }
        });
    }
    columns
}

/// 513.
#[cold]
fn against_rule(table: &TableDef, ordinal: usize, cx: &Cx<'_>) -> SqlError {
    let text = format!(
        "A column insert or update conflicts with a rule imposed by a previous CREATE RULE statement. The statement was \
         terminated. The conflict occurred in database '{}', table '{}.{}', column '{}'.",
        cx.env.database_name(),
        table.schema,
        table.name,
        table.columns[ordinal].name
    );
    SqlError::new(513, 16, text).with_state(0)
}

/// A function may read a memory-optimised table, whose reads are validated when the transaction ends.
fn calls_users(rules: &TableRules) -> bool {
    let made = rules.computed.iter().chain(&rules.bound).map(|(_, e)| e);
    made.chain(&rules.checks).any(|e| e.calls_users())
}
