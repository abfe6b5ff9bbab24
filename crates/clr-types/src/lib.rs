//! Types that SQL Server takes from the CLR, as an engine of tables wants them: a value is its bytes, a type is a row,
//! and so is a method.
//!
//! The crate promises to tell of each type what catalogs and clients ask ([`ClrType`]), to check and to write its bytes
//! as SQL Server's own assembly does ([`ClrType::admit`], [`ClrType::parse`], [`ClrType::text`]), and to call its methods
//! and aggregates ([`METHODS`], [`MethodId::call`], [`Aggregate`]). A new type is a file with its methods' rows, and a word in [`ClrType`].
//!
//! It knows nothing of SQL's values, expressions or rows: what a method takes and yields are [`Arg`] and [`Made`]; nor of
//! how shapes are computed, which is `spatial`'s.
#![forbid(unsafe_code)]

mod clr_type;
mod error;
mod hierarchy_id;
mod method;
mod methods;
mod shapes;

pub use clr_type::{ASSEMBLY, ClrType};
pub use error::ClrError;
pub use method::{Arg, Kind, Made, Method, Tells};
pub use methods::{ARGS_MAX, METHODS, MethodId};
pub use shapes::Aggregate;
/// Reference systems of geography.
pub use spatial::srid;

#[cfg(test)]
mod tests;
