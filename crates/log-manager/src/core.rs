//! What the log's parts share, and admission: who may take how much space.
//!
//! Fields and who touches them:
//! - `fixed`: set at opening.
//! - `modes`: read by every append, written by an operator or on trouble; on lines of their own.
//! - `stream`: see [`crate::reservation`].
//! - `outlook`: written by the flusher once per look, read by committers and polls.
//! - `flusher`: the state machine; whoever gets the lock advances it (`flush.rs`). Never waited for on a commit.
//! - `logflushq`: the classic queue's spinlock; held for a few instructions, with or without `flusher`.
//! - `recent`: written by the flusher, read by those whose wait is over; no lock.
//! - `vlfs`: the map of the file; held for a few instructions, never across I/O.
//! - `ring_pin`: readers of the ring hold it shared; the flusher takes it (trying only) to free blocks.
//!
//! Order of locks: `flusher`, then `vlfs`, then `space_waiters`. Nothing suspends while one is held.
//!
//! Space is admitted before it is reserved, against two bounds: the ring (freed blocks, less room for seals) and the
//! file (its VLFs, less one kept for rollbacks, and a quarter of that one kept for seals). Seals, which no lease pays
//! for, may push `granted` past the ordinary bound; the log is then *tight*, and ordinary work is refused even on
//! leases already given, so that what is left serves rollbacks and checkpoints.

use crate::flight::Signal;
use crate::flush::Flusher;
use crate::flush_queue::{Asked, FlushQueue};
use crate::lsn::PAYLOAD_BYTES;
use crate::recent::Recent;
use crate::reservation::Reservation;
use crate::ring::Ring;
use crate::vlf::{FileHeader, VLFS_AT, Vlfs};
use crate::waiters::Waiters;
use crate::{Lease, LogError, Lsn, RECORD_BYTES_MAX, Reserve, Writer};
use device::File;
use parking_lot::{Mutex, RwLock};
use runtime::numa::Seat;
use runtime::spin::SpinLock;
use runtime::{clock, task};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, OnceLock};
use stdx::CachePadded;
use telemetry::{Counter, LogScope, LogTimes, WaitType, counters, log_timing};

/// The most writes that may be outstanding; SQL Server's largest number is 112.
pub(crate) const QUEUE_DEPTH_MAX: usize = 1024;
/// Blocks that may be sealed beyond those of the outstanding writes.
const SEALS_BESIDE: usize = 16;
/// The file grows by so much at a time at most, or by one VLF.
const GROWTH_BYTES: u64 = 64 << 20;
/// It is kept so much longer than what is needed now at most, a VLF apart.
const AHEAD_BYTES_MAX: u64 = 256 << 20;
/// Writes whose moments are kept for those who wait.
pub(crate) const RECENT_WRITES: usize = 256;

/// What of [`QUEUE_DEPTH_MAX`] a ring of so many blocks can serve.
pub(crate) fn queue_depth_max(ring_blocks: usize) -> usize {
    (ring_blocks / 2).saturating_sub(SEALS_BESIDE).clamp(1, QUEUE_DEPTH_MAX)
}

/// Room in the ring that no lease may take: each outstanding write may have been sealed.
pub(crate) fn seal_reserve(ring_blocks: usize) -> u64 {
    ((queue_depth_max(ring_blocks) + SEALS_BESIDE) * PAYLOAD_BYTES) as u64
}

/// Set at opening.
pub(crate) struct Fixed {
    pub(crate) uuid: [u8; 16],
    pub(crate) salt: u64,
    pub(crate) incarnation: u32,
    pub(crate) lease_bytes: u64,
    /// See [`queue_depth_max`] and [`seal_reserve`].
    pub(crate) queue_depth_max: usize,
    pub(crate) seal_reserve: u64,
    /// Durable bytes that stay readable in the ring.
    pub(crate) retain_bytes: u64,
    pub(crate) write_blocks_max: u64,
    pub(crate) delayed_ns: u64,
    pub(crate) delayed_blocks: u64,
    pub(crate) full_wait_ns: u64,
}

