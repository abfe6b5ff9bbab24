//! JSON is text here, as it is in SQL Server, and it stays the text its author wrote.
//!
//! The crate promises to check a text against RFC 8259 ([`check`]), to find what a path names ([`find`]) as a slice of
//! the text itself, to walk the members of an object or array ([`Node::members`]), to change one place and leave every
//! other byte as it was ([`modify`]), and to write strings ([`quote_into`], [`unquote`]). Of members with one name the
//! first counts. Reading stops where the answer is known: what follows is not checked. Nesting goes to 128 levels.
//!
//! It knows nothing of SQL, values or rows; errors carry SQL Server's number and text.
#![forbid(unsafe_code)]

mod error;
mod modify;
mod path;
mod reader;
mod text;

pub use error::JsonError;
pub use modify::modify;
pub use path::{Path, Step};
pub use reader::{Kind, Node, check, find};
pub use text::{quote_into, unquote};

#[cfg(test)]
mod tests;
