//! The log as a whole, on files that lose power (simulated, one seed at a time) and on real ones under threads.

use crate::*;
use device::{Fault, FileSystem, IoMode, Op, RealFs, SimFs};
use runtime::{sim, task};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use stdx::Prng;
use telemetry::WaitType;

const VLF: u64 = 64 * 1024;
const VLF_STREAM: u64 = (VLF / 4096 - 1) * PAYLOAD_BYTES as u64;

fn path() -> &'static Path {
    Path::new("/db/log.ldf")
}

/// A small log: a ring of 1 MiB, VLFs of 64 KiB.
fn small() -> LogConfig {
    LogConfig {
        ring_bytes: 1 << 20,
        vlf_bytes: VLF,
        initial_vlfs: 4,
        full_wait_ms: 20,
        ..LogConfig::default()
    }
}

/// Inside a simulated world: runs `f` on a fresh file system.
fn simulated(seed: u64, f: impl FnOnce(&Arc<SimFs>, &mut Prng)) {
    let world = sim::enter(seed);
    let fs = SimFs::new(seed);
    fs.create_dir_all(Path::new("/db")).unwrap();
    fs.sync_dir(Path::new("/")).unwrap();
    f(&fs, &mut Prng::new(seed));
    drop(fs);
    drop(world);
}

/// The `n`th record: its content tells its number and length.
fn content(n: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len.max(8)];
    let mut prng = Prng::new(n);
    bytes.iter_mut().for_each(|b| *b = prng.next_u64() as u8);
    bytes[..8].copy_from_slice(&n.to_le_bytes());
    bytes
}

fn random_len(prng: &mut Prng) -> usize {
    match prng.below(20) {
        0 => 8 + prng.below(40_000) as usize,
        1 => 4032 - 8,
        2..5 => 8 + prng.below(4_000) as usize,
        _ => 8 + prng.below(300) as usize,
    }
}

fn put(log: &Log, bytes: &[u8]) -> Appended {
    log.ensure_lease(record_bytes(bytes.len()), Lease::Normal).unwrap();
    let (a, b) = bytes.split_at(bytes.len() / 3);
    log.append(&[a, b])
}

fn all(reader: &mut LogReader) -> Vec<(Lsn, Vec<u8>)> {
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        records.push((record.start, record.payload.to_vec()));
    }
    records
}

/// A piece on its way that fails is read again by who needs it; only his own read can fail for him.
#[test]
fn what_is_read_ahead_is_a_hint() {
    for (after, times) in (0..10).flat_map(|after| [(after, 1), (after, u64::MAX)]) {
        simulated(after, |fs, prng| {
            let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
            let wrote: Vec<_> = (0..400)
                .map(|n| {
                    let bytes = content(n, 1000 + random_len(prng));
                    (put(&log, &bytes).start, bytes)
                })
                .collect();
            log.flush().unwrap();
            let mut reader = log.reader(Lsn::NONE);
            fs.inject(Fault { op: Some(Op::Read), after, times, errno: libc::EIO });
            let mut read = Vec::new();
            let error = loop {
                match reader.next_record() {
                    Ok(Some(record)) => read.push((record.start, record.payload.to_vec())),
                    Ok(None) => break None,
                    Err(e) => break Some(e),
                }
            };
            assert!(wrote.starts_with(&read), "{after} {times}");
            // The first two pieces nobody has asked for ahead.
            assert_eq!(error.is_some(), times > 1 || after < 2, "{after} {times}: {error:?}");
            assert!(error.is_none_or(|e| matches!(e, LogError::Io { .. })));
            assert_eq!(read.len() == wrote.len(), times == 1 && after >= 2, "{after} {times}");
            fs.clear_faults();
            drop(reader);
            log.close().unwrap();
        });
    }
}

