//! Arguments that a function does not take, though they could be converted: 8116, 536; and `*` as arguments.

use ir::*;
use types::SqlType;

use crate::context::{Binder, ScopeColumn};
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A numeric argument: texts become float, small integers int.
    pub(super) fn number(&self, e: Expr, name: &str, line: u32) -> Result<Expr> {
        let to = match e.ty {
            SqlType::TinyInt | SqlType::SmallInt => SqlType::Int,
            SqlType::Bit | SqlType::Real => SqlType::Float,
            SqlType::SmallMoney => SqlType::Money,
            ty if ty.is_character() => SqlType::Float,
            ty if ty.is_binary() => SqlType::Int,
            ty if ty.is_numeric() => ty,
            ty => return Err(self.bad_argument(1, ty, name, line)),
        };
        self.coerce(e, to, CastMode::Implicit)
    }

    /// 8116 for NULL where a function wants to know the type.
    pub(super) fn no_null(&self, arg: &Expr, name: &str, place: usize, line: u32) -> Result<()> {
        if !arg.is_null_constant() {
            return Ok(());
        }
        let text = format!(
            "Argument data type NULL is invalid for argument {place} of {} function.",
            name.to_lowercase()
        );
        Err(BindError::new(8116, 16, line, text))
    }

    /// 8116 for a text where a function takes nothing but a number.
    pub(crate) fn no_text(&self, arg: &Expr, name: &str, place: usize, line: u32) -> Result<()> {
        match arg.ty.is_character() {
            true => Err(self.bad_argument(place, arg.ty, name, line)),
            false => Ok(()),
        }
    }

    /// 8116 for an argument of a type that a function does not take, though it could be converted.
    pub(super) fn check_arguments(&self, name: &str, args: &[Expr], line: u32) -> Result<()> {
        for (i, arg) in args.iter().enumerate() {
            let shown = match arg.ty {
                // Of xml some of these functions take no more than texts may.
                ty if ty.is_xml() && !matches!(name, "DATALENGTH" | "ISNULL" | "CONVERT") => "xml",
                SqlType::Variant if !takes_variants(name) => "sql_variant",
                SqlType::Clr(ty) if !takes_clr_types(name) => ty.name(),
                _ if i > 0 || !TEXTS_ALONE.contains(&name) => continue,
                ty => match self.long_name(arg) {
                    Some("image" | "text" | "ntext") if name == "SUBSTRING" => continue,
                    Some(long) => long,
                    None if name == "SUBSTRING" && arg.is_null_constant() => "NULL",
                    None if !matches!(name, "SUBSTRING" | "CHARINDEX")
                        || arg.is_null_constant()
                        || ty.is_character()
                        || ty.is_binary() =>
                    {
                        continue;
                    }
                    None => ty.message_name(),
                },
            };
            let text = format!(
                "Argument data type {shown} is invalid for argument {} of {} function.",
                i + 1,
                name.to_lowercase()
            );
            return Err(BindError::new(8116, 16, line, text));
        }
        Ok(())
    }

    /// `*` as arguments.
    pub(super) fn all_columns(&self, line: u32) -> Result<Vec<Expr>> {
        let tables = self.scopes.last().map_or(&[][..], |scope| &scope.tables);
        if tables.is_empty() {
            return Err(BindError::new(263, 16, line, "Must specify table to select from."));
        }
        let columns = tables.iter().flat_map(|t| &t.columns);
        let shown = columns.filter(|c| !self.hidden.contains(&c.id));
        let value = |c: &ScopeColumn| {
            self.note_use(c, ColumnUse::Read);
            self.column_value(c)
        };
        Ok(shown.map(value).collect())
    }
}

/// The value of a whole-number constant, seen through conversions.
pub(crate) fn constant_i64(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Const(v) => v.as_i64(),
        ExprKind::Cast { input, .. } => constant_i64(input),
        ExprKind::Neg(input) => constant_i64(input).and_then(i64::checked_neg),
        _ => None,
    }
}

/// Functions whose first argument is not of text or ntext, SUBSTRING and CHARINDEX of no type but texts and binaries.
const TEXTS_ALONE: &[&str] = &[
    "CHARINDEX",
    "LEFT",
    "LEN",
    "LOWER",
    "LTRIM",
    "REPLACE",
    "REVERSE",
    "RIGHT",
    "RTRIM",
    "STUFF",
    "SUBSTRING",
    "UPPER",
];

/// 536 for a length that is written out and below 0.
pub(super) fn no_negative_length(count: &Expr, name: &str, line: u32) -> Result<()> {
    let ExprKind::Neg(number) = &count.kind else { return Ok(()) };
    if !matches!(number.kind, ExprKind::Const(_)) || constant_i64(count).is_none_or(|n| n >= 0) {
        return Ok(());
    }
    let lower = name.to_lowercase();
    let text = format!("Invalid length parameter passed to the {lower} function.");
    Err(BindError::new(536, 16, line, text).with_state(if name == "SUBSTRING" { 8 } else { 6 }))
}

/// Functions that take values of types of the CLR.
fn takes_clr_types(name: &str) -> bool {
    matches!(
        name,
        "DATALENGTH"
            | "ISNULL"
            | "CONVERT"
            | "CONCAT"
            | "CONCAT_WS"
            | "CHECKSUM"
            | "BINARY_CHECKSUM"
    )
}

/// Functions of numbers, texts and moments do not take a sql_variant.
fn takes_variants(name: &str) -> bool {
    matches!(
        name,
        "DATALENGTH"
            | "ISNULL"
            | "ISNUMERIC"
            | "ISDATE"
            | "CHECKSUM"
            | "BINARY_CHECKSUM"
            | "SQL_VARIANT_PROPERTY"
            | "GREATEST"
            | "LEAST"
            | "CONCAT"
            | "CONCAT_WS"
    )
}
