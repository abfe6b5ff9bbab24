//! What a transaction reads: by snapshots, or the newest row under its lock (`locking.rs` has the locking levels).

use crate::gaps::{Newest, name_of};
use crate::locking::{Reads, Walk};
use crate::{EngineError, Lsn, ReadOptions, Scan, ScanOptions, Tree, Txn};
use lock_manager::{KeyMode, TableMode};
use mvcc::{Stamp, Visibility, XidStatus, visible};
use std::ops::Bound;
use std::sync::atomic::Ordering::*;
use storage::Found;
use transaction::{Bug, VersionSeen, planted};

/// How far the commits go that a transaction has seen. See [`Txn::reader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    must_harden: Lsn,
    saw: Lsn,
}

impl Seen {
    /// What both have seen.
    pub fn and(self, other: Seen) -> Seen {
        Seen { must_harden: self.must_harden.max(other.must_harden), saw: self.saw.max(other.saw) }
    }
}

impl Txn {
    /// The row under `key` as this statement sees it, into `row` (replaced). False if there is none.
    #[inline]
    pub fn get(&mut self, tree: &Tree, key: &[u8], row: &mut Vec<u8>) -> Result<bool, EngineError> {
        self.get_with(tree, key, ReadOptions::default(), row)
    }

    /// The same, with hints.
    pub fn get_with(
        &mut self,
        tree: &Tree,
        key: &[u8],
        options: ReadOptions,
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        if let Some(memory) = tree.memory() {
            return self.memory_get(tree, memory, key, options, row);
        }
        let reads = self.reads(options)?;
        if !matches!(reads, Reads::Dirty | Reads::Versions) {
            return self.get_newest(tree, key, options, reads, row);
        }
        self.enter(tree, TableMode::SchemaStability)?;
        tree.count_lookup_of(options);
        let nolock = reads == Reads::Dirty;
        let snapshot = if nolock { Lsn::MAX } else { self.snapshot() };
        let found = tree.inner.tree.lookup(key, row).map_err(|e| self.doom(e.into()))?;
        let Some(stamp) = found else { return Ok(false) };
        if nolock {
            return Ok(!stamp.is_ghost());
        }
        Ok(match self.sees(stamp, snapshot) {
            Visibility::Visible => true,
            Visibility::Older if self.may_have_older(stamp) => {
                self.older(tree, key, stamp, snapshot, row)?
            }
            _ => false,
        })
    }

    /// One row by a level that locks.
    #[cold]
    fn get_newest(
        &mut self,
        tree: &Tree,
        key: &[u8],
        options: ReadOptions,
        reads: Reads,
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        tree.count_lookup_of(options);
        let waiting = self.wait_as(options.no_wait);
        let found = (|| {
            let (mode, brief) = reads.table_lock();
            self.enter_for(tree, mode, brief)?;
            if let Reads::Locked { gaps, .. } = reads {
                if gaps {
                    self.guard_gaps(tree);
                }
                return self.get_locked(tree, key, options, reads, row);
            }
            loop {
                let found = tree.inner.tree.lookup(key, row).map_err(|e| self.doom(e.into()))?;
                match found.map(|stamp| self.newest(stamp)) {
                    None | Some(Newest::Gone { .. }) => return Ok(false),
                    Some(Newest::Row(csn)) => {
                        self.context.note_seen(csn);
                        return Ok(true);
                    }
                    Some(Newest::Unfinished(_)) if options.read_past => return Ok(false),
                    Some(Newest::Unfinished(xid)) => self.wait_for(tree, xid, KeyMode::UPDATE)?,
                }
            }
        })();
        self.no_wait = waiting;
        found
    }

    /// Takes the X lock of the row and reads its newest committed (or own) state: what UPDATE and DELETE look at
    /// after the scan has found the row, which has counted it.
    pub fn read_latest_locked(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        let again = ReadOptions { again: true, ..ReadOptions::default() };
        self.lock_latest(tree, key, false, again, row)
    }

