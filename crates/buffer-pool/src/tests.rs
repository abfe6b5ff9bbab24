//! The pool on simulated files: reading, writing back, evicting, damage.

use super::*;
use device::{Fault, File, FileSystem, Op, OpenOptions, SimFs};
use log_manager::{Harden, LogError, Lsn};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::thread;

/// Hardening is a number; may be told to refuse.
struct Wal {
    durable: AtomicU64,
    refuse: AtomicBool,
}

impl Harden for Wal {
    fn durable(&self) -> Lsn {
        Lsn(self.durable.load(Acquire))
    }

    fn wait_durable(&self, upto: Lsn) -> Result<(), LogError> {
        if self.refuse.load(Acquire) {
            return Err(LogError::Closed);
        }
        self.durable.fetch_max(upto.0, AcqRel);
        Ok(())
    }
}

struct Kit {
    fs: Arc<SimFs>,
    wal: Arc<Wal>,
    pool: Arc<BufferPool>,
    lsn: AtomicU64,
}

const DATA: &str = "/data";
const PAGES: u32 = 2_000;

fn file(fs: &SimFs, path: &str) -> Arc<dyn File> {
    let file = fs.open(Path::new(path), OpenOptions::create()).unwrap();
    fs.sync_dir(Path::new("/")).unwrap();
    file
}

fn open(fs: Arc<SimFs>, frames: usize) -> Kit {
    let data = file(&fs, DATA);
    let len = u64::from(PAGES) * PAGE_BYTES as u64;
    let have = data.len().unwrap();
    if have < len {
        data.allocate(have, len - have).unwrap();
    }
    let wal = Arc::new(Wal { durable: AtomicU64::new(0), refuse: AtomicBool::new(false) });
    let config =
        PoolConfig { bytes: frames * PAGE_BYTES, prefault_bytes: 0, ..PoolConfig::default() };
    let pool = BufferPool::new(config, wal.clone(), file(&fs, "/doublewrite")).unwrap();
    pool.register_file(1, data, PAGES).unwrap();
    Kit { fs, wal, pool, lsn: AtomicU64::new(8) }
}

fn id(n: u32) -> PageId {
    PageId::new(1, n)
}

impl Kit {
    fn stamp(&self, w: &mut PageWrite<'_>) {
        let start = self.lsn.fetch_add(8, AcqRel);
        w.set_lsn(Lsn(start), Lsn(start + 8));
    }

    /// Makes a page whose words 8.. all say `value`.
    fn make(&self, n: u32, value: u64) {
        let mut w = self.pool.create_or_wait(id(n)).unwrap();
        let mut p = PageBuf::zeroed();
        p.words_mut()[header::KIND] = 9 << 32;
        p.words_mut()[header::PAGE_ID] = id(n).0;
        p.words_mut()[8..].fill(value);
        w.copy_from(&p);
        self.stamp(&mut w);
    }

    /// Changes a page in place.
    fn change(&self, n: u32, value: u64) {
        let mut w = self.pool.exclusive(id(n)).unwrap();
        for at in 8..PAGE_BYTES / 8 {
            w.set_word(at, value);
        }
        self.stamp(&mut w);
    }

    /// The value of a page, all words being equal.
    fn value(&self, n: u32) -> Result<u64, PoolError> {
        let mut p = PageBuf::boxed();
        while !self.pool.optimistic(id(n))?.copy_to(&mut p) {}
        let v = p.words()[8];
        assert!(p.words()[8..].iter().all(|w| *w == v), "one state of the page");
        Ok(v)
    }

    fn tail(&self) -> Lsn {
        Lsn(self.lsn.load(Acquire))
    }
}

#[test]
fn pages_come_back_from_disk() {
    let kit = open(SimFs::new(1), 32);
    for n in 0..500 {
        kit.make(n, u64::from(n) + 1);
    }
    for n in (0..500).rev() {
        assert_eq!(kit.value(n).unwrap(), u64::from(n) + 1);
    }
    assert!(kit.pool.stats().frames == 32);
    kit.pool.flush_all().unwrap();
    assert_eq!(kit.pool.dirty_pages(), 0);
    let again = open(kit.fs.crash(1), 32);
    for n in 0..500 {
        assert_eq!(again.value(n).unwrap(), u64::from(n) + 1);
    }
}

