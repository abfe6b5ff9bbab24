//! Making a log file, and opening one: finding its end, and refusing what must not be believed. Whoever reads records
//! finds the end by the way ([`LogSearch`]), so a log is read once while its database opens.
//!
//! A block continues the log if it is good (see [`crate::blocks`]) and of the same incarnation as the one before, or
//! the first of a later incarnation. The first block that does not ends the log. That is what a power failure leaves,
//! with one exception that is checked: if any good block behind says that more was durable, then the bad block had
//! been acknowledged, and the log is corrupt. A log that was closed in order must end where its header says.
//!
//! What is not noticed: a durable block that is bad while no later block was written after its write had completed.
//! Up to [`crate::LogConfig::queue_depth`] writes at the very end can be in that state.
//!
//! The log then continues at its end under a higher incarnation, which is durable in the file's header before anything
//! else is written, so leftovers behind the end are never taken for its continuation. Its first block holds nothing
//! and is durable before the log may be used: a half-written block of the last incarnation, with a half-written one of
//! the next on top, could otherwise become whole after a second power failure and bring a lost record back.

use crate::block::{BlockHeader, RecordHeader};
use crate::blocks::Blocks;
use crate::core::{Core, Fixed, Modes, Outlook, RECENT_WRITES, queue_depth_max, seal_reserve};
use crate::flight::Signal;
use crate::flush::Flusher;
use crate::flush_queue::FlushQueue;
use crate::lsn::{BLOCK_BYTES, HEADER_BYTES, Lsn, PAYLOAD_BYTES};
use crate::reader::LogReader;
use crate::recent::Recent;
use crate::reservation::Reservation;
use crate::ring::Ring;
use crate::vlf::{FileHeader, VLFS_AT, VlfHeader, Vlfs};
use crate::waiters::Waiters;
use crate::{
    FlushQueueKind, Log, LogConfig, LogError, RECORD_BYTES_MAX, RECORD_HEADER_BYTES, Reserve,
    VLF_BYTES_MIN,
};
use device::{File, FileSystem, OpenOptions};
use parking_lot::{Mutex, RwLock};
use runtime::numa::Seat;
use runtime::spin::SpinLock;
use runtime::{random, task};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};
use stdx::{AlignedBuf, CachePadded};
use telemetry::{SpinClass, WaitType};

/// Bytes of one read while the log is scanned.
const SCAN_BYTES: usize = 1 << 20;
const RING_BYTES_MIN: usize = 1 << 20;

fn io(what: &'static str) -> impl Fn(std::io::Error) -> LogError {
    move |e| LogError::io(what, &e)
}

/// Writes the header under two more generations, so that both copies say the same: damage to one of them later is
/// harmless. A write that is torn loses at most itself.
pub(crate) fn write_both_headers(
    file: &Arc<dyn File>,
    header: &mut FileHeader,
) -> Result<(), LogError> {
    let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
    for _ in 0..2 {
        header.generation += 1;
        header.encode(&mut block);
        file.write_all_at(header.offset(), &block, true, WaitType::IoCompletion)
            .map_err(io("writing the log's header"))?;
    }
    Ok(())
}

/// Bytes of a VLF under these settings.
pub(crate) fn vlf_bytes_of(cfg: &LogConfig) -> u64 {
    stdx::round_up(cfg.vlf_bytes.max(VLF_BYTES_MIN), BLOCK_BYTES as u64)
}

