//! What nobody here wrote: other people's scripts and tests, parsed and run on an engine in this process.
//!
//! Promise: the same files give the same figures; every file ends, also one that makes the engine panic (it counts as a
//! failure and the next file has a new engine). Files are read where they lie; nothing of them is kept.
//!
//! Knows nothing of the engine beyond a session that takes text, and nothing of any one corpus but its format.

#![forbid(unsafe_code)]

pub mod babelfish;
pub mod embedded;
pub mod generate;
pub mod groups;
pub mod parse;
pub mod run;
pub mod scope;
pub mod script;
pub mod slt;