#[test]
fn what_was_flushed_is_read_back() {
    for seed in 0..20 {
        simulated(seed, |fs, prng| {
            let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
            let mut wrote = Vec::new();
            for n in 0..300 {
                let bytes = content(n, random_len(prng));
                let at = put(&log, &bytes);
                assert_eq!(at.end.0 - at.start.0, record_bytes(bytes.len()) as u64);
                wrote.push((at.start, bytes));
                if prng.one_in(10) {
                    log.wait_durable(at.end).unwrap();
                    assert!(log.durable() >= at.end);
                }
            }
            log.flush().unwrap();
            assert_eq!(log.durable(), log.tail());
            assert!(all(&mut log.reader(Lsn::NONE)) == wrote, "seed {seed}: before closing");
            for (start, bytes) in &wrote {
                assert_eq!(&log.read(*start).unwrap().0, bytes, "seed {seed}");
            }
            log.close().unwrap();
            assert_eq!(log.ensure_lease(8, Lease::Normal), Err(LogError::Closed));
            drop(log);
            let from = wrote[100].0;
            let (log, mut reader) = Log::open(&**fs, path(), small(), from).unwrap();
            assert!(all(&mut reader) == wrote[100..], "seed {seed}: after opening");
            assert!(log.tail() >= reader.end());
            let (bytes, next) = log.read(wrote[7].0).unwrap();
            assert_eq!(bytes, wrote[7].1);
            assert!(next > wrote[7].0 && next <= wrote[8].0, "pads may lie between");
        });
    }
}

/// Has everything written that can be, without waiting for it.
fn ask(log: &Log) {
    log.core().want.fetch_max(log.tail().0, SeqCst);
    log.core().signal.raise();
    log.core().drive();
}

/// Power failures one after the other: what was acknowledged is there, what is there is a prefix of what was
/// appended, and nothing of one life is taken for another's.
#[test]
fn power_failures_keep_what_was_acknowledged() {
    let mut torn = 0;
    // 914: sectors of two half-written blocks that add up to the older one.
    for seed in (0..300).chain([914]) {
        simulated(seed, |fs, prng| {
            let mut fs = fs.clone();
            let log = Log::create(&*fs, path(), small(), Lsn(777_777)).unwrap();
            let mut log = Some(log);
            let mut known: Vec<(Lsn, Vec<u8>)> = Vec::new();
            let mut n = 0;
            for life in 0..8 {
                let this = log.take().unwrap();
                let mut acknowledged = known.len();
                // Short lives leave the previous one's blocks standing behind their own.
                let records = if prng.one_in(3) { prng.below(120) } else { prng.below(8) };
                for _ in 0..records {
                    let bytes = content(n, random_len(prng));
                    n += 1;
                    let at = put(&this, &bytes);
                    known.push((at.start, bytes));
                    match prng.below(12) {
                        0 => this.flush().unwrap(),
                        1 => this.note_delayed(),
                        2 => task::sleep_ns(prng.below(20_000_000), WaitType::Misc),
                        3..6 => ask(&this),
                        6 => (0..prng.below(9)).for_each(|_| _ = task::poll_all()),
                        _ => continue,
                    }
                    let durable = this.durable();
                    let ends =
                        known.iter().map(|(start, b)| start.0 + record_bytes(b.len()) as u64);
                    acknowledged = ends.take_while(|&end| end <= durable.0).count();
                }
                let crashed = fs.crash(prng.next_u64());
                drop(this);
                fs = crashed;
                let (next, mut reader) = Log::open(&*fs, path(), small(), Lsn::NONE)
                    .unwrap_or_else(|e| panic!("seed {seed}, life {life}: {e}"));
                let found = all(&mut reader);
                assert!(found.len() >= acknowledged, "seed {seed}, life {life}: lost a commit");
                assert!(found == known[..found.len()], "seed {seed}, life {life}: not a prefix");
                torn += known.len() - found.len();
                known.truncate(found.len());
                log = Some(next);
            }
        });
    }
    assert!(torn > 100, "the crashes lost nothing unacknowledged: they tested little ({torn})");
}

