//! A row and its versions.
//!
//! ```text
//! newest: null            nobody has written it, or an insert was taken back
//!         version         the newest one, of an unfinished transaction perhaps
//!         version | DEAD  out of use for ever: whoever wants the key makes another row
//! ```
//! Who changes what:
//! - `newest`: a writer puts its version on top of the one it has looked at, and takes its own back; the cleaner marks
//!   the row dead. Each by compare-and-swap, so of a writer and a cleaner, or of two writers, one learns that the other
//!   was first. Release: who meets a version sees what is in it.
//! - `older`: written before the version is put on top, afterwards by the cleaner alone. It takes out versions that
//!   nobody's snapshot needs, never one under a version of an unfinished transaction, which may come on top again.
//! - `stamp`: by the version's writer, once more after its commit.
//! - `next`: see `hash.rs`. `key`, `tag`: nobody, once the row is there.
//! - `queued`: see `clean.rs`; `beside`: see `listed.rs`.

use crate::memory::listed::Listing;
use crate::memory::reclaim::Guard;
use crate::memory::slab::Slab;
use crate::memory::sync::{AtomicBool, AtomicPtr, Ordering::*};
use crate::memory::version::{Owned, Version};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut, with_exposed_provenance};

const DEAD: usize = 1;

/// A key, and what has been under it. Its key lies behind it, in the same piece of memory.
pub(crate) struct Row {
    newest: AtomicPtr<Version>,
    pub next: AtomicPtr<Row>,
    /// Written before anybody else sees the row, and never again.
    key_len: u16,
    /// Some bits of what the key hashes to, of a hash index: keys that differ mostly differ here.
    pub tag: u16,
    pub queued: AtomicBool,
    pub beside: Listing,
}

/// What stands on top of a row.
#[derive(Clone, Copy)]
pub(crate) enum Top<'g> {
    Dead,
    Empty,
    Version(&'g Version),
}

