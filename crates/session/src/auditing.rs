//! SQL Server Audit: which audits run, what each wants, and the way of an event into their files.
//!
//! ```text
//! statements ──► definitions in master and in databases (define) ──► audits in force: a trail and its writer's task each
//! logins, definitions, permissions ... ──► `wanted`, one look ──► predicate ──► audit::Trail
//! fn_get_audit_file ──► files (reading)
//! ```
//!
//! Promises: with no audit on, an event costs one look at a word; an audit that is on at the start runs before the first
//! login; what an audit must have a record of is refused while it cannot be kept (FAIL_OPERATION, SHUTDOWN), but for what
//! mends it: statements about audits, and the administrator's own connection.

mod define;
mod reading;

use crate::auditor::{InForce, Running, action_info, read_predicate};
use crate::config::OpenError;
use crate::instance::{Instance, tell_operator};
use crate::options::absolute;
use ::audit::{Group, OnFailure, Record, Trail, TrailOptions};
use catalog::AuditDef;
use parking_lot::Mutex;
use session_state::AuditEvent;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

impl Instance {
    /// Turns on what is defined as on. An audit that shuts the server down keeps it from starting (33210).
    pub(crate) fn start_audits(self: &Arc<Self>) -> Result<(), OpenError> {
        let defs = self.server.audits();
        for def in defs.audits.iter().filter(|def| def.is_on) {
            let (running, made) = self.run_audit(def);
            let strict = running.trail.options().on_failure == OnFailure::Shutdown;
            self.put_in_force(running);
            match made {
                Err(why) if strict => {
                    return Err(OpenError::Audit { name: def.name.to_string(), why });
                }
                _ => self.note_session(def, &self.own_record(b"AUSC", b"A ")),
            }
        }
        self.fit_audits();
        self.audit_state(b"SVSR");
        Ok(())
    }

    /// Before the schedulers stop. From a plain thread.
    pub(crate) fn stop_audits(&self) {
        self.audit_state(b"SVSD");
        self.auditor.wanted.store(0, Ordering::Release);
        let in_force = std::mem::take(&mut *self.auditor.in_force.write());
        for running in &in_force.audits {
            self.end_audit(running);
        }
    }

    /// SERVER STARTED, SERVER SHUTDOWN.
    fn audit_state(&self, action: &[u8; 4]) {
        let event = AuditEvent {
            group: Group::ServerStateChange,
            database: 0,
            record: self.own_record(action, b"SR"),
        };
        // Nobody could be told.
        let _ = self.auditor.keep(&event);
    }

    /// Of what the server does itself.
    fn own_record(&self, action: &[u8; 4], class: &[u8; 2]) -> Record {
        Record { server_instance_name: Some(self.name().into()), ..Record::new(action, class) }
    }

    /// Makes an audit's trail and starts its writer. Err: its first file could not be made.
    fn run_audit(self: &Arc<Self>, def: &AuditDef) -> (Arc<Running>, Result<(), String>) {
        let on_failure = match def.on_failure {
            0 => OnFailure::Continue,
            1 => OnFailure::Shutdown,
            _ => OnFailure::FailOperation,
        };
        let options = TrailOptions {
            name: def.name.to_string(),
            guid: def.guid,
            folder: absolute(&self.config.data_dir, &def.folder),
            bytes_max: (def.file_mb_max > 0).then(|| def.file_mb_max.saturating_mul(1 << 20)),
            rollover_max: def.rollover_files_max,
            files_max: def.files_max,
            reserve: def.reserves_space,
            delay_ms: def.queue_delay_ms,
            on_failure,
        };
        let (instance, name) = (Arc::downgrade(self), def.name.clone());
        let folder = def.folder.clone();
        let failed = move |why: &str| failed(&instance, &name, &folder, on_failure, why);
        let (trail, made) = Trail::start(options, self.config.fs.clone(), Box::new(failed));
        let theirs = trail.clone();
        let task = format!("audit {}", def.name);
        let writer = self.schedulers().spawn(&task, None, move || theirs.run());
        let predicate = def.predicate.as_deref().and_then(read_predicate);
        let running =
            Running { guid: def.guid, trail, predicate, writer: Mutex::new(Some(writer)) };
        (Arc::new(running), made)
    }

    /// What is queued is written first. Suspends.
    fn end_audit(&self, running: &Running) {
        running.trail.stop();
        if let Some(writer) = running.writer.lock().take() {
            let _ = writer.join();
        }
    }

