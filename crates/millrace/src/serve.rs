//! `millrace serve`: the server.
//!
//! Opens the data folder, listens, tells systemd, and then waits for signals: SIGHUP reads the certificate again,
//! SIGTERM and SIGINT close every connection, write a checkpoint and end with status 0.

use crate::log;
use crate::switches::SwitchFlags;
use clap::Args as ClapArgs;
use device::{IoMode, RealFs};
use runtime::signals::{self, Signal};
use security::FirstStart;
use server::{Config, Endpoint, Limits, Origin, Server, overlap};
use session::{Instance, InstanceConfig};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tracing::{error, info, warn};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Connections get so long to end.
const STOP_NS: u64 = 6_000_000_000;
/// A server that was told to end has ended by then, whatever runs: what it had no time to close is recovered at the next
/// start.
const END: Duration = Duration::from_millis(9_500);
/// The least that a process can do with.
const MEMORY_MB_MIN: u64 = 256;
const MEMORY_MB_MAX: u64 = 1 << 24;

/// Serve T-SQL to SQL Server's clients.
#[derive(ClapArgs)]
pub struct Args {
    /// The data folder; made if it is not there. One process at a time can open it.
    #[arg(long, value_name = "DIR", default_value = "data/serve")]
    data: PathBuf,
    /// Listen here; several times for several addresses. Port 0 is a free one. `[0x1]` after the port: who comes there
    /// is served by these NUMA nodes (bit n is node n).
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:1433")]
    listen: Vec<Endpoint>,
    /// Certificate chain (PEM), the server's own first. Without it one is made in the data folder.
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// The certificate's private key (PEM).
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Sessions at one time.
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// Take the dedicated administrator connection here, on loopback; by default at 127.0.0.1, one port above the first
    /// address, or above all of them where that one is asked for by --listen.
    #[arg(long, value_name = "ADDR:PORT", conflicts_with = "no_admin")]
    admin_listen: Option<SocketAddr>,
    /// Take no dedicated administrator connection.
    #[arg(long)]
    no_admin: bool,
    /// Megabytes of memory that the process may have, 256 at least; half of them at most are pages of databases. Without
    /// it seven eighths of what this machine, or the process's group, has.
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(MEMORY_MB_MIN..))]
    memory: Option<u64>,
    /// Megabytes of pages of databases, half of the process's at most, which is what they have without it.
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..))]
    page_memory: Option<u64>,
    /// Megabytes, half of the process's at most, that are kept for rows of memory-optimised tables and touched when it starts,
    /// before anybody needs them. The tables take more where that is used up.
    #[arg(long, value_name = "MB", default_value_t = 0)]
    table_memory: u64,
    /// So many wrong passwords one after the other lock a login that has CHECK_POLICY; 0: none do.
    #[arg(long, value_name = "N", default_value_t = security::PasswordRules::default().lockout_after)]
    lockout_threshold: u32,
    /// So long a login stays locked; 0: until ALTER LOGIN ... UNLOCK.
    #[arg(long, value_name = "MINUTES", default_value_t = security::PasswordRules::default().lockout_minutes)]
    lockout_minutes: u64,
    /// So long a password is good whose login has CHECK_EXPIRATION; 0: for ever.
    #[arg(long, value_name = "DAYS", default_value_t = security::PasswordRules::default().age_days)]
    password_days: u64,
    /// A trace flag to be on from the start; several times for several. DBCC TRACEON (FLAG, -1) says whether one has an
    /// effect here.
    #[arg(short = 'T', value_name = "FLAG", value_parser = clap::value_parser!(i32).range(1..))]
    trace_flags: Vec<i32>,
    /// CPUs of a node of soft-NUMA, as a list (`0-3,8`); several times for several. CPUs that none names are one more node
    /// for each of the machine's. Without it, large nodes are divided by themselves (docs/placement.md).
    #[arg(long = "soft-node", value_name = "CPUS", value_parser = cpus)]
    soft_nodes: Vec<Cpus>,
    /// Keep the memory of databases' pages from being paged out, if the process may (`ulimit -l`);
    /// sql_memory_model_desc of sys.dm_os_sys_info says whether.
    #[arg(long)]
    lock_pages: bool,
    /// What is logged to standard error: error, warn, info, debug or trace, also per crate (`info,server=debug`).
    #[arg(long, value_name = "LEVELS", env = "MILLRACE_LOG", default_value = "info")]
    log: Targets,
    #[command(flatten)]
    switches: SwitchFlags,
}

/// A list of CPUs.
#[derive(Clone, Debug)]
struct Cpus(Vec<usize>);

fn cpus(text: &str) -> Result<Cpus, String> {
    let list = topology::parse_cpulist(text).filter(|list| !list.is_empty());
    list.map(Cpus).ok_or_else(|| "a list of CPUs is like 0-3,8".to_owned())
}

