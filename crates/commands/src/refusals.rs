//! What several commands refuse in the same words.

use executor::SqlError;
use session_state::Host;

/// 1088.
pub fn no_object(name: &str) -> SqlError {
    SqlError::new(
        1088,
        16,
        format!(
            "Cannot find the object \"{name}\" because it does not exist or you do not have permissions."
        ),
    )
}

/// 3701.
pub fn cannot_drop(kind: &str, name: &str) -> SqlError {
    SqlError::new(
        3701,
        14,
        format!(
            "Cannot drop the {kind} '{name}', because it does not exist or you do not have permission."
        ),
    )
}

/// 262.
pub fn database_denied(permission: &str, database: &str) -> SqlError {
    SqlError::new(262, 14, format!("{permission} permission denied in database '{database}'."))
}

/// 2571.
pub fn dbcc_denied(user: &str, name: &str) -> SqlError {
    let text = format!("User '{user}' does not have permission to run DBCC {name}.");
    SqlError::new(2571, 14, text)
}

/// Why a database cannot be entered: it is not open (927, 926, 945 ...), or it is not there (911).
pub fn no_database(host: &mut dyn Host, name: &str) -> SqlError {
    host.why_closed(name).unwrap_or_else(|| {
        SqlError::new(
            911,
            16,
            format!(
                "Database '{name}' does not exist. Make sure that the name is entered correctly."
            ),
        )
    })
}

/// 2812.
pub fn no_procedure(name: &str) -> SqlError {
    SqlError::new(2812, 16, format!("Could not find stored procedure '{name}'.")).with_state(62)
}
