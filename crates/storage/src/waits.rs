//! Waits for pages, by the tree that they belong to.
//!
//! Counted by whoever has waited, in a map of its own slot, so that those who wait for one page do not then wait for each
//! other here. Trees that nobody has waited in take no room.

use crate::TreeId;
use crate::slotted::{self, INNER, LEAF};
use buffer_pool::{PageRead, PageWait, PageWaitListener, PageWords};
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, slot};
use std::collections::HashMap;
use stdx::CachePadded;

/// Waits of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WaitFigures {
    pub count: u64,
    pub ns: u64,
}

impl WaitFigures {
    fn add(&mut self, other: WaitFigures) {
        self.count += other.count;
        self.ns += other.ns;
    }
}

/// Waits for the pages of a tree: leaves, and the pages above them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TreeWaits {
    pub leaf_latch: WaitFigures,
    pub leaf_io: WaitFigures,
    pub inner_latch: WaitFigures,
    pub inner_io: WaitFigures,
}

impl TreeWaits {
    fn of(&mut self, leaf: bool, what: PageWait) -> &mut WaitFigures {
        match (leaf, what) {
            (true, PageWait::Latch) => &mut self.leaf_latch,
            (true, PageWait::Io) => &mut self.leaf_io,
            (false, PageWait::Latch) => &mut self.inner_latch,
            (false, PageWait::Io) => &mut self.inner_io,
        }
    }
}

/// By root page.
type ByTree = HashMap<u64, TreeWaits>;

/// Those of a store, by slot.
pub(crate) struct Waits(Box<[CachePadded<Mutex<ByTree>>]>);

impl Waits {
    pub(crate) fn new() -> Waits {
        Waits((0..MAX_SLOTS).map(|_| CachePadded::default()).collect())
    }

    pub(crate) fn of(&self, tree: TreeId) -> TreeWaits {
        let mut sum = TreeWaits::default();
        for slot in &self.0 {
            if let Some(own) = slot.lock().get(&tree.0.0) {
                sum.leaf_latch.add(own.leaf_latch);
                sum.leaf_io.add(own.leaf_io);
                sum.inner_latch.add(own.inner_latch);
                sum.inner_io.add(own.inner_io);
            }
        }
        sum
    }

    /// The tree is gone, and its root page may become another one's.
    pub(crate) fn forget(&self, tree: TreeId) {
        for slot in &self.0 {
            slot.lock().remove(&tree.0.0);
        }
    }
}

impl PageWaitListener for Waits {
    fn waited(&self, page: &PageRead<'_>, what: PageWait, waited_ns: u64) {
        let kind = slotted::kind_of(page).0;
        let owner = page.word(slotted::OWNER);
        // What is torn, because the page changes already, would have an owner that nobody asks about.
        if (kind == LEAF || kind == INNER) && owner != 0 && page.validate() {
            let mut own = self.0[slot()].lock();
            let figures = own.entry(owner).or_default().of(kind == LEAF, what);
            figures.add(WaitFigures { count: 1, ns: waited_ns });
        }
    }
}
