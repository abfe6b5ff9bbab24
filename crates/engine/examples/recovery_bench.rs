//! How long a database with much log to redo keeps its users waiting: `recovery_bench [MB of log] [dir]`.
//!
//! A child process makes a database, fills the log behind its last checkpoint, leaves a transaction of 20,000 rows
//! unfinished, and is killed (SIGKILL). This process opens the database, asks for a row at once, and works on recovery
//! with as many threads as there are CPUs, at most 8. Twice: the log of single inserts (pages made anew), and of
//! updates of random rows (pages to be read, their changes far apart in the log). At the end every row is looked at.

#![forbid(unsafe_code)]

use engine::{
    Database, DbFiles, DbOptions, DelayedDurability, Durability, InsertHint, LogConfig, PRIMARY,
    PageId, RowImage, Run, ScanOptions, Tree, TreeId, TxnOptions,
};
use std::io::{BufRead, BufReader};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use stdx::Prng;

const ROW: usize = 200;
const UNFINISHED: u64 = 20_000;
/// Rows that updates choose from.
const UPDATED: u64 = 2_000_000;
const THREADS: u64 = 2;
/// Trees that hold the bench's own: which tree has the rows, and which the unfinished transaction.
const NAMES: usize = 0;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|a| a == "make") {
        let megabytes = args[2].parse().expect("a number");
        return make(Path::new(&args[1]), megabytes, &args[3]);
    }
    let megabytes: u64 = args.first().map_or(1024, |a| a.parse().expect("a number"));
    let dir = PathBuf::from(
        args.get(1).cloned().unwrap_or_else(|| "/tmp/millrace-recovery-bench".into()),
    );
    for what in ["inserts", "updates"] {
        let _ = std::fs::remove_dir_all(&dir);
        let this = std::env::current_exe().expect("this program");
        let mut child = Command::new(this)
            .arg("make")
            .arg(&dir)
            .args([&megabytes.to_string(), what])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let mut line = String::new();
        let output = child.stdout.take().expect("stdout is piped");
        BufReader::new(output).read_line(&mut line).expect("a line");
        child.kill().expect("kill");
        child.wait().expect("the child ends");
        let rows: u64 = line.trim().parse().expect("the child said how many rows there are");
        recover(&dir, what, rows);
    }
    let _ = std::fs::remove_dir_all(&dir);
}

fn options() -> DbOptions {
    DbOptions {
        log: LogConfig { vlf_bytes: 64 << 20, initial_vlfs: 4, ..LogConfig::default() },
        buffer_pool_bytes: 4 << 30,
        delayed_durability: DelayedDurability::Allowed,
        checkpoint_log_bytes: 1 << 40,
        recovery_tasks: threads(),
        ..DbOptions::default()
    }
}

/// CPU that this process has used, in seconds: on a machine that is shared, what says more than the clock.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("/proc");
    let behind_name = stat.rsplit(')').next().expect("a name in brackets");
    let ticks = |n: usize| -> f64 {
        behind_name.split_whitespace().nth(n).and_then(|t| t.parse().ok()).expect("a number")
    };
    (ticks(11) + ticks(12)) / 100.0
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get().min(8))
}

fn key(n: u64) -> [u8; 8] {
    n.to_be_bytes()
}

fn row(n: u64, version: u64) -> [u8; ROW] {
    let mut row = [b'.'; ROW];
    row[..8].copy_from_slice(&n.to_le_bytes());
    row[8..16].copy_from_slice(&version.to_le_bytes());
    row
}

fn image(row: &[u8; ROW]) -> RowImage<'_> {
    RowImage { bytes: row, run: Some(Run { offset: 120, len: 80, byte: b'.' }) }
}

fn put(txn: &mut engine::Txn, tree: &Tree, hint: &mut InsertHint, n: u64) {
    txn.insert_commit(tree, &key(n), &image(&row(n, 0)), hint, Durability::Delayed, None)
        .expect("insert");
}

