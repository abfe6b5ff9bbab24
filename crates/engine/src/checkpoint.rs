//! Checkpoints, log truncation, and the other work nobody waits for.
//!
//! A checkpoint writes rows in memory beside (`memory/beside.rs`) and the pages that were dirty then, hardens the log, then
//! moves the boot record's two marks: `redo_from` (no page lacks a record below) and `scan_from` (nor has an unfinished
//! transaction a record below, nor does a memory tree need one), and only then lets the log below `scan_from` go. Recovery
//! reads on from `scan_from` and every unfinished transaction shows itself. The checkpoint logs a record of its own so that `scan_from` is always the start of a
//! durable record: at a mere position, an older block left behind the log's end could pass for the log's. Hardening comes after the unfinished ones were
//! looked up: a transaction that was finished then has its commit record on disk before the boot record says that
//! recovery need not read its beginning.

use crate::boot::Boot;
use crate::{Database, EngineError, Lsn, RecoveryModel};
use runtime::{clock, task};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::*};
use storage::FileHeader;
use telemetry::WaitType;
use transaction::{Bug, planted};

/// Pages per pass: what the double-write area takes.
const PASS_PAGES: usize = usize::MAX;
/// Log that recovery repeats in a second, at least: what TARGET_RECOVERY_TIME is reckoned by.
const REDO_BYTES_PER_S: u64 = 100 << 20;
/// How often background work looks around, in nanoseconds.
const ROUND_NS: u64 = 20_000_000;
const ROUND_BUSY_NS: u64 = 1_000_000;
/// How many times the pause between rounds doubles while the database is idle: a server may have hundreds of those.
const IDLE_DOUBLINGS: u32 = 4;
/// A pool of so many pages or less has nothing to give to others, nor to prepare: its lazy writer may be slow.
const SMALL_POOL_PAGES: usize = 1024;
/// How often the lazy writer does: its reserve lasts longer at any rate of inserts.
const LAZY_ROUND_NS: u64 = 5_000_000;
/// One in so many frames is kept free.
const FREE_FRAMES: usize = 64;

/// How long the database's own tasks pause between their rounds.
#[derive(Default)]
pub(crate) struct Pauses {
    background: Pause,
    lazy_writer: Pause,
}

/// One task's: longer while rounds find the same as the last one did, and nothing to do.
#[derive(Default)]
struct Pause {
    seen: AtomicU64,
    idle_rounds: AtomicU32,
}

impl Pause {
    /// Until the next round, in nanoseconds, after one that saw the database as `seen`.
    fn after_round(&self, busy: bool, seen: u64, round_ns: u64) -> u64 {
        if busy || self.seen.swap(seen, Relaxed) != seen {
            self.idle_rounds.store(0, Relaxed);
            return if busy { ROUND_BUSY_NS } else { round_ns };
        }
        let rounds = self.idle_rounds.fetch_add(1, Relaxed);
        // The first few are as before: what waits for a horizon, or for a second look, moves no tail.
        round_ns << (rounds / 8).min(IDLE_DOUBLINGS)
    }
}

impl Database {
    /// CHECKPOINT: writes dirty pages, moves the point from which recovery starts, frees log. Suspends.
    pub fn checkpoint(&self) -> Result<(), EngineError> {
        let _one = self.checkpointing.lock(WaitType::CheckpointQueue);
        self.checkpoint_locked()
    }

    pub(crate) fn checkpoint_locked(&self) -> Result<(), EngineError> {
        self.check()?;
        self.checkpoint_wanted.store(false, Release);
        let log = &self.shared.log;
        if let Err(e) = self.write_memory() {
            // The log keeps what could not be written: a full data file, say, does not keep pages from their places.
            self.check()?;
            self.note_error(&format!("rows in memory were not all written to pages: {e}"));
        }
        let begun = log.tail();
        let phase = self.recovery_phase();
        // Pages that are redone meanwhile have changes from before: they are not waited for.
        let recovering = self.is_recovering();
        let mut left = if recovering { self.pool.dirty_pages() } else { usize::MAX };
        while left > 0 {
            let written = self.pool.checkpoint_pass(begun, PASS_PAGES)?;
            self.figures.checkpoint_pages.fetch_add(written as u64, Relaxed);
            if written == 0 {
                break;
            }
            left = left.saturating_sub(written);
            task::maybe_yield();
        }
        self.carry_out_drops();
        self.repeat_drops()?;
        // Nothing above this record counts below.
        let mark = self.shared.log_checkpoint()?;
        // Recovery first: what it forgets meanwhile, the pool has.
        let pending = match planted(Bug::EagerCheckpoint) {
            true => Lsn::MAX,
            false => self.oldest_to_redo(),
        };
        let redo_from = self.pool.min_rec_lsn(mark).min(pending);
        // Memory trees last: one that is not there yet has nothing below the mark.
        let rows_from = match planted(Bug::EagerTruncation) {
            true => Lsn::MAX,
            false => self.memory_needs(),
        };
        let scan_from = self.oldest_needed(mark).min(redo_from).min(rows_from);
        log.flush()?;
        self.change_boot(|boot| {
            boot.redo_from = redo_from.max(boot.redo_from);
            boot.scan_from = scan_from.max(boot.scan_from);
        })?;
        self.checkpointed.store(begun.0, Release);
        self.figures.checkpoints.fetch_add(1, Relaxed);
        self.note_recovery_checkpoint(phase);
        self.truncate_log();
        Ok(())
    }

