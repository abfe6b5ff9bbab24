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
//! estimates, unless a look at the first [`AHEAD_ROWS_MAX`] rows of a side shows its end. Nobody may rely on the order of
//! rows. Of the build side only the columns that somebody reads are kept. What does not fit is written to partitions,
//! the right side then being built; a partition that does not fit either is built in parts, each probed by all of the
//! other side's partition, so skew costs time and nothing else.
//!
//! A left side that is built gives, as the right one probes it, pairs (INNER, LEFT) or its rows that meet somebody for
//! the first time (semijoin); those that have met nobody come last (LEFT, antijoin).
//!
//! Invariant of the parts: which probe rows have met anybody is known by their number from part to part, so that what
//! has met nobody is told once, after the last.

mod probe_keys;
mod spilled;

use super::Operator;
use super::hash::KeyEncoder;
use super::join_filter::JoinFilter;
use super::simple::Source;
use crate::arena::{Address, Arena};
use crate::batch::Batch;
use crate::cx::{Cx, row_bytes};
use crate::eval::{holds, operand};
use crate::key_index::{KeyIndex, hash_of};
use crate::message::SqlError;
use crate::rowcode;
use binder::ir::{Expr, ExprKind};
use planner::PhysicalJoin;
use probe_keys::ProbeKeys;
use spilled::{Spilled, key_part, partition_of};
use types::Value;

/// A side of no more rows is built, whatever the plan thought.
const AHEAD_ROWS_MAX: usize = 8192;
/// Nor is it if its rows take more, in bytes.
const AHEAD_BYTES_MAX: usize = 4 << 20;

/// See the file's first lines.
pub(super) struct HashJoin<'p> {
    shape: Shape<'p>,
    left: Source<'p>,
    right: Source<'p>,
    state: State,
    table: Table,
    probe: Probe,
    /// Rows of each side by the plan's estimate.
    estimates: (f64, f64),
    /// What was read of each side before it was known which one is built.
    left_ahead: Ahead,
    right_ahead: Ahead,
}

/// Rows of a side read ahead.
#[derive(Default)]
struct Ahead {
    batches: std::collections::VecDeque<Batch>,
    /// The side has no more.
    ended: bool,
}

impl Ahead {
    /// Reads on until there are enough for a table that nobody asks the memory for. Whether the side has ended.
    fn look(&mut self, side: &mut Source<'_>, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let (mut rows, mut bytes) = (0, 0);
        while !self.ended && rows < AHEAD_ROWS_MAX && bytes < AHEAD_BYTES_MAX {
            let mut batch = Batch::new();
            if !side.next(cx, &mut batch)? {
                self.ended = true;
                break;
            }
            rows += batch.len();
            bytes += batch.rows().map(row_bytes).sum::<usize>();
            self.batches.push_back(batch);
            cx.breathe()?;
        }
        Ok(self.ended)
    }

    /// The next rows of the side, those read ahead first. False at its end.
    fn next(
        &mut self,
        side: &mut Source<'_>,
        cx: &mut Cx<'_>,
        batch: &mut Batch,
    ) -> Result<bool, SqlError> {
        if let Some(ahead) = self.batches.pop_front() {
            *batch = ahead;
            return Ok(true);
        }
        cx.breathe()?;
        Ok(!self.ended && side.next(cx, batch)?)
    }
}

/// What the plan says.
struct Shape<'p> {
    kind: PhysicalJoin,
    left_width: usize,
    right_width: usize,
    left_keys: &'p [Expr],
    right_keys: &'p [Expr],
    residual: Option<&'p Expr>,
    encoder: KeyEncoder,
    /// Slots of the joined row that are read above or by the residual; others come as NULL.
    needed: Vec<bool>,
}