#[test]
fn a_look_is_invalid_after_any_change() {
    let kit = open(SimFs::new(1), 32);
    kit.make(1, 5);
    let look = kit.pool.optimistic(id(1)).unwrap();
    assert!(look.validate());
    drop(kit.pool.exclusive(id(1)).unwrap());
    assert!(!look.validate() && look.try_exclusive().is_none());
    let look = kit.pool.optimistic(id(1)).unwrap();
    kit.pool.exclusive(id(1)).unwrap().unlock_unchanged();
    assert!(look.validate(), "nothing changed");
    let w = look.try_exclusive().unwrap();
    assert!(kit.pool.try_exclusive_now(id(1)).is_none(), "one holder");
    let word = w.unlock();
    assert!(kit.pool.try_exclusive_at(id(1), look.seen()).is_none());
    assert!(kit.pool.try_exclusive_at(id(1), word).is_some());
    // Evicted and read again: still invalid.
    kit.pool.flush_all().unwrap();
    let look = kit.pool.optimistic(id(1)).unwrap();
    for n in 2..200 {
        kit.make(n, 1);
    }
    assert!(!look.validate());
    assert_eq!(kit.value(1).unwrap(), 5);
}

#[test]
fn the_log_goes_first() {
    let kit = open(SimFs::new(1), 64);
    kit.make(1, 1);
    kit.wal.refuse.store(true, Release);
    assert!(matches!(kit.pool.flush_all(), Err(PoolError::Log(_))));
    let again = open(kit.fs.crash(1), 32);
    let e = again.value(1).unwrap_err();
    assert!(matches!(e, PoolError::Checksum { kind: DamageKind::NeverWritten, .. }), "{e}");
}

#[test]
fn redo_starts_at_the_oldest_unwritten_change() {
    let kit = open(SimFs::new(1), 64);
    for n in 0..10 {
        kit.make(n, 1);
    }
    let oldest = Lsn(8);
    assert_eq!(kit.pool.min_rec_lsn(kit.tail()), oldest);
    assert_eq!(kit.pool.checkpoint_pass(Lsn(8 + 8 * 4), 100).unwrap(), 4);
    assert_eq!(kit.pool.min_rec_lsn(kit.tail()), Lsn(8 + 8 * 4));
    kit.pool.flush_all().unwrap();
    let tail = kit.tail();
    assert_eq!(kit.pool.min_rec_lsn(tail), tail);
    kit.make(3, 2);
    kit.make(3, 3);
    assert_eq!(kit.pool.min_rec_lsn(kit.tail()), tail);
}

#[test]
fn failed_writes_poison_the_pool_and_keep_the_log() {
    for op in [Op::WriteDurable, Op::Write, Op::Sync] {
        let kit = open(SimFs::new(1), 64);
        kit.make(1, 0);
        kit.pool.flush_all().unwrap();
        let from = kit.tail();
        kit.change(1, 1);
        kit.fs.inject(Fault { op: Some(op), after: 0, times: 1, errno: libc::EIO });
        assert!(matches!(kit.pool.flush_all(), Err(PoolError::Io { .. })), "{op:?}");
        assert!(matches!(kit.pool.flush_all(), Ok(0) | Err(PoolError::Poisoned)));
        assert_eq!(kit.pool.min_rec_lsn(kit.tail()), from, "{op:?}");
        assert_eq!(kit.value(1).unwrap(), 1, "reads go on");
    }
}

