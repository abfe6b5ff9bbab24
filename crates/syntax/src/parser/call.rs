//! Names in expressions: a column, or a call with its arguments and its OVER.

use super::*;

impl Parser<'_> {
    /// A column or a call.
    #[inline(never)]
    pub(super) fn named(&mut self) -> ParseResult<ExprKind> {
        if self.at_word("NEXT")
            && self.word_ahead(1, "VALUE")
            && self.kind_ahead(2) == TokenKind::Key(Kw::For)
        {
            return self.next_value();
        }
        let plain = self.kind() == TokenKind::Word;
        if plain && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            let token = self.token();
            let text = self.token_text(token);
            if text.eq_ignore_ascii_case("CAST") {
                return self.nested(1, |parser| parser.cast(false));
            }
            if text.eq_ignore_ascii_case("TRY_CAST") {
                return self.nested(1, |parser| parser.cast(true));
            }
            if text.eq_ignore_ascii_case("IIF") {
                return self.nested(1, Self::iif);
            }
            if let Some(call) = self.builtin_call()? {
                return Ok(call);
            }
        }
        let mut name = self.ident()?;
        let mut qualifier = Vec::new();
        while self.at_sym(Sym::Dot) {
            self.at += 1;
            // More than four parts may be properties of a CLR type; the binder finds nothing so named (4104).
            qualifier.push(name);
            // `db..t.c`: the schema is left out.
            if self.at_sym(Sym::Dot) {
                qualifier.push(Ident {
                    value: String::new(),
                    quoted: false,
                    span: self.token().span,
                });
                self.at += 1;
            }
            name = match self.kind() {
                TokenKind::Key(Kw::IdentityCol | Kw::RowGuidCol) => self.take_ident(),
                _ => self.ident()?,
            };
        }
        if self.at_static_member() {
            return self.static_member(qualifier, name);
        }
        if !self.at_sym(Sym::LeftParen) {
            if self.notes.is_some() && qualifier.is_empty() {
                self.note(MentionKind::Column, &ObjectName::bare(name.clone()));
            }
            return Ok(ExprKind::Column(ColumnRef { qualifier, name }));
        }
        let span = qualifier.first().map_or(name.span, |first| first.span.to(name.span));
        let mut parts = qualifier.into_iter().rev().map(|p| (!p.value.is_empty()).then_some(p));
        let schema = parts.next().flatten();
        let database = parts.next().flatten();
        let server = parts.next().flatten();
        let function = ObjectName { server, database, schema, name, span };
        if function.schema.is_some() {
            self.note(MentionKind::Function, &function);
        }
        self.function_call(function)
    }

    /// `NEXT VALUE FOR sequence [OVER (ORDER BY ...)]`: a call of a function of that name, whose argument is the sequence.
    #[inline(never)]
    fn next_value(&mut self) -> ParseResult<ExprKind> {
        let mut function = self.take_ident();
        self.at += 2;
        function.value = "NEXT VALUE FOR".to_string();
        let start = self.at;
        let name = self.object_name()?;
        self.note(MentionKind::Sequence, &name);
        let qualifier = [name.database, name.schema].into_iter().flatten().collect();
        let kind = ExprKind::Column(ColumnRef { qualifier, name: name.name });
        let argument = Expr::new(kind, self.span_from(start));
        let over = if self.eat_kw(Kw::Over) { Some(self.nested(1, Self::over)?) } else { None };
        let call = FunctionCall::new(ObjectName::bare(function), vec![argument]);
        Ok(ExprKind::Function(Box::new(FunctionCall { over, ..call })))
    }

    /// Arguments and OVER, the name having been taken.
    #[inline(never)]
    pub(super) fn function_call(&mut self, name: ObjectName) -> ParseResult<ExprKind> {
        self.expect_sym(Sym::LeftParen)?;
        let mut call = FunctionCall::new(name, Vec::new());
        if self.eat_sym(Sym::Star) {
            call.star = true;
        } else if !self.at_sym(Sym::RightParen) {
            call.distinct = self.eat_kw(Kw::Distinct);
            if !call.distinct {
                self.eat_kw(Kw::All);
            }
            call.args = self.nested(1, |parser| parser.comma_list(Self::argument))?;
            if call.name.schema.is_some() && xml::is_method(&call.name.name.value) {
                self.declare_namespaces(call.args.first_mut());
            }
        }
        self.expect_sym(Sym::RightParen)?;
        if self.at_word("WITHIN") && self.kind_ahead(1) == TokenKind::Key(Kw::Group) {
            self.at += 2;
            self.expect_sym(Sym::LeftParen)?;
            if self.at_word("GRAPH") && self.word_ahead(1, "PATH") {
                self.note_unsupported("WITHIN GROUP (GRAPH PATH)");
                self.at += 2;
            } else {
                call.within_group = self.order_by()?;
            }
            self.expect_sym(Sym::RightParen)?;
        }
        let nulls = self.at_word("IGNORE") || self.at_word("RESPECT");
        if nulls && self.word_ahead(1, "NULLS") && self.kind_ahead(2) == TokenKind::Key(Kw::Over) {
            call.ignore_nulls = self.at_word("IGNORE");
            self.at += 2;
        }
        if self.eat_kw(Kw::Over) {
            call.over = Some(self.nested(1, Self::over)?);
        }
        Ok(ExprKind::Function(Box::new(call)))
    }

    /// An argument of a function; DEFAULT comes as a column of that name.
    pub(super) fn argument(&mut self) -> ParseResult<Expr> {
        if !self.at_kw(Kw::Default) {
            return self.value();
        }
        let name = self.take_ident();
        let span = name.span;
        let kind = ExprKind::Column(ColumnRef { qualifier: Vec::new(), name });
        Ok(Expr::new(kind, span))
    }

    /// `(...)` after OVER or in the WINDOW clause, or a window's name after OVER.
    #[inline(never)]
    pub(super) fn over(&mut self) -> ParseResult<Over> {
        let mut over =
            Over { window: None, partition_by: Vec::new(), order_by: Vec::new(), frame: None };
        if self.at_name() {
            over.window = Some(self.take_ident());
            return Ok(over);
        }
        self.expect_sym(Sym::LeftParen)?;
        let own = ["PARTITION", "ROWS", "RANGE"].iter().any(|word| self.at_word(word));
        let alone = matches!(
            self.kind_ahead(1),
            TokenKind::Symbol(Sym::RightParen) | TokenKind::Key(Kw::Order)
        );
        let goes_on = ["PARTITION", "ROWS", "RANGE"].iter().any(|word| self.word_ahead(1, word));
        if self.at_name() && (alone || (goes_on && !own)) {
            over.window = Some(self.take_ident());
        }
        if self.eat_word("PARTITION") {
            self.expect_kw(Kw::By)?;
            over.partition_by = self.comma_list(Self::value)?;
        }
        if self.at_kw(Kw::Order) {
            over.order_by = self.order_by()?;
        }
        if self.at_word("ROWS") || self.at_word("RANGE") {
            let range = self.any_word()? == "RANGE";
            let between = self.eat_kw(Kw::Between);
            let start = self.frame_bound()?;
            let mut end = None;
            if between {
                self.expect_kw(Kw::And)?;
                end = Some(self.frame_bound()?);
            }
            over.frame = Some(Frame { range, start, end });
        }
        self.expect_sym(Sym::RightParen)?;
        Ok(over)
    }

    fn frame_bound(&mut self) -> ParseResult<FrameBound> {
        if self.eat_kw(Kw::Current) {
            self.expect_word("ROW")?;
            return Ok(FrameBound::CurrentRow);
        }
        let rows = if self.eat_word("UNBOUNDED") { None } else { Some(self.number()?) };
        let preceding = self.at_word("PRECEDING");
        if !preceding && !self.at_word("FOLLOWING") {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(match (rows, preceding) {
            (None, true) => FrameBound::UnboundedPreceding,
            (None, false) => FrameBound::UnboundedFollowing,
            (Some(rows), true) => FrameBound::Preceding(rows),
            (Some(rows), false) => FrameBound::Following(rows),
        })
    }
}
