//! Splitting a full page: one record that rebuilds three pages.
//!
//! A split makes a new right sibling, cuts the left page down and tells the parent; when the parent has no room, the
//! parent is split instead and the caller's descent begins again; when there is no parent, the root's content moves to
//! a child first. The record has the right page's image, how many slots the left page keeps, and the separator.
//!
//! Where: at the end for ascending keys (the right page starts empty, the record is small), at the insertion point
//! when it follows the last insert (several ascending ranges in one tree), else in the middle by bytes.
//!
//! Invariants: frames, page numbers and log space are had before the first latch. Latches: new page, parent, page; the
//! latter two only in the state that the descent saw.

use crate::node::{self, Target};
use crate::slotted::{self, INNER, Identity, LEAF, Space};
use crate::tree::Path;
use crate::{PageOp, StorageError, Tree};
use buffer_pool::{PageBuf, PageId, PageRead, PageWords, PageWrite};
use telemetry::counters::{self, Counter};

/// Log bytes of a split: an image, a separator, headers.
const SPLIT_LOG_BYTES: usize = 10 * 1024;

/// What to do next.
enum Step {
    Done,
    /// Somebody came between: the descent begins again.
    Again,
    /// The parent needs room first.
    Parent,
    /// Somebody emptied the page: it has room.
    Nothing,
}

/// Where a page is cut.
struct Cut {
    keep: usize,
    separator: Vec<u8>,
}

impl Tree {
    /// Makes room around `key`, which is to be inserted or grown. It may take several
    /// calls until the leaf has room; each makes some.
    #[cold]
    #[inline(never)]
    pub(crate) fn split(&self, key: &[u8], row_bytes: usize) -> Result<(), StorageError> {
        let pool = self.store.pool();
        let mut reserved = pool.reserve(0)?;
        let page = self.shared.take_page(&self.store)?;
        let mut used = false;
        let mut path = Path::new();
        let result = 'again: loop {
            if let Err(e) = self.descend(Target::Key(key), &mut path) {
                break Err(e);
            }
            // At every attempt: the page made by the last one may have been evicted again.
            if let Err(e) = reserved.refill(1) {
                break Err(e.into());
            }
            if let Err(e) = self.store.log.ensure(SPLIT_LOG_BYTES) {
                break Err(e.into());
            }
            let mut new = match pool.create(page, &mut reserved) {
                Ok(Some(new)) => new,
                Ok(None) => {
                    // A stale look is reading it in: wait for that, holding nothing.
                    match pool.create_or_wait(page) {
                        Ok(w) => drop(w),
                        Err(e) => break Err(e.into()),
                    }
                    continue;
                }
                Err(e) => break Err(e.into()),
            };
            let mut level = path.len() - 1;
            loop {
                let step = if level == 0 {
                    self.split_root(path.at(0), &mut new)
                } else {
                    let leaf = (level == path.len() - 1).then_some((key, row_bytes));
                    self.split_at(path.at(level - 1), path.at(level), &mut new, leaf)
                };
                match step {
                    Ok(Step::Done) => {
                        used = true;
                        counters::add(Counter::PageSplits, 1);
                        break 'again Ok(());
                    }
                    Ok(Step::Parent) => level -= 1,
                    Ok(Step::Again) => continue 'again,
                    Ok(Step::Nothing) => break 'again Ok(()),
                    Err(e) => break 'again Err(e),
                }
            }
        };
        if !used {
            self.shared.give_page(page);
        }
        result
    }

    /// Moves the root's content one level down.
    fn split_root(
        &self,
        root: PageRead<'_>,
        new: &mut PageWrite<'_>,
    ) -> Result<Step, StorageError> {
        let Some(mut root) = root.try_exclusive() else { return Ok(Step::Again) };
        let mut old = PageBuf::zeroed();
        root.copy_to(&mut old);
        let (kind, level) = slotted::kind_of(&old);
        let owner = self.id().0;
        let id = Identity { page: new.id(), owner, kind, level };
        let mut child = slotted::shell(id, &[], None, PageId::NONE);
        slotted::copy_entries(&old, 0..Space::of(&old).slots, &mut child);
        let mut space = Space::of(&child);
        space.last_insert = Space::of(&old).last_insert;
        space.store(&mut child);
        let image = slotted::image_of(&child);
        let op = PageOp::RootSplit { tree: self.id(), child: new.id(), image: &image };
        let logged = self.store.log.log(&op);
        self.shared.note_structure();
        new.copy_from(&child);
        new.set_lsn(logged.start, logged.end);
        root.copy_from(&root_above(&child));
        root.set_lsn(logged.start, logged.end);
        Ok(Step::Done)
    }

    fn split_at(
        &self,
        parent: PageRead<'_>,
        left: PageRead<'_>,
        new: &mut PageWrite<'_>,
        leaf: Option<(&[u8], usize)>,
    ) -> Result<Step, StorageError> {
        let Some(mut parent) = parent.try_exclusive() else { return Ok(Step::Again) };
        let Some(mut left) = left.try_exclusive() else {
            parent.unlock_unchanged();
            return Ok(Step::Again);
        };
        if Space::of(&left).slots == 0 {
            return Ok(Step::Nothing);
        }
        let ascending = leaf.and_then(|(key, _)| cut_at_end(&left, key, new.id()));
        let (cut, right) = match ascending {
            Some(found) => found,
            None => {
                let mut old = PageBuf::zeroed();
                left.copy_to(&mut old);
                let cut = match leaf {
                    Some((key, row)) => match cut_leaf(&old, key, row) {
                        Some(cut) => cut,
                        // Others have emptied the leaf meanwhile but for this very key.
                        None if fits_alone(&old, key, row) => return Ok(Step::Nothing),
                        None => return Err(StorageError::RowTooLarge { key: key.len(), row }),
                    },
                    None => {
                        let what = "a full inner page that cannot be split";
                        cut_inner(&old).ok_or(StorageError::Corrupt { page: left.id(), what })?
                    }
                };
                let right = right_of_cut(&old, cut.keep, &cut.separator, new.id());
                (cut, right)
            }
        };
        let Cut { keep, separator } = cut;
        if !node::has_room(&parent, separator.len()) {
            left.unlock_unchanged();
            parent.unlock_unchanged();
            return Ok(Step::Parent);
        }
        let image = slotted::image_of(&right);
        let op = PageOp::Split {
            tree: self.id(),
            parent: parent.id(),
            left: left.id(),
            right: new.id(),
            keep: keep as u16,
            separator: &separator,
            image: &image,
        };
        let logged = self.store.log.log(&op);
        self.shared.note_structure();
        slotted::write_live(new, &right);
        new.set_lsn(logged.start, logged.end);
        slotted::truncate(&mut left, keep, &separator, new.id());
        left.set_lsn(logged.start, logged.end);
        node::add_child(&mut parent, &separator, new.id());
        parent.set_lsn(logged.start, logged.end);
        Ok(Step::Done)
    }
}

