//! Which frames of a pool have memory behind them, as the account of the process was told.
//!
//! Promise: a frame is told when it gets memory and told again when it loses it, each once, whoever finds out first; so the
//! sum is that of the frames told now, and what the pool told is taken back when it ends. A frame that was to be populated
//! counts as populated, also where the kernel leaves it to its first use.

use crate::page::PAGE_BYTES;
use std::ops::Range;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// See the file.
pub(crate) struct Backed {
    /// A bit for each frame.
    told: Box<[AtomicU64]>,
    /// Bits set. Below 0 for a moment where one is cleared before who set it has counted it.
    frames: AtomicI64,
}

impl Backed {
    /// Of so many frames, none of which has memory.
    pub(crate) fn new(count: usize) -> Backed {
        let words = count.div_ceil(64);
        Backed { told: (0..words).map(|_| AtomicU64::new(0)).collect(), frames: AtomicI64::new(0) }
    }

    /// These have memory.
    pub(crate) fn note(&self, frames: Range<u32>) {
        let mut new = 0;
        for (word, mask) in words(frames) {
            new += (mask & !self.told[word].fetch_or(mask, Relaxed)).count_ones();
        }
        self.tell(i64::from(new));
    }

    /// This one has none any more; whether it had some.
    pub(crate) fn forget(&self, frame: u32) -> bool {
        let (word, mask) = (frame as usize / 64, 1u64 << (frame % 64));
        let was = self.told[word].fetch_and(!mask, Relaxed) & mask;
        self.tell(-i64::from(was.count_ones()));
        was != 0
    }

    /// The first of these that has none.
    pub(crate) fn first_without(&self, frames: Range<u32>) -> Option<u32> {
        words(frames).find_map(|(word, mask)| {
            let without = mask & !self.told[word].load(Relaxed);
            (without != 0).then(|| word as u32 * 64 + without.trailing_zeros())
        })
    }

    /// The last of these that has some.
    pub(crate) fn last_with(&self, frames: Range<u32>) -> Option<u32> {
        let told = |(word, mask): (usize, u64)| (word, mask & self.told[word].load(Relaxed));
        let last = words(frames).map(told).filter(|(_, with)| *with != 0).last();
        last.map(|(word, with)| word as u32 * 64 + with.ilog2())
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.frames.load(Relaxed).max(0) as u64 * PAGE_BYTES as u64
    }

    fn tell(&self, frames: i64) {
        if frames != 0 {
            self.frames.fetch_add(frames, Relaxed);
            runtime::memory::mapped_for_pages(frames * PAGE_BYTES as i64);
        }
    }
}

impl Drop for Backed {
    fn drop(&mut self) {
        self.tell(-self.frames.load(Relaxed));
    }
}

/// The words that a range of bits lies in, and which of their bits.
fn words(bits: Range<u32>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = bits;
    (start / 64..end.div_ceil(64)).map(move |word| {
        let (from, to) = (start.max(word * 64) - word * 64, (end - word * 64).min(64));
        let below = |bit: u32| if bit == 64 { u64::MAX } else { (1 << bit) - 1 };
        (word as usize, below(to) & !below(from))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = PAGE_BYTES as u64;

    #[test]
    fn a_frame_is_told_once_each_way() {
        let backed = Backed::new(200);
        backed.note(60..70);
        backed.note(65..130);
        assert_eq!(backed.bytes(), 70 * PAGE);
        assert_eq!(backed.first_without(0..200), Some(0));
        assert_eq!(backed.first_without(60..200), Some(130));
        assert_eq!((backed.first_without(60..130), backed.first_without(70..70)), (None, None));
        assert_eq!((backed.last_with(0..200), backed.last_with(0..64)), (Some(129), Some(63)));
        assert_eq!((backed.last_with(130..200), backed.last_with(0..60)), (None, None));
        backed.forget(100);
        backed.forget(100);
        backed.forget(150);
        assert_eq!((backed.bytes(), backed.first_without(60..130)), (69 * PAGE, Some(100)));
        backed.note(0..200);
        assert_eq!((backed.bytes(), backed.first_without(0..200)), (200 * PAGE, None));
    }

    #[test]
    fn who_comes_at_the_same_time_tells_once() {
        let backed = Backed::new(1000);
        std::thread::scope(|scope| {
            for from in [0, 100, 200, 300] {
                let backed = &backed;
                scope.spawn(move || (from..from + 600).for_each(|f| backed.note(f..f + 100)));
            }
        });
        assert_eq!(backed.bytes(), 999 * PAGE);
        std::thread::scope(|scope| {
            (0..4).for_each(|_| {
                scope.spawn(|| (0..1000).filter(|f| backed.forget(*f)).count());
            });
        });
        assert_eq!(backed.bytes(), 0);
    }
}