#[test]
fn the_ring_and_the_file_go_round() {
    simulated(3, |fs, prng| {
        let cfg = LogConfig { initial_vlfs: 16, ..small() };
        let log = Log::create(&**fs, path(), cfg, Lsn::NONE).unwrap();
        let size = log.size_bytes();
        let mut last = Vec::new();
        // Twenty rings, and as many files.
        while log.tail().0 < 20 << 20 {
            let bytes = content(log.tail().0, random_len(prng));
            let at = put(&log, &bytes);
            log.note_delayed();
            if prng.one_in(20) {
                log.flush().unwrap();
                log.truncate(at.start);
                last.clear();
            }
            last.push((at.start, bytes));
            assert!(log.used_bytes() <= log.size_bytes() + 4096);
        }
        assert_eq!(log.size_bytes(), size, "the file grew although it was truncated in time");
        log.flush().unwrap();
        let vlfs = log.vlfs();
        assert!(vlfs.iter().all(|v| v.sequence > 0));
        assert!(vlfs.iter().any(|v| v.active && v.status == 2));
        assert!(vlfs.iter().any(|v| !v.active && v.status == 0));
        assert_eq!(log.read(Lsn(4032)), Err(LogError::NoRecord { at: Lsn(4032) }));
        let from = last[0].0;
        drop(log);
        let (_log, mut reader) = Log::open(&**fs, path(), small(), from).unwrap();
        assert!(all(&mut reader) == last);
    });
}

#[test]
fn records_are_read_from_memory_and_from_disk() {
    simulated(4, |fs, prng| {
        let cfg = LogConfig { initial_vlfs: 80, ..small() };
        let log = Log::create(&**fs, path(), cfg, Lsn::NONE).unwrap();
        let mut wrote = Vec::new();
        while log.tail().0 < 3 << 20 {
            let bytes = content(log.tail().0, random_len(prng));
            wrote.push((put(&log, &bytes).start, bytes));
        }
        let reads = fs.ops();
        let (start, bytes) = wrote.last().unwrap();
        assert_eq!(&log.read(*start).unwrap().0, bytes, "what is not yet durable is readable");
        assert_eq!(fs.ops(), reads, "the latest record was read from disk");
        for (start, bytes) in &wrote {
            assert_eq!(&log.read(*start).unwrap().0, bytes);
        }
        assert!(fs.ops() > reads, "nothing was read from disk");
        let inside = Lsn(wrote[5].0.0 + 8);
        assert_eq!(log.read(inside).ok(), None);
        assert_eq!(log.read(log.tail()).ok(), None);
    });
}

#[test]
fn delayed_commits_become_durable_by_themselves() {
    simulated(5, |fs, _| {
        let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
        let at = put(&log, b"delayed");
        log.note_delayed();
        assert!(log.durable() < at.end);
        // 10 ms, and what the simulated device takes at most.
        task::sleep_ns(10_400_000, WaitType::Misc);
        assert!(log.durable() >= at.end, "not durable after the delay");
        // By size, long before the delay is over.
        let began = log.stats().flushes;
        let bytes = content(1, 1000);
        let mut last = log.tail();
        for _ in 0..80 {
            last = put(&log, &bytes).end;
            log.note_delayed();
        }
        assert_eq!(log.stats().flushes, began + 1);
        task::sleep_ns(400_000, WaitType::Misc);
        assert!(log.durable().0 > last.0 - 30_000, "60 KB did not start a write");
        assert!(log.durable() < last, "a delayed commit should not seal a block");
    });
}

#[test]
fn a_failed_write_poisons_for_good() {
    for seed in 0..10 {
        simulated(seed, |fs, _| {
            let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
            let kept = put(&log, b"kept");
            log.flush().unwrap();
            let durable = log.durable();
            fs.inject(Fault { op: Some(Op::WriteDurable), after: 0, times: 1, errno: libc::EIO });
            let lost = put(&log, b"lost");
            let error = log.wait_durable(lost.end).unwrap_err();
            assert!(matches!(error, LogError::Poisoned { .. }), "{error}");
            assert!(log.is_poisoned());
            // The device works again; the log does not.
            assert!(matches!(log.ensure_lease(8, Lease::Normal), Err(LogError::Poisoned { .. })));
            assert!(matches!(log.ensure_lease(8, Lease::Rollback), Err(LogError::Poisoned { .. })));
            assert!(matches!(log.flush(), Err(LogError::Poisoned { .. })));
            assert!(matches!(log.close(), Err(LogError::Poisoned { .. })));
            task::sleep_ns(100_000_000, WaitType::Misc);
            assert_eq!(log.durable(), durable);
            log.wait_durable(kept.end).unwrap();
            drop(log);
            let (_log, mut reader) = Log::open(&**fs, path(), small(), Lsn::NONE).unwrap();
            let found = all(&mut reader);
            assert_eq!(found[0].1, b"kept");
        });
    }
}

