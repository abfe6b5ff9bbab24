//! Replaying records, page by page: the same changes through the same functions, to a private copy of one page.
//!
//! Invariants: a page whose LSN is at least the record's end has the change already and is left alone; a page that an
//! op makes anew is written whatever it held; ops reach a page in the order of the log. What an op does to one of its
//! pages never depends on another page, so each page may be replayed by itself and at any time ([`PageOp::pages`] says
//! which there are).

use crate::alloc;
use crate::compact::free_page;
use crate::leaf::{self, purge_slots, room_for_known};
use crate::node;
use crate::slotted::{self, Space, entry_bytes};
use crate::split::root_above;
use crate::store::empty_root;
use crate::{LogRow, PageOp};
use buffer_pool::{PageBuf, PageId, PageWords, PageWordsMut, header};
use log_manager::Lsn;
use mvcc::Stamp;

/// Pages that one op changes at most.
pub const OP_PAGES: usize = 3;

/// A page that an op changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touched {
    pub page: PageId,
    /// The op writes the page whole: nothing from before it is needed.
    pub anew: bool,
}

impl PageOp<'_> {
    /// The pages that the op changes. Rows of bytes are not looked at, so this is cheap.
    #[inline]
    pub fn pages(&self) -> impl Iterator<Item = Touched> + use<> {
        let changed = |page| Some(Touched { page, anew: false });
        let made = |page| Some(Touched { page, anew: true });
        let all: [Option<Touched>; OP_PAGES] = match *self {
            PageOp::Insert { page, .. }
            | PageOp::Update { page, .. }
            | PageOp::Ghost { page, .. }
            | PageOp::Remove { page, .. }
            | PageOp::Restore { page, .. }
            | PageOp::Restamp { page, .. }
            | PageOp::Purge { page, .. } => [changed(page), None, None],
            PageOp::FormatRoot { tree } => [made(tree.0), None, None],
            PageOp::Split { parent, left, right, .. } => {
                [made(right), changed(left), changed(parent)]
            }
            PageOp::Compact { parent, left, right, .. } => {
                [made(left), made(right), changed(parent)]
            }
            PageOp::RootSplit { tree, child, .. } => [made(child), made(tree.0), None],
            PageOp::AllocExtent { map, .. } | PageOp::FreeExtents { map, .. } => {
                [changed(map), None, None]
            }
        };
        all.into_iter().flatten()
    }

    /// Does to `w`, which is a copy of `page`, what the op, logged up to `end`, did to that page; `stamp` is what the
    /// envelope says that rows are stamped with. Whether there was anything to do: not when the page's LSN says that
    /// it has the change. The error says how the page is not what was logged. `row` is memory to put a row together in.
    pub fn redo(
        &self,
        page: PageId,
        w: &mut PageBuf,
        stamp: Stamp,
        end: Lsn,
        row: &mut Vec<u8>,
    ) -> Result<bool, &'static str> {
        let whole = row;
        if w.word(header::LSN) >= end.0 {
            return Ok(false);
        }
        match *self {
            PageOp::Insert { key, ref row, .. } => {
                // A replaced ghost is an Update, so the key is not there; if it is, the page is not what was logged.
                let pos = slotted::search(w, key).err().ok_or("replay: an inserted key exists")?;
                with_whole(row, whole, |row| {
                    room_for_known(w, entry_bytes(key.len(), row.len()));
                    let space = Space::of(w);
                    slotted::insert_at(w, space, pos, stamp.0, key, row);
                });
            }
            PageOp::Update { key, ref row, .. } => {
                let i = row_of(w, key)?;
                with_whole(row, whole, |row| leaf::put(w, i, stamp, row));
            }
            PageOp::Ghost { key, .. } => {
                let i = row_of(w, key)?;
                slotted::set_head(w, i, stamp.ghost().0);
            }
            PageOp::Remove { key, .. } => {
                let i = row_of(w, key)?;
                slotted::remove_at(w, i);
            }
            PageOp::Restore { key, stamp, row, .. } => {
                let i = row_of(w, key)?;
                leaf::put(w, i, stamp, row);
            }
            PageOp::Restamp { key, stamp, .. } => {
                let i = row_of(w, key)?;
                slotted::set_head(w, i, stamp.0);
            }
            PageOp::Purge { slots, .. } => purge_slots(w, slots),
            PageOp::FormatRoot { tree } => replace(w, &empty_root(tree)),
            PageOp::Split { parent, left, right, keep, separator, image, .. } => {
                if page == right {
                    replace(w, &slotted::page_of_image(image).ok_or("replay: no page image")?);
                } else if page == left {
                    if Space::of(w).slots < keep as usize {
                        return Err("replay: a page to be split is too short");
                    }
                    slotted::truncate(w, keep as usize, separator, right);
                } else {
                    debug_assert_eq!(page, parent);
                    node::add_child(w, separator, right);
                }
            }
            PageOp::Compact {
                tree,
                parent,
                left,
                right,
                old_separator,
                separator,
                left_image,
                right_image,
            } => {
                let whole = |image| slotted::page_of_image(image).ok_or("replay: no page image");
                if page == left {
                    replace(w, &whole(left_image)?);
                } else if page == right && right_image.is_empty() {
                    replace(w, &free_page(right, tree.0));
                } else if page == right {
                    replace(w, &whole(right_image)?);
                } else {
                    debug_assert_eq!(page, parent);
                    slotted::search(w, old_separator)
                        .map_err(|_| "replay: a page that left its parent is not there")?;
                    node::replace_child(w, old_separator, separator, right);
                }
            }
            PageOp::RootSplit { child, image, .. } => {
                let image = slotted::page_of_image(image).ok_or("replay: no page image")?;
                if page == child {
                    replace(w, &image);
                } else {
                    replace(w, &root_above(&image));
                }
            }
            PageOp::AllocExtent { extent, owner, .. } => alloc::apply_alloc(w, extent, owner),
            PageOp::FreeExtents { owner, .. } => alloc::apply_free(w, owner),
        }
        w.set_word(header::LSN, end.0);
        Ok(true)
    }
}

fn replace(w: &mut PageBuf, content: &PageBuf) {
    w.words_mut().copy_from_slice(content.words());
}

/// Calls `f` with the row whole, put together in `whole` if it must be.
fn with_whole(row: &LogRow<'_>, whole: &mut Vec<u8>, f: impl FnOnce(&[u8])) {
    if row.fill_len == 0 && row.tail.is_empty() {
        return f(row.head);
    }
    whole.clear();
    row.append_to(whole);
    f(whole);
}

fn row_of(w: &PageBuf, key: &[u8]) -> Result<usize, &'static str> {
    slotted::search(w, key).map_err(|_| "replay: a changed row is missing")
}
