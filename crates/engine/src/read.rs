//! What a transaction reads: by snapshots, or the newest row under its lock.

use crate::{EngineError, Isolation, Lsn, Scan, ScanOptions, Tree, Txn};
use lock_manager::TableMode;
use mvcc::{Stamp, Visibility, XidStatus, visible};
use std::ops::Bound;
use std::sync::atomic::Ordering::*;
use transaction::VersionSeen;

impl Txn {
    /// The row under `key` as this statement sees it, into `row` (replaced). False if there is none.
    pub fn get(&mut self, tree: &Tree, key: &[u8], row: &mut Vec<u8>) -> Result<bool, EngineError> {
        self.enter(tree, TableMode::SchemaStability)?;
        let nolock = self.options.isolation == Isolation::ReadUncommitted;
        let snapshot = if nolock { Lsn::MAX } else { self.snapshot() };
        let found = tree.inner.tree.lookup(key, row).map_err(|e| self.doom(e.into()))?;
        let Some(stamp) = found else { return Ok(false) };
        if nolock {
            return Ok(!stamp.is_ghost());
        }
        Ok(match self.sees(stamp, snapshot) {
            Visibility::Visible => true,
            Visibility::Older if stamp.has_older() => {
                matches!(self.older(tree.number(), key, snapshot, row), VersionSeen::Row(_))
            }
            _ => false,
        })
    }

    /// Takes the X lock of the row and reads its newest committed (or own) state: what UPDATE and DELETE (and
    /// UPDLOCK/XLOCK) look at after the scan has found the row.
    pub fn read_latest_locked(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        self.enter(tree, TableMode::IntentExclusive)?;
        self.lock_row(tree, key)?;
        loop {
            let found = tree.inner.tree.lookup(key, row).map_err(|e| self.doom(e.into()))?;
            let Some(stamp) = found else { return Ok(false) };
            let csn = match stamp.xid() {
                Some(xid) if xid == self.context.xid() => return Ok(!stamp.is_ghost()),
                Some(xid) => match self.shared.xids.status(xid) {
                    XidStatus::Committed(csn) => csn,
                    _ => {
                        self.wait_for(xid)?;
                        continue;
                    }
                },
                None => stamp.csn().unwrap_or(Lsn::NONE),
            };
            self.context.note_seen(csn);
            if self.is_snapshot() && csn >= self.snapshot() {
                return Err(self.doom(EngineError::SnapshotConflict));
            }
            return Ok(!stamp.is_ghost());
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
        self.enter(tree, TableMode::SchemaStability)?;
        let nolock = options.nolock || self.options.isolation == Isolation::ReadUncommitted;
        let snapshot = if nolock { Lsn::MAX } else { self.snapshot() };
        Ok(Scan {
            inner: tree.inner.tree.scan(lower, upper, options.reverse),
            tree: tree.clone(),
            snapshot,
            nolock,
            key: Vec::new(),
            row: Vec::new(),
        })
    }

    /// Locks the table in a mode that every user of its pages takes, and checks that it is still there.
    #[inline]
    pub(crate) fn enter(&mut self, tree: &Tree, mode: TableMode) -> Result<(), EngineError> {
        self.check()?;
        let number = tree.number();
        if !self.held.covers_table(number, mode) {
            let timeout = self.timeout_ns();
            let locked = self.shared.locks.lock_table(&mut self.held, number, mode, timeout);
            locked.map_err(|e| self.doom(e.into()))?;
        }
        if tree.inner.dropped.load(Acquire) { Err(EngineError::NoSuchTree) } else { Ok(()) }
    }

    /// The snapshot to read by now; taken when the statement has none yet. Outside of a statement each call takes a
    /// new one, which holds old versions until the end of the transaction.
    #[inline]
    pub(crate) fn snapshot(&mut self) -> Lsn {
        if let Some(snapshot) = self.txn_snapshot {
            return snapshot;
        }
        if let Some(Some(snapshot)) = self.statements.last().map(|s| s.snapshot) {
            return snapshot;
        }
        let snapshot = self.take_snapshot();
        if self.is_snapshot() {
            self.txn_snapshot = Some(snapshot);
            self.context.set_conflict_from(Some(snapshot));
        } else if let Some(statement) = self.statements.last_mut() {
            statement.snapshot = Some(snapshot);
        }
        snapshot
    }

    fn take_snapshot(&mut self) -> Lsn {
        let log = &self.shared.log;
        let by_durable = self.shared.read_durable.load(Relaxed);
        let read = || if by_durable { log.durable() } else { log.tail() };
        // An older snapshot of ours in the cell protects a newer one as well.
        let snapshot = if self.published { read() } else { self.cell.take(read) };
        self.published = true;
        self.durable_then = if by_durable { Lsn::MAX } else { log.durable() };
        snapshot
    }

    /// Whether this transaction sees a row stamped so; notes what a full commit must wait for.
    #[inline]
    pub(crate) fn sees(&mut self, stamp: Stamp, snapshot: Lsn) -> Visibility {
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

    /// Looks for the version of a row that this snapshot sees.
    #[cold]
    pub(crate) fn older(
        &mut self,
        tree: u64,
        key: &[u8],
        snapshot: Lsn,
        row: &mut Vec<u8>,
    ) -> VersionSeen {
        let xids = &self.shared.xids;
        let found = self.shared.versions.read(
            tree,
            key,
            snapshot,
            self.context.xid(),
            |xid| xids.status(xid),
            row,
        );
        if let VersionSeen::Row(stamp) = found {
            // Counts it among what has been seen.
            self.sees(stamp, snapshot);
        }
        found
    }
}
