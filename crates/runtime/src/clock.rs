//! The two clocks. Both can be the simulation's.

use crate::sim;

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
