//! CREATE and ALTER SECURITY POLICY.

use super::*;

impl Parser<'_> {
    /// SECURITY POLICY stands here.
    pub(super) fn at_policy(&self) -> bool {
        self.at_word("SECURITY") && self.word_ahead(1, "POLICY")
    }

    /// `SECURITY POLICY name ...`, at SECURITY.
    pub(super) fn security_policy(&mut self, alter: bool) -> ParseResult<StatementKind> {
        self.at += 2;
        let name = self.object_name()?;
        let mut policy = SecurityPolicy {
            alter,
            name,
            changes: Vec::new(),
            state: None,
            schemabinding: None,
            not_for_replication: None,
        };
        if alter && self.not_for_replication_change() {
            policy.not_for_replication = Some(self.at_kw(Kw::Add));
            self.at += 4;
            return Ok(StatementKind::SecurityPolicy(Box::new(policy)));
        }
        if self.at_predicate(alter) {
            policy.changes = self.comma_list(|parser| parser.predicate_change(alter))?;
        }
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 1;
            for option in self.option_list()? {
                let on = match option.value {
                    OptionValue::On => true,
                    OptionValue::Off => false,
                    _ => return Err(self.unexpected()),
                };
                match &*option.name {
                    "STATE" => policy.state = Some(on),
                    "SCHEMABINDING" if !alter => policy.schemabinding = Some(on),
                    _ => return Err(self.unexpected()),
                }
            }
        }
        if !alter && self.at_kw(Kw::Not) && self.kind_ahead(1) == TokenKind::Key(Kw::For) {
            self.at += 2;
            self.expect_kw(Kw::Replication)?;
            policy.not_for_replication = Some(true);
        }
        if alter && policy.changes.is_empty() && policy.state.is_none() {
            return Err(self.unexpected());
        }
        Ok(StatementKind::SecurityPolicy(Box::new(policy)))
    }

    /// `ADD NOT FOR REPLICATION`, `DROP NOT FOR REPLICATION`
    fn not_for_replication_change(&self) -> bool {
        (self.at_kw(Kw::Add) || self.at_kw(Kw::Drop))
            && self.kind_ahead(1) == TokenKind::Key(Kw::Not)
            && self.kind_ahead(2) == TokenKind::Key(Kw::For)
            && self.kind_ahead(3) == TokenKind::Key(Kw::Replication)
    }

    /// `ADD FILTER PREDICATE` and its like stand here.
    fn at_predicate(&self, alter: bool) -> bool {
        let verb =
            self.at_kw(Kw::Add) || (alter && (self.at_kw(Kw::Alter) || self.at_kw(Kw::Drop)));
        verb && (self.word_ahead(1, "FILTER") || self.word_ahead(1, "BLOCK"))
    }

    /// `ADD FILTER PREDICATE f(c) ON t`, `DROP BLOCK PREDICATE ON t AFTER UPDATE`
    fn predicate_change(&mut self, alter: bool) -> ParseResult<PredicateChange> {
        if !self.at_predicate(alter) {
            return Err(self.unexpected());
        }
        let verb = match self.advance().kind {
            TokenKind::Key(Kw::Add) => PredicateVerb::Add,
            TokenKind::Key(Kw::Alter) => PredicateVerb::Alter,
            _ => PredicateVerb::Drop,
        };
        let block = self.any_word()? == "BLOCK";
        self.expect_word("PREDICATE")?;
        let mut call = None;
        if verb != PredicateVerb::Drop {
            let start = self.at;
            let function = self.object_name()?;
            self.expect_sym(Sym::LeftParen)?;
            if !self.at_sym(Sym::RightParen) {
                self.comma_list(Self::value)?;
            }
            self.expect_sym(Sym::RightParen)?;
            call = Some((function, self.span_from(start)));
        }
        self.expect_kw(Kw::On)?;
        let table = self.object_name()?;
        let mut operation = None;
        if block && (self.at_word("AFTER") || self.at_word("BEFORE")) {
            let after = self.any_word()? == "AFTER";
            operation = Some(match (after, self.any_word()?.as_str()) {
                (true, "INSERT") => BlockOperation::AfterInsert,
                (true, "UPDATE") => BlockOperation::AfterUpdate,
                (false, "UPDATE") => BlockOperation::BeforeUpdate,
                (false, "DELETE") => BlockOperation::BeforeDelete,
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            });
        }
        Ok(PredicateChange { verb, block, call, table, operation })
    }
}
