//! The one word of a page: latch bit, loading bit, frame and version.
//!
//! ```text
//! 63 ............ 28   27 ............ 2   1        0
//! version (36 bits)    frame + 1; 0 none   LOADING  LATCH
//! ```
//! Invariants:
//! 1. LATCH: one holder may change the page, nobody else changes the word. LOADING: one task reads the page in.
//! 2. Never both; LOADING implies no frame; LATCH implies a frame.
//! 3. The version grows when a latch is released after a change, when a page is read in and when it is evicted. So a
//!    reader that finds the same word before and after has seen one state of the page.

/// Held exclusively.
pub(crate) const LATCH: u64 = 1;
/// Being read in.
pub(crate) const LOADING: u64 = 2;
const FRAME_SHIFT: u32 = 2;
const FRAME_MASK: u64 = ((1 << 26) - 1) << FRAME_SHIFT;
/// Most frames that a pool can have.
pub(crate) const FRAMES_MAX: usize = (1 << 26) - 1;
/// One version later.
pub(crate) const VERSION_ONE: u64 = 1 << 28;

/// In memory and neither latched nor loading.
#[inline]
pub(crate) const fn is_quiet(w: u64) -> bool {
    w & (LATCH | LOADING) == 0 && w & FRAME_MASK != 0
}

/// The frame.
#[inline]
pub(crate) const fn frame(w: u64) -> Option<u32> {
    match (w & FRAME_MASK) >> FRAME_SHIFT {
        0 => None,
        n => Some(n as u32 - 1),
    }
}

/// The word with another frame, version kept, bits cleared.
#[inline]
pub(crate) const fn with_frame(w: u64, frame: Option<u32>) -> u64 {
    let f = match frame {
        Some(f) => f as u64 + 1,
        None => 0,
    };
    w & !(FRAME_MASK | LATCH | LOADING) | f << FRAME_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_touch() {
        let w = with_frame(7 * VERSION_ONE, Some(FRAMES_MAX as u32 - 1));
        assert_eq!(frame(w), Some(FRAMES_MAX as u32 - 1));
        assert!(is_quiet(w) && !is_quiet(w | LATCH) && !is_quiet(w | LOADING));
        assert_eq!(with_frame(w | LATCH, None), 7 * VERSION_ONE);
        assert_eq!(frame(7 * VERSION_ONE), None);
        assert_eq!(
            u64::MAX.wrapping_add(VERSION_ONE) & 0xfff_ffff,
            0xfff_ffff,
            "versions wrap alone"
        );
    }
}
