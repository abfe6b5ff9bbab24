//! Functions of dates, bits, JSON and choice whose types follow from their arguments.

use ir::*;
use syntax::ast;
use types::{DatePart, Len, SqlType, Value};

use super::constant_i64;
use crate::context::Binder;
use semantics::typing::{arity, call, length, not_null, nullable, var_type};
use semantics::{BindError, Result};

const INT: SqlType = SqlType::Int;
const BIGINT: SqlType = SqlType::BigInt;
const TEXT: SqlType = SqlType::NVarChar(Len::N(4000));
const LONG_TEXT: SqlType = SqlType::NVarChar(Len::Max);
const LONG_BINARY: SqlType = SqlType::VarBinary(Len::Max);
/// Bytes of which BASE64_ENCODE makes no more than a varchar(8000).
const ENCODED_BYTES_MAX: u16 = 6_000;

impl Binder<'_> {
    /// Forms whose first argument is a word, not a value.
    #[inline(never)]
    pub(super) fn worded_form(
        &mut self,
        f: &ast::FunctionCall,
        name: &str,
        line: u32,
    ) -> Result<Option<Expr>> {
        let n = f.args.len();
        Ok(Some(match name {
            "DATETRUNC" => {
                arity(name, n, 2, 2, line)?;
                let part = self.date_part(f, name, line)?;
                let date = self.expr(&f.args[1])?;
                let date = self.temporal(date)?;
                let ty = date.ty;
                call(FuncId::DateTrunc(part), vec![date], ty)
            }
            "DATE_BUCKET" => {
                arity(name, n, 3, 4, line)?;
                let part = self.date_part(f, name, line)?;
                let width = self.expr(&f.args[1])?;
                let width = self.coerce(width, INT, CastMode::Implicit)?;
                let date = self.expr(&f.args[2])?;
                if date.ty.is_character() {
                    return Err(self.bad_argument(3, date.ty, "Date_Bucket", line));
                }
                let date = self.temporal(date)?;
                let ty = date.ty;
                let mut args = vec![width, date];
                if let Some(origin) = f.args.get(3) {
                    let origin = self.expr(origin)?;
                    args.push(self.coerce(origin, ty, CastMode::Implicit)?);
                }
                call(FuncId::DateBucket(part), args, ty)
            }
            "ISJSON" => {
                arity(name, n, 1, 2, line)?;
                let text = self.expr(&f.args[0])?;
                let mut args = vec![self.text(text)?];
                if let Some(kind) = f.args.get(1) {
                    let word = match &kind.kind {
                        ast::ExprKind::Column(c) if c.qualifier.is_empty() => c.name.value.as_str(),
                        _ => "",
                    };
                    let known = ["VALUE", "ARRAY", "OBJECT", "SCALAR"];
                    if !known.iter().any(|k| k.eq_ignore_ascii_case(word)) {
                        return Err(BindError::new(
                            155,
                            15,
                            line,
                            format!("'{word}' is not a recognized isjson option."),
                        ));
                    }
                    args.push(Expr::constant(Value::str(word), SqlType::VarChar(Len::N(10))));
                }
                call(FuncId::IsJson, args, INT)
            }
            _ => return self.text_pointer_call(f, name, line),
        }))
    }

    fn date_part(&self, f: &ast::FunctionCall, name: &str, line: u32) -> Result<DatePart> {
        let lower = name.to_lowercase();
        let word = match &f.args[0].kind {
            ast::ExprKind::Column(c) if c.qualifier.is_empty() => c.name.value.as_str(),
            _ => {
                let text = format!("Invalid parameter 1 specified for {lower}.");
                return Err(BindError::new(1023, 15, line, text));
            }
        };
        DatePart::parse(word).ok_or_else(|| {
            let text = format!("'{word}' is not a recognized {lower} option.");
            BindError::new(155, 15, line, text)
        })
    }

    /// Scalar functions of this room; `None` for any other name.
    #[inline(never)]
    pub(super) fn scalar_form(
        &mut self,
        name: &str,
        args: &[Expr],
        line: u32,
    ) -> Result<Option<Expr>> {
        use FuncId as F;
        let n = args.len();
        let check = |min, max| arity(name, n, min, max, line);
        let arg = |i: usize| args[i].clone();
        Ok(Some(match name {
            "GREATEST" | "LEAST" => {
                check(1, 254)?;
                let refs: Vec<&Expr> = args.iter().collect();
                let ty = self.common(&refs)?.unwrap_or(INT);
                let bound = args
                    .iter()
                    .map(|e| self.coerce(e.clone(), ty, CastMode::Implicit))
                    .collect::<Result<Vec<Expr>>>()?;
                let null = bound.iter().all(|e| e.nullable);
                let func = if name == "GREATEST" { F::Greatest } else { F::Least };
                Expr { nullable: null, ..call(func, bound, ty) }
            }
            "LEFT_SHIFT" | "RIGHT_SHIFT" | "GET_BIT" | "BIT_COUNT" | "SET_BIT" => {
                match name {
                    "BIT_COUNT" => check(1, 1)?,
                    "SET_BIT" => check(2, 3)?,
                    _ => check(2, 2)?,
                }
                let value = arg(0);
                if !(value.ty.is_integer() || value.ty.is_binary()) {
                    return Err(self.bad_argument(1, value.ty, name, line));
                }
                let ty = value.ty;
                let mut bound = vec![value];
                for e in &args[1..] {
                    bound.push(self.coerce(e.clone(), BIGINT, CastMode::Implicit)?);
                }
                let (func, ty) = match name {
                    "LEFT_SHIFT" => (F::LeftShift, ty),
                    "RIGHT_SHIFT" => (F::RightShift, ty),
                    "GET_BIT" => (F::GetBit, SqlType::Bit),
                    "SET_BIT" => (F::SetBit, ty),
                    _ => (F::BitCount, BIGINT),
                };
                call(func, bound, ty)
            }
            "FORMATMESSAGE" => {
                check(1, 21)?;
                let first = arg(0);
                let first = match first.ty.is_character() {
                    true => first,
                    false => self.coerce(first, INT, CastMode::Implicit)?,
                };
                let bound = std::iter::once(first).chain(args[1..].iter().cloned()).collect();
                nullable(call(F::FormatMessage, bound, TEXT))
            }
            "GETANSINULL" => {
                check(0, 1)?;
                Expr::constant(Value::SmallInt(1), SqlType::SmallInt)
            }
            "DIFFERENCE" => {
                check(2, 2)?;
                call(F::Difference, vec![self.text(arg(0))?, self.text(arg(1))?], INT)
            }
            "STRING_ESCAPE" => {
                check(2, 2)?;
                call(F::StringEscape, vec![self.text(arg(0))?, self.text(arg(1))?], LONG_TEXT)
            }
            "COMPRESS" | "DECOMPRESS" => {
                check(1, 1)?;
                let value = arg(0);
                let packing = name == "COMPRESS";
                let fits = value.ty.is_binary()
                    || packing && value.ty.is_character()
                    || value.is_null_constant();
                if !fits {
                    return Err(self.bad_argument(1, value.ty, name, line));
                }
                call(if packing { F::Compress } else { F::Decompress }, vec![value], LONG_BINARY)
            }
            "BASE64_ENCODE" => {
                check(1, 2)?;
                let value = arg(0);
                if !(value.ty.is_binary() || value.is_null_constant()) {
                    return Err(self.bad_argument(1, value.ty, name, line));
                }
                let len = length(value.ty).filter(|bytes| *bytes <= ENCODED_BYTES_MAX);
                let ty = SqlType::VarChar(len.map_or(Len::Max, |_| Len::N(8000)));
                let mut bound = vec![value];
                if n == 2 {
                    bound.push(self.coerce(arg(1), INT, CastMode::Implicit)?);
                }
                call(F::Base64Encode, bound, ty)
            }
            "BASE64_DECODE" => {
                check(1, 1)?;
                let value = arg(0);
                if !(value.ty.is_character() || value.is_null_constant()) {
                    return Err(self.bad_argument(1, value.ty, name, line));
                }
                let len = length(value.ty).map_or(Len::Max, |_| Len::N(8000));
                call(F::Base64Decode, vec![value], SqlType::VarBinary(len))
            }
            "HASHBYTES" => {
                check(2, 2)?;
                let value = arg(1);
                if !(value.ty.is_binary() || value.ty.is_character() || value.is_null_constant()) {
                    return Err(self.bad_argument(2, value.ty, name, line));
                }
                let algorithm = self.text(arg(0))?;
                let ty = SqlType::VarBinary(Len::N(8000));
                nullable(call(F::HashBytes, vec![algorithm, value], ty))
            }
            "FORMAT" => {
                check(2, 3)?;
                let value = arg(0);
                if !(value.ty.is_numeric() && value.ty != SqlType::Bit || value.ty.is_temporal()) {
                    return Err(self.bad_argument(1, value.ty, name, line));
                }
                self.no_null(&arg(1), name, 2, line)?;
                let mut bound = vec![value, self.text(arg(1))?];
                if n == 3 {
                    bound.push(self.text(arg(2))?);
                }
                nullable(call(F::Format, bound, TEXT))
            }
            "AT TIME ZONE" => {
                let value = arg(0);
                let digits = match value.ty {
                    SqlType::DateTimeOffset(n) | SqlType::DateTime2(n) => n,
                    SqlType::DateTime => 3,
                    SqlType::SmallDateTime => 0,
                    ty if ty.is_character() => 7,
                    ty => return Err(self.bad_argument(1, ty, name, line)),
                };
                let value = match value.ty.is_character() {
                    true => self.coerce(value, SqlType::DateTime2(7), CastMode::Implicit)?,
                    false => value,
                };
                let zone = self.text(arg(1))?;
                call(F::AtTimeZone, vec![value, zone], SqlType::DateTimeOffset(digits))
            }
            "TIMEFROMPARTS"
            | "DATETIMEFROMPARTS"
            | "SMALLDATETIMEFROMPARTS"
            | "DATETIME2FROMPARTS"
            | "DATETIMEOFFSETFROMPARTS" => self.made_of_parts(name, args, line)?,
            "JSON_VALUE" => {
                check(2, 2)?;
                self.no_null(&arg(1), name, 2, line)?;
                let bound = vec![self.text(arg(0))?, self.text(arg(1))?];
                nullable(call(F::JsonValue, bound, TEXT))
            }
            "JSON_QUERY" => {
                check(1, 2)?;
                let mut bound = vec![self.text(arg(0))?];
                if n == 2 {
                    bound.push(self.text(arg(1))?);
                }
                nullable(call(F::JsonQuery, bound, LONG_TEXT))
            }
            "JSON_PATH_EXISTS" => {
                check(2, 2)?;
                call(F::JsonPathExists, vec![self.text(arg(0))?, self.text(arg(1))?], INT)
            }
            "JSON_MODIFY" => {
                check(3, 3)?;
                let bound = vec![self.text(arg(0))?, self.text(arg(1))?, json_item(arg(2))];
                nullable(call(F::JsonModify, bound, LONG_TEXT))
            }
            "JSON_OBJECT" | "JSON_ARRAY" => {
                let object = name == "JSON_OBJECT";
                let mut bound = vec![arg(0)];
                for (i, e) in args.iter().enumerate().skip(1) {
                    let key = object && i % 2 == 1;
                    bound.push(if key { self.text(e.clone())? } else { json_item(e.clone()) });
                }
                let func = if object { F::JsonObject } else { F::JsonArray };
                not_null(call(func, bound, LONG_TEXT))
            }
            _ => return Ok(None),
        }))
    }

    /// DATETIMEFROMPARTS and its like.
    fn made_of_parts(&mut self, name: &str, args: &[Expr], line: u32) -> Result<Expr> {
        // How many numbers; whether the last argument is the precision.
        let (count, scaled) = match name {
            "TIMEFROMPARTS" => (5, true),
            "SMALLDATETIMEFROMPARTS" => (5, false),
            "DATETIMEFROMPARTS" => (7, false),
            "DATETIME2FROMPARTS" => (8, true),
            _ => (10, true),
        };
        arity(name, args.len(), count, count, line)?;
        let (numbers, digits) = match scaled {
            true => {
                let digits = constant_i64(&args[count - 1]).filter(|d| (0..=7).contains(d));
                let Some(digits) = digits else {
                    let ty = name.trim_end_matches("FROMPARTS").to_lowercase();
                    return Err(BindError::new(
                        10760,
                        16,
                        line,
                        format!(
                            "Scale argument is not valid. Valid expressions for data type {ty} \
                             scale argument are integer constants and integer constant expressions."
                        ),
                    ));
                };
                (&args[..count - 1], digits as u8)
            }
            false => (args, 0),
        };
        let ty = match name {
            "TIMEFROMPARTS" => SqlType::Time(digits),
            "SMALLDATETIMEFROMPARTS" => SqlType::SmallDateTime,
            "DATETIMEFROMPARTS" => SqlType::DateTime,
            "DATETIME2FROMPARTS" => SqlType::DateTime2(digits),
            _ => SqlType::DateTimeOffset(digits),
        };
        let bound = numbers
            .iter()
            .map(|e| self.coerce(e.clone(), INT, CastMode::Implicit))
            .collect::<Result<Vec<Expr>>>()?;
        Ok(call(FuncId::DateTimeFromParts, bound, ty))
    }

    /// 8116.
    pub(crate) fn bad_argument(&self, i: usize, ty: SqlType, name: &str, line: u32) -> BindError {
        // An operator keeps its letters.
        let shown = if name.contains(' ') { name.to_owned() } else { name.to_lowercase() };
        BindError::new(
            8116,
            16,
            line,
            format!(
                "Argument data type {} is invalid for argument {i} of {shown} function.",
                ty.message_name(),
            ),
        )
    }

    /// PARSE and TRY_PARSE: text in a culture's form.
    #[inline(never)]
    pub(crate) fn parse_call(&mut self, c: &ast::Cast, ty: SqlType, line: u32) -> Result<Expr> {
        let name = if c.try_ { "try_parse" } else { "parse" };
        let input = self.expr(&c.expr)?;
        if !(ty.is_numeric() && ty != SqlType::Bit || ty.is_temporal()) {
            return Err(BindError::new(
                10761,
                15,
                line,
                format!("Invalid data type {} in function {}.", ty.name(), name.to_uppercase()),
            ));
        }
        if input.is_null_constant() {
            return Err(BindError::new(
                8116,
                16,
                line,
                format!("Argument data type NULL is invalid for argument 1 of {name} function."),
            ));
        }
        if !input.ty.is_character() {
            return Err(self.bad_argument(1, input.ty, name, line));
        }
        let mut args = vec![input];
        if let Some(culture) = &c.style {
            let culture = self.expr(culture)?;
            args.push(self.text(culture)?);
        }
        Ok(nullable(call(if c.try_ { FuncId::TryParse } else { FuncId::Parse }, args, ty)))
    }
}

