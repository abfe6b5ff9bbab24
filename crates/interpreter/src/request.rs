//! What every request has in common, whatever asks for it: a batch, a call, the transaction manager.
//!
//! Promises: an error that nobody caught is told once; a doomed transaction does not outlive its request; the client
//! learns at the end which transaction is open now, if it is not the one that was; a request stopped from outside says
//! nothing of that (whoever stopped it knows).

use crate::programs::Session;
use crate::rpc::{BeginNext, TransactionRequest};
use crate::vm::Vm;
use executor::{EnvironmentChange, Reach, ResultSink, SqlError};
use ir::Isolation;
use session_state::Host;
use session_state::InputKind;
use session_state::descriptor;
use session_state::{Halt, Halted};
use std::sync::atomic::Ordering;

/// Runs one request. `Err` when an error of severity 11 or more was told, or the request was stopped.
pub(crate) fn request(
    session: &mut Session,
    host: &mut dyn Host,
    sink: &mut dyn ResultSink,
    body: impl FnOnce(&mut Vm<'_>) -> Result<(), Halt>,
) -> Result<(), ()> {
    telemetry::counters::add(telemetry::Counter::BatchRequests, 1);
    let Session { state, programs } = session;
    let cancel = state.cancel.clone();
    let under = runtime::task::under(cancel.clone(), state.memory_taken);
    let before = state.transaction.watch();
    state.follow_identity(host);
    state.publish();
    let mut vm = Vm { state, host, programs, sink, cancel, failed: false };
    if let Err(Halt::Throw(error)) = body(&mut vm) {
        // Nobody is left to catch it.
        vm.state.error = error.number;
        vm.tell_error(&error);
    }
    vm.state.nesting = 0;
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
    if vm.state.transaction.open() != before {
        vm.tell_transaction(before);
    }
    vm.state.publish();
    vm.state.memory_taken = under.end();
    if vm.failed { Err(()) } else { Ok(()) }
}

impl Vm<'_> {
    /// Tells what became of the transaction that was open before, and which is open now.
    #[cold]
    fn tell_transaction(&mut self, before: u64) {
        let spid = self.state.spid;
        if before != 0 {
            let transaction = descriptor(spid, before);
            self.sink.environment(if self.state.transaction.was_rolled_back() {
                EnvironmentChange::Rollback { transaction }
            } else {
                EnvironmentChange::Commit { transaction }
            });
        }
        let now = self.state.transaction.open();
        if now != 0 {
            self.sink.environment(EnvironmentChange::Begin { transaction: descriptor(spid, now) });
        }
    }

    /// Runs a transaction manager request.
    pub fn manage_transaction(&mut self, request: &TransactionRequest) -> Result<(), Halt> {
        self.state.activity.forget_statement();
        self.state.activity.begin_input(InputKind::Rpc, |text| {
            text.push_str(match request {
                TransactionRequest::Begin { .. } => "BEGIN TRANSACTION",
                TransactionRequest::Commit { .. } => "COMMIT TRANSACTION",
                TransactionRequest::Rollback { .. } => "ROLLBACK TRANSACTION",
                TransactionRequest::Save { .. } => "SAVE TRANSACTION",
            });
        });
        let result = self.manage(request);
        self.state.rowcount = 0;
        match result {
            Ok(()) => {
                self.state.error = 0;
                Ok(())
            }
            Err(error) => Err(Halted::Error(error).into()),
        }
    }

    fn manage(&mut self, request: &TransactionRequest) -> Result<(), SqlError> {
        match request {
            TransactionRequest::Begin { isolation, name } => self.begin(*isolation, name),
            TransactionRequest::Commit { then_begin, .. } => {
                let state = &mut *self.state;
                state.transaction.commit(&state.database, None)?;
                self.begin_next(then_begin.as_ref())
            }
            TransactionRequest::Rollback { name, then_begin } => {
                let name = Some(name.as_str()).filter(|name| !name.is_empty());
                self.state.transaction.rollback(name)?;
                self.begin_next(then_begin.as_ref())
            }
            TransactionRequest::Save { name } => {
                let state = &mut *self.state;
                state.transaction.save(name.clone(), &state.database, &state.options)
            }
        }
    }

    fn begin_next(&mut self, next: Option<&BeginNext>) -> Result<(), SqlError> {
        next.map_or(Ok(()), |next| self.begin(next.isolation, &next.name))
    }

    fn begin(&mut self, isolation: Option<u8>, name: &str) -> Result<(), SqlError> {
        if let Some(level) = isolation {
            let level = match level {
                1 => Isolation::ReadUncommitted,
                2 => Isolation::ReadCommitted,
                3 => Isolation::RepeatableRead,
                4 => Isolation::Serializable,
                5 => Isolation::Snapshot,
                other => {
                    return Err(SqlError::new(
                        8009,
                        16,
                        format!("The isolation level {other} of the transaction manager request is not valid."),
                    )
                    .with_reach(Reach::Scope));
                }
            };
            self.commands().set_isolation(level)?;
        }
        let name = Some(name.to_owned()).filter(|name| !name.is_empty());
        self.state.transaction.begin(name, &self.state.options);
        Ok(())
    }
}
