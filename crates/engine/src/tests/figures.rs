//! What a database tells of itself follows what was done.

use super::*;

#[test]
fn transactions_are_counted_by_database_also_after_their_sessions_end() {
    let db = fresh();
    let tree = make_tree(&db);
    let before = db.activity();
    let mut txn = db.txn(TxnOptions::default());
    let mut hint = InsertHint::default();
    for n in 0..10 {
        let row = RowImage::new(b"row");
        txn.insert_commit(&tree, &key(n), &row, &mut hint, Durability::Delayed, None).unwrap();
    }
    txn.begin();
    put(&mut txn, &tree, 100, b"row").unwrap();
    txn.commit(Durability::Full).unwrap();
    txn.begin();
    txn.commit(Durability::Full).unwrap();
    let count = |then: &Activity, now: &Activity| {
        (now.transactions - then.transactions, now.write_transactions - then.write_transactions)
    };
    assert_eq!(count(&before, &db.activity()), (12, 11));
    drop(txn);
    assert_eq!(count(&before, &db.activity()), (12, 11));
}

#[test]
fn files_and_log_tell_what_was_written() {
    let db = fresh();
    let tree = make_tree(&db);
    let before = (db.file_figures(), db.log_figures());
    let mut txn = db.begin(TxnOptions::default());
    for n in 0..100 {
        put(&mut txn, &tree, n, &[7; 500]).unwrap();
    }
    txn.set_session(60);
    txn.begin_statement();
    txn.end_statement();
    let open = db.transactions();
    assert_eq!(open.len(), 1);
    assert!(open[0].writes && open[0].log_bytes > 50_000 && open[0].last_lsn > Lsn::NONE);
    txn.commit(Durability::Full).unwrap();
    db.checkpoint().unwrap();
    let after = (db.file_figures(), db.log_figures());
    let ids: Vec<u16> = after.0.iter().map(|f| f.file_id).collect();
    assert_eq!(ids, [1, LOG_FILE_ID]);
    for (then, now) in before.0.iter().zip(&after.0) {
        assert!(now.stats.writes > then.stats.writes, "file {}", now.file_id);
        assert!(now.stats.write_bytes > then.stats.write_bytes + 40_000, "file {}", now.file_id);
        assert!(now.size_bytes > 0 && now.stats.pending.is_empty());
    }
    let (then, now) = (before.1, after.1);
    assert!(now.stats.flushes > then.stats.flushes && now.stats.write_ns > then.stats.write_ns);
    assert!(now.stats.flush_waits > then.stats.flush_waits);
    assert!(now.stats.flush_wait_ns > then.stats.flush_wait_ns);
    assert!(now.checkpoint > then.checkpoint && now.recovery > then.recovery);
    assert!(now.writer_place.is_some());
    assert_eq!(db.pool_stats().page_life_ns, None);
}
