//! How long an attempt must wait after those that failed.
//!
//! Three counts, each by a key: (login, address), address, login. The first few failures cost nothing (people mistype);
//! then the wait doubles up to a bound. Attempts under one (login, address) stand in line one behind the other, so
//! asking in parallel gains nothing; when the line is full the attempt is refused unlooked at. Nobody is locked out:
//! another address waits for the login's count only, which is bounded at [`LOGIN_MAX_NS`].
//!
//! Invariant: at most [`KEYS_MAX`] counts; the one whose last failure is oldest makes room. A count is forgotten
//! [`FORGET_NS`] after the last failure.
//!
//! Reads no clock: the caller says what time it is.

use std::collections::HashMap;

const SECOND: u64 = 1_000_000_000;
const FIRST_NS: u64 = SECOND / 4;
const PAIR_MAX_NS: u64 = 4 * SECOND;
const PEER_MAX_NS: u64 = SECOND;
const LOGIN_MAX_NS: u64 = SECOND / 2;
/// Failures without a wait.
const PAIR_FREE: u32 = 3;
const PEER_FREE: u32 = 30;
const LOGIN_FREE: u32 = 30;
/// Attempts under one (login, address) that may stand in line.
const LINE_MAX: u32 = 8;
const KEYS_MAX: usize = 8192;
const FORGET_NS: u64 = 600 * SECOND;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Pair(Box<str>, Box<str>),
    Peer(Box<str>),
    Login(Box<str>),
}

#[derive(Clone, Debug, Default)]
struct Count {
    failures: u32,
    last_failure_ns: u64,
    /// Until when the line is taken.
    line_end_ns: u64,
    in_line: u32,
}

/// An attempt that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// When it may go on.
    pub(crate) until_ns: u64,
    in_line: bool,
}

/// The counts.
#[derive(Default)]
pub(crate) struct Delays {
    counts: HashMap<Key, Count>,
}

fn wait(failures: u32, free: u32, max_ns: u64) -> u64 {
    match failures.checked_sub(free) {
        None => 0,
        Some(over) => FIRST_NS.saturating_mul(1 << over.min(20)).min(max_ns),
    }
}

impl Delays {
    /// An attempt begins; `None`: refused. Say [`Delays::end`] afterwards.
    pub(crate) fn begin(&mut self, now_ns: u64, login: &str, peer: &str) -> Option<Turn> {
        let other = self
            .failures(now_ns, &Key::Peer(peer.into()))
            .map_or(0, |failures| wait(failures, PEER_FREE, PEER_MAX_NS))
            .max(
                self.failures(now_ns, &Key::Login(login.into()))
                    .map_or(0, |failures| wait(failures, LOGIN_FREE, LOGIN_MAX_NS)),
            );
        let pair = Key::Pair(login.into(), peer.into());
        let mut turn = Turn { until_ns: now_ns + other, in_line: false };
        if let Some(failures) = self.failures(now_ns, &pair)
            && let Some(count) = self.counts.get_mut(&pair)
        {
            let wait = wait(failures, PAIR_FREE, PAIR_MAX_NS);
            if wait > 0 {
                if count.in_line >= LINE_MAX {
                    return None;
                }
                count.in_line += 1;
                count.line_end_ns = count.line_end_ns.max(now_ns) + wait;
                turn.until_ns = turn.until_ns.max(count.line_end_ns);
                turn.in_line = true;
            }
        }
        Some(turn)
    }

    /// The attempt is over.
    pub(crate) fn end(
        &mut self,
        now_ns: u64,
        login: &str,
        peer: &str,
        turn: Turn,
        succeeded: bool,
    ) {
        let pair = Key::Pair(login.into(), peer.into());
        if turn.in_line
            && let Some(count) = self.counts.get_mut(&pair)
        {
            count.in_line = count.in_line.saturating_sub(1);
        }
        if succeeded {
            // The address's and the login's own counts stay: a stranger's one account must not wipe out his guesses.
            if self.counts.get(&pair).is_some_and(|count| count.in_line == 0) {
                self.counts.remove(&pair);
            } else if let Some(count) = self.counts.get_mut(&pair) {
                count.failures = 0;
            }
            return;
        }
        for key in [pair, Key::Peer(peer.into()), Key::Login(login.into())] {
            self.make_room(&key);
            let count = self.counts.entry(key).or_default();
            if now_ns.saturating_sub(count.last_failure_ns) > FORGET_NS {
                count.failures = 0;
            }
            count.failures = count.failures.saturating_add(1);
            count.last_failure_ns = now_ns;
        }
    }

