//! Replaying the log gives the same trees, whatever had reached the disk.

use super::kit::*;
use crate::*;
use log_manager::Lsn;
use std::sync::Arc;
use stdx::Prng;

/// A busy while: inserts (some with runs), updates, deletes, undo, purges; two trees, one freed and its pages reused.
fn work(kit: &Kit, seed: u64, writes: bool) -> (TreeId, Rows, Lsn) {
    let mut rng = Prng::new(seed);
    let dropped = kit.store.create_tree(1).unwrap();
    let mut txn = kit.txn();
    txn.purge = true;
    let mut hint = LeafHint::default();
    for i in 0..1_500 {
        let r = row(i, 0, 200);
        dropped.insert(&mut txn, &key(i), &RowImage::new(&r), &mut hint).unwrap();
    }
    kit.store.free_tree(dropped.id()).unwrap();
    let tree = kit.store.create_tree(1).unwrap();
    let mut safe = Lsn(0);
    for i in 0..6_300 {
        let n = rng.below(4_000);
        let mut new = row(n, i, 20 + rng.below(200) as usize);
        let len = new.len();
        new[len - 3..].fill(b'x');
        let run = Run { offset: 16, len: (len - 19) as u16, byte: 0 };
        let image = if len > 30 { RowImage::with_run(&new, run) } else { RowImage::new(&new) };
        match rng.below(4) {
            0..=1 => match tree.insert(&mut txn, &key(n), &image, &mut hint) {
                Ok(()) | Err(StorageError::Duplicate) => {}
                Err(e) => panic!("{e}"),
            },
            2 => {
                tree.update(&mut txn, &key(n), &image).unwrap();
            }
            _ => {
                tree.mark_ghost(&mut txn, &key(n)).unwrap();
            }
        }
        if i % 700 == 600 {
            compact(&tree, &mut txn, 90);
        }
        if writes && i % 500 == 499 {
            let tail = kit.log.tail();
            kit.store.pool().checkpoint_pass(tail, 60 + rng.below(400) as usize).unwrap();
            safe = kit.store.pool().min_rec_lsn(tail);
        }
    }
    (tree.id(), rows(&tree), safe)
}

fn check(after: &Kit, id: TreeId, expect: &[(Vec<u8>, Vec<u8>)]) {
    let tree = after.store.tree(id, 1);
    let report = verify(&tree).unwrap();
    assert!(report.leaves > 20);
    assert!(rows(&tree) == expect, "replay gives the same rows");
    // And goes on: allocation works on replayed maps.
    let mut txn = after.txn();
    let mut hint = LeafHint::default();
    for i in 0..2_000 {
        let r = row(i, 0, 100);
        tree.insert(&mut txn, &key(1 << 40 | i), &RowImage::new(&r), &mut hint).unwrap();
    }
    verify(&tree).unwrap();
}

#[test]
fn from_nothing() {
    let kit = kit(2_048);
    let (id, expect, _) = work(&kit, 1, false);
    let fs = kit.fs.crash(1);
    let after = open(fs, kit.log.clone(), 2_048);
    after.replay(Lsn(0));
    check(&after, id, &expect);
}

#[test]
fn from_a_checkpoint_after_power_loss() {
    for seed in 2..8 {
        let kit = kit(2_048);
        let (id, expect, safe) = work(&kit, seed, true);
        assert!(safe > Lsn(0));
        let after = open(kit.fs.crash(seed), kit.log.clone(), 2_048);
        after.replay(safe);
        check(&after, id, &expect);
        // Twice is as good as once.
        after.replay(safe);
        verify(&after.store.tree(id, 1)).unwrap();
    }
}

#[test]
fn torn_in_the_middle_of_writing() {
    let mut repaired = 0;
    for seed in 0..12u64 {
        let kit = kit(2_048);
        let (id, expect, safe) = work(&kit, 100 + seed, true);
        // The power goes at some operation of a pass; the log (of the test) survives.
        let at = kit.fs.ops() + 2 + seed;
        kit.fs.power_off_at(Some(at));
        while kit.store.pool().checkpoint_pass(kit.log.tail(), 1_000).is_ok_and(|n| n > 0) {}
        let fs = kit.fs.crash(seed);
        let mut torn = 0;
        {
            use device::{FileSystem, OpenOptions};
            use std::path::Path;
            let file = fs.open(Path::new(FILE), OpenOptions::create()).unwrap();
            let d = fs.open(Path::new("/db/doublewrite"), OpenOptions::create()).unwrap();
            torn += buffer_pool::repair_torn(&d, &[(1, file)]).unwrap();
        }
        repaired += torn;
        let after = open(fs, kit.log.clone(), 2_048);
        after.replay(safe);
        check(&after, id, &expect);
    }
    assert!(repaired > 0, "some page was torn and repaired");
}