/// Read by every append; rarely written.
pub(crate) struct Modes {
    pub(crate) spinlock: AtomicBool,
    /// Ordinary leases in hand do not count: the log is tight, poisoned or closed.
    pub(crate) obstructed: AtomicBool,
    pub(crate) tight: AtomicBool,
    pub(crate) poisoned: AtomicBool,
    pub(crate) closed: AtomicBool,
    pub(crate) known_full: AtomicBool,
    pub(crate) writer: AtomicU8,
    /// Counts the changes of `writer` and of its place.
    pub(crate) writer_term: AtomicU64,
    /// A writer of its own runs.
    pub(crate) dedicated: AtomicBool,
    pub(crate) queue_depth: AtomicUsize,
    /// Requests go through `logflushq`.
    pub(crate) queued: AtomicBool,
    /// Ordinary leases end here, and leases for rollbacks.
    pub(crate) file_normal: AtomicU64,
    pub(crate) file_rollback: AtomicU64,
}

/// What the flusher lets others know.
pub(crate) struct Outlook {
    /// A slot whose records reach this position should have a look.
    pub(crate) flush_at: AtomicU64,
    /// A poll should have a look at this time.
    pub(crate) look_at_ns: AtomicU64,
    /// Everything below was handed to the device.
    pub(crate) submitted: AtomicU64,
    pub(crate) outstanding: AtomicUsize,
}

pub(crate) type Hook = Box<dyn Fn() -> bool + Send + Sync>;

/// See the top of the file.
pub(crate) struct Core {
    pub(crate) fixed: Fixed,
    pub(crate) file: Arc<dyn File>,
    pub(crate) ring: Arc<Ring>,
    pub(crate) modes: CachePadded<Modes>,
    pub(crate) stream: Reservation,
    /// Set aside, in bytes: for rollbacks, and for rows in memory that checkpoints are to write.
    pub(crate) aside: CachePadded<AtomicU64>,
    pub(crate) logcache_access: CachePadded<SpinLock<()>>,
    /// The classic queue; empty, or of no account, while the switch is off.
    pub(crate) logflushq: CachePadded<SpinLock<FlushQueue>>,
    /// The latest writes, for those who waited.
    pub(crate) recent: Recent,
    pub(crate) durable: CachePadded<AtomicU64>,
    /// The highest position that somebody waits for.
    pub(crate) want: CachePadded<AtomicU64>,
    pub(crate) outlook: CachePadded<Outlook>,
    pub(crate) signal: CachePadded<Arc<Signal>>,
    pub(crate) waiters: Waiters,
    pub(crate) flusher: CachePadded<Mutex<Flusher>>,
    /// Where a thread that writes runs (none: anywhere), and whose memory it gets.
    pub(crate) writer_cpus: Mutex<(Vec<usize>, Seat)>,
    pub(crate) vlfs: Mutex<Vlfs>,
    /// Blocks below may be overwritten in the ring; in positions.
    pub(crate) freed: AtomicU64,
    pub(crate) ring_pin: RwLock<()>,
    pub(crate) space_waiters: Mutex<Vec<task::Waker>>,
    pub(crate) space_wanted: AtomicBool,
    pub(crate) growing: AtomicBool,
    /// No VLF for the next block: the file must grow whatever the settings say.
    pub(crate) stuck: AtomicBool,
    pub(crate) growths: AtomicU64,
    /// What had been granted when [`crate::Log::maintain`] was last called.
    pub(crate) maintained: AtomicU64,
    /// The file does not become longer than this, but for rollbacks.
    pub(crate) max_bytes: AtomicU64,
    pub(crate) why_poisoned: OnceLock<String>,
    pub(crate) hook: Mutex<Option<Arc<Hook>>>,
    /// As last written.
    pub(crate) header: Mutex<FileHeader>,
    /// What the owner says keeps the log from being reused: the reason told with 9002.
    pub(crate) reuse_wait: Mutex<&'static str>,
}

impl Core {
    /// Refuses if the log is poisoned or closed.
    pub(crate) fn check(&self) -> Result<(), LogError> {
        if self.modes.poisoned.load(Acquire) {
            let why = self.why_poisoned.get().cloned().unwrap_or_default();
            return Err(LogError::Poisoned { why });
        }
        if self.modes.closed.load(Acquire) {
            return Err(LogError::Closed);
        }
        Ok(())
    }

    pub(crate) fn durable(&self) -> Lsn {
        Lsn(self.durable.load(SeqCst))
    }

    pub(crate) fn is_spinlock(&self) -> bool {
        self.modes.spinlock.load(Relaxed)
    }

