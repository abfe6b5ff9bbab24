//! The log's front door: [`Log`] appends, waits, reads, and is looked after.
//!
//! The work is done elsewhere: space in `core.rs` and `reservation.rs`, writing in `flush.rs`, opening in `open.rs`.

use crate::block::RecordHeader;
use crate::core::Core;
use crate::lsn::{BLOCK_BYTES, PAYLOAD_BYTES};
use crate::vlf::VlfHeader;
use crate::{
    FlushQueueKind, Lease, LogConfig, LogError, LogReader, LogSearch, Lsn, RECORD_BYTES_MAX,
    RECORD_HEADER_BYTES, Reserve, Writer, open, record_bytes,
};
use device::{File, FileSystem};
use parking_lot::Mutex;
use runtime::numa::Seat;
use runtime::task::{self, PollerId};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use telemetry::{Counter, WaitType, counters};

/// Where a record went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Appended {
    /// Its first byte.
    pub start: Lsn,
    /// One past its last byte, padding included.
    pub end: Lsn,
}

/// Bytes of log read at a time by who walks backwards.
const WALK_BYTES: usize = 256 << 10;

/// One virtual log file, for `sys.dm_db_log_info`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VlfInfo {
    /// Where it begins in the file, in bytes.
    pub begin_offset: u64,
    pub bytes: u64,
    /// 0 when it was never used.
    pub sequence: u64,
    pub active: bool,
    /// 0 inactive, 1 initialised but unused, 2 active.
    pub status: i32,
    /// SQL Server's alternating mark (64 or 128; 0 when unused).
    pub parity: u8,
    pub first_lsn: Lsn,
    /// The log's position when it was created.
    pub create_lsn: Lsn,
}

/// When one write was queued, handed over, and complete, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteTiming {
    /// When the oldest byte in it was first seen to want writing.
    pub queued_ns: u64,
    /// When its submission began.
    pub submit_ns: u64,
    /// When the device had it.
    pub submitted_ns: u64,
    pub completed_ns: u64,
    pub bytes: u64,
}

/// Where the log's writing happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WriterPlace {
    /// The slot (`runtime::task::slot`) of the thread that handed the last write to the device.
    pub slot: usize,
    /// The CPU that it ran on.
    pub cpu: Option<usize>,
}

/// Figures since the log was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogStats {
    pub flushes: u64,
    pub bytes_flushed: u64,
    pub pad_bytes: u64,
    pub writes_outstanding: u64,
    pub growths: u64,
    pub tail: u64,
    pub durable: u64,
    /// Waits for a flush that are over, and their time.
    pub flush_waits: u64,
    pub flush_wait_ns: u64,
    /// From handing writes over to their completion, summed.
    pub write_ns: u64,
    /// When the log was opened, and when a write was last complete (0: never); on the monotonic clock.
    pub opened_ns: u64,
    pub last_write_ns: u64,
}

/// Whoever must not write a page before its log is durable asks through this.
pub trait Harden: Send + Sync {
    /// Everything below is durable.
    fn durable(&self) -> Lsn;
    /// Suspends until everything below `upto` is durable.
    fn wait_durable(&self, upto: Lsn) -> Result<(), LogError>;
}

/// The log of one database.
///
/// Dropped without [`Log::close`], it leaves the file as a crash would, but for writes under way.
pub struct Log {
    core: Arc<Core>,
    poller: Mutex<Option<PollerId>>,
}

impl Log {
    /// Makes a log file whose stream begins at `start` (rounded up to a block; never 0). The file must not exist.
    /// Suspends.
    pub fn create(
        fs: &dyn FileSystem,
        path: &Path,
        cfg: LogConfig,
        start: Lsn,
    ) -> Result<Arc<Log>, LogError> {
        Ok(Log::start(open::create(fs, path, &cfg, start)?))
    }

    /// Opens a log, finds its end reading from `from` (the start of a record, or [`Lsn::NONE`] for the oldest block
    /// kept), and gives a reader over `from..end`. The log goes on behind the end on a fresh block. Suspends.
    pub fn open(
        fs: &dyn FileSystem,
        path: &Path,
        cfg: LogConfig,
        from: Lsn,
    ) -> Result<(Arc<Log>, LogReader), LogError> {
        Log::search(fs, path, &cfg, from)?.open(&cfg)
    }

