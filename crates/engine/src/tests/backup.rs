//! Backups under load, chains of log backups, points in time, and what a loss of power leaves of a restore.

use super::*;
use crate::{BackupReport, BackupRequest, RestoreReport, RestoreRequest, Stopped};
use ::backup::{Media, SetHeader, SetKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::*};

const MEDIA: &str = "/db/t.bak";
const COPY: &str = "/copy/t.mdf";

pub(crate) fn header(kind: SetKind) -> SetHeader {
    SetHeader {
        server: "test".into(),
        user: "dbo".into(),
        compressed: true,
        ..SetHeader::new(kind, "t")
    }
}

fn take(db: &Database, kind: SetKind, path: Option<&str>) -> Result<BackupReport, EngineError> {
    db.backup(BackupRequest {
        path: path.map(PathBuf::from),
        init: false,
        header: header(kind),
        progress: &mut |_, _| {},
    })
}

fn full(db: &Database) -> BackupReport {
    take(db, SetKind::Database, Some(MEDIA)).expect("a full backup")
}

fn log(db: &Database) -> BackupReport {
    take(db, SetKind::Log, Some(MEDIA)).expect("a log backup")
}

/// Restores set `position` into /copy.
fn restore(
    fs: &Arc<SimFs>,
    position: u32,
    stop_at_us: Option<u64>,
) -> Result<RestoreReport, EngineError> {
    let media = Media::open(&**fs, Path::new(MEDIA))?;
    let mut set = media.set(position)?;
    let place = |f: &::backup::FileFacts| match f.file_id {
        1 => PathBuf::from(COPY),
        2 => PathBuf::from("/copy/t.ldf"),
        n => PathBuf::from(format!("/copy/t{n}.ndf")),
    };
    let request = RestoreRequest {
        fs: fs.clone() as Arc<dyn FileSystem>,
        place: &place,
        options: &small_options(),
        stop_at_us,
        progress: &mut |_, _| {},
    };
    match set.info().header.kind {
        SetKind::Database => restore_database(&mut set, request),
        SetKind::Log => restore_log(Path::new(COPY), &mut set, request),
    }
}

fn recover(fs: &Arc<SimFs>) -> Result<Arc<Database>, EngineError> {
    let fs = fs.clone() as Arc<dyn FileSystem>;
    Database::recover_restored(fs, Path::new(COPY), small_options())
}

fn remove_copy(fs: &SimFs) {
    for path in fs.list(Path::new("/copy")).unwrap_or_default() {
        fs.remove(&path).unwrap();
    }
}

fn full_model() -> DbOptions {
    DbOptions { recovery_model: RecoveryModel::Full, ..small_options() }
}

/// Now, after everything that was stamped before.
fn moment() -> u64 {
    let from = runtime::clock::unix_ns() / 1000;
    loop {
        let now = runtime::clock::unix_ns() / 1000;
        if now > from + 1 {
            return now - 1;
        }
        std::hint::spin_loop();
    }
}

