//! The hash join.
//!
//! ```text
//! build (one side: see below) --> in memory --------------------> probe with the other side
//!           | memory is used up
//!           v
//! both sides into partitions by hash --> a partition at a time: build, probe; as often as its build side needs
//! ```
//!
//! Promise: the side with fewer rows is built, whatever the kind of join (but FULL builds the right one): by the plan's
//! estimates, unless a look at the first [`ahead::AHEAD_ROWS_MAX`] rows of a side shows its end. Nobody may rely on the order of
//! rows. Of the build side only the columns that somebody reads are kept. What does not fit is written to partitions,
//! the right side then being built; a partition that does not fit either is built in parts, each probed by all of the
//! other side's partition, so skew costs time and nothing else.
//!
//! An adaptive join has a second way to the right side's rows, by seeks: it reads its left side first, and where that
//! ends after few rows, it is their nested loops. Few may be more than are looked at: then, if it seems to be the smaller side
//! by far, it is built, and its rows are read again.
//!
//! A left side that is built gives, as the right one probes it, pairs (INNER, LEFT) or its rows that meet somebody for
//! the first time (semijoin); those that have met nobody come last (LEFT, antijoin).
//!
//! In a parallel plan a join whose probing side is read by branches is built once, by who starts them, and probed by each:
//! the plan says which side is built ([`planner::probes_left`]), and what does not fit is joined by one task after all. So is a
//! built left side of few rows that are sought; the seeks may have branches ([`super::exchange::Loops`]).
//!
//! Invariant of the parts: which probe rows have met anybody is known by their number from part to part, so that what
//! has met nobody is told once, after the last.

mod ahead;
mod by_column;
mod feed;
mod probe;
mod shape;
mod spilled;
mod table;
#[cfg(test)]
mod tests;

use super::Operator;
use super::exchange::Loops;
use super::hash::KeyEncoder;
use super::join_filter::JoinFilter;
use super::shared::SharedJoin;
use super::simple::Source;
use crate::batch::Batch;
use crate::columns::Columns;
use crate::cx::Cx;
use crate::message::SqlError;
use crate::rowcode;
use ahead::{Ahead, Whole};
use by_column::ByColumn;
use feed::Feed;
use ir::{Expr, ParamId};
use planner::{Node, PhysicalJoin};
use probe::Probe;
use shape::{Going, Shape};
use spilled::{Spilled, key_part, partition_of};
use std::sync::Arc;
use table::{Built, Table};

/// See the file's first lines.
pub(super) struct HashJoin<'p> {
    shape: Shape<'p>,
    left: Source<'p>,
    right: Source<'p>,
    state: State,
    table: Table,
    probe: Probe,
    /// Rows of the probing side come as columns.
    by_column: Option<Box<ByColumn>>,
    /// Those that are joined, and how many of them have been given as rows.
    joined: Columns,
    given: usize,
    /// Rows of each side by the plan's estimate.
    estimates: (f64, f64),
    /// What was read of each side before it was known which one is built.
    left_ahead: Ahead,
    right_ahead: Ahead,
    /// An adaptive join's other way.
    seeks: Option<Seeks<'p>>,
    /// The table is there before the first row is asked for: built to be shared, or taken over. Whether the left side probes it.
    built_before: Option<bool>,
    /// What the probing side was told.
    told: Option<JoinFilter>,
}

/// What branches take over of a join ([`SharedJoin`]): its built side, and what is told to the probing one.
struct Taken {
    built: Arc<Built>,
    filter: Option<JoinFilter>,
    by_left: bool,
}

/// What is done where the left side has few rows.
struct Seeks<'p> {
    rows_max: f64,
    loops: Loops<'p>,
}

enum State {
    Start,
    /// The left side has few rows, each of which is sought on the right.
    Seeking,
    /// The table is in memory and probed; whether by the left side.
    Probing {
        by_left: bool,
    },
    /// Built rows that met nobody, from here on; whether they are the left side's.
    Unmatched {
        left: bool,
        at: usize,
    },
    Spilled(Box<Spilled>),
    End,
}

