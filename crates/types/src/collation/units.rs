//! Texts as UTF-16 units, which is how nvarchar keeps and, but for collations with _SC, counts them.
//!
//! Half of a surrogate pair is no character of UTF-8. A text that has one alone, as when SUBSTRING cuts a pair, holds a
//! character of the last private plane in its place: D800 to DFFF are U+10F800 to U+10FFFF. Such a character that comes
//! from outside is held as its own two halves. So every sequence of units has one text, and comes out as it went in.

use runtime::task::{self, breathing};
use std::borrow::Cow;

/// The character that stands for D800.
const FIRST: u32 = 0x10_F800;
const FIRST_LOW: u16 = 0xDC00;

/// The character that stands for half of a pair; `None` for any other unit.
pub fn half(unit: u16) -> Option<char> {
    let at = unit.checked_sub(0xD800).filter(|at| *at < 0x800)?;
    char::from_u32(FIRST + u32::from(at))
}

/// The half that a character stands for.
fn unit_of(c: char) -> Option<u16> {
    (c as u32).checked_sub(FIRST).map(|at| 0xD800 + at as u16)
}

/// Units of a character.
#[inline]
pub fn units_of(c: char) -> usize {
    if c as u32 >= FIRST { 1 } else { c.len_utf16() }
}

/// The units of a text.
pub fn units(text: &str) -> impl Iterator<Item = u16> + '_ {
    text.chars().flat_map(|c| {
        let mut buffer = [0; 2];
        let count = match unit_of(c) {
            Some(unit) => {
                buffer[0] = unit;
                1
            }
            None => c.encode_utf16(&mut buffer).len(),
        };
        buffer.into_iter().take(count)
    })
}

/// The text of units.
pub fn from_units(units: impl Iterator<Item = u16>) -> String {
    let mut text = String::with_capacity(units.size_hint().0);
    for c in char::decode_utf16(units) {
        match c {
            Ok(c) if (c as u32) < FIRST => text.push(c),
            Ok(c) => text.extend(c.encode_utf16(&mut [0; 2]).iter().filter_map(|u| half(*u))),
            Err(alone) => text.extend(half(alone.unpaired_surrogate())),
        }
    }
    text
}

/// May a text have characters of more than one unit, or halves?
#[inline]
pub fn has_pairs(text: &str) -> bool {
    breathing(text.bytes()).any(|byte| byte >= 0xF0)
}

/// The text with each pair as two halves, so that every character is a unit.
pub fn split_pairs(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in breathing(text.chars()) {
        match c.len_utf16() {
            2 if unit_of(c).is_none() => {
                out.extend(c.encode_utf16(&mut [0; 2]).iter().filter_map(|unit| half(*unit)));
            }
            _ => out.push(c),
        }
    }
    out
}

/// The text with halves that stand side by side as pairs again.
pub fn join_pairs(text: &str) -> String {
    from_units(breathing(units(text)))
}

/// Halves of pairs may be in the text.
#[inline]
fn may_have_halves(text: &str) -> bool {
    // The last private plane's characters begin with F4.
    breathing(text.bytes()).any(|byte| byte == 0xF4) && breathing(text.chars()).any(is_half)
}

/// The character stands for half of a pair.
#[inline]
pub fn is_half(c: char) -> bool {
    c as u32 >= FIRST
}

