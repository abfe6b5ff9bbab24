//! The ring: the log's blocks in memory, already in the form they have on disk.
//!
//! Block `b` of the stream lives at slot `b % blocks`; a copy skips the headers, which the flusher fills in when it
//! seals. So a write goes out of the ring as it is, and nothing is copied twice.
//!
//! *Owned range*: bytes of the stream that a thread has reserved and not yet published, or that are complete and not
//! yet freed (then they may be read by anyone, and headers are the flusher's). All access goes through raw pointers;
//! who may touch what, when, is [`crate::reservation`]'s argument, and each `unsafe` here names its part of it.

use crate::RECORD_HEADER_BYTES;
use crate::lsn::{BLOCK_BYTES, HEADER_BYTES, Lsn, PAYLOAD_BYTES};
use std::ptr::NonNull;

/// Bytes at the beginning that are no huge pages.
const SMALL_BYTES: usize = 2 << 20;

/// Memory for a power of two of blocks.
pub(crate) struct Ring {
    base: NonNull<u8>,
    blocks: u64,
}

// SAFETY: the ring is plain memory; disjoint or ordered access is the duty of callers of the unsafe methods.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

impl Ring {
    /// Memory of `bytes`, a power of two of at least a block; touched pages only become resident.
    pub(crate) fn new(bytes: usize) -> std::io::Result<Ring> {
        assert!(bytes.is_power_of_two() && bytes >= BLOCK_BYTES);
        // SAFETY: an anonymous private mapping of a non-zero size; checked for failure below.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        // Huge pages make the first way round the ring cheaper; the log of an idle database never leaves its beginning,
        // which is not worth one. Refused is slower, not wrong.
        let small = SMALL_BYTES.min(bytes);
        // SAFETY: a part of the range just mapped; advice only.
        unsafe { libc::madvise(base.add(small), bytes - small, libc::MADV_HUGEPAGE) };
        let base = NonNull::new(base.cast::<u8>()).expect("mmap gives no null");
        Ok(Ring { base, blocks: (bytes / BLOCK_BYTES) as u64 })
    }

    /// Lets its memory come from a node; what is there already moves. `None`: from anywhere, and it stays.
    pub(crate) fn bind(&self, node: Option<usize>) -> std::io::Result<()> {
        let (at, bytes) = (self.base.as_ptr(), self.blocks as usize * BLOCK_BYTES);
        match node {
            Some(node) => runtime::numa::bind(at, bytes, node),
            None => runtime::numa::unbind(at, bytes),
        }
    }

    /// The node that most of its memory lies on: of some blocks before `tail`, the closer to it the more, since of a log
    /// that has not been round it only those were touched. `None`: none of them was, or nobody knows.
    pub(crate) fn node(&self, tail: u64) -> Option<usize> {
        const LOOKS: u64 = 64;
        let back = |i: u64| (self.blocks * i * i / (LOOKS * LOOKS)).max(i);
        let at = |i| self.block_ptr(tail.wrapping_sub(back(i))).cast_const();
        let addresses: Vec<*const u8> = (0..LOOKS).map(at).collect();
        let found: Vec<usize> =
            runtime::numa::nodes_of(&addresses).ok()?.into_iter().flatten().collect();
        let count = |node: &usize| found.iter().filter(|other| *other == node).count();
        found.iter().copied().max_by_key(count)
    }

