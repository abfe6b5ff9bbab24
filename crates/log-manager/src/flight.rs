//! A write under way, and the signal that something happened.
//!
//! A [`Flight`] keeps alive the memory that the device reads from, records the outcome once, and raises the
//! [`Signal`]. It does nothing else, since completions arrive on any thread, even inside the submission.

use crate::ring::Ring;
use device::IoDone;
use parking_lot::Mutex;
use runtime::task::{Bell, Waker};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*, fence};
use stdx::AlignedBuf;

/// "Somebody should look": set by whoever has news for the flusher, cleared by the flusher before it looks.
pub(crate) struct Signal {
    attention: AtomicBool,
    /// The dedicated writer is asleep, or about to be.
    asleep: AtomicBool,
    sleeper: Mutex<Option<Waker>>,
    /// Rung while schedulers should poll the log in each turn.
    pub(crate) bell: Bell,
}

impl Signal {
    pub(crate) fn new() -> Signal {
        Signal {
            attention: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            sleeper: Mutex::new(None),
            bell: Bell::new(),
        }
    }

    /// There is news; the caller published it before.
    pub(crate) fn raise(&self) {
        if !self.attention.load(Relaxed) {
            self.attention.store(true, Release);
        }
        // Pairs with the fence of whoever clears, unlocks, hushes or goes to sleep, and then looks again.
        fence(SeqCst);
        self.bell.ring();
        if self.asleep.load(Relaxed)
            && let Some(waker) = self.sleeper.lock().as_ref()
        {
            waker.wake();
        }
    }

    #[inline(always)]
    pub(crate) fn is_raised(&self) -> bool {
        self.attention.load(Relaxed)
    }

    /// To be called before looking at the news.
    pub(crate) fn clear(&self) {
        if self.attention.load(Relaxed) {
            self.attention.store(false, Relaxed);
        }
        fence(SeqCst);
    }

    /// The caller, a dedicated writer, announces that it will sleep; false if there is news after all.
    pub(crate) fn fall_asleep(&self, waker: Waker) -> bool {
        *self.sleeper.lock() = Some(waker);
        self.asleep.store(true, Relaxed);
        fence(SeqCst);
        !self.is_raised()
    }

    pub(crate) fn awake(&self) {
        self.asleep.store(false, Relaxed);
    }
}

const PENDING: usize = 0;
const GOOD: usize = 1;
const BAD: usize = 2;

/// What the device reads from.
pub(crate) enum Memory {
    /// Blocks of the ring; the field keeps the ring alive.
    Ring(#[allow(dead_code, reason = "held for its life")] Arc<Ring>),
    Header(AlignedBuf),
}

/// One write under way.
pub(crate) struct Flight {
    memory: Memory,
    signal: Arc<Signal>,
    bytes: AtomicUsize,
    outcome: AtomicUsize,
    submitted_ns: AtomicU64,
    completed_ns: AtomicU64,
    error: Mutex<String>,
}

impl Flight {
    pub(crate) fn new(memory: Memory, signal: Arc<Signal>) -> Flight {
        Flight {
            memory,
            signal,
            bytes: AtomicUsize::new(0),
            outcome: AtomicUsize::new(PENDING),
            submitted_ns: AtomicU64::new(0),
            completed_ns: AtomicU64::new(0),
            error: Mutex::new(String::new()),
        }
    }

    /// Made ready for a write of `bytes`; no write may be under way.
    pub(crate) fn prepare(&self, bytes: usize) {
        self.bytes.store(bytes, Relaxed);
        self.outcome.store(PENDING, Relaxed);
    }

    /// The header to be written, for a flight that carries one.
    pub(crate) fn header(&self) -> Option<&AlignedBuf> {
        match &self.memory {
            Memory::Header(buf) => Some(buf),
            Memory::Ring(_) => None,
        }
    }

    /// `None` while under way.
    pub(crate) fn outcome(&self) -> Option<Result<(), String>> {
        match self.outcome.load(Acquire) {
            PENDING => None,
            GOOD => Some(Ok(())),
            _ => Some(Err(self.error.lock().clone())),
        }
    }

    /// When the device had it, and when it was done.
    pub(crate) fn times_ns(&self) -> (u64, u64) {
        (self.submitted_ns.load(Relaxed), self.completed_ns.load(Relaxed))
    }
}

impl IoDone for Flight {
    fn complete(&self, r: io::Result<usize>, submitted_ns: u64, completed_ns: u64) {
        self.submitted_ns.store(submitted_ns, Relaxed);
        self.completed_ns.store(completed_ns, Relaxed);
        let wanted = self.bytes.load(Relaxed);
        let outcome = match r {
            Ok(n) if n == wanted => GOOD,
            Ok(n) => {
                *self.error.lock() = format!("{n} of {wanted} bytes were written");
                BAD
            }
            Err(e) => {
                *self.error.lock() = e.to_string();
                BAD
            }
        };
        self.outcome.store(outcome, Release);
        self.signal.raise();
    }
}