    pub(crate) fn truncate_log(&self) {
        let boot = self.boot.lock();
        let keep_from = match boot.recovery_model {
            RecoveryModel::Full | RecoveryModel::BulkLogged if !boot.backed_up.is_none() => {
                boot.scan_from.min(boot.backed_up)
            }
            _ => boot.scan_from,
        };
        drop(boot);
        let needed = Lsn(self.backup_needs.load(Acquire));
        self.shared.log.truncate(keep_from.min(needed));
        self.shared.log.set_reuse_wait(self.log_reuse_wait().1);
    }

    /// `log_reuse_wait` of sys.databases and its name: what keeps the oldest part of the log from being used again.
    pub fn log_reuse_wait(&self) -> (u8, &'static str) {
        let log = &self.shared.log;
        if log.active_vlfs() <= 1 {
            return (0, "NOTHING");
        }
        let tail = log.tail();
        let (scan_from, redo_from, backed_up) = {
            let boot = self.boot.lock();
            let chain = boot.recovery_model != RecoveryModel::Simple && !boot.backed_up.is_none();
            (boot.scan_from, boot.redo_from, if chain { boot.backed_up } else { Lsn::MAX })
        };
        let needed = Lsn(self.backup_needs.load(Acquire));
        if needed < Lsn::MAX && needed <= scan_from.min(backed_up) {
            (3, "ACTIVE_BACKUP_OR_RESTORE")
        } else if backed_up < scan_from {
            (2, "LOG_BACKUP")
        } else if self.oldest_needed(tail) < redo_from {
            (4, "ACTIVE_TRANSACTION")
        } else if self.memory_needs() < redo_from {
            (16, "XTP_CHECKPOINT")
        } else {
            (1, "CHECKPOINT")
        }
    }

    /// As if the log up to now had been backed up: BACKUP LOG to nowhere. Suspends.
    pub fn backup_log_nul(&self) -> Result<(), EngineError> {
        self.check()?;
        self.shared.log.flush()?;
        let upto = self.shared.log.durable();
        self.change_boot(|boot| {
            if !boot.backed_up.is_none() {
                boot.backed_up = upto;
            }
        })?;
        self.truncate_log();
        Ok(())
    }

    /// The log is full, and the caller waits for room: a checkpoint may make some. Suspends. False when one is under way,
    /// perhaps by this very task: what it began before the log was full makes less room.
    pub(crate) fn make_log_room(&self) -> bool {
        // Its records keep the log: until it is done no checkpoint frees any.
        self.recover_for_room();
        let Some(_one) = self.checkpointing.try_lock() else { return false };
        if let Err(e) = self.checkpoint_locked() {
            self.note_error(&format!("a checkpoint for a full log failed: {e}"));
        }
        true
    }

    /// Changes the boot record and writes it durably. Suspends.
    pub(crate) fn change_boot(&self, change: impl FnOnce(&mut Boot)) -> Result<(), EngineError> {
        let _one = self.boot_write.lock(WaitType::IoCompletion);
        let mut boot = self.boot.lock().clone();
        change(&mut boot);
        self.write_boot(&boot)?;
        *self.boot.lock() = boot;
        Ok(())
    }

    fn write_boot(&self, boot: &Boot) -> Result<(), EngineError> {
        let header = FileHeader {
            database_uuid: self.uuid,
            file_id: 1,
            filegroup: crate::PRIMARY,
            boot: boot.encode(self.primary.parent().unwrap_or(std::path::Path::new(""))),
        };
        Ok(storage::write_header(&*self.primary_file, &header)?)
    }

