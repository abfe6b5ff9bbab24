//! GROUP BY by hashing. Groups that arrive together, and GROUPING SETS, are next door.
//!
//! A row may stand for several equal ones: the slot `weight` then says for how many (see `fold.rs`).

use super::Operator;
use super::accumulate::Accumulator;
use super::by_column::{ByColumn, NO_GROUP};
use super::grouping::{Arguments, Grouping, STATE_BYTES};
use super::join_filter::JoinFilter;
use super::put_off::PutOff;
use super::simple::Source;
use crate::batch::Batch;
use crate::columns::{Columns, cell};
use crate::cx::{Cx, row_bytes};
use crate::eval::eval;
use crate::key_index::{KeyIndex, hash_of};
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::Stream;
use binder::ir::{Expr, ExprKind};
use planner::Agg;
use types::Value;

/// Groups in a hash table; those in memory come out in the order in which they were first seen.
///
/// When memory is used up the table takes no new group: rows of its groups still count, all others are written to
/// partitions by hash, which are grouped one after the other in the same way. Each turn has [`GROUPS_MIN`] groups at
/// least, so it ends.
pub(super) struct HashAggregate<'p> {
    input: Source<'p>,
    grouping: Grouping<'p>,
    scalar: bool,
    table: GroupTable,
    built: bool,
    at: usize,
    /// Rows for later, with their depth; the last is the next.
    later: Vec<(Stream, u32)>,
}

/// Groups of a turn that spills, at least.
pub(super) const GROUPS_MIN: usize = 256;

/// Groups and their states.
#[derive(Default)]
struct GroupTable {
    index: KeyIndex,
    /// Values of the groups' keys and states, one after the other.
    keys: Vec<Value>,
    states: Vec<Accumulator>,
    groups: usize,
    /// Memory counted for it.
    held: usize,
}

impl GroupTable {
    fn clear(&mut self, cx: &mut Cx<'_>) {
        cx.release(self.held);
        *self = GroupTable::default();
    }
}

impl<'p> HashAggregate<'p> {
    pub fn new(
        input: Source<'p>,
        group: &'p [Expr],
        aggs: &'p [Agg],
        weight: Option<u32>,
        scalar: bool,
    ) -> Self {
        HashAggregate {
            input,
            grouping: Grouping { weight, ..Grouping::new(group, aggs) },
            scalar,
            table: GroupTable::default(),
            built: false,
            at: 0,
            later: Vec::new(),
        }
    }

    fn build(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if self.scalar {
            self.table.states.extend(self.grouping.fresh());
            self.table.groups = 1;
        }
        let mut turn = Turn::default();
        if let Some(by_column) = ByColumn::over(&self.grouping, &mut self.input, cx)? {
            self.build_by_column(by_column, &mut turn, cx)?;
            return turn.put_off.end(&mut self.later, cx);
        }
        let mut batch = Batch::new();
        let mut arguments = Arguments::new(self.grouping.aggs);
        // Slots cannot fail: then the groups of a batch are looked for all at once.
        let plain = |e: &Expr| e.as_slot().is_some();
        let at_once = !self.scalar && self.grouping.group.iter().all(plain);
        while self.input.next(cx, &mut batch)? {
            arguments.load(&batch);
            if at_once {
                turn.look_up(&self.grouping, &self.table, &batch);
            }
            for (i, row) in batch.rows().enumerate() {
                let at = Some((&arguments, i));
                match turn.found.get(i) {
                    Some(group @ 1..) => {
                        let group = *group as usize - 1;
                        self.table.held +=
                            turn.add(&self.grouping, &mut self.table.states, group, row, at, cx)?;
                    }
                    _ => turn.take(&self.grouping, &mut self.table, self.scalar, row, at, cx)?,
                }
            }
            cx.breathe()?;
        }
        turn.put_off.end(&mut self.later, cx)
    }

    fn build_by_column(
        &mut self,
        mut by_column: ByColumn,
        turn: &mut Turn,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let mut columns = Columns::default();
        let (mut hashes, mut groups) = (Vec::new(), Vec::new());
        while self.input.next_columns(cx, &mut columns)? {
            by_column.load(&self.grouping.encoder, &columns);
            if self.scalar {
                groups.clear();
                groups.resize(columns.len(), 0);
            } else {
                self.table.index.find_all(by_column.keys(), &mut hashes, &mut groups);
                for (row, group) in groups.iter_mut().enumerate() {
                    let hash = hashes[row];
                    *group = match group.checked_sub(1) {
                        Some(known) => known,
                        None => turn.group(
                            &self.grouping,
                            &mut self.table,
                            &by_column,
                            &columns,
                            (row, hash),
                            cx,
                        )?,
                    };
                }
            }
            by_column.add(&self.grouping, &columns, &groups, &mut self.table.states, cx)?;
            cx.breathe()?;
        }
        Ok(())
    }

