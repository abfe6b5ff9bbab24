//! Writing the log out: a state machine that anyone may advance.
//!
//! ```text
//! raise ──► look: collect ──► publish ──► activate ──► submit ──► outlook
//!              completed      durable      next VLF    sealed      when to
//!              in order       and wake                 blocks      look again
//! ```
//!
//! Promises:
//! 1. Blocks go out in order, each once. `durable` is the end of the contiguous prefix of completed writes.
//! 2. A partial block is sealed only when somebody wants it durable (a full commit, a flush, or the delay is over),
//!    its remainder reserved as a pad record like any other record.
//! 3. Greedy, but no crowd of small writes: what is wanted goes out at once while fewer than [`SMALL_WRITES`] writes
//!    are outstanding; else the wanted gathers until a write ends or enough has come together. With the classic queue
//!    (`flush_queue.rs`) each request goes out at once, up to the depth.
//! 4. One advances at a time (a try-lock): the others leave a signal and go on. Nothing here suspends or waits.
//! 5. A failed write poisons the log: nothing is submitted or published afterwards.
//! 6. An idle log costs nothing: with nothing unwritten and nothing under way for a while its bell is hushed, and the
//!    schedulers glance at it a few hundred times a second. Every signal rings, and so does the first delayed commit:
//!    `flush_at` is 0 meanwhile. A commit that reads the `flush_at` of before is found by the next glance.

use crate::block::{BlockHeader, RecordHeader, u64_at};
use crate::core::Core;
use crate::flight::{Flight, Memory};
use crate::log::{WriteTiming, WriterPlace};
use crate::lsn::{BLOCK_BYTES, HEADER_BYTES, Lsn, PAYLOAD_BYTES};
use crate::recent::Moments;
use crate::reservation::Complete;
use device::Op;
use runtime::task::{self, Bell, Poller, Waker};
use runtime::{clock, threads};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{Ordering::*, fence};
use stdx::AlignedBuf;
use telemetry::{Counter, LogScope, LogTimes, counters, log_timing};

/// Outstanding writes up to which a partial block is sealed at once.
const SMALL_WRITES: usize = 2;
/// Looks at a lane that still copies before giving up until the next poll.
const PATIENCE: u32 = 500;
/// How often to try again when the file has no room for what is in the ring.
const STUCK_NS: u64 = 1_000_000;
/// As `look_at_ns`: with the next poll, whatever the clock says.
const AT_ONCE: u64 = 0;
/// Write timings kept.
const TIMINGS: usize = 1024;

struct Write {
    flight: Arc<Flight>,
    end_block: u64,
    timing: WriteTiming,
}

/// The state of the machine.
pub(crate) struct Flusher {
    /// The next block to submit.
    next_block: u64,
    /// The next block is the first of the incarnation. (An opened log has written that one already.)
    fresh: bool,
    /// Where the first record at or behind `next_block` begins.
    next_record: u64,
    in_flight: VecDeque<Write>,
    idle: Vec<Arc<Flight>>,
    /// The header of the next VLF, on its way.
    activation: Option<Arc<Flight>>,
    /// When bytes behind `next_block` were first seen; 0: there are none.
    unwritten_since_ns: u64,
    /// Something could not be done now: when to try again, if that is earlier than usual.
    again_ns: Option<u64>,
    /// The ring's pages shall move to a node, and so many tries are left.
    pub(crate) moving: Option<(usize, u32)>,
    woken: Vec<Waker>,
    pub(crate) timings: VecDeque<WriteTiming>,
    pub(crate) flushes: u64,
    pub(crate) bytes_flushed: u64,
    pub(crate) pad_bytes: u64,
    /// From handing over to completion, summed.
    pub(crate) write_ns: u64,
    pub(crate) opened_ns: u64,
    /// Who handed the last write over.
    pub(crate) last_writer: Option<WriterPlace>,
}

impl Flusher {
    pub(crate) fn new(next_block: u64, fresh: bool) -> Flusher {
        Flusher {
            next_block,
            fresh,
            next_record: Lsn::of_block(next_block).0,
            in_flight: VecDeque::new(),
            idle: Vec::new(),
            activation: None,
            unwritten_since_ns: 0,
            again_ns: None,
            moving: None,
            woken: Vec::new(),
            timings: VecDeque::with_capacity(TIMINGS),
            flushes: 0,
            bytes_flushed: 0,
            pad_bytes: 0,
            write_ns: 0,
            opened_ns: clock::now_ns(),
            last_writer: None,
        }
    }

