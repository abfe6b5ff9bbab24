//! Blocks of the log as a backup takes them and a restore lays them down again.
//!
//! A backup keeps each block's payload, where its first record begins and whether it was the first of an opening; what
//! ties a block to its file (salt, sequence of the VLF, incarnation) is left behind. [`LogRestorer`] writes such blocks
//! into a file of its own, every block at its old number, so that every record has its old position.
//!
//! Promises: what [`BlockReader`] hands out was verified; a restored log ends where [`LogRestorer::finish`] said last,
//! durably, whatever a later append that was cut short has left behind.

use crate::block::{BlockHeader, RecordHeader};
use crate::blocks::Blocks;
use crate::lsn::{BLOCK_BYTES, HEADER_BYTES, Lsn, PAYLOAD_BYTES};
use crate::open::{read_file_header, read_vlf_headers, write_both_headers};
use crate::reader::LogReader;
use crate::vlf::{FileHeader, VLFS_AT, Vlfs};
use crate::{Log, LogConfig, LogError, RECORD_HEADER_BYTES};
use device::{File, FileSystem, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use stdx::AlignedBuf;
use telemetry::WaitType;

/// Which log file this is. Suspends.
pub fn log_uuid(fs: &dyn FileSystem, path: &Path) -> Result<[u8; 16], LogError> {
    let options = OpenOptions::read_only().direct();
    let file = fs.open(path, options).map_err(io("opening the log file"))?;
    Ok(read_file_header(&file)?.uuid)
}

/// Blocks written at a time.
const BATCH_BLOCKS: usize = 256;
/// All restored blocks have this incarnation; the first opening has the next.
const INCARNATION: u32 = 1;
const FRESH: u16 = 1;
const NO_RECORD: u16 = u16::MAX;

/// A block without what ties it to its file.
#[derive(Clone, Copy, Debug)]
pub struct LogBlock<'a> {
    /// Its number: it holds the positions from `Lsn::of_block(number)` on.
    pub number: u64,
    /// Where its first record begins and whether it was the first of an opening, as kept in backups: offset u16 (65,535
    /// none), flags u16.
    pub marks: u32,
    /// [`PAYLOAD_BYTES`] of the stream.
    pub payload: &'a [u8],
}

/// Reads durable blocks in order.
pub struct BlockReader {
    blocks: Blocks,
    next: u64,
}

impl Log {
    /// A reader of the blocks from the one that holds `from` to `to` (not included; at most what is durable).
    pub fn block_reader(&self, from: Lsn, to: Lsn) -> BlockReader {
        let reader = self.reader(from);
        let mut blocks = reader.into_blocks();
        blocks.set_end(to.next_block().block().min(blocks.end()));
        BlockReader { blocks, next: from.block() }
    }
}

impl Log {
    /// Whether both copies of the file's header are intact. Suspends.
    pub fn check_header(&self) -> Result<(), LogError> {
        match crate::open::intact_headers(&self.core_file())? {
            [true, true] => Ok(()),
            _ => Err(LogError::Corrupt {
                block: 0,
                offset: 0,
                what: "a copy of the log's header is damaged".into(),
            }),
        }
    }
}

impl BlockReader {
    /// The next block, or `None` at the end. Suspends while it reads.
    pub fn next_block(&mut self) -> Result<Option<LogBlock<'_>>, LogError> {
        let number = self.next;
        if number >= self.blocks.end() {
            return Ok(None);
        }
        let Some(header) = self.blocks.header(number)? else {
            return Err(match self.blocks.place(number) {
                Some(_) => self.blocks.corrupt(number, "a block that must be good is not"),
                None => LogError::NoRecord { at: Lsn::of_block(number) },
            });
        };
        self.next += 1;
        let first = header.first.map_or(NO_RECORD, |offset| offset as u16);
        let flags = if header.fresh { FRESH } else { 0 };
        let marks = u32::from(first) | u32::from(flags) << 16;
        Ok(Some(LogBlock { number, marks, payload: self.blocks.payload(number) }))
    }
}

