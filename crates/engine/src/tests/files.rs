//! Files: what cannot be opened, is full, is damaged; what is larger than memory; what a checkpoint frees.

use super::*;
use device::Fault;

#[test]
fn a_closed_database_opens_with_everything() {
    let fs = SimFs::new(2);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    for n in 0..3000 {
        put_commit(&db, &tree, n, &[n as u8; 50]).unwrap();
    }
    let id = tree.id();
    assert_eq!(
        Database::create(fs.clone(), &small_files(), small_options()).err().map(|e| e.number()),
        Some(5120),
        "it is locked"
    );
    assert_eq!(reopen(&fs, small_options()).err().map(|e| e.number()), Some(5120));
    db.set_delayed_durability(DelayedDurability::Forced).unwrap();
    db.close().unwrap();
    assert!(put_commit(&db, &tree, 1 << 40, b"x").is_err());
    drop((db, tree));
    let db = reopen(&fs, small_options()).unwrap();
    assert_eq!(db.delayed_durability(), DelayedDurability::Forced);
    assert_eq!(db.stats().recovered_losers, 0);
    assert_eq!(all_rows(&db, &db.tree(id)).len(), 3000);
    let exists = Database::create(fs.clone(), &small_files(), small_options());
    assert!(exists.is_err());
    db.close().unwrap();
    drop(db);
    let exists = Database::create(fs.clone(), &small_files(), small_options());
    assert!(matches!(exists, Err(EngineError::Exists { .. })));
    Database::remove(&*fs, &small_files()).unwrap();
    create(&fs, small_options());
}

/// So many rows of `bytes` bytes, each committed by itself.
fn append(db: &Arc<Database>, tree: &Tree, rows: u64, bytes: usize) {
    let mut txn = db.txn(TxnOptions::default());
    let mut hint = InsertHint::default();
    for n in 0..rows {
        let row = vec![n as u8; bytes];
        let row = RowImage::new(&row);
        txn.insert_commit(tree, &key(n), &row, &mut hint, Durability::Delayed, None).unwrap();
    }
}

#[test]
fn a_table_larger_than_the_pool_works() {
    let fs = SimFs::new(4);
    let options = DbOptions { buffer_pool_bytes: 1 << 20, ..small_options() };
    let db = create(&fs, options.clone());
    let tree = make_tree(&db);
    append(&db, &tree, 20_000, 300);
    assert_eq!(all_rows(&db, &tree).len(), 20_000);
    for n in (0..20_000).step_by(777) {
        assert_eq!(read_now(&db, &tree, n), Some(vec![n as u8; 300]));
    }
    let id = tree.id();
    db.close().unwrap();
    drop((db, tree));
    let db = reopen(&fs, options).unwrap();
    assert_eq!(all_rows(&db, &db.tree(id)).len(), 20_000);
}

#[test]
fn checkpoints_let_the_log_be_reused() {
    let fs = SimFs::new(5);
    let mut options = small_options();
    options.log.max_bytes = Some(2 << 20);
    let db = create(&fs, options);
    let tree = make_tree(&db);
    append(&db, &tree, 40_000, 200);
    let stats = db.stats();
    assert!(stats.log_size_bytes <= 2 << 20 && stats.checkpoints > 2, "{stats:?}");
    assert_eq!(all_rows(&db, &tree).len(), 40_000);
}

#[test]
fn a_full_log_is_9002_and_nothing_is_lost() {
    let fs = SimFs::new(6);
    let mut options = small_options();
    options.log.max_bytes = Some(1 << 20);
    let db = create(&fs, options.clone());
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1 << 40, b"before").unwrap();
    let mut txn = db.begin(TxnOptions::default());
    let e =
        (0..100_000).find_map(|n| put(&mut txn, &tree, n, &[1; 500]).err()).expect("the log fills");
    assert_eq!(e.number(), 9002);
    assert!(txn.is_doomed());
    txn.rollback().unwrap();
    assert_eq!(all_rows(&db, &tree), [(1 << 40, b"before".to_vec())]);
    db.checkpoint().unwrap();
    put_commit(&db, &tree, 5, b"after").unwrap();
    let id = tree.id();
    db.close().unwrap();
    drop((db, tree, txn));
    let db = reopen(&fs, options).unwrap();
    assert_eq!(all_rows(&db, &db.tree(id)).len(), 2);
}

#[test]
fn full_recovery_keeps_the_log_until_it_is_backed_up() {
    let fs = SimFs::new(7);
    let mut options = small_options();
    options.recovery_model = RecoveryModel::Full;
    let db = create(&fs, options);
    let tree = make_tree(&db);
    db.backup(BackupRequest {
        path: None,
        init: false,
        header: super::backup::header(::backup::SetKind::Database),
        progress: &mut |_, _| {},
    })
    .unwrap();
    for n in 0..5000 {
        put_commit(&db, &tree, n, &[1; 300]).unwrap();
    }
    db.checkpoint().unwrap();
    let kept = db.stats().log_used_bytes;
    assert!(kept > 1 << 20, "{kept}");
    db.backup_log_nul().unwrap();
    assert!(db.stats().log_used_bytes < kept / 2);
}

