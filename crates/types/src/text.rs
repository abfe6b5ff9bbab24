//! Strings and binaries that clone without allocation.
//!
//! Up to [`INLINE_MAX`] bytes live inside the value; longer ones share a counted allocation. Long ones are kept as they
//! were made: nothing of megabytes is copied to become a value, or read through to be a text. The
//! short form matters for more than speed: a constant in a plan that all sessions run would
//! otherwise have its reference count pulled from core to core.

use crate::collation::Rule;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Longest content kept without an allocation, in bytes.
pub const INLINE_MAX: usize = 22;

/// Immutable bytes (BINARY, VARBINARY).
#[derive(Clone)]
pub struct Bytes(Repr);

#[derive(Clone)]
enum Repr {
    /// The length in the low five bits, the mark above them.
    Inline {
        len: u8,
        data: [u8; INLINE_MAX],
    },
    Shared {
        mark: u16,
        bytes: Arc<[u8]>,
    },
    /// At least [`LONG_MIN`] bytes.
    Long {
        mark: u16,
        value: Arc<Long>,
    },
}

/// A long value as it was made. That of a [`Text`] is a text.
enum Long {
    Text(String),
    Bytes(Vec<u8>),
}

/// From so many bytes on a value is kept as it was made.
const LONG_MIN: usize = 64 << 10;

impl Long {
    fn as_slice(&self) -> &[u8] {
        match self {
            Long::Text(text) => text.as_bytes(),
            Long::Bytes(bytes) => bytes,
        }
    }
}

const LEN_BITS: u32 = 5;

impl Bytes {
    /// Copies the bytes; allocates only above [`INLINE_MAX`].
    pub fn new(bytes: &[u8]) -> Self {
        if bytes.len() <= INLINE_MAX {
            let mut data = [0; INLINE_MAX];
            data[..bytes.len()].copy_from_slice(bytes);
            Bytes(Repr::Inline { len: bytes.len() as u8, data })
        } else {
            Bytes(Repr::Shared { mark: 0, bytes: Arc::from(bytes) })
        }
    }

    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, data } => &data[..(*len & ((1 << LEN_BITS) - 1)) as usize],
            Repr::Shared { bytes, .. } => bytes,
            Repr::Long { value, .. } => value.as_slice(),
        }
    }

    /// A number that goes along with the bytes and is no part of them: a text's collation.
    #[inline]
    fn mark(&self) -> u16 {
        match &self.0 {
            Repr::Inline { len, .. } => u16::from(*len >> LEN_BITS),
            Repr::Shared { mark, .. } | Repr::Long { mark, .. } => *mark,
        }
    }

    /// There is room for a number below 8 beside short bytes; with a greater one they are shared.
    fn set_mark(&mut self, new: u16) {
        match &mut self.0 {
            Repr::Inline { len, .. } if new < 8 => {
                *len = *len & ((1 << LEN_BITS) - 1) | (new as u8) << LEN_BITS;
            }
            Repr::Inline { .. } => {
                self.0 = Repr::Shared { mark: new, bytes: Arc::from(self.as_slice()) };
            }
            Repr::Shared { mark, .. } | Repr::Long { mark, .. } => *mark = new,
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Bytes::new(bytes)
    }
}

impl From<Vec<u8>> for Bytes {
    /// Long ones are not copied.
    fn from(mut bytes: Vec<u8>) -> Self {
        if bytes.len() < LONG_MIN {
            return Bytes::new(&bytes);
        }
        bytes.shrink_to_fit();
        Bytes(Repr::Long { mark: 0, value: Arc::new(Long::Bytes(bytes)) })
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}
impl Eq for Bytes {}
impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.as_slice().iter().try_for_each(|b| write!(f, "{b:02X}"))
    }
}

/// Immutable UTF-8 text ((N)CHAR, (N)VARCHAR). Equality and hash are by bytes; SQL comparison is
/// in [`crate::compare`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text(Bytes);

impl Text {
    /// Copies the text; allocates only above [`INLINE_MAX`] bytes.
    pub fn new(text: &str) -> Self {
        if text.len() >= LONG_MIN {
            return Text::from(text.to_owned());
        }
        Text(Bytes::new(text.as_bytes()))
    }

    #[inline]
    pub fn as_str(&self) -> &str {
        if let Repr::Long { value, .. } = &self.0.0
            && let Long::Text(text) = &**value
        {
            return text;
        }
        // Constructed from str only; the check is some nanoseconds for the sizes met inline, and
        // buys a crate without unsafe code.
        match std::str::from_utf8(self.0.as_slice()) {
            Ok(text) => text,
            Err(_) => unreachable!("Text holds UTF-8 by construction"),
        }
    }

    /// How many bytes it has, without a check that they are UTF-8.
    #[inline]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Has it none?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    /// Has it none beyond ASCII?
    #[inline]
    pub fn is_ascii(&self) -> bool {
        self.as_bytes().is_ascii()
    }

    /// The rule by which it is compared, unless the other side says otherwise. It is no part of the text: equality
    /// and hash do not see it.
    #[inline]
    pub fn rule(&self) -> Rule {
        Rule::from_bits(self.0.mark())
    }

    /// The same text under another rule.
    pub fn with_rule(mut self, rule: Rule) -> Text {
        self.0.set_mark(rule.bits());
        self
    }

    /// The UTF-8 bytes, likewise.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_slice()
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::new(text)
    }
}
impl From<String> for Text {
    /// Long ones are not copied.
    fn from(mut text: String) -> Self {
        if text.len() < LONG_MIN {
            return Text::new(&text);
        }
        text.shrink_to_fit();
        Text(Bytes(Repr::Long { mark: 0, value: Arc::new(Long::Text(text)) }))
    }
}
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_kept_as_it_was_made() {
        let made = "\u{e9}".repeat(LONG_MIN);
        let (at, bytes) = (made.as_ptr(), made.clone().into_bytes());
        let text = Text::from(made);
        assert_eq!(text.as_str().as_ptr(), at);
        assert_eq!(text, Text::new(std::str::from_utf8(&bytes).expect("it was a text")));
        let (at, copy) = (bytes.as_ptr(), bytes.clone());
        let value = Bytes::from(bytes);
        assert_eq!(value.as_slice().as_ptr(), at);
        assert_eq!(value, Bytes::new(&copy));
        assert_eq!(value.as_slice(), text.as_bytes());
    }

    #[test]
    fn long_and_short_ones_compare_and_are_marked_alike() {
        for len in [1, INLINE_MAX, INLINE_MAX + 1, LONG_MIN - 1, LONG_MIN, LONG_MIN + 1] {
            let made = "a".repeat(len);
            let (owned, copied) = (Text::from(made.clone()), Text::new(&made));
            assert_eq!(owned, copied);
            let ruled = owned.clone().with_rule(Rule::Bin);
            assert_eq!((ruled.rule(), ruled.as_str()), (Rule::Bin, &made[..]));
            assert_eq!(ruled, copied);
            assert_eq!(owned.rule(), copied.rule());
        }
    }
}
