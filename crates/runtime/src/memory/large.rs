//! Blocks of megabytes have mappings of their own.
//!
//! An allocator copies what grows to a new place, and keeps what was freed. For a block of hundreds of megabytes that is
//! tens of milliseconds of a scheduler, and memory twice while it lasts. Here the kernel moves the pages of a block that
//! grows to other addresses (`mremap`), what is zeroed is new, and what is freed is the system's at once.
//!
//! A block is one of these by its layout alone ([`is_large`]), so whoever frees it knows.

use std::alloc::Layout;
use std::ptr::null_mut;

/// Smaller blocks are the inner allocator's: they are copied within a millisecond or two.
const LARGE_BYTES: usize = 4 << 20;
/// What every mapping is aligned to.
const PAGE_BYTES: usize = 4096;

/// Has a block of this layout a mapping of its own?
#[inline(always)]
pub(super) fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE_BYTES && layout.align() <= PAGE_BYTES
}

/// Maps a block, zeroed; null where the system has no memory.
#[cold]
#[inline(never)]
pub(super) fn map(layout: Layout) -> *mut u8 {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new anonymous memory at an address that the kernel chooses; nothing that exists is touched.
    let at = unsafe { libc::mmap(null_mut(), layout.size(), protection, flags, -1, 0) };
    if at == libc::MAP_FAILED { null_mut() } else { at.cast() }
}

/// A block grows or shrinks, and may move; null where there is no memory, and the block is as it was.
///
/// # Safety
/// `block` is from [`map`] with `old`, and has not been freed; `old` and the layout of `size` bytes are large.
#[cold]
#[inline(never)]
pub(super) unsafe fn resize(block: *mut u8, old: Layout, size: usize) -> *mut u8 {
    // SAFETY: the caller's promise: the mapping is `old.size()` bytes long, and its owner's alone.
    let at = unsafe { libc::mremap(block.cast(), old.size(), size, libc::MREMAP_MAYMOVE) };
    if at == libc::MAP_FAILED { null_mut() } else { at.cast() }
}

/// Gives a block back.
///
/// # Safety
/// `block` is from [`map`] or [`resize`] with this layout, and is used no more.
#[cold]
#[inline(never)]
pub(super) unsafe fn unmap(block: *mut u8, layout: Layout) {
    // SAFETY: the caller's promise. It fails only where the kernel can part no more mappings, and a whole one is not parted.
    unsafe { libc::munmap(block.cast(), layout.size()) };
}
