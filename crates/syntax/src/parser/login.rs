//! Logins, users and application roles: CREATE and ALTER, with their options.

use super::*;

impl Parser<'_> {
    pub(super) fn create_login(&mut self) -> ParseResult<SecurityStatement> {
        self.at += 1;
        let name = self.ident()?;
        if self.at_kw(Kw::From) {
            self.at += 1;
            let from = self.voucher(true)?;
            return Ok(SecurityStatement::CreateLoginFrom { name, from });
        }
        self.expect_kw(Kw::With)?;
        let options = self.login_options()?;
        Ok(SecurityStatement::CreateLogin { name, options })
    }

    /// `WINDOWS` (of logins), `CERTIFICATE name`, `ASYMMETRIC KEY name`, `EXTERNAL PROVIDER`; of a login with the options
    /// that it may have.
    fn voucher(&mut self, login: bool) -> ParseResult<Voucher> {
        let mut options: &[&str] = &["CREDENTIAL"];
        let voucher = if login && self.eat_word("WINDOWS") {
            options = &["DEFAULT_DATABASE", "DEFAULT_LANGUAGE", "CREDENTIAL"];
            Voucher::Windows
        } else if self.eat_word("CERTIFICATE") {
            Voucher::Certificate(self.ident()?)
        } else if self.at_word("ASYMMETRIC") && self.kind_ahead(1) == TokenKind::Key(Kw::Key) {
            self.at += 2;
            Voucher::AsymmetricKey(self.ident()?)
        } else if self.at_kw(Kw::External) && self.word_ahead(1, "PROVIDER") {
            self.at += 2;
            options = &["DEFAULT_DATABASE", "DEFAULT_LANGUAGE", "OBJECT_ID", "SID", "TYPE"];
            Voucher::ExternalProvider
        } else {
            return Err(self.unexpected());
        };
        if login && self.eat_kw(Kw::With) {
            self.comma_list(|parser| {
                let start = parser.at;
                let option = parser.any_word()?;
                if !options.contains(&option.as_str()) {
                    parser.at = start;
                    return Err(parser.unexpected());
                }
                parser.expect_sym(Sym::Eq)?;
                match option.as_str() {
                    "SID" => parser.bytes().map(drop),
                    "OBJECT_ID" => parser.string().map(drop),
                    _ => parser.ident().map(drop),
                }
            })?;
        }
        Ok(voucher)
    }

    pub(super) fn alter_login(&mut self) -> ParseResult<SecurityStatement> {
        self.at += 1;
        let name = self.ident()?;
        let mut options = LoginOptions::default();
        let mut enable = None;
        if self.eat_word("ENABLE") {
            enable = Some(true);
        } else if self.eat_word("DISABLE") {
            enable = Some(false);
        } else if self.eat_kw(Kw::With) {
            options = self.login_options()?;
        } else {
            if !self.eat_kw(Kw::Drop) {
                self.expect_kw(Kw::Add)?;
            }
            self.expect_word("CREDENTIAL")?;
            options.credential = Some(self.ident()?);
        }
        Ok(SecurityStatement::AlterLogin { name, enable, options })
    }

    fn login_options(&mut self) -> ParseResult<LoginOptions> {
        let mut options = LoginOptions::default();
        loop {
            if self.at_word("NO") && self.word_ahead(1, "CREDENTIAL") {
                // There is none.
                self.at += 2;
                if !self.eat_sym(Sym::Comma) {
                    return Ok(options);
                }
            }
            let option = self.any_word()?;
            self.expect_sym(Sym::Eq)?;
            match option.as_str() {
                "PASSWORD" => {
                    if self.kind() == TokenKind::Binary {
                        options.hash = Some(self.bytes()?);
                    } else {
                        options.password = Some(self.secret()?);
                    }
                    self.password_words(&mut options)?;
                }
                "OLD_PASSWORD" => options.old_password = Some(self.secret()?),
                "NAME" => options.new_name = Some(self.ident()?),
                "SID" => options.sid = Some(self.bytes()?),
                "DEFAULT_DATABASE" => options.default_database = Some(self.ident()?),
                "DEFAULT_LANGUAGE" => options.default_language = Some(self.ident()?),
                "CREDENTIAL" => options.credential = Some(self.ident()?),
                "CHECK_POLICY" => options.check_policy = Some(self.on_off()?),
                "CHECK_EXPIRATION" => options.check_expiration = Some(self.on_off()?),
                other => {
                    self.note_unsupported(&format!("{other} of a login"));
                    self.lenient_ident()?;
                }
            }
            if !self.eat_sym(Sym::Comma) && !self.at_word("OLD_PASSWORD") {
                return Ok(options);
            }
        }
    }

    /// What may follow a password: HASHED, MUST_CHANGE, UNLOCK.
    fn password_words(&mut self, options: &mut LoginOptions) -> ParseResult<()> {
        let mut said = false;
        loop {
            if self.eat_word("HASHED") {
                said = true;
            } else if self.eat_word("MUST_CHANGE") {
                options.must_change = true;
            } else if self.eat_word("UNLOCK") {
                options.unlock = true;
            } else {
                break;
            }
        }
        // A text with HASHED, bytes without: no hash that could be one.
        if said != options.hash.is_some() {
            (options.password, options.hash) = (None, Some(Vec::new()));
        }
        Ok(())
    }

    fn secret(&mut self) -> ParseResult<Secret> {
        Ok(Secret(zeroize::Zeroizing::new(self.string()?)))
    }

    /// `0x...`
    fn bytes(&mut self) -> ParseResult<Vec<u8>> {
        if self.kind() != TokenKind::Binary {
            return Err(self.unexpected());
        }
        let token = self.advance();
        let digits = self.token_text(token).get(2..).unwrap_or("").as_bytes();
        let digit = |d: u8| char::from(d).to_digit(16).unwrap_or(0) as u8;
        // An odd number of digits has a zero before it.
        let (first, rest) = digits.split_at(digits.len() % 2);
        let pairs = rest.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1]));
        Ok(first.iter().map(|d| digit(*d)).chain(pairs).collect())
    }

    pub(super) fn create_user(&mut self) -> ParseResult<SecurityStatement> {
        self.at += 1;
        let name = self.ident()?;
        let mut login = UserLogin::Same;
        if self.at_word("WITHOUT") {
            self.at += 1;
            self.expect_word("LOGIN")?;
            login = UserLogin::Without;
        } else if self.eat_kw(Kw::For) || self.eat_kw(Kw::From) {
            login = match self.eat_word("LOGIN") {
                true => UserLogin::Login(self.ident()?),
                false => UserLogin::Key(self.voucher(false)?),
            };
        }
        let mut options = UserOptions::default();
        if self.eat_kw(Kw::With) {
            let external = self.user_options(&mut options, true)?;
            if external {
                login = UserLogin::Key(Voucher::ExternalProvider);
            }
        }
        Ok(SecurityStatement::CreateUser { name, login, options })
    }

    /// `option = value, ...`; true where one of them, TYPE or OBJECT_ID, is of principals of an external provider.
    fn user_options(&mut self, options: &mut UserOptions, create: bool) -> ParseResult<bool> {
        let mut external = false;
        loop {
            let start = self.at;
            let option = self.any_word()?;
            self.expect_sym(Sym::Eq)?;
            match (option.as_str(), create) {
                ("DEFAULT_SCHEMA", _) if self.eat_kw(Kw::Null) => {
                    options.default_schema = Some(Ident::new("dbo"));
                }
                ("DEFAULT_SCHEMA", _) => options.default_schema = Some(self.lenient_ident()?),
                ("DEFAULT_LANGUAGE", _) => {
                    if self.kind() == TokenKind::Integer {
                        self.number()?;
                    } else {
                        self.ident()?;
                    }
                    options.default_language = true;
                }
                ("ALLOW_ENCRYPTED_VALUE_MODIFICATIONS", _) => drop(self.on_off()?),
                ("PASSWORD", _) => {
                    self.secret()?;
                    options.password = true;
                }
                ("OLD_PASSWORD", false) => drop(self.secret()?),
                ("NAME", false) => options.new_name = Some(self.ident()?),
                ("LOGIN", false) => options.login = Some(self.ident()?),
                ("SID", true) => options.sid = Some(self.bytes()?),
                ("TYPE", true) => {
                    self.ident()?;
                    external = true;
                }
                ("OBJECT_ID", true) => {
                    self.string()?;
                    external = true;
                }
                _ => {
                    self.at = start;
                    return Err(self.unexpected());
                }
            }
            if !self.eat_sym(Sym::Comma) && !self.at_word("OLD_PASSWORD") {
                return Ok(external);
            }
        }
    }

    /// `option = value, ...`
    pub(super) fn application_role_options(
        &mut self,
        create: bool,
    ) -> ParseResult<ApplicationRoleOptions> {
        let mut options =
            ApplicationRoleOptions { policy: true, ..ApplicationRoleOptions::default() };
        loop {
            let start = self.at;
            let option = self.any_word()?;
            self.expect_sym(Sym::Eq)?;
            match option.as_str() {
                "PASSWORD" => options.password = Some(self.secret()?),
                "DEFAULT_SCHEMA" => options.default_schema = Some(self.lenient_ident()?),
                "NAME" if !create => options.new_name = Some(self.ident()?),
                _ => {
                    self.at = start;
                    return Err(self.unexpected());
                }
            }
            if !self.eat_sym(Sym::Comma) {
                return Ok(options);
            }
        }
    }

    pub(super) fn alter_user(&mut self) -> ParseResult<SecurityStatement> {
        self.at += 1;
        let name = self.ident()?;
        self.expect_kw(Kw::With)?;
        let mut options = UserOptions::default();
        self.user_options(&mut options, false)?;
        Ok(SecurityStatement::AlterUser { name, options })
    }
}
