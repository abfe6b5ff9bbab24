//! Compacting a tree while it is used: entries slide left into pages that have room, and pages that end up empty leave.
//!
//! One step concerns two neighbours below one parent. It is one redo-only record with the images of both pages (of one,
//! when the right page leaves) and the separators, made under the latches of the three pages, as a split is. Between
//! steps nothing is held: others read and write the tree, and whoever runs the steps may stop after any.
//!
//! Why nobody is led astray: whoever descends checks the parent again once it has seen the child; whoever goes from leaf
//! to leaf goes by fences (`scan.rs`), and so notices that a leaf ends elsewhere by now; a remembered leaf
//! ([`crate::LeafHint`]) is asked for its kind, its owner and its fences. Old versions and locks go by key.
//!
//! A page that has left holds nothing but its owner's name ([`FREE`]), and goes to the tree's spare pages, from which
//! splits are served. Spare pages are known in memory only: `adopt_free_pages` finds them again. An extent of which
//! every page is spare leaves the tree.
//!
//! Invariants: pages below different parents are not compacted with each other; the first child of a parent stays; the
//! root never leaves. Latches: parent, left, right, each only in the state that was seen.

mod plan;

use crate::alloc::EXTENT_PAGES;
use crate::node::{self, Target};
use crate::scan::LeafCopy;
use crate::slotted::{self, FREE, HEADER_BYTES, INNER, Identity, LEAF, Space};
use crate::tree::LEVELS_MAX;
use crate::{PageOp, StorageError, Tree, TxnLog};
use buffer_pool::{PAGE_BYTES, PageBuf, PageId, PageRead, PageWords, PageWrite, TaskGuard, header};
use plan::{Child, Wish, entries, has_ghosts, plan, worth_it};
use runtime::task;
use std::collections::HashSet;

/// Log bytes of a step: two images, two separators, headers.
const STEP_LOG_BYTES: usize = 20 * 1024;
/// How full inner pages are made: the next split below needs room in them.
const INNER_PERCENT: usize = 85;
/// How often a step is tried while others change its pages.
const TRIES: usize = 16;

/// What compacting has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compacted {
    /// Pages that have left the tree.
    pub pages: u64,
    /// Steps that moved entries and emptied no page.
    pub moves: u64,
}

/// How a step went.
enum Step {
    /// The right page's entries are in the left one; it has left. Bytes of the left page's entries.
    Merged(usize),
    /// Some are; bytes of both pages' entries, and where the right one begins now.
    Moved { left: usize, right: usize, separator: Vec<u8> },
    /// There is nothing to do, or others are in the way.
    Nothing,
}

/// Pages below one parent.
struct Family {
    children: Vec<Child>,
    /// Bytes of an entry, in the mean.
    entry: usize,
    /// Where the next parent begins.
    next: Option<Vec<u8>>,
}

/// What is known of a tree's free pages since it was opened.
#[derive(Default)]
pub(crate) struct Adopted {
    /// All are: see [`Compaction::adopt_free_pages`].
    all: bool,
    /// Until then: those that have left since, in extents that were the tree's before.
    since: HashSet<PageId>,
}

/// The right to compact a tree: one at a time has it.
pub struct Compaction<'t> {
    tree: &'t Tree,
    adopted: TaskGuard<'t, Adopted>,
    /// What it has done so far.
    pub done: Compacted,
}

impl Tree {
    /// Begins to compact the tree; `None`: somebody else is at it.
    pub fn compaction(&self) -> Option<Compaction<'_>> {
        let adopted = self.shared.compacting.try_lock()?;
        Some(Compaction { tree: self, adopted, done: Compacted::default() })
    }
}

