//! What natively compiled modules have besides the language of all: ATOMIC blocks, NOT NULL of variables and
//! parameters; and the indexes of memory-optimised tables in ALTER TABLE.
//!
//! What may stand where is for the binder to tell. Sources: SQL documentation of CREATE PROCEDURE, "Atomic Blocks in
//! Native Procedures", ALTER TABLE.

use super::*;

impl Parser<'_> {
    /// ATOMIC WITH, behind BEGIN.
    pub(super) fn at_atomic(&self) -> bool {
        self.at_word("ATOMIC") && self.kind_ahead(1) == TokenKind::Key(Kw::With)
    }

    /// `ATOMIC WITH (option, ...) statements END`.
    #[cold]
    pub(super) fn atomic_block(&mut self) -> ParseResult<AtomicBlock> {
        self.at += 2;
        self.expect_sym(Sym::LeftParen)?;
        let mut options = AtomicOptions::default();
        self.comma_list(|parser| parser.atomic_option(&mut options))?;
        self.expect_sym(Sym::RightParen)?;
        let body = self.statements_until(Self::at_block_end)?;
        self.expect_kw(Kw::End)?;
        Ok(AtomicBlock { options, body })
    }

    fn atomic_option(&mut self, options: &mut AtomicOptions) -> ParseResult<()> {
        let here = self.at;
        let name = self.any_word()?;
        if name == "TRANSACTION" {
            self.expect_word("ISOLATION")?;
            self.expect_word("LEVEL")?;
            self.expect_sym(Sym::Eq)?;
            options.isolation = Some(self.isolation_level()?);
            return Ok(());
        }
        self.expect_sym(Sym::Eq)?;
        match name.as_str() {
            "LANGUAGE" => options.language = Some(self.word_or_text()?),
            "DATEFORMAT" => options.dateformat = Some(self.word_or_text()?),
            "DATEFIRST" => options.datefirst = Some(self.number()?),
            "DELAYED_DURABILITY" => options.delayed_durability = Some(self.on_off()?),
            _ => {
                self.at = here;
                return Err(self.unexpected());
            }
        }
        Ok(())
    }

    fn word_or_text(&mut self) -> ParseResult<String> {
        if self.at_string() { self.string() } else { Ok(self.ident()?.value) }
    }

    /// NULL or NOT NULL behind a type, if it is there: whether it is NOT NULL.
    pub(super) fn null_or_not(&mut self) -> ParseResult<bool> {
        if self.eat_kw(Kw::Not) {
            self.expect_kw(Kw::Null)?;
            return Ok(true);
        }
        self.eat_kw(Kw::Null);
        Ok(false)
    }

    /// ALTER TABLE ... ALTER `INDEX name REBUILD [NONCLUSTERED] [HASH] WITH (BUCKET_COUNT = n)`.
    #[cold]
    pub(super) fn table_index_rebuild(&mut self) -> ParseResult<AlterTableAction> {
        self.at += 1;
        let index = self.ident()?;
        self.expect_word("REBUILD")?;
        self.clustered();
        let hash = self.eat_word("HASH");
        let options = match self.eat_kw(Kw::With) {
            true => self.option_list()?,
            false => Vec::new(),
        };
        Ok(AlterTableAction::RebuildIndex { index, hash, options })
    }
}
