//! What a session says of itself in an audit's record, and what an event is to those who keep it.

use crate::state::SessionState;
use audit::{Group, Record};
use types::Value;

/// Something that happened, for the audits that want it.
#[derive(Clone, Debug)]
pub struct AuditEvent {
    pub group: Group,
    /// The id of the database in which it happened; 0 for none.
    pub database: u16,
    pub record: Record,
}

/// What sys.fn_get_audit_file answers.
#[derive(Default)]
pub struct AuditFileRows {
    pub rows: Vec<Vec<Value>>,
    /// Places that hold no whole record: file and offset.
    pub skipped: Vec<(String, u64)>,
}

impl SessionState {
    /// A record of this session: whom it acts as, where it is, who its client is.
    pub fn audit_record(&self, action: &[u8; 4], class: &[u8; 2]) -> Record {
        let access = self.identity.access();
        let (login, user) = (access.login(), access.user());
        let principal = login.and_then(|id| access.server().principals.get(&id));
        let some = |text: &str| (!text.is_empty()).then(|| text.into());
        Record {
            session_id: self.spid,
            server_principal_id: login.unwrap_or(0),
            database_principal_id: user,
            server_principal_sid: principal.and_then(|p| p.sid.clone()),
            session_server_principal_name: some(access.server().name(self.identity.original())),
            server_principal_name: some(&self.login_name()),
            database_principal_name: some(&self.user_name()),
            database_name: some(&self.database.name),
            transaction_id: self.open_transaction().unwrap_or(0) as i64,
            client_ip: some(&self.client.address),
            application_name: some(&self.client.application),
            host_name: some(&self.client.host),
            ..Record::new(action, class)
        }
    }
}
