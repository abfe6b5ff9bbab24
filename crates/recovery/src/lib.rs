//! Analysis, redo, undo: from what the log says to pages that hold exactly what was committed.
//!
//! Promise: after [`replay`] every page is as it was at the log's end, and after [`undo_losers`] nothing of the
//! transactions without a commit record is left. Both may be cut short at any point and begun again: redo skips pages
//! that have a record already (page LSN), undo goes on from the compensations that were logged.
//!
//! Knows nothing of files, boot pages or checkpoints: it is told where to read from.

#![forbid(unsafe_code)]

mod replay;
mod undo;

pub use replay::{Analysis, RecoveryError, replay};
pub use undo::undo_losers;
