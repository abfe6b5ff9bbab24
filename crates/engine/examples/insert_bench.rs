//! How many nanoseconds a fused insert takes, on plain threads, and how long the recovery of all that takes:
//! `insert_bench [threads] [rows per thread] [dir]`.
//! Each thread inserts ascending keys into its own range of one tree, each row its own transaction, delayed
//! durability. A row is 100 bytes, 60 of them one run, as a padded `char(60)` is.

#![forbid(unsafe_code)]

use engine::{
    Database, DbFiles, DbOptions, DelayedDurability, Durability, InsertHint, LogConfig, PRIMARY,
    RowImage, Run, TxnOptions,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |i: usize, default: u64| args.get(i).map_or(default, |a| a.parse().expect("a number"));
    let (threads, rows) = (number(0, 1), number(1, 2_000_000));
    let dir =
        PathBuf::from(args.get(2).cloned().unwrap_or_else(|| "/tmp/millrace-insert-bench".into()));
    let _ = std::fs::remove_dir_all(&dir);
    let fs = device::RealFs::new(device::IoMode::Auto).expect("files");
    let options = DbOptions {
        log: LogConfig { vlf_bytes: 256 << 20, initial_vlfs: 4, ..LogConfig::default() },
        buffer_pool_bytes: 2 << 30,
        // Memory is touched first: that runs at half a gigabyte a second, and once.
        prefault_bytes: 2 << 30,
        delayed_durability: DelayedDurability::Allowed,
        ..DbOptions::default()
    };
    let mut files = DbFiles::named(&dir, "bench");
    files.data[0].initial_bytes = 1 << 30;
    let db = Database::create(fs.clone(), &files, options.clone()).expect("create");
    let mut txn = db.begin(TxnOptions::default());
    let id = txn.create_tree(PRIMARY).expect("create a tree");
    txn.commit(Durability::Full).expect("commit");
    let tree = db.tree(id);
    let stop = AtomicBool::new(false);
    let insert = |thread: u64, from: u64, n: u64| {
        let mut txn = db.txn(TxnOptions::default());
        let mut hint = InsertHint::default();
        let mut row = [b' '; 100];
        for i in from..from + n {
            let key = (thread << 48 | i).to_be_bytes();
            row[..8].copy_from_slice(&key);
            let image =
                RowImage { bytes: &row, run: Some(Run { offset: 40, len: 60, byte: b' ' }) };
            txn.insert_commit(&tree, &key, &image, &mut hint, Durability::Delayed, None)
                .expect("insert");
        }
    };
    std::thread::scope(|s| {
        let background = s.spawn(|| db.run_background(&stop));
        let lazy = s.spawn(|| db.run_lazy_writer(&stop));
        // Warm: pages of the pool and the log's ring touched, code in cache.
        insert(0, 0, rows / 4);
        let (begun, cpu) = (Instant::now(), runtime::clock::process_cpu_ns());
        std::thread::scope(|s| {
            let workers: Vec<_> =
                (1..=threads).map(|t| s.spawn(move || insert(t, 0, rows))).collect();
            workers.into_iter().for_each(|w| w.join().expect("a worker"));
        });
        let (took, cpu) = (begun.elapsed(), runtime::clock::process_cpu_ns() - cpu);
        let all = (threads * rows) as f64;
        println!(
            "{threads} threads: {:.2} M rows/s, {:.0} ns of CPU a row, log {:.0} bytes a row",
            all / took.as_secs_f64() / 1e6,
            cpu as f64 / all,
            db.log().stats().bytes_flushed as f64 / (all + rows as f64 / 4.0),
        );
        stop.store(true, Ordering::Release);
        background.join().expect("background");
        lazy.join().expect("lazy writer");
    });
    // Left as a killed process leaves it.
    let log_bytes = db.log().stats().bytes_flushed;
    let path = files.data[0].path.clone();
    drop((db, tree, txn));
    let begun = Instant::now();
    let db = Database::open(fs, &path, options).expect("recovery");
    db.finish_recovery().expect("the rest of recovery");
    let (took, stats) = (begun.elapsed().as_secs_f64(), db.stats());
    println!(
        "recovery: {} records, {:.0} MB of log at most, {took:.2} s ({:.2} s of it until it was open)",
        stats.recovered_records,
        log_bytes as f64 / 1e6,
        stats.recovery_ns as f64 / 1e9,
    );
    db.close().expect("close");
    drop(db);
    let _ = std::fs::remove_dir_all(&dir);
}
