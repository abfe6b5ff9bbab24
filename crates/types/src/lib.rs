//! A value is what a row is made of, and this crate is where a value learns its manners.
//!
//! It promises T-SQL's types and their precedence ([`SqlType`]), values ([`Value`]), three-valued
//! comparison under the collation SQL_Latin1_General_CP1_CI_AS ([`compare`]), arithmetic
//! ([`arith`]), conversions ([`convert`]), calendar functions ([`datetime`]), the text a value
//! becomes ([`format`]), and two byte formats: rows ([`RowLayout`]) and memcmp-comparable keys
//! ([`key`]), and it reads the bytes of clients' values ([`wire`]). Every failure is a [`TypeError`] with SQL Server's number and text.
//!
//! It knows nothing of tables, pages, transactions, sessions or SQL text.
#![forbid(unsafe_code)]

pub mod arith;
pub mod collation;
pub mod compare;
pub mod convert;
pub mod culture;
pub mod datetime;
mod decimal;
mod error;
pub mod format;
pub mod key;
pub mod languages;
pub mod mask;
pub mod picture;
pub mod row;
mod searcher;
mod sql_type;
mod text;
mod value;
pub mod variant;
pub mod wire;

pub use arith::ArithOp;
/// Types of the CLR and their methods.
pub use clr_types as clr;
pub use clr_types::ClrType;
pub use collation::Collation;
pub use compare::Pattern;
pub use convert::Conversion;
pub use datetime::{DatePart, DateTime, DateTime2, DateTimeOffset};
pub use decimal::Decimal;
pub use error::TypeError;
pub use key::{KeyLayout, KeyPart};
pub use mask::{Mask, MaskFunction};
pub use row::{External, Projection, RowColumn, RowLayout, StoredCell, StoredCells};
pub use searcher::AsciiNeedle;
pub use sql_type::{Len, SqlType};
pub use text::{Bytes, Text};
pub use value::Value;
pub use variant::Variant;

#[cfg(test)]
mod tests;
