//! One login attacks, and its neighbours must not notice.
//!
//! A server of the real binary with a limit of memory; a login that has `public` alone sends hostile texts
//! ([`texts`]) and packets that are none, from several connections at a time, and goes away in the middle. Beside it a
//! neighbour changes a row in transactions of its own at a steady pace, and an administrator logs in each second. What
//! is judged: how long the neighbour's slowest thousandth takes, how long a login takes, how much memory the process
//! comes to, and whether it lives. Which attack ran when a bound broke is told.

mod machine;
mod packets;
mod texts;
mod verdict;
mod wire;

use crate::server::{PASSWORD, QUICK_HASH, Recipe, Server, Start, binary};
use client::{Address, Connection, Encrypt};
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use machine::{Machine, Measuring};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use stdx::Prng;
use tds::login7::Password;
use types::Value;
use verdict::Waits;
use wire::Leaving;

/// Connections that attack at a time.
const ATTACKERS: u64 = 4;
/// Between the beginnings of two of the neighbour's transactions.
const PACE: Duration = Duration::from_millis(1);
/// A server that is not there by then never will be; a request that is not answered by then never will be.
const PATIENCE: Duration = Duration::from_secs(60);
/// An attacker leaves what takes longer.
const LEAVES: Duration = Duration::from_millis(1_500);
/// It must have ended by then, and a little for the look.
const END: Duration = Duration::from_millis(10_500);
/// Each so manieth login of the administrator's comes by his own port.
const BY_OWN_PORT: u64 = 3;

/// What to run, and where.
pub struct Options {
    pub seed: u64,
    pub seconds: u64,
    /// `--memory` of the server.
    pub memory_mb: u64,
    /// The data folder is made here.
    pub folder: PathBuf,
    /// One class of texts alone.
    pub only: Option<String>,
    /// A dev build, which takes three times as long for everything: neighbour and logins may wait three times as long, and
    /// a task that keeps its scheduler is told and not judged.
    pub is_slow_build: bool,
}

/// What all threads share.
struct Field {
    port: u16,
    admin_port: u16,
    over: AtomicBool,
    texts: AtomicU64,
    packets: AtomicU64,
    refused: AtomicU64,
    measuring: Measuring,
    /// What each attacker is about.
    now: Mutex<BTreeMap<u64, String>>,
    /// What was seen that must not be.
    odd: Mutex<Vec<String>>,
}

/// Takes what comes and keeps the first error alone.
#[derive(Default)]
struct Nothing {
    error: Option<String>,
}

impl ResultSink for Nothing {
    fn columns(&mut self, _: &[ColumnMeta]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlMessage) {
        if self.error.is_none() && message.is_error() {
            self.error = Some(format!("Msg {}: {}", message.number, message.text));
        }
    }
}

impl Field {
    /// Signs in, with all that comes after it within a time.
    fn open_at(
        &self,
        port: u16,
        user: &str,
        patience: Duration,
        encrypt: Encrypt,
    ) -> Result<Connection<Leaving>, String> {
        let address = Address {
            host: "127.0.0.1".to_owned(),
            port,
            user: user.to_owned(),
            password: Some(Password::new(PASSWORD)),
            // The neighbour works in his own.
            database: (user == "neighbour").then(|| "work".to_owned()),
            encrypt,
            certificate: None,
            trust_any: true,
        };
        let wire = Leaving::connect(port, patience).map_err(|error| error.to_string())?;
        Connection::begin(wire, &address, "attack").map_err(|error| error.to_string())
    }

    fn open(&self, user: &str, patience: Duration) -> Result<Connection<Leaving>, String> {
        self.open_at(self.port, user, patience, Encrypt::No)
    }

    fn under_way(&self) -> String {
        self.now.lock().values().cloned().collect::<Vec<_>>().join(", ")
    }

    fn find(&self, what: String) {
        let mut odd = self.odd.lock();
        if odd.len() < 50 {
            odd.push(what);
        }
    }

