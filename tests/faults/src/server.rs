//! `millrace serve` as a process: started, waited for, killed, its last words kept.

use client::{Address, Connection, Encrypt};
use executor::Collected;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tds::login7::Password;

const LINES_KEPT: usize = 100;
/// What the server logs of a task that keeps a scheduler to itself.
const NON_YIELDING: &str = "a task does not let others go first";
/// Not a secret: the server lives for one test, on loopback.
pub const PASSWORD: &str = "Fault-tests-1!";
/// The same as SQL Server 2012 and later keep it: its own hash takes the server 12 MB and three passes a login, and longer
/// in an emulated machine.
pub const QUICK_HASH: &str = "0x020066617562DED02DB21383CBE3E22AEA58FE63E9CE9B157AD8F823BDA597AD13FC2FEBA5EE3C4D8481A4560C6FA1903C\
     5276A0C9D15EC2A5DBB6DABEE6AE432A196D6A4C6E";
/// Where it is found in a guest.
pub const PORT_IN_GUEST: u16 = 1433;
const GUEST_PATIENCE: Duration = Duration::from_secs(60);

/// How to start a server.
#[derive(Clone)]
pub struct Recipe {
    pub binary: PathBuf,
    pub data: PathBuf,
}

/// A server that was started, and perhaps listens. It is killed with the thread that started it.
pub struct Server {
    child: Child,
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Lines of [`NON_YIELDING`].
    stalls: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
    ready: Receiver<(u16, u16)>,
    port: u16,
    admin_port: u16,
}

/// What became of a start.
pub enum Start {
    Ready,
    /// It ended by itself.
    Ended(ExitStatus),
    /// `give_up` said so, or the time was over.
    NotYet,
}

impl Recipe {
    pub fn command(&self) -> Command {
        self.command_at("127.0.0.1:0")
    }

    /// One that listens there.
    pub fn command_at(&self, address: &str) -> Command {
        self.command_with(address, 32)
    }

    /// The same with so many megabytes.
    pub fn command_with(&self, address: &str, memory_mb: u64) -> Command {
        let (memory, pages) = (memory_mb.max(256).to_string(), (memory_mb / 2).max(16).to_string());
        let memory = ["--memory", &memory, "--page-memory", &pages];
        self.command_of(["--listen", address].into_iter().chain(memory))
    }

    /// One with these arguments.
    pub fn command_of<'a>(&self, arguments: impl Iterator<Item = &'a str>) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .arg("serve")
            .args(arguments)
            .arg("--data")
            .arg(&self.data)
            .env("MILLRACE_SA_PASSWORD", PASSWORD)
            .env("RUST_BACKTRACE", "0");
        command
    }

    pub fn start(&self) -> std::io::Result<Server> {
        Server::of(self.command())
    }
}

