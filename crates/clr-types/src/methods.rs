//! The methods of all types, and how one is found and called.

use crate::method::{Arg, Body, Made, Method};
use crate::{ClrError, ClrType, hierarchy_id, shapes};
use std::fmt;

const LEN: usize = hierarchy_id::METHODS.len() + shapes::GEOMETRY.len() + shapes::GEOGRAPHY.len();

static ALL: [Method; LEN] = {
    let mut all = [hierarchy_id::METHODS[0]; LEN];
    let lists: [&[Method]; 3] = [&hierarchy_id::METHODS, &shapes::GEOMETRY, &shapes::GEOGRAPHY];
    let (mut list, mut out) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            all[out] = lists[list][at];
            at += 1;
            out += 1;
        }
        list += 1;
    }
    all
};

/// The rows of all methods; a [`MethodId`] is a place here.
pub static METHODS: &[Method] = &ALL;

/// The most arguments that one takes, with its value.
pub const ARGS_MAX: usize = 4;

/// Which row of [`METHODS`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MethodId(u16);

impl MethodId {
    /// The method of that name, letter by letter.
    pub fn find(owner: ClrType, name: &str) -> Option<MethodId> {
        MethodId::of(|row| {
            row.owner == owner && row.name == name && !row.is_hidden && !row.is_property
        })
    }

    /// The property of that name, letter by letter.
    pub fn property(owner: ClrType, name: &str) -> Option<MethodId> {
        MethodId::of(|row| {
            row.owner == owner && row.name == name && !row.is_hidden && row.is_property
        })
    }

    /// The method that gives a value with that property set to its argument.
    pub fn setter(owner: ClrType, name: &str) -> Option<MethodId> {
        MethodId::of(|row| {
            row.owner == owner && row.name == name && row.is_hidden && row.is_property
        })
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

    /// Calls it. There are as many arguments as the row tells, the value first if it is not static. May suspend.
    pub fn call(self, args: &[Arg<'_>]) -> Result<Made, ClrError> {
        let row = self.row();
        let is_null = |arg: &Arg<'_>| matches!(arg, Arg::Null);
        let must = if row.takes_null { usize::from(!row.is_static) } else { args.len() };
        if args.iter().take(must).any(is_null) {
            return Ok(Made::Null);
        }
        match row.body {
            Body::Own(body) => body(args),
            Body::Shapes(body) => {
                body(shapes::world(row.owner), args).map_err(|e| ClrError::of_shapes(row.owner, e))
            }
        }
    }
}

impl fmt::Debug for MethodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row();
        write!(f, "{}.{}", row.owner.name(), row.name)
    }
}
