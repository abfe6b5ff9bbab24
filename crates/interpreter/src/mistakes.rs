//! Errors of the parser as a client sees them.

use executor::SqlError;

/// The first syntax error as the client sees it.
pub(crate) fn first_mistake(errors: Vec<syntax::SyntaxError>) -> SqlError {
    errors.first().map_or_else(|| SqlError::new(102, 15, "Incorrect syntax."), syntax_error)
}

/// What is wrong with a module that is being made, or keeps it from being made, carries its name.
#[cold]
pub(crate) fn of_module(mut error: SqlError, text: &str, options: &syntax::LexOptions) -> SqlError {
    if error.procedure.is_some() {
        return error;
    }
    let Some(name) = syntax::created_module(text, options) else { return error };
    for message in error.ahead.iter_mut().flat_map(|ahead| ahead.iter_mut()) {
        message.procedure.get_or_insert_with(|| name.clone());
    }
    error.procedure = Some(name);
    error
}

/// A syntax error as the client sees it.
fn syntax_error(error: &syntax::SyntaxError) -> SqlError {
    let mut converted = SqlError::new(error.number, error.severity(), error.message.clone())
        .with_state(error.state());
    converted.line = error.line;
    if error.number != 105 {
        return converted;
    }
    // A text without its end is also where the grammar stops.
    let near: String = error.near.chars().take(128).collect();
    let mut behind = SqlError::new(102, 15, format!("Incorrect syntax near '{near}'."))
        .with_ahead(vec![converted.to_message()]);
    behind.line = error.line;
    behind
}