enum State {
    Start,
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

/// Rows of the build side, chained by key.
#[derive(Default)]
struct Table {
    keys: KeyIndex,
    /// Of each key, its newest row plus one.
    heads: Vec<u32>,
    rows: Vec<BuiltRow>,
    arena: Arena,
    /// Rows that have met somebody, where that is asked for.
    matched: Vec<bool>,
    /// Memory counted for it.
    held: usize,
}

#[derive(Clone, Copy)]
struct BuiltRow {
    values: Address,
    /// The next row of the same key, plus one; 0 ends.
    next: u32,
}

/// The row that is being joined.
#[derive(Default)]
struct Probe {
    batch: Batch,
    /// Of the batch's rows.
    keys: ProbeKeys,
    at: usize,
    open: bool,
    matched: bool,
    /// The candidate to look at next.
    candidate: u32,
    key: Vec<u8>,
    row: Vec<u8>,
    scratch: Vec<Value>,
}

impl Table {
    /// Adds a row under the key, if it has one; false when there is no memory for it. `marks`: whether it meets somebody
    /// will be asked for.
    fn add(
        &mut self,
        key: Option<&[u8]>,
        row: &[u8],
        marks: bool,
        must: bool,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let fresh = key.map_or(0, |key| KeyIndex::entry_bytes(key.len()) + 8);
        let bytes = row.len() + 2 * size_of::<BuiltRow>() + fresh + 1;
        if !cx.try_hold(bytes)? {
            if !must {
                return Ok(false);
            }
            cx.force_hold(bytes)?;
        }
        self.held += bytes;
        let number = self.rows.len() as u32 + 1;
        let values = self.arena.push(row);
        let mut next = 0;
        if let Some(key) = key {
            let hash = hash_of(key);
            match self.keys.find(key, hash) {
                Some(head) => next = std::mem::replace(&mut self.heads[head as usize], number),
                None => {
                    self.keys.add(key, hash);
                    self.heads.push(number);
                }
            }
        }
        self.rows.push(BuiltRow { values, next });
        if marks {
            self.matched.push(false);
        }
        Ok(true)
    }

    fn head(&self, key: &[u8]) -> u32 {
        self.keys.find(key, hash_of(key)).map_or(0, |number| self.heads[number as usize])
    }

    fn clear(&mut self, cx: &mut Cx<'_>) {
        cx.release(self.held);
        *self = Table::default();
    }
}

impl<'p> Shape<'p> {
    fn emits_pairs(&self) -> bool {
        matches!(self.kind, PhysicalJoin::Inner | PhysicalJoin::Left | PhysicalJoin::Full)
    }

    fn out_width(&self) -> usize {
        self.left_width + if self.emits_pairs() { self.right_width } else { 0 }
    }

    /// The key of a row; false when a part is NULL.
    fn key(
        &self,
        left: bool,
        row: &[Value],
        out: &mut Vec<u8>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        out.clear();
        self.push_key(left, row, out, cx)
    }

    /// Appends the key of a row to `out`; false, and part of it, when a part is NULL.
    fn push_key(
        &self,
        left: bool,
        row: &[Value],
        out: &mut Vec<u8>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let keys = if left { self.left_keys } else { self.right_keys };
        for (i, key) in keys.iter().enumerate() {
            let value = operand(key, row, cx)?;
            if value.is_null() {
                return Ok(false);
            }
            self.encoder.push(i, &value, out);
        }
        Ok(true)
    }

    /// A row as it is kept: only what is needed, the rest NULL.
    fn kept(&self, left: bool, row: &[Value], out: &mut Vec<u8>) {
        out.clear();
        let needed = match left {
            true => &self.needed[..self.left_width],
            false => &self.needed[self.left_width..],
        };
        for (value, needed) in row.iter().zip(needed) {
            if *needed {
                rowcode::encode_value(value, out);
            } else {
                out.push(0);
            }
        }
    }