/// The root above its only child: a node with one slot.
pub(crate) fn root_above(child: &PageBuf) -> PageBuf {
    let owner = PageId(child.word(slotted::OWNER));
    let level = slotted::kind_of(child).1 + 1;
    let id = Identity { page: owner, owner, kind: INNER, level };
    let mut root = slotted::shell(id, &[], None, PageId::NONE);
    let space = Space::of(&root);
    let child_id = child.word(buffer_pool::header::PAGE_ID);
    slotted::insert_at(&mut root, space, 0, child_id, &[], &[]);
    root
}

/// The page right of a cut.
fn right_of_cut(
    old: &PageBuf,
    keep: usize,
    separator: &[u8],
    page: buffer_pool::PageId,
) -> PageBuf {
    let (kind, level) = slotted::kind_of(old);
    let owner = PageId(old.word(slotted::OWNER));
    let id = Identity { page, owner, kind, level };
    let mut right =
        slotted::shell(id, separator, slotted::upper_fence(old), slotted::right_of(old));
    slotted::copy_entries(old, keep..Space::of(old).slots, &mut right);
    right
}

/// The cut for a key above all of the leaf's, and the empty page right of it; `None` for another key.
fn cut_at_end(left: &PageWrite<'_>, key: &[u8], page: PageId) -> Option<(Cut, PageBuf)> {
    let keep = Space::of(left).slots;
    if slotted::search(left, key) != Err(keep) {
        return None;
    }
    let (mut last, mut upper) = (Vec::new(), Vec::new());
    slotted::read_key(left, keep - 1, &mut last);
    let upper = slotted::read_upper(left, &mut upper).then_some(&upper[..]);
    let separator = slotted::separator(&last, key).to_vec();
    let owner = PageId(left.word(slotted::OWNER));
    let id = Identity { page, owner, kind: LEAF, level: 0 };
    let right = slotted::shell(id, &separator, upper, slotted::right_of(left));
    Some((Cut { keep, separator }, right))
}

/// Whether the only row of a leaf can be replaced by one of `row_bytes` (the terms of `LeafContext::replace`).
fn fits_alone(p: &PageBuf, key: &[u8], row_bytes: usize) -> bool {
    let space = Space::of(p);
    let bytes = slotted::entry_bytes(key.len(), row_bytes) + slotted::pad8(key.len());
    space.gap() + space.dead + slotted::slot(p, 0).bytes >= bytes
}

/// Where to cut a leaf that has entries, for a key among them; `None`: one row fills it.
fn cut_leaf(p: &PageBuf, key: &[u8], row_bytes: usize) -> Option<Cut> {
    debug_assert_eq!(slotted::kind_of(p).0, LEAF);
    let space = Space::of(p);
    let n = space.slots;
    let key_at = |i: usize| slotted::entry(p, i).1;
    let (pos, present) = match slotted::search(p, key) {
        Ok(i) => (i, true),
        Err(i) => (i, false),
    };
    if !present {
        let ascending = pos > 0 && pos == space.last_insert as usize + 1;
        if ascending || n == 1 {
            let separator = slotted::separator(key, key_at(pos)).to_vec();
            return Some(Cut { keep: pos, separator });
        }
    }
    if n == 1 {
        return None;
    }
    // In the middle by bytes, the new row counted where it goes.
    let extra = slotted::entry_bytes(key.len(), row_bytes);
    let bytes = |i: usize| slotted::slot(p, i).bytes + if i == pos { extra } else { 0 };
    let total: usize = (0..n).map(bytes).sum();
    let mut sum = 0;
    let mut keep = n - 1;
    for i in 0..n - 1 {
        sum += bytes(i);
        if sum >= total / 2 {
            keep = i + 1;
            break;
        }
    }
    let keep = keep.clamp(1, n - 1);
    let separator = slotted::separator(key_at(keep - 1), key_at(keep)).to_vec();
    Some(Cut { keep, separator })
}

fn cut_inner(p: &PageBuf) -> Option<Cut> {
    let space = Space::of(p);
    if space.slots < 2 {
        return None;
    }
    // Ascending: the last child alone moves, and the left node stays full.
    let last = space.slots - 1;
    let keep = if space.last_insert as usize == last { last } else { space.slots / 2 };
    Some(Cut { keep, separator: slotted::entry(p, keep).1.to_vec() })
}
