//! A node of the range index: a word that leads to its content, which never changes.
//!
//! Whoever changes a node takes its latch, makes another content, and swings the word to it, by Release. Whoever reads
//! loads the word, by Acquire, and has a whole content, however old; the fences in it say which keys it speaks of, and
//! the link to the right leads to those that have moved there since.

use crate::memory::figures::taken;
use crate::memory::reclaim::Guard;
use crate::memory::row::Row;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering::*};

/// Entries of a node.
pub(crate) const ENTRIES_MAX: usize = 64;

pub(crate) struct Node {
    /// 0: a leaf.
    pub level: u32,
    pub latch: Mutex<()>,
    content: AtomicPtr<Content>,
}

/// A key between two nodes.
pub(crate) type Fence = Option<Arc<[u8]>>;

#[derive(Clone)]
pub(crate) struct Content {
    /// Keys are at or above this.
    pub low: Fence,
    /// Keys are below this; none: there is nothing to the right.
    pub high: Fence,
    pub right: Option<NodeRef>,
    pub entries: Entries,
}

#[derive(Clone)]
pub(crate) enum Entries {
    /// By key.
    Leaf(Vec<Entry>),
    /// One child more than keys between them.
    Inner(Vec<Arc<[u8]>>, Vec<NodeRef>),
}

/// A row, and the first bytes of its key, which mostly decide.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    head: u64,
    row: *const Row,
}

/// A node; nodes live as long as their index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeRef(*const Node);

// SAFETY: a node is shared memory, and the index sees to it that it lives.
unsafe impl Send for NodeRef {}
// SAFETY: as above.
unsafe impl Sync for NodeRef {}
// SAFETY: rows are shared memory, and the index sees to it that they live.
unsafe impl Send for Content {}
// SAFETY: as above; a content never changes.
unsafe impl Sync for Content {}

/// The first eight bytes, so that comparing them as numbers is comparing them as bytes.
#[inline]
pub(crate) fn head_of(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(head) => u64::from_be_bytes(*head),
        None => {
            let mut head = [0; 8];
            head[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(head)
        }
    }
}

impl Entry {
    pub fn new(row: &Row) -> Entry {
        Entry { head: head_of(row.key()), row }
    }

    /// The row; the guard was there before the content was loaded from which the entry is.
    #[inline]
    pub fn row<'g>(&self, _: &'g Guard) -> &'g Row {
        // SAFETY: rows are freed only after they have been taken out of their leaf, when older guards are gone.
        unsafe { &*self.row }
    }

    /// Whether its key is below.
    #[inline]
    pub fn is_below(&self, head: u64, key: &[u8], guard: &Guard) -> bool {
        self.head < head || (self.head == head && self.row(guard).key() < key)
    }
}

impl NodeRef {
    #[inline]
    pub fn get(&self) -> &Node {
        // SAFETY: nodes are freed with their index alone, which whoever has the reference borrows.
        unsafe { &*self.0 }
    }

    /// Another for each node of the index, for as long as that lives.
    pub fn number(self) -> u64 {
        self.0.addr() as u64
    }

    /// The node itself, of an index that goes.
    pub fn into_node(self) -> Box<Node> {
        // SAFETY: made by `Node::make`, and the index that goes calls this once for each.
        unsafe { Box::from_raw(self.0.cast_mut()) }
    }
}

impl Node {
    pub fn make(level: u32, content: Content) -> NodeRef {
        let content = AtomicPtr::new(Box::into_raw(Box::new(content)));
        NodeRef(Box::into_raw(Box::new(Node { level, latch: Mutex::new(()), content })))
    }

    #[inline]
    pub fn content<'g>(&self, _: &'g Guard) -> &'g Content {
        // SAFETY: never null; what it led to lives as long as the guard.
        unsafe { &*self.content.load(Acquire) }
    }

    /// Changes the content; by whoever has the latch.
    pub fn set(&self, content: Content, guard: &Guard) {
        let old = self.content.swap(Box::into_raw(Box::new(content)), AcqRel);
        // SAFETY: the word does not lead to it any more, and nobody else swings it.
        unsafe { guard.free(old) }
    }

    /// What it leads to, of an index that goes.
    pub fn last_content(&mut self) -> Content {
        let content = std::mem::replace(self.content.get_mut(), std::ptr::null_mut());
        // SAFETY: ours alone, and once.
        *unsafe { Box::from_raw(content) }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let content = *self.content.get_mut();
        if !content.is_null() {
            // SAFETY: ours alone.
            drop(unsafe { Box::from_raw(content) });
        }
    }
}

impl Content {
    pub fn leaf(low: Fence, high: Fence, right: Option<NodeRef>, rows: Vec<Entry>) -> Content {
        Content { low, high, right, entries: Entries::Leaf(rows) }
    }

    /// Its fences and its link, with nothing between.
    pub fn clone_links(&self) -> Content {
        Content::leaf(self.low.clone(), self.high.clone(), self.right, Vec::new())
    }

    /// Whether a key is to the right of it.
    #[inline]
    pub fn is_left_of(&self, key: &[u8]) -> bool {
        self.high.as_ref().is_some_and(|high| key >= &high[..])
    }

    /// Memory that the node of this content takes, its lower fence too, which others share.
    pub fn taken(&self) -> u64 {
        let piece = |bytes: usize| if bytes == 0 { 0 } else { taken(bytes) };
        let entries = match &self.entries {
            Entries::Leaf(rows) => piece(rows.capacity() * size_of::<Entry>()),
            Entries::Inner(keys, children) => {
                piece(keys.capacity() * size_of::<Arc<[u8]>>())
                    + piece(children.capacity() * size_of::<NodeRef>())
            }
        };
        let fence = self.low.as_ref().map_or(0, |low| taken(low.len() + 2 * size_of::<usize>()));
        (taken(size_of::<Node>()) + taken(size_of::<Content>()) + entries + fence) as u64
    }

    pub fn weight(&self) -> u64 {
        let entries = match &self.entries {
            Entries::Leaf(rows) => rows.len() * size_of::<Entry>(),
            Entries::Inner(keys, children) => {
                keys.iter().map(|k| k.len() + 32).sum::<usize>()
                    + children.len() * size_of::<NodeRef>()
            }
        };
        (size_of::<Node>() + size_of::<Content>() + entries) as u64
    }
}