    /// One attacker's life.
    fn attack(&self, number: u64, seed: u64, only: Option<&str>) {
        let mut random = Prng::new(stdx::mix64(seed ^ number << 32));
        while !self.over.load(Relaxed) {
            if only.is_none_or(|only| only == "packets") && random.one_in(4) {
                self.now.lock().insert(number, "packets".to_owned());
                self.packets.fetch_add(1, Relaxed);
                let name = packets::throw(self, &mut random);
                self.now.lock().insert(number, format!("after packets: {name}"));
                continue;
            }
            let (name, text) = texts::next(&mut random);
            if only.is_some_and(|only| only != name) {
                continue;
            }
            self.now.lock().insert(number, format!("{name} ({} bytes)", text.len()));
            self.texts.fetch_add(1, Relaxed);
            // In TLS now and then.
            let encrypt = if random.one_in(5) { Encrypt::Yes } else { Encrypt::No };
            let opened = self.open_at(self.port, "visitor", LEAVES, encrypt);
            let Ok(mut connection) = opened else { continue };
            let mut sink = Nothing::default();
            let _ = connection.execute(&text, &mut sink);
            self.refused.fetch_add(u64::from(sink.error.is_some()), Relaxed);
        }
    }

    /// The neighbour: one row after the other, at a steady pace.
    fn work(&self, waits: &Mutex<Waits>) {
        self.measuring.enter();
        let mut connection = match self.open("neighbour", PATIENCE) {
            Ok(connection) => connection,
            Err(error) => return self.find(format!("the neighbour cannot begin: {error}")),
        };
        let mut random = Prng::new(1);
        let mut due = Instant::now();
        while !self.over.load(Relaxed) {
            due += PACE;
            match due.checked_duration_since(Instant::now()) {
                Some(early) => std::thread::sleep(early),
                // It is late: what it missed is not made up for.
                None => due = Instant::now(),
            }
            let text = format!("UPDATE dbo.t SET n = n + 1 WHERE id = {}", random.below(100));
            let mut sink = Nothing::default();
            connection.wire_mut().again(PATIENCE);
            let begun = Instant::now();
            let done = connection.execute(&text, &mut sink);
            if let Err(error) = done {
                let under_way = self.under_way();
                return self.find(format!(
                    "the neighbour's connection ended: {error}; under way: {under_way}"
                ));
            }
            if let Some(error) = sink.error {
                let under_way = self.under_way();
                self.find(format!(
                    "the neighbour's statement failed: {error}; under way: {under_way}"
                ));
            }
            waits.lock().add(begun, || self.under_way());
        }
    }

    /// The administrator: a login each second, some of them by his own port.
    fn look_in(&self, waits: &Mutex<Waits>) {
        self.measuring.enter();
        for turn in 0u64.. {
            if self.over.load(Relaxed) {
                return;
            }
            let own = turn % BY_OWN_PORT == 1;
            let port = if own { self.admin_port } else { self.port };
            let begun = Instant::now();
            let opened = self.open_at(port, "sa", PATIENCE, Encrypt::No);
            if let Err(error) = opened {
                let (by, under_way) = (if own { ", by its port" } else { "" }, self.under_way());
                self.find(format!(
                    "no login of an administrator{by}: {error}; under way: {under_way}"
                ));
            }
            waits.lock().add(begun, || self.under_way());
            std::thread::sleep(Duration::from_secs(1).saturating_sub(begun.elapsed()));
        }
    }
}

