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
    /// Of an element with `xsi:nil`: it has no value.
    Nothing,
}

impl AtomType {
    /// Its name, with the prefix under which queries know it.
    pub fn shown(self) -> &'static str {
        match self {
            AtomType::Text => "xs:string",
            AtomType::Bool => "xs:boolean",
            AtomType::Int => "xs:integer",
            AtomType::Decimal => "xs:decimal",
            AtomType::Double => "xs:double",
            AtomType::Moment => "xs:dateTime",
            AtomType::Base64 => "xs:base64Binary",
            AtomType::Hex => "xs:hexBinary",
            AtomType::Untyped | AtomType::Nothing => "xdt:untypedAtomic",
        }
    }

    /// Is a value of it one of the other, too? Of what is untyped nothing is known.
    pub(crate) fn is_sub_of(self, other: AtomType) -> bool {
        self == other
            || self == AtomType::Untyped
            || other == AtomType::Untyped
            || (self, other) == (AtomType::Int, AtomType::Decimal)
    }
}
