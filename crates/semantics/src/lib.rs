//! Rules of the language that can be judged without a binder: of a tree before its names are known, of its IR when they are.
//!
//! Promise: each is a function of what is given to it, and answers with a [`BindError`] that has SQL Server's number.
//! Whoever binds says when a rule is asked; what it says stands here.
//!
//! * How a refusal is told ([`error`], [`definitions`]), the door to what exists ([`names`], [`type_names`], [`kept`]).
//! * Questions to a tree: [`tree`], [`literals`], [`placing`], [`hints`], [`merge_clauses`], [`table_sample`],
//!   [`statement_rows`].
//! * What definitions say by themselves: [`table_definition`], [`index_definition`] with [`columnstore`], [`spatial`] and
//!   [`xml_index`], [`versioning`], [`triggers`], [`indexed_view`].
//! * What kinds of modules may hold: [`native`], [`effects`] (functions).
//! * Types and values of expressions: [`constants`], [`typing`], [`properties`]; whether they stay the same:
//!   [`deterministic`].
//! * Questions to a bound tree: [`lineage`], where its rows come from; [`uses`], what it reads and changes.
//! * Built-in functions known by name alone: [`signatures`], [`refused`]. Columns of results: [`told`],
//!   [`serialized_columns`], [`for_xml_explicit`], [`xml_names`].
//!
//! It knows nothing of scopes, of frames of variables, of how an expression gets its type.

#![forbid(unsafe_code)]

pub mod columnstore;
pub mod constants;
pub mod definitions;
pub mod deterministic;
pub mod effects;
pub mod error;
pub mod for_xml_explicit;
pub mod hints;
pub mod index_definition;
pub mod indexed_view;
pub mod kept;
pub mod lineage;
pub mod literals;
pub mod merge_clauses;
pub mod names;
pub mod native;
pub mod placing;
pub mod properties;
pub mod refused;
pub mod serialized_columns;
pub mod signatures;
pub mod spatial;
pub mod statement_rows;
pub mod table_definition;
pub mod table_sample;
pub mod told;
pub mod tree;
pub mod triggers;
pub mod type_names;
pub mod typing;
pub mod uses;
pub mod versioning;
pub mod xml_index;
pub mod xml_names;

pub use error::{BindError, NOT_MADE, Result};
