//! Random operations against a `BTreeMap`.

use super::kit::*;
use crate::*;
use mvcc::Xid;
use std::collections::BTreeMap;
use std::ops::Bound;
use stdx::Prng;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// A key of some shape: fixed or of any length, dense enough to meet often.
fn some_key(rng: &mut Prng, shape: u64) -> Vec<u8> {
    match shape {
        0 => key(rng.below(3_000)).to_vec(),
        1 => {
            let len = rng.below(40) as usize;
            (0..len).map(|_| rng.below(3) as u8 * 127).collect()
        }
        3 => {
            // They differ in their last bytes alone, and are as long as keys may be: so are the fences.
            let mut k = vec![b'k'; crate::KEY_MAX - 4 * rng.below(3) as usize - 4];
            k.extend_from_slice(&(rng.below(600) as u32).to_be_bytes());
            k
        }
        _ => {
            let mut k = b"a common prefix that is long enough to matter/".to_vec();
            k.extend_from_slice(&rng.below(2_000).to_string().into_bytes());
            k
        }
    }
}

fn agree(tree: &Tree, model: &Model) {
    let all: Vec<_> = model.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    assert_eq!(rows(tree), all);
}

/// Reads ranges by scans of their own, and by those of both directions that have read others before.
fn ranges(tree: &Tree, model: &Model, rng: &mut Prng, shape: u64, again: &mut [Scan; 2]) {
    for reverse in [false, true] {
        let (a, b) = (some_key(rng, shape), some_key(rng, shape));
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let lower = [Bound::Included(&a[..]), Bound::Excluded(&a[..]), Bound::Unbounded];
        let upper = [Bound::Included(&b[..]), Bound::Excluded(&b[..]), Bound::Unbounded];
        let (lower, upper) = (lower[rng.below(3) as usize], upper[rng.below(3) as usize]);
        if let (Bound::Excluded(x), Bound::Excluded(y)) = (lower, upper)
            && x == y
        {
            continue; // BTreeMap panics.
        }
        let mut expect: Vec<_> =
            model.range::<[u8], _>((lower, upper)).map(|(k, _)| k.clone()).collect();
        if reverse {
            expect.reverse();
        }
        let again = &mut again[usize::from(reverse)];
        again.begin_between(lower, upper);
        for scan in [&mut tree.scan(lower, upper, reverse), again] {
            let mut got = Vec::new();
            while let Some((stamp, key, row)) = scan.next().unwrap() {
                if !stamp.is_ghost() {
                    assert_eq!(Some(row), model.get(key).map(|row| &row[..]));
                    got.push(key.to_vec());
                }
            }
            assert_eq!(got, expect, "{lower:?} {upper:?} reverse {reverse}");
        }
    }
}

fn run(seed: u64, shape: u64, frames: usize, steps: u64) {
    let kit = kit(frames);
    let mut rng = Prng::new(seed);
    let tree = kit.store.create_tree(1).unwrap();
    let mut model = Model::new();
    let mut txn = kit.txn();
    txn.purge = seed.is_multiple_of(2);
    let mut hint = LeafHint::default();
    let mut again =
        [false, true].map(|reverse| tree.scan(Bound::Unbounded, Bound::Unbounded, reverse));
    let mut row_buf = Vec::new();
    for step in 0..steps {
        let key = some_key(&mut rng, shape);
        let len = [16, 40, 100, 700][rng.below(4) as usize];
        let new = row(step, seed, len);
        match rng.below(10) {
            0..=4 => match tree.insert(&mut txn, &key, &RowImage::new(&new), &mut hint) {
                Ok(()) => assert!(model.insert(key, new).is_none()),
                Err(StorageError::Duplicate) => assert!(model.contains_key(&key)),
                Err(e) => panic!("{e}"),
            },
            5..=6 => {
                let found = tree.update(&mut txn, &key, &RowImage::new(&new)).unwrap();
                assert_eq!(found, model.contains_key(&key));
                if found {
                    model.insert(key, new);
                }
            }
            7 => {
                let found = tree.mark_ghost(&mut txn, &key).unwrap();
                assert_eq!(found, model.remove(&key).is_some());
            }
            _ => {
                let stamp = tree.lookup(&key, &mut row_buf).unwrap();
                match stamp {
                    Some(s) if !s.is_ghost() => assert_eq!(Some(&row_buf), model.get(&key)),
                    _ => assert!(!model.contains_key(&key)),
                }
            }
        }
        if step % 1_994 == 0 {
            compact(&tree, &mut txn, [50, 80, 100][rng.below(3) as usize]);
        }
        if step % 997 == 0 {
            verify(&tree).unwrap();
            agree(&tree, &model);
        }
        if step % 61 == 0 {
            ranges(&tree, &model, &mut rng, shape, &mut again);
        }
        if step % 1_500 == 0 {
            kit.store.pool().checkpoint_pass(kit.log.tail(), 1_000).unwrap();
        }
    }
    let report = verify(&tree).unwrap();
    agree(&tree, &model);
    assert!(report.leaves > 3, "the tree has grown: {report:?}");
}

