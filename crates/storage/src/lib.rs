//! Pages, rows, allocation, B+trees: where a key finds its bytes and keeps finding them.
//!
//! Promise: a tree maps byte-comparable keys to rows. Every change is one log record made while the page is latched
//! and before it is changed, so pages can be replayed (`redo`) and taken back (`undo`) from the log alone, without a
//! catalog. A tree's root page never moves, a split is one record, and readers take no latch.
//!
//! Knows nothing about transactions, snapshots, locks, types, columns or SQL; what a stamp means, whom to wait for and
//! what an envelope around a record holds is asked through [`TxnLog`].
//!
//! [`memory`] has rows in memory, in versions; it and the trees on pages know nothing of each other. Under `--cfg loom` only its
//! lock-free parts are built.

#[cfg(not(loom))]
mod ahead;
#[cfg(not(loom))]
mod alloc;
#[cfg(not(loom))]
mod boot;
#[cfg(not(loom))]
mod compact;
#[cfg(not(loom))]
mod copy;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod found;
#[cfg(not(loom))]
mod leaf;
#[cfg(not(loom))]
mod log;
#[cfg(not(loom))]
mod measure;
pub mod memory;
#[cfg(not(loom))]
mod near;
#[cfg(not(loom))]
mod node;
#[cfg(not(loom))]
mod op;
#[cfg(not(loom))]
mod parts;
#[cfg(not(loom))]
mod redo;
#[cfg_attr(loom, allow(dead_code, reason = "of rows on pages"))]
mod row;
#[cfg(not(loom))]
mod sample;
#[cfg(not(loom))]
mod scan;
#[cfg(not(loom))]
mod slotted;
#[cfg(not(loom))]
mod split;
#[cfg(not(loom))]
mod store;
#[cfg(not(loom))]
mod summary;
#[cfg(not(loom))]
mod sweep;
#[cfg(not(loom))]
mod together;
#[cfg(not(loom))]
mod tree;
#[cfg(not(loom))]
mod verify;
#[cfg(not(loom))]
mod waits;

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(not(loom))]
pub use alloc::{FileSpace, set_grow_together};
#[cfg(not(loom))]
pub use boot::{BOOT_DATA_BYTES, FileHeader, header_copies, read_header, write_header};
#[cfg(not(loom))]
pub use compact::{Compacted, Compaction};
#[cfg(not(loom))]
pub use copy::{EXTENT, StoreFile, UsedExtent};
#[cfg(not(loom))]
pub use error::StorageError;
#[cfg(not(loom))]
pub use found::{Found, FoundChange};
#[cfg(not(loom))]
pub use log::{Logged, OnExisting, OnWrite, SystemLog, TxnLog};
#[cfg(not(loom))]
pub use measure::{LevelFigures, Measure};
#[cfg(not(loom))]
pub use op::{LogRow, OP_PARTS, OpHeader, PageOp, Undo, UndoAction};
#[cfg(not(loom))]
pub use redo::{OP_PAGES, Touched};
#[cfg(not(loom))]
pub use row::{RowImage, Run};
#[cfg(not(loom))]
pub use sample::{PageSample, RandomLeaf};
#[cfg(not(loom))]
pub use scan::{LeafCopy, Scan, Stretch};
#[cfg(not(loom))]
pub use slotted::{KEY_MAX, KEYS_AHEAD};
#[cfg(not(loom))]
pub use store::{FilegroupId, Store};
#[cfg(not(loom))]
pub use summary::{PageKind, PageSummary, summary};
#[cfg(not(loom))]
pub use sweep::Swept;
#[cfg(not(loom))]
pub use together::{Aim, HeldLeaf, Hold, Witness};
#[cfg(not(loom))]
pub use tree::{LeafHint, Tree, TreeId, fits};
#[cfg(not(loom))]
pub use verify::{EachRow, TreeReport, check_tree, verify};
#[cfg(not(loom))]
pub use waits::{TreeWaits, WaitFigures};
