//! Scalar functions: what each name takes and returns.
//!
//! The table is a match, one arm per name. Arities are checked first (174, 189), then arguments are
//! converted to what [`FuncId`] documents, then the result's type follows.

mod arguments;
mod dates;
mod forms;
mod text_pointers;

use ir::*;
use syntax::ast;
use types::{DatePart, Len, SqlType, Value};

pub(crate) use arguments::constant_i64;
use arguments::no_negative_length;

use crate::context::Binder;
use semantics::signatures::{self, aggregate_func};
use semantics::typing::{arity, call, length, not_null, nullable, var_type};
use semantics::{BindError, Result, refused};

pub(crate) use forms::{is_json, type_of_text};

const NAME: SqlType = SqlType::NVarChar(Len::N(128));
const FLOAT: SqlType = SqlType::Float;
const INT: SqlType = SqlType::Int;
const BIGINT: SqlType = SqlType::BigInt;

impl Binder<'_> {
    /// A call: aggregate, window function, rewritten form, or scalar function. The forms stay out of line, so that calls
    /// inside calls need little stack.
    pub fn function(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        if f.name.schema.is_some() {
            return self.qualified_function(f, line);
        }
        if !f.name.name.quoted && f.name.name.value.contains(['.', ':']) {
            return self.method(f, line);
        }
        let name = f.name.name.value.to_ascii_uppercase();
        if name == "NEXT VALUE FOR" {
            return self.next_value(f, line);
        }
        if name == "CURSOR_STATUS" {
            return self.cursor_status(f, line);
        }
        if matches!(name.as_str(), "UPDATE" | "COLUMNS_UPDATED") {
            return self.updated(f, &name, line);
        }
        if let Some(over) = &f.over {
            return self.window(f, &name, over, line);
        }
        if let Some(func) = aggregate_func(&name) {
            return self.aggregate(f, func, line);
        }
        if matches!(&*name, "GROUPING" | "GROUPING_ID") {
            return self.grouping_function(f, line);
        }
        self.check_over(f, &name, line)?;
        if let Some(found) = self.special_form(f, &name, line)? {
            return Ok(found);
        }
        self.scalar(f, &name, line)
    }

    #[inline(never)]
    fn qualified_function(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        if f.name.schema.as_ref().is_some_and(|s| s.is("$PARTITION")) {
            return self.partition_number(f, line);
        }
        if let Some(found) = self.user_function(f, line)? {
            return Ok(found);
        }
        if f.name.database.as_ref().is_some_and(|database| database.is("msdb"))
            && f.name.name.is("fn_syspolicy_is_automation_enabled")
        {
            // What msdb's syspolicy_configuration says, which nobody can change.
            arity(&f.name.name.value, f.args.len(), 0, 0, line)?;
            let enabled = ExprKind::Const(types::Value::Bit(true));
            return Ok(Expr::new(enabled, SqlType::Bit, true));
        }
        // They are objects of sys; early versions had them in master's dbo.
        let name = format!("SYS.{}", f.name.name.value.to_ascii_uppercase());
        let is_system = f.name.schema.as_ref().is_some_and(|s| s.is("sys") || s.is("dbo"));
        if is_system && signatures::fixed(&name).is_some() {
            return self.scalar(f, &name, line);
        }
        let found = self.method_of_column(f, line)?;
        found.ok_or_else(|| self.no_such_function(f, line))
    }

    fn no_such_function(&self, f: &ast::FunctionCall, line: u32) -> BindError {
        if f.name.schema.is_none() && refused::is_refused(&f.name.name.value.to_ascii_uppercase()) {
            return BindError::unsupported(f.name.name.value.to_ascii_uppercase(), line);
        }
        if f.name.schema.is_some() {
            return BindError::new(
                4121,
                16,
                line,
                format!(
                    "Cannot find either column \"{}\" or the user-defined function or aggregate \
                     \"{}\", or the name is ambiguous.",
                    f.name.schema.as_ref().map_or("", |s| &s.value),
                    f.name
                ),
            );
        }
        if crate::window::is_window_function(&f.name.name.value) {
            let text = format!("The function '{}' must have an OVER clause.", f.name.name.value);
            return BindError::new(10753, 15, line, text).with_state(3);
        }
        BindError::new(
            195,
            15,
            line,
            format!("'{}' is not a recognized built-in function name.", f.name.name.value),
        )
        .with_state(10)
    }

    /// Functions whose arguments are not plain values, or that are other expressions in disguise.
    #[inline(never)]
    fn special_form(
        &mut self,
        f: &ast::FunctionCall,
        name: &str,
        line: u32,
    ) -> Result<Option<Expr>> {
        let n = f.args.len();
        Ok(Some(match name {
            "COALESCE" => {
                // CASE by another name: as many as fit the text.
                arity(name, n.min(255), 2, 255, line)?;
                let mut args = self.in_conditional(|b| b.args(f))?;
                let last = args.pop();
                let branches = args
                    .into_iter()
                    .map(|e| (Expr::is_null(e.clone(), true), e))
                    .collect::<Vec<_>>();
                let whole = self.make_case(branches, last).map_err(|e| match e.number {
                    8133 => BindError::new(
                        4127,
                        16,
                        line,
                        "At least one of the arguments to COALESCE must be an expression that is not the NULL constant.",
                    ),
                    _ => e,
                })?;
                let nullable = match &whole.kind {
                    ExprKind::Case { branches, otherwise } => {
                        branches.iter().all(|(_, e)| e.nullable)
                            && otherwise.as_ref().is_none_or(|e| e.nullable)
                    }
                    _ => true,
                };
                Expr { nullable, ..whole }
            }
            "NULLIF" => {
                arity(name, n, 2, 2, line)?;
                let (a, b) =
                    self.in_conditional(|b| Ok((b.expr(&f.args[0])?, b.expr(&f.args[1])?)))?;
                if a.is_null_constant() {
                    return Err(BindError::new(
                        4151,
                        16,
                        line,
                        "The type of the first argument to NULLIF cannot be the NULL constant \
                         because the type of the first argument has to be known.",
                    ));
                }
                let same = self.compare(CompareOp::Eq, a.clone(), b)?;
                // A number that is written out has the least type that holds it.
                let a = match a.kind {
                    ExprKind::Const(Value::Int(n @ 0..=255)) => {
                        Expr::constant(Value::TinyInt(n as u8), SqlType::TinyInt)
                    }
                    ExprKind::Const(Value::Int(n @ 256..=32_767)) => {
                        Expr::constant(Value::SmallInt(n as i16), SqlType::SmallInt)
                    }
                    _ => a,
                };
                let null = Expr::constant(Value::Null, a.ty);
                Expr { nullable: true, ..self.make_case(vec![(same, null)], Some(a))? }
            }
            "IIF" => {
                arity(name, n, 3, 3, line)?;
                let (when, then, otherwise) = self.in_conditional(|b| {
                    Ok((b.condition(&f.args[0])?, b.expr(&f.args[1])?, b.expr(&f.args[2])?))
                })?;
                self.make_case(vec![(when, then)], Some(otherwise))?
            }
            "CHOOSE" => {
                arity(name, n, 2, 255, line)?;
                let mut args = self.args(f)?;
                let index = self.coerce(args.remove(0), INT, CastMode::Implicit)?;
                let branches = args
                    .into_iter()
                    .enumerate()
                    .map(|(i, e)| {
                        (Expr::compare(CompareOp::Eq, index.clone(), Expr::int(i as i32 + 1)), e)
                    })
                    .collect();
                self.make_case(branches, None)?
            }
            "DATEADD" | "DATEDIFF" | "DATEDIFF_BIG" | "DATEPART" | "DATENAME" => {
                self.date_function(f, name, line)?
            }
            "YEAR" | "MONTH" | "DAY" => {
                arity(name, n, 1, 1, line)?;
                let part = match name {
                    "YEAR" => DatePart::Year,
                    "MONTH" => DatePart::Month,
                    _ => DatePart::Day,
                };
                let arg = self.expr(&f.args[0])?;
                let arg = self.temporal(arg)?;
                call(FuncId::DatePart(part), vec![arg], INT)
            }
            _ => return self.worded_form(f, name, line),
        }))
    }

    fn args(&mut self, f: &ast::FunctionCall) -> Result<Vec<Expr>> {
        f.args.iter().map(|e| self.expr(e)).collect()
    }

    fn scalar(&mut self, f: &ast::FunctionCall, name: &str, line: u32) -> Result<Expr> {
        if self.in_function && matches!(name, "NEWID" | "NEWSEQUENTIALID" | "RAND") {
            return Err(semantics::effects::operator(&name.to_ascii_lowercase(), line));
        }
        if name == "NEWSEQUENTIALID" && !self.in_default {
            let text = "The newsequentialid() built-in function can only be used in a DEFAULT expression for a column of \
                        type 'uniqueidentifier' in a CREATE TABLE or ALTER TABLE statement. It cannot be combined with \
                        other operators to form a complex scalar expression.";
            return Err(BindError::new(302, 16, line, text).with_state(0));
        }
        let mut args = match f.star && matches!(name, "CHECKSUM" | "BINARY_CHECKSUM") {
            true => self.all_columns(line)?,
            false if name == "ISNULL" => self.in_conditional(|b| b.args(f))?,
            false => self.args(f)?,
        };
        if args.len() > 1 {
            self.explicit_once(&args.iter().collect::<Vec<_>>(), &name.to_lowercase())?;
            self.agree(&mut args);
        }
        let made = self.scalar_of_units(f, name, args, line)?;
        Ok(self.by_characters(self.of_page(made)))
    }

    /// A function of positions in a text counts characters, and not UTF-16 units, where the text's collation has _SC: a
    /// last argument says so.
    fn by_characters(&self, mut made: Expr) -> Expr {
        use FuncId as F;
        let ExprKind::Func { func, args } = &mut made.kind else { return made };
        let longest = match func {
            F::Len | F::CharIndex | F::PatIndex | F::Unicode => made.ty,
            // So many characters may have more units.
            F::Left | F::Right | F::Substring | F::Stuff | F::Reverse | F::Translate => {
                var_type(made.ty, length(args[0].ty).map(|n| 2 * usize::from(n)))
            }
            _ => return made,
        };
        // Nor is a character a byte in every code page.
        if matches!(func, F::Left | F::Right | F::Substring)
            && args[0].ty.is_character()
            && !args[0].ty.is_unicode()
            && self.collation_of(&args[0]).page().has_long_characters()
        {
            made.ty = var_type(made.ty, length(args[0].ty).map(usize::from));
            return made;
        }
        let counts = |e: &Expr| self.collation_of(e).has_supplementary();
        if args.iter().any(|e| e.ty.is_unicode() && counts(e)) {
            args.push(Expr::constant(Value::Bit(true), SqlType::Bit));
            made.ty = longest;
        }
        made
    }

    /// A scalar function by its name. Its arguments are bound by now: its frame is not on the stack while calls inside
    /// calls are.
    #[inline(never)]
    fn scalar_of_units(
        &mut self,
        f: &ast::FunctionCall,
        name: &str,
        args: Vec<Expr>,
        line: u32,
    ) -> Result<Expr> {
        use FuncId as F;
        self.check_arguments(name, &args, line)?;
        let n = args.len();
        let check = |min, max| arity(name, n, min, max, line);
        if let Some(found) = self.property(name, &args, line)? {
            return Ok(found);
        }
        if let Some(found) = self.scalar_form(name, &args, line)? {
            return Ok(found);
        }
        // Fixed signatures first: arity, argument types, result.
        if let Some((func, min, params, ty)) = signatures::fixed(name) {
            check(min, params.len())?;
            let mut out = Vec::with_capacity(n);
            for (arg, to) in args.into_iter().zip(params) {
                out.push(self.coerce(arg, *to, CastMode::Implicit)?);
            }
            return Ok(call(func, out, ty));
        }
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_else(|| Expr::constant(Value::Null, INT));
        Ok(match name {
            "ABS" | "SIGN" | "FLOOR" | "CEILING" | "DEGREES" | "RADIANS" => {
                check(1, 1)?;
                let func = match name {
                    "ABS" => F::Abs,
                    "SIGN" => F::Sign,
                    "FLOOR" => F::Floor,
                    "CEILING" => F::Ceiling,
                    "DEGREES" => F::Degrees,
                    _ => F::Radians,
                };
                let arg = self.number(next(), name, line)?;
                let ty = match (func, arg.ty) {
                    (F::Floor | F::Ceiling, SqlType::Decimal { precision, numeric, .. }) => {
                        SqlType::Decimal { precision, scale: 0, numeric }
                    }
                    // An angle has more places than what it is made of.
                    (F::Degrees | F::Radians, SqlType::Decimal { scale, numeric, .. }) => {
                        SqlType::Decimal { precision: 38, scale: scale.max(18), numeric }
                    }
                    (_, ty) => ty,
                };
                call(func, vec![arg], ty)
            }
            "ROUND" => {
                check(2, 3)?;
                let arg = self.number(next(), name, line)?;
                let ty = arg.ty;
                let mut out = vec![arg];
                for place in 2..=n {
                    let digits = next();
                    self.no_text(&digits, name, place, line)?;
                    out.push(self.coerce(digits, INT, CastMode::Implicit)?);
                }
                call(F::Round, out, ty)
            }
            "POWER" => {
                check(2, 2)?;
                let base = self.number(next(), name, line)?;
                let ty = match base.ty {
                    SqlType::Decimal { scale, numeric, .. } => {
                        SqlType::Decimal { precision: 38, scale, numeric }
                    }
                    ty => ty,
                };
                let exponent = self.coerce(next(), FLOAT, CastMode::Implicit)?;
                call(F::Power, vec![base, exponent], ty)
            }
            "CHECKSUM" | "BINARY_CHECKSUM" => {
                check(1, 255)?;
                let func = if name == "CHECKSUM" { F::Checksum } else { F::BinaryChecksum };
                not_null(call(func, args.collect(), INT))
            }
            "ISNUMERIC" => {
                check(1, 1)?;
                not_null(call(F::IsNumeric, vec![next()], INT))
            }
            "ISDATE" => {
                check(1, 1)?;
                let arg = next();
                let taken = !arg.ty.is_temporal()
                    || matches!(arg.ty, SqlType::DateTime | SqlType::SmallDateTime);
                if !taken {
                    return Err(self.bad_argument(1, arg.ty, name, line));
                }
                // A whole number is asked as its digits.
                let arg = if arg.ty.is_integer() { self.text(arg)? } else { arg };
                not_null(call(F::IsDate, vec![arg], INT))
            }
            "RAND" => {
                check(0, 1)?;
                let mut out = Vec::new();
                if n == 1 {
                    out.push(self.coerce(next(), INT, CastMode::Implicit)?);
                }
                call(F::Rand, out, FLOAT)
            }
            "EOMONTH" => {
                check(1, 2)?;
                let mut out = vec![self.temporal(next())?];
                if n == 2 {
                    out.push(self.coerce(next(), INT, CastMode::Implicit)?);
                }
                call(F::EoMonth, out, SqlType::Date)
            }
            "SWITCHOFFSET" | "TODATETIMEOFFSET" => {
                check(2, 2)?;
                let (moment, zone) = (next(), next());
                let digits = match moment.ty {
                    SqlType::DateTimeOffset(n) | SqlType::DateTime2(n) | SqlType::Time(n) => n,
                    SqlType::DateTime => 3,
                    SqlType::SmallDateTime | SqlType::Date => 0,
                    _ => 7,
                };
                let (func, taken) = match name {
                    "SWITCHOFFSET" => (F::SwitchOffset, SqlType::DateTimeOffset(digits)),
                    _ => (F::ToDateTimeOffset, SqlType::DateTime2(digits)),
                };
                let moment = self.coerce(moment, taken, CastMode::Implicit)?;
                let zone = match zone.ty.is_character() {
                    true => zone,
                    false => self.coerce(zone, INT, CastMode::Implicit)?,
                };
                call(func, vec![moment, zone], SqlType::DateTimeOffset(digits))
            }
            "LEN" | "DATALENGTH" => {
                check(1, 1)?;
                let arg = next();
                let func = if name == "LEN" { F::Len } else { F::DataLength };
                let arg = if name == "LEN" && !arg.ty.is_binary() { self.text(arg)? } else { arg };
                let max = matches!(
                    arg.ty,
                    SqlType::VarChar(Len::Max)
                        | SqlType::NVarChar(Len::Max)
                        | SqlType::VarBinary(Len::Max)
                );
                call(func, vec![arg], if max { BIGINT } else { INT })
            }
            "LEFT" | "RIGHT" => {
                check(2, 2)?;
                let arg = self.text(next())?;
                let count = next();
                no_negative_length(&count, name, line)?;
                let count = self.coerce(count, BIGINT, CastMode::Implicit)?;
                let ty = match (length(arg.ty), constant_i64(&count)) {
                    (Some(len), Some(count)) => {
                        var_type(arg.ty, Some((count.max(0) as usize).min(len as usize)))
                    }
                    (len, _) => var_type(arg.ty, len.map(usize::from)),
                };
                call(if name == "LEFT" { F::Left } else { F::Right }, vec![arg, count], ty)
            }
            "SUBSTRING" => {
                check(3, 3)?;
                let arg = next();
                let arg = if arg.ty.is_binary() { arg } else { self.text(arg)? };
                // Of an old long type there is no part of more than 8,000 bytes.
                let longest = match self.long_name(&arg) {
                    Some("ntext") => Some(4000),
                    Some(_) => Some(8000),
                    None => length(arg.ty),
                };
                let start = self.coerce(next(), BIGINT, CastMode::Implicit)?;
                let count = next();
                no_negative_length(&count, name, line)?;
                let count = self.coerce(count, BIGINT, CastMode::Implicit)?;
                let ty = match (longest, constant_i64(&count)) {
                    (Some(len), Some(count)) => {
                        var_type(arg.ty, Some((count.max(0) as usize).min(len as usize)))
                    }
                    (len, _) => var_type(arg.ty, len.map(usize::from)),
                };
                call(F::Substring, vec![arg, start, count], ty)
            }
            "UPPER" | "LOWER" | "LTRIM" | "RTRIM" | "REVERSE" | "TRIM" => {
                check(1, if name.ends_with("TRIM") { 2 } else { 1 })?;
                let func = match name {
                    "UPPER" => F::Upper,
                    "LOWER" => F::Lower,
                    "LTRIM" => F::LTrim,
                    "RTRIM" => F::RTrim,
                    "TRIM" => F::Trim,
                    _ => F::Reverse,
                };
                let arg = self.text(next())?;
                let ty = match func {
                    F::Upper | F::Lower => arg.ty,
                    _ => var_type(arg.ty, length(arg.ty).map(usize::from)),
                };
                let mut out = vec![arg];
                if n == 2 {
                    out.push(self.text(next())?);
                }
                call(func, out, ty)
            }
            "REPLACE" | "TRANSLATE" => {
                check(3, 3)?;
                let out = vec![self.text(next())?, self.text(next())?, self.text(next())?];
                let unicode = out.iter().any(|e| e.ty.is_unicode());
                let max = out.iter().any(|e| length(e.ty).is_none());
                let like = if unicode { NAME } else { SqlType::VarChar(Len::N(1)) };
                let ty = var_type(like, (!max).then_some(8000));
                call(if name == "REPLACE" { F::Replace } else { F::Translate }, out, ty)
            }
            "REPLICATE" => {
                check(2, 2)?;
                let arg = self.text(next())?;
                let count = self.coerce(next(), BIGINT, CastMode::Implicit)?;
                let ty = match (length(arg.ty), constant_i64(&count)) {
                    (Some(len), Some(count)) => {
                        let wanted = (len as i64).saturating_mul(count.max(0));
                        var_type(arg.ty, Some(wanted.min(8000) as usize))
                    }
                    (Some(_), None) => var_type(arg.ty, Some(8000)),
                    (None, _) => var_type(arg.ty, None),
                };
                nullable(call(F::Replicate, vec![arg, count], ty))
            }
            "SPACE" => {
                check(1, 1)?;
                let count = self.coerce(next(), BIGINT, CastMode::Implicit)?;
                let len = constant_i64(&count).map_or(8000, |n| n.clamp(1, 8000) as u16);
                nullable(call(F::Space, vec![count], SqlType::VarChar(Len::N(len))))
            }
            "STR" => {
                check(1, 3)?;
                let value = self.coerce(next(), FLOAT, CastMode::Implicit)?;
                let width = if n > 1 { next() } else { Expr::int(10) };
                let width = self.coerce(width, INT, CastMode::Implicit)?;
                let decimals = if n > 2 { next() } else { Expr::int(0) };
                let decimals = self.coerce(decimals, INT, CastMode::Implicit)?;
                let len = constant_i64(&width).map_or(8000, |n| n.clamp(1, 8000) as u16);
                let args = vec![value, width, decimals];
                nullable(call(F::Str, args, SqlType::VarChar(Len::N(len))))
            }
            "CHARINDEX" | "PATINDEX" => {
                let index = name == "CHARINDEX";
                check(2, if index { 3 } else { 2 })?;
                let (wanted, searched) = (next(), next());
                if !index {
                    self.no_null(&searched, name, 2, line)?;
                }
                let mut out = vec![self.text(wanted)?, self.text(searched)?];
                if n == 3 {
                    out.push(self.coerce(next(), BIGINT, CastMode::Implicit)?);
                }
                let max = length(out[1].ty).is_none();
                let func = if index { F::CharIndex } else { F::PatIndex };
                call(func, out, if max { BIGINT } else { INT })
            }
            "STUFF" => {
                check(4, 4)?;
                let arg = self.text(next())?;
                let start = self.coerce(next(), BIGINT, CastMode::Implicit)?;
                let count = self.coerce(next(), BIGINT, CastMode::Implicit)?;
                let with = self.text(next())?;
                let like = if with.ty.is_unicode() { with.ty } else { arg.ty };
                // What is cut out, where that is known.
                let cut = match (length(arg.ty), constant_i64(&start), constant_i64(&count)) {
                    (Some(len), Some(start @ 1..), Some(count @ 0..)) => {
                        count.min((i64::from(len) - start + 1).max(0)) as usize
                    }
                    _ => 0,
                };
                let len = length(arg.ty)
                    .zip(length(with.ty))
                    .map(|(a, b)| usize::from(a) - cut.min(usize::from(a)) + usize::from(b));
                let ty = var_type(like, len);
                nullable(call(F::Stuff, vec![arg, start, count, with], ty))
            }
            "ASCII" | "UNICODE" => {
                check(1, 1)?;
                let arg = self.text(next())?;
                // NULL of a text without characters.
                nullable(call(if name == "ASCII" { F::Ascii } else { F::Unicode }, vec![arg], INT))
            }
            "CONCAT" | "CONCAT_WS" => {
                check(if name == "CONCAT" { 2 } else { 3 }, 254)?;
                let out = args.map(|e| self.text(e)).collect::<Result<Vec<Expr>>>()?;
                let unicode = out.iter().any(|e| e.ty.is_unicode());
                let mut total = Some(0usize);
                for e in &out {
                    total = total.zip(length(e.ty)).map(|(sum, n)| sum + n as usize);
                }
                if name == "CONCAT_WS" {
                    let separators = length(out[0].ty).map(|n| n as usize * (n as usize).max(1));
                    total = total.zip(separators).map(|(sum, n)| sum + n * out.len());
                }
                let like = if unicode { NAME } else { SqlType::VarChar(Len::N(1)) };
                let func = if name == "CONCAT" { F::Concat } else { F::ConcatWs };
                not_null(call(func, out, var_type(like, total)))
            }
            "QUOTENAME" => {
                check(1, 2)?;
                // A name too long is NULL, and not cut.
                let long = SqlType::NVarChar(Len::N(4000));
                let mut out = vec![self.coerce(next(), long, CastMode::Implicit)?];
                if n == 2 {
                    out.push(self.text(next())?);
                }
                nullable(call(F::QuoteName, out, SqlType::NVarChar(Len::N(258))))
            }
            "ISNULL" => {
                check(2, 2)?;
                let (first, second) = (next(), next());
                if first.is_null_constant() || self.is_null_column(&first) {
                    return Ok(second);
                }
                let ty = first.ty;
                let second = self.coerce(second, ty, CastMode::Implicit)?;
                let null = first.nullable && second.nullable;
                let mut out = call(F::IsNull, vec![first, second], ty);
                out.nullable = null;
                out
            }
            "SYSTEM_USER" => {
                check(0, 0)?;
                not_null(call(F::SUserSName, Vec::new(), NAME))
            }
            "CURRENT_USER" | "SESSION_USER" | "USER" => {
                check(0, 0)?;
                not_null(call(F::UserName, Vec::new(), NAME))
            }
            _ => return Err(self.no_such_function(f, line)),
        })
    }
}