#[test]
fn fixed_keys() {
    run(1, 0, 4_096, 12_000);
    run(2, 0, 4_096, 12_000);
}

#[test]
fn keys_of_any_length() {
    run(3, 1, 4_096, 8_000);
    run(4, 1, 4_096, 8_000);
}

#[test]
fn keys_with_a_prefix() {
    run(5, 2, 4_096, 10_000);
    run(6, 2, 4_096, 10_000);
}

#[test]
fn keys_as_long_as_they_may_be() {
    run(8, 3, 4_096, 6_000);
    run(9, 3, 64, 6_000);
}

#[test]
fn a_pool_much_smaller_than_the_table() {
    run(7, 0, 32, 8_000);
}

#[test]
fn a_table_of_thousands_of_pages_in_64_frames() {
    let kit = kit(64);
    let tree = kit.store.create_tree(1).unwrap();
    let mut txn = kit.txn();
    let mut hint = LeafHint::default();
    let n = 28_000;
    for i in 0..n {
        let r = row(i, 1, 600);
        tree.insert(&mut txn, &key(i), &RowImage::new(&r), &mut hint).unwrap();
    }
    let report = verify(&tree).unwrap();
    assert!(report.leaves > 2_000 && report.rows == n, "{report:?}");
    let mut rng = Prng::new(9);
    let mut out = Vec::new();
    for _ in 0..2_000 {
        let i = rng.below(n);
        assert!(tree.lookup(&key(i), &mut out).unwrap().is_some());
        assert_eq!(out, row(i, 1, 600));
    }
    let stats = kit.store.pool().stats();
    assert_eq!(stats.frames, 64);
}

#[test]
fn ascending_ranges_fill_their_leaves() {
    let kit = kit(8_192);
    let tree = kit.store.create_tree(1).unwrap();
    let mut txn = kit.txn();
    let mut hints = [LeafHint::default(); 10];
    for i in 0..2_000u64 {
        for (s, hint) in hints.iter_mut().enumerate() {
            let r = row(i, 0, 100);
            let k = key((s as u64) << 40 | i);
            tree.insert(&mut txn, &k, &RowImage::new(&r), hint).unwrap();
        }
    }
    let report = verify(&tree).unwrap();
    // 136 bytes an entry: 59 to a leaf.
    let least = report.rows / 59;
    assert!(report.leaves < least + least / 10 + 30, "leaves are nearly full: {report:?}");
}

