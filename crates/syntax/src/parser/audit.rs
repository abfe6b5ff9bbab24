//! CREATE, ALTER and DROP of SERVER AUDIT, SERVER AUDIT SPECIFICATION and DATABASE AUDIT SPECIFICATION.

use super::*;

/// Targets that are no files.
const OTHER_TARGETS: [&str; 4] = ["APPLICATION_LOG", "SECURITY_LOG", "URL", "EXTERNAL_MONITOR"];
/// ON_FAILURE, in the order of their numbers.
const ON_FAILURES: [&str; 3] = ["CONTINUE", "SHUTDOWN", "FAIL_OPERATION"];

impl Parser<'_> {
    /// Whether one of them stands here, behind CREATE, ALTER or DROP.
    pub(super) fn at_audit(&self) -> bool {
        (self.at_word("SERVER") && self.word_ahead(1, "AUDIT"))
            || (self.at_kw(Kw::Database)
                && self.word_ahead(1, "AUDIT")
                && self.word_ahead(2, "SPECIFICATION"))
    }

    /// At its first word, behind `verb`.
    pub(super) fn audit(&mut self, verb: Kw) -> ParseResult<StatementKind> {
        let of_database = self.at_kw(Kw::Database);
        self.at += 2;
        let statement = if self.eat_word("SPECIFICATION") {
            let name = self.ident()?;
            let Some(change) = self.specification_change(verb)? else {
                let verb = if verb == Kw::Create { "CREATE" } else { "ALTER" };
                let scope = if of_database { "DATABASE" } else { "SERVER" };
                let what = format!("{verb} {scope} AUDIT SPECIFICATION of single actions");
                return self.skip_statement(&what);
            };
            AuditStatement::Specification(AuditSpecification { of_database, name, change })
        } else {
            let name = self.ident()?;
            match verb {
                Kw::Drop => AuditStatement::Drop(name),
                Kw::Create => {
                    self.expect_kw(Kw::To)?;
                    let target = self.audit_target()?;
                    let options =
                        self.audit_options(&["QUEUE_DELAY", "ON_FAILURE", "AUDIT_GUID"])?;
                    let predicate = self.audit_where()?;
                    AuditStatement::Create { name, target, options, predicate }
                }
                _ => self.alter_audit(name)?,
            }
        };
        Ok(StatementKind::Rare(Box::new(RareStatement::Audit(statement))))
    }

    fn alter_audit(&mut self, name: Ident) -> ParseResult<AuditStatement> {
        if self.eat_word("MODIFY") {
            self.expect_word("NAME")?;
            self.expect_sym(Sym::Eq)?;
            return Ok(AuditStatement::Rename { name, new: self.ident()? });
        }
        if self.eat_word("REMOVE") {
            self.expect_kw(Kw::Where)?;
            let (target, options, predicate) = (None, Vec::new(), Some(None));
            return Ok(AuditStatement::Alter { name, target, options, predicate });
        }
        let target = match self.eat_kw(Kw::To) {
            true => Some(self.audit_target()?),
            false => None,
        };
        let options = self.audit_options(&["QUEUE_DELAY", "ON_FAILURE", "STATE"])?;
        let predicate = self.audit_where()?.map(Some);
        if target.is_none() && options.is_empty() && predicate.is_none() {
            return Err(self.unexpected());
        }
        Ok(AuditStatement::Alter { name, target, options, predicate })
    }

    fn audit_target(&mut self) -> ParseResult<AuditTarget> {
        if let Some(other) = OTHER_TARGETS.into_iter().find(|word| self.eat_word(word)) {
            if self.at_sym(Sym::LeftParen) {
                self.skip_parens()?;
            }
            return Ok(AuditTarget::Other(other));
        }
        self.expect_kw(Kw::File)?;
        self.expect_sym(Sym::LeftParen)?;
        let options = self.comma_list(Self::audit_file_option)?;
        self.expect_sym(Sym::RightParen)?;
        Ok(AuditTarget::File(options))
    }

    fn audit_file_option(&mut self) -> ParseResult<AuditFileOption> {
        let start = self.at;
        let property = self.any_word()?;
        let unlimited = |p: &mut Self| p.eat_word("UNLIMITED");
        if !matches!(
            property.as_str(),
            "FILEPATH" | "MAXSIZE" | "MAX_ROLLOVER_FILES" | "MAX_FILES" | "RESERVE_DISK_SPACE"
        ) {
            self.at = start;
            return Err(self.unexpected());
        }
        self.expect_sym(Sym::Eq)?;
        Ok(match property.as_str() {
            "FILEPATH" => AuditFileOption::Path(self.string()?),
            "MAXSIZE" if unlimited(self) => AuditFileOption::MaxSize(None),
            "MAXSIZE" => AuditFileOption::MaxSize(Some(self.audit_size()?)),
            "MAX_ROLLOVER_FILES" if unlimited(self) => AuditFileOption::MaxRolloverFiles(None),
            "MAX_ROLLOVER_FILES" => {
                AuditFileOption::MaxRolloverFiles(Some(self.audit_number(i32::MAX as u32)?))
            }
            "MAX_FILES" => AuditFileOption::MaxFiles(self.audit_number(i32::MAX as u32)?),
            _ => AuditFileOption::ReserveDiskSpace(self.on_or_off()?),
        })
    }

    /// `n MB`, `n GB`, `n TB`; megabytes when no unit is given. Beyond 64 bits it is as large as can be.
    fn audit_size(&mut self) -> ParseResult<u64> {
        let number = self.number()?;
        let shift = match () {
            () if self.eat_word("GB") => 30,
            () if self.eat_word("TB") => 40,
            () => {
                self.eat_word("MB");
                20
            }
        };
        Ok(number.saturating_mul(1 << shift))
    }

    /// A number beyond `most` is none here: 102 near it.
    fn audit_number(&mut self, most: u32) -> ParseResult<u32> {
        let token = self.token();
        match self.small_number()? {
            number if number <= most => Ok(number),
            _ => Err(self.near(102, token)),
        }
    }

    fn on_or_off(&mut self) -> ParseResult<bool> {
        if self.eat_kw(Kw::On) {
            return Ok(true);
        }
        self.expect_kw(Kw::Off)?;
        Ok(false)
    }

    /// `[WITH (option, ...)]`, of these.
    fn audit_options(&mut self, known: &[&str]) -> ParseResult<Vec<AuditOption>> {
        if !self.eat_kw(Kw::With) {
            return Ok(Vec::new());
        }
        self.expect_sym(Sym::LeftParen)?;
        let options = self.comma_list(|p| {
            let start = p.at;
            let property = p.any_word()?;
            if !known.contains(&property.as_str()) {
                p.at = start;
                return Err(p.unexpected());
            }
            p.expect_sym(Sym::Eq)?;
            Ok(match property.as_str() {
                "QUEUE_DELAY" => AuditOption::QueueDelay(p.audit_number(i32::MAX as u32)?),
                "AUDIT_GUID" => AuditOption::Guid(p.string()?),
                "STATE" => AuditOption::State(p.on_or_off()?),
                _ => match ON_FAILURES.iter().position(|word| p.eat_word(word)) {
                    Some(at) => AuditOption::OnFailure(at as u8),
                    None => return Err(p.unexpected()),
                },
            })
        })?;
        self.expect_sym(Sym::RightParen)?;
        Ok(options)
    }

    fn audit_where(&mut self) -> ParseResult<Option<AuditPredicate>> {
        match self.eat_kw(Kw::Where) {
            true => Ok(Some(self.audit_or()?)),
            false => Ok(None),
        }
    }

    fn audit_or(&mut self) -> ParseResult<AuditPredicate> {
        let mut all = vec![self.audit_and()?];
        while self.eat_kw(Kw::Or) {
            self.breathe(4)?;
            all.push(self.audit_and()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { AuditPredicate::Or(all) })
    }

    fn audit_and(&mut self) -> ParseResult<AuditPredicate> {
        let mut all = vec![self.audit_factor()?];
        while self.eat_kw(Kw::And) {
            self.breathe(4)?;
            all.push(self.audit_factor()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { AuditPredicate::And(all) })
    }

    fn audit_factor(&mut self) -> ParseResult<AuditPredicate> {
        if self.eat_kw(Kw::Not) {
            let inner = self.nested(1, Self::audit_factor)?;
            return Ok(AuditPredicate::Not(Box::new(inner)));
        }
        if self.eat_sym(Sym::LeftParen) {
            let inner = self.nested(1, Self::audit_or)?;
            self.expect_sym(Sym::RightParen)?;
            return Ok(inner);
        }
        let field = self.ident()?;
        let operator = match self.kind() {
            TokenKind::Symbol(Sym::Eq) => AuditOperator::Equal,
            TokenKind::Symbol(Sym::NotEq) => AuditOperator::NotEqual,
            TokenKind::Symbol(Sym::Gt) => AuditOperator::Greater,
            TokenKind::Symbol(Sym::GtEq) => AuditOperator::GreaterOrEqual,
            TokenKind::Symbol(Sym::Lt) => AuditOperator::Less,
            TokenKind::Symbol(Sym::LtEq) => AuditOperator::LessOrEqual,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        let value = match self.at_string() {
            true => AuditValue::Text(self.string()?),
            false => AuditValue::Number(self.audit_whole()?),
        };
        Ok(AuditPredicate::Compare { field, operator, value })
    }

    /// `n`, `-n`, `(n)`
    fn audit_whole(&mut self) -> ParseResult<i64> {
        if self.eat_sym(Sym::LeftParen) {
            let number = self.nested(1, Self::audit_whole)?;
            self.expect_sym(Sym::RightParen)?;
            return Ok(number);
        }
        let (negative, token) = (self.eat_sym(Sym::Minus), self.token());
        let number = self.number()?;
        match i64::try_from(number) {
            Ok(number) => Ok(if negative { -number } else { number }),
            Err(_) => Err(self.near(102, token)),
        }
    }

    /// None: of single actions.
    fn specification_change(&mut self, verb: Kw) -> ParseResult<Option<SpecificationChange>> {
        if verb == Kw::Drop {
            return Ok(Some(SpecificationChange::Drop));
        }
        let mut audit = None;
        if self.eat_kw(Kw::For) {
            self.expect_word("SERVER")?;
            self.expect_word("AUDIT")?;
            audit = Some(self.ident()?);
        } else if verb == Kw::Create {
            return Err(self.unexpected());
        }
        let mut groups = Vec::new();
        while self.at_kw(Kw::Add) || (verb != Kw::Create && self.at_kw(Kw::Drop)) {
            let add = self.at_kw(Kw::Add);
            self.at += 1;
            self.expect_sym(Sym::LeftParen)?;
            let start = self.at;
            let word = self.any_word()?;
            if !self.at_sym(Sym::RightParen) {
                self.at = start - 1;
                return Ok(None);
            }
            groups.push((add, Ident { value: word, quoted: false, span: self.span_from(start) }));
            self.at += 1;
            if !self.eat_sym(Sym::Comma) {
                break;
            }
        }
        let mut state = None;
        if self.eat_kw(Kw::With) {
            self.expect_sym(Sym::LeftParen)?;
            self.expect_word("STATE")?;
            self.expect_sym(Sym::Eq)?;
            state = Some(self.on_or_off()?);
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(Some(match (verb, audit) {
            (Kw::Create, Some(audit)) => {
                let groups = groups.into_iter().map(|(_, group)| group).collect();
                SpecificationChange::Create { audit, groups, state }
            }
            (_, audit) => {
                if audit.is_none() && groups.is_empty() && state.is_none() {
                    return Err(self.unexpected());
                }
                SpecificationChange::Alter { audit, groups, state }
            }
        }))
    }
}
