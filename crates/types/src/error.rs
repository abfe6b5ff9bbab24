//! What can go wrong with a value, with SQL Server's number and message text.
//!
//! Messages that name a table or a column (2628, 515) are completed above; this layer gives the
//! truncated value. Type names are those SQL Server prints: decimal is `numeric` in messages.

use std::fmt;

/// An error of conversion, arithmetic, calendar, pattern or row building.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeError {
    /// 8115: arithmetic overflow converting `from` (or `expression`) to `to`.
    Overflow { from: &'static str, to: &'static str },
    /// 8115 of a number that has more digits than numeric itself, 38, whatever the target has.
    OverflowNumeric { from: &'static str },
    /// 220: arithmetic overflow for an integer type, with the value.
    OverflowValue { ty: &'static str, value: i64 },
    /// 232: arithmetic overflow for a type from a float, with the value as printed.
    OverflowFloat { ty: &'static str, value: Box<str> },
    /// 248: a character value beyond the range of int; 244 of smallint (`INT2`), tinyint (`INT1`).
    OverflowString { from: &'static str, value: Box<str>, to: &'static str },
    /// 8134.
    DivideByZero,
    /// 245: conversion of a character value failed.
    ConversionFailed { from: &'static str, value: Box<str>, to: &'static str },
    /// 8114: error converting data type (decimal, float, bigint from text).
    ConvertError { from: &'static str, to: &'static str },
    /// 241: not a date or time.
    BadDate,
    /// 295: the same for smalldatetime.
    BadSmallDate,
    /// 9807: a date in a form that the style does not read.
    StyleMismatch { style: i32 },
    /// 242: a date or time outside the range of the target.
    DateOutOfRange { from: &'static str, to: &'static str },
    /// 206: operand type clash.
    TypeClash { from: Box<str>, to: Box<str> },
    /// 529: explicit conversion not allowed.
    ExplicitNotAllowed { from: &'static str, to: &'static str },
    /// 257: only an explicit conversion is allowed.
    ImplicitNotAllowed { from: &'static str, to: &'static str },
    /// 402: two types that an operator cannot take together.
    Incompatible { a: &'static str, b: &'static str, op: &'static str },
    /// 8117: a type that an operator cannot take at all.
    InvalidOperand { ty: &'static str, op: &'static str },
    /// 2628 (8152 without names): a string or binary does not fit a column; the part that fits.
    Truncated { value: Box<str> },
    /// 517: DATEADD or datetime arithmetic left the calendar.
    DateAddOverflow { ty: &'static str },
    /// 535: DATEDIFF does not fit an int.
    DateDiffOverflow { function: &'static str },
    /// 9810: a datepart the type does not have.
    BadDatePart { part: &'static str, function: &'static str, ty: &'static str },
    /// 8169: text is no uniqueidentifier.
    BadGuid,
    /// 235: text is no money.
    BadMoney,
    /// 281: no such style.
    BadStyle { style: i32, from: &'static str, to: &'static str },
    /// 234: the text does not fit (money to a short varchar), 237: the number does not (money to int); 8170 for a
    /// uniqueidentifier.
    NoSpace { from: &'static str, to: &'static str },
    /// 506: the escape of a LIKE is not one character.
    BadEscape { escape: Box<str> },
    /// 511: row too large.
    RowTooLarge { size: usize },
    /// 1946: key too large for an index entry.
    KeyTooLarge { size: usize },
    /// 6335, 6359, 9400 to 9467: the text is no well-formed XML.
    Xml(xml::XmlError),
    /// 6522: an exception of a type of the CLR.
    Clr(Box<clr_types::ClrError>),
    /// 403: an operator that types of the CLR do not have.
    InvalidOperator { op: &'static str, ty: &'static str },
    /// 6354: an xml does not fit a text.
    XmlTooLong,
    /// 3617, 701: what makes it is to stop.
    Stopped(runtime::task::Stopped),
}

impl TypeError {
    /// SQL Server's message number.
    pub fn number(&self) -> i32 {
        match self {
            TypeError::Overflow { .. } | TypeError::OverflowNumeric { .. } => 8115,
            TypeError::OverflowValue { .. } => 220,
            TypeError::OverflowFloat { .. } => 232,
            TypeError::OverflowString { to: "int", .. } => 248,
            TypeError::OverflowString { .. } => 244,
            TypeError::DivideByZero => 8134,
            TypeError::ConversionFailed { .. } => 245,
            TypeError::ConvertError { .. } => 8114,
            TypeError::BadDate => 241,
            TypeError::BadSmallDate => 295,
            TypeError::StyleMismatch { .. } => 9807,
            TypeError::DateOutOfRange { .. } => 242,
            TypeError::TypeClash { .. } => 206,
            TypeError::ExplicitNotAllowed { .. } => 529,
            TypeError::ImplicitNotAllowed { .. } => 257,
            TypeError::Incompatible { .. } => 402,
            TypeError::InvalidOperand { .. } => 8117,
            TypeError::Truncated { .. } => 2628,
            TypeError::DateAddOverflow { .. } => 517,
            TypeError::DateDiffOverflow { .. } => 535,
            TypeError::BadDatePart { .. } => 9810,
            TypeError::BadGuid => 8169,
            TypeError::BadMoney => 235,
            TypeError::BadStyle { .. } => 281,
            TypeError::NoSpace { from: "uniqueidentifier", .. } => 8170,
            TypeError::NoSpace { to: "int" | "smallmoney", .. } => 237,
            TypeError::NoSpace { .. } => 234,
            TypeError::BadEscape { .. } => 506,
            TypeError::RowTooLarge { .. } => 511,
            TypeError::KeyTooLarge { .. } => 1946,
            TypeError::Xml(e) => e.number(),
            TypeError::Clr(_) => clr_types::ClrError::NUMBER,
            TypeError::InvalidOperator { .. } => 403,
            TypeError::XmlTooLong => 6354,
            TypeError::Stopped(stopped) => stopped.number(),
        }
    }

    /// SQL Server's state: which of its places raises the number.
    pub fn state(&self) -> u8 {
        match self {
            TypeError::Overflow { from: "IDENTITY", .. } => 1,
            TypeError::Overflow { from: "expression", .. } => 2,
            TypeError::Overflow { to: "varchar" | "char", .. } => 5,
            TypeError::OverflowNumeric { .. } => 6,
            TypeError::Overflow { from: "float" | "real", to: "numeric" | "decimal" } => 6,
            TypeError::Overflow { to: "numeric" | "decimal", .. } => 8,
            TypeError::Overflow { to: "money" | "smallmoney", .. } => 4,
            TypeError::Overflow { .. } => 2,
            TypeError::OverflowValue { ty: "tinyint", .. } => 2,
            TypeError::OverflowValue { ty: "smallmoney", .. } => 3,
            TypeError::OverflowFloat { ty: "tinyint", .. } => 1,
            TypeError::OverflowFloat {
                ty: "smallint" | "varchar" | "char" | "money" | "smallmoney",
                ..
            } => 2,
            TypeError::OverflowFloat { .. } => 3,
            TypeError::OverflowString { to: "INT2", .. } => 2,
            TypeError::BadSmallDate | TypeError::NoSpace { to: "smallmoney", .. } => 3,
            TypeError::NoSpace { to: "int", .. } => 1,
            TypeError::ConvertError { .. } => 5,
            TypeError::DateOutOfRange { .. } | TypeError::ImplicitNotAllowed { .. } => 3,
            TypeError::TypeClash { .. } | TypeError::ExplicitNotAllowed { .. } => 2,
            TypeError::Clr(e) => e.state(),
            TypeError::BadGuid | TypeError::NoSpace { .. } => 2,
            TypeError::BadMoney | TypeError::DateDiffOverflow { .. } => 0,
            _ => 1,
        }
    }

    /// SQL Server's severity; 16 for nearly all.
    pub fn severity(&self) -> u8 {
        if let TypeError::Stopped(stopped) = self {
            return stopped.severity();
        }
        16
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeError::Stopped(stopped) => stopped.fmt(f),
            TypeError::Overflow { from, to } => {
                write!(f, "Arithmetic overflow error converting {from} to data type {to}.")
            }
            TypeError::OverflowNumeric { from } => {
                write!(f, "Arithmetic overflow error converting {from} to data type numeric.")
            }
            TypeError::OverflowValue { ty, value } => {
                write!(f, "Arithmetic overflow error for data type {ty}, value = {value}.")
            }
            TypeError::OverflowFloat { ty, value } => {
                write!(f, "Arithmetic overflow error for type {ty}, value = {value}.")
            }
            TypeError::OverflowString { from, value, to } => {
                write!(
                    f,
                    "The conversion of the {from} value '{value}' overflowed an {to} column."
                )?;
                if *to == "int" { Ok(()) } else { f.write_str(" Use a larger integer column.") }
            }
            TypeError::DivideByZero => f.write_str("Divide by zero error encountered."),
            TypeError::ConversionFailed { from, value, to } => write!(
                f,
                "Conversion failed when converting the {from} value '{value}' to data type {to}."
            ),
            TypeError::ConvertError { from, to } => {
                write!(f, "Error converting data type {from} to {to}.")
            }
            TypeError::BadDate => f.write_str(
                "Conversion failed when converting date and/or time from character string.",
            ),
            TypeError::BadSmallDate => f.write_str(
                "Conversion failed when converting character string to smalldatetime data type.",
            ),
            TypeError::StyleMismatch { style } => write!(
                f,
                "The input character string does not follow style {style}, either change the input character string or \
                 use a different style."
            ),
            TypeError::DateOutOfRange { from, to } => write!(
                f,
                "The conversion of a {from} data type to a {to} data type resulted in an \
                 out-of-range value."
            ),
            TypeError::TypeClash { from, to } => {
                write!(f, "Operand type clash: {from} is incompatible with {to}")
            }
            TypeError::ExplicitNotAllowed { from, to } => {
                write!(f, "Explicit conversion from data type {from} to {to} is not allowed.")
            }
            TypeError::ImplicitNotAllowed { from, to } => write!(
                f,
                "Implicit conversion from data type {from} to {to} is not allowed. Use the \
                 CONVERT function to run this query."
            ),
            TypeError::Incompatible { a, b, op } => {
                write!(f, "The data types {a} and {b} are incompatible in the {op} operator.")
            }
            TypeError::InvalidOperand { ty, op } => {
                write!(f, "Operand data type {ty} is invalid for {op} operator.")
            }
            TypeError::Truncated { .. } => f.write_str("String or binary data would be truncated."),
            TypeError::DateAddOverflow { ty } => {
                write!(f, "Adding a value to a '{ty}' column caused an overflow.")
            }
            TypeError::DateDiffOverflow { function } => write!(
                f,
                "The {function} function resulted in an overflow. The number of dateparts \
                 separating two date/time instances is too large. Try to use {function} with a \
                 less precise datepart."
            ),
            TypeError::BadDatePart { part, function, ty } => write!(
                f,
                "The datepart {part} is not supported by date function {function} for data type \
                 {ty}."
            ),
            TypeError::BadGuid => f.write_str(
                "Conversion failed when converting from a character string to uniqueidentifier.",
            ),
            TypeError::BadMoney => f.write_str(
                "Cannot convert a char value to money. The char value has incorrect syntax.",
            ),
            TypeError::BadStyle { style, from, to } => write!(
                f,
                "{style} is not a valid style number when converting from {from} to {to}."
            ),
            TypeError::NoSpace { from: from @ "uniqueidentifier", to } => {
                write!(f, "Insufficient result space to convert {from} value to {to}.")
            }
            TypeError::NoSpace { from, to } => {
                write!(f, "There is insufficient result space to convert a {from} value to {to}.")
            }
            TypeError::BadEscape { escape } => write!(
                f,
                "The invalid escape character \"{escape}\" was specified in a LIKE predicate."
            ),
            TypeError::RowTooLarge { size } => write!(
                f,
                "Cannot create a row of size {size} which is greater than the allowable maximum \
                 row size of 8060."
            ),
            TypeError::KeyTooLarge { size } => write!(
                f,
                "Operation failed. The index entry of length {size} bytes for the index exceeds \
                 the maximum length of 900 bytes for clustered indexes."
            ),
            TypeError::Xml(e) => f.write_str(e.text()),
            TypeError::Clr(e) => e.fmt(f),
            TypeError::InvalidOperator { op, ty } => {
                write!(f, "Invalid operator for data type. Operator equals {op}, type equals {ty}.")
            }
            TypeError::XmlTooLong => {
                f.write_str("Target string size is too small to represent the XML instance")
            }
        }
    }
}

impl std::error::Error for TypeError {}

impl From<clr_types::ClrError> for TypeError {
    #[cold]
    fn from(error: clr_types::ClrError) -> Self {
        match error.stop() {
            Some(stop) => TypeError::Stopped(stop),
            None => TypeError::Clr(Box::new(error)),
        }
    }
}

impl From<runtime::task::Stopped> for TypeError {
    fn from(stopped: runtime::task::Stopped) -> Self {
        TypeError::Stopped(stopped)
    }
}
