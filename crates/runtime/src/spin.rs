//! Spinlocks in SQL Server's manner, with its statistics.
//!
//! Test-and-set; on a collision back-off ([`crate::backoff`]), in which the OS thread's yields count as sleep. A
//! collision is an acquisition whose first try failed. Nothing is recorded unless the lock was contended, and then
//! once, when it is had. Whoever spins does it under a frame of the class's name, for profilers.

mod frames;

pub use crate::backoff::Backoff;
use crate::raw_spin::RawSpin;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use telemetry::SpinClass;

/// A value behind a spinlock. Held for nanoseconds, never across a suspension.
pub struct SpinLock<T> {
    raw: RawSpin,
    class: SpinClass,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives out `&mut T` to one holder at a time, so sharing needs only `T: Send`.
unsafe impl<T: Send> Sync for SpinLock<T> {}
// SAFETY: owning the lock is owning the value.
unsafe impl<T: Send> Send for SpinLock<T> {}

/// Unlocks when dropped.
pub struct SpinGuard<'a, T> {
    lock: &'a SpinLock<T>,
    #[cfg(debug_assertions)]
    _no_suspend: crate::task::NoSuspend,
    #[cfg(not(debug_assertions))]
    _not_send: std::marker::PhantomData<*const ()>,
}

impl<T> SpinLock<T> {
    pub const fn new(class: SpinClass, value: T) -> Self {
        SpinLock { raw: RawSpin::new(), class, value: UnsafeCell::new(value) }
    }

    #[inline(always)]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        if !self.raw.try_take_weak() {
            self.lock_contended();
        }
        self.guard()
    }

    #[inline(always)]
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        self.raw.try_take().then(|| self.guard())
    }

    #[cold]
    fn lock_contended(&self) {
        // The weak try may fail for no reason; that is no collision.
        if self.raw.try_take() {
            return;
        }
        frames::under(self.class, &mut || {
            let mut backoff = Backoff::new();
            loop {
                backoff.burst(|| !self.raw.is_taken());
                if !self.raw.is_taken() && self.raw.try_take() {
                    backoff.record(self.class);
                    return;
                }
            }
        });
    }

    #[inline(always)]
    fn guard(&self) -> SpinGuard<'_, T> {
        SpinGuard {
            lock: self,
            #[cfg(debug_assertions)]
            _no_suspend: crate::task::NoSuspend::new(),
            #[cfg(not(debug_assertions))]
            _not_send: std::marker::PhantomData,
        }
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard exists only while its lock is held by us.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` makes the reference unique.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.raw.give();
    }
}
