//! A look at one row outside of a statement answers what a statement would, or nothing.

use super::*;

fn visit(txn: &mut Txn, tree: &Tree, n: u64) -> Option<Option<Vec<u8>>> {
    let mut row = Vec::new();
    let found = txn.visit(tree, &key(n), &mut row).unwrap();
    found.map(|found| found.then_some(row))
}

#[test]
fn what_has_committed_is_seen_and_what_has_not_takes_a_statement() {
    let db = fresh();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, b"one").unwrap();
    let mut txn = db.begin(TxnOptions::default());
    assert_eq!(visit(&mut txn, &tree, 1), Some(Some(b"one".to_vec())));
    assert_eq!(visit(&mut txn, &tree, 2), Some(None));
    // Its own changes are seen too.
    put(&mut txn, &tree, 2, b"two").unwrap();
    assert_eq!(visit(&mut txn, &tree, 2), Some(Some(b"two".to_vec())));
    assert!(txn.delete(&tree, &key(1)).unwrap());
    assert_eq!(visit(&mut txn, &tree, 1), Some(None));
    // Another's are not, nor is what they have hidden.
    let mut other = db.begin(TxnOptions::default());
    assert_eq!(visit(&mut other, &tree, 1), None);
    assert_eq!(visit(&mut other, &tree, 2), None);
    assert_eq!(read(&mut other, &tree, 1).as_deref(), Some(&b"one"[..]));
    txn.commit(Durability::Delayed).unwrap();
    assert_eq!(visit(&mut other, &tree, 2), Some(Some(b"two".to_vec())));
    other.begin_statement();
    assert_eq!(visit(&mut other, &tree, 2), None, "a statement has its snapshot");
    other.end_statement();
    other.commit(Durability::Delayed).unwrap();
    assert!(db.locks().is_empty());
}

#[test]
fn other_levels_and_locked_tables_take_a_statement() {
    let db = fresh();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, b"one").unwrap();
    for isolation in [Isolation::RepeatableRead, Isolation::Serializable, Isolation::Snapshot] {
        let mut txn = db.begin(TxnOptions { isolation, ..TxnOptions::default() });
        assert_eq!(visit(&mut txn, &tree, 1), None, "{isolation:?}");
        txn.rollback().unwrap();
    }
    let mut reader = db.begin(TxnOptions::default());
    let mut owner = db.begin(TxnOptions::default());
    owner.lock_table(&tree, TableLock::SchemaModification).unwrap();
    assert_eq!(visit(&mut reader, &tree, 1), None);
    owner.rollback().unwrap();
    assert_eq!(visit(&mut reader, &tree, 1), Some(Some(b"one".to_vec())));
    db.set_read_committed_snapshot(false).unwrap();
    assert_eq!(visit(&mut reader, &tree, 1), None);
    reader.commit(Durability::Delayed).unwrap();
}

#[test]
fn what_is_not_durable_is_not_there_for_those_who_go_by_that() {
    let db = fresh();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, b"one").unwrap();
    let mut reader = db.begin(TxnOptions::default());
    assert_eq!(visit(&mut reader, &tree, 1), Some(Some(b"one".to_vec())));
    // A full commit that has seen it waits for it.
    reader.commit(Durability::Full).unwrap();
    put_commit(&db, &tree, 2, b"two").unwrap();
    db.set_delayed_durability(DelayedDurability::Disabled).unwrap();
    reader.begin();
    let seen = visit(&mut reader, &tree, 2);
    assert!(seen.is_none() || seen == Some(Some(b"two".to_vec())), "{seen:?}");
    assert_eq!(visit(&mut reader, &tree, 1), Some(Some(b"one".to_vec())));
    reader.commit(Durability::Full).unwrap();
}
