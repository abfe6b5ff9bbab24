//! Probing by column: keys of a whole batch, the pairs that they make, then the columns of those pairs, one after the other.
//!
//! Promise: the rows of [`Shape::candidates`], in its order. What meets nobody is never made into a value; of what meets
//! somebody only the columns that are read above. It is for tables in memory whose probing keys are slots.

use super::ahead::Ahead;
use super::shape::Shape;
use super::table::Table;
use crate::columns::{COLUMN_ROWS, Columns, Kind};
use crate::cx::Cx;
use crate::eval::holds;
use crate::message::SqlError;
use crate::ops::key_columns::KeyColumns;
use crate::ops::simple::Source;
use crate::rowcode;
use ir::Expr;
use planner::PhysicalJoin;
use types::Value;

/// See the file's first lines.
pub(super) struct ByColumn {
    by_left: bool,
    keys: KeyColumns,
    batch: Columns,
    hashes: Vec<u64>,
    /// Of the batch's rows, the numbers of their keys in the table, plus one.
    numbers: Vec<u32>,
    /// The row that is being joined, and the candidate to look at next.
    at: usize,
    open: bool,
    matched: bool,
    candidate: u32,
    /// What goes on: rows of the batch, and of the table by their numbers plus one; either may be missing.
    pairs: Vec<(Option<u32>, u32)>,
    scratch: Vec<Value>,
}

