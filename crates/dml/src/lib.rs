//! Rows of tables changed: INSERT, UPDATE, DELETE and MERGE, and what follows from a changed row: its indexes, constraints,
//! rows that refer to it, large values, versions of the past, change tracking, indexed views.
//!
//! Promises: a change re-reads and re-checks each row under its lock before it changes it; what follows from a row changes
//! in its transaction, and stands or falls with it; a table of which nothing of that is said pays nothing for it.
//!
//! Knows nothing of how rows are found (the executor's plans do that), of T-SQL text, nor of triggers: it notes the rows
//! that these are fired for.

#![forbid(unsafe_code)]

mod error;

mod foreign;
mod index;
mod keys;
mod lob;
mod nulls;
mod period;
mod put_off;
mod ready;
mod recipe;
mod together;
mod tracking;
mod upkeep;
mod write;

mod change;
mod entries;
mod last_writer;
mod merge;
mod nested;
mod statement;

mod point;
mod point_merge;
mod setter;
mod spot;

mod indexed_view;
mod partition;
mod rebuild;
mod rows;

pub use change::{NextRow, delete, insert, insert_query, insert_rows, insert_stream, update};
pub use entries::NewEntries;
pub use indexed_view::{fill_view, keep_views};
pub use keys::{duplicate_key_text, key_columns, key_error};
pub use last_writer::Kept;
pub use merge::{Merged, merge};
pub use nulls::null_error;
pub use partition::{PartitionRows, delete_rows, is_empty as has_no_rows, move_rows};
pub use point::PointChange;
pub use point_merge::PointMerge;
pub use rebuild::{carry_out, computed_rows, verify_rows};
pub use tracking::{Cleaned, clean_commits};
pub use write::{RUN_BYTES_MIN, TableWriter, image, run_image};
