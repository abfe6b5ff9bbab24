//! Walking a tree a copied leaf at a time.

use crate::StorageError;
use buffer_pool::PageBuf;
use mvcc::Stamp;

/// A private copy of a leaf.
pub struct LeafCopy {
    page: Box<PageBuf>,
}

impl LeafCopy {
    /// The page.
    pub fn page(&self) -> &PageBuf {
        &self.page
    }
}

/// See [`crate::Tree::scan`].
pub struct Scan {
    _leaf: LeafCopy,
}

/// A row as a scan yields it: newest version, whoever wrote it.
pub type ScanRow<'a> = (Stamp, &'a [u8], &'a [u8]);

impl Scan {
    /// The next row (stamp, key, row). Not an iterator: the slices live until the next call.
    #[allow(clippy::should_implement_trait, reason = "a lending iterator")]
    pub fn next(&mut self) -> Result<Option<ScanRow<'_>>, StorageError> {
        unimplemented!()
    }
}