#[test]
fn a_full_log_refuses_work_but_not_rollbacks_and_recovers_by_truncation() {
    simulated(7, |fs, _| {
        let max = 2 * 4096 + 4 * VLF;
        let cfg = LogConfig { max_bytes: Some(max), initial_vlfs: 2, ..small() };
        let log = Log::create(&**fs, path(), cfg, Lsn::NONE).unwrap();
        let called = Arc::new(AtomicUsize::new(0));
        let count = called.clone();
        log.set_log_full_hook(Box::new(move || {
            count.fetch_add(1, Relaxed);
            true
        }));
        let bytes = content(1, 1000);
        let start = log.tail();
        let full = loop {
            match log.ensure_lease(record_bytes(bytes.len()), Lease::Normal) {
                Ok(()) => drop(log.append(&[&bytes])),
                Err(e) => break e,
            }
            // A commit each: the pads must not eat up what rollbacks need.
            log.flush().unwrap();
        };
        assert_eq!(full.number(), 9002);
        assert!(called.load(Relaxed) > 0, "nobody was asked for a checkpoint");
        assert_eq!(log.size_bytes(), max, "the log did not grow to its limit first");
        assert!(log.tail().0 - start.0 >= 2 * VLF_STREAM);
        for _ in 0..20 {
            log.ensure_lease(record_bytes(bytes.len()), Lease::Rollback).unwrap();
            log.append(&[&bytes]);
        }
        log.flush().unwrap();
        assert!(log.ensure_lease(64, Lease::Normal).is_err());
        log.truncate(log.tail());
        log.ensure_lease(64, Lease::Normal).unwrap();
        log.append(&[b"again"]);
        log.flush().unwrap();
        assert_eq!(log.size_bytes(), max);
    });
}

#[test]
fn a_full_disk_is_a_full_log_until_there_is_room() {
    simulated(8, |fs, _| {
        let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
        fs.set_capacity(log.size_bytes());
        let bytes = content(1, 3000);
        let mut refused = 0;
        for _ in 0..200 {
            match log.ensure_lease(record_bytes(bytes.len()), Lease::Normal) {
                Ok(()) => drop(log.append(&[&bytes])),
                Err(LogError::LogFull { .. }) => {
                    refused += 1;
                    fs.set_capacity(u64::MAX);
                }
                Err(e) => panic!("{e}"),
            }
        }
        assert_eq!(refused, 1);
        assert!(!log.is_poisoned());
        log.flush().unwrap();
    });
}

#[test]
fn maintenance_grows_ahead_of_need() {
    simulated(9, |fs, _| {
        let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
        let bytes = content(1, 2000);
        for _ in 0..400 {
            let before = log.size_bytes();
            put(&log, &bytes);
            assert_eq!(log.size_bytes(), before, "a committer had to grow the file");
            log.note_delayed();
            log.maintain().unwrap();
        }
        assert!(log.stats().growths > 3);
    });
}

#[test]
fn a_busy_log_is_kept_longer_than_an_idle_one() {
    simulated(9, |fs, _| {
        let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
        let bytes = content(1, 2000);
        let burst = |times: usize| {
            for _ in 0..times {
                put(&log, &bytes);
                log.note_delayed();
            }
        };
        burst(100);
        log.maintain().unwrap();
        for _ in 0..20 {
            let before = log.size_bytes();
            burst(100);
            assert_eq!(log.size_bytes(), before, "a committer had to grow the file");
            log.maintain().unwrap();
        }
    });
}

