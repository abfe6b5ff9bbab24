//! The trial of docs/decisions/0003: what a leaf insert costs, in nanoseconds of CPU, with the log left out.
//!
//! `cargo run --release -p storage --example leaf_bench [-- ROWS]`. Everything is in memory; the log hands out
//! positions (per thread) and copies nothing, except where the line says so.

use buffer_pool::{BufferPool, PoolConfig};
use device::{FileSystem, OpenOptions, SimFs};
use log_manager::{Harden, LogError, Lsn};
use mvcc::Stamp;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::sync::{Arc, Barrier};
use std::thread;
use storage::*;

const ROW: usize = 100;

/// CPU time of the calling thread: the figures hold on a busy machine, too, but for its cache misses.
fn now_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a timespec to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Positions without a log.
struct NoLog(AtomicU64);

impl Harden for NoLog {
    fn durable(&self) -> Lsn {
        Lsn::MAX
    }
    fn wait_durable(&self, _upto: Lsn) -> Result<(), LogError> {
        Ok(())
    }
}

impl SystemLog for NoLog {
    fn ensure(&self, _bytes: usize) -> Result<(), LogError> {
        Ok(())
    }
    fn log(&self, _op: &PageOp<'_>) -> Logged {
        let start = self.0.fetch_add(64, Relaxed);
        Logged { stamp: Stamp::frozen(), start: Lsn(start), end: Lsn(start + 64) }
    }
}

/// A transaction's side: a counter of its own; optionally encodes and copies the record.
struct NoTxn {
    at: u64,
    copy: Option<Vec<u8>>,
}

impl TxnLog for NoTxn {
    #[inline]
    fn ensure(&mut self, _bytes: usize) -> Result<(), StorageError> {
        Ok(())
    }
    #[inline]
    fn log(&mut self, op: &PageOp<'_>) -> Logged {
        if let Some(buf) = &mut self.copy {
            let mut header = OpHeader::new();
            if buf.len() > 60_000 {
                buf.clear();
            }
            for part in op.encode(&mut header) {
                buf.extend_from_slice(part);
            }
        }
        let start = self.at;
        self.at += 64;
        Logged { stamp: Stamp::committed(Lsn(start)), start: Lsn(start), end: Lsn(start + 64) }
    }
    fn conflict(&mut self, _existing: Stamp) -> OnExisting {
        OnExisting::Duplicate
    }
    fn before_write(&mut self, _existing: Stamp) -> OnWrite {
        OnWrite::Proceed
    }
}

fn txn(copy: bool) -> NoTxn {
    NoTxn { at: 1 << 20, copy: copy.then(|| Vec::with_capacity(1 << 16)) }
}

fn store(rows: u64) -> Arc<Store> {
    let fs = SimFs::new(1);
    let open = |p: &str| fs.open(Path::new(p), OpenOptions::create()).expect("a file in memory");
    let file = open("/data");
    let header = FileHeader { database_uuid: [0; 16], file_id: 1, filegroup: 1, boot: Vec::new() };
    let bytes = rows * 400 + (64 << 20);
    Store::format_file(&*file, &header, bytes).expect("formatted");
    let log = Arc::new(NoLog(AtomicU64::new(4096)));
    let config = PoolConfig {
        bytes: bytes as usize,
        prefault_bytes: bytes as usize,
        ..PoolConfig::default()
    };
    let pool = BufferPool::new(config, log.clone(), open("/doublewrite")).expect("memory");
    let store = Store::new(pool, log);
    store.add_file(1, 1, file, None).expect("added");
    store
}

fn report(what: &str, rows: u64, spent: u64, tree: &Tree) {
    let ns = spent as f64 / rows as f64;
    let r = verify(tree).expect("a sound tree");
    println!(
        "{what:<58} {ns:7.1} ns   ({} rows, {} leaves, height {})",
        r.rows, r.leaves, r.height
    );
}

fn insert(tree: &Tree, txn: &mut NoTxn, key: u64, row: &[u8], hint: &mut LeafHint) {
    tree.insert(txn, &key.to_be_bytes(), &RowImage::new(row), hint).expect("inserted");
}

