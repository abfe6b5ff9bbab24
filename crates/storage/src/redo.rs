//! Replaying records: the same changes through the same functions, each page on its own.
//!
//! Invariants: a page whose LSN is at least the record's end has the change already and is left alone; pages that an
//! op makes anew are written whatever is on disk; replay happens in log order per page, by one task at a time. A page
//! that cannot be read is passed over until an op makes it anew, since the first write of such a page may be torn with
//! no other copy; one that no op makes anew is damage, and [`Store::end_redo`] says so.

use crate::alloc;
use crate::leaf::{self, purge_slots, room_for_known};
use crate::node;
use crate::slotted::{self, Space, entry_bytes};
use crate::split::root_above;
use crate::store::{Store, empty_root};
use crate::{LogRow, PageOp, StorageError};
use buffer_pool::{PageBuf, PageId, PageWrite, PoolError};
use log_manager::Lsn;
use mvcc::Stamp;

impl Store {
    /// Ends replay. The error of a page that could not be read and that no record made anew.
    pub fn end_redo(&self) -> Result<(), StorageError> {
        match self.unread.lock().drain().next() {
            Some((_, error)) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Replays `op`, logged at `start..end`; `stamp` is what the envelope says that the rows are stamped with. Pages
    /// whose LSN is at least `end` are left alone. Only before anything else uses the store.
    pub fn redo(
        &self,
        stamp: Stamp,
        start: Lsn,
        end: Lsn,
        op: &PageOp<'_>,
    ) -> Result<(), StorageError> {
        let at = At { store: self, start, end };
        match *op {
            PageOp::Insert { page, key, row, .. } => at.page(page, |w| {
                let row = whole(&row);
                // A replaced ghost is an Update, so the key is not there; if it is, the page is not what was logged.
                let pos = slotted::search(w, key).err().ok_or("replay: an inserted key exists")?;
                room_for_known(w, entry_bytes(key.len(), row.len()));
                let space = Space::of(w);
                slotted::insert_at(w, space, pos, stamp.0, key, &row);
                Ok(())
            }),
            PageOp::Update { page, key, row, .. } => at.row(page, key, |w, i| {
                leaf::put(w, i, stamp, &whole(&row));
            }),
            PageOp::Ghost { page, key, .. } => at.row(page, key, |w, i| {
                slotted::set_head(w, i, stamp.ghost().0);
            }),
            PageOp::Remove { page, key, .. } => at.row(page, key, |w, i| slotted::remove_at(w, i)),
            PageOp::Restore { page, key, stamp, row, .. } => {
                at.row(page, key, |w, i| leaf::put(w, i, stamp, row))
            }
            PageOp::Restamp { page, key, stamp, .. } => {
                at.row(page, key, |w, i| slotted::set_head(w, i, stamp.0))
            }
            PageOp::Purge { page, slots, .. } => at.page(page, |w| {
                purge_slots(w, slots);
                Ok(())
            }),
            PageOp::FormatRoot { tree } => at.new_page(tree.0, &empty_root(tree)),
            PageOp::Split { parent, left, right, keep, separator, image, .. } => {
                let image = slotted::page_of_image(image)
                    .ok_or(StorageError::Corrupt { page: right, what: "replay: no page image" })?;
                at.new_page(right, &image)?;
                at.page(left, |w| {
                    if Space::of(w).slots < keep as usize {
                        return Err("replay: a page to be split is too short");
                    }
                    slotted::truncate(w, keep as usize, separator, right);
                    Ok(())
                })?;
                at.page(parent, |w| {
                    node::add_child(w, separator, right);
                    Ok(())
                })
            }
            PageOp::RootSplit { tree, child, image } => {
                let image = slotted::page_of_image(image)
                    .ok_or(StorageError::Corrupt { page: child, what: "replay: no page image" })?;
                at.new_page(child, &image)?;
                at.new_page(tree.0, &root_above(&image))
            }
            PageOp::AllocExtent { map, extent, owner } => {
                self.forget_space();
                at.page(map, |w| {
                    alloc::apply_alloc(w, extent, owner);
                    Ok(())
                })
            }
            PageOp::FreeExtents { map, owner } => {
                self.forget_space();
                at.page(map, |w| {
                    alloc::apply_free(w, owner);
                    Ok(())
                })
            }
        }
    }
}

fn whole(row: &LogRow<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(row.len());
    row.append_to(&mut bytes);
    bytes
}

/// Where in the log we are.
struct At<'a> {
    store: &'a Store,
    start: Lsn,
    end: Lsn,
}

impl At<'_> {
    /// Changes a page that lacks the change.
    fn page(
        &self,
        page: PageId,
        f: impl FnOnce(&mut PageWrite<'_>) -> Result<(), &'static str>,
    ) -> Result<(), StorageError> {
        let mut w = match self.store.pool().exclusive(page) {
            Ok(w) => w,
            Err(error @ PoolError::Checksum { .. }) => {
                self.store.unread.lock().entry(page).or_insert(error);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        if w.lsn() >= self.end {
            w.unlock_unchanged();
            return Ok(());
        }
        f(&mut w).map_err(|what| StorageError::Corrupt { page, what })?;
        w.set_lsn(self.start, self.end);
        Ok(())
    }

    /// Changes a row of a page that lacks the change.
    fn row(
        &self,
        page: PageId,
        key: &[u8],
        f: impl FnOnce(&mut PageWrite<'_>, usize),
    ) -> Result<(), StorageError> {
        self.page(page, |w| {
            let i = slotted::search(w, key).map_err(|_| "replay: a changed row is missing")?;
            f(w, i);
            Ok(())
        })
    }

    /// Writes a page whole, unless it is newer.
    fn new_page(&self, page: PageId, content: &PageBuf) -> Result<(), StorageError> {
        let pool = self.store.pool();
        let mut w = match pool.exclusive(page) {
            Ok(w) if w.lsn() >= self.end => {
                w.unlock_unchanged();
                return Ok(());
            }
            Ok(w) => w,
            // Never written, or in another life: its first record here says all.
            Err(PoolError::Checksum { .. }) => {
                self.store.unread.lock().remove(&page);
                pool.create_or_wait(page)?
            }
            Err(e) => return Err(e.into()),
        };
        w.copy_from(content);
        w.set_lsn(self.start, self.end);
        Ok(())
    }
}