    /// The same in two steps, for who wants to read the log while its end is being looked for: it is read once then.
    /// Of `cfg` only how the file is read matters here. Suspends.
    pub fn search(
        fs: &dyn FileSystem,
        path: &Path,
        cfg: &LogConfig,
        from: Lsn,
    ) -> Result<LogSearch, LogError> {
        LogSearch::begin(fs, path, cfg.direct, from)
    }

    pub(crate) fn start(core: Arc<Core>) -> Arc<Log> {
        if core.writer() == Writer::Dedicated {
            core.start_dedicated();
        }
        let poller = task::register_poller(core.clone());
        Arc::new(Log { core, poller: Mutex::new(Some(poller)) })
    }

    /// Makes sure that the calling slot may append records of `bytes` in all (see [`crate::record_bytes`]; at most
    /// [`crate::RECORD_BYTES_MAX`]) before it next suspends. May suspend itself (LOGBUFFER, LOGMGR_RESERVE_APPEND).
    #[inline]
    pub fn ensure_lease(&self, bytes: usize, kind: Lease) -> Result<(), LogError> {
        self.core.ensure_lease(bytes, kind)
    }

    /// Sets so many bytes aside for records that must not find the log full (of taking a transaction back, say), until
    /// [`Log::give_up_aside`]: leases of [`Lease::Normal`] leave them free. Suspends; errors as those of [`Log::ensure_lease`].
    pub fn set_aside(&self, bytes: u64) -> Result<(), LogError> {
        self.core.set_aside(bytes)
    }

    /// So many bytes that were set aside are not needed any more.
    pub fn give_up_aside(&self, bytes: u64) {
        self.core.give_up_aside(bytes);
    }

