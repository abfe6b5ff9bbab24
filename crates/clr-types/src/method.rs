//! Methods: one row for each, of all types.

use crate::{ClrError, ClrType, hierarchy_id};
use std::fmt;

/// The rows of all methods; a [`MethodId`] is a place here.
pub const METHODS: &[Method] = &hierarchy_id::METHODS;

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

/// Which row of [`METHODS`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MethodId(u16);

impl MethodId {
    /// The method of that name, letter by letter.
    pub fn find(owner: ClrType, name: &str) -> Option<MethodId> {
        MethodId::of(|row| row.owner == owner && row.name == name && !row.is_hidden)
    }

    fn of(is: impl Fn(&Method) -> bool) -> Option<MethodId> {
        METHODS.iter().position(is).map(|at| MethodId(at as u16))
    }

    /// The method of a value that yields what no value below it lies above.
    pub fn limit(owner: ClrType) -> Option<MethodId> {
        MethodId::of(|row| row.owner == owner && row.name == "DescendantLimit")
    }

    /// Its row.
    pub fn row(self) -> &'static Method {
        &METHODS[self.0 as usize]
    }

    /// Calls it. There are as many arguments as the row tells, the value first if it is not static.
    pub fn call(self, args: &[Arg<'_>]) -> Result<Made, ClrError> {
        let row = self.row();
        let is_null = |arg: &Arg<'_>| matches!(arg, Arg::Null);
        let must = if row.takes_null { usize::from(!row.is_static) } else { args.len() };
        if args.iter().take(must).any(is_null) {
            return Ok(Made::Null);
        }
        (row.body)(args)
    }
}

impl fmt::Debug for MethodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row();
        write!(f, "{}.{}", row.owner.name(), row.name)
    }
}
