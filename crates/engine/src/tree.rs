//! Handles to trees: what a table or an index is to the engine.

use std::sync::Arc;
use storage::TreeId;

/// Number of trees that every database is born with, for its catalog: see [`crate::Database::system_tree`].
pub const SYSTEM_TREES: usize = 16;

/// A tree, opened. Clones share their counters.
#[derive(Clone)]
pub struct Tree {
    pub(crate) inner: Arc<TreeInner>,
}

pub(crate) struct TreeInner {
    pub(crate) id: TreeId,
}

impl Tree {
    pub fn id(&self) -> TreeId {
        self.inner.id
    }

    /// About how many rows it has.
    pub fn approximate_rows(&self) -> u64 {
        unimplemented!()
    }

    /// A number that no other row of this tree has had: for the hidden key of a heap (encode big-endian). Numbers
    /// come in ranges per slot, so neighbours are inserted by one slot. May suspend after opening.
    pub fn next_row_id(&self) -> Result<u64, crate::EngineError> {
        unimplemented!()
    }
}
