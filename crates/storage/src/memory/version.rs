//! One version of a row: its stamp, the link to the one before it and its bytes, in one piece of memory.
//!
//! ```text
//! Owned --into_raw--> *mut Version: stamp | older | bytes, len | the bytes themselves
//! ```
//! Invariant: a version is never moved, so that `bytes` leads behind it, and it is freed by [`Owned`] alone, which knows
//! how much memory it has. Who changes what in it is said in `row.rs`.

use crate::memory::reclaim::Guard;
use crate::memory::sync::{AtomicPtr, AtomicU64, Ordering::*};
use mvcc::{Stamp, Xid};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};

/// One version of a row.
pub(crate) struct Version {
    stamp: AtomicU64,
    pub(super) older: AtomicPtr<Version>,
    /// Written before anybody else sees the version, and never again.
    bytes: NonNull<u8>,
    len: usize,
}

// SAFETY: the bytes are the version's own, and are only read once it can be reached.
unsafe impl Send for Version {}
// SAFETY: as above.
unsafe impl Sync for Version {}

impl Version {
    /// Of an unfinished transaction; none: the row is deleted.
    pub fn active(own: Xid, row: Option<&[u8]>) -> Owned {
        let stamp = Stamp::active(own);
        let stamp = if row.is_some() { stamp } else { stamp.ghost() };
        Version::stamped(stamp, row.unwrap_or_default())
    }

    pub fn stamped(stamp: Stamp, row: &[u8]) -> Owned {
        let (layout, at) = layout(row.len());
        // SAFETY: the layout is not empty: it has a version in it.
        let Some(memory) = NonNull::new(unsafe { alloc(layout) }) else {
            handle_alloc_error(layout)
        };
        // SAFETY: `layout` has room for a version at its beginning and for the row at `at`; the memory is new.
        unsafe {
            let bytes = memory.add(at);
            bytes.copy_from_nonoverlapping(NonNull::from(row).cast(), row.len());
            let older = AtomicPtr::new(null_mut());
            let stamp = AtomicU64::new(stamp.0);
            memory.cast().write(Version { stamp, older, bytes, len: row.len() });
        }
        Owned(memory.cast())
    }

    #[inline]
    pub fn stamp(&self) -> Stamp {
        Stamp(self.stamp.load(Acquire))
    }

    /// Its transaction has committed.
    #[inline]
    pub fn restamp(&self, stamp: Stamp) {
        self.stamp.store(stamp.0, Release);
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `stamped` has written so many there, and they live as long as the version.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr(), self.len) }
    }

    /// The one before.
    #[inline]
    pub fn older<'g>(&self, _: &'g Guard) -> Option<&'g Version> {
        // SAFETY: what a link leads to lives as long as the guard.
        unsafe { self.older.load(Acquire).as_ref() }
    }

    /// What it weighs.
    #[cfg(not(loom))]
    pub fn weight(&self) -> usize {
        crate::memory::figures::taken(size_of::<Version>() + self.len)
    }
}

#[cfg(not(loom))]
impl Version {
    /// Takes the one before out; the cleaner alone, and the caller frees it.
    pub fn unlink_older(&self) -> *mut Version {
        let older = self.older.load(Acquire);
        // SAFETY: only the cleaner, which is the caller, takes out and frees what is below.
        let after = unsafe { older.as_ref() }.map_or(null_mut(), |v| v.older.load(Acquire));
        self.older.store(after, Release);
        older
    }

    pub fn has_older(&self) -> bool {
        !self.older.load(Acquire).is_null()
    }

    /// Frees a version when nobody can look at it any more.
    ///
    /// # Safety
    /// It came from [`Owned::into_raw`], no link leads to it any more, and nobody else frees it.
    pub unsafe fn free(this: *mut Version, guard: &Guard) {
        // SAFETY: the caller's promise.
        unsafe { guard.defer(move || drop(Owned::from_raw(this))) }
    }
}

/// The memory of a version with so many bytes, and where in it they begin.
fn layout(len: usize) -> (Layout, usize) {
    let bytes = Layout::array::<u8>(len);
    match bytes.and_then(|bytes| Layout::new::<Version>().extend(bytes)) {
        Ok(found) => found,
        Err(_) => stdx::fatal!("a row of {len} bytes"),
    }
}

/// A version and its memory.
pub(crate) struct Owned(NonNull<Version>);

// SAFETY: it is a version's only owner.
unsafe impl Send for Owned {}

impl Owned {
    /// The version; who gives it back to [`Owned::from_raw`] frees it.
    pub fn into_raw(self) -> *mut Version {
        ManuallyDrop::new(self).0.as_ptr()
    }

    /// # Safety
    /// `version` came from [`Owned::into_raw`], and nobody else owns it.
    pub unsafe fn from_raw(version: *mut Version) -> Owned {
        match NonNull::new(version) {
            Some(version) => Owned(version),
            None => stdx::fatal!("no version where one was"),
        }
    }
}

impl Deref for Owned {
    type Target = Version;

    fn deref(&self) -> &Version {
        // SAFETY: it is whole, and ours.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let (layout, _) = layout(self.len);
        // SAFETY: `stamped` has made it with this layout, and nobody else has it any more.
        unsafe {
            self.0.drop_in_place();
            dealloc(self.0.cast().as_ptr(), layout);
        }
    }
}