/// Writes a log file out of blocks from backups.
pub struct LogRestorer {
    file: Arc<dyn File>,
    header: FileHeader,
    map: Vlfs,
    batch: AlignedBuf,
    /// Blocks in `batch`, the first of which is `first`.
    count: usize,
    first: u64,
}

fn io(what: &'static str) -> impl Fn(std::io::Error) -> LogError {
    move |e| LogError::io(what, &e)
}

impl LogRestorer {
    /// Makes a log file whose stream begins with the block that holds `start`. Suspends.
    pub fn create(
        fs: &dyn FileSystem,
        path: &Path,
        cfg: &LogConfig,
        start: Lsn,
    ) -> Result<LogRestorer, LogError> {
        let vlf_bytes = crate::open::vlf_bytes_of(cfg);
        let mut options = OpenOptions::create_new();
        options.direct = cfg.direct;
        let file = fs.open(path, options).map_err(io("making the log file"))?;
        file.allocate(0, VLFS_AT).map_err(io("filling the log file"))?;
        let mut uuid = [0; 16];
        runtime::random::fill(&mut uuid);
        let header = FileHeader {
            generation: 1,
            uuid,
            salt: runtime::random::next_u64(),
            vlf_bytes,
            incarnation: INCARNATION,
            clean: true,
            end: Lsn::of_block(start.block()),
        };
        let map = Vlfs::new(vlf_bytes, Vec::new());
        let mut made = LogRestorer {
            file,
            header,
            map,
            batch: AlignedBuf::zeroed(BATCH_BLOCKS * BLOCK_BYTES),
            count: 0,
            first: start.block(),
        };
        made.activate(start.block())?;
        Ok(made)
    }

    /// Opens a file made by `create` and finished, to append. Suspends.
    pub fn open(fs: &dyn FileSystem, path: &Path) -> Result<LogRestorer, LogError> {
        let file =
            fs.open(path, OpenOptions::existing().direct()).map_err(io("opening the log file"))?;
        let header = read_file_header(&file)?;
        if !header.clean || header.incarnation != INCARNATION {
            let what = "not a log that is being restored".to_owned();
            return Err(LogError::NotALog { what });
        }
        let (map, _) = read_vlf_headers(&file, &header)?;
        let batch = AlignedBuf::zeroed(BATCH_BLOCKS * BLOCK_BYTES);
        Ok(LogRestorer { file, header, map, batch, count: 0, first: 0 })
    }

    /// Where the restored log ends: what was said by `finish`.
    pub fn end(&self) -> Lsn {
        self.header.end
    }

    /// Which file this is.
    pub fn uuid(&self) -> [u8; 16] {
        self.header.uuid
    }

    /// Puts the next VLF to use, growing the file if need be.
    fn activate(&mut self, first_block: u64) -> Result<(), LogError> {
        if self.map.free_count() == 0 {
            let from = self.map.offset_of(self.map.headers.len());
            self.file.allocate(from, self.map.vlf_bytes).map_err(io("growing the log"))?;
            self.map.grown();
        }
        let now = Lsn::of_block(first_block);
        let Some((offset, vlf)) =
            self.map.activate_from(self.header.salt, INCARNATION, now, first_block)
        else {
            stdx::fatal!("a log that has just grown has no free VLF");
        };
        let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
        vlf.encode(&mut block);
        self.file
            .write_all_at(offset, &block, true, WaitType::IoCompletion)
            .map_err(io("writing a VLF's header"))?;
        self.map.activated();
        Ok(())
    }

