//! Blocks read back from the file, a big piece at a time, and checked. Who walks on from one piece into the next finds
//! the next on its way (`ahead.rs`).
//!
//! Promise: a header is handed out only of a block whose checksum, number, salt and VLF are what this place must hold.

use crate::ahead::Ahead;
use crate::block::BlockHeader;
use crate::lsn::{BLOCK_BYTES, HEADER_BYTES};
use crate::vlf::{Place, Vlfs};
use crate::{LogError, Lsn};
use device::File;
use std::sync::Arc;
use stdx::AlignedBuf;
use telemetry::WaitType;

/// Whose pieces are smaller reads here and there, and nothing ahead.
const AHEAD_BLOCKS: u64 = 128;

/// A window on the blocks of a log file.
pub(crate) struct Blocks {
    file: Arc<dyn File>,
    map: Vlfs,
    salt: u64,
    buf: AlignedBuf,
    /// Blocks `from..from + count` are in `buf`.
    from: u64,
    count: u64,
    /// The block looked at last, and what it says if it is good.
    current: Option<(u64, Option<BlockHeader>)>,
    /// The piece behind, where the last two pieces were neighbours.
    ahead: Ahead,
    /// No block from here on is asked for.
    end: u64,
    /// While the log's end is being looked for.
    frontier: Option<Frontier>,
}

/// How far the log is known to go on.
struct Frontier {
    /// Every block below continues the log.
    next: u64,
    /// Of the block before `next`; `None` before the first.
    incarnation: Option<u32>,
    /// The first block that does not, once it was met.
    end: Option<u64>,
}

impl Blocks {
    /// Reads up to `chunk_bytes` at a time, below block `end`.
    pub(crate) fn new(
        file: Arc<dyn File>,
        map: Vlfs,
        salt: u64,
        chunk_bytes: usize,
        end: u64,
    ) -> Blocks {
        let buf = AlignedBuf::zeroed(chunk_bytes.max(BLOCK_BYTES));
        Blocks {
            file,
            map,
            salt,
            buf,
            from: 0,
            count: 0,
            current: None,
            ahead: Ahead::default(),
            end,
            frontier: None,
        }
    }

    /// The same over a log whose end nobody knows yet, but that it is at or below block `end`: whoever reads blocks in
    /// order, from `from` on, finds it (see [`Blocks::continues`]).
    pub(crate) fn searching(mut self, from: u64) -> Blocks {
        self.frontier = Some(Frontier { next: from, incarnation: None, end: None });
        self
    }

    /// The log ends at `end` at the latest.
    pub(crate) fn limit(&mut self, end: u64) {
        self.end = self.end.min(end);
    }

    /// The end is known.
    pub(crate) fn set_end(&mut self, end: u64) {
        (self.end, self.frontier) = (end, None);
    }

    pub(crate) fn end(&self) -> u64 {
        self.frontier.as_ref().and_then(|frontier| frontier.end).unwrap_or(self.end)
    }

