//! From the first byte to a session: PRELOGIN, TLS, LOGIN7.
//!
//! | peer | encryption |
//! |---|---|
//! | loopback | as the client likes: none, the login only, everything, strict |
//! | elsewhere | everything or strict; a client that cannot is refused |
//!
//! A failed login is told in one form, 18456 in state 1; what was wrong with it goes to the log. The password is wiped
//! from the receive buffer before anything else happens.

use crate::connection::Connection;
use crate::io::Broken;
use crate::mars::Streams;
use runtime::clock;
use security::{LoginFailure, Password};
use session::{Collected, ConnectionFacts, FailedLogin, Recovered, Session};
use std::net::IpAddr;
use std::sync::Arc;
use tds::login7::{Login7, feature};
use tds::prelogin::{Encryption, Negotiated, Prelogin, PreloginReply};
use tds::recovery::{Recovery, put_states};
use tds::{
    Done, DoneKind, DoneStatus, EnvChange, Frame, Message, PACKET_BYTES_DEFAULT, PacketType, Phase,
    ProtocolError, TokenWriter, Version, negotiate_packet_size,
};
use tracing::{debug, info, warn};
use zeroize::Zeroizing;

/// First byte of a TLS handshake record: the client speaks TDS 8.0.
const TLS_HANDSHAKE: u8 = 0x16;
/// What clients are told they talk to; they choose their SQL by it.
const PROGRAM: &str = "Microsoft SQL Server";

/// Where a connection stands before it has a session.
pub(crate) struct Login {
    connection: u64,
    expects: Expects,
    /// TLS ends with the login.
    login_only: bool,
    /// Streams of requests begin after it.
    mars: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    Prelogin,
    Handshake,
    Login,
}

/// What a step came to.
pub(crate) enum Step {
    Nothing,
    Continue,
    Close,
    /// The second: its client would recover it.
    LoggedIn(Box<Session>, bool),
}

/// What came in.
enum Came {
    Nothing,
    /// It was answered.
    Answered,
    Login(Box<Login7>),
    Refused(ProtocolError),
    Broken(Broken),
    Close(&'static str),
}

impl Login {
    pub fn new(connection: u64) -> Login {
        Login { connection, expects: Expects::Prelogin, login_only: false, mars: false }
    }

    /// Takes what came, answers it. Suspends while a password is checked.
    pub fn step(&mut self, connection: &Arc<Connection>, writer: &mut TokenWriter) -> Step {
        let came = self.take(connection, writer);
        connection.transmit(writer);
        match came {
            Came::Nothing => return Step::Nothing,
            Came::Answered => {
                self.after_answer(connection);
                return Step::Continue;
            }
            Came::Login(login) => match self.log_in(connection, &login, writer) {
                Ok(session) => {
                    let recovers = login.feature(feature::SESSION_RECOVERY).is_some();
                    return Step::LoggedIn(Box::new(session), recovers);
                }
                Err(()) => writer.finish(),
            },
            Came::Refused(error) => {
                warn!(connection = self.connection, peer = %connection.peer(), %error, "login refused");
                if self.expects == Expects::Login {
                    say(
                        connection,
                        writer,
                        error.number(),
                        1,
                        error.severity(),
                        &error.to_string(),
                    );
                    failed(writer);
                    writer.finish();
                }
            }
            Came::Broken(error) => {
                let peer = connection.peer();
                warn!(connection = self.connection, %peer, %error, "handshake failed");
            }
            Came::Close(why) => {
                debug!(connection = self.connection, peer = %connection.peer(), why, "closed");
            }
        }
        connection.transmit(writer);
        Step::Close
    }

