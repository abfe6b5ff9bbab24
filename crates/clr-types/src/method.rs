//! What a method's row says.

use crate::{ClrError, ClrType};
use spatial::{SpatialError, World};

/// A method as T-SQL calls it: `type::Name(...)` if it is static, else `value.Name(...)`; or a property, which is read
/// without arguments and their signs.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The type that it is of.
    pub owner: ClrType,
    /// Its name, whose case of letters counts.
    pub name: &'static str,
    /// It is called on the type, not on a value.
    pub is_static: bool,
    /// It is a property.
    pub is_property: bool,
    /// What it takes behind its value.
    pub takes: &'static [Kind],
    /// What it yields.
    pub gives: Kind,
    /// Only plans call it, or a SET of the property of that name.
    pub(crate) is_hidden: bool,
    /// What a plan may conclude.
    pub tells: Tells,
    /// It is called though an argument is NULL. (Of a value that is NULL none is.)
    pub takes_null: bool,
    /// Its body; the value that it is called on is the first argument.
    pub(crate) body: Body,
}

impl Method {
    /// The row of a plain method of a value; makers, properties and others say how they differ.
    pub(crate) const fn new(
        owner: ClrType,
        name: &'static str,
        takes: &'static [Kind],
        gives: Kind,
        body: Body,
    ) -> Method {
        Method {
            owner,
            name,
            is_static: false,
            is_property: false,
            takes,
            gives,
            is_hidden: false,
            tells: Tells::Nothing,
            takes_null: false,
            body,
        }
    }
}

/// What a row calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    Own(fn(&[Arg<'_>]) -> Result<Made, ClrError>),
    Shapes(fn(World, &[Arg<'_>]) -> Result<Made, SpatialError>),
}

/// What is known of the value that a method is called on, where its result is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    Nothing,
    /// If it yields 1, the value lies between the argument and the argument's limit ([`crate::MethodId::limit`]).
    WithinArgument,
    /// The value lies between what it yields and the limit of that.
    WithinResult,
}

/// What an argument or a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// bit
    Bit,
    /// smallint
    Small,
    /// int
    Int,
    /// float
    Float,
    /// nvarchar(4000)
    Text,
    /// nvarchar(max)
    LongText,
    /// varbinary(max)
    LongBytes,
    /// A value of the method's own type.
    Own,
}

/// An argument, of the kind that the row tells.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    Null,
    Bit(bool),
    Int(i32),
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// A result, of the kind that the row tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    Null,
    Bit(bool),
    Small(i16),
    Int(i32),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl<'a> Arg<'a> {
    /// The bytes of a value; none of what is no value.
    pub(crate) fn bytes(self) -> &'a [u8] {
        if let Arg::Bytes(bytes) = self { bytes } else { &[] }
    }

    pub(crate) fn text(self) -> &'a str {
        if let Arg::Text(text) = self { text } else { "" }
    }

    pub(crate) fn int(self) -> i32 {
        if let Arg::Int(n) = self { n } else { 0 }
    }

    pub(crate) fn float(self) -> f64 {
        if let Arg::Float(n) = self { n } else { 0.0 }
    }
}