#[test]
fn damage_is_told_apart() {
    let kit = open(SimFs::new(1), 32);
    for n in 0..4 {
        kit.make(n, 1);
    }
    kit.pool.flush_all().unwrap();
    let fs = kit.fs.crash(1);
    fs.damage(Path::new(DATA), 8192 + 5_000).unwrap();
    let data = file(&fs, DATA);
    let mut page = vec![0; 8192];
    data.read_exact_at(0, &mut page, telemetry::WaitType::Misc).unwrap();
    data.write_all_at(3 * 8192, &page, true, telemetry::WaitType::Misc).unwrap();
    let again = open(fs, 32);
    let kind = |n| match again.value(n) {
        Err(PoolError::Checksum { page, kind }) => {
            assert_eq!(page, id(n));
            kind
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(kind(1), DamageKind::Checksum);
    assert_eq!(kind(3), DamageKind::Misplaced);
    assert_eq!(kind(9), DamageKind::NeverWritten);
    assert_eq!(again.value(0).unwrap(), 1);
    assert!(matches!(again.value(PAGES), Err(PoolError::OutOfRange(_))));
    again.fs.inject(Fault { op: Some(Op::Read), after: 0, times: 1, errno: libc::EIO });
    assert_eq!(again.value(2).unwrap_err().number(), 823);
    assert_eq!(again.value(2).unwrap(), 1, "an error is not remembered");
}

#[test]
fn torn_pages_are_repaired_and_only_those() {
    let mut repaired = 0;
    for seed in 0..30 {
        let kit = open(SimFs::new(seed), 256);
        for n in 0..200 {
            kit.make(n, 1);
        }
        kit.pool.flush_all().unwrap();
        for n in 0..200 {
            kit.change(n, 2);
        }
        kit.fs.power_off_at(Some(kit.fs.ops() + 1 + seed % 4));
        assert!(kit.pool.flush_all().is_err());
        let fs = kit.fs.crash(seed);
        let files = [(1, file(&fs, DATA))];
        repaired += repair_torn(&file(&fs, "/doublewrite"), &files).unwrap();
        assert_eq!(repair_torn(&file(&fs, "/doublewrite"), &files).unwrap(), 0, "once is enough");
        let again = open(fs, 256);
        for n in 0..200 {
            assert!(matches!(again.value(n), Ok(1 | 2)), "seed {seed}, page {n}");
        }
    }
    assert!(repaired > 10, "{repaired}");
}

#[test]
fn the_first_write_of_a_page_made_whole_needs_no_copy() {
    let kit = open(SimFs::new(3), 256);
    for n in 0..100 {
        kit.make(n, 1);
    }
    kit.pool.flush_all().unwrap();
    let doublewrite = file(&kit.fs, "/doublewrite");
    let written = |at: u64| {
        let mut header = vec![0; 8192];
        doublewrite.read_exact_at(at, &mut header, telemetry::WaitType::Misc).unwrap();
        header.iter().any(|b| *b != 0)
    };
    assert!(!written(0), "nothing was copied");
    // Whoever was read in again, or was written once, is copied.
    for n in 0..100 {
        kit.change(n, 2);
    }
    kit.pool.flush_all().unwrap();
    assert!(written(0) || written(1 << 20));
    let again = open(kit.fs.crash(3), 32);
    again.make(7, 5);
    for n in (0..100).filter(|n| *n != 7) {
        assert_eq!(again.value(n).unwrap(), 2);
    }
}

#[test]
fn reading_ahead_is_a_hint() {
    let kit = open(SimFs::new(4), 2_048);
    for n in 0..40 {
        kit.make(n, u64::from(n));
    }
    kit.pool.flush_all().unwrap();
    let fs = kit.fs.crash(4);
    fs.damage(Path::new(DATA), 5 * 8192 + 100).unwrap();
    let again = open(fs, 2_048);
    // Damaged, never written, out of range, asked for twice: none of it hurts.
    let asked: Vec<PageId> = [9, 3, 4, 5, 6, 9, 41, PAGES + 1].into_iter().map(id).collect();
    again.pool.read_ahead(&asked);
    for n in [3, 4, 6, 9] {
        assert!(again.pool.is_resident(id(n)));
    }
    for n in [5, 7, 41] {
        assert!(!again.pool.is_resident(id(n)));
    }
    assert!(matches!(again.value(5), Err(PoolError::Checksum { .. })));
    for n in (0..40).filter(|n| *n != 5) {
        assert_eq!(again.value(n).unwrap(), u64::from(n));
    }
    again.fs.inject(Fault { op: Some(Op::Read), after: 0, times: 1, errno: libc::EIO });
    let far: Vec<PageId> = (0..40).map(id).collect();
    let fresh = open(again.fs.crash(5), 2_048);
    fresh.fs.inject(Fault { op: Some(Op::Read), after: 0, times: 1, errno: libc::EIO });
    fresh.pool.read_ahead(&far);
    assert_eq!(fresh.value(2).unwrap(), 2, "an error ends the hint, not the page");
}

#[test]
fn threads_see_whole_pages_while_they_come_and_go() {
    let kit = open(SimFs::new(1), 24);
    let pages = 64;
    for n in 0..pages {
        kit.make(n, 0);
    }
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        let (kit, stop) = (&kit, &stop);
        let writers: Vec<_> = (0..3u64)
            .map(|t| {
                s.spawn(move || {
                    let mut rng = stdx::Prng::new(t);
                    for _ in 0..1_500 {
                        let n = rng.below(u64::from(pages)) as u32;
                        let mut w = kit.pool.exclusive(id(n)).unwrap();
                        let v = w.word(8) + 1;
                        for i in 8..PAGE_WORDS {
                            w.set_word(i, v);
                        }
                        kit.stamp(&mut w);
                    }
                })
            })
            .collect();
        s.spawn(move || {
            let mut rng = stdx::Prng::new(99);
            while !stop.load(Relaxed) {
                kit.value(rng.below(u64::from(pages)) as u32).unwrap();
            }
        });
        for _ in 0..2 {
            s.spawn(move || {
                while !stop.load(Relaxed) {
                    kit.pool.checkpoint_pass(Lsn::MAX, 16).unwrap();
                    kit.pool.evict_some(4).unwrap();
                }
            });
        }
        writers.into_iter().for_each(|w| w.join().unwrap());
        stop.store(true, Relaxed);
    });
    let total: u64 = (0..pages).map(|n| kit.value(n).unwrap()).sum();
    assert_eq!(total, 4_500, "no change was lost");
}

