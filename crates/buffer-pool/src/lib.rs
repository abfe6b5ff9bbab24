//! Page number to frame: a room for hot pages in front of a warehouse of cold ones.
//!
//! Promise: a page is found through one atomic word, read optimistically or written under the latch bit of that word;
//! an absent page is read and verified before anyone latches it; a changed page reaches its file only after the log
//! has hardened the page's LSN and only after a copy is safe in the double-write file or, at its first write, whole in the log, so no power cut loses a
//! page.
//!
//! Knows nothing about rows, keys, trees, transactions, or what a log record says; of a page it knows the first three
//! words of the header (checksum, page id, page LSN).

mod backed;
mod classic;
mod doublewrite;
mod error;
mod frames;
mod guard;
mod io;
mod mapping;
mod memory;
mod page;
mod parted;
mod pool;
mod readahead;
mod redo;
mod waits;
mod word;
mod writeback;

#[cfg(test)]
mod tests;

pub use classic::set_readers_latch;
pub use doublewrite::repair_torn;
pub use error::{DamageKind, PoolError};
pub use guard::{PageRead, PageWrite};
pub use io::{TaskGuard, TaskMutex};
pub use memory::{Described, NodePages};
pub use page::{FileId, PAGE_BYTES, PAGE_WORDS, PageBuf, PageId, PageWords, PageWordsMut, header};
pub use pool::{BufferPool, FrameReservation, PoolConfig, PoolStats, check_page};
pub use readahead::READ_AHEAD_MAX;
pub use redo::{PageRedo, Redone};
pub use waits::{PageWait, PageWaitListener};
