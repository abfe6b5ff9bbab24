//! Expressions: names found, types derived, conversions made explicit.

use ir::*;
use runtime::task::Many;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::Binder;
use semantics::constants::{constant, constant_int};
use semantics::type_names::system_type_or_xml;
use semantics::typing::{call, cast, nullable};
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A value.
    pub fn expr(&mut self, e: &ast::Expr) -> Result<Expr> {
        let bound = self.deeper(1, |b| b.expr_at(e))?;
        Ok(self.given(bound))
    }

    fn expr_at(&mut self, e: &ast::Expr) -> Result<Expr> {
        use ast::ExprKind as K;
        let line = e.span.line.max(1);
        match &e.kind {
            K::Literal(ast::Literal::String { value, national: false }) if !value.is_ascii() => {
                Ok(self.varchar_literal(value))
            }
            K::Literal(literal) => constant(literal, line),
            K::Column(c) => {
                let found = match self.column(c, line) {
                    Ok(found) => found,
                    Err(e) => return self.property_of_column(c, line)?.ok_or(e),
                };
                self.check_node_column(found.id, &c.name.value)?;
                Ok(self.column_value(&found))
            }
            K::Variable(v) => self.variable_value(v),
            K::SystemVariable(name) => self.system_variable(name, line),
            K::Unary { op, expr } => match op {
                ast::UnaryOp::Plus => self.expr(expr),
                ast::UnaryOp::Minus => {
                    let input = self.expr(expr)?;
                    self.minus(input)
                }
                ast::UnaryOp::BitNot => {
                    let input = self.expr(expr)?;
                    if !input.ty.is_integer() {
                        return Err(self.invalid_operand(input.ty, "'~'", line));
                    }
                    let (ty, nullable) = (input.ty, input.nullable);
                    Ok(Expr::new(ExprKind::BitNot(Box::new(input)), ty, nullable))
                }
                ast::UnaryOp::Not => self.condition(e),
            },
            K::Binary { op, left, right } => match arith_op(*op) {
                Some(op) => {
                    let left = self.expr(left)?;
                    let right = self.expr(right)?;
                    self.arith(op, left, right)
                }
                None => self.condition(e),
            },
            K::Chain { first, rest } => self.chain(first, rest, line),
            K::Subquery(query) => {
                let query = self.subquery(query, false)?;
                let (ty, id) = (query.output[0].ty, &query.output);
                debug_assert_eq!(id.len(), 1);
                let kind =
                    ExprKind::Subquery { kind: SubqueryKind::Scalar, query: Box::new(query) };
                Ok(Expr::new(kind, ty, true))
            }
            K::Case { operand, branches, otherwise } => {
                self.in_conditional(|b| b.case(operand.as_deref(), branches, otherwise.as_deref()))
            }
            K::Cast(c) => self.cast_call(c, line),
            K::Function(f) => self.function(f, line),
            K::Fulltext(ask) if ask.ranks => self.fulltext(ask),
            K::Collate { expr, collation } => {
                let input = self.expr(expr)?;
                self.collate(input, &collation.value, line)
            }
            K::Like { .. }
            | K::Fulltext(_)
            | K::Between { .. }
            | K::InList { .. }
            | K::InSubquery { .. }
            | K::Exists(_)
            | K::Quantified { .. }
            | K::IsDistinct { .. }
            | K::IsNull { .. } => self.condition(e),
        }
    }

    /// A condition: an expression of type bit whose NULL is UNKNOWN.
    pub fn condition(&mut self, e: &ast::Expr) -> Result<Expr> {
        self.deeper(1, |b| b.condition_at(e))
    }

    fn condition_at(&mut self, e: &ast::Expr) -> Result<Expr> {
        use ast::ExprKind as K;
        let line = e.span.line.max(1);
        match &e.kind {
            K::Unary { op: ast::UnaryOp::Not, expr } => Ok(Expr::negate(self.condition(expr)?)),
            K::Binary { op: ast::BinaryOp::And, left, right } => {
                Ok(Expr::and(self.condition(left)?, self.condition(right)?))
            }
            K::Binary { op: ast::BinaryOp::Or, left, right } => {
                Ok(Expr::or(self.condition(left)?, self.condition(right)?))
            }
            K::Binary { op, left, right } if op.is_comparison() => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                let op = compare_op(*op);
                if !self.settings.ansi_nulls && matches!(op, CompareOp::Eq | CompareOp::Ne) {
                    return self.compare_with_null(op, left, right);
                }
                self.compare(op, left, right)
            }
            K::Like { negated, expr, pattern, escape } => {
                let input = self.expr(expr)?;
                let pattern = self.expr(pattern)?;
                for (i, e) in [&input, &pattern].into_iter().enumerate() {
                    if e.ty.is_xml() || matches!(e.ty, SqlType::Variant | SqlType::Clr(_)) {
                        return Err(BindError::new(
                            8116,
                            16,
                            line,
                            format!(
                                "Argument data type {} is invalid for argument {} of like function.",
                                e.ty.name(),
                                i + 1
                            ),
                        ));
                    }
                }
                let (input, pattern) = (self.text(input)?, self.text(pattern)?);
                let (input, pattern) = self.one_rule(input, pattern, "like")?;
                let escape = match escape {
                    Some(escape) => {
                        let escape = self.expr(escape)?;
                        Some(Box::new(self.text(escape)?))
                    }
                    None => None,
                };
                let nullable = input.nullable
                    || pattern.nullable
                    || escape.as_ref().is_some_and(|e| e.nullable);
                let kind = ExprKind::Like {
                    input: Box::new(input),
                    pattern: Box::new(pattern),
                    escape,
                    negated: *negated,
                };
                Ok(Expr::new(kind, SqlType::Bit, nullable))
            }
            K::Between { negated, expr, low, high } => {
                let input = self.expr(expr)?;
                let low = self.expr(low)?;
                let high = self.expr(high)?;
                let low = self.compare(CompareOp::Ge, input.clone(), low)?;
                let high = self.compare(CompareOp::Le, input, high)?;
                let both = Expr::and(low, high);
                Ok(if *negated { Expr::negate(both) } else { both })
            }
            K::InList { negated, expr, list } => {
                let input = self.expr(expr)?;
                let mut items = Many::with_capacity(list.len());
                for item in list {
                    items.push(self.expr(item)?);
                }
                self.in_list(input, items, *negated)
            }
            K::InSubquery { negated, expr, query } => {
                let needle = self.expr(expr)?;
                let query = self.subquery(query, false)?;
                let (needle, query) = self.matching(needle, query)?;
                let kind = ExprKind::Subquery {
                    kind: SubqueryKind::In { needle: Box::new(needle) },
                    query: Box::new(query),
                };
                let found = Expr::new(kind, SqlType::Bit, true);
                Ok(if *negated { Expr::negate(found) } else { found })
            }
            K::Fulltext(ask) if !ask.ranks => self.fulltext(ask),
            K::Exists(query) => {
                let query = self.subquery(query, true)?;
                let kind =
                    ExprKind::Subquery { kind: SubqueryKind::Exists, query: Box::new(query) };
                Ok(Expr::new(kind, SqlType::Bit, false))
            }
            K::Quantified { op, all, left, query } => {
                let needle = self.expr(left)?;
                let query = self.subquery(query, false)?;
                let (needle, query) = self.matching(needle, query)?;
                let kind = SubqueryKind::Quantified {
                    needle: Box::new(needle),
                    op: compare_op(*op),
                    all: *all,
                };
                let kind = ExprKind::Subquery { kind, query: Box::new(query) };
                Ok(Expr::new(kind, SqlType::Bit, true))
            }
            K::IsNull { negated, expr } => Ok(Expr::is_null(self.node_or_value(expr)?, *negated)),
            K::IsDistinct { negated, left, right } => self.is_distinct(*negated, left, right),
            _ => Err(BindError::new(
                4145,
                15,
                line,
                "An expression of non-boolean type specified in a context where a condition is \
                 expected.",
            )),
        }
    }

    fn in_list(&mut self, input: Expr, list: Many<Expr>, negated: bool) -> Result<Expr> {
        // Usually every item meets the input in one type; then it is one operation. Otherwise each
        // comparison converts for itself, as SQL Server's OR of equalities does.
        let mut meets = Many::with_capacity(list.len());
        let (mut uniform, mut nullable) = (true, false);
        for item in list {
            self.breath.steps(16)?;
            let (left, right) = self.comparable(input.clone(), item)?;
            nullable |= left.nullable || right.nullable;
            uniform = uniform && meets.first().is_none_or(|(first, _)| *first == left);
            meets.push((left, right));
        }
        if uniform {
            let input = meets[0].0.clone();
            let list = meets.into_iter().map(|(_, right)| right).collect();
            let kind = ExprKind::In { input: Box::new(input), list, negated };
            return Ok(Expr::new(kind, SqlType::Bit, nullable));
        }
        let equalities = meets
            .into_iter()
            .map(|(left, right)| Expr::compare(CompareOp::Eq, left, right))
            .collect();
        let any = Expr::any_of(equalities)
            .unwrap_or_else(|| Expr::constant(Value::Bit(false), SqlType::Bit));
        Ok(if negated { Expr::negate(any) } else { any })
    }

    /// Needle and a query's only column, brought to one type.
    fn matching(&mut self, needle: Expr, mut query: Query) -> Result<(Expr, Query)> {
        let output = query.output[0].clone();
        let column = Expr::col(output.id, output.ty, output.nullable);
        let (needle, converted) = self.comparable(needle, column.clone())?;
        if converted != column {
            let id = self.new_col();
            let ty = converted.ty;
            query.rel = Rel::Project { input: Box::new(query.rel), exprs: vec![(id, converted)] };
            query.output[0] = OutputColumn { id, ty, ..output };
        }
        Ok((needle, query))
    }

    fn system_variable(&self, name: &str, line: u32) -> Result<Expr> {
        use SqlType::*;
        let (var, ty) = match name.to_ascii_uppercase().as_str() {
            "@@SPID" => (SysVar::Spid, SmallInt),
            "@@ROWCOUNT" => (SysVar::RowCount, Int),
            "@@TRANCOUNT" => (SysVar::TranCount, Int),
            "@@ERROR" => (SysVar::Error, Int),
            "@@IDENTITY" => (SysVar::Identity, SqlType::numeric(38, 0)),
            "@@FETCH_STATUS" => (SysVar::FetchStatus, Int),
            "@@PROCID" => (SysVar::ProcId, Int),
            "@@NESTLEVEL" => (SysVar::NestLevel, Int),
            "@@DATEFIRST" => (SysVar::DateFirst, TinyInt),
            "@@LOCK_TIMEOUT" => (SysVar::LockTimeout, Int),
            "@@OPTIONS" => (SysVar::Options, Int),
            "@@MAX_CONNECTIONS" => (SysVar::MaxConnections, Int),
            "@@VERSION" => (SysVar::Version, NVarChar(Len::N(300))),
            "@@SERVERNAME" => (SysVar::ServerName, NVarChar(Len::N(128))),
            "@@SERVICENAME" => (SysVar::ServiceName, NVarChar(Len::N(128))),
            "@@LANGUAGE" => (SysVar::Language, NVarChar(Len::N(128))),
            "@@TEXTSIZE" => (SysVar::TextSize, Int),
            "@@LANGID" => (SysVar::LangId, SmallInt),
            "@@MAX_PRECISION" => (SysVar::MaxPrecision, TinyInt),
            "@@MICROSOFTVERSION" => (SysVar::MicrosoftVersion, Int),
            "@@CURSOR_ROWS" => (SysVar::CursorRows, Int),
            "@@TIMETICKS" => return Ok(Expr::int(31_250)),
            "@@REMSERVER" => return Ok(Expr::constant(Value::Null, NVarChar(Len::N(128)))),
            "@@DBTS" => {
                let func = FuncId::LastRowVersion;
                let kind = ExprKind::Func { func, args: Vec::new() };
                return Ok(Expr::new(kind, VarBinary(Len::N(8)), false));
            }
            other if let Some(figure) = ServerFigure::of_name(other) => {
                let kind = ExprKind::Func { func: FuncId::ServerFigure(figure), args: Vec::new() };
                return Ok(Expr::new(kind, Int, false));
            }
            _ => {
                return Err(BindError::new(
                    137,
                    15,
                    line,
                    format!("Must declare the scalar variable \"{name}\"."),
                )
                .with_state(2));
            }
        };
        Ok(Expr::new(ExprKind::Sys(var), ty, matches!(var, SysVar::Identity)))
    }

    pub fn minus(&self, input: Expr) -> Result<Expr> {
        let ty = types::arith::neg_type(input.ty).map_err(|e| BindError::of_type(e, self.line))?;
        let nullable = input.nullable;
        let input =
            if ty.is_integer() { self.coerce(input, ty, CastMode::Implicit)? } else { input };
        Ok(Expr::new(ExprKind::Neg(Box::new(input)), ty, nullable))
    }

    pub fn invalid_operand(&self, ty: SqlType, operator: &str, line: u32) -> BindError {
        BindError::new(
            8117,
            16,
            line,
            format!("Operand data type {} is invalid for {operator} operator.", ty.message_name()),
        )
    }

    fn case(
        &mut self,
        operand: Option<&ast::Expr>,
        branches: &[ast::CaseBranch],
        otherwise: Option<&ast::Expr>,
    ) -> Result<Expr> {
        let operand = operand.map(|e| self.expr(e)).transpose()?;
        let mut bound = Vec::with_capacity(branches.len());
        for branch in branches {
            let when = match &operand {
                Some(operand) => {
                    let value = self.expr(&branch.when)?;
                    self.compare(CompareOp::Eq, operand.clone(), value)?
                }
                None => self.condition(&branch.when)?,
            };
            bound.push((when, self.expr(&branch.then)?));
        }
        let otherwise = otherwise.map(|e| self.expr(e)).transpose()?;
        self.make_case(bound, otherwise)
    }

    /// `left IS [NOT] DISTINCT FROM right`: never unknown.
    #[inline(never)]
    fn is_distinct(&mut self, negated: bool, left: &ast::Expr, right: &ast::Expr) -> Result<Expr> {
        let (a, b) = (self.expr(left)?, self.expr(right)?);
        let null = |e: &Expr, negated| Expr::is_null(e.clone(), negated);
        let neither = Expr::and(null(&a, false), null(&b, false));
        let both = Expr::and(null(&a, true), null(&b, true));
        let same = Expr::and(both, self.compare(CompareOp::Eq, a, b)?);
        // Where a side is NULL the comparison does not count.
        let same = Expr { nullable: false, ..Expr::or(neither, same) };
        Ok(if negated { same } else { Expr::negate(same) })
    }

    /// CASE with its results in their common type; 8133 when all are the constant NULL.
    pub fn make_case(&self, branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Result<Expr> {
        let results: Vec<&Expr> = branches.iter().map(|(_, r)| r).chain(&otherwise).collect();
        let ty = self.common(&results)?.ok_or_else(|| {
            self.error(
                8133,
                "At least one of the result expressions in a CASE specification must be an \
                 expression other than the NULL constant.",
            )
        })?;
        let mut nullable = otherwise.is_none();
        let mut out = Vec::with_capacity(branches.len());
        for (when, then) in branches {
            let then = self.coerce(then, ty, CastMode::Implicit)?;
            nullable |= then.nullable;
            out.push((when, then));
        }
        let otherwise = match otherwise {
            Some(e) => {
                let e = self.coerce(e, ty, CastMode::Implicit)?;
                nullable |= e.nullable;
                Some(Box::new(e))
            }
            None => None,
        };
        Ok(Expr::new(ExprKind::Case { branches: out, otherwise }, ty, nullable))
    }

    /// CONVERT and TRY_CONVERT with a style that is known when the statement runs.
    #[inline(never)]
    fn styled(
        &mut self,
        input: Expr,
        style: &ast::Expr,
        ty: SqlType,
        try_: bool,
        line: u32,
    ) -> Result<Expr> {
        types::convert::check_explicit(input.ty, ty).map_err(|e| BindError::of_type(e, line))?;
        let style = self.expr(style)?;
        self.no_text(&style, "convert", 3, line)?;
        let style = self.coerce(style, SqlType::Int, CastMode::Implicit)?;
        let func = FuncId::Convert { try_ };
        Ok(nullable(call(func, vec![input, style], ty)))
    }

    fn cast_call(&mut self, c: &ast::Cast, line: u32) -> Result<Expr> {
        let ty = system_type_or_xml(self.names, &c.ty, true).map_err(|e| match e.number {
            // An alias type is none that CAST knows.
            2715 => BindError::new(
                243,
                16,
                line,
                format!("Type {} is not a defined system type.", c.ty.name),
            ),
            _ => e,
        })?;
        if c.parse {
            return self.parse_call(c, ty, line);
        }
        let input = self.expr(&c.expr)?;
        if !semantics::table_definition::is_long_type(&c.ty) {
            self.check_long_cast(&input, ty, line)?;
            return self.cast_to(c, input, ty, line);
        }
        let made = self.cast_to(c, input, ty, line)?;
        // Twice, which no other expression of that type is.
        let made = cast(made, ty, if c.try_ { CastMode::Try } else { CastMode::Explicit }, None);
        self.long_casts.push(made.clone());
        Ok(made)
    }

    fn cast_to(&mut self, c: &ast::Cast, input: Expr, ty: SqlType, line: u32) -> Result<Expr> {
        let style = match &c.style {
            None => None,
            Some(e) => match constant_int(e) {
                Some(style) => Some(types::convert::explicit_style(style, input.ty, ty)),
                None => return self.styled(input, e, ty, c.try_, line),
            },
        };
        let mode = if c.try_ { CastMode::Try } else { CastMode::Explicit };
        if input.ty == ty && style.is_none() {
            // Kept as a node of its own: CAST(NULL AS x) is no longer the untyped NULL.
            return Ok(cast(input, ty, mode, None));
        }
        if input.is_null_constant() {
            let typed = Expr::constant(Value::Null, ty);
            return Ok(cast(typed, ty, mode, None));
        }
        types::convert::check_explicit(input.ty, ty).map_err(|e| BindError::of_type(e, line))?;
        match self.page_of(input.ty, ty, style) {
            Some(rule) => Ok(self.cast_to_page(rule, input, ty, style.unwrap_or(0))),
            None => Ok(cast(input, ty, mode, style)),
        }
    }

    /// 529: an old long type becomes a text or a binary alone.
    fn check_long_cast(&self, input: &Expr, ty: SqlType, line: u32) -> Result<()> {
        let Some(from) = self.long_name(input) else { return Ok(()) };
        let fits = match from {
            "image" => ty.is_binary(),
            _ => ty.is_character() || ty.is_xml(),
        };
        if fits {
            return Ok(());
        }
        let to = ty.message_name();
        let text = format!("Explicit conversion from data type {from} to {to} is not allowed.");
        Err(BindError::new(529, 16, line, text).with_state(2))
    }
}

fn compare_op(op: ast::BinaryOp) -> CompareOp {
    match op {
        ast::BinaryOp::NotEq => CompareOp::Ne,
        ast::BinaryOp::Lt => CompareOp::Lt,
        ast::BinaryOp::LtEq => CompareOp::Le,
        ast::BinaryOp::Gt => CompareOp::Gt,
        ast::BinaryOp::GtEq => CompareOp::Ge,
        _ => CompareOp::Eq,
    }
}

pub(crate) fn arith_op(op: ast::BinaryOp) -> Option<ArithOp> {
    Some(match op {
        ast::BinaryOp::Add => ArithOp::Add,
        ast::BinaryOp::Sub => ArithOp::Sub,
        ast::BinaryOp::Mul => ArithOp::Mul,
        ast::BinaryOp::Div => ArithOp::Div,
        ast::BinaryOp::Mod => ArithOp::Mod,
        ast::BinaryOp::BitAnd => ArithOp::BitAnd,
        ast::BinaryOp::BitOr => ArithOp::BitOr,
        ast::BinaryOp::BitXor => ArithOp::BitXor,
        _ => return None,
    })
}