#[test]
fn forgetting_a_file_frees_its_frames() {
    let kit = open(SimFs::new(1), 32);
    for n in 0..20 {
        kit.make(n, 1);
    }
    kit.pool.unregister_file(1);
    assert_eq!(kit.pool.stats().free, 32);
    assert!(matches!(kit.value(1), Err(PoolError::OutOfRange(_))));
}

#[test]
fn a_task_mutex_has_one_holder() {
    let m = TaskMutex::new(1);
    let held = m.lock(telemetry::WaitType::Misc);
    assert!(m.try_lock().is_none() && m.try_lock().is_none());
    drop(held);
    *m.try_lock().unwrap() += 1;
    let sum = TaskMutex::new(0u64);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for _ in 0..500 {
                    let mut g = sum.lock(telemetry::WaitType::Misc);
                    let v = *g;
                    thread::yield_now();
                    *g = v + 1;
                }
            });
        }
    });
    assert_eq!(*sum.lock(telemetry::WaitType::Misc), 2_000);
}

#[test]
fn clean_pages_go_when_they_are_asked_to_and_changed_ones_stay() {
    let kit = open(SimFs::new(1), 128);
    for n in 0..40 {
        kit.make(n, u64::from(n) + 1);
    }
    assert_eq!(kit.pool.drop_clean(), 0);
    kit.wal.durable.store(u64::MAX, Release);
    assert_eq!(kit.pool.flush_all().unwrap(), 40);
    kit.change(7, 700);
    assert_eq!(kit.pool.drop_clean(), 39);
    assert!(kit.pool.is_resident(id(7)) && !kit.pool.is_resident(id(8)));
    assert_eq!((kit.value(7).unwrap(), kit.value(8).unwrap()), (700, 9));
}

#[test]
fn a_pool_follows_its_bounds_and_loses_nothing() {
    let kit = open(SimFs::new(1), 256);
    kit.wal.durable.store(u64::MAX, Release);
    for n in 0..250 {
        kit.make(n, u64::from(n) + 1);
    }
    let frames = |kit: &Kit| kit.pool.stats().frames - kit.pool.stats().free;
    assert_eq!(frames(&kit), 250);
    kit.pool.set_bounds(0, 100 * PAGE_BYTES as u64);
    for _ in 0..100 {
        kit.pool.evict_some(1).unwrap();
        while kit.pool.trim_step() {}
    }
    assert!(frames(&kit) < 100 && kit.pool.stats().frames == 100, "{:?}", kit.pool.stats());
    for n in 0..250 {
        assert_eq!(kit.value(n).unwrap(), u64::from(n) + 1);
    }
    assert!(frames(&kit) <= 100);
    // And back.
    kit.pool.set_bounds(0, u64::MAX);
    for n in 0..250 {
        assert_eq!(kit.value(n).unwrap(), u64::from(n) + 1);
    }
    assert!(frames(&kit) > 200);
}

#[test]
fn pages_are_described_as_they_are() {
    let kit = open(SimFs::new(1), 64);
    kit.wal.durable.store(u64::MAX, Release);
    kit.make(3, 30);
    kit.pool.flush_all().unwrap();
    kit.make(4, 40);
    let mut seen = Vec::new();
    kit.pool.describe(|of| seen.push((of.page, of.is_modified, of.look.u64_at(8))));
    seen.sort_unstable();
    assert_eq!(seen, [(id(3), false, 30), (id(4), true, 40)]);
    assert_eq!(kit.pool.node_pages(), [crate::NodePages { node: 0, pages: 2 }]);
    assert!(kit.pool.pages_away().is_empty());
}
