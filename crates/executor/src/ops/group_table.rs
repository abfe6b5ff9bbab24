//! Groups in memory with what was taken for each, and one turn of filling them.
//!
//! When memory is used up a table takes no new group: rows of its groups still count, all others are put off, by hash, and
//! grouped in turns of their own. Each turn has [`GROUPS_MIN`] groups at least, so it ends.

use super::accumulate::Accumulator;
use super::by_column::{ByColumn, NO_GROUP};
use super::grouping::{Arguments, Grouping, STATE_BYTES};
use super::put_off::PutOff;
use crate::batch::Batch;
use crate::columns::{Columns, cell};
use crate::cx::Cx;
use crate::eval::eval;
use crate::key_index::{KeyIndex, hash_of};
use crate::memory::row_bytes;
use crate::message::SqlError;
use ir::ExprKind;
use types::Value;

/// Groups of a turn that spills, at least.
pub(super) const GROUPS_MIN: usize = 256;

/// Groups and their states.
#[derive(Default)]
pub(super) struct GroupTable {
    pub(super) index: KeyIndex,
    /// Values of the groups' keys and states, one after the other.
    pub(super) keys: Vec<Value>,
    pub(super) states: Vec<Accumulator>,
    pub(super) groups: usize,
    /// Memory counted for it.
    pub(super) held: usize,
}

impl GroupTable {
    /// The one group of a grouping by nothing, which is there without rows, too.
    pub(super) fn begin_scalar(&mut self, grouping: &Grouping<'_>) {
        self.states.extend(grouping.fresh());
        self.groups = 1;
    }

    /// A group that is new: its values are the table's last ones. Its number.
    fn add(&mut self, grouping: &Grouping<'_>, key: &[u8], hash: u64) -> u32 {
        self.states.extend(grouping.fresh());
        self.groups += 1;
        self.index.add(key, hash)
    }

    pub(super) fn clear(&mut self, cx: &mut Cx<'_>) {
        cx.release(self.held);
        *self = GroupTable::default();
    }
}

/// One turn of grouping: the input, or a stream of rows that had no room before.
#[derive(Default)]
pub(super) struct Turn {
    key: Vec<u8>,
    /// Rows of groups without room.
    pub(super) put_off: PutOff,
    /// Every group has room: whoever reads it lets the table go before it is large.
    must: bool,
    /// The keys of a batch, where each ends, and their groups plus one as far as they are known.
    keys: Vec<u8>,
    ends: Vec<u32>,
    hashes: Vec<u64>,
    pub(super) found: Vec<u32>,
}

impl Turn {
    /// A turn of rows that were put off so often before.
    pub(super) fn again(depth: u32) -> Turn {
        Turn { put_off: PutOff::again(depth), ..Turn::default() }
    }

    /// A turn in which every group has room.
    pub(super) fn with_room() -> Turn {
        Turn { must: true, ..Turn::default() }
    }

    /// Takes all that another table has taken: no DISTINCT, nothing joined. A group without room is put off as its values
    /// and states.
    pub(super) fn absorb(
        &mut self,
        grouping: &Grouping<'_>,
        table: &mut GroupTable,
        scalar: bool,
        other: &GroupTable,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let (width, aggs) = (grouping.group.len(), grouping.aggs.len());
        for group in 0..other.groups {
            let keys = &other.keys[group * width..][..width];
            let states = &other.states[group * aggs..][..aggs];
            self.absorb_group(grouping, table, scalar, keys, states, cx)?;
            if group.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        Ok(())
    }

    /// The same for a coarser grouping, by the expressions whose bits are in `set`: the values of the others are NULL.
    pub(super) fn absorb_coarser(
        &mut self,
        grouping: &Grouping<'_>,
        table: &mut GroupTable,
        set: u64,
        finer: &GroupTable,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let (width, aggs) = (grouping.group.len(), grouping.aggs.len());
        let mut keys = vec![Value::Null; width];
        for group in 0..finer.groups {
            for (i, key) in keys.iter_mut().enumerate().filter(|(i, _)| set >> i & 1 == 1) {
                key.clone_from(&finer.keys[group * width + i]);
            }
            let states = &finer.states[group * aggs..][..aggs];
            self.absorb_group(grouping, table, false, &keys, states, cx)?;
            if group.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        Ok(())
    }

    /// The same for one that was put off.
    pub(super) fn absorb_stored(
        &mut self,
        grouping: &Grouping<'_>,
        table: &mut GroupTable,
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let (keys, stored) = row.split_at(grouping.group.len());
        let restored = grouping.specs.iter().zip(stored);
        let states: Vec<Accumulator> =
            restored.map(|(spec, value)| Accumulator::restored(spec, value)).collect();
        self.absorb_group(grouping, table, false, keys, &states, cx)
    }

    fn absorb_group(
        &mut self,
        grouping: &Grouping<'_>,
        table: &mut GroupTable,
        scalar: bool,
        keys: &[Value],
        states: &[Accumulator],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let mut at = 0;
        if !scalar {
            self.key.clear();
            for (i, value) in keys.iter().enumerate() {
                grouping.encoder.push(i, value, &mut self.key);
            }
            let hash = hash_of(&self.key);
            at = match table.index.find(&self.key, hash) {
                Some(group) => group as usize,
                None => {
                    let from = table.keys.len();
                    table.keys.extend_from_slice(keys);
                    if !self.has_room(table, from, self.key.len(), states.len(), cx)? {
                        table.keys.truncate(from);
                        let mut row = keys.to_vec();
                        row.extend(states.iter().map(Accumulator::stored));
                        return self.put_off(hash, &row, cx);
                    }
                    table.add(grouping, &self.key, hash) as usize
                }
            };
        }
        let own = &mut table.states[at * states.len()..][..states.len()];
        for ((own, spec), state) in own.iter_mut().zip(&grouping.specs).zip(states) {
            own.absorb(spec, state)?;
        }
        Ok(())
    }

    /// Looks for the groups of a batch's rows, whose keys are slots.
    pub(super) fn look_up(&mut self, grouping: &Grouping<'_>, table: &GroupTable, batch: &Batch) {
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
    pub(super) fn add(
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
    pub(super) fn group(
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
            self.put_off(hash, &values, cx)?;
            return Ok(NO_GROUP);
        }
        Ok(table.add(grouping, key, hash))
    }

    /// A row of a group without room, and how wide it is.
    fn put_off(&mut self, hash: u64, row: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.put_off.push(hash, &(row.len() as u32).to_le_bytes(), row, cx)
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
        let must = self.must || table.groups < GROUPS_MIN;
        if !cx.hold_entry(bytes, !self.put_off.is_empty(), must)? {
            return Ok(false);
        }
        table.held += bytes;
        Ok(true)
    }

    pub(super) fn take(
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
                        return self.put_off(hash, row, cx);
                    }
                    table.add(grouping, &self.key, hash) as usize
                }
            }
        };
        table.held += self.add(grouping, &mut table.states, group, row, at, cx)?;
        Ok(())
    }
}
