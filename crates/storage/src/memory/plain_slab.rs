//! The slab of the model checker: the system's allocator.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// See `slab.rs`.
pub(crate) struct Slab;

/// Whatever an atomic is made of there.
const ALIGN: usize = 16;

impl Slab {
    pub fn new() -> Slab {
        Slab
    }

    pub fn take(&self, bytes: usize) -> NonNull<u8> {
        let layout = layout(bytes);
        // SAFETY: a piece has a row or a version in it, so the layout is not empty.
        NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
    }

    /// # Safety
    /// It was taken here by that number of bytes, nobody can look at it any more, and nobody else gives it back.
    pub unsafe fn give(&self, piece: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { dealloc(piece.as_ptr(), layout(bytes)) }
    }
}

fn layout(bytes: usize) -> Layout {
    match Layout::from_size_align(bytes, ALIGN) {
        Ok(layout) => layout,
        Err(_) => stdx::fatal!("a row of {bytes} bytes"),
    }
}
