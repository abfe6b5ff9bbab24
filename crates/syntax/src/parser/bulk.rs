//! BULK INSERT and INSERT BULK.

use super::*;

/// What the value of an option of BULK INSERT is.
#[derive(Clone, Copy)]
enum Takes {
    Nothing,
    Number,
    Text,
    Either,
    /// One of these.
    Word(&'static [&'static str]),
}

const OPTIONS: &[(&str, Takes)] = &[
    ("BATCHSIZE", Takes::Number),
    ("CHECK_CONSTRAINTS", Takes::Nothing),
    ("CODEPAGE", Takes::Either),
    ("DATAFILETYPE", Takes::Word(DATA_FILE_TYPES)),
    ("DATA_SOURCE", Takes::Text),
    ("ERRORFILE", Takes::Text),
    ("ERRORFILE_DATA_SOURCE", Takes::Text),
    ("ESCAPECHAR", Takes::Text),
    ("FIELDQUOTE", Takes::Text),
    ("FIELDTERMINATOR", Takes::Text),
    ("FIRE_TRIGGERS", Takes::Nothing),
    ("FIRSTROW", Takes::Number),
    ("FORMAT", Takes::Word(&["CSV"])),
    ("FORMATFILE", Takes::Text),
    ("FORMATFILE_DATA_SOURCE", Takes::Text),
    ("INCLUDE_HIDDEN", Takes::Nothing),
    ("KEEPIDENTITY", Takes::Nothing),
    ("KEEPNULLS", Takes::Nothing),
    ("KILOBYTES_PER_BATCH", Takes::Number),
    ("LASTROW", Takes::Number),
    ("MAXERRORS", Takes::Number),
    ("NO_TRIGGERS", Takes::Nothing),
    ("ROWS_PER_BATCH", Takes::Number),
    ("ROWTERMINATOR", Takes::Text),
    ("TABLOCK", Takes::Nothing),
];

/// The last two are of DTS and of no use to anybody else.
const DATA_FILE_TYPES: &[&str] =
    &["CHAR", "NATIVE", "WIDECHAR", "WIDENATIVE", "WIDECHAR_ANSI", "DTS_BUFFERS"];

