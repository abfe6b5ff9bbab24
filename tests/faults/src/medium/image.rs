//! The bytes of a file: pages shared between copies until one of them writes.
//!
//! Invariants: a page that is not in the map reads as zeros; nothing is kept at or above `len`.

use std::collections::BTreeMap;
use std::sync::Arc;

const PAGE: u64 = 4096;

type Page = [u8; PAGE as usize];

/// What a file holds. A copy costs one map, not the bytes.
#[derive(Clone, Default)]
pub struct Image {
    len: u64,
    pages: BTreeMap<u64, Arc<Page>>,
}

impl Image {
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Bytes kept: for the free space that a file system tells.
    pub fn allocated(&self) -> u64 {
        self.pages.len() as u64 * PAGE
    }

    /// Up to `size` bytes from `offset`; fewer at the end.
    pub fn read(&self, offset: u64, size: usize) -> Vec<u8> {
        let end = self.len.min(offset.saturating_add(size as u64));
        if offset >= end {
            return Vec::new();
        }
        let mut out = vec![0; (end - offset) as usize];
        let last = (end - 1) / PAGE;
        for (&number, page) in self.pages.range(offset / PAGE..=last) {
            let (from, to) = ((number * PAGE).max(offset), ((number + 1) * PAGE).min(end));
            out[(from - offset) as usize..(to - offset) as usize].copy_from_slice(
                &page[(from - number * PAGE) as usize..(to - number * PAGE) as usize],
            );
        }
        out
    }

    /// Writes all of `bytes` at `offset`; the file grows if it must.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        let mut at = offset;
        while at < end {
            let number = at / PAGE;
            let to = ((number + 1) * PAGE).min(end);
            let page = self.pages.entry(number).or_insert_with(|| Arc::new([0; PAGE as usize]));
            Arc::make_mut(page)[(at - number * PAGE) as usize..(to - number * PAGE) as usize]
                .copy_from_slice(&bytes[(at - offset) as usize..(to - offset) as usize]);
            at = to;
        }
        self.len = self.len.max(end);
    }

    pub fn set_len(&mut self, len: u64) {
        if len < self.len {
            self.pages.retain(|&number, _| number * PAGE < len);
            if let Some(page) = self.pages.get_mut(&(len / PAGE)) {
                Arc::make_mut(page)[(len % PAGE) as usize..].fill(0);
            }
        }
        self.len = len;
    }

    /// The whole file, a page at a time, without its holes.
    pub fn pages(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.pages.iter().map(|(&number, page)| {
            let bytes = (self.len - number * PAGE).min(PAGE) as usize;
            (number * PAGE, &page[..bytes])
        })
    }
}
