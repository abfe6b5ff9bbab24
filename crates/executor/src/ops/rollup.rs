//! GROUPING SETS, ROLLUP and CUBE where one set groups by all that the others do: rows are grouped once, by that set, and
//! every other set is made of the groups of a finer one.
//!
//! ```text
//! rows --> (a, b, c) --> (a, b) --> (a) --> ()
//!                    \-> (b, c)
//! ```
//!
//! Promise: the groups are those of the rows. As long as there is room for all they come out in the order of the
//! expressions, a total after what it totals ([`SORTED_MAX`] of them at most; more come set by set). When memory is used
//! up sets come one after the other, in turns.
//!
//! It serves aggregates whose parts can be put together; others are `grouping_sets.rs`'s.

use super::Operator;
use super::aggregate::Turns;
use super::group_table::{GroupTable, Turn};
use super::grouping::Grouping;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::message::SqlError;
use ir::Expr;
use planner::Agg;
use runtime::task;
use types::Value;

/// Nobody looks at the order of more groups.
const SORTED_MAX: usize = 100_000;

/// See the file's first lines.
pub(super) struct Rollup<'p> {
    input: Source<'p>,
    grouping: Grouping<'p>,
    /// Finer ones first.
    levels: Vec<Level>,
    /// The level whose turn is next, and whether it has had its first.
    level: usize,
    begun: bool,
    /// Levels from here on up to `level` have groups that have not been given.
    kept: usize,
    /// There was not room for everything.
    spilled: bool,
    /// Groups that are given now: level and number.
    order: Vec<(u32, u32)>,
    at: usize,
}

/// A set, and its groups.
struct Level {
    /// Bit i: it groups by expression i.
    set: u64,
    /// Its place among the sets as they were written.
    place: u32,
    /// The level of whose groups it is made; of the first none.
    source: Option<usize>,
    turns: Turns,
    /// The turn that takes groups of the source.
    feed: Turn,
}

impl<'p> Rollup<'p> {
    /// `sets` are as [`planner::rolls_up`] wants them.
    pub fn new(
        input: Source<'p>,
        group: &'p [Expr],
        aggs: &'p [Agg],
        sets: &[u64],
        weight: Option<u32>,
    ) -> Self {
        let mut order: Vec<usize> = (0..sets.len()).collect();
        order.sort_by_key(|place| std::cmp::Reverse(sets[*place].count_ones()));
        let level = |(at, place): (usize, &usize)| {
            let set = sets[*place];
            let finer = |one: &usize| sets[order[*one]] & set == set;
            // The last of them has the fewest groups, about.
            let source = (0..at).rev().find(finer);
            let turns = if source.is_some() { Turns::of_groups() } else { Turns::default() };
            Level { set, place: *place as u32, source, turns, feed: Turn::default() }
        };
        let levels = order.iter().enumerate().map(level).collect();
        Rollup {
            input,
            grouping: Grouping { weight, ..Grouping::new(group, aggs) },
            levels,
            level: 0,
            begun: false,
            kept: 0,
            spilled: false,
            order: Vec::new(),
            at: 0,
        }
    }

    /// Makes groups until there are some to be given. False: there are none any more.
    fn advance(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        (self.at, self.order) = (0, Vec::new());
        if self.spilled {
            // What has been given is no longer needed.
            let given = self.kept..self.level;
            self.levels[given].iter_mut().for_each(|level| level.turns.table.clear(cx));
            self.kept = self.level;
        }
        while self.level < self.levels.len() {
            let here = self.level;
            if !std::mem::replace(&mut self.begun, true) {
                self.begin(here, cx)?;
            } else if !self.levels[here].turns.next(&self.grouping, cx)? {
                (self.level, self.begun) = (here + 1, false);
                continue;
            }
            self.grouping.warn(cx);
            self.feed(here, cx)?;
            self.spilled |= self.levels[here].turns.has_more();
            if !self.spilled {
                (self.level, self.begun) = (here + 1, false);
            } else if self.collect(here + 1) {
                return Ok(true);
            }
        }
        let any = self.collect(self.level);
        if any && !self.spilled && self.order.len() <= SORTED_MAX {
            self.sort(cx)?;
        }
        // Another call finds nothing.
        self.spilled = true;
        Ok(any)
    }

    /// The first turn of a level.
    fn begin(&mut self, at: usize, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let (grouping, level) = (&self.grouping, &mut self.levels[at]);
        let of_nothing = level.set == 0;
        match level.source {
            None => level.turns.first(grouping, of_nothing, &mut self.input, cx)?,
            Some(_) => level.turns.end(std::mem::take(&mut level.feed), cx)?,
        }
        if of_nothing {
            // The group that is there without rows too.
            if level.turns.table.groups == 0 {
                level.turns.table.begin_scalar(grouping);
            }
            level.turns.table.keys.resize(grouping.group.len(), Value::Null);
        }
        Ok(())
    }

    /// The groups of a level's turn go into those that are made of it.
    fn feed(&mut self, at: usize, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let (done, coarser) = self.levels.split_at_mut(at + 1);
        let source = &done[at].turns.table;
        for level in coarser.iter_mut().filter(|level| level.source == Some(at)) {
            let Level { set, turns, feed, .. } = level;
            feed.absorb_coarser(&self.grouping, &mut turns.table, *set, source, cx)?;
        }
        Ok(())
    }

    /// All groups that have not been given, of levels below `end`, are given now. Whether there are any.
    fn collect(&mut self, end: usize) -> bool {
        for at in self.kept..end {
            let groups = self.levels[at].turns.table.groups as u32;
            self.order.extend((0..groups).map(|group| (at as u32, group)));
        }
        !self.order.is_empty()
    }

    /// Orders them by the expressions.
    fn sort(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let (mut bytes, mut ends) = (Vec::new(), vec![0]);
        let width = self.grouping.group.len();
        for (n, (at, group)) in self.order.iter().enumerate() {
            let level = &self.levels[*at as usize];
            let keys = &level.turns.table.keys[*group as usize * width..][..width];
            self.grouping.encode_of_set(level.set, level.place, keys, &mut bytes);
            ends.push(bytes.len());
            if n.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        let mut by_key: Vec<u32> = (0..self.order.len() as u32).collect();
        let key = |n: u32| &bytes[ends[n as usize]..ends[n as usize + 1]];
        task::sort_by(&mut by_key, |a, b| key(*a).cmp(key(*b)))?;
        self.order = by_key.iter().map(|n| self.order[*n as usize]).collect();
        Ok(())
    }

    /// Appends a group's row.
    fn emit(&self, (at, group): (u32, u32), out: &mut Batch) -> Result<(), SqlError> {
        let (width, aggs) = (self.grouping.group.len(), self.grouping.aggs.len());
        let (level, group) = (&self.levels[at as usize], group as usize);
        let GroupTable { keys, states, .. } = &level.turns.table;
        let (keys, states) = (&keys[group * width..][..width], &states[group * aggs..][..aggs]);
        self.grouping.emit_of_set(level.set, keys, states, out)
    }
}

impl Operator for Rollup<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.grouping.width() + 1);
        while !out.is_full() {
            match self.order.get(self.at).copied() {
                Some(group) => {
                    self.emit(group, out)?;
                    self.at += 1;
                }
                None if self.advance(cx)? => {}
                None => break,
            }
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        for level in &mut self.levels {
            level.turns.clear(cx);
            level.feed = Turn::default();
        }
        (self.level, self.begun, self.kept, self.spilled) = (0, false, 0, false);
        (self.at, self.order) = (0, Vec::new());
        self.input.rewind(cx)
    }
}
