//! A guard at the wire: does a value fit what its column says?
//!
//! A client that reads a value longer, wider or of another type than announced loses its place in the stream, and drops
//! the connection. Debug builds ask this of every value that leaves; nobody else does, so a fault found here is one to
//! be mended where the value was made.

use types::collation::{CodePage, utf16_len};
use types::{DateTime, DateTime2, Len, SqlType, Value};

/// Why the value does not fit, if it does not.
pub(crate) fn fault(
    ty: SqlType,
    page: CodePage,
    nullable: bool,
    value: &Value,
) -> Option<&'static str> {
    if value.is_null() {
        return if nullable { None } else { Some("NULL in a column without NULL") };
    }
    match misfit(ty, page, value) {
        Ok(true) => None,
        Ok(false) => Some("it is larger than its type"),
        Err(fault) => Some(fault),
    }
}

fn misfit(ty: SqlType, page: CodePage, value: &Value) -> Result<bool, &'static str> {
    let bytes = |text: &str| -> Result<usize, &'static str> {
        match text.chars().all(|c| page.holds(c)) {
            true => Ok(text.chars().map(|c| page.bytes_of(c)).sum()),
            false => Err("its code page lacks a character"),
        }
    };
    Ok(match (ty, value) {
        (SqlType::Char(n), Value::Str(text)) => bytes(text)? == usize::from(n),
        (SqlType::VarChar(Len::N(n)), Value::Str(text)) => bytes(text)? <= usize::from(n),
        (SqlType::VarChar(Len::Max), Value::Str(text)) => bytes(text)? <= Len::Max.limit(),
        (SqlType::NChar(n), Value::Str(text)) => utf16_len(text) == usize::from(n),
        (SqlType::NVarChar(Len::N(n)), Value::Str(text)) => utf16_len(text) <= usize::from(n),
        (SqlType::NVarChar(Len::Max) | SqlType::Xml | SqlType::TypedXml { .. }, Value::Str(_)) => {
            true
        }
        (SqlType::Binary(n), Value::Binary(bytes)) => bytes.len() == usize::from(n),
        (SqlType::VarBinary(len), Value::Binary(bytes)) => bytes.len() <= len.limit(),
        (SqlType::Clr(ty), Value::Binary(bytes)) => {
            ty.bytes_max().is_none_or(|most| bytes.len() <= usize::from(most))
        }
        (SqlType::Decimal { precision, scale, .. }, Value::Decimal(v)) => {
            let digits = v.units().unsigned_abs().checked_ilog10().map_or(1, |n| n + 1);
            v.scale() == scale && digits <= u32::from(precision)
        }
        (SqlType::SmallMoney, Value::Money(v)) => i32::try_from(*v).is_ok(),
        (SqlType::SmallDateTime, Value::DateTime(v)) => {
            u16::try_from(v.days).is_ok() && v.ticks.is_multiple_of(DateTime::TICKS_PER_MINUTE)
        }
        (SqlType::Time(scale), Value::Time(ticks)) => has_scale(*ticks, scale),
        (SqlType::DateTime2(scale), Value::DateTime2(v)) => is_moment(*v, scale),
        (SqlType::DateTimeOffset(scale), Value::DateTimeOffset(v)) => is_moment(v.utc, scale),
        (SqlType::Float, Value::Float(v)) => v.is_finite(),
        (SqlType::Real, Value::Real(v)) => v.is_finite(),
        (SqlType::Variant, Value::Variant(held)) => {
            return misfit(held.ty(), held.value().rule().code_page(), held.value());
        }
        (SqlType::Bit, Value::Bit(_))
        | (SqlType::TinyInt, Value::TinyInt(_))
        | (SqlType::SmallInt, Value::SmallInt(_))
        | (SqlType::Int, Value::Int(_))
        | (SqlType::BigInt, Value::BigInt(_))
        | (SqlType::Money, Value::Money(_))
        | (SqlType::DateTime, Value::DateTime(_))
        | (SqlType::Date, Value::Date(_))
        | (SqlType::UniqueIdentifier, Value::Guid(_)) => true,
        _ => return Err("it is of another type"),
    })
}

fn is_moment(at: DateTime2, scale: u8) -> bool {
    (0..=types::datetime::DAYS_MAX).contains(&at.days) && has_scale(at.ticks, scale)
}

/// A time of day with no more digits than that.
fn has_scale(ticks: u64, scale: u8) -> bool {
    ticks < types::datetime::TICKS_PER_DAY && ticks.is_multiple_of(10u64.pow(7 - u32::from(scale)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Decimal;

    fn fits(ty: SqlType, value: Value) -> bool {
        fault(ty, CodePage::Cp1252, false, &value).is_none()
    }

    #[test]
    fn what_is_too_large_or_another_type_is_found() {
        let text = |n| SqlType::VarChar(Len::N(n));
        assert!(fits(text(3), Value::str("abc")) && !fits(text(2), Value::str("abc")));
        assert!(
            !fits(text(3), Value::str("ł")) && fits(SqlType::NVarChar(Len::N(1)), Value::str("ł"))
        );
        assert!(!fits(SqlType::NVarChar(Len::N(1)), Value::str("😀")));
        assert!(!fits(SqlType::Char(3), Value::str("ab")));
        assert!(!fits(SqlType::Int, Value::BigInt(1)) && !fits(SqlType::Int, Value::Null));
        let wide = SqlType::decimal(2, 1);
        let number = |units| Value::Decimal(Decimal::new(units, 5, 1).expect("a decimal"));
        assert!(fits(wide, number(99)) && !fits(wide, number(100)));
        assert!(!fits(SqlType::Time(0), Value::Time(1)) && fits(SqlType::Time(7), Value::Time(1)));
        let held = types::Variant::wrap(Value::str("abc"), text(2)).expect("a variant");
        assert!(!fits(SqlType::Variant, held));
    }
}
