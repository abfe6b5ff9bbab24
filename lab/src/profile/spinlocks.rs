//! Which spinlock a sample was spinning for: `runtime::spin` spins under a frame of the class's name.

use super::fold::Folded;
use crate::document::StackShare;
use std::collections::BTreeMap;
use telemetry::SpinClass;

/// Where those frames are.
const FRAMES: &str = "runtime::spin::";
/// A back-off without such a frame: page latches spin by themselves.
const BACKOFF: &str = "runtime::backoff::";
const OTHER: &str = "page latch or other";

/// The share of all samples that spun, by lock, the largest first.
pub(super) fn shares(folded: &Folded) -> Vec<StackShare> {
    let classes: Vec<(String, &str)> =
        SpinClass::ALL.iter().map(|class| (format!("::{class:?}"), class.name())).collect();
    let lock_of = |frame: &String| {
        let at = frame.find(FRAMES)?;
        let class = classes.iter().find(|(suffix, _)| frame[at..].ends_with(suffix))?;
        Some(class.1)
    };
    let total: u64 = folded.iter().map(|(_, n)| n).sum();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (frames, n) in folded {
        let spins = || frames.iter().any(|frame| frame.contains(BACKOFF));
        if let Some(lock) =
            frames.iter().rev().find_map(lock_of).or_else(|| spins().then_some(OTHER))
        {
            *counts.entry(lock).or_default() += n;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &[&str], n: u64) -> (Vec<String>, u64) {
        (frames.iter().map(|&frame| frame.to_owned()).collect(), n)
    }

    #[test]
    fn the_frame_names_the_lock() {
        let cache = "runtime::spin::frames::of::LogCacheAccess";
        let folded = vec![
            stack(&["main", "log_manager::log::append", cache, "runtime::backoff::burst"], 30),
            stack(&["main", "storage::alloc::next", "runtime::spin::frames::Alloc"], 10),
            stack(&["main", "buffer_pool::pool::until_quiet", "runtime::backoff::burst"], 5),
            stack(&["main", "log_manager::log::append", "other::LogCacheAccess"], 55),
        ];
        let got: Vec<_> = shares(&folded).into_iter().map(|s| (s.name, s.total)).collect();
        let wanted = [("LOGCACHE_ACCESS", 0.30), ("ALLOC_CACHES_HASH", 0.10), (OTHER, 0.05)];
        assert_eq!(got, wanted.map(|(name, share)| (name.to_owned(), share)));
    }
}
