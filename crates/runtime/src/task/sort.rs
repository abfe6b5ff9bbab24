//! A sort during which others go first, and which ends early when its task is told to stop.
//!
//! Promise: stable. Between two looks whether to stop lies the work of a run of [`RUN`] at most, and within that the order
//! itself is asked in steps that let others go first when the quantum is over; so a sort of millions neither keeps a
//! scheduler nor outlives a KILL. Runs are sorted by std's sort and merged in pairs; one run alone is std's sort.

use super::breath::{Breath, Stopped, breathe};
use std::cmp::Ordering;

/// Rows sorted between two looks whether to stop: some milliseconds.
const RUN: usize = 1 << 15;
/// Rows merged between two such looks.
const MERGED: usize = 1 << 12;

/// Sorts `all`. After an error it holds nothing.
pub fn sort_by<T>(
    all: &mut Vec<T>,
    mut order: impl FnMut(&T, &T) -> Ordering,
) -> Result<(), Stopped> {
    let mut breath = Breath::new();
    let mut order = |a: &T, b: &T| {
        // Whether to stop is asked where that can be said.
        let _ = breath.goes_on();
        order(a, b)
    };
    if all.len() <= RUN {
        all.sort_by(&mut order);
        return Ok(());
    }
    let mut rest = std::mem::take(all);
    let mut runs = Vec::with_capacity(rest.len() / RUN + 1);
    while !rest.is_empty() {
        let mut run = rest.split_off((rest.len() - 1) / RUN * RUN);
        run.sort_by(&mut order);
        runs.push(run);
        breathe()?;
    }
    drop(rest);
    runs.reverse();
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
        let mut unmerged = std::mem::take(&mut runs).into_iter();
        while let Some(first) = unmerged.next() {
            merged.push(match unmerged.next() {
                Some(second) => merge(first, second, &mut order)?,
                None => first,
            });
        }
        runs = merged;
    }
    *all = runs.pop().unwrap_or_default();
    Ok(())
}

/// Two sorted runs as one; equals of the first come first.
fn merge<T>(
    first: Vec<T>,
    second: Vec<T>,
    order: &mut impl FnMut(&T, &T) -> Ordering,
) -> Result<Vec<T>, Stopped> {
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    while let (Some(a), Some(b)) = (first.as_slice().first(), second.as_slice().first()) {
        let next = match order(b, a) {
            Ordering::Less => second.next(),
            _ => first.next(),
        };
        merged.extend(next);
        if merged.len().is_multiple_of(MERGED) {
            breathe()?;
        }
    }
    merged.extend(first);
    merged.extend(second);
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_as_stds_does() {
        let mut state = 7u64;
        for len in [0, 1, 2, RUN - 1, RUN, RUN + 1, 2 * RUN, 5 * RUN + 3] {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 50
            };
            // Many equals, told apart by where they were.
            let mut found: Vec<(u64, usize)> = (0..len).map(|i| (next(), i)).collect();
            let mut wanted = found.clone();
            wanted.sort_by_key(|(key, _)| *key);
            assert!(sort_by(&mut found, |a, b| a.0.cmp(&b.0)).is_ok());
            assert_eq!(found, wanted, "{len}");
        }
    }

    #[test]
    fn ends_when_told_to() {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let mut asked = 0usize;
        let mut all: Vec<usize> = (0..10 * RUN).rev().collect();
        let request = super::super::under(stop.clone(), 0);
        let told = sort_by(&mut all, |a, b| {
            asked += 1;
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            a.cmp(b)
        });
        request.end();
        assert!(told.is_err() && all.is_empty());
        assert!(asked < 2 * RUN * RUN.ilog2() as usize, "{asked}");
    }
}
