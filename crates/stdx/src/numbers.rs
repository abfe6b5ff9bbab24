//! A hash of numbers that nobody chooses: of pages, of objects, of keys that are hashes already.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Mixes one number after the other ([`crate::mix64`]). Not for what an enemy may choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumberHasher(u64);

/// A map by such numbers.
pub type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

impl Hasher for NumberHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u64(u64::from(b));
        }
    }

    #[inline]
    fn write_u16(&mut self, n: u16) {
        self.write_u64(u64::from(n));
    }

    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        self.0 = crate::mix64(self.0 ^ n);
    }

    #[inline]
    fn write_i32(&mut self, n: i32) {
        self.write_u64(u64::from(n.cast_unsigned()));
    }
}
