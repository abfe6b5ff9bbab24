//! GROUP BY by hashing. Groups that arrive together, and GROUPING SETS, are next door.
//!
//! A row may stand for several equal ones: the slot `weight` then says for how many (see `fold.rs`).

use super::Operator;
use super::by_column::ByColumn;
use super::group_table::{GroupTable, Turn};
use super::grouping::{Arguments, Grouping};
use super::join_filter::JoinFilter;
use super::simple::Source;
use crate::batch::Batch;
use crate::columns::Columns;
use crate::cx::Cx;
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::Stream;
use ir::Expr;
use planner::Agg;

/// Groups of an input, turn by turn: those of the first are in the table when it has been read, and what had no room in
/// further ones.
#[derive(Default)]
pub(super) struct Turns {
    pub(super) table: GroupTable,
    /// Rows for later, with their depth; the last is the next.
    later: Vec<(Stream, u32)>,
    /// Groups come in, not rows; what is put off is the groups' values and states.
    absorbs: bool,
}

impl Turns {
    /// Turns into which groups come, by [`Turn::absorb`]: the first is over when [`Turns::end`] is called.
    pub(super) fn of_groups() -> Turns {
        Turns { absorbs: true, ..Turns::default() }
    }

    /// The first turn: all of the input. Where its rows are made by several branches, those group them first, and their
    /// groups are put together here.
    pub(super) fn first<'p>(
        &mut self,
        grouping: &Grouping<'p>,
        scalar: bool,
        input: &mut Source<'p>,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        if scalar {
            self.table.begin_scalar(grouping);
        }
        let mut turn = Turn::default();
        self.absorbs = input.group_by(&|| grouping.in_parts(scalar), cx)?;
        if self.absorbs {
            while let Some(groups) = input.next_groups(cx)? {
                let Ok(mut groups) = groups.downcast::<GroupTable>() else {
                    stdx::fatal!("groups are of another kind");
                };
                turn.absorb(grouping, &mut self.table, scalar, &groups, cx)?;
                groups.clear(cx);
            }
        } else {
            let table = &mut self.table;
            read(grouping, scalar, input, table, &mut turn, &mut |_, _, _| Ok(true), cx)?;
        }
        self.end(turn, cx)
    }

    /// A turn is over: what it had no room for is for later.
    pub(super) fn end(&mut self, mut turn: Turn, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        turn.put_off.end(&mut self.later, cx)
    }

    /// Whether there are further turns.
    pub(super) fn has_more(&self) -> bool {
        !self.later.is_empty()
    }

    /// The next one: its groups are in the table in place of the last one's. False: there is none.
    pub(super) fn next(
        &mut self,
        grouping: &Grouping<'_>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        self.table.clear(cx);
        let Some((stream, depth)) = self.later.pop() else { return Ok(false) };
        let mut turn = Turn::again(depth);
        let (mut reader, mut row) = (stream.read(), Vec::new());
        let mut since_breath = 0u32;
        while let Some((head, bytes)) = reader.next(&stream)? {
            let width = u32::from_le_bytes(head.try_into().unwrap_or_default()) as usize;
            row.clear();
            rowcode::decode(bytes, width, &mut row);
            match self.absorbs {
                true => turn.absorb_stored(grouping, &mut self.table, &row, cx)?,
                false => turn.take(grouping, &mut self.table, false, &row, None, cx)?,
            }
            since_breath += 1;
            if since_breath.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        self.end(turn, cx)?;
        Ok(true)
    }

    pub(super) fn clear(&mut self, cx: &mut Cx<'_>) {
        self.table.clear(cx);
        self.later.clear();
    }
}

/// Groups in a hash table; those in memory come out in the order in which they were first seen.
pub(super) struct HashAggregate<'p> {
    input: Source<'p>,
    grouping: Grouping<'p>,
    scalar: bool,
    turns: Turns,
    built: bool,
    at: usize,
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
            turns: Turns::default(),
            built: false,
            at: 0,
        }
    }
}

