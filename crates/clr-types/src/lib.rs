//! Types that SQL Server takes from the CLR, as an engine of tables wants them: a value is its bytes, a type is a row,
//! and so is a method.
//!
//! The crate promises to tell of each type what catalogs and clients ask ([`ClrType`]), to check and to write its bytes
//! as SQL Server's own assembly does ([`ClrType::check`], [`ClrType::parse`], [`ClrType::text`]), and to call its methods
//! ([`METHODS`], [`MethodId::call`]). A new type is a file with its methods' rows, and a word in [`ClrType`].
//!
//! It knows nothing of SQL's values, expressions or rows: what a method takes and yields are [`Arg`] and [`Made`].
#![forbid(unsafe_code)]

mod clr_type;
mod error;
mod hierarchy_id;
mod method;
mod methods;

pub use clr_type::{ASSEMBLY, ClrType};
pub use error::ClrError;
pub use method::{Arg, Kind, Made, Method, Tells};
pub use methods::{METHODS, MethodId};

#[cfg(test)]
mod tests;