    fn failures(&self, now_ns: u64, key: &Key) -> Option<u32> {
        let count = self.counts.get(key)?;
        (now_ns.saturating_sub(count.last_failure_ns) <= FORGET_NS).then_some(count.failures)
    }

    fn make_room(&mut self, key: &Key) {
        if self.counts.len() < KEYS_MAX || self.counts.contains_key(key) {
            return;
        }
        // A sixteenth at once, so that a flood of new keys does not sort for each.
        let mut ages: Vec<u64> = self.counts.values().map(|count| count.last_failure_ns).collect();
        let (_, limit, _) = ages.select_nth_unstable(KEYS_MAX / 16);
        let limit = *limit;
        let mut excess = KEYS_MAX / 16;
        self.counts.retain(|_, count| {
            let goes = excess > 0 && count.last_failure_ns <= limit;
            excess -= usize::from(goes);
            !goes
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(delays: &mut Delays, now: u64, login: &str, peer: &str, times: u32) {
        for _ in 0..times {
            // Long ago it stood in line; what counts is that it failed.
            let turn = Turn { until_ns: now, in_line: false };
            delays.end(now, login, peer, turn, false);
        }
    }

    fn waits(delays: &mut Delays, now: u64, login: &str, peer: &str) -> Option<u64> {
        delays.begin(now, login, peer).map(|turn| turn.until_ns - now)
    }

    #[test]
    fn the_wait_doubles_up_to_a_bound_and_is_forgotten() {
        let mut delays = Delays::default();
        let mut now = SECOND;
        let mut seen = Vec::new();
        for _ in 0..9 {
            let turn = delays.begin(now, "sa", "10.0.0.1").unwrap();
            seen.push((turn.until_ns - now) / 1_000_000);
            now = turn.until_ns;
            delays.end(now, "sa", "10.0.0.1", turn, false);
        }
        assert_eq!(seen, [0, 0, 0, 250, 500, 1000, 2000, 4000, 4000]);
        assert_eq!(waits(&mut delays, now + FORGET_NS + 1, "sa", "10.0.0.1"), Some(0));
    }

    #[test]
    fn a_success_ends_the_wait() {
        let mut delays = Delays::default();
        fail(&mut delays, SECOND, "a", "p", 5);
        let turn = delays.begin(SECOND, "a", "p").unwrap();
        assert!(turn.until_ns > SECOND);
        delays.end(SECOND, "a", "p", turn, true);
        assert_eq!(waits(&mut delays, SECOND, "a", "p"), Some(0));
    }

    #[test]
    fn who_asks_in_parallel_stands_in_line_and_a_full_line_refuses() {
        let mut delays = Delays::default();
        fail(&mut delays, SECOND, "a", "p", 4);
        let line: Vec<_> = (0..=LINE_MAX).map(|_| waits(&mut delays, SECOND, "a", "p")).collect();
        assert_eq!(line[0], Some(SECOND / 2));
        assert_eq!(line[1], Some(SECOND));
        assert_eq!(line[LINE_MAX as usize - 1], Some(4 * SECOND));
        assert_eq!(line[LINE_MAX as usize], None);
        assert_eq!(waits(&mut delays, SECOND, "b", "p"), Some(0), "another login from there");
        assert_eq!(waits(&mut delays, SECOND, "a", "q"), Some(0), "the login from elsewhere");
    }

    #[test]
    fn nobody_else_waits_long() {
        let mut delays = Delays::default();
        fail(&mut delays, SECOND, "sa", "bad", 1000);
        assert_eq!(waits(&mut delays, SECOND, "sa", "good"), Some(LOGIN_MAX_NS));
        assert_eq!(waits(&mut delays, SECOND, "other", "bad"), Some(PEER_MAX_NS));
        assert_eq!(waits(&mut delays, SECOND, "other", "good"), Some(0));
    }

    #[test]
    fn the_counts_are_bounded() {
        let mut delays = Delays::default();
        fail(&mut delays, 5 * SECOND, "sa", "kept", 8);
        for i in 0..3 * KEYS_MAX as u64 {
            fail(&mut delays, SECOND + i, &format!("l{i}"), "p", 1);
        }
        assert!(delays.counts.len() <= KEYS_MAX);
        assert!(waits(&mut delays, 5 * SECOND, "sa", "kept").unwrap() > 0, "the newest stay");
    }
}
