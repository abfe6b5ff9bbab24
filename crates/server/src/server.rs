//! A server: an instance, the addresses it listens at, and everybody who is connected.

use crate::certificate::{self, CertificateError, Origin, Tls};
use crate::endpoint::{Endpoint, overlap};
use crate::limits::{Limits, Registry};
use crate::listener::Accepting;
use crate::login::is_near;
use parking_lot::{Mutex, RwLock};
use runtime::net::{Listener, Reactor};
use runtime::{clock, task};
use scheduler::{JoinHandle, Schedulers};
use session::{Instance, ListenerFacts, Listening, NodeMap, nodes_of};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use telemetry::WaitType;
use tracing::{info, warn};

/// How a server is to serve.
pub struct Config {
    /// Addresses, and the nodes that serve them; port 0 is a free one.
    pub listen: Vec<Endpoint>,
    /// `None`: no TLS at all, for the simulator. Only loopback is served then.
    pub certificate: Option<Origin>,
    pub limits: Limits,
    /// Where the dedicated administrator connection is taken, on loopback; `None`: nowhere.
    pub admin: Option<SocketAddr>,
}

/// Why a server does not start.
#[derive(Debug)]
pub enum StartError {
    /// An address cannot be listened at.
    Listen {
        address: SocketAddr,
        error: io::Error,
    },
    /// The server itself listens at an address that has this one.
    Twice {
        address: SocketAddr,
        other: SocketAddr,
    },
    Certificate(CertificateError),
    /// A port's bit map names a node without schedulers, or the address was given before.
    Mapping {
        endpoint: Endpoint,
        what: &'static str,
    },
    /// Others than this machine may come only to a server with TLS and a password that somebody chose.
    NotSafe {
        address: SocketAddr,
        what: &'static str,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Listen { address, error } if error.kind() == io::ErrorKind::AddrInUse => {
                write!(
                    f,
                    "Port {} of {} is in use by another process. Choose another one with --listen.",
                    address.port(),
                    address.ip()
                )
            }
            StartError::Listen { address, error } => {
                write!(f, "Nothing can listen at {address}: {error}.")
            }
            StartError::Twice { address, other } => {
                let port = address.port();
                write!(
                    f,
                    "This server itself was asked to listen at port {port} twice: at {other} and at {address}."
                )
            }
            StartError::Certificate(error) => error.fmt(f),
            StartError::Mapping { endpoint, what } => write!(f, "{endpoint}: {what}."),
            StartError::NotSafe { address, what } => {
                write!(f, "{address} is not a loopback address, and {what}.")
            }
        }
    }
}

impl std::error::Error for StartError {}

/// What listeners and connections share.
pub(crate) struct Shared {
    pub instance: Arc<Instance>,
    /// Who serves its connections.
    schedulers: Arc<Schedulers>,
    /// It takes an administrator, and nobody else.
    pub admin: bool,
    pub registry: Registry,
    /// In messages, as SQL Server names itself there.
    pub server_name: String,
    /// What the server says it is: major, minor, build.
    pub version: (u8, u8, u16),
    /// The node of each scheduler.
    nodes: Vec<usize>,
    tls: RwLock<Option<Tls>>,
    stopping: AtomicBool,
}

impl Shared {
    pub fn tls(&self) -> Option<Tls> {
        self.tls.read().clone()
    }

    pub fn schedulers(&self) -> &Arc<Schedulers> {
        &self.schedulers
    }

    pub fn reactor(&self, scheduler: usize) -> &Arc<Reactor> {
        self.schedulers().reactor(scheduler)
    }

    /// Whether a scheduler may serve who is these nodes'. Where they are all offline, any may.
    pub fn may_serve(&self, nodes: &NodeMap, scheduler: usize) -> bool {
        let online = |index: &usize| self.schedulers().is_online(*index);
        let own = |index: &usize| nodes.serves(self.nodes[*index]);
        let stranded = || !(0..self.nodes.len()).filter(online).any(|index| own(&index));
        online(&scheduler) && (own(&scheduler) || stranded())
    }

    /// The scheduler whose turn it is, of those that may serve who is these nodes', or of all.
    fn in_turn(&self, nodes: &NodeMap, turn: usize) -> usize {
        let all = self.nodes.len();
        let may: Vec<usize> = (0..all).filter(|index| self.may_serve(nodes, *index)).collect();
        may.get(turn % may.len().max(1)).copied().unwrap_or(turn % all.max(1))
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Acquire)
    }
}

fn check_mapping(listen: &[Endpoint], nodes: &[usize]) -> Result<(), StartError> {
    for (at, endpoint) in listen.iter().enumerate() {
        let what = match endpoint.nodes {
            _ if endpoint.address.port() != 0
                && listen[..at].iter().any(|other| other.address == endpoint.address) =>
            {
                "the address is given twice"
            }
            Some(mask) if (0..64).any(|n| mask >> n & 1 == 1 && !nodes.contains(&n)) => {
                "the bit map names a node that has no scheduler here"
            }
            _ => continue,
        };
        return Err(StartError::Mapping { endpoint: *endpoint, what });
    }
    Ok(())
}

