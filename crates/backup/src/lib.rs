//! Backup files: what survives when the database does not.
//!
//! A file holds backup sets, one behind the other; a set is a header, pages, log blocks, and an end, in blocks that
//! each carry their checksum ([`Writer`], [`Media`], [`SetReader`]; to the byte in docs/formats/backup.md).
//!
//! Promises: a set whose end is there was written in whole, and is durable; a byte that changed since is noticed by
//! whoever reads the block it lies in; a set that is being added never harms those before it, and a set that replaces
//! them does so when it is whole.
//!
//! Knows nothing of databases: pages and log blocks are bytes with numbers; who may be restored over whom, and what a
//! log position means, is decided above.

#![forbid(unsafe_code)]

mod block;
mod error;
mod header;
mod media;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub use block::{LOG_PAYLOAD_BYTES, PAGE_BYTES};
pub use error::BackupError;
pub use header::{FileFacts, SetEnd, SetHeader, SetKind};
pub use media::{Media, SetInfo};
pub use reader::{LogEntry, Part, SetReader};
pub use writer::Writer;
