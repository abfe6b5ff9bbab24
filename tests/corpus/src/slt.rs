//! sqllogictest: records read from a file, run on the engine, compared.
//!
//! The format and its rules are those of `about.wiki` in SQLite's sqllogictest; the engine's name for `onlyif` and
//! `skipif` is `mssql`.

mod compare;
mod record;
mod suite;

pub use compare::{Values, matches};
pub use record::{Expected, Record, Sort, records};
pub use suite::{Options, Tally, run};
