//! What will be looked at soon begins to come into the caches while something else is done: rows and versions lie where their
//! transactions have put them, so most first looks are misses.

/// The line at an address begins to come; nothing is read, so it need not be valid.
#[inline]
pub(crate) fn fetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and it reads nothing that the program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
