//! The three kinds of request: a batch, a call, the transaction manager.

use crate::host::Host;
use crate::request::request;
use crate::rpc::{Rpc, TransactionRequest};
use crate::state::SessionState;
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
    request(state, host, sink, |vm| vm.batch(text))
}

/// Runs one call of a procedure to its end: results, then its status, output parameters and end.
#[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
pub fn execute_call(
    state: &mut SessionState,
    host: &mut dyn Host,
    call: &Rpc,
    sink: &mut dyn ResultSink,
) -> Result<(), ()> {
    request(state, host, sink, |vm| vm.remote_call(call))
}

/// Runs one request of the transaction manager.
#[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
pub fn execute_transaction(
    state: &mut SessionState,
    host: &mut dyn Host,
    what: &TransactionRequest,
    sink: &mut dyn ResultSink,
) -> Result<(), ()> {
    request(state, host, sink, |vm| vm.manage_transaction(what))
}
