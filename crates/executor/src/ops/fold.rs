//! Equal rows folded into one that says how many they are: what a grouping above needs to see only once.
//!
//! Promise: rows come with one slot more, their weight; the weights of equal rows add up to their number. Slots that
//! nobody reads are NULL. Nothing is promised of the order, nor that equal rows become one: memory is bounded, and
//! where folding does not pay, rows pass with the weight 1.
//!
//! Rows straight from a table are compared by their stored bytes and decoded once per kind. Rows that SQL calls equal
//! though their bytes differ (`a` and `A`) stay apart: the grouping above brings them together.

use super::Operator;
use super::join_filter::JoinFilter;
use super::scan::TableScan;
use super::shared::SharedJoin;
use super::simple::Source;
use crate::arena::{Address, Arena};
use crate::batch::Batch;
use crate::cx::Cx;
use crate::key_index::{KeyIndex, hash_of};
use crate::message::SqlError;
use crate::rowcode;
use types::Value;

/// Kinds of rows held at a time.
const KINDS_MAX: usize = 32 << 10;
/// Bytes of them.
const BYTES_MAX: usize = 8 << 20;
/// Rows after which it is judged for the first time.
const SAMPLE_ROWS: u64 = 16 << 10;
/// So many rows should become one, else rows pass.
const ROWS_PER_KIND: u64 = 2;
/// Leaves of a table taken before somebody else may have the processor, and the cancel flag is looked at.
const VISITS_AT_ONCE: usize = 32;

pub(super) enum Input<'p> {
    Table(Box<TableScan<'p>>),
    Any(Source<'p>),
}

pub(super) struct Fold<'p> {
    input: Input<'p>,
    /// The slots that are read above, in order.
    keys: &'p [u32],
    /// Of the rows given, weight included.
    width: usize,
    kinds: Kinds,
    state: State,
    ended: bool,
    batch: Batch,
}

/// Kinds of rows with how often each was met.
#[derive(Default)]
struct Kinds {
    index: KeyIndex,
    weights: Vec<i64>,
    rows: Vec<Address>,
    arena: Arena,
    bytes: usize,
    /// Rows met since it was empty.
    met: u64,
    key: Vec<u8>,
    row: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Filling,
    /// From this kind on; then filled again, or rows pass.
    Giving {
        at: usize,
        pass: bool,
    },
    Passing,
}

impl Kinds {
    /// Counts a row of the kind `self.key`; a new kind's values are written by `row`.
    #[inline]
    fn count(&mut self, row: impl FnOnce(&mut Vec<u8>)) {
        self.met += 1;
        let hash = hash_of(&self.key);
        match self.index.find(&self.key, hash) {
            Some(kind) => self.weights[kind as usize] += 1,
            None => {
                self.index.add(&self.key, hash);
                self.weights.push(1);
                self.row.clear();
                row(&mut self.row);
                self.rows.push(self.arena.push(&self.row));
                self.bytes += self.key.len() + self.row.len() + 64;
            }
        }
    }

    fn is_full(&self) -> bool {
        self.weights.len() >= KINDS_MAX || self.bytes >= BYTES_MAX
    }

    /// Whether folding pays, as far as is known.
    fn pays(&self) -> bool {
        self.met >= ROWS_PER_KIND * self.weights.len() as u64
    }

    fn clear(&mut self) {
        *self = Kinds {
            key: std::mem::take(&mut self.key),
            row: std::mem::take(&mut self.row),
            ..Kinds::default()
        };
    }
}

impl<'p> Fold<'p> {
    pub fn new(input: Input<'p>, keys: &'p [u32], width: usize) -> Self {
        Fold {
            input,
            keys,
            width,
            kinds: Kinds::default(),
            state: State::Filling,
            ended: false,
            batch: Batch::new(),
        }
    }

