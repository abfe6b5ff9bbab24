//! Expressions and conditions, by precedence climbing.
//!
//! One loop serves both. What may stand where follows from the least binding power asked for: from
//! [`ADD`] on only values may appear, below it conditions too. A parenthesis in a place for
//! conditions may hold either, and what it held decides how the loop goes on.

use super::*;

/// Binding powers, loosest first.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const ADD: u8 = 5;
const MUL: u8 = 6;
pub(super) const PREFIX: u8 = 7;

/// A run of additions, or of multiplications, of this length becomes a chain.
const CHAIN_MIN: usize = 4;

/// Do they make one run, and not parts of each other?
fn bind_alike(a: BinaryOp, b: BinaryOp) -> bool {
    a.is_additive() == b.is_additive()
}

/// Operators down the left side of a run. Parentheses end it: they have their own span.
fn spine_of_run(run: BinaryOp, expr: &Expr) -> usize {
    let (mut expr, mut length) = (expr, 0);
    while let ExprKind::Binary { op, left, .. } = &expr.kind
        && bind_alike(*op, run)
        && (length == 0 || left.span.start == expr.span.start)
    {
        length += 1;
        expr = left;
    }
    length
}

/// A run of operators like `run`, taken apart.
fn chain_of(run: BinaryOp, expr: Expr) -> Expr {
    let span = expr.span;
    let mut rest = Vec::new();
    let mut first = expr;
    loop {
        match first.kind {
            // `(a + b) + c`: the parenthesis is in the left operand's span, and its value is the same.
            ExprKind::Binary { op, left, right } if bind_alike(op, run) => {
                rest.push((op, *right));
                first = *left;
            }
            _ => break,
        }
    }
    rest.reverse();
    Expr::new(ExprKind::Chain { first: Box::new(first), rest: rest.into() }, span)
}

