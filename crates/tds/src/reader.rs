//! A cursor over received bytes that cannot step past their end.
//!
//! Invariant: a failed read is [`ProtocolError::Truncated`], which the incremental readers take for "more
//! bytes, please" and all others for an error. Lengths are checked before anything is allocated for them.

use crate::ProtocolError;
use runtime::task::{Breath, Stopped};
use types::collation::units;

/// A long text is turned in pieces of so many bytes.
const PIECE_BYTES: usize = 64 << 10;

pub(crate) type Result<T> = std::result::Result<T, ProtocolError>;

#[derive(Clone)]
pub(crate) struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Reader { data, at: 0 }
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    pub fn remaining(&self) -> usize {
        self.data.len() - self.at
    }

    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// The next byte, left in place.
    pub fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    #[inline]
    pub fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8]> {
        match self.data[self.at..].get(..count) {
            Some(bytes) => {
                self.at += count;
                Ok(bytes)
            }
            None => Err(ProtocolError::Truncated { what }),
        }
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.data[self.at..];
        self.at = self.data.len();
        rest
    }

    #[inline]
    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N, what)?);
        Ok(array)
    }

    #[inline]
    pub fn u8(&mut self, what: &'static str) -> Result<u8> {
        Ok(self.array::<1>(what)?[0])
    }
    #[inline]
    pub fn u16(&mut self, what: &'static str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }
    #[inline]
    pub fn u32(&mut self, what: &'static str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }
    #[inline]
    pub fn u64(&mut self, what: &'static str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// UTF-16 text whose length in characters is one byte (B_VARCHAR).
    pub fn b_varchar(&mut self, what: &'static str) -> Result<String> {
        let units = self.u8(what)? as usize;
        Ok(utf16(self.bytes(units * 2, what)?))
    }

    /// UTF-16 text whose length in characters is two bytes (US_VARCHAR).
    pub fn us_varchar(&mut self, what: &'static str) -> Result<String> {
        let units = self.u16(what)? as usize;
        Ok(utf16(self.bytes(units * 2, what)?))
    }
}

/// UTF-16, little-endian, to text. A surrogate without its other half is kept ([`types::collation::units`]); a last odd byte is left out
/// (the callers check).
pub(crate) fn utf16(bytes: &[u8]) -> String {
    let (mut text, mut rest, mut breath) = (String::new(), bytes, Breath::new());
    if rest.len() > PIECE_BYTES {
        text.reserve(bytes.len() / 2);
    }
    while rest.len() > PIECE_BYTES {
        // Halves of a pair stay together.
        let last = u16::from_le_bytes([rest[PIECE_BYTES - 2], rest[PIECE_BYTES - 1]]);
        let is_first_half = (0xD800..0xDC00).contains(&last);
        let (piece, behind) = rest.split_at(PIECE_BYTES - 2 * usize::from(is_first_half));
        take_piece(&mut text, piece);
        // What has come is read to its end, whether its request is to stop or not.
        breath.goes_on_by(PIECE_BYTES / 8);
        rest = behind;
    }
    take_piece(&mut text, rest);
    text
}

fn take_piece(text: &mut String, bytes: &[u8]) {
    let (units, _) = bytes.as_chunks::<2>();
    // Most text is ASCII. Both loops go over all units without a way out, so that they run over many at once.
    let seen = units.iter().fold(0, |seen, unit| seen | u16::from_le_bytes(*unit));
    if seen < 0x80 {
        let ascii: Vec<u8> = units.iter().map(|unit| unit[0]).collect();
        match String::from_utf8(ascii) {
            Ok(ascii) if text.capacity() == 0 => *text = ascii,
            Ok(ascii) => text.push_str(&ascii),
            Err(_) => stdx::fatal!("bytes below 0x80 are no UTF-8"),
        }
        return;
    }
    text.push_str(&units::from_units(units.iter().map(|unit| u16::from_le_bytes(*unit))));
}

/// Steps of a message that is as long as its sender likes. It is read to its end, whether its request is to stop or not,
/// unless there is no memory for what it says.
pub(crate) fn steps(breath: &mut Breath, steps: usize) -> Result<()> {
    match breath.steps(steps) {
        Err(Stopped::NoMemory) => Err(ProtocolError::NoMemory),
        Ok(()) | Err(Stopped::Cancelled) => Ok(()),
    }
}

/// Appends text as UTF-16, little-endian.
pub(crate) fn put_utf16(out: &mut Vec<u8>, text: &str) {
    let (mut rest, mut breath) = (text, Breath::new());
    while rest.len() > PIECE_BYTES {
        out.reserve(rest.len() * 2);
        let (piece, behind) = rest.split_at(stdx::floor_char_boundary(rest, PIECE_BYTES));
        put_piece(out, piece);
        // What has begun is written to its end, whether its request is to stop or not.
        breath.goes_on_by(PIECE_BYTES / 8);
        rest = behind;
    }
    put_piece(out, rest);
}

fn put_piece(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    if bytes.is_ascii() {
        let at = out.len();
        out.resize(at + bytes.len() * 2, 0);
        for (unit, &byte) in out[at..].chunks_exact_mut(2).zip(bytes) {
            unit[0] = byte;
        }
    } else {
        for unit in units::units(text) {
            out.extend_from_slice(&unit.to_le_bytes());
        }
    }
}

/// The longest start of `text` that has at most `limit` UTF-16 units.
pub(crate) fn cut_utf16(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut count = 0;
    for (at, c) in text.char_indices() {
        count += units::units_of(c);
        if count > limit {
            return &text[..at];
        }
    }
    text
}

/// Appends a B_VARCHAR, cut to 255 UTF-16 units.
pub(crate) fn put_b_varchar(out: &mut Vec<u8>, text: &str) {
    let at = out.len();
    out.push(0);
    put_utf16(out, cut_utf16(text, 255));
    out[at] = ((out.len() - at - 1) / 2) as u8;
}

/// Appends a US_VARCHAR, cut to `limit` (at most 65,535) UTF-16 units.
pub(crate) fn put_us_varchar(out: &mut Vec<u8>, text: &str, limit: usize) {
    let at = out.len();
    out.extend_from_slice(&[0, 0]);
    put_utf16(out, cut_utf16(text, limit));
    let units = ((out.len() - at - 2) / 2) as u16;
    out[at..at + 2].copy_from_slice(&units.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_turned_in_pieces_and_whole() {
        // Pairs, and halves alone, on either side of where a piece ends.
        for before in (PIECE_BYTES / 2 - 3)..(PIECE_BYTES / 2 + 3) {
            let text = format!("{}\u{1f600}\u{e4}b", "a".repeat(before)).repeat(3);
            let mut bytes = Vec::new();
            put_utf16(&mut bytes, &text);
            assert_eq!(utf16(&bytes), text);
            let mut halves = vec![0xD800u16; before];
            halves.extend([0x61, 0xDC00, 0xD83D, 0xDE00]);
            let bytes: Vec<u8> = halves.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            assert_eq!(utf16(&bytes), units::from_units(halves.into_iter()));
        }
    }
}
