//! What a backup or a check reads of a store beside trees: its files, which extents are in use, pages as they are.
//!
//! Promise: an extent that was in use when [`Store::used_extents`] read its map page is in the answer, with the owner
//! that it had then; later changes are in the log.

use crate::alloc::{EXTENT_PAGES, MAP, MAP_EXTENTS, grow_file, map_of};
use crate::store::Store;
use crate::{FilegroupId, StorageError};
use buffer_pool::{DamageKind, FileId, PAGE_BYTES, PageBuf, PageId, PageWords, PoolError, header};
use device::File;
use std::sync::Arc;

/// Pages of an extent.
pub const EXTENT: u32 = EXTENT_PAGES;

/// A data file of the store.
#[derive(Clone)]
pub struct StoreFile {
    pub id: FileId,
    pub filegroup: FilegroupId,
    pub file: Arc<dyn File>,
}

/// An extent in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UsedExtent {
    /// Its first page.
    pub first: PageId,
    /// The page id of its tree's root, or 1 for the system's.
    pub owner: u64,
}

impl UsedExtent {
    /// The first extent of an interval: file headers and the map page.
    pub fn is_system(&self) -> bool {
        self.owner == 1
    }

    /// The map page that describes it.
    pub fn map_page(&self) -> PageId {
        map_of(self.first.file(), self.first.page_no() / EXTENT_PAGES).0
    }
}

impl Store {
    /// The data files.
    pub fn store_files(&self) -> Vec<StoreFile> {
        let all = self.all_files().into_iter();
        all.map(|f| StoreFile { id: f.id, filegroup: f.filegroup, file: f.file.clone() }).collect()
    }

    /// The extents of a file that are in use, in order. Suspends.
    pub fn used_extents(&self, file: &StoreFile) -> Result<Vec<UsedExtent>, StorageError> {
        let len = file.file.len().map_err(StorageError::File)?;
        let extents = (len / (u64::from(EXTENT_PAGES) * PAGE_BYTES as u64)) as u32;
        let mut used = Vec::new();
        let mut copy = PageBuf::boxed();
        for first in (0..extents).step_by(MAP_EXTENTS as usize) {
            let (map, _) = map_of(file.id, first);
            match self.pool().copy_page(map, &mut copy) {
                Ok(()) => {}
                // Growth is between the extent and its map page.
                Err(PoolError::Checksum { kind: DamageKind::NeverWritten, .. })
                    if extents == first + 1 =>
                {
                    break;
                }
                Err(e) => return Err(e.into()),
            }
            if header::page_type(&*copy) != MAP {
                return Err(StorageError::Corrupt { page: map, what: "not a map page" });
            }
            for extent in first..extents.min(first + MAP_EXTENTS) {
                let owner = copy.word(map_of(file.id, extent).1);
                if owner != 0 {
                    used.push(UsedExtent {
                        first: PageId::new(file.id, extent * EXTENT_PAGES),
                        owner,
                    });
                }
            }
        }
        Ok(used)
    }

    /// The extents that a map page gives to a tree though the file ends before them: it has been cut short. Suspends.
    pub fn lost_extents(&self, file: &StoreFile) -> Result<Vec<UsedExtent>, StorageError> {
        let len = file.file.len().map_err(StorageError::File)?;
        let extents = (len / (u64::from(EXTENT_PAGES) * PAGE_BYTES as u64)) as u32;
        // Of whole intervals beyond the end the map pages are gone too.
        if extents % MAP_EXTENTS <= 1 {
            return Ok(Vec::new());
        }
        let mut copy = PageBuf::boxed();
        self.pool().copy_page(map_of(file.id, extents).0, &mut copy)?;
        // Longer by now.
        let grown = file.file.len().map_err(StorageError::File)? > len;
        let beyond = extents..extents.next_multiple_of(MAP_EXTENTS);
        let used = beyond.map(|extent| UsedExtent {
            first: PageId::new(file.id, extent * EXTENT_PAGES),
            owner: copy.word(map_of(file.id, extent).1),
        });
        Ok(used.filter(|extent| extent.owner != 0 && !grown).collect())
    }

    /// Extends a data file that is being restored to `len` bytes. Suspends.
    pub fn extend_file(
        file: &(dyn File + 'static),
        id: FileId,
        len: u64,
    ) -> Result<(), StorageError> {
        grow_file(file, id, len)
    }
}
