//! Memory from the system itself, zeroed, in huge pages where the kernel has some: for whoever divides it up on his own.
//!
//! Promise: a mapping begins on a boundary of [`HUGE_BYTES`], is a multiple of it, and is never moved. It is counted as
//! what the allocator gives out is: the running task has taken it (`memory.rs`), and the process has it mapped.

use crate::memory;
use std::alloc::{Layout, handle_alloc_error};
use std::io;
use std::ptr::NonNull;

/// A huge page of x86 and arm64.
pub const HUGE_BYTES: usize = 2 << 20;

/// linux/mman.h; the C library need not know it yet.
const MADV_POPULATE_WRITE: libc::c_int = 23;

/// A mapping of its own.
pub struct Pages {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is memory; who may touch which bytes is the business of its users.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least so many bytes. Where the system has none the process ends, as for any allocation.
    pub fn map(bytes: usize) -> Pages {
        let bytes = bytes.max(1).next_multiple_of(HUGE_BYTES);
        let Some(base) = map_aligned(bytes) else {
            match Layout::from_size_align(bytes, HUGE_BYTES) {
                Ok(layout) => handle_alloc_error(layout),
                Err(_) => stdx::fatal!("a mapping of {bytes} bytes"),
            }
        };
        // SAFETY: advice about our own mapping; a refusal changes nothing.
        unsafe { libc::madvise(base.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        memory::mapped(bytes as i64);
        memory::note_taken(bytes as i64);
        Pages { base, bytes }
    }

    /// Where it begins; valid for reads and writes of [`Pages::bytes`] as long as it lives.
    #[inline]
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Backs all of it with memory now. What the kernel refuses is backed when it is first used.
    pub fn touch(&self) {
        let _ = populate(self.base.as_ptr(), self.bytes);
    }
}

/// Backs a range of mapped memory now, whose contents stay. It begins at a page. A refusal (an old kernel: EINVAL; no memory;
/// a range that is not mapped: ENOMEM) leaves what is not backed to its first use.
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "the kernel checks the range; nobody reads it")]
pub fn populate(at: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: populating reads and writes nothing that the program could see.
    match unsafe { libc::madvise(at.cast(), bytes, MADV_POPULATE_WRITE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        memory::mapped(-(self.bytes as i64));
        memory::note_taken(-(self.bytes as i64));
        // SAFETY: base and length of our own mapping, which nobody uses any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// `bytes` is a multiple of [`HUGE_BYTES`]. More is mapped, and what is outside of the boundaries given back.
fn map_aligned(bytes: usize) -> Option<NonNull<u8>> {
    let more = bytes.checked_add(HUGE_BYTES)?;
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new private mapping at a place of the kernel's choice touches nothing that exists.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), more, access, kind, -1, 0) };
    if at == libc::MAP_FAILED {
        return None;
    }
    let at: *mut u8 = at.cast();
    let before = at.addr().next_multiple_of(HUGE_BYTES) - at.addr();
    // SAFETY: both ends are inside of the mapping just made; nobody has them.
    unsafe {
        if before > 0 {
            libc::munmap(at.cast(), before);
        }
        let after = HUGE_BYTES - before;
        if after > 0 {
            libc::munmap(at.add(before + bytes).cast(), after);
        }
        NonNull::new(at.add(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_zeroed_aligned_and_counted() {
        let (mapped, taken) = (memory::mapped_bytes(), memory::taken_bytes());
        let pages = Pages::map(HUGE_BYTES + 1);
        assert_eq!(pages.bytes(), 2 * HUGE_BYTES);
        assert_eq!(pages.base().addr().get() % HUGE_BYTES, 0);
        assert_eq!(memory::taken_bytes() - taken, 2 * HUGE_BYTES as i64);
        assert!(memory::mapped_bytes() >= mapped + 2 * HUGE_BYTES as u64);
        for at in [0, HUGE_BYTES, 2 * HUGE_BYTES - 1] {
            // SAFETY: inside of the mapping, which is ours.
            unsafe {
                let byte = pages.base().add(at);
                assert_eq!(byte.read(), 0);
                byte.write(1);
            }
        }
        drop(pages);
        assert_eq!(memory::taken_bytes(), taken);
    }
}
