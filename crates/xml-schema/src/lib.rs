//! XML schemas as SQL Server has them: a text of schema documents becomes a [`Schema`], and documents are held to it.
//!
//! The crate promises to read a sound part of W3C's XML Schema 1.0 ([`Schema::compile`]): elements, attributes, complex
//! types with sequence, choice, all, groups, wildcards, extension and restriction, simple types with their facets, lists
//! and unions, substitution, nil, defaults and fixed values, several namespaces in one collection; to refuse by SQL
//! Server's numbers what that refuses (keys, include, redefine, notations); to validate documents and fragments
//! ([`Schema::accept`]) with SQL Server's messages and places, and to make values what it keeps of them: numbers,
//! booleans and times in their canonical forms, defaults filled in; to say what the value of each node is
//! ([`Schema::annotate`]); and to keep what a collection is under a number of the process ([`Registered`]), so that a
//! type of a column, which is a few bytes, leads to it.
//!
//! Limits: a document nests to [`xml::DEPTH_MAX`] levels; a pattern has [`pattern::STATES_MAX`] states; a content model
//! is followed on [`content::PATHS_MAX`] paths at once. Long loops breathe ([`runtime::task::Breath`]).
//!
//! It knows nothing of SQL, collections' names, columns or rows.
#![forbid(unsafe_code)]

mod builtin;
mod compile;
pub mod content;
mod error;
mod facets;
mod ids;
mod model;
mod names;
pub mod pattern;
mod place;
mod registry;
mod simple;
mod typing;
mod validate;
mod value;

pub use error::SchemaError;
pub use model::{Component, ComponentKind, Schema};
pub use names::QName;
pub use registry::{Registered, current, owner_of};

#[cfg(test)]
mod tests;