impl Compaction<'_> {
    /// Compacts the leaves below one parent, that of the leaf to which `from` belongs, up to `percent` of a page, after
    /// ghosts that nobody needs are gone; where the next parent begins, or `None`: that was the last. `stop` is
    /// asked between steps. Suspends.
    pub fn leaves<L: TxnLog>(
        &mut self,
        log: &mut L,
        from: &[u8],
        percent: u8,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<u8>>, StorageError> {
        let tree = self.tree;
        let mut purge = |key: &[u8]| tree.purge(log, key);
        self.level(0, from, usize::from(percent.clamp(1, 100)), &mut purge, stop)
    }

    /// Merges inner pages that fit together; how many have left. Suspends.
    pub fn inner(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<u64, StorageError> {
        let before = self.done.pages;
        for level in 1..LEVELS_MAX as u8 {
            if self.tree.root_level()? <= level {
                break;
            }
            let mut at = Some(Vec::new());
            while let (Some(from), false) = (&at, stop()) {
                at = self.level(level, from, INNER_PERCENT, &mut |_| Ok(0), stop)?;
            }
        }
        Ok(self.done.pages - before)
    }

    /// Takes the leaf that begins at `lower` out of the tree if it is empty and not its parent's first; whether it has
    /// left. Suspends.
    pub fn empty_leaf(&mut self, lower: &[u8]) -> Result<bool, StorageError> {
        let merged = self.step(0, lower, 0, false)?;
        let left = matches!(merged, Step::Merged(_));
        self.done.pages += u64::from(left);
        Ok(left)
    }

    fn level(
        &mut self,
        level: u8,
        from: &[u8],
        percent: usize,
        purge: Purge<'_>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<u8>>, StorageError> {
        let Some(family) = self.family(level, from, purge)? else { return Ok(None) };
        let Family { mut children, entry, next } = family;
        let most = (PAGE_BYTES - HEADER_BYTES) * percent / 100;
        let mut left = 0;
        while left + 1 < children.len() {
            let Some(window) = worth_it(&children[left..], most, entry) else {
                left += 1;
                continue;
            };
            // Until the window has one page less.
            let last = left + window;
            while left < last {
                if stop() {
                    return Ok(next);
                }
                match self.step(level, &children[left + 1].lower, most, window > 1)? {
                    Step::Merged(bytes) => {
                        self.done.pages += 1;
                        children[left].bytes = bytes;
                        children.remove(left + 1);
                        break;
                    }
                    Step::Moved { left: of_left, right, separator } => {
                        self.done.moves += 1;
                        children[left].bytes = of_left;
                        left += 1;
                        children[left] = Child { lower: separator, bytes: right };
                    }
                    Step::Nothing => left += 1,
                }
                task::maybe_yield();
            }
        }
        Ok(next)
    }

    /// The children, of `level`, of the parent of the one to which `from` belongs; `None`: there is no such level below
    /// the root.
    fn family(
        &self,
        level: u8,
        from: &[u8],
        purge: Purge<'_>,
    ) -> Result<Option<Family>, StorageError> {
        let pool = self.tree.store.pool();
        let mut parent = LeafCopy::new();
        if !self.tree.copy_parent(level + 1, Target::Key(from), &mut parent)? {
            return Ok(None);
        }
        let mut children = Vec::with_capacity(parent.len());
        let (mut bytes, mut slots) = (0, 0);
        let mut page = PageBuf::boxed();
        for i in 0..parent.len() {
            let (child, lower, _) = slotted::entry(parent.page(), i);
            pool.copy_page(PageId(child), &mut page)?;
            // One that is something else by now is passed over by its step.
            if level == 0 && has_ghosts(&page) && purge(lower)? > 0 {
                pool.copy_page(PageId(child), &mut page)?;
            }
            let own = entries(&page);
            bytes += own;
            slots += Space::of(&*page).slots;
            children.push(Child { lower: lower.to_vec(), bytes: own });
            task::maybe_yield();
        }
        let next = slotted::upper_fence(parent.page()).map(<[u8]>::to_vec);
        Ok(Some(Family { children, entry: bytes / slots.max(1), next }))
    }

    /// Moves entries from the page of `level` that begins at `separator` to its left neighbour: all, or with `slide`
    /// as many as there is room for.
    fn step(
        &mut self,
        level: u8,
        separator: &[u8],
        most: usize,
        slide: bool,
    ) -> Result<Step, StorageError> {
        let tree = self.tree;
        let pool = tree.store.pool();
        for _ in 0..TRIES {
            let Some((parent, at)) = self.parent_at(level, separator)? else {
                return Ok(Step::Nothing);
            };
            let child = |slot| PageId(slotted::entry_head(&parent, slot));
            let pages = at.checked_sub(1).map(|left| (child(left), child(at)));
            if !parent.validate() {
                continue;
            }
            let Some((left, right)) = pages else { return Ok(Step::Nothing) };
            let (left, right) = (pool.optimistic(left)?, pool.optimistic(right)?);
            tree.store.log.ensure(STEP_LOG_BYTES)?;
            let wish = Wish { level, separator, most, slide };
            if let Some(step) = self.step_at(parent, left, right, wish)? {
                if let Step::Merged(_) = step {
                    if !self.adopted.all && tree.store.is_old_extent(right.id())? {
                        self.adopted.since.insert(right.id());
                    }
                    tree.shared.give_page(right.id());
                }
                return Ok(step);
            }
            task::maybe_yield();
        }
        Ok(Step::Nothing)
    }

    /// The parent of the page of `level` that begins at `separator`, and its slot there; a look that may prove wrong.
    fn parent_at(
        &self,
        level: u8,
        separator: &[u8],
    ) -> Result<Option<(PageRead<'_>, usize)>, StorageError> {
        let root = self.tree.id().0;
        'again: loop {
            let mut page = root;
            for _ in 0..LEVELS_MAX {
                let look = self.tree.store.pool().optimistic(page)?;
                let (kind, own_level) = slotted::kind_of(&look);
                let found = slotted::search(&look, separator);
                let child = node::child_for(&look, Target::Key(separator));
                let owner = look.word(slotted::OWNER);
                if !look.validate() {
                    task::maybe_yield();
                    continue 'again;
                }
                if kind != INNER || owner != root.0 || own_level <= level {
                    return Ok(None);
                }
                if own_level == level + 1 {
                    return Ok(found.ok().map(|slot| (look, slot)));
                }
                match child {
                    Some(child) => page = child,
                    None => return Ok(None),
                }
            }
            return Ok(None);
        }
    }

    /// `None`: others came between.
    fn step_at(
        &self,
        parent: PageRead<'_>,
        left: PageRead<'_>,
        right: PageRead<'_>,
        wish: Wish<'_>,
    ) -> Result<Option<Step>, StorageError> {
        let Some(mut parent) = parent.try_exclusive() else { return Ok(None) };
        let Some(mut left) = left.try_exclusive() else {
            parent.unlock_unchanged();
            return Ok(None);
        };
        let Some(mut right) = right.try_exclusive() else {
            left.unlock_unchanged();
            parent.unlock_unchanged();
            return Ok(None);
        };
        let (mut old_left, mut old_right) = (PageBuf::boxed(), PageBuf::boxed());
        left.copy_to(&mut old_left);
        right.copy_to(&mut old_right);
        let plan = match self.neighbours(&old_left, &old_right, wish) {
            Ok(()) => Ok(plan(&old_left, &old_right, &parent, wish)),
            Err(e) => Err(e),
        };
        let (new_left, moved) = match plan {
            Ok(Some(plan)) => plan,
            other => {
                right.unlock_unchanged();
                left.unlock_unchanged();
                parent.unlock_unchanged();
                return other.map(|_| Some(Step::Nothing));
            }
        };
        let (right_image, separator) = match &moved {
            Some((page, separator)) => (slotted::image_of(page), &separator[..]),
            None => (Vec::new(), &[][..]),
        };
        let root = self.tree.id();
        let op = PageOp::Compact {
            tree: root,
            parent: parent.id(),
            left: left.id(),
            right: right.id(),
            old_separator: wish.separator,
            separator,
            left_image: &slotted::image_of(&new_left),
            right_image: &right_image,
        };
        let logged = self.tree.store.log.log(&op);
        self.tree.shared.note_structure();
        let put = |w: &mut PageWrite<'_>, page: &PageBuf| {
            w.copy_from(page);
            w.set_lsn(logged.start, logged.end);
        };
        put(&mut left, &new_left);
        match &moved {
            Some((page, _)) => put(&mut right, page),
            None => {
                let left_tree = free_page(right.id(), root.0);
                put(&mut right, &left_tree);
            }
        }
        node::replace_child(&mut parent, wish.separator, separator, right.id());
        parent.set_lsn(logged.start, logged.end);
        let of_left = entries(&new_left);
        Ok(Some(match moved {
            Some((page, separator)) => {
                Step::Moved { left: of_left, right: entries(&page), separator }
            }
            None => Step::Merged(of_left),
        }))
    }

    /// Two pages that meet at a separator, below a parent that was latched before they were looked at.
    fn neighbours(
        &self,
        left: &PageBuf,
        right: &PageBuf,
        wish: Wish<'_>,
    ) -> Result<(), StorageError> {
        let kind = if wish.level == 0 { LEAF } else { INNER };
        for p in [left, right] {
            let sound = slotted::kind_of(p) == (kind, wish.level)
                && p.word(slotted::OWNER) == self.tree.id().0.0
                && slotted::check(p).is_ok();
            if !sound {
                let page = PageId(p.word(header::PAGE_ID));
                return Err(StorageError::Corrupt { page, what: "not a page of the tree" });
            }
        }
        let meet = slotted::upper_fence(left) == Some(wish.separator)
            && slotted::lower_fence(right) == wish.separator;
        if !meet {
            let page = PageId(left.word(header::PAGE_ID));
            return Err(StorageError::Corrupt { page, what: "siblings' fences do not meet" });
        }
        Ok(())
    }

    /// Gives the extents of which every page is spare back to the filegroup; how many. Suspends.
    pub fn free_spare_extents(&mut self) -> Result<u64, StorageError> {
        let tree = self.tree;
        let mut spare = tree.shared.take_spare_extents();
        let mut freed = 0;
        while let Some(first) = spare.pop() {
            if let Err(e) = tree.store.free_extent(first, tree.id()) {
                spare.push(first);
                for first in spare {
                    let pages = (0..EXTENT_PAGES).map(|i| PageId(first.0 + u64::from(i)));
                    pages.for_each(|page| tree.shared.give_page(page));
                }
                return Err(e);
            }
            for i in 0..EXTENT_PAGES {
                self.adopted.since.remove(&PageId(first.0 + u64::from(i)));
            }
            freed += 1;
            task::maybe_yield();
        }
        Ok(freed)
    }

    /// Finds the pages that had left the tree when it was opened, once: they are spare again. Extents that came to the
    /// tree since are passed over, as somebody may be about to use their pages. Suspends.
    pub fn adopt_free_pages(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), StorageError> {
        let (store, root) = (&self.tree.store, self.tree.id().0);
        if self.adopted.all {
            return Ok(());
        }
        let mut found = Vec::new();
        let mut page = PageBuf::boxed();
        for file in store.store_files() {
            for extent in store.used_extents(&file)? {
                if extent.owner != root.0 || !store.is_old_extent(extent.first)? {
                    continue;
                }
                if stop() {
                    return Ok(());
                }
                for i in 0..EXTENT_PAGES {
                    let id = PageId(extent.first.0 + u64::from(i));
                    // Pages that were never written, or cannot be read, are no concern of this.
                    if store.pool().copy_page(id, &mut page).is_ok() && is_free(&page, id, root) {
                        found.push(id);
                    }
                }
                task::maybe_yield();
            }
        }
        self.adopted.all = true;
        let since = std::mem::take(&mut self.adopted.since);
        found.retain(|page| !since.contains(page));
        found.into_iter().for_each(|page| self.tree.shared.give_page(page));
        Ok(())
    }
}

/// Takes dead ghosts off the leaf of a key; how many.
type Purge<'a> = &'a mut dyn FnMut(&[u8]) -> Result<usize, StorageError>;

/// A page that has left its tree.
pub(crate) fn free_page(page: PageId, owner: PageId) -> PageBuf {
    slotted::shell(Identity { page, owner, kind: FREE, level: 0 }, &[], None, PageId::NONE)
}

fn is_free(p: &PageBuf, page: PageId, owner: PageId) -> bool {
    slotted::kind_of(p).0 == FREE
        && p.word(header::PAGE_ID) == page.0
        && p.word(slotted::OWNER) == owner.0
}
