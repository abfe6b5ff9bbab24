//! When memory that was taken out of a structure may be freed: when every [`Guard`] that was there then is gone.
//!
//! A guard is held while a structure is walked, never while anything waits. The model checker frees nothing.

/// Whoever has one may follow links, and what they lead to stays until it is dropped.
#[cfg(not(loom))]
pub(crate) struct Guard(crossbeam_epoch::Guard);

#[cfg(loom)]
pub(crate) struct Guard;

/// What is met stays as long as one of these is there, for who goes through many rows. Nothing waits meanwhile.
#[cfg(not(loom))]
pub struct Pin(pub(crate) Guard);

#[cfg(not(loom))]
impl Pin {
    #[allow(clippy::new_without_default, reason = "a pin is made on purpose, never by default")]
    pub fn new() -> Pin {
        Pin(pin())
    }
}

/// A guard.
#[cfg(not(loom))]
#[inline]
pub(crate) fn pin() -> Guard {
    Guard(crossbeam_epoch::pin())
}

#[cfg(loom)]
pub(crate) fn pin() -> Guard {
    Guard
}

impl Guard {
    /// Frees a box when nobody can look at it any more.
    ///
    /// # Safety
    /// `what` came from [`Box::into_raw`], no link leads to it any more, and nobody else frees it.
    #[cfg(not(loom))]
    pub(crate) unsafe fn free<T: Send + 'static>(&self, what: *mut T) {
        // SAFETY: the caller's promise.
        unsafe { self.defer(move || drop(Box::from_raw(what))) }
    }

    /// Lets other threads do what was put off, too: there is much of it.
    #[cfg(not(loom))]
    pub(crate) fn hand_on(&self) {
        self.0.flush();
    }

    /// Does something when nobody can look at what is there now any more.
    ///
    /// # Safety
    /// What it frees no link leads to any more, and nobody else frees it.
    #[cfg(not(loom))]
    pub(crate) unsafe fn defer(&self, free: impl FnOnce() + 'static) {
        // SAFETY: the caller's promise; guards that are pinned now may still look at it, and it waits for them.
        unsafe { self.0.defer_unchecked(free) }
    }
}