impl<'p> HashJoin<'p> {
    /// `nodes`: of each side. `needed`: slots of its rows that are read above; `None`: all.
    #[allow(clippy::too_many_arguments, reason = "the fields of one plan node")]
    pub fn new(
        kind: PhysicalJoin,
        left: Source<'p>,
        right: Source<'p>,
        nodes: (&Node, &Node),
        left_keys: &'p [Expr],
        right_keys: &'p [Expr],
        residual: Option<&'p Expr>,
        needed: Option<&[bool]>,
    ) -> Self {
        let widths = (nodes.0.types.len(), nodes.1.types.len());
        let all = widths.0 + widths.1;
        let half = matches!(kind, PhysicalJoin::Semi | PhysicalJoin::Anti);
        // Of the right side of a half join only the residual reads.
        let mut needed = match needed {
            Some(needed) => needed.to_vec(),
            None => vec![true; if half { widths.0 } else { all }],
        };
        needed.resize(all, false);
        if let Some(residual) = residual {
            super::slots::mark(residual, &mut needed);
        }
        HashJoin {
            shape: Shape {
                kind,
                left_width: widths.0,
                right_width: widths.1,
                left_keys,
                right_keys,
                residual,
                encoder: KeyEncoder::new(left_keys.iter().map(|e| e.ty)),
                needed,
                types: [&nodes.0.types[..], &nodes.1.types[..]].concat(),
            },
            left,
            right,
            state: State::Start,
            table: Table::default(),
            probe: Probe::default(),
            by_column: None,
            joined: Columns::default(),
            given: 0,
            estimates: (nodes.0.rows, nodes.1.rows),
            left_ahead: Ahead::default(),
            right_ahead: Ahead::default(),
            seeks: None,
            built_before: None,
            told: None,
        }
    }

    /// Makes it adaptive: a left side of no more than so many rows is joined by `loops`, whose seeks read `binds` of each.
    pub fn seek_up_to(&mut self, rows_max: f64, binds: &[(ParamId, Expr)], loops: Loops<'p>) {
        // Rows that have been built are read with the columns that were kept of them.
        binds.iter().for_each(|(_, bound)| super::slots::mark(bound, &mut self.shape.needed));
        self.seeks = Some(Seeks { rows_max, loops });
    }

    /// Builds a table of the side that seems, or is, the smaller one.
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<State, SqlError> {
        if let Some(by_left) = self.built_before.take() {
            return Ok(State::Probing { by_left });
        }
        let kind = self.shape.kind;
        let left_is_smaller = self.estimates.0 <= self.estimates.1;
        let only_matches = matches!(kind, PhysicalJoin::Inner | PhysicalJoin::Semi);
        if kind == PhysicalJoin::Full {
            return self.build_right(cx);
        }
        if kind == PhysicalJoin::Inner && !left_is_smaller && self.seeks.is_none() {
            if self.right_ahead.look(&mut self.right, cx)? {
                return self.build_right(cx);
            }
            return match self.left_ahead.look(&mut self.left, cx)? {
                true => self.build_left(cx),
                false => self.build_right(cx),
            };
        }
        let ended = self.left_ahead.look(&mut self.left, cx)?;
        if self.left_ahead.is_empty() {
            return Ok(State::End);
        }
        if let Some(seeks) = &mut self.seeks
            && ended
            && self.left_ahead.len() as f64 <= seeks.rows_max
        {
            let left = std::mem::take(&mut self.left_ahead);
            let rows = left.len();
            seeks.loops.begin(Box::new(Whole(left)), rows);
            return Ok(State::Seeking);
        }
        // An estimate that is far off costs a table of the left side; no more than what the right one's might.
        let far = 2.0 * self.estimates.0 <= self.estimates.1;
        if !ended && !far {
            return self.build_right(cx);
        }
        let state = self.build_left_or_seek(cx)?;
        match only_matches && self.table.rows.is_empty() && matches!(state, State::Probing { .. }) {
            true => Ok(State::End),
            false => Ok(state),
        }
    }

    /// Builds the left side; its rows are sought on the right, if this is adaptive and they are few.
    fn build_left_or_seek(&mut self, cx: &mut Cx<'_>) -> Result<State, SqlError> {
        let state = self.build_left(cx)?;
        let rows = self.table.rows.len();
        match (&mut self.seeks, state) {
            (Some(seeks), State::Probing { by_left: false }) if rows as f64 <= seeks.rows_max => {
                let left = self.table.take_rows(self.shape.left_width);
                seeks.loops.begin(Box::new(left), rows);
                Ok(State::Seeking)
            }
            (_, state) => Ok(state),
        }
    }