impl ByColumn {
    /// None where the keys are no slots.
    pub fn new(keys: &[Expr], by_left: bool) -> Option<ByColumn> {
        Some(ByColumn {
            by_left,
            keys: KeyColumns::new(keys)?,
            batch: Columns::default(),
            hashes: Vec::new(),
            numbers: Vec::new(),
            at: 0,
            open: false,
            matched: false,
            candidate: 0,
            pairs: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// The next rows of the probing side joined. False when that side is over.
    pub fn probe(
        &mut self,
        shape: &Shape<'_>,
        table: &mut Table,
        (side, ahead): (&mut Source<'_>, &mut Ahead),
        cx: &mut Cx<'_>,
        out: &mut Columns,
    ) -> Result<bool, SqlError> {
        self.pairs.clear();
        while self.pairs.len() < COLUMN_ROWS {
            if !self.open {
                if self.at >= self.numbers.len() {
                    // The pairs so far are of this batch.
                    if !self.pairs.is_empty() {
                        break;
                    }
                    if !ahead.next_columns(side, cx, &mut self.batch)? {
                        return Ok(false);
                    }
                    self.keys.load(&shape.encoder, &self.batch);
                    let keys = self.keys.whole_keys(&self.batch);
                    table.keys.find_all(keys, &mut self.hashes, &mut self.numbers);
                    self.at = 0;
                    continue;
                }
                self.open_row(shape, table);
            }
            if !self.candidates(shape, table, cx)? {
                break;
            }
            self.close_row(shape);
        }
        self.tell(shape, table, out);
        Ok(true)
    }

    fn open_row(&mut self, shape: &Shape<'_>, table: &mut Table) {
        // Without a residual all rows of a key meet somebody at once: they need not be met again.
        let once = !self.by_left && !shape.emits_pairs() && shape.residual.is_none();
        self.candidate = match self.numbers[self.at].checked_sub(1) {
            Some(number) if once => std::mem::take(&mut table.own().heads[number as usize]),
            Some(number) => table.heads[number as usize],
            None => 0,
        };
        self.matched = false;
        self.open = true;
    }

    /// Pairs of the open row with its candidates. False when there are enough before the last.
    fn candidates(
        &mut self,
        shape: &Shape<'_>,
        table: &mut Table,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let (pairs, probe) = (shape.emits_pairs(), self.at as u32);
        while self.candidate != 0 {
            let number = self.candidate;
            let built = table.rows[number as usize - 1];
            self.candidate = built.next;
            let is_met = !pairs && !self.by_left && table.matched[number as usize - 1];
            if is_met || !self.holds(shape, table.arena.get(built.values), cx)? {
                continue;
            }
            self.matched = true;
            if let Some(matched) = table.matched.get_mut(number as usize - 1) {
                *matched = true;
            }
            match (pairs, self.by_left) {
                (true, _) => self.pairs.push((Some(probe), number)),
                (false, true) => self.candidate = 0,
                (false, false) if shape.kind == PhysicalJoin::Semi => {
                    self.pairs.push((None, number));
                }
                (false, false) => {}
            }
            if self.pairs.len() >= COLUMN_ROWS && self.candidate != 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The open row has met all of its candidates.
    fn close_row(&mut self, shape: &Shape<'_>) {
        let alone = match shape.kind {
            PhysicalJoin::Left | PhysicalJoin::Full | PhysicalJoin::Anti => !self.matched,
            PhysicalJoin::Semi => self.matched,
            _ => false,
        };
        if self.by_left && alone {
            self.pairs.push((Some(self.at as u32), 0));
        }
        self.open = false;
        self.at += 1;
    }

    /// Whether the residual lets a pair pass.
    fn holds(
        &mut self,
        shape: &Shape<'_>,
        built: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let Some(residual) = shape.residual else { return Ok(true) };
        self.scratch.clear();
        if self.by_left {
            self.batch.push_row(self.at, &mut self.scratch);
            rowcode::decode(built, shape.right_width, &mut self.scratch);
        } else {
            rowcode::decode(built, shape.left_width, &mut self.scratch);
            self.batch.push_row(self.at, &mut self.scratch);
        }
        holds(residual, &self.scratch, cx)
    }

    /// Built rows of the left side that have met nobody, from `at` on. False when there are no more.
    pub fn tell_unmatched(
        &mut self,
        shape: &Shape<'_>,
        table: &Table,
        at: &mut usize,
        out: &mut Columns,
    ) -> bool {
        self.pairs.clear();
        while *at < table.rows.len() && self.pairs.len() < COLUMN_ROWS {
            if !table.matched[*at] {
                self.pairs.push((None, *at as u32 + 1));
            }
            *at += 1;
        }
        self.tell(shape, table, out);
        !self.pairs.is_empty()
    }

    /// The columns of the pairs.
    fn tell(&self, shape: &Shape<'_>, table: &Table, out: &mut Columns) {
        let (width, left) = (shape.out_width(), shape.left_width);
        let of_probe = |slot: usize| (slot < left) == self.by_left;
        let own = |slot: usize| if slot < left { slot } else { slot - left };
        out.start(width, |slot| match () {
            () if !shape.needed[slot] => Kind::Unread,
            () if of_probe(slot) && self.batch.width() > 0 => {
                self.batch.column(own(slot) as u32).kind()
            }
            () => Kind::Computed(shape.types[slot]),
        });
        let columns = out.add_rows(self.pairs.len());
        let built = match self.by_left {
            true => left.min(width)..width,
            false => 0..left,
        };
        for (slot, column) in columns.iter_mut().enumerate() {
            if shape.needed[slot] && !built.contains(&slot) {
                let rows = self.pairs.iter().map(|(probe, _)| probe.map(|row| row as usize));
                match self.batch.width() {
                    0 => rows.for_each(|_| column.push_null()),
                    _ => column.gather(self.batch.column(own(slot) as u32), rows),
                }
            }
        }
        let columns = &mut columns[built];
        if columns.is_empty() {
            return;
        }
        for (_, number) in &self.pairs {
            match number.checked_sub(1) {
                Some(number) => {
                    let mut bytes = table.arena.get(table.rows[number as usize].values);
                    columns.iter_mut().for_each(|column| rowcode::decode_into(&mut bytes, column));
                }
                None => columns.iter_mut().for_each(|column| column.push_null()),
            }
        }
    }
}