#[test]
fn a_damaged_block_that_was_durable_is_refused() {
    simulated(10, |fs, _| {
        let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
        let mut starts = Vec::new();
        for n in 0..12 {
            starts.push(put(&log, &content(n, 500)).start);
            log.flush().unwrap();
        }
        drop(log);
        let nobody_touched = fs.crash(1);
        assert!(Log::open(&*nobody_touched, path(), small(), Lsn::NONE).is_ok());
        // Each flush sealed a block. Block 5 of the file's stream:
        let damaged = fs.crash(2);
        let offset = 2 * 4096 + 4096 * (1 + 5) + 100;
        damaged.damage(path(), offset).unwrap();
        let error = Log::open(&*damaged, path(), small(), Lsn::NONE).err().unwrap();
        let LogError::Corrupt { block, offset: at, .. } = error else { panic!("{error}") };
        assert_eq!((block, at), (starts[5].block(), offset - 100));
        // The last block: nothing later vouches for it, so this is where the log ends.
        let damaged = fs.crash(3);
        damaged.damage(path(), 2 * 4096 + 4096 * (1 + 11) + 100).unwrap();
        let (_log, mut reader) = Log::open(&*damaged, path(), small(), Lsn::NONE).unwrap();
        assert_eq!(all(&mut reader).len(), 11);
    });
}

#[test]
fn a_log_closed_in_order_must_not_lose_its_end() {
    simulated(11, |fs, _| {
        let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
        put(&log, b"the last words");
        log.close().unwrap();
        drop(log);
        let damaged = fs.crash(1);
        damaged.damage(path(), 2 * 4096 + 4096 + 80).unwrap();
        let error = Log::open(&*damaged, path(), small(), Lsn::NONE).err();
        assert!(matches!(error, Some(LogError::Corrupt { .. })), "{error:?}");
        // A torn header leaves the other copy, which does not know of the closing.
        let damaged = fs.crash(2);
        damaged.damage(path(), 20).unwrap();
        let (_log, mut reader) = Log::open(&*damaged, path(), small(), Lsn::NONE).unwrap();
        assert_eq!(all(&mut reader)[0].1, b"the last words");
    });
}

#[test]
fn a_damaged_vlf_header_is_noticed() {
    simulated(12, |fs, _| {
        let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
        while log.tail().0 < 2 * VLF_STREAM + 20_000 {
            put(&log, &content(1, 900));
            log.flush().unwrap();
        }
        drop(log);
        // The third VLF holds the end of the log, the fourth is ready to be next.
        for vlf in [2, 1] {
            let damaged = fs.crash(vlf);
            damaged.damage(path(), 2 * 4096 + vlf * VLF + 30).unwrap();
            let error = Log::open(&*damaged, path(), small(), Lsn::NONE).err();
            assert!(matches!(error, Some(LogError::Corrupt { .. })), "{vlf}: {error:?}");
        }
        // With the fourth's header gone as well, only the blocks themselves tell that the log went on.
        fs.damage(path(), 2 * 4096 + 2 * VLF + 30).unwrap();
        fs.damage(path(), 2 * 4096 + 3 * VLF + 30).unwrap();
        let error = Log::open(&**fs, path(), small(), Lsn::NONE).err();
        assert!(matches!(error, Some(LogError::Corrupt { .. })), "{error:?}");
    });
}

#[test]
fn other_files_are_not_logs() {
    simulated(13, |fs, _| {
        let file = fs.open(path(), device::OpenOptions::create()).unwrap();
        file.allocate(0, 1 << 20).unwrap();
        let error = Log::open(&**fs, path(), small(), Lsn::NONE).err();
        assert!(matches!(error, Some(LogError::NotALog { .. })), "{error:?}");
    });
}

/// A folder of the test's own, removed at the end.
struct TempDir(std::path::PathBuf);

