//! XML as an engine of tables wants it: a text goes in, a tree is asked, a text comes out.
//!
//! The crate promises to parse documents and fragments with namespaces ([`parse`]), to write them as SQL Server writes
//! values of type xml ([`Document::write`]), to compile the part of XQuery that SQL Server has ([`Query::compile`]) with
//! its static rule that what must be one can be one only, by a schema where there is one ([`Typing`]), to evaluate it ([`Query::run`]), and to change documents by
//! XML DML ([`Change`]). Nesting goes to 128 levels, of elements and of queries.
//!
//! It knows nothing of SQL, values or rows: what a query takes from outside comes as [`Atom`]s. Errors carry SQL
//! Server's number and text.
#![forbid(unsafe_code)]

pub mod binary;
mod document;
mod edit;
mod error;
mod parse;
mod query;
mod scope;
mod value_type;
mod write;

pub use document::{Children, Document, Kind, NodeRef};
pub use edit::{Added, Edits};
pub use error::{QueryError, XmlError};
pub use parse::{Encoding, Options, is_name_char, is_name_start, parse};
pub use query::{
    Atom, AtomType, Change, Declared, External, Given, Item, Namespaces, NodeType, Occurs, Query,
    Reached, Typing, Wanted,
};

/// Levels of elements, and of expressions.
pub const DEPTH_MAX: usize = 128;

#[cfg(test)]
mod tests;