    /// Groups what the next stream holds.
    fn build_later(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.table.clear(cx);
        self.at = 0;
        let Some((stream, depth)) = self.later.pop() else { return Ok(false) };
        let mut turn = Turn { put_off: PutOff::again(depth), ..Turn::default() };
        let (mut reader, mut row) = (stream.read(), Vec::new());
        let mut since_breath = 0u32;
        while let Some((head, bytes)) = reader.next(&stream)? {
            let width = u32::from_le_bytes(head.try_into().unwrap_or_default()) as usize;
            row.clear();
            rowcode::decode(bytes, width, &mut row);
            turn.take(&self.grouping, &mut self.table, false, &row, None, cx)?;
            since_breath += 1;
            if since_breath.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        turn.put_off.end(&mut self.later, cx)?;
        self.grouping.warn(cx);
        Ok(true)
    }
}

/// One turn of grouping: the input, or a stream of rows that had no room before.
#[derive(Default)]
struct Turn {
    key: Vec<u8>,
    /// Rows of groups without room.
    put_off: PutOff,
    /// The keys of a batch, where each ends, and their groups plus one as far as they are known.
    keys: Vec<u8>,
    ends: Vec<u32>,
    hashes: Vec<u64>,
    found: Vec<u32>,
}

impl Turn {
    /// Looks for the groups of a batch's rows, whose keys are slots.
    fn look_up(&mut self, grouping: &Grouping<'_>, table: &GroupTable, batch: &Batch) {
        self.keys.clear();
        self.ends.clear();
        for row in batch.rows() {
            for (i, expr) in grouping.group.iter().enumerate() {
                if let ExprKind::Slot(slot) = expr.kind {
                    grouping.encoder.push(i, &row[slot as usize], &mut self.keys);
                }
            }
            self.ends.push(self.keys.len() as u32);
        }
        let (keys, ends) = (&self.keys[..], &self.ends[..]);
        let all = (0..ends.len()).map(|row| Some(cell(keys, ends, row)));
        table.index.find_all(all, &mut self.hashes, &mut self.found);
    }

    /// A row of a known group. The memory counted for it.
    #[inline]
    fn add(
        &self,
        grouping: &Grouping<'_>,
        states: &mut [Accumulator],
        group: usize,
        row: &[Value],
        at: Option<(&Arguments, usize)>,
        cx: &mut Cx<'_>,
    ) -> Result<usize, SqlError> {
        let aggs = grouping.aggs.len();
        grouping.add_at(&mut states[group * aggs..][..aggs], row, at, cx)
    }

    /// The group of a row of a batch of columns; [`NO_GROUP`] where the row is put off.
    fn group(
        &mut self,
        grouping: &Grouping<'_>,
        table: &mut GroupTable,
        by_column: &ByColumn,
        columns: &Columns,
        (row, hash): (usize, u64),
        cx: &mut Cx<'_>,
    ) -> Result<u32, SqlError> {
        let key = by_column.key(row);
        // A row before it in the batch may have brought the group.
        if let Some(group) = table.index.find(key, hash) {
            return Ok(group);
        }
        let from = table.keys.len();
        by_column.push_group(columns, row, &mut table.keys);
        if !self.has_room(table, from, key.len(), grouping.aggs.len(), cx)? {
            table.keys.truncate(from);
            let mut values = Vec::new();
            columns.push_row(row, &mut values);
            self.put_off.push(hash, &(values.len() as u32).to_le_bytes(), &values, cx)?;
            return Ok(NO_GROUP);
        }
        table.states.extend(grouping.fresh());
        table.groups += 1;
        Ok(table.index.add(key, hash))
    }

    /// Counts the memory of a new group whose values are the table's last ones, from `from` on; false where there is none.
    fn has_room(
        &self,
        table: &mut GroupTable,
        from: usize,
        key_bytes: usize,
        aggs: usize,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let values = row_bytes(&table.keys[from..]) + STATE_BYTES * aggs;
        let bytes = values + KeyIndex::entry_bytes(key_bytes);
        let must = table.groups < GROUPS_MIN;
        if !cx.hold_entry(bytes, !self.put_off.is_empty(), must)? {
            return Ok(false);
        }
        table.held += bytes;
        Ok(true)
    }

    fn take(
        &mut self,
        grouping: &Grouping<'_>,
        table: &mut GroupTable,
        scalar: bool,
        row: &[Value],
        at: Option<(&Arguments, usize)>,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let aggs = grouping.aggs.len();
        let group = if scalar {
            0
        } else {
            grouping.key(row, &mut self.key, cx)?;
            let hash = hash_of(&self.key);
            match table.index.find(&self.key, hash) {
                Some(group) => group as usize,
                None => {
                    let from = table.keys.len();
                    for expr in grouping.group {
                        let value = eval(expr, row, cx)?;
                        table.keys.push(value);
                    }
                    if !self.has_room(table, from, self.key.len(), aggs, cx)? {
                        table.keys.truncate(from);
                        return self.put_off.push(hash, &(row.len() as u32).to_le_bytes(), row, cx);
                    }
                    table.states.extend(grouping.fresh());
                    table.groups += 1;
                    table.index.add(&self.key, hash) as usize
                }
            }
        };
        table.held += self.add(grouping, &mut table.states, group, row, at, cx)?;
        Ok(())
    }
}

impl Operator for HashAggregate<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if !self.built {
            self.build(cx)?;
            self.grouping.warn(cx);
            self.built = true;
        }
        out.start(self.grouping.width());
        let (width, aggs) = (self.grouping.group.len(), self.grouping.aggs.len());
        while !out.is_full() {
            if self.at == self.table.groups && !self.build_later(cx)? {
                break;
            }
            let keys = &self.table.keys[self.at * width..(self.at + 1) * width];
            let states = &self.table.states[self.at * aggs..(self.at + 1) * aggs];
            self.grouping.emit(keys, states, out)?;
            self.at += 1;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.table.clear(cx);
        self.later.clear();
        self.built = false;
        self.at = 0;
        self.input.rewind(cx)
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        self.grouping.narrow(&mut self.input, filter);
    }
}