    /// Takes the X lock of the row (`update`: the U lock, for UPDLOCK) to the end of the transaction, and reads its
    /// newest committed (or own) state. False when there is none, or when READPAST skips it.
    pub fn lock_latest(
        &mut self,
        tree: &Tree,
        key: &[u8],
        update: bool,
        options: ReadOptions,
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        if let Some(memory) = tree.memory() {
            // Nothing is locked: who changes it finds out whether it may.
            return self.memory_get(tree, memory, key, options, row);
        }
        self.enter(tree, TableMode::IntentExclusive)?;
        let waiting = self.wait_as(options.no_wait);
        tree.count_lookup_of(options);
        let mode = if update { KeyMode::UPDATE } else { KeyMode::EXCLUSIVE };
        let mut found = Found::default();
        std::mem::swap(&mut found.row, row);
        let there = self.lock_and_find(tree, key, mode, options.read_past, &mut found);
        *row = found.row;
        self.no_wait = waiting;
        there
    }

    pub(crate) fn lock_and_find(
        &mut self,
        tree: &Tree,
        key: &[u8],
        mode: KeyMode,
        read_past: bool,
        place: &mut Found,
    ) -> Result<bool, EngineError> {
        let name = name_of(tree.number(), key);
        loop {
            let gained = if read_past {
                let Some(g) = self.shared.locks.try_lock_key(&mut self.held, name, mode) else {
                    return Ok(false);
                };
                g
            } else {
                self.lock_name(tree, name, mode)?
            };
            let found = tree.inner.tree.look(key, place).map_err(|e| self.doom(e.into()))?;
            match found.map(|stamp| self.newest(stamp)) {
                Some(Newest::Row(csn)) => {
                    self.context.note_seen(csn);
                    self.check_conflict(csn)?;
                    self.perhaps_escalate(tree, gained);
                    return Ok(true);
                }
                Some(Newest::Unfinished(xid)) => {
                    // An insert, whose writer may want this lock.
                    self.shared.locks.unlock_key(&mut self.held, name, gained);
                    if read_past {
                        return Ok(false);
                    }
                    self.wait_for(tree, xid, mode)?;
                }
                None | Some(Newest::Gone { .. }) => {
                    let gone = found.and_then(|s| self.ghost_csn(s));
                    self.shared.locks.unlock_key(&mut self.held, name, gained);
                    if let Some(csn) = gone {
                        self.context.note_seen(csn);
                        self.check_conflict(csn)?;
                    }
                    return Ok(false);
                }
            }
        }
    }

    /// SNAPSHOT: 3960 when the row has changed since.
    fn check_conflict(&mut self, csn: Lsn) -> Result<(), EngineError> {
        if self.is_snapshot() && csn >= self.snapshot() && !planted(Bug::NoConflicts) {
            return Err(self.doom(EngineError::SnapshotConflict));
        }
        Ok(())
    }

    /// When a row deleted by somebody else was.
    fn ghost_csn(&self, stamp: Stamp) -> Option<Lsn> {
        match stamp.xid() {
            None => stamp.csn(),
            Some(xid) if xid == self.context.xid() => None,
            Some(xid) => match self.shared.xids.status(xid) {
                XidStatus::Committed(csn) => Some(csn),
                _ => None,
            },
        }
    }

    /// Starts a scan between two keys. Bounds are copied.
    pub fn scan(
        &mut self,
        tree: &Tree,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        options: ScanOptions,
    ) -> Result<Scan, EngineError> {
        if let Some(memory) = tree.memory() {
            let memory = self.memory_scan(tree, memory, (lower, upper), options)?;
            return Ok(Scan {
                memory: Some(Box::new(memory)),
                inner: tree.inner.tree.scan(lower, upper, options.reverse),
                tree: tree.clone(),
                reads: Reads::Versions,
                options: options.read,
                reverse: options.reverse,
                snapshot: Lsn::NONE,
                upper: Bound::Unbounded,
                walk: Walk::default(),
                key: Vec::new(),
                row: Vec::new(),
                spots: Vec::new(),
            });
        }
        tree.count_scan();
        let reads = self.reads(options.read)?;
        let (mode, brief) = reads.table_lock();
        let waiting = self.wait_as(options.read.no_wait);
        let entered = self.enter_for(tree, mode, brief);
        self.no_wait = waiting;
        entered?;
        let snapshot = if reads == Reads::Versions { self.snapshot() } else { Lsn::MAX };
        let gaps = matches!(reads, Reads::Locked { gaps: true, .. });
        // The row above the range is wanted too, for the gap below it.
        let end = if gaps && !options.reverse { Bound::Unbounded } else { upper };
        let mut inner = tree.inner.tree.scan(lower, end, options.reverse);
        if gaps {
            self.guard_gaps(tree);
            inner.latch_leaves();
        }
        Ok(Scan {
            memory: None,
            inner,
            tree: tree.clone(),
            reads,
            options: options.read,
            reverse: options.reverse,
            snapshot,
            upper: if gaps { upper.map(<[u8]>::to_vec) } else { Bound::Unbounded },
            walk: Walk::default(),
            key: Vec::new(),
            row: Vec::new(),
            spots: Vec::new(),
        })
    }

