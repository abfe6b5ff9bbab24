//! BACKUP and RESTORE: devices and options.

use super::*;

impl Parser<'_> {
    pub(super) fn backup(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let log = self.eat_word("LOG");
        if !log {
            if !self.at_kw(Kw::Database) {
                return self.key_copy("BACKUP");
            }
            self.at += 1;
        }
        let database = if self.at_kw(Kw::To) { None } else { Some(self.database_or_variable()?) };
        if self.at_kw(Kw::File)
            || self.at_word("FILEGROUP")
            || self.at_word("READ_WRITE_FILEGROUPS")
        {
            return self.skip_statement("BACKUP DATABASE FILE");
        }
        self.expect_kw(Kw::To)?;
        let devices = self.comma_list(Self::backup_device)?;
        if self.at_word("MIRROR") {
            return self.skip_statement("BACKUP with MIRROR TO");
        }
        let options = self.media_options()?;
        let (to, logical) = devices.into_iter().unzip();
        Ok(StatementKind::Backup(Backup { log, database, to, logical, options }))
    }

    pub(super) fn restore(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let kind = if self.at_kw(Kw::Database) {
            RestoreKind::Database
        } else if self.at_word("LOG") || self.at_kw(Kw::Tran) || self.at_kw(Kw::Transaction) {
            RestoreKind::Log
        } else if self.at_word("VERIFYONLY") {
            RestoreKind::VerifyOnly
        } else if self.at_word("HEADERONLY") {
            RestoreKind::HeaderOnly
        } else if self.at_word("FILELISTONLY") {
            RestoreKind::FileListOnly
        } else if self.at_word("LABELONLY") {
            RestoreKind::LabelOnly
        } else {
            return match self.at_word("REWINDONLY") {
                true => self.skip_statement("RESTORE REWINDONLY"),
                false => self.key_copy("RESTORE"),
            };
        };
        self.at += 1;
        let mut database = None;
        if matches!(kind, RestoreKind::Database | RestoreKind::Log) {
            database = Some(self.database_or_variable()?);
            if self.at_kw(Kw::File)
                || ["FILEGROUP", "PAGE", "READ_WRITE_FILEGROUPS"].iter().any(|w| self.at_word(w))
            {
                return self.skip_statement("RESTORE DATABASE of a part");
            }
        }
        let mut devices = Vec::new();
        if self.eat_kw(Kw::From) {
            if self.at_word("DATABASE_SNAPSHOT") {
                return self.skip_statement("RESTORE DATABASE FROM DATABASE_SNAPSHOT");
            }
            devices = self.comma_list(Self::backup_device)?;
        }
        let options = self.media_options()?;
        let (from, logical) = devices.into_iter().unzip();
        Ok(StatementKind::Restore(Restore { kind, database, from, logical, options }))
    }

    /// `CERTIFICATE c TO FILE ...`, `[SERVICE] MASTER KEY TO FILE ...`, `SYMMETRIC KEY k FROM FILE ...`: a copy of a key.
    fn key_copy(&mut self, verb: &str) -> ParseResult<StatementKind> {
        const KEYS: &[(&str, Option<&str>)] = &[
            ("CERTIFICATE", None),
            ("SERVICE", Some("MASTER")),
            ("MASTER", Some("KEY")),
            ("SYMMETRIC", Some("KEY")),
            ("ASYMMETRIC", Some("KEY")),
        ];
        let found = KEYS.iter().find(|(first, second)| {
            self.at_word(first) && second.is_none_or(|second| self.word_ahead(1, second))
        });
        match found {
            None => Err(self.unexpected()),
            Some(("SERVICE", _)) => self.skip_statement(&format!("{verb} SERVICE MASTER KEY")),
            Some((word, None)) => self.skip_statement(&format!("{verb} {word}")),
            Some((word, Some(_))) => self.skip_statement(&format!("{verb} {word} KEY")),
        }
    }

    /// A database's name as a text, or a variable that holds it.
    fn database_or_variable(&mut self) -> ParseResult<Expr> {
        if self.kind() == TokenKind::Variable {
            return self.value();
        }
        self.ident()?;
        self.at -= 1;
        self.name_as_text()
    }

    /// A device, and whether it is a logical one: a name, or a variable that holds it.
    fn backup_device(&mut self) -> ParseResult<(Expr, bool)> {
        if self.kind() == TokenKind::Variable {
            return Ok((self.value()?, true));
        }
        if self.kind() == TokenKind::Word && !self.at_word("URL") && !self.at_word("TAPE") {
            return Ok((self.name_as_text()?, true));
        }
        if self.eat_word("URL") || self.eat_word("TAPE") {
            self.note_unsupported("BACKUP or RESTORE with URL or TAPE");
        } else {
            self.expect_kw(Kw::Disk)?;
        }
        self.expect_sym(Sym::Eq)?;
        Ok((self.value()?, false))
    }

    fn name_as_text(&mut self) -> ParseResult<Expr> {
        let start = self.at;
        let value = self.take_ident().value;
        let kind = ExprKind::Literal(Literal::String { value, national: true });
        Ok(Expr::new(kind, self.span_from(start)))
    }

    fn media_options(&mut self) -> ParseResult<Vec<MediaOption>> {
        if self.eat_kw(Kw::With) { self.comma_list(Self::media_option) } else { Ok(Vec::new()) }
    }

    fn media_option(&mut self) -> ParseResult<MediaOption> {
        let name = self.any_word()?;
        if name == "MOVE" {
            let value = Some(self.value()?);
            self.expect_kw(Kw::To)?;
            return Ok(MediaOption { name, value, to: Some(self.value()?) });
        }
        let mut value = None;
        if self.eat_sym(Sym::Eq) {
            value = Some(self.value()?);
        } else if self.at_sym(Sym::LeftParen) {
            // ENCRYPTION (...): named where it is refused.
            self.skip_parens()?;
        }
        if self.eat_word("AFTER") {
            // STOPATMARK = 'm' AFTER 'time'.
            self.value()?;
        }
        Ok(MediaOption { name, value, to: None })
    }
}
