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
use crate::memory::sync::{AtomicBool, AtomicPtr, AtomicU64, Ordering::*};
use mvcc::{Stamp, Xid};
use std::ptr::null_mut;

const DEAD: usize = 1;

/// One version of a row.
pub(crate) struct Version {
    stamp: AtomicU64,
    older: AtomicPtr<Version>,
    bytes: Box<[u8]>,
}

impl Version {
    /// Of an unfinished transaction; none: the row is deleted.
    pub fn new(own: Xid, row: Option<&[u8]>) -> Box<Version> {
        let stamp = Stamp::active(own);
        let stamp = if row.is_some() { stamp } else { stamp.ghost() };
        Version::stamped(stamp, row.unwrap_or_default())
    }

    pub fn stamped(stamp: Stamp, row: &[u8]) -> Box<Version> {
        Box::new(Version {
            stamp: AtomicU64::new(stamp.0),
            older: AtomicPtr::new(null_mut()),
            bytes: row.into(),
        })
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
        &self.bytes
    }

    /// The one before.
    #[inline]
    pub fn older<'g>(&self, _: &'g Guard) -> Option<&'g Version> {
        // SAFETY: what a link leads to lives as long as the guard.
        unsafe { self.older.load(Acquire).as_ref() }
    }

    /// What it weighs.
    pub fn weight(&self) -> usize {
        size_of::<Version>() + self.bytes.len()
    }
}

#[cfg(not(loom))]
impl Version {
    /// Takes the version after this one out of the chain. The cleaner alone.
    pub fn unlink_older(&self) -> *mut Version {
        let older = self.older.load(Acquire);
        // SAFETY: only the cleaner frees what is in a chain, and that is the caller.
        let after = unsafe { older.as_ref() }.map_or(null_mut(), |v| v.older.load(Acquire));
        self.older.store(after, Release);
        older
    }

    pub fn has_older(&self) -> bool {
        !self.older.load(Acquire).is_null()
    }
}

/// A key, and what has been under it.
pub(crate) struct Row {
    pub key: Box<[u8]>,
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
    pub fn new(key: &[u8], first: Option<Box<Version>>) -> Box<Row> {
        Box::new(Row {
            key: key.into(),
            newest: AtomicPtr::new(first.map_or(null_mut(), Box::into_raw)),
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
        new: Box<Version>,
        _: &'g Guard,
    ) -> Result<&'g Version, Box<Version>> {
        let on = on.map_or(null_mut(), |v| std::ptr::from_ref(v).cast_mut());
        new.older.store(on, Relaxed);
        let new = Box::into_raw(new);
        match self.newest.compare_exchange(on, new, AcqRel, Acquire) {
            // SAFETY: it is in the chain now, and lives as long as the guard.
            Ok(_) => Ok(unsafe { &*new }),
            // SAFETY: nobody but us has ever seen it.
            Err(_) => Err(unsafe { Box::from_raw(new) }),
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
        unsafe { guard.free(own) };
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
            let mut version = unsafe { Box::from_raw(at) };
            #[cfg(not(loom))]
            let older = *version.older.get_mut();
            #[cfg(loom)]
            let older = version.older.with_mut(|p| *p);
            at = older;
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
