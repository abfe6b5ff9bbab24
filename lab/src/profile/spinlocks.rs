//! Which spinlock a sample was spinning for: the back-off's frame says that it was, its caller says for which.

use super::fold::Folded;
use crate::document::StackShare;
use std::collections::BTreeMap;

/// Frames of the back-off itself.
const BACKOFF: &[&str] =
    &["lock_contended", "Backoff::burst", "backoff::Backoff", "Backoff>::burst"];

/// Who waits for what: a word in the name of a caller, and the lock. The first that fits.
const CALLERS: &[(&str, &str)] = &[
    ("flush_queue", "LOGFLUSHQ"),
    ("flushq", "LOGFLUSHQ"),
    ("log_manager", "LOGCACHE_ACCESS"),
    ("xdes", "XDESMGR"),
    ("transaction::", "XDESMGR"),
    ("index_usage", "OPT_IDX_STATS"),
    ("storage::alloc", "ALLOC_CACHES_HASH"),
    ("storage::store", "ALLOC_CACHES_HASH"),
    ("buffer_pool::frames", "BUF_FREE_LIST"),
    ("buffer_pool::io", "BUF_HASH"),
    ("lock_manager", "LOCK_HASH"),
    ("scheduler::", "SOS_SCHEDULER"),
];
const OTHER: &str = "another lock or latch";

/// The share of all samples that spun, by lock.
pub(super) fn shares(folded: &Folded) -> Vec<StackShare> {
    let total: u64 = folded.iter().map(|(_, n)| n).sum();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (frames, n) in folded {
        let spins = frames.iter().rposition(|frame| BACKOFF.iter().any(|b| frame.contains(b)));
        if let Some(at) = spins {
            *counts.entry(lock_of(&frames[..at])).or_default() += n;
        }
    }
    let mut all: Vec<StackShare> = counts
        .into_iter()
        .map(|(name, n)| {
            let share = n as f64 / total.max(1) as f64;
            StackShare { name: name.to_owned(), itself: share, total: share }
        })
        .collect();
    all.sort_by(|a, b| b.total.total_cmp(&a.total));
    all
}

/// The nearest caller outside the lock's own code decides.
fn lock_of(callers: &[String]) -> &'static str {
    let own = |frame: &str| {
        frame.contains("runtime::spin")
            || frame.contains("runtime::backoff")
            || BACKOFF.iter().any(|b| frame.contains(b))
    };
    let nearest = callers.iter().rev().find(|frame| !own(frame));
    nearest
        .and_then(|frame| CALLERS.iter().find(|(word, _)| frame.contains(word)))
        .map_or(OTHER, |(_, lock)| lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &[&str], n: u64) -> (Vec<String>, u64) {
        (frames.iter().map(|&frame| frame.to_owned()).collect(), n)
    }

    #[test]
    fn the_caller_names_the_lock() {
        let spin = "<runtime::spin::SpinLock<()>>::lock_contended";
        let folded = vec![
            stack(
                &["main", "log_manager::append::reserve", spin, "runtime::backoff::Backoff::burst"],
                30,
            ),
            stack(&["main", "storage::alloc::PageSource::next", spin], 10),
            stack(&["main", "buffer_pool::pool::pin", "runtime::backoff::Backoff::burst"], 5),
            stack(&["main", "log_manager::append::copy"], 55),
        ];
        let got: Vec<_> = shares(&folded).into_iter().map(|s| (s.name, s.total)).collect();
        let wanted = [("LOGCACHE_ACCESS", 0.30), ("ALLOC_CACHES_HASH", 0.10), (OTHER, 0.05)];
        assert_eq!(got, wanted.map(|(name, share)| (name.to_owned(), share)));
    }
}
