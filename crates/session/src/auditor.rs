//! The audits in force, and the way of an event to those that want it. Knows nothing of the instance: what is defined comes
//! from `auditing.rs`.
//!
//! Promises: with no audit on, an event costs one look at a word; an event goes once into each audit that wants it; what an
//! audit must have a record of is refused while it cannot be kept (FAIL_OPERATION, SHUTDOWN).

mod predicate;

pub(crate) use predicate::{checked as checked_predicate, read as read_predicate};

use crate::gate::Gate;
use ::audit::{Group, Record, Status, Trail};
use executor::{Reach, SqlError};
use parking_lot::{Mutex, RwLock};
use scheduler::JoinHandle;
use session_state::AuditEvent;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use syntax::ast::AuditPredicate;

/// See the file's first lines.
#[derive(Default)]
pub(crate) struct Auditor {
    /// Bits of the groups that some audit in force wants.
    pub(crate) wanted: AtomicU64,
    /// Held for look-ups and publication only.
    pub(crate) in_force: RwLock<Arc<InForce>>,
    /// Statements about audits go through one at a time.
    pub(crate) gate: Gate,
}

#[derive(Default, Clone)]
pub(crate) struct InForce {
    pub(crate) audits: Vec<Arc<Running>>,
    /// What the server's specifications want, of which audits.
    pub(crate) server: Vec<(u64, Arc<Running>)>,
    /// By database.
    pub(crate) databases: BTreeMap<u16, Vec<(u64, Arc<Running>)>>,
}

/// An audit that is on.
pub(crate) struct Running {
    pub(crate) guid: [u8; 16],
    pub(crate) trail: Arc<Trail>,
    pub(crate) predicate: Option<AuditPredicate>,
    pub(crate) writer: Mutex<Option<JoinHandle<()>>>,
}

impl InForce {
    /// The audits that want such an event, each once.
    fn interested(&self, groups: u64, database: u16) -> Vec<Arc<Running>> {
        let of_database = self.databases.get(&database).into_iter().flatten();
        let wanting = self.server.iter().chain(of_database).filter(|(bits, _)| bits & groups != 0);
        let mut all: Vec<Arc<Running>> = Vec::new();
        for (_, running) in wanting {
            if !all.iter().any(|known| Arc::ptr_eq(known, running)) {
                all.push(running.clone());
            }
        }
        all
    }
}

impl Auditor {
    /// Bits of the groups that some audit wants.
    #[inline]
    pub fn wanted(&self) -> u64 {
        self.wanted.load(Ordering::Acquire)
    }

    /// Before something of these groups happens: see [`session_state::Host::check_audits`].
    pub fn check(&self, groups: u64, database: u16) -> Result<bool, SqlError> {
        if self.wanted() & groups == 0 {
            return Ok(false);
        }
        let interested = self.in_force.read().clone().interested(groups, database);
        match interested.iter().all(|running| running.trail.is_well()) {
            true => Ok(interested.iter().any(|running| running.trail.is_strict())),
            false => Err(not_audited()),
        }
    }

    /// Keeps an event in each audit that wants it. Suspends.
    pub fn keep(&self, event: &AuditEvent) -> Result<(), SqlError> {
        if self.wanted() & event.group.bit() == 0 {
            return Ok(());
        }
        let in_force = self.in_force.read().clone();
        let mut outcome = Ok(());
        for running in in_force.interested(event.group.bit(), event.database) {
            let takes = running.predicate.as_ref();
            if takes.is_none_or(|predicate| predicate::holds(predicate, &event.record))
                && running.trail.keep(event.record.clone()).is_err()
            {
                outcome = Err(not_audited().with_reach(Reach::Batch));
            }
        }
        outcome
    }

    /// How each audit that is on stands.
    pub fn statuses(&self) -> Vec<([u8; 16], Status)> {
        let in_force = self.in_force.read().clone();
        in_force.audits.iter().map(|running| (running.guid, running.trail.status())).collect()
    }

    /// What is being written, and up to where: a reader looks no further.
    pub fn written(&self, path: &std::path::Path) -> Option<u64> {
        let mut statuses = self.statuses().into_iter().map(|(_, status)| status);
        statuses.find(|s| s.file.as_deref() == Some(path)).map(|status| status.file_bytes)
    }
}

/// LOGIN SUCCEEDED and LOGOUT of a session; `pooled`: its connection is used again.
pub(crate) fn login_event(
    server: &str,
    state: &session_state::SessionState,
    out: bool,
    pooled: bool,
) -> AuditEvent {
    let (group, action) = match out {
        true => (Group::Logout, b"LGO "),
        false => (Group::SuccessfulLogin, b"LGIS"),
    };
    let client = &state.client;
    let information = action_info(&format!(
        "<pooled_connection>{}</pooled_connection><packet_data_size>{}</packet_data_size>\
         <address>{}</address>",
        i32::from(pooled),
        client.packet_size,
        client.address
    ));
    let record = Record {
        server_instance_name: Some(server.into()),
        additional_information: Some(information.into()),
        database_name: None,
        database_principal_name: None,
        database_principal_id: 0,
        ..state.audit_record(action, b"LX")
    };
    AuditEvent { group, database: 0, record }
}

pub(crate) fn action_info(inner: &str) -> String {
    format!(
        "<action_info xmlns=\"http://schemas.microsoft.com/sqlserver/2008/sqlaudit_data\">{inner}</action_info>"
    )
}

/// 33239.
fn not_audited() -> SqlError {
    let text = "An error occurred while auditing this operation. Fix the error in the audit and then retry this operation.";
    SqlError::new(33239, 16, text)
}
