//! Rows shown a leaf at a time, and rows brought near before they are looked up.

use super::*;

/// The rows of a scan as it shows them.
fn shown(txn: &mut Txn, tree: &Tree, options: ScanOptions) -> Vec<Vec<u8>> {
    let mut scan = txn.scan(tree, Bound::Unbounded, Bound::Unbounded, options).unwrap();
    assert!(scan.can_visit());
    let mut all = Vec::new();
    let mut each = |bytes: &[u8], spots: &mut Vec<Spot>| {
        all.extend(spots.iter().map(|spot| spot.of(bytes).to_vec()));
    };
    while scan.visit_leaf(txn, &mut each).unwrap() {}
    all
}

fn row(n: u64, what: &str) -> Vec<u8> {
    format!("{what} {n} {}", "x".repeat(n as usize % 90)).into_bytes()
}

#[test]
fn leaves_show_the_rows_that_come_one_by_one() {
    let db = fresh();
    let tree = make_tree(&db);
    for n in 0..600 {
        put_commit(&db, &tree, n, &row(n, "first")).unwrap();
    }
    let options = TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
    let mut before = db.begin(options);
    assert!(read(&mut before, &tree, 0).is_some());
    let mut txn = db.begin(TxnOptions::default());
    for n in (0..600).step_by(7) {
        assert!(txn.update(&tree, &key(n), &RowImage::new(&row(n, "second"))).unwrap());
        assert!(txn.delete(&tree, &key(n + 1)).unwrap() || n + 1 >= 600);
    }
    txn.commit(Durability::Delayed).unwrap();
    for (txn, second) in
        [(&mut before, 0), (&mut db.begin(TxnOptions::default()), 600usize.div_ceil(7))]
    {
        for reverse in [false, true] {
            let options = ScanOptions { reverse, ..ScanOptions::default() };
            let expected: Vec<Vec<u8>> =
                rows(txn, &tree, options).into_iter().map(|(_, row)| row).collect();
            assert_eq!(expected.iter().filter(|row| row.starts_with(b"second")).count(), second);
            assert_eq!(shown(txn, &tree, options), expected, "reverse: {reverse}");
        }
        let dirty = rows(txn, &tree, nolock()).into_iter().map(|(_, row)| row);
        assert_eq!(shown(txn, &tree, nolock()), dirty.collect::<Vec<_>>());
    }
}

#[test]
fn rows_are_brought_near_before_they_are_looked_up() {
    let fs = SimFs::new(1);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    for n in 0..2_000 {
        put_commit(&db, &tree, n, &row(n, "row")).unwrap();
    }
    let id = tree.id();
    db.close().unwrap();
    drop((tree, db));
    let db = reopen(&fs, small_options()).unwrap();
    let tree = db.tree(id);
    let keys: Vec<[u8; 8]> = (0..2_000).step_by(200).map(key).collect();
    let far = keys.iter().filter(|key| !tree.is_near(*key).unwrap()).count();
    assert!(far > 5, "{far} of {} keys are not in memory", keys.len());
    assert!(tree.bring_near(keys.iter().map(|key| &key[..])).unwrap() > 5);
    assert!(keys.iter().all(|key| tree.is_near(key).unwrap()));
    assert_eq!(tree.bring_near(keys.iter().map(|key| &key[..])).unwrap(), 0);
    // The processor's turn: nothing is read for it, and keys that are not there do no harm.
    assert!(tree.fetches_ahead());
    tree.fetch_ahead(keys.iter().map(|key| &key[..]));
    tree.fetch_ahead([&[][..], &key(5_000), &[0xff; 40]].into_iter());
    assert_eq!(read_now(&db, &tree, 100), Some(row(100, "row")));
}
