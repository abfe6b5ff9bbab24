//! Arithmetic, bit operations and string concatenation, as SQL Server does them.
//!
//! Two doors. [`result_type`] and [`binary`] are the general one: the plan asks for the result's
//! type once, rows then go through `binary`, whose result has that type. The typed functions
//! ([`add_i64`], [`Decimal`] methods, ...) are for an interpreter that already knows the types:
//! inline and free of allocation. NULL in, NULL out.

use crate::{Decimal, SqlType, TypeError, Value};

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

/// Type of `a op b`; 402, 8117 or 206 when the operator cannot take them.
pub fn result_type(op: ArithOp, a: SqlType, b: SqlType) -> Result<SqlType, TypeError> {
    unimplemented!("{op:?} {a} {b}")
}

/// `a op b` where the operands have the types given to [`result_type`]; the result has its type.
pub fn binary(
    op: ArithOp,
    a: &Value,
    a_type: SqlType,
    b: &Value,
    b_type: SqlType,
) -> Result<Value, TypeError> {
    unimplemented!("{op:?} {a:?} {a_type} {b:?} {b_type}")
}

/// Type of `-a`; 8117 for non-numbers. tinyint becomes smallint, as in SQL Server.
pub fn neg_type(a: SqlType) -> Result<SqlType, TypeError> {
    unimplemented!("{a}")
}

/// Unary minus.
pub fn neg(a: &Value) -> Result<Value, TypeError> {
    unimplemented!("{a:?}")
}

/// `~a` for integers and bit.
pub fn bit_not(a: &Value) -> Result<Value, TypeError> {
    unimplemented!("{a:?}")
}

macro_rules! checked_ints {
    ($($t:ty, $name:literal, $add:ident $sub:ident $mul:ident $div:ident $rem:ident;)*) => {$(
        #[doc = concat!("a + b for ", $name, "; 8115 on overflow.")]
        #[inline]
        pub fn $add(a: $t, b: $t) -> Result<$t, TypeError> {
            a.checked_add(b).ok_or(TypeError::Overflow { from: "expression", to: $name })
        }
        #[doc = concat!("a - b for ", $name, "; 8115 on overflow.")]
        #[inline]
        pub fn $sub(a: $t, b: $t) -> Result<$t, TypeError> {
            a.checked_sub(b).ok_or(TypeError::Overflow { from: "expression", to: $name })
        }
        #[doc = concat!("a * b for ", $name, "; 8115 on overflow.")]
        #[inline]
        pub fn $mul(a: $t, b: $t) -> Result<$t, TypeError> {
            a.checked_mul(b).ok_or(TypeError::Overflow { from: "expression", to: $name })
        }
        #[doc = concat!("a / b for ", $name, ", towards zero; 8134, 8115.")]
        #[inline]
        pub fn $div(a: $t, b: $t) -> Result<$t, TypeError> {
            if b == 0 {
                return Err(TypeError::DivideByZero);
            }
            a.checked_div(b).ok_or(TypeError::Overflow { from: "expression", to: $name })
        }
        #[doc = concat!("a % b for ", $name, ", sign of a; 8134.")]
        #[inline]
        pub fn $rem(a: $t, b: $t) -> Result<$t, TypeError> {
            if b == 0 {
                return Err(TypeError::DivideByZero);
            }
            Ok(a.checked_rem(b).unwrap_or(0))
        }
    )*};
}

checked_ints! {
    i64, "bigint", add_i64 sub_i64 mul_i64 div_i64 rem_i64;
    i32, "int", add_i32 sub_i32 mul_i32 div_i32 rem_i32;
    i16, "smallint", add_i16 sub_i16 mul_i16 div_i16 rem_i16;
    u8, "tinyint", add_u8 sub_u8 mul_u8 div_u8 rem_u8;
}

impl Decimal {
    /// Precision and scale of `a op b` by SQL Server's rules, for Add, Sub, Mul, Div, Mod.
    pub fn result(op: ArithOp, a: (u8, u8), b: (u8, u8)) -> (u8, u8) {
        unimplemented!("{op:?} {a:?} {b:?}")
    }
    /// `self op other`, with the precision and scale of [`Decimal::result`]; 8115, 8134.
    #[inline]
    pub fn op(self, op: ArithOp, other: Decimal) -> Result<Decimal, TypeError> {
        unimplemented!("{op:?} {other:?}")
    }
}