    /// Bytes of the stream that fit.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES as u64
    }

    /// Bytes of the stream that it has room for.
    pub(crate) fn payload_bytes(&self) -> u64 {
        self.blocks * PAYLOAD_BYTES as u64
    }

    /// Blocks from `block` to the end of the memory: what one write can take.
    pub(crate) fn contiguous_from(&self, block: u64) -> u64 {
        self.blocks - (block & (self.blocks - 1))
    }

    /// First byte of the block's header.
    #[inline(always)]
    pub(crate) fn block_ptr(&self, block: u64) -> *mut u8 {
        let slot = (block & (self.blocks - 1)) as usize;
        // SAFETY: `slot < blocks`, so the offset stays inside the mapping.
        unsafe { self.base.as_ptr().add(slot * BLOCK_BYTES) }
    }

    #[inline(always)]
    fn position_ptr(&self, block: u64, offset: usize) -> *mut u8 {
        debug_assert!(offset < PAYLOAD_BYTES);
        // SAFETY: within the block, as `offset < PAYLOAD_BYTES`.
        unsafe { self.block_ptr(block).add(HEADER_BYTES + offset) }
    }

    /// Writes one record of `total` bytes (a multiple of 8): its header word, its parts, zeros up to the end.
    ///
    /// # Safety
    /// `at..at + total` is reserved by the caller and unpublished, and lies in the freed part of the ring.
    #[inline(always)]
    pub(crate) unsafe fn put(&self, at: Lsn, header: u64, parts: &[&[u8]], total: usize) {
        let (block, offset) = (at.block(), at.offset());
        if offset + total <= PAYLOAD_BYTES {
            let mut to = self.position_ptr(block, offset);
            // SAFETY: `total` bytes from `to` lie in this block and are the caller's; `to` and `total` are multiples
            // of 8, and the parts together are at most `total - 8` long, which `append` computed `total` from.
            unsafe {
                // The last word first: the parts then leave zeros only in the padding.
                to.add(total - 8).cast::<u64>().write(0);
                to.cast::<u64>().write(header);
                to = to.add(8);
                for part in parts {
                    std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
                    to = to.add(part.len());
                }
            }
        } else {
            // SAFETY: as the caller promised.
            unsafe { self.put_across(at, header, parts, total) }
        }
    }

    /// As [`Ring::put`], over the end of a block.
    ///
    /// # Safety
    /// As [`Ring::put`].
    #[cold]
    unsafe fn put_across(&self, at: Lsn, header: u64, parts: &[&[u8]], total: usize) {
        let mut at = at.0;
        let mut write = |mut bytes: &[u8]| {
            while !bytes.is_empty() {
                let here = Lsn(at);
                let n = bytes.len().min(PAYLOAD_BYTES - here.offset());
                let to = self.position_ptr(here.block(), here.offset());
                // SAFETY: `n` bytes from `to` are in one block, and in the caller's range since all that is written
                // here is `total` bytes long.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, n) };
                bytes = &bytes[n..];
                at += n as u64;
            }
        };
        let len: usize = parts.iter().map(|part| part.len()).sum();
        write(&header.to_le_bytes());
        parts.iter().for_each(|part| write(part));
        write(&[0; 8][..total - RECORD_HEADER_BYTES - len]);
    }

    /// Reads the stream's bytes from `at` on.
    ///
    /// # Safety
    /// `at..at + into.len()` is complete, not freed, and stays so until this returns.
    pub(crate) unsafe fn get(&self, at: Lsn, into: &mut [u8]) {
        let (mut at, mut done) = (at.0, 0);
        while done < into.len() {
            let here = Lsn(at);
            let n = (into.len() - done).min(PAYLOAD_BYTES - here.offset());
            let from = self.position_ptr(here.block(), here.offset());
            // SAFETY: `n` bytes inside one block, which nobody writes now (the caller's promise).
            unsafe { std::ptr::copy_nonoverlapping(from, into[done..].as_mut_ptr(), n) };
            done += n;
            at += n as u64;
        }
    }

    /// A whole block, header included.
    ///
    /// # Safety
    /// The caller is the flusher, the block's payload is complete and the block is not freed while the borrow lives.
    #[allow(clippy::mut_from_ref, reason = "the flusher is the only one, by the contract above")]
    pub(crate) unsafe fn block_mut(&self, block: u64) -> &mut [u8; BLOCK_BYTES] {
        // SAFETY: inside the mapping; exclusive by the contract.
        unsafe { &mut *self.block_ptr(block).cast::<[u8; BLOCK_BYTES]>() }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let bytes = self.blocks as usize * BLOCK_BYTES;
        // SAFETY: the mapping made in `new`; writes in flight hold the ring by an `Arc`.
        unsafe { libc::munmap(self.base.as_ptr().cast(), bytes) };
    }
}
