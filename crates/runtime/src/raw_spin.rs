//! The word of a spinlock: test and set. The tests under loom run this very code, as shipped and with one ordering
//! wrong at a time.

use crate::sync::{AtomicBool, Ordering, Ordering::*};
use std::marker::PhantomData;

/// The choices that make it sound.
pub(crate) trait Orders {
    const TAKE: Ordering = Acquire;
    const GIVE: Ordering = Release;
}

/// What runs in the product.
pub(crate) struct Shipped;
impl Orders for Shipped {}

/// Taken or free.
pub(crate) struct RawSpin<O: Orders = Shipped> {
    taken: AtomicBool,
    orders: PhantomData<fn(O)>,
}

impl<O: Orders> RawSpin<O> {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        RawSpin { taken: AtomicBool::new(false), orders: PhantomData }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        RawSpin { taken: AtomicBool::new(false), orders: PhantomData }
    }

    /// One try, which may fail for no reason.
    #[inline(always)]
    pub(crate) fn try_take_weak(&self) -> bool {
        self.taken.compare_exchange_weak(false, true, O::TAKE, Relaxed).is_ok()
    }

    /// One try, which fails only when it is taken.
    #[inline(always)]
    pub(crate) fn try_take(&self) -> bool {
        self.taken.compare_exchange(false, true, O::TAKE, Relaxed).is_ok()
    }

    /// A look that leaves the line where it is.
    #[inline(always)]
    pub(crate) fn is_taken(&self) -> bool {
        self.taken.load(Relaxed)
    }

    /// By whoever has it.
    #[inline(always)]
    pub(crate) fn give(&self) {
        self.taken.store(false, O::GIVE);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::thread;
    use std::sync::Arc;

    struct World<O: Orders> {
        lock: RawSpin<O>,
        guarded: UnsafeCell<u64>,
    }

    // The cell is what is being checked: loom reports unordered use.
    unsafe impl<O: Orders> Send for World<O> {}
    unsafe impl<O: Orders> Sync for World<O> {}

    impl<O: Orders> World<O> {
        fn count(&self) {
            while !self.lock.try_take() {
                thread::yield_now();
            }
            // SAFETY: checked by loom.
            self.guarded.with_mut(|n| unsafe { *n += 1 });
            self.lock.give();
        }
    }

    fn check<O: Orders + 'static>() {
        loom::model(|| {
            let world = Arc::new(World { lock: RawSpin::<O>::new(), guarded: UnsafeCell::new(0) });
            let other = {
                let world = world.clone();
                thread::spawn(move || world.count())
            };
            world.count();
            other.join().unwrap();
            // SAFETY: checked by loom.
            world.guarded.with(|n| assert_eq!(unsafe { *n }, 2));
        });
    }

    #[test]
    fn one_at_a_time_and_each_sees_the_last() {
        check::<Shipped>();
    }

    struct RelaxedGive;
    impl Orders for RelaxedGive {
        const GIVE: Ordering = Relaxed;
    }

    #[test]
    #[should_panic]
    fn caught_when_giving_is_relaxed() {
        check::<RelaxedGive>();
    }

    struct RelaxedTake;
    impl Orders for RelaxedTake {
        const TAKE: Ordering = Relaxed;
    }

    #[test]
    #[should_panic]
    fn caught_when_taking_is_relaxed() {
        check::<RelaxedTake>();
    }
}
