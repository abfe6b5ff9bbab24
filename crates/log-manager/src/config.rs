//! How a log is laid out and how it behaves. Layout is fixed when the file is created; behaviour is chosen at each
//! opening, and most of it can be changed while the log runs.

/// How a worker takes space in the log buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reserve {
    /// An announcement in the slot's own lane and one `fetch_add`.
    #[default]
    Lanes,
    /// The classic: the LOGCACHE_ACCESS spinlock around taking space and copying.
    Spinlock,
}

/// How those who want a write tell whoever writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FlushQueueKind {
    /// One atomic maximum; the writer alone has the queue of writes.
    #[default]
    LockFree,
    /// The classic: a bounded queue of requests behind the LOGFLUSHQ spinlock.
    Spinlock,
}

/// Who writes the log out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Writer {
    /// Whoever needs it, and every poll of a scheduler.
    #[default]
    Leader,
    /// A thread of its own.
    Dedicated,
    /// A task of a scheduler, which the owner of the log starts: see [`crate::Log::writer_task`].
    Scheduled,
}

/// Which reserve of space a record may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lease {
    /// Ordinary work: refused (9002) when only the reserve for rollbacks is left.
    Normal,
    /// Undoing, checkpoints: may use that reserve, since it is what frees the log.
    Rollback,
}

/// Settings of a log.
#[derive(Clone, Debug)]
pub struct LogConfig {
    /// Bytes of the ring of blocks in memory; rounded up to a power of two, at least 1 MiB.
    pub ring_bytes: usize,
    pub reserve: Reserve,
    pub writer: Writer,
    /// CPU for the dedicated writer.
    pub writer_cpu: Option<usize>,
    /// Writes that may be outstanding (LOGFLUSHQ): 8, 32 and 112 are SQL Server's; 1 to 1024, and no more than fit
    /// half of the ring.
    pub queue_depth: usize,
    pub flush_queue: FlushQueueKind,
    /// Largest single write, in bytes.
    pub write_bytes_max: usize,
    /// A delayed commit is durable at most this much later, in milliseconds (when the device keeps up).
    pub delayed_ms: u64,
    /// Unwritten bytes of the stream that start a write by themselves.
    pub delayed_bytes: u64,
    /// Bytes of one virtual log file, its header included (fixed at creation; at least 64 KiB).
    pub vlf_bytes: u64,
    /// Virtual log files made at creation; at least 2, as one is the reserve for rollbacks.
    pub initial_vlfs: u32,
    /// The file does not grow beyond this, if given.
    pub max_bytes: Option<u64>,
    /// How long work waits for room in a full log before it is refused with 9002, in milliseconds.
    pub full_wait_ms: u64,
    /// `O_DIRECT`, where the file system has it.
    pub direct: bool,
}

/// The least that a virtual log file may have, in bytes.
pub const VLF_BYTES_MIN: u64 = 64 << 10;

impl LogConfig {
    /// The log of a small database: a buffer of 1 MiB, virtual log files of 1 MiB, four at first.
    pub fn small() -> LogConfig {
        LogConfig {
            ring_bytes: 1 << 20,
            vlf_bytes: 1 << 20,
            initial_vlfs: 4,
            ..LogConfig::default()
        }
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        LogConfig {
            ring_bytes: 64 << 20,
            reserve: Reserve::Lanes,
            writer: Writer::Leader,
            writer_cpu: None,
            queue_depth: 32,
            flush_queue: FlushQueueKind::LockFree,
            write_bytes_max: 1 << 20,
            delayed_ms: 10,
            delayed_bytes: 60 * 1024,
            vlf_bytes: 8 << 20,
            initial_vlfs: 2,
            max_bytes: None,
            full_wait_ms: 5_000,
            direct: true,
        }
    }
}
