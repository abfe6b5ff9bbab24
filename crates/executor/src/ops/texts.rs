//! Texts that a column is compared with, asked of stored bytes: the first eight bytes of a text, as one number, say of most
//! texts that they are none of these.
//!
//! Promise: of a text of ASCII alone the answer of the collation, which pads with blanks and, where it does not tell upper
//! from lower case, compares ASCII letters so.

use types::Value;
use types::collation::trim_blank_bytes;

/// See the file's first lines.
pub(super) struct Texts {
    any_case: bool,
    list: Vec<Text>,
}

struct Text {
    head: u64,
    /// Without the blanks at its end.
    bytes: Vec<u8>,
    /// For texts of other characters.
    value: Value,
}

/// The bits of eight bytes in which letters of one case differ from those of the other.
const CASE: u64 = 0x2020_2020_2020_2020;
const BLANKS: u64 = 0x2020_2020_2020_2020;

impl Texts {
    pub fn new(any_case: bool) -> Texts {
        Texts { any_case, list: Vec::new() }
    }

    /// One more, of ASCII alone.
    pub fn push(&mut self, text: &str, value: &Value) {
        let bytes = trim_blank_bytes(text.as_bytes()).to_vec();
        self.list.push(Text { head: head(&bytes), bytes, value: value.clone() });
    }

    /// Whether it has such a text of ASCII.
    #[inline]
    pub fn has(&self, text: &[u8]) -> bool {
        let (head, seen) = (head(text), if self.any_case { !CASE } else { !0 });
        self.list.iter().any(|known| (known.head ^ head) & seen == 0 && self.is(known, text))
    }

    fn is(&self, known: &Text, text: &[u8]) -> bool {
        let text = trim_blank_bytes(text);
        match self.any_case {
            true => text.eq_ignore_ascii_case(&known.bytes),
            false => text == known.bytes,
        }
    }

    /// What it was made of.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.list.iter().map(|known| &known.value)
    }
}

/// The first eight bytes, with blanks where there are fewer.
#[inline]
fn head(text: &[u8]) -> u64 {
    if let Some(first) = text.first_chunk() {
        return u64::from_le_bytes(*first);
    }
    let n = text.len();
    let known = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first))
                | u64::from(u32::from_le_bytes(*last)) << (8 * (n - 4))
        }
        _ => text.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)),
    };
    known | BLANKS << (8 * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_at_the_end_and_case_are_as_the_collation_has_them() {
        let list = ["AIR", "", "REG AIR", "deliver in person", "8 bytes.", "[x]"];
        for any_case in [true, false] {
            let mut texts = Texts::new(any_case);
            list.iter().for_each(|text| texts.push(text, &Value::str(text)));
            assert_eq!(texts.values().count(), list.len());
            for text in list {
                for blanks in 0..20 {
                    assert!(texts.has(format!("{text}{}", " ".repeat(blanks)).as_bytes()));
                }
                let other = text.to_ascii_uppercase();
                assert_eq!(texts.has(other.as_bytes()), any_case || list.contains(&&other[..]));
                assert!(!texts.has(format!("{text}\0").as_bytes()));
                assert!(!texts.has(format!(" {text} .").as_bytes()));
            }
            // They differ from one of the list as upper from lower case does, and are no letters.
            assert!(!texts.has(b"{x}") && !texts.has(b"\0\0\0") && !texts.has(b"8 bytes\x0e"));
        }
    }

    #[test]
    fn heads_are_those_of_padded_texts() {
        for n in 0..12 {
            let text = &b"abcdefghijkl"[..n];
            let padded = [text, &[b' '; 8]].concat();
            assert_eq!(head(text), head(&padded), "{n}");
        }
    }
}
