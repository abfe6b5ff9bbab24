//! Which texts hold what somebody looks for: "wine", "local wine*", wine NEAR cheese, every form of `drive`.
//!
//! The crate promises to read search conditions of CONTAINS and texts of FREETEXT as SQL Server documents them
//! ([`Search::contains`], [`Search::freetext`]), to break texts into words, and to say of a text whether it is one that is
//! looked for, and how well it fits, from 0 to 1000 ([`Search::rank`]). English words are brought to the form that they are
//! inflected from, and English stopwords are left out; of other languages words are taken as they stand.
//!
//! There is no index: a text is read once, and of its words only the places of those that the condition names are kept.
//! Reading breathes, so that megabytes let others go first and can be stopped. What a rank would take from an index, in how
//! many rows a word is, is the same for every word.
//!
//! It knows nothing of SQL, columns or rows.
#![forbid(unsafe_code)]

mod condition;
mod forms;
mod near;
mod parse;
mod search;
mod stopwords;
mod words;

pub use condition::{ConditionError, Options};
pub use search::Search;
pub use stopwords::system_stopwords;

#[cfg(test)]
mod tests;
