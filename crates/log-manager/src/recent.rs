//! The latest writes, for those who waited for them: when each was submitted, had by the device, and complete.
//!
//! One thread at a time publishes (under the flusher's lock); any number look, without a lock:
//!
//! ```text
//! publish: parts of entry n := .. (Release)      count := n + 1 (Release)
//! look:    c := count (Acquire)    parts of entries c-1, c-2, .. n (Acquire)    good if count < n + len still
//! ```
//!
//! Entry n is overwritten by write n + len, after `count` has become n + len. A reader that saw a part of that write
//! has synchronised with the thread that stored it, and so then sees such a `count`, and takes nothing.
//!
//! The orderings and the second look are parameters so that the model checker can be shown that they are needed.

use crate::sync::{AtomicU64, Ordering, Ordering::*};
use std::marker::PhantomData;
use stdx::CachePadded;

/// The choices that make it sound.
pub(crate) trait Steps {
    const PART_STORE: Ordering = Release;
    const PART_LOAD: Ordering = Acquire;
    const LOOKS_AGAIN: bool = true;
}

/// What runs in the product.
pub(crate) struct Shipped;
impl Steps for Shipped {}

/// Moments of one write, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Moments {
    pub(crate) submit_ns: u64,
    pub(crate) submitted_ns: u64,
    pub(crate) completed_ns: u64,
}

#[derive(Default)]
struct Entry {
    /// Where in the stream the write ended.
    end: AtomicU64,
    submit: AtomicU64,
    submitted: AtomicU64,
    completed: AtomicU64,
}

/// See the top of the file.
pub(crate) struct Recent<S: Steps = Shipped> {
    entries: Box<[CachePadded<Entry>]>,
    /// How many were published.
    count: CachePadded<AtomicU64>,
    steps: PhantomData<S>,
}

impl<S: Steps> Recent<S> {
    /// Room for the latest `len` writes.
    pub(crate) fn new(len: usize) -> Self {
        Recent {
            entries: (0..len).map(|_| CachePadded::new(Entry::default())).collect(),
            count: CachePadded::new(AtomicU64::new(0)),
            steps: PhantomData,
        }
    }

    fn entry(&self, n: u64) -> &Entry {
        &self.entries[(n % self.entries.len() as u64) as usize]
    }

    /// The next write, which made everything below `end` durable. One caller at a time; `end` rises.
    pub(crate) fn publish(&self, end: u64, moments: Moments) {
        let n = self.count.load(Relaxed);
        let entry = self.entry(n);
        entry.submit.store(moments.submit_ns, S::PART_STORE);
        entry.submitted.store(moments.submitted_ns, S::PART_STORE);
        entry.completed.store(moments.completed_ns, S::PART_STORE);
        entry.end.store(end, S::PART_STORE);
        self.count.store(n + 1, Release);
    }

    /// The first write that ended at or beyond `upto`, which is durable; `None` if it is too long ago.
    pub(crate) fn covering(&self, upto: u64) -> Option<Moments> {
        let count = self.count.load(Acquire);
        let len = self.entries.len() as u64;
        // The oldest entry may be on its way out already.
        let oldest = count.saturating_sub(len - 1);
        let (mut found, mut lowest) = (None, count);
        for n in (oldest..count).rev() {
            lowest = n;
            let entry = self.entry(n);
            let moments = Moments {
                submit_ns: entry.submit.load(S::PART_LOAD),
                submitted_ns: entry.submitted.load(S::PART_LOAD),
                completed_ns: entry.completed.load(S::PART_LOAD),
            };
            if entry.end.load(S::PART_LOAD) < upto {
                break;
            }
            found = Some((n, moments));
        }
        if S::LOOKS_AGAIN && self.count.load(Relaxed) >= lowest + len {
            return None;
        }
        // All that were looked at may cover it: then only the first one ever is known to be the first.
        found.filter(|(n, _)| lowest < *n || oldest == 0).map(|(_, moments)| moments)
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::thread;
    use std::sync::Arc;

    /// With two of three places taken, a writer publishes two more writes; a reader that finds the first must find it
    /// whole. Every interleaving with at most three preemptions is looked at.
    fn check<S: Steps + Send + Sync + 'static>() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let recent = Arc::new(Recent::<S>::new(3));
            let moments = |n: u64| Moments {
                submit_ns: n * 10,
                submitted_ns: n * 10 + 1,
                completed_ns: n * 10 + 2,
            };
            recent.publish(8, moments(1));
            recent.publish(16, moments(2));
            let writer = {
                let recent = recent.clone();
                thread::spawn(move || {
                    recent.publish(24, moments(3));
                    recent.publish(32, moments(4));
                })
            };
            if let Some(found) = recent.covering(8) {
                assert_eq!(found, moments(1), "a write was found in parts, or the wrong one");
            }
            writer.join().unwrap();
            assert_eq!(recent.covering(32), Some(moments(4)));
            // It may have been in a write that is gone.
            assert_eq!(recent.covering(24), None);
        });
    }

    #[test]
    fn a_write_is_found_whole_or_not_at_all() {
        check::<Shipped>();
    }

    struct OneLook;
    impl Steps for OneLook {
        const LOOKS_AGAIN: bool = false;
    }

    #[test]
    #[should_panic(expected = "in parts")]
    fn caught_when_there_is_no_second_look() {
        check::<OneLook>();
    }

    struct RelaxedParts;
    impl Steps for RelaxedParts {
        const PART_STORE: Ordering = Relaxed;
        const PART_LOAD: Ordering = Relaxed;
    }

    #[test]
    #[should_panic(expected = "in parts")]
    fn caught_when_the_parts_are_relaxed() {
        check::<RelaxedParts>();
    }
}
