//! What all transactions of a database share, and the log as storage's housekeeping sees it.

use crate::envelope::{self, Kind};
use crate::{Ghosts, Snapshots, VersionStore, XidTable};
use lock_manager::LockManager;
use log_manager::{Lease, Log, LogError, Lsn, record_bytes};
use runtime::clock;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use storage::{Logged, OpHeader, PageOp, SystemLog};
use telemetry::{Counter, counters};

/// One per open database.
pub struct Shared {
    pub log: Arc<Log>,
    pub xids: XidTable,
    pub snapshots: Snapshots,
    pub versions: VersionStore,
    pub ghosts: Ghosts,
    pub locks: LockManager,
    /// Readers read as of the durable LSN: no commit that they see can be lost.
    pub read_durable: AtomicBool,
    /// Every change keeps the version before it, whoever reads: on whenever `read_durable` is, and a little longer at
    /// both ends, so that no reader takes a snapshot below a change that has kept none.
    pub keep_all: AtomicBool,
}

impl Shared {
    pub fn new(log: Arc<Log>, epoch: u16, ring_len: usize) -> Shared {
        Shared {
            log,
            xids: XidTable::new(epoch, ring_len),
            snapshots: Snapshots::default(),
            versions: VersionStore::default(),
            ghosts: Ghosts::default(),
            locks: LockManager::new(),
            read_durable: AtomicBool::new(false),
            keep_all: AtomicBool::new(true),
        }
    }

    /// Whether nobody's snapshot, taken or to be taken, is below a record that has been appended before the call.
    #[inline]
    pub(crate) fn are_all_above(&self) -> bool {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        !self.keep_all.load(std::sync::atomic::Ordering::SeqCst) && !self.snapshots.are_read()
    }

    /// The same of the record at `at`, which may be durable by now: then snapshots as of the durable LSN are above it.
    #[inline]
    pub(crate) fn are_all_above_at(&self, at: Lsn) -> bool {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        (!self.keep_all.load(std::sync::atomic::Ordering::SeqCst) || self.log.durable() > at)
            && !self.snapshots.are_read()
    }

    /// A lease for a record of `payload` bytes. A full log asks for a checkpoint and waits by itself.
    #[inline]
    pub fn lease(&self, payload: usize, kind: Lease) -> Result<(), LogError> {
        self.log.ensure_lease(record_bytes(payload), kind)
    }

    /// Collects old versions and forgotten states. One step of background work.
    pub fn collect(&self) -> u64 {
        let (gone, horizon) = self.collect_versions();
        self.xids.trim(horizon);
        gone
    }

    /// Collects old versions alone; how many, and the horizon. Anybody may, at any time.
    pub fn collect_versions(&self) -> (u64, Lsn) {
        let in_use = self.snapshots.advance(&self.log);
        (self.versions.collect(&in_use, &self.xids, &self.ghosts), in_use.horizon)
    }
}

/// Microseconds since 1970, for commit records.
#[inline]
pub(crate) fn wall_us() -> u64 {
    clock::brisk_unix_ns() / 1000
}

/// [`SystemLog`] over a log. Its records may use the reserve for rollbacks: they are what makes undoing possible.
pub struct LogOfStore(pub Arc<Log>);

impl SystemLog for LogOfStore {
    fn ensure(&self, bytes: usize) -> Result<(), LogError> {
        let bytes = record_bytes(bytes + envelope::SYSTEM_ENVELOPE_BYTES);
        self.0.ensure_lease(bytes, Lease::Rollback)
    }

    fn log(&self, op: &PageOp<'_>) -> Logged {
        let envelope = envelope::short(Kind::System, 0);
        let mut header = OpHeader::new();
        let [a, b, c, d, e] = op.encode(&mut header);
        let at = self.0.append(&[&envelope, a, b, c, d, e]);
        counters::add(Counter::LogRecords, 1);
        Logged { stamp: mvcc::Stamp::frozen(), start: at.start, end: at.end }
    }
}

impl Shared {
    /// Logs a checkpoint; where.
    pub fn log_checkpoint(&self) -> Result<Lsn, LogError> {
        self.lease(envelope::SYSTEM_ENVELOPE_BYTES, Lease::Rollback)?;
        Ok(self.log.append(&[&envelope::short(Kind::Checkpoint, wall_us())]).start)
    }

    /// Logs what has become of a dropped tree: [`Kind::DropPending`] or [`Kind::DropDone`].
    pub fn log_drop(&self, kind: Kind, tree: u64) -> Result<Lsn, LogError> {
        self.lease(envelope::SYSTEM_ENVELOPE_BYTES + 8, Lease::Rollback)?;
        Ok(self.log.append(&[&envelope::short(kind, 0), &tree.to_le_bytes()]).start)
    }
}