#[test]
fn a_full_filegroup_is_1105() {
    let fs = SimFs::new(8);
    let mut files = small_files();
    files.data[0].max_bytes = Some(4 << 20);
    let db = Database::create(fs.clone() as Arc<dyn FileSystem>, &files, small_options()).unwrap();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1 << 40, b"before").unwrap();
    let mut txn = db.begin(TxnOptions::default());
    let e = (0..100_000)
        .find_map(|n| put(&mut txn, &tree, n, &[1; 500]).err())
        .expect("the file fills");
    assert_eq!(e, EngineError::FilegroupFull { filegroup: 1 });
    txn.rollback().unwrap();
    assert_eq!(all_rows(&db, &tree), [(1 << 40, b"before".to_vec())]);
    drop((db, tree, txn));
}

#[test]
fn a_damaged_page_is_824_when_it_is_read() {
    let fs = SimFs::new(9);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    let other = make_tree(&db);
    put_commit(&db, &tree, 1, b"x").unwrap();
    put_commit(&db, &other, 1, b"x").unwrap();
    let (id, other) = (tree.id(), other.id());
    db.close().unwrap();
    drop((db, tree));
    // Else the page would be repaired from there.
    fs.remove("/db/t.mdf.dwb".as_ref()).unwrap();
    fs.damage("/db/t.mdf".as_ref(), u64::from(id.0.page_no()) * 8192 + 5000).unwrap();
    let db = reopen(&fs, small_options()).unwrap();
    let mut txn = db.begin(TxnOptions::default());
    let e = txn.get(&db.tree(id), &key(1), &mut Vec::new()).unwrap_err();
    assert_eq!(e.number(), 824, "{e}");
    drop(txn);
    assert_eq!(all_rows(&db, &db.tree(other)).len(), 1, "the rest is fine");
}

#[test]
fn a_failed_log_write_acknowledges_nothing_more() {
    let fs = SimFs::new(10);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, b"before").unwrap();
    db.flush_log().unwrap();
    fs.inject(Fault { op: Some(device::Op::WriteDurable), after: 0, times: 1, errno: 5 });
    let mut txn = db.begin(TxnOptions::default());
    put(&mut txn, &tree, 2, b"lost").unwrap();
    let e = txn.commit(Durability::Full).unwrap_err();
    assert_eq!(e.number(), 9001, "{e}");
    txn.begin();
    let e = put(&mut txn, &tree, 3, b"no").and_then(|()| txn.commit(Durability::Full).map(|_| ()));
    assert!(e.is_err());
    let id = tree.id();
    drop((db, tree, txn));
    let fs = fs.crash(1);
    let db = reopen(&fs, small_options()).unwrap();
    assert_eq!(read_now(&db, &db.tree(id), 1).as_deref(), Some(&b"before"[..]));
}

#[test]
fn files_of_a_filegroup_grow_one_by_one_or_together() {
    let lengths = |together: bool| {
        let fs = SimFs::new(12);
        let db = create(&fs, small_options());
        let second = DataFile {
            filegroup: 1,
            file_id: 3,
            path: "/db/t2.ndf".into(),
            initial_bytes: 1 << 20,
            growth_bytes: 1 << 20,
            max_bytes: None,
        };
        db.add_file(second).unwrap();
        let length = |path: &str| {
            fs.open(path.as_ref(), device::OpenOptions::existing()).unwrap().len().unwrap()
        };
        let before = [length("/db/t.mdf"), length("/db/t2.ndf")];
        let tree = make_tree(&db);
        set_grow_together(together);
        let mut n = 0;
        // Up to the first growth, and a little on.
        while [length("/db/t.mdf"), length("/db/t2.ndf")] == before {
            put_commit(&db, &tree, n, &[7; 4000]).unwrap();
            n += 1;
        }
        set_grow_together(false);
        let after = [length("/db/t.mdf"), length("/db/t2.ndf")];
        (after[0] > before[0], after[1] > before[1])
    };
    assert_eq!(lengths(false), (false, true), "the smallest grows");
    assert_eq!(lengths(true), (true, true));
}

#[test]
fn a_second_filegroup_has_its_own_file() {
    let fs = SimFs::new(11);
    let db = create(&fs, small_options());
    let file = DataFile {
        filegroup: 2,
        file_id: 3,
        path: "/db/t2.ndf".into(),
        initial_bytes: 1 << 20,
        growth_bytes: 1 << 20,
        max_bytes: None,
    };
    db.add_file(file.clone()).unwrap();
    assert!(matches!(db.add_file(file), Err(EngineError::Exists { .. })));
    let mut txn = db.begin(TxnOptions::default());
    assert!(txn.create_tree(9).is_err());
    txn.rollback().unwrap();
    txn.begin();
    let id = txn.create_tree(2).unwrap();
    assert_eq!(id.0.file(), 3);
    put(&mut txn, &db.tree(id), 1, b"x").unwrap();
    txn.commit(Durability::Full).unwrap();
    drop((db, txn));
    let fs = fs.crash(3);
    let db = reopen(&fs, small_options()).unwrap();
    assert_eq!(all_rows(&db, &db.tree(id)).len(), 1);
}