/// Makes the file and its first VLFs.
pub(crate) fn create(
    fs: &dyn FileSystem,
    path: &Path,
    cfg: &LogConfig,
    start: Lsn,
) -> Result<Arc<Core>, LogError> {
    let start = Lsn(start.0.max(1)).next_block();
    let vlf_bytes = vlf_bytes_of(cfg);
    let vlfs = u64::from(cfg.initial_vlfs.max(2));
    let mut options = OpenOptions::create_new();
    options.direct = cfg.direct;
    let file = fs.open(path, options).map_err(io("making the log file"))?;
    file.allocate(0, VLFS_AT + vlfs * vlf_bytes).map_err(io("filling the log file"))?;
    let mut uuid = [0; 16];
    random::fill(&mut uuid);
    let mut header = FileHeader {
        generation: 1,
        uuid,
        salt: random::next_u64(),
        vlf_bytes,
        incarnation: 1,
        clean: false,
        end: Lsn::NONE,
    };
    let first = VlfHeader {
        sequence: 1,
        first_block: start.block(),
        salt: header.salt,
        incarnation: 1,
        create_lsn: start,
    };
    let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
    first.encode(&mut block);
    // The file header last: without it there is no log.
    file.write_all_at(VLFS_AT, &block, true, WaitType::IoCompletion)
        .map_err(io("writing the first VLF's header"))?;
    write_both_headers(&file, &mut header)?;
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        fs.sync_dir(dir).map_err(io("syncing the log's folder"))?;
    }
    let mut headers = vec![None; vlfs as usize];
    headers[0] = Some(first);
    start_core(file, &header, Vlfs::new(vlf_bytes, headers), cfg, start.block())
}

/// A log whose end is being looked for. Reading on and finding the end are one pass: a reader's `None` is the end. So
/// recovery looks at each record while it is at hand, and the log is read once.
///
/// Changes nothing until [`LogSearch::open`], which also tells whether what was read may be believed: see the file.
pub struct LogSearch {
    file: Arc<dyn File>,
    header: FileHeader,
    damaged: Vec<u64>,
    from: Lsn,
    reader: LogReader,
}

impl LogSearch {
    pub(crate) fn begin(
        fs: &dyn FileSystem,
        path: &Path,
        direct: bool,
        from: Lsn,
    ) -> Result<LogSearch, LogError> {
        let mut options = OpenOptions::existing();
        options.direct = direct;
        let file = fs.open(path, options).map_err(io("opening the log file"))?;
        let header = read_file_header(&file)?;
        let (map, damaged) = read_vlf_headers(&file, &header)?;
        let last = map.end_block();
        let blocks = Blocks::new(file.clone(), map, header.salt, SCAN_BYTES, last);
        let from = if from.is_none() { blocks.first_lsn() } else { from };
        if from < blocks.first_lsn() || from.block() > last {
            return Err(LogError::NoRecord { at: from });
        }
        let mut blocks = blocks.searching(from.block());
        if header.clean {
            blocks.limit(header.end.block());
        }
        Ok(LogSearch { file, header, damaged, from, reader: LogReader::new(blocks, from) })
    }

    /// Reads from where the search began, to the end.
    pub fn reader(&mut self) -> &mut LogReader {
        &mut self.reader
    }

    /// Finds the end, if the reader has not, refuses what must not be believed, and makes the log go on behind it; the
    /// reader as well. Suspends.
    pub fn open(self, cfg: &LogConfig) -> Result<(Arc<Log>, LogReader), LogError> {
        let LogSearch { file, mut header, damaged, from, mut reader } = self;
        let blocks = reader.blocks_mut();
        let end = blocks.find_end()?;
        if from > Lsn::of_block(end) {
            return Err(blocks.corrupt(end, "the log ends before it should begin"));
        }
        if header.clean {
            if end < header.end.block() {
                return Err(blocks.corrupt(end, "the log was closed in order and is now cut short"));
            }
        } else {
            refuse_lost_blocks(blocks, &file, &damaged, end)?;
        }
        let mut map = blocks.map().clone();
        // What was read may not be on the disk yet, if only the process died.
        file.sync(WaitType::IoCompletion).map_err(io("syncing the log"))?;
        header.incarnation += 1;
        header.clean = false;
        header.end = Lsn::NONE;
        write_both_headers(&file, &mut header)?;
        settle_end(&file, &mut map, &header, end)?;
        blocks.set_end(end);
        let core = start_core(file, &header, map, cfg, end + 1)?;
        // Recovery needs room to undo and to checkpoint, however full the log was.
        let vlf = core.vlfs.lock().blocks_each() * PAYLOAD_BYTES as u64;
        if core.vlfs.lock().capacity_end().0 < Lsn::of_block(end).0 + vlf {
            core.grow(true)?;
        }
        Ok((Log::start(core), reader))
    }
}

