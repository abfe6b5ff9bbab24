//! DATEADD, DATEDIFF and their like, whose first argument is a part of a date.

use ir::*;
use syntax::ast;
use types::{DatePart, Len, SqlType};

use super::{BIGINT, INT};
use crate::context::Binder;
use semantics::typing::{arity, call};
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A date-like argument: text and numbers become datetime.
    pub(crate) fn temporal(&self, e: Expr) -> Result<Expr> {
        if e.ty.is_temporal() {
            return Ok(e);
        }
        let ty = if e.ty.is_character() { SqlType::DateTime2(7) } else { SqlType::DateTime };
        self.coerce(e, ty, CastMode::Implicit)
    }

    pub(super) fn date_function(
        &mut self,
        f: &ast::FunctionCall,
        name: &str,
        line: u32,
    ) -> Result<Expr> {
        let wanted = if matches!(name, "DATEPART" | "DATENAME") { 2 } else { 3 };
        arity(name, f.args.len(), wanted, wanted, line)?;
        let word = match &f.args[0].kind {
            ast::ExprKind::Column(c) if c.qualifier.is_empty() => c.name.value.as_str(),
            _ => {
                return Err(BindError::new(
                    1023,
                    15,
                    line,
                    format!("Invalid parameter 1 specified for {}.", name.to_lowercase()),
                ));
            }
        };
        let part = DatePart::parse(word).ok_or_else(|| {
            BindError::new(
                155,
                15,
                line,
                format!("'{word}' is not a recognized {} option.", name.to_lowercase()),
            )
        })?;
        if name.starts_with("DATEDIFF") && matches!(part, DatePart::TzOffset | DatePart::IsoWeek) {
            let text = format!(
                "The datepart {} is not supported by date function {}.",
                part.name(),
                name.to_lowercase()
            );
            return Err(BindError::new(9806, 16, line, text).with_state(0));
        }
        if name == "DATEADD" {
            let number = self.expr(&f.args[1])?;
            self.no_text(&number, name, 2, line)?;
            // Fractions are cut, as SQL Server does; the rest must fit int.
            let number = self.coerce(number, INT, CastMode::Implicit)?;
            let date = self.expr(&f.args[2])?;
            let date = if date.ty.is_temporal() {
                date
            } else {
                self.coerce(date, SqlType::DateTime, CastMode::Implicit)?
            };
            let ty = date.ty;
            return Ok(call(FuncId::DateAdd(part), vec![number, date], ty));
        }
        let mut first = self.expr(&f.args[1])?;
        if part == DatePart::TzOffset && first.ty.is_character() {
            first = self.coerce(first, SqlType::DateTimeOffset(7), CastMode::Implicit)?;
        }
        let first = self.temporal(first)?;
        if wanted == 2 {
            return Ok(if name == "DATEPART" {
                call(FuncId::DatePart(part), vec![first], INT)
            } else {
                call(FuncId::DateName(part), vec![first], SqlType::NVarChar(Len::N(30)))
            });
        }
        let second = self.expr(&f.args[2])?;
        let second = self.temporal(second)?;
        let (func, ty) = match name {
            "DATEDIFF" => (FuncId::DateDiff(part), INT),
            _ => (FuncId::DateDiffBig(part), BIGINT),
        };
        let (first, second) = if first.ty == second.ty {
            (first, second)
        } else {
            // A date and a time have no type in common: each counts from its own beginning.
            let Ok(common) = SqlType::common_type(first.ty, second.ty) else {
                return Ok(call(func, vec![first, second], ty));
            };
            (
                self.coerce(first, common, CastMode::Implicit)?,
                self.coerce(second, common, CastMode::Implicit)?,
            )
        };
        Ok(call(func, vec![first, second], ty))
    }
}
