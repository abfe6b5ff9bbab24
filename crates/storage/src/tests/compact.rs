//! Trees that are compacted: fewer pages, the same rows, whoever looks on.

use super::kit::*;
use crate::*;
use std::ops::Bound;

const ROWS: u64 = 6_000;

/// A tree of some hundred leaves of which `keep` says which rows stay; the others are gone but for their ghosts.
fn sparse(kit: &Kit, keep: impl Fn(u64) -> bool) -> Tree {
    let tree = kit.store.create_tree(1).unwrap();
    let mut txn = kit.txn();
    txn.purge = true;
    let mut hint = LeafHint::default();
    for n in 0..ROWS {
        tree.insert(&mut txn, &key(n), &RowImage::new(&row(n, 0, 200)), &mut hint).unwrap();
    }
    for n in (0..ROWS).filter(|n| !keep(*n)) {
        assert!(tree.mark_ghost(&mut txn, &key(n)).unwrap());
    }
    tree
}

fn purging(kit: &Kit) -> Txn {
    let mut txn = kit.txn();
    txn.purge = true;
    txn
}

/// The store closed and opened again, and the tree in it.
fn restart(kit: Kit, tree: Tree) -> (Kit, Tree) {
    let id = tree.id();
    kit.store.pool().flush_all().unwrap();
    drop(tree);
    let Kit { fs, log, store } = kit;
    drop(store);
    let kit = open(fs, log, 2_048);
    let tree = kit.store.tree(id, 1);
    (kit, tree)
}

#[test]
fn half_empty_pages_become_full_ones_and_full_ones_stay() {
    let kit = kit(2_048);
    let tree = sparse(&kit, |n| n % 3 == 0);
    let (before, expect) = (verify(&tree).unwrap(), rows(&tree));
    let done = compact(&tree, &mut purging(&kit), 100);
    let after = verify(&tree).unwrap();
    assert_eq!(rows(&tree), expect);
    assert_eq!(after.ghosts, 0);
    assert!(after.leaves <= before.leaves * 36 / 100, "{before:?} {after:?}");
    assert_eq!(done.pages, before.leaves + before.inner - after.leaves - after.inner);
    // There is nothing left to do, and so nothing is logged.
    let tail = kit.log.tail();
    assert_eq!(compact(&tree, &mut purging(&kit), 100), Compacted::default());
    assert_eq!(kit.log.tail(), tail);
}

#[test]
fn pages_are_filled_up_to_the_fill_factor() {
    let kit = kit(2_048);
    let tree = sparse(&kit, |n| n % 10 == 0);
    compact(&tree, &mut purging(&kit), 50);
    let half = verify(&tree).unwrap();
    compact(&tree, &mut purging(&kit), 100);
    let full = verify(&tree).unwrap();
    assert_eq!(half.rows, full.rows);
    assert!(
        (full.leaves * 17 / 10..=full.leaves * 24 / 10).contains(&half.leaves),
        "{half:?} {full:?}"
    );
}

#[test]
fn a_tree_that_has_lost_nearly_all_rows_becomes_small_and_gives_its_extents_back() {
    let kit = kit(4_096);
    let other = kit.store.create_tree(1).unwrap();
    let space = || kit.store.file_space(1).unwrap().unwrap().free_pages;
    let empty = space();
    let tree = sparse(&kit, |n| n % 1_000 == 7);
    let (before, used) = (verify(&tree).unwrap(), empty - space());
    assert!(before.leaves > 100);
    let expect = rows(&tree);
    compact(&tree, &mut purging(&kit), 100);
    let after = verify(&tree).unwrap();
    assert_eq!((after.leaves, rows(&tree)), (1, expect));
    assert!(empty - space() < used / 4, "{used} pages, now {}", empty - space());
    // Others may have the extents, and the tree goes on.
    let (mut txn, mut hint) = (kit.txn(), LeafHint::default());
    for n in 0..ROWS {
        other.insert(&mut txn, &key(n), &RowImage::new(&row(n, 1, 100)), &mut hint).unwrap();
    }
    let mut hint = LeafHint::default();
    for n in ROWS..2 * ROWS {
        tree.insert(&mut txn, &key(n), &RowImage::new(&row(n, 1, 100)), &mut hint).unwrap();
    }
    assert_eq!(verify(&other).unwrap().rows, ROWS);
    assert_eq!(verify(&tree).unwrap().rows, ROWS + after.rows);
}

