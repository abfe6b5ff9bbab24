//! What the other sessions may know of one: who it is, whether it works, since when.
//!
//! Promise: a request costs its session a few stores into memory of its own, two readings of the clock and no lock;
//! whoever looks reads the parts one by one, so they may be of two moments.

use interpreter::{Client, SessionState};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI16, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use system_views::{ConnectionFacts, SessionFacts};

/// A session as sys.dm_exec_sessions shows it.
pub(crate) struct Registered {
    /// What is told once: login, host, program, connection.
    about: Mutex<SessionFacts>,
    running: AtomicBool,
    /// KILL has asked for its end.
    killed: AtomicBool,
    /// Stops its request.
    cancel: OnceLock<Arc<AtomicBool>>,
    /// Wakes whoever serves it, so that its end does not wait for the client's next word.
    on_kill: OnceLock<Box<dyn Fn() + Send + Sync>>,
    request_start_unix_ns: AtomicU64,
    request_end_unix_ns: AtomicU64,
    database_id: AtomicU32,
    open_transactions: AtomicU32,
    isolation: AtomicI16,
}

impl Registered {
    /// A session that begins now.
    pub fn new(spid: u16, database_id: u16) -> Registered {
        let about = SessionFacts {
            id: spid as i32,
            login_unix_ns: runtime::clock::unix_ns(),
            login: "sa".to_owned(),
            ..SessionFacts::default()
        };
        Registered {
            about: Mutex::new(about),
            running: AtomicBool::new(false),
            killed: AtomicBool::new(false),
            cancel: OnceLock::new(),
            on_kill: OnceLock::new(),
            request_start_unix_ns: AtomicU64::new(0),
            request_end_unix_ns: AtomicU64::new(0),
            database_id: AtomicU32::new(database_id as u32),
            open_transactions: AtomicU32::new(0),
            isolation: AtomicI16::new(2),
        }
    }

    /// Tells who it is, once it is known.
    pub fn tell(&self, change: impl FnOnce(&mut SessionFacts)) {
        change(&mut self.about.lock());
    }

    /// The flag that stops its requests.
    pub fn stop_by(&self, cancel: Arc<AtomicBool>) {
        let _ = self.cancel.set(cancel);
    }

    /// What is done, once, when KILL asks for its end.
    pub fn on_kill(&self, act: Box<dyn Fn() + Send + Sync>) {
        let _ = self.on_kill.set(act);
    }

    /// KILL: the request that runs is stopped, and none begins any more.
    pub fn kill(&self) {
        self.killed.store(true, Relaxed);
        if self.running.load(Relaxed)
            && let Some(cancel) = self.cancel.get()
        {
            cancel.store(true, Relaxed);
        }
        if let Some(act) = self.on_kill.get() {
            act();
        }
    }

    /// KILL has asked for its end.
    pub fn is_killed(&self) -> bool {
        self.killed.load(Relaxed)
    }

    /// A request begins.
    pub fn begin(&self) {
        self.request_start_unix_ns.store(runtime::clock::unix_ns(), Relaxed);
        self.running.store(true, Relaxed);
    }

    /// It has ended, and left the session like this.
    pub fn end(&self, state: &SessionState) {
        self.running.store(false, Relaxed);
        self.request_end_unix_ns.store(runtime::clock::unix_ns(), Relaxed);
        self.database_id.store(state.database.id as u32, Relaxed);
        self.open_transactions.store(state.trancount(), Relaxed);
        self.isolation.store(isolation_number(state), Relaxed);
    }

    /// The session now.
    pub fn facts(&self) -> SessionFacts {
        SessionFacts {
            database_id: self.database_id.load(Relaxed) as i32,
            running: self.running.load(Relaxed),
            open_transactions: self.open_transactions.load(Relaxed) as i32,
            request_start_unix_ns: self.request_start_unix_ns.load(Relaxed),
            request_end_unix_ns: self.request_end_unix_ns.load(Relaxed),
            isolation: self.isolation.load(Relaxed),
            ..self.about.lock().clone()
        }
    }
}

/// What the client has told of itself at its login.
pub(crate) fn describe(facts: &mut SessionFacts, client: &Client) {
    let told = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    facts.login = client.login.to_string();
    facts.host = told(&client.host);
    facts.program = told(&client.application);
    facts.interface = told(&client.interface);
    facts.host_process = i32::try_from(client.process_id).ok().filter(|id| *id > 0);
    if client.packet_size > 0 {
        facts.connection = Some(ConnectionFacts {
            connect_unix_ns: facts.login_unix_ns,
            transport: client.transport.to_string(),
            encrypted: client.encrypted,
            packet_bytes: client.packet_size.min(32_767) as i32,
            // TDS 7.4, as LOGINACK writes it.
            protocol_version: 0x7400_0004,
            client_address: told(&client.address),
            client_port: None,
            local_address: None,
            local_port: (client.local_port > 0).then_some(client.local_port as i32),
        });
    }
}

/// SQL Server's number of the isolation level.
fn isolation_number(state: &SessionState) -> i16 {
    match state.options.isolation {
        engine::Isolation::ReadUncommitted => 1,
        engine::Isolation::ReadCommitted => 2,
        engine::Isolation::RepeatableRead => 3,
        engine::Isolation::Serializable => 4,
        engine::Isolation::Snapshot => 5,
    }
}