    fn take(&mut self, connection: &Connection, writer: &mut TokenWriter) -> Came {
        connection.with_state(|state| {
            let io = &mut state.io;
            let starts = self.expects == Expects::Prelogin && !io.is_encrypted();
            if starts && io.framer.first_byte() == Some(TLS_HANDSHAKE) {
                let Some(tls) = connection.shared.tls() else {
                    return Came::Close("TDS 8.0 needs TLS, which is off");
                };
                return match io.begin_strict(tls.strict) {
                    Ok(()) => Came::Answered,
                    Err(error) => Came::Broken(error),
                };
            }
            let encrypted = io.is_encrypted();
            if self.expects == Expects::Handshake {
                let data = match io.framer.next() {
                    Ok(None) => return Came::Nothing,
                    Ok(Some(Frame::Message { kind: PacketType::Prelogin, data, .. })) => {
                        data.to_vec()
                    }
                    Ok(Some(_)) => return Came::Close("the TLS handshake was not finished"),
                    Err(error) => return Came::Refused(error),
                };
                return match io.shake_hands(&data, writer) {
                    Ok(done) => {
                        if done {
                            self.expects = Expects::Login;
                        }
                        Came::Answered
                    }
                    Err(error) => Came::Broken(error),
                };
            }
            let came = match io.framer.next() {
                Ok(None) => return Came::Nothing,
                Ok(Some(Frame::Message { kind: PacketType::Prelogin, data, .. }))
                    if self.expects == Expects::Prelogin =>
                {
                    match Prelogin::decode(data) {
                        Ok(prelogin) => self.prelogin(connection, &prelogin, encrypted, writer),
                        Err(error) => Came::Refused(error),
                    }
                }
                Ok(Some(Frame::Message { kind: PacketType::Login7, data, .. })) => {
                    let permitted = encrypted || is_near(connection.peer().ip());
                    let came = match Login7::decode(data) {
                        Ok(_) if !permitted => Came::Close("a login in the clear from elsewhere"),
                        Ok(login) => Came::Login(Box::new(login)),
                        Err(error) => Came::Refused(error),
                    };
                    self.expects = Expects::Login;
                    io.framer.wipe();
                    if self.login_only {
                        io.end_tls();
                    }
                    came
                }
                Ok(Some(Frame::Message { kind, .. })) => {
                    Came::Refused(ProtocolError::PacketType { found: kind as u8, login: true })
                }
                Ok(Some(_)) => Came::Close("no login"),
                Err(error) => Came::Refused(error),
            };
            if let (Came::Answered, Expects::Handshake) = (&came, self.expects)
                && let Some(tls) = connection.shared.tls()
                && let Err(error) = io.begin_handshake(tls.within)
            {
                return Came::Broken(error);
            }
            came
        })
    }

    fn prelogin(
        &mut self,
        connection: &Connection,
        asked: &Prelogin,
        encrypted: bool,
        writer: &mut TokenWriter,
    ) -> Came {
        let ours = match connection.shared.tls() {
            None => Encryption::NotSupported,
            Some(_) if is_near(connection.peer().ip()) => Encryption::Off,
            Some(_) => Encryption::Required,
        };
        let (answer, then) = match encrypted {
            // TDS 8.0: the byte is not looked at.
            true => (Encryption::On, Negotiated::Plain),
            false => Encryption::negotiate(asked.encryption, ours),
        };
        self.login_only = then == Negotiated::LoginOnly;
        self.expects = match then {
            Negotiated::Plain => Expects::Login,
            _ => Expects::Handshake,
        };
        self.mars = asked.mars;
        writer.prelogin(&PreloginReply {
            mars: self.mars,
            version: connection.shared.version,
            encryption: answer,
            fed_auth_required: asked.fed_auth_required.map(|_| false),
        });
        match then {
            Negotiated::Refused => Came::Close("it cannot encrypt"),
            _ => Came::Answered,
        }
    }

    /// Once the last words of a handshake are sent in the clear, TLS begins.
    fn after_answer(&mut self, connection: &Connection) {
        let result = connection.with_state(|state| match self.expects {
            Expects::Login => state.io.end_handshake(),
            _ => Ok(()),
        });
        if let Err(error) = result {
            warn!(connection = self.connection, peer = %connection.peer(), %error, "TLS failed");
            connection.with_state(|state| state.io.ended = true);
        }
    }