/// Serves until a signal ends it.
pub fn run(args: Args) -> ExitCode {
    let began = Instant::now();
    // Before the first thread is started, the log's: one that does not hold them back would be ended by them.
    let held = signals::hold();
    let format = tracing_subscriber::fmt::layer().with_writer(log::Log::start());
    let format = format.with_ansi(io::IsTerminal::is_terminal(&io::stderr()));
    tracing_subscriber::registry().with(args.log.clone()).with(format).init();
    let held = held.map_err(|error| format!("signals cannot be held back: {error}"));
    let code = match held.and_then(|()| serve(args, began)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            error!("{message}");
            ExitCode::FAILURE
        }
    };
    log::finish();
    code
}

fn serve(args: Args, began: Instant) -> Result<(), String> {
    let descriptors = runtime::threads::raise_descriptor_limit();
    let fs = RealFs::new(IoMode::Auto).map_err(|error| format!("no way to do I/O: {error}"))?;
    let mut config = InstanceConfig::new(&args.data, fs);
    let memory = match args.memory {
        Some(mb) => mb.min(MEMORY_MB_MAX) << 20,
        None => (memory_there() / 8 * 7).max(MEMORY_MB_MIN << 20),
    };
    if let Some(asked_mb) = args.memory.filter(|_| memory > memory_there()) {
        let (there_mb, taken_mb) = (memory_there() >> 20, memory >> 20);
        warn!(
            asked_mb,
            taken_mb, there_mb, "--memory is above what this machine, or the process's group, has"
        );
    }
    config.memory_bytes = Some(memory);
    config.buffer_pool_bytes = match args.page_memory.map(|mb| mb.saturating_mul(1 << 20)) {
        Some(bytes) if bytes > memory / 2 => {
            let most = memory >> 21;
            return Err(format!(
                "--page-memory is above {most}, half of what the process may have"
            ));
        }
        Some(bytes) => bytes,
        None => memory / 2,
    };
    config.query_memory_bytes = config.query_memory_bytes.min(memory / 4);
    config.table_memory_bytes = args.table_memory.saturating_mul(1 << 20);
    if config.table_memory_bytes > memory / 2 {
        let most = memory >> 21;
        return Err(format!("--table-memory is above {most}, half of what the process may have"));
    }
    config.password_rules = security::PasswordRules {
        lockout_after: args.lockout_threshold,
        lockout_minutes: args.lockout_minutes,
        age_days: args.password_days,
    };
    config.switches = args.switches.switches.clone();
    config.lock_pages = args.lock_pages;
    config.soft_nodes = args.soft_nodes.iter().map(|cpus| cpus.0.clone()).collect();
    config.trace_flags = args.trace_flags.iter().copied().collect();
    config.private_files = args.certificate.iter().chain(&args.key).cloned().collect();
    let memory_mb = memory >> 20;
    let instance = Instance::open(config).map_err(|error| error.to_string())?;
    info!(data = %args.data.display(), memory_mb, descriptors, "opened");
    instance.on_shutdown(Box::new(signals::terminate));
    let served = listen(&args, &instance).map(|server| {
        info!(milliseconds = began.elapsed().as_millis() as u64, "ready");
        notify("READY=1");
        wait(&server);
        notify("STOPPING=1");
        end_at_last();
        server.stop(STOP_NS)
    });
    if let Ok(false) = served {
        // What is left is recovered at the next start.
        return Err("some sessions did not end in time; the databases were not closed".to_owned());
    }
    let closed = instance.shutdown();
    served?;
    closed.map_err(|error| format!("the databases did not close cleanly: {error}"))?;
    info!("ended");
    Ok(())
}

fn listen(args: &Args, instance: &std::sync::Arc<Instance>) -> Result<Server, String> {
    let certificate = match (&args.certificate, &args.key) {
        (Some(certificate), Some(key)) => {
            Origin::Files { certificate: certificate.clone(), key: key.clone() }
        }
        _ => Origin::Folder(args.data.clone()),
    };
    let environment = |name: &str| std::env::var(name).ok();
    match instance.security().first_start(&environment).map_err(|error| error.to_string())? {
        FirstStart::NotFirst => {}
        FirstStart::Set { variable } => info!(variable, "the password of sa was set"),
        // Once, to whoever started it, and not to the log.
        FirstStart::Generated(password) => {
            let told = writeln!(io::stdout(), "The password of sa is {}", password.reveal());
            told.map_err(|error| format!("the password of sa cannot be told: {error}"))?;
        }
    }
    let config = Config {
        listen: args.listen.clone(),
        certificate: Some(certificate),
        limits: Limits { connections: args.max_connections, ..Limits::default() },
        admin: args.admin_listen.or_else(|| default_admin(args)),
    };
    Server::start(instance, config).map_err(|error| error.to_string())
}

/// Where [`administrators`] are taken, if nobody has it.
fn default_admin(args: &Args) -> Option<SocketAddr> {
    if args.no_admin {
        return None;
    }
    let listen: Vec<SocketAddr> = args.listen.iter().map(|endpoint| endpoint.address).collect();
    let Some((address, gives_way)) = administrators(&listen) else {
        warn!("there is no dedicated administrator connection: no port is left above the others");
        return None;
    };
    if gives_way {
        info!(%address, "the port above the first is asked for: administrators have the one above all");
    }
    match std::net::TcpListener::bind(address) {
        Ok(_) => Some(address),
        Err(error) => {
            warn!(%address, %error, "there is no dedicated administrator connection");
            None
        }
    }
}

