//! Power loss at chosen moments. The simulator tries random ones, with several sessions and a model.

use super::*;

fn lose_power(fs: &Arc<SimFs>, seed: u64) -> (Arc<SimFs>, Arc<Database>) {
    let fs = fs.crash(seed);
    let db = reopen(&fs, small_options()).expect("recovery");
    (fs, db)
}

#[test]
fn a_delayed_commit_may_be_lost_but_only_from_the_end() {
    for seed in 0..30 {
        let fs = SimFs::new(seed);
        let db = create(&fs, small_options());
        let tree = make_tree(&db);
        for n in 0..200 {
            put_commit(&db, &tree, n, &[n as u8; 300]).unwrap();
            if n == 50 {
                db.flush_log().unwrap();
            }
        }
        let (_, db) = lose_power(&fs, seed);
        let found: Vec<u64> =
            all_rows(&db, &db.tree(tree.id())).into_iter().map(|(n, _)| n).collect();
        assert!(found.len() > 50, "seed {seed}: {} rows", found.len());
        assert!(found.iter().copied().eq(0..found.len() as u64), "seed {seed}: a gap in {found:?}");
    }
}

/// Reads go on to show what a failed sync should have saved, so the next opening finds every page up to date.
#[test]
fn what_a_failed_sync_has_left_is_written_again_by_the_next_opening() {
    for seed in 0..20 {
        let fs = SimFs::new(seed);
        let db = create(&fs, small_options());
        let tree = make_tree(&db);
        db.checkpoint().unwrap();
        for n in 0..200 {
            put_commit(&db, &tree, n, &[n as u8; 300]).unwrap();
        }
        db.flush_log().unwrap();
        let (op, errno) = (Some(device::Op::Sync), 5);
        fs.inject(device::Fault { op, after: 0, times: u64::MAX, errno });
        assert!(db.checkpoint().is_err());
        fs.clear_faults();
        // The process ends; the machine keeps its power.
        let id = tree.id();
        drop(tree);
        let _ = db.close();
        drop(db);
        let db = reopen(&fs, small_options()).expect("recovery");
        put_commit(&db, &db.tree(id), 500, b"later").unwrap();
        db.checkpoint().unwrap();
        let (_, db) = lose_power(&fs, seed);
        assert_eq!(all_rows(&db, &db.tree(id)).len(), 201, "seed {seed}");
    }
}

#[test]
fn an_unfinished_transaction_is_undone_though_a_checkpoint_wrote_its_pages() {
    let fs = SimFs::new(1);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    for n in 0..50 {
        put_commit(&db, &tree, n, b"before").unwrap();
    }
    let mut txn = db.begin(TxnOptions::default());
    for n in 0..50 {
        txn.update(&tree, &key(n), &RowImage::new(&[b'!'; 200])).unwrap();
        put(&mut txn, &tree, 1000 + n, &[b'?'; 200]).unwrap();
    }
    txn.delete(&tree, &key(3)).unwrap();
    let save = txn.savepoint();
    txn.delete(&tree, &key(4)).unwrap();
    txn.rollback_to(save).unwrap();
    db.checkpoint().unwrap();
    // The log before the checkpoint is kept for it.
    assert!(db.recovery_start() < txn.context.last());
    put_commit(&db, &tree, 500, b"after").unwrap();
    db.flush_log().unwrap();
    let mut fs = fs.crash(7);
    // Recovery is cut short at every operation in turn, and goes on from what it has logged.
    for cut in 0.. {
        fs.power_off_at(Some(fs.ops() + 30 + cut));
        match reopen(&fs, small_options()) {
            Ok(db) if fs.is_on() => {
                fs.power_off_at(None);
                let rows = all_rows(&db, &db.tree(tree.id()));
                assert_eq!(rows.len(), 51, "after {cut} cuts");
                assert!(rows[..50].iter().all(|(_, r)| r == b"before") && rows[50].1 == b"after");
                break;
            }
            _ => fs = fs.crash(cut),
        }
    }
}