    /// Builds the left side, to be probed by the right one.
    fn build_left(&mut self, cx: &mut Cx<'_>) -> Result<State, SqlError> {
        let shape = &self.shape;
        // Rows without a key meet nobody, which some kinds tell.
        let all = matches!(shape.kind, PhysicalJoin::Left | PhysicalJoin::Anti);
        let marks = shape.kind != PhysicalJoin::Inner;
        let must = self.left_ahead.has_ended();
        let mut batch = Batch::new();
        let mut spilled: Option<Box<Spilled>> = None;
        let Probe { key, row: bytes, .. } = &mut self.probe;
        let mut feed = Feed::new(true, shape, (&mut self.left, &mut self.left_ahead), cx)?;
        while let Some(rows) =
            feed.next(shape, &self.table, (&mut self.left, &mut self.left_ahead), cx)?
        {
            for row in 0..rows {
                let known = feed.row(row, shape, !all, (key, bytes), cx)?;
                if !known && !all {
                    continue;
                }
                if let Some(spilled) = &mut spilled {
                    spilled.probe[partition_of(key, known)].push(key_part(key, known), bytes)?;
                    continue;
                }
                let key = known.then_some(&key[..]);
                if self.table.add(key, bytes, marks, must, cx)? {
                    continue;
                }
                // In files it is the right side that is built.
                let mut files = Spilled::begin(&mut self.table, true, cx)?;
                let key = key.unwrap_or_default();
                files.probe[partition_of(key, known)].push(key, bytes)?;
                spilled = Some(files);
            }
        }
        let Some(mut spilled) = spilled else {
            self.narrow_probe(false);
            return Ok(State::Probing { by_left: false });
        };
        while self.right_ahead.next(&mut self.right, cx, &mut batch)? {
            for row in batch.rows() {
                if shape.key(false, row, key, cx)? {
                    shape.kept(false, row, bytes);
                    spilled.build[partition_of(key, true)].push(key, bytes)?;
                }
            }
        }
        spilled.finish(cx)?;
        Ok(State::Spilled(spilled))
    }

    /// Builds the right side, to be probed by the left one.
    fn build_right(&mut self, cx: &mut Cx<'_>) -> Result<State, SqlError> {
        let shape = &self.shape;
        let full = shape.kind == PhysicalJoin::Full;
        let must = self.right_ahead.has_ended();
        let mut batch = Batch::new();
        let mut spilled: Option<Box<Spilled>> = None;
        let Probe { key, row: bytes, .. } = &mut self.probe;
        let mut feed = Feed::new(false, shape, (&mut self.right, &mut self.right_ahead), cx)?;
        while let Some(rows) =
            feed.next(shape, &self.table, (&mut self.right, &mut self.right_ahead), cx)?
        {
            for row in 0..rows {
                let known = feed.row(row, shape, !full, (key, bytes), cx)?;
                if !known && !full {
                    continue;
                }
                if let Some(spilled) = &mut spilled {
                    spilled.build[partition_of(key, known)].push(key_part(key, known), bytes)?;
                    continue;
                }
                let key = known.then_some(&key[..]);
                if self.table.add(key, bytes, full, must, cx)? {
                    continue;
                }
                let mut files = Spilled::begin(&mut self.table, false, cx)?;
                let key = key.unwrap_or_default();
                files.build[partition_of(key, known)].push(key, bytes)?;
                spilled = Some(files);
            }
        }
        let Some(mut spilled) = spilled else {
            let only_matches = matches!(shape.kind, PhysicalJoin::Inner | PhysicalJoin::Semi);
            if only_matches && self.table.rows.is_empty() {
                return Ok(State::End);
            }
            self.narrow_probe(true);
            return Ok(State::Probing { by_left: true });
        };
        // The left side follows, whole: its rows are needed by every part of their partition.
        while self.left_ahead.next(&mut self.left, cx, &mut batch)? {
            for row in batch.rows() {
                let known = shape.key(true, row, key, cx)?;
                if !known && matches!(shape.kind, PhysicalJoin::Inner | PhysicalJoin::Semi) {
                    continue;
                }
                bytes.clear();
                rowcode::encode(row, bytes);
                spilled.probe[partition_of(key, known)].push(key_part(key, known), bytes)?;
            }
        }
        spilled.finish(cx)?;
        Ok(State::Spilled(spilled))
    }

    /// Tells the probing side which rows will meet nobody, where those are not told.
    fn narrow_probe(&mut self, by_left: bool) {
        let shape = &self.shape;
        let keys = match (shape.kind, by_left) {
            (PhysicalJoin::Inner | PhysicalJoin::Semi, true) => shape.left_keys,
            (PhysicalJoin::Full, _) | (_, true) => return,
            (_, false) => shape.right_keys,
        };
        let Some(slots) = keys.iter().map(Expr::as_slot).collect() else { return };
        self.told = JoinFilter::new(&self.table.keys, slots, &shape.encoder);
        if let Some(filter) = &self.told {
            let side = if by_left { &mut self.left } else { &mut self.right };
            side.narrow(Some(filter));
        }
    }