/// Listens at an address. The kernel knows what is one with another; `before` says whether that is this server's.
fn bind(address: SocketAddr, before: &[(Endpoint, Listener)]) -> Result<Listener, StartError> {
    Listener::bind(address).map_err(|error| {
        let mut others = before.iter().map(|(endpoint, _)| endpoint.address);
        match others.find(|other| overlap(address, *other)) {
            Some(other) if error.kind() == io::ErrorKind::AddrInUse => {
                StartError::Twice { address, other }
            }
            _ => StartError::Listen { address, error },
        }
    })
}

/// What was begun of a server that cannot start gets so long to end.
const UNDO_NS: u64 = 1_000_000_000;

/// A server that serves.
pub struct Server {
    shared: Arc<Shared>,
    origin: Option<Origin>,
    listeners: Vec<Arc<Accepting>>,
    watch: Mutex<Option<JoinHandle<()>>>,
    admin: Option<Admin>,
}

/// The dedicated administrator connection: a listener and a connection that a scheduler of their own serves, so that
/// they get through whatever the others do.
struct Admin {
    shared: Arc<Shared>,
    accepting: Arc<Accepting>,
    watch: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Listens at every address, or at none: then `Err` says why.
    pub fn start(instance: &Arc<Instance>, config: Config) -> Result<Server, StartError> {
        let nodes = nodes_of(instance.schedulers());
        check_mapping(&config.listen, &nodes)?;
        for endpoint in config.listen.iter().filter(|endpoint| !is_near(endpoint.address.ip())) {
            let address = endpoint.address;
            if config.certificate.is_none() {
                return Err(StartError::NotSafe { address, what: "TLS is off" });
            }
            if !instance.security().sa_password_was_set() {
                let what = "the password of sa was set by nobody; set one in MILLRACE_SA_PASSWORD \
                            at the first start, or with ALTER LOGIN sa";
                return Err(StartError::NotSafe { address, what });
            }
        }
        let tls = match &config.certificate {
            None => None,
            Some(origin) => Some(load(origin).map_err(StartError::Certificate)?),
        };
        if let Some(address) = config.admin.filter(|address| !is_near(address.ip())) {
            return Err(StartError::NotSafe {
                address,
                what: "administrators are served there alone",
            });
        }
        let refuse = |address: SocketAddr| move |error| StartError::Listen { address, error };
        let mut listeners: Vec<(Endpoint, Listener)> = Vec::new();
        for endpoint in &config.listen {
            let bound = bind(endpoint.address, &listeners)?;
            listeners.push((*endpoint, bound));
        }
        let admin = config.admin.map(|address| Ok((address, bind(address, &listeners)?)));
        let admin = admin.transpose()?;
        let share = |schedulers: &Arc<Schedulers>, limits: Limits, admin: bool| {
            Arc::new(Shared {
                instance: instance.clone(),
                schedulers: schedulers.clone(),
                admin,
                registry: Registry::new(limits, schedulers.count()),
                server_name: host_name(),
                version: (16, 0, 1000),
                nodes: nodes_of(schedulers),
                tls: RwLock::new(tls.clone()),
                stopping: AtomicBool::new(false),
            })
        };
        let mut limits = config.limits.clone();
        if let Some(most) = instance.user_connections() {
            limits.connections = limits.connections.min(most);
        }
        let mut server = Server {
            shared: share(instance.schedulers(), limits, false),
            origin: config.certificate,
            listeners: Vec::new(),
            watch: Mutex::new(None),
            admin: None,
        };
        let serve_admin = |(address, listener)| {
            let one = scheduler::Config { pin: false, ..scheduler::Config::with_count(1) };
            let own = Schedulers::start(one).map_err(refuse(address))?;
            let limits = Limits { connections: 1, before_login: 8, ..config.limits };
            let shared = share(&own, limits, true);
            let accepting = Accepting::start(&shared, listener, Arc::new(NodeMap::new(None)), 0)
                .map_err(refuse(address))?;
            instance.tell_admin(&own);
            Ok(Admin { shared, accepting, watch: Mutex::new(None) })
        };
        let begun = admin.map(serve_admin).transpose().and_then(|admin| {
            server.admin = admin;
            server.listen(listeners)
        });
        if let Err(error) = begun {
            // Nothing of it may hold up the end of the instance.
            server.stop(UNDO_NS);
            return Err(error);
        }
        server.tell_listeners();
        *server.watch.lock() = Some(begin_watch(&server.shared));
        if let Some(admin) = &server.admin {
            info!(address = %admin.accepting.address(), "listening for an administrator");
            *admin.watch.lock() = Some(begin_watch(&admin.shared));
        }
        Ok(server)
    }

