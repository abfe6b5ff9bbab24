//! ALTER SERVER CONFIGURATION.

use super::*;

impl Parser<'_> {
    /// At SERVER.
    pub(super) fn alter_server(&mut self) -> ParseResult<StatementKind> {
        self.at += 2;
        self.expect_kw(Kw::Set)?;
        if !self.eat_word("MILLRACE") {
            if self.kind() != TokenKind::Word {
                return Err(self.unexpected());
            }
            return self.skip_statement("ALTER SERVER CONFIGURATION");
        }
        self.expect_sym(Sym::LeftParen)?;
        let switches = self.comma_list(Self::server_switch)?;
        self.expect_sym(Sym::RightParen)?;
        Ok(StatementKind::AlterServer(AlterServer::Millrace(switches)))
    }

    /// `NAME = value`; a value is a text, or words and numbers in any number.
    fn server_switch(&mut self) -> ParseResult<ServerSwitch> {
        let name = self.ident()?.value;
        self.expect_sym(Sym::Eq)?;
        if self.eat_kw(Kw::Default) {
            return Ok(ServerSwitch { name, value: None });
        }
        if self.at_string() {
            return Ok(ServerSwitch { name, value: Some(self.string()?) });
        }
        let mut words = Vec::new();
        while matches!(self.kind(), TokenKind::Word | TokenKind::Key(_) | TokenKind::Integer) {
            let token = self.advance();
            words.push(self.token_text(token).to_ascii_uppercase());
        }
        if words.is_empty() {
            return Err(self.unexpected());
        }
        Ok(ServerSwitch { name, value: Some(words.join(" ")) })
    }
}
