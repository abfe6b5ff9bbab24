//! What a method's exception becomes: error 6522, whose text names the type, the exception and where it was thrown.

use crate::ClrType;
use runtime::task::Stopped;
use spatial::SpatialError;
use std::fmt;

/// An exception of the assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClrError {
    /// What the text says was executed: a type, or an aggregate.
    routine: &'static str,
    state: u8,
    /// Its class with the namespace, `Microsoft.SqlServer.Types.HierarchyIdException`.
    class: &'static str,
    /// `24001: SqlHierarchyId.Parse failed because ...`
    text: String,
    /// The parameter that it names.
    parameter: Option<&'static str>,
    /// The method with its class and parameters, as the stack trace has them, where it is known.
    place: Option<String>,
    stop: Option<Stopped>,
}

impl ClrError {
    /// SQL Server's message number: an error of .NET in a routine or a type.
    pub const NUMBER: i32 = 6522;

    pub(crate) fn new(
        ty: ClrType,
        class: &'static str,
        text: String,
        place: &'static str,
    ) -> ClrError {
        let place = Some(format!("{}.{place}", ty.class()));
        ClrError { routine: ty.name(), state: 2, class, text, parameter: None, place, stop: None }
    }

    #[cold]
    pub(crate) fn of_shapes(ty: ClrType, error: SpatialError) -> ClrError {
        ClrError::of_routine(ty.name(), error)
    }

    #[cold]
    pub(crate) fn of_routine(routine: &'static str, error: SpatialError) -> ClrError {
        let SpatialError { class, text, parameter, stop } = error;
        ClrError { routine, state: 1, class, text, parameter, place: None, stop }
    }

    /// Its state.
    pub fn state(&self) -> u8 {
        self.state
    }

    /// It is no exception: the request is to stop.
    pub fn stop(&self) -> Option<Stopped> {
        self.stop
    }
}

impl fmt::Display for ClrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClrError { routine, class, text, .. } = self;
        write!(
            f,
            "A .NET Framework error occurred during execution of user-defined routine or aggregate \"{routine}\": \
             \r\n{class}: {text}\r\n"
        )?;
        if let Some(parameter) = self.parameter {
            write!(f, "Parameter name: {parameter}\r\n")?;
        }
        write!(f, "{class}: \r\n")?;
        if let Some(place) = &self.place {
            write!(f, "   at {place}\r\n")?;
        }
        f.write_str(".")
    }
}

impl std::error::Error for ClrError {}
