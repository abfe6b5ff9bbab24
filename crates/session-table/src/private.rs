//! All private tables of a session: names, scopes, frames, and what undoes their changes.
//!
//! ```text
//! begin_statement -> Mark --ok--> end_statement      table variables keep their changes, #tables until the transaction ends
//!                        \-fails-> rollback_to        both go back to the mark
//! savepoint -> Mark        rollback_to_savepoint      #tables go back
//! commit / rollback                                   #tables keep / lose what the transaction did
//! ```
//!
//! Invariants: `temporaries` is ordered by the level at which they were created; `undo` refers to `#tables` by number
//! and to table variables by frame and slot, and what it refers to may be gone (its scope ended), which undoes itself;
//! `generation` has moved whenever a name means something else than before.

use crate::key::Key;
use crate::table::{Row, Table, TableError, row_bytes};
use crate::undo::Undo;
use catalog::{Place, TableDef, same_name};
use runtime::task::{Breath, let_go};
use std::sync::Arc;
use types::Value;

/// The most that all private tables of one session may hold, in bytes, with what undoes their changes.
pub const BYTES_MAX: usize = 1 << 30;

/// The private tables of one session.
#[derive(Debug, Default)]
pub struct PrivateTables {
    temporaries: Vec<Temporary>,
    /// Tables of the variables of every batch and procedure that has some, innermost last.
    frames: Vec<Vec<Arc<Table>>>,
    undo: Vec<Change>,
    undo_bytes: usize,
    bytes: usize,
    last_number: u32,
    generation: u64,
}

/// A temporary table.
#[derive(Debug)]
struct Temporary {
    number: u32,
    /// Nesting level of the batch or procedure that created it.
    level: u32,
    table: Arc<Table>,
}

#[derive(Debug)]
enum Change {
    Temporary(u32, Undo),
    /// Frame, slot.
    Variable(usize, u16, Undo),
    Created(u32),
    /// With its position.
    Dropped(usize, Temporary),
}

impl Change {
    fn bytes(&self) -> usize {
        match self {
            Change::Temporary(_, undo) | Change::Variable(_, _, undo) => undo.bytes(),
            Change::Created(_) => 0,
            Change::Dropped(_, temporary) => temporary.table.bytes(),
        }
    }
}

/// A point to come back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(usize);

impl Drop for PrivateTables {
    fn drop(&mut self) {
        self.let_all_go();
    }
}

impl PrivateTables {
    // ---- Names

    /// Grows whenever a temporary table comes, goes or changes its definition.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The definition that a `#name` has now; the innermost scope's.
    pub fn find(&self, name: &str) -> Option<&Arc<TableDef>> {
        let mut found = self.temporaries.iter().rev();
        found.find(|t| same_name(&t.table.def().name, name)).map(|t| t.table.def())
    }

    /// Whether this very level has a table of that name: a second one is an error (2714).
    pub fn is_taken(&self, name: &str, level: u32) -> bool {
        self.temporaries.iter().any(|t| t.level == level && same_name(&t.table.def().name, name))
    }

