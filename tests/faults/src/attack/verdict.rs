//! What was seen of a neighbour and an administrator, and whether they were harmed.
//!
//! A wait is judged without the machine's share of it ([`super::machine`]): a server cannot answer while it gets no CPU.
//! What it does with the CPU that it gets is its own affair, so a task that had a scheduler for [`STALL_MAX_MS`] of CPU
//! time after the server's own watchdog saw it first is a defect however busy the machine was.

use super::machine::Shares;
use std::time::{Duration, Instant};

/// The neighbour's slowest thousandth.
const P999_MAX: Duration = Duration::from_millis(250);
const LOGIN_MAX: Duration = Duration::from_secs(1);
/// Of CPU time that one task takes, once the watchdog has seen it at it for 50 ms.
const STALL_MAX_MS: u64 = 50;
/// So much longer everything takes in a dev build, about; what it does in one stretch is then told and not judged.
const SLOW_BUILD: u32 = 3;
/// Shorter waits need no second look: the machine can only have made them longer.
const QUICK: Duration = Duration::from_millis(50);

/// Waits of one kind.
#[derive(Default)]
pub struct Waits {
    quick_us: Vec<u64>,
    slow: Vec<Wait>,
}

/// A wait that was not short, with what was under way at its end.
struct Wait {
    from: Instant,
    to: Instant,
    under_way: String,
}

impl Waits {
    /// One more, from a moment until now.
    pub fn add(&mut self, from: Instant, under_way: impl FnOnce() -> String) {
        let to = Instant::now();
        let took = to - from;
        if took < QUICK {
            self.quick_us.push(took.as_micros() as u64);
        } else {
            self.slow.push(Wait { from, to, under_way: under_way() });
        }
    }

    pub fn len(&self) -> usize {
        self.quick_us.len() + self.slow.len()
    }

    /// In microseconds and order: as they were, and without the machine's share.
    fn sorted(&self, shares: &Shares) -> (Vec<u64>, Vec<u64>) {
        let (mut whole, mut own) = (self.quick_us.clone(), self.quick_us.clone());
        for wait in &self.slow {
            let took = wait.to - wait.from;
            whole.push(took.as_micros() as u64);
            own.push((took - shares.between(wait.from, wait.to)).as_micros() as u64);
        }
        whole.sort_unstable();
        own.sort_unstable();
        (whole, own)
    }

    /// The longest by itself, in ms, and what was under way.
    fn longest(&self, shares: &Shares) -> Option<(f64, &str)> {
        let own = |w: &Wait| (w.to - w.from) - shares.between(w.from, w.to);
        let longest = self.slow.iter().max_by_key(|wait| own(wait))?;
        Some((own(longest).as_secs_f64() * 1e3, &longest.under_way))
    }
}

/// Reads them and says what is odd; `told` gets the figures.
pub fn of(
    neighbour: &Waits,
    logins: &Waits,
    shares: &Shares,
    stalls: &[String],
    is_slow_build: bool,
    mut told: impl FnMut(String),
) -> Vec<String> {
    let mut odd = Vec::new();
    let times = if is_slow_build { SLOW_BUILD } else { 1 };
    for (who, waits) in [("neighbour", neighbour), ("logins", logins)] {
        let (whole, own) = waits.sorted(shares);
        told(format!(
            "{who}: {} times; p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, longest {:.1} ms; without the waits for a CPU \
             p99.9 {:.2} ms, longest {:.1} ms",
            waits.len(),
            part(&whole, 500),
            part(&whole, 990),
            part(&whole, 999),
            part(&whole, 1_000),
            part(&own, 999),
            part(&own, 1_000),
        ));
        let (judged, most, what) = match who {
            "neighbour" => (part(&own, 999), P999_MAX, "slowest thousandth"),
            _ => (part(&own, 1_000), LOGIN_MAX, "longest"),
        };
        if judged > (most * times).as_secs_f64() * 1e3 {
            let (longest, under_way) = waits.longest(shares).unwrap_or_default();
            odd.push(format!(
                "{who}: the {what} takes {judged:.1} ms; the longest, {longest:.1} ms, with: {under_way}"
            ));
        }
    }
    for line in stalls {
        if is_slow_build {
            told(format!("told and not judged: {line}"));
        } else if number(line, "cpu_milliseconds=").is_some_and(|ms| ms >= STALL_MAX_MS) {
            odd.push(format!("a task kept its scheduler: {line}"));
        }
    }
    odd
}

/// Of numbers in order, in thousandths.
fn part(sorted: &[u64], of_thousand: usize) -> f64 {
    let at = (sorted.len() * of_thousand / 1_000).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(0) as f64 / 1e3
}

fn number(line: &str, word: &str) -> Option<u64> {
    let rest = line.split_once(word)?.1;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(begun: Instant, slow_ms: &[u64]) -> Waits {
        let slow = slow_ms.iter().map(|ms| Wait {
            from: begun,
            to: begun + Duration::from_millis(*ms),
            under_way: "a text".to_owned(),
        });
        Waits { quick_us: vec![500; 997], slow: slow.collect() }
    }

    #[test]
    fn a_server_that_keeps_a_neighbour_waiting_is_told() {
        let begun = Instant::now();
        let none = Shares::default();
        let judge = |neighbour: &[u64], logins: &[u64], stalls: &[String]| {
            of(&waits(begun, neighbour), &waits(begun, logins), &none, stalls, false, |_| {}).len()
        };
        assert_eq!(judge(&[60, 70, 80], &[60, 900, 999], &[]), 0);
        assert_eq!(judge(&[60, 300, 400], &[60, 900, 999], &[]), 1);
        assert_eq!(judge(&[60, 70, 80], &[60, 900, 1_001], &[]), 1);
        let stall =
            |ms| format!("a task does not let others go first cpu_milliseconds={ms} thread=R");
        assert_eq!(judge(&[], &[], &[stall(49), stall(50)]), 1);
        let (late, later) = (waits(begun, &[300, 700, 740]), waits(begun, &[300, 760, 800]));
        let quick = waits(begun, &[]);
        let stalls = [stall(50)];
        assert_eq!(of(&late, &quick, &none, &stalls, true, |_| {}).len(), 0);
        assert_eq!(of(&later, &quick, &none, &stalls, true, |_| {}).len(), 1);
    }
}
