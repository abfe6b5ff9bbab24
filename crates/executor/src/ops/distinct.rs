//! DISTINCT: rows as keys, NULL equal to NULL.

use super::Operator;
use super::hash::KeyEncoder;
use super::put_off::PutOff;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::key_index::{KeyIndex, hash_of};
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::{Reader, Stream};
use types::{SqlType, Value};

/// The first of the rows that are equal in their first values.
///
/// Rows are given as they are met. When memory is used up no more are remembered: those that are known are still
/// dropped, the others go to partitions by hash, which come after the input in the same way.
pub(super) struct Distinct<'p> {
    input: Source<'p>,
    encoder: KeyEncoder,
    width: usize,
    seen: KeyIndex,
    held: usize,
    key: Vec<u8>,
    /// Rows that cannot be remembered.
    put_off: PutOff,
    later: Vec<(Stream, u32)>,
    /// The stream that is being read.
    reading: Option<(Stream, Reader)>,
    input_ended: bool,
}

/// Rows remembered in a turn that spills, at least, so that it ends.
const ROWS_MIN: usize = 256;

impl<'p> Distinct<'p> {
    pub fn new(input: Source<'p>, types: &[SqlType], width: usize) -> Self {
        Distinct {
            input,
            encoder: KeyEncoder::new(types.iter().copied()),
            width,
            seen: KeyIndex::default(),
            held: 0,
            key: Vec::new(),
            put_off: PutOff::default(),
            later: Vec::new(),
            reading: None,
            input_ended: false,
        }
    }

    /// Whether a row is the first of its kind; false also for one that is put off.
    fn is_new(&mut self, row: &[Value], cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.key.clear();
        self.encoder.encode(&row[..self.encoder.len()], &mut self.key);
        let hash = hash_of(&self.key);
        if self.seen.find(&self.key, hash).is_some() {
            return Ok(false);
        }
        let bytes = KeyIndex::entry_bytes(self.key.len());
        let must = self.seen.len() < ROWS_MIN;
        if !cx.hold_entry(bytes, !self.put_off.is_empty(), must)? {
            self.put_off.push(hash, &[], row, cx)?;
            return Ok(false);
        }
        self.held += bytes;
        self.seen.add(&self.key, hash);
        Ok(true)
    }

    /// A turn is over; begins the next. False when there is none.
    fn next_turn(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.reading = None;
        self.put_off.end(&mut self.later, cx)?;
        self.forget(cx);
        let Some((stream, depth)) = self.later.pop() else { return Ok(false) };
        self.put_off = PutOff::again(depth);
        let reader = stream.read();
        self.reading = Some((stream, reader));
        Ok(true)
    }

    fn forget(&mut self, cx: &mut Cx<'_>) {
        self.seen.clear();
        cx.release(std::mem::take(&mut self.held));
    }
}

impl Operator for Distinct<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        while !self.input_ended {
            if !self.input.next(cx, out)? {
                self.input_ended = true;
                if !self.next_turn(cx)? {
                    return Ok(false);
                }
                break;
            }
            cx.breathe()?;
            out.retain(|row| self.is_new(row, cx))?;
            if !out.is_empty() {
                return Ok(true);
            }
        }
        out.start(self.width);
        let mut row = Vec::new();
        while !out.is_full() {
            let Some((stream, reader)) = &mut self.reading else { break };
            let more = match reader.next(stream)? {
                Some((_, bytes)) => {
                    row.clear();
                    rowcode::decode(bytes, self.width, &mut row);
                    true
                }
                None => false,
            };
            if !more {
                cx.breathe()?;
                self.next_turn(cx)?;
            } else if self.is_new(&row, cx)? {
                out.push(&row);
            }
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.forget(cx);
        self.put_off = PutOff::default();
        self.later.clear();
        self.reading = None;
        self.input_ended = false;
        self.input.rewind(cx)
    }
}
