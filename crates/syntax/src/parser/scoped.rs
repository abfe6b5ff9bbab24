//! ALTER DATABASE SCOPED CONFIGURATION.

use super::*;

impl Parser<'_> {
    /// `SCOPED CONFIGURATION [FOR SECONDARY] SET name = value | CLEAR PROCEDURE_CACHE [handle]`, at SCOPED.
    pub(super) fn scoped_configuration(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        if self.at_word("CREDENTIAL") {
            return self.skip_statement("ALTER DATABASE SCOPED CREDENTIAL");
        }
        self.expect_word("CONFIGURATION")?;
        let secondary = self.eat_kw(Kw::For);
        if secondary {
            self.expect_word("SECONDARY")?;
        }
        let action = if self.eat_kw(Kw::Set) {
            let name = self.ident()?;
            self.expect_sym(Sym::Eq)?;
            ScopedAction::Set { name, value: self.scoped_value()? }
        } else {
            self.expect_word("CLEAR")?;
            self.expect_word("PROCEDURE_CACHE")?;
            let handle = match self.kind() {
                TokenKind::Binary => {
                    let token = self.advance();
                    Some(self.token_text(token).to_owned())
                }
                _ => None,
            };
            ScopedAction::ClearProcedureCache(handle)
        };
        let action = AlterDatabaseAction::Scoped { secondary, action };
        Ok(StatementKind::AlterDatabase(Box::new(AlterDatabase {
            name: None,
            action,
            termination: None,
        })))
    }

    fn scoped_value(&mut self) -> ParseResult<ScopedValue> {
        if self.at_string() {
            return Ok(ScopedValue::Text(self.string()?));
        }
        if self.at_sym(Sym::Minus) || self.at_sym(Sym::Plus) || self.kind() == TokenKind::Integer {
            let token = self.token();
            let digits = self.signed_digits()?;
            let number = digits.parse().map_err(|_| self.near(102, token))?;
            return Ok(ScopedValue::Number(number));
        }
        Ok(ScopedValue::Word(self.lenient_ident()?.value.to_ascii_uppercase()))
    }
}