    /// The answer to LOGIN7; on `Err` it ends in a failure, and still has to be finished.
    fn log_in(
        &self,
        connection: &Arc<Connection>,
        login: &Login7,
        writer: &mut TokenWriter,
    ) -> Result<Session, ()> {
        let id = self.connection;
        let peer = connection.peer();
        let shared = &connection.shared;
        let version = Version::from_login(login.tds_version);
        writer.set_version(version.unwrap_or(Version::V7_4));
        writer.set_utf8(login.feature(feature::UTF8_SUPPORT).is_some());
        let address = peer.ip().to_canonical().to_string();
        let refuse_for = |writer: &mut TokenWriter,
                          (number, state): (i32, u8),
                          class: u8,
                          text: &str,
                          why: &str| {
            shared.instance.audit_failed_login(&FailedLogin {
                user: &login.user,
                number,
                state,
                why,
                address: &address,
                application: &login.application,
                host: &login.host,
            });
            say(connection, writer, number, 1, class, text);
            failed(writer);
        };
        let refuse = |writer: &mut TokenWriter, number: i32, class: u8, text: &str| {
            refuse_for(writer, (number, 1), class, text, text);
        };
        if !version.is_some_and(Version::is_spoken) {
            warn!(connection = id, %peer, version = login.tds_version, "login refused: an old protocol");
            refuse(
                writer,
                40510,
                16,
                "TDS versions before 7.1 are not supported; choose 7.1 to 7.4 in the client's settings.",
            );
            return Err(());
        }
        if login.integrated_security || login.feature(feature::FED_AUTH).is_some() {
            info!(connection = id, %peer, user = %login.user, "login refused: not a SQL login");
            refuse(
                writer,
                18452,
                14,
                "Login failed. The login is from an untrusted domain and cannot be used with \
                 Integrated authentication. Only SQL logins (user and password) are supported.",
            );
            return Err(());
        }
        let password = Password::new(login.password.reveal().to_owned());
        let source = peer.ip().to_canonical().to_string();
        let checked = shared.instance.security().verify(&login.user, &password, &source);
        drop(password);
        // Who must change the password comes in with a new one.
        let changes = login.new_password.is_some();
        let to_be_changed = |failure: &LoginFailure| {
            matches!(failure, LoginFailure::MustChange | LoginFailure::Expired)
        };
        let checked =
            checked.map(drop).or_else(|failure| match changes && to_be_changed(&failure) {
                true => Ok(()),
                false => Err(failure),
            });
        if let Err(failure) = checked {
            let state = failure.state();
            warn!(connection = id, %peer, user = %login.user, state, reason = ?failure, "login failed");
            let (number, text) = (failure.number(), failure.client_text(&login.user));
            refuse_for(writer, (number, state), 14, &text, &failure.to_string());
            return Err(());
        }
        if shared.instance.refuses_login(&login.user) {
            let text = format!(
                "Login failed for user '{}'. Only administrators may connect at this time.",
                login.user
            );
            info!(connection = id, %peer, user = %login.user, "login refused: the server is ending");
            refuse(writer, 18451, 14, &text);
            return Err(());
        }
        if shared.admin && !shared.instance.is_administrator(&login.user) {
            warn!(connection = id, %peer, user = %login.user, "login refused: no administrator");
            let text = format!("Login failed for user '{}'.", login.user);
            let why = "Only administrators may use the dedicated administrator connection.";
            refuse_for(writer, (18456, 1), 14, &text, why);
            return Err(());
        }
        let encrypted = connection.with_state(|state| state.io.is_encrypted());
        let local = connection.stream.local();
        let facts = ConnectionFacts {
            connect_unix_ns: clock::unix_ns(),
            transport: "TCP".to_owned(),
            encrypted,
            packet_bytes: i32::from(negotiate_packet_size(login.packet_size)),
            protocol_version: version.unwrap_or(Version::V7_4).number() as i32,
            client_address: Some(source),
            client_port: Some(i32::from(peer.port())),
            local_address: Some(local.ip().to_canonical().to_string()),
            local_port: Some(i32::from(local.port())),
            traffic: None,
        };
        let recovery = match login.feature(feature::SESSION_RECOVERY).map(Recovery::decode) {
            Some(Err(error)) => {
                warn!(connection = id, %peer, user = %login.user, %error, "login refused");
                refuse(writer, error.number(), error.severity(), &error.to_string());
                return Err(());
            }
            Some(Ok(recovery)) => recovery,
            None => None,
        };
        let given = |name: &String| (!name.is_empty()).then(|| name.clone());
        let initial = recovery.as_ref().map(|recovery| &recovery.initial);
        let asked = session::Login {
            user: login.user.clone(),
            database: initial
                .and_then(|initial| given(&initial.database))
                .or_else(|| given(&login.database)),
            language: initial
                .and_then(|initial| given(&initial.language))
                .or_else(|| given(&login.language)),
            application: login.application.clone(),
            host: login.host.clone(),
            process_id: login.client_process_id,
            interface: login.library.clone(),
            driver: login.odbc,
            connection: Some(facts),
            recovered: recovery.map(|recovery| Recovered {
                database: given(&recovery.last.database),
                language: given(&recovery.last.language),
                states: recovery.initial.states.into_iter().chain(recovery.last.states).collect(),
            }),
            dedicated: shared.admin,
        };
        let mut session = match Session::login(&shared.instance, &asked) {
            Ok(session) => session,
            Err(error) => {
                let error = error.to_message();
                warn!(connection = id, %peer, user = %login.user, reason = %error.text, "login failed");
                if error.number == 17892 {
                    refuse(writer, 17892, 14, &error.text);
                    return Err(());
                }
                say(connection, writer, error.number, error.state, error.severity, &error.text);
                let failed = format!("Login failed for user '{}'.", login.user);
                refuse_for(writer, (18456, error.state), 14, &failed, &error.text);
                return Err(());
            }
        };
        if let Err((number, why)) = change_password(&mut session, login) {
            warn!(connection = id, %peer, user = %login.user, number, "password change refused");
            let user = &login.user;
            let text =
                format!("Login failed for user '{user}'. Reason: Password change failed. {why}");
            refuse(writer, number, 14, &text);
            return Err(());
        }
        if !shared.registry.log_in(id) {
            let most = shared.registry.limits().connections;
            warn!(connection = id, %peer, most, "login refused: too many connections");
            if shared.admin {
                let text = format!(
                    "Could not connect because the maximum number of '{most}' dedicated administrator \
                     connections already exists. Before a new connection can be made, the existing dedicated \
                     administrator connection must be dropped, either by logging off or ending the process."
                );
                refuse(writer, 17810, 20, &text);
                return Err(());
            }
            let text = format!(
                "Could not connect because the maximum number of '{most}' user connections has already \
                 been reached. The system administrator can use sp_configure to increase the maximum \
                 value. The connection has been closed."
            );
            refuse(writer, 17809, 20, &text);
            return Err(());
        }
        info!(
            connection = id, spid = session.spid(), %peer, user = %login.user, application = %login.application,
            database = session.database_name(), encrypted, "logged in"
        );
        self.welcome(connection, login, &session, writer);
        Ok(session)
    }

