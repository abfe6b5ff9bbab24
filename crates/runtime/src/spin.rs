//! Spinlocks in SQL Server's manner, with its statistics.
//!
//! Test-and-set; on a collision bursts of pauses that grow exponentially (initial 250, factor 2, a
//! cap), and past a bound the OS thread yields, which counts as a back-off with sleep. Nothing is
//! recorded unless the lock was contended, and then once, when it is had.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use telemetry::{SpinClass, spins};

/// Pauses in the first burst.
pub const BACKOFF_INITIAL: u32 = 250;
/// Each burst is longer by this factor.
pub const BACKOFF_FACTOR: u32 = 2;
static BACKOFF_CAP: AtomicU32 = AtomicU32::new(8_000);

/// Sets the longest burst of pauses between two looks at a lock (for all spinlocks).
pub fn set_backoff_cap(pauses: u32) {
    BACKOFF_CAP.store(pauses.max(1), Relaxed);
}

/// Exponential back-off of one acquisition, for spinlocks and latches.
#[derive(Debug, Default)]
pub struct Backoff {
    /// Looks at the lock that found it taken, pauses included.
    pub spins: u64,
    /// Bursts ended.
    pub backoffs: u64,
    /// Nanoseconds given up to other OS threads.
    pub sleep_ns: u64,
    burst: u32,
}

impl Backoff {
    pub const fn new() -> Self {
        Backoff { spins: 0, backoffs: 0, sleep_ns: 0, burst: 0 }
    }

    /// Spins one burst, watching `free` for an early end. After a few bursts it also yields the OS
    /// thread, because the holder may have lost its CPU.
    #[cold]
    pub fn burst(&mut self, free: impl Fn() -> bool) {
        self.burst = match self.burst {
            0 => BACKOFF_INITIAL,
            b => (b * BACKOFF_FACTOR).min(BACKOFF_CAP.load(Relaxed)),
        };
        for _ in 0..self.burst {
            self.spins += 1;
            std::hint::spin_loop();
            // A look at the line every few pauses; each look may steal it from the holder.
            if self.spins & 7 == 0 && free() {
                return;
            }
        }
        self.backoffs += 1;
        if self.backoffs >= 3 {
            let began = crate::clock::now_ns();
            std::thread::yield_now();
            self.sleep_ns += crate::clock::now_ns() - began;
        }
    }

    /// Records what this acquisition cost under `class`.
    pub fn record(&self, class: SpinClass) {
        spins::record(class, 1, self.spins, self.backoffs, self.sleep_ns);
    }
}

/// A value behind a spinlock. Held for nanoseconds, never across a suspension.
pub struct SpinLock<T> {
    locked: AtomicBool,
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
        SpinLock { locked: AtomicBool::new(false), class, value: UnsafeCell::new(value) }
    }

    #[inline(always)]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        if self.locked.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            self.lock_contended();
        }
        self.guard()
    }

    #[inline(always)]
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        self.locked.compare_exchange(false, true, Acquire, Relaxed).ok().map(|_| self.guard())
    }

    #[cold]
    fn lock_contended(&self) {
        // compare_exchange_weak may fail for no reason; that is no collision.
        if self.locked.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
            return;
        }
        let mut backoff = Backoff::new();
        loop {
            backoff.burst(|| !self.locked.load(Relaxed));
            if !self.locked.load(Relaxed) && !self.locked.swap(true, Acquire) {
                backoff.record(self.class);
                return;
            }
        }
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
        self.lock.locked.store(false, Release);
    }
}