/// What the process has of memory, in bytes.
fn resident(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Attacks; `Ok(false)` when a bound was broken.
pub fn run(options: &Options) -> Result<bool, String> {
    let folder = options.folder.join(format!("attack-{}", std::process::id()));
    let recipe = Recipe { binary: binary(), data: folder.join("data") };
    if !recipe.binary.is_file() {
        return Err(format!("there is no {}: build it first", recipe.binary.display()));
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut command = recipe.command_with("127.0.0.1:0", options.memory_mb);
    command.args(["--admin-listen", "127.0.0.1:0"]);
    let mut server = Server::of(command).map_err(|error| error.to_string())?;
    if !matches!(server.wait_ready(PATIENCE, || false), Start::Ready) {
        return Err(format!("the server does not start:\n{}", server.last_words()));
    }
    let mut desk = server.door().connect()?;
    for text in [
        format!("CREATE LOGIN visitor WITH PASSWORD = {QUICK_HASH} HASHED"),
        format!("CREATE LOGIN neighbour WITH PASSWORD = {QUICK_HASH} HASHED"),
        "CREATE DATABASE work".to_owned(),
        "USE work CREATE USER neighbour CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL) \
         GRANT SELECT, UPDATE ON t TO neighbour"
            .to_owned(),
        "USE work DECLARE @i int = 0 WHILE @i < 100 BEGIN INSERT t VALUES (@i, 0) SET @i += 1 END"
            .to_owned(),
    ] {
        desk.run(&text).map_err(|error| format!("{text}: {error}"))?;
    }
    let field = Field {
        port: server.port(),
        admin_port: server.admin_port(),
        over: AtomicBool::new(false),
        texts: AtomicU64::new(0),
        packets: AtomicU64::new(0),
        refused: AtomicU64::new(0),
        measuring: Measuring::default(),
        now: Mutex::default(),
        odd: Mutex::default(),
    };
    let (neighbour, logins) = (Mutex::new(Waits::default()), Mutex::new(Waits::default()));
    let mut machine = Machine::default();
    let limit = options.memory_mb.max(256) << 20;
    let (mut peak, mut peak_under) = (0, String::new());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| field.work(&neighbour));
        scope.spawn(|| field.look_in(&logins));
        // What the neighbour does alone is not judged: the attackers come at once.
        for number in 0..ATTACKERS {
            let (field, only) = (&field, options.only.as_deref());
            scope.spawn(move || field.attack(number, options.seed, only));
        }
        let until = begun + Duration::from_secs(options.seconds);
        while Instant::now() < until && server.ended().is_none() {
            let now = resident(server.id());
            if now > peak {
                (peak, peak_under) = (now, field.under_way());
            }
            machine.look(server.id(), &field.measuring);
            std::thread::sleep(machine::LOOK);
        }
        if let Some(status) = server.ended() {
            field.find(format!("the server ended ({status}); under way: {}", field.under_way()));
        }
        field.over.store(true, Relaxed);
    });
    let stopped = Instant::now();
    if server.ended().is_none() && server.stop(END).is_none() {
        field.find(format!("it had not ended {} s after SIGTERM", END.as_secs()));
    }
    let ending = stopped.elapsed();
    if server.panicked() {
        field.find("a panic in the log".to_owned());
    }
    let (neighbour, logins) = (neighbour.into_inner(), logins.into_inner());
    let shares = machine.shares();
    let stalls = server.stalls();
    let is_slow = options.is_slow_build;
    let found = verdict::of(&neighbour, &logins, &shares, &stalls, is_slow, |line| {
        println!("attack: {line}");
    });
    found.into_iter().for_each(|what| field.find(what));
    if peak > limit + limit / 10 {
        field.find(format!("{} MB of memory; under way: {peak_under}", peak >> 20));
    }
    println!(
        "attack: seed {}: {} texts ({} refused), {} packets in {:.0} s; memory {} MB of {} MB; {} lines of the watchdog; \
         ended {:.1} s after SIGTERM",
        options.seed,
        field.texts.load(Relaxed),
        field.refused.load(Relaxed),
        field.packets.load(Relaxed),
        begun.elapsed().as_secs_f64(),
        peak >> 20,
        limit >> 20,
        stalls.len(),
        ending.as_secs_f64(),
    );
    let odd = field.odd.into_inner();
    odd.iter().for_each(|what| eprintln!("attack: {what}"));
    if neighbour.len() == 0 {
        return Err(format!("the neighbour did nothing:\n{}", server.last_words()));
    }
    if odd.is_empty() {
        let _ = fs::remove_dir_all(&folder);
    } else {
        eprintln!("attack: the server's last words:\n{}", server.last_words());
    }
    Ok(odd.is_empty())
}
