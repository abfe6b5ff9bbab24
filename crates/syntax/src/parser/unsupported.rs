//! Statements of SQL Server that this engine reads past and does not carry out.
//!
//! They become [`StatementKind::Unsupported`], which fails with 40510 when it runs, so that the rest
//! of a batch keeps its meaning. Where such a statement ends is found by rule of thumb: at a
//! semicolon, or at a word that begins a statement and stands first on its line.

use super::*;

impl Parser<'_> {
    /// CREATE, ALTER or DROP (`verb`) of something that is not kept here.
    pub(super) fn unsupported_object(&mut self, verb: &str) -> ParseResult<StatementKind> {
        const OBJECTS: &[&str] = &[
            "AGGREGATE",
            "APPLICATION",
            "ASSEMBLY",
            "ASYMMETRIC",
            "AVAILABILITY",
            "BROKER",
            "CERTIFICATE",
            "COLUMN",
            "CONTRACT",
            "CREDENTIAL",
            "CRYPTOGRAPHIC",
            "DATABASE",
            "ENDPOINT",
            "EVENT",
            "EXTERNAL",
            "FULLTEXT",
            "INDEX",
            "MASTER",
            "MATERIALIZED",
            "MESSAGE",
            "PRIMARY",
            "QUEUE",
            "REMOTE",
            "RESOURCE",
            "ROUTE",
            "SEARCH",
            "SECURITY",
            "SELECTIVE",
            "SERVER",
            "SERVICE",
            "STATISTICS",
            "SYMMETRIC",
            "TYPE",
            "VIEW",
            "WORKLOAD",
            "XML",
        ];
        let here = self.at;
        let object = self.any_word()?;
        if !OBJECTS.contains(&object.as_str()) {
            self.at = here;
            return Err(self.unexpected());
        }
        let mut what = format!("{verb} {object}");
        if matches!(object.as_str(), "SERVER" | "RESOURCE" | "EXTERNAL" | "PRIMARY")
            && matches!(self.kind(), TokenKind::Word | TokenKind::Key(_))
        {
            what = format!("{what} {}", self.any_word()?);
        }
        self.skip_statement(&what)
    }

    /// A word that begins statements stands here as part of another: `SET (...)`, `DROP EVENT e`, `DROP FILTER ...`.
    fn goes_on_with(&self, kw: Kw) -> bool {
        match kw {
            Kw::Set => self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen),
            Kw::Drop | Kw::Alter | Kw::Create => {
                let parts =
                    ["FILTER", "BLOCK", "TARGET", "VALUE", "PRIVATE", "MEMBER", "ENCRYPTION"];
                let event = self.word_ahead(1, "EVENT")
                    && !self.word_ahead(2, "SESSION")
                    && !self.word_ahead(2, "NOTIFICATION");
                let list = self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen);
                event || list || parts.iter().any(|part| self.word_ahead(1, part))
            }
            _ => false,
        }
    }

    /// Steps over the rest of a statement.
    pub(super) fn skip_statement(&mut self, what: &str) -> ParseResult<StatementKind> {
        let mut line = self.tokens[self.at.saturating_sub(1)].span.line;
        let mut cases = 0usize;
        loop {
            match self.kind() {
                TokenKind::End | TokenKind::Symbol(Sym::Semicolon) => break,
                TokenKind::Symbol(Sym::LeftParen) => {
                    self.skip_parens()?;
                    line = self.tokens[self.at - 1].span.line;
                    continue;
                }
                TokenKind::Key(Kw::Case) => cases += 1,
                TokenKind::Key(Kw::End) if cases > 0 => cases -= 1,
                TokenKind::Key(Kw::End | Kw::Else) if cases == 0 => break,
                TokenKind::Key(kw)
                    if self.token().span.line > line
                        && begins_statement(kw)
                        && !self.goes_on_with(kw) =>
                {
                    break;
                }
                _ => {}
            }
            line = self.token().span.line;
            self.at += 1;
        }
        Ok(StatementKind::Unsupported { what: what.to_string() })
    }
}

fn begins_statement(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::Alter
            | Kw::Backup
            | Kw::Begin
            | Kw::Break
            | Kw::Checkpoint
            | Kw::Close
            | Kw::Commit
            | Kw::Continue
            | Kw::Create
            | Kw::Dbcc
            | Kw::Deallocate
            | Kw::Declare
            | Kw::Delete
            | Kw::Deny
            | Kw::Drop
            | Kw::Exec
            | Kw::Execute
            | Kw::Fetch
            | Kw::Goto
            | Kw::Grant
            | Kw::If
            | Kw::Insert
            | Kw::Kill
            | Kw::Open
            | Kw::Print
            | Kw::Raiserror
            | Kw::Restore
            | Kw::Return
            | Kw::Revoke
            | Kw::Rollback
            | Kw::Save
            | Kw::Set
            | Kw::Truncate
            | Kw::Use
            | Kw::Waitfor
            | Kw::While
    )
}
