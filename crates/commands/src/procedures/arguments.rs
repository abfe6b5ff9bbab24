//! Arguments of built-in procedures: by name where they are given with one, else by place.

use executor::SqlError;
use session_table::Table;
use std::sync::Arc;
use types::{SqlType, Value};

/// An argument, evaluated.
pub struct Argument {
    pub name: Option<String>,
    /// None: DEFAULT.
    pub value: Option<Value>,
    pub ty: SqlType,
    /// The caller's variable that receives the parameter.
    pub output: Option<u32>,
    /// Rows for a table-valued parameter; `value` is then None.
    pub table: Option<Arc<Table>>,
    /// The caller's cursor variable, by its number, that gets the cursor; likewise.
    pub cursor: Option<u16>,
}

/// The argument of that name, or number `i` if that has none.
pub fn given<'a>(args: &'a [Argument], i: usize, name: &str) -> Option<&'a Argument> {
    let named =
        args.iter().find(|a| a.name.as_deref().is_some_and(|n| n.eq_ignore_ascii_case(name)));
    named.or_else(|| args.get(i).filter(|a| a.name.is_none()))
}

/// Its text; none for NULL.
pub fn text<'a>(args: &'a [Argument], i: usize, name: &str) -> Option<&'a str> {
    given(args, i, name)?.value.as_ref()?.as_str()
}

/// Its text; 201 where there is none.
pub fn needed<'a>(
    procedure: &str,
    args: &'a [Argument],
    i: usize,
    name: &str,
) -> Result<&'a str, SqlError> {
    text(args, i, name).ok_or_else(|| missing(procedure, name))
}

/// 201.
pub fn missing(procedure: &str, name: &str) -> SqlError {
    let text = format!(
        "Procedure or function '{procedure}' expects parameter '{name}', which was not supplied."
    );
    SqlError::new(201, 16, text)
}

/// The value of an argument that is given and not NULL.
pub fn value<'a>(args: &'a [Argument], i: usize, name: &str) -> Option<&'a Value> {
    given(args, i, name)?.value.as_ref().filter(|value| !value.is_null())
}
