//! EXCEPT and INTERSECT: distinct rows of the left that the right has not, or has; NULL equal to NULL.
//!
//! ```text
//! right --> remembered; without room for more: to a part by its hash
//! left  --> looked up: decided there and then; one that may be among what was put off: to the part of its hash
//! each pair of parts, one after the other: a turn of its own
//! ```
//!
//! Invariant: within a turn nothing is remembered any more once something has been put off, so a row that is known is
//! decided by what is known, and all rows equal to one that is put off are put off too. A turn remembers [`ROWS_MIN`]
//! rows at least, so turns end.

use super::Operator;
use super::hash::KeyEncoder;
use super::put_off::{TURN_PARTS, turn_part};
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::key_index::{KeyIndex, hash_of};
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::{Reader, Stream};
use ir::SetOp;
use types::{SqlType, Value};

/// Rows remembered in a turn, at least.
const ROWS_MIN: usize = 256;

/// See the file's first lines.
pub(super) struct HashSetOp<'p> {
    left: Source<'p>,
    right: Source<'p>,
    width: usize,
    turn: Turn,
    state: State,
    later: Vec<Later>,
}

enum State {
    Start,
    /// Rows of the left side pass.
    Input,
    /// Those of a part.
    Part(Stream, Reader),
    End,
}

/// A pair of parts.
struct Later {
    right: Stream,
    left: Stream,
    depth: u32,
}

/// What is known in one turn.
struct Turn {
    keep_present: bool,
    encoder: KeyEncoder,
    /// Rows of the right side; with EXCEPT also those of the left that have been given.
    known: KeyIndex,
    /// INTERSECT: the left has given one like it.
    given: Vec<bool>,
    /// Memory counted for them.
    held: usize,
    /// How often its rows have been put off.
    depth: u32,
    /// Parts of the right side and of the left; none as long as there is room.
    parts: Option<(Vec<Stream>, Vec<Stream>)>,
    key: Vec<u8>,
    row: Vec<u8>,
}

impl Turn {
    /// Knows the row in `self.key` from now on; false when there is no room for it.
    fn remember(&mut self, hash: u64, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let bytes = KeyIndex::entry_bytes(self.key.len()) + 1;
        let must = self.known.len() < ROWS_MIN;
        if !cx.hold_entry(bytes, self.parts.is_some(), must)? {
            return Ok(false);
        }
        self.held += bytes;
        self.known.add(&self.key, hash);
        self.given.push(false);
        Ok(true)
    }

    /// The part of a row that has no room; made if need be.
    #[cold]
    fn part(&mut self, hash: u64, left: bool, cx: &mut Cx<'_>) -> Result<&mut Stream, SqlError> {
        if self.parts.is_none() {
            let file = cx.spill_file()?;
            let streams = || (0..TURN_PARTS).map(|_| Stream::new(&file)).collect();
            self.parts = Some((streams(), streams()));
        }
        let at = turn_part(hash, self.depth);
        match &mut self.parts {
            Some((_, of_left)) if left => Ok(&mut of_left[at]),
            Some((of_right, _)) => Ok(&mut of_right[at]),
            None => stdx::fatal!("a row is put off and there is no part"),
        }
    }

    /// Takes a row of the right side, whose key is in `self.key`.
    fn take_right(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let hash = hash_of(&self.key);
        if self.known.find(&self.key, hash).is_some() || self.remember(hash, cx)? {
            return Ok(());
        }
        let key = std::mem::take(&mut self.key);
        let pushed = self.part(hash, false, cx)?.push(&key, &[]);
        self.key = key;
        pushed
    }

    /// Whether a row of the left side is given; false also for one that is put off.
    fn passes(&mut self, row: &[Value], cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.key.clear();
        self.encoder.encode(row, &mut self.key);
        let hash = hash_of(&self.key);
        if let Some(number) = self.known.find(&self.key, hash) {
            // Of EXCEPT the right has it, or it has been given before.
            let given = &mut self.given[number as usize];
            return Ok(self.keep_present && !std::mem::replace(given, true));
        }
        if self.parts.is_none() {
            if self.keep_present {
                return Ok(false);
            }
            if self.remember(hash, cx)? {
                return Ok(true);
            }
        }
        let mut bytes = std::mem::take(&mut self.row);
        bytes.clear();
        rowcode::encode(row, &mut bytes);
        let pushed = self.part(hash, true, cx)?.push(&[], &bytes);
        self.row = bytes;
        pushed.map(|()| false)
    }