fn main() {
    let rows: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(2_000_000);
    let row = [7u8; ROW];
    println!("{rows} rows of {ROW} bytes, keys of 8; per insert or lookup:");

    for (what, hinted, copy) in [
        ("ascending, from the root", false, false),
        ("ascending, remembered leaf", true, false),
        ("ascending, remembered leaf, record encoded and copied", true, true),
    ] {
        let store = store(rows);
        let tree = store.create_tree(1).expect("a tree");
        let (mut t, mut hint) = (txn(copy), LeafHint::default());
        let began = now_ns();
        for i in 0..rows {
            if !hinted {
                hint = LeafHint::default();
            }
            insert(&tree, &mut t, i, &row, &mut hint);
        }
        report(what, rows, now_ns() - began, &tree);
    }

    let warm = store(rows);
    let tree = warm.create_tree(1).expect("a tree");
    let (mut t, mut hints) = (txn(false), [LeafHint::default(); 10]);
    let began = now_ns();
    for i in 0..rows / 10 {
        for (s, hint) in hints.iter_mut().enumerate() {
            insert(&tree, &mut t, (s as u64) << 40 | i, &row, hint);
        }
    }
    report("10 ascending ranges in turn, remembered leaves", rows, now_ns() - began, &tree);

    let mut out = Vec::new();
    let mut rng = stdx::Prng::new(1);
    let pick = |rng: &mut stdx::Prng| rng.below(10) << 40 | rng.below(rows / 10);
    let began = now_ns();
    for _ in 0..rows {
        let key = pick(&mut rng);
        assert!(tree.lookup(&key.to_be_bytes(), &mut out).expect("read").is_some());
    }
    report("lookup at random, optimistic", rows, now_ns() - began, &tree);
    let root = tree.id().0;
    let began = now_ns();
    for _ in 0..rows {
        let key = pick(&mut rng);
        drop(warm.pool().exclusive(root).expect("latched"));
        assert!(tree.lookup(&key.to_be_bytes(), &mut out).expect("read").is_some());
    }
    report("lookup at random, and one latch of the root each", rows, now_ns() - began, &tree);

    let random = store(rows);
    let tree = random.create_tree(1).expect("a tree");
    let mut hint = LeafHint::default();
    let began = now_ns();
    for i in 0..rows {
        insert(&tree, &mut t, stdx::mix64(i), &row, &mut hint);
    }
    report("random keys", rows, now_ns() - began, &tree);

    for (what, apart, latch, lookup) in [
        ("2 threads, ranges apart, remembered leaves", true, false, false),
        ("2 threads, all at the end", false, false, false),
        ("2 threads, ranges apart, one latch of the root each", true, true, false),
        ("2 threads, lookup at random, optimistic", true, false, true),
        ("2 threads, lookup at random, one latch of the root each", true, true, true),
    ] {
        let two = store(rows);
        let tree = two.create_tree(1).expect("a tree");
        if lookup {
            let (mut t, mut hint) = (txn(false), LeafHint::default());
            (0..rows).for_each(|i| insert(&tree, &mut t, i, &row, &mut hint));
        }
        let next = AtomicU64::new(0);
        let (start, spent) = (Barrier::new(2), AtomicU64::new(0));
        thread::scope(|s| {
            for th in 0..2u64 {
                let (tree, next, start, row, two) = (&tree, &next, &start, &row, &two);
                let spent = &spent;
                s.spawn(move || {
                    let (mut t, mut hint) = (txn(false), LeafHint::default());
                    let mut rng = stdx::Prng::new(th);
                    let mut out = Vec::new();
                    start.wait();
                    let began = now_ns();
                    for i in 0..rows / 2 {
                        if latch {
                            drop(two.pool().exclusive(tree.id().0).expect("latched"));
                        }
                        if lookup {
                            let key = rng.below(rows).to_be_bytes();
                            assert!(tree.lookup(&key, &mut out).expect("read").is_some());
                            continue;
                        }
                        let key = if apart { th << 40 | i } else { next.fetch_add(1, Relaxed) };
                        insert(tree, &mut t, key, row, &mut hint);
                    }
                    spent.fetch_add(now_ns() - began, Relaxed);
                });
            }
        });
        report(what, rows, spent.load(Relaxed), &tree);
    }
}
