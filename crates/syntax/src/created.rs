//! The text of a module as it is kept: that of its CREATE, whatever statement made it.

use crate::lexer::tokenize;
use crate::token::{Kw, TokenKind};

/// A module's text with CREATE in the place of ALTER, and of CREATE OR ALTER the first word alone: as SQL Server keeps
/// it. A text that begins otherwise stays as it is.
pub fn as_created(text: &str) -> String {
    let Ok(tokens) = tokenize(text) else { return text.to_owned() };
    let word = |i: usize, kw: Kw| {
        tokens.get(i).filter(|token| token.kind == TokenKind::Key(kw)).map(|token| {
            let span = token.span;
            (span.start as usize, span.end as usize)
        })
    };
    if let Some((start, end)) = word(0, Kw::Alter) {
        return format!("{}CREATE{}", &text[..start], &text[end..]);
    }
    match (word(0, Kw::Create), word(1, Kw::Or), word(2, Kw::Alter)) {
        (Some(_), Some((or, or_end)), Some((alter, alter_end))) => {
            [&text[..or], &text[or_end..alter], &text[alter_end..]].concat()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::as_created;

    #[test]
    fn what_was_altered_was_created() {
        assert_eq!(as_created("/* ALTER */ alter  proc p as\n"), "/* ALTER */ CREATE  proc p as\n");
        assert_eq!(as_created("CREATE OR ALTER VIEW v"), "CREATE   VIEW v");
        assert_eq!(as_created("create view [alter]"), "create view [alter]");
    }
}
