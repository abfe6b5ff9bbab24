//! CREATE and ALTER SEQUENCE, CREATE SYNONYM.

use super::*;

impl Parser<'_> {
    /// `SEQUENCE name options`, AS type among them; SEQUENCE has not been taken.
    pub(super) fn define_sequence(&mut self, alter: bool) -> ParseResult<StatementKind> {
        self.at += 1;
        let name = self.object_name()?;
        let mut sequence = DefineSequence {
            alter,
            name,
            ty: None,
            start: None,
            restart: false,
            increment: None,
            minimum: None,
            maximum: None,
            cycle: None,
            cache: None,
            no_cache: false,
        };
        loop {
            if alter && self.at_kw(Kw::As) {
                let text = "Argument 'AS' cannot be used in an ALTER SEQUENCE statement.";
                return Err(self.mistake(11711, text));
            } else if !alter && sequence.ty.is_none() && self.eat_kw(Kw::As) {
                sequence.ty = Some(self.type_name()?);
            } else if !alter && self.eat_word("START") {
                self.expect_kw(Kw::With)?;
                sequence.start = Some(self.whole_number()?);
            } else if alter && self.eat_word("RESTART") {
                sequence.restart = true;
                if self.eat_kw(Kw::With) {
                    sequence.start = Some(self.whole_number()?);
                }
            } else if self.eat_word("INCREMENT") {
                self.expect_kw(Kw::By)?;
                sequence.increment = Some(self.whole_number()?);
            } else if self.eat_word("MINVALUE") {
                sequence.minimum = Some(Some(self.whole_number()?));
            } else if self.eat_word("MAXVALUE") {
                sequence.maximum = Some(Some(self.whole_number()?));
            } else if self.eat_word("CYCLE") {
                sequence.cycle = Some(true);
            } else if self.eat_word("CACHE") {
                let size = if self.kind() == TokenKind::Integer {
                    Some(u32::try_from(self.number()?).unwrap_or(u32::MAX))
                } else {
                    None
                };
                sequence.cache = Some(size);
            } else if self.at_word("NO")
                && ["MINVALUE", "MAXVALUE", "CYCLE", "CACHE"].iter().any(|w| self.word_ahead(1, w))
            {
                self.at += 1;
                match self.any_word()?.as_str() {
                    "MINVALUE" => sequence.minimum = Some(None),
                    "MAXVALUE" => sequence.maximum = Some(None),
                    "CYCLE" => sequence.cycle = Some(false),
                    _ => sequence.no_cache = true,
                }
            } else {
                return Ok(StatementKind::DefineSequence(Box::new(sequence)));
            }
        }
    }

    /// A whole number of up to 38 digits, with its sign.
    fn whole_number(&mut self) -> ParseResult<i128> {
        let negative = self.eat_sym(Sym::Minus);
        if !negative {
            self.eat_sym(Sym::Plus);
        }
        let token = self.token();
        let number = self.token_text(token).parse::<i128>();
        match (matches!(token.kind, TokenKind::End), number) {
            (false, Ok(number)) => {
                self.at += 1;
                Ok(if negative { -number } else { number })
            }
            _ => Err(self.unexpected()),
        }
    }

    /// `SYNONYM name FOR object`; SYNONYM has not been taken.
    pub(super) fn create_synonym(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let name = self.object_name()?;
        self.expect_kw(Kw::For)?;
        let base = self.object_name()?;
        Ok(StatementKind::CreateSynonym(Box::new(CreateSynonym { name, base })))
    }
}
