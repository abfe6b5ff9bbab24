//! The functions of ODBC's `{fn ...}`, each as what it is in T-SQL.
//!
//! Their names are those of ODBC's appendix of scalar functions; the ones that T-SQL has under the same name are read as
//! any call. Nothing of ODBC is left in the tree.

use super::*;

/// Functions that T-SQL has under another name, with the same arguments.
const RENAMED: &[(&str, &str)] = &[
    ("ATAN2", "ATN2"),
    ("CHARACTER_LENGTH", "LEN"),
    ("CHAR_LENGTH", "LEN"),
    ("CURRENT_TIMESTAMP", "GETDATE"),
    ("DATABASE", "DB_NAME"),
    ("DAYOFMONTH", "DAY"),
    ("IFNULL", "ISNULL"),
    ("INSERT", "STUFF"),
    ("LCASE", "LOWER"),
    ("LENGTH", "LEN"),
    ("LOCATE", "CHARINDEX"),
    ("NOW", "GETDATE"),
    ("OCTET_LENGTH", "DATALENGTH"),
    ("REPEAT", "REPLICATE"),
    ("UCASE", "UPPER"),
    ("USER", "USER_NAME"),
];

/// Functions of a part of a date: T-SQL's function, and its part.
const PARTS: &[(&str, &str, &str)] = &[
    ("DAYNAME", "DATENAME", "weekday"),
    ("DAYOFWEEK", "DATEPART", "weekday"),
    ("DAYOFYEAR", "DATEPART", "dayofyear"),
    ("HOUR", "DATEPART", "hour"),
    ("MINUTE", "DATEPART", "minute"),
    ("MONTHNAME", "DATENAME", "month"),
    ("QUARTER", "DATEPART", "quarter"),
    ("SECOND", "DATEPART", "second"),
    ("WEEK", "DATEPART", "week"),
];

/// Types of `{fn CONVERT(value, type)}`, without their `SQL_`.
const TYPES: &[(&str, &str)] = &[
    ("BIGINT", "bigint"),
    ("BINARY", "binary"),
    ("BIT", "bit"),
    ("CHAR", "char"),
    ("DATE", "datetime"),
    ("DECIMAL", "decimal"),
    ("DOUBLE", "float"),
    ("FLOAT", "float"),
    ("GUID", "uniqueidentifier"),
    ("INTEGER", "int"),
    ("LONGVARBINARY", "image"),
    ("LONGVARCHAR", "text"),
    ("NUMERIC", "numeric"),
    ("REAL", "real"),
    ("SMALLINT", "smallint"),
    ("TIME", "datetime"),
    ("TIMESTAMP", "datetime"),
    ("TINYINT", "tinyint"),
    ("TYPE_DATE", "datetime"),
    ("TYPE_TIME", "datetime"),
    ("TYPE_TIMESTAMP", "datetime"),
    ("VARBINARY", "varbinary"),
    ("VARCHAR", "varchar"),
    ("WCHAR", "nchar"),
    ("WLONGVARCHAR", "ntext"),
    ("WVARCHAR", "nvarchar"),
];

