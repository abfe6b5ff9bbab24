//! Exact numbers of up to 38 digits.
//!
//! The value is `units / 10^scale`. Invariants: 1 <= precision <= 38, scale <= precision,
//! |units| < 10^precision. Precision and scale are those of the declared type, not of the digits.
//!
//! Rounding is half away from zero when digits are dropped, except in a quotient, which SQL Server
//! cuts off: `2.0 / 3` is 0.666666.

use crate::{ArithOp, TypeError};
use std::cmp::Ordering;
use std::fmt;

/// An exact number with its precision and scale; 24 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    // Two halves, so that the whole aligns to 8 bytes and a Value stays within 32.
    hi: i64,
    lo: u64,
    precision: u8,
    scale: u8,
}

/// Powers of ten up to 10^38.
pub(crate) const POW10: [i128; 39] = {
    let mut table = [1i128; 39];
    let mut i = 1;
    while i < 39 {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

const OVERFLOW: TypeError = TypeError::Overflow { from: "numeric", to: "numeric" };
/// What an operation that leaves 38 digits reports.
const OVERFLOW_EXPRESSION: TypeError = TypeError::Overflow { from: "expression", to: "numeric" };

/// Does it lie in the middle between two numbers of that scale?
fn is_half(v: f64, scale: u8) -> bool {
    let bits = v.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    // Its last binary place that is set; that of a half, times ten to the scale, is the first one behind the point.
    let (mantissa, power) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    mantissa != 0 && power + mantissa.trailing_zeros() as i32 + i32::from(scale) == -1
}

impl Decimal {
    /// 8115 when |units| does not fit the precision.
    #[inline]
    pub fn new(units: i128, precision: u8, scale: u8) -> Result<Decimal, TypeError> {
        debug_assert!((1..=38).contains(&precision) && scale <= precision);
        if units.unsigned_abs() >= POW10[precision as usize].unsigned_abs() {
            return Err(OVERFLOW);
        }
        Ok(Decimal { hi: (units >> 64) as i64, lo: units as u64, precision, scale })
    }

    /// An integer as decimal(19,0).
    #[inline]
    pub fn from_i64(v: i64) -> Decimal {
        Decimal { hi: (v >> 63), lo: v as u64, precision: 19, scale: 0 }
    }

    #[inline]
    pub fn units(self) -> i128 {
        ((self.hi as i128) << 64) | self.lo as i128
    }
    #[inline]
    pub fn precision(self) -> u8 {
        self.precision
    }
    #[inline]
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// The same number with another precision and scale, rounded; 8115.
    #[inline]
    pub fn rescale(self, precision: u8, scale: u8) -> Result<Decimal, TypeError> {
        let units = rescale_units(self.units(), self.scale, scale).ok_or(OVERFLOW)?;
        Decimal::new(units, precision, scale)
    }

    /// The integer part, towards zero; `None` beyond bigint.
    #[inline]
    pub fn to_i64(self) -> Option<i64> {
        i64::try_from(self.units() / POW10[self.scale as usize]).ok()
    }

    /// Bytes that it is told to take: a sign and whole groups of four for its digits.
    pub fn storage_bytes(self) -> usize {
        5 + 4 * (self.units().unsigned_abs().checked_ilog2().unwrap_or(0) as usize / 32)
    }

    pub fn to_f64(self) -> f64 {
        // Through text: the nearest double to the exact number, for any scale.
        if self.scale == 0 {
            return self.units() as f64;
        }
        if self.units().unsigned_abs() < (1 << 53) && self.scale <= 22 {
            return self.units() as f64 / POW10[self.scale as usize] as f64;
        }
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// Rounds a double, as the binary number that it is, into (precision, scale); `None` when it does not fit.
    pub fn from_f64(v: f64, precision: u8, scale: u8) -> Option<Decimal> {
        if !v.is_finite() || v.abs() >= 1e38 {
            return None;
        }
        let places = usize::from(scale);
        let text = match is_half(v, scale) {
            // The text would round to an even digit: it is written with the half, which is then left out.
            true => format!("{:.*}", places + 1, v.abs()),
            false => format!("{:.*}", places, v.abs()),
        };
        let digits = match is_half(v, scale) {
            true => &text[..text.len() - 1],
            false => &text,
        };
        let digits = digits
            .bytes()
            .filter(u8::is_ascii_digit)
            .try_fold(0i128, |n, b| n.checked_mul(10)?.checked_add(i128::from(b - b'0')))?;
        let units = digits + i128::from(is_half(v, scale));
        Decimal::new(if v < 0.0 { -units } else { units }, precision, scale).ok()
    }

    /// Digits with an optional sign and point, blanks around; precision and scale as written
    /// (`1.50` is decimal(3,2), `0.5` is decimal(1,1), as SQL Server's literals are). `None`: not such
    /// a text; `Some(Err)`: more than 38 digits before the point.
    pub fn parse(text: &str) -> Option<Result<Decimal, TypeError>> {
        let text = text.trim_matches(' ');
        let (negative, body) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return None;
        }
        let leading = whole.trim_start_matches('0');
        if leading.len() > 38 {
            return Some(Err(OVERFLOW));
        }
        let keep = fraction.len().min(38 - leading.len());
        let mut units: i128 = leading
            .bytes()
            .chain(fraction[..keep].bytes())
            .fold(0, |n, b| n * 10 + (b - b'0') as i128);
        if fraction.as_bytes().get(keep).is_some_and(|b| *b >= b'5') {
            units += 1;
        }
        // Leading zeros do not count: 0.5 is decimal(1,1). Rounding may have added a digit.
        let digits = units.checked_ilog10().map_or(0, |n| n as usize + 1);
        let precision = (leading.len() + keep).max(digits).max(1) as u8;
        if precision > 38 {
            return Some(Err(OVERFLOW));
        }
        Some(Decimal::new(if negative { -units } else { units }, precision, keep as u8))
    }

    /// Comparison by value, whatever the scales.
    pub fn compare(self, other: Decimal) -> Ordering {
        let (a, b) = (self.units(), other.units());
        if self.scale == other.scale {
            return a.cmp(&b);
        }
        let scale = self.scale.max(other.scale);
        let up = |units: i128, from: u8| units.checked_mul(POW10[(scale - from) as usize]);
        match (up(a, self.scale), up(b, other.scale)) {
            (Some(a), Some(b)) => a.cmp(&b),
            // Beyond 38 digits after alignment: the integer parts decide, and they differ unless
            // both overflow, which one alignment cannot.
            (None, _) => a.cmp(&0),
            (_, None) => 0.cmp(&b),
        }
    }

    /// Precision and scale of `a op b` by SQL Server's rules, for Add, Sub, Mul, Div, Mod.
    #[inline]
    pub fn result(op: ArithOp, a: (u8, u8), b: (u8, u8)) -> (u8, u8) {
        let (p1, s1, p2, s2) = (a.0 as i32, a.1 as i32, b.0 as i32, b.1 as i32);
        let (p, s) = match op {
            ArithOp::Add | ArithOp::Sub => {
                let whole = (p1 - s1).max(p2 - s2);
                let s = s1.max(s2);
                let p = s + whole + 1;
                if p > 38 { (38, s.min(38 - whole)) } else { (p, s) }
            }
            ArithOp::Mul => shrink(p1 + p2 + 1, s1 + s2),
            ArithOp::Div => {
                let s = 6.max(s1 + p2 + 1);
                shrink(p1 - s1 + s2 + s, s)
            }
            ArithOp::Mod => {
                let s = s1.max(s2);
                ((p1 - s1).min(p2 - s2) + s, s)
            }
            ArithOp::BitAnd | ArithOp::BitOr | ArithOp::BitXor => (p1.max(p2), s1.max(s2)),
        };
        (p.max(1) as u8, s as u8)
    }

    /// `self op other` with the precision and scale of [`Decimal::result`]; 8115, 8134.
    #[inline]
    pub fn op(self, op: ArithOp, other: Decimal) -> Result<Decimal, TypeError> {
        let to = Decimal::result(op, (self.precision, self.scale), (other.precision, other.scale));
        Decimal::op_units(op, (self.units(), self.scale), (other.units(), other.scale), to)
    }

    /// `a op b` on (units, scale) pairs into a (precision, scale) already computed.
    #[inline]
    pub fn op_units(
        op: ArithOp,
        (a, s1): (i128, u8),
        (b, s2): (i128, u8),
        (precision, scale): (u8, u8),
    ) -> Result<Decimal, TypeError> {
        // Most numbers fit 64 bits: nothing can leave 128 on the way.
        if let (Ok(x), Ok(y)) = (i64::try_from(a), i64::try_from(b)) {
            let units = match op {
                ArithOp::Add | ArithOp::Sub
                    if s1 <= scale && s2 <= scale && scale - s1.min(s2) <= 18 =>
                {
                    let x = i128::from(x) * POW10[(scale - s1) as usize];
                    let y = i128::from(y) * POW10[(scale - s2) as usize];
                    Some(if op == ArithOp::Sub { x - y } else { x + y })
                }
                ArithOp::Mul if s1 + s2 == scale => Some(i128::from(x) * i128::from(y)),
                _ => None,
            };
            if let Some(units) = units {
                return Decimal::new(units, precision, scale).map_err(|_| OVERFLOW_EXPRESSION);
            }
        }
        let units = match op {
            ArithOp::Add | ArithOp::Sub => {
                let b = if op == ArithOp::Sub { -b } else { b };
                if s1 == s2 && s1 == scale { a.checked_add(b) } else { add(a, s1, b, s2, scale) }
            }
            ArithOp::Mul => match a.checked_mul(b) {
                Some(product) => rescale_units(product, s1 + s2, scale),
                None => mul_wide(a, b, s1 + s2 - scale),
            },
            ArithOp::Div => {
                if b == 0 {
                    return Err(TypeError::DivideByZero);
                }
                divide(a, b, scale as i32 - s1 as i32 + s2 as i32)
            }
            ArithOp::Mod => {
                if b == 0 {
                    return Err(TypeError::DivideByZero);
                }
                match (rescale_units(a, s1, scale), rescale_units(b, s2, scale)) {
                    (Some(a), Some(b)) => Some(a % b),
                    // The divisor aligned is larger than any 38-digit dividend.
                    (Some(a), None) => Some(a),
                    _ => None,
                }
            }
            ArithOp::BitAnd | ArithOp::BitOr | ArithOp::BitXor => None,
        };
        let units = units.ok_or(OVERFLOW_EXPRESSION)?;
        Decimal::new(units, precision, scale).map_err(|_| OVERFLOW_EXPRESSION)
    }

    /// The number negated.
    #[inline]
    pub fn negate(self) -> Decimal {
        let units = -self.units();
        Decimal { hi: (units >> 64) as i64, lo: units as u64, ..self }
    }
}

/// SQL Server's way of fitting a product or a quotient into 38 digits.
#[inline]
fn shrink(p: i32, s: i32) -> (i32, i32) {
    if p <= 38 {
        return (p, s);
    }
    let whole = p - s;
    (38, if whole < 32 { s.min(38 - whole) } else { s.min(6) })
}

/// Rounds half away from zero. `d` > 0.
#[inline]
pub(crate) fn div_round(n: i128, d: i128) -> i128 {
    let (q, r) = (n / d, n % d);
    if r.unsigned_abs() * 2 >= d.unsigned_abs() { q + n.signum() } else { q }
}

#[inline]
pub(crate) fn rescale_units(units: i128, from: u8, to: u8) -> Option<i128> {
    match from.cmp(&to) {
        Ordering::Equal => Some(units),
        Ordering::Less => units.checked_mul(POW10[(to - from) as usize]),
        Ordering::Greater => {
            let drop = from - to;
            if drop > 38 { Some(0) } else { Some(div_round(units, POW10[drop as usize])) }
        }
    }
}

#[cold]
fn add(a: i128, s1: u8, b: i128, s2: u8, scale: u8) -> Option<i128> {
    let wide = s1.max(s2);
    let exact = rescale_units(a, s1, wide)
        .zip(rescale_units(b, s2, wide))
        .and_then(|(a, b)| a.checked_add(b))
        .and_then(|sum| rescale_units(sum, wide, scale));
    // More than 38 digits aligned: round each part to the result's scale first.
    exact.or_else(|| rescale_units(a, s1, scale)?.checked_add(rescale_units(b, s2, scale)?))
}

/// |a| * |b| as four 64-bit limbs, then divided by 10^drop with rounding.
#[cold]
fn mul_wide(a: i128, b: i128, drop: u8) -> Option<i128> {
    let negative = (a < 0) != (b < 0);
    let (a, b) = (a.unsigned_abs(), b.unsigned_abs());
    let limbs = |v: u128| [v as u64, (v >> 64) as u64];
    let (a, b) = (limbs(a), limbs(b));
    let mut product = [0u64; 4];
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0u128;
        for (j, y) in b.iter().enumerate() {
            let sum = product[i + j] as u128 + (*x as u128) * (*y as u128) + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
        product[i + 2] = carry as u64;
    }
    let mut left = drop as u32;
    let mut round_up = false;
    while left > 0 {
        let step = left.min(18);
        let divisor = 10u64.pow(step);
        let mut rest = 0u128;
        for limb in product.iter_mut().rev() {
            let n = (rest << 64) | *limb as u128;
            *limb = (n / divisor as u128) as u64;
            rest = n % divisor as u128;
        }
        round_up = rest * 2 >= divisor as u128;
        left -= step;
    }
    if product[3] != 0 || product[2] != 0 {
        return None;
    }
    let magnitude = (((product[1] as u128) << 64) | product[0] as u128) + round_up as u128;
    let magnitude = i128::try_from(magnitude).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

/// a * 10^shift / b, cut off towards zero.
#[inline]
fn divide(a: i128, b: i128, shift: i32) -> Option<i128> {
    if shift < 0 {
        return b.checked_mul(*POW10.get(-shift as usize)?).map(|b| a / b);
    }
    if let Some(n) = POW10.get(shift as usize).and_then(|p| a.checked_mul(*p)) {
        return Some(n / b);
    }
    long_divide(a, b, shift)
}

/// Digit by digit, for numerators beyond 128 bits.
#[cold]
fn long_divide(a: i128, b: i128, shift: i32) -> Option<i128> {
    let negative = (a < 0) != (b < 0);
    let (a, b) = (a.unsigned_abs(), b.unsigned_abs());
    let (mut q, mut r) = (a / b, a % b);
    for _ in 0..shift {
        // r * 10 may pass 128 bits, so it is added up with b taken off on the way.
        let (mut acc, mut digit) = (0u128, 0u128);
        for _ in 0..10 {
            acc += r;
            if acc >= b {
                acc -= b;
                digit += 1;
            }
        }
        r = acc;
        q = q.checked_mul(10)?.checked_add(digit)?;
    }
    let q = i128::try_from(q).ok()?;
    Some(if negative { -q } else { q })
}

/// Plain digits with exactly `scale` of them after the point, as SQL Server prints decimals.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.units();
        if units < 0 {
            f.write_str("-")?;
        }
        let magnitude = units.unsigned_abs();
        if self.scale == 0 {
            return write!(f, "{magnitude}");
        }
        let unit = POW10[self.scale as usize].unsigned_abs();
        write!(f, "{}.{:0width$}", magnitude / unit, magnitude % unit, width = self.scale as usize)
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}::decimal({},{})", self.precision, self.scale)
    }
}