/// The child: never returns by itself.
fn make(dir: &Path, megabytes: u64, what: &str) {
    let fs = device::RealFs::new(device::IoMode::Auto).expect("files");
    let mut files = DbFiles::named(dir, "bench");
    files.data[0].initial_bytes = 2 << 30;
    let db = Database::create(fs, &files, options()).expect("create");
    let names = db.tree(db.system_tree(NAMES));
    let mut txn = db.begin(TxnOptions::default());
    let mut trees = Vec::new();
    for n in 0..2 {
        let id = txn.create_tree(PRIMARY).expect("a tree");
        let row = id.0.0.to_le_bytes();
        txn.insert(&names, &key(n), &RowImage::new(&row), &mut InsertHint::default())
            .expect("name");
        trees.push(db.tree(id));
    }
    txn.commit(Durability::Full).expect("commit");
    let (tree, other) = (&trees[0], &trees[1]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| db.run_background(&stop));
        s.spawn(|| db.run_lazy_writer(&stop));
        let mut rows = 0;
        if what == "updates" {
            let (mut txn, mut hint) = (db.txn(TxnOptions::default()), InsertHint::default());
            (0..UPDATED).for_each(|n| put(&mut txn, tree, &mut hint, n));
            rows = UPDATED;
        }
        db.checkpoint().expect("checkpoint");
        let begun = db.log().tail().0;
        let full = || db.log().tail().0 - begun >= megabytes << 20;
        let inserted: u64 = std::thread::scope(|s| {
            let work: Vec<_> = (0..THREADS)
                .map(|t| {
                    let (db, full) = (&db, &full);
                    s.spawn(move || {
                        let mut done = 0;
                        if what == "inserts" {
                            let mut txn = db.txn(TxnOptions::default());
                            let mut hint = InsertHint::default();
                            while !full() {
                                put(&mut txn, tree, &mut hint, t << 48 | done);
                                done += 1;
                            }
                            return done;
                        }
                        let mut rng = Prng::new(t);
                        while !full() {
                            let mut txn = db.begin(TxnOptions::default());
                            // Rows of its own, so that nobody waits.
                            let n = rng.below(UPDATED / THREADS) * THREADS + t;
                            let row = row(n, rng.next_u64());
                            txn.update(tree, &key(n), &image(&row)).expect("update");
                            txn.commit(Durability::Delayed).expect("commit");
                        }
                        done
                    })
                })
                .collect();
            work.into_iter().map(|w| w.join().expect("a worker")).sum()
        });
        rows += inserted;
        let mut unfinished = db.begin(TxnOptions::default());
        let mut hint = InsertHint::default();
        for n in 0..UNFINISHED {
            unfinished.insert(other, &key(n), &image(&row(n, 0)), &mut hint).expect("insert");
        }
        db.flush_log().expect("flush");
        println!("{rows}");
        // The parent kills us.
        loop {
            std::thread::park();
        }
    });
}

fn recover(dir: &Path, what: &str, rows: u64) {
    let fs = device::RealFs::new(device::IoMode::Auto).expect("files");
    let begun = Instant::now();
    let db = Database::open(fs, &dir.join("bench.mdf"), options()).expect("open");
    let opened = begun.elapsed();
    let cpu_before = cpu_s();
    let named = |n: u64| {
        let (mut txn, mut row) = (db.begin(TxnOptions::default()), Vec::new());
        assert!(txn.get(&db.tree(db.system_tree(NAMES)), &key(n), &mut row).expect("a name"));
        let id = u64::from_le_bytes(row[..8].try_into().expect("8 bytes"));
        db.tree(TreeId(PageId(id)))
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        let threads = threads();
        (0..threads).for_each(|_| drop(s.spawn(|| db.run_recovery(&stop))));
        let (mut first, mut found) = (db.begin(TxnOptions::default()), Vec::new());
        assert!(first.get(&named(0), &key(77), &mut found).expect("a row"));
        let answered = begun.elapsed();
        let at_answer = db.recovery();
        let mut second = db.begin(TxnOptions::default());
        assert!(!second.get(&named(1), &key(77), &mut found).expect("no row"));
        let behind_undo = begun.elapsed();
        while db.is_recovering() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let cpu_s = cpu_s() - cpu_before;
        let r = db.recovery();
        let analysed = r.analysis_ns as f64 / 1e6;
        let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
        println!(
            "{what}: {} MB of log, {} records, {} pages to redo, {} threads",
            r.redo_log_bytes >> 20,
            r.records,
            r.pages,
            threads
        );
        println!(
            "  analysis ended after {analysed:.0} ms; open after {:.0} ms; first row {:.0} ms after analysis ({} pages \
             were still to redo); a row of the unfinished transaction's table {:.0} ms after analysis",
            ms(opened),
            ms(answered) - analysed,
            at_answer.pages_left,
            ms(behind_undo) - analysed,
        );
        println!(
            "  redo {:.2} s, {:.0} MB/s; {cpu_s:.2} s of CPU with undo, so at most {:.0} MB/s on these CPUs; {} records \
             applied, {} pages on demand; undo of {UNFINISHED} rows done after {:.2} s",
            r.redo_ns as f64 / 1e9,
            r.redo_log_bytes as f64 / 1e6 / (r.redo_ns as f64 / 1e9),
            r.redo_log_bytes as f64 / 1e6 / (cpu_s / threads as f64),
            r.redo_records,
            r.pages_demanded,
            r.undo_ns as f64 / 1e9,
        );
    });
    check(&db, &named(0), rows, what);
    check(&db, &named(1), 0, what);
    db.close().expect("close");
}

/// Every row is there, and is its own.
fn check(db: &Arc<Database>, tree: &Tree, rows: u64, what: &str) {
    let mut txn = db.begin(TxnOptions::default());
    let mut scan =
        txn.scan(tree, Bound::Unbounded, Bound::Unbounded, ScanOptions::default()).expect("a scan");
    let mut seen = 0;
    while let Some((key, row)) = scan.next(&mut txn).expect("a row") {
        assert_eq!(key[2..], row[..8].iter().rev().copied().collect::<Vec<_>>()[2..], "{what}");
        seen += 1;
    }
    assert_eq!(seen, rows, "{what}: rows after recovery");
}
