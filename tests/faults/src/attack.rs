//! One login attacks, and its neighbours must not notice.
//!
//! A server of the real binary with a limit of memory; a login that has `public` alone sends hostile texts
//! ([`texts`]) and packets that are none, from several connections at a time, and goes away in the middle. Beside it a
//! neighbour changes a row in transactions of its own at a steady pace, and an administrator logs in each second. What
//! is judged: how long the neighbour's slowest thousandth takes, how long a login takes, how much memory the process
//! comes to, and whether it lives. Which attack ran when a bound broke is told.

mod texts;

use crate::server::{PASSWORD, QUICK_HASH, Recipe, Server, Start, binary};
use client::{Address, Connection, Encrypt};
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use stdx::Prng;
use tds::client::RequestWriter;
use tds::login7::Password;
use types::Value;

/// Connections that attack at a time.
const ATTACKERS: u64 = 4;
/// Between the beginnings of two of the neighbour's transactions.
const PACE: Duration = Duration::from_millis(1);
/// A server that is not there by then never will be.
const PATIENCE: Duration = Duration::from_secs(60);
/// An attacker leaves what takes longer.
const LEAVES: Duration = Duration::from_millis(1_500);
/// It must have ended by then, and a little for the look.
const END: Duration = Duration::from_millis(10_500);
const P999_MAX: Duration = Duration::from_millis(250);
const LOGIN_MAX: Duration = Duration::from_secs(1);

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
}

/// What all threads share.
struct Field {
    port: u16,
    over: AtomicBool,
    texts: AtomicU64,
    packets: AtomicU64,
    refused: AtomicU64,
    /// What each attacker is about.
    now: Mutex<BTreeMap<u64, String>>,
    /// What was seen that must not be.
    odd: Mutex<Vec<String>>,
}

#[derive(Default)]
struct Seen {
    transactions_us: Vec<u64>,
    longest: Option<(u64, String)>,
    logins_us: Vec<u64>,
}

/// Takes what comes and keeps the first number alone.
#[derive(Default)]
struct Nothing {
    failed: bool,
}

impl ResultSink for Nothing {
    fn columns(&mut self, _: &[ColumnMeta]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlMessage) {
        self.failed |= message.is_error();
    }
}

impl Field {
    fn open(&self, user: &str, time_out: Duration) -> Result<Connection<TcpStream>, String> {
        let address = Address {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            user: user.to_owned(),
            password: Some(Password::new(PASSWORD)),
            database: None,
            encrypt: Encrypt::No,
            certificate: None,
            trust_any: false,
        };
        let wire = self.wire(time_out).map_err(|error| error.to_string())?;
        Connection::begin(wire, &address, "attack").map_err(|error| error.to_string())
    }

    fn wire(&self, time_out: Duration) -> std::io::Result<TcpStream> {
        let wire = TcpStream::connect(("127.0.0.1", self.port))?;
        wire.set_nodelay(true)?;
        wire.set_read_timeout(Some(time_out))?;
        wire.set_write_timeout(Some(time_out))?;
        Ok(wire)
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
            if only.is_none() && random.one_in(6) {
                self.now.lock().insert(number, "packets".to_owned());
                self.packets.fetch_add(1, Relaxed);
                let _ = self.throw(&mut random);
                continue;
            }
            let (name, text) = texts::next(&mut random);
            if only.is_some_and(|only| only != name) {
                continue;
            }
            self.now.lock().insert(number, format!("{name} ({} bytes)", text.len()));
            self.texts.fetch_add(1, Relaxed);
            let Ok(mut connection) = self.open("visitor", LEAVES) else { continue };
            let mut sink = Nothing::default();
            let _ = connection.execute(&text, &mut sink);
            self.refused.fetch_add(u64::from(sink.failed), Relaxed);
        }
    }

    /// Bytes that are no request: noise, half a message, TLS that is none.
    fn throw(&self, random: &mut Prng) -> std::io::Result<()> {
        let mut wire = self.wire(Duration::from_millis(200))?;
        let mut writer = RequestWriter::new();
        let noise = |random: &mut Prng, n: u64| {
            let n = random.below(n.max(1));
            (0..n).map(|_| random.next_u64() as u8).collect::<Vec<u8>>()
        };
        let kind = random.below(7);
        match kind {
            0 => wire.write_all(&noise(random, 70_000))?,
            // A header that promises, and nothing behind it.
            1 => {
                let header = [18, random.next_u64() as u8, random.next_u64() as u8, 0, 0, 0, 1, 0];
                wire.write_all(&header)?;
                wire.write_all(&noise(random, 300))?;
            }
            // TLS records within PRELOGIN packets, whose bytes are noise.
            2 | 3 => {
                let mut record = vec![0x16, 3, 1];
                let body = noise(random, 16_000);
                record.extend((body.len() as u16).to_be_bytes());
                record.extend(body);
                for _ in 0..=random.below(20) {
                    writer.tls_handshake(&record);
                }
                wire.write_all(&writer.take())?;
            }
            // Strict TLS that is none.
            4 => {
                wire.write_all(&[0x16, 3, 1, 2, 0])?;
                wire.write_all(&noise(random, 5_000))?;
            }
            // A LOGIN7 with holes.
            5 => {
                let mut body = noise(random, 400);
                let length = (body.len() as u32 + 4).to_le_bytes();
                let mut message = length.to_vec();
                message.append(&mut body);
                let bytes = (message.len() as u16 + 8).to_be_bytes();
                wire.write_all(&[16, 1, bytes[0], bytes[1], 0, 0, 1, 0])?;
                wire.write_all(&message)?;
            }
            // Nothing at all.
            _ => {}
        }
        let mut answer = [0; 4096];
        let _ = wire.read(&mut answer);
        Ok(())
    }

    /// The neighbour: one row after the other, at a steady pace.
    fn work(&self, seen: &Mutex<Seen>) {
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
            let text = format!("UPDATE work.dbo.t SET n = n + 1 WHERE id = {}", random.below(100));
            let mut sink = Nothing::default();
            let begun = Instant::now();
            let done = connection.execute(&text, &mut sink);
            let took = begun.elapsed().as_micros() as u64;
            if let Err(error) = done {
                return self.find(format!(
                    "the neighbour's connection ended: {error}; under way: {}",
                    self.under_way()
                ));
            }
            if sink.failed {
                self.find(format!(
                    "the neighbour's statement failed; under way: {}",
                    self.under_way()
                ));
            }
            let mut seen = seen.lock();
            seen.transactions_us.push(took);
            if seen.longest.as_ref().is_none_or(|(longest, _)| took > *longest) {
                seen.longest = Some((took, self.under_way()));
            }
        }
    }

    /// The administrator: a login each second.
    fn look_in(&self, seen: &Mutex<Seen>) {
        while !self.over.load(Relaxed) {
            let begun = Instant::now();
            let opened = self.open("sa", PATIENCE);
            let took = begun.elapsed();
            if let Err(error) = opened {
                self.find(format!("no login: {error}; under way: {}", self.under_way()));
            }
            if took > LOGIN_MAX {
                let under_way = self.under_way();
                self.find(format!("a login took {} ms; under way: {under_way}", took.as_millis()));
            }
            seen.lock().logins_us.push(took.as_micros() as u64);
            std::thread::sleep(Duration::from_secs(1).saturating_sub(took));
        }
    }
}

