//! Four OS threads at one tree.

use super::kit::*;
use crate::*;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::thread;
use stdx::Prng;

/// Threads insert, update and read; a reader scans; pages are written back meanwhile.
fn run(frames: usize, keys: impl Fn(usize, u64, &mut Prng) -> u64 + Sync, steps: u64) {
    let kit = kit(frames);
    let tree = kit.store.create_tree(1).unwrap();
    let inserted = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        let workers: Vec<_> = (0..4)
            .map(|t| {
                let (kit, tree, keys, inserted) = (&kit, &tree, &keys, &inserted);
                s.spawn(move || {
                    let mut rng = Prng::new(t as u64 + 11);
                    let mut txn = kit.txn();
                    let mut hint = LeafHint::default();
                    let mut out = Vec::new();
                    for i in 0..steps {
                        let n = keys(t, i, &mut rng);
                        let r = row(n, i, 40 + (n % 200) as usize);
                        match tree.insert(&mut txn, &key(n), &RowImage::new(&r), &mut hint) {
                            Ok(()) => {
                                inserted.fetch_add(1, Relaxed);
                            }
                            Err(StorageError::Duplicate) => {}
                            Err(e) => panic!("{e}"),
                        }
                        if rng.one_in(3) {
                            let r = row(n, i + 1, 40 + (i % 300) as usize);
                            assert!(tree.update(&mut txn, &key(n), &RowImage::new(&r)).unwrap());
                        }
                        let stamp = tree.lookup(&key(n), &mut out).unwrap();
                        assert!(stamp.is_some(), "a key that was inserted is found");
                        assert_eq!(out[..8], n.to_le_bytes(), "with a row of its own");
                    }
                })
            })
            .collect();
        let (kit, tree, stop) = (&kit, &tree, &stop);
        s.spawn(move || {
            let mut txn = kit.txn();
            let mut percent = 40;
            while !stop.load(Relaxed) {
                // Fuller each time, so that there is always something to do.
                compact(tree, &mut txn, percent);
                percent = if percent < 100 { percent + 10 } else { 40 };
                let mut last: Option<Vec<u8>> = None;
                let mut scan = tree.scan(Bound::Unbounded, Bound::Unbounded, true);
                while let Some((_, key, _)) = scan.next().unwrap() {
                    assert!(last.is_none_or(|last| *last > *key), "a scan descends");
                    last = Some(key.to_vec());
                }
            }
        });
        s.spawn(move || {
            while !stop.load(Relaxed) {
                let found = rows(tree);
                assert!(found.is_sorted_by(|a, b| a.0 < b.0), "a scan ascends");
                kit.store.pool().checkpoint_pass(kit.log.tail(), 300).unwrap();
            }
        });
        for w in workers {
            w.join().unwrap();
        }
        stop.store(true, Relaxed);
    });
    let report = verify(&tree).unwrap();
    assert_eq!(report.rows, inserted.load(Relaxed));
    assert_eq!(rows(&tree).len() as u64, report.rows);
}

#[test]
fn ranges_apart() {
    run(8_192, |t, i, _| (t as u64) << 32 | i, 4_000);
}

#[test]
fn all_at_the_end() {
    let next = AtomicU64::new(0);
    run(8_192, |_, _, _| next.fetch_add(1, Relaxed), 4_000);
}

#[test]
fn anywhere() {
    run(8_192, |_, _, rng| rng.below(6_000), 4_000);
}

#[test]
fn in_few_frames() {
    run(48, |t, i, rng| if rng.one_in(2) { (t as u64) << 32 | i } else { rng.below(3_000) }, 1_500);
}