    /// Whether ordinary work finds room for so many bytes more, in the file or by its growth: for work that can wait, which
    /// should not take what rollbacks may need.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.core.has_room(bytes)
    }

    /// Whether [`Log::ensure_lease`] has nothing to do for records of `bytes` in all, and so does not suspend.
    #[inline]
    pub fn is_leased(&self, bytes: usize) -> bool {
        self.core.is_leased(bytes)
    }

    /// To be called where a slot may stay for long without appending: at the end of a transaction, before a wait for a
    /// lock. What the slot has leased beyond the usual goes back, so none of [`Log::ensure_lease`] holds any more.
    #[inline]
    pub fn give_back(&self) {
        self.core.give_back();
    }

    /// Appends one record made of `parts` in order. Never suspends. The space must have been leased
    /// ([`Log::ensure_lease`]) by the same slot, without suspending since; the process stops if it was not.
    #[inline]
    pub fn append(&self, parts: &[&[u8]]) -> Appended {
        let core = &*self.core;
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let total = record_bytes(len);
        if total > RECORD_BYTES_MAX {
            stdx::fatal!("a log record of {len} bytes is too large");
        }
        let copy = |at: u64| {
            let word = RecordHeader::encode(Lsn(at), len, false);
            // SAFETY: `append` has just reserved `at..at + total` for this call, on a lease that keeps it within the
            // freed part of the ring.
            unsafe { core.ring.put(Lsn(at), word, parts, total) }
        };
        let slot = task::slot();
        let start = if core.is_spinlock() {
            let _guard = core.logcache_access.lock();
            core.stream.append(slot, total as u64, copy)
        } else {
            core.stream.append(slot, total as u64, copy)
        };
        Appended { start: Lsn(start), end: Lsn(start + total as u64) }
    }

    /// One past the last byte reserved.
    #[inline]
    pub fn tail(&self) -> Lsn {
        Lsn(self.core.stream.tail())
    }

    /// Everything below survives.
    #[inline]
    pub fn durable(&self) -> Lsn {
        Lsn(self.core.durable.load(Acquire))
    }

    /// Suspends (WRITELOG) until everything below `upto` is durable. Above the tail there is nothing to wait for:
    /// [`LogError::NoRecord`].
    pub fn wait_durable(&self, upto: Lsn) -> Result<(), LogError> {
        self.core.wait_durable(upto)
    }

    /// To call after a delayed commit: starts a write when enough has gathered. Cheap, never suspends.
    #[inline]
    pub fn note_delayed(&self) {
        self.core.note_delayed();
    }

    /// Makes everything appended so far durable: `sp_flush_log`. Suspends.
    pub fn flush(&self) -> Result<(), LogError> {
        self.core.wait_durable(self.tail())
    }

    /// The payload of the record at `at`, and its end (the next record begins there or, if a block was sealed, a
    /// little later); from memory, or from disk (suspends).
    pub fn read(&self, at: Lsn) -> Result<(Vec<u8>, Lsn), LogError> {
        self.read_by(at, &mut None, 4 * BLOCK_BYTES)
    }

    /// The same for who walks backwards: `walk` keeps what was read from disk along with a record.
    pub fn read_back(
        &self,
        at: Lsn,
        walk: &mut Option<LogReader>,
    ) -> Result<(Vec<u8>, Lsn), LogError> {
        self.read_by(at, walk, WALK_BYTES)
    }

    fn read_by(
        &self,
        at: Lsn,
        walk: &mut Option<LogReader>,
        chunk_bytes: usize,
    ) -> Result<(Vec<u8>, Lsn), LogError> {
        if at.is_none() || !at.0.is_multiple_of(8) || at >= self.tail() {
            return Err(LogError::NoRecord { at });
        }
        // The record is complete as soon as the complete prefix reaches beyond its first byte. Usually it does; else
        // a worker is between reserving and publishing, which takes nanoseconds unless its CPU was taken away.
        let complete = loop {
            let complete = self.core.stream.complete().upto;
            if complete > at.0 {
                break complete;
            }
            task::yield_now();
        };
        {
            let _pin = self.core.ring_pin.read();
            if at.0 >= self.core.freed.load(Acquire) {
                return self.read_ring(at, complete);
            }
        }
        let reader = match walk {
            Some(reader) if at < reader.end() => reader,
            walk => walk.insert(self.core.reader(at, chunk_bytes)),
        };
        reader.seek_back(at)?;
        match reader.next_record()? {
            Some(record) if record.start == at => Ok((record.payload.to_vec(), record.end)),
            _ => Err(LogError::NoRecord { at }),
        }
    }

    /// With `ring_pin` held and `at` not freed.
    fn read_ring(&self, at: Lsn, complete: u64) -> Result<(Vec<u8>, Lsn), LogError> {
        let mut word = [0; RECORD_HEADER_BYTES];
        // SAFETY: `at` is below the complete prefix, hence so is the word (positions come in multiples of 8); nothing
        // is freed while the pin is held.
        unsafe { self.core.ring.get(at, &mut word) };
        let record = RecordHeader::decode(at, u64::from_le_bytes(word)).filter(|r| !r.pad);
        let Some(record) = record.filter(|r| at.0 + r.total() as u64 <= complete) else {
            return Err(LogError::NoRecord { at });
        };
        let mut payload = vec![0; record.len];
        // SAFETY: as above; the record ends below the complete prefix.
        unsafe { self.core.ring.get(Lsn(at.0 + RECORD_HEADER_BYTES as u64), &mut payload) };
        Ok((payload, Lsn(at.0 + record.total() as u64)))
    }

    /// A reader over what is durable now, from `from` on ([`Lsn::NONE`]: from the oldest block kept).
    pub fn reader(&self, from: Lsn) -> LogReader {
        self.core.reader(from, 1 << 20)
    }

    /// The same, reading `chunk_bytes` at a time: for who reads a few records here and there.
    pub fn reader_by(&self, from: Lsn, chunk_bytes: usize) -> LogReader {
        self.core.reader(from, chunk_bytes)
    }

    /// Nothing below `keep_from` is needed any more: VLFs wholly below become reusable.
    pub fn truncate(&self, keep_from: Lsn) {
        let durable = self.core.durable().block();
        let freed = self.core.vlfs.lock().truncate(keep_from, durable);
        if freed > 0 {
            counters::add(Counter::LogTruncations, 1);
            self.core.space_came();
            self.core.advance();
        }
    }

    /// Says what keeps the log from being reused, in the words of `log_reuse_wait_desc`: who is refused with 9002 is told.
    pub fn set_reuse_wait(&self, why: &'static str) {
        *self.core.reuse_wait.lock() = why;
    }

    /// VLFs that hold needed log or are being filled.
    pub fn active_vlfs(&self) -> usize {
        let vlfs = self.core.vlfs.lock();
        (0..vlfs.headers.len()).filter(|&i| vlfs.is_active(i)).count()
    }

    /// Background work that should not happen to committers: grows the file ahead of need, by what was put since the last
    /// call. To be called now and then (every 100 ms, say) by a task. Suspends.
    pub fn maintain(&self) -> Result<(), LogError> {
        let core = &self.core;
        core.check()?;
        core.give_back();
        let granted = core.stream.granted();
        let put = granted.saturating_sub(core.maintained.swap(granted, Relaxed));
        if core.stuck.swap(false, Relaxed) {
            core.grow(true)?;
        }
        while core.is_short_of_room(granted, put) && core.grow(false)? {}
        core.signal.raise();
        core.advance();
        Ok(())
    }

    /// Called, without a lock held, when the file is full and cannot grow: should get a checkpoint going and return. False:
    /// it could not, and is called again.
    pub fn set_log_full_hook(&self, hook: Box<dyn Fn() -> bool + Send + Sync>) {
        *self.core.hook.lock() = Some(Arc::new(hook));
    }

    /// The virtual log files in the order of the file.
    pub fn vlfs(&self) -> Vec<VlfInfo> {
        let vlfs = self.core.vlfs.lock();
        let info = |(i, header): (usize, &Option<VlfHeader>)| {
            let active = vlfs.is_active(i);
            VlfInfo {
                begin_offset: vlfs.offset_of(i),
                bytes: vlfs.vlf_bytes,
                sequence: header.map_or(0, |h| h.sequence),
                active,
                status: match (active, header) {
                    (true, _) => 2,
                    (false, None) => 1,
                    (false, Some(_)) => 0,
                },
                parity: header.map_or(0, |h| if h.sequence % 2 == 1 { 64 } else { 128 }),
                first_lsn: header.map_or(Lsn::NONE, |h| Lsn::of_block(h.first_block)),
                create_lsn: header.map_or(Lsn::NONE, |h| h.create_lsn),
            }
        };
        vlfs.headers.iter().enumerate().map(info).collect()
    }

    /// Bytes of the file that hold log still needed.
    pub fn used_bytes(&self) -> u64 {
        let keep_from = self.core.vlfs.lock().keep_from.0;
        let stream = self.core.stream.tail().saturating_sub(keep_from);
        stream.div_ceil(PAYLOAD_BYTES as u64) * BLOCK_BYTES as u64
    }

    /// Bytes of the file.
    pub fn size_bytes(&self) -> u64 {
        let vlfs = self.core.vlfs.lock();
        vlfs.offset_of(vlfs.headers.len())
    }

    /// Changes how long the file may become (none: as long as the disk has room), and says so to whoever waits for
    /// space. What is there already stays.
    pub fn set_max_bytes(&self, max_bytes: Option<u64>) {
        self.core.max_bytes.store(max_bytes.unwrap_or(u64::MAX), Relaxed);
        self.core.space_came();
    }

    /// By how much the file may still grow, if the disk has room.
    pub fn growth_bytes(&self) -> u64 {
        self.core.max_bytes.load(Relaxed).saturating_sub(self.size_bytes())
    }

    /// Makes the file at least so long, by whole virtual log files, or as long as it may become. False if the disk is
    /// full. Suspends.
    pub fn grow_to(&self, bytes: u64) -> Result<bool, LogError> {
        while self.size_bytes() < bytes {
            self.core.check()?;
            if !self.core.grow(false)? {
                return Ok(!self.core.may_grow());
            }
        }
        Ok(true)
    }

    /// Bytes of the log buffer.
    pub fn ring_bytes(&self) -> u64 {
        self.core.ring.bytes()
    }

    /// The file.
    pub fn file(&self) -> &Arc<dyn File> {
        &self.core.file
    }

    /// Which file this is.
    pub fn uuid(&self) -> [u8; 16] {
        self.core.fixed.uuid
    }

    /// Figures since the log was opened.
    pub fn stats(&self) -> LogStats {
        let (flush_waits, flush_wait_ns) = self.core.waiters.waited();
        let f = self.core.flusher.lock();
        LogStats {
            flushes: f.flushes,
            bytes_flushed: f.bytes_flushed,
            pad_bytes: f.pad_bytes,
            writes_outstanding: f.outstanding() as u64,
            growths: self.core.growths.load(Relaxed),
            tail: self.core.stream.tail(),
            durable: self.core.durable.load(Relaxed),
            flush_waits,
            flush_wait_ns,
            write_ns: f.write_ns,
            opened_ns: f.opened_ns,
            last_write_ns: f.timings.back().map_or(0, |t| t.completed_ns),
        }
    }

    /// Who writes the log at the moment: the thread that handed the last write over; `None` before the first.
    pub fn writer_place(&self) -> Option<WriterPlace> {
        self.core.flusher.lock().last_writer
    }

    /// The latest writes (up to 1024), oldest first.
    pub fn recent_writes(&self) -> Vec<WriteTiming> {
        self.core.flusher.lock().timings.iter().copied().collect()
    }

    /// Switches how space is taken, at any moment.
    pub fn set_reserve(&self, reserve: Reserve) {
        self.core.modes.spinlock.store(reserve == Reserve::Spinlock, Release);
    }

    /// How space is taken now.
    pub fn reserve(&self) -> Reserve {
        self.core.reserve()
    }

    /// Switches who writes, at any moment. [`Writer::Scheduled`] is like [`Writer::Leader`] until somebody runs
    /// [`Log::writer_task`].
    pub fn set_writer(&self, writer: Writer) {
        self.core.modes.writer.store(writer as u8, SeqCst);
        match writer {
            Writer::Dedicated => self.core.start_dedicated(),
            Writer::Leader | Writer::Scheduled => drop(self.core.new_term()),
        }
    }

    /// Where a writer with a thread of its own runs from the next [`Log::set_writer`] on (none: anywhere), and whose memory
    /// it gets.
    pub fn set_writer_cpus(&self, cpus: &[usize], seat: Seat) {
        *self.core.writer_cpus.lock() = (cpus.to_vec(), seat);
    }

    /// Lets the buffer lie on a NUMA node, the writer's; what is in it moves there, once no write is under way. `None`: on
    /// none, and it stays where it is. An error changes nothing but where memory comes from.
    pub fn bind_buffer(&self, node: Option<usize>) -> std::io::Result<()> {
        self.core.bind_ring(node)
    }

    /// The node that most of the buffer lies on, as far as it was touched lately; `None` where nobody knows.
    pub fn buffer_node(&self) -> Option<usize> {
        self.core.ring.node(Lsn(self.core.stream.tail()).block())
    }

    /// The writer, to be run as a task of a scheduler after `set_writer(Writer::Scheduled)`. It ends at the next
    /// `set_writer`, or with the log, which it does not keep open.
    pub fn writer_task(&self) -> impl FnOnce() + Send + 'static {
        let (core, term) = (self.core.clone(), self.core.modes.writer_term.load(SeqCst));
        move || core.run_writer(term, false)
    }

    /// Who writes now.
    pub fn writer(&self) -> Writer {
        self.core.writer()
    }

    /// Changes how many writes may be outstanding: 1 to 1024, and no more than fit half of the ring.
    pub fn set_queue_depth(&self, depth: usize) {
        let depth = depth.clamp(1, self.core.fixed.queue_depth_max);
        self.core.modes.queue_depth.store(depth, Relaxed);
    }

    /// How many writes may be outstanding.
    pub fn queue_depth(&self) -> usize {
        self.core.modes.queue_depth.load(Relaxed)
    }

    /// Switches how writes are asked for, at any moment.
    pub fn set_flush_queue(&self, kind: FlushQueueKind) {
        self.core.modes.queued.store(kind == FlushQueueKind::Spinlock, Release);
        self.core.signal.raise();
    }

    /// True after a failed write; for good.
    pub fn is_poisoned(&self) -> bool {
        self.core.modes.poisoned.load(Acquire)
    }

    /// Flushes, marks the file as cleanly closed, and stops. Later calls answer [`LogError::Closed`]. Nobody may
    /// append meanwhile. Suspends.
    pub fn close(&self) -> Result<(), LogError> {
        // One that failed has writes under way as well, whose memory is ours.
        let flushed = self.core.check().and_then(|()| self.flush().map(drop));
        self.core.modes.closed.store(true, SeqCst);
        self.core.refresh_obstructed();
        self.core.signal.raise();
        loop {
            self.core.drive();
            if self.core.flusher.lock().outstanding() == 0 {
                break;
            }
            task::sleep_ns(50_000, WaitType::LogMgrFlush);
        }
        let marked = flushed.and_then(|()| self.core.mark_clean());
        self.leave();
        marked
    }

    pub(crate) fn core_ref(&self) -> &Core {
        &self.core
    }

    pub(crate) fn core_file(&self) -> Arc<dyn device::File> {
        self.core.file.clone()
    }

    #[cfg(test)]
    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    fn leave(&self) {
        if let Some(id) = self.poller.lock().take() {
            task::unregister_poller(id);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.core.modes.closed.store(true, SeqCst);
        self.core.refresh_obstructed();
        // Lets a dedicated writer go.
        self.core.signal.raise();
        self.leave();
    }
}

impl Harden for Log {
    fn durable(&self) -> Lsn {
        Log::durable(self)
    }

    fn wait_durable(&self, upto: Lsn) -> Result<(), LogError> {
        Log::wait_durable(self, upto)
    }
}