    /// Adds a block, or writes it again. Blocks come in order, without gaps to what is there. Suspends.
    pub fn append(&mut self, block: &LogBlock<'_>) -> Result<(), LogError> {
        assert_eq!(block.payload.len(), PAYLOAD_BYTES, "a block has one size");
        while block.number >= self.map.end_block() {
            self.activate(self.map.end_block())?;
        }
        let Some(place) = self.map.place(block.number) else {
            return Err(LogError::NoRecord { at: Lsn::of_block(block.number) });
        };
        let continues = self.count > 0 && block.number == self.first + self.count as u64;
        if self.count == BATCH_BLOCKS || (self.count > 0 && !continues) {
            self.write()?;
        }
        if self.count == 0 {
            self.first = block.number;
        }
        let at = self.count * BLOCK_BYTES;
        let room: &mut [u8; BLOCK_BYTES] =
            self.batch[at..].first_chunk_mut().expect("the batch has room");
        room[HEADER_BYTES..].copy_from_slice(block.payload);
        let (first, flags) = (block.marks as u16, (block.marks >> 16) as u16);
        let header = BlockHeader {
            salt: self.header.salt,
            number: block.number,
            durable: Lsn::NONE,
            incarnation: INCARNATION,
            first: (usize::from(first) < PAYLOAD_BYTES).then_some(usize::from(first)),
            fresh: flags & FRESH != 0,
            vlf_sequence: place.vlf_sequence,
        };
        header.seal(room);
        self.count += 1;
        // Blocks of one VLF lie side by side.
        if place.left == 1 { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), LogError> {
        if self.count == 0 {
            return Ok(());
        }
        let Some(place) = self.map.place(self.first) else {
            stdx::fatal!("block {} has lost its place", self.first);
        };
        let bytes = &self.batch[..self.count * BLOCK_BYTES];
        self.file
            .write_all_at(place.offset, bytes, false, WaitType::IoCompletion)
            .map_err(io("writing the log"))?;
        self.count = 0;
        Ok(())
    }

    /// A reader over what was appended below `to`, from `from` on. Suspends.
    pub fn reader(&mut self, from: Lsn, to: Lsn) -> Result<LogReader, LogError> {
        self.write()?;
        let end = to.next_block().block();
        let from = from.max(Lsn::of_block(self.map.first_block()));
        let blocks =
            Blocks::new(self.file.clone(), self.map.clone(), self.header.salt, 1 << 20, end);
        Ok(LogReader::new(blocks, from))
    }

    /// Makes the log end at `end`, the start of a record or of a block: what lies behind in its block becomes a pad.
    /// Durable when it returns. Suspends.
    pub fn finish(&mut self, end: Lsn) -> Result<(), LogError> {
        self.write()?;
        if end.offset() != 0 {
            self.cut(end)?;
        }
        self.file.sync(WaitType::IoCompletion).map_err(io("syncing the log"))?;
        self.header.end = end.next_block();
        write_both_headers(&self.file, &mut self.header)
    }

    fn cut(&mut self, at: Lsn) -> Result<(), LogError> {
        let Some(place) = self.map.place(at.block()) else {
            return Err(LogError::NoRecord { at });
        };
        let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
        self.file
            .read_exact_at(place.offset, &mut block, WaitType::IoCompletion)
            .map_err(io("reading the log"))?;
        let Some(header) = BlockHeader::verify(&block) else {
            return Err(LogError::Corrupt {
                block: at.block(),
                offset: place.offset,
                what: "a block that was just written is not good".into(),
            });
        };
        let (from, rest) = (HEADER_BYTES + at.offset(), PAYLOAD_BYTES - at.offset());
        let pad = RecordHeader::encode(at, rest - RECORD_HEADER_BYTES, true);
        block[from..].fill(0);
        block[from..from + RECORD_HEADER_BYTES].copy_from_slice(&pad.to_le_bytes());
        header.seal(block.first_chunk_mut().expect("the buffer is a block long"));
        self.file
            .write_all_at(place.offset, &block, false, WaitType::IoCompletion)
            .map_err(io("writing the log"))
    }
}