    /// Forgets all, and says what is still to be done.
    fn end(&mut self, later: &mut Vec<Later>, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.forget(cx);
        let Some((right, left)) = self.parts.take() else { return Ok(()) };
        let mut bytes = 0;
        for (mut right, mut left) in right.into_iter().zip(left) {
            right.finish()?;
            left.finish()?;
            bytes += right.bytes() + left.bytes();
            // Without a row on the left nothing comes out, nor of INTERSECT without one on the right.
            if left.len() > 0 && (right.len() > 0 || !self.keep_present) {
                later.push(Later { right, left, depth: self.depth + 1 });
            }
        }
        cx.note_hash_spill(bytes);
        Ok(())
    }

    fn forget(&mut self, cx: &mut Cx<'_>) {
        self.known.clear();
        self.given = Vec::new();
        cx.release(std::mem::take(&mut self.held));
    }
}

impl<'p> HashSetOp<'p> {
    pub fn new(op: SetOp, left: Source<'p>, right: Source<'p>, types: &[SqlType]) -> Self {
        HashSetOp {
            left,
            right,
            width: types.len(),
            turn: Turn {
                keep_present: op == SetOp::Intersect,
                encoder: KeyEncoder::new(types.iter().copied()),
                known: KeyIndex::default(),
                given: Vec::new(),
                held: 0,
                depth: 0,
                parts: None,
                key: Vec::new(),
                row: Vec::new(),
            },
            state: State::Start,
            later: Vec::new(),
        }
    }

    /// Remembers the right side.
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let mut batch = Batch::new();
        while self.right.next(cx, &mut batch)? {
            for row in batch.rows() {
                self.turn.key.clear();
                self.turn.encoder.encode(row, &mut self.turn.key);
                self.turn.take_right(cx)?;
            }
            cx.breathe()?;
        }
        Ok(())
    }

    /// A turn is over; begins the next, if there is one.
    fn next_turn(&mut self, cx: &mut Cx<'_>) -> Result<State, SqlError> {
        self.turn.end(&mut self.later, cx)?;
        let Some(Later { right, left, depth }) = self.later.pop() else { return Ok(State::End) };
        self.turn.depth = depth;
        let mut reader = right.read();
        let mut since_breath = 0u32;
        while let Some((key, _)) = reader.next(&right)? {
            self.turn.key.clear();
            self.turn.key.extend_from_slice(key);
            self.turn.take_right(cx)?;
            since_breath += 1;
            if since_breath.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        let reader = left.read();
        Ok(State::Part(left, reader))
    }
}

impl Operator for HashSetOp<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if let State::Start = self.state {
            self.start(cx)?;
            self.state = State::Input;
        }
        while let State::Input = self.state {
            if !self.left.next(cx, out)? {
                self.state = self.next_turn(cx)?;
                break;
            }
            cx.breathe()?;
            let turn = &mut self.turn;
            out.retain(|row| turn.passes(row, cx))?;
            if !out.is_empty() {
                return Ok(true);
            }
        }
        out.start(self.width);
        let mut row = Vec::new();
        let mut since_breath = 0u32;
        while !out.is_full() {
            let State::Part(stream, reader) = &mut self.state else { break };
            let Some((_, bytes)) = reader.next(stream)? else {
                self.state = self.next_turn(cx)?;
                continue;
            };
            row.clear();
            rowcode::decode(bytes, self.width, &mut row);
            if self.turn.passes(&row, cx)? {
                out.push(&row);
            }
            since_breath += 1;
            if since_breath.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.turn.forget(cx);
        self.turn.parts = None;
        self.turn.depth = 0;
        self.later.clear();
        self.state = State::Start;
        self.right.rewind(cx)?;
        self.left.rewind(cx)
    }
}
