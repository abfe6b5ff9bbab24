//! One hash for keys: names row locks and shards the version store.

/// Hash of a key in a tree. Stable within a process only.
#[inline]
pub fn key_hash(tree: u64, key: &[u8]) -> u64 {
    let mut h = stdx::mix64(tree);
    let mut words = key.chunks_exact(8);
    for word in &mut words {
        h = stdx::mix64(h ^ u64::from_le_bytes(word.try_into().expect("8 bytes")));
    }
    let mut last = [0u8; 8];
    let rest = words.remainder();
    last[..rest.len()].copy_from_slice(rest);
    stdx::mix64(h ^ u64::from_le_bytes(last) ^ (key.len() as u64) << 56)
}
