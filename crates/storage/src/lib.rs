//! Pages, rows, allocation, B+trees: where a key finds its bytes and keeps finding them.
//!
//! Promise: a tree maps byte-comparable keys to rows. Every change is one log record made while the page is latched
//! and before it is changed, so pages can be replayed (`redo`) and taken back (`undo`) from the log alone, without a
//! catalog. A tree's root page never moves, a split is one record, and readers take no latch.
//!
//! Knows nothing about transactions, snapshots, locks, types, columns or SQL; what a stamp means, whom to wait for and
//! what an envelope around a record holds is asked through [`TxnLog`].

mod alloc;
mod boot;
mod compact;
mod copy;
mod error;
mod leaf;
mod log;
mod node;
mod op;
mod parts;
mod redo;
mod row;
mod sample;
mod scan;
mod slotted;
mod split;
mod store;
mod sweep;
mod tree;
mod verify;

#[cfg(test)]
mod tests;

pub use alloc::{FileSpace, set_grow_together};
pub use boot::{BOOT_DATA_BYTES, FileHeader, header_copies, read_header, write_header};
pub use compact::{Compacted, Compaction};
pub use copy::{EXTENT, StoreFile, UsedExtent};
pub use error::StorageError;
pub use log::{Logged, OnExisting, OnWrite, SystemLog, TxnLog};
pub use op::{LogRow, OP_PARTS, OpHeader, PageOp, Undo, UndoAction};
pub use redo::{OP_PAGES, Touched};
pub use row::{RowImage, Run};
pub use sample::{PageSample, RandomLeaf};
pub use scan::{LeafCopy, Scan};
pub use store::{FilegroupId, Store};
pub use sweep::Swept;
pub use tree::{LeafHint, Tree, TreeId};
pub use verify::{EachRow, TreeReport, check_tree, verify};
