//! Arithmetic, bit operations and string concatenation, as SQL Server does them.
//!
//! Two doors. [`result_type`] and [`binary`] are the general one: the plan asks for the result's
//! type once, rows then go through `binary`, whose result has that type. The typed functions
//! ([`add_i64`], [`Decimal`] methods, ...) are for an interpreter that already knows the types:
//! inline and free of allocation. NULL in, NULL out.

use crate::{Decimal, Len, SqlType, TypeError, Value, convert};

/// A binary operator that yields a value (comparisons are in [`crate::compare`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithOp {
    /// Sum, concatenation, or date plus days.
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    BitAnd,
    BitOr,
    BitXor,
}

impl ArithOp {
    /// The operator's name inside messages.
    pub fn message_name(self) -> &'static str {
        match self {
            ArithOp::Add => "add",
            ArithOp::Sub => "subtract",
            ArithOp::Mul => "multiply",
            ArithOp::Div => "divide",
            ArithOp::Mod => "modulo",
            ArithOp::BitAnd => "'&'",
            ArithOp::BitOr => "'|'",
            ArithOp::BitXor => "'^'",
        }
    }
    fn is_bitwise(self) -> bool {
        matches!(self, ArithOp::BitAnd | ArithOp::BitOr | ArithOp::BitXor)
    }
}

/// The type an integer literal counts as beside a decimal: its digits, not int's ten. `2.0 / 3`
/// has scale 6 and not 12 because 3 is decimal(1,0) there.
pub fn literal_decimal_type(v: i64) -> SqlType {
    let precision = v.unsigned_abs().checked_ilog10().unwrap_or(0) as u8 + 1;
    SqlType::decimal(precision, 0)
}

/// Type of `a op b`; 402, 8117 or 206 when the operator cannot take them.
pub fn result_type(op: ArithOp, a: SqlType, b: SqlType) -> Result<SqlType, TypeError> {
    let invalid =
        |ty: SqlType| TypeError::InvalidOperand { ty: ty.message_name(), op: op.message_name() };
    let incompatible = || TypeError::Incompatible {
        a: a.message_name(),
        b: b.message_name(),
        op: op.message_name(),
    };
    if let (SqlType::Clr(ty), _) | (_, SqlType::Clr(ty)) = (a, b) {
        return Err(TypeError::InvalidOperator { op: op.message_name(), ty: ty.name() });
    }
    if a.is_xml() || b.is_xml() {
        return Err(if a.is_xml() && b.is_xml() { invalid(a) } else { incompatible() });
    }
    if a == SqlType::Variant || b == SqlType::Variant {
        let other = if a == SqlType::Variant { b } else { a };
        let four = !op.is_bitwise() && op != ArithOp::Mod;
        return Err(match other {
            SqlType::Variant if op.is_bitwise() => invalid(SqlType::Variant),
            // A number would have to be made of it.
            _ if four && other.is_numeric() && other != SqlType::Bit => {
                TypeError::ImplicitNotAllowed { from: "sql_variant", to: other.name() }
            }
            _ => incompatible(),
        });
    }
    if op.is_bitwise() {
        return match (a, b) {
            _ if a.is_integer() && b.is_integer() => Ok(higher(a, b)),
            _ if a.is_integer() && (b.is_binary() || b.is_character()) => Ok(a),
            _ if b.is_integer() && (a.is_binary() || a.is_character()) => Ok(b),
            _ => Err(incompatible()),
        };
    }
    if a.is_character() && b.is_character() {
        if op != ArithOp::Add {
            return Err(invalid(a));
        }
        return Ok(concatenation(a, b));
    }
    if a.is_binary() && b.is_binary() {
        match op {
            ArithOp::Add => {}
            ArithOp::Sub | ArithOp::Mod => return Err(incompatible()),
            _ => return Err(invalid(a)),
        }
        let len = add_len(len_of(a), len_of(b), 8000);
        return Ok(SqlType::VarBinary(len));
    }
    if a == SqlType::UniqueIdentifier || b == SqlType::UniqueIdentifier {
        return Err(match (a, b) {
            (SqlType::UniqueIdentifier, other) | (other, SqlType::UniqueIdentifier)
                if other.is_numeric() =>
            {
                clash(SqlType::UniqueIdentifier, other)
            }
            _ => invalid(SqlType::UniqueIdentifier),
        });
    }
    if a.is_character() || b.is_character() {
        let other = if a.is_character() { b } else { a };
        if other.is_binary() {
            return Err(incompatible());
        }
        return result_type(op, other, other).map_err(|error| match (error, other, op) {
            (_, SqlType::Bit, ArithOp::Mul | ArithOp::Div) => invalid(a),
            (_, SqlType::Bit, _) => incompatible(),
            (error, ..) => error,
        });
    }
    if a.is_binary() || b.is_binary() {
        let other = if a.is_binary() { b } else { a };
        return if other.is_numeric() && !matches!(other, SqlType::Float | SqlType::Real) {
            result_type(op, other, other)
        } else {
            Err(incompatible())
        };
    }
    if a.is_temporal() || b.is_temporal() {
        let classic = |t: SqlType| matches!(t, SqlType::DateTime | SqlType::SmallDateTime);
        if a.is_temporal() && !classic(a) && b.is_numeric() {
            return Err(clash(a, b));
        }
        if b.is_temporal() && !classic(b) && a.is_numeric() {
            return Err(clash(b, a));
        }
        if !matches!(op, ArithOp::Add | ArithOp::Sub) {
            return Err(invalid(if a.is_temporal() { a } else { b }));
        }
        if a.is_temporal() && b.is_temporal() && !(classic(a) && classic(b)) {
            let same = std::mem::discriminant(&a) == std::mem::discriminant(&b);
            return Err(if same { invalid(a) } else { incompatible() });
        }
        return Ok(higher(a, b));
    }
    // Numbers are left.
    if a == SqlType::Bit && b == SqlType::Bit {
        return Err(match op {
            ArithOp::Add | ArithOp::Sub | ArithOp::Mod => incompatible(),
            _ => invalid(SqlType::Bit),
        });
    }
    let top = higher(a, b);
    match top {
        SqlType::Float | SqlType::Real if op == ArithOp::Mod => Err(incompatible()),
        SqlType::Decimal { .. } => {
            let (Some(x), Some(y)) = (a.as_decimal(), b.as_decimal()) else {
                return Err(incompatible());
            };
            let (precision, scale) = Decimal::result(op, x, y);
            let numeric = a.is_named_numeric() || b.is_named_numeric();
            Ok(SqlType::Decimal { precision, scale, numeric })
        }
        _ => Ok(top),
    }
}