impl Row {
    /// A row that nobody knows yet, with its first version. `is_there`: the tree beside has one under the key.
    #[inline]
    pub fn make<'s>(
        key: &[u8],
        tag: u16,
        first: Option<Owned<'s>>,
        is_there: bool,
        slab: &'s Slab,
    ) -> OwnedRow<'s> {
        let Ok(key_len) = u16::try_from(key.len()) else {
            stdx::fatal!("a key of {} bytes", key.len())
        };
        let memory = slab.take(size_of::<Row>() + key.len());
        // SAFETY: the piece is ours, aligned for a row, and has room for one and for the key behind it.
        unsafe {
            let at = memory.add(size_of::<Row>());
            at.copy_from_nonoverlapping(NonNull::from(key).cast(), key.len());
            // Who has a reference to the row finds the key by the address behind it.
            at.as_ptr().expose_provenance();
            memory.cast().write(Row {
                newest: AtomicPtr::new(first.map_or(null_mut(), Owned::into_raw)),
                next: AtomicPtr::new(null_mut()),
                key_len,
                tag,
                queued: AtomicBool::new(false),
                beside: Listing::new(is_there),
            });
        }
        OwnedRow { row: memory.cast(), slab }
    }

    #[inline]
    pub fn key(&self) -> &[u8] {
        let at = with_exposed_provenance(std::ptr::from_ref(self).addr() + size_of::<Row>());
        // SAFETY: `make` has written so many there, behind the row, exposed them, and they live as long as it.
        unsafe { std::slice::from_raw_parts(at, self.key_len.into()) }
    }

    /// How much memory it has, without its versions.
    #[inline]
    pub fn size(&self) -> usize {
        size_of::<Row>() + usize::from(self.key_len)
    }

    #[inline]
    pub fn top<'g>(&self, _: &'g Guard) -> Top<'g> {
        let newest = self.newest.load(Acquire);
        if newest.addr() & DEAD != 0 {
            return Top::Dead;
        }
        // SAFETY: what a link leads to lives as long as the guard.
        match unsafe { newest.as_ref() } {
            None => Top::Empty,
            Some(version) => Top::Version(version),
        }
    }

    /// The newest version, of a row that may be dead by now.
    #[inline]
    pub fn newest<'g>(&self, _: &'g Guard) -> Option<&'g Version> {
        let newest = self.newest.load(Acquire).map_addr(|a| a & !DEAD);
        // SAFETY: what a link leads to lives as long as the guard.
        unsafe { newest.as_ref() }
    }

    /// Whether a version is on top, and there is none before it.
    #[cfg(not(loom))]
    #[inline]
    pub fn is_alone(&self, version: &Version) -> bool {
        std::ptr::eq(self.newest.load(Acquire).cast_const(), version) && !version.has_older()
    }

    #[inline]
    pub fn is_dead(&self) -> bool {
        self.newest.load(Acquire).addr() & DEAD != 0
    }

    /// Puts a version on top of what the caller has looked at, if that is still on top.
    pub fn push<'g, 's>(
        &self,
        on: Option<&Version>,
        new: Owned<'s>,
        slab: &'s Slab,
        _: &'g Guard,
    ) -> Result<&'g Version, Owned<'s>> {
        let on = on.map_or(null_mut(), |v| std::ptr::from_ref(v).cast_mut());
        new.older.store(on, Relaxed);
        let new = new.into_raw();
        match self.newest.compare_exchange(on, new, AcqRel, Acquire) {
            // SAFETY: it is in the chain now, and lives as long as the guard.
            Ok(_) => Ok(unsafe { &*new }),
            // SAFETY: nobody but us has ever seen it.
            Err(_) => Err(unsafe { Owned::from_raw(new, slab) }),
        }
    }

    /// Takes the version on top, an unfinished transaction's own, off again; the caller frees it.
    #[cfg(not(loom))]
    pub fn pop(&self, own: *mut Version) {
        // SAFETY: it is on top, and only its own transaction takes it off: this call.
        let older = unsafe { &*own }.older.load(Acquire);
        if self.newest.compare_exchange(own, older, AcqRel, Acquire).is_err() {
            stdx::fatal!("a version that was to be taken back is not the newest of its row");
        }
    }

    /// Puts the row out of use, if nothing has come on top of `on`. The cleaner alone.
    pub fn kill(&self, on: Option<&Version>) -> bool {
        let on = on.map_or(null_mut(), |v| std::ptr::from_ref(v).cast_mut());
        let dead = on.map_addr(|a| a | DEAD);
        self.newest.compare_exchange(on, dead, AcqRel, Acquire).is_ok()
    }
}

/// A row that nobody else has, its versions, and their memory.
pub(crate) struct OwnedRow<'s> {
    row: NonNull<Row>,
    slab: &'s Slab,
}

impl<'s> OwnedRow<'s> {
    #[inline]
    pub fn as_ptr(&self) -> *mut Row {
        self.row.as_ptr()
    }

    /// The row, which is in the slab until it is given back.
    #[inline]
    pub fn into_raw(self) -> *mut Row {
        ManuallyDrop::new(self).row.as_ptr()
    }
}

impl Deref for OwnedRow<'_> {
    type Target = Row;

    #[inline]
    fn deref(&self) -> &Row {
        // SAFETY: it is whole, and ours.
        unsafe { self.row.as_ref() }
    }
}

impl Drop for OwnedRow<'_> {
    fn drop(&mut self) {
        let mut at = self.newest.load(Relaxed).map_addr(|a| a & !DEAD);
        while !at.is_null() {
            // SAFETY: the row is the only way to its versions, which are from its slab, and it is ours.
            let version = unsafe { Owned::from_raw(at, self.slab) };
            at = version.older.load(Relaxed);
        }
        let size = self.size();
        // SAFETY: `Row::make` has taken it from this slab by that size, and nobody else has it.
        unsafe {
            self.row.drop_in_place();
            self.slab.give(self.row.cast(), size);
        }
    }
}

/// A bug for the model checker to find: an insert does not look at what has come in front.
#[cfg(loom)]
pub(crate) static BLIND_INSERT: std::sync::atomic::AtomicBool =
    std::sync::atomic::AtomicBool::new(false);

#[inline(always)]
pub(crate) fn planted_blind_insert() -> bool {
    #[cfg(loom)]
    return BLIND_INSERT.load(std::sync::atomic::Ordering::Relaxed);
    #[cfg(not(loom))]
    false
}
