//! How data files grow: the map pages of new intervals first, then the extents become known to the allocator.
//!
//! One at a time grows or reads maps ([`Store::growing`]). A file's length covers an interval's second extent only after its
//! map page is durable (`alloc.rs`, invariant 2).

use super::{EXTENT_BYTES, MAP, MAP_EXTENTS, SYSTEM, map_of};
use crate::StorageError;
use crate::slotted::{OWNER, SLOTS};
use crate::store::{DataFile, Store};
use buffer_pool::{FileId, PAGE_BYTES, PageBuf, PageId, PageWordsMut, header};
use device::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use telemetry::WaitType;

/// A file grows by a tenth, at least by this.
const GROW_BYTES: u64 = 64 << 20;
/// Extents that `grow_ahead` keeps free.
const AHEAD_EXTENTS: u32 = (32 << 20) / EXTENT_BYTES as u32;

/// See [`set_grow_together`].
static GROW_TOGETHER: AtomicBool = AtomicBool::new(false);

/// Whether all files of a filegroup grow when one must (trace flag 1117), for every store of the process. Else the
/// smallest grows.
pub fn set_grow_together(on: bool) {
    GROW_TOGETHER.store(on, Relaxed);
}

/// Extends a data file to `len` bytes, writing the map pages of new intervals first.
pub(crate) fn grow_file(
    file: &(dyn File + 'static),
    id: u16,
    len: u64,
) -> Result<(), StorageError> {
    let mut at = file.len().map_err(StorageError::File)?;
    let interval_bytes = u64::from(MAP_EXTENTS) * EXTENT_BYTES;
    while at < len {
        let interval = at / interval_bytes;
        let begin = interval * interval_bytes;
        if at < begin + EXTENT_BYTES {
            file.reserve(at, begin + EXTENT_BYTES - at).map_err(StorageError::File)?;
            at = begin + EXTENT_BYTES;
            write_map(file, map_of(id, interval as u32 * MAP_EXTENTS).0)?;
        }
        let end = len.min(begin + interval_bytes);
        if end > at {
            file.reserve(at, end - at).map_err(StorageError::File)?;
            at = end;
        }
    }
    Ok(())
}

impl DataFile {
    /// A length, but no more than it may have, in whole extents.
    fn at_most(&self, bytes: u64) -> u64 {
        bytes.min(self.max_bytes.load(Acquire)).min(self.most_bytes) / EXTENT_BYTES * EXTENT_BYTES
    }
}

impl Store {
    /// Grows the smallest of the files that may grow, or all of them.
    pub(super) fn grow(&self, files: &[Arc<DataFile>], kept: u32) -> Result<(), StorageError> {
        let _turn = self.growing.lock(WaitType::PreemptiveOsFileOps);
        if files.iter().map(|f| f.space.lock().free).sum::<u32>() > kept {
            return Ok(());
        }
        self.grow_locked(files)
    }

    fn grow_locked(&self, files: &[Arc<DataFile>]) -> Result<(), StorageError> {
        let mut growing: Vec<(u64, u64, &Arc<DataFile>)> = Vec::new();
        for file in files {
            let len = file.file.len().map_err(StorageError::File)?;
            let step = (len / 10).max(GROW_BYTES.min(len.max(1 << 20)));
            let to = file.at_most(len + step);
            if to > len {
                growing.push((len, to, file));
            }
        }
        growing.sort_by_key(|(len, ..)| *len);
        let mut growing = growing.into_iter();
        let (_, to, file) = growing.next().ok_or(StorageError::FilegroupFull)?;
        self.grow_to(file, to)?;
        if GROW_TOGETHER.load(Relaxed) {
            for (_, to, file) in growing {
                // What was asked for is there; the others may find the disk full.
                match self.grow_to(file, to) {
                    Ok(()) | Err(StorageError::FilegroupFull) => {}
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(())
    }

    fn grow_to(&self, file: &DataFile, to: u64) -> Result<(), StorageError> {
        if let Err(e) = grow_file(&*file.file, file.id, to) {
            return Err(match e {
                StorageError::File(e) if e.kind() == std::io::ErrorKind::StorageFull => {
                    StorageError::FilegroupFull
                }
                e => e,
            });
        }
        let mut space = file.space.lock();
        let extents = (to / EXTENT_BYTES) as u32;
        for e in space.extents..extents {
            if e % MAP_EXTENTS != 0 {
                space.set_free(e);
            }
        }
        space.extents = extents;
        Ok(())
    }

    /// Makes a data file at least so long, by whole extents; less where it may not become so long. Suspends.
    pub fn grow_file_to(&self, id: FileId, bytes: u64) -> Result<(), StorageError> {
        let Some(file) = self.mapped_file(id)? else { return Ok(()) };
        let _turn = self.growing.lock(WaitType::PreemptiveOsFileOps);
        let len = file.file.len().map_err(StorageError::File)?;
        let to = file.at_most(stdx::round_up(bytes, EXTENT_BYTES));
        if to > len { self.grow_to(&file, to) } else { Ok(()) }
    }

    /// Grows files that are in use and nearly full before anyone has to wait for it. One step of a background task;
    /// whether it did anything.
    pub fn grow_ahead(&self) -> Result<bool, StorageError> {
        let all = self.all_files();
        for file in &all {
            let group: Vec<_> =
                all.iter().filter(|f| f.filegroup == file.filegroup).cloned().collect();
            let (mut free, mut extents, mut loaded) = (0, 0, true);
            for f in &group {
                let s = f.space.lock();
                free += s.free;
                extents += s.extents;
                loaded &= s.loaded;
            }
            // Small files are left alone: an idle database does not grow.
            if loaded && free < AHEAD_EXTENTS && extents > 4 * AHEAD_EXTENTS {
                let _turn = self.growing.lock(WaitType::PreemptiveOsFileOps);
                return match self.grow_locked(&group) {
                    Ok(()) => Ok(true),
                    Err(StorageError::FilegroupFull) => Ok(false),
                    Err(e) => Err(e),
                };
            }
        }
        Ok(false)
    }
}

/// Writes an empty map page, durably and past the pool: nothing of it is in memory yet.
pub(super) fn write_map(file: &(dyn File + 'static), map: PageId) -> Result<(), StorageError> {
    let mut p = PageBuf::boxed();
    p.set_word(header::KIND, u64::from(MAP) << 32);
    p.set_word(header::PAGE_ID, map.0);
    p.set_word(OWNER, SYSTEM);
    p.set_word(SLOTS, SYSTEM);
    p.seal();
    let offset = u64::from(map.page_no()) * PAGE_BYTES as u64;
    file.write_all_at(offset, p.bytes(), true, WaitType::PreemptiveOsFileOps)
        .map_err(StorageError::File)
}