fn clash(a: SqlType, b: SqlType) -> TypeError {
    TypeError::TypeClash { from: a.message_name().into(), to: b.message_name().into() }
}

fn higher(a: SqlType, b: SqlType) -> SqlType {
    if a.precedence() >= b.precedence() { a } else { b }
}

fn len_of(ty: SqlType) -> Len {
    match ty {
        SqlType::Char(n) | SqlType::NChar(n) | SqlType::Binary(n) => Len::N(n),
        SqlType::VarChar(len) | SqlType::NVarChar(len) | SqlType::VarBinary(len) => len,
        _ => Len::N(0),
    }
}

fn add_len(a: Len, b: Len, max: u16) -> Len {
    match (a, b) {
        (Len::N(a), Len::N(b)) => Len::N((a as u32 + b as u32).min(max as u32) as u16),
        _ => Len::Max,
    }
}

fn concatenation(a: SqlType, b: SqlType) -> SqlType {
    if a.is_unicode() || b.is_unicode() {
        SqlType::NVarChar(add_len(len_of(a), len_of(b), 4000))
    } else {
        SqlType::VarChar(add_len(len_of(a), len_of(b), 8000))
    }
}

/// `a op b` where the operands have the types given to [`result_type`]; the result has its type.
#[inline]
pub fn binary(
    op: ArithOp,
    a: &Value,
    a_type: SqlType,
    b: &Value,
    b_type: SqlType,
) -> Result<Value, TypeError> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::Int(a), Value::Int(b)) if a_type == SqlType::Int && b_type == SqlType::Int => {
            op_i32(op, *a, *b).map(Value::Int)
        }
        (Value::BigInt(a), Value::BigInt(b)) => op_i64(op, *a, *b).map(Value::BigInt),
        (Value::BigInt(a), Value::Int(b)) if b_type == SqlType::Int => {
            op_i64(op, *a, *b as i64).map(Value::BigInt)
        }
        (Value::Int(a), Value::BigInt(b)) if a_type == SqlType::Int => {
            op_i64(op, *a as i64, *b).map(Value::BigInt)
        }
        (Value::Money(_), _) | (_, Value::Money(_)) => {
            match plain_money(op, a, a_type, b, b_type) {
                Some(units) => Ok(Value::Money(units)),
                None => binary_slow(op, a, a_type, b, b_type),
            }
        }
        _ => binary_slow(op, a, a_type, b, b_type),
    }
}

