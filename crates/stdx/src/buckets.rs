//! Log-linear buckets, as HDR histograms have them: 16 for each power of two, so that a bucket's bound is at most 6.25%
//! above any value in it. Values below 16 have a bucket each; those beyond 2^40 (of nanoseconds: 18 minutes) share the
//! last one.

const SUB_BITS: u32 = 4;
const SUB: usize = 1 << SUB_BITS;
/// Powers of two that are told apart.
const POWERS: usize = 36;
/// How many buckets there are.
pub const BUCKETS: usize = SUB + POWERS * SUB;

/// The bucket of a value, below [`BUCKETS`].
#[inline]
pub fn bucket(value: u64) -> usize {
    if value < SUB as u64 {
        return value as usize;
    }
    let power = value.ilog2() - SUB_BITS;
    let sub = (value >> power) as usize & (SUB - 1);
    (SUB + power as usize * SUB + sub).min(BUCKETS - 1)
}

/// The largest value of a bucket.
pub fn largest(bucket: usize) -> u64 {
    if bucket < SUB {
        return bucket as u64;
    }
    let (power, sub) = ((bucket - SUB) / SUB, (bucket - SUB) % SUB);
    (((SUB + sub + 1) as u64) << power) - 1
}

/// The bound that a share `q` (0 to 1) of what was counted did not exceed: `counted` has bounds, rising, and how many lie
/// in each; `None` when there are none.
pub fn quantile<T>(counted: impl Iterator<Item = (T, u64)> + Clone, q: f64) -> Option<T> {
    let total: u64 = counted.clone().map(|(_, n)| n).sum();
    let rank = ((q.clamp(0.0, 1.0) * total as f64).ceil() as u64).max(1);
    let mut seen = 0;
    let mut all = counted;
    all.find_map(|(bound, n)| {
        seen += n;
        (seen >= rank).then_some(bound)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_bounds_its_values() {
        for value in (0..200_000u64).chain((17..39).map(|p| (1 << p) + 12_345)) {
            let top = largest(bucket(value));
            assert!(top >= value, "{value} above its bucket's {top}");
            let near = value as f64 * 1.0625 + 1.0;
            assert!(top as f64 <= near, "{value} far below its bucket's {top}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_quantile_counts_from_below() {
        let counted = [(10, 98), (20, 1), (30, 1)];
        let at = |q| quantile(counted.into_iter(), q);
        assert_eq!(
            (at(0.0), at(0.98), at(0.99), at(1.0)),
            (Some(10), Some(10), Some(20), Some(30))
        );
        assert_eq!(quantile([(10, 0)].into_iter(), 0.5), None);
    }
}