    /// Begins a scan anew between two other keys, as [`Txn::scan`] would, in the memory of one that is done. False, and
    /// nothing is done, where it has to be made anew: it takes locks, or reads memory.
    pub fn scan_again(
        &mut self,
        scan: &mut Scan,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
    ) -> Result<bool, EngineError> {
        let reads = self.reads(scan.options)?;
        if scan.memory.is_some() || !scan.can_visit() || reads != scan.reads {
            return Ok(false);
        }
        let (mode, brief) = reads.table_lock();
        let waiting = self.wait_as(scan.options.no_wait);
        let entered = self.enter_for(&scan.tree, mode, brief);
        self.no_wait = waiting;
        entered?;
        scan.snapshot = if reads == Reads::Versions { self.snapshot() } else { Lsn::MAX };
        scan.tree.count_scan();
        scan.inner.begin_between(lower, upper);
        Ok(true)
    }

    /// Locks the table in a mode that every user of its pages takes, and checks that it is still there.
    #[inline]
    pub(crate) fn enter(&mut self, tree: &Tree, mode: TableMode) -> Result<(), EngineError> {
        self.enter_for(tree, mode, false)
    }

    /// The same; a `brief` lock goes with the statement.
    #[inline]
    pub(crate) fn enter_for(
        &mut self,
        tree: &Tree,
        mode: TableMode,
        brief: bool,
    ) -> Result<(), EngineError> {
        self.check()?;
        if self.is_snapshot() && self.txn_snapshot.is_none() {
            self.check_snapshot_allowed()?;
        }
        if self.is_reader {
            return if tree.is_current() { Ok(()) } else { Err(EngineError::NoSuchTree) };
        }
        let number = tree.number();
        let brief = brief || mode == TableMode::SchemaStability;
        let covered = if brief {
            self.held.covers_table(number, mode)
        } else {
            self.held.covers_table_to_the_end(number, mode)
        };
        if !covered {
            let timeout = self.timeout_ns();
            self.shared.log.give_back();
            let locks = &self.shared.locks;
            let locked = locks.take_table(&mut self.held, number, mode, brief, timeout);
            locked.map_err(|e| self.doom(e.into()))?;
            // Who has the whole table to itself waits for those who change rows of it, and losers are still at it.
            if is_whole(mode) && self.db.is_recovering() {
                self.await_losers_of(tree)?;
            }
        }
        if tree.is_current() || self.reshapes(tree) { Ok(()) } else { Err(EngineError::NoSuchTree) }
    }

    #[cold]
    fn check_snapshot_allowed(&self) -> Result<(), EngineError> {
        if self.options.too_late_for_snapshot {
            return Err(EngineError::SnapshotTooLate);
        }
        if self.db.allow_snapshot_isolation() {
            Ok(())
        } else {
            Err(EngineError::SnapshotNotAllowed)
        }
    }

    /// The snapshot to read by now; taken when the statement has none yet. Outside of a statement each call takes a
    /// new one, which holds old versions until the end of the transaction.
    #[inline]
    pub(crate) fn snapshot(&mut self) -> Lsn {
        if let Some(snapshot) = self.txn_snapshot
            && !planted(Bug::MovingSnapshot)
        {
            return snapshot;
        }
        if let Some(Some(snapshot)) = self.statements.last().map(|s| s.snapshot) {
            return snapshot;
        }
        let snapshot = self.take_snapshot();
        if self.is_snapshot() {
            self.txn_snapshot = Some(snapshot);
            let from = if planted(Bug::NoConflicts) { None } else { Some(snapshot) };
            self.context.set_conflict_from(from);
        } else if let Some(statement) = self.statements.last_mut() {
            statement.snapshot = Some(snapshot);
        }
        snapshot
    }

    /// A transaction for another task that reads what the statement in progress reads, at the same moment. It takes no
    /// locks: this one has entered every tree that the reader is to read ([`Txn::enter_for_read`]), and outlives it.
    /// `None` where that does not do: this one has changed something, which only it sees.
    pub fn reader(&mut self) -> Option<Txn> {
        if self.has_written() || !self.is_active() || self.is_doomed() {
            return None;
        }
        let snapshot = self.snapshot();
        let mut reader = Txn::new(self.db.clone(), self.options);
        reader.begin();
        reader.is_reader = true;
        reader.txn_snapshot = Some(snapshot);
        reader.durable_then = self.durable_then;
        Some(reader)
    }

