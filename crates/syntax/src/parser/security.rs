//! Principals and permissions: roles, schemas, GRANT, DENY, REVOKE, EXECUTE AS, REVERT.

use super::*;
fn security(statement: SecurityStatement) -> StatementKind {
    StatementKind::Security(Box::new(statement))
}

impl Parser<'_> {
    /// CREATE, ALTER or DROP (`verb`, taken) of a principal or a schema; None when it is of something else.
    pub(super) fn principal(&mut self, verb: Kw) -> ParseResult<Option<StatementKind>> {
        let kind = match (verb, self.kind()) {
            (Kw::Create, TokenKind::Key(Kw::User)) => self.create_user()?,
            (Kw::Alter, TokenKind::Key(Kw::User)) => self.alter_user()?,
            (Kw::Create, TokenKind::Key(Kw::Schema)) => self.create_schema()?,
            (Kw::Alter, TokenKind::Key(Kw::Schema)) => self.alter_schema()?,
            (Kw::Alter, TokenKind::Key(Kw::Authorization)) => self.alter_authorization()?,
            (Kw::Drop, TokenKind::Key(Kw::User)) => {
                let (name, if_exists) = self.dropped(1)?;
                SecurityStatement::DropUser { name, if_exists }
            }
            (Kw::Drop, TokenKind::Key(Kw::Schema)) => {
                let (name, if_exists) = self.dropped(1)?;
                SecurityStatement::DropSchema { name, if_exists }
            }
            _ if self.at_word("LOGIN") => match verb {
                Kw::Create => self.create_login()?,
                Kw::Alter => self.alter_login()?,
                _ => {
                    let (name, if_exists) = self.dropped(1)?;
                    SecurityStatement::DropLogin { name, if_exists }
                }
            },
            _ if self.at_word("ROLE") => self.role(verb, false)?,
            _ if self.at_word("APPLICATION") && self.word_ahead(1, "ROLE") => {
                self.application_role(verb)?
            }
            _ if self.at_word("SERVER") && self.word_ahead(1, "ROLE") => self.role(verb, true)?,
            _ => return Ok(None),
        };
        Ok(Some(security(kind)))
    }

    /// Name of a principal: PUBLIC is a reserved word, and means the role.
    fn principal_name(&mut self) -> ParseResult<Ident> {
        if self.at_kw(Kw::Public) { Ok(self.take_ident()) } else { self.ident() }
    }

    /// `[IF EXISTS] name` after so many words.
    fn dropped(&mut self, words: usize) -> ParseResult<(Ident, bool)> {
        self.at += words;
        let if_exists = self.if_exists()?;
        Ok((self.principal_name()?, if_exists))
    }

    fn role(&mut self, verb: Kw, server: bool) -> ParseResult<SecurityStatement> {
        let words = 1 + usize::from(server);
        if verb == Kw::Drop {
            let (name, if_exists) = self.dropped(words)?;
            return Ok(SecurityStatement::DropRole { server, name, if_exists });
        }
        self.at += words;
        let name = self.principal_name()?;
        if verb == Kw::Create {
            let owner = if self.eat_kw(Kw::Authorization) { Some(self.ident()?) } else { None };
            return Ok(SecurityStatement::CreateRole { server, name, owner });
        }
        let action = if self.eat_kw(Kw::Add) {
            self.expect_word("MEMBER")?;
            AlterRoleAction::Add(self.principal_name()?)
        } else if self.eat_kw(Kw::Drop) {
            self.expect_word("MEMBER")?;
            AlterRoleAction::Drop(self.principal_name()?)
        } else {
            self.expect_kw(Kw::With)?;
            self.expect_word("NAME")?;
            self.expect_sym(Sym::Eq)?;
            AlterRoleAction::Rename(self.ident()?)
        };
        Ok(SecurityStatement::AlterRole { server, name, action })
    }

    fn application_role(&mut self, verb: Kw) -> ParseResult<SecurityStatement> {
        self.at += 2;
        let name = self.ident()?;
        if verb == Kw::Drop {
            return Ok(SecurityStatement::DropApplicationRole { name });
        }
        self.expect_kw(Kw::With)?;
        let create = verb == Kw::Create;
        let options = self.application_role_options(create)?;
        if !create {
            return Ok(SecurityStatement::AlterApplicationRole { name, options });
        }
        if options.password.is_none() {
            return Err(self.unexpected());
        }
        Ok(SecurityStatement::CreateApplicationRole { name, options })
    }

    fn create_schema(&mut self) -> ParseResult<SecurityStatement> {
        if self.at != 1 {
            let text = "'CREATE SCHEMA' must be the first statement in a query batch.";
            return Err(self.mistake(111, text));
        }
        self.at += 1;
        if self.eat_kw(Kw::Authorization) {
            let owner = self.ident()?;
            let (name, elements) = (owner.clone(), self.schema_elements(&owner)?);
            return Ok(SecurityStatement::CreateSchema { name, owner: Some(owner), elements });
        }
        let name = self.ident()?;
        let owner = if self.eat_kw(Kw::Authorization) { Some(self.ident()?) } else { None };
        let elements = self.schema_elements(&name)?;
        Ok(SecurityStatement::CreateSchema { name, owner, elements })
    }

    /// `name TRANSFER [class::]name`
    fn alter_schema(&mut self) -> ParseResult<SecurityStatement> {
        self.at += 1;
        let name = self.ident()?;
        self.expect_word("TRANSFER")?;
        Ok(SecurityStatement::AlterSchema { name, on: self.securable()? })
    }

    fn alter_authorization(&mut self) -> ParseResult<SecurityStatement> {
        self.at += 1;
        self.expect_kw(Kw::On)?;
        let on = self.securable()?;
        self.expect_kw(Kw::To)?;
        let to = if self.at_kw(Kw::Schema) && self.word_ahead(1, "OWNER") {
            self.at += 2;
            None
        } else {
            Some(self.ident()?)
        };
        Ok(SecurityStatement::AlterAuthorization { on, to })
    }

    /// `class::name` or a name.
    fn securable(&mut self) -> ParseResult<SecurableName> {
        let is_word = |kind| matches!(kind, TokenKind::Word | TokenKind::Key(_));
        let colons = |parser: &Self, at: usize| {
            let colon = TokenKind::Symbol(Sym::Colon);
            parser.kind_ahead(at) == colon && parser.kind_ahead(at + 1) == colon
        };
        let mut class = None;
        for words in 1..=3 {
            if (0..words).all(|i| is_word(self.kind_ahead(i))) && colons(self, words) {
                let mut said = self.any_word()?;
                for _ in 1..words {
                    said = format!("{said} {}", self.any_word()?);
                }
                self.at += 2;
                class = Some(said);
                break;
            }
        }
        if self.at_kw(Kw::Public) {
            let name = self.take_ident();
            let span = name.span;
            let name = ObjectName { server: None, database: None, schema: None, name, span };
            return Ok(SecurableName { class, name });
        }
        Ok(SecurableName { class, name: self.object_name()? })
    }

    /// GRANT, DENY, REVOKE.
    pub(super) fn grant(&mut self, verb: GrantVerb) -> ParseResult<StatementKind> {
        self.at += 1;
        let mut grant = Grant {
            verb,
            permissions: Vec::new(),
            on: None,
            columns: Vec::new(),
            principals: Vec::new(),
            grant_option: false,
            cascade: false,
            grantor: None,
        };
        if verb == GrantVerb::Revoke
            && self.at_kw(Kw::Grant)
            && self.kind_ahead(1) == TokenKind::Key(Kw::Option)
        {
            self.at += 2;
            self.expect_kw(Kw::For)?;
            grant.grant_option = true;
        }
        for (permission, columns) in self.comma_list(Self::permission)? {
            grant.permissions.push(permission);
            grant.columns.push(columns);
        }
        if self.eat_kw(Kw::On) {
            grant.on = Some(self.securable()?);
            if self.at_sym(Sym::LeftParen) {
                let columns = self.ident_list()?;
                grant.columns.iter_mut().for_each(|of_one| of_one.extend(columns.iter().cloned()));
            }
        }
        if !(verb == GrantVerb::Revoke && self.eat_kw(Kw::From)) {
            self.expect_kw(Kw::To)?;
        }
        grant.principals = self.comma_list(Self::principal_name)?;
        if verb == GrantVerb::Grant && self.at_kw(Kw::With) {
            self.at += 1;
            self.expect_kw(Kw::Grant)?;
            self.expect_kw(Kw::Option)?;
            grant.grant_option = true;
        }
        grant.cascade = verb != GrantVerb::Grant && self.eat_kw(Kw::Cascade);
        if self.eat_kw(Kw::As) {
            grant.grantor = Some(self.ident()?);
        }
        Ok(security(SecurityStatement::Grant(Box::new(grant))))
    }

    /// One permission: words up to ON, TO, FROM or a comma; and the columns behind it.
    fn permission(&mut self) -> ParseResult<(String, Vec<Ident>)> {
        if matches!(self.kind(), TokenKind::Key(Kw::On | Kw::To | Kw::From)) {
            return Err(self.unexpected());
        }
        let mut words = self.any_word()?;
        while !matches!(
            self.kind(),
            TokenKind::Key(Kw::On | Kw::To | Kw::From) | TokenKind::Symbol(_) | TokenKind::End
        ) {
            words = format!("{words} {}", self.any_word()?);
        }
        let columns = if self.at_sym(Sym::LeftParen) { self.ident_list()? } else { Vec::new() };
        let permission = match words.as_str() {
            "ALL PRIVILEGES" => "ALL".to_owned(),
            "EXEC" => "EXECUTE".to_owned(),
            "CREATE PROC" => "CREATE PROCEDURE".to_owned(),
            _ => words,
        };
        Ok((permission, columns))
    }

    /// EXECUTE AS USER = 'name' | LOGIN = 'name' | CALLER, after AS.
    pub(super) fn execute_as(&mut self) -> ParseResult<StatementKind> {
        let login = self.at_word("LOGIN");
        let name = if self.eat_word("CALLER") {
            None
        } else if login || self.at_kw(Kw::User) {
            self.at += 1;
            self.expect_sym(Sym::Eq)?;
            Some(self.value()?)
        } else {
            return Err(self.unexpected());
        };
        let mut end = ExecuteAsEnd::Revert;
        if name.is_some() && self.at_kw(Kw::With) && self.word_ahead(1, "NO") {
            self.at += 2;
            self.expect_kw(Kw::Revert)?;
            end = ExecuteAsEnd::NoRevert;
        } else if name.is_some() && self.at_kw(Kw::With) && self.word_ahead(1, "COOKIE") {
            self.at += 2;
            self.expect_kw(Kw::Into)?;
            end = ExecuteAsEnd::Cookie(self.variable()?);
        }
        Ok(StatementKind::ExecuteAs { login, name, end })
    }

    /// `REVERT [WITH COOKIE = @v]`
    pub(super) fn revert(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let mut cookie = None;
        if self.at_kw(Kw::With) && self.word_ahead(1, "COOKIE") {
            self.at += 2;
            self.expect_sym(Sym::Eq)?;
            cookie = Some(self.set_value()?);
        }
        Ok(StatementKind::Revert { cookie })
    }
}