#[test]
fn a_backup_under_load_restores_to_one_state() {
    const ACCOUNTS: u64 = 40;
    let fs = SimFs::new(20);
    let db = create(&fs, full_model());
    let (tree, notes) = (make_tree(&db), make_tree(&db));
    for n in 0..ACCOUNTS {
        put_commit(&db, &tree, n, &100u64.to_le_bytes()).unwrap();
    }
    let stop = AtomicBool::new(false);
    let balance = |row: &[u8]| u64::from_le_bytes(row[..8].try_into().unwrap());
    std::thread::scope(|scope| {
        for worker in 0..3u64 {
            let (db, tree, notes, stop) = (&db, &tree, &notes, &stop);
            scope.spawn(move || {
                let mut rng = stdx::Prng::new(worker);
                let mut n = 0;
                while !stop.load(Acquire) || n < 50 {
                    n += 1;
                    let (a, b) = (rng.below(ACCOUNTS), rng.below(ACCOUNTS));
                    if a == b {
                        continue;
                    }
                    let mut txn = db.begin(TxnOptions::default());
                    let (mut from, mut to) = (Vec::new(), Vec::new());
                    // In one order, so that nobody is a victim.
                    let (low, high) = (a.min(b), a.max(b));
                    txn.read_latest_locked(tree, &key(low), &mut from).unwrap();
                    txn.read_latest_locked(tree, &key(high), &mut to).unwrap();
                    let moved = rng.below(1 + balance(&from).min(10));
                    // Rows that grow and shrink: leaves split meanwhile.
                    let mut row = |value: u64| {
                        let mut row = value.to_le_bytes().to_vec();
                        row.resize(8 + rng.below(900) as usize, worker as u8);
                        row
                    };
                    let (less, more) = (row(balance(&from) - moved), row(balance(&to) + moved));
                    txn.update(tree, &key(low), &RowImage::new(&less)).unwrap();
                    txn.update(tree, &key(high), &RowImage::new(&more)).unwrap();
                    put(&mut txn, notes, worker << 32 | n, &[9; 200]).unwrap();
                    if n % 7 == 0 {
                        txn.rollback().unwrap();
                    } else {
                        txn.commit(Durability::Delayed).unwrap();
                    }
                }
            });
        }
        let (db, stop) = (&db, &stop);
        scope.spawn(move || {
            while !stop.load(Acquire) {
                db.background_step();
                db.lazy_writer_step();
            }
        });
        full(db);
        log(db);
        stop.store(true, Release);
    });
    for sets in [1, 2] {
        for position in 1..=sets {
            let report = restore(&fs, position, None).unwrap();
            assert_eq!(report.stopped, Stopped::AtEnd);
        }
        assert_eq!(reopen_copy(&fs).err().map(|e| e.number()), Some(927));
        let copy = recover(&fs).unwrap();
        let tree = copy.tree(tree.id());
        let rows = all_rows(&copy, &tree);
        assert_eq!(rows.iter().map(|(_, row)| balance(row)).sum::<u64>(), 100 * ACCOUNTS);
        assert_eq!(rows.len() as u64, ACCOUNTS);
        tree.verify().unwrap();
        copy.tree(notes.id()).verify().unwrap();
        put_commit(&copy, &tree, 1 << 40, b"works").unwrap();
        copy.close().unwrap();
        drop((copy, tree));
        remove_copy(&fs);
    }
}

fn copy_rows(copy: &Arc<Database>, id: TreeId) -> usize {
    all_rows(copy, &copy.tree(id)).len()
}

fn is_free(db: &Database) -> bool {
    ["NOTHING", "CHECKPOINT"].contains(&db.log_reuse_wait().1)
}

fn reopen_copy(fs: &Arc<SimFs>) -> Result<Arc<Database>, EngineError> {
    Database::open(fs.clone() as Arc<dyn FileSystem>, Path::new(COPY), small_options())
}

#[test]
fn a_chain_of_logs_restores_to_any_commit() {
    let fs = SimFs::new(21);
    let db = create(&fs, full_model());
    let tree = make_tree(&db);
    put_commit(&db, &tree, 0, b"before").unwrap();
    full(&db);
    let mut moments = vec![moment()];
    for n in 1..60 {
        put_commit(&db, &tree, n, &[n as u8; 700]).unwrap();
        if n % 20 == 0 {
            log(&db);
        }
        moments.push(moment());
    }
    db.checkpoint().unwrap();
    log(&db);
    for (n, at) in moments.iter().enumerate() {
        restore(&fs, 1, None).unwrap();
        let mut stopped = Stopped::AtEnd;
        for position in 2..=4 {
            stopped = restore(&fs, position, Some(*at)).unwrap().stopped;
            if stopped == Stopped::AtTime {
                break;
            }
        }
        assert_eq!(stopped, Stopped::AtTime, "{n}");
        let copy = recover(&fs).unwrap();
        let rows = all_rows(&copy, &copy.tree(tree.id()));
        assert_eq!(rows.len(), n + 1, "rows at moment {n}");
        drop(copy);
        remove_copy(&fs);
    }
}

#[test]
fn what_was_stopped_can_go_on() {
    let fs = SimFs::new(22);
    let db = create(&fs, full_model());
    let tree = make_tree(&db);
    full(&db);
    put_commit(&db, &tree, 1, b"one").unwrap();
    let between = moment();
    put_commit(&db, &tree, 2, b"two").unwrap();
    log(&db);
    put_commit(&db, &tree, 3, b"three").unwrap();
    log(&db);
    restore(&fs, 1, None).unwrap();
    assert_eq!(restore(&fs, 2, Some(between)).unwrap().stopped, Stopped::AtTime);
    // The same log again, in whole, and the next.
    restore(&fs, 2, None).unwrap();
    restore(&fs, 3, None).unwrap();
    let copy = recover(&fs).unwrap();
    assert_eq!(all_rows(&copy, &copy.tree(tree.id())).len(), 3);
}

