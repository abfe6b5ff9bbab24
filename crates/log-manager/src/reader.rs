//! Reading records from one position of the log to another, with big reads: for recovery and for undo.
//!
//! Invariant: `position` is where a record begins, or where a block begins.

use crate::block::{RecordHeader, u64_at};
use crate::blocks::Blocks;
use crate::lsn::PAYLOAD_BYTES;
use crate::{LogError, Lsn, RECORD_HEADER_BYTES};

/// One record of the log.
#[derive(Debug, PartialEq, Eq)]
pub struct LogRecord<'a> {
    /// Where it begins.
    pub start: Lsn,
    /// One past its last byte, padding included: where the next begins.
    pub end: Lsn,
    pub payload: &'a [u8],
}

/// Reads records in order, from where it was opened to the end of the log as it was found then.
pub struct LogReader {
    blocks: Blocks,
    position: Lsn,
    /// A record that lies in several blocks, put together.
    joined: Vec<u8>,
}

/// Where the payload of a record that was found lies.
enum Found {
    InBlock { block: u64, from: usize, to: usize },
    Joined,
}

impl LogReader {
    pub(crate) fn new(blocks: Blocks, from: Lsn) -> LogReader {
        let position = if from.is_none() { blocks.first_lsn() } else { from };
        LogReader { blocks, position, joined: Vec::new() }
    }

    pub(crate) fn blocks_mut(&mut self) -> &mut Blocks {
        &mut self.blocks
    }

    /// The blocks under it.
    pub(crate) fn into_blocks(self) -> Blocks {
        self.blocks
    }

    /// The next record, or `None` at the end. Suspends while it reads.
    pub fn next_record(&mut self) -> Result<Option<LogRecord<'_>>, LogError> {
        let Some((start, found)) = self.find()? else { return Ok(None) };
        let payload = match found {
            Found::InBlock { block, from, to } => &self.blocks.payload(block)[from..to],
            Found::Joined => &self.joined[..],
        };
        Ok(Some(LogRecord { start, end: self.position, payload }))
    }

    /// One past the last byte that may be read; while the log's end is being looked for, as far as is known.
    pub fn end(&self) -> Lsn {
        Lsn::of_block(self.blocks.end())
    }

    /// Where the next record is looked for.
    pub fn position(&self) -> Lsn {
        self.position
    }

    /// Goes on from `at`, the start of a record (or of a block).
    pub fn seek(&mut self, at: Lsn) {
        self.position = at;
    }

    /// The same for who walks backwards: what lies before is read along with it. Suspends.
    pub(crate) fn seek_back(&mut self, at: Lsn) -> Result<(), LogError> {
        self.blocks.load_back(at.block())?;
        self.position = at;
        Ok(())
    }

    /// Finds the next record and moves behind it.
    fn find(&mut self) -> Result<Option<(Lsn, Found)>, LogError> {
        loop {
            let at = self.position;
            let block = at.block();
            if !self.blocks.continues(block)? {
                return Ok(None);
            }
            let Some(header) = self.blocks.header(block)? else {
                if self.blocks.place(block).is_none() {
                    return Err(LogError::NoRecord { at });
                }
                return Err(self.blocks.corrupt(block, "a block that must be good is not"));
            };
            let offset = at.offset();
            if offset == 0 && header.first != Some(0) {
                // Begins inside a record that begins earlier.
                self.position = match header.first {
                    Some(first) => Lsn(at.0 + first as u64),
                    None => Lsn::of_block(block + 1),
                };
                continue;
            }
            let payload = self.blocks.payload(block);
            let Some(record) = RecordHeader::decode(at, u64_at(payload, offset)) else {
                return Err(self.blocks.corrupt(block, "no record where one must begin"));
            };
            let end = Lsn(at.0 + record.total() as u64);
            if record.pad {
                self.position = end;
                continue;
            }
            let from = offset + RECORD_HEADER_BYTES;
            if offset + record.total() <= PAYLOAD_BYTES {
                self.position = end;
                return Ok(Some((at, Found::InBlock { block, from, to: from + record.len })));
            }
            if self.join(block, from, record.len)? {
                self.position = end;
                return Ok(Some((at, Found::Joined)));
            }
        }
    }

    /// Puts a record together that begins in `block` and ends in a later one. False if a power failure cut it off:
    /// then the position moves to where the log went on.
    fn join(&mut self, block: u64, from: usize, len: usize) -> Result<bool, LogError> {
        self.joined.clear();
        let head = &self.blocks.payload(block)[from..];
        let n = head.len().min(len);
        self.joined.extend_from_slice(&head[..n]);
        let mut next = block + 1;
        loop {
            if !self.blocks.continues(next)? {
                self.position = self.end();
                return Ok(false);
            }
            let Some(header) = self.blocks.header(next)? else {
                return Err(self.blocks.corrupt(next, "a block that must be good is not"));
            };
            if header.fresh {
                self.position = Lsn::of_block(next);
                return Ok(false);
            }
            let n = (len - self.joined.len()).min(PAYLOAD_BYTES);
            let payload = self.blocks.payload(next);
            self.joined.extend_from_slice(&payload[..n]);
            if self.joined.len() == len {
                return Ok(true);
            }
            next += 1;
        }
    }
}
