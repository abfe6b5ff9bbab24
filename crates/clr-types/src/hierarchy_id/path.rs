//! A path's bits: read number by number, written, cut.
//!
//! The last bit of a path that is not the root is a 1 (the F of its last level), so its length in bits is its bytes'
//! without the zeros at their end.

use super::ordinal::Ordinal;

/// Bytes of the longest value.
pub(crate) const BYTES_MAX: usize = 892;

/// Bits that count.
pub(super) fn bit_len(bytes: &[u8]) -> usize {
    match bytes.iter().rposition(|b| *b != 0) {
        None => 0,
        Some(at) => at * 8 + 8 - bytes[at].trailing_zeros() as usize,
    }
}

/// 64 bits from a place on, zeros behind the end.
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let mut nine = [0; 9];
    let rest = bytes.get(at / 8..).unwrap_or(&[]);
    let there = rest.len().min(9);
    nine[..there].copy_from_slice(&rest[..there]);
    let [head @ .., last] = nine;
    let shift = at % 8;
    match shift {
        0 => u64::from_be_bytes(head),
        _ => u64::from_be_bytes(head) << shift | u64::from(last) >> (8 - shift),
    }
}

/// The numbers of a path in their order, each with where its bits end. Ends early where there is no number.
pub(super) struct Ordinals<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

pub(super) fn ordinals(bytes: &[u8]) -> Ordinals<'_> {
    Ordinals { bytes, at: 0, end: bit_len(bytes) }
}

impl Ordinals<'_> {
    /// Everything was read.
    pub fn is_done(&self) -> bool {
        self.at == self.end
    }
}

impl Iterator for Ordinals<'_> {
    type Item = (Ordinal, usize);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let (found, len) = Ordinal::decode(word_at(self.bytes, self.at), self.end - self.at)?;
        self.at += len as usize;
        Some((found, self.at))
    }
}

/// Levels below the root.
pub(super) fn level(bytes: &[u8]) -> usize {
    ordinals(bytes).filter(|(ordinal, _)| ordinal.ends_level).count()
}

/// Where the level of that depth ends; 0 is the root.
pub(super) fn level_end(bytes: &[u8], depth: usize) -> Option<usize> {
    if depth == 0 {
        return Some(0);
    }
    let mut ends = ordinals(bytes).filter(|(ordinal, _)| ordinal.ends_level);
    ends.nth(depth - 1).map(|(_, end)| end)
}

/// The numbers of the last level.
pub(super) fn last_label(bytes: &[u8]) -> Vec<i64> {
    let mut label = Vec::new();
    let mut begins = true;
    for (ordinal, _) in ordinals(bytes) {
        if begins {
            label.clear();
        }
        label.push(ordinal.number);
        begins = ordinal.ends_level;
    }
    label
}

/// Is it below `parent`, or the same?
pub(super) fn is_descendant(bytes: &[u8], parent: &[u8]) -> bool {
    let bits = bit_len(parent);
    let (whole, part) = (bits / 8, bits % 8);
    if bytes.len() < parent.len() || bytes[..whole] != parent[..whole] {
        return false;
    }
    part == 0 || (bytes[whole] ^ parent[whole]) >> (8 - part) == 0
}

/// A path that is being written.
pub(super) struct Writer {
    bytes: Vec<u8>,
    bits: usize,
}

impl Writer {
    /// The first bits of a path.
    pub fn of(bytes: &[u8], bits: usize) -> Writer {
        let mut kept = bytes[..bits.div_ceil(8)].to_vec();
        if let (Some(last), part @ 1..) = (kept.last_mut(), bits % 8) {
            *last &= 0xffu8 << (8 - part);
        }
        Writer { bytes: kept, bits }
    }

    /// The lowest `len` bits of a word, 64 at most.
    pub fn put(&mut self, word: u64, len: u32) {
        for at in (0..len).rev() {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let bit = (word >> at & 1) as u8;
            if let Some(last) = self.bytes.last_mut() {
                *last |= bit << (7 - self.bits % 8);
            }
            self.bits += 1;
        }
    }

    /// The bits of a path from a place on.
    pub fn put_from(&mut self, bytes: &[u8], from: usize) {
        let end = bit_len(bytes);
        let mut at = from;
        while at < end {
            let len = (end - at).min(64);
            self.put(word_at(bytes, at) >> (64 - len), len as u32);
            at += len;
        }
    }

    /// A level; `None` where a number has no bits.
    pub fn put_label(&mut self, label: &[i64]) -> Option<()> {
        for (at, number) in label.iter().enumerate() {
            let ends_level = at + 1 == label.len();
            let (word, len) = Ordinal { number: *number, ends_level }.encode()?;
            self.put(word, len);
        }
        Some(())
    }

    /// What was written, of any length.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// `None` of a path that is too long.
    pub fn finish(self) -> Option<Vec<u8>> {
        (self.bytes.len() <= BYTES_MAX).then_some(self.bytes)
    }
}
