//! What a method's exception becomes: error 6522, whose text names the type, the exception and where it was thrown.

use crate::ClrType;
use std::fmt;

/// An exception of the assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClrError {
    ty: ClrType,
    /// Its class behind the namespace, `HierarchyIdException`.
    class: &'static str,
    /// `24001: SqlHierarchyId.Parse failed because ...`
    text: String,
    /// The method and its parameters, as the stack trace has them.
    place: &'static str,
}

impl ClrError {
    /// SQL Server's message number: an error of .NET in a routine or a type.
    pub const NUMBER: i32 = 6522;
    /// Its state, of types.
    pub const STATE: u8 = 2;

    pub(crate) fn new(
        ty: ClrType,
        class: &'static str,
        text: String,
        place: &'static str,
    ) -> ClrError {
        ClrError { ty, class, text, place }
    }
}

impl fmt::Display for ClrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClrError { ty, class, text, place } = self;
        let name = ty.name();
        write!(
            f,
            "A .NET Framework error occurred during execution of user-defined routine or aggregate \"{name}\": \
             \r\n{class}: {text}\r\n{class}: \r\n   at {}.{place}\r\n.",
            ty.class()
        )
    }
}

impl std::error::Error for ClrError {}
