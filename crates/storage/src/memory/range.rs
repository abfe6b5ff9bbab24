//! A range index: a B+tree whose readers take no latch, and whose writers take one node's at a time.
//!
//! Invariants (Lehman and Yao's, with contents that never change: `node.rs`):
//! 1. A node speaks of the keys from `low` to `high`; `low` never changes, `high` only falls, when a right neighbour takes
//!    over what is above.
//! 2. A key is in the leaf that speaks of it, or the leaf's link leads to it: a split makes the right neighbour first and
//!    links it by the same swing of the word that takes its keys out of the left one. The parent learns of it afterwards.
//! 3. A parent's entry for a child is never to the right of the child's keys. So whoever comes down may have to go right,
//!    and never left.
//! 4. No thread holds two latches, so there is nothing to wait for in a circle.
//!
//! Nodes are not merged: a leaf whose rows are all gone stays, empty (docs/decisions/0014-memory-tables.md).

use crate::memory::figures::{Nodes, taken};
use crate::memory::hash::Inserted;
use crate::memory::node::{Content, ENTRIES_MAX, Entries, Entry, Node, NodeRef, head_of};
use crate::memory::reclaim::{Guard, pin};
use crate::memory::row::{OwnedRow, Row};
use parking_lot::Mutex;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};

pub(crate) struct RangeIndex {
    root: AtomicPtr<NodeRef>,
    /// Held by whoever puts another root above the last one.
    growing: Mutex<()>,
    /// What nodes weigh, as of their last splits.
    bytes: AtomicU64,
}

/// Where a reading goes on.
pub(crate) enum Step {
    End,
    /// Upwards: at this key. Downwards: below it.
    From(Vec<u8>),
}

type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

impl RangeIndex {
    pub fn new() -> RangeIndex {
        let root = Node::make(0, Content::leaf(None, None, None, Vec::new()));
        RangeIndex {
            root: AtomicPtr::new(Box::into_raw(Box::new(root))),
            growing: Mutex::new(()),
            bytes: AtomicU64::new(0),
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Goes through all nodes, level by level; nodes that come meanwhile may be missed.
    pub fn census(&self) -> Nodes {
        let mut nodes = Nodes { bytes: taken(size_of::<NodeRef>()) as u64, ..Nodes::default() };
        let mut first = Some(self.root(&pin()));
        while let Some(leftmost) = first.take() {
            let (mut at, mut splits) = (Some(leftmost), 0);
            while let Some(node) = at {
                // Nodes live as long as the index: what is between two of them need not be kept.
                let guard = pin();
                let content = content_of(node, &guard);
                nodes.bytes += content.taken();
                splits += u64::from(node != leftmost);
                match &content.entries {
                    Entries::Leaf(_) => nodes.leaves += 1,
                    Entries::Inner(_, children) => {
                        nodes.inner += 1;
                        first = first.or(children.first().copied());
                    }
                }
                at = content.right;
                drop(guard);
                runtime::task::maybe_yield();
            }
            match leftmost.get().level {
                0 => nodes.leaf_splits += splits,
                _ => nodes.inner_splits += splits,
            }
        }
        nodes
    }

    #[inline]
    fn root(&self, _: &Guard) -> NodeRef {
        // SAFETY: never null; what it led to lives as long as the guard.
        unsafe { *self.root.load(Acquire) }
    }

    /// The node of a level that speaks of a key, or one to the left of it. `before`: of the keys just below it.
    fn descend_to(&self, level: u32, key: &[u8], before: bool, guard: &Guard) -> NodeRef {
        let mut at = self.root(guard);
        while at.get().level > level {
            let content = at.get().content(guard);
            if let Some(right) = goes_right(content, key, before) {
                at = right;
                continue;
            }
            let Entries::Inner(keys, children) = &content.entries else {
                stdx::fatal!("a leaf is where an inner node must be");
            };
            let place = match before {
                false => keys.partition_point(|k| k[..] <= *key),
                true => keys.partition_point(|k| k[..] < *key),
            };
            at = children[place];
        }
        at
    }

    /// The leaf's content for a key.
    #[inline]
    fn leaf<'g>(&self, key: &[u8], before: bool, guard: &'g Guard) -> &'g Content {
        let at = self.descend_to(0, key, before, guard);
        let mut content = content_of(at, guard);
        while let Some(right) = goes_right(content, key, before) {
            content = content_of(right, guard);
        }
        content
    }