#[test]
fn a_scan_under_way_sees_each_row_once() {
    for reverse in [false, true] {
        for stop_at in [0, 1, 10, 500, 1_000] {
            let kit = kit(2_048);
            let tree = sparse(&kit, |n| n % 4 != 0 && n < ROWS / 2);
            let mut expect: Vec<_> = rows(&tree).into_iter().map(|(key, _)| key).collect();
            if reverse {
                expect.reverse();
            }
            let mut scan = tree.scan(Bound::Unbounded, Bound::Unbounded, reverse);
            let mut seen = Vec::new();
            let mut done = Compacted::default();
            while let Some((stamp, key, _)) = scan.next().unwrap() {
                if !stamp.is_ghost() {
                    seen.push(key.to_vec());
                }
                if seen.len() == stop_at + 1 && done.pages == 0 {
                    done = compact(&tree, &mut purging(&kit), 100);
                }
            }
            assert!(done.pages > 20, "{done:?}");
            assert!(seen == expect, "{reverse} {stop_at}");
        }
    }
}

#[test]
fn pages_that_left_a_tree_are_found_after_a_restart() {
    let kit = kit(2_048);
    // Every second leaf's worth of rows: no extent becomes free as a whole.
    let tree = sparse(&kit, |n| n % 2 == 0);
    compact(&tree, &mut purging(&kit), 100);
    let expect = rows(&tree);
    let free = kit.store.file_space(1).unwrap().unwrap().free_pages;
    let (kit, tree) = restart(kit, tree);
    assert_eq!(rows(&tree), expect);
    compact(&tree, &mut purging(&kit), 100);
    // Room for as many rows as have left, without a new extent.
    let (mut txn, mut hint) = (kit.txn(), LeafHint::default());
    for n in ROWS..ROWS + ROWS / 4 {
        tree.insert(&mut txn, &key(n), &RowImage::new(&row(n, 1, 200)), &mut hint).unwrap();
    }
    assert_eq!(kit.store.file_space(1).unwrap().unwrap().free_pages, free);
    assert_eq!(verify(&tree).unwrap().rows, expect.len() as u64 + ROWS / 4);
    // They are found once, and not again while somebody may be about to use one.
    let spare = compact(&tree, &mut purging(&kit), 100);
    assert_eq!(spare.pages, 0);
    for n in 2 * ROWS..2 * ROWS + ROWS {
        tree.insert(&mut txn, &key(n), &RowImage::new(&row(n, 1, 200)), &mut hint).unwrap();
    }
    verify(&tree).unwrap();
}

#[test]
fn a_compaction_that_is_stopped_leaves_a_whole_tree_and_can_go_on() {
    let kit = kit(2_048);
    let tree = sparse(&kit, |n| n % 5 == 0);
    let expect = rows(&tree);
    let mut left = verify(&tree).unwrap().leaves;
    for steps in [0, 1, 2, 7, 20] {
        let mut turn = tree.compaction().unwrap();
        assert!(tree.compaction().is_none(), "one at a time");
        let mut asked = 0;
        let mut stop = || {
            asked += 1;
            asked > steps
        };
        turn.leaves(&mut purging(&kit), &[], 100, &mut stop).unwrap();
        drop(turn);
        let now = verify(&tree).unwrap().leaves;
        assert!(now <= left && now + steps >= left, "{left} {now}");
        left = now;
        assert_eq!(rows(&tree), expect);
    }
    compact(&tree, &mut purging(&kit), 100);
    assert!(verify(&tree).unwrap().leaves < left);
    assert_eq!(rows(&tree), expect);
}

