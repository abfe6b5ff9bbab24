//! What a method's row says.

use crate::{ClrError, ClrType};

/// A method as T-SQL calls it: `type::Name(...)` if it is static, else `value.Name(...)`.
#[derive(Debug)]
pub struct Method {
    /// The type that it is of.
    pub owner: ClrType,
    /// Its name, whose case of letters counts.
    pub name: &'static str,
    /// It is called on the type, not on a value.
    pub is_static: bool,
    /// What it takes behind its value.
    pub takes: &'static [Kind],
    /// What it yields.
    pub gives: Kind,
    /// Only plans call it.
    pub(crate) is_hidden: bool,
    /// What a plan may conclude.
    pub tells: Tells,
    /// It is called though an argument is NULL. (Of a value that is NULL none is.)
    pub takes_null: bool,
    /// Its body; the value that it is called on is the first argument.
    pub(crate) body: fn(&[Arg<'_>]) -> Result<Made, ClrError>,
}

/// What is known of the value that a method is called on, where its result is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    Nothing,
    /// If it yields 1, the value lies between the argument and the argument's limit ([`MethodId::limit`]).
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
    /// nvarchar(4000)
    Text,
    /// A value of that type.
    Clr(ClrType),
}

/// An argument, of the kind that the row tells.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    Null,
    Int(i32),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// A result, of the kind that the row tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    Null,
    Bit(bool),
    Small(i16),
    Text(String),
    Bytes(Vec<u8>),
}

impl<'a> Arg<'a> {
    /// The bytes of a value; none of what is no value.
    pub(crate) fn bytes(self) -> &'a [u8] {
        if let Arg::Bytes(bytes) = self { bytes } else { &[] }
    }
}
