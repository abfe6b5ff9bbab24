//! Exponential back-off, and what a spin costs.
//!
//! On a collision bursts of pauses that grow by a factor from an initial length to a cap, as SQL Server's spinlocks
//! have it; from the third burst on the OS thread is yielded after each, because the holder may have lost its CPU.
//! Initial length, factor and cap are one setting of the process ([`set`]), looked at once per burst.
//!
//! A *spin* is one pause and, every eighth time, a look at the lock. [`calibrate`] measures once what it costs on
//! this machine, by the very loop that contended locks run, and tells `telemetry::spins`, so that spins can be told
//! as nanoseconds, cycles and shares of CPU.

use crate::clock;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use telemetry::SpinClass;
use telemetry::spins::{self, SpinCost};

/// How spinlocks and latches back off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Pauses in the first burst; at least 1.
    pub initial: u32,
    /// Each burst is longer than the one before by this factor; at least 1.
    pub factor: u32,
    /// Pauses in the longest burst; at least 1.
    pub cap: u32,
}

impl Settings {
    /// As at the start of the process.
    pub const DEFAULT: Settings = Settings { initial: 250, factor: 2, cap: 8_000 };
}

static INITIAL: AtomicU32 = AtomicU32::new(Settings::DEFAULT.initial);
static FACTOR: AtomicU32 = AtomicU32::new(Settings::DEFAULT.factor);
static CAP: AtomicU32 = AtomicU32::new(Settings::DEFAULT.cap);

/// Changes how every spinlock and latch of the process backs off, from the next burst on. Zeros count as 1.
pub fn set(settings: Settings) {
    INITIAL.store(settings.initial.max(1), Relaxed);
    FACTOR.store(settings.factor.max(1), Relaxed);
    CAP.store(settings.cap.max(1), Relaxed);
}

/// What is in force.
pub fn settings() -> Settings {
    Settings {
        initial: INITIAL.load(Relaxed),
        factor: FACTOR.load(Relaxed),
        cap: CAP.load(Relaxed),
    }
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
            0 => INITIAL.load(Relaxed),
            b => b.saturating_mul(FACTOR.load(Relaxed)),
        }
        .min(CAP.load(Relaxed));
        if self.pause(self.burst, free) {
            return;
        }
        self.backoffs += 1;
        if self.backoffs >= 3 {
            let began = clock::stat_ns();
            std::thread::yield_now();
            self.sleep_ns += clock::stat_ns() - began;
        }
    }

    /// Up to `count` spins; true if `free` ended them.
    #[inline(always)]
    fn pause(&mut self, count: u32, free: impl Fn() -> bool) -> bool {
        for _ in 0..count {
            self.spins += 1;
            std::hint::spin_loop();
            // A look at the line every few pauses; each look may steal it from the holder.
            if self.spins & 7 == 0 && free() {
                return true;
            }
        }
        false
    }

    /// Records what this acquisition cost under `class`.
    pub fn record(&self, class: SpinClass) {
        spins::record(class, 1, self.spins, self.backoffs, self.sleep_ns);
    }
}

/// Spins of one measurement, and how many are made: under a millisecond in all where a pause takes 50 ns.
const CALIBRATION_SPINS: u32 = 512;
const CALIBRATION_ROUNDS: usize = 31;

/// Measures what a spin costs, the first time it is called, and tells `telemetry::spins`. Takes about a millisecond.
/// A simulated world, whose clock stands still, measures nothing.
pub fn calibrate() -> Option<SpinCost> {
    static ONCE: Once = Once::new();
    if !crate::sim::active() {
        ONCE.call_once(|| spins::set_cost(measure()));
    }
    spins::cost()
}

/// The median of the rounds: the thread may lose its CPU in some of them.
fn measure() -> SpinCost {
    let taken = AtomicBool::new(true);
    let mut rounds: Vec<(u64, u64)> = (0..CALIBRATION_ROUNDS)
        .map(|_| {
            let mut backoff = Backoff::new();
            let (began_ns, began_cycles) = (clock::now_ns(), clock::cycles());
            backoff.pause(CALIBRATION_SPINS, || !taken.load(Relaxed));
            let cycles = clock::cycles().wrapping_sub(began_cycles);
            (clock::now_ns() - began_ns, cycles)
        })
        .collect();
    let spins = f64::from(CALIBRATION_SPINS);
    rounds.sort_unstable();
    let (ns, cycles) = rounds[CALIBRATION_ROUNDS / 2];
    SpinCost { ns: ns as f64 / spins, cycles: cycles as f64 / spins }
}

/// Pauses that take about `ns` nanoseconds, at least 1.
pub fn pauses_of_ns(ns: u64) -> u32 {
    let each = calibrate().map_or(10.0, |cost| cost.ns.max(0.1));
    (ns as f64 / each).round().clamp(1.0, f64::from(u32::MAX)) as u32
}
