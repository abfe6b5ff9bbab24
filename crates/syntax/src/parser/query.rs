//! SELECT, set operations, common table expressions, and the clauses that other statements share.

use super::*;
use runtime::task::Step;

impl Parser<'_> {
    /// A whole query with its WITH, ORDER BY and OPTION.
    pub(super) fn query(&mut self) -> ParseResult<Query> {
        let with = self.with_clause()?;
        self.query_after_with(with)
    }

    /// The same, its WITH having been read.
    pub(super) fn query_after_with(&mut self, with: Vec<Cte>) -> ParseResult<Query> {
        let start = self.at;
        let body = self.query_body()?;
        let mut query = self.query_of(body, with)?;
        query.span = self.span_from(start);
        Ok(query)
    }

    /// What follows a query's body, until its OPTION.
    #[inline(never)]
    fn query_of(&mut self, body: QueryBody, with: Vec<Cte>) -> ParseResult<Query> {
        let mut query = Query {
            with,
            body,
            order_by: Vec::new(),
            offset: None,
            fetch: None,
            for_clause: None,
            option: Vec::new(),
            span: Span::default(),
        };
        if self.at_kw(Kw::Order) {
            query.order_by = self.order_by()?;
            // `FETCH NEXT FROM c` is the next statement.
            let fetches = self.at_kw(Kw::Fetch)
                && (self.word_ahead(1, "NEXT") || self.word_ahead(1, "FIRST"));
            if fetches && !self.word_ahead(2, "FROM") {
                let option = self.tokens.get(self.at + 1).map_or("", |t| self.token_text(*t));
                let text = format!("Invalid usage of the option {option} in the FETCH statement.");
                return Err(self.mistake(153, text));
            }
            if self.at_word("OFFSET") {
                self.at += 1;
                query.offset = Some(self.value()?);
                if !self.eat_word("ROWS") {
                    self.expect_word("ROW")?;
                }
                if self.eat_kw(Kw::Fetch) {
                    if !self.eat_word("NEXT") {
                        self.expect_word("FIRST")?;
                    }
                    query.fetch = Some(self.value()?);
                    if !self.eat_word("ROWS") {
                        self.expect_word("ROW")?;
                    }
                    self.expect_word("ONLY")?;
                }
            }
        }
        // SQL Server's grammar has OPTION last; its parser takes it before FOR XML and FOR JSON as well.
        query.option = self.option_clause()?;
        // A cursor's FOR UPDATE and FOR READ ONLY are not the query's.
        if self.at_kw(Kw::For)
            && !matches!(self.kind_ahead(1), TokenKind::Key(Kw::Update | Kw::Read))
        {
            query.for_clause = self.for_clause()?;
        }
        if query.option.is_empty() {
            query.option = self.option_clause()?;
        }
        Ok(query)
    }

    /// `WITH a AS (...), b (x) AS (...)`, or nothing.
    #[inline(never)]
    pub(super) fn with_clause(&mut self) -> ParseResult<Vec<Cte>> {
        if !self.eat_kw(Kw::With) {
            return Ok(Vec::new());
        }
        let called = self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen);
        if self.at_word("XMLNAMESPACES") && called {
            self.declare_xmlnamespaces()?;
            if !self.eat_sym(Sym::Comma) {
                return Ok(Vec::new());
            }
        }
        self.ctes()
    }

    /// `a AS (...), b (x) AS (...)`
    pub(super) fn ctes(&mut self) -> ParseResult<Vec<Cte>> {
        self.comma_list(|parser| {
            let name = parser.ident()?;
            parser.note_local(&name, true);
            let columns =
                if parser.at_sym(Sym::LeftParen) { parser.ident_list()? } else { Vec::new() };
            parser.expect_kw(Kw::As)?;
            let query = parser.subquery()?;
            Ok(Cte { name, columns, query })
        })
    }

    /// SELECT ... UNION SELECT ...; INTERSECT binds tighter.
    fn query_body(&mut self) -> ParseResult<QueryBody> {
        let first = self.intersect_chain()?;
        self.set_chain(first, |kw| match kw {
            Kw::Union => Some(SetOperator::Union),
            Kw::Except => Some(SetOperator::Except),
            _ => None,
        })
    }

    fn intersect_chain(&mut self) -> ParseResult<QueryBody> {
        let first = self.query_term()?;
        self.set_chain(first, |kw| (kw == Kw::Intersect).then_some(SetOperator::Intersect))
    }

    /// Runs of one operation become balanced trees (a script may join hundreds of rows by UNION
    /// ALL); a change of operation nests to the left.
    fn set_chain(
        &mut self,
        first: QueryBody,
        operator: impl Fn(Kw) -> Option<SetOperator>,
    ) -> ParseResult<QueryBody> {
        let mut run = vec![first];
        let mut present: Option<(SetOperator, bool)> = None;
        let mut changes = 0;
        loop {
            let next = match self.kind() {
                TokenKind::Key(kw) => operator(kw),
                _ => None,
            };
            let Some(op) = next else { break };
            self.at += 1;
            let all = self.eat_kw(Kw::All);
            if present.is_some_and(|old| old != (op, all) || op == SetOperator::Except) {
                changes += 1;
                if changes + self.depth > MAX_DEPTH {
                    return Err(self.too_deep());
                }
                let joined = balance(std::mem::take(&mut run), present);
                run.push(joined);
            }
            present = Some((op, all));
            let right = if op == SetOperator::Intersect {
                self.query_term()?
            } else {
                self.intersect_chain()?
            };
            run.push(right);
        }
        Ok(balance(run, present))
    }

    fn query_term(&mut self) -> ParseResult<QueryBody> {
        if self.at_sym(Sym::LeftParen) {
            return self.nested(2, |parser| {
                parser.at += 1;
                let start = parser.at;
                let body = parser.query_body()?;
                let body = match parser.in_subquery && parser.at_kw(Kw::Order) {
                    true => parser.ordered_operand(body, start)?,
                    false => body,
                };
                parser.expect_sym(Sym::RightParen)?;
                Ok(QueryBody::Nested(Box::new(body)))
            });
        }
        if self.at_kw(Kw::Values) {
            return Ok(QueryBody::Values(self.value_rows()?));
        }
        Ok(QueryBody::Select(Box::new(self.select()?)))
    }

    /// `(SELECT TOP 1 a FROM t ORDER BY a) UNION ...` inside a subquery, as the derived table that it amounts to: there
    /// SQL Server takes an operand's own ORDER BY, which a statement's query may not have.
    #[inline(never)]
    fn ordered_operand(&mut self, body: QueryBody, start: usize) -> ParseResult<QueryBody> {
        let mut query = self.query_of(body, Vec::new())?;
        let span = self.span_from(start);
        query.span = span;
        let alias = Ident::new("operand");
        Ok(QueryBody::Select(Box::new(Select {
            distinct: false,
            top: None,
            items: vec![SelectItem::Wildcard { qualifier: None, span }],
            into: None,
            from: vec![TableRef::Derived { query: Box::new(query), alias, columns: Vec::new() }],
            filter: None,
            group_by: Vec::new(),
            group_all: false,
            having: None,
            windows: Vec::new(),
            span,
            step: Step::default(),
        })))
    }

    /// `VALUES (1, 2), (3, 4)` as a table.
    #[inline(never)]
    pub(super) fn value_rows(&mut self) -> ParseResult<Vec<Vec<Expr>>> {
        self.expect_kw(Kw::Values)?;
        let rows = self.comma_list(|parser| {
            parser.expect_sym(Sym::LeftParen)?;
            let row = parser.comma_list(Self::value)?;
            parser.expect_sym(Sym::RightParen)?;
            Ok(row)
        })?;
        self.check_arity(rows.iter().map(Vec::len))?;
        Ok(rows)
    }

    /// 10709 unless all rows are of one length.
    pub(super) fn check_arity(&self, mut lengths: impl Iterator<Item = usize>) -> ParseResult<()> {
        let first = lengths.next();
        if lengths.all(|length| Some(length) == first) {
            return Ok(());
        }
        Err(self.mistake(
            10709,
            "The number of columns for each row in a table value constructor must be the same.",
        ))
    }

    #[inline(never)]
    fn select(&mut self) -> ParseResult<Select> {
        let start = self.at;
        self.expect_kw(Kw::Select)?;
        let distinct = self.eat_kw(Kw::Distinct);
        if !distinct {
            self.eat_kw(Kw::All);
        }
        let mut select = Select {
            distinct,
            top: self.top()?,
            items: self.comma_list(Self::select_item)?,
            into: None,
            from: Vec::new(),
            filter: None,
            group_by: Vec::new(),
            group_all: false,
            having: None,
            windows: Vec::new(),
            span: Span::default(),
            step: Step::default(),
        };
        if self.eat_kw(Kw::Into) {
            let table = self.defined_name()?;
            let filegroup = if self.eat_kw(Kw::On) { Some(self.lenient_ident()?) } else { None };
            select.into = Some(SelectInto { table, filegroup });
        }
        select.from = self.sources()?;
        select.filter = self.where_clause()?;
        if self.eat_kw(Kw::Group) {
            self.expect_kw(Kw::By)?;
            select.group_all = self.eat_kw(Kw::All);
            select.group_by = self.group_by()?;
        }
        if self.eat_kw(Kw::Having) {
            select.having = Some(self.condition()?);
        }
        if self.at_window_clause() {
            self.at += 1;
            select.windows = self.comma_list(Self::named_window)?;
        }
        select.span = self.span_from(start);
        Ok(select)
    }

    #[inline(never)]
    pub(super) fn top(&mut self) -> ParseResult<Option<Top>> {
        if !self.eat_kw(Kw::Top) {
            return Ok(None);
        }
        let start = self.at;
        // Without parentheses only a constant or a variable may stand: `TOP 5 -1` selects -1.
        let count = if self.at_sym(Sym::LeftParen) {
            if self.query_in_parens() {
                let query = self.subquery()?;
                let kind = ExprKind::Subquery(query);
                let count = Expr::new(kind, self.span_from(start));
                return self.top_rest(count);
            }
            self.at += 1;
            let mut count = self.value()?;
            self.expect_sym(Sym::RightParen)?;
            count.span = self.span_from(start);
            count
        } else if self.kind() == TokenKind::Variable {
            let variable = self.variable()?;
            Expr::new(ExprKind::Variable(variable), self.span_from(start))
        } else if matches!(self.kind(), TokenKind::Integer | TokenKind::Decimal | TokenKind::Float)
        {
            let literal = self.literal()?;
            Expr::new(ExprKind::Literal(literal), self.span_from(start))
        } else {
            return Err(self.unexpected());
        };
        self.top_rest(count)
    }

    /// TOP of a change: its count stands in parentheses.
    pub(super) fn top_of_change(&mut self) -> ParseResult<Option<Top>> {
        if self.at_kw(Kw::Top) && self.kind_ahead(1) != TokenKind::Symbol(Sym::LeftParen) {
            self.at += 1;
            return Err(self.unexpected());
        }
        self.top()
    }

    /// `[PERCENT] [WITH TIES]`
    fn top_rest(&mut self, count: Expr) -> ParseResult<Option<Top>> {
        let percent = self.eat_kw(Kw::Percent);
        let with_ties = self.at_kw(Kw::With) && self.word_ahead(1, "TIES");
        if with_ties {
            self.at += 2;
        }
        Ok(Some(Top { count: Box::new(count), percent, with_ties }))
    }

    #[inline(never)]
    pub(super) fn select_item(&mut self) -> ParseResult<SelectItem> {
        let start = self.at;
        if self.eat_sym(Sym::Star) {
            return Ok(SelectItem::Wildcard { qualifier: None, span: self.span_from(start) });
        }
        if let Some(item) = self.qualified_wildcard()? {
            return Ok(item);
        }
        if self.kind() == TokenKind::Variable {
            let here = self.at;
            let variable = self.variable()?;
            if let Some(op) = self.assign_op() {
                let expr = self.value()?;
                return Ok(SelectItem::Assign { variable, op, expr });
            }
            self.at = here;
        }
        if (self.at_name() || self.at_string()) && self.kind_ahead(1) == TokenKind::Symbol(Sym::Eq)
        {
            let alias = Some(self.take_ident());
            self.at += 1;
            let expr = self.value()?;
            return Ok(SelectItem::Expr { expr, alias });
        }
        let expr = self.value()?;
        let alias = if self.eat_kw(Kw::As) {
            if self.at_string() { Some(self.take_ident()) } else { Some(self.ident()?) }
        } else if (self.at_name() && !self.at_label()) || self.at_string() {
            Some(self.take_ident())
        } else {
            None
        };
        if let Some(alias) = &alias
            && alias.value.is_empty()
        {
            return Err(SyntaxError::new(1038, alias.span.line, "", crate::error::EMPTY_NAME));
        }
        Ok(SelectItem::Expr { expr, alias })
    }

    /// `t.*`, `dbo.t.*`
    #[inline(never)]
    fn qualified_wildcard(&mut self) -> ParseResult<Option<SelectItem>> {
        let mut ahead = 0;
        // `..t.*`: the parts before are left out.
        while ahead < 2 && self.kind_ahead(ahead) == TokenKind::Symbol(Sym::Dot) {
            ahead += 1;
        }
        let omitted = ahead;
        while self.name_ahead(ahead) && self.kind_ahead(ahead + 1) == TokenKind::Symbol(Sym::Dot) {
            ahead += 2;
        }
        if ahead == omitted || self.kind_ahead(ahead) != TokenKind::Symbol(Sym::Star) || ahead > 6 {
            return Ok(None);
        }
        let start = self.at;
        self.at += omitted;
        let mut parts = Vec::new();
        while !self.at_sym(Sym::Star) {
            parts.push(self.ident()?);
            self.expect_sym(Sym::Dot)?;
        }
        let span = self.span_from(start);
        self.at += 1;
        let mut parts = parts.into_iter().rev();
        let qualifier = parts.next().map(|name| ObjectName {
            name,
            schema: parts.next(),
            database: parts.next(),
            server: None,
            span,
        });
        Ok(Some(SelectItem::Wildcard { qualifier, span: self.span_from(start) }))
    }

    /// `=`, `+=`, ... when one stands here.
    pub(super) fn assign_op(&mut self) -> Option<AssignOp> {
        let TokenKind::Symbol(sym) = self.kind() else { return None };
        let op = match sym {
            Sym::Eq => AssignOp::Set,
            Sym::PlusEq => AssignOp::Add,
            Sym::MinusEq => AssignOp::Sub,
            Sym::StarEq => AssignOp::Mul,
            Sym::SlashEq => AssignOp::Div,
            Sym::PercentEq => AssignOp::Mod,
            Sym::AmpersandEq => AssignOp::BitAnd,
            Sym::PipeEq => AssignOp::BitOr,
            Sym::CaretEq => AssignOp::BitXor,
            _ => return None,
        };
        self.at += 1;
        Some(op)
    }

    pub(super) fn where_clause(&mut self) -> ParseResult<Option<Expr>> {
        if !self.eat_kw(Kw::Where) {
            return Ok(None);
        }
        Ok(Some(self.condition()?))
    }

    #[inline(never)]
    pub(super) fn order_by(&mut self) -> ParseResult<Vec<OrderItem>> {
        self.expect_kw(Kw::Order)?;
        self.expect_kw(Kw::By)?;
        self.comma_list(|parser| {
            let expr = parser.value()?;
            let descending = parser.eat_kw(Kw::Desc);
            if !descending {
                parser.eat_kw(Kw::Asc);
            }
            Ok(OrderItem { expr, descending })
        })
    }

    /// `OPTION (MAXDOP 1, LOOP JOIN, ...)`, or nothing.
    #[inline(never)]
    pub(super) fn option_clause(&mut self) -> ParseResult<Vec<QueryHint>> {
        if !self.eat_kw(Kw::Option) {
            return Ok(Vec::new());
        }
        self.expect_sym(Sym::LeftParen)?;
        let hints = self.comma_list(Self::query_hint)?;
        self.expect_sym(Sym::RightParen)?;
        Ok(hints)
    }

    #[inline(never)]
    fn query_hint(&mut self) -> ParseResult<QueryHint> {
        let start = self.at;
        let mut name = self.any_word()?;
        let mut args = Vec::new();
        loop {
            match self.kind() {
                TokenKind::Word | TokenKind::Key(_) => {
                    name.push(' ');
                    name.push_str(&self.any_word()?);
                }
                TokenKind::Symbol(Sym::Eq) => self.at += 1,
                TokenKind::Symbol(Sym::LeftParen) if name == "USE HINT" => {
                    self.at += 1;
                    args = self.comma_list(Self::literal)?;
                    self.expect_sym(Sym::RightParen)?;
                }
                TokenKind::Symbol(Sym::LeftParen) => self.skip_parens()?,
                TokenKind::Symbol(Sym::Comma | Sym::RightParen) => break,
                _ => args.push(self.literal()?),
            }
        }
        Ok(QueryHint { name, args, span: self.span_from(start) })
    }
}

fn balance(mut bodies: Vec<QueryBody>, present: Option<(SetOperator, bool)>) -> QueryBody {
    if let Some((op, all)) = present {
        while bodies.len() > 1 {
            let mut halved = Vec::with_capacity(bodies.len().div_ceil(2));
            let mut rest = bodies.into_iter();
            while let Some(left) = rest.next() {
                halved.push(match rest.next() {
                    Some(right) => QueryBody::SetOperation {
                        op,
                        all,
                        left: Box::new(left),
                        right: Box::new(right),
                    },
                    None => left,
                });
            }
            bodies = halved;
        }
    }
    bodies.pop().expect("a chain has bodies")
}
