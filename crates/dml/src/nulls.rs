//! NULL where none may be: 515.

use catalog::TableDef;
use executor::{Cx, SqlError, qualified};
use types::Value;

/// 515 for a NULL where none may be.
pub(crate) fn check_nulls(
    table: &TableDef,
    values: &[Value],
    verb: &str,
    cx: &Cx<'_>,
) -> Result<(), SqlError> {
    for (column, value) in table.columns.iter().zip(values) {
        if !column.nullable && value.is_null() {
            return Err(null_error(&column.name, &qualified(table, cx), verb));
        }
    }
    Ok(())
}

/// The same before the engine has made its columns.
pub(crate) fn check_unmade_nulls(
    table: &TableDef,
    values: &[Value],
    cx: &Cx<'_>,
) -> Result<(), SqlError> {
    for (column, value) in table.columns.iter().zip(values) {
        if !column.nullable && value.is_null() && !column.is_made() {
            return Err(null_error(&column.name, &qualified(table, cx), "UPDATE"));
        }
    }
    Ok(())
}

/// 515. `table` is the name in three parts.
pub fn null_error(column: &str, table: &str, verb: &str) -> SqlError {
    SqlError::new(
        515,
        16,
        format!(
            "Cannot insert the value NULL into column '{column}', table '{table}'; column does \
             not allow nulls. {verb} fails."
        ),
    )
    .with_state(2)
}
