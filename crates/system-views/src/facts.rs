//! What the instance tells its views of sessions, connections, tasks and listeners.

use scheduler::Usage;
use session_state::{Input, Published};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where a file lies: as the operating system tells it.
#[derive(Clone, Debug)]
pub struct VolumeFacts {
    /// The folder where the volume begins.
    pub mount_point: String,
    /// Its size.
    pub bytes: u64,
    /// What is left for the server.
    pub free_bytes: u64,
    /// Nothing can be written to it.
    pub is_read_only: bool,
}

/// A session: a user's, or one of the server's own tasks.
#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    /// session_id.
    pub id: i32,
    /// What an internal session does: `LOG WRITER`, `CHECKPOINT`, `LAZY WRITER`. `None` for a user's.
    pub system: Option<&'static str>,
    /// UTC, ns since 1970.
    pub login_unix_ns: u64,
    /// The login it began with.
    pub login: String,
    /// The client's host, program, interface and process.
    pub host: Option<String>,
    /// See `host`.
    pub program: Option<String>,
    /// See `host`.
    pub interface: Option<String>,
    /// See `host`.
    pub host_process: Option<i32>,
    /// A request runs.
    pub running: bool,
    /// UTC, ns since 1970: begin and end of the last request.
    pub request_start_unix_ns: u64,
    /// See `request_start_unix_ns`; the end of the one before while one runs.
    pub request_end_unix_ns: u64,
    /// Settings and state, as last told: when a request or statement began, or a request ended.
    pub published: Published,
    /// SET CONTEXT_INFO.
    pub context_info: Option<Vec<u8>>,
    /// The last request's text.
    pub input: Input,
    /// What the requests that are over have used, and how long they took in all.
    pub used: Usage,
    /// See `used`; nanoseconds.
    pub elapsed_ns: u64,
    /// Id of its workload group; 0 for the server's own tasks.
    pub group: i32,
    /// What its task had used when the request that runs began.
    pub used_before: Usage,
    /// How it is connected; absent for a session inside this process.
    pub connection: Option<ConnectionFacts>,
    /// It is the dedicated administrator connection.
    pub dedicated: bool,
}

impl SessionFacts {
    /// The endpoint of sys.endpoints that it came through; 0: none, as it is the server's own.
    pub fn endpoint(&self) -> i32 {
        match (self.dedicated, &self.connection, self.system) {
            (true, ..) => endpoint::ADMIN,
            (false, Some(_), _) => endpoint::TCP,
            (false, None, None) => endpoint::LOCAL,
            (false, None, Some(_)) => 0,
        }
    }
}

/// Numbers of sys.endpoints, as in SQL Server.
pub mod endpoint {
    /// The dedicated administrator connection.
    pub const ADMIN: i32 = 1;
    /// Sessions within this process.
    pub const LOCAL: i32 = 2;
    /// Every other listener.
    pub const TCP: i32 = 4;
}

/// What serves the dedicated administrator connection: schedulers of its own and their tasks.
#[derive(Clone, Debug, Default)]
pub struct AdminFacts {
    /// None: nobody serves it.
    pub schedulers: Vec<scheduler::Stats>,
    /// See `schedulers`.
    pub tasks: Vec<scheduler::TaskInfo>,
}

/// Audits and the server's specifications, and how the audits stand that are on, by their ids.
#[derive(Clone, Debug, Default)]
pub struct AuditFacts {
    /// See the type.
    pub defs: Arc<catalog::AuditDefs>,
    /// See the type.
    pub statuses: Vec<([u8; 16], audit::Status)>,
}

/// Resource Governor: as defined, as in force, and what its groups have used.
#[derive(Clone, Debug, Default)]
pub struct GovernorFacts {
    /// What the next RECONFIGURE puts in force.
    pub defined: Arc<catalog::GovernorDef>,
    /// See the type.
    pub in_force: Arc<catalog::GovernorDef>,
    /// See the type.
    pub groups: Vec<GroupFigures>,
    /// Of the pools that databases are bound to.
    pub quotas: Vec<QuotaFigures>,
}

