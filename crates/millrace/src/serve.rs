//! `millrace serve`: the server.
//!
//! Opens the data folder, listens, tells systemd, and then waits for signals: SIGHUP reads the certificate again,
//! SIGTERM and SIGINT close every connection, write a checkpoint and end with status 0.

use crate::switches::SwitchFlags;
use clap::Args as ClapArgs;
use device::{IoMode, RealFs};
use runtime::signals::{self, Signal};
use security::FirstStart;
use server::{Config, Limits, Origin, Server};
use session::{Instance, InstanceConfig};
use std::io;
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use tracing::{error, info, warn};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Connections get so long to end.
const STOP_NS: u64 = 30_000_000_000;

/// Serve T-SQL to SQL Server's clients.
#[derive(ClapArgs)]
pub struct Args {
    /// The data folder; made if it is not there. One process at a time can open it.
    #[arg(long, value_name = "DIR", default_value = "data/serve")]
    data: PathBuf,
    /// Listen here; several times for several addresses. Port 0 is a free one.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:1433")]
    listen: Vec<SocketAddr>,
    /// Certificate chain (PEM), the server's own first. Without it one is made in the data folder.
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// The certificate's private key (PEM).
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Sessions at one time.
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// Megabytes of each database's buffer pool, touched as they are needed; without it a quarter of this machine's
    /// memory.
    #[arg(long, value_name = "MB")]
    memory: Option<u64>,
    /// A trace flag to be on from the start; several times for several. DBCC TRACEON (FLAG, -1) says whether one has an
    /// effect here.
    #[arg(short = 'T', value_name = "FLAG", value_parser = clap::value_parser!(i32).range(1..))]
    trace_flags: Vec<i32>,
    /// What is logged to standard error: error, warn, info, debug or trace, also per crate (`info,server=debug`).
    #[arg(long, value_name = "LEVELS", env = "MILLRACE_LOG", default_value = "info")]
    log: Targets,
    #[command(flatten)]
    switches: SwitchFlags,
}

/// Serves until a signal ends it.
pub fn run(args: Args) -> ExitCode {
    let began = Instant::now();
    let format = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let format = format.with_ansi(io::IsTerminal::is_terminal(&io::stderr()));
    tracing_subscriber::registry().with(args.log.clone()).with(format).init();
    match serve(args, began) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            error!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn serve(args: Args, began: Instant) -> Result<(), String> {
    // Before the first thread is started.
    signals::hold().map_err(|error| format!("signals cannot be held back: {error}"))?;
    let descriptors = runtime::threads::raise_descriptor_limit();
    let fs = RealFs::new(IoMode::Auto).map_err(|error| format!("no way to do I/O: {error}"))?;
    let mut config = InstanceConfig::new(&args.data, fs);
    config.buffer_pool_bytes = match args.memory {
        Some(mb) => mb.clamp(16, 1 << 24) << 20,
        None => quarter_of_memory(),
    };
    config.switches = args.switches.switches.clone();
    config.trace_flags = args.trace_flags.iter().copied().collect();
    config.private_files = args.certificate.iter().chain(&args.key).cloned().collect();
    let memory_mb = config.buffer_pool_bytes >> 20;
    let instance = Instance::open(config).map_err(|error| error.to_string())?;
    info!(data = %args.data.display(), memory_mb, descriptors, "opened");
    instance.on_shutdown(Box::new(signals::terminate));
    let served = listen(&args, &instance).map(|server| {
        info!(milliseconds = began.elapsed().as_millis() as u64, "ready");
        notify("READY=1");
        wait(&server);
        notify("STOPPING=1");
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
            println!("The password of sa is {}", password.reveal());
        }
    }
    let config = Config {
        listen: args.listen.clone(),
        certificate: Some(certificate),
        limits: Limits { connections: args.max_connections, ..Limits::default() },
    };
    Server::start(instance, config).map_err(|error| error.to_string())
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

fn quarter_of_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    (kb.unwrap_or(1 << 20) << 10) / 4
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
