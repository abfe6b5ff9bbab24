//! What the value of a node may be.

/// A type that a value can be made to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomType {
    /// xs:string and its like.
    Text,
    /// xs:boolean
    Bool,
    /// xs:integer and what is derived from it.
    Int,
    /// xs:decimal
    Decimal,
    /// xs:double, xs:float
    Double,
    /// A date or time: its text.
    Moment,
    /// xs:base64Binary
    Base64,
    /// xs:hexBinary
    Hex,
    /// Text that beside a number is one.
    Untyped,
}
