//! Keys of private tables: bytes in the order of memcmp, short ones without an allocation.

use std::borrow::Borrow;
use std::cmp::Ordering;
use types::Bytes;

/// The key under which a row lies: the primary key's bytes, else an 8-byte row id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(Bytes);

impl Key {
    /// Copies the bytes.
    pub fn new(bytes: &[u8]) -> Key {
        Key(Bytes::new(bytes))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// As a value: the row's locator.
    pub fn to_value(&self) -> types::Value {
        types::Value::Binary(self.0.clone())
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

// Equality, order and hash are those of the bytes, as `Borrow` asks for.
impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}
