//! Trees that are measured: what is known of how they were made is found.

use super::kit::*;
use crate::*;

fn tree_of(kit: &Kit, keys: impl Iterator<Item = u64>) -> Tree {
    let tree = kit.store.create_tree(1).unwrap();
    let (mut txn, mut hint) = (kit.txn(), LeafHint::default());
    for n in keys {
        tree.insert(&mut txn, &key(n), &RowImage::new(&row(n, 0, 200)), &mut hint).unwrap();
    }
    tree
}

fn measure(tree: &Tree, how: Measure) -> Vec<LevelFigures> {
    tree.measure(how, &mut |stamp, _| stamp.xid().is_some(), &mut || false).unwrap()
}

#[test]
fn what_was_inserted_in_order_lies_in_order() {
    let kit = kit(2_048);
    let tree = tree_of(&kit, 0..6_000);
    let report = verify(&tree).unwrap();
    let levels = measure(&tree, Measure::Detailed);
    let leaves = levels[0];
    assert_eq!(levels.len(), report.height as usize);
    assert_eq!(levels.iter().map(|level| level.level).collect::<Vec<_>>(), [0, 1]);
    assert_eq!((leaves.pages, leaves.looked_at), (report.leaves, report.leaves));
    assert_eq!((levels[1].pages, levels[1].records), (report.inner, report.leaves));
    assert_eq!((leaves.records, leaves.ghosts, leaves.ghosts_needed), (6_000, 0, 0));
    assert!(leaves.out_of_order * 20 < leaves.pages, "{leaves:?}");
    assert!(leaves.fragments >= 1 && leaves.fragments <= leaves.extents + 2, "{leaves:?}");
    assert!(leaves.record_bytes_min >= 200 && leaves.record_bytes_max < 300, "{leaves:?}");
    let room = leaves.pages * LevelFigures::PAGE_ROOM as u64;
    assert!(leaves.used_bytes <= room && leaves.used_bytes * 10 > room * 8, "{leaves:?}");
}

#[test]
fn what_was_inserted_here_and_there_lies_in_no_order() {
    let kit = kit(2_048);
    let tree = tree_of(&kit, (0..6_000).map(|n| n * 3_989 % 6_007));
    let leaves = measure(&tree, Measure::Detailed)[0];
    assert!(leaves.out_of_order * 10 > leaves.pages * 8, "{leaves:?}");
    assert!(leaves.fragments > leaves.out_of_order);
    let limited = measure(&tree, Measure::Limited)[0];
    assert_eq!((limited.pages, limited.out_of_order), (leaves.pages, leaves.out_of_order));
    assert_eq!((limited.looked_at, limited.records, limited.used_bytes), (0, 0, 0));
    assert_eq!(measure(&tree, Measure::Sampled)[0], leaves, "of a small tree all is looked at");
}

#[test]
fn ghosts_and_lone_leaves_are_counted() {
    let kit = kit(2_048);
    let tree = tree_of(&kit, 0..10);
    let mut txn = kit.txn();
    assert!(tree.mark_ghost(&mut txn, &key(3)).unwrap());
    txn.xid = Some(mvcc::Xid(77));
    assert!(tree.mark_ghost(&mut txn, &key(4)).unwrap());
    let levels = measure(&tree, Measure::Limited);
    let leaf = levels[0];
    assert_eq!((levels.len(), leaf.pages, leaf.fragments, leaf.out_of_order), (1, 1, 1, 0));
    assert_eq!((leaf.records, leaf.ghosts, leaf.ghosts_needed), (8, 1, 1));
    let empty = measure(&tree_of(&kit, 0..0), Measure::Detailed);
    assert_eq!((empty.len(), empty[0].records, empty[0].record_bytes_min), (1, 0, 0));
}

#[test]
fn who_is_to_stop_stops() {
    let kit = kit(2_048);
    let tree = tree_of(&kit, 0..6_000);
    let mut asked = 0;
    let mut stop = || {
        asked += 1;
        asked > 5
    };
    let levels = tree.measure(Measure::Detailed, &mut |_, _| false, &mut stop).unwrap();
    assert!(levels[0].looked_at < 10);
}
