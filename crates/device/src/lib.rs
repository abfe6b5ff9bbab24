//! Files as an engine needs them: aligned, direct, asynchronous, durable when they say so; or simulated.
//!
//! [`RealFs`] speaks io_uring, or keeps I/O threads where that is forbidden. [`SimFs`] lives in memory,
//! loses power and fails on demand. Whoever waits for I/O waits through `runtime::task`, so the same
//! call suspends a coroutine or parks a thread.
//!
//! Words used throughout:
//! - *durable*: survives a loss of power. A completed [`Op::WriteDurable`] is; a completed
//!   [`Op::Write`] only after a later [`Op::Sync`] that was submitted after it completed.
//! - *complete*: [`IoDone::complete`] was called, once, whatever the outcome.
//!
//! Knows nothing of pages, logs or databases. Never retries a failed sync: after one, nobody knows
//! what is on the disk.

mod blocking;
mod real;
mod sim;
mod stats;

pub use real::{IoMode, RealFs, dsync_refused};
pub use sim::{Fault, SimFs};
pub use stats::{FileStats, PendingIo};

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// What to do with a range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Read,
    Write,
    /// A write that is durable when it completes (RWF_DSYNC, else write and fdatasync).
    WriteDurable,
    /// Makes every write that completed before durable, and the file's length (fdatasync).
    Sync,
    /// The same, and what else the file system keeps of the file, such as its times (fsync). No engine
    /// needs it; experiments compare it.
    SyncAll,
}

impl Op {
    /// Neither reads nor writes a range.
    pub fn is_sync(self) -> bool {
        matches!(self, Op::Sync | Op::SyncAll)
    }
}

/// Told, once, that an operation is over.
pub trait IoDone: Send + Sync {
    /// Called from a poll, or from an I/O thread: must be short and must not suspend.
    /// `r` holds the bytes moved: for writes always all of them; for reads fewer only at the end of
    /// the file. Times are of `runtime::clock::now_ns`: when the device had it, when it was done.
    fn complete(&self, r: io::Result<usize>, submitted_ns: u64, completed_ns: u64);
}

/// An open file. Operations may be in flight in any number and complete in any order.
pub trait File: Send + Sync {
    /// Starts an operation; `done` is called when it is over, possibly before this returns.
    /// For syncs, `offset`, `ptr` and `len` are ignored.
    ///
    /// # Safety
    /// `ptr..ptr + len` stays valid until `done.complete` is called: writable and untouched by others
    /// for a read, readable and unchanged for a write.
    ///
    /// `offset`, `ptr` and `len` are multiples of [`File::align`], else the operation fails (EINVAL).
    unsafe fn submit(&self, op: Op, offset: u64, ptr: *mut u8, len: usize, done: Arc<dyn IoDone>);

    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;

    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Cuts or extends the file (with a hole). Not durable before a sync.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Fills `from..from + len` with zeros for real, so that later durable writes there change no
    /// metadata, and extends the file if need be. Durable on return. May suspend.
    fn allocate(&self, from: u64, len: u64) -> io::Result<()>;

    /// Makes `from..from + len` part of the file, with its space reserved where the file system can,
    /// and reading as zeros where nothing was written; durable on return. Writes nothing: later writes
    /// there change metadata, so it suits data files (written back in bulk and synced), not logs.
    /// May suspend.
    fn reserve(&self, from: u64, len: u64) -> io::Result<()> {
        self.allocate(from, len)
    }

    fn path(&self) -> &Path;

    /// What was read and written through this handle, and what is on its way.
    fn stats(&self) -> FileStats {
        FileStats::default()
    }

    /// What offsets, lengths and memory must be multiples of: 1, 512 or 4096.
    fn align(&self) -> usize;
}

/// How to open a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Create it if it is not there. (The name is durable only after `sync_dir`.)
    pub create: bool,
    /// Together with `create`: fail if it is there.
    pub create_new: bool,
    pub read_only: bool,
    /// Cut it to nothing.
    pub truncate: bool,
    /// Go around the page cache where the file system can (O_DIRECT).
    pub direct: bool,
    /// Every write is durable when it completes, whatever its [`Op`] (O_DSYNC).
    pub dsync: bool,
}

impl OpenOptions {
    /// Read and write what is there.
    pub const fn existing() -> Self {
        OpenOptions {
            create: false,
            create_new: false,
            read_only: false,
            truncate: false,
            direct: false,
            dsync: false,
        }
    }

    /// Create or open, read and write.
    pub const fn create() -> Self {
        OpenOptions { create: true, ..Self::existing() }
    }

    pub const fn create_new() -> Self {
        OpenOptions { create: true, create_new: true, ..Self::existing() }
    }

    pub const fn read_only() -> Self {
        OpenOptions { read_only: true, ..Self::existing() }
    }

    pub const fn direct(mut self) -> Self {
        self.direct = true;
        self
    }

    pub const fn dsync(mut self) -> Self {
        self.dsync = true;
        self
    }
}

/// Holds an exclusive lock on a path until dropped.
pub struct LockGuard(#[allow(dead_code, reason = "held for its drop")] Box<dyn Send + Sync>);

impl std::fmt::Debug for LockGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LockGuard")
    }
}

/// The file system that a path lies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// The folder where it begins.
    pub mount_point: PathBuf,
    pub bytes: u64,
    /// What is left for this user.
    pub free_bytes: u64,
    pub is_read_only: bool,
}

/// A tree of files. Changes of names are durable only after [`FileSystem::sync_dir`] of their folder.
pub trait FileSystem: Send + Sync {
    fn open(&self, path: &Path, options: OpenOptions) -> io::Result<Arc<dyn File>>;
    /// An error is not an absence: who takes it for one makes files anew over those that could not be looked at.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// The one absolute name of what the path means, of a file that is not there yet, too: without `.` and `..`, and
    /// where there are links, without them.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let mut clean = PathBuf::new();
        for part in path.components() {
            match part {
                Component::CurDir => {}
                // Above the root is the root.
                Component::ParentDir => drop(clean.pop()),
                other => clean.push(other),
            }
        }
        Ok(clean)
    }
    /// Where a path that is there lies.
    fn volume(&self, path: &Path) -> io::Result<Volume> {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Replaces `to` if it is there, atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Full paths of what is in the folder, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;
    /// Makes the folder and those above it that lack. Their names are durable on return.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Locks the path for this holder alone, creating the file if need be. A second holder, in
    /// whatever process, gets `WouldBlock`.
    fn lock_exclusive(&self, path: &Path) -> io::Result<LockGuard>;
}

#[cfg(test)]
mod tests;
