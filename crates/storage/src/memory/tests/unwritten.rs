//! What the log is told of rows, and what the tree beside is.

use super::*;

/// Images cut short at every byte, and with every byte changed: told, or read as something, and never more than is there.
#[test]
fn images_that_nobody_wrote_are_told() {
    let world = World::new();
    let table = Arc::new(Table::new(Kind::Range));
    let mut images = ImageWriter::default();
    let mut txn = world.begin();
    for n in 0..4u8 {
        txn.insert(&table, &[n; 6], &[n; 30]).unwrap();
    }
    txn.commit();
    let mut txn = world.begin();
    txn.change(&table, &[1; 6], None).unwrap();
    txn.change(&table, &[2; 6], Some(b"other")).unwrap();
    for (n, (table, written)) in txn.written.iter().enumerate() {
        log_image(table, *written, txn.xid, |key, row| images.add(n as u64, key, row));
    }
    assert_eq!(images.images(), 2);
    let whole = images.bytes().to_vec();
    for cut in 0..whole.len() {
        let read: Vec<_> = Images::of(&whole[..cut]).collect();
        assert!(read.len() <= 2 && read.iter().flatten().count() < 2, "{cut}");
        for value in [0, 1, 2, 4, 7, 8, 255] {
            let mut changed = whole.clone();
            changed[cut] = value;
            assert!(Images::of(&changed).count() <= whole.len());
        }
    }
    assert_eq!(Images::of(&whole).flatten().filter(|image| image.row.is_none()).count(), 1);
}

/// What the tree beside is to have: each row once, whatever happens to it meanwhile, and no row goes before that.
#[test]
fn rows_are_listed_until_they_are_written() {
    for table in both() {
        let world = World::new();
        let log = |txn: &Txn<'_>| {
            for (table, written) in &txn.written {
                log_image(table, *written, txn.xid, |_, _| {});
            }
        };
        // As a checkpoint does it: the keys, and what is there.
        let beside = std::cell::RefCell::new(std::collections::BTreeMap::new());
        let write = || {
            let mut unfinished = 0;
            for held in table.take_unwritten() {
                let ((key, row, was), open) = table.newest(&held, &world, |newest| {
                    (newest.key.to_vec(), newest.row.map(|row| row.to_vec()), newest.is_there)
                });
                assert_eq!(was, beside.borrow().contains_key(&key));
                let is_there = row.is_some();
                match row {
                    Some(row) => beside.borrow_mut().insert(key, row),
                    None => beside.borrow_mut().remove(&key),
                };
                if open {
                    unfinished += 1;
                    table.put_back(&held);
                }
                table.written(held, is_there);
            }
            unfinished
        };
        let mut a = world.begin();
        for n in 0..10u8 {
            a.insert(&table, &[n], b"a").unwrap();
        }
        log(&a);
        // It is about to commit: nothing of it is written, and all of it stays listed.
        assert_eq!(write(), 10);
        assert!(beside.borrow().is_empty());
        a.commit();
        assert_eq!((write(), beside.borrow().len(), table.unwritten()), (0, 10, 0));
        let mut b = world.begin();
        b.change(&table, &[1], Some(b"b")).unwrap();
        b.change(&table, &[2], None).unwrap();
        log(&b);
        b.commit();
        // Deleted, and seen by nobody: it stays for the tree beside.
        world.clock.fetch_add(8, SeqCst);
        for _ in 0..3 {
            table.clean(&world, &world);
        }
        assert_eq!(table.to_clean(), 1);
        // One that is taken back is written as it was.
        let mut c = world.begin();
        c.change(&table, &[1], Some(b"c")).unwrap();
        log(&c);
        assert_eq!(write(), 1);
        c.take_back(0);
        c.over();
        assert_eq!(write(), 0);
        assert_eq!(beside.borrow().get(&[1][..]).map(Vec::as_slice), Some(&b"b"[..]));
        assert_eq!((beside.borrow().len(), table.unwritten()), (9, 0));
        for _ in 0..3 {
            table.clean(&world, &world);
        }
        assert_eq!(table.to_clean(), 0);
        // Once more under the key of a row that is gone, and gone again before anybody has written it.
        let mut d = world.begin();
        d.insert(&table, &[2], b"d").unwrap();
        log(&d);
        d.commit();
        let mut e = world.begin();
        e.change(&table, &[2], None).unwrap();
        log(&e);
        e.commit();
        assert_eq!((write(), beside.borrow().len()), (0, 9));
        world.clock.fetch_add(8, SeqCst);
        for _ in 0..3 {
            table.clean(&world, &world);
        }
        assert_eq!(table.to_clean(), 0);
        assert_eq!(world.begin().all(&table, false).len(), 9);
    }
}
