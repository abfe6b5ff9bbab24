//! Messages of the server that RAISERROR may name by number: those of the catalog procedures.
//!
//! Source of numbers and texts: SQL Server's sys.messages, as its documentation lists them.

use executor::{SqlError, SqlMessage};
use types::{Len, SqlType, Value};

/// Number, severity, text.
const MESSAGES: &[(i32, i64, &str)] = &[
    (15001, 16, "Object '%ls' does not exist or is not a valid object for this operation."),
    (
        15009,
        16,
        "The object '%s' does not exist in database '%s' or is invalid for this operation.",
    ),
    (
        15010,
        16,
        "The database '%s' does not exist. Supply a valid database name. To see available databases, use sys.databases.",
    ),
    (15016, 16, "The default '%s' does not exist."),
    (15017, 16, "The rule '%s' does not exist."),
    (15097, 16, "The size associated with an extended property cannot be more than 7,500 bytes."),
    (15100, 16, "Usage: sp_bindefault defaultname, objectname [, 'futureonly']"),
    (
        15101,
        16,
        "Cannot bind a default to a computed column, a sparse column, or to a column of the following data types: \
         timestamp, varchar(max), nvarchar(max), varbinary(max), xml, or CLR type.",
    ),
    (15102, 16, "Cannot bind a default to an identity column."),
    (
        15103,
        16,
        "Cannot bind a default to a column created with or altered to have a default value.",
    ),
    (15106, 16, "Usage: sp_bindrule rulename, objectname [, 'futureonly']"),
    (
        15107,
        16,
        "Cannot bind a rule to a computed column, a sparse column, or to a column of the following data types: text, \
         ntext, image, timestamp, varchar(max), nvarchar(max), varbinary(max), xml, or user-defined data type.",
    ),
    (
        15135,
        16,
        "Object is invalid. Extended properties are not permitted on '%s', or the object does not exist.",
    ),
    (15148, 16, "The data type or table column '%s' does not exist or you do not have permission."),
    (15197, 16, "There is no text for object '%s'."),
    (15198, 16, "The name supplied (%s) is not a user, role, or aliased login."),
    (15217, 16, "Property cannot be updated or deleted. Property '%s' does not exist for '%s'."),
    (15223, 11, "Error: The input parameter '%s' is not allowed to be null."),
    (
        15225,
        11,
        "No item by the name of '%s' could be found in the current database '%s', given that @itemtype was input as '%s'.",
    ),
    (15233, 16, "Property cannot be added. Property '%s' already exists for '%s'."),
    (15236, 16, "Column '%s' has no default."),
    (15237, 16, "User data type '%s' has no default."),
    (15238, 16, "Column '%s' has no rule."),
    (15239, 16, "User data type '%s' has no rule."),
    (
        15248,
        11,
        "Either the parameter @objname is ambiguous or the claimed @objtype (%s) is wrong.",
    ),
    (15249, 11, "Error: Explicit @objtype '%s' is unrecognized."),
    (
        15250,
        16,
        "The database name component of the object qualifier must be the name of the current database.",
    ),
    (15252, 16, "The primary or foreign key table name must be given."),
    (15325, 16, "The current database does not contain a %s named '%ls'."),
    (
        15335,
        11,
        "Error: The new name '%s' is already in use as a %s name and would cause a duplicate that is not permitted.",
    ),
    (
        15336,
        16,
        "Object '%s' cannot be renamed because the object participates in enforced dependencies.",
    ),
    (15409, 11, "'%s' is not a role."),
    (15412, 11, "'%s' is not a known fixed role."),
    (15472, 0, "The object '%s' does not have any indexes, or you do not have permissions."),
    (
        15477,
        0,
        "Caution: Changing any part of an object name could break scripts and stored procedures.",
    ),
    (15511, 0, "Default bound to column."),
    (15512, 0, "Default bound to data type."),
    (15513, 0, "The new default has been bound to columns(s) of the specified user data type."),
    (15514, 0, "Rule bound to table column."),
    (15515, 0, "Rule bound to data type."),
    (15516, 0, "The new rule has been bound to column(s) of the specified user data type."),
    (15519, 0, "Default unbound from table column."),
    (15520, 0, "Default unbound from data type."),
    (15521, 0, "Columns of the specified user data type had their defaults unbound."),
    (15522, 0, "Rule unbound from table column."),
    (15523, 0, "Rule unbound from data type."),
    (15524, 0, "Columns of the specified user data type had their rules unbound."),
    (15574, 0, "This object does not have any statistics."),
    (15575, 0, "This object does not have any statistics or indexes."),
    (15600, 15, "An invalid parameter or option was specified for procedure '%s'."),
];

/// A message as an error, its places filled in order.
pub(crate) fn error(number: i32, args: &[&str]) -> SqlError {
    let (severity, text) = find(number).unwrap_or((16, ""));
    SqlError::new(number, severity as u8, filled(text, args))
}

/// A message that only informs.
pub(crate) fn info(number: i32, args: &[&str]) -> SqlMessage {
    let text = find(number).map_or("", |(_, text)| text);
    SqlMessage::info(number, 1, filled(text, args))
}

fn filled(text: &str, args: &[&str]) -> String {
    let args: Vec<(Value, SqlType)> =
        args.iter().map(|arg| (Value::str(arg), SqlType::NVarChar(Len::Max))).collect();
    crate::format::format_message(text, &args)
}

/// Severity and text of a message.
pub(crate) fn find(number: i32) -> Option<(i64, &'static str)> {
    MESSAGES.iter().find(|(n, ..)| *n == number).map(|(_, severity, text)| (*severity, *text))
}