    /// Appends the pair of a probe row and a built one to `out`; false when the residual refuses it.
    fn pair(
        &self,
        by_left: bool,
        probe: &[Value],
        built: &[u8],
        out: &mut Batch,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let values = out.values_mut();
        if by_left {
            self.copy_needed(true, probe, values);
            rowcode::decode(built, self.right_width, values);
        } else {
            rowcode::decode(built, self.left_width, values);
            self.copy_needed(false, probe, values);
        }
        out.finish_row();
        match self.residual {
            Some(residual) if !holds(residual, out.last(), cx)? => {
                out.pop();
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    #[inline]
    fn copy_needed(&self, left: bool, row: &[Value], out: &mut Vec<Value>) {
        let needed = match left {
            true => &self.needed[..self.left_width],
            false => &self.needed[self.left_width..],
        };
        let value = |(value, needed): (&Value, &bool)| match needed {
            true => value.clone(),
            false => Value::Null,
        };
        out.extend(row.iter().zip(needed).map(value));
    }

    /// A left row with NULLs, or alone, as the kind has it.
    fn push_left(&self, row: &[Value], out: &mut Batch) {
        if self.emits_pairs() { out.push_joined(row, None) } else { out.push(row) }
    }

    /// A built left row, likewise.
    fn push_built_left(&self, built: &[u8], out: &mut Batch) {
        let values = out.values_mut();
        rowcode::decode(built, self.left_width, values);
        if self.emits_pairs() {
            values.resize(values.len() + self.right_width, Value::Null);
        }
        out.finish_row();
    }

    /// A right row without a partner.
    fn push_right(&self, built: &[u8], out: &mut Batch) {
        let values = out.values_mut();
        values.resize(values.len() + self.left_width, Value::Null);
        rowcode::decode(built, self.right_width, values);
        out.finish_row();
    }
}

impl<'p> HashJoin<'p> {
    /// `estimates`: rows of each side. `needed`: slots of its rows that are read above; `None`: all.
    #[allow(clippy::too_many_arguments, reason = "the fields of one plan node")]
    pub fn new(
        kind: PhysicalJoin,
        left: Source<'p>,
        right: Source<'p>,
        widths: (usize, usize),
        estimates: (f64, f64),
        left_keys: &'p [Expr],
        right_keys: &'p [Expr],
        residual: Option<&'p Expr>,
        needed: Option<&[bool]>,
    ) -> Self {
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
            },
            left,
            right,
            state: State::Start,
            table: Table::default(),
            probe: Probe::default(),
            estimates,
            left_ahead: Ahead::default(),
            right_ahead: Ahead::default(),
        }
    }

    /// Builds a table of the side that seems, or is, the smaller one.
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<State, SqlError> {
        let kind = self.shape.kind;
        let left_is_smaller = self.estimates.0 <= self.estimates.1;
        let only_matches = matches!(kind, PhysicalJoin::Inner | PhysicalJoin::Semi);
        if kind == PhysicalJoin::Full {
            return self.build_right(cx);
        }
        if kind == PhysicalJoin::Inner && !left_is_smaller {
            if self.right_ahead.look(&mut self.right, cx)? {
                return self.build_right(cx);
            }
            return match self.left_ahead.look(&mut self.left, cx)? {
                true => self.build_left(cx),
                false => self.build_right(cx),
            };
        }
        let ended = self.left_ahead.look(&mut self.left, cx)?;
        if ended && self.left_ahead.batches.is_empty() {
            return Ok(State::End);
        }
        // An estimate that is far off costs a table of the left side; no more than what the right one's might.
        let far = 2.0 * self.estimates.0 <= self.estimates.1;
        if !ended && !far {
            return self.build_right(cx);
        }
        let state = self.build_left(cx)?;
        match only_matches && self.table.rows.is_empty() && matches!(state, State::Probing { .. }) {
            true => Ok(State::End),
            false => Ok(state),
        }
    }

    /// Builds the left side, to be probed by the right one.
    fn build_left(&mut self, cx: &mut Cx<'_>) -> Result<State, SqlError> {
        let shape = &self.shape;
        // Rows without a key meet nobody, which some kinds tell.
        let all = matches!(shape.kind, PhysicalJoin::Left | PhysicalJoin::Anti);
        let marks = shape.kind != PhysicalJoin::Inner;
        let must = self.left_ahead.ended;
        let mut batch = Batch::new();
        let mut spilled: Option<Box<Spilled>> = None;
        let Probe { key, row: bytes, .. } = &mut self.probe;
        while self.left_ahead.next(&mut self.left, cx, &mut batch)? {
            for row in batch.rows() {
                let known = shape.key(true, row, key, cx)?;
                if !known && !all {
                    continue;
                }
                shape.kept(true, row, bytes);
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
        let must = self.right_ahead.ended;
        let mut batch = Batch::new();
        let mut spilled: Option<Box<Spilled>> = None;
        let Probe { key, row: bytes, .. } = &mut self.probe;
        while self.right_ahead.next(&mut self.right, cx, &mut batch)? {
            for row in batch.rows() {
                let known = shape.key(false, row, key, cx)?;
                if !known && !full {
                    continue;
                }
                shape.kept(false, row, bytes);
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
        let slot = |key: &Expr| match key.kind {
            ExprKind::Slot(slot) => Some(slot),
            _ => None,
        };
        let Some(slots) = keys.iter().map(slot).collect() else { return };
        let Some(filter) = JoinFilter::new(&self.table.keys, slots, &shape.encoder) else { return };
        let side = if by_left { &mut self.left } else { &mut self.right };
        side.narrow(Some(&filter));
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
            Some(number) if once => std::mem::take(&mut self.table.heads[number as usize]),
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

/// Where the matching of a probe row stands.
struct Going<'g> {
    candidate: &'g mut u32,
    matched: &'g mut bool,
    scratch: &'g mut Vec<Value>,
}

impl Shape<'_> {
    /// Pairs of a probe row with its candidates. False when `out` is full before the last.
    fn candidates(
        &self,
        by_left: bool,
        row: &[Value],
        table: &mut Table,
        going: Going<'_>,
        cx: &mut Cx<'_>,
        out: &mut Batch,
    ) -> Result<bool, SqlError> {
        let pairs = self.emits_pairs();
        while *going.candidate != 0 {
            let index = *going.candidate as usize - 1;
            let built = table.rows[index];
            *going.candidate = built.next;
            let values = table.arena.get(built.values);
            if !pairs && !by_left {
                let met = &mut table.matched[index];
                if *met {
                    continue;
                }
                *met = match self.residual {
                    Some(residual) => {
                        going.scratch.clear();
                        rowcode::decode(values, self.left_width, going.scratch);
                        going.scratch.extend_from_slice(row);
                        holds(residual, going.scratch, cx)?
                    }
                    None => true,
                };
                if *met && self.kind == PhysicalJoin::Semi {
                    self.push_built_left(values, out);
                    if out.is_full() {
                        return Ok(false);
                    }
                }
                continue;
            }
            if pairs {
                if !self.pair(by_left, row, values, out, cx)? {
                    continue;
                }
                *going.matched = true;
                if let Some(matched) = table.matched.get_mut(index) {
                    *matched = true;
                }
                if out.is_full() {
                    return Ok(false);
                }
                continue;
            }
            *going.matched = match self.residual {
                Some(residual) => {
                    going.scratch.clear();
                    going.scratch.extend_from_slice(row);
                    rowcode::decode(values, self.right_width, going.scratch);
                    holds(residual, going.scratch, cx)?
                }
                None => true,
            };
            if *going.matched {
                *going.candidate = 0;
            }
        }
        Ok(true)
    }
}

impl Operator for HashJoin<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if let State::Start = self.state {
            self.state = self.start(cx)?;
        }
        out.start(self.shape.out_width());
        while out.is_empty() {
            match &mut self.state {
                State::Start | State::End => break,
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
        self.table.clear(cx);
        if let State::Spilled(spilled) = &mut self.state {
            spilled.forget_met(cx);
        }
        self.state = State::Start;
        self.probe.batch.start(0);
        (self.probe.at, self.probe.open) = (0, false);
        self.left_ahead = Ahead::default();
        self.right_ahead = Ahead::default();
        self.left.narrow(None);
        self.right.narrow(None);
        self.right.rewind(cx)?;
        self.left.rewind(cx)
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
