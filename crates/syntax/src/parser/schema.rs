//! What follows CREATE SCHEMA without a semicolon and belongs to it: tables, views, permissions.
//!
//! Each element is kept as a text of its own, at its own line. A view outlives the statement, and with it the rule that
//! names without a schema are of the new one: where its query names a table or view that the statement makes, the schema
//! is written in front.

use super::*;

impl Parser<'_> {
    pub(super) fn schema_elements(&mut self, schema: &Ident) -> ParseResult<Vec<String>> {
        let mut ranges = Vec::new();
        let mut made = Vec::new();
        while self.at_schema_element() {
            let start = self.at;
            if self.at_kw(Kw::Create) && self.name_ahead(2) && !self.is_dot(start + 3) {
                made.push(self.token_value(self.tokens[start + 2]));
            }
            self.at += 1;
            while !self.at_end() && !self.at_sym(Sym::Semicolon) && !self.at_schema_element() {
                self.at += 1;
            }
            ranges.push(start..self.at);
        }
        let quoted = bracketed(&schema.value) + ".";
        let mut elements = Vec::with_capacity(ranges.len());
        for range in ranges {
            let is_view = self.tokens[range.start + 1].kind == TokenKind::Key(Kw::View);
            let names = match is_view {
                true => self.tables_named(range.clone(), &made),
                false => Vec::new(),
            };
            let (first, last) = (self.tokens[range.start].span, self.tokens[range.end - 1].span);
            // Its mistakes, and what it does, are told at its own line.
            let mut text = "\n".repeat(first.line.saturating_sub(1) as usize);
            let (mut from, end) = (first.start as usize, last.end as usize);
            for at in names {
                text.push_str(&self.text[from..at]);
                text.push_str(&quoted);
                from = at;
            }
            text.push_str(&self.text[from..end]);
            self.check_schema_element(&text)?;
            // A view is kept as it is written.
            elements.push(if is_view { text.trim_start().to_owned() } else { text });
        }
        Ok(elements)
    }

    /// It is one statement.
    fn check_schema_element(&mut self, text: &str) -> ParseResult<()> {
        let options = LexOptions { quoted_identifier: self.quoted_identifier };
        let batch = super::batch(text, &options)?;
        if let Some(what) = batch.unsupported().first() {
            self.note_unsupported(what);
        }
        let Some(second) = batch.statements.get(1) else { return Ok(()) };
        let near = second.span.text(text).split_whitespace().next().unwrap_or_default();
        let message = format!("Incorrect syntax near '{near}'.");
        Err(SyntaxError::new(102, second.span.line, near, message))
    }

    /// Where among these tokens tables of these names are named without a schema: behind FROM, JOIN and APPLY, and
    /// behind the commas of a FROM.
    fn tables_named(&self, range: std::ops::Range<usize>, made: &[String]) -> Vec<usize> {
        let mut found = Vec::new();
        // For each parenthesis that is open, and outside of them: whether a comma goes on with a FROM.
        let mut in_from = vec![false];
        let mut expects = false;
        for at in range {
            let token = self.tokens[at];
            let expected = std::mem::take(&mut expects);
            match token.kind {
                TokenKind::Symbol(Sym::LeftParen) => {
                    in_from.push(false);
                    expects = expected;
                }
                TokenKind::Symbol(Sym::RightParen) if in_from.len() > 1 => drop(in_from.pop()),
                TokenKind::Symbol(Sym::Comma) => expects = in_from.last() == Some(&true),
                TokenKind::Key(Kw::From) => {
                    expects = true;
                    in_from.last_mut().into_iter().for_each(|f| *f = true);
                }
                TokenKind::Key(Kw::Join) => expects = true,
                TokenKind::Key(
                    Kw::Select | Kw::Where | Kw::Group | Kw::Having | Kw::Order | Kw::Union,
                ) => in_from.last_mut().into_iter().for_each(|f| *f = false),
                TokenKind::Word | TokenKind::Bracketed | TokenKind::DoubleQuoted => {
                    let name = self.token_value(token);
                    if token.kind == TokenKind::Word && name.eq_ignore_ascii_case("APPLY") {
                        expects = true;
                    } else if expected
                        && !self.is_dot(at + 1)
                        && made.iter().any(|m| m.eq_ignore_ascii_case(&name))
                    {
                        found.push(token.span.start as usize);
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn is_dot(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|t| t.kind == TokenKind::Symbol(Sym::Dot))
    }

    /// CREATE TABLE, CREATE VIEW, or GRANT and its like, but for the GRANT of `WITH GRANT OPTION`.
    fn at_schema_element(&self) -> bool {
        let before = self.at.checked_sub(1).map(|before| self.tokens[before].kind);
        match self.kind() {
            TokenKind::Key(Kw::Create) => {
                matches!(self.kind_ahead(1), TokenKind::Key(Kw::Table | Kw::View))
            }
            TokenKind::Key(Kw::Grant | Kw::Deny | Kw::Revoke) => {
                !matches!(before, Some(TokenKind::Key(Kw::With | Kw::Revoke)))
            }
            _ => false,
        }
    }
}