pub(crate) fn read_file_header(file: &Arc<dyn File>) -> Result<FileHeader, LogError> {
    let len = file.len().map_err(io("measuring the log file"))?;
    if len < VLFS_AT {
        return Err(LogError::NotALog { what: format!("only {len} bytes") });
    }
    let mut both = AlignedBuf::zeroed(VLFS_AT as usize);
    file.read_exact_at(0, &mut both, WaitType::IoCompletion).map_err(io("reading the header"))?;
    let copies = both.chunks_exact(BLOCK_BYTES).filter_map(FileHeader::decode);
    copies
        .max_by_key(|header| header.generation)
        .filter(|header| header.vlf_bytes >= VLF_BYTES_MIN)
        .ok_or_else(|| LogError::NotALog { what: "no good header".to_owned() })
}

/// Which copies of the header are intact.
pub(crate) fn intact_headers(file: &Arc<dyn File>) -> Result<[bool; 2], LogError> {
    let mut both = AlignedBuf::zeroed(VLFS_AT as usize);
    file.read_exact_at(0, &mut both, WaitType::IoCompletion).map_err(io("reading the header"))?;
    let good = |i: usize| FileHeader::decode(&both[i * BLOCK_BYTES..(i + 1) * BLOCK_BYTES]);
    Ok([good(0).is_some(), good(1).is_some()])
}

/// The map, and the places in the file of VLFs whose header is damaged (or half written).
pub(crate) fn read_vlf_headers(
    file: &Arc<dyn File>,
    header: &FileHeader,
) -> Result<(Vlfs, Vec<u64>), LogError> {
    let len = file.len().map_err(io("measuring the log file"))?;
    let count = (len - VLFS_AT) / header.vlf_bytes;
    let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
    let (mut headers, mut damaged) = (Vec::new(), Vec::new());
    for i in 0..count {
        let at = VLFS_AT + i * header.vlf_bytes;
        file.read_exact_at(at, &mut block, WaitType::IoCompletion)
            .map_err(io("reading a VLF's header"))?;
        let found = VlfHeader::decode(&block).filter(|vlf| vlf.salt == header.salt);
        if found.is_none() && block.iter().any(|&byte| byte != 0) {
            damaged.push(at);
        }
        headers.push(found);
    }
    let map = Vlfs::new(header.vlf_bytes, headers);
    if map.end_block() == 0 {
        return Err(LogError::NotALog { what: "no VLF in use".to_owned() });
    }
    if let Some(stray) = map.stray() {
        let what = format!("VLFs between sequence {} and the latest are missing", stray.sequence);
        return Err(LogError::Corrupt { block: stray.first_block, offset: 0, what });
    }
    Ok((map, damaged))
}