    /// Takes connections from now on, at these addresses.
    fn listen(&mut self, listeners: Vec<(Endpoint, Listener)>) -> Result<(), StartError> {
        for (index, (endpoint, listener)) in listeners.into_iter().enumerate() {
            let nodes = Arc::new(NodeMap::new(endpoint.nodes));
            let on = self.shared.in_turn(&nodes, index);
            let started = Accepting::start(&self.shared, listener, nodes, on);
            let started =
                started.map_err(|error| StartError::Listen { address: endpoint.address, error })?;
            match endpoint.nodes {
                None => info!(address = %started.address(), "listening"),
                Some(mask) => {
                    info!(nodes = format!("{mask:#x}"), address = %started.address(), "listening");
                }
            }
            self.listeners.push(started);
        }
        Ok(())
    }

    fn tell_listeners(&self) {
        let start_unix_ns = clock::unix_ns();
        let told = self.listeners.iter().map(|listener| Listening {
            facts: ListenerFacts {
                ip: listener.address().ip(),
                port: listener.address().port(),
                start_unix_ns,
            },
            nodes: listener.nodes().clone(),
        });
        self.shared.instance.tell_listeners(told.collect());
    }

    /// Where it listens, ports filled in.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(|listener| listener.address()).collect()
    }

    /// Where it takes the dedicated administrator connection, port filled in.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(|admin| admin.accepting.address())
    }

    /// Connections of the moment, logged in or not.
    pub fn connections(&self) -> usize {
        self.shared.registry.count()
    }

    /// Reads the certificate again, for connections to come. On `Err` the old one stays.
    pub fn reload_certificate(&self) -> Result<(), CertificateError> {
        if let Some(origin) = &self.origin {
            let tls = load(origin)?;
            if let Some(admin) = &self.admin {
                *admin.shared.tls.write() = Some(tls.clone());
            }
            *self.shared.tls.write() = Some(tls);
        }
        Ok(())
    }

    /// Takes no more connections, stops what runs, closes everybody and waits until they are gone: their transactions
    /// are rolled back then. False if some were left after `timeout_ns`. The instance goes on.
    pub fn stop(&self, timeout_ns: u64) -> bool {
        let servings: Vec<&Arc<Shared>> =
            [Some(&self.shared), self.admin.as_ref().map(|admin| &admin.shared)]
                .into_iter()
                .flatten()
                .collect();
        servings.iter().for_each(|shared| shared.stopping.store(true, Release));
        self.listeners.iter().for_each(|listener| listener.stop());
        if let Some(admin) = &self.admin {
            admin.accepting.stop();
        }
        let until = clock::now_ns().saturating_add(timeout_ns);
        loop {
            // Also those that were being taken when we began.
            let all: Vec<_> = servings.iter().flat_map(|shared| shared.registry.all()).collect();
            if all.is_empty() {
                break;
            }
            if clock::now_ns() > until {
                warn!(connections = all.len(), "some connections did not end in time");
                return false;
            }
            all.iter().for_each(|connection| connection.abort());
            drop(all);
            task::sleep_ns(2_000_000, WaitType::SleepTask);
        }
        servings.iter().for_each(|shared| shared.registry.wake_watcher());
        let watches = [Some(&self.watch), self.admin.as_ref().map(|admin| &admin.watch)];
        for watch in watches.into_iter().flatten() {
            if let Some(watch) = watch.lock().take() {
                let _ = watch.join();
            }
        }
        if let Some(admin) = &self.admin {
            admin.shared.schedulers().stop();
        }
        true
    }
}

fn load(origin: &Origin) -> Result<Tls, CertificateError> {
    let tls = certificate::load(origin, (clock::unix_ns() / 1_000_000_000) as i64)?;
    info!(
        path = %tls.path.display(), sha256 = tls.fingerprint, made = tls.made,
        "certificate"
    );
    Ok(tls)
}

fn begin_watch(shared: &Arc<Shared>) -> JoinHandle<()> {
    let theirs = shared.clone();
    shared.schedulers().spawn("login time-outs", None, move || watch(&theirs))
}

/// Closes who does not log in in time. A task of its own.
fn watch(shared: &Shared) {
    while !shared.is_stopping() {
        let (overdue, next_ns) = shared.registry.overdue(task::current_waker());
        for connection in overdue {
            info!(connection = connection.id, peer = %connection.peer(), "closed: no login in time");
            connection.abort();
        }
        if shared.is_stopping() {
            return;
        }
        task::park(WaitType::SleepTask, next_ns);
    }
}

fn host_name() -> String {
    if runtime::sim::active() {
        // A world is the same on every machine.
        return "simulated".to_owned();
    }
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "millrace".to_owned() } else { name.to_owned() }
}