impl Operator for HashAggregate<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if !self.built {
            self.turns.first(&self.grouping, self.scalar, &mut self.input, cx)?;
            self.grouping.warn(cx);
            self.built = true;
        }
        out.start(self.grouping.width());
        let (width, aggs) = (self.grouping.group.len(), self.grouping.aggs.len());
        while !out.is_full() {
            if self.at == self.turns.table.groups {
                self.at = 0;
                let more = self.turns.next(&self.grouping, cx)?;
                self.grouping.warn(cx);
                if !more {
                    break;
                }
                continue;
            }
            let table = &self.turns.table;
            let keys = &table.keys[self.at * width..(self.at + 1) * width];
            let states = &table.states[self.at * aggs..(self.at + 1) * aggs];
            self.grouping.emit(keys, states, out)?;
            self.at += 1;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.turns.clear(cx);
        self.built = false;
        self.at = 0;
        self.input.rewind(cx)
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        self.grouping.narrow(&mut self.input, filter);
    }
}

/// What is done after each batch, with the table and where rows come from; false: no more rows are wanted.
pub(super) type AfterBatch<'f, 'p> =
    dyn FnMut(&mut GroupTable, &mut Source<'p>, &mut Cx<'_>) -> Result<bool, SqlError> + 'f;

/// Takes all rows of an input into a table.
pub(super) fn read<'p>(
    grouping: &Grouping<'_>,
    scalar: bool,
    input: &mut Source<'p>,
    table: &mut GroupTable,
    turn: &mut Turn,
    after: &mut AfterBatch<'_, 'p>,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    if let Some(by_column) = ByColumn::over(grouping, input, cx)? {
        return read_columns(grouping, scalar, input, table, (by_column, turn), after, cx);
    }
    let mut batch = Batch::new();
    let mut arguments = Arguments::new(grouping.aggs);
    // Slots cannot fail: then the groups of a batch are looked for all at once.
    let plain = |e: &Expr| e.as_slot().is_some();
    let at_once = !scalar && grouping.group.iter().all(plain);
    while input.next(cx, &mut batch)? {
        arguments.load(&batch);
        if at_once {
            turn.look_up(grouping, table, &batch);
        }
        for (i, row) in batch.rows().enumerate() {
            let at = Some((&arguments, i));
            match turn.found.get(i) {
                Some(group @ 1..) => {
                    let group = *group as usize - 1;
                    table.held += turn.add(grouping, &mut table.states, group, row, at, cx)?;
                }
                _ => turn.take(grouping, table, scalar, row, at, cx)?,
            }
        }
        cx.breathe()?;
        if !after(table, input, cx)? {
            break;
        }
    }
    Ok(())
}

fn read_columns<'p>(
    grouping: &Grouping<'_>,
    scalar: bool,
    input: &mut Source<'p>,
    table: &mut GroupTable,
    (mut by_column, turn): (ByColumn, &mut Turn),
    after: &mut AfterBatch<'_, 'p>,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    let mut columns = Columns::default();
    let (mut hashes, mut groups) = (Vec::new(), Vec::new());
    while input.next_columns(cx, &mut columns)? {
        by_column.load(&grouping.encoder, &columns);
        if scalar {
            groups.clear();
            groups.resize(columns.len(), 0);
        } else {
            table.index.find_all(by_column.keys(), &mut hashes, &mut groups);
            for (row, group) in groups.iter_mut().enumerate() {
                let at = (row, hashes[row]);
                *group = match group.checked_sub(1) {
                    Some(known) => known,
                    None => turn.group(grouping, table, &by_column, &columns, at, cx)?,
                };
            }
        }
        by_column.add(grouping, &columns, &groups, &mut table.states, cx)?;
        cx.breathe()?;
        if !after(table, input, cx)? {
            break;
        }
    }
    Ok(())
}
