//! What the system tells of the process and its threads: time and memory.

/// What the system tells of this process; zeros where it does not.
#[derive(Clone, Copy, Default)]
pub(super) struct Process {
    pub kernel_ms: i64,
    pub user_ms: i64,
    pub resident_kb: i64,
    pub virtual_kb: i64,
    /// Kept in memory, of what is in memory.
    pub locked_kb: i64,
    /// With and without reading from a disk.
    pub page_faults: i64,
}

impl Process {
    pub fn now() -> Process {
        let read = |name: &str| std::fs::read_to_string(name).unwrap_or_default();
        let stat = read("/proc/self/stat");
        let (kernel_ms, user_ms) = times_ms(&stat).unwrap_or_default();
        let status = read("/proc/self/status");
        let kb = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|rest| rest.split_whitespace().next());
            number.and_then(|n| n.parse().ok()).unwrap_or(0)
        };
        Process {
            kernel_ms,
            user_ms,
            resident_kb: kb("VmRSS:"),
            virtual_kb: kb("VmSize:"),
            locked_kb: if kb("VmLck:") > 0 { locked_kb() } else { 0 },
            page_faults: page_faults(&stat).unwrap_or(0),
        }
    }
}

/// What is locked and in memory, in KiB: `VmLck` has all that would be locked once it is touched. The kernel walks all pages
/// for it.
fn locked_kb() -> i64 {
    let told = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = told.lines().find_map(|line| line.strip_prefix("Locked:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Memory of the process, in KiB.
pub fn resident_kb() -> u64 {
    Process::now().resident_kb as u64
}

/// `utime` and `stime` are in ticks of 10 ms on every Linux.
const TICK_MS: i64 = 10;

/// Fields 14 and 15 of a `stat` file: time outside and inside the kernel; (kernel, user) in ms.
fn times_ms(stat: &str) -> Option<(i64, i64)> {
    // The second field, in parentheses, may have blanks.
    let rest = stat.rsplit_once(')')?.1;
    let mut fields = rest.split_whitespace().skip(11);
    let user: i64 = fields.next()?.parse().ok()?;
    let kernel: i64 = fields.next()?.parse().ok()?;
    Some((kernel * TICK_MS, user * TICK_MS))
}

/// The same of one thread.
pub fn thread_times_ms(thread: u64) -> Option<(i64, i64)> {
    times_ms(&std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?)
}

/// Fields 10 and 12 of a `stat` file, together.
fn page_faults(stat: &str) -> Option<i64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(7);
    let minor: i64 = fields.next()?.parse().ok()?;
    let major: i64 = fields.nth(1)?.parse().ok()?;
    Some(minor + major)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_stat_are_counted_from_the_name() {
        let stat = "7 (a b) c) S 1 2 3 4 5 6 100 101 20 102 14 15 16";
        assert_eq!(page_faults(stat), Some(120));
        assert_eq!(times_ms(stat), Some((150, 140)));
        assert!(Process::now().page_faults > 0);
    }
}