/// What the process has of memory, in bytes.
fn resident(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) << 10
}

fn part(sorted: &[u64], of_thousand: usize) -> f64 {
    let at = (sorted.len() * of_thousand / 1_000).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(0) as f64 / 1e3
}

/// Attacks; `Ok(false)` when a bound was broken.
pub fn run(options: &Options) -> Result<bool, String> {
    let folder = options.folder.join(format!("attack-{}", std::process::id()));
    let recipe = Recipe { binary: binary(), data: folder.join("data") };
    if !recipe.binary.is_file() {
        return Err(format!("there is no {}: build it first", recipe.binary.display()));
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let command = recipe.command_with("127.0.0.1:0", options.memory_mb);
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
        "DECLARE @i int = 0 WHILE @i < 100 BEGIN INSERT work.dbo.t VALUES (@i, 0) SET @i += 1 END"
            .to_owned(),
    ] {
        desk.run(&text).map_err(|error| format!("{text}: {error}"))?;
    }
    let field = Field {
        port: server.port(),
        over: AtomicBool::new(false),
        texts: AtomicU64::new(0),
        packets: AtomicU64::new(0),
        refused: AtomicU64::new(0),
        now: Mutex::default(),
        odd: Mutex::default(),
    };
    let seen = Mutex::new(Seen::default());
    let limit = options.memory_mb.max(256) << 20;
    let (mut peak, mut peak_under) = (0, String::new());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| field.work(&seen));
        scope.spawn(|| field.look_in(&seen));
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
            std::thread::sleep(Duration::from_millis(20));
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
    let mut seen = seen.into_inner();
    seen.transactions_us.sort_unstable();
    let slowest = part(&seen.transactions_us, 999);
    if slowest > P999_MAX.as_secs_f64() * 1e3 {
        let (longest, under) = seen.longest.clone().unwrap_or_default();
        field.find(format!(
            "the neighbour's slowest thousandth takes {slowest:.1} ms; its longest, {:.1} ms, with: {under}",
            longest as f64 / 1e3
        ));
    }
    if peak > limit + limit / 10 {
        field.find(format!("{} MB of memory, with: {peak_under}", peak >> 20));
    }
    println!(
        "attack: seed {}: {} texts ({} refused), {} packets in {:.0} s; neighbour: {} transactions, p50 {:.2} ms, \
         p99 {:.2} ms, p99.9 {:.2} ms, longest {:.1} ms; {} logins, longest {:.1} ms; memory {} MB of {} MB; ended \
         {:.1} s after SIGTERM",
        options.seed,
        field.texts.load(Relaxed),
        field.refused.load(Relaxed),
        field.packets.load(Relaxed),
        begun.elapsed().as_secs_f64(),
        seen.transactions_us.len(),
        part(&seen.transactions_us, 500),
        part(&seen.transactions_us, 990),
        slowest,
        part(&seen.transactions_us, 1_000),
        seen.logins_us.len(),
        seen.logins_us.iter().max().copied().unwrap_or(0) as f64 / 1e3,
        peak >> 20,
        limit >> 20,
        ending.as_secs_f64(),
    );
    if let Some((longest, under)) = &seen.longest {
        println!("attack: the longest, {:.1} ms, was with: {under}", *longest as f64 / 1e3);
    }
    let odd = field.odd.into_inner();
    odd.iter().for_each(|what| eprintln!("attack: {what}"));
    if seen.transactions_us.is_empty() {
        return Err(format!("the neighbour did nothing:\n{}", server.last_words()));
    }
    if odd.is_empty() {
        let _ = fs::remove_dir_all(&folder);
    } else {
        eprintln!("attack: the server's last words:\n{}", server.last_words());
    }
    Ok(odd.is_empty())
}