    /// Writes under way, of blocks and headers.
    pub(crate) fn outstanding(&self) -> usize {
        self.in_flight.len() + usize::from(self.activation.is_some())
    }
}

impl Poller for Core {
    fn poll(&self) -> usize {
        if self.modes.dedicated.load(Relaxed) {
            self.signal.bell.hush();
            return 0;
        }
        self.look_if_due()
    }

    fn bell(&self) -> Option<&Bell> {
        Some(&self.signal.bell)
    }

    fn next_ns(&self) -> Option<u64> {
        if self.modes.poisoned.load(Relaxed) || self.modes.dedicated.load(Relaxed) {
            return None;
        }
        if self.signal.is_raised() {
            return Some(clock::now_ns());
        }
        self.has_unwritten().then(|| self.outlook.look_at_ns.load(Relaxed))
    }
}

impl Core {
    /// To be called with the signal raised: drives the machine, unless a dedicated writer does.
    pub(crate) fn advance(&self) {
        if !self.modes.dedicated.load(Relaxed) {
            self.drive();
        }
    }

    pub(crate) fn look_if_due(&self) -> usize {
        if self.signal.is_raised() {
            return self.drive();
        }
        let look_at_ns = self.outlook.look_at_ns.load(Relaxed);
        if clock::now_ns() < look_at_ns {
            return 0;
        }
        // What failed looks at no clock, and the end of each write under way raises the signal.
        let poisoned = self.modes.poisoned.load(Relaxed);
        if !poisoned && (look_at_ns == AT_ONCE || self.has_unwritten()) {
            // Its deadline will be soon.
            self.signal.bell.ring();
            return self.drive();
        }
        if self.signal.bell.is_rung() && self.outlook.outstanding.load(Relaxed) == 0 {
            self.hush();
        }
        0
    }

    fn has_unwritten(&self) -> bool {
        self.stream.tail() > self.outlook.submitted.load(Relaxed)
    }

    /// See promise 6.
    #[cold]
    fn hush(&self) {
        self.outlook.flush_at.store(0, Relaxed);
        self.signal.bell.hush();
        fence(SeqCst);
        if self.signal.is_raised() || self.has_unwritten() {
            self.signal.bell.ring();
        }
    }

    /// Advances the machine if nobody else does. Returns the work done.
    pub(crate) fn drive(&self) -> usize {
        let mut work = 0;
        // Bounded, so that a caller with work of its own is not kept for ever; the signal stays raised.
        for _ in 0..8 {
            let Some(mut flusher) = self.flusher.try_lock() else { break };
            self.signal.clear();
            work += self.look(&mut flusher);
            let mut woken = std::mem::take(&mut flusher.woken);
            drop(flusher);
            // Outside the lock: the woken may want it.
            for waker in woken.drain(..) {
                waker.wake();
            }
            if let Some(mut flusher) = self.flusher.try_lock()
                && flusher.woken.capacity() == 0
            {
                flusher.woken = woken;
            }
            // Whoever raised the signal and found us at it relies on this second look.
            fence(SeqCst);
            if !self.signal.is_raised() {
                break;
            }
        }
        work
    }

    fn look(&self, f: &mut Flusher) -> usize {
        f.again_ns = None;
        let mut work = self.collect(f);
        if f.moving.is_some() {
            self.move_ring(f);
        }
        if !self.modes.poisoned.load(Relaxed) {
            let now = clock::now_ns();
            self.activate_next_vlf(f);
            work += self.submit(f, now);
            self.look_ahead(f, now);
        }
        work
    }