#[test]
fn log_is_kept_for_its_backup_and_no_longer() {
    let fs = SimFs::new(23);
    let db = create(&fs, full_model());
    let tree = make_tree(&db);
    let fill = |from: u64| {
        (from..from + 3000).for_each(|n| _ = put_commit(&db, &tree, n, &[1; 300]).unwrap());
        db.checkpoint().unwrap();
    };
    fill(0);
    assert!(is_free(&db), "there is no backup to keep log for");
    let number = |kind| take(&db, kind, None).err().map(|e| e.number());
    assert_eq!(number(SetKind::Log), Some(4214));
    take(&db, SetKind::Database, None).unwrap();
    fill(10_000);
    assert_eq!(db.log_reuse_wait().1, "LOG_BACKUP");
    let kept = db.stats().log_used_bytes;
    assert!(kept > 700_000, "{kept}");
    take(&db, SetKind::Log, None).unwrap();
    assert!(db.stats().log_used_bytes < kept / 2);
    assert!(is_free(&db));
    fill(20_000);
    db.set_recovery_model(RecoveryModel::Simple).unwrap();
    db.checkpoint().unwrap();
    assert!(is_free(&db));
    assert_eq!(number(SetKind::Log), Some(4208));
    let mut open = db.begin(TxnOptions::default());
    put(&mut open, &tree, 1 << 40, b"open").unwrap();
    fill(30_000);
    assert_eq!(db.log_reuse_wait().1, "ACTIVE_TRANSACTION");
    open.rollback().unwrap();
    db.checkpoint().unwrap();
    assert!(is_free(&db));
}

