//! Tables that live in memory: rows in versions, and indexes that no reader waits for.
//!
//! A [`Table`] is one index: rows under byte-comparable keys, each with a chain of versions, newest first. A version is
//! stamped with its writer's transaction id, and with the commit's LSN once there is one (`mvcc`). Who reads has a
//! snapshot and sees one version or none; who writes a row that somebody else has written, or is writing, is refused at
//! once: nobody ever waits for anybody.
//!
//! Knows nothing of the log, of isolation levels, of columns, or of which indexes belong together: the engine keeps what
//! a transaction has written and read, stamps it at commit, or takes it back.
//!
//! ```text
//! index (hash.rs or range.rs)  ->  Row: key, newest --> Version --older--> Version --older--> ...
//! ```
//! What each link may be changed by is said where it is declared (`row.rs`). What is taken out is freed when nobody can
//! be looking at it any more (`reclaim.rs`, epochs), to the table's own memory (`slab.rs`). docs/decisions/0014-memory-tables.md says why it is so.

mod buckets;
#[cfg_attr(
    loom,
    allow(dead_code, reason = "only the lock-free parts are built for the model checker")
)]
mod hash;
#[cfg(not(loom))]
mod image;
#[cfg(not(loom))]
mod leaving;
#[cfg_attr(
    loom,
    allow(dead_code, reason = "only the lock-free parts are built for the model checker")
)]
mod listed;
#[cfg(not(loom))]
mod lists;
#[cfg(loom)]
mod plain_slab;
mod reclaim;
#[cfg_attr(
    loom,
    allow(dead_code, reason = "only the lock-free parts are built for the model checker")
)]
mod row;
#[cfg(not(loom))]
mod slab;
mod sync;
#[cfg_attr(
    loom,
    allow(dead_code, reason = "only the lock-free parts are built for the model checker")
)]
mod version;

#[cfg(all(test, loom))]
mod loom_tests;

#[cfg(loom)]
use plain_slab as slab;

#[cfg(not(loom))]
mod census;
#[cfg(not(loom))]
mod clean;
#[cfg(not(loom))]
mod figures;
#[cfg(not(loom))]
mod node;
#[cfg(not(loom))]
mod range;
#[cfg(not(loom))]
mod sample;
#[cfg(not(loom))]
mod scan;
#[cfg(not(loom))]
mod sight;
#[cfg(not(loom))]
mod table;
#[cfg(not(loom))]
mod unwritten;
#[cfg(not(loom))]
mod write;

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(not(loom))]
pub use clean::Needs;
#[cfg(not(loom))]
pub use figures::{Chains, Doings, IndexCensus, Nodes, QueueFigures};
#[cfg(not(loom))]
pub use image::{Image, ImageWriter, Images};
#[cfg(not(loom))]
pub use lists::RowsToList;
#[cfg(not(loom))]
pub use reclaim::Pin;
#[cfg(not(loom))]
pub use sample::{Places, RandomPlace};
#[cfg(not(loom))]
pub use scan::Cursor;
#[cfg(not(loom))]
pub use sight::{Changed, Sight, States};
#[cfg(not(loom))]
pub use table::{Kind, Table};
#[cfg(not(loom))]
pub use unwritten::{Held, Newest};
#[cfg(not(loom))]
pub use version::Kept;
#[cfg(not(loom))]
pub use write::{Refused, Written};
