//! Who did what, written down: an audit's records, the files that they lie in, and the trail that writes them.
//!
//! ```text
//! event -> Record -> Trail: a bounded queue -> its writer: one task -> files that roll over by size
//!                                                                     Reader: files -> records
//! ```
//!
//! Promises: a record is in the file whole or is found to be torn by its checksum; records of one trail are in the order
//! in which they were taken; who asks for a record to be kept hears of it after it is durable, or that it is not; the
//! writer never touches a file that is not its own by name.
//!
//! Knows nothing of sessions, statements or who may read: what an event means is worked out above.

#![forbid(unsafe_code)]

mod format;
mod groups;
mod names;
mod reader;
mod record;
mod trail;
mod writer;

#[cfg(test)]
mod tests;

pub use groups::{
    ACTIONS, Action, CLASSES, ClassType, GROUPS, Group, GroupFacts, GroupScope, action, group_named,
};
pub use names::{FILE_ENDING, base as file_base, belongs_to};
pub use reader::{FoundRecord, ReadError, Reader, Skipped};
pub use record::{Record, STATEMENT_UNITS_MAX, Shown};
pub use trail::{Failed, OnFailure, Status, Trail, TrailOptions};
