//! The texts that the catalog keeps of modules, read again: the statement that made each.
//!
//! Promise: None of a text that cannot be read, for the caller to say what that means to it.

use catalog::ProcedureDef;
use syntax::ast::StatementKind;

/// The first statement of a text.
pub fn statement(text: &str, quoted_identifier: bool) -> Option<StatementKind> {
    let batch = syntax::parse_batch(text, &syntax::LexOptions { quoted_identifier }).ok()?;
    batch.statements.into_iter().next().map(|s| s.kind)
}

/// What made a module.
pub fn definition(def: &ProcedureDef) -> Option<StatementKind> {
    statement(&def.text, def.quoted_identifier)
}

/// The first statement of a text that holds a word, given in upper case: of the others nothing is parsed.
pub fn statement_with(text: &str, quoted_identifier: bool, word: &str) -> Option<StatementKind> {
    text.to_ascii_uppercase().contains(word).then(|| statement(text, quoted_identifier)).flatten()
}

/// The options of the module that a text makes, where it holds a word, given in upper case; none of what has no options.
pub fn options_with(text: &str, quoted_identifier: bool, word: &str) -> Vec<String> {
    match statement_with(text, quoted_identifier, word) {
        Some(StatementKind::CreateProcedure(create)) => create.options,
        Some(StatementKind::CreateFunction(create)) => create.options,
        Some(StatementKind::CreateTrigger(create)) => create.options,
        Some(StatementKind::CreateView(create)) => create.options,
        _ => Vec::new(),
    }
}

/// What made a module whose text holds a word, given in upper case.
pub fn definition_with(def: &ProcedureDef, word: &str) -> Option<StatementKind> {
    statement_with(&def.text, def.quoted_identifier, word)
}
