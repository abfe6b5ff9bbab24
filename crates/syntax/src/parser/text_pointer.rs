//! READTEXT, WRITETEXT and UPDATETEXT, which reach a text, ntext or image through its pointer.
//!
//! Each is read as the query or the UPDATE that it is, so that nothing behind the parser knows them: a pointer is a value
//! that TEXTPTR gives, and the row is the one whose TEXTPTR it is. The functions that look whether there is such a row
//! have the reserved words as their names.

use super::*;

impl<'a> Parser<'a> {
    /// `READTEXT table.column pointer offset size [HOLDLOCK]`.
    pub(super) fn read_text(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let place = self.text_place()?;
        let [pointer, offset, size] = [self.operand()?, self.operand()?, self.operand()?];
        let hint = if self.eat_kw(Kw::Holdlock) { "WITH (HOLDLOCK)" } else { "" };
        let (column, value) = (place.column, place.found("", pointer, hint));
        self.as_statement(&format!(
            "SELECT [READTEXT]({pointer}, ({value}), {offset}, {size}) AS {column}"
        ))
    }

    /// `WRITETEXT [BULK] table.column pointer [WITH LOG] data`.
    pub(super) fn write_text(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        self.eat_kw(Kw::Bulk);
        let place = self.text_place()?;
        let pointer = self.operand()?;
        self.with_log()?;
        let data = self.operand()?;
        let change = place.change(&format!("{} = {data}", place.column), "WRITETEXT", pointer);
        self.as_statement(&change)
    }

    /// `UPDATETEXT [BULK] table.column pointer offset length [WITH LOG] [data | table.column pointer]`.
    pub(super) fn update_text(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        self.eat_kw(Kw::Bulk);
        let place = self.text_place()?;
        let [pointer, offset, length] = [self.operand()?, self.operand()?, self.operand()?];
        self.with_log()?;
        let column = place.column;
        let from_column = is_name(self.kind()) && self.kind_ahead(1) == TokenKind::Symbol(Sym::Dot);
        let data = if from_column {
            let source = self.text_place()?;
            let pointer = self.operand()?;
            format!("({})", source.found("", pointer, ""))
        } else if self.at_operand() {
            self.operand()?.to_owned()
        } else {
            // Nothing of the column's kind.
            format!("SUBSTRING([t].{column}, 1, 0)")
        };
        let set = format!("{column}.WRITE({data}, {offset}, {length})");
        let change = place.change(&set, "UPDATETEXT", pointer);
        self.as_statement(&change)
    }

    fn with_log(&mut self) -> ParseResult<()> {
        if self.eat_kw(Kw::With) {
            self.expect_word("LOG")?;
        }
        Ok(())
    }

    /// `[database.][schema.]table.column`.
    fn text_place(&mut self) -> ParseResult<TextPlace<'a>> {
        let first = self.at;
        let mut last = first;
        loop {
            if is_name(self.kind()) {
                last = self.at;
                self.at += 1;
            } else if self.at == first || !self.at_sym(Sym::Dot) {
                // `db..t.c` alone has nothing between its points.
                return Err(self.unexpected());
            }
            if !self.eat_sym(Sym::Dot) {
                break;
            }
        }
        if last < first + 2 {
            return Err(self.unexpected());
        }
        let table = self.tokens[first].span.to(self.tokens[last - 2].span);
        Ok(TextPlace { table: table.text(self.text), column: self.token_text(self.tokens[last]) })
    }

    fn at_operand(&self) -> bool {
        use TokenKind::*;
        matches!(self.kind(), Variable | Integer | Binary | String | NationalString | Key(Kw::Null))
    }

    /// A variable, a constant or NULL, as it is written.
    fn operand(&mut self) -> ParseResult<&'a str> {
        if !self.at_operand() {
            return Err(self.unexpected());
        }
        let token = self.token();
        self.at += 1;
        Ok(self.token_text(token))
    }

    /// The statement of a text, which stands on the line of this one.
    fn as_statement(&self, text: &str) -> ParseResult<StatementKind> {
        let options = LexOptions { quoted_identifier: self.quoted_identifier };
        let mut inner = Parser::new(text, &options)?;
        let line = self.tokens[self.at - 1].span.line;
        for token in &mut inner.tokens {
            token.span.line = line;
        }
        inner.statement_kind()
    }
}

fn is_name(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Word | TokenKind::Bracketed | TokenKind::DoubleQuoted)
}

/// Where a pointer points to: a table and its column, as they are written.
#[derive(Clone, Copy)]
struct TextPlace<'a> {
    table: &'a str,
    column: &'a str,
}

impl TextPlace<'_> {
    /// The query of the row's value, or of another expression over it.
    fn found(self, what: &str, pointer: &str, hint: &str) -> String {
        let TextPlace { table, column } = self;
        let what = if what.is_empty() { column } else { what };
        format!("SELECT {what} FROM {table} {hint} WHERE TEXTPTR({column}) = {pointer}")
    }

    fn change(self, set: &str, verb: &str, pointer: &str) -> String {
        let TextPlace { table, column } = self;
        let known = self.found(&format!("TEXTPTR({column})"), pointer, "");
        format!(
            "UPDATE [t] SET {set} FROM {table} AS [t] WHERE TEXTPTR([t].{column}) = [{verb}]({pointer}, ({known}))"
        )
    }
}