#[test]
fn a_log_that_waits_for_a_backup_says_so_when_it_is_full() {
    let fs = SimFs::new(24);
    let mut options = full_model();
    options.log.max_bytes = Some(1 << 20);
    // Long enough for a slow machine to write the log buffer out meanwhile.
    options.log.full_wait_ms = 5_000;
    let db = create(&fs, options);
    let tree = make_tree(&db);
    take(&db, SetKind::Database, None).unwrap();
    let full = (0..100_000).find_map(|n| put_commit(&db, &tree, n, &[1; 500]).err());
    assert_eq!(full, Some(EngineError::LogFull { reason: "LOG_BACKUP" }));
    take(&db, SetKind::Log, None).unwrap();
    put_commit(&db, &tree, 1 << 40, b"room").unwrap();
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_what_is_there() {
    let fs = SimFs::new(25);
    let db = create(&fs, full_model());
    let tree = make_tree(&db);
    full(&db);
    let early = moment();
    put_commit(&db, &tree, 1, b"one").unwrap();
    log(&db);
    put_commit(&db, &tree, 2, b"two").unwrap();
    log(&db);
    full(&db);
    let number = |position, at| restore(&fs, position, at).err().map(|e| e.number());
    assert_eq!(number(4, Some(early)), Some(4338));
    restore(&fs, 1, None).unwrap();
    assert_eq!(number(1, None), Some(5170), "files are there");
    assert_eq!(number(3, None), Some(4305));
    assert_eq!(number(2, Some(early - 1_000_000)), Some(4338));
    restore(&fs, 2, None).unwrap();
    assert_eq!(number(2, None), Some(4326));
    restore(&fs, 3, None).unwrap();
    let copy = recover(&fs).unwrap();
    assert_eq!(number(3, None), Some(5120), "it is open");
    assert_eq!(all_rows(&copy, &copy.tree(tree.id())).len(), 2);
    // Its history goes on by itself.
    assert_eq!(take(&copy, SetKind::Log, None).err().map(|e| e.number()), Some(4214));
    take(&copy, SetKind::Database, Some(MEDIA)).unwrap();
    put_commit(&copy, &copy.tree(tree.id()), 3, b"three").unwrap();
    take(&copy, SetKind::Log, Some(MEDIA)).unwrap();
    copy.close().unwrap();
    drop(copy);
    assert_eq!(number(3, None), Some(4306));
    remove_copy(&fs);
    restore(&fs, 4, None).unwrap();
    assert_eq!(number(6, None), Some(4330), "the copy's log is not the first one's");
}

#[test]
fn a_damaged_set_is_noticed_and_a_whole_one_restores_after_it() {
    let fs = SimFs::new(26);
    let db = create(&fs, full_model());
    let tree = make_tree(&db);
    (0..500).for_each(|n| _ = put_commit(&db, &tree, n, &[n as u8; 300]).unwrap());
    let end = full(&db);
    assert!(end.pages.iter().any(|(file, pages)| *file == 1 && *pages > 20), "{:?}", end.pages);
    let len = fs.open(MEDIA.as_ref(), device::OpenOptions::read_only()).unwrap().len().unwrap();
    let mut rng = stdx::Prng::new(1);
    for _ in 0..20 {
        let at = rng.below(len);
        fs.damage(MEDIA.as_ref(), at).unwrap();
        assert!(restore(&fs, 1, None).is_err(), "byte {at}");
        assert!(recover(&fs).is_err(), "half a restore is not opened");
        remove_copy(&fs);
        fs.damage(MEDIA.as_ref(), at).unwrap();
    }
    restore(&fs, 1, None).unwrap();
    assert_eq!(copy_rows(&recover(&fs).unwrap(), tree.id()), 500);
}

#[test]
fn files_added_and_grown_between_backups_are_there() {
    let fs = SimFs::new(27);
    let db = create(&fs, full_model());
    let tree = make_tree(&db);
    full(&db);
    (0..9000).for_each(|n| _ = put_commit(&db, &tree, n, &[n as u8; 900]).unwrap());
    db.add_file(DataFile {
        filegroup: 2,
        file_id: 3,
        path: "/db/t3.ndf".into(),
        initial_bytes: 1 << 20,
        growth_bytes: 1 << 20,
        max_bytes: None,
    })
    .unwrap();
    let mut txn = db.begin(TxnOptions::default());
    let id = txn.create_tree(2).unwrap();
    put(&mut txn, &db.tree(id), 1, b"in the new file").unwrap();
    txn.commit(Durability::Full).unwrap();
    log(&db);
    restore(&fs, 1, None).unwrap();
    restore(&fs, 2, None).unwrap();
    let copy = recover(&fs).unwrap();
    assert_eq!(all_rows(&copy, &copy.tree(tree.id())).len(), 9000);
    assert_eq!(all_rows(&copy, &copy.tree(id)).len(), 1);
    // An extent more, in files that grew by restoring.
    (9000..12_000)
        .for_each(|n| _ = put_commit(&copy, &copy.tree(tree.id()), n, &[1; 900]).unwrap());
    copy.tree(tree.id()).verify().unwrap();
}

#[test]
fn power_lost_while_restoring_leaves_no_half() {
    let fs = SimFs::new(28);
    let db = create(&fs, full_model());
    let tree = make_tree(&db);
    (0..300).for_each(|n| _ = put_commit(&db, &tree, n, &[n as u8; 300]).unwrap());
    full(&db);
    (300..400).for_each(|n| _ = put_commit(&db, &tree, n, &[n as u8; 300]).unwrap());
    log(&db);
    let id = tree.id();
    db.close().unwrap();
    drop((db, tree));
    let whole = fs.crash(0);
    let before = whole.ops();
    restore(&whole, 1, None).unwrap();
    restore(&whole, 2, None).unwrap();
    drop(recover(&whole).unwrap());
    let ops = whole.ops() - before;
    let mut seen = [0; 4];
    for seed in 0..60 {
        let world = fs.crash(seed);
        let mut rng = stdx::Prng::new(seed);
        world.power_off_at(Some(world.ops() + rng.below(ops * 10 / 9)));
        let first = restore(&world, 1, None);
        let second = first.and_then(|_| restore(&world, 2, None));
        let third = second.and_then(|_| recover(&world));
        seen[usize::from(third.is_ok())] += 1;
        drop(third);
        let world = world.crash(seed + 1000);
        match recover(&world) {
            Ok(copy) => {
                let rows = all_rows(&copy, &copy.tree(id)).len();
                assert!(rows == 300 || rows == 400, "seed {seed}: {rows} rows");
                copy.tree(id).verify().unwrap();
                seen[2] += 1;
            }
            Err(e) => {
                assert!([5120, 823, 9004].contains(&e.number()), "seed {seed}: {e}");
                seen[3] += 1;
            }
        }
        remove_copy(&world);
        restore(&world, 1, None).unwrap();
        restore(&world, 2, None).unwrap();
        assert_eq!(copy_rows(&recover(&world).unwrap(), id), 400);
    }
    assert!(seen.iter().all(|n| *n > 0), "{seen:?}");
}

#[test]
fn a_singleton_is_restored_by_the_clock_that_it_was_given_unless_it_had_to_wait() {
    let fs = SimFs::new(33);
    let db = create(&fs, full_model());
    let tree = make_tree(&db);
    full(&db);
    const HOUR_US: u64 = 3_600_000_000;
    let now = moment();
    let (soon, given) = (now + HOUR_US, Some((now + 2 * HOUR_US) * 1000));
    let mut txn = db.txn(TxnOptions::default());
    let mut hint = InsertHint::default();
    // The first one has no leaf remembered and so may have to read: its time is read again.
    for n in 1..=2 {
        let row = RowImage::new(b"row");
        txn.insert_commit(&tree, &key(n), &row, &mut hint, Durability::Delayed, given).unwrap();
    }
    drop(txn);
    log(&db);
    for (stop_at, rows) in [(None, 2), (Some(now), 0), (Some(soon), 1)] {
        restore(&fs, 1, None).unwrap();
        restore(&fs, 2, stop_at).unwrap();
        let copy = recover(&fs).unwrap();
        assert_eq!(copy_rows(&copy, tree.id()), rows, "up to {stop_at:?}");
        drop(copy);
        remove_copy(&fs);
    }
}

/// As an older build would have left it: without the system tables that came later.
fn make_older(db: &Database, trees: usize) {
    db.change_boot(|boot| boot.system_trees.truncate(trees)).unwrap();
}

#[test]
fn a_database_of_an_older_build_is_brought_up_to_this_one() {
    let fs = SimFs::new(31);
    let db = create(&fs, full_model());
    make_older(&db, 16);
    full(&db);
    let before = moment();
    put_commit(&db, &make_tree(&db), 1, b"later").unwrap();
    db.close().unwrap();
    drop(db);
    // Opened by a later build, which makes the rest and uses it.
    let db = reopen(&fs, full_model()).unwrap();
    let added = db.system_tree(crate::SYSTEM_TREES - 1);
    put_commit(&db, &db.tree(added), 7, b"an index").unwrap();
    log(&db);
    for (logs, stop_at, rows) in [(0, None, 0), (1, None, 1), (1, Some(before), 0)] {
        restore(&fs, 1, None).unwrap();
        (0..logs).for_each(|_| drop(restore(&fs, 2, stop_at).unwrap()));
        let copy = recover(&fs).unwrap();
        let last = copy.system_tree(crate::SYSTEM_TREES - 1);
        assert_eq!(copy_rows(&copy, last), rows, "{logs} logs up to {stop_at:?}");
        assert!(rows == 0 || last == added);
        let mut all: Vec<_> = (0..crate::SYSTEM_TREES).map(|n| copy.system_tree(n)).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), crate::SYSTEM_TREES);
        put_commit(&copy, &copy.tree(last), 8, b"works").unwrap();
        copy.close().unwrap();
        drop(copy);
        let copy = reopen_copy(&fs).unwrap();
        assert_eq!(copy_rows(&copy, last), rows + 1);
        copy.tree(last).verify().unwrap();
        drop(copy);
        remove_copy(&fs);
    }
}

#[test]
fn a_database_of_a_newer_build_is_refused() {
    let fs = SimFs::new(32);
    let db = create(&fs, full_model());
    db.change_boot(|boot| boot.system_trees.push(boot.system_trees[0])).unwrap();
    full(&db);
    let refused = restore(&fs, 1, None).unwrap_err();
    assert_eq!(refused.number(), 3169, "{refused}");
    assert!(fs.list(Path::new("/copy")).unwrap_or_default().is_empty());
    db.close().unwrap();
    drop(db);
    let refused = reopen(&fs, full_model()).err().expect("it does not open");
    assert_eq!(refused.number(), 948, "{refused}");
}