/// The text as UTF-8 outside has it: halves side by side are the character that they make, one alone is U+FFFD.
pub fn put_utf8(text: &str, out: &mut Vec<u8>) {
    if !may_have_halves(text) {
        return out.extend_from_slice(text.as_bytes());
    }
    for c in char::decode_utf16(breathing(units(text))) {
        let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Bytes of a long text that are decoded between two breaths.
pub(super) const PIECE_BYTES: usize = 64 << 10;

/// The text of UTF-8 from outside; what is none is U+FFFD. Others go first between pieces of a long one, and of a request
/// that is to stop the text ends early.
pub fn from_utf8(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = bytes;
    while rest.len() > PIECE_BYTES && !task::is_stopped() {
        let (piece, behind) = rest.split_at(end_of_piece(rest));
        out.push_str(&whole_from_utf8(piece));
        task::let_others();
        rest = behind;
    }
    let last = whole_from_utf8(rest);
    if out.is_empty() {
        return last;
    }
    out.push_str(&last);
    out
}

/// Where a piece of UTF-8 ends, and no character with it: four bytes that all go on are of no single one.
fn end_of_piece(bytes: &[u8]) -> usize {
    let goes_on = |at: &usize| bytes[*at] & 0xC0 == 0x80;
    let first = (PIECE_BYTES - 3..=PIECE_BYTES).rev().find(|at| !goes_on(at));
    first.unwrap_or(PIECE_BYTES)
}

fn whole_from_utf8(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match may_have_halves(&text) {
        true => from_units(breathing(text.encode_utf16())),
        false => text.into_owned(),
    }
}

/// The text with U+FFFD for each half that stands alone, which UTF-8 has not.
pub fn without_halves(text: Cow<'_, str>) -> Cow<'_, str> {
    if !may_have_halves(&text) {
        return text;
    }
    let mut whole = Vec::with_capacity(text.len());
    put_utf8(&text, &mut whole);
    from_utf8(&whole).into()
}

/// Does a pair come together where one text ends and the other begins?
pub fn meet(left: &str, right: &str) -> bool {
    let half = |c: Option<char>| c.and_then(unit_of);
    half(left.chars().next_back()).is_some_and(|unit| unit < FIRST_LOW)
        && half(right.chars().next()).is_some_and(|unit| unit >= FIRST_LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_in_pieces_is_that_of_the_whole() {
        let mut bytes = vec![b'a'; PIECE_BYTES - 5];
        for part in ["ж🙂é🙂".as_bytes(), &[0xF0, 0x9F, 0x99], &[0x80; 9], &[0xC3, 0xFF]] {
            bytes.extend_from_slice(part);
        }
        bytes.resize(3 * PIECE_BYTES, 0xBF);
        for shift in 0..16 {
            let bytes = &bytes[shift..];
            assert!(from_utf8(bytes) == String::from_utf8_lossy(bytes), "{shift}");
        }
    }

    #[test]
    fn every_sequence_of_units_comes_out_as_it_went_in() {
        let all: [&[u16]; 6] = [
            &[0x41, 0xD83D, 0xDE00],
            &[0xD83D],
            &[0xDE00, 0xD83D],
            &[0xDBFE, 0xDC00, 0xDBFF, 0xDFFF],
            &[0xD83D, 0x41, 0xDE00],
            &[0xD83D, 0xD83D, 0xDE00, 0xDE00],
        ];
        for sequence in all {
            let text = from_units(sequence.iter().copied());
            assert_eq!(units(&text).collect::<Vec<u16>>(), sequence);
            assert_eq!(text.chars().map(units_of).sum::<usize>(), sequence.len());
            let split = split_pairs(&text);
            assert_eq!(split.chars().count(), sequence.len());
            assert_eq!(join_pairs(&split), text);
        }
        // Of each its bytes in UTF-8, and how these are read again.
        for (sequence, again) in
            [(&[0xDBFE, 0xDCE2][..], &[0xDBFE, 0xDCE2][..]), (&[0xDBFE, 0x41], &[0xFFFD, 0x41])]
        {
            let text = from_units(sequence.iter().copied());
            let mut bytes = Vec::new();
            put_utf8(&text, &mut bytes);
            assert_eq!(units(&from_utf8(&bytes)).collect::<Vec<u16>>(), again);
            assert_eq!(units(&without_halves(text.into())).collect::<Vec<u16>>(), again);
        }
        let (left, right) = (from_units([0xD83D].into_iter()), from_units([0xDE00].into_iter()));
        assert!(meet(&left, &right) && !meet(&right, &left));
    }
}