#[test]
fn ops_survive_their_encoding() {
    let tree = TreeId(buffer_pool::PageId::new(3, 77));
    let page = buffer_pool::PageId::new(2, 99);
    let row = LogRow { head: b"abc", fill_len: 500, fill_byte: b' ', tail: b"xy" };
    let stamp = mvcc::Stamp(0x1234_5678_9abc);
    let key = &b"key"[..];
    let ops = [
        PageOp::Insert { tree, page, key, row },
        PageOp::Insert { tree, page, key: b"", row: LogRow::whole(b"") },
        PageOp::Update { tree, page, key, row, old_stamp: stamp, old_row: b"old row" },
        PageOp::Ghost { tree, page, key, old_stamp: stamp, row: b"" },
        PageOp::Remove { tree, page, key },
        PageOp::Restore { tree, page, key, stamp, row: b"row" },
        PageOp::Restamp { tree, page, key, stamp },
        PageOp::Purge { tree, page, slots: &[1, 0, 2, 0] },
        PageOp::FormatRoot { tree },
        PageOp::Split {
            tree,
            parent: page,
            left: tree.0,
            right: buffer_pool::PageId::new(2, 100),
            keep: 12,
            separator: key,
            image: b"image",
        },
        PageOp::Compact {
            tree,
            parent: page,
            left: tree.0,
            right: buffer_pool::PageId::new(2, 100),
            old_separator: key,
            separator: b"longer key",
            left_image: b"left",
            right_image: b"the right one",
        },
        PageOp::RootSplit { tree, child: page, image: b"image" },
        PageOp::AllocExtent { map: page, extent: 9, owner: tree },
        PageOp::FreeExtents { map: page, owner: tree },
    ];
    for op in ops {
        let mut header = OpHeader::new();
        let mut bytes = op.encode(&mut header).concat();
        assert_eq!(bytes.len(), op.encoded_len());
        bytes.extend_from_slice(&[0; 7]);
        let PageOp::FormatRoot { .. } = op else {
            assert_eq!(PageOp::decode(&bytes), Some(op));
            for cut in 0..bytes.len() - 7 {
                assert_eq!(PageOp::decode(&bytes[..cut]), None, "{op:?} cut at {cut}");
            }
            continue;
        };
        assert_eq!(PageOp::decode(&bytes), Some(op));
    }
    assert_eq!(PageOp::decode(&[99; 64]), None);
    let _: Arc<MemLog> = MemLog::new();
}

/// Splits and compactions of pages that have few, long keys between long fences.
#[test]
fn keys_as_long_as_they_may_be() {
    let long = |n: u64| {
        let mut k = vec![7; KEY_MAX - 8];
        k.extend_from_slice(&key(n));
        k
    };
    for seed in 20..24 {
        let kit = kit(2_048);
        let mut rng = Prng::new(seed);
        let tree = kit.store.create_tree(1).unwrap();
        let mut txn = kit.txn();
        txn.purge = true;
        let mut hint = LeafHint::default();
        let mut safe = Lsn(0);
        for i in 0..2_000 {
            let k = long(rng.below(600));
            let new = row(i, seed, 20 + rng.below(400) as usize);
            match rng.below(4) {
                0..=1 => match tree.insert(&mut txn, &k, &RowImage::new(&new), &mut hint) {
                    Ok(()) | Err(StorageError::Duplicate) => {}
                    Err(e) => panic!("{e}"),
                },
                2 => {
                    tree.update(&mut txn, &k, &RowImage::new(&new)).unwrap();
                }
                _ => {
                    tree.mark_ghost(&mut txn, &k).unwrap();
                }
            }
            if i % 500 == 400 {
                compact(&tree, &mut txn, 90);
                let tail = kit.log.tail();
                kit.store.pool().checkpoint_pass(tail, 60 + rng.below(400) as usize).unwrap();
                safe = kit.store.pool().min_rec_lsn(tail);
            }
        }
        let expect = rows(&tree);
        assert!(verify(&tree).unwrap().leaves > 50);
        let after = open(kit.fs.crash(seed), kit.log.clone(), 2_048);
        after.replay(safe);
        let again = after.store.tree(tree.id(), 1);
        verify(&again).unwrap();
        assert!(rows(&again) == expect, "replay gives the same rows");
    }
}
