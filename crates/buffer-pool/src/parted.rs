//! Which frames of a pool are of which part: stretches of the frames, in turn.
//!
//! Promise: every frame is the `nth` of exactly one part, and the frames of a part are its `nth`s from 0 on without a gap, in
//! ascending order. Knows nothing of nodes or memory.

use crate::page::PAGE_BYTES;

/// Frames of a huge page.
pub(crate) const HUGE_FRAMES: u32 = ((2 << 20) / PAGE_BYTES) as u32;
/// Stretches of a pool, at most: the kernel keeps an area for each, and has not many.
const STRETCHES_MAX: usize = 1024;

/// See the file. A stretch of several parts is a multiple of a huge page, but in a pool too small for that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parted {
    parts: u32,
    stretch: u32,
    count: u32,
}

impl Parted {
    pub(crate) fn new(count: usize, parts: usize) -> Parted {
        let least = count.div_ceil(STRETCHES_MAX).max(1).next_multiple_of(HUGE_FRAMES as usize);
        let stretch = if parts < 2 { count } else { least.min(count.div_ceil(parts)) };
        Parted { parts: parts.max(1) as u32, stretch: stretch.max(1) as u32, count: count as u32 }
    }

    pub(crate) fn parts(self) -> usize {
        self.parts as usize
    }

    /// Frames of a stretch; the last one may have fewer.
    pub(crate) fn stretch(self) -> usize {
        self.stretch as usize
    }

    #[inline]
    pub(crate) fn part_of(self, frame: u32) -> usize {
        if self.parts == 1 { 0 } else { (frame / self.stretch % self.parts) as usize }
    }

    /// The frame that is the `nth` of a part, if it has so many.
    pub(crate) fn frame(self, part: usize, nth: u32) -> Option<u32> {
        let (round, within) = (nth / self.stretch, nth % self.stretch);
        let stretch = u64::from(round) * u64::from(self.parts) + part as u64;
        let frame = stretch * u64::from(self.stretch) + u64::from(within);
        (frame < u64::from(self.count)).then_some(frame as u32)
    }

    /// Frames that a part has.
    pub(crate) fn len(self, part: usize) -> u32 {
        let stretch = u64::from(self.stretch);
        let round = stretch * u64::from(self.parts);
        let rest = (u64::from(self.count) % round).saturating_sub(part as u64 * stretch);
        (u64::from(self.count) / round * stretch + rest.min(stretch)) as u32
    }

    /// The stretch that a frame is in.
    pub(crate) fn stretch_of(self, frame: u32) -> std::ops::Range<u32> {
        let first = frame - frame % self.stretch;
        first..first.saturating_add(self.stretch).min(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_is_the_nth_of_one_part() {
        for (count, parts) in
            [(1, 1), (1000, 1), (16, 2), (1000, 2), (777, 3), (17, 4), (5000, 4), (300_000, 2)]
        {
            let parted = Parted::new(count, parts);
            let mut seen = vec![false; count];
            for part in 0..parts {
                let mut before = None;
                for nth in 0..parted.len(part) {
                    let frame = parted.frame(part, nth).expect("as many");
                    assert!(!std::mem::replace(&mut seen[frame as usize], true), "{frame}");
                    assert_eq!(parted.part_of(frame), part);
                    assert!(parted.stretch_of(frame).contains(&frame));
                    assert!(before < Some(frame));
                    before = Some(frame);
                }
                assert_eq!(parted.frame(part, parted.len(part)), None, "{count} over {parts}");
            }
            assert!(seen.iter().all(|seen| *seen), "{count} over {parts}");
        }
    }
}
