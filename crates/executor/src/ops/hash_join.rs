//! The hash join.
//!
//! ```text
//! build (right side, or left: see below) --> in memory --------------------> probe with the other side
//!           | memory is used up
//!           v
//! both sides into partitions by hash --> a partition at a time: build, probe; as often as its build side needs
//! ```
//!
//! Promise: the plan's build side is the right one. An inner join looks at the left first and builds that instead when
//! it ends within [`LEFT_ROWS_MAX`] rows; nobody may rely on the order of rows. Of the build side only the columns that
//! somebody reads are kept. What does not fit is written to partitions; a partition that does not fit either is
//! built in parts, each probed by all of the other side's partition, so skew costs time and nothing else.
//!
//! Invariant of the parts: which probe rows have met anybody is known by their number from part to part, so that what
//! has met nobody is told once, after the last.

mod spilled;

use super::Operator;
use super::hash::KeyEncoder;
use super::join_filter::JoinFilter;
use super::simple::Source;
use crate::arena::{Address, Arena, KeyIndex, hash_of};
use crate::batch::Batch;
use crate::cx::{Cx, row_bytes};
use crate::eval::{holds, operand};
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::Stream;
use binder::ir::{Expr, ExprKind};
use planner::PhysicalJoin;
use spilled::{Spilled, key_part, partition_of};
use types::Value;

/// A left side of no more rows is built, whatever the plan thought.
const LEFT_ROWS_MAX: usize = 8192;
/// Nor is it built if its rows take more, in bytes.
const LEFT_BYTES_MAX: usize = 4 << 20;