    fn welcome(
        &self,
        connection: &Connection,
        login: &Login7,
        session: &Session,
        writer: &mut TokenWriter,
    ) {
        let database = session.database_name();
        writer.set_spid(session.spid());
        writer.env_change(&EnvChange::Database { new: database, old: "master" });
        let text = format!("Changed database context to '{database}'.");
        say(connection, writer, 5701, 2, 0, &text);
        let collation = session.collation();
        writer.set_collation(collation);
        let new = tds::Collation(collation.to_wire());
        writer.env_change(&EnvChange::Collation { new, old: None });
        let language = session.language();
        writer.env_change(&EnvChange::Language { new: language, old: "" });
        let text = format!("Changed language setting to {language}.");
        say(connection, writer, 5703, 1, 0, &text);
        let (major, minor, build) = connection.shared.version;
        writer.login_ack(PROGRAM, (major, minor, build));
        let size = negotiate_packet_size(login.packet_size);
        writer.env_change(&EnvChange::PacketSize { new: size, old: PACKET_BYTES_DEFAULT });
        let mut states = Vec::new();
        put_states(&mut states, &session.recoverable().states());
        let known = [(feature::SESSION_RECOVERY, &states[..]), (feature::UTF8_SUPPORT, &[1u8][..])];
        let known: Vec<(u8, &[u8])> =
            known.into_iter().filter(|(id, _)| login.feature(*id).is_some()).collect();
        if !known.is_empty() {
            writer.feature_ext_ack(&known);
        }
        writer.finish();
        writer.set_packet_size(size);
        let limit = connection.shared.registry.limits().message_bytes;
        connection.with_state(|state| state.io.framer.set_phase(Phase::LoggedIn, limit));
        connection.transmit(writer);
        if self.mars {
            let streams = Streams::new(session.spid(), limit);
            connection.with_state(|state| state.streams = Some(Box::new(streams)));
            connection.hear_rest();
        }
    }
}

/// Gives the login the new password that came with the old one (fChangePassword), by the session that the old one has
/// opened: whether it may, and what a password must be like, is ALTER LOGIN's to say.
fn change_password(session: &mut Session, login: &Login7) -> Result<(), (i32, String)> {
    let Some(new) = &login.new_password else { return Ok(()) };
    let quoted = |text: &str| Zeroizing::new(text.replace('\'', "''"));
    let text = Zeroizing::new(format!(
        "ALTER LOGIN [{}] WITH PASSWORD = N'{}' OLD_PASSWORD = N'{}'",
        login.user.replace(']', "]]"),
        *quoted(new.reveal()),
        *quoted(login.password.reveal()),
    ));
    let mut said = Collected::default();
    if session.execute(&text, &mut said).is_ok() {
        return Ok(());
    }
    let error = said.messages.into_iter().find(|message| message.severity > 10);
    let (number, why) = error.map_or((0, String::new()), |error| (error.number, error.text));
    // Too short, not complex enough, and anything else.
    Err(match number {
        15116 => (18464, "The password does not meet operating system policy requirements because it is too short.".to_owned()),
        15118 => (18466, "The password does not meet operating system policy requirements because it is not complex enough.".to_owned()),
        _ => (18463, why),
    })
}

/// Whether the peer is this machine.
pub(crate) fn is_near(peer: IpAddr) -> bool {
    peer.to_canonical().is_loopback()
}

fn say(
    connection: &Connection,
    writer: &mut TokenWriter,
    number: i32,
    state: u8,
    class: u8,
    text: &str,
) {
    let server = connection.server_name();
    writer.message(&Message { number, state, class, text, server, procedure: "", line: 1 });
}

fn failed(writer: &mut TokenWriter) {
    let status = DoneStatus::ERROR;
    writer.done(Done { kind: DoneKind::Done, status, command: 0, rows: 0 });
}
