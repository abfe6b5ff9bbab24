//! A database that is open while the rest of its recovery goes on.
//!
//! ```text
//! opening: analysis --> losers that made or dropped trees undone --> open, recovering --> recovered
//!                 \--> little to redo: all of it, a checkpoint ---------------------------^
//! ```
//! While it is recovering, three things are still to be done, by background tasks ([`Database::run_recovery`]) and by
//! whoever needs them at once:
//! - *redo*: a page that lacks records is brought up to date when it is read in (`recovery::Redo`);
//! - *undo*: a loser's stamp is on each row that it has changed, and counts as that of an unfinished transaction: whoever
//!   meets it waits, and undoes some of the loser if nobody else is at it. All other rows are anybody's. Who locks a
//!   whole tree, or changes its schema, waits for all its losers;
//! - *a checkpoint*, so that none of it need be done again.
//!
//! Invariants:
//! 1. A checkpoint moves neither mark of the boot record over a record that a page may lack, nor over the first record
//!    of a loser that is not undone: after a second crash the same analysis finds the same work, less what was done.
//! 2. Losers are known (`transaction::XidTable::set_losers`) before anything looks at a stamp, and stay known: a row that
//!    was read with a loser's stamp is read again behind the undo. So only who asks for dirty reads ever sees what a
//!    loser has written, and no such row is changed but by the undo.
//! 3. One task undoes at a time (`undoing`), a few records, so that the others have their turns. A loser that cannot be undone, or a page that cannot be brought up to
//!    date, shuts the database: better stopped than wrong.

use crate::tree::TreesOf;
use crate::{Database, EngineError, Lsn, Tree};
use buffer_pool::{PoolError, TaskGuard, TaskMutex};
use mvcc::Xid;
use parking_lot::Mutex;
use recovery::{Loser, Progress, Redo, Step, Undo};
use runtime::{clock, task};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::*};
use telemetry::WaitType;

/// How often who waits for an undo looks again.
const LOOK_NS: u64 = 1_000_000;
/// Records undone at a time.
const UNDO_RECORDS: u64 = 512;

/// Where a database is with its recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum RecoveryPhase {
    /// Nothing was to be done, or all is done.
    #[default]
    Done = 0,
    /// Pages lack records, or transactions are to be undone.
    Recovering = 1,
    /// All is done but for the checkpoint that says so.
    Checkpoint = 2,
}

/// What recovery has done and has still to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecoveryReport {
    pub phase: RecoveryPhase,
    /// Records that analysis read, transactions found committed and found unfinished.
    pub records: u64,
    pub committed: u64,
    pub losers: u64,
    pub losers_left: u64,
    /// Bytes of log from the first record that a page lacked to the last; pages that lacked some, and that still do.
    pub redo_log_bytes: u64,
    pub pages: u64,
    pub pages_left: u64,
    /// Pages brought up to date because somebody asked for them.
    pub pages_demanded: u64,
    pub redo_records: u64,
    /// How long analysis took, from the first look at the files on; redo and undo, from the end of analysis on (0 while
    /// they are not done); in nanoseconds.
    pub analysis_ns: u64,
    pub redo_ns: u64,
    pub undo_ns: u64,
    /// The database opened before all was done.
    pub early: bool,
}

/// See the file.
pub(crate) struct Recovering {
    phase: AtomicU8,
    redo: Mutex<Option<Arc<Redo>>>,
    losers: Mutex<Vec<(Xid, Loser)>>,
    /// Those that have been begun.
    undoing: TaskMutex<HashMap<Xid, Undo>>,
    /// Of the list as it was; kept when it is gone.
    progress: Mutex<Progress>,
    records: AtomicU64,
    committed: AtomicU64,
    found_losers: AtomicU64,
    analysed_at_ns: AtomicU64,
    analysis_ns: AtomicU64,
    redo_ns: AtomicU64,
    undo_ns: AtomicU64,
    early: AtomicBool,
}

impl Default for Recovering {
    fn default() -> Self {
        Recovering {
            phase: AtomicU8::new(RecoveryPhase::Done as u8),
            redo: Mutex::new(None),
            losers: Mutex::default(),
            undoing: TaskMutex::new(HashMap::new()),
            progress: Mutex::default(),
            records: AtomicU64::new(0),
            committed: AtomicU64::new(0),
            found_losers: AtomicU64::new(0),
            analysed_at_ns: AtomicU64::new(0),
            analysis_ns: AtomicU64::new(0),
            redo_ns: AtomicU64::new(0),
            undo_ns: AtomicU64::new(0),
            early: AtomicBool::new(false),
        }
    }
}

