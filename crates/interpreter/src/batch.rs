//! The three kinds of request: a batch, a call, the transaction manager.

use crate::programs::Session;
use crate::request::request;
use crate::rpc::{Rpc, TransactionRequest};
use executor::ResultSink;
use session_state::Host;

/// Runs one batch (no GO in it) to its end. Results, messages and errors go to `sink`.
///
/// `Err(())` when any error of severity 11 or more was reported. The session stays usable unless an error of
/// severity 20 or more was reported.
#[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
pub fn execute_batch(
    session: &mut Session,
    host: &mut dyn Host,
    text: &str,
    sink: &mut dyn ResultSink,
) -> Result<(), ()> {
    request(session, host, sink, |vm| vm.batch(text))
}

/// Runs one call of a procedure to its end: results, then its status, output parameters and end.
#[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
pub fn execute_call(
    session: &mut Session,
    host: &mut dyn Host,
    call: &Rpc,
    sink: &mut dyn ResultSink,
) -> Result<(), ()> {
    request(session, host, sink, |vm| vm.remote_call(call))
}

/// Runs one request of the transaction manager.
#[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
pub fn execute_transaction(
    session: &mut Session,
    host: &mut dyn Host,
    what: &TransactionRequest,
    sink: &mut dyn ResultSink,
) -> Result<(), ()> {
    request(session, host, sink, |vm| vm.manage_transaction(what))
}
