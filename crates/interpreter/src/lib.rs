//! Batches and procedures, compiled once to register bytecode and run.
//!
//! Promises: a procedure's statements are compiled once per session and catalog version; its loop over a
//! singleton insert allocates nothing and writes no shared memory per row besides what the storage engine
//! writes; an error ends what SQL Server ends (statement, batch or transaction) and nothing more.
//!
//! Knows nothing of the wire, of other sessions, of files; whole databases and server settings come through
//! [`Host`].

#![forbid(unsafe_code)]

mod host;
mod state;

pub use host::{Host, OpenDatabase};
pub use state::{SessionState, SetOptions};

use executor::ResultSink;

/// Runs one batch (no GO in it) to its end. Results, messages and errors go to `sink`.
///
/// `Err(())` when any error of severity 11 or more was reported. The session stays usable unless an error of
/// severity 20 or more was reported.
#[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
pub fn execute_batch(
    state: &mut SessionState,
    host: &mut dyn Host,
    text: &str,
    sink: &mut dyn ResultSink,
) -> Result<(), ()> {
    let _ = (state, host, text, sink);
    unimplemented!("execute_batch")
}
