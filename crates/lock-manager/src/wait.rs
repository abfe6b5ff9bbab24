//! One owner's wait: where a granter or a deadlock detector leaves its verdict.
//!
//! An owner waits for one thing at a time, so one node serves all its waits. The verdict moves once per wait from
//! WAITING to GRANTED (under the mutex of the queue that the node is in) or to VICTIM (under the graph's mutex).

use parking_lot::Mutex;
use runtime::task::{self, Waker};
use std::sync::atomic::{AtomicU32, Ordering::*};

/// Whoever holds and waits for locks: a session's transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Owner(pub u64);

const WAITING: u32 = 0;
const GRANTED: u32 = 1;
const VICTIM: u32 = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Waiting,
    Granted,
    Victim,
}

#[derive(Default)]
pub(crate) struct WaitNode {
    verdict: AtomicU32,
    waker: Mutex<Option<Waker>>,
}

impl WaitNode {
    /// Before the node is put where others find it.
    pub(crate) fn arm(&self) {
        *self.waker.lock() = Some(task::current_waker());
        self.verdict.store(WAITING, Release);
    }

    pub(crate) fn verdict(&self) -> Verdict {
        match self.verdict.load(Acquire) {
            WAITING => Verdict::Waiting,
            GRANTED => Verdict::Granted,
            _ => Verdict::Victim,
        }
    }

    /// True when the grant took; a victim is granted nothing.
    pub(crate) fn grant(&self) -> bool {
        self.decide(GRANTED)
    }

    pub(crate) fn sacrifice(&self) -> bool {
        self.decide(VICTIM)
    }

    fn decide(&self, verdict: u32) -> bool {
        let taken = self.verdict.compare_exchange(WAITING, verdict, AcqRel, Acquire).is_ok();
        if taken {
            self.wake();
        }
        taken
    }

    pub(crate) fn wake(&self) {
        let waker = self.waker.lock().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
