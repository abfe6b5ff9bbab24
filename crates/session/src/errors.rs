//! What the engine and the catalog answer, as errors of a session.

use catalog::CatalogError;
use engine::EngineError;
use executor::SqlError;

pub(crate) fn catalog_error(error: CatalogError) -> SqlError {
    executor::from_catalog(error)
}

pub(crate) fn engine_error(error: EngineError) -> SqlError {
    executor::from_engine_alone(error)
}

/// 5011.
pub(crate) fn unknown_database(name: &str) -> SqlError {
    SqlError::new(
        5011,
        14,
        format!(
            "User does not have permission to alter database '{name}', the database does not exist, \
             or the database is not in a state that allows access checks."
        ),
    )
    .with_state(5)
}
