//! The rows of KEYSET and DYNAMIC cursors as they are when they are fetched, and what WHERE CURRENT OF makes of rows that
//! others have changed.
//!
//! ```text
//! FETCH     KEYSET: a row that is gone is told as -2    DYNAMIC: it is passed over
//! UPDATE, DELETE ... WHERE CURRENT OF
//!           OPTIMISTIC, changed since FETCH: 16934, 16947    gone: 16947    else the row is found again afterwards
//! ```
//!
//! Promise: a row is found by the keys that it had, in the transaction that is open; rows that came after OPEN are never
//! seen. SCROLL_LOCKS locks what it finds to the end of the transaction.

use super::{Cursor, Cursors, Motion};
use crate::statement::Outcome;
use crate::vm::Vm;
use executor::{Command, SqlError, SqlMessage};
use ir::{CursorKind, CursorRef};
use session_state::Halted;
use types::Value;

impl Cursor {
    /// A part of the key of the row in the table of that place; -1: its locator.
    pub(super) fn fetched_part(&self, place: i32, part: i32) -> Value {
        let target = usize::try_from(place).ok().and_then(|place| self.def.targets.get(place));
        let at = target.and_then(|target| match usize::try_from(part) {
            Ok(part) => target.key.get(part).map(|(_, at)| *at),
            Err(_) => Some(target.locator),
        });
        self.row().zip(at).and_then(|(row, at)| row.get(at)).cloned().unwrap_or_default()
    }
}

impl Cursors {
    /// See [`session_state::Machine::current_is_same`].
    pub(crate) fn is_same(
        &self,
        cursor: &CursorRef,
        table: i32,
        columns: &[Value],
    ) -> Result<bool, SqlError> {
        let id = self.id(cursor, |_| String::new())?;
        let cursor = &self.all[&id];
        let seen = cursor.seen.get(&cursor.at);
        let target = cursor.def.targets.iter().find(|target| target.table == table);
        let (Some(seen), Some(target), true) = (seen, target, cursor.def.optimistic) else {
            return Ok(true);
        };
        let same = target.watched.iter().zip(columns).all(|(at, column)| seen[*at] == *column);
        if !same {
            self.positioned.set(Some((id, true)));
        }
        Ok(same)
    }

    /// The cursor that the statement which has just run has named, and whether its row had been changed.
    #[inline]
    pub(crate) fn take_positioned(&self) -> Option<(u32, bool)> {
        self.positioned.take()
    }
}

impl Vm<'_> {
    /// Moves a cursor to a row that is there, as the row is now; what @@FETCH_STATUS becomes.
    pub(super) fn move_to(&mut self, id: u32, mut motion: Motion) -> Result<i32, SqlError> {
        loop {
            let Some(cursor) = self.programs.cursors.all.get_mut(&id) else { return Ok(-1) };
            let dynamic = cursor.def.kind == CursorKind::Dynamic;
            if !cursor.fetch(motion) {
                return Ok(-1);
            }
            if cursor.row().is_some() && self.find_again(id)? {
                return Ok(0);
            }
            if !dynamic {
                return Ok(-2);
            }
            motion = match motion {
                Motion::Prior | Motion::Last => Motion::Prior,
                Motion::Absolute(n) | Motion::Relative(n) if n < 0 => Motion::Prior,
                _ => Motion::Next,
            };
        }
    }

    /// Brings the row on which a cursor stands up to date. False: it is gone.
    pub(super) fn find_again(&mut self, id: u32) -> Result<bool, SqlError> {
        let in_transaction = self.state.trancount() > 0;
        let Some(cursor) = self.programs.cursors.all.get(&id) else { return Ok(false) };
        let Some(plan) = cursor.again.clone() else { return Ok(true) };
        if cursor.row().is_none() {
            return Ok(false);
        }
        // Nobody has changed anything since it was read.
        let tail = self.state.database.engine.log().tail().0;
        if cursor.def.read_only && !in_transaction && cursor.read_at == tail {
            return Ok(true);
        }
        let mut vars = cursor.vars.clone();
        let before = self.programs.cursors.fetched.replace(id);
        let found =
            self.in_statement(&mut vars, |cx, _| executor::collect(&plan, &mut cx.reborrow()));
        self.programs.cursors.fetched = before;
        let found = found.map_err(super::schema_changed)?;
        let Some(cursor) = self.programs.cursors.all.get_mut(&id) else { return Ok(false) };
        let at = cursor.at;
        cursor.seen.remove(&at);
        let width = cursor.def.query.output.len();
        let place = cursor.rows.as_mut().and_then(|rows| rows.get_mut(at.checked_sub(1)?));
        let (Some(row), Some(place)) = (found.first(), place) else {
            match cursor.def.kind {
                // Its key may come back.
                CursorKind::Keyset => _ = cursor.gone.insert(at),
                _ => {
                    if let Some(rows) = &mut cursor.rows {
                        rows[at - 1] = Vec::new();
                    }
                }
            }
            return Ok(false);
        };
        *place = row[..width].to_vec();
        cursor.seen.insert(at, row.clone());
        Ok(true)
    }

    /// What a change WHERE CURRENT OF comes to: 16947 for none, after 16934 where somebody else was first.
    #[cold]
    pub(crate) fn after_positioned(
        &mut self,
        (id, conflict): (u32, bool),
        result: Result<Outcome, Halted>,
    ) -> Result<Outcome, Halted> {
        let Ok(Outcome::Rows(Command::Update | Command::Delete, rows)) = &result else {
            return result;
        };
        if *rows > 0 {
            self.find_again(id)?;
            return result;
        }
        let mut error = SqlError::new(16947, 16, "No rows were updated or deleted.");
        error.terminated_notice = true;
        let text =
            "Optimistic concurrency check failed. The row was modified outside of this cursor.";
        let first = SqlMessage { severity: 16, ..SqlMessage::info(16934, 0, text) };
        Err(error.with_ahead(if conflict { vec![first] } else { Vec::new() }).into())
    }
}