    /// One round of background work (checkpoint if due, cleaning pages, old versions). Returns after how many
    /// nanoseconds the next is due. Suspends.
    pub fn background_step(&self) -> u64 {
        if self.has_failed() {
            return ROUND_NS;
        }
        self.roll_back_orphans();
        self.shared.snapshots.advance(&self.shared.log);
        self.collect_versions();
        self.carry_out_drops();
        let mut busy = self.clean_ghosts();
        match self.recovery_step() {
            Ok(more) => busy |= more,
            Err(e) => self.fail_recovery(&e),
        }
        if let Err(e) = self.shared.log.maintain() {
            self.note_error(&format!("upkeep of the log: {e}"));
        }
        match self.store.grow_ahead() {
            Ok(grown) => busy |= grown,
            Err(e) => self.note_error(&format!("growing a data file: {e}")),
        }
        if let Err(e) = self.write_memory_if_due() {
            self.note_error(&format!("rows in memory were not written: {e}"));
        }
        if self.checkpoint_due()
            && let Err(e) = self.checkpoint()
        {
            self.note_error(&format!("a checkpoint failed: {e}"));
        }
        let tail = self.shared.log.tail().0;
        self.pause.background.after_round(busy, tail, ROUND_NS)
    }

    /// One round of the lazy writer: keeps frames free and touched ahead of need. Returns after how many nanoseconds the
    /// next is due. Suspends.
    pub fn lazy_writer_step(&self) -> u64 {
        if self.has_failed() {
            return ROUND_NS;
        }
        self.pool.follow_memory();
        let mut busy = self.pool.prefault_step();
        // What is ready is the process's: a simulated world does not depend on others before it.
        busy |= !runtime::sim::active() && runtime::chunks::step();
        let stats = self.pool.stats();
        match self.pool.evict_some((stats.frames / FREE_FRAMES).max(1)) {
            Ok(n) => busy |= n > 0,
            Err(e) => self.note_error(&format!("the cleaner of the buffer pool: {e}")),
        }
        busy |= self.pool.trim_step();
        let pages = stats.frames.saturating_sub(stats.free);
        // A large pool counts as another each time.
        let seen = if pages <= SMALL_POOL_PAGES { pages as u64 } else { clock::now_ns() };
        self.pause.lazy_writer.after_round(busy, seen, LAZY_ROUND_NS)
    }

    /// Drops old versions; at most a tenth of the time, as a long reader may keep very many of them.
    fn collect_versions(&self) {
        let begun = clock::now_ns();
        if begun >= self.collect_after_ns.load(Relaxed) {
            self.shared.collect();
            self.clean_memory();
            let took = clock::now_ns() - begun;
            self.collect_after_ns.store(begun + 10 * took, Relaxed);
        }
    }

    /// TARGET_RECOVERY_TIME in seconds; 0: as the options say. Remembered in the file. Suspends.
    pub fn set_target_recovery_time(&self, seconds: u64) -> Result<(), EngineError> {
        self.change_boot(|boot| boot.history.target_recovery_s = seconds)
    }

    /// See [`Database::set_target_recovery_time`].
    pub fn target_recovery_time(&self) -> u64 {
        self.boot.lock().history.target_recovery_s
    }

    /// DBCC SHRINKFILE of the log: gives what is free at its end back. Its length in bytes afterwards. Suspends.
    pub fn shrink_log(&self, target_bytes: u64) -> Result<u64, EngineError> {
        self.checkpoint()?;
        Ok(self.shared.log.shrink(target_bytes)?)
    }

    fn checkpoint_due(&self) -> bool {
        let tail = self.shared.log.tail();
        let most = match self.target_recovery_time() {
            0 => self.checkpoint_log_bytes,
            seconds => self.checkpoint_log_bytes.min(seconds.saturating_mul(REDO_BYTES_PER_S)),
        };
        tail.0 - self.checkpointed.load(Acquire).min(tail.0) > most
            || self.checkpoint_wanted.load(Acquire)
    }

    /// Rounds of background work until `stop` is set: the body of a task or thread that the owner starts.
    pub fn run_background(&self, stop: &AtomicBool) {
        while !stop.load(Acquire) {
            let pause = self.background_step();
            task::park(WaitType::DirtyPagePoll, Some(clock::now_ns() + pause));
        }
    }

    /// Rounds of the lazy writer until `stop` is set: the body of another one, since a checkpoint takes long and
    /// sessions want frames meanwhile.
    pub fn run_lazy_writer(&self, stop: &AtomicBool) {
        while !stop.load(Acquire) {
            let pause = self.lazy_writer_step();
            task::park(WaitType::LazyWriterSleep, Some(clock::now_ns() + pause));
        }
    }

    /// Where recovery would begin to read.
    pub fn recovery_start(&self) -> Lsn {
        self.boot.lock().scan_from
    }
}
