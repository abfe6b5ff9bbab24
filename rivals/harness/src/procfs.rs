//! What Linux tells of other processes, from /proc: CPU time, context switches, thread states.
//!
//! A process that has gone away in between counts for nothing; elsewhere than on Linux there is nothing to read, and
//! the figures are absent.

use std::fs;
use std::path::Path;

/// What a thread does at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// On a CPU, or ready for one.
    Running,
    /// In the kernel's uninterruptible sleep: waits for a device.
    Device,
    /// Waits for something else.
    Sleeping,
}

/// CPU time in seconds of a process and of its children, those included that have ended and been waited for. The kernel
/// counts in ticks, of 10 ms as a rule. `None` when the process is not there.
pub fn process_tree_cpu_s(id: u32) -> Option<f64> {
    let own = Stat::read(&format!("/proc/{id}/stat"))?;
    let children = children(id).map(|(_, stat)| stat.ticks + stat.buried_ticks).sum::<u64>();
    Some(seconds(own.ticks + own.buried_ticks + children))
}

/// CPU time in seconds of this process alone.
pub fn own_cpu_s() -> Option<f64> {
    Some(seconds(Stat::read("/proc/self/stat")?.ticks))
}

/// Context switches of all threads of a process and of its children.
pub fn process_tree_switches(id: u32) -> Option<u64> {
    let own = process_switches(id)?;
    Some(own + children(id).filter_map(|(child, _)| process_switches(child)).sum::<u64>())
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

fn children(id: u32) -> impl Iterator<Item = (u32, Stat)> {
    // By its main thread: a server that forks does so from there. One file instead of all of /proc.
    let listed = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let ids: Vec<u32> =
        listed.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
    ids.into_iter().filter_map(|child| {
        let stat = Stat::read(&format!("/proc/{child}/stat"))?;
        Some((child, stat))
    })
}

/// Context switches of all threads of a process.
pub fn process_switches(id: u32) -> Option<u64> {
    let of = |path: &Path| -> u64 {
        let text = fs::read_to_string(path.join("status")).unwrap_or_default();
        let lines = text.lines().filter(|line| line.contains("ctxt_switches:"));
        lines.filter_map(|line| line.rsplit('\t').next()?.trim().parse::<u64>().ok()).sum()
    };
    let tasks = fs::read_dir(format!("/proc/{id}/task")).ok()?;
    Some(tasks.flatten().map(|task| of(&task.path())).sum())
}

/// The state of thread `thread` of process `process`.
pub fn thread_state(process: u32, thread: u32) -> Option<ThreadState> {
    let stat = Stat::read(&format!("/proc/{process}/task/{thread}/stat"))?;
    Some(match stat.state {
        b'R' => ThreadState::Running,
        b'D' => ThreadState::Device,
        _ => ThreadState::Sleeping,
    })
}

struct Stat {
    state: u8,
    ticks: u64,
    buried_ticks: u64,
}

impl Stat {
    fn read(path: &str) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(path).ok()?)
    }

    /// proc_pid_stat(5): the name stands in parentheses and may hold anything, so fields count from the last one.
    fn parse(text: &str) -> Option<Stat> {
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Stat {
            state: *fields.first()?.as_bytes().first()?,
            ticks: number(14)? + number(15)?,
            buried_ticks: number(16)? + number(17)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let line = "42 (a ) b) S 7 1 1 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 1 0 5";
        let stat = Stat::parse(line).expect("a line of /proc");
        assert_eq!((stat.state, stat.ticks, stat.buried_ticks), (b'S', 120, 7));
        assert!(Stat::parse("42 (x").is_none());
    }

    #[test]
    fn this_process_is_there_and_the_last_one_is_not() {
        assert!(process_tree_cpu_s(std::process::id()).is_some());
        assert!(process_switches(std::process::id()).is_some_and(|n| n > 0));
        assert!(process_tree_cpu_s(u32::MAX).is_none() && process_switches(u32::MAX).is_none());
    }
}
