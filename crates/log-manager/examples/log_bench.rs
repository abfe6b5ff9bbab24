//! How many records a second the log takes.
//!
//! `cargo run --release -p log-manager --example log_bench -- lanes|spinlock THREADS [options]`
//!
//! - `--bytes N`      payload of a record (150)
//! - `--seconds S`    per run (3)
//! - `--dir DIR`      where the log file goes (the current directory)
//! - `--commit`       every record is waited for (full durability); else delayed
//! - `--dedicated`    a writer thread of its own
//! - `--depth N`      outstanding writes (32)
//! - `--sessions N`   N coroutines on THREADS schedulers, instead of a thread each
//! - `--null`         a device that is done at once: what the log itself costs
//!
//! Prints appends/s, nanoseconds of a thread per append, and what reached the disk.

use device::{File, FileSystem, IoDone, IoMode, LockGuard, Op, OpenOptions, RealFs};
use log_manager::{Lease, Log, LogConfig, Lsn, Reserve, Writer, record_bytes};
use runtime::clock;
use scheduler::{Config, Schedulers};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use telemetry::spins;

struct Options {
    reserve: Reserve,
    threads: usize,
    bytes: usize,
    seconds: f64,
    dir: PathBuf,
    commit: bool,
    dedicated: bool,
    depth: usize,
    null: bool,
    sessions: usize,
}

fn options() -> Options {
    let mut o = Options {
        reserve: Reserve::Lanes,
        threads: 2,
        bytes: 150,
        seconds: 3.0,
        dir: PathBuf::from("."),
        commit: false,
        dedicated: false,
        depth: 32,
        null: false,
        sessions: 0,
    };
    let mut args = std::env::args().skip(1);
    let mut place = 0;
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("a value");
        match arg.as_str() {
            "--bytes" => o.bytes = value().parse().expect("bytes"),
            "--seconds" => o.seconds = value().parse().expect("seconds"),
            "--dir" => o.dir = value().into(),
            "--depth" => o.depth = value().parse().expect("depth"),
            "--sessions" => o.sessions = value().parse().expect("sessions"),
            "--null" => o.null = true,
            "--commit" => o.commit = true,
            "--dedicated" => o.dedicated = true,
            word if place == 0 => {
                place = 1;
                o.reserve = match word {
                    "lanes" => Reserve::Lanes,
                    "spinlock" => Reserve::Spinlock,
                    _ => panic!("lanes or spinlock"),
                };
            }
            number => o.threads = number.parse().expect("threads"),
        }
    }
    o
}

/// Appends until told to stop; returns how many.
fn work(log: &Log, o: &Options, stop: &AtomicBool) -> u64 {
    let payload = vec![0x5A; o.bytes];
    let head = [7u8; 16];
    let parts: [&[u8]; 2] = [&head, &payload[16.min(o.bytes)..]];
    let total = record_bytes(parts[0].len() + parts[1].len());
    let mut appended = 0;
    while !stop.load(Relaxed) {
        for _ in 0..if o.commit { 1 } else { 64 } {
            log.ensure_lease(total, Lease::Normal).expect("space");
            let at = log.append(&parts);
            if o.commit {
                log.wait_durable(at.end).expect("durable");
            } else {
                log.note_delayed();
            }
        }
        appended += if o.commit { 1 } else { 64 };
        runtime::task::maybe_yield();
    }
    appended
}