    /// Whether `block` is one of the log. Where the end is not known yet, that is: whether this block and all before it
    /// are good, and of the incarnation of the one before or the first of a later one. Suspends.
    pub(crate) fn continues(&mut self, block: u64) -> Result<bool, LogError> {
        if block >= self.end() {
            return Ok(false);
        }
        while let Some(frontier) = &self.frontier
            && frontier.next <= block
        {
            let (next, before) = (frontier.next, frontier.incarnation);
            // Behind the last one that may be: not read.
            let header = if next < self.end { self.header(next)? } else { None };
            let header = header.filter(|header| match before {
                None => true,
                Some(before) => {
                    header.incarnation == before || (header.incarnation > before && header.fresh)
                }
            });
            let Some(frontier) = &mut self.frontier else { break };
            match header {
                Some(header) => {
                    (frontier.next, frontier.incarnation) = (next + 1, Some(header.incarnation));
                }
                None => {
                    frontier.end = Some(next);
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The number of the first block that does not continue the log. Suspends.
    pub(crate) fn find_end(&mut self) -> Result<u64, LogError> {
        while let Some(frontier) = &self.frontier
            && frontier.end.is_none()
        {
            let next = frontier.next;
            if !self.continues(next)? {
                break;
            }
        }
        Ok(self.end())
    }

    pub(crate) fn map(&self) -> &Vlfs {
        &self.map
    }

    pub(crate) fn salt(&self) -> u64 {
        self.salt
    }

    pub(crate) fn place(&self, block: u64) -> Option<Place> {
        self.map.place(block)
    }

    /// The header of `block`, or `None` if it is not good. Suspends.
    pub(crate) fn header(&mut self, block: u64) -> Result<Option<BlockHeader>, LogError> {
        if let Some((current, header)) = self.current
            && current == block
        {
            return Ok(header);
        }
        let Some(place) = self.map.place(block) else { return Ok(None) };
        if block < self.from || block >= self.from + self.count {
            self.load(block, place)?;
        }
        let header = BlockHeader::verify(self.bytes(block)).filter(|header| {
            header.number == block
                && header.salt == self.salt
                && header.vlf_sequence == place.vlf_sequence
        });
        self.current = Some((block, header));
        Ok(header)
    }

    /// Reads the blocks before `block` along with it, where they lie in one piece, if it is not at hand.
    pub(crate) fn load_back(&mut self, block: u64) -> Result<(), LogError> {
        let room = self.room();
        let before = block.saturating_sub(room.saturating_sub(4)).max(self.map.first_block());
        if (self.from..self.from + self.count).contains(&block) || before >= block {
            return Ok(());
        }
        match self.map.place(before) {
            Some(place) if place.left > block - before => self.load(before, place),
            _ => Ok(()),
        }
    }

    fn load(&mut self, block: u64, place: Place) -> Result<(), LogError> {
        let before = self.from + self.count;
        let room = self.room();
        let onward = self.count > 0 && block >= before && block - before < room;
        self.current = None;
        self.count = 0;
        if let Some(from) = self.ahead.take(block, &mut self.buf) {
            (self.from, self.count) = from;
        } else {
            let count = self.piece(block, place);
            let bytes = &mut self.buf[..count as usize * BLOCK_BYTES];
            self.file
                .read_exact_at(place.offset, bytes, WaitType::IoCompletion)
                .map_err(|e| LogError::io("reading the log", &e))?;
            (self.from, self.count) = (block, count);
        }
        let next = self.from + self.count;
        if onward
            && room >= AHEAD_BLOCKS
            && next < self.end
            && let Some(place) = self.map.place(next)
        {
            let count = self.piece(next, place);
            self.ahead.start(&*self.file, place.offset, next, count, self.buf.len());
        }
        Ok(())
    }

    /// Blocks of one read.
    fn room(&self) -> u64 {
        (self.buf.len() / BLOCK_BYTES) as u64
    }

    /// Blocks that one read from `block` on gets.
    fn piece(&self, block: u64, place: Place) -> u64 {
        self.room().min(place.left).min(self.end.saturating_sub(block)).max(1)
    }

    fn bytes(&self, block: u64) -> &[u8] {
        let at = (block - self.from) as usize * BLOCK_BYTES;
        &self.buf[at..at + BLOCK_BYTES]
    }

    /// The payload of the block whose header was asked for last.
    pub(crate) fn payload(&self, block: u64) -> &[u8] {
        debug_assert!(self.current.is_some_and(|(current, h)| current == block && h.is_some()));
        &self.bytes(block)[HEADER_BYTES..]
    }

    /// That `block` is bad, as an error.
    pub(crate) fn corrupt(&self, block: u64, what: &str) -> LogError {
        let offset = self.map.place(block).map_or(0, |place| place.offset);
        LogError::Corrupt { block, offset, what: what.to_owned() }
    }

    /// Where the kept part of the stream begins.
    pub(crate) fn first_lsn(&self) -> Lsn {
        Lsn::of_block(self.map.first_block())
    }
}