/// Fails if any block behind `end` knows that the log was durable beyond it.
fn refuse_lost_blocks(
    blocks: &mut Blocks,
    file: &Arc<dyn File>,
    damaged: &[u64],
    end: u64,
) -> Result<(), LogError> {
    let lost = "a later block says that this one was durable";
    let mut next = end;
    while blocks.place(next).is_some() {
        if blocks.header(next)?.is_some_and(|header| header.durable > Lsn::of_block(end)) {
            return Err(blocks.corrupt(end, lost));
        }
        next += 1;
    }
    // A VLF with a damaged header cannot say which blocks it holds; they can.
    let each = blocks.map().blocks_each() as usize;
    let salt = blocks.salt();
    for &at in damaged {
        let mut chunk = AlignedBuf::zeroed(SCAN_BYTES.min(each * BLOCK_BYTES));
        let (mut offset, stop) = (at + BLOCK_BYTES as u64, at + blocks.map().vlf_bytes);
        while offset < stop {
            let n = chunk.len().min((stop - offset) as usize);
            file.read_exact_at(offset, &mut chunk[..n], WaitType::IoCompletion)
                .map_err(io("reading the log"))?;
            let good = chunk[..n].chunks_exact(BLOCK_BYTES).filter_map(BlockHeader::verify);
            for header in good.filter(|header| header.salt == salt && header.number >= end) {
                if header.durable > Lsn::of_block(end) {
                    return Err(blocks.corrupt(end, lost));
                }
            }
            offset += n as u64;
        }
    }
    Ok(())
}

/// Writes the first block of this incarnation, an empty one, to where the log ends.
fn settle_end(
    file: &Arc<dyn File>,
    map: &mut Vlfs,
    header: &FileHeader,
    end: u64,
) -> Result<(), LogError> {
    let at = Lsn::of_block(end);
    let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
    if map.place(end).is_none() {
        if map.capacity_end() <= at {
            let from = map.offset_of(map.headers.len());
            file.allocate(from, map.vlf_bytes).map_err(io("growing the log"))?;
            map.grown();
        }
        let Some((offset, vlf)) = map.activate(header.salt, header.incarnation, at) else {
            stdx::fatal!("a log that has just grown has no free VLF");
        };
        vlf.encode(&mut block);
        file.write_all_at(offset, &block, true, WaitType::IoCompletion)
            .map_err(io("writing a VLF's header"))?;
        map.activated();
        block.fill(0);
    }
    let Some(place) = map.place(end) else {
        stdx::fatal!("block {end} has no place behind the log's end");
    };
    let pad = RecordHeader::encode(at, PAYLOAD_BYTES - RECORD_HEADER_BYTES, true);
    block[HEADER_BYTES..HEADER_BYTES + RECORD_HEADER_BYTES].copy_from_slice(&pad.to_le_bytes());
    let first = BlockHeader {
        salt: header.salt,
        number: end,
        durable: at,
        incarnation: header.incarnation,
        first: Some(0),
        fresh: true,
        vlf_sequence: place.vlf_sequence,
    };
    let bytes = block.first_chunk_mut().expect("the buffer is a block long");
    first.seal(bytes);
    file.write_all_at(place.offset, &block, true, WaitType::IoCompletion)
        .map_err(io("writing the first block"))
}

