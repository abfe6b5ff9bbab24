//! Values of queries: texts, numbers, booleans, bytes.
//!
//! Numbers are whole (64 bits) or binary fractions: xs:decimal computes as xs:double does and is written without an
//! exponent.

use crate::binary::{from_base64, from_hex, to_base64};
pub use crate::value_type::AtomType;
use std::cmp::Ordering;
use std::fmt::Write;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Atom {
    /// Of untyped XML: beside a number it is one.
    Untyped(String),
    /// xs:string, and dates as text.
    Text(String),
    /// xs:boolean
    Bool(bool),
    /// xs:integer
    Int(i64),
    /// xs:decimal
    Decimal(f64),
    /// xs:double
    Double(f64),
    /// xs:base64Binary, xs:hexBinary
    Bytes(Vec<u8>),
}

impl AtomType {
    /// By its name in xs: or xdt:.
    pub fn of(name: &str) -> Option<AtomType> {
        Some(match name {
            "string" | "normalizedString" | "token" | "anyURI" => AtomType::Text,
            "boolean" => AtomType::Bool,
            "integer" | "int" | "long" | "short" | "byte" | "nonNegativeInteger"
            | "positiveInteger" | "negativeInteger" | "nonPositiveInteger" | "unsignedByte"
            | "unsignedShort" | "unsignedInt" | "unsignedLong" => AtomType::Int,
            "decimal" => AtomType::Decimal,
            "double" | "float" => AtomType::Double,
            "dateTime" | "date" | "time" => AtomType::Moment,
            "base64Binary" => AtomType::Base64,
            "hexBinary" => AtomType::Hex,
            "untypedAtomic" => AtomType::Untyped,
            _ => return None,
        })
    }
}

impl Atom {
    /// As text.
    pub fn to_text(&self) -> String {
        match self {
            Atom::Untyped(s) | Atom::Text(s) => s.clone(),
            Atom::Bool(b) => b.to_string(),
            Atom::Int(n) => n.to_string(),
            Atom::Decimal(n) => n.to_string(),
            Atom::Double(n) => double_text(*n),
            Atom::Bytes(bytes) => to_base64(bytes),
        }
    }

    /// As a number; `None` where it is none.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Atom::Untyped(s) | Atom::Text(s) => parse_double(s),
            Atom::Bool(b) => Some(f64::from(u8::from(*b))),
            Atom::Int(n) => Some(*n as f64),
            Atom::Decimal(n) | Atom::Double(n) => Some(*n),
            Atom::Bytes(_) => None,
        }
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Atom::Int(_) | Atom::Decimal(_) | Atom::Double(_))
    }

    /// As another type; `None` where it cannot be.
    pub(crate) fn cast(&self, to: AtomType) -> Option<Atom> {
        Some(match to {
            AtomType::Nothing => return None,
            AtomType::Text => Atom::Text(self.to_text()),
            AtomType::Untyped => Atom::Untyped(self.to_text()),
            AtomType::Bool => Atom::Bool(match self {
                Atom::Untyped(s) | Atom::Text(s) => match s.trim() {
                    "true" | "1" => true,
                    "false" | "0" => false,
                    _ => return None,
                },
                Atom::Bool(b) => *b,
                Atom::Bytes(_) => return None,
                number => number.number().is_some_and(|n| n != 0.0 && !n.is_nan()),
            }),
            AtomType::Int => match self {
                Atom::Untyped(s) | Atom::Text(s) => {
                    let s = s.trim();
                    Atom::Int(s.strip_prefix('+').unwrap_or(s).parse().ok()?)
                }
                Atom::Int(n) => Atom::Int(*n),
                other => {
                    let n = other.number()?.trunc();
                    (n.abs() < 9.2e18).then_some(Atom::Int(n as i64))?
                }
            },
            AtomType::Decimal => match self {
                Atom::Untyped(s) | Atom::Text(s) if s.contains(['e', 'E']) => return None,
                other => Atom::Decimal(other.number().filter(|n| n.is_finite())?),
            },
            AtomType::Double => Atom::Double(self.number()?),
            AtomType::Moment => {
                let text = self.to_text();
                let text = text.trim();
                let shaped = text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
                    && text.bytes().all(|b| b.is_ascii_digit() || b"-:.TZ+".contains(&b));
                shaped.then(|| Atom::Text(text.to_owned()))?
            }
            AtomType::Base64 => Atom::Bytes(match self {
                Atom::Bytes(bytes) => bytes.clone(),
                other => from_base64(&other.to_text())?,
            }),
            AtomType::Hex => Atom::Bytes(match self {
                Atom::Bytes(bytes) => bytes.clone(),
                other => from_hex(&other.to_text())?,
            }),
        })
    }

    /// The order of two values; `None` where they do not compare.
    pub(crate) fn compare(&self, other: &Atom) -> Option<Ordering> {
        use Atom::{Bool, Bytes};
        match (self, other) {
            (Bool(a), Bool(b)) => Some(a.cmp(b)),
            (Bool(a), b) | (b, Bool(a)) => {
                let Some(Bool(b)) = b.cast(AtomType::Bool) else { return None };
                let order = a.cmp(&b);
                Some(if matches!(self, Bool(_)) { order } else { order.reverse() })
            }
            (Bytes(a), Bytes(b)) => Some(a.cmp(b)),
            (Atom::Int(a), Atom::Int(b)) => Some(a.cmp(b)),
            _ if self.is_number() || other.is_number() => {
                self.number()?.partial_cmp(&other.number()?)
            }
            _ => Some(self.to_text().cmp(&other.to_text())),
        }
    }
}

fn parse_double(text: &str) -> Option<f64> {
    match text.trim() {
        "INF" => Some(f64::INFINITY),
        "-INF" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        s => {
            let first = s.bytes().find(|b| !b"+-.".contains(b))?;
            first.is_ascii_digit().then(|| s.parse().ok())?
        }
    }
}

/// As XQuery writes xs:double: with an exponent where it is very large or very small.
fn double_text(n: f64) -> String {
    if n.is_nan() {
        return "NaN".into();
    }
    if n.is_infinite() {
        return if n > 0.0 { "INF".into() } else { "-INF".into() };
    }
    let size = n.abs();
    if size == 0.0 || (1e-6..1e15).contains(&size) {
        return n.to_string();
    }
    let mut out = String::new();
    let _ = write!(out, "{n:E}");
    out
}
