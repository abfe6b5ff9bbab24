//! Where a value has its parts.
//!
//! [`Value`] is `repr(u8)`: the first byte of a value says which kind it is (the reference on type layout, "Primitive
//! representation of enums with fields"), and each kind's field has a fixed place behind it. Both are read from values
//! of each kind when they are first asked for, so nothing here goes wrong when `Value` gets a kind more.

use crate::program::Kind;
use std::sync::OnceLock;
use types::Value;

/// Bytes from one register to the next.
pub(crate) const STRIDE: usize = std::mem::size_of::<Value>();

/// The tag of a kind and the place of its number.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub tag: u8,
    pub offset: i32,
}

/// The first byte of a value.
fn tag(value: &Value) -> u8 {
    // SAFETY: `Value` is `repr(u8)`, so its first byte is its tag, which is initialised in every value; the pointer
    // comes from a reference that outlives the read.
    unsafe { *std::ptr::from_ref(value).cast::<u8>() }
}

/// The tag of NULL.
pub(crate) fn null() -> u8 {
    tag(&Value::Null)
}

pub(crate) fn place(kind: Kind) -> Place {
    static PLACES: OnceLock<[Place; 6]> = OnceLock::new();
    let places = PLACES.get_or_init(|| {
        [
            Value::Bit(true),
            Value::TinyInt(1),
            Value::SmallInt(1),
            Value::Int(1),
            Value::BigInt(1),
            Value::Float(1.0),
        ]
        .map(|value| {
            let field = match &value {
                Value::Bit(v) => std::ptr::from_ref(v).addr(),
                Value::TinyInt(v) => std::ptr::from_ref(v).addr(),
                Value::SmallInt(v) => std::ptr::from_ref(v).addr(),
                Value::Int(v) => std::ptr::from_ref(v).addr(),
                Value::BigInt(v) => std::ptr::from_ref(v).addr(),
                Value::Float(v) => std::ptr::from_ref(v).addr(),
                _ => std::ptr::from_ref(&value).addr(),
            };
            let offset = (field - std::ptr::from_ref(&value).addr()) as i32;
            assert!(offset > 0 && (offset as usize) < STRIDE, "a number inside of its value");
            Place { tag: tag(&value), offset }
        })
    });
    places[match kind {
        Kind::Bit => 0,
        Kind::TinyInt => 1,
        Kind::SmallInt => 2,
        Kind::Int => 3,
        Kind::BigInt => 4,
        Kind::Float => 5,
    }]
}