/// One port above the first address; where that is any free one, any free one; where it is asked for itself, the one above
/// all that are, and true.
fn administrators(listen: &[SocketAddr]) -> Option<(SocketAddr, bool)> {
    let local = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
    let is_asked = |address: SocketAddr| listen.iter().any(|other| overlap(address, *other));
    let first = match listen.first().map_or(1433, SocketAddr::port) {
        0 => return Some((local(0), false)),
        port => port.checked_add(1),
    };
    if let Some(free) = first.map(local).filter(|address| !is_asked(*address)) {
        return Some((free, false));
    }
    let asked = listen.iter().map(SocketAddr::port).filter(|port| is_asked(local(*port))).max()?;
    asked.checked_add(1).map(|port| (local(port), true))
}

/// Ends the process at [`END`] from now, if it is there by then.
fn end_at_last() {
    let end = || {
        std::thread::sleep(END);
        error!("the server did not end in time; the databases were not closed");
        log::finish();
        std::process::exit(1);
    };
    if let Err(error) = runtime::threads::spawn("end", end) {
        warn!(%error, "nobody ends the server if it does not end by itself");
    }
}

fn wait(server: &Server) {
    loop {
        match signals::wait() {
            Signal::Terminate => {
                info!(connections = server.connections(), "ending");
                return;
            }
            Signal::Reload => match server.reload_certificate() {
                Ok(()) => info!("the certificate was read again"),
                Err(error) => warn!("the old certificate stays in use: {error}"),
            },
        }
    }
}

/// What the machine has, or what the process's group may have if that is less.
fn memory_there() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    let machine = kb.unwrap_or(1 << 20) << 10;
    machine.min(group_memory().unwrap_or(u64::MAX))
}

/// The least limit of the process's control group and those above it (cgroup v2; of v1 the group's own).
fn group_memory() -> Option<u64> {
    let number = |path: &Path| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut least: Option<u64> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let path = path.trim_start_matches('/');
        let found = match controllers {
            "" => {
                let root = Path::new("/sys/fs/cgroup");
                let own = root.join(path);
                let all = own.ancestors().take_while(|folder| folder.starts_with(root));
                all.filter_map(|folder| number(&folder.join("memory.max"))).min()
            }
            c if c.split(',').any(|c| c == "memory") => {
                let root = Path::new("/sys/fs/cgroup/memory");
                number(&root.join(path).join("memory.limit_in_bytes"))
                    .or_else(|| number(&root.join("memory.limit_in_bytes")))
            }
            _ => None,
        };
        least = [least, found].into_iter().flatten().min();
    }
    least
}

/// systemd's notification protocol: a datagram to the socket that it named, if it did.
fn notify(state: &str) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET").and_then(|p| p.into_string().ok()) else {
        return;
    };
    let sent = UnixDatagram::unbound().and_then(|socket| match path.strip_prefix('@') {
        Some(name) => {
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            socket.send_to_addr(state.as_bytes(), &address)
        }
        None => socket.send_to(state.as_bytes(), &path),
    });
    if let Err(error) = sent {
        warn!(%error, "systemd cannot be told");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_administrators_port_gives_way_to_listeners() {
        let admin = |listen: &[&str]| {
            let listen: Vec<_> = listen.iter().map(|text| text.parse().expect("one")).collect();
            administrators(&listen).map(|(address, gives_way)| (address.port(), gives_way))
        };
        assert_eq!(admin(&["127.0.0.1:1433"]), Some((1434, false)));
        assert_eq!(admin(&["127.0.0.1:1433", "127.0.0.1:5000"]), Some((1434, false)));
        assert_eq!(admin(&["127.0.0.1:1433", "127.0.0.1:1434"]), Some((1435, true)));
        assert_eq!(admin(&["127.0.0.1:1433", "0.0.0.0:1434", "[::]:1440"]), Some((1441, true)));
        assert_eq!(admin(&["127.0.0.1:1433", "127.0.0.2:1434"]), Some((1434, false)));
        assert_eq!(admin(&["127.0.0.1:0", "127.0.0.1:0"]), Some((0, false)));
        assert_eq!(admin(&["127.0.0.1:65535"]), None);
        assert_eq!(admin(&["127.0.0.1:65534", "127.0.0.1:65535"]), None);
    }

    #[test]
    fn too_little_memory_is_refused_and_not_made_more() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            args: Args,
        }
        let read = |mb: &str| {
            let line = <Line as clap::Parser>::try_parse_from(["serve", "--memory", mb]);
            line.map(|line| line.args.memory).map_err(|error| error.to_string())
        };
        for mb in ["0", "100", "255"] {
            let told = read(mb).expect_err("too little");
            assert!(told.contains("--memory") && told.contains("256"), "{told}");
        }
        assert_eq!(read("256"), Ok(Some(256)));
        assert_eq!(read("99999999"), Ok(Some(99_999_999)));
    }
}
