//! Change tracking: changes of tracked tables are noted as they are made, and forgotten when they are old. Where they lie, and
//! how they are told, is `executor::tracking`'s.

mod clean;
mod write;

pub use clean::{Cleaned, clean_commits};
pub(crate) use write::Tracker;
