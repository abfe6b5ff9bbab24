//! The two clocks. Both can be the simulation's.

use crate::sim;
use std::cell::Cell;

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `ts` is a valid timespec to write to; both clocks exist on every Linux.
    let rc = unsafe { libc::clock_gettime(clock, &mut ts) };
    debug_assert_eq!(rc, 0);
    ts.tv_sec as u64 * 1_000_000_000 + ts.tv_nsec as u64
}

/// Nanoseconds that never go back, from some moment of the past.
#[inline]
pub fn now_ns() -> u64 {
    if sim::active() {
        return sim::now_ns();
    }
    read(libc::CLOCK_MONOTONIC)
}

/// The time for a statistic: as [`now_ns`], and 0 in a build that records none.
#[inline]
pub fn stat_ns() -> u64 {
    if telemetry::RECORDING { now_ns() } else { 0 }
}

/// UTC wall clock: nanoseconds since 1970-01-01.
#[inline]
pub fn unix_ns() -> u64 {
    if sim::active() {
        return sim::unix_ns();
    }
    read(libc::CLOCK_REALTIME)
}

/// [`unix_ns`] to a microsecond or so, for less: by the CPU's own counter since the calling thread's last look at the clock, a
/// millisecond ago at most. Times of different threads may stand in another order than they were taken in, by as much, and a
/// thread's own may go back by that at a look.
#[inline]
pub fn brisk_unix_ns() -> u64 {
    if sim::active() {
        return sim::unix_ns();
    }
    let known = KNOWN.get();
    let since = cycles().wrapping_sub(known.cycles);
    // Below the limit nothing overflows.
    match since < known.limit {
        true => known.unix_ns + ((since * known.scale) >> SCALE),
        false => look_again(),
    }
}

/// What a thread knows of the clock.
#[derive(Clone, Copy)]
struct Known {
    /// The last look.
    cycles: u64,
    unix_ns: u64,
    /// One from which on the counter's rate is measured: cycles, and the clock then; 0: none.
    anchor: (u64, u64),
    /// Nanoseconds of a tick, times 2 to the [`SCALE`].
    scale: u64,
    /// So many ticks are about a millisecond; 0: nobody knows.
    limit: u64,
}

const SCALE: u32 = 32;
const UNKNOWN: Known = Known { cycles: 0, unix_ns: 0, anchor: (0, 0), scale: 0, limit: 0 };
/// A microsecond or so: x86-64 counts some 2 to 4 billion ticks a second, arm64 24 million to a billion.
const LOOK_TICKS_MAX: u64 = if cfg!(target_arch = "x86_64") { 4_000 } else { 400 };
/// The rate is measured over so long at least: a look that takes a microsecond is a part in ten thousand of it.
const RATE_NS_MIN: u64 = 10_000_000;
/// And then anew after so long.
const RATE_NS_MAX: u64 = 1_000_000_000;

thread_local! {
    static KNOWN: Cell<Known> = const { Cell::new(UNKNOWN) };
}

/// Looks at the clock, and says at which tick: none where the thread was held up between the two.
fn look() -> (Option<u64>, u64) {
    let before = cycles();
    let unix_ns = unix_ns();
    let took = cycles().wrapping_sub(before);
    ((took < LOOK_TICKS_MAX && before > 0).then_some(before + took / 2), unix_ns)
}

#[cold]
fn look_again() -> u64 {
    let (tick, unix_ns) = look();
    let Some(cycles) = tick else { return unix_ns };
    let mut known = KNOWN.get();
    let (ticks, ns) = (cycles.wrapping_sub(known.anchor.0), unix_ns.wrapping_sub(known.anchor.1));
    let rate = (ns < 1 << 31 && ticks < 1 << 34).then(|| (ns << SCALE) / ticks.max(1));
    match rate {
        // Measured; between 10 MHz and 10 GHz, and as before, else another CPU's counter or a clock that was set is in it.
        Some(rate)
            if ns >= RATE_NS_MIN
                && ((1 << SCALE) / 10..100 << SCALE).contains(&rate)
                && (known.scale == 0 || rate.abs_diff(known.scale) < known.scale / 1000) =>
        {
            (known.scale, known.limit) = (rate, (1_000_000 << SCALE) / rate);
            if ns >= RATE_NS_MAX {
                known.anchor = (cycles, unix_ns);
            }
        }
        // Too short to tell.
        Some(_) if ns < RATE_NS_MIN && known.anchor.1 > 0 => {}
        _ => known = Known { anchor: (cycles, unix_ns), ..UNKNOWN },
    }
    (known.cycles, known.unix_ns) = (cycles, unix_ns);
    KNOWN.set(known);
    unix_ns
}

/// [`unix_ns`] to a few milliseconds, for less: the moment of the kernel's last tick.
#[inline]
pub fn coarse_unix_ns() -> u64 {
    if sim::active() {
        return sim::unix_ns();
    }
    read(libc::CLOCK_REALTIME_COARSE)
}

/// CPU time that the whole process has used, user and system, in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time that the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The CPU's own clock: ticks of the time stamp counter (x86-64) or of the virtual counter (arm64), which run at a
/// constant rate that is not the core's present one; 0 on other machines. Never simulated: for measuring code.
#[inline]
pub fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 CPU has the instruction; it reads a register and touches nothing else.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: Linux lets user space read the counter; the instruction touches nothing else.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brisk_clock_keeps_to_the_other() {
        let began = now_ns();
        let mut known = 0u64;
        while now_ns() - began < 60_000_000 {
            let before = unix_ns();
            let now = brisk_unix_ns();
            let after = unix_ns();
            let off = before.saturating_sub(now).max(now.saturating_sub(after));
            assert!(off < 20_000, "{off} ns from the clock");
            known += u64::from(KNOWN.get().limit > 0);
        }
        assert!(known > 100 || cycles() == 0);
    }
}
