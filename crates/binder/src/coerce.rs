//! Conversions made explicit, and the types of operators.

use ir::*;
use types::{SqlType, TypeError, Value, arith, convert};

use crate::context::Binder;
use semantics::typing::{
    cast, constant_type, empty_for_null, is_variable, long_type, null_operand_type, spatial_name,
    text_type,
};
use semantics::{BindError, Result};

impl Binder<'_> {
    /// `expr` as a value of type `to`; 206, 257, 529 when there is no way.
    pub fn coerce(&self, mut expr: Expr, to: SqlType, mode: CastMode) -> Result<Expr> {
        if expr.ty == to {
            return Ok(expr);
        }
        // NULL, and what needs another name alone.
        if expr.is_null_constant() || expr.ty.has_values_of(to) {
            expr.ty = to;
            return Ok(expr);
        }
        // The column of a query in FROM that is NULL itself takes any type, as NULL does.
        if self.is_null_column(&expr) {
            return Ok(Expr::constant(Value::Null, to));
        }
        let check = match mode {
            _ if expr.ty == crate::UNDECLARED => Ok(()),
            CastMode::Explicit | CastMode::Try => convert::check_explicit(expr.ty, to),
            CastMode::Implicit | CastMode::Nearest | CastMode::Latest | CastMode::Store { .. } => {
                convert::check_implicit(expr.ty, to)
            }
        };
        check.map_err(|e| BindError::of_type(e, self.line))?;
        match self.page_of(expr.ty, to, None) {
            Some(rule) => Ok(self.cast_to_page(rule, expr, to, 0)),
            None => Ok(cast(expr, to, mode, None)),
        }
    }

    /// The one type of several alternatives (CASE, COALESCE, VALUES, UNION); NULL constants adapt.
    pub fn common(&self, exprs: &[&Expr]) -> Result<Option<SqlType>> {
        let mut ty: Option<SqlType> = None;
        // Beside a decimal a whole number that is written out counts with just its digits.
        let decimals = exprs.iter().any(|e| matches!(e.ty, SqlType::Decimal { .. }));
        for expr in exprs.iter().filter(|e| !e.is_null_constant() && !self.is_null_column(e)) {
            let own = if decimals { constant_type(expr) } else { expr.ty };
            ty = Some(match ty {
                None => own,
                Some(ty) => {
                    SqlType::common_type(ty, own).map_err(|e| BindError::of_type(e, self.line))?
                }
            });
        }
        Ok(ty)
    }

    /// Both sides of a comparison in one type. Texts among themselves and decimals among themselves
    /// compare as they are.
    pub fn comparable(&self, left: Expr, right: Expr) -> Result<(Expr, Expr)> {
        self.comparable_by(CompareOp::Eq, left, right)
    }

    fn comparable_by(&self, op: CompareOp, left: Expr, right: Expr) -> Result<(Expr, Expr)> {
        self.together(op, &left, &right)?;
        for ty in [left.ty, right.ty] {
            if let Some(ty) = spatial_name(ty) {
                let op = op.message_name();
                return Err(BindError::of_type(TypeError::InvalidOperator { op, ty }, self.line));
            }
            self.sortable(ty, "")?;
        }
        let (left, right) = self.one_rule(left, right, op.message_name())?;
        let as_they_are = left.ty == right.ty
            || (left.ty.is_character() && right.ty.is_character())
            || (left.ty.is_binary() && right.ty.is_binary())
            || matches!((left.ty, right.ty), (SqlType::Decimal { .. }, SqlType::Decimal { .. }));
        if as_they_are {
            return Ok((left, right));
        }
        if left.is_null_constant() || right.is_null_constant() {
            let ty = if left.is_null_constant() { right.ty } else { left.ty };
            return Ok((
                self.coerce(left, ty, CastMode::Implicit)?,
                self.coerce(right, ty, CastMode::Implicit)?,
            ));
        }
        let ty = SqlType::common_type(left.ty, right.ty)
            .map_err(|e| BindError::of_type(e, self.line))?;
        let keep = |e: &Expr| {
            matches!((e.ty, ty), (SqlType::Decimal { .. }, SqlType::Decimal { .. }))
                || (e.ty.is_character() && ty.is_character())
        };
        let left = if keep(&left) { left } else { self.coerce(left, ty, CastMode::Implicit)? };
        let right = if keep(&right) { right } else { self.coerce(right, ty, CastMode::Implicit)? };
        Ok((left, right))
    }

    /// 402 for two types that a comparison does not take: an xml or an old long type beside another, a time beside a date.
    fn together(&self, op: CompareOp, left: &Expr, right: &Expr) -> Result<()> {
        if left.is_null_constant() || right.is_null_constant() {
            return Ok(());
        }
        let long = [self.long_name(left), self.long_name(right)];
        let apart = |a: &Expr, b: &Expr| match (a.ty, b.ty) {
            (SqlType::Time(_), SqlType::Time(_)) => false,
            (one, other) if one.is_xml() && other.is_xml() => false,
            (SqlType::Time(_), other) => other.is_temporal(),
            (one, _) if one.is_xml() => true,
            _ => false,
        };
        if long == [None, None] && !apart(left, right) && !apart(right, left) {
            return Ok(());
        }
        let text = format!(
            "The data types {} and {} are incompatible in the {} operator.",
            long[0].unwrap_or(left.ty.message_name()),
            long[1].unwrap_or(right.ty.message_name()),
            op.message_name()
        );
        Err(self.error(402, text))
    }

    /// 402 for text, ntext or image beside another text or binary that it is to be put together with.
    fn no_long_text(&self, left: &Expr, right: &Expr) -> Result<()> {
        let long = [self.long_name(left), self.long_name(right)];
        let joins = |e: &Expr| e.ty.is_character() || e.ty.is_binary();
        if long == [None, None] || !joins(left) || !joins(right) {
            return Ok(());
        }
        let text = format!(
            "The data types {} and {} are incompatible in the add operator.",
            long[0].unwrap_or(left.ty.message_name()),
            long[1].unwrap_or(right.ty.message_name()),
        );
        Err(self.error(402, text))
    }

    /// The name of the old long type that an expression is of: a column of text, ntext or image, a CAST as one, and what
    /// CASE and ISNULL choose of such. Its values are those of the (max) type.
    pub fn long_name(&self, e: &Expr) -> Option<&'static str> {
        let name = long_type(e.ty)?;
        let of_type = |e: &Expr| self.long_name(e) == Some(name);
        let is_long = match &e.kind {
            ExprKind::Col(id) => {
                self.long_columns.contains(id)
                    || self.column_behind(*id).is_some_and(catalog::ColumnDef::is_long)
            }
            ExprKind::Cast { .. } => self.long_casts.contains(e),
            ExprKind::Case { branches, otherwise } => {
                branches.iter().any(|(_, then)| of_type(then))
                    || otherwise.as_deref().is_some_and(of_type)
            }
            ExprKind::Func { func: FuncId::ReadText, .. } => true,
            ExprKind::Func { func: FuncId::IsNull, args } => args.first().is_some_and(of_type),
            _ => false,
        };
        is_long.then_some(name)
    }

    /// 306 for an expression of an old long type, 305 for xml, 249 for shapes.
    pub fn ordered(&self, e: &Expr, clause: &str) -> Result<()> {
        match self.long_name(e) {
            Some(_) => Err(self.not_ordered()),
            None => self.sortable(e.ty, clause),
        }
    }

    pub fn not_ordered(&self) -> BindError {
        self.error(
            306,
            "The text, ntext, and image data types cannot be compared or sorted, except when using IS NULL or LIKE \
             operator.",
        )
    }

    /// 305 for xml, which neither compares nor sorts; 249 for shapes.
    pub fn sortable(&self, ty: SqlType, clause: &str) -> Result<()> {
        match ty {
            ty if ty.is_spatial() => Err(self.error(
                249,
                format!(
                    "The type \"{}\" is not comparable. It cannot be used in the {clause} clause.",
                    ty.name()
                ),
            )),
            SqlType::Xml | SqlType::TypedXml { .. } => Err(self.error(
                305,
                "The XML data type cannot be compared or sorted, except when using the IS NULL operator.",
            )),
            _ => Ok(()),
        }
    }

    pub fn compare(&self, op: CompareOp, left: Expr, right: Expr) -> Result<Expr> {
        let (left, right) = self.comparable_by(op, left, right)?;
        Ok(Expr::compare(op, left, right))
    }

    /// `=` and `<>` under ANSI_NULLS OFF: the constant NULL, or a variable that is NULL, equals NULL; columns among
    /// themselves do not.
    pub fn compare_with_null(&self, op: CompareOp, left: Expr, right: Expr) -> Result<Expr> {
        let differs = op == CompareOp::Ne;
        for (one, other) in [(&left, &right), (&right, &left)] {
            if one.is_null_constant() {
                return Ok(Expr::is_null(other.clone(), differs));
            }
        }
        let compared = self.compare(op, left.clone(), right.clone())?;
        if !(is_variable(&left) || is_variable(&right)) {
            return Ok(compared);
        }
        let null = |e: &Expr, not: bool| Expr::is_null(e.clone(), not);
        Ok(match differs {
            false => Expr::or(compared, Expr::and(null(&left, false), null(&right, false))),
            true => Expr::or(
                compared,
                Expr::or(
                    Expr::and(null(&left, false), null(&right, true)),
                    Expr::and(null(&left, true), null(&right, false)),
                ),
            ),
        })
    }

    /// `left op right`, with the operands converted as [`ExprKind::Arith`] promises.
    pub fn arith(&self, op: ArithOp, left: Expr, right: Expr) -> Result<Expr> {
        // What an error names are the operands as they were written.
        let name = |e: &Expr| match e.is_null_constant() {
            true => "NULL",
            false => e.ty.message_name(),
        };
        let (a, b) = (name(&left), name(&right));
        let fail = |e| match e {
            TypeError::Incompatible { op, .. } => {
                BindError::of_type(TypeError::Incompatible { a, b, op }, self.line)
            }
            e => BindError::of_type(e, self.line),
        };
        if op == ArithOp::Add {
            self.no_long_text(&left, &right)?;
        }
        let (mut left, mut right) = (left, right);
        match (left.is_null_constant(), right.is_null_constant()) {
            (true, false) => left.ty = null_operand_type(right.ty),
            (false, true) => right.ty = null_operand_type(left.ty),
            (true, true) if matches!(op, ArithOp::BitAnd | ArithOp::BitOr | ArithOp::BitXor) => {
                let op = op.message_name();
                return Err(fail(TypeError::Incompatible { a, b, op }));
            }
            _ => {}
        }
        // A text beside a number is read as that number; beside a date, as that date.
        if left.ty.is_character() && !(right.ty.is_character() || right.ty.is_binary()) {
            arith::result_type(op, left.ty, right.ty).map_err(fail)?;
            left = self.coerce(left, right.ty, CastMode::Implicit)?;
        } else if right.ty.is_character() && !(left.ty.is_character() || left.ty.is_binary()) {
            arith::result_type(op, left.ty, right.ty).map_err(fail)?;
            right = self.coerce(right, left.ty, CastMode::Implicit)?;
        }
        // A binary beside a whole number likewise.
        if left.ty.is_binary() && right.ty.is_integer() {
            left = self.coerce(left, right.ty, CastMode::Implicit)?;
        } else if right.ty.is_binary() && left.ty.is_integer() {
            right = self.coerce(right, left.ty, CastMode::Implicit)?;
        }
        // Constants take part in decimal arithmetic with just their digits.
        if matches!(left.ty, SqlType::Decimal { .. }) {
            right = self.coerce(right.clone(), constant_type(&right), CastMode::Implicit)?;
        } else if matches!(right.ty, SqlType::Decimal { .. }) {
            left = self.coerce(left.clone(), constant_type(&left), CastMode::Implicit)?;
        }
        let ty = arith::result_type(op, left.ty, right.ty).map_err(fail)?;
        if ty.is_character() && !self.settings.concat_null {
            left = empty_for_null(left);
            right = empty_for_null(right);
        }
        if ty.is_character() || ty.is_binary() {
            self.explicit_once(&[&left, &right], op.message_name())?;
            let nullable = left.nullable || right.nullable;
            let kind = ExprKind::Concat { left: Box::new(left), right: Box::new(right) };
            return Ok(Expr::new(kind, ty, nullable));
        }
        match ty {
            SqlType::Decimal { .. } => {
                left = self.as_decimal(left)?;
                right = self.as_decimal(right)?;
            }
            _ if ty.is_temporal() => {}
            _ => {
                left = self.coerce(left, ty, CastMode::Implicit)?;
                right = self.coerce(right, ty, CastMode::Implicit)?;
            }
        }
        let kind = ExprKind::Arith { op, left: Box::new(left), right: Box::new(right) };
        // NULL after an overflow under ARITHABORT OFF and ANSI_WARNINGS OFF, whatever the operands: SQL Server tells
        // arithmetic as nullable.
        Ok(Expr::new(kind, ty, true))
    }

    fn as_decimal(&self, expr: Expr) -> Result<Expr> {
        match expr.ty.as_decimal() {
            Some((precision, scale)) => {
                self.coerce(expr, SqlType::decimal(precision, scale), CastMode::Implicit)
            }
            None => Ok(expr),
        }
    }

    /// Both texts as varchar, or both as nvarchar, whatever their lengths.
    pub fn text(&self, expr: Expr) -> Result<Expr> {
        if expr.ty.is_character() {
            return Ok(expr);
        }
        let ty = text_type(expr.ty);
        // Of a type of the CLR as ToString() would.
        let mode = if matches!(expr.ty, SqlType::Clr(_)) {
            CastMode::Explicit
        } else {
            CastMode::Implicit
        };
        self.coerce(expr, ty, mode)
    }
}
