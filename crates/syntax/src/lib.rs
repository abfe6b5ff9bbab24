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
mod created;
mod definition;
mod error;
mod lexer;
mod mention;
mod parser;
mod split;
mod token;

pub use created::as_created;
pub use error::SyntaxError;
pub use mention::{Mention, MentionKind, expression_mentions, mentions};
pub use parser::simple::Simple;
pub use split::{BatchText, go_count, is_unfinished, split_batches};

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

/// How deep statements, queries and expressions may nest before error 191, in levels of an
/// expression: a statement counts for 2, a query for 4 or 5, a call for 2. It bounds both the
/// parser's recursion (to about 320 KiB of stack) and the height of every expression, so that walks
/// over the tree may recurse. Chains of AND, of OR and of UNION are kept as balanced trees and do not
/// count by their length.
pub const MAX_DEPTH: usize = 256;

/// Reads one batch (no GO lines in it: [`split_batches`] takes them out).
///
/// All or nothing: with any error no statement of the batch may run, as in SQL Server. The first
/// error is the one to trust; at present it is also the only one.
pub fn parse_batch(text: &str, options: &LexOptions) -> Result<ast::Batch, Vec<SyntaxError>> {
    parser::batch(text, options).map_err(|error| vec![*error])
}

/// The name of the module that a batch makes or alters, without its schema: what is wrong with the batch, its syntax too,
/// is told as of that module.
pub fn created_module(text: &str, options: &LexOptions) -> Option<String> {
    parser::created_module(text, options)
}

/// The batch with parameters in place of its constants, where it is one simple statement: see [`Simple`].
pub fn parameterise(text: &str, options: &LexOptions) -> Option<Simple> {
    parser::simple::simple(text, options)
}

/// Reads the declarations of a parameterised text: `@a int, @b nvarchar(40) OUTPUT`. Nothing is no parameter.
pub fn parse_parameters(
    text: &str,
    options: &LexOptions,
) -> Result<Vec<ast::Parameter>, Vec<SyntaxError>> {
    parser::parameters(text, options).map_err(|error| vec![*error])
}

/// Reads a batch that is `INSERT BULK table (column type, ...) [WITH (option, ...)]`; 428 where there is more in it.
pub fn parse_insert_bulk(
    text: &str,
    options: &LexOptions,
) -> Result<ast::InsertBulk, Vec<SyntaxError>> {
    parser::insert_bulk(text, options).map_err(|error| vec![*error])
}

/// The variables that a batch uses and does not declare, `@` included, in the order of their first use.
pub fn undeclared_variables(text: &str) -> Result<Vec<String>, Vec<SyntaxError>> {
    parser::undeclared_variables(text).map_err(|error| vec![*error])
}

/// Reads one value expression, for texts the catalog keeps (defaults): `((1))`, `getdate()`.
pub fn parse_expression(text: &str, options: &LexOptions) -> Result<ast::Expr, Vec<SyntaxError>> {
    parser::expression(text, options).map_err(|error| vec![*error])
}

/// Reads one condition, for texts the catalog keeps (CHECK constraints, filters of indexes).
pub fn parse_condition(text: &str, options: &LexOptions) -> Result<ast::Expr, Vec<SyntaxError>> {
    parser::condition(text, options).map_err(|error| vec![*error])
}

/// The text of a default's, a check's or a computed column's definition as it is kept, in parentheses. `source` is what
/// was written, which stays where SQL Server's form of it is not known.
pub fn definition_text(expr: &ast::Expr, source: &str) -> String {
    definition::text(expr, false).unwrap_or_else(|| definition::as_written(source))
}

/// The same of an index's filter, which keeps its lists of IN.
pub fn filter_text(expr: &ast::Expr, source: &str) -> String {
    definition::text(expr, true).unwrap_or_else(|| definition::as_written(source))
}

/// The column that a CHECK is about, if it is about one alone: SQL Server takes it as that column's then, wherever in
/// the table's definition it is written.
pub fn only_column(condition: &ast::Expr) -> Option<&ast::Ident> {
    definition::only_column(condition)
}
