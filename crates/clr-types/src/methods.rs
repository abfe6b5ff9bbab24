//! The methods of all types, and how one is found and called.

use crate::method::{Arg, Made, Method};
use crate::{ClrError, ClrType, hierarchy_id};
use std::fmt;

/// The rows of all methods; a [`MethodId`] is a place here.
pub const METHODS: &[Method] = &hierarchy_id::METHODS;

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