/// What is JSON already goes into other JSON as it is.
pub(crate) fn is_json(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Func { func, .. } => matches!(
            func,
            FuncId::JsonQuery
                | FuncId::JsonModify
                | FuncId::JsonObject
                | FuncId::JsonArray
                | FuncId::AsJson
        ),
        ExprKind::Subquery { kind: SubqueryKind::Scalar, query } => {
            matches!(&query.rel, Rel::Serialize { spec, .. } if !spec.xml && !spec.bare)
        }
        _ => false,
    }
}

/// A value for JSON: what is JSON already is marked so.
fn json_item(e: Expr) -> Expr {
    if !is_json(&e) {
        return e;
    }
    let ty = var_type(SqlType::NVarChar(Len::Max), length(e.ty).map(usize::from));
    nullable(call(FuncId::AsJson, vec![e], ty))
}

/// `nvarchar(max)`, `decimal(10, 2)`: a type written in a text.
pub(crate) fn type_of_text(text: &str) -> Option<SqlType> {
    let (name, args) = match text.trim().split_once('(') {
        Some((name, args)) => (name, args.trim_end().strip_suffix(')')?),
        None => (text, ""),
    };
    let mut list = Vec::new();
    for arg in args.split(',').map(str::trim).filter(|a| !a.is_empty()) {
        list.push(match arg.eq_ignore_ascii_case("max") {
            true => Len::Max,
            false => Len::N(arg.parse().ok()?),
        });
    }
    SqlType::from_name_in_cast(&name.trim().to_lowercase(), &list)
}
