//! Rules of the language that can be judged without a binder: of a tree before its names are known, of its IR when they are.
//!
//! Promise: each is a function of what is given to it, and answers with a [`BindError`] that has SQL Server's number.
//! Whoever binds says when a rule is asked; what it says stands here.
//!
//! * How a refusal is told ([`error`], [`definitions`]), the door to what exists ([`names`], [`type_names`], [`kept`]).
//! * Questions to a tree: [`tree`], [`literals`], [`placing`], [`hints`].
//! * What kinds of modules may hold: [`native`], [`effects`] (functions), [`indexed_view`].
//! * What options and names of columns say: [`columnstore`], [`spatial`], [`for_xml_explicit`], [`xml_names`].
//! * Built-in functions known by name alone: [`signatures`], [`refused`]. Columns of results: [`told`].
//!
//! It knows nothing of scopes, of frames of variables, of how an expression gets its type.

#![forbid(unsafe_code)]

pub mod columnstore;
pub mod definitions;
pub mod effects;
pub mod error;
pub mod for_xml_explicit;
pub mod hints;
pub mod indexed_view;
pub mod kept;
pub mod literals;
pub mod names;
pub mod native;
pub mod placing;
pub mod refused;
pub mod signatures;
pub mod spatial;
pub mod told;
pub mod tree;
pub mod type_names;
pub mod xml_index;
pub mod xml_names;

pub use error::{BindError, NOT_MADE, Result};