impl TempDir {
    fn new(name: &str) -> TempDir {
        let id = format!("millrace-log-{name}-{}", std::process::id());
        let dir = std::env::temp_dir().join(id);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        TempDir(dir)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Four threads append, wait, delay, and read back, while the switches are thrown.
fn stress(name: &str, mode: IoMode, per_thread: u64) {
    let dir = TempDir::new(name);
    let fs = RealFs::new(mode).unwrap();
    let path = dir.0.join("log.ldf");
    let cfg = LogConfig { vlf_bytes: 4 << 20, ..small() };
    let log = Log::create(&*fs, &path, cfg.clone(), Lsn::NONE).unwrap();
    let finished = AtomicUsize::new(0);
    let acknowledged: Vec<Vec<(Lsn, Vec<u8>)>> = std::thread::scope(|scope| {
        let worker = |thread: u64| {
            let (log, finished) = (&log, &finished);
            move || {
                let mut prng = Prng::new(thread);
                let mut wrote = Vec::new();
                for n in 0..per_thread {
                    let len = if prng.one_in(100) { 9000 } else { 8 + prng.below(250) as usize };
                    let bytes = content(thread << 32 | n, len);
                    let at = put(log, &bytes);
                    match prng.below(60) {
                        0 => log.wait_durable(at.end).unwrap(),
                        1 => assert_eq!(log.read(at.start).unwrap().0, bytes),
                        _ => log.note_delayed(),
                    }
                    wrote.push((at.start, bytes));
                }
                log.flush().unwrap();
                finished.fetch_add(1, SeqCst);
                wrote
            }
        };
        let workers: Vec<_> = (0..4).map(|t| scope.spawn(worker(t))).collect();
        let mut turn = 0;
        while finished.load(SeqCst) < 4 {
            turn += 1;
            log.set_reserve(if turn % 2 == 0 { Reserve::Lanes } else { Reserve::Spinlock });
            log.set_writer(if turn % 6 < 3 { Writer::Leader } else { Writer::Dedicated });
            log.set_queue_depth([1, 8, 32, 112][turn % 4]);
            let queue = [FlushQueueKind::LockFree, FlushQueueKind::Spinlock][turn / 2 % 2];
            log.set_flush_queue(queue);
            if turn % 9 == 4 {
                // A plain thread in the place of a scheduler's task.
                log.set_writer(Writer::Scheduled);
                std::thread::spawn(log.writer_task());
            }
            log.maintain().unwrap();
            task::sleep_ns(2_000_000, WaitType::Misc);
        }
        workers.into_iter().map(|w| w.join().unwrap()).collect()
    });
    let mut wrote: Vec<_> = acknowledged.into_iter().flatten().collect();
    wrote.sort();
    assert!(log.durable() >= wrote.last().unwrap().0);
    // Not closed: opened as after a crash.
    drop(log);
    let (log, mut reader) = Log::open(&*fs, &path, cfg, Lsn::NONE).unwrap();
    assert!(all(&mut reader) == wrote, "records were lost, doubled or mixed up");
    log.close().unwrap();
}

#[test]
fn threads_and_switches_on_io_uring() {
    stress("uring", IoMode::Auto, 20_000);
}

#[test]
fn threads_and_switches_on_io_threads() {
    stress("threads", IoMode::Threads, 5_000);
}

#[test]
fn a_log_shrinks_to_what_it_needs_and_power_may_go_meanwhile() {
    let mut lengths = [0; 2];
    for seed in 0..60 {
        simulated(seed, |fs, prng| {
            let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
            let mut wrote = Vec::new();
            for n in 0..600 {
                let bytes = content(n, 1000 + prng.below(1000) as usize);
                wrote.push((put(&log, &bytes).start, bytes));
                if n % 50 == 0 {
                    log.flush().unwrap();
                    // Once in a while it goes round instead of growing.
                    if prng.one_in(3) {
                        log.truncate(wrote[wrote.len() - 1].0);
                    }
                }
            }
            log.flush().unwrap();
            let keep = wrote.len() - 1 - prng.below(60) as usize;
            log.truncate(wrote[keep].0);
            let before = log.size_bytes();
            if prng.one_in(2) {
                fs.power_off_at(Some(fs.ops() + prng.below(12)));
            }
            let shrunk = log.shrink(prng.below(4) * VLF);
            if let Ok(bytes) = &shrunk {
                lengths[0] += u64::from(*bytes < before);
                lengths[1] += u64::from(*bytes == before);
                assert!(log.vlfs().iter().any(|v| !v.active), "one stays free");
                let bytes = content(1000, 5000);
                wrote.push((put(&log, &bytes).start, bytes));
                let _ = log.flush();
            }
            let lost = usize::from(!fs.is_on() && shrunk.is_ok());
            fs.power_off();
            drop(log);
            let after = fs.crash(seed);
            let (log, mut reader) = Log::open(&*after, path(), small(), wrote[keep].0).unwrap();
            let found = all(&mut reader);
            let upto = wrote.len() - lost;
            assert!(found == wrote[keep..] || found == wrote[keep..upto], "seed {seed}");
            (0..400).for_each(|n| _ = put(&log, &content(n, 1500)));
            log.flush().unwrap();
        });
    }
    assert!(lengths[0] > 10, "{lengths:?}");
}

#[test]
fn copied_blocks_make_the_same_log() {
    simulated(3, |fs, prng| {
        let log = Log::create(&**fs, path(), small(), Lsn::NONE).unwrap();
        let mut wrote = Vec::new();
        for n in 0..300 {
            let bytes = content(n, random_len(prng));
            wrote.push((put(&log, &bytes).start, bytes));
            if prng.one_in(20) {
                log.flush().unwrap();
            }
        }
        log.flush().unwrap();
        let (from, cut) = (wrote[90].0, wrote[200].0);
        let copy = Path::new("/db/copy.ldf");
        let mut restorer = LogRestorer::create(&**fs, copy, &small(), from).unwrap();
        let copy_blocks = |restorer: &mut LogRestorer, from: Lsn, to: Lsn| {
            let mut blocks = log.block_reader(from, to);
            while let Some(block) = blocks.next_block().unwrap() {
                restorer.append(&block).unwrap();
            }
        };
        copy_blocks(&mut restorer, from, log.durable());
        restorer.finish(cut).unwrap();
        drop(restorer);
        // Cut at a record, then on from there.
        let mut restorer = LogRestorer::open(&**fs, copy).unwrap();
        assert_eq!(restorer.end(), cut.next_block());
        assert!(all(&mut restorer.reader(from, cut).unwrap()) == wrote[90..200]);
        copy_blocks(&mut restorer, cut, log.durable());
        restorer.finish(log.durable()).unwrap();
        drop(restorer);
        let (again, mut reader) = Log::open(&**fs, copy, small(), from).unwrap();
        assert!(all(&mut reader) == wrote[90..]);
        assert!(again.tail() > log.durable());
        assert!(LogRestorer::open(&**fs, copy).is_err(), "it is in use");
    });
}

/// Threads that leased much, used none of it and wait for something else do not keep the buffer from the others.
#[test]
fn what_is_leased_in_vain_goes_back() {
    const THREADS: usize = 40;
    let fs = SimFs::new(11);
    fs.create_dir_all(Path::new("/db")).unwrap();
    let config = LogConfig { vlf_bytes: 1 << 20, ..small() };
    let log = Log::create(&*fs, path(), config, Lsn::NONE).unwrap();
    let (told, heard) = std::sync::mpsc::channel();
    let all_leased = Arc::new(std::sync::Barrier::new(THREADS));
    for _ in 0..THREADS {
        let (log, told, all_leased) = (log.clone(), told.clone(), all_leased.clone());
        std::thread::spawn(move || {
            log.ensure_lease(RECORD_BYTES_MAX, Lease::Normal).unwrap();
            log.give_back();
            all_leased.wait();
            put(&log, &[7; 100]);
            told.send(()).unwrap();
        });
    }
    for _ in 0..THREADS {
        let waited = heard.recv_timeout(std::time::Duration::from_secs(60));
        assert!(waited.is_ok(), "leases of idle threads fill the buffer");
    }
}