impl Server {
    pub fn of(mut command: Command) -> std::io::Result<Server> {
        // SAFETY: a system call between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let errors = child.stderr.take().expect("it is piped");
        let lines: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let stalls: Arc<Mutex<Vec<String>>> = Arc::default();
        let (kept, (tell, ready)) = (lines.clone(), channel());
        let told = stalls.clone();
        let reader = std::thread::spawn(move || {
            let (mut port, mut admin_port) = (0, 0);
            let port_of = |line: &str, word: &str| {
                let address = line.split_once(word)?.1.trim();
                Some(address.parse().unwrap_or(0))
            };
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if let Some(found) = port_of(&line, "listening address=127.0.0.1:") {
                    port = found;
                }
                if let Some(found) = port_of(&line, "an administrator address=127.0.0.1:") {
                    admin_port = found;
                }
                if line.contains(" ready milliseconds=") {
                    let _ = tell.send((port, admin_port));
                }
                if line.contains(NON_YIELDING) {
                    told.lock().push(line.clone());
                }
                let mut kept = kept.lock();
                if kept.len() == LINES_KEPT {
                    kept.pop_front();
                }
                kept.push_back(line);
            }
        });
        Ok(Server { child, lines, stalls, reader: Some(reader), ready, port: 0, admin_port: 0 })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it serves, it ends, or `give_up`.
    pub fn wait_ready(&mut self, most: Duration, give_up: impl Fn() -> bool) -> Start {
        let until = Instant::now() + most;
        loop {
            if let Ok(ports) = self.ready.recv_timeout(Duration::from_millis(2)) {
                (self.port, self.admin_port) = ports;
                return Start::Ready;
            }
            if let Some(status) = self.ended() {
                return Start::Ended(status);
            }
            if give_up() || Instant::now() > until {
                return Start::NotYet;
            }
        }
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it listens for an administrator; 0: nowhere.
    pub fn admin_port(&self) -> u16 {
        self.admin_port
    }

    /// What its watchdog has logged of tasks that kept a scheduler, line by line.
    pub fn stalls(&self) -> Vec<String> {
        self.stalls.lock().clone()
    }

    /// Where it listens.
    pub fn door(&self) -> Door {
        Door(self.port, Duration::ZERO)
    }

    /// SIGKILL, and buried.
    pub fn kill(&mut self) -> Option<ExitStatus> {
        let _ = self.child.kill();
        let status = self.child.wait().ok();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        status
    }

    /// SIGTERM, and its end within `most`; of one that has ended, how it did.
    pub fn stop(&mut self, most: Duration) -> Option<ExitStatus> {
        if let Some(status) = self.ended() {
            return Some(status);
        }
        // SAFETY: a plain system call; the child is ours and was not buried a moment ago, and nobody else buries it.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        let until = Instant::now() + most;
        while Instant::now() < until {
            if let Some(status) = self.ended() {
                self.kill();
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// What it printed last.
    pub fn last_words(&self) -> String {
        self.lines.lock().iter().map(|line| format!("    {line}\n")).collect()
    }

    /// Whether it panicked. std's own refusals (no memory for a guard page, say) are told as panics too, from its own
    /// source: they are messages.
    pub fn panicked(&self) -> bool {
        let of_ours =
            |line: &String| line.contains("panicked at") && !line.contains("panicked at /rustc/");
        self.lines.lock().iter().any(of_ours)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where a server listens, and how long one that does not open it at once is asked again: a login may take longer in an
/// emulated machine than the server waits for it.
#[derive(Clone, Copy, Debug)]
pub struct Door(u16, Duration);

impl Door {
    /// Of a guest: a port here that leads there.
    pub fn of_guest(port: u16) -> Door {
        Door(port, GUEST_PATIENCE)
    }

    pub fn connect(self) -> Result<Desk, String> {
        let address = Address {
            host: "127.0.0.1".to_owned(),
            port: self.0,
            user: "sa".to_owned(),
            password: Some(Password::new(PASSWORD)),
            database: None,
            encrypt: Encrypt::No,
            certificate: None,
            trust_any: false,
        };
        let until = Instant::now() + self.1;
        loop {
            match Connection::open(&address, "faults") {
                Ok(connection) => return Ok(Desk(connection)),
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(100)),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

/// A connection that runs batches.
pub struct Desk(Connection<TcpStream>);

impl Desk {
    /// Runs a batch; an error of T-SQL or of the connection is an `Err`.
    pub fn run(&mut self, batch: &str) -> Result<Collected, String> {
        let mut sink = Collected::default();
        self.0.execute(batch, &mut sink).map_err(|error| error.to_string())?;
        match sink.messages.iter().find(|message| message.is_error()) {
            None => Ok(sink),
            Some(message) => Err(message.to_string()),
        }
    }
}

/// The release binary, or the one that MILLRACE_BINARY names.
pub fn binary() -> PathBuf {
    if let Some(named) = std::env::var_os("MILLRACE_BINARY") {
        return named.into();
    }
    target().join("release/millrace")
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), PathBuf::from)
}