    fn put_in_force(&self, running: Arc<Running>) {
        let mut in_force = self.auditor.in_force.write();
        let mut next = InForce::clone(&in_force);
        next.audits.push(running);
        *in_force = Arc::new(next);
    }

    fn audit_in_force(&self, guid: &[u8; 16]) -> Option<Arc<Running>> {
        let in_force = self.auditor.in_force.read().clone();
        in_force.audits.iter().find(|running| running.guid == *guid).cloned()
    }

    /// AUDIT SESSION CHANGED, in the audit itself.
    fn note_session(&self, def: &AuditDef, by: &Record) {
        if let Some(running) = self.audit_in_force(&def.guid) {
            let record = Record {
                object_id: def.id,
                object_name: Some(def.name.clone()),
                event_unix_ns: runtime::clock::unix_ns(),
                ..by.clone()
            };
            let _ = running.trail.keep(record);
        }
    }

    /// What specifications want has changed, or which databases are there.
    pub(crate) fn fit_audits(&self) {
        let mut in_force = self.auditor.in_force.write();
        if in_force.audits.is_empty() && self.auditor.wanted() == 0 {
            return;
        }
        let audits = in_force.audits.clone();
        let wants = |all: &[catalog::AuditSpecificationDef]| -> Vec<(u64, Arc<Running>)> {
            let on = all.iter().filter(|specification| specification.is_on);
            on.filter_map(|specification| {
                let running = audits.iter().find(|r| r.guid == specification.audit)?;
                Some((specification.bits(), running.clone()))
            })
            .collect()
        };
        let server = wants(&self.server.audits().specifications);
        let mut databases = BTreeMap::new();
        for open in self.databases() {
            let wanted = wants(&open.catalog.configuration().audit_specifications());
            if !wanted.is_empty() {
                databases.insert(open.id, wanted);
            }
        }
        let all = server.iter().chain(databases.values().flatten());
        let wanted = all.fold(0, |bits, (own, _)| bits | own);
        *in_force = Arc::new(InForce { audits, server, databases });
        self.auditor.wanted.store(wanted, Ordering::Release);
    }

    /// A login that was refused: `why` as the server's log has it. Suspends.
    pub fn audit_failed_login(&self, failed: &FailedLogin<'_>) {
        if self.auditor.wanted() & Group::FailedLogin.bit() == 0 {
            return;
        }
        let some = |text: &str| (!text.is_empty()).then(|| text.into());
        let directory = self.server.directory();
        let known = directory.find(failed.user).filter(|p| p.login.is_some());
        let record = Record {
            succeeded: false,
            server_principal_id: known.map_or(0, |known| known.id),
            server_principal_name: some(failed.user),
            session_server_principal_name: some(failed.user),
            server_principal_sid: known.and_then(|known| known.sid.clone()),
            statement: Some(
                format!(
                    "Login failed for user '{}'. Reason: {} [CLIENT: {}]",
                    failed.user, failed.why, failed.address
                )
                .into(),
            ),
            additional_information: Some(
                action_info(&format!(
                    "<pooled_connection>0</pooled_connection><error>0x{:08x}</error><state>{}</state>\
                     <address>{}</address>",
                    failed.number, failed.state, failed.address
                ))
                .into(),
            ),
            client_ip: some(failed.address),
            application_name: some(failed.application),
            host_name: some(failed.host),
            ..self.own_record(b"LGIF", b"LX")
        };
        let event = AuditEvent { group: Group::FailedLogin, database: 0, record };
        // It has failed already.
        let _ = self.auditor.keep(&event);
    }
}

/// Who was refused.
#[derive(Clone, Copy, Debug)]
pub struct FailedLogin<'a> {
    pub user: &'a str,
    pub number: i32,
    /// SQL Server's state of the error.
    pub state: u8,
    pub why: &'a str,
    /// Where the client is.
    pub address: &'a str,
    pub application: &'a str,
    pub host: &'a str,
}

/// A trail has begun to fail: the server's log hears of it, and where the audit says so the server ends.
fn failed(instance: &Weak<Instance>, name: &str, folder: &str, then: OnFailure, why: &str) {
    tell_operator(&format!(
        "SQL Server Audit failed to write to an audit file related to the audit '{name}' in the directory '{folder}'. Make \
         sure that the disk is not full and that the SQL Server service account has the required permissions to create \
         and write to the file. ({why})"
    ));
    if then != OnFailure::Shutdown {
        return;
    }
    tell_operator(&format!(
        "The server was stopped because SQL Server Audit '{name}' is configured to shut down on failure."
    ));
    if let Some(instance) = instance.upgrade() {
        instance.end_for_audit();
    }
}
