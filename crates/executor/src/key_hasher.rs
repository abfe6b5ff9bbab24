//! The hash of encoded keys: of groups, of joins, of distinct values, of shapes that are kept.
//!
//! Promise: equal bytes have equal hashes within one process; nothing is promised between builds.

use std::hash::Hasher;

/// Multiply and rotate by eight bytes: keys are not chosen by an enemy of this process alone, and a query's
/// memory is bounded anyway.
#[derive(Default)]
pub struct KeyHasher(u64);

const SEED: u64 = 0x517c_c1b7_2722_0a95;

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
            self.write_u64(word);
        }
        let mut tail = [0u8; 8];
        let rest = chunks.remainder();
        tail[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(tail) ^ ((rest.len() as u64) << 56));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(SEED);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}
