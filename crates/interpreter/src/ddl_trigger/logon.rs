//! LOGON triggers: fired when a session opens, before its client is told so, in `master` and a transaction of their own.
//!
//! A login is refused (17892) when a trigger rolls back, ends with an error that nobody catches, leaves a transaction open
//! or sends a result set. Nothing that it says goes to the client. Without such triggers a login asks for them once.

use crate::programs::Session;
use crate::request::request;
use crate::vm::Vm;
use catalog::{LOGON, ModuleKind};
use commands::ddl_events::event_data::logon_document;
use executor::{ColumnMeta, Done, ResultSink, SqlError, SqlMessage};
use session_state::Host;
use session_state::Machine;
use session_state::{Halt, Halted};
use std::sync::Arc;
use types::Value;

/// Why a session may not go on.
pub struct LogonRefused {
    /// 17892.
    pub error: SqlError,
    /// What the triggers have said.
    pub said: Vec<SqlMessage>,
}

/// Fires them for a session that has just opened. Suspends.
pub fn logon(session: &mut Session, host: &mut dyn Host) -> Result<(), Box<LogonRefused>> {
    let mut sink = Heard::default();
    let mut refused = false;
    // What the triggers raise is no error of the session's.
    let _ = request(session, host, &mut sink, |vm| {
        refused = vm.fire_logon().is_err();
        Ok::<(), Halt>(())
    });
    if !refused && !sink.rows {
        return Ok(());
    }
    let login = &session.client.login;
    let text = format!("Logon failed for login '{login}' due to trigger execution.");
    Err(Box::new(LogonRefused { error: SqlError::new(17892, 14, text), said: sink.messages }))
}

/// Runs the function of `master` that says whose workload group the session is in; what it says. Permissions do not
/// matter: the function is the administrator's. None: it failed, or there is none of that id.
pub fn classify(session: &mut Session, host: &mut dyn Host, function: i32) -> Option<String> {
    let mut said = None;
    let _ = request(session, host, &mut Heard::default(), |vm| {
        let answer = vm.in_master(|vm| {
            Ok(vm.programs.scalar_function(vm.state, vm.host, function, &[], None)?)
        });
        said = answer.ok().and_then(|value| value.as_str().map(str::to_owned));
        Ok::<(), Halt>(())
    });
    said
}

impl Vm<'_> {
    fn fire_logon(&mut self) -> Result<(), Halted> {
        let due = |vm: &mut Vm<'_>| {
            let mut all = vm.ddl_triggers();
            all.retain(|trigger| {
                trigger.kind == ModuleKind::ServerTrigger
                    && trigger.is_for(&LOGON)
                    && !trigger.trigger.is_some_and(|t| t.is_disabled())
            });
            all.sort_by_key(|trigger| trigger.order_of(&LOGON));
            all
        };
        let due = due(self);
        if due.is_empty() {
            return Ok(());
        }
        let access = self.state.identity.access().clone();
        let login = access.login().and_then(|id| access.server().principals.get(&id));
        let sid = login.and_then(|login| login.sid.clone()).unwrap_or_default();
        let data: Arc<str> = logon_document(self.state, &self.host.server_name(), &sid).into();
        let fired = self.in_master(|vm| {
            vm.in_one_transaction(|vm| {
                due.iter().try_for_each(|trigger| vm.fire_ddl(trigger, &data, false))
            })
        });
        let left_open = self.state.transaction.count > 0;
        if left_open {
            self.state.transaction.rollback_all()?;
        }
        if let Err(Halted::Error(error)) = &fired {
            self.tell_error(error);
        }
        match left_open {
            true => Err(Halted::Batch),
            false => fired,
        }
    }
}

/// What triggers say, which no client hears.
#[derive(Default)]
struct Heard {
    messages: Vec<SqlMessage>,
    /// There was a result set.
    rows: bool,
}

impl ResultSink for Heard {
    fn columns(&mut self, _: &[ColumnMeta]) {
        self.rows = true;
    }
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlMessage) {
        self.messages.push(message.clone());
    }
}
