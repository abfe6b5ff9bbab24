//! What the other sessions may know of one: who it is, whether it works, since when, what it has used.
//!
//! Promise: a request costs its session a few stores into memory of its own, some readings of the clock and no lock;
//! whoever looks reads the parts one by one, so they may be of two moments.

use parking_lot::Mutex;
use scheduler::Usage;
use session_state::{Activity, Client};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use system_views::{ConnectionFacts, SessionFacts};

/// A session as sys.dm_exec_sessions shows it.
pub(crate) struct Registered {
    spid: u16,
    /// What is told once: login, host, program, connection.
    about: Mutex<SessionFacts>,
    running: AtomicBool,
    /// KILL has asked for its end.
    killed: AtomicBool,
    /// Stops its request.
    cancel: OnceLock<Arc<AtomicBool>>,
    /// Wakes whoever serves it, so that its end does not wait for the client's next word.
    on_kill: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// What the session itself tells of its requests.
    activity: OnceLock<Arc<Activity>>,
    request_start_unix_ns: AtomicU64,
    request_end_unix_ns: AtomicU64,
    elapsed_ns: AtomicU64,
    /// Id of its workload group.
    group: AtomicI32,
    /// What its requests have used, and what the task had used before the one that runs.
    used: UsageCells,
    used_before: UsageCells,
}

#[derive(Default)]
struct UsageCells([AtomicU64; 6]);

impl UsageCells {
    fn store(&self, usage: &Usage) {
        let values = [
            usage.cpu_ns,
            usage.signal_ns,
            usage.context_switches,
            usage.page_lookups,
            usage.page_reads,
            usage.page_writes,
        ];
        self.0.iter().zip(values).for_each(|(cell, value)| cell.store(value, Relaxed));
    }

    fn load(&self) -> Usage {
        let [cpu_ns, signal_ns, context_switches, page_lookups, page_reads, page_writes] =
            std::array::from_fn(|i| self.0[i].load(Relaxed));
        Usage { cpu_ns, signal_ns, context_switches, page_lookups, page_reads, page_writes }
    }
}

impl Registered {
    /// A session that begins now.
    pub fn new(spid: u16) -> Registered {
        let about = SessionFacts {
            id: spid as i32,
            login_unix_ns: runtime::clock::unix_ns(),
            login: "sa".to_owned(),
            ..SessionFacts::default()
        };
        Registered {
            spid,
            about: Mutex::new(about),
            running: AtomicBool::new(false),
            killed: AtomicBool::new(false),
            cancel: OnceLock::new(),
            on_kill: OnceLock::new(),
            activity: OnceLock::new(),
            request_start_unix_ns: AtomicU64::new(0),
            request_end_unix_ns: AtomicU64::new(0),
            elapsed_ns: AtomicU64::new(0),
            group: AtomicI32::new(catalog::DEFAULT_GROUP),
            used: UsageCells::default(),
            used_before: UsageCells::default(),
        }
    }

    /// @@SPID.
    pub fn spid(&self) -> u16 {
        self.spid
    }

    /// The id of its current database, as it was last told.
    pub fn database(&self) -> i32 {
        self.activity.get().map_or(0, |activity| activity.database_id())
    }

    /// Its workload group is another one.
    pub fn set_group(&self, id: i32) {
        self.group.store(id, Relaxed);
    }

    /// A request of it is under way.
    pub fn is_running(&self) -> bool {
        self.running.load(Relaxed)
    }

    /// Tells who it is, once it is known.
    pub fn tell(&self, change: impl FnOnce(&mut SessionFacts)) {
        change(&mut self.about.lock());
    }

    /// The flag that stops its requests, and what tells of them.
    pub fn follow(&self, cancel: Arc<AtomicBool>, activity: Arc<Activity>) {
        let _ = self.cancel.set(cancel);
        let _ = self.activity.set(activity);
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

    /// A request begins, on the task that calls.
    pub fn begin(&self) {
        scheduler::set_session(self.spid.into());
        self.used_before.store(&scheduler::usage());
        self.request_start_unix_ns.store(runtime::clock::unix_ns(), Relaxed);
        self.running.store(true, Relaxed);
    }

    /// It has ended.
    pub fn end(&self) {
        let now = runtime::clock::unix_ns();
        let request = scheduler::usage().since(&self.used_before.load());
        self.used.store(&self.used.load().plus(&request));
        let took = now.saturating_sub(self.request_start_unix_ns.load(Relaxed));
        self.elapsed_ns.store(self.elapsed_ns.load(Relaxed) + took, Relaxed);
        self.request_end_unix_ns.store(now, Relaxed);
        self.running.store(false, Relaxed);
        scheduler::set_session(0);
    }

    /// The session now.
    pub fn facts(&self) -> SessionFacts {
        let activity = self.activity.get();
        let context_info = activity.and_then(|a| a.context_info()).map(|b| b.to_vec());
        SessionFacts {
            running: self.running.load(Relaxed),
            request_start_unix_ns: self.request_start_unix_ns.load(Relaxed),
            request_end_unix_ns: self.request_end_unix_ns.load(Relaxed),
            published: activity.map(|a| a.published()).unwrap_or_default(),
            context_info,
            input: activity.map(|a| a.input()).unwrap_or_default(),
            used: self.used.load(),
            used_before: self.used_before.load(),
            elapsed_ns: self.elapsed_ns.load(Relaxed),
            group: self.group.load(Relaxed),
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
            traffic: None,
        });
    }
}
