//! Bytes that are appended and never moved.
//!
//! Promise: nothing is allocated per entry. Invariant: an [`Address`] stays good as long as its arena.

/// Bytes asked of the allocator at a time; longer entries get a chunk of their own.
const CHUNK_BYTES: usize = 128 << 10;
/// The first chunk of an arena: most hash tables are small.
const FIRST_CHUNK_BYTES: usize = 4 << 10;

/// Where an entry lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    chunk: u32,
    offset: u32,
    len: u32,
}

impl Address {
    /// Chunk, offset and length, for whoever keeps them in a form of its own.
    #[inline]
    pub fn parts(self) -> (u32, u32, u32) {
        (self.chunk, self.offset, self.len)
    }

    #[inline]
    pub fn from_parts(chunk: u32, offset: u32, len: u32) -> Address {
        Address { chunk, offset, len }
    }
}

/// Entries of bytes, one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena {
    chunks: Vec<Vec<u8>>,
}

impl Arena {
    /// Appends an entry. Its length is below 4 GiB, as every row's is.
    pub fn push(&mut self, entry: &[u8]) -> Address {
        let room = |c: &Vec<u8>| c.capacity() - c.len() >= entry.len();
        if !self.chunks.last().is_some_and(room) {
            let usual = if self.chunks.is_empty() { FIRST_CHUNK_BYTES } else { CHUNK_BYTES };
            let capacity = entry.len().max(usual);
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let chunk = self.chunks.len() - 1;
        let bytes = &mut self.chunks[chunk];
        let offset = bytes.len() as u32;
        bytes.extend_from_slice(entry);
        Address { chunk: chunk as u32, offset, len: entry.len() as u32 }
    }

    #[inline]
    pub fn get(&self, at: Address) -> &[u8] {
        &self.chunks[at.chunk as usize][at.offset as usize..][..at.len as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_longer_than_a_chunk_has_its_own() {
        let mut arena = Arena::default();
        let long = vec![7u8; CHUNK_BYTES * 2];
        let (a, b, c) = (arena.push(b"before"), arena.push(&long), arena.push(b"after"));
        assert_eq!(arena.get(a), b"before");
        assert_eq!(arena.get(b), &long[..]);
        assert_eq!(arena.get(c), b"after");
    }
}