    pub(crate) fn reserve(&self) -> Reserve {
        if self.is_spinlock() { Reserve::Spinlock } else { Reserve::Lanes }
    }

    pub(crate) fn writer(&self) -> Writer {
        match self.modes.writer.load(Relaxed) {
            0 => Writer::Leader,
            1 => Writer::Dedicated,
            _ => Writer::Scheduled,
        }
    }

    #[inline(always)]
    pub(crate) fn is_leased(&self, bytes: usize) -> bool {
        let leased = self.stream.leased(task::slot());
        leased >= bytes as u64 && !self.modes.obstructed.load(Relaxed)
    }

    #[inline(always)]
    pub(crate) fn ensure_lease(&self, bytes: usize, kind: Lease) -> Result<(), LogError> {
        if self.is_leased(bytes) { Ok(()) } else { self.lease_slowly(bytes as u64, kind) }
    }

    #[cold]
    fn lease_slowly(&self, bytes: u64, kind: Lease) -> Result<(), LogError> {
        assert!(bytes <= RECORD_BYTES_MAX as u64, "a lease of {bytes} bytes is too large");
        let slot = task::slot();
        let in_ring = || self.stream.granted() + bytes <= self.stream.limit();
        self.wait_for_room(|| self.try_lease(slot, bytes, kind), in_ring, kind)
    }

    /// Sets `bytes` aside in room that an ordinary lease might have; waits for that as a lease does.
    #[cold]
    pub(crate) fn set_aside(&self, bytes: u64) -> Result<(), LogError> {
        let room = |aside: u64| {
            let end = self.stream.granted() + aside + bytes;
            let fits = end <= self.modes.file_normal.load(Acquire);
            (fits && !self.modes.tight.load(Relaxed)).then_some(aside + bytes)
        };
        // Of two who look at once both may get room for one: the VLF for rollbacks has it.
        let take = || self.aside.fetch_update(AcqRel, Relaxed, room).is_ok();
        self.wait_for_room(take, || true, Lease::Normal)
    }

    /// They are not needed any more.
    pub(crate) fn give_up_aside(&self, bytes: u64) {
        self.aside.fetch_sub(bytes, AcqRel);
        if self.space_wanted.load(SeqCst) {
            self.wake_for_space();
        }
    }

    /// Where ordinary leases end now.
    fn ordinary_end(&self) -> u64 {
        let aside = self.aside.load(Relaxed);
        self.modes.file_normal.load(Acquire).saturating_sub(aside)
    }

