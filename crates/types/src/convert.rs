//! Conversions, implicit and explicit, with CONVERT's styles.
//!
//! Three doors by what happens to text that is too long: [`cast`] (CAST, CONVERT, SET of a
//! variable, parameters) truncates silently, [`assign`] (a column of INSERT or UPDATE) is error
//! 2628, and a character value that fails to fit a number is an error in both.

use crate::{SqlType, TypeError, Value};

/// What SQL Server's conversion matrix says of a pair of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    Implicit,
    /// Only by CAST or CONVERT (257 otherwise).
    Explicit,
    /// Not at all (206 implicitly, 529 explicitly).
    None,
}

/// The matrix.
pub fn conversion(from: SqlType, to: SqlType) -> Conversion {
    unimplemented!("{from} {to}")
}

/// For the binder: `Ok` when the implicit conversion exists, else 257 or 206.
pub fn check_implicit(from: SqlType, to: SqlType) -> Result<(), TypeError> {
    unimplemented!("{from} {to}")
}

/// For the binder: `Ok` when CAST may do it, else 529.
pub fn check_explicit(from: SqlType, to: SqlType) -> Result<(), TypeError> {
    unimplemented!("{from} {to}")
}

/// See [`SqlType::common_type`].
pub fn common_type(a: SqlType, b: SqlType) -> Result<SqlType, TypeError> {
    unimplemented!("{a} {b}")
}

/// CAST and CONVERT (`style` 0 for CAST); also assignment to a variable or parameter. NULL stays
/// NULL; CHAR and BINARY are padded.
pub fn cast(value: &Value, from: SqlType, to: SqlType, style: i32) -> Result<Value, TypeError> {
    unimplemented!("{value:?} {from} {to} {style}")
}

/// Assignment to a column: like [`cast`] with style 0, but text or binary that does not fit is
/// [`TypeError::Truncated`] (trailing blanks may go).
pub fn assign(value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    unimplemented!("{value:?} {from} {to}")
}
