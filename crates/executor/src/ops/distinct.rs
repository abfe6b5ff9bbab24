//! DISTINCT: rows as keys, NULL equal to NULL.

use super::Operator;
use super::hash::{KeyEncoder, TURN_PARTS, turn_part};
use super::simple::Source;
use crate::arena::{KeyIndex, hash_of};
use crate::batch::Batch;
use crate::cx::Cx;
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
    row: Vec<u8>,
    /// Where rows go that cannot be remembered.
    streams: Vec<Stream>,
    later: Vec<(Stream, u32)>,
    /// The stream that is being read.
    reading: Option<(Stream, Reader, u32)>,
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
            row: Vec::new(),
            streams: Vec::new(),
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
        let room = self.streams.is_empty() && cx.try_hold(bytes)?;
        if !room && !must {
            self.put_off(hash, row, cx)?;
            return Ok(false);
        }
        if !room {
            cx.force_hold(bytes)?;
        }
        self.held += bytes;
        self.seen.add(&self.key, hash);
        Ok(true)
    }

    #[cold]
    fn put_off(&mut self, hash: u64, row: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if self.streams.is_empty() {
            let file = cx.spill_file()?;
            self.streams.extend((0..TURN_PARTS).map(|_| Stream::new(&file)));
        }
        let depth = self.reading.as_ref().map_or(0, |(_, _, depth)| *depth);
        let part = turn_part(hash, depth);
        self.row.clear();
        rowcode::encode(row, &mut self.row);
        self.streams[part].push(&[], &self.row)
    }

    /// A turn is over; begins the next. False when there is none.
    fn next_turn(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let depth = self.reading.take().map_or(0, |(_, _, depth)| depth);
        if !self.streams.is_empty() {
            let mut bytes = 0;
            for mut stream in self.streams.drain(..) {
                stream.finish()?;
                bytes += stream.bytes();
                if stream.len() > 0 {
                    self.later.push((stream, depth + 1));
                }
            }
            cx.keep().spilled.hashes += 1;
            cx.keep().spilled.hash_pages += bytes.div_ceil(8192);
        }
        self.forget(cx);
        let Some((stream, depth)) = self.later.pop() else { return Ok(false) };
        let reader = stream.read();
        self.reading = Some((stream, reader, depth));
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
            let Some((stream, reader, _)) = &mut self.reading else { break };
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
        self.streams.clear();
        self.later.clear();
        self.reading = None;
        self.input_ended = false;
        self.input.rewind(cx)
    }
}