impl Database {
    /// What analysis has found is to be done. Before anybody uses the database.
    pub(crate) fn begin_recovery(
        &self,
        redo: Arc<Redo>,
        found: &recovery::Analysis,
        analysis_ns: u64,
    ) {
        let r = &self.recovering;
        let mut losers: Vec<(Xid, Loser)> =
            found.losers.iter().map(|(xid, loser)| (*xid, loser.clone())).collect();
        // Taken from the end: the newest first.
        losers.sort_unstable_by_key(|(_, loser)| loser.last);
        r.records.store(found.records, Relaxed);
        r.committed.store(found.commits, Relaxed);
        r.found_losers.store(losers.len() as u64, Relaxed);
        r.analysed_at_ns.store(clock::now_ns(), Relaxed);
        r.analysis_ns.store(analysis_ns, Relaxed);
        *r.progress.lock() = redo.progress();
        self.shared.xids.set_losers(losers.iter().map(|(xid, _)| *xid).collect());
        *r.losers.lock() = losers;
        *r.redo.lock() = Some(redo);
        r.phase.store(RecoveryPhase::Recovering as u8, Release);
    }

    /// Users are about to come.
    pub(crate) fn recover_behind_users(&self) {
        self.recovering.early.store(true, Relaxed);
    }

    /// Whether some of its recovery is still to be done. Reading and writing work all the same.
    pub fn is_recovering(&self) -> bool {
        self.recovering.phase.load(Acquire) == RecoveryPhase::Recovering as u8
    }

    /// What recovery has done and has still to do. Cheap.
    pub fn recovery(&self) -> RecoveryReport {
        let r = &self.recovering;
        let redo = r.redo.lock().clone();
        let progress = match redo {
            Some(redo) => redo.progress(),
            None => *r.progress.lock(),
        };
        RecoveryReport {
            phase: match r.phase.load(Acquire) {
                0 => RecoveryPhase::Done,
                1 => RecoveryPhase::Recovering,
                _ => RecoveryPhase::Checkpoint,
            },
            records: r.records.load(Relaxed),
            committed: r.committed.load(Relaxed),
            losers: r.found_losers.load(Relaxed),
            losers_left: r.losers.lock().len() as u64,
            redo_log_bytes: progress.log_bytes,
            pages: progress.pages,
            pages_left: progress.left,
            pages_demanded: progress.demanded,
            redo_records: progress.applied,
            analysis_ns: r.analysis_ns.load(Relaxed),
            redo_ns: r.redo_ns.load(Relaxed),
            undo_ns: r.undo_ns.load(Relaxed),
            early: r.early.load(Relaxed),
        }
    }

    /// Some of what recovery has still to do. Whether there was something that nobody else is at: then it is worth
    /// calling again. Suspends.
    pub fn recovery_step(&self) -> Result<bool, EngineError> {
        if !self.is_recovering() {
            return Ok(false);
        }
        self.check()?;
        let r = &self.recovering;
        if let Some(undoing) = r.undoing.try_lock() {
            let next = r.losers.lock().last().map(|(xid, _)| *xid);
            if let Some(xid) = next {
                self.undo_some(undoing, xid)?;
                return Ok(true);
            }
        }
        let redo = r.redo.lock().clone();
        if let Some(redo) = redo {
            if !redo.is_done() {
                let step = redo.step(&self.pool).map_err(EngineError::from)?;
                let elsewhere = step.elsewhere;
                self.judge(&redo, step)?;
                if elsewhere && !redo.is_done() {
                    return Ok(false);
                }
            }
            if redo.is_done() {
                self.end_redo();
            }
            return Ok(true);
        }
        self.end_recovery();
        Ok(false)
    }

    /// All that is left of recovery, and the checkpoint behind it. Suspends.
    pub fn finish_recovery(&self) -> Result<(), EngineError> {
        if self.recovering.phase.load(Acquire) == RecoveryPhase::Done as u8 {
            return Ok(());
        }
        loop {
            if self.recovery_step()? {
                task::yield_now();
            } else if self.is_recovering() {
                // The last pages, or the last loser, are another task's.
                task::sleep_ns(LOOK_NS, WaitType::SleepTask);
            } else {
                return self.checkpoint();
            }
        }
    }

    /// As much of recovery as keeps a checkpoint from making room in the log. A loser that another task is at is not
    /// waited for: its undo may be what needs the room. Redo needs none. Suspends.
    pub(crate) fn recover_for_room(&self) {
        while self.is_recovering() {
            match self.recovery_step() {
                Ok(true) => {}
                Ok(false) if self.recovering.redo.lock().is_some() => {
                    task::sleep_ns(LOOK_NS, WaitType::SleepTask);
                }
                _ => return,
            }
        }
    }

    /// Works on recovery until it is done or `stop` is set: the body of tasks that the owner starts, as many as it
    /// likes. What fails shuts the database.
    pub fn run_recovery(&self, stop: &AtomicBool) {
        while !stop.load(Acquire) && !self.has_failed() {
            match self.recovery_step() {
                Ok(true) => task::yield_now(),
                Ok(false) if self.is_recovering() => {
                    task::sleep_ns(LOOK_NS, WaitType::SleepTask);
                }
                Ok(false) => return,
                Err(e) => {
                    self.fail_recovery(&e);
                    return;
                }
            }
        }
    }

    pub(crate) fn fail_recovery(&self, e: &EngineError) {
        if !self.has_failed() {
            self.fail(&format!("recovery could not be finished: Msg {}: {e}", e.number()));
        }
    }