    /// Takes completed writes in order, publishes what is durable, frees the ring.
    fn collect(&self, f: &mut Flusher) -> usize {
        let mut ended = 0;
        let mut durable = None;
        while let Some(outcome) = f.in_flight.front().and_then(|w| w.flight.outcome()) {
            if self.modes.poisoned.load(Relaxed) {
                // Only waited for so that the memory is free; its outcome no longer counts.
                f.in_flight.pop_front();
                continue;
            }
            if let Err(why) = outcome {
                self.poison(f, why);
                continue;
            }
            let Some(mut write) = f.in_flight.pop_front() else { break };
            (write.timing.submitted_ns, write.timing.completed_ns) = write.flight.times_ns();
            let t = write.timing;
            f.write_ns += t.completed_ns.saturating_sub(t.submitted_ns);
            self.record_write(write.end_block, t);
            counters::add(Counter::LogFlushWriteNs, t.completed_ns.saturating_sub(t.submitted_ns));
            counters::add(Counter::LogFlushQueueNs, t.submitted_ns.saturating_sub(t.queued_ns));
            if f.timings.len() == TIMINGS {
                f.timings.pop_front();
            }
            f.timings.push_back(t);
            durable = Some(Lsn::of_block(write.end_block));
            f.idle.push(write.flight);
            ended += 1;
        }
        if let Some(outcome) = f.activation.as_ref().and_then(|a| a.outcome()) {
            f.activation = None;
            ended += 1;
            match outcome {
                Ok(()) => self.vlfs.lock().activated(),
                Err(why) => self.poison(f, why),
            }
        }
        self.outlook.outstanding.store(f.outstanding(), Relaxed);
        if let Some(durable) = durable {
            if self.is_queued() {
                self.logflushq.lock().ended(durable.0);
            }
            self.durable.store(durable.0, SeqCst);
            self.waiters.take_satisfied(durable, &mut f.woken);
        }
        if durable.is_some() || self.space_wanted.load(Relaxed) {
            self.free_ring(f);
        }
        ended
    }

    /// The moments of a write that has ended, before anybody is told that it has.
    fn record_write(&self, end_block: u64, t: WriteTiming) {
        if !telemetry::RECORDING {
            return;
        }
        let (submit_ns, submitted_ns, completed_ns) = (t.submit_ns, t.submitted_ns, t.completed_ns);
        let moments = Moments { submit_ns, submitted_ns, completed_ns };
        self.recent.publish(Lsn::of_block(end_block).0, moments);
        let noticed = clock::now_ns().max(completed_ns);
        let queued = t.queued_ns.min(submit_ns);
        log_timing::record(
            LogScope::Write,
            LogTimes::cut(queued, submit_ns, submitted_ns, completed_ns, noticed),
        );
    }

    /// Lets the ring's blocks be overwritten that are durable, but for the latest.
    fn free_ring(&self, f: &mut Flusher) {
        let durable = self.durable.load(Relaxed);
        let target = Lsn(durable.saturating_sub(self.fixed.retain_bytes)).block();
        let target = Lsn::of_block(target).0;
        if target > self.freed.load(Relaxed) {
            // A reader of the ring is at work: it is brief.
            let Some(_pin) = self.ring_pin.try_write() else {
                f.again_ns = Some(AT_ONCE);
                return;
            };
            self.freed.store(target, Release);
            self.stream.set_limit(target + self.ring.payload_bytes() - self.fixed.seal_reserve);
            // Only now: waking for nothing would make the waiter spin.
            self.take_space_waiters(&mut f.woken);
        }
    }

    /// A write beside the stream's failed. Waits for whoever advances the flusher.
    pub(crate) fn fail(&self, why: String) {
        let woken = {
            let mut f = self.flusher.lock();
            self.poison(&mut f, why);
            std::mem::take(&mut f.woken)
        };
        woken.iter().for_each(Waker::wake);
    }

    fn poison(&self, f: &mut Flusher, why: String) {
        let _ = self.why_poisoned.set(why);
        self.modes.poisoned.store(true, SeqCst);
        self.refresh_obstructed();
        self.waiters.take_satisfied(Lsn::MAX, &mut f.woken);
        self.take_space_waiters(&mut f.woken);
    }

    /// Gets the header of the next VLF written while the last one is in use, so that nobody waits for it.
    fn activate_next_vlf(&self, f: &mut Flusher) {
        if f.activation.is_some() {
            return;
        }
        let mut vlfs = self.vlfs.lock();
        if vlfs.end_block() >= f.next_block + vlfs.blocks_each() {
            return;
        }
        let (salt, incarnation) = (self.fixed.salt, self.fixed.incarnation);
        let Some((offset, header)) = vlfs.activate(salt, incarnation, Lsn(self.stream.tail()))
        else {
            return;
        };
        drop(vlfs);
        let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
        header.encode(&mut block);
        let flight = Arc::new(Flight::new(Memory::Header(block), (*self.signal).clone()));
        flight.prepare(BLOCK_BYTES);
        let ptr = flight.header().map_or(std::ptr::null(), |block| block.as_ptr());
        f.activation = Some(flight.clone());
        // SAFETY: `ptr` is the flight's own buffer, which nobody changes and which lives as long as the flight, which
        // the device holds until it has completed.
        unsafe { self.file.submit(Op::WriteDurable, offset, ptr.cast_mut(), BLOCK_BYTES, flight) };
    }

