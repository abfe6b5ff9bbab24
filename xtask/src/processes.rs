//! What the kernel tells of processes that a measurement runs: their CPU time.

use crate::run::Failure;

/// Of the numbers in /proc/PID/stat.
const TICKS_PER_S: f64 = 100.0;

/// CPU time so far of a process and its children, user's and system's, in seconds; those of its children that have ended and
/// that it has waited for count on.
pub fn cpu(first: u32) -> Result<f64, Failure> {
    let all = std::fs::read_dir("/proc").map_err(|e| Failure(format!("/proc: {e}")))?;
    let mut ticks = 0.0;
    for entry in all.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let text = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some(stat) = Stat::parse(&text) else { continue };
        if pid == first {
            ticks += stat.own + stat.waited_for;
        } else if stat.parent == first {
            ticks += stat.own;
        }
    }
    Ok(ticks / TICKS_PER_S)
}

struct Stat {
    parent: u32,
    /// Ticks.
    own: f64,
    /// Ticks of children that have ended.
    waited_for: f64,
}

impl Stat {
    /// The name, in brackets, may have blanks; behind it: state, parent, ..., user and system time as the 12th and 13th, those
    /// of ended children as the 14th and 15th.
    fn parse(text: &str) -> Option<Stat> {
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<f64>().ok();
        Some(Stat {
            parent: fields.get(1)?.parse().ok()?,
            own: number(11)? + number(12)?,
            waited_for: number(13)? + number(14)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_brackets_is_no_field() {
        let text = "71 (a (b) c) S 7 71 71 0 -1 4194560 1 2 3 4 250 50 30 20 20 0 1 0 900";
        let stat = Stat::parse(text).expect("a line of the kernel's");
        assert_eq!((stat.parent, stat.own, stat.waited_for), (7, 300.0, 50.0));
        assert!(Stat::parse("").is_none());
    }
}
