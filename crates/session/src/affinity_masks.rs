//! The affinity masks of sp_configure, two options each for 64 CPUs: CPU n is bit n of the first, or bit n - 32 of the
//! second.
//!
//! Promise: CPUs that a mask can name become the same CPUs again. No bit means that no mask says which: all of them, or some
//! beyond those 64.

/// The CPUs that sessions run on.
pub(crate) const PROCESS: [&str; 2] = ["affinity mask", "affinity64 mask"];
/// Those for input and output, which are kept and checked and change nothing here.
pub(crate) const IO: [&str; 2] = ["affinity I/O mask", "affinity64 I/O mask"];
const OPTION_BITS: u32 = i32::BITS;

/// One bit for each CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mask(u64);

impl Mask {
    /// Of the two options' values, which are int.
    pub fn of_options([low, high]: [i64; 2]) -> Mask {
        Mask(u64::from(low as u32) | u64::from(high as u32) << OPTION_BITS)
    }

    /// `None`: all.
    pub fn of_cpus(cpus: Option<&[usize]>) -> Mask {
        let bit = |cpu: &usize| u32::try_from(*cpu).ok().and_then(|cpu| 1u64.checked_shl(cpu));
        let bits: Option<Vec<u64>> = cpus.unwrap_or_default().iter().map(bit).collect();
        Mask(bits.unwrap_or_default().iter().fold(0, |mask, bit| mask | bit))
    }

    /// The two options' values.
    pub fn options(self) -> [i64; 2] {
        [self.0, self.0 >> OPTION_BITS].map(|bits| i64::from(bits as u32 as i32))
    }

    /// The same, by the names of the options that are in force.
    pub fn values(self) -> impl Iterator<Item = (&'static str, i64)> {
        PROCESS.into_iter().zip(self.options())
    }

    /// Ascending.
    pub fn cpus(self) -> Vec<usize> {
        (0..u64::BITS as usize).filter(|cpu| self.0 >> cpu & 1 == 1).collect()
    }

    /// Whether both name a CPU.
    pub fn meets(self, other: Mask) -> bool {
        self.0 & other.0 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_name_cpus_by_their_bits() {
        let cpus = |low, high| Mask::of_options([low, high]).cpus();
        assert_eq!(cpus(0, 0), [0; 0]);
        assert_eq!(cpus(5, 0), [0, 2]);
        assert_eq!(cpus(-2_147_483_648, 1), [31, 32]);
        assert_eq!(cpus(-1, -1), (0..64).collect::<Vec<_>>());
    }

    #[test]
    fn cpus_become_the_same_cpus_again() {
        for cpus in [&[0][..], &[31], &[32], &[0, 31, 32, 63], &[5, 40]] {
            let mask = Mask::of_cpus(Some(cpus));
            assert_eq!(Mask::of_options(mask.options()).cpus(), cpus);
        }
        assert_eq!(Mask::of_cpus(Some(&[31, 63])).options(), [-2_147_483_648; 2]);
        // All, and what 64 bits cannot say.
        for cpus in [None, Some(&[0, 64][..]), Some(&[usize::MAX])] {
            assert_eq!(Mask::of_cpus(cpus).options(), [0, 0]);
        }
    }

    #[test]
    fn masks_meet_in_a_cpu() {
        let mask = |cpus: &[usize]| Mask::of_cpus(Some(cpus));
        assert!(mask(&[0, 33]).meets(mask(&[33])));
        assert!(!mask(&[0, 33]).meets(mask(&[1, 32])) && !Mask::default().meets(Mask::default()));
    }
}
