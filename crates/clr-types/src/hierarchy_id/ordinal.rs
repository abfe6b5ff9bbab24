//! One number of a path, as bits.
//!
//! ```text
//! /1/-2.18/   01 01 1   00111 111 0   110 00 0 0 1 010 1
//!             |  |  |                                  |
//!             |  |  F: 1 where a level ends, 0 before a dot
//!             |  offset from the least number of the range
//!             which range
//! ```
//!
//! Ranges are told apart by their first bits, of which none begins another, and grow with the numbers they hold; so paths
//! compare as their bits do. The offset's bits have bits of a fixed value among them. Before a dot stands the number plus
//! one: what goes on behind a dot then lies above the number itself, and below the next. Source: [MS-SSCLRT] 2.1.1,
//! hierarchyid; the ranges of 32 and 48 bits as SQL Server writes them.

/// The least number there is.
pub(super) const LEAST: i64 = -281_479_271_682_120;
/// The greatest number there is; before a dot the greatest is one less.
pub(super) const MOST: i64 = 281_479_271_683_151;

/// A range of numbers.
struct Tier {
    least: i64,
    most: i64,
    /// Bits with F.
    len: u32,
    /// Bits that say which range, and how many they are.
    prefix: u64,
    prefix_len: u32,
    /// Where the offset's bits are, and which of the others are 1. F is the lowest bit, of neither.
    offset: u64,
    ones: u64,
}

/// `x` for a bit of the offset; F follows.
const fn tier(least: i64, most: i64, layout: &str) -> Tier {
    let bits = layout.as_bytes();
    let (mut offset, mut ones, mut prefix, mut prefix_len) = (0, 0, 0, 0);
    let mut at = 0;
    while at < bits.len() {
        let one = (bits[at] == b'1') as u64;
        offset = offset << 1 | (bits[at] == b'x') as u64;
        ones = ones << 1 | one;
        if offset == 0 {
            prefix = prefix << 1 | one;
            prefix_len += 1;
        }
        at += 1;
    }
    let len = bits.len() as u32 + 1;
    assert!(len <= 64 && offset.count_ones() <= 48);
    Tier { least, most, len, prefix, prefix_len, offset: offset << 1, ones: ones << 1 }
}

/// The commonest first.
const TIERS: [Tier; 13] = [
    tier(0, 3, "01xx"),
    tier(4, 7, "100xx"),
    tier(8, 15, "101xxx"),
    tier(16, 79, "110xx0x1xxx"),
    tier(80, 1103, "1110xxx0xxx0x1xxx"),
    tier(1104, 5199, "11110xxxxx0xxx0x1xxx"),
    tier(5200, 4_294_972_495, "111110xxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"),
    tier(4_294_972_496, MOST, "111111xxxxxxxxxxxxxx0xxxxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"),
    tier(-8, -1, "00111xxx"),
    tier(-72, -9, "0010xx0x1xxx"),
    tier(-4168, -73, "000110xxxxx0xxx0x1xxx"),
    tier(-4_294_971_464, -4169, "000101xxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"),
    tier(LEAST, -4_294_971_465, "000100xxxxxxxxxxxxxx0xxxxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"),
];

/// A number of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ordinal {
    pub number: i64,
    /// The last of its level: `/` follows, not a dot.
    pub ends_level: bool,
}

impl Ordinal {
    /// Its bits, the last one lowest, and how many they are; `None` of a number that has none.
    pub fn encode(self) -> Option<(u64, u32)> {
        let number = if self.ends_level { self.number } else { self.number.checked_add(1)? };
        let tier = TIERS.iter().find(|tier| (tier.least..=tier.most).contains(&number))?;
        let (mut left, mut places) = ((number - tier.least) as u64, tier.offset);
        let mut bits = tier.ones | u64::from(self.ends_level);
        while places != 0 {
            if left & 1 != 0 {
                bits |= places & places.wrapping_neg();
            }
            left >>= 1;
            places &= places - 1;
        }
        Some((bits, tier.len))
    }

    /// The number that begins at the highest bit of `word`, of which `len` bits are there; and its bits.
    pub fn decode(word: u64, len: usize) -> Option<(Ordinal, u32)> {
        let tier = TIERS.iter().find(|tier| word >> (64 - tier.prefix_len) == tier.prefix)?;
        if tier.len as usize > len {
            return None;
        }
        let bits = word >> (64 - tier.len);
        if bits & !tier.offset & !1 != tier.ones {
            return None;
        }
        let (mut offset, mut places, mut at) = (0, tier.offset, 0);
        while places != 0 {
            if bits & places & places.wrapping_neg() != 0 {
                offset |= 1i64 << at;
            }
            at += 1;
            places &= places - 1;
        }
        let number = tier.least + offset;
        if number > tier.most {
            return None;
        }
        let ends_level = bits & 1 != 0;
        let number = if ends_level { number } else { number - 1 };
        Some((Ordinal { number, ends_level }, tier.len))
    }
}
