//! From a login to a session: the database it opens, the client it is.
//!
//! Knows nothing of passwords: whoever took the connection has checked them.

use crate::{Instance, Session};
use executor::SqlError;
use session_state::{Client, Identity, OpenDatabase};
use std::sync::Arc;
use system_views::ConnectionFacts;

/// What a client says of itself and asks for when it logs in.
#[derive(Debug, Clone, Default)]
pub struct Login {
    /// The login's name.
    pub user: String,
    /// The database to begin in; the login's default one without it.
    pub database: Option<String>,
    /// SET LANGUAGE to begin with; the login's default one without it.
    pub language: Option<String>,
    /// The client's program.
    pub application: String,
    /// The client's machine.
    pub host: String,
    /// The client's process id.
    pub process_id: u32,
    /// The client library.
    pub interface: String,
    /// It is a driver of ODBC's kind, which has set options of its own against 'user options'.
    pub driver: bool,
    /// How it is connected; `None` within this process.
    pub connection: Option<ConnectionFacts>,
    /// The session that it continues, whose connection broke.
    pub recovered: Option<Recovered>,
    /// It is the dedicated administrator connection: LOGON triggers do not fire, so that one that refuses everybody can
    /// be dropped.
    pub dedicated: bool,
}

/// How a session was when its connection broke, as its client says.
#[derive(Debug, Clone, Default)]
pub struct Recovered {
    /// The current database, where it was not that of the login.
    pub database: Option<String>,
    pub language: Option<String>,
    /// As [`session_state::Recoverable::states`] gave them; the later of a kind holds.
    pub states: Vec<(u8, Vec<u8>)>,
}

impl Session {
    /// Opens a session for a login whose password has been checked. 4060 when the database asked for does not exist or
    /// is closed to the login, 4064 for its default one, and the client is told 18456 after it; 17892 when a trigger
    /// refuses the login, with nothing after it; 33239 when an audit must have a record of it and cannot. Suspends.
    pub fn login(instance: &Arc<Instance>, login: &Login) -> Result<Session, SqlError> {
        let server = instance.server.directory();
        // Dropped since the password was checked: nobody any more.
        let principal =
            server.find(&login.user).filter(|p| p.login.is_some()).ok_or_else(|| {
                SqlError::new(
                    18456,
                    14,
                    security::LoginFailure::UnknownLogin.client_text(&login.user),
                )
            })?;
        let enters = |open: &Arc<OpenDatabase>| {
            let users = open.catalog.directory(None);
            let may = || security::may_enter_restricted(&server, principal.id, &users);
            open.user_of(&server, principal.id).is_some()
                && instance.refuses_entry(open, 0, &may).is_none()
        };
        let asked = login.database.as_deref().filter(|name| !name.is_empty());
        let database = match asked {
            Some(name) => instance.enter_database(name).filter(enters).ok_or_else(|| {
                SqlError::new(
                    4060,
                    11,
                    format!(
                        "Cannot open database \"{name}\" requested by the login. The login failed."
                    ),
                )
            })?,
            None => {
                let default = principal.default.as_deref().unwrap_or("master");
                instance.enter_database(default).filter(enters).ok_or_else(|| {
                    SqlError::new(4064, 11, "Cannot open user default database. Login failed.")
                })?
            }
        };
        let connection = login.connection.as_ref();
        let client = Client {
            login: principal.name.clone(),
            host: login.host.as_str().into(),
            application: login.application.as_str().into(),
            interface: login.interface.as_str().into(),
            process_id: login.process_id,
            address: connection
                .and_then(|c| c.client_address.as_deref())
                .unwrap_or("<local machine>")
                .into(),
            local_port: connection.and_then(|c| c.local_port).unwrap_or(0) as u16,
            transport: connection.map_or("Shared memory", |c| &*c.transport).into(),
            encrypted: connection.is_some_and(|c| c.encrypted),
            packet_size: connection.map_or(0, |c| c.packet_bytes as u32),
        };
        let identity = Identity::of_login(principal.id);
        let mut session = Session::of(instance, database, client, identity);
        if login.driver {
            session.begin_as_driver();
        }
        let own = principal.login.as_ref().map_or(0, |facts| facts.language);
        session.set_language(types::languages::Language::of(own).name);
        if let Some(language) = login.language.as_deref().filter(|name| !name.is_empty()) {
            // An unknown one leaves the login's, as in SQL Server.
            session.set_language(language);
        }
        session.keep_options();
        session.tell(|facts| {
            let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            facts.host = said(&login.host);
            facts.program = said(&login.application);
            facts.interface = said(&login.interface);
            facts.host_process = Some(login.process_id as i32);
            facts.connection = login.connection.clone();
            facts.dedicated = login.dedicated;
        });
        if login.dedicated {
            session.join_internal();
        } else {
            session.logon()?;
            session.classify();
        }
        if let Some(recovered) = &login.recovered {
            session.recover(recovered)?;
        }
        session.log_in(login.dedicated)?;
        Ok(session)
    }
}
