//! The classic queue of log writes: bounded, and behind a spinlock (LOGFLUSHQ) that committers and the writer share.
//!
//! A committer asks for everything up to its record; it joins the last request if that is not on its way yet and the
//! two make no more than one write, else it becomes a request of its own, unless the queue is full: then it waits, and
//! the writer asks on its behalf when there is room again. The writer takes requests in order, submits each, and
//! takes it off when its write has ended, so a request occupies the queue from its asking until it is durable.
//!
//! Invariants: requests rise; those submitted come first; there are at most `depth`. Everything here happens under the
//! lock. Knows nothing of blocks, files or who waits: what is wanted is kept elsewhere too, so that a full queue, or
//! a change of the switch, delays and never loses.

use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Request {
    from: u64,
    upto: u64,
    submitted: bool,
}

/// What became of a wish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// It was covered already, or the last request covers it now.
    Joined,
    /// It is a request of its own.
    Queued,
    /// There is no room.
    Full,
}

/// See the top of the file. `JOINS_LATE` exists for the model checker: a wish that joins a request on its way is lost.
#[derive(Debug, Default)]
pub(crate) struct FlushQueue<const JOINS_LATE: bool = false> {
    requests: VecDeque<Request>,
    /// End of the last request ever taken in.
    tail: u64,
}

impl<const JOINS_LATE: bool> FlushQueue<JOINS_LATE> {
    /// Everything below `upto` is to be written, in writes of at most about `bytes`.
    pub(crate) fn ask(&mut self, upto: u64, depth: usize, bytes: u64) -> Asked {
        if upto <= self.tail {
            return Asked::Joined;
        }
        if let Some(last) = self.requests.back_mut()
            && (JOINS_LATE || !last.submitted)
            && (upto - last.from <= bytes)
        {
            last.upto = upto;
            self.tail = upto;
            return Asked::Joined;
        }
        if self.requests.len() >= depth {
            return Asked::Full;
        }
        let from = self.tail;
        self.requests.push_back(Request { from, upto, submitted: false });
        self.tail = upto;
        Asked::Queued
    }

    /// Up to where the next write should go; `None`: nothing is asked for.
    pub(crate) fn next(&self) -> Option<u64> {
        self.requests.iter().find(|r| !r.submitted).map(|r| r.upto)
    }

    /// Everything below `upto` has been handed to the device.
    pub(crate) fn submitted(&mut self, upto: u64) {
        let covered = self.requests.iter_mut().take_while(|r| r.upto <= upto);
        covered.for_each(|r| r.submitted = true);
    }

    /// Everything below `upto` is durable. (Whatever was written without being asked for counts as asked.)
    pub(crate) fn ended(&mut self, upto: u64) {
        while self.requests.front().is_some_and(|r| r.upto <= upto) {
            self.requests.pop_front();
        }
        self.tail = self.tail.max(upto);
    }

    #[cfg(all(test, not(loom)))]
    fn len(&self) -> usize {
        self.requests.len()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn wishes_join_until_their_write_is_on_its_way() {
        let mut q = FlushQueue::<false>::default();
        q.ended(1_000);
        assert_eq!(q.ask(1_100, 2, 500), Asked::Queued);
        assert_eq!(q.ask(1_050, 2, 500), Asked::Joined);
        assert_eq!(q.ask(1_400, 2, 500), Asked::Joined);
        assert_eq!(q.next(), Some(1_400));
        q.submitted(1_400);
        assert_eq!(q.next(), None);
        assert_eq!(q.ask(1_410, 2, 500), Asked::Queued);
        assert_eq!(q.next(), Some(1_410));
        // Two outstanding: what does not fit the second must wait.
        assert_eq!(q.ask(2_000, 2, 500), Asked::Full);
        q.ended(1_400);
        assert_eq!(q.ask(2_000, 2, 500), Asked::Queued);
        assert_eq!((q.len(), q.next()), (2, Some(1_410)));
    }

    #[test]
    fn what_was_written_unasked_is_not_asked_for_again() {
        let mut q = FlushQueue::<false>::default();
        assert_eq!(q.ask(100, 1, 50), Asked::Queued);
        q.submitted(200);
        q.ended(200);
        assert_eq!(q.ask(180, 1, 50), Asked::Joined);
        assert_eq!((q.len(), q.next()), (0, None));
    }

    #[test]
    fn never_more_than_the_depth_and_always_rising() {
        let mut prng = stdx::Prng::new(7);
        let mut q = FlushQueue::<false>::default();
        let (mut wanted, mut sent, mut durable) = (0u64, 0u64, 0u64);
        for _ in 0..20_000 {
            let depth = 1 + prng.below(4) as usize;
            match prng.below(4) {
                0 | 1 => {
                    wanted += prng.below(300);
                    let before = q.len();
                    let asked = q.ask(wanted, depth, 200);
                    assert!(q.len() <= before.max(depth));
                    assert_eq!(asked == Asked::Full, q.tail < wanted);
                }
                2 => {
                    if let Some(upto) = q.next() {
                        assert!(upto > sent, "{q:?}");
                        sent = upto;
                        q.submitted(sent);
                    }
                }
                _ => {
                    durable += prng.below(sent - durable + 1);
                    q.ended(durable);
                }
            }
            assert!(
                q.requests
                    .iter()
                    .is_sorted_by(|a, b| a.upto < b.upto && a.submitted >= b.submitted)
            );
        }
        assert!(durable > 0 && sent > durable - 1);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Mutex;
    use loom::thread;
    use std::sync::Arc;

    /// Two committers ask for a position each while the writer takes requests; then it takes what is left. What was
    /// asked for must have been submitted, and nothing twice.
    fn check<const JOINS_LATE: bool>() {
        loom::model(|| {
            let queue = Arc::new(Mutex::new(FlushQueue::<JOINS_LATE>::default()));
            let committer = |upto: u64| {
                let queue = queue.clone();
                thread::spawn(move || queue.lock().unwrap().ask(upto, 2, 100))
            };
            let committers = [committer(10), committer(20)];
            let mut sent = 0;
            let mut write = || {
                let Some(upto) = queue.lock().unwrap().next() else { return false };
                assert!(upto > sent, "written twice");
                sent = upto;
                // Between the two the device would be called: the lock is free.
                queue.lock().unwrap().submitted(upto);
                true
            };
            write();
            for committer in committers {
                assert_ne!(committer.join().unwrap(), Asked::Full);
            }
            while write() {}
            assert_eq!(sent, 20, "a wish was lost");
            let mut queue = queue.lock().unwrap();
            queue.ended(20);
            assert!(queue.requests.is_empty());
        });
    }

    #[test]
    fn every_wish_is_written_once() {
        check::<false>();
    }

    #[test]
    #[should_panic(expected = "a wish was lost")]
    fn caught_when_a_wish_joins_a_request_on_its_way() {
        check::<true>();
    }
}
