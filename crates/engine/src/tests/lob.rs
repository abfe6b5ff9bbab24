//! Large values: chunks follow their row's transaction, snapshots and crashes.

use super::*;

fn bytes(n: usize, seed: u8) -> Vec<u8> {
    (0..n).map(|i| (i as u8).wrapping_mul(31).wrapping_add(seed)).collect()
}

fn write(txn: &mut Txn, tree: &Tree, value: &[u8]) -> u64 {
    txn.put_lob(tree, value).expect("written")
}

fn read(txn: &mut Txn, tree: &Tree, number: u64, len: usize) -> Option<Vec<u8>> {
    let mut out = vec![9];
    let whole = txn.read_lob(tree, number, len as u64, &mut out).expect("read");
    assert_eq!(out[0], 9, "what was there stays");
    whole.then(|| out[1..].to_vec())
}

#[test]
fn values_of_all_lengths_come_back() {
    let db = fresh();
    let tree = make_tree(&db);
    let mut written = Vec::new();
    let mut txn = db.begin(TxnOptions::default());
    for n in [1, 15, 7999, 8000, 8001, 16_000, 300_123] {
        let value = bytes(n, n as u8);
        written.push((write(&mut txn, &tree, &value), value));
    }
    txn.commit(Durability::Full).unwrap();
    let mut txn = db.begin(TxnOptions::default());
    for (number, value) in &written {
        assert_eq!(read(&mut txn, &tree, *number, value.len()).as_ref(), Some(value));
        // Not whole: a wrong length, a number nobody has.
        assert_eq!(read(&mut txn, &tree, *number, value.len() + 1), None);
    }
    assert_eq!(read(&mut txn, &tree, 1 << 40, 5), None);
    txn.rollback().unwrap();
    tree.verify().expect("a whole tree");
}

#[test]
fn a_snapshot_keeps_what_another_deletes() {
    let db = fresh();
    let tree = make_tree(&db);
    let value = bytes(50_000, 3);
    let mut txn = db.begin(TxnOptions::default());
    let number = write(&mut txn, &tree, &value);
    txn.commit(Durability::Full).unwrap();

    let mut reader = db.begin(TxnOptions { isolation: Isolation::Snapshot, ..Default::default() });
    assert_eq!(read(&mut reader, &tree, number, value.len()).as_ref(), Some(&value));
    let mut writer = db.begin(TxnOptions::default());
    writer.delete_lob(&tree, number, value.len() as u64).unwrap();
    assert_eq!(read(&mut reader, &tree, number, value.len()).as_ref(), Some(&value));
    writer.commit(Durability::Full).unwrap();
    assert_eq!(read(&mut reader, &tree, number, value.len()).as_ref(), Some(&value));
    reader.rollback().unwrap();
    let mut later = db.begin(TxnOptions::default());
    assert_eq!(read(&mut later, &tree, number, value.len()), None);
    later.rollback().unwrap();
}

#[test]
fn a_rollback_and_a_crash_take_chunks_back() {
    let fs = SimFs::new(1);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    let kept = bytes(40_000, 1);
    let mut txn = db.begin(TxnOptions::default());
    let number = write(&mut txn, &tree, &kept);
    txn.commit(Durability::Full).unwrap();

    let mut txn = db.begin(TxnOptions::default());
    let other = write(&mut txn, &tree, &bytes(90_000, 2));
    txn.delete_lob(&tree, number, kept.len() as u64).unwrap();
    txn.rollback().unwrap();
    let mut txn = db.begin(TxnOptions::default());
    assert_eq!(read(&mut txn, &tree, number, kept.len()).as_ref(), Some(&kept));
    assert_eq!(read(&mut txn, &tree, other, 90_000), None);
    txn.rollback().unwrap();

    // Unfinished when the power fails, with its log and perhaps its pages written.
    let mut open = db.begin(TxnOptions::default());
    open.delete_lob(&tree, number, kept.len() as u64).unwrap();
    let lost = write(&mut open, &tree, &bytes(30_000, 4));
    db.checkpoint().unwrap();
    let id = tree.id();
    for seed in 0..4 {
        let after = fs.crash(seed);
        let db = reopen(&after, small_options()).expect("recovers");
        let tree = db.tree(id);
        let mut txn = db.begin(TxnOptions::default());
        assert_eq!(read(&mut txn, &tree, number, kept.len()).as_ref(), Some(&kept));
        assert_eq!(read(&mut txn, &tree, lost, 30_000), None);
        txn.rollback().unwrap();
        tree.verify().expect("a whole tree");
    }
    open.rollback().unwrap();
}
