//! What an operation on shapes throws: the text of SQL Server's, with its number, and the class of its exception.

use runtime::task::Stopped;
use std::fmt;

/// An exception, without where it was thrown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpatialError {
    /// Its class, `System.FormatException`.
    pub class: &'static str,
    /// `24111: The well-known text (WKT) input is not valid.`
    pub text: String,
    /// The parameter that an exception of an argument names.
    pub parameter: Option<&'static str>,
    /// The request is to stop, and this is no exception of the type.
    pub stop: Option<Stopped>,
}

pub type Result<T> = std::result::Result<T, SpatialError>;

const FORMAT: &str = "System.FormatException";
const ARGUMENT: &str = "System.ArgumentException";
const RANGE: &str = "System.ArgumentOutOfRangeException";
const GEODETIC: &str = "Microsoft.SqlServer.Types.GLArgumentException";

impl SpatialError {
    fn of(class: &'static str, text: impl Into<String>) -> SpatialError {
        SpatialError { class, text: text.into(), parameter: None, stop: None }
    }

    /// Of input that cannot be read.
    #[cold]
    pub fn format(text: impl Into<String>) -> SpatialError {
        SpatialError::of(FORMAT, text)
    }

    /// Of an argument that cannot be.
    #[cold]
    pub fn argument(text: impl Into<String>) -> SpatialError {
        SpatialError::of(ARGUMENT, text)
    }

    /// Of a number that is too small or too great.
    #[cold]
    pub fn range(text: impl Into<String>, parameter: &'static str) -> SpatialError {
        SpatialError { parameter: Some(parameter), ..SpatialError::of(RANGE, text) }
    }

    /// Of what the round earth forbids.
    #[cold]
    pub fn geodetic(text: impl Into<String>) -> SpatialError {
        SpatialError::of(GEODETIC, text)
    }

    /// What SQL Server does and this does not.
    #[cold]
    pub fn unsupported(text: impl Into<String>) -> SpatialError {
        SpatialError::of("System.NotSupportedException", text)
    }

    /// 24144.
    #[cold]
    pub fn invalid_instance() -> SpatialError {
        SpatialError::argument(
            "24144: This operation cannot be completed because the instance is not valid. Use MakeValid to convert the \
             instance to a valid instance. Note that MakeValid may cause the points of a geometry instance to shift \
             slightly.",
        )
    }

    /// The bytes of no value.
    #[cold]
    pub fn bad_bytes() -> SpatialError {
        SpatialError::format("One of the identified items was in an invalid format.")
    }
}

impl fmt::Display for SpatialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.text)
    }
}

impl std::error::Error for SpatialError {}

impl From<Stopped> for SpatialError {
    fn from(stop: Stopped) -> SpatialError {
        SpatialError { stop: Some(stop), ..SpatialError::of("", "") }
    }
}