/// See the file's first lines.
pub(super) struct HashJoin<'p> {
    shape: Shape<'p>,
    left: Source<'p>,
    right: Source<'p>,
    state: State,
    table: Table,
    probe: Probe,
    /// Rows of the left side read ahead.
    ahead: Vec<Batch>,
    ahead_at: usize,
    left_ended: bool,
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
    /// Right rows that met nobody, from here on.
    Unmatched(usize),
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
    /// FULL: rows that have met somebody.
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
    /// Adds a row under the key, if it has one; false when there is no memory for it.
    fn add(
        &mut self,
        key: Option<&[u8]>,
        row: &[u8],
        full: bool,
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
        if full {
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

    /// A right row without a partner.
    fn push_right(&self, built: &[u8], out: &mut Batch) {
        let values = out.values_mut();
        values.resize(values.len() + self.left_width, Value::Null);
        rowcode::decode(built, self.right_width, values);
        out.finish_row();
    }
}

impl<'p> HashJoin<'p> {
    /// `needed`: slots of its rows that are read above; `None`: all.
    #[allow(clippy::too_many_arguments, reason = "the fields of one plan node")]
    pub fn new(
        kind: PhysicalJoin,
        left: Source<'p>,
        right: Source<'p>,
        widths: (usize, usize),
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
            ahead: Vec::new(),
            ahead_at: 0,
            left_ended: false,
        }
    }

    /// Builds a table, of the left side if that is small and the kind allows.
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<State, SqlError> {
        let shape = &self.shape;
        if shape.kind == PhysicalJoin::Inner {
            let (mut rows, mut bytes) = (0, 0);
            while rows < LEFT_ROWS_MAX && bytes < LEFT_BYTES_MAX {
                let mut batch = Batch::new();
                if !self.left.next(cx, &mut batch)? {
                    self.left_ended = true;
                    break;
                }
                rows += batch.len();
                bytes += batch.rows().map(row_bytes).sum::<usize>();
                self.ahead.push(batch);
                cx.breathe()?;
            }
            if rows == 0 {
                return Ok(State::End);
            }
            if self.left_ended {
                for batch in std::mem::take(&mut self.ahead) {
                    for row in batch.rows() {
                        if shape.key(true, row, &mut self.probe.key, cx)? {
                            shape.kept(true, row, &mut self.probe.row);
                            let key = Some(&self.probe.key[..]);
                            self.table.add(key, &self.probe.row, false, true, cx)?;
                        }
                    }
                }
                self.narrow_probe(false);
                return Ok(State::Probing { by_left: false });
            }
        }
        let full = shape.kind == PhysicalJoin::Full;
        let mut batch = Batch::new();
        let mut spilled: Option<Box<Spilled>> = None;
        let Probe { key, row: bytes, .. } = &mut self.probe;
        while self.right.next(cx, &mut batch)? {
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
                if self.table.add(known.then_some(&key[..]), bytes, full, false, cx)? {
                    continue;
                }
                let mut files = Spilled::begin(&mut self.table, cx)?;
                files.build[partition_of(key, known)].push(key_part(key, known), bytes)?;
                spilled = Some(files);
            }
            cx.breathe()?;
        }
        let Some(mut spilled) = spilled else {
            self.narrow_probe(true);
            return Ok(State::Probing { by_left: true });
        };
        // The left side follows, whole: its rows are needed by every part of their partition.
        while let Some(batch) = self.next_left(cx)? {
            for row in batch.rows() {
                let known = self.shape.key(true, row, &mut self.probe.key, cx)?;
                if !known && matches!(self.shape.kind, PhysicalJoin::Inner | PhysicalJoin::Semi) {
                    continue;
                }
                self.probe.row.clear();
                rowcode::encode(row, &mut self.probe.row);
                let key = &self.probe.key;
                let stream = &mut spilled.probe[partition_of(key, known)];
                stream.push(key_part(key, known), &self.probe.row)?;
            }
            cx.breathe()?;
        }
        for stream in spilled.build.iter_mut().chain(&mut spilled.probe) {
            stream.finish()?;
        }
        let bytes: u64 = spilled.build.iter().chain(&spilled.probe).map(Stream::bytes).sum();
        cx.note_hash_spill(bytes);
        Ok(State::Spilled(spilled))
    }

    /// Tells the probing side which rows will meet nobody, where those are not told.
    fn narrow_probe(&mut self, by_left: bool) {
        let shape = &self.shape;
        let keys = match (shape.kind, by_left) {
            (PhysicalJoin::Inner | PhysicalJoin::Semi, true) => shape.left_keys,
            (PhysicalJoin::Inner, false) => shape.right_keys,
            _ => return,
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

    /// The next rows of the left side, those read ahead first.
    fn next_left(&mut self, cx: &mut Cx<'_>) -> Result<Option<Batch>, SqlError> {
        if self.ahead_at < self.ahead.len() {
            self.ahead_at += 1;
            return Ok(Some(std::mem::take(&mut self.ahead[self.ahead_at - 1])));
        }
        let mut batch = Batch::new();
        Ok(if !self.left_ended && self.left.next(cx, &mut batch)? { Some(batch) } else { None })
    }

    /// The next probe row. False at the end of that side.
    fn open_next(&mut self, by_left: bool, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if self.probe.at >= self.probe.batch.len() {
            cx.breathe()?;
            let more = if !by_left {
                self.right.next(cx, &mut self.probe.batch)?
            } else if self.ahead_at < self.ahead.len() {
                self.probe.batch = std::mem::take(&mut self.ahead[self.ahead_at]);
                self.ahead_at += 1;
                true
            } else {
                !self.left_ended && self.left.next(cx, &mut self.probe.batch)?
            };
            if !more {
                return Ok(false);
            }
            self.probe.at = 0;
        }
        let row = self.probe.batch.row(self.probe.at);
        let known = self.shape.key(by_left, row, &mut self.probe.key, cx)?;
        self.probe.candidate = if known { self.table.head(&self.probe.key) } else { 0 };
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
                            PhysicalJoin::Full => State::Unmatched(0),
                            _ => State::End,
                        };
                    }
                }
                State::Unmatched(at) => {
                    let table = &self.table;
                    while *at < table.rows.len() && !out.is_full() {
                        if !table.matched[*at] {
                            self.shape.push_right(table.arena.get(table.rows[*at].values), out);
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
        self.ahead.clear();
        self.ahead_at = 0;
        self.left_ended = false;
        self.left.narrow(None);
        self.right.narrow(None);
        self.right.rewind(cx)?;
        self.left.rewind(cx)
    }
}