macro_rules! op_ints {
    ($($name:ident $t:ty: $add:ident $sub:ident $mul:ident $div:ident $rem:ident;)*) => {$(
        /// An operator over two numbers of a type.
        #[inline]
        pub fn $name(op: ArithOp, a: $t, b: $t) -> Result<$t, TypeError> {
            match op {
                ArithOp::Add => $add(a, b),
                ArithOp::Sub => $sub(a, b),
                ArithOp::Mul => $mul(a, b),
                ArithOp::Div => $div(a, b),
                ArithOp::Mod => $rem(a, b),
                ArithOp::BitAnd => Ok(a & b),
                ArithOp::BitOr => Ok(a | b),
                ArithOp::BitXor => Ok(a ^ b),
            }
        }
    )*};
}

op_ints! {
    op_i64 i64: add_i64 sub_i64 mul_i64 div_i64 rem_i64;
    op_i32 i32: add_i32 sub_i32 mul_i32 div_i32 rem_i32;
    op_i16 i16: add_i16 sub_i16 mul_i16 div_i16 rem_i16;
    op_u8 u8: add_u8 sub_u8 mul_u8 div_u8 rem_u8;
}

fn binary_slow(
    op: ArithOp,
    a: &Value,
    a_type: SqlType,
    b: &Value,
    b_type: SqlType,
) -> Result<Value, TypeError> {
    let result = result_type(op, a_type, b_type)?;
    // Text and binaries beside another kind take that kind first.
    let flexible = |t: SqlType| t.is_character() || t.is_binary();
    if flexible(a_type) && !flexible(b_type) {
        let a = convert::cast(a, a_type, b_type, 0)?;
        return binary(op, &a, b_type, b, b_type);
    }
    if flexible(b_type) && !flexible(a_type) {
        let b = convert::cast(b, b_type, a_type, 0)?;
        return binary(op, a, a_type, &b, a_type);
    }
    match result {
        SqlType::TinyInt | SqlType::Bit => {
            let v = op_u8(op, small(a)? as u8, small(b)? as u8)?;
            Ok(if result == SqlType::Bit { Value::Bit(v != 0) } else { Value::TinyInt(v) })
        }
        SqlType::SmallInt => op_i16(op, small(a)? as i16, small(b)? as i16).map(Value::SmallInt),
        SqlType::Int => op_i32(op, small(a)? as i32, small(b)? as i32).map(Value::Int),
        SqlType::BigInt => op_i64(op, small(a)?, small(b)?).map(Value::BigInt),
        SqlType::Decimal { precision, scale, .. } => {
            let (x, y) = (exact(a)?, exact(b)?);
            Decimal::op_units(op, x, y, (precision, scale)).map(Value::Decimal)
        }
        SqlType::Money | SqlType::SmallMoney => money(op, exact(a)?, exact(b)?, result),
        SqlType::Float | SqlType::Real => {
            let (x, y) = (float(a)?, float(b)?);
            let v = match op {
                ArithOp::Add => x + y,
                ArithOp::Sub => x - y,
                ArithOp::Mul => x * y,
                _ if y == 0.0 => return Err(TypeError::DivideByZero),
                _ => x / y,
            };
            let overflow = TypeError::Overflow { from: "expression", to: result.message_name() };
            if !v.is_finite() {
                Err(overflow)
            } else if result == SqlType::Real {
                let v = v as f32;
                if v.is_finite() { Ok(Value::Real(v)) } else { Err(overflow) }
            } else {
                Ok(Value::Float(v))
            }
        }
        SqlType::DateTime | SqlType::SmallDateTime => {
            let x = convert::cast(a, a_type, SqlType::DateTime, 0)?;
            let y = convert::cast(b, b_type, SqlType::DateTime, 0)?;
            let (Value::DateTime(x), Value::DateTime(y)) = (&x, &y) else {
                return Err(clash(a_type, b_type));
            };
            let sum = match op {
                ArithOp::Add => x.total_ticks() + y.total_ticks(),
                _ => x.total_ticks() - y.total_ticks(),
            };
            let sum = crate::DateTime::from_total_ticks(sum)
                .ok_or(TypeError::DateAddOverflow { ty: result.name() })?;
            convert::cast(&Value::DateTime(sum), SqlType::DateTime, result, 0)
        }
        SqlType::VarChar(_) | SqlType::NVarChar(_) | SqlType::VarBinary(_) => {
            concat(a, b, result).ok_or_else(|| clash(a_type, b_type))
        }
        _ => Err(clash(a_type, b_type)),
    }
}