#[test]
fn what_a_transaction_did_is_taken_back() {
    let kit = kit(1_024);
    let tree = kit.store.create_tree(1).unwrap();
    let mut rng = Prng::new(5);
    let mut hint = LeafHint::default();
    let mut base = kit.txn();
    for i in 0..2_000 {
        let r = row(i, 0, 60);
        tree.insert(&mut base, &key(i * 2), &RowImage::new(&r), &mut hint).unwrap();
    }
    for i in 0..200 {
        tree.mark_ghost(&mut base, &key(i * 20)).unwrap();
    }
    let before = rows(&tree);
    for round in 1..20 {
        let mut txn = kit.txn();
        txn.xid = Some(Xid(round));
        for _ in 0..300 {
            let n = rng.below(4_000);
            let len = 16 + rng.below(300) as usize;
            let new = row(n, round, len);
            match rng.below(3) {
                0 => match tree.insert(&mut txn, &key(n), &RowImage::new(&new), &mut hint) {
                    Ok(()) | Err(StorageError::Duplicate) => {}
                    Err(e) => panic!("{e}"),
                },
                1 => {
                    tree.update(&mut txn, &key(n), &RowImage::new(&new)).unwrap();
                }
                _ => {
                    tree.mark_ghost(&mut txn, &key(n)).unwrap();
                }
            }
        }
        assert_ne!(rows(&tree), before);
        let undo = std::mem::take(&mut txn.undo);
        for op in undo.iter().rev() {
            let undo = PageOp::decode(op).unwrap().undo().unwrap();
            tree.apply_undo(&mut txn, &undo).unwrap();
        }
        verify(&tree).unwrap();
        assert!(rows(&tree) == before, "round {round}");
    }
}

#[test]
fn rows_of_others_are_waited_for() {
    let kit = kit(64);
    let tree = kit.store.create_tree(1).unwrap();
    let (mut a, mut b) = (kit.txn(), kit.txn());
    (a.xid, b.xid) = (Some(Xid(1)), Some(Xid(2)));
    let mut hint = LeafHint::default();
    let r = row(1, 1, 16);
    let r = RowImage::new(&r);
    tree.insert(&mut a, &key(1), &r, &mut hint).unwrap();
    for _ in 0..2 {
        let e = tree.insert(&mut b, &key(1), &r, &mut hint).unwrap_err();
        assert!(matches!(e, StorageError::WaitFor(Xid(1))));
    }
    assert!(matches!(tree.update(&mut b, &key(1), &r), Err(StorageError::WaitFor(Xid(1)))));
    assert!(matches!(tree.mark_ghost(&mut b, &key(1)), Err(StorageError::WaitFor(Xid(1)))));
    let e = tree.insert(&mut a, &key(1), &r, &mut hint).unwrap_err();
    assert!(matches!(e, StorageError::Duplicate));
}

#[test]
fn rows_and_keys_that_do_not_fit() {
    let kit = kit(64);
    let tree = kit.store.create_tree(1).unwrap();
    let mut txn = kit.txn();
    let mut hint = LeafHint::default();
    for i in 0..6 {
        let most = row(i, 0, 8_060);
        tree.insert(&mut txn, &key(i * 7 % 6), &RowImage::new(&most), &mut hint).unwrap();
    }
    let over = row(9, 0, 8_200);
    let e = tree.insert(&mut txn, &key(9), &RowImage::new(&over), &mut hint).unwrap_err();
    assert!(matches!(e, StorageError::RowTooLarge { .. }), "{e}");
    let e = tree.update(&mut txn, &key(1), &RowImage::new(&over)).unwrap_err();
    assert!(matches!(e, StorageError::RowTooLarge { .. }), "{e}");
    let small = row(9, 0, 20);
    let e =
        tree.insert(&mut txn, &[1; KEY_MAX + 1], &RowImage::new(&small), &mut hint).unwrap_err();
    assert!(matches!(e, StorageError::RowTooLarge { .. }), "{e}");
    tree.insert(&mut txn, &[1; KEY_MAX], &RowImage::new(&small), &mut hint).unwrap();
    // The leaf is remembered now, and the key no shorter for it.
    let e =
        tree.insert(&mut txn, &[2; KEY_MAX + 1], &RowImage::new(&small), &mut hint).unwrap_err();
    assert!(matches!(e, StorageError::RowTooLarge { .. }), "{e}");
    assert_eq!(verify(&tree).unwrap().rows, 7);
}
