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
//! - `next`: see `hash.rs`.
//! - `queued`: see `clean.rs`.

use crate::memory::reclaim::Guard;
use crate::memory::sync::{AtomicBool, AtomicPtr, Ordering::*};
use crate::memory::version::{Owned, Version};
use smallvec::SmallVec;
use std::ptr::null_mut;

const DEAD: usize = 1;

/// A key; most, of one number or two, lie in their row.
type Key = SmallVec<[u8; 16]>;

/// A key, and what has been under it.
pub(crate) struct Row {
    pub key: Key,
    newest: AtomicPtr<Version>,
    pub next: AtomicPtr<Row>,
    pub queued: AtomicBool,
}

/// What stands on top of a row.
#[derive(Clone, Copy)]
pub(crate) enum Top<'g> {
    Dead,
    Empty,
    Version(&'g Version),
}

impl Row {
    /// A row that nobody knows yet.
    pub fn new(key: &[u8], first: Option<Owned>) -> Box<Row> {
        Box::new(Row {
            key: Key::from_slice(key),
            newest: AtomicPtr::new(first.map_or(null_mut(), Owned::into_raw)),
            next: AtomicPtr::new(null_mut()),
            queued: AtomicBool::new(false),
        })
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

    #[inline]
    pub fn is_dead(&self) -> bool {
        self.newest.load(Acquire).addr() & DEAD != 0
    }

    /// Puts a version on top of what the caller has looked at, if that is still on top.
    pub fn push<'g>(
        &self,
        on: Option<&Version>,
        new: Owned,
        _: &'g Guard,
    ) -> Result<&'g Version, Owned> {
        let on = on.map_or(null_mut(), |v| std::ptr::from_ref(v).cast_mut());
        new.older.store(on, Relaxed);
        let new = new.into_raw();
        match self.newest.compare_exchange(on, new, AcqRel, Acquire) {
            // SAFETY: it is in the chain now, and lives as long as the guard.
            Ok(_) => Ok(unsafe { &*new }),
            // SAFETY: nobody but us has ever seen it.
            Err(_) => Err(unsafe { Owned::from_raw(new) }),
        }
    }

    /// Takes the version on top, an unfinished transaction's own, off again.
    #[cfg(not(loom))]
    pub fn pop(&self, own: *mut Version, guard: &Guard) {
        // SAFETY: it is on top, and only its own transaction takes it off: this call.
        let older = unsafe { &*own }.older.load(Acquire);
        if self.newest.compare_exchange(own, older, AcqRel, Acquire).is_err() {
            stdx::fatal!("a version that was to be taken back is not the newest of its row");
        }
        // SAFETY: no link leads to it any more.
        unsafe { Version::free(own, guard) };
    }

    /// Puts the row out of use, if nothing has come on top of `on`. The cleaner alone.
    pub fn kill(&self, on: Option<&Version>) -> bool {
        let on = on.map_or(null_mut(), |v| std::ptr::from_ref(v).cast_mut());
        let dead = on.map_addr(|a| a | DEAD);
        self.newest.compare_exchange(on, dead, AcqRel, Acquire).is_ok()
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        #[cfg(not(loom))]
        let newest = *self.newest.get_mut();
        #[cfg(loom)]
        let newest = self.newest.with_mut(|p| *p);
        let mut at = newest.map_addr(|a| a & !DEAD);
        while !at.is_null() {
            // SAFETY: the row is the only way to its versions, and it is ours.
            let version = unsafe { Owned::from_raw(at) };
            at = version.older.load(Relaxed);
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
