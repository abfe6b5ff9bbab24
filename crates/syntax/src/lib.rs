//! T-SQL text to tree.
//!
//! In the beginning was the word, and the word had no separators. This crate reads a batch as SQL
//! Server would: statements end where the next begins, keywords are mostly names in disguise, and a
//! mistake is told with SQL Server's number, the line, and the text near it. A parse takes
//! microseconds and never panics, whatever it is fed.
//!
//! It knows nothing of tables, types, sessions or what any name means. The tree is in [`ast`].
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod ast;
mod error;
mod split;

pub use error::SyntaxError;
pub use split::{BatchText, split_batches};

/// What session settings change in the reading of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexOptions {
    /// SET QUOTED_IDENTIFIER: ON makes `"x"` an identifier, OFF a text.
    pub quoted_identifier: bool,
}

impl Default for LexOptions {
    fn default() -> Self {
        LexOptions { quoted_identifier: true }
    }
}

/// How deep statements, queries and expressions may nest together before error 191.
pub const MAX_DEPTH: usize = 128;

/// Reads one batch (no GO lines in it: [`split_batches`] takes them out).
///
/// All or nothing: with any error no statement of the batch may run, as in SQL Server. The first
/// error is the one to trust; at present it is also the only one.
pub fn parse_batch(_text: &str, _options: &LexOptions) -> Result<ast::Batch, Vec<SyntaxError>> {
    unimplemented!()
}

/// Reads one value expression, for texts the catalog keeps (defaults): `((1))`, `getdate()`.
pub fn parse_expression(_text: &str, _options: &LexOptions) -> Result<ast::Expr, Vec<SyntaxError>> {
    unimplemented!()
}
