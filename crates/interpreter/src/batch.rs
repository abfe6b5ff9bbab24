//! One batch from its text to its last message.

use crate::host::Host;
use crate::plan::CodeState;
use crate::state::SessionState;
use crate::vm::{Halt, Vm};
use executor::{ResultSink, SqlError};
use std::sync::atomic::Ordering;

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
    telemetry::counters::add(telemetry::Counter::BatchRequests, 1);
    let cancel = state.cancel.clone();
    let mut vm = Vm { state, host, sink, cancel, failed: false };
    let code = match vm.compile_batch(text) {
        Ok(code) => code,
        Err(error) => {
            vm.state.error = error.number;
            vm.tell_error(&error);
            return Err(());
        }
    };
    let mut learnt = CodeState::new(&code);
    let mut frame = vm.state.take_frame();
    frame.extend_from_slice(&code.template);
    let frames = vm.open_tables(&code);
    if let Err(Halt::Throw(error)) = vm.run(&code, &mut learnt, &mut frame, false) {
        // Nobody is left to catch it.
        vm.tell_error(&error);
    }
    vm.state.give_frame(frame);
    vm.state.nesting = 0;
    vm.close_tables(frames);
    vm.state.caught.clear();
    if vm.state.transaction.doomed {
        if let Err(error) = vm.state.transaction.rollback_all() {
            vm.tell_error(&error);
        }
        vm.tell_error(&SqlError::new(
            3998,
            16,
            "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.",
        ));
    }
    if vm.cancel.load(Ordering::Relaxed) {
        vm.cancel.store(false, Ordering::Relaxed);
    }
    if vm.failed { Err(()) } else { Ok(()) }
}
