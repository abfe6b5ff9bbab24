//! Good bytes made bad: cut, doubled, moved, mixed with others, lengths made extreme. Shared with `tests/outside`.

use stdx::Prng;

/// Numbers that lengths like to be.
const NUMBERS: &[u64] =
    &[0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x1000, 0x7FFF, 0xFFFE, 0xFFFF, 0x7FFF_FFFF];

/// One of the good inputs, changed in some places, or in none.
pub fn mutate(seeds: &[Vec<u8>], random: &mut Prng) -> Vec<u8> {
    let pick = |random: &mut Prng| &seeds[random.below(seeds.len() as u64) as usize];
    let mut data = pick(random).clone();
    for _ in 0..random.below(4) {
        let below = |random: &mut Prng, n: usize| random.below(n as u64 + 1) as usize;
        let at = below(random, data.len());
        let length = below(random, 20).min(data.len() - at);
        match random.below(8) {
            0 => drop(data.drain(at..at + length)),
            1 => data.truncate(at),
            2 => {
                let piece = data[at..at + length].to_vec();
                let to = below(random, data.len());
                data.splice(to..to, piece);
            }
            3 => {
                let other = pick(random);
                let from = below(random, other.len());
                let piece = other[from..(from + below(random, 100)).min(other.len())].to_vec();
                data.splice(at..at, piece);
            }
            4 => {
                let piece = data[at..at + length].repeat(below(random, 200));
                data.splice(at..at, piece);
            }
            5 if at < data.len() => data[at] ^= 1 << random.below(8),
            6 if at < data.len() => data[at] = random.next_u64() as u8,
            _ => {
                let number = NUMBERS[random.below(NUMBERS.len() as u64) as usize].to_le_bytes();
                let width = 1 << random.below(4);
                for (byte, new) in data[at..].iter_mut().zip(&number[..width]) {
                    *byte = *new;
                }
            }
        }
    }
    data
}
