//! Errors of the binder, where what a definition says of rows is bound when they are written.

use executor::SqlError;

/// A binder's error, of an expression that the catalog keeps.
pub(crate) fn from_binder(error: binder::BindError) -> SqlError {
    let error = error.into_inner();
    SqlError::new(error.number, error.severity, error.text)
}