    /// The live row of a key.
    #[inline]
    pub fn find<'g>(&self, key: &[u8], guard: &'g Guard) -> Option<&'g Row> {
        let rows = rows_of(self.leaf(key, false, guard));
        let entry = rows.get(place_of(rows, key, guard))?;
        let row = entry.row(guard);
        (row.key() == key && !row.is_dead()).then_some(row)
    }

    /// Adds a row, unless its key has a live one; a dead one gives its place.
    pub fn insert<'g>(&self, row: OwnedRow<'_>, guard: &'g Guard) -> Inserted<'g> {
        let mut at = self.descend_to(0, row.key(), false, guard);
        loop {
            let latch = at.get().latch.lock();
            let content = content_of(at, guard);
            if content.is_left_of(row.key()) {
                drop(latch);
                at = right_of(content);
                continue;
            }
            let rows = rows_of(content);
            let place = place_of(rows, row.key(), guard);
            let there = rows.get(place).map(|e| e.row(guard)).filter(|r| r.key() == row.key());
            if let Some(there) = there.filter(|r| !r.is_dead()) {
                return Inserted::There(there);
            }
            // SAFETY: it is in the index from here on, and the guard keeps it.
            let new: &'g Row = unsafe { &*row.into_raw() };
            let mut rows = grown(rows, usize::from(there.is_none()));
            match there {
                Some(_) => rows[place] = Entry::new(new),
                None => rows.insert(place, Entry::new(new)),
            }
            let split = self.store_leaf(at, content, rows, place, guard);
            drop(latch);
            if let Some((key, right)) = split {
                self.add_child(1, key, right, guard);
            }
            return Inserted::New(new);
        }
    }

    /// Gives a leaf, whose latch is held, other rows; the right half goes to a new neighbour if there are too many.
    fn store_leaf(
        &self,
        at: NodeRef,
        old: &Content,
        mut rows: Vec<Entry>,
        place: usize,
        guard: &Guard,
    ) -> Option<(Arc<[u8]>, NodeRef)> {
        if rows.len() <= ENTRIES_MAX {
            at.get().set(Content { entries: Entries::Leaf(rows), ..old.clone_links() }, guard);
            return None;
        }
        // Keys that only ever come at the end leave full leaves behind.
        let at_end = old.high.is_none() && place + 1 == rows.len();
        let right = rows.split_off(if at_end { rows.len() - 1 } else { rows.len() / 2 });
        let key: Arc<[u8]> = right[0].row(guard).key().into();
        let right = Content::leaf(Some(key.clone()), old.high.clone(), old.right, right);
        self.bytes.fetch_add(right.weight(), Relaxed);
        let right = Node::make(0, right);
        let left = Content::leaf(old.low.clone(), Some(key.clone()), Some(right), rows);
        at.get().set(left, guard);
        Some((key, right))
    }

    /// Tells the level above of a node that has come to the right of another.
    fn add_child(&self, level: u32, key: Arc<[u8]>, right: NodeRef, guard: &Guard) {
        if self.root(guard).get().level < level {
            self.grow(level, guard);
        }
        let mut at = self.descend_to(level, &key, false, guard);
        loop {
            let latch = at.get().latch.lock();
            let content = content_of(at, guard);
            if content.is_left_of(&key) {
                drop(latch);
                at = right_of(content);
                continue;
            }
            let Entries::Inner(keys, children) = &content.entries else {
                stdx::fatal!("a leaf is where an inner node must be");
            };
            let place = keys.partition_point(|k| k[..] < key[..]);
            let (mut keys, mut children) = (keys.clone(), children.clone());
            keys.insert(place, key);
            children.insert(place + 1, right);
            if children.len() <= ENTRIES_MAX {
                let entries = Entries::Inner(keys, children);
                at.get().set(Content { entries, ..content.clone_links() }, guard);
                return;
            }
            let at_end = content.high.is_none() && place + 1 == keys.len();
            let middle = if at_end { keys.len() - 1 } else { keys.len() / 2 };
            let right_keys = keys.split_off(middle + 1);
            let Some(up) = keys.pop() else { stdx::fatal!("an inner node without keys is split") };
            let right_children = children.split_off(middle + 1);
            let neighbour = Content {
                low: Some(up.clone()),
                high: content.high.clone(),
                right: content.right,
                entries: Entries::Inner(right_keys, right_children),
            };
            self.bytes.fetch_add(neighbour.weight(), Relaxed);
            let neighbour = Node::make(level, neighbour);
            let rest = Content {
                low: content.low.clone(),
                high: Some(up.clone()),
                right: Some(neighbour),
                entries: Entries::Inner(keys, children),
            };
            at.get().set(rest, guard);
            drop(latch);
            return self.add_child(level + 1, up, neighbour, guard);
        }
    }

    /// Sees to it that there is a root at a level: one with the last root below it, whose neighbours are reached by links
    /// until it learns of them.
    fn grow(&self, level: u32, guard: &Guard) {
        let _one = self.growing.lock();
        let below = self.root(guard);
        if below.get().level >= level {
            return;
        }
        let entries = Entries::Inner(Vec::new(), vec![below]);
        let root = Node::make(level, Content { low: None, high: None, right: None, entries });
        let old = self.root.swap(Box::into_raw(Box::new(root)), AcqRel);
        // SAFETY: the word does not lead to it any more.
        unsafe { guard.free(old) };
    }

    /// Takes a dead row out, if nobody has taken its place. One thread at a time.
    pub fn remove(&self, row: &Row, guard: &Guard) {
        let mut at = self.descend_to(0, row.key(), false, guard);
        loop {
            let latch = at.get().latch.lock();
            let content = content_of(at, guard);
            if content.is_left_of(row.key()) {
                drop(latch);
                at = right_of(content);
                continue;
            }
            let rows = rows_of(content);
            let place = place_of(rows, row.key(), guard);
            if rows.get(place).is_some_and(|e| std::ptr::eq(e.row(guard), row)) {
                let mut rows = rows.to_vec();
                rows.remove(place);
                let entries = Entries::Leaf(rows);
                at.get().set(Content { entries, ..content.clone_links() }, guard);
            }
            return;
        }
    }

    /// Shows the rows of a leaf that are within bounds, upwards.
    pub fn ascend(
        &self,
        (lower, upper): Bounds<'_>,
        guard: &Guard,
        each: &mut impl FnMut(&Row, &Guard),
    ) -> Step {
        let from = match lower {
            Bound::Included(key) | Bound::Excluded(key) => key,
            Bound::Unbounded => &[],
        };
        let content = self.leaf(from, false, guard);
        let rows = rows_of(content);
        for entry in &rows[place_of(rows, from, guard)..] {
            let row = entry.row(guard);
            if matches!(lower, Bound::Excluded(key) if row.key() == key) {
                continue;
            }
            if is_past(row.key(), upper) {
                return Step::End;
            }
            each(row, guard);
        }
        match &content.high {
            Some(high) if !is_past(high, upper) => Step::From(high.to_vec()),
            _ => Step::End,
        }
    }

    /// The same downwards.
    pub fn descend(
        &self,
        (lower, upper): Bounds<'_>,
        guard: &Guard,
        each: &mut impl FnMut(&Row, &Guard),
    ) -> Step {
        let content = match upper {
            Bound::Included(key) => self.leaf(key, false, guard),
            Bound::Excluded(key) => self.leaf(key, true, guard),
            Bound::Unbounded => self.last(guard),
        };
        for entry in rows_of(content).iter().rev() {
            let row = entry.row(guard);
            let is_above = match upper {
                Bound::Included(key) => row.key() > key,
                Bound::Excluded(key) => row.key() >= key,
                Bound::Unbounded => false,
            };
            if is_above {
                continue;
            }
            let is_below = match lower {
                Bound::Included(key) => row.key() < key,
                Bound::Excluded(key) => row.key() <= key,
                Bound::Unbounded => false,
            };
            if is_below {
                return Step::End;
            }
            each(row, guard);
        }
        let is_all = |low: &[u8]| match lower {
            Bound::Included(key) | Bound::Excluded(key) => low <= key,
            Bound::Unbounded => false,
        };
        match &content.low {
            Some(low) if !is_all(low) => Step::From(low.to_vec()),
            _ => Step::End,
        }
    }

    /// Shows the rows of a leaf that a walk ends at which takes any child, each with one chance. Gives the leaf, and how
    /// many there are as this walk has it.
    pub fn random_leaf(
        &self,
        guard: &Guard,
        below: &mut dyn FnMut(u64) -> u64,
        each: &mut impl FnMut(&Row, &Guard),
    ) -> (u64, f64) {
        let (mut at, mut leaves) = (self.root(guard), 1.0);
        loop {
            match &content_of(at, guard).entries {
                Entries::Leaf(rows) => {
                    rows.iter().for_each(|entry| each(entry.row(guard), guard));
                    return (at.number(), leaves);
                }
                Entries::Inner(_, children) => {
                    leaves *= children.len() as f64;
                    at = children[below(children.len() as u64) as usize];
                }
            }
        }
    }

    /// The leaf on the right.
    fn last<'g>(&self, guard: &'g Guard) -> &'g Content {
        let mut at = self.root(guard);
        loop {
            let content = content_of(at, guard);
            at = match (&content.right, &content.entries) {
                (Some(right), _) => *right,
                (None, Entries::Inner(_, children)) => children[children.len() - 1],
                (None, Entries::Leaf(_)) => return content,
            };
        }
    }
}

