//! What the system tells of the process and its threads: time and memory.

/// What the system tells of this process; zeros where it does not.
#[derive(Clone, Copy, Default)]
pub(super) struct Process {
    pub kernel_ms: i64,
    pub user_ms: i64,
    pub resident_kb: i64,
    pub virtual_kb: i64,
    pub locked_kb: i64,
}

impl Process {
    pub fn now() -> Process {
        let read = |name: &str| std::fs::read_to_string(name).unwrap_or_default();
        let (kernel_ms, user_ms) = times_ms(&read("/proc/self/stat")).unwrap_or_default();
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
            locked_kb: kb("VmLck:"),
        }
    }
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
