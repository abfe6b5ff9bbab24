//! Phrases that stand close to each other.
//!
//! A hit begins with one of the phrases, ends with another, has each of them once, and none over another. What counts as
//! its distance are the words inside it that are of no phrase.

use crate::condition::Near;
use runtime::task::{Breath, Stopped};

/// Where a phrase stands: its first word and the one behind its last.
pub(crate) type Span = (u32, u32);

/// The distances of the hits, each word beginning one hit at most.
pub(crate) fn hits(near: &Near, places: &[Vec<Span>]) -> Result<Vec<u32>, Stopped> {
    if places.iter().any(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let mut breath = Breath::new();
    let mut found = Vec::new();
    let fits = |distance: u32| near.distance.is_none_or(|most| distance <= most);
    if near.is_ordered {
        for first in &places[0] {
            let (mut end, mut inside) = (first.1, first.1 - first.0);
            let mut is_whole = true;
            for next in &places[1..] {
                breath.step()?;
                let at = next.partition_point(|span| span.0 < end);
                match next.get(at) {
                    Some(span) => {
                        inside += span.1 - span.0;
                        end = span.1;
                    }
                    None => is_whole = false,
                }
            }
            if is_whole && fits(end - first.0 - inside) {
                found.push(end - first.0 - inside);
            }
        }
        return Ok(found);
    }
    // The last of a hit, then backwards the nearest of each of the others.
    for (last, spans) in places.iter().enumerate() {
        for span in spans {
            let mut missing: Vec<usize> = (0..places.len()).filter(|i| *i != last).collect();
            let (mut begin, mut inside) = (span.0, span.1 - span.0);
            while !missing.is_empty() {
                breath.steps(missing.len())?;
                let nearest = |i: usize| {
                    let at = places[i].partition_point(|other| other.1 <= begin);
                    at.checked_sub(1).map(|at| places[i][at])
                };
                let best = missing.iter().enumerate().filter_map(|(n, i)| Some((nearest(*i)?, n)));
                let Some((before, n)) = best.max_by_key(|(before, _)| before.1) else { break };
                missing.swap_remove(n);
                begin = before.0;
                inside += before.1 - before.0;
            }
            if missing.is_empty() && fits(span.1 - begin - inside) {
                found.push(span.1 - begin - inside);
            }
        }
    }
    Ok(found)
}