impl Parser<'_> {
    /// The call between `{fn` and `}`.
    pub(super) fn odbc_function(&mut self) -> ParseResult<ExprKind> {
        let start = self.at;
        let is_word = matches!(self.kind(), TokenKind::Word | TokenKind::Key(_));
        let name = match is_word {
            true => self.token_text(self.token()).to_ascii_uppercase(),
            false => String::new(),
        };
        if matches!(&*name, "CURRENT_TIME" | "CURRENT_DATE" | "CURTIME" | "CURDATE") {
            return self.odbc_now(name.ends_with("TIME"));
        }
        if self.kind_ahead(1) != TokenKind::Symbol(Sym::LeftParen) {
            return Ok(self.value()?.kind);
        }
        let renamed = RENAMED.iter().find(|(odbc, _)| *odbc == name);
        let part = PARTS.iter().find(|(odbc, ..)| *odbc == name);
        let is_form = matches!(
            &*name,
            "BIT_LENGTH"
                | "CONVERT"
                | "EXTRACT"
                | "MOD"
                | "TIMESTAMPADD"
                | "TIMESTAMPDIFF"
                | "TRUNCATE"
        );
        if renamed.is_none() && part.is_none() && !is_form {
            return Ok(self.value()?.kind);
        }
        self.at += 2;
        let kind = match (&*name, renamed, part) {
            (_, Some((_, ours)), _) => {
                let args = match self.at_sym(Sym::RightParen) {
                    true => Vec::new(),
                    false => self.values()?,
                };
                self.odbc_call(ours, args, start)
            }
            (_, _, Some((_, function, part))) => {
                let date = self.value()?;
                let part = self.odbc_word(part, start);
                self.odbc_call(function, vec![part, date], start)
            }
            ("CONVERT", ..) => {
                let value = self.value()?;
                self.expect_sym(Sym::Comma)?;
                let at = self.at;
                let word = self.any_word()?;
                let wanted = word.strip_prefix("SQL_").unwrap_or("");
                let Some((_, ty)) = TYPES.iter().find(|(odbc, _)| *odbc == wanted) else {
                    self.at = at;
                    return Err(self.unexpected());
                };
                let (args, span) = (Vec::new(), self.span_from(at));
                self.conversion(
                    value,
                    TypeName { name: (*ty).into(), schema: None, args, xml: None, span },
                )
            }
            ("EXTRACT", ..) => {
                let part = self.any_word()?;
                self.expect_kw(Kw::From)?;
                let date = self.value()?;
                let part = self.odbc_word(&part, start);
                self.odbc_call("DATEPART", vec![part, date], start)
            }
            ("TIMESTAMPADD" | "TIMESTAMPDIFF", ..) => {
                let word = self.any_word()?;
                self.expect_sym(Sym::Comma)?;
                let part = match word.strip_prefix("SQL_TSI_") {
                    Some("FRAC_SECOND") => "nanosecond",
                    Some(part) => part,
                    None => &word,
                };
                let mut args = vec![self.odbc_word(part, start)];
                args.extend(self.values()?);
                let function = if name.ends_with("ADD") { "DATEADD" } else { "DATEDIFF" };
                self.odbc_call(function, args, start)
            }
            // The rest have T-SQL's arguments, and more.
            _ => {
                let mut args = self.values()?;
                match (&*name, args.len()) {
                    ("TRUNCATE", 2) => {
                        args.push(self.odbc_number(1, start));
                        self.odbc_call("ROUND", args, start)
                    }
                    ("BIT_LENGTH", 1) => {
                        let bytes = self.odbc_call("DATALENGTH", args, start);
                        let left = Expr::new(bytes, self.span_from(start));
                        let right = self.odbc_number(8, start);
                        binary(BinaryOp::Mul, left, right)
                    }
                    ("MOD", 2) => {
                        let right = args.pop().unwrap_or_else(|| self.odbc_number(1, start));
                        let left = args.pop().unwrap_or_else(|| self.odbc_number(1, start));
                        binary(BinaryOp::Mod, left, right)
                    }
                    _ => return Err(self.unexpected()),
                }
            }
        };
        self.expect_sym(Sym::RightParen)?;
        Ok(kind)
    }

    /// `CURDATE()`, `CURTIME()`, `CURRENT_DATE()`, `CURRENT_TIME[(digits)]`: texts.
    fn odbc_now(&mut self, time: bool) -> ParseResult<ExprKind> {
        let start = self.at;
        self.at += 1;
        let mut digits = 3u32;
        if self.eat_sym(Sym::LeftParen) {
            if time && self.kind() == TokenKind::Integer {
                let token = self.advance();
                digits = self.token_text(token).parse().unwrap_or(7);
            }
            self.expect_sym(Sym::RightParen)?;
        }
        let span = self.span_from(start);
        let of = |name: &str, args: Vec<TypeArg>| TypeName {
            name: name.into(),
            schema: None,
            args,
            xml: None,
            span,
        };
        let now = self.odbc_call("GETDATE", Vec::new(), start);
        let part = match time {
            true => of("time", vec![TypeArg::Number(digits)]),
            false => of("date", Vec::new()),
        };
        let part = self.conversion(Expr::new(now, span), part);
        let width = if time { 16 } else { 10 };
        let text = of("varchar", vec![TypeArg::Number(width)]);
        Ok(self.conversion(Expr::new(part, span), text))
    }

    fn values(&mut self) -> ParseResult<Vec<Expr>> {
        let mut out = vec![self.value()?];
        while self.eat_sym(Sym::Comma) {
            out.push(self.value()?);
        }
        Ok(out)
    }

    fn odbc_call(&self, name: &str, args: Vec<Expr>, start: usize) -> ExprKind {
        let name = Ident { value: name.to_owned(), quoted: false, span: self.span_from(start) };
        ExprKind::Function(Box::new(FunctionCall::new(ObjectName::bare(name), args)))
    }

    /// A bare word: the part of a date.
    fn odbc_word(&self, word: &str, start: usize) -> Expr {
        let span = self.span_from(start);
        let name = Ident { value: word.to_ascii_lowercase(), quoted: false, span };
        Expr::new(ExprKind::Column(ColumnRef { qualifier: Vec::new(), name }), span)
    }

    fn odbc_number(&self, number: i32, start: usize) -> Expr {
        Expr::new(ExprKind::Literal(Literal::Int(number)), self.span_from(start))
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> ExprKind {
    ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }
}