fn main() {
    let o = options();
    let fs: Arc<dyn FileSystem> =
        if o.null { Arc::new(NullFs) } else { RealFs::new(IoMode::Auto).expect("io") };
    let path = o.dir.join(format!("log_bench_{}.ldf", std::process::id()));
    let cfg = LogConfig {
        reserve: o.reserve,
        writer: if o.dedicated { Writer::Dedicated } else { Writer::Leader },
        queue_depth: o.depth,
        vlf_bytes: 64 << 20,
        initial_vlfs: 16,
        ..LogConfig::default()
    };
    let log = Log::create(&*fs, &path, cfg, Lsn::NONE).expect("a log");
    let o = Arc::new(o);
    let stop = Arc::new(AtomicBool::new(false));
    spins::clear();
    let (began, cpu) = (clock::now_ns(), clock::process_cpu_ns());
    let truncate = || {
        while clock::now_ns() - began < (o.seconds * 1e9) as u64 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            // Nothing is kept: this stands for checkpoints that keep up.
            log.truncate(log.durable());
        }
        stop.store(true, Relaxed);
    };
    let session = || {
        let (log, o, stop) = (log.clone(), o.clone(), stop.clone());
        move || work(&log, &o, &stop)
    };
    let appended: u64 = if o.sessions == 0 {
        let workers: Vec<_> = (0..o.threads).map(|_| std::thread::spawn(session())).collect();
        truncate();
        workers.into_iter().map(|w| w.join().expect("no panic")).sum()
    } else {
        let schedulers = Schedulers::start(Config::with_count(o.threads)).expect("schedulers");
        let spawn = |i: usize| schedulers.spawn("session", Some(i % o.threads), session());
        let tasks: Vec<_> = (0..o.sessions).map(spawn).collect();
        truncate();
        let sum = tasks.into_iter().map(|t| t.join().expect("no panic")).sum();
        schedulers.stop();
        sum
    };
    let elapsed = (clock::now_ns() - began) as f64;
    let cpu = (clock::process_cpu_ns() - cpu) as f64;
    let n = appended as f64;
    let stats = log.stats();
    let spin = spins::snapshot().into_iter().find(|s| s.name == "LOGCACHE_ACCESS");
    let mut took: Vec<u64> =
        log.recent_writes().iter().map(|w| w.completed_ns - w.submitted_ns).collect();
    took.sort_unstable();
    println!(
        "{:?} {} threads, {} sessions, {} bytes, {}: {:.0} appends/s, {:.0} ns of a thread per append, {:.0} ns CPU, \
         {:.0} MB/s appended, {:.0} MB/s written, {:.0} flushes/s of {:.1} KB, median write {} us",
        o.reserve,
        o.threads,
        o.sessions,
        o.bytes,
        if o.commit { "full" } else { "delayed" },
        n / elapsed * 1e9,
        elapsed * o.threads as f64 / n,
        cpu / n,
        (n * record_bytes(o.bytes) as f64) / elapsed * 1e3,
        stats.bytes_flushed as f64 / elapsed * 1e3,
        stats.flushes as f64 / elapsed * 1e9,
        stats.bytes_flushed as f64 / stats.flushes.max(1) as f64 / 1e3,
        took.get(took.len() / 2).copied().unwrap_or(0) / 1000,
    );
    if let Some(s) = spin.filter(|s| s.collisions > 0) {
        println!("{s:?}");
    }
    Arc::into_inner(log).expect("the only handle").close().expect("closed");
    let _ = std::fs::remove_file(&path);
}

/// Files that forget, at once.
struct NullFs;
struct NullFile(AtomicU64);

impl FileSystem for NullFs {
    fn open(&self, _: &Path, _: OpenOptions) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(NullFile(AtomicU64::new(0))))
    }
    fn exists(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }
    fn remove(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
    fn create_dir_all(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn lock_exclusive(&self, _: &Path) -> io::Result<LockGuard> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl File for NullFile {
    unsafe fn submit(&self, _: Op, _: u64, _: *mut u8, len: usize, done: Arc<dyn IoDone>) {
        let now = clock::now_ns();
        done.complete(Ok(len), now, now);
    }
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.load(Relaxed))
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.store(len, Relaxed);
        Ok(())
    }
    fn allocate(&self, from: u64, len: u64) -> io::Result<()> {
        self.0.fetch_max(from + len, Relaxed);
        Ok(())
    }
    fn path(&self) -> &Path {
        Path::new("null")
    }
    fn align(&self) -> usize {
        4096
    }
}