    /// The next probe row. False at the end of that side.
    fn open_next(&mut self, by_left: bool, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if self.probe.at >= self.probe.batch.len() {
            let (side, ahead) = match by_left {
                true => (&mut self.left, &mut self.left_ahead),
                false => (&mut self.right, &mut self.right_ahead),
            };
            if !ahead.next(side, cx, &mut self.probe.batch)? {
                return Ok(false);
            }
            let Probe { batch, keys, at, .. } = &mut self.probe;
            keys.load(&self.shape, by_left, batch, &self.table, cx);
            *at = 0;
        }
        // Without a residual all rows of a key meet somebody at once: they need not be met again.
        let once = !by_left && !self.shape.emits_pairs() && self.shape.residual.is_none();
        self.probe.candidate = match self.probe.keys.number(self.probe.at)? {
            Some(number) if once => std::mem::take(&mut self.table.own().heads[number as usize]),
            Some(number) => self.table.heads[number as usize],
            None => 0,
        };
        self.probe.matched = false;
        self.probe.open = true;
        Ok(true)
    }

    /// Rows of the probe side joined with the table in memory. False when that side is over.
    fn probe(&mut self, by_left: bool, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        while !out.is_full() {
            if !self.probe.open && !self.open_next(by_left, cx)? {
                return Ok(false);
            }
            let probe = &mut self.probe;
            let row = probe.batch.row(probe.at);
            let going = Going {
                candidate: &mut probe.candidate,
                matched: &mut probe.matched,
                scratch: &mut probe.scratch,
            };
            if !self.shape.candidates(by_left, row, &mut self.table, going, cx, out)? {
                return Ok(true);
            }
            if by_left {
                match self.shape.kind {
                    PhysicalJoin::Left | PhysicalJoin::Full | PhysicalJoin::Anti
                        if !probe.matched =>
                    {
                        self.shape.push_left(row, out);
                    }
                    PhysicalJoin::Semi if probe.matched => self.shape.push_left(row, out),
                    _ => {}
                }
            }
            probe.open = false;
            probe.at += 1;
        }
        Ok(true)
    }
}

impl HashJoin<'_> {
    /// Builds, if that is to be done, and finds out how the other side is read.
    fn begin(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if let State::Start = self.state {
            self.state = self.start(cx)?;
            self.by_column = None;
            let State::Probing { by_left } = self.state else { return Ok(()) };
            let (side, ahead, keys) = match by_left {
                true => (&mut self.left, &mut self.left_ahead, self.shape.left_keys),
                false => (&mut self.right, &mut self.right_ahead, self.shape.right_keys),
            };
            if self.shape.kind != PhysicalJoin::Full
                && let Some(by_column) = ByColumn::new(keys, by_left)
                && ahead.has_columns(side, cx)?
            {
                self.by_column = Some(Box::new(by_column));
                self.joined = Columns::default();
                self.given = 0;
            }
        }
        Ok(())
    }

    /// The next joined columns, where the probing side is read so.
    fn join_columns(&mut self, cx: &mut Cx<'_>, out: &mut Columns) -> Result<bool, SqlError> {
        let Some(by_column) = &mut self.by_column else { return Ok(false) };
        loop {
            match &mut self.state {
                State::Probing { by_left } => {
                    let side = match *by_left {
                        true => (&mut self.left, &mut self.left_ahead),
                        false => (&mut self.right, &mut self.right_ahead),
                    };
                    if !by_column.probe(&self.shape, &mut self.table, side, cx, out)? {
                        self.state = match self.shape.kind {
                            PhysicalJoin::Left | PhysicalJoin::Anti if !*by_left => {
                                State::Unmatched { left: true, at: 0 }
                            }
                            _ => State::End,
                        };
                    } else if out.len() > 0 {
                        return Ok(true);
                    }
                }
                State::Unmatched { at, .. } => {
                    if by_column.tell_unmatched(&self.shape, &self.table, at, out) {
                        return Ok(true);
                    }
                    self.state = State::End;
                }
                _ => {
                    self.table.clear(cx);
                    return Ok(false);
                }
            }
        }
    }

    /// The same as rows.
    fn next_joined(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        while !out.is_full() {
            if self.given == self.joined.len() {
                // What there is goes on before more is read.
                if !out.is_empty() {
                    break;
                }
                let mut joined = std::mem::take(&mut self.joined);
                let more = self.join_columns(cx, &mut joined);
                (self.joined, self.given) = (joined, 0);
                if !more? {
                    self.joined = Columns::default();
                    break;
                }
            }
            self.joined.push_row(self.given, out.values_mut());
            out.finish_row();
            self.given += 1;
        }
        Ok(!out.is_empty())
    }
}

