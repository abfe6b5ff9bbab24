//! Analysis, redo, undo: from what the log says to pages that hold exactly what was committed.
//!
//! Three phases, of which only the first keeps anybody waiting. [`Pass`] reads the log once and notes which
//! transactions were unfinished and, for each page, which records it may lack. Then the database may open: a page is
//! brought up to date when the buffer pool reads it in ([`Redo`] as `buffer_pool::PageRedo`), or by background tasks
//! that take the rest batch by batch ([`Redo::step`]). [`Undo`] takes back one unfinished transaction.
//!
//! Promise: a page that anybody sees is as it was at the log's end, or newer; after the undo of all losers nothing of
//! the transactions without a commit record is left. All of it may be cut short at any point and begun again: redo
//! skips pages that have a record already (page LSN), undo goes on from the compensations that were logged.
//!
//! Knows nothing of files, boot pages, checkpoints or schedulers: it is told where to read from, and called.

#![forbid(unsafe_code)]

mod analysis;
mod batch;
mod pending;
mod redo;
mod turns;
mod undo;

#[cfg(test)]
mod tests;

pub use analysis::{Analysis, Loser, Pass, RecoveryError, XidMap};
pub use pending::Pending;
pub use redo::{Damaged, Progress, Redo, Step};
pub use undo::Undo;
