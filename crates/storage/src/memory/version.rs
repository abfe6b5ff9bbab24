//! One version of a row: its stamp, the link to the one before it and its bytes, in one piece of memory.
//!
//! ```text
//! Owned --into_raw--> *mut Version: stamp | older | stored, run | the bytes themselves
//!                                                                        without a run: all of the row
//!                                                                        with one: its byte, what is before it, what is behind
//! ```
//! A long run of one byte (the padding of a `char(n)`) is kept as its length: memory that is not touched costs nothing.
//!
//! Invariant: a version is never moved, so that its bytes are behind it, and goes back to the slab that it is from by
//! [`Version::size`]. Who changes what in it is said in `row.rs`.

use crate::memory::reclaim::Guard;
use crate::memory::slab::Slab;
use crate::memory::sync::{AtomicPtr, AtomicU64, Ordering::*};
use crate::row::{RowImage, Run};
use mvcc::{Stamp, Xid};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut, with_exposed_provenance};

/// One version of a row.
pub(crate) struct Version {
    stamp: AtomicU64,
    pub(super) older: AtomicPtr<Version>,
    /// These are written before anybody else sees the version, and never again: how many bytes are behind it.
    stored: u32,
    run_offset: u16,
    /// 0: there is none.
    run_len: u16,
}

/// A row as it is kept.
#[derive(Clone, Copy)]
pub struct Kept<'a> {
    before: &'a [u8],
    byte: u8,
    run_len: usize,
    after: &'a [u8],
}

impl<'a> Kept<'a> {
    /// What is before its run (without one: all of it), the run, and what is behind.
    #[inline]
    pub fn parts(&self) -> (&'a [u8], Option<Run>, &'a [u8]) {
        let run = (self.run_len > 0).then_some(Run {
            offset: self.before.len() as u16,
            len: self.run_len as u16,
            byte: self.byte,
        });
        (self.before, run, self.after)
    }

    /// The row, behind what is in `to`.
    #[inline]
    pub fn append_to(&self, to: &mut Vec<u8>) {
        to.reserve(self.before.len() + self.run_len + self.after.len());
        to.extend_from_slice(self.before);
        if self.run_len > 0 {
            to.resize(to.len() + self.run_len, self.byte);
            to.extend_from_slice(self.after);
        }
    }

    /// The row.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut row = Vec::new();
        self.append_to(&mut row);
        row
    }
}

impl Version {
    /// Of an unfinished transaction; none: the row is deleted.
    #[inline]
    pub fn active<'s>(own: Xid, row: Option<&RowImage<'_>>, slab: &'s Slab) -> Owned<'s> {
        let stamp = Stamp::active(own);
        match row {
            Some(row) => Version::stamped(stamp, row, slab),
            None => Version::stamped(stamp.ghost(), &RowImage::new(&[]), slab),
        }
    }

    #[inline]
    pub fn stamped<'s>(stamp: Stamp, row: &RowImage<'_>, slab: &'s Slab) -> Owned<'s> {
        let (run_offset, run_len, byte) = match row.run {
            Some(run) if run.len > 0 => (run.offset, run.len, run.byte),
            _ => (0, 0, 0),
        };
        let (before, rest) = match run_len {
            0 => (row.bytes, &[][..]),
            _ => row.bytes.split_at(usize::from(run_offset)),
        };
        let after = &rest[usize::from(run_len)..];
        let head = usize::from(run_len > 0);
        let stored = head + before.len() + after.len();
        let Ok(len) = u32::try_from(stored) else { stdx::fatal!("a row of {stored} bytes") };
        let memory = slab.take(size_of::<Version>() + stored);
        // SAFETY: the piece is ours, aligned for a version, and has room for one and for so many bytes behind it: the run's
        // byte, if there is a run, and both parts of the row.
        unsafe {
            let bytes = memory.add(size_of::<Version>());
            if head > 0 {
                bytes.write(byte);
            }
            let at = bytes.add(head);
            at.copy_from_nonoverlapping(NonNull::from(before).cast(), before.len());
            let at = at.add(before.len());
            at.copy_from_nonoverlapping(NonNull::from(after).cast(), after.len());
            let older = AtomicPtr::new(null_mut());
            let stamp = AtomicU64::new(stamp.0);
            // Who has a reference to the version finds them by the address behind it.
            bytes.as_ptr().expose_provenance();
            memory.cast().write(Version { stamp, older, stored: len, run_offset, run_len });
        }
        Owned { version: memory.cast(), slab }
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

    /// The row.
    #[inline]
    pub fn row(&self) -> Kept<'_> {
        let at = with_exposed_provenance(std::ptr::from_ref(self).addr() + size_of::<Version>());
        // SAFETY: `stamped` has written so many there, behind the version, exposed them, and they live as long as it.
        let bytes = unsafe { std::slice::from_raw_parts(at, self.stored as usize) };
        let run_len = usize::from(self.run_len);
        match bytes.split_first() {
            Some((byte, rest)) if run_len > 0 => {
                let (before, after) = rest.split_at(usize::from(self.run_offset));
                Kept { before, byte: *byte, run_len, after }
            }
            _ => Kept { before: bytes, byte: 0, run_len: 0, after: &[] },
        }
    }

    /// The one before.
    #[inline]
    pub fn older<'g>(&self, _: &'g Guard) -> Option<&'g Version> {
        // SAFETY: what a link leads to lives as long as the guard.
        unsafe { self.older.load(Acquire).as_ref() }
    }

    /// How much memory it has.
    #[inline]
    pub fn size(&self) -> usize {
        size_of::<Version>() + self.stored as usize
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
}

/// A version that nobody else has, and its memory.
pub(crate) struct Owned<'s> {
    version: NonNull<Version>,
    slab: &'s Slab,
}

impl<'s> Owned<'s> {
    #[inline]
    pub fn as_ptr(&self) -> *mut Version {
        self.version.as_ptr()
    }

    /// The version, which is in the slab until it is given back.
    #[inline]
    pub fn into_raw(self) -> *mut Version {
        ManuallyDrop::new(self).version.as_ptr()
    }

    /// # Safety
    /// `version` came from [`Owned::into_raw`] of one of this slab, and nobody else has it.
    #[inline]
    pub unsafe fn from_raw(version: *mut Version, slab: &'s Slab) -> Owned<'s> {
        match NonNull::new(version) {
            Some(version) => Owned { version, slab },
            None => stdx::fatal!("no version where one was"),
        }
    }
}

impl Deref for Owned<'_> {
    type Target = Version;

    #[inline]
    fn deref(&self) -> &Version {
        // SAFETY: it is whole, and ours.
        unsafe { self.version.as_ref() }
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        let size = self.size();
        // SAFETY: `stamped` has taken it from this slab by that size, and nobody else has it.
        unsafe {
            self.version.drop_in_place();
            self.slab.give(self.version.cast(), size);
        }
    }
}