impl Operator for HashJoin<'_> {
    fn has_columns(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.begin(cx)?;
        Ok(self.by_column.is_some())
    }

    fn next_columns(&mut self, cx: &mut Cx<'_>, out: &mut Columns) -> Result<bool, SqlError> {
        self.join_columns(cx, out)
    }

    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        self.begin(cx)?;
        out.start(self.shape.out_width());
        if self.by_column.is_some() {
            return self.next_joined(cx, out);
        }
        while out.is_empty() {
            match &mut self.state {
                State::Start | State::End => break,
                State::Seeking => {
                    let Some(seeks) = &mut self.seeks else { break };
                    if !seeks.loops.next(cx, out)? {
                        seeks.loops.forget(cx)?;
                        self.state = State::End;
                        break;
                    }
                }
                State::Probing { by_left } => {
                    let by_left = *by_left;
                    if !self.probe(by_left, cx, out)? {
                        self.state = match self.shape.kind {
                            PhysicalJoin::Full => State::Unmatched { left: false, at: 0 },
                            PhysicalJoin::Left | PhysicalJoin::Anti if !by_left => {
                                State::Unmatched { left: true, at: 0 }
                            }
                            _ => State::End,
                        };
                    }
                }
                State::Unmatched { left, at } => {
                    let table = &self.table;
                    while *at < table.rows.len() && !out.is_full() {
                        if !table.matched[*at] {
                            let built = table.arena.get(table.rows[*at].values);
                            match *left {
                                true => self.shape.push_built_left(built, out),
                                false => self.shape.push_right(built, out),
                            }
                        }
                        *at += 1;
                    }
                    if out.is_empty() {
                        self.state = State::End;
                    }
                }
                State::Spilled(spilled) => {
                    let (table, probe) = (&mut self.table, &mut self.probe);
                    if !spilled.next(&self.shape, table, probe, cx, out)? {
                        self.state = State::End;
                    }
                }
            }
        }
        if let State::End = self.state {
            self.table.clear(cx);
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if let (State::Seeking, Some(seeks)) = (&self.state, &mut self.seeks) {
            seeks.loops.forget(cx)?;
        }
        self.table.clear(cx);
        if let State::Spilled(spilled) = &mut self.state {
            spilled.forget_met(cx);
        }
        self.state = State::Start;
        self.built_before = None;
        self.by_column = None;
        self.probe.batch.start(0);
        (self.probe.at, self.probe.open) = (0, false);
        self.left_ahead = Ahead::default();
        self.right_ahead = Ahead::default();
        self.left.narrow(None);
        self.right.narrow(None);
        self.right.rewind(cx)?;
        self.left.rewind(cx)
    }

    fn share(&mut self, cx: &mut Cx<'_>, shared: &mut Vec<SharedJoin>) -> Result<bool, SqlError> {
        let by_left = planner::probes_left(self.shape.kind, self.estimates.0, self.estimates.1);
        let state = match by_left {
            true => self.build_right(cx)?,
            false => self.build_left_or_seek(cx)?,
        };
        let State::Probing { by_left } = state else {
            self.state = state;
            return Ok(false);
        };
        self.built_before = Some(by_left);
        let (built, filter) = (self.table.share(), self.told.clone());
        shared.push(Arc::new(Taken { built, filter, by_left }));
        if by_left { self.left.share(cx, shared) } else { self.right.share(cx, shared) }
    }

    fn take_over(&mut self, shared: &mut dyn Iterator<Item = &SharedJoin>) {
        let Some(join) = shared.next().and_then(|join| join.downcast_ref::<Taken>()) else {
            stdx::fatal!("a branch has other joins than its plan")
        };
        self.table = Table::of_shared(join.built.clone());
        self.built_before = Some(join.by_left);
        let side = if join.by_left { &mut self.left } else { &mut self.right };
        if let Some(filter) = &join.filter {
            side.narrow(Some(filter));
        }
        side.take_over(shared);
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        let Some(filter) = filter else {
            self.left.narrow(None);
            return self.right.narrow(None);
        };
        // Of the side whose rows go on as they are: rows that nobody above has a use for need not be joined.
        let width = self.shape.left_width as u32;
        match self.shape.kind {
            PhysicalJoin::Full => {}
            _ if filter.slots().iter().all(|slot| *slot < width) => self.left.narrow(Some(filter)),
            PhysicalJoin::Inner if filter.slots().iter().all(|slot| *slot >= width) => {
                let slots = filter.slots().iter().map(|slot| slot - width).collect();
                self.right.narrow(Some(&filter.over(slots)));
            }
            _ => {}
        }
    }
}