impl Parser<'_> {
    /// A value.
    pub(super) fn value(&mut self) -> ParseResult<Expr> {
        self.any(ADD)
    }

    /// A condition; 4145 when a value stands in its place.
    pub(super) fn condition(&mut self) -> ParseResult<Expr> {
        let expr = self.any(0)?;
        self.must_be_condition(&expr)?;
        Ok(expr)
    }

    #[inline(never)]
    fn must_be_condition(&self, expr: &Expr) -> ParseResult<()> {
        if expr.is_condition() {
            return Ok(());
        }
        let token =
            if self.at_end() { self.tokens[self.at.saturating_sub(1)] } else { self.token() };
        let near = self.token_value(token);
        Err(SyntaxError::new(
            4145,
            token.span.line,
            near.clone(),
            format!(
                "An expression of non-boolean type specified in a context where a condition is expected, near '{near}'."
            ),
        ))
    }

    /// An operator that wants values found a condition before it.
    fn must_be_value(&self, expr: &Expr) -> ParseResult<()> {
        if expr.is_condition() { Err(self.unexpected()) } else { Ok(()) }
    }

    /// An expression whose operators bind at least as tightly as `least`.
    pub(super) fn any(&mut self, least: u8) -> ParseResult<Expr> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let outer = std::mem::take(&mut self.height);
        let result = self.climb(least);
        self.depth -= 1;
        let own = self.height + 1;
        if own > MAX_DEPTH && result.is_ok() {
            return Err(self.too_deep());
        }
        self.height = outer.max(own);
        result
    }

    fn climb(&mut self, least: u8) -> ParseResult<Expr> {
        let start = self.at;
        let mut left = if least <= NOT && self.at_kw(Kw::Not) {
            self.at += 1;
            let operand = self.any(NOT)?;
            self.must_be_condition(&operand)?;
            let kind = ExprKind::Unary { op: UnaryOp::Not, expr: Box::new(operand) };
            Expr::new(kind, self.span_from(start))
        } else {
            self.prefix(least <= COMPARE)?
        };
        while let Some((op, power)) = self.infix() {
            if power < least {
                break;
            }
            left = match op {
                Infix::Logic(op) => self.chain(left, op, power, start)?,
                Infix::Arithmetic(op) => {
                    self.must_be_value(&left)?;
                    self.at += 1;
                    let right = self.any(power + 1)?;
                    self.run(op, left, right, start)?
                }
                Infix::Shift(to_left) => {
                    self.must_be_value(&left)?;
                    let span = self.token().span;
                    self.at += 2;
                    let count = self.any(power + 1)?;
                    self.height += 1;
                    let kind = super::builtin::shift(to_left, span, left, count);
                    Expr::new(kind, self.span_from(start))
                }
                Infix::Compare(op) => {
                    self.must_be_value(&left)?;
                    self.at += 1;
                    self.comparison(op, left, start)?
                }
                Infix::Test => {
                    self.must_be_value(&left)?;
                    let kind = self.test(left)?;
                    Expr::new(kind, self.span_from(start))
                }
            };
        }
        Ok(left)
    }

    /// Adds an operand to a run of additions or of multiplications; a long run becomes a chain, whose length adds no height.
    #[inline(never)]
    fn run(&mut self, op: BinaryOp, left: Expr, right: Expr, start: usize) -> ParseResult<Expr> {
        let mut chain = match left.kind {
            ExprKind::Chain { ref rest, .. }
                if rest.first().is_some_and(|(o, _)| bind_alike(*o, op)) =>
            {
                left
            }
            ExprKind::Binary { op: last, .. }
                if bind_alike(last, op) && spine_of_run(op, &left) >= CHAIN_MIN =>
            {
                chain_of(op, left)
            }
            _ => return self.binary(op, left, right, start),
        };
        if let ExprKind::Chain { rest, .. } = &mut chain.kind {
            rest.push((op, right));
        }
        chain.span = self.span_from(start);
        Ok(chain)
    }

    #[inline(never)]
    fn binary(&mut self, op: BinaryOp, left: Expr, right: Expr, start: usize) -> ParseResult<Expr> {
        // The left operand sinks one deeper with every operator of a chain.
        self.height += 1;
        if self.height > MAX_DEPTH {
            return Err(self.too_deep());
        }
        let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
        Ok(Expr::new(kind, self.span_from(start)))
    }

    /// `a AND b AND c ...`, kept balanced: the length of a chain adds little height.
    #[inline(never)]
    fn chain(&mut self, first: Expr, op: BinaryOp, power: u8, start: usize) -> ParseResult<Expr> {
        self.must_be_condition(&first)?;
        let kw = if op == BinaryOp::And { Kw::And } else { Kw::Or };
        let mut operands = vec![first];
        while self.eat_kw(kw) {
            let operand = self.any(power + 1)?;
            self.must_be_condition(&operand)?;
            operands.push(operand);
        }
        self.height += operands.len().next_power_of_two().ilog2() as usize;
        let mut expr = balance(operands, op);
        expr.span = self.span_from(start);
        Ok(expr)
    }

    #[inline(never)]
    fn comparison(&mut self, op: BinaryOp, left: Expr, start: usize) -> ParseResult<Expr> {
        if matches!(self.kind(), TokenKind::Key(Kw::All | Kw::Any | Kw::Some)) {
            let all = self.advance().kind == TokenKind::Key(Kw::All);
            let query = self.subquery()?;
            let kind = ExprKind::Quantified { op, all, left: Box::new(left), query };
            return Ok(Expr::new(kind, self.span_from(start)));
        }
        let right = self.any(ADD)?;
        self.binary(op, left, right, start)
    }

    /// LIKE, BETWEEN, IN, IS NULL after `expr`.
    #[inline(never)]
    fn test(&mut self, expr: Expr) -> ParseResult<ExprKind> {
        let expr = Box::new(expr);
        self.height += 1;
        if self.eat_kw(Kw::Is) {
            let negated = self.eat_kw(Kw::Not);
            if self.eat_kw(Kw::Distinct) {
                self.expect_kw(Kw::From)?;
                let other = Box::new(self.value()?);
                return Ok(ExprKind::IsDistinct { negated, left: expr, right: other });
            }
            self.expect_kw(Kw::Null)?;
            return Ok(ExprKind::IsNull { negated, expr });
        }
        let negated = self.eat_kw(Kw::Not);
        if self.eat_kw(Kw::Like) {
            let pattern = Box::new(self.value()?);
            let escape = if self.at_escape() {
                Some(Box::new(self.like_escape()?))
            } else if self.eat_kw(Kw::Escape) {
                Some(Box::new(self.value()?))
            } else {
                None
            };
            return Ok(ExprKind::Like { negated, expr, pattern, escape });
        }
        if self.eat_kw(Kw::Between) {
            let low = Box::new(self.value()?);
            self.expect_kw(Kw::And)?;
            let high = Box::new(self.value()?);
            return Ok(ExprKind::Between { negated, expr, low, high });
        }
        self.expect_kw(Kw::In)?;
        if self.query_in_parens() {
            let query = self.subquery()?;
            return Ok(ExprKind::InSubquery { negated, expr, query });
        }
        self.expect_sym(Sym::LeftParen)?;
        let list = self.comma_list(Self::value)?;
        self.expect_sym(Sym::RightParen)?;
        Ok(ExprKind::InList { negated, expr, list: list.into() })
    }

    /// `<<` or `>>`: two signs without anything between.
    fn is_shift(&self) -> bool {
        let next = self.tokens.get(self.at + 1);
        next.is_some_and(|next| {
            let here = self.token();
            next.kind == here.kind && next.span.start == here.span.end
        })
    }

    fn infix(&self) -> Option<(Infix, u8)> {
        use BinaryOp as B;
        let arithmetic = |op, power| Some((Infix::Arithmetic(op), power));
        let compare = |op| Some((Infix::Compare(op), COMPARE));
        match self.kind() {
            TokenKind::Symbol(sym) => match sym {
                Sym::Plus => arithmetic(B::Add, ADD),
                Sym::Minus => arithmetic(B::Sub, ADD),
                Sym::Ampersand => arithmetic(B::BitAnd, ADD),
                Sym::Pipe => arithmetic(B::BitOr, ADD),
                Sym::Caret => arithmetic(B::BitXor, ADD),
                Sym::Star => arithmetic(B::Mul, MUL),
                Sym::Slash => arithmetic(B::Div, MUL),
                Sym::Percent => arithmetic(B::Mod, MUL),
                Sym::Eq => compare(B::Eq),
                Sym::NotEq => compare(B::NotEq),
                Sym::Lt | Sym::Gt if self.is_shift() => Some((Infix::Shift(sym == Sym::Lt), ADD)),
                Sym::Lt => compare(B::Lt),
                Sym::LtEq => compare(B::LtEq),
                Sym::Gt => compare(B::Gt),
                Sym::GtEq => compare(B::GtEq),
                _ => None,
            },
            TokenKind::Key(kw) => match kw {
                Kw::Or => Some((Infix::Logic(B::Or), OR)),
                Kw::And => Some((Infix::Logic(B::And), AND)),
                Kw::Like | Kw::Between | Kw::In | Kw::Is => Some((Infix::Test, COMPARE)),
                Kw::Not => match self.kind_ahead(1) {
                    TokenKind::Key(Kw::Like | Kw::Between | Kw::In) => Some((Infix::Test, COMPARE)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Signs, each with what it belongs to, or a primary with its COLLATE.
    fn prefix(&mut self, conditions: bool) -> ParseResult<Expr> {
        let start = self.at;
        let op = match self.kind() {
            TokenKind::Symbol(Sym::Minus) => UnaryOp::Minus,
            TokenKind::Symbol(Sym::Plus) => UnaryOp::Plus,
            TokenKind::Symbol(Sym::Tilde) => UnaryOp::BitNot,
            _ => {
                let mut expr = self.primary(conditions)?;
                while self.at_kw(Kw::Collate) && !expr.is_condition() {
                    self.at += 1;
                    self.height += 1;
                    if self.height > MAX_DEPTH {
                        return Err(self.too_deep());
                    }
                    let collation = self.ident()?;
                    if self.at_sym(Sym::Dot) {
                        self.properties()?;
                    }
                    let kind = ExprKind::Collate { expr: Box::new(expr), collation };
                    expr = Expr::new(kind, self.span_from(start));
                }
                while self.at_word("AT") && self.word_ahead(1, "TIME") && self.word_ahead(2, "ZONE")
                {
                    expr = self.at_time_zone(expr, start)?;
                }
                return Ok(expr);
            }
        };
        self.at += 1;
        // + and - before a value are on the level of + and - between two: `100 / -10 / 2` is `100 / -(10 / 2)`.
        let operand = self.any(if op == UnaryOp::BitNot { PREFIX } else { MUL })?;
        let kind = ExprKind::Unary { op, expr: Box::new(operand) };
        Ok(Expr::new(kind, self.span_from(start)))
    }

    fn primary(&mut self, conditions: bool) -> ParseResult<Expr> {
        self.breathe(8)?;
        let start = self.at;
        let kind = match self.kind() {
            TokenKind::Symbol(Sym::LeftParen) => return self.parenthesis(conditions),
            TokenKind::Variable => ExprKind::Variable(self.variable()?),
            TokenKind::SystemVariable => {
                let token = self.advance();
                ExprKind::SystemVariable(self.token_text(token).to_owned())
            }
            TokenKind::Key(kw) => self.keyword_primary(kw, conditions)?,
            TokenKind::Word
                if conditions
                    && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen)
                    && self.at_word("MATCH") =>
            {
                self.graph_predicate()?
            }
            _ if self.at_name() => self.named()?,
            // `..t.c` and `.c`: the parts before are left out.
            TokenKind::Symbol(Sym::Dot) if self.name_after_dots() => {
                while self.eat_sym(Sym::Dot) {}
                self.named()?
            }
            TokenKind::Unknown if self.at_escape() => self.escape()?,
            _ => ExprKind::Literal(self.literal()?),
        };
        let value = Expr::new(kind, self.span_from(start));
        if self.at_sym(Sym::Dot) { self.value_methods(value, start) } else { Ok(value) }
    }

    fn parenthesis(&mut self, conditions: bool) -> ParseResult<Expr> {
        let start = self.at;
        if self.query_in_parens() {
            let query = self.subquery()?;
            let expr = Expr::new(ExprKind::Subquery(query), self.span_from(start));
            return self.value_methods(expr, start);
        }
        self.at += 1;
        let mut expr = self.any(if conditions { 0 } else { ADD })?;
        // `(a, b) IN ...`
        if conditions && self.at_sym(Sym::Comma) {
            self.must_be_condition(&expr)?;
        }
        self.expect_sym(Sym::RightParen)?;
        expr.span = self.span_from(start);
        if self.at_sym(Sym::Dot) { self.value_methods(expr, start) } else { Ok(expr) }
    }

    /// Up to three dots, then a name.
    fn name_after_dots(&self) -> bool {
        let dots =
            (0..4).take_while(|i| self.kind_ahead(*i) == TokenKind::Symbol(Sym::Dot)).count();
        dots <= 3 && self.name_ahead(dots)
    }

    #[inline(never)]
    fn keyword_primary(&mut self, kw: Kw, conditions: bool) -> ParseResult<ExprKind> {
        let called = self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen);
        match kw {
            Kw::Null => {
                self.at += 1;
                Ok(ExprKind::Literal(Literal::Null))
            }
            Kw::Case => self.nested(1, Self::case),
            Kw::Contains | Kw::Freetext if conditions && called => self.fulltext_predicate(),
            Kw::Exists if conditions => {
                self.at += 1;
                Ok(ExprKind::Exists(self.subquery()?))
            }
            Kw::Convert | Kw::TryConvert => {
                self.nested(1, |parser| parser.convert(kw == Kw::TryConvert))
            }
            // A condition that looks like a call: as `UPDATE(c) = 1`.
            Kw::Update if called && conditions => {
                let start = self.at;
                let name = ObjectName::bare(self.take_ident());
                let kind = self.function_call(name)?;
                let span = self.span_from(start);
                let one = ExprKind::Literal(Literal::Int(1));
                Ok(ExprKind::Binary {
                    op: BinaryOp::Eq,
                    left: Box::new(Expr::new(kind, span)),
                    right: Box::new(Expr::new(one, span)),
                })
            }
            Kw::Left | Kw::Right | Kw::Coalesce | Kw::Nullif | Kw::Identity | Kw::Update
                if called =>
            {
                let name = ObjectName::bare(self.take_ident());
                self.function_call(name)
            }
            Kw::CurrentTimestamp
            | Kw::CurrentUser
            | Kw::SessionUser
            | Kw::SystemUser
            | Kw::User => {
                let name = ObjectName::bare(self.take_ident());
                Ok(ExprKind::Function(Box::new(FunctionCall::new(name, Vec::new()))))
            }
            Kw::IdentityCol | Kw::RowGuidCol => {
                let name = self.take_ident();
                Ok(ExprKind::Column(ColumnRef { qualifier: Vec::new(), name }))
            }
            _ => Err(self.unexpected()),
        }
    }

    #[inline(never)]
    fn case(&mut self) -> ParseResult<ExprKind> {
        self.at += 1;
        let operand = if self.at_kw(Kw::When) { None } else { Some(Box::new(self.value()?)) };
        let mut branches = Vec::new();
        while self.eat_kw(Kw::When) {
            let when = if operand.is_some() { self.value()? } else { self.condition()? };
            self.expect_kw(Kw::Then)?;
            let then = self.value()?;
            branches.push(CaseBranch { when, then });
        }
        if branches.is_empty() {
            return Err(self.unexpected());
        }
        let otherwise = if self.eat_kw(Kw::Else) { Some(Box::new(self.value()?)) } else { None };
        self.expect_kw(Kw::End)?;
        Ok(ExprKind::Case { operand, branches, otherwise })
    }

    /// IIF is CASE in short.
    #[inline(never)]
    pub(super) fn iif(&mut self) -> ParseResult<ExprKind> {
        self.at += 2;
        let when = self.condition()?;
        self.expect_sym(Sym::Comma)?;
        let then = self.value()?;
        self.expect_sym(Sym::Comma)?;
        let otherwise = self.value()?;
        self.expect_sym(Sym::RightParen)?;
        Ok(ExprKind::Case {
            operand: None,
            branches: vec![CaseBranch { when, then }],
            otherwise: Some(Box::new(otherwise)),
        })
    }

    #[inline(never)]
    pub(super) fn cast(&mut self, try_: bool) -> ParseResult<ExprKind> {
        let name = self.token();
        self.at += 2;
        let expr = self.value()?;
        if !self.at_kw(Kw::As) {
            let near = self.token_text(name);
            let text = format!("Incorrect syntax near '{near}', expected 'AS'.");
            return Err(SyntaxError::new(1035, name.span.line, near, text));
        }
        self.at += 1;
        let ty = self.type_name()?;
        self.expect_sym(Sym::RightParen)?;
        Ok(ExprKind::Cast(Box::new(Cast {
            expr,
            ty,
            style: None,
            try_,
            convert: false,
            parse: false,
        })))
    }

    /// `CAST(expr AS ty)`.
    pub(super) fn conversion(&self, expr: Expr, ty: TypeName) -> ExprKind {
        ExprKind::Cast(Box::new(Cast {
            expr,
            ty,
            style: None,
            try_: false,
            convert: false,
            parse: false,
        }))
    }

    #[inline(never)]
    fn convert(&mut self, try_: bool) -> ParseResult<ExprKind> {
        self.at += 1;
        self.expect_sym(Sym::LeftParen)?;
        let ty = self.type_name()?;
        self.expect_sym(Sym::Comma)?;
        let expr = self.value()?;
        let style = if self.eat_sym(Sym::Comma) { Some(self.value()?) } else { None };
        self.expect_sym(Sym::RightParen)?;
        Ok(ExprKind::Cast(Box::new(Cast { expr, ty, style, try_, convert: true, parse: false })))
    }

    /// `(` then SELECT or WITH, perhaps with more parentheses between.
    pub(super) fn query_in_parens(&self) -> bool {
        let mut ahead = 0;
        while self.kind_ahead(ahead) == TokenKind::Symbol(Sym::LeftParen) {
            ahead += 1;
        }
        if ahead == 0 || !matches!(self.kind_ahead(ahead), TokenKind::Key(Kw::Select | Kw::With)) {
            return false;
        }
        // `((SELECT 1) + 2)` is a value: what follows the innermost parenthesis decides.
        ahead == 1 || self.query_goes_on_after(ahead)
    }

    /// After the innermost of `opened` parentheses closes, do the others hold nothing but a query?
    fn query_goes_on_after(&self, opened: usize) -> bool {
        let mut open = opened;
        let mut ahead = opened;
        loop {
            match self.kind_ahead(ahead) {
                TokenKind::Symbol(Sym::LeftParen) => open += 1,
                TokenKind::Symbol(Sym::RightParen) => {
                    open -= 1;
                    if open == opened - 1 {
                        break;
                    }
                }
                TokenKind::End => return true,
                _ => {}
            }
            ahead += 1;
        }
        matches!(
            self.kind_ahead(ahead + 1),
            TokenKind::Symbol(Sym::RightParen)
                | TokenKind::Key(Kw::Union | Kw::Except | Kw::Intersect | Kw::Order)
                | TokenKind::End
        )
    }

    /// `(query)`.
    #[inline(never)]
    pub(super) fn subquery(&mut self) -> ParseResult<Box<Query>> {
        self.expect_sym(Sym::LeftParen)?;
        let outside = std::mem::replace(&mut self.in_subquery, true);
        let query = self.nested(QUERY_LEVELS, Self::query);
        self.in_subquery = outside;
        let query = query?;
        self.expect_sym(Sym::RightParen)?;
        Ok(Box::new(query))
    }
}

enum Infix {
    /// `<<` (true) or `>>`.
    Shift(bool),
    Logic(BinaryOp),
    Arithmetic(BinaryOp),
    Compare(BinaryOp),
    /// LIKE, BETWEEN, IN, IS, with or without NOT.
    Test,
}

fn balance(mut operands: Vec<Expr>, op: BinaryOp) -> Expr {
    while operands.len() > 1 {
        let mut halved = Vec::with_capacity(operands.len().div_ceil(2));
        let mut rest = operands.into_iter();
        while let Some(left) = rest.next() {
            halved.push(match rest.next() {
                Some(right) => {
                    let span = left.span.to(right.span);
                    let (left, right) = (Box::new(left), Box::new(right));
                    Expr::new(ExprKind::Binary { op, left, right }, span)
                }
                None => left,
            });
        }
        operands = halved;
    }
    operands.pop().expect("a chain has operands")
}