    /// What is complete; under the classic spinlock as the classic writer would see it. Lanes announce in both
    /// modes, so the answer is right whatever mode each worker is in.
    fn complete(&self) -> Complete {
        if self.is_spinlock() {
            let _guard = self.logcache_access.lock();
            self.stream.complete()
        } else {
            self.stream.complete()
        }
    }

    /// Seals and submits as promised at the top.
    fn submit(&self, f: &mut Flusher, now: u64) -> usize {
        let mut submitted = 0;
        let mut patience = PATIENCE;
        let depth = self.modes.queue_depth.load(Relaxed);
        while f.in_flight.len() < depth {
            let complete = self.complete();
            let from = Lsn::of_block(f.next_block).0;
            if complete.tail <= from {
                break;
            }
            if f.unwritten_since_ns == 0 {
                f.unwritten_since_ns = now;
            } else if now >= f.unwritten_since_ns + self.fixed.delayed_ns {
                self.want.fetch_max(complete.tail, AcqRel);
            }
            let queued = self.is_queued();
            let mut want = self.want.load(Acquire);
            if queued {
                want = self.next_request(want, from);
            }
            let now_wanted = want > from && (queued || f.in_flight.len() < SMALL_WRITES);
            let full = Lsn(complete.upto).block();
            if now_wanted && want > Lsn::of_block(full).0 {
                // What is wanted ends in a block that is not full, or in which somebody still copies.
                let tail = Lsn(complete.tail);
                if complete.upto >= want && tail.block() == full {
                    self.pad(f, tail);
                    continue;
                }
                if patience > 0 {
                    patience -= 1;
                    std::hint::spin_loop();
                    continue;
                }
                f.again_ns = Some(AT_ONCE);
            }
            let ready = full.saturating_sub(f.next_block);
            let enough = self.enough(f.in_flight.len());
            let pressed = self.space_wanted.load(Relaxed);
            if ready == 0 || !(now_wanted || pressed || ready >= enough) {
                break;
            }
            if !self.submit_one(f, ready, now) {
                break;
            }
            submitted += 1;
        }
        submitted
    }

    /// Up to where the classic queue wants the next write to go, after entering what found it full; 0: nowhere.
    fn next_request(&self, want: u64, from: u64) -> u64 {
        if want > from {
            self.ask(want);
        }
        self.logflushq.lock().next().unwrap_or(0)
    }

    /// Blocks that are worth a write of their own with this many outstanding.
    fn enough(&self, outstanding: usize) -> u64 {
        let base = self.fixed.delayed_blocks;
        (base * (1 + outstanding as u64)).clamp(1, self.fixed.write_blocks_max)
    }

    /// Fills the block that `tail` lies in, if the tail is still there.
    fn pad(&self, f: &mut Flusher, tail: Lsn) {
        let end = Lsn::of_block(tail.block() + 1);
        let total = (end.0 - tail.0) as usize;
        let word = RecordHeader::encode(tail, total - crate::RECORD_HEADER_BYTES, true);
        let sealed = self.stream.seal(task::slot(), tail.0, end.0, || {
            // SAFETY: `seal` reserved `tail..end` for this call; the room is in the ring's seal reserve.
            unsafe { self.ring.put(tail, word, &[], total) };
        });
        if sealed {
            f.pad_bytes += total as u64;
            if self.stream.granted() > self.modes.file_normal.load(Relaxed) {
                self.refresh_file_limits();
            }
        }
    }

