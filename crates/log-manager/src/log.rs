//! The log's front door.

use crate::{Lease, LogConfig, LogError, LogReader, Lsn, Reserve, Writer};
use device::FileSystem;
use std::path::Path;
use std::sync::Arc;

/// Where a record went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Appended {
    /// Its first byte.
    pub start: Lsn,
    /// One past its last byte, padding included.
    pub end: Lsn,
}

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
    pub submitted_ns: u64,
    pub completed_ns: u64,
    pub bytes: u64,
}

/// Figures since the log was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogStats {
    pub flushes: u64,
    pub bytes_flushed: u64,
    pub pad_bytes: u64,
    pub flush_waits: u64,
    pub writes_outstanding: u64,
    pub growths: u64,
    pub tail: u64,
    pub durable: u64,
}

/// Whoever must not write a page before its log is durable asks through this.
pub trait Harden: Send + Sync {
    /// Everything below is durable.
    fn durable(&self) -> Lsn;
    /// Suspends until everything below `upto` is durable.
    fn wait_durable(&self, upto: Lsn) -> Result<(), LogError>;
}

/// The log of one database.
pub struct Log {}

impl Log {
    /// Makes a log file whose stream begins at `start` (rounded up to a block; never 0). Replaces nothing: the file
    /// must not exist. Suspends.
    pub fn create(
        fs: &dyn FileSystem,
        path: &Path,
        cfg: LogConfig,
        start: Lsn,
    ) -> Result<Arc<Log>, LogError> {
        let _ = (fs, path, cfg, start);
        unimplemented!()
    }

    /// Opens a log, finds its end reading from `from` (the start of a record, or [`Lsn::NONE`] for the oldest block
    /// kept), and gives a reader over `from..end`. The log goes on behind the end on a fresh block. Suspends.
    pub fn open(
        fs: &dyn FileSystem,
        path: &Path,
        cfg: LogConfig,
        from: Lsn,
    ) -> Result<(Arc<Log>, LogReader), LogError> {
        let _ = (fs, path, cfg, from);
        unimplemented!()
    }

    /// Makes sure that the calling slot may append records of `bytes` in all (see [`crate::record_bytes`]; at most
    /// [`crate::RECORD_BYTES_MAX`]) before it next suspends. May suspend itself (LOGBUFFER, LOGMGR_RESERVE_APPEND).
    pub fn ensure_lease(&self, bytes: usize, kind: Lease) -> Result<(), LogError> {
        let _ = (bytes, kind);
        unimplemented!()
    }

    /// Appends one record made of `parts` in order. Never suspends. The space must have been leased
    /// ([`Log::ensure_lease`]) by the same slot, without suspending since.
    pub fn append(&self, parts: &[&[u8]]) -> Appended {
        let _ = parts;
        unimplemented!()
    }

    /// One past the last byte reserved.
    pub fn tail(&self) -> Lsn {
        unimplemented!()
    }

    /// Everything below survives.
    pub fn durable(&self) -> Lsn {
        unimplemented!()
    }

    /// Suspends (WRITELOG) until everything below `upto` is durable.
    pub fn wait_durable(&self, upto: Lsn) -> Result<(), LogError> {
        let _ = upto;
        unimplemented!()
    }

    /// To call after a delayed commit: starts a write when enough has gathered. Cheap, never suspends.
    pub fn note_delayed(&self) {
        unimplemented!()
    }

    /// Makes everything appended so far durable: `sp_flush_log`.
    pub fn flush(&self) -> Result<(), LogError> {
        unimplemented!()
    }

    /// The payload of the record at `at`, and where the next one begins; from memory, or from disk (suspends).
    pub fn read(&self, at: Lsn) -> Result<(Vec<u8>, Lsn), LogError> {
        let _ = at;
        unimplemented!()
    }

    /// A reader over what is durable from `from` on.
    pub fn reader(&self, from: Lsn) -> LogReader {
        let _ = from;
        unimplemented!()
    }

    /// Nothing below `keep_from` is needed any more: VLFs wholly below become reusable.
    pub fn truncate(&self, keep_from: Lsn) {
        let _ = keep_from;
        unimplemented!()
    }

    /// Background work that should not happen to committers: grows the file ahead of need. To be called now and
    /// then (every 100 ms, say) by a task. Suspends.
    pub fn maintain(&self) -> Result<(), LogError> {
        unimplemented!()
    }

    /// Called, without a lock held, when the file is full and cannot grow: should get a checkpoint going and return.
    pub fn set_log_full_hook(&self, hook: Box<dyn Fn() + Send + Sync>) {
        let _ = hook;
        unimplemented!()
    }

    /// The virtual log files in the order of the file.
    pub fn vlfs(&self) -> Vec<VlfInfo> {
        unimplemented!()
    }

    /// Bytes of the file that hold log still needed.
    pub fn used_bytes(&self) -> u64 {
        unimplemented!()
    }

    /// Bytes of the file.
    pub fn size_bytes(&self) -> u64 {
        unimplemented!()
    }

    /// Figures since the log was opened.
    pub fn stats(&self) -> LogStats {
        unimplemented!()
    }

    /// The latest writes (up to 1024), oldest first.
    pub fn recent_writes(&self) -> Vec<WriteTiming> {
        unimplemented!()
    }

    /// Switches how space is taken, at any moment.
    pub fn set_reserve(&self, reserve: Reserve) {
        let _ = reserve;
        unimplemented!()
    }

    /// How space is taken now.
    pub fn reserve(&self) -> Reserve {
        unimplemented!()
    }

    /// Switches who writes, at any moment.
    pub fn set_writer(&self, writer: Writer) {
        let _ = writer;
        unimplemented!()
    }

    /// Who writes now.
    pub fn writer(&self) -> Writer {
        unimplemented!()
    }

    /// Changes how many writes may be outstanding (1 to 112).
    pub fn set_queue_depth(&self, depth: usize) {
        let _ = depth;
        unimplemented!()
    }

    /// True after a failed write; for good.
    pub fn is_poisoned(&self) -> bool {
        unimplemented!()
    }

    /// Flushes, marks the file as cleanly closed, and stops. Later calls answer [`LogError::Closed`]. Suspends.
    pub fn close(&self) -> Result<(), LogError> {
        unimplemented!()
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