    /// Pages that could not be brought up to date: harmless when nobody owns them, else the end.
    fn judge(&self, redo: &Redo, step: Step) -> Result<(), EngineError> {
        use buffer_pool::PageRedo;
        for damaged in step.damaged {
            let unread = matches!(damaged.error, PoolError::Checksum { .. });
            if unread && self.store.owner_of(damaged.page)?.is_none() {
                redo.done(damaged.page);
                continue;
            }
            return Err(damaged.error.into());
        }
        Ok(())
    }

    /// Some of a loser.
    fn undo_some(
        &self,
        mut undoing: TaskGuard<'_, HashMap<Xid, Undo>>,
        xid: Xid,
    ) -> Result<(), EngineError> {
        let r = &self.recovering;
        let found = r.losers.lock().iter().find(|(x, _)| *x == xid).cloned();
        let Some((_, loser)) = found else { return Ok(()) };
        let undo = undoing.entry(xid).or_insert_with(|| Undo::new(&self.shared, xid, &loser));
        match undo.step(&self.shared, &TreesOf(self), UNDO_RECORDS) {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(e) => {
                let e = EngineError::from(e);
                self.fail_recovery(&e);
                return Err(e);
            }
        }
        undoing.remove(&xid);
        let mut losers = r.losers.lock();
        losers.retain(|(x, _)| *x != xid);
        if losers.is_empty() {
            r.undo_ns.store(self.since_analysis_ns(), Relaxed);
        }
        Ok(())
    }

    /// Undoes the losers that have made or dropped trees: nobody else may get pages before them.
    pub(crate) fn undo_shapes(&self) -> Result<(), EngineError> {
        let r = &self.recovering;
        loop {
            let next = r.losers.lock().iter().rev().find(|(_, l)| l.shapes).map(|(x, _)| *x);
            match next {
                Some(xid) => self.undo_some(r.undoing.lock(WaitType::SleepTask), xid)?,
                None => return Ok(()),
            }
        }
    }

    /// Waits until a loser is undone. `late`: whether the wait is to end, and how.
    pub(crate) fn await_loser(
        &self,
        xid: Xid,
        late: &mut dyn FnMut() -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let r = &self.recovering;
        loop {
            self.check()?;
            {
                let mut losers = r.losers.lock();
                let Some(at) = losers.iter().position(|(x, _)| *x == xid) else { return Ok(()) };
                // The next one to be undone, by us or by whoever comes.
                losers[at..].rotate_left(1);
            }
            late()?;
            match r.undoing.try_lock() {
                Some(undoing) => {
                    self.undo_some(undoing, xid)?;
                    self.end_recovery();
                    task::maybe_yield();
                }
                None => task::sleep_ns(LOOK_NS, WaitType::SleepTask),
            }
        }
    }

    /// Waits until no loser has a change in `tree`.
    pub(crate) fn await_losers_of(
        &self,
        tree: &Tree,
        late: &mut dyn FnMut() -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let number = tree.number();
        loop {
            let losers = self.recovering.losers.lock();
            let next = losers.iter().rev().find(|(_, l)| l.trees.contains(&number));
            let Some(xid) = next.map(|(xid, _)| *xid) else { return Ok(()) };
            drop(losers);
            self.await_loser(xid, late)?;
        }
    }

    fn since_analysis_ns(&self) -> u64 {
        clock::now_ns().saturating_sub(self.recovering.analysed_at_ns.load(Relaxed)).max(1)
    }

    /// No page lacks anything any more.
    fn end_redo(&self) {
        let r = &self.recovering;
        let Some(redo) = r.redo.lock().take() else { return };
        *r.progress.lock() = redo.progress();
        self.pool.set_redo(None);
        r.redo_ns.store(self.since_analysis_ns(), Relaxed);
    }

    /// Notes that all is done, if it is.
    fn end_recovery(&self) {
        let r = &self.recovering;
        if r.redo.lock().is_some() || !r.losers.lock().is_empty() {
            return;
        }
        let (now, next) = (RecoveryPhase::Recovering as u8, RecoveryPhase::Checkpoint as u8);
        if r.phase.compare_exchange(now, next, AcqRel, Acquire).is_ok() {
            // By the task whose business it is.
            self.checkpoint_wanted.store(true, Release);
        }
    }

    /// A checkpoint has ended that began when recovery was as `phase` says.
    pub(crate) fn note_recovery_checkpoint(&self, phase: u8) {
        if phase == RecoveryPhase::Checkpoint as u8 {
            self.recovering.phase.store(RecoveryPhase::Done as u8, Release);
        }
    }

    pub(crate) fn recovery_phase(&self) -> u8 {
        self.recovering.phase.load(Acquire)
    }

    /// The oldest record that a page may lack. To be asked before the pool is asked for its `min_rec_lsn`.
    pub(crate) fn oldest_to_redo(&self) -> Lsn {
        let redo = self.recovering.redo.lock().clone();
        redo.and_then(|redo| redo.oldest()).unwrap_or(Lsn::MAX)
    }

    /// The first record of a loser that is not undone.
    pub(crate) fn oldest_to_undo(&self) -> Lsn {
        let losers = self.recovering.losers.lock();
        losers.iter().map(|(_, loser)| loser.first).min().unwrap_or(Lsn::MAX)
    }
}
