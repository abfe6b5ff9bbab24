//! CPU time of the whole machine, as /proc/stat tells it: busy, idle, and taken by the hypervisor.

/// The first line of /proc/stat at a moment, in clock ticks. All zero where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Host {
    total: u64,
    idle: u64,
    steal: u64,
}

impl Host {
    pub fn now() -> Host {
        // Where there is no /proc, nothing is told.
        std::fs::read_to_string("/proc/stat").ok().and_then(|t| Host::parse(&t)).unwrap_or_default()
    }

    /// user nice system idle iowait irq softirq steal (guest times are in user already).
    fn parse(text: &str) -> Option<Host> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let n: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let &[_, _, _, idle, iowait, _, _, steal, ..] = n.as_slice() else { return None };
        Some(Host { total: n[..8].iter().sum(), idle: idle + iowait, steal })
    }

    fn share(now: u64, then: u64, self_total: u64, then_total: u64) -> Option<f64> {
        let total = self_total.checked_sub(then_total).filter(|&total| total > 0)?;
        Some(now.saturating_sub(then) as f64 / total as f64)
    }

    /// Share of CPU time that somebody used, 0 to 1; `None` when no tick passed.
    pub fn busy_since(&self, then: &Host) -> Option<f64> {
        Host::share(self.idle, then.idle, self.total, then.total).map(|idle| 1.0 - idle)
    }

    /// Share of CPU time that the hypervisor gave to others.
    pub fn steal_since(&self, then: &Host) -> Option<f64> {
        Host::share(self.steal, then.steal, self.total, then.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_proc_stat() {
        let then = Host::parse("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1").expect("a line");
        let now = Host::parse("cpu  150 0 60 820 60 0 0 10 0 0\n").expect("a line");
        assert_eq!(now.busy_since(&then), Some(0.7));
        assert_eq!(now.steal_since(&then), Some(0.1));
        assert_eq!(now.busy_since(&now), None);
        assert_eq!(Host::parse("intr 5"), None);
    }
}
