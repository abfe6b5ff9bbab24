//! Rows for which an operator that works in turns has no room: written to parts by the hash of their keys, each of
//! which is a turn of its own later.
//!
//! Promise: rows of one key lie in one part. Each turn goes by other bits of the hash, so parts get smaller.

use crate::cx::Cx;
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::Stream;
use types::Value;

/// Into how many parts a turn puts off.
pub(super) const TURN_PARTS: usize = 16;

/// The part of a key that has been put off so often before.
#[inline]
pub(super) fn turn_part(hash: u64, depth: u32) -> usize {
    (hash.rotate_left(20 + 5 * depth) >> 40) as usize % TURN_PARTS
}

/// What one turn puts off.
#[derive(Default)]
pub(super) struct PutOff {
    /// Made when the first row is put off.
    parts: Vec<Stream>,
    /// How often the turn's rows have been put off.
    depth: u32,
    bytes: Vec<u8>,
}

impl PutOff {
    /// Of a turn whose rows have been put off so often.
    pub fn again(depth: u32) -> PutOff {
        PutOff { depth, ..PutOff::default() }
    }

    /// Has nothing been put off? Else no key is taken in any more, but those that a turn needs to get on.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Puts a row off, and with it what is to be known of it.
    #[cold]
    pub fn push(
        &mut self,
        hash: u64,
        head: &[u8],
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        if self.parts.is_empty() {
            let file = cx.spill_file()?;
            self.parts.extend((0..TURN_PARTS).map(|_| Stream::new(&file)));
        }
        self.bytes.clear();
        rowcode::encode(row, &mut self.bytes);
        self.parts[turn_part(hash, self.depth)].push(head, &self.bytes)
    }

    /// The turn is over: its parts are for later, with how often their rows have been put off.
    pub fn end(&mut self, later: &mut Vec<(Stream, u32)>, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let mut bytes = 0;
        for mut part in self.parts.drain(..) {
            part.finish()?;
            bytes += part.bytes();
            if part.len() > 0 {
                later.push((part, self.depth + 1));
            }
        }
        cx.note_hash_spill(bytes);
        Ok(())
    }
}
