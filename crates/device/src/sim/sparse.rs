//! Bytes of a file in shared chunks, so that a crash image is cheap and holes cost nothing.

use std::sync::Arc;

const CHUNK: usize = 4096;

#[derive(Clone, Default)]
pub(super) struct Sparse {
    pub len: u64,
    /// `None` is a chunk of zeros. Bytes at and past `len` are zero.
    chunks: Vec<Option<Arc<[u8; CHUNK]>>>,
}

impl Sparse {
    pub fn set_len(&mut self, len: u64) {
        if len < self.len {
            let keep = (len as usize).div_ceil(CHUNK);
            self.chunks.truncate(keep);
            let tail = len as usize % CHUNK;
            if tail != 0
                && let Some(Some(chunk)) = self.chunks.get_mut(keep - 1)
            {
                Arc::make_mut(chunk)[tail..].fill(0);
            }
        }
        self.len = len;
    }

    /// Extends the length if the bytes end past it.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        self.len = self.len.max(offset + bytes.len() as u64);
        each(offset, bytes.len(), |chunk, within, range| {
            let part = &bytes[range];
            if self.chunks.len() <= chunk {
                self.chunks.resize(chunk + 1, None);
            }
            let slot = &mut self.chunks[chunk];
            if slot.is_none() && part.iter().all(|&b| b == 0) {
                return;
            }
            let chunk = slot.get_or_insert_with(|| Arc::new([0; CHUNK]));
            Arc::make_mut(chunk)[within..within + part.len()].copy_from_slice(part);
        });
    }

    /// Bytes read: fewer than asked at the end of the file.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> usize {
        let n = self.len.saturating_sub(offset).min(out.len() as u64) as usize;
        each(offset, n, |chunk, within, range| {
            let part = &mut out[range];
            match self.chunks.get(chunk) {
                Some(Some(bytes)) => part.copy_from_slice(&bytes[within..within + part.len()]),
                _ => part.fill(0),
            }
        });
        n
    }

    pub fn hash(&self, mut h: u64) -> u64 {
        h = stdx::mix64(h ^ self.len);
        for (i, chunk) in self.chunks.iter().enumerate() {
            let Some(chunk) = chunk else { continue };
            if chunk.iter().all(|&b| b == 0) {
                continue;
            }
            h = stdx::mix64(h ^ i as u64);
            for word in chunk.as_chunks::<8>().0 {
                h = (h ^ u64::from_le_bytes(*word)).wrapping_mul(0x9fb2_1c65_1e98_df25);
                h ^= h >> 29;
            }
        }
        h
    }
}

/// Calls `f(chunk, offset within it, range of the caller's bytes)` for each chunk touched.
fn each(offset: u64, len: usize, mut f: impl FnMut(usize, usize, std::ops::Range<usize>)) {
    let mut at = 0;
    while at < len {
        let position = offset as usize + at;
        let within = position % CHUNK;
        let n = (CHUNK - within).min(len - at);
        f(position / CHUNK, within, at..at + n);
        at += n;
    }
}
