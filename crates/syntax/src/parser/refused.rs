//! Parts of statements that are read and refused by name, and ODBC's escapes.
//!
//! A statement with such a part becomes [`StatementKind::Unsupported`]; what stands in its tree for the part is of no
//! consequence. Each function here reads the whole form, so that what follows keeps its meaning and wrong syntax stays
//! an error.

use super::*;

impl Parser<'_> {
    // ---- Expressions

    /// `.property` after a value: types of the CLR.
    pub(super) fn properties(&mut self) -> ParseResult<()> {
        while self.at_sym(Sym::Dot) && self.name_ahead(1) {
            self.note_unsupported("properties of CLR types");
            self.at += 2;
            if self.at_sym(Sym::LeftParen) {
                self.skip_parens()?;
            }
        }
        Ok(())
    }

    /// MATCH (pattern) of graph tables, as a condition.
    #[cold]
    pub(super) fn graph_predicate(&mut self) -> ParseResult<ExprKind> {
        self.note_unsupported("MATCH of graph tables");
        self.at += 1;
        self.skip_parens()?;
        Ok(self.no_condition())
    }

    /// A condition in the place of one that is not kept.
    fn no_condition(&self) -> ExprKind {
        let kind = ExprKind::Literal(Literal::Null);
        let expr = Box::new(Expr::new(kind, self.token().span));
        ExprKind::IsNull { negated: false, expr }
    }

    /// `{` begins here.
    pub(super) fn at_escape(&self) -> bool {
        self.kind() == TokenKind::Unknown && self.token_text(self.token()) == "{"
    }

    fn close_escape(&mut self) -> ParseResult<()> {
        if self.kind() != TokenKind::Unknown || self.token_text(self.token()) != "}" {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(())
    }

    /// ODBC's `{d '...'}`, `{t '...'}`, `{ts '...'}`, `{guid '...'}`, `{encrypt '...'}` and `{fn call}` (ODBC Programmer's Reference,
    /// "Escape sequences in ODBC"). The first three are datetime, as in SQL Server.
    #[cold]
    pub(super) fn escape(&mut self) -> ParseResult<ExprKind> {
        let start = self.at;
        self.at += 1;
        let word = self.any_word()?;
        let kind = match word.as_str() {
            "D" | "T" | "TS" | "GUID" => {
                let inner = self.at;
                let value = self.string()?;
                let text = ExprKind::Literal(Literal::String { value, national: false });
                let expr = Expr::new(text, self.span_from(inner));
                let name = if word == "GUID" { "uniqueidentifier" } else { "datetime" };
                let (args, span) = (Vec::new(), self.span_from(start));
                let ty = TypeName { name: name.into(), schema: None, args, xml: None, span };
                self.conversion(expr, ty)
            }
            "FN" => self.nested(1, Self::odbc_function)?,
            // What a driver would have made of it: the password of sp_setapprole.
            "ENCRYPT" => {
                let value = self.string()?;
                ExprKind::Literal(Literal::String { value, national: true })
            }
            _ => return Err(self.unexpected()),
        };
        self.close_escape()?;
        Ok(kind)
    }

    /// `{escape '%'}`, after LIKE's pattern.
    #[cold]
    pub(super) fn like_escape(&mut self) -> ParseResult<Expr> {
        self.at += 1;
        self.expect_kw(Kw::Escape)?;
        let value = self.nested(1, Self::value)?;
        self.close_escape()?;
        Ok(value)
    }

    /// `{oj table}`, within FROM.
    pub(super) fn outer_join_escape(&mut self) -> ParseResult<TableRef> {
        self.at += 1;
        self.expect_word("OJ")?;
        let table = self.nested(2, Self::table_source)?;
        self.close_escape()?;
        Ok(table)
    }

    // ---- Statements

    /// A statement that begins with words that are not reserved, and is not carried out.
    pub(super) fn refused_words(&self) -> Option<&'static str> {
        if self.kind() != TokenKind::Word {
            return None;
        }
        const WORDS: &[(&str, &str, &str)] = &[
            ("GET", "CONVERSATION", "GET CONVERSATION GROUP"),
            ("MOVE", "CONVERSATION", "MOVE CONVERSATION"),
            ("SEND", "ON", "SEND ON CONVERSATION"),
        ];
        let found = WORDS
            .iter()
            .find(|(first, second, _)| self.at_word(first) && self.word_ahead(1, second));
        if let Some((_, _, what)) = found {
            return Some(what);
        }
        let receive = self.at_word("RECEIVE")
            && (matches!(
                self.kind_ahead(1),
                TokenKind::Symbol(Sym::Star) | TokenKind::Key(Kw::Top)
            ) || self.tokens[self.at + 1..]
                .iter()
                .take_while(|token| token.kind != TokenKind::Symbol(Sym::Semicolon))
                .any(|token| token.kind == TokenKind::Key(Kw::From)));
        receive.then_some("RECEIVE")
    }

    // ---- FROM

    /// OPENROWSET, OPENQUERY, OPENXML, OPENDATASOURCE, PREDICT, and what they return columns WITH.
    #[cold]
    pub(super) fn foreign_rows(&mut self) -> ParseResult<TableRef> {
        let name = self.take_ident();
        if self.kind_ahead(1) == TokenKind::Key(Kw::Bulk)
            && let Some(rows) = self.bulk_rowset(&name)?
        {
            return Ok(rows);
        }
        self.note_unsupported(&name.value.to_ascii_uppercase());
        self.skip_parens()?;
        // OPENDATASOURCE (...).db.schema.table
        while self.eat_sym(Sym::Dot) {
            if self.at_name() {
                self.at += 1;
            }
        }
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 1;
            self.skip_parens()?;
        }
        let alias = self.alias()?;
        if alias.is_some() && self.at_sym(Sym::LeftParen) {
            self.skip_parens()?;
        }
        Ok(TableRef::Named { name: ObjectName::bare(name), alias, hints: Vec::new(), time: None })
    }

    /// `OPENROWSET(BULK 'file', SINGLE_BLOB | SINGLE_CLOB | SINGLE_NCLOB [, CODEPAGE = 'page']) [AS] alias [(column)]`, as a call
    /// with the file, the word and the page; None where rows are described by a format. 491 without an alias.
    fn bulk_rowset(&mut self, name: &Ident) -> ParseResult<Option<TableRef>> {
        let start = self.at;
        self.at += 2;
        let text = |value: String, span| {
            Expr::new(ExprKind::Literal(Literal::String { value, national: true }), span)
        };
        let from = self.at;
        let path = self.string()?;
        let mut args = vec![text(path, self.span_from(from))];
        let mut page = None;
        while self.eat_sym(Sym::Comma) {
            let at = self.at;
            match self.any_word()?.as_str() {
                word @ ("SINGLE_BLOB" | "SINGLE_CLOB" | "SINGLE_NCLOB") if args.len() == 1 => {
                    args.push(text(word.to_owned(), self.span_from(at)));
                }
                "CODEPAGE" => {
                    self.expect_sym(Sym::Eq)?;
                    page = Some(self.string()?);
                }
                _ => {
                    self.at = start;
                    return Ok(None);
                }
            }
        }
        if args.len() == 1 {
            self.at = start;
            return Ok(None);
        }
        self.expect_sym(Sym::RightParen)?;
        args.push(text(page.unwrap_or_default(), self.span_from(from)));
        let Some(alias) = self.alias()? else {
            return Err(self.mistake(
                491,
                "A correlation name must be specified for the bulk rowset in the from clause.",
            ));
        };
        let columns = self.alias_columns(true)?;
        let name = ObjectName::bare(name.clone());
        let (schema, alias) = (Vec::new(), Some(alias));
        Ok(Some(TableRef::Function { name, args, schema, alias, columns }))
    }

    /// A word that names rows only when a parenthesis follows.
    pub(super) fn at_foreign_rows(&self) -> bool {
        let called = self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen);
        match self.kind() {
            TokenKind::Key(Kw::OpenRowset | Kw::OpenQuery | Kw::OpenXml | Kw::OpenDatasource) => {
                true
            }
            TokenKind::Word => {
                const WORDS: &[&str] = &[
                    "PREDICT",
                    "SEMANTICKEYPHRASETABLE",
                    "SEMANTICSIMILARITYTABLE",
                    "SEMANTICSIMILARITYDETAILSTABLE",
                ];
                called && WORDS.iter().any(|word| self.at_word(word))
            }
            _ => false,
        }
    }

    /// `FOR PATH` after a graph table's name.
    pub(super) fn graph_path(&mut self) {
        if self.at_kw(Kw::For)
            && self.word_ahead(1, "PATH")
            && self.kind_ahead(2) != TokenKind::Symbol(Sym::LeftParen)
        {
            self.note_unsupported("FOR PATH of a graph table");
            self.at += 2;
        }
    }

    // ---- UPDATE

    /// `c.m (`, `t.c.modify (`
    pub(super) fn at_column_method(&self) -> bool {
        let mut ahead = 0;
        while self.name_ahead(ahead) && self.kind_ahead(ahead + 1) == TokenKind::Symbol(Sym::Dot) {
            ahead += 2;
        }
        ahead > 0
            && self.name_ahead(ahead)
            && self.kind_ahead(ahead + 1) == TokenKind::Symbol(Sym::LeftParen)
    }

    /// `c.modify('dml')` of xml, or a mutator of a type of the CLR, among what
    /// UPDATE sets.
    #[cold]
    pub(super) fn column_method(&mut self) -> ParseResult<SetItem> {
        let start = self.at;
        let mut parts = vec![self.take_ident()];
        while !self.at_sym(Sym::LeftParen) {
            if let Some(value) = self.modified_column(&parts)? {
                let column = match &value.kind {
                    ExprKind::Function(call) => call.args.first(),
                    _ => None,
                };
                let column = column.and_then(|e| match &e.kind {
                    ExprKind::Column(column) => Some(column.clone()),
                    _ => None,
                });
                let span = self.span_from(start);
                let value = InsertValue::Expr(value);
                return Ok(SetItem { variable: None, column, op: AssignOp::Set, value, span });
            }
            if !self.at_sym(Sym::Dot) {
                parts.push(self.take_ident());
            } else {
                self.at += 1;
            }
        }
        let name = parts.swap_remove(0);
        self.note_unsupported("methods of CLR types");
        self.skip_parens()?;
        let span = self.span_from(start);
        let column = Some(ColumnRef { qualifier: Vec::new(), name });
        Ok(SetItem {
            variable: None,
            column,
            op: AssignOp::Set,
            value: InsertValue::Default(span),
            span,
        })
    }

    // ---- Columns and tables

    /// What a column may have that is not kept here; true when something was read.
    pub(super) fn refused_column_attribute(&mut self) -> ParseResult<bool> {
        if self.kind() != TokenKind::Word {
            return Ok(false);
        }
        if self.at_word("GENERATED") && self.word_ahead(1, "ALWAYS") {
            // Of ledger tables, and two more that no document knows.
            let words = ["TRANSACTION_ID", "SEQUENCE_NUMBER", "SUSER_SID", "SUSER_SNAME"];
            self.at += 2;
            self.expect_kw(Kw::As)?;
            let Some(what) = words.iter().find(|word| self.at_word(word)) else {
                return Err(self.unexpected());
            };
            let ledger = words[..2].contains(what);
            let kind = if ledger { "LEDGER columns" } else { "columns GENERATED ALWAYS" };
            self.note_unsupported(&format!("{kind} AS {what}"));
            self.at += 1;
            if !self.eat_word("START") {
                self.expect_word("END")?;
            }
        } else if self.at_word("FILESTREAM") {
            self.note_unsupported("FILESTREAM");
            self.at += 1;
        } else if self.at_word("ENCRYPTED") {
            self.note_unsupported("ENCRYPTED columns");
            self.at += 1;
            self.expect_kw(Kw::With)?;
            self.skip_parens()?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// What may follow a table's elements and is not kept: FILESTREAM_ON, AS NODE, AS EDGE, AS FILETABLE.
    pub(super) fn refused_table_tail(&mut self) -> ParseResult<bool> {
        if self.at_word("FILESTREAM_ON") {
            self.note_unsupported("FILESTREAM_ON");
            self.at += 1;
            self.lenient_ident()?;
            if self.at_sym(Sym::LeftParen) {
                self.skip_parens()?;
            }
            return Ok(true);
        }
        let graph = ["NODE", "EDGE", "FILETABLE"].iter().any(|word| self.word_ahead(1, word));
        if self.at_kw(Kw::As) && graph {
            self.note_unsupported("graph tables and FILETABLE");
            self.at += 2;
            return Ok(true);
        }
        Ok(false)
    }
}
