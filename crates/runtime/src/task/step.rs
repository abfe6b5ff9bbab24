//! A place in a tree that is as large as a user's text makes it: a step each time it is copied or dropped.
//!
//! Promise: after some hundred steps others go first, where suspending is allowed ([`super::NoSuspend`]: who walks, copies
//! or drops what a lock keeps says so by a guard). It takes no room and is equal to every other. The steps of a thread
//! are counted together, so a small tree may suspend too, once its task has had its quantum.

use super::let_others;
use crate::sim;
use std::cell::Cell;

/// Steps between two looks at the clock.
const STEPS: u32 = 128;

thread_local! {
    static LEFT: Cell<u32> = const { Cell::new(STEPS) };
}

/// See the file's first lines: a field of a tree's node.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Step(());

/// A step of a walk over such a tree.
#[inline]
pub fn stepped() {
    // A thread that ends has no more to wait for.
    let left = LEFT.try_with(|left| left.replace(left.get().saturating_sub(1)));
    if left == Ok(0) {
        LEFT.set(STEPS);
        // The count goes on from world to world; what happens in a simulated one depends on its seed alone.
        if !sim::active() {
            let_others();
        }
    }
}

/// So many more.
#[inline]
pub fn stepped_by(steps: u32) {
    let left = LEFT.try_with(|left| left.replace(left.get().saturating_sub(steps)));
    if left.is_ok_and(|left| left < steps) {
        LEFT.set(0);
        stepped();
    }
}

impl Clone for Step {
    #[inline]
    fn clone(&self) -> Step {
        stepped();
        Step(())
    }
}

impl Drop for Step {
    #[inline]
    fn drop(&mut self) {
        stepped();
    }
}
