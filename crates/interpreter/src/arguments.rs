//! Arguments of built-in procedures: by name where they are given with one, else by place.

use crate::exec::Argument;
use executor::SqlError;
use types::Value;

/// The argument of that name, or number `i` if that has none.
pub(crate) fn given<'a>(args: &'a [Argument], i: usize, name: &str) -> Option<&'a Argument> {
    let named =
        args.iter().find(|a| a.name.as_deref().is_some_and(|n| n.eq_ignore_ascii_case(name)));
    named.or_else(|| args.get(i).filter(|a| a.name.is_none()))
}

/// Its text; none for NULL.
pub(crate) fn text<'a>(args: &'a [Argument], i: usize, name: &str) -> Option<&'a str> {
    given(args, i, name)?.value.as_ref()?.as_str()
}

/// Its text; 201 where there is none.
pub(crate) fn needed<'a>(
    procedure: &str,
    args: &'a [Argument],
    i: usize,
    name: &str,
) -> Result<&'a str, SqlError> {
    text(args, i, name).ok_or_else(|| missing(procedure, name))
}

/// 201.
pub(crate) fn missing(procedure: &str, name: &str) -> SqlError {
    let text = format!(
        "Procedure or function '{procedure}' expects parameter '{name}', which was not supplied."
    );
    SqlError::new(201, 16, text)
}

/// The value of an argument that is given and not NULL.
pub(crate) fn value<'a>(args: &'a [Argument], i: usize, name: &str) -> Option<&'a Value> {
    given(args, i, name)?.value.as_ref().filter(|value| !value.is_null())
}