    /// What it has seen of others' commits.
    pub fn has_seen(&self) -> Seen {
        Seen { must_harden: self.must_harden, saw: self.context.saw() }
    }

    /// A full commit waits for what a reader has seen too.
    pub fn note_seen(&mut self, seen: Seen) {
        self.must_harden = self.must_harden.max(seen.must_harden);
        self.context.note_seen(seen.saw);
    }

    /// A reader has done.
    pub fn take_back(&mut self, mut reader: Txn) {
        debug_assert!(reader.is_reader);
        self.note_seen(reader.has_seen());
        reader.finish();
    }

    fn take_snapshot(&mut self) -> Lsn {
        let log = &self.shared.log;
        let mut by_durable = false;
        // Asked when others know of this reader: see `Shared::keep_all`.
        let read = || {
            by_durable = self.shared.read_durable.load(SeqCst);
            if by_durable { log.durable() } else { log.tail() }
        };
        let snapshot =
            if self.published { self.cell.take_another(read) } else { self.cell.take(read) };
        self.published = true;
        self.durable_then = if by_durable { Lsn::MAX } else { log.durable() };
        snapshot
    }

    /// Whether this transaction sees a row stamped so; notes what a full commit must wait for.
    #[inline]
    pub(crate) fn sees(&mut self, stamp: Stamp, snapshot: Lsn) -> Visibility {
        if planted(Bug::DirtyReads) {
            return if stamp.is_ghost() { Visibility::VisibleGhost } else { Visibility::Visible };
        }
        loop {
            let mut csn = stamp.csn().unwrap_or(Lsn::NONE);
            let xids = &self.shared.xids;
            let seen = visible(stamp, snapshot, self.context.xid(), |xid| {
                let status = xids.status(xid);
                if let XidStatus::Committed(at) = status {
                    csn = at;
                }
                status
            });
            match seen {
                Visibility::Spin => std::hint::spin_loop(),
                Visibility::Older => return seen,
                _ => {
                    if csn >= self.durable_then {
                        self.must_harden = self.must_harden.max(snapshot);
                    }
                    return seen;
                }
            }
        }
    }

    /// Whether a row that this snapshot does not see may have a version that it does.
    #[inline]
    pub(crate) fn may_have_older(&self, stamp: Stamp) -> bool {
        stamp.has_older() || stamp.xid().is_some_and(|xid| self.shared.xids.is_loser(xid))
    }

    /// Looks for the version of a row stamped `stamp` that this snapshot sees, into `row`. What a loser wrote is waited
    /// for: the version before it went with the crash, and comes back with the undo.
    #[cold]
    pub(crate) fn older(
        &mut self,
        tree: &Tree,
        key: &[u8],
        mut stamp: Stamp,
        snapshot: Lsn,
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        while let Some(xid) = stamp.xid().filter(|xid| self.shared.xids.is_loser(*xid)) {
            self.await_loser(xid)?;
            let found = tree.inner.tree.lookup(key, row).map_err(|e| self.doom(e.into()))?;
            let Some(now) = found else { return Ok(false) };
            match self.sees(now, snapshot) {
                Visibility::Visible => return Ok(true),
                // Undone, it has no row any more: recovery has left one out, and to wait again would be for ever.
                Visibility::Older if now.xid() == Some(xid) => {
                    let what = format!("a row of transaction {} outlasted its being undone", xid.0);
                    return Err(self.doom(EngineError::LogCorrupt { what }));
                }
                Visibility::Older => stamp = now,
                _ => return Ok(false),
            }
        }
        if !stamp.has_older() {
            return Ok(false);
        }
        let xids = &self.shared.xids;
        let found = self.shared.versions.read(
            tree.number(),
            key,
            snapshot,
            self.context.xid(),
            |xid| xids.status(xid),
            row,
        );
        match found {
            VersionSeen::Row(stamp) => {
                // Counts it among what has been seen.
                self.sees(stamp, snapshot);
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// A lock of the table itself, in the way of whoever changes a row.
fn is_whole(mode: TableMode) -> bool {
    use TableMode::{IntentExclusive, IntentShared, SchemaStability};
    !matches!(mode, SchemaStability | IntentShared | IntentExclusive)
}