    /// The definitions of all temporary tables, outermost first.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<TableDef>> {
        self.temporaries.iter().map(|t| t.table.def())
    }

    /// A number for a new temporary table.
    pub fn new_number(&mut self) -> u32 {
        self.last_number += 1;
        self.last_number
    }

    /// CREATE TABLE: `def.place` is [`Place::Temporary`] with a number from [`PrivateTables::new_number`].
    pub fn create(&mut self, def: Arc<TableDef>, level: u32) {
        let Place::Temporary(number) = def.place else {
            stdx::fatal!("{} is no temporary table", def.name);
        };
        self.temporaries.push(Temporary { number, level, table: Arc::new(Table::new(def)) });
        self.generation += 1;
        self.log(Change::Created(number));
    }

    /// DROP TABLE. False when there is none.
    pub fn drop_table(&mut self, place: Place) -> bool {
        let Place::Temporary(number) = place else { return false };
        let Some(at) = self.temporaries.iter().position(|t| t.number == number) else {
            return false;
        };
        let temporary = self.temporaries.remove(at);
        self.bytes -= temporary.table.bytes();
        self.generation += 1;
        self.log(Change::Dropped(at, temporary));
        true
    }

    /// A new definition for a table that stays: each row is what `row` makes of it.
    pub fn redefine(
        &mut self,
        def: Arc<TableDef>,
        row: impl FnMut(&[Value]) -> Vec<Value>,
    ) -> Result<(), TableError> {
        let place = def.place;
        let table = self.slot(place).ok_or(TableError::Missing)?;
        let new = table.redefined(def, row)?;
        self.put_whole(place, new);
        self.generation += 1;
        if self.bytes + self.undo_bytes > BYTES_MAX {
            return Err(TableError::Full);
        }
        Ok(())
    }

    /// The scope of a batch or procedure ends: tables created deeper than `level` are dropped.
    #[inline]
    pub fn leave(&mut self, level: u32) {
        let mut breath = Breath::new();
        while self.temporaries.last().is_some_and(|t| t.level > level) {
            if let Some(temporary) = self.temporaries.pop() {
                // To the end, whether the request is to stop or not; so below.
                breath.goes_on_by(16);
                self.bytes -= temporary.table.bytes();
                self.generation += 1;
            }
        }
    }

    /// Drops everything: the session is reset or ends.
    pub fn clear(&mut self) {
        self.let_all_go();
        let (number, generation) = (self.last_number, self.generation);
        *self = PrivateTables::default();
        self.last_number = number;
        self.generation = generation + 1;
    }

    /// As many tables and changes as a session has made.
    fn let_all_go(&mut self) {
        let_go(std::mem::take(&mut self.temporaries));
        let_go(std::mem::take(&mut self.frames).into_iter().flatten());
        let_go(std::mem::take(&mut self.undo));
    }

    // ---- Frames of table variables

    /// A batch or procedure with table variables begins; `defs[i]` is [`Place::Variable`] `i`.
    pub fn push_frame(&mut self, defs: &[Arc<TableDef>]) {
        self.frames.push(defs.iter().map(|def| Arc::new(Table::new(def.clone()))).collect());
    }

    /// It ends.
    pub fn pop_frame(&mut self) {
        let mut breath = Breath::new();
        for table in self.frames.pop().into_iter().flatten() {
            breath.goes_on_by(16);
            // A parameter shares its rows with the caller's variable, but was counted by neither twice: see `share`.
            self.bytes -= table.bytes();
        }
    }

    /// Frames open now, to be able to come back to after an error.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Closes frames down to a number of them.
    pub fn pop_frames_to(&mut self, frames: usize) {
        while self.frames.len() > frames {
            self.pop_frame();
        }
    }

    /// The rows of a table, to be given to a parameter.
    pub fn share(&self, place: Place) -> Option<Arc<Table>> {
        self.get(place).cloned()
    }

    /// Fills a table-valued parameter of the innermost frame: rows are shared until somebody changes one of the two.
    pub fn fill(&mut self, slot: u16, table: Arc<Table>) {
        let bytes = table.bytes();
        if let Some(place) = self.slot(Place::Variable(slot)) {
            *place = table;
            self.bytes += bytes;
        }
    }

    // ---- Rows

    /// A table, to read. Clone the `Arc` to read on while others are written.
    #[inline]
    pub fn get(&self, place: Place) -> Option<&Arc<Table>> {
        match place {
            Place::Database => None,
            Place::Temporary(number) => {
                self.temporaries.iter().rev().find(|t| t.number == number).map(|t| &t.table)
            }
            Place::Variable(slot) => self.frames.last()?.get(slot as usize),
        }
    }

    fn slot(&mut self, place: Place) -> Option<&mut Arc<Table>> {
        match place {
            Place::Database => None,
            Place::Temporary(number) => {
                self.temporaries.iter_mut().rev().find(|t| t.number == number).map(|t| &mut t.table)
            }
            Place::Variable(slot) => self.frames.last_mut()?.get_mut(slot as usize),
        }
    }

    /// Inserts a row whose values have the columns' types.
    pub fn insert(&mut self, place: Place, row: Row) -> Result<(), TableError> {
        let bytes = row_bytes(&[], &row);
        if self.bytes + self.undo_bytes + bytes > BYTES_MAX {
            return Err(TableError::Full);
        }
        let table = self.slot(place).ok_or(TableError::Missing)?;
        let before = table.bytes();
        let key = Arc::make_mut(table).insert(row)?;
        self.bytes += table_bytes(self, place) - before;
        self.log_at(place, Undo::Inserted(key));
        Ok(())
    }

    /// Replaces the row under a key; its primary key stays. False when it is gone.
    pub fn update(&mut self, place: Place, key: &[u8], row: Row) -> Result<bool, TableError> {
        if self.bytes + self.undo_bytes + row_bytes(key, &row) > BYTES_MAX {
            return Err(TableError::Full);
        }
        let table = self.slot(place).ok_or(TableError::Missing)?;
        let before = table.bytes();
        let Some(old) = Arc::make_mut(table).replace(key, row)? else { return Ok(false) };
        self.bytes = self.bytes + table_bytes(self, place) - before;
        self.log_at(place, Undo::Replaced(Key::new(key), old));
        Ok(true)
    }

    /// Deletes the row under a key. False when it is gone.
    pub fn delete(&mut self, place: Place, key: &[u8]) -> Result<bool, TableError> {
        let table = self.slot(place).ok_or(TableError::Missing)?;
        let before = table.bytes();
        let Some((key, row)) = Arc::make_mut(table).remove(key) else { return Ok(false) };
        self.bytes -= before - table_bytes(self, place);
        self.log_at(place, Undo::Removed(key, row));
        Ok(true)
    }

    /// TRUNCATE TABLE: no rows, the identity at its seed.
    pub fn truncate(&mut self, place: Place) -> Result<(), TableError> {
        let empty = self.slot(place).ok_or(TableError::Missing)?.emptied();
        self.put_whole(place, empty);
        Ok(())
    }

    /// The next value of a table's identity column. Like everywhere, never given back.
    pub fn next_identity(&mut self, place: Place) -> Result<i64, TableError> {
        let table = Arc::make_mut(self.slot(place).ok_or(TableError::Missing)?);
        let column = table.def().identity().and_then(|i| table.def().columns[i].identity);
        table.next_identity(column.ok_or(TableError::Missing)?)
    }

    /// An identity value was given explicitly: the next one is beyond it.
    pub fn note_identity(&mut self, place: Place, value: i64) {
        let Some(table) = self.slot(place) else { return };
        let table = Arc::make_mut(table);
        if let Some(identity) = table.def().identity().and_then(|i| table.def().columns[i].identity)
        {
            table.note_identity(identity, value);
        }
    }

    /// DBCC CHECKIDENT with a new value: [`Table::reseed`]. A rollback undoes it.
    pub fn reseed(&mut self, place: Place, value: i64) -> Result<(), TableError> {
        let mut table = Table::clone(self.slot(place).ok_or(TableError::Missing)?);
        table.reseed(value);
        self.put_whole(place, table);
        Ok(())
    }

    /// Memory held by all tables and by what undoes their changes, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes + self.undo_bytes
    }

    fn put_whole(&mut self, place: Place, new: Table) {
        let new = Arc::new(new);
        let bytes = new.bytes();
        let Some(table) = self.slot(place) else { return };
        let old = std::mem::replace(table, new);
        self.bytes = self.bytes + bytes - old.bytes();
        self.log_at(place, Undo::Whole(old));
    }

    /// Whether there are temporary tables.
    pub fn has_temporaries(&self) -> bool {
        !self.temporaries.is_empty()
    }

    // ---- Undoing

    /// Whether a rollback would have anything to do.
    #[inline]
    pub fn has_changes(&self) -> bool {
        !self.undo.is_empty()
    }

    /// A statement begins, or a savepoint is set.
    pub fn mark(&self) -> Mark {
        Mark(self.undo.len())
    }

    /// A statement has succeeded: table variables keep what it did.
    pub fn end_statement(&mut self, mark: Mark) {
        let since = mark.0.min(self.undo.len());
        let done = |change: &Change| matches!(change, Change::Variable(..));
        if self.undo[since..].iter().any(done) {
            let kept = self.undo[since..].iter().filter(|change| !done(change)).count();
            let mut changes = self.undo.split_off(since);
            self.undo.reserve(kept);
            let_go(changes.drain(..).filter_map(|change| match done(&change) {
                true => {
                    self.undo_bytes -= change.bytes();
                    Some(change)
                }
                false => {
                    self.undo.push(change);
                    None
                }
            }));
        }
    }

    /// A statement has failed, or ROLLBACK to a savepoint: everything since the mark is taken back. (Of table variables
    /// only a statement's own changes are still here to be undone.)
    pub fn rollback_to(&mut self, mark: Mark) {
        let mut breath = Breath::new();
        while self.undo.len() > mark.0 {
            // To the end, whether the request is to stop or not.
            breath.goes_on();
            let Some(change) = self.undo.pop() else { break };
            self.undo_bytes -= change.bytes();
            self.take_back(change);
        }
    }

    /// The transaction has committed.
    #[inline]
    pub fn commit(&mut self) {
        if !self.undo.is_empty() {
            let_go(std::mem::take(&mut self.undo));
            self.undo_bytes = 0;
        }
    }

    /// The transaction is undone.
    pub fn rollback(&mut self) {
        self.rollback_to(Mark(0));
    }

    fn take_back(&mut self, change: Change) {
        match change {
            Change::Created(number) => {
                if let Some(at) = self.temporaries.iter().position(|t| t.number == number) {
                    self.bytes -= self.temporaries.remove(at).table.bytes();
                    self.generation += 1;
                }
            }
            Change::Dropped(at, temporary) => {
                self.bytes += temporary.table.bytes();
                // Those that were above may have ended with their scopes.
                self.temporaries.insert(at.min(self.temporaries.len()), temporary);
                self.temporaries.sort_by_key(|t| t.level);
                self.generation += 1;
            }
            Change::Temporary(number, undo) => {
                let whole = matches!(undo, Undo::Whole(_));
                let place = Place::Temporary(number);
                let Some(table) = self.slot(place) else { return };
                let before = table.bytes();
                undo.apply(table);
                self.bytes = self.bytes + table_bytes(self, place) - before;
                self.generation += whole as u64;
            }
            Change::Variable(frame, slot, undo) => {
                let Some(table) = self.frames.get_mut(frame).and_then(|f| f.get_mut(slot as usize))
                else {
                    return;
                };
                let before = table.bytes();
                undo.apply(table);
                let after = table.bytes();
                self.bytes = self.bytes + after - before;
            }
        }
    }

    fn log_at(&mut self, place: Place, undo: Undo) {
        match place {
            Place::Database => {}
            Place::Temporary(number) => self.log(Change::Temporary(number, undo)),
            Place::Variable(slot) => {
                let frame = self.frames.len() - 1;
                self.log(Change::Variable(frame, slot, undo));
            }
        }
    }

    fn log(&mut self, change: Change) {
        self.undo_bytes += change.bytes();
        self.undo.push(change);
    }
}

fn table_bytes(tables: &PrivateTables, place: Place) -> usize {
    tables.get(place).map_or(0, |table| table.bytes())
}