fn start_core(
    file: Arc<dyn File>,
    header: &FileHeader,
    map: Vlfs,
    cfg: &LogConfig,
    next_block: u64,
) -> Result<Arc<Core>, LogError> {
    let ring_bytes = cfg.ring_bytes.next_power_of_two().max(RING_BYTES_MIN);
    let ring = Arc::new(Ring::new(ring_bytes).map_err(io("mapping the log buffer"))?);
    let start = Lsn::of_block(next_block).0;
    let ring_blocks = ring_bytes / BLOCK_BYTES;
    let (queue_depth_max, seal_reserve) = (queue_depth_max(ring_blocks), seal_reserve(ring_blocks));
    let limit = start + ring.payload_bytes() - seal_reserve;
    let lease_bytes = (ring_bytes / 512).clamp(BLOCK_BYTES, RECORD_BYTES_MAX) as u64;
    let fixed = Fixed {
        uuid: header.uuid,
        salt: header.salt,
        incarnation: header.incarnation,
        lease_bytes,
        queue_depth_max,
        seal_reserve,
        retain_bytes: ring.payload_bytes() / 4,
        write_blocks_max: (cfg.write_bytes_max / BLOCK_BYTES).max(1) as u64,
        // Together with the glance that notices new bytes (a third of this), the delay that was asked for.
        delayed_ns: cfg.delayed_ms.max(1) * 1_000_000 * 3 / 4,
        delayed_blocks: (cfg.delayed_bytes / BLOCK_BYTES as u64).max(1),
        full_wait_ns: cfg.full_wait_ms * 1_000_000,
    };
    let modes = Modes {
        spinlock: AtomicBool::new(cfg.reserve == Reserve::Spinlock),
        obstructed: AtomicBool::new(false),
        tight: AtomicBool::new(false),
        poisoned: AtomicBool::new(false),
        closed: AtomicBool::new(false),
        known_full: AtomicBool::new(false),
        writer: AtomicU8::new(cfg.writer as u8),
        writer_term: AtomicU64::new(0),
        dedicated: AtomicBool::new(false),
        queue_depth: AtomicUsize::new(cfg.queue_depth.clamp(1, queue_depth_max)),
        queued: AtomicBool::new(cfg.flush_queue == FlushQueueKind::Spinlock),
        file_normal: AtomicU64::new(0),
        file_rollback: AtomicU64::new(0),
    };
    let outlook = Outlook {
        flush_at: AtomicU64::new(start + cfg.delayed_bytes),
        look_at_ns: AtomicU64::new(0),
        submitted: AtomicU64::new(start),
        outstanding: AtomicUsize::new(0),
    };
    let core = Arc::new(Core {
        fixed,
        file,
        ring,
        modes: CachePadded::new(modes),
        stream: Reservation::new(task::MAX_SLOTS, start, limit),
        aside: CachePadded::default(),
        logcache_access: CachePadded::new(SpinLock::new(SpinClass::LogCacheAccess, ())),
        logflushq: CachePadded::new(SpinLock::new(SpinClass::LogFlushQ, FlushQueue::default())),
        recent: Recent::new(RECENT_WRITES),
        durable: CachePadded::new(AtomicU64::new(start)),
        want: CachePadded::new(AtomicU64::new(0)),
        outlook: CachePadded::new(outlook),
        signal: CachePadded::new(Arc::new(Signal::new())),
        waiters: Waiters::new(),
        flusher: CachePadded::new(Mutex::new(Flusher::new(next_block, header.incarnation == 1))),
        writer_cpus: Mutex::new((cfg.writer_cpu.into_iter().collect(), Seat::default())),
        vlfs: Mutex::new(map),
        freed: AtomicU64::new(start),
        ring_pin: RwLock::new(()),
        space_waiters: Mutex::new(Vec::new()),
        space_wanted: AtomicBool::new(false),
        growing: AtomicBool::new(false),
        stuck: AtomicBool::new(false),
        growths: AtomicU64::new(0),
        maintained: AtomicU64::new(start),
        max_bytes: AtomicU64::new(cfg.max_bytes.unwrap_or(u64::MAX)),
        why_poisoned: OnceLock::new(),
        hook: Mutex::new(None),
        header: Mutex::new(*header),
        reuse_wait: Mutex::new("CHECKPOINT"),
    });
    core.refresh_file_limits();
    Ok(core)
}

impl Core {
    /// Writes that the log ends here. The caller has flushed and nothing is outstanding. Suspends.
    pub(crate) fn mark_clean(&self) -> Result<(), LogError> {
        let mut header = *self.header.lock();
        header.clean = true;
        header.end = self.durable();
        write_both_headers(&self.file, &mut header)?;
        *self.header.lock() = header;
        Ok(())
    }

    /// A reader from `from` to what is durable now, `chunk_bytes` at a time.
    pub(crate) fn reader(&self, from: Lsn, chunk_bytes: usize) -> LogReader {
        let map = self.vlfs.lock().clone();
        let (file, salt) = (self.file.clone(), self.fixed.salt);
        let end = self.durable().block();
        LogReader::new(Blocks::new(file, map, salt, chunk_bytes, end), from)
    }
}
