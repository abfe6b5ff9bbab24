//! Exact numbers of up to 38 digits.
//!
//! The value is `units / 10^scale`. Invariants: 1 <= precision <= 38, scale <= precision,
//! |units| < 10^precision. Precision and scale are those of the declared type, not of the digits.

use crate::TypeError;

/// An exact number with its precision and scale; 24 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    // Two halves, so that the whole aligns to 8 bytes and a Value stays within 32.
    hi: i64,
    lo: u64,
    precision: u8,
    scale: u8,
}

impl Decimal {
    /// 8115 when |units| does not fit the precision.
    #[inline]
    pub fn new(units: i128, precision: u8, scale: u8) -> Result<Decimal, TypeError> {
        debug_assert!(precision >= 1 && precision <= 38 && scale <= precision);
        if units.unsigned_abs() >= POW10[precision as usize].unsigned_abs() {
            return Err(TypeError::Overflow { from: "numeric", to: "numeric" });
        }
        Ok(Decimal { hi: (units >> 64) as i64, lo: units as u64, precision, scale })
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

impl std::fmt::Debug for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}e-{} decimal({},{})", self.units(), self.scale, self.precision, self.scale)
    }
}