impl Parser<'_> {
    pub(super) fn bulk_insert(&mut self) -> ParseResult<StatementKind> {
        self.expect_kw(Kw::Bulk)?;
        self.expect_kw(Kw::Insert)?;
        let table = self.object_name()?;
        self.expect_kw(Kw::From)?;
        let from = match self.kind() {
            TokenKind::Integer => self.number()?.to_string(),
            _ if self.at_string() => self.string()?,
            _ => self.ident()?.value,
        };
        let mut bulk = BulkInsert { table, from, options: Vec::new(), order: Vec::new() };
        if self.eat_kw(Kw::With) {
            self.expect_sym(Sym::LeftParen)?;
            self.comma_list(|parser| parser.bulk_option(&mut bulk))?;
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(StatementKind::BulkInsert(Box::new(bulk)))
    }

    /// 4130 for one that was there before.
    fn bulk_option(&mut self, bulk: &mut BulkInsert) -> ParseResult<()> {
        let start = self.at;
        let name = self.any_word()?;
        let twice = if name == "ORDER" { !bulk.order.is_empty() } else { bulk.has(&name) };
        if twice {
            let text = "A duplicate hint was specified for the BULK rowset.";
            return Err(self.mistake(4130, text));
        }
        if name == "ORDER" {
            bulk.order = self.index_columns()?;
            return Ok(());
        }
        let Some((_, takes)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            self.at = start;
            return Err(self.unexpected());
        };
        let text = match takes {
            Takes::Nothing => None,
            _ => {
                self.expect_sym(Sym::Eq)?;
                Some(self.bulk_value(*takes)?)
            }
        };
        bulk.options.push(BulkOption { name, text });
        Ok(())
    }

    fn bulk_value(&mut self, takes: Takes) -> ParseResult<String> {
        match takes {
            Takes::Number | Takes::Either if self.kind() == TokenKind::Integer => {
                Ok(self.number()?.to_string())
            }
            // ROWS_PER_BATCH = 100.0
            Takes::Number if self.kind() == TokenKind::Decimal => {
                let token = self.advance();
                let digits = self.token_text(token);
                Ok(digits.split('.').next().filter(|d| !d.is_empty()).unwrap_or("0").to_owned())
            }
            Takes::Number => Err(self.unexpected()),
            Takes::Word(words) => {
                let start = self.at;
                let word = self.string()?.to_ascii_uppercase();
                if words.contains(&word.as_str()) {
                    return Ok(word);
                }
                self.at = start;
                Err(self.unexpected())
            }
            Takes::Text | Takes::Either | Takes::Nothing => self.string(),
        }
    }

    /// INSERT BULK: what a client sends before its rows.
    #[cold]
    pub(super) fn insert_bulk(&mut self) -> ParseResult<InsertBulk> {
        self.expect_kw(Kw::Insert)?;
        self.expect_kw(Kw::Bulk)?;
        let table = self.object_name()?;
        let mut columns = Vec::new();
        if self.eat_sym(Sym::LeftParen) {
            columns = self.comma_list(|parser| {
                let name = parser.ident()?;
                // A column without a type is one of timestamp.
                let ends = matches!(parser.kind(), TokenKind::Symbol(Sym::Comma | Sym::RightParen));
                if name.is("timestamp") && ends {
                    let span = name.span;
                    let (args, schema) = (Vec::new(), None);
                    let ty = TypeName { name: "timestamp".into(), schema, args, xml: None, span };
                    return Ok((name, ty));
                }
                let ty = parser.type_name()?;
                if parser.eat_kw(Kw::Collate) {
                    parser.any_word()?;
                }
                if parser.eat_kw(Kw::Not) {
                    parser.expect_kw(Kw::Null)?;
                } else {
                    parser.eat_kw(Kw::Null);
                }
                Ok((name, ty))
            })?;
            self.expect_sym(Sym::RightParen)?;
        }
        let (mut options, mut order) = (Vec::new(), Vec::new());
        if self.eat_kw(Kw::With) {
            self.expect_sym(Sym::LeftParen)?;
            options = self.comma_list(|parser| parser.insert_bulk_option(&mut order))?;
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(InsertBulk { table, columns, options, order })
    }

    /// Numbers say how many rows may come: nothing here depends on them.
    fn insert_bulk_option(&mut self, order: &mut Vec<IndexColumn>) -> ParseResult<String> {
        const OPTIONS: &[(&str, Takes)] = &[
            ("ALLOW_ENCRYPTED_VALUE_MODIFICATIONS", Takes::Nothing),
            ("CHECK_CONSTRAINTS", Takes::Nothing),
            ("FIRE_TRIGGERS", Takes::Nothing),
            ("KEEPNULLS", Takes::Nothing),
            ("KEEP_NULLS", Takes::Nothing),
            ("KILOBYTES_PER_BATCH", Takes::Number),
            ("NO_TRIGGERS", Takes::Nothing),
            ("ROWS_PER_BATCH", Takes::Number),
            ("TABLOCK", Takes::Nothing),
        ];
        let start = self.at;
        let name = self.any_word()?;
        if name == "ORDER" {
            *order = self.index_columns()?;
        } else if let Some((_, takes)) = OPTIONS.iter().find(|(known, _)| *known == name) {
            if matches!(takes, Takes::Number) {
                self.expect_sym(Sym::Eq)?;
                self.bulk_value(*takes)?;
            }
        } else {
            self.at = start;
            return Err(self.unexpected());
        }
        Ok(if name == "KEEPNULLS" { "KEEP_NULLS".into() } else { name })
    }
}