impl Drop for RangeIndex {
    fn drop(&mut self) {
        // SAFETY: ours alone, and never null.
        let mut first = Some(*unsafe { Box::from_raw(*self.root.get_mut()) });
        while let Some(leftmost) = first.take() {
            let mut next = Some(leftmost);
            while let Some(at) = next {
                let content = at.into_node().last_content();
                next = content.right;
                // Rows go with the slab.
                if let Entries::Inner(_, children) = content.entries {
                    first = first.or(children.first().copied());
                }
            }
        }
    }
}

/// Where the search for a key goes on to the right; `before`: for the keys just below it.
#[inline]
fn goes_right(content: &Content, key: &[u8], before: bool) -> Option<NodeRef> {
    let goes = match before {
        false => content.is_left_of(key),
        true => content.high.as_ref().is_some_and(|high| key > &high[..]),
    };
    goes.then(|| right_of(content))
}

/// The neighbour of a node that has something to its right.
fn right_of(content: &Content) -> NodeRef {
    match content.right {
        Some(right) => right,
        None => stdx::fatal!("a node with keys to its right has no neighbour there"),
    }
}

#[inline]
fn content_of(node: NodeRef, guard: &Guard) -> &Content {
    node.get().content(guard)
}

#[inline]
fn rows_of(content: &Content) -> &[Entry] {
    match &content.entries {
        Entries::Leaf(rows) => rows,
        Entries::Inner(..) => stdx::fatal!("an inner node is where a leaf must be"),
    }
}

/// How many rows are below a key.
#[inline]
fn place_of(rows: &[Entry], key: &[u8], guard: &Guard) -> usize {
    let head = head_of(key);
    rows.partition_point(|entry| entry.is_below(head, key, guard))
}

fn is_past(key: &[u8], upper: Bound<&[u8]>) -> bool {
    match upper {
        Bound::Included(high) => key > high,
        Bound::Excluded(high) => key >= high,
        Bound::Unbounded => false,
    }
}

/// A copy with room for more.
fn grown(rows: &[Entry], more: usize) -> Vec<Entry> {
    let mut copy = Vec::with_capacity(rows.len() + more);
    copy.extend_from_slice(rows);
    copy
}
