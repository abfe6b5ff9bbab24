//! One sequence of records per database, and the promise that what is acknowledged survives.
//!
//! A worker leases space ahead ([`Log::ensure_lease`], which may wait), then appends records without ever waiting
//! ([`Log::append`]); whoever needs it drives the bytes to disk ([`Log::wait_durable`], or any scheduler's poll).
//! The order of records is the order of their positions ([`Lsn`]); everything below [`Log::durable`] survives a
//! power failure.
//!
//! Knows nothing of transactions, pages, or what a record means; nor who runs its callers.

#[cfg_attr(loom, allow(dead_code, reason = "only the protocol is built for the model checker"))]
mod flush_queue;
mod lsn;
#[cfg_attr(loom, allow(dead_code, reason = "only the protocol is built for the model checker"))]
mod recent;
#[cfg_attr(loom, allow(dead_code, reason = "only the protocol is built for the model checker"))]
mod reservation;
mod sync;

// In the order of a record's life. Under loom only the protocol above is built.
#[cfg(not(loom))]
mod ahead;
#[cfg(not(loom))]
mod block;
#[cfg(not(loom))]
mod blocks;
#[cfg(not(loom))]
mod config;
#[cfg(not(loom))]
mod copy;
#[cfg(not(loom))]
mod core;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod flight;
#[cfg(not(loom))]
mod flush;
#[cfg(not(loom))]
mod log;
#[cfg(not(loom))]
mod open;
#[cfg(not(loom))]
mod reader;
#[cfg(not(loom))]
mod ring;
#[cfg(not(loom))]
mod shrink;
#[cfg(not(loom))]
mod vlf;
#[cfg(not(loom))]
mod waiters;
#[cfg(not(loom))]
mod writer;

#[cfg(not(loom))]
pub use config::{FlushQueueKind, Lease, LogConfig, Reserve, VLF_BYTES_MIN, Writer};
#[cfg(not(loom))]
pub use copy::{BlockReader, LogBlock, LogRestorer, log_uuid};
#[cfg(not(loom))]
pub use error::LogError;
#[cfg(not(loom))]
pub use log::{Appended, Harden, Log, LogStats, VlfInfo, WriteTiming, WriterPlace};
pub use lsn::{BLOCK_BYTES, HEADER_BYTES, Lsn, PAYLOAD_BYTES};
#[cfg(not(loom))]
pub use open::LogSearch;
#[cfg(not(loom))]
pub use reader::{LogReader, LogRecord};

/// Bytes in front of a record's payload: length and tag.
pub const RECORD_HEADER_BYTES: usize = 8;
/// The largest record, header and padding included, and the most one lease may ask for, in bytes.
pub const RECORD_BYTES_MAX: usize = 64 * 1024;

/// Bytes of the stream that a record of `payload` bytes takes.
#[inline]
pub const fn record_bytes(payload: usize) -> usize {
    (payload + RECORD_HEADER_BYTES + 7) & !7
}

#[cfg(all(test, not(loom)))]
mod tests;