/// Two texts or two binaries, one behind the other and cut to what `ty` holds; `None` for anything else.
pub fn concat(a: &Value, b: &Value, ty: SqlType) -> Option<Value> {
    let limit = len_of(ty).limit();
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Some(Value::Null),
        (Value::Str(x), Value::Str(y)) => {
            if y.is_empty() {
                return Some(a.clone());
            }
            let mut text = String::with_capacity(x.len() + y.len());
            runtime::task::append(&mut text, x);
            runtime::task::append(&mut text, y);
            // Halves of a pair that come together are one character.
            if ty.is_unicode() && crate::collation::units::meet(x, y) {
                text = crate::collation::units::join_pairs(&text);
            }
            if text.len() > limit {
                match ty.is_unicode() {
                    true => crate::collation::truncate_units(&mut text, limit),
                    false => crate::collation::truncate_chars(&mut text, limit),
                }
            }
            Some(Value::Str(text.into()))
        }
        (Value::Binary(x), Value::Binary(y)) => {
            let mut bytes = Vec::with_capacity(x.len() + y.len());
            runtime::task::append_bytes(&mut bytes, x);
            runtime::task::append_bytes(&mut bytes, y);
            bytes.truncate(limit);
            Some(Value::Binary(bytes.into()))
        }
        _ => None,
    }
}

fn mistyped(v: &Value) -> TypeError {
    TypeError::InvalidOperand { ty: v.natural_type().message_name(), op: "arithmetic" }
}

fn small(v: &Value) -> Result<i64, TypeError> {
    v.as_i64().ok_or_else(|| mistyped(v))
}

/// (units, scale) of an exact number.
fn exact(v: &Value) -> Result<(i128, u8), TypeError> {
    match v {
        Value::Decimal(d) => Ok((d.units(), d.scale())),
        Value::Money(m) => Ok((*m as i128, 4)),
        _ => small(v).map(|n| (n as i128, 0)),
    }
}

fn float(v: &Value) -> Result<f64, TypeError> {
    match v {
        Value::Float(f) => Ok(*f),
        Value::Real(f) => Ok(*f as f64),
        Value::Decimal(d) => Ok(d.to_f64()),
        Value::Money(m) => Ok(*m as f64 / 10_000.0),
        _ => small(v).map(|n| n as f64),
    }
}

/// Sums, differences and multiples of money, where neither rounding nor an error comes in: as [`money`] has them.
#[inline]
fn plain_money(op: ArithOp, a: &Value, a_type: SqlType, b: &Value, b_type: SqlType) -> Option<i64> {
    /// Units, and whether they are of money.
    fn of(value: &Value, ty: SqlType) -> Option<(i64, bool)> {
        match (value, ty) {
            (Value::Money(units), SqlType::Money) => Some((*units, true)),
            (_, SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt) => {
                value.as_i64().map(|whole| (whole, false))
            }
            _ => None,
        }
    }
    let ((x, x_money), (y, y_money)) = (of(a, a_type)?, of(b, b_type)?);
    if op == ArithOp::Mul {
        return if x_money != y_money { x.checked_mul(y) } else { None };
    }
    let units = |n: i64, money: bool| if money { Some(n) } else { n.checked_mul(10_000) };
    let (x, y) = (units(x, x_money)?, units(y, y_money)?);
    match op {
        ArithOp::Add => x.checked_add(y),
        ArithOp::Sub => x.checked_sub(y),
        _ => None,
    }
}

/// Money keeps four digits; a product is rounded, a quotient cut off.
fn money(op: ArithOp, a: (i128, u8), b: (i128, u8), result: SqlType) -> Result<Value, TypeError> {
    let d = Decimal::op_units(op, a, b, (38, 4))
        .map_err(|e| if e == TypeError::DivideByZero { e } else { money_overflow(result) })?;
    let v = i64::try_from(d.units()).map_err(|_| money_overflow(result))?;
    if result == SqlType::SmallMoney && i32::try_from(v).is_err() {
        return Err(money_overflow(result));
    }
    Ok(Value::Money(v))
}