    /// Submits up to `ready` blocks from `next_block` on; false if the file has no place for them now.
    fn submit_one(&self, f: &mut Flusher, ready: u64, now: u64) -> bool {
        let place = self.vlfs.lock().place(f.next_block);
        let Some(place) = place else {
            self.activate_next_vlf(f);
            if f.activation.is_none() {
                self.stuck.store(true, Relaxed);
                f.again_ns = Some(now + STUCK_NS);
            }
            return false;
        };
        let blocks = ready
            .min(self.fixed.write_blocks_max)
            .min(place.left)
            .min(self.ring.contiguous_from(f.next_block));
        for block in f.next_block..f.next_block + blocks {
            self.seal_block(f, block, place.vlf_sequence);
        }
        let bytes = blocks as usize * BLOCK_BYTES;
        let flight = f.idle.pop().filter(|flight| Arc::strong_count(flight) == 1);
        let flight = flight.unwrap_or_else(|| {
            let memory = Memory::Ring(self.ring.clone());
            Arc::new(Flight::new(memory, (*self.signal).clone()))
        });
        flight.prepare(bytes);
        let ptr = self.ring.block_ptr(f.next_block);
        f.next_block += blocks;
        let timing = WriteTiming {
            queued_ns: f.unwritten_since_ns,
            submit_ns: clock::stat_ns(),
            bytes: bytes as u64,
            ..WriteTiming::default()
        };
        f.in_flight.push_back(Write { flight: flight.clone(), end_block: f.next_block, timing });
        if self.is_queued() {
            self.logflushq.lock().submitted(Lsn::of_block(f.next_block).0);
        }
        f.unwritten_since_ns = now;
        f.flushes += 1;
        f.bytes_flushed += bytes as u64;
        f.last_writer = Some(WriterPlace { slot: task::slot(), cpu: threads::current_cpu() });
        counters::add(Counter::LogFlushes, 1);
        counters::add(Counter::LogBytesFlushed, bytes as u64);
        // SAFETY: the blocks are complete and stay unfreed, hence unchanged, until this write has been collected;
        // `contiguous_from` keeps them in one piece; the flight holds the ring.
        unsafe { self.file.submit(Op::WriteDurable, place.offset, ptr, bytes, flight) };
        true
    }

    fn seal_block(&self, f: &mut Flusher, block: u64, vlf_sequence: u64) {
        let (start, end) = (Lsn::of_block(block).0, Lsn::of_block(block + 1).0);
        // SAFETY: the block is complete, not freed, and we hold the flusher's lock.
        let bytes = unsafe { self.ring.block_mut(block) };
        let first = (f.next_record < end).then(|| (f.next_record - start) as usize);
        while f.next_record < end {
            let at = HEADER_BYTES + (f.next_record - start) as usize;
            match RecordHeader::decode(Lsn(f.next_record), u64_at(bytes, at)) {
                Some(record) => f.next_record += record.total() as u64,
                None => stdx::fatal!("the log buffer was damaged at {}", Lsn(f.next_record)),
            }
        }
        let header = BlockHeader {
            salt: self.fixed.salt,
            number: block,
            durable: Lsn(self.durable.load(Relaxed)),
            incarnation: self.fixed.incarnation,
            first,
            fresh: std::mem::take(&mut f.fresh),
            vlf_sequence,
        };
        header.seal(bytes);
    }

    /// Tells the others when to look next.
    fn look_ahead(&self, f: &mut Flusher, now: u64) {
        let from = Lsn::of_block(f.next_block).0;
        let tail = self.stream.tail();
        if tail <= from {
            f.unwritten_since_ns = 0;
        }
        let flush_at = if f.in_flight.len() < self.modes.queue_depth.load(Relaxed) {
            let enough = (self.enough(f.in_flight.len()) + 1) * PAYLOAD_BYTES as u64;
            (from + enough).max(tail + PAYLOAD_BYTES as u64)
        } else {
            u64::MAX
        };
        let look_at = if let Some(again) = f.again_ns {
            again
        } else if f.unwritten_since_ns != 0 && f.unwritten_since_ns + self.fixed.delayed_ns > now {
            f.unwritten_since_ns + self.fixed.delayed_ns
        } else {
            // What is overdue waits for a write under way, whose end raises the signal: looking all the time meanwhile
            // would keep every scheduler awake for as long as the device takes. Else:
            // Just a glance whether something was appended; with `delayed_ns` it adds up to the promised delay.
            now + self.fixed.delayed_ns / 3
        };
        self.outlook.flush_at.store(flush_at, Relaxed);
        self.outlook.look_at_ns.store(look_at, Relaxed);
        self.outlook.submitted.store(from, Relaxed);
        self.outlook.outstanding.store(f.outstanding(), Relaxed);
    }
}
