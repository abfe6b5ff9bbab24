//! Lists as long as a user's text makes them: they are copied, walked and dropped step by step, with others let first.
//!
//! Promise: a copy is whole, a walk goes to the end and a drop frees all, whether the request is to stop or not; a list
//! that is short never suspends. Where suspending is not allowed ([`super::NoSuspend`], unwinding) nothing suspends: who
//! drops what a lock keeps says so by a guard.

use super::{let_go, let_others, may_suspend};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Items between two looks at the clock: some microseconds for the small trees that they mostly are.
const ITEMS: usize = 128;

/// See the file's first lines. To all else it is a vector.
pub struct Many<T>(Vec<T>);

impl<T> Many<T> {
    pub const fn new() -> Many<T> {
        Many(Vec::new())
    }

    pub fn with_capacity(items: usize) -> Many<T> {
        Many(Vec::with_capacity(items))
    }

    /// Calls `f` on each.
    pub fn each<'a>(&'a self, mut f: impl FnMut(&'a T)) {
        for items in self.0.chunks(ITEMS) {
            items.iter().for_each(&mut f);
            passed(items.len());
        }
    }

    /// The same, mutably.
    pub fn each_mut(&mut self, mut f: impl FnMut(&mut T)) {
        for items in self.0.chunks_mut(ITEMS) {
            let len = items.len();
            items.iter_mut().for_each(&mut f);
            passed(len);
        }
    }

    /// The vector itself.
    pub fn into_vec(mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }
}

/// After a stretch of so many items.
#[inline]
fn passed(items: usize) {
    if items == ITEMS {
        let_others();
    }
}

impl<T> Drop for Many<T> {
    #[inline]
    fn drop(&mut self) {
        if self.0.len() > ITEMS && std::mem::needs_drop::<T>() && may_suspend() {
            drop_slowly(&mut self.0);
        }
    }
}

#[cold]
#[inline(never)]
fn drop_slowly<T>(items: &mut Vec<T>) {
    while items.len() > ITEMS {
        items.truncate(items.len() - ITEMS);
        let_others();
    }
}

impl<T: Clone> Clone for Many<T> {
    fn clone(&self) -> Many<T> {
        let mut all = Vec::with_capacity(self.0.len());
        for items in self.0.chunks(ITEMS) {
            all.extend_from_slice(items);
            passed(items.len());
        }
        Many(all)
    }
}

impl<T> Deref for Many<T> {
    type Target = Vec<T>;
    #[inline]
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Many<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T> Default for Many<T> {
    fn default() -> Many<T> {
        Many::new()
    }
}

impl<T> From<Vec<T>> for Many<T> {
    #[inline]
    fn from(items: Vec<T>) -> Many<T> {
        Many(items)
    }
}

impl<T> FromIterator<T> for Many<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Many<T> {
        let mut all = Many::new();
        all.extend(items);
        all
    }
}

impl<T> Extend<T> for Many<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let items = items.into_iter();
        self.0.reserve(items.size_hint().0);
        for item in items {
            self.0.push(item);
            if self.0.len().is_multiple_of(ITEMS) {
                let_others();
            }
        }
    }
}

impl<T> IntoIterator for Many<T> {
    type Item = T;
    type IntoIter = Rest<T>;
    #[inline]
    fn into_iter(self) -> Rest<T> {
        Rest(self.into_vec().into_iter())
    }
}

/// What is left of a list that is taken item by item.
pub struct Rest<T>(std::vec::IntoIter<T>);

impl<T> Iterator for Rest<T> {
    type Item = T;
    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.next()
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for Rest<T> {}

impl<T> Drop for Rest<T> {
    #[inline]
    fn drop(&mut self) {
        if self.0.len() > ITEMS && std::mem::needs_drop::<T>() && may_suspend() {
            let_go(&mut self.0);
        }
    }
}

impl<'a, T> IntoIterator for &'a Many<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Many<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<T: fmt::Debug> fmt::Debug for Many<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Many<T> {
    fn eq(&self, other: &Many<T>) -> bool {
        self.0 == other.0
    }
}
impl<T: Eq> Eq for Many<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{self, NoSuspend, Parked, TaskHooks, Waker, append, append_bytes, copied};
    use std::cell::Cell;
    use telemetry::WaitType;

    thread_local! {
        static ASKED: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts how often a task would let others go first.
    struct Counts;

    impl TaskHooks for Counts {
        fn current_waker(&self) -> Waker {
            unreachable!("nothing waits here")
        }
        fn park(&self, _: WaitType, _: Option<u64>, _: Option<u64>) -> Parked {
            unreachable!("nothing waits here")
        }
        fn yield_now(&self) {}
        fn maybe_yield(&self) -> u32 {
            ASKED.set(ASKED.get() + 1);
            0
        }
    }

    fn asked<T>(f: impl FnOnce() -> T) -> (usize, T) {
        let before = task::install_hooks(Some(&Counts));
        ASKED.set(0);
        let made = f();
        task::install_hooks(before);
        (ASKED.get(), made)
    }

    fn many(items: usize) -> Many<String> {
        (0..items).map(|i| i.to_string()).collect()
    }

    #[test]
    fn a_long_list_lets_others_go_first_and_a_short_one_does_not() {
        let (long, short) = (many(10 * ITEMS + 3), many(ITEMS - 1));
        let (times, copy) = asked(|| long.clone());
        assert_eq!((times, &copy), (10, &long));
        let (times, count) = asked(|| {
            let mut count = 0;
            long.each(|_| count += 1);
            count
        });
        assert_eq!((times, count), (10, long.len()));
        let (times, first) = asked(|| long.clone().into_iter().next());
        assert!(times > 10 && first == Some("0".to_owned()), "{times}");
        let (times, ()) = asked(|| drop(copy));
        assert_eq!(times, 10);
        let (times, ()) = asked(|| {
            let copy = short.clone();
            copy.each(|_| {});
        });
        assert_eq!(times, 0);
    }

    #[test]
    fn under_a_guard_a_list_is_dropped_at_once() {
        let long = many(10 * ITEMS);
        let (times, ()) = asked(|| {
            let _guard = NoSuspend::new();
            drop(long.clone());
            drop(long);
        });
        assert_eq!(times, 0);
    }

    #[test]
    fn what_is_long_is_copied_in_pieces_and_whole() {
        // Characters of three bytes: a piece does not end where it would by its length alone.
        let text = "\u{20ac}".repeat(400_000);
        let (times, copy) = asked(|| copied(&text));
        assert!(times >= 4 && copy == text);
        let (times, both) = asked(|| {
            let mut both = "a".to_owned();
            append(&mut both, &text);
            both
        });
        assert!(times >= 4 && both.len() == text.len() + 1 && both[1..] == text);
        let (times, bytes) = asked(|| {
            let mut bytes = vec![1];
            append_bytes(&mut bytes, text.as_bytes());
            bytes
        });
        assert!(times >= 4 && bytes[1..] == *text.as_bytes());
        assert_eq!(asked(|| copied("short")), (0, "short".to_owned()));
        let (times, ()) = asked(|| let_go((0..100_000).map(|i| i.to_string())));
        assert!(times > 100);
    }
}