fn money_overflow(ty: SqlType) -> TypeError {
    TypeError::Overflow { from: "expression", to: ty.name() }
}

/// Type of `-a`; 8117 for non-numbers. tinyint becomes smallint, as in SQL Server.
pub fn neg_type(a: SqlType) -> Result<SqlType, TypeError> {
    match a {
        SqlType::TinyInt => Ok(SqlType::SmallInt),
        SqlType::Bit => Err(TypeError::InvalidOperand { ty: a.name(), op: "minus" }),
        _ if a.is_numeric() => Ok(a),
        _ => Err(TypeError::InvalidOperand { ty: a.message_name(), op: "minus" }),
    }
}

/// Unary minus.
pub fn neg(a: &Value) -> Result<Value, TypeError> {
    Ok(match a {
        Value::Null => Value::Null,
        Value::TinyInt(v) => Value::SmallInt(-(*v as i16)),
        Value::SmallInt(v) => Value::SmallInt(v.checked_neg().ok_or_else(|| beyond("smallint"))?),
        Value::Int(v) => Value::Int(v.checked_neg().ok_or_else(|| beyond("int"))?),
        Value::BigInt(v) => Value::BigInt(v.checked_neg().ok_or_else(|| beyond("bigint"))?),
        Value::Decimal(d) => Value::Decimal(d.negate()),
        Value::Money(v) => Value::Money(v.checked_neg().ok_or_else(|| beyond("money"))?),
        Value::Float(v) => Value::Float(-v),
        Value::Real(v) => Value::Real(-v),
        other => return Err(mistyped(other)),
    })
}

/// `~a` for integers and bit.
pub fn bit_not(a: &Value) -> Result<Value, TypeError> {
    Ok(match a {
        Value::Null => Value::Null,
        Value::Bit(v) => Value::Bit(!v),
        Value::TinyInt(v) => Value::TinyInt(!v),
        Value::SmallInt(v) => Value::SmallInt(!v),
        Value::Int(v) => Value::Int(!v),
        Value::BigInt(v) => Value::BigInt(!v),
        other => {
            let ty = other.natural_type().message_name();
            return Err(TypeError::InvalidOperand { ty, op: "'~'" });
        }
    })
}

/// 8115. Made where it is told: one that is made for each number, in case, has to be dropped for each.
#[cold]
fn beyond(to: &'static str) -> TypeError {
    TypeError::Overflow { from: "expression", to }
}

macro_rules! checked_ints {
    ($($t:ty, $name:literal, $add:ident $sub:ident $mul:ident $div:ident $rem:ident;)*) => {$(
        #[doc = concat!("a + b for ", $name, "; 8115 on overflow.")]
        #[inline]
        pub fn $add(a: $t, b: $t) -> Result<$t, TypeError> {
            a.checked_add(b).ok_or_else(|| beyond($name))
        }
        #[doc = concat!("a - b for ", $name, "; 8115 on overflow.")]
        #[inline]
        pub fn $sub(a: $t, b: $t) -> Result<$t, TypeError> {
            a.checked_sub(b).ok_or_else(|| beyond($name))
        }
        #[doc = concat!("a * b for ", $name, "; 8115 on overflow.")]
        #[inline]
        pub fn $mul(a: $t, b: $t) -> Result<$t, TypeError> {
            a.checked_mul(b).ok_or_else(|| beyond($name))
        }
        #[doc = concat!("a / b for ", $name, ", towards zero; 8134, 8115.")]
        #[inline]
        pub fn $div(a: $t, b: $t) -> Result<$t, TypeError> {
            if b == 0 {
                return Err(TypeError::DivideByZero);
            }
            a.checked_div(b).ok_or_else(|| beyond($name))
        }
        #[doc = concat!("a % b for ", $name, ", sign of a; 8134, 8115 where a / b is.")]
        #[inline]
        pub fn $rem(a: $t, b: $t) -> Result<$t, TypeError> {
            if b == 0 {
                return Err(TypeError::DivideByZero);
            }
            a.checked_rem(b).ok_or_else(|| beyond($name))
        }
    )*};
}

checked_ints! {
    i64, "bigint", add_i64 sub_i64 mul_i64 div_i64 rem_i64;
    i32, "int", add_i32 sub_i32 mul_i32 div_i32 rem_i32;
    i16, "smallint", add_i16 sub_i16 mul_i16 div_i16 rem_i16;
    u8, "tinyint", add_u8 sub_u8 mul_u8 div_u8 rem_u8;
}