    fn fill(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let mut judged = false;
        while !self.ended && !self.kinds.is_full() {
            if !judged && self.kinds.met >= SAMPLE_ROWS {
                judged = true;
                if !self.kinds.pays() {
                    break;
                }
            }
            match &mut self.input {
                Input::Any(input) => {
                    if !input.next(cx, &mut self.batch)? {
                        self.ended = true;
                        break;
                    }
                    for row in self.batch.rows() {
                        self.kinds.key.clear();
                        for &slot in self.keys {
                            rowcode::encode_value(&row[slot as usize], &mut self.kinds.key);
                        }
                        // The key is the kind's values already.
                        let key = std::mem::take(&mut self.kinds.key);
                        let values = key.as_slice();
                        self.kinds.count_as(values);
                        self.kinds.key = key;
                    }
                }
                Input::Table(scan) => {
                    let kinds = &mut self.kinds;
                    let (columns, table) = (scan.raw_columns(self.keys), scan.raw_layout());
                    for _ in 0..VISITS_AT_ONCE {
                        let more = scan.visit(cx, |bytes, rows, _| {
                            for row in rows {
                                let row = row.of(bytes);
                                kinds.key.clear();
                                table.raw_key(row, &columns, &mut kinds.key);
                                kinds.count(|out| {
                                    for &column in &columns {
                                        let value = table.value(row, column);
                                        rowcode::encode_value(&value, out);
                                    }
                                });
                            }
                        })?;
                        self.ended = !more;
                        if self.ended || kinds.is_full() {
                            break;
                        }
                    }
                }
            }
            cx.breathe()?;
        }
        Ok(())
    }
}

impl Kinds {
    /// Counts a row of values that are key and row alike.
    #[inline]
    fn count_as(&mut self, values: &[u8]) {
        self.met += 1;
        let hash = hash_of(values);
        match self.index.find(values, hash) {
            Some(kind) => self.weights[kind as usize] += 1,
            None => {
                self.index.add(values, hash);
                self.weights.push(1);
                self.rows.push(self.arena.push(values));
                self.bytes += 2 * values.len() + 64;
            }
        }
    }
}

impl Operator for Fold<'_> {
    fn share(&mut self, cx: &mut Cx<'_>, shared: &mut Vec<SharedJoin>) -> Result<bool, SqlError> {
        match &mut self.input {
            Input::Table(_) => Ok(true),
            Input::Any(input) => input.share(cx, shared),
        }
    }

    fn take_over(&mut self, shared: &mut dyn Iterator<Item = &SharedJoin>) {
        if let Input::Any(input) = &mut self.input {
            input.take_over(shared);
        }
    }

    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.width);
        if let Input::Table(scan) = &mut self.input
            && !scan.is_raw(cx)?
        {
            // Not the kind of reading that shows rows where they lie.
            let Input::Table(scan) =
                std::mem::replace(&mut self.input, Input::Any(Box::new(super::simple::Empty)))
            else {
                return Ok(false);
            };
            self.input = Input::Any(scan);
        }
        loop {
            match self.state {
                State::Filling => {
                    self.fill(cx)?;
                    let pass = !self.ended && !self.kinds.pays();
                    self.state = State::Giving { at: 0, pass };
                }
                State::Giving { at, pass } => {
                    let kinds = &self.kinds;
                    let mut at = at;
                    while at < kinds.rows.len() && !out.is_full() {
                        let mut bytes = kinds.arena.get(kinds.rows[at]);
                        let values = out.values_mut();
                        let from = values.len();
                        values.resize(from + self.width - 1, Value::Null);
                        for &slot in self.keys {
                            values[from + slot as usize] = rowcode::decode_value(&mut bytes);
                        }
                        values.push(Value::BigInt(kinds.weights[at]));
                        out.finish_row();
                        at += 1;
                    }
                    self.state = State::Giving { at, pass };
                    if out.is_full() || (at == kinds.rows.len() && self.ended) {
                        return Ok(!out.is_empty());
                    }
                    self.kinds.clear();
                    self.state = if pass { State::Passing } else { State::Filling };
                    if !out.is_empty() {
                        return Ok(true);
                    }
                }
                State::Passing => {
                    self.batch.set_target(out.target());
                    let more = match &mut self.input {
                        Input::Table(scan) => scan.next(cx, &mut self.batch)?,
                        Input::Any(input) => input.next(cx, &mut self.batch)?,
                    };
                    for row in self.batch.rows().filter(|_| more) {
                        let values = out.values_mut();
                        let from = values.len();
                        values.resize(from + self.width - 1, Value::Null);
                        for &slot in self.keys {
                            values[from + slot as usize] = row[slot as usize].clone();
                        }
                        values.push(Value::BigInt(1));
                        out.finish_row();
                    }
                    return Ok(more);
                }
            }
        }
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.kinds.clear();
        self.state = State::Filling;
        self.ended = false;
        match &mut self.input {
            Input::Table(scan) => scan.rewind(cx),
            Input::Any(input) => input.rewind(cx),
        }
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        // The weight is no slot of the input, and nobody joins by it.
        match &mut self.input {
            Input::Table(scan) => scan.narrow(filter),
            Input::Any(input) => input.narrow(filter),
        }
    }
}