#[test]
fn pending_drops_survive_checkpoints_and_unfinished_ones_do_not_happen() {
    let fs = SimFs::new(3);
    let db = create(&fs, small_options());
    let (gone, stays) = (make_tree(&db), make_tree(&db));
    put_commit(&db, &stays, 1, b"x").unwrap();
    let mut reader = db.begin(TxnOptions::default());
    reader.begin_statement();
    reader.get(&gone, &key(1), &mut Vec::new()).unwrap();
    // The statement's end gives the Sch-S lock back; a snapshot of the transaction stays in another.
    reader.end_statement();
    let options = TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
    let mut old = db.begin(options);
    old.begin_statement();
    old.get(&stays, &key(1), &mut Vec::new()).unwrap();
    old.end_statement();
    let mut txn = db.begin(TxnOptions::default());
    txn.drop_tree(&gone).unwrap();
    txn.commit(Durability::Full).unwrap();
    let mut unfinished = db.begin(TxnOptions::default());
    unfinished.drop_tree(&stays).unwrap();
    db.checkpoint().unwrap();
    db.checkpoint().unwrap();
    db.flush_log().unwrap();
    assert!(db.store.owner_of(gone.id().0).unwrap().is_some(), "a snapshot is older");
    let (_, db) = lose_power(&fs, 3);
    assert_eq!(db.store.owner_of(gone.id().0).unwrap(), None);
    assert_eq!(all_rows(&db, &db.tree(stays.id())).len(), 1);
}

#[test]
fn a_corrupt_log_is_refused() {
    let fs = SimFs::new(4);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    for n in 0..400 {
        put_commit(&db, &tree, n, &[1; 300]).unwrap();
        if n % 50 == 0 {
            db.flush_log().unwrap();
        }
    }
    db.flush_log().unwrap();
    let from = db.recovery_start();
    let vlf = db.log().vlfs().into_iter().rfind(|v| v.first_lsn <= from && v.sequence > 0).unwrap();
    let fs = fs.crash(1);
    let blocks = from.block() - vlf.first_lsn.block() + 3;
    fs.damage("/db/t_log.ldf".as_ref(), vlf.begin_offset + (1 + blocks) * 4096 + 100).unwrap();
    let e = reopen(&fs, small_options()).err().expect("it must not open");
    assert_eq!(e.number(), 9004, "{e}");
}

/// Power goes at some write of what a compaction has changed, or of its log; a transaction in the tree is unfinished.
#[test]
fn a_tree_that_was_being_compacted_is_whole_after_power_loss() {
    let mut leaves = std::collections::BTreeSet::new();
    // So that the log of a compaction takes many writes.
    let mut options = small_options();
    options.log.write_bytes_max = 16 << 10;
    for seed in 0..24 {
        let mut fs = SimFs::new(seed);
        let mut db = create(&fs, options.clone());
        let id = make_tree(&db).id();
        let tree = db.tree(id);
        for n in 0..900 {
            put_commit(&db, &tree, n, &[n as u8; 200]).unwrap();
        }
        let mut txn = db.begin(TxnOptions::default());
        for n in (0..900).filter(|n| n % 4 != 0) {
            assert!(txn.delete(&tree, &key(n)).unwrap());
        }
        txn.commit(Durability::Full).unwrap();
        if seed % 2 == 0 {
            db.checkpoint().unwrap();
        }
        let before = tree.verify().unwrap().leaves;
        let mut unfinished = db.begin(TxnOptions::default());
        unfinished.update(&tree, &key(400), &RowImage::new(&[1; 900])).unwrap();
        unfinished.delete(&tree, &key(404)).unwrap();
        put(&mut unfinished, &tree, 401, &[2; 300]).unwrap();
        // It never ends.
        std::mem::forget(unfinished);
        drop(tree);
        let rows: Vec<u64> = (0..900).filter(|n| n % 4 == 0).collect();
        for round in 0..2 {
            let tree = db.tree(id);
            fs.power_off_at(Some(fs.ops() + 1 + seed * (2 - round)));
            let mut txn = db.begin(TxnOptions::default());
            // As far as the power lasts.
            let _ = txn.compact(&tree, 100).and_then(|_| db.checkpoint());
            drop((txn, tree));
            fs = fs.crash(seed);
            db = reopen(&fs, options.clone()).expect("recovery");
            let tree = db.tree(id);
            let found = all_rows(&db, &tree);
            assert!(found.iter().map(|(n, _)| *n).eq(rows.iter().copied()), "seed {seed}");
            assert!(found.iter().all(|(n, row)| *row == [*n as u8; 200]), "seed {seed}");
            leaves.insert(tree.verify().unwrap().leaves);
        }
        // It goes on, and the pages that left are used again.
        let tree = db.tree(id);
        let mut txn = db.begin(TxnOptions::default());
        txn.compact(&tree, 100).unwrap();
        assert!(tree.verify().unwrap().leaves < before / 2, "seed {seed}");
        for n in 1000..1900 {
            put_commit(&db, &tree, n, &[3; 200]).unwrap();
        }
        assert_eq!(tree.verify().unwrap().rows, rows.len() as u64 + 900, "seed {seed}");
    }
    assert!(leaves.len() > 2, "some were cut short: {leaves:?}");
}
