//! Numbers by chance for tests, the same for the same seed.

/// Of this seed.
pub(crate) struct Dice(pub u64);

impl Dice {
    /// 0 to `sides` - 1.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = stdx::mix64(self.0.wrapping_add(1));
        (self.0 >> 33) % sides
    }

    /// A place in a list of so many.
    pub fn index(&mut self, len: usize) -> usize {
        self.roll(len as u64) as usize
    }
}
