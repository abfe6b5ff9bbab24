//! Lines of memory that begin to come into the caches while something else is done.
//!
//! Promise: a hint, which reads nothing that the program could see and writes nothing, so an address need not be valid. Where the
//! processor is told of none nothing happens.

/// The line at an address begins to come into the first cache.
#[inline]
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "nothing is read of it")]
pub fn fetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and it reads nothing that the program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Into the second: for what is looked at later, or not at all.
#[inline]
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "nothing is read of it")]
pub fn fetch_second<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: as above.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_need_not_be_valid() {
        let line = [7u64; 8];
        for at in [line.as_ptr(), std::ptr::null(), std::ptr::without_provenance(8)] {
            fetch(at);
            fetch_second(at);
        }
        assert_eq!(line, [7; 8]);
    }
}