    /// Whether ordinary work finds room for so much more, as far as anybody knows: in the file, or by its growth.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        let fits = || self.stream.granted() + bytes <= self.ordinary_end();
        let grows = || !self.modes.known_full.load(Relaxed) && self.may_grow();
        (fits() && !self.modes.obstructed.load(Relaxed)) || grows()
    }

    /// Tries until there is room: what is done with leaves the log, or the file grows.
    fn wait_for_room(
        &self,
        take: impl Fn() -> bool,
        in_ring: impl Fn() -> bool,
        kind: Lease,
    ) -> Result<(), LogError> {
        let mut give_up_ns = 0;
        let mut hook_called = false;
        loop {
            self.check()?;
            if take() {
                // Long transactions take leases and never commit: let them get their bytes on the way, too.
                self.note_delayed();
                return Ok(());
            }
            let now = clock::now_ns();
            let in_ring = in_ring();
            if !in_ring {
                // The device is behind, which is no full log: whoever rolls back could not do without the room, and a
                // device that fails ends the wait by itself.
                give_up_ns = u64::MAX;
            } else if give_up_ns == 0 || give_up_ns == u64::MAX {
                let brief = self.modes.known_full.load(Relaxed);
                let wait_ns = self.fixed.full_wait_ns;
                give_up_ns = now + if brief { wait_ns / 50 } else { wait_ns };
            }
            if in_ring && self.grow(false)? {
                continue;
            }
            if now >= give_up_ns {
                if kind == Lease::Rollback && self.grow(true)? {
                    continue;
                }
                self.modes.known_full.store(true, Relaxed);
                return Err(LogError::LogFull { reason: *self.reuse_wait.lock() });
            }
            if in_ring && !hook_called {
                let hook = self.hook.lock().clone();
                hook_called = hook.is_none_or(|hook| hook());
            }
            self.want_space();
            self.signal.raise();
            self.advance();
            if take() {
                return Ok(());
            }
            let wait = if in_ring { WaitType::LogMgrReserveAppend } else { WaitType::LogBuffer };
            task::park(wait, Some((clock::now_ns() + 5_000_000).min(give_up_ns)));
        }
    }

    fn try_lease(&self, slot: usize, bytes: u64, kind: Lease) -> bool {
        let ceiling = match kind {
            Lease::Normal if self.modes.tight.load(Relaxed) => return false,
            Lease::Normal => self.ordinary_end(),
            Lease::Rollback => self.modes.file_rollback.load(Acquire),
        };
        self.stream.leased(slot) >= bytes
            || self.stream.lease(slot, self.fixed.lease_bytes.max(bytes), ceiling)
            || self.stream.lease(slot, bytes, ceiling)
    }

    /// What a slot has leased and does not need goes back, but for the usual portion: a slot that is idle, or whose task
    /// waits for a lock, would keep it from those that the lock's owner may be among.
    #[inline]
    pub(crate) fn give_back(&self) {
        let slot = task::slot();
        // All slots together may keep this without filling the smallest ring.
        if self.stream.leased(slot) > 2 * self.fixed.lease_bytes {
            self.give_back_of(slot);
        }
    }

    #[cold]
    fn give_back_of(&self, slot: usize) {
        if self.stream.give_back(slot, self.fixed.lease_bytes) {
            self.wake_for_space();
        }
    }

    fn want_space(&self) {
        self.space_waiters.lock().push(task::current_waker());
        self.space_wanted.store(true, SeqCst);
    }

    /// Moves those who wait for space to `woken`, if there are any.
    pub(crate) fn take_space_waiters(&self, woken: &mut Vec<task::Waker>) {
        if self.space_wanted.load(SeqCst) {
            let mut waiting = self.space_waiters.lock();
            self.space_wanted.store(false, SeqCst);
            woken.append(&mut waiting);
        }
    }

    /// Recomputes what the file admits, after it grew, was truncated, or a block was sealed.
    pub(crate) fn refresh_file_limits(&self) {
        let (end, vlf) = {
            let vlfs = self.vlfs.lock();
            (vlfs.capacity_end().0, vlfs.blocks_each() * PAYLOAD_BYTES as u64)
        };
        let normal = end.saturating_sub(vlf);
        self.modes.file_normal.store(normal, Release);
        self.modes.file_rollback.store(end.saturating_sub(vlf / 4), Release);
        let tight = self.stream.granted() > normal;
        if tight != self.modes.tight.load(Relaxed) {
            self.modes.tight.store(tight, Release);
        }
        self.refresh_obstructed();
    }

    pub(crate) fn refresh_obstructed(&self) {
        let m = &self.modes;
        let obstructed =
            m.tight.load(Acquire) || m.poisoned.load(Acquire) || m.closed.load(Acquire);
        if obstructed != m.obstructed.load(Relaxed) {
            m.obstructed.store(obstructed, Release);
        }
    }

    /// Space has come: whoever waits for some should try again.
    pub(crate) fn space_came(&self) {
        self.modes.known_full.store(false, Relaxed);
        self.refresh_file_limits();
        self.wake_for_space();
        self.signal.raise();
    }

    fn wake_for_space(&self) {
        let mut woken = Vec::new();
        self.take_space_waiters(&mut woken);
        woken.iter().for_each(task::Waker::wake);
    }

    /// Makes the file longer, by a VLF at least; `beyond` the set maximum if need be. False if it may not or cannot.
    pub(crate) fn grow(&self, beyond: bool) -> Result<bool, LogError> {
        if self.growing.swap(true, AcqRel) {
            // Somebody else is at it. Look again when it is done.
            self.want_space();
            if self.growing.load(Acquire) {
                task::park(WaitType::LogMgrReserveAppend, Some(clock::now_ns() + 5_000_000));
            }
            return Ok(true);
        }
        let grown = self.grow_alone(beyond);
        self.growing.store(false, Release);
        if grown {
            self.growths.fetch_add(1, Relaxed);
            counters::add(Counter::LogGrowths, 1);
            self.space_came();
        }
        Ok(grown)
    }

    /// Where one more VLF would be, and its length.
    fn next_vlf(&self) -> (u64, u64) {
        let vlfs = self.vlfs.lock();
        (VLFS_AT + vlfs.headers.len() as u64 * vlfs.vlf_bytes, vlfs.vlf_bytes)
    }

    /// Whether one more VLF is within the set maximum.
    pub(crate) fn may_grow(&self) -> bool {
        let (from, bytes) = self.next_vlf();
        from + bytes <= self.max_bytes.load(Relaxed)
    }

    /// Whether the file should grow before anybody needs it. One VLF is the reserve; the rest is what may be used until
    /// somebody looks again: twice what was put between the last two looks, half a VLF at least.
    pub(crate) fn is_short_of_room(&self, granted: u64, put: u64) -> bool {
        let (end, vlf) = {
            let vlfs = self.vlfs.lock();
            (vlfs.capacity_end().0, vlfs.blocks_each() * PAYLOAD_BYTES as u64)
        };
        let ahead = (2 * put).min(AHEAD_BYTES_MAX).max(vlf / 2);
        granted + self.aside.load(Relaxed) + vlf + ahead > end
    }

    fn grow_alone(&self, beyond: bool) -> bool {
        if !beyond && !self.may_grow() {
            return false;
        }
        let (from, bytes) = self.next_vlf();
        let max_bytes = self.max_bytes.load(Relaxed);
        // By half of what it is: a log that is much used soon has its size, a small one stays small.
        let some = (from / 2).min(GROWTH_BYTES).min(max_bytes.saturating_sub(from)) / bytes;
        // A failure here loses nothing: the stream does not reach so far. One may fit where several do not.
        for vlfs in [some, 1] {
            if vlfs > 0 && self.file.allocate(from, vlfs * bytes).is_ok() {
                (0..vlfs).for_each(|_| self.vlfs.lock().grown());
                return true;
            }
        }
        false
    }

    /// See [`crate::Log::note_delayed`].
    #[inline(always)]
    pub(crate) fn note_delayed(&self) {
        if self.stream.last_end(task::slot()) >= self.outlook.flush_at.load(Relaxed) {
            self.flush_delayed();
        }
    }

    #[cold]
    #[inline(never)]
    fn flush_delayed(&self) {
        if self.is_queued() {
            // Whole blocks only: nobody waits for the last one.
            let end = Lsn(self.stream.last_end(task::slot()));
            self.ask(Lsn::of_block(end.block()).0);
        }
        self.signal.raise();
        self.advance();
    }

    /// See [`crate::Log::wait_durable`].
    pub(crate) fn wait_durable(&self, upto: Lsn) -> Result<(), LogError> {
        if self.durable() >= upto {
            return Ok(());
        }
        self.check()?;
        if upto.0 > self.stream.tail() {
            // Never appended: waiting would be for ever.
            return Err(LogError::NoRecord { at: upto });
        }
        let began = clock::stat_ns();
        self.waiters.register(task::slot(), upto, task::current_waker());
        if self.want.load(Relaxed) < upto.0 {
            self.want.fetch_max(upto.0, AcqRel);
        }
        if self.is_queued() {
            self.ask(upto.0);
        }
        self.signal.raise();
        self.advance();
        let answer = loop {
            if self.durable() >= upto {
                break Ok(());
            }
            self.check()?;
            task::park(WaitType::WriteLog, None);
        };
        if telemetry::RECORDING {
            self.record_wait(upto, began, clock::now_ns());
        }
        answer
    }

    /// A wait under WRITELOG is over.
    fn record_wait(&self, upto: Lsn, began: u64, ended: u64) {
        counters::add(Counter::LogFlushWaits, 1);
        counters::add(Counter::LogFlushWaitNs, ended - began);
        self.waiters.note(task::slot(), ended - began);
        match self.recent.covering(upto.0) {
            Some(w) => log_timing::record(
                LogScope::WriteLog,
                LogTimes::cut(began, w.submit_ns, w.submitted_ns, w.completed_ns, ended),
            ),
            None => log_timing::record_unexplained(),
        }
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.modes.queued.load(Relaxed)
    }

    /// Enters a request into the classic queue; when it is full, the writer does so later.
    pub(crate) fn ask(&self, upto: u64) -> Asked {
        let depth = self.modes.queue_depth.load(Relaxed);
        let bytes = self.fixed.delayed_blocks * PAYLOAD_BYTES as u64;
        self.logflushq.lock().ask(upto, depth, bytes)
    }
}
