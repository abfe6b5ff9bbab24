//! `AlignedBuf`: owned bytes that begin on a 4096-byte boundary, zeroed, as direct I/O wants them.
//!
//! Invariant: `ptr` comes from the global allocator with `layout(len)`, or is dangling when `len` is 0.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The block of direct I/O: the alignment of an [`AlignedBuf`].
pub const BLOCK_BYTES: usize = 4096;

/// Owned, zeroed bytes on a [`BLOCK_BYTES`] boundary.
pub struct AlignedBuf {
    ptr: NonNull<u8>,
    len: usize,
}

// SAFETY: `AlignedBuf` owns its bytes as `Box<[u8]>` does; sharing it shares only `&[u8]`.
unsafe impl Send for AlignedBuf {}
// SAFETY: as above.
unsafe impl Sync for AlignedBuf {}

fn layout(len: usize) -> Layout {
    match Layout::from_size_align(len, BLOCK_BYTES) {
        Ok(layout) => layout,
        Err(_) => crate::fatal!("a buffer of {len} bytes cannot be laid out"),
    }
}

impl AlignedBuf {
    /// `len` zero bytes. The length need not be a multiple of the block.
    pub fn zeroed(len: usize) -> AlignedBuf {
        if len == 0 {
            return AlignedBuf { ptr: NonNull::dangling(), len };
        }
        let layout = layout(len);
        // SAFETY: the layout has a non-zero size.
        let ptr = unsafe { alloc_zeroed(layout) };
        match NonNull::new(ptr) {
            Some(ptr) => AlignedBuf { ptr, len },
            None => handle_alloc_error(layout),
        }
    }
}

impl Drop for AlignedBuf {
    fn drop(&mut self) {
        if self.len != 0 {
            // SAFETY: allocated in `zeroed` with this very layout.
            unsafe { dealloc(self.ptr.as_ptr(), layout(self.len)) }
        }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `ptr` is valid for `len` initialised bytes that we own (dangling is fine for 0).
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedBuf {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and `&mut self` makes it unique.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }
}

impl Clone for AlignedBuf {
    fn clone(&self) -> Self {
        let mut copy = AlignedBuf::zeroed(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl std::fmt::Debug for AlignedBuf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AlignedBuf({} bytes)", self.len)
    }
}