/// What the rows in memory of the databases bound to a pool take.
#[derive(Clone, Copy, Debug)]
pub struct QuotaFigures {
    /// The pool's id.
    pub pool: i32,
    /// See the type.
    pub used_bytes: u64,
    /// `None`: as much as there is.
    pub bound_bytes: Option<u64>,
    /// Writes that were refused (41805).
    pub refused: u64,
}

/// What a workload group has used since the start, or since RESET STATISTICS.
#[derive(Clone, Debug)]
pub struct GroupFigures {
    /// As in force.
    pub def: catalog::GroupDef,
    /// UTC, ns since 1970: since when is counted.
    pub since_unix_ns: u64,
    /// Requests that have ended.
    pub requests: u64,
    /// Requests that had to wait for a place.
    pub queued: u64,
    /// Requests that run, and that wait for a place.
    pub active: u32,
    /// See `active`.
    pub waiting: usize,
    /// Requests that took more CPU time than REQUEST_MAX_CPU_TIME_SEC.
    pub cpu_violations: u64,
    /// CPU time of the requests that have ended, in nanoseconds, and of the one that took most.
    pub cpu_ns: u64,
    /// See `cpu_ns`.
    pub cpu_ns_max: u64,
    /// The processors that a statement may have.
    pub effective_max_dop: i32,
}

/// A connection of a session.
#[derive(Clone, Debug, Default)]
pub struct ConnectionFacts {
    /// UTC, ns since 1970.
    pub connect_unix_ns: u64,
    /// `TCP` or `Shared memory`.
    pub transport: String,
    /// TLS is on.
    pub encrypted: bool,
    /// Bytes of a packet.
    pub packet_bytes: i32,
    /// The version of TDS, as in LOGINACK.
    pub protocol_version: i32,
    /// The client's address and port, ours likewise.
    pub client_address: Option<String>,
    /// See `client_address`.
    pub client_port: Option<i32>,
    /// See `client_address`.
    pub local_address: Option<String>,
    /// See `client_address`.
    pub local_port: Option<i32>,
    /// What goes over it; absent where nobody counts.
    pub traffic: Option<Arc<Traffic>>,
}

/// Reads and writes of a connection, counted by whoever has the socket.
#[derive(Debug, Default)]
pub struct Traffic {
    reads: AtomicU64,
    writes: AtomicU64,
    last_read_unix_ns: AtomicU64,
    last_write_unix_ns: AtomicU64,
    /// The scheduler that hears the socket.
    scheduler: AtomicU64,
}

impl Traffic {
    /// A read from the socket brought something.
    pub fn read(&self) {
        self.reads.fetch_add(1, Relaxed);
        self.last_read_unix_ns.store(runtime::clock::unix_ns(), Relaxed);
    }

    /// A write to it took something.
    pub fn wrote(&self) {
        self.writes.fetch_add(1, Relaxed);
        self.last_write_unix_ns.store(runtime::clock::unix_ns(), Relaxed);
    }

    /// Which scheduler hears it.
    pub fn heard_by(&self, scheduler: usize) {
        self.scheduler.store(scheduler as u64, Relaxed);
    }

    /// How many reads and writes there were.
    pub fn counts(&self) -> (u64, u64) {
        (self.reads.load(Relaxed), self.writes.load(Relaxed))
    }

    /// UTC, ns since 1970: the last read and the last write; 0 before the first.
    pub fn last_unix_ns(&self) -> (u64, u64) {
        (self.last_read_unix_ns.load(Relaxed), self.last_write_unix_ns.load(Relaxed))
    }

    /// See [`Traffic::heard_by`].
    pub fn scheduler(&self) -> usize {
        self.scheduler.load(Relaxed) as usize
    }
}

/// A task that kept a scheduler to itself for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonYielding {
    /// On the monotonic clock.
    pub at_ns: u64,
    pub scheduler: usize,
    /// The thread's number in the system.
    pub thread_id: u64,
    pub task: String,
    pub session: Option<u32>,
    /// How long it had not been heard of.
    pub kept_ns: u64,
    /// CPU time that the thread had of that.
    pub cpu_ns: u64,
}

/// A socket that takes connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerFacts {
    /// The address without the port.
    pub ip: std::net::IpAddr,
    /// The port.
    pub port: u16,
    /// UTC, ns since 1970.
    pub start_unix_ns: u64,
}
