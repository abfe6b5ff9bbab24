//! Cleaning the leaf of one key: dead ghosts go, and what is left is told.

use crate::leaf::Change;
use crate::slotted::{self, Space};
use crate::{StorageError, Tree, TxnLog};
use buffer_pool::PageBuf;
use mvcc::Stamp;

/// What a leaf was like when it had been cleaned.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Swept {
    /// Ghosts that went.
    pub purged: usize,
    /// Ghosts that somebody may still need.
    pub ghosts: usize,
    /// Nothing is left.
    pub is_empty: bool,
    /// No key of the leaf is below.
    pub lower: Vec<u8>,
    /// All keys of the leaf are below; `None`: it is the last.
    pub upper: Option<Vec<u8>>,
}

impl Tree {
    /// Takes dead ghosts off the leaf of `key`. Suspends.
    pub fn sweep<L: TxnLog>(&self, log: &mut L, key: &[u8]) -> Result<Swept, StorageError> {
        let mut swept = Swept::default();
        let mut page = PageBuf::boxed();
        self.change(log, key, key.len(), 0, |cx, w| {
            let purged = cx.purge(w);
            w.copy_to(&mut page);
            let slots = Space::of(&*page).slots;
            let is_ghost = |i: &usize| Stamp(slotted::entry_head(&*page, *i)).is_ghost();
            swept = Swept {
                purged,
                ghosts: (0..slots).filter(is_ghost).count(),
                is_empty: slots == 0,
                lower: slotted::lower_fence(&page).to_vec(),
                upper: slotted::upper_fence(&page).map(<[u8]>::to_vec),
            };
            Ok(Change::Done(purged > 0))
        })?;
        Ok(swept)
    }

    /// Takes dead ghosts off the leaf of `key`; how many. Suspends.
    pub fn purge<L: TxnLog>(&self, log: &mut L, key: &[u8]) -> Result<usize, StorageError> {
        Ok(self.sweep(log, key)?.purged)
    }
}