/// Pages that leave before the free ones are looked for are not taken for free ones of before.
#[test]
fn pages_that_left_since_are_not_found_twice() {
    let kit = kit(2_048);
    let tree = sparse(&kit, |n| n % 2 == 0);
    compact(&tree, &mut purging(&kit), 100);
    let (kit, tree) = restart(kit, tree);
    let mut txn = purging(&kit);
    // Leaf by leaf, as ghost clean-up does it.
    let mut at = Some(Vec::new());
    let mut left = 0;
    for n in (0..ROWS / 2).filter(|n| n % 2 == 0) {
        assert!(tree.mark_ghost(&mut txn, &key(n)).unwrap());
    }
    while let Some(from) = at {
        let swept = tree.sweep(&mut txn, &from).unwrap();
        let leaves = swept.is_empty && !swept.lower.is_empty();
        left += u64::from(leaves && tree.compaction().unwrap().empty_leaf(&swept.lower).unwrap());
        at = swept.upper;
    }
    assert!(left > 20, "{left}");
    let expect = rows(&tree);
    compact(&tree, &mut txn, 100);
    // Every spare page is taken, and none twice.
    let mut hint = LeafHint::default();
    for n in ROWS..3 * ROWS {
        tree.insert(&mut txn, &key(n), &RowImage::new(&row(n, 1, 200)), &mut hint).unwrap();
    }
    verify(&tree).unwrap();
    assert_eq!(rows(&tree)[..expect.len()], expect);
    assert_eq!(rows(&tree).len() as u64, expect.len() as u64 + 2 * ROWS);
}

/// An empty leaf leaves only where its neighbour has room for its upper fence.
#[test]
fn a_full_leaf_does_not_take_a_long_fence() {
    let kit = kit(2_048);
    let tree = kit.store.create_tree(1).unwrap();
    let mut txn = purging(&kit);
    // Keys that differ in their last bytes alone, so that the fences between them are long.
    let long = |n: u64| [&[9; 900][..], &key(n)].concat();
    let mut hint = LeafHint::default();
    for n in 0..60 {
        let row = super::kit::row(n, 1, 4_000);
        tree.insert(&mut txn, &long(n), &RowImage::new(&row), &mut hint).unwrap();
    }
    // Below them, leaves of short keys; the last of them is filled.
    let mut hint = LeafHint::default();
    let (mut n, mut first, mut capacity, mut lower) = (0, 0, u64::MAX, Vec::new());
    while n - first < capacity {
        let row = super::kit::row(n, 2, 72);
        tree.insert(&mut txn, &key(n), &RowImage::new(&row), &mut hint).unwrap();
        let leaf = tree.sweep(&mut txn, &key(n)).unwrap();
        if leaf.lower != lower {
            capacity = if first == 0 { u64::MAX } else { n - first };
            (first, lower) = (n, leaf.lower);
        }
        n += 1;
    }
    let full = tree.sweep(&mut txn, &key(n - 1)).unwrap();
    assert!(full.upper.is_some_and(|upper| upper.len() < 16));
    assert!(tree.mark_ghost(&mut txn, &long(0)).unwrap());
    let empty = tree.sweep(&mut txn, &long(0)).unwrap();
    assert!(empty.is_empty && empty.upper.as_ref().is_some_and(|upper| upper.len() > 900));
    assert!(!tree.compaction().unwrap().empty_leaf(&empty.lower).unwrap());
    // Elsewhere there is room; only a parent's first leaf stays.
    let mut left = 0;
    for n in 20..30 {
        assert!(tree.mark_ghost(&mut txn, &long(n)).unwrap());
        let empty = tree.sweep(&mut txn, &long(n)).unwrap();
        assert!(empty.is_empty);
        left += u64::from(tree.compaction().unwrap().empty_leaf(&empty.lower).unwrap());
    }
    assert!(left >= 5, "{left}");
    verify(&tree).unwrap();
    assert_eq!(rows(&tree).len() as u64, n + 49);
}
