//! What the machine makes the server wait: time in which one of its threads would have run and got no CPU.
//!
//! The kernel keeps that sum for each thread (`schedstat`). It is read every few milliseconds for all threads of the
//! server and for those here that measure, so what somebody waited between two moments can be parted into the server's
//! share and the machine's. On a machine with nothing else to do the latter is next to nothing, and nobody is excused.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// Between two looks.
pub const LOOK: Duration = Duration::from_millis(10);

/// See the file's first lines.
#[derive(Default)]
pub struct Machine {
    /// Of each thread by its path: what it had waited when it was last looked at.
    threads: HashMap<String, u64>,
    shares: Shares,
}

/// Moments in order, each with the sum of the machine's share until then.
#[derive(Clone, Default)]
pub struct Shares(Vec<(Instant, u64)>);

/// Threads of this process that measure.
#[derive(Default)]
pub struct Measuring(Mutex<Vec<i32>>);

impl Measuring {
    /// The calling thread is one.
    pub fn enter(&self) {
        // SAFETY: a plain system call.
        self.0.lock().push(unsafe { libc::gettid() });
    }
}

impl Machine {
    /// Looks at all threads of a process, and at those that measure. Of threads that wait at one time the one that
    /// waits longest counts.
    pub fn look(&mut self, process: u32, measuring: &Measuring) {
        let mut paths: Vec<String> = fs::read_dir(format!("/proc/{process}/task"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| format!("/proc/{process}/task/{}", entry.file_name().to_string_lossy()))
            .collect();
        let own = measuring.0.lock();
        paths.extend(own.iter().map(|id| format!("/proc/self/task/{id}")));
        drop(own);
        let mut most = 0;
        for path in paths {
            let text = fs::read_to_string(format!("{path}/schedstat")).unwrap_or_default();
            let Some(waited) = text.split(' ').nth(1).and_then(|ns| ns.parse::<u64>().ok()) else {
                continue;
            };
            let before = self.threads.insert(path, waited).unwrap_or(waited);
            most = most.max(waited.saturating_sub(before));
        }
        self.shares.add(Instant::now(), most);
    }

    pub fn shares(self) -> Shares {
        self.shares
    }
}

impl Shares {
    fn add(&mut self, at: Instant, ns: u64) {
        let sum = self.0.last().map_or(0, |(_, sum)| *sum);
        self.0.push((at, sum + ns));
    }

    /// The machine's share between two moments, at most: the looks before and after them count in full.
    pub fn between(&self, from: Instant, to: Instant) -> Duration {
        let before = self.0.partition_point(|(at, _)| *at < from).saturating_sub(1);
        let after = self.0.partition_point(|(at, _)| *at < to).min(self.0.len().saturating_sub(1));
        match (self.0.get(before), self.0.get(after)) {
            (Some((_, first)), Some((_, last))) => {
                Duration::from_nanos(last - first).min(to.saturating_duration_since(from))
            }
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_looks_around_a_wait_are_its_share() {
        let begun = Instant::now();
        let at = |ms: u64| begun + Duration::from_millis(ms);
        let mut shares = Shares::default();
        for (ms, waited) in [(0, 0), (10, 4), (20, 0), (30, 8), (40, 0)] {
            shares.add(at(ms), waited * 1_000_000);
        }
        assert_eq!(shares.between(at(11), at(19)), Duration::ZERO);
        assert_eq!(shares.between(at(21), at(35)), Duration::from_millis(8));
        assert_eq!(shares.between(at(0), at(40)), Duration::from_millis(12));
        // No more than there was.
        assert_eq!(shares.between(at(25), at(26)), Duration::from_millis(1));
        assert_eq!(Shares::default().between(at(0), at(9)), Duration::ZERO);
    }
}
