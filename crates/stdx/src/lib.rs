//! What std lacks, in one small drawer: cache-line padding and fetching, aligned bytes, buckets of histograms, a hash of
//! numbers, digits of bytes, the last word of a process.
//!
//! Knows nothing about databases, threads, clocks or files.

mod aligned;
pub mod buckets;
mod fetch;
mod hex;
mod numbers;
mod padded;

pub use aligned::{AlignedBuf, BLOCK_BYTES};
pub use fetch::{fetch, fetch_second};
pub use hex::hex;
pub use numbers::{NumberHasher, NumberMap};
pub use padded::CachePadded;

/// A broken invariant on the data path: say where, and stop the process. Better stopped than wrong.
#[macro_export]
macro_rules! fatal {
    ($($arg:tt)*) => {
        $crate::die(format_args!($($arg)*), file!(), line!())
    };
}

/// The function behind [`fatal!`].
#[cold]
#[inline(never)]
pub fn die(what: std::fmt::Arguments<'_>, file: &str, line: u32) -> ! {
    use std::io::Write;
    // Where nothing can be told, it ends all the same.
    let mut to = std::io::stderr();
    let _ = writeln!(to, "fatal: {what} ({file}:{line})");
    let _ = writeln!(to, "{}", std::backtrace::Backtrace::capture());
    std::process::abort();
}

/// The signs of currencies that SQL Server takes before an amount ("money and smallmoney (Transact-SQL)").
pub const fn is_currency_sign(c: char) -> bool {
    matches!(
        c,
        '$' | '\u{a2}'..='\u{a5}'
            | '\u{9f2}'
            | '\u{9f3}'
            | '\u{e3f}'
            | '\u{17db}'
            | '\u{20a0}'..='\u{20b1}'
            | '\u{fdfc}'
            | '\u{fe69}'
            | '\u{ff04}'
            | '\u{ffe0}'
            | '\u{ffe1}'
            | '\u{ffe5}'
            | '\u{ffe6}'
    )
}

/// The last boundary between characters that is at most at `bytes` (`str::floor_char_boundary`, which is of Rust 1.91).
pub fn floor_char_boundary(text: &str, bytes: usize) -> usize {
    let most = bytes.min(text.len());
    (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// `n` rounded up to a multiple of `to`, which is a power of two.
#[inline]
pub const fn round_up(n: u64, to: u64) -> u64 {
    debug_assert!(to.is_power_of_two());
    (n + to - 1) & !(to - 1)
}

/// `n` rounded down to a multiple of `to`, which is a power of two.
#[inline]
pub const fn round_down(n: u64, to: u64) -> u64 {
    debug_assert!(to.is_power_of_two());
    n & !(to - 1)
}

/// SplitMix64: a well-mixed function of one number. Seeds and cheap hashes.
#[inline]
pub const fn mix64(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A small deterministic generator (xorshift over SplitMix64) for simulations and back-off jitter. Not for secrets.
#[derive(Clone, Debug)]
pub struct Prng(u64);

impl Prng {
    pub const fn new(seed: u64) -> Self {
        Prng(seed)
    }

    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..n`; `n` > 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// True once in `n` on average.
    #[inline]
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let at = |bytes| floor_char_boundary("aé€", bytes);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 9].map(at), [0, 1, 1, 3, 3, 3, 6, 6]);
    }

    #[test]
    fn rounds() {
        assert_eq!(round_up(0, 8), 0);
        assert_eq!(round_up(1, 4096), 4096);
        assert_eq!(round_up(4096, 4096), 4096);
        assert_eq!(round_down(4097, 4096), 4096);
    }

    #[test]
    fn aligned_bytes_are_zero_and_aligned() {
        let mut b = AlignedBuf::zeroed(10_000);
        assert_eq!(b.len(), 10_000);
        assert_eq!(b.as_ptr() as usize % BLOCK_BYTES, 0);
        assert!(b.iter().all(|&x| x == 0));
        b[9_999] = 7;
        assert_eq!(b.clone()[9_999], 7);
        assert!(AlignedBuf::zeroed(0).is_empty());
    }

    #[test]
    fn padding_keeps_neighbours_apart() {
        let two = [CachePadded::new(1u8), CachePadded::new(2u8)];
        let apart = (&raw const *two[1] as usize) - (&raw const *two[0] as usize);
        assert_eq!(apart, 128);
    }

    #[test]
    fn prng_is_a_function_of_its_seed() {
        let (mut a, mut b) = (Prng::new(7), Prng::new(7));
        assert!((0..100).all(|_| a.next_u64() == b.next_u64()));
        assert!((0..1000).all(|_| a.below(3) < 3));
    }
}
