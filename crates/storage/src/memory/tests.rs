//! One thread's rows as a map would have them; many threads' histories checked.

mod sample;
mod unwritten;

use crate::memory::{
    Changed, Cursor, ImageWriter, Images, IndexCensus, Kept, Kind, Needs, Pin, Refused, RowsToList,
    Sight, States, Table, Written,
};
use crate::{RowImage, Run};
use log_manager::Lsn;
use mvcc::{Xid, XidStatus};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// A clock, and what has become of transactions.
#[derive(Default)]
struct World {
    clock: AtomicU64,
    xids: AtomicU64,
    states: Mutex<HashMap<u64, XidStatus>>,
    snapshots: Mutex<BTreeMap<u64, usize>>,
}

impl States for World {
    fn status(&self, xid: Xid) -> XidStatus {
        self.states.lock().get(&xid.0).copied().unwrap_or(XidStatus::Aborted)
    }

    fn has_prepared(&self, xid: Xid) -> bool {
        matches!(self.status(xid), XidStatus::Committing | XidStatus::Committed(_))
    }
}

impl Needs for World {
    fn horizon(&self) -> Lsn {
        let snapshots = self.snapshots.lock();
        let least = snapshots.keys().next().copied();
        Lsn(least.unwrap_or_else(|| self.clock.load(SeqCst)))
    }

    fn needs(&self, since: Lsn, until: Lsn) -> bool {
        let snapshots = self.snapshots.lock();
        until.0 >= self.clock.load(SeqCst)
            || snapshots.keys().any(|s| since.0 < *s && *s <= until.0)
    }
}

struct Txn<'w> {
    world: &'w World,
    snapshot: u64,
    xid: u64,
    written: Vec<(Arc<Table>, Written)>,
}

impl World {
    fn new() -> World {
        World { clock: AtomicU64::new(8), xids: AtomicU64::new(1), ..World::default() }
    }

    fn begin(&self) -> Txn<'_> {
        let mut snapshots = self.snapshots.lock();
        let snapshot = self.clock.load(SeqCst);
        *snapshots.entry(snapshot).or_default() += 1;
        drop(snapshots);
        let xid = self.xids.fetch_add(1, SeqCst);
        self.states.lock().insert(xid, XidStatus::Active);
        Txn { world: self, snapshot, xid, written: Vec::new() }
    }
}

fn image(row: &[u8]) -> RowImage<'_> {
    RowImage::new(row)
}

impl Txn<'_> {
    fn sight(&self) -> Sight<'_, World> {
        Sight { snapshot: Lsn(self.snapshot), own: Xid(self.xid), states: self.world }
    }

    fn insert(&mut self, table: &Arc<Table>, key: &[u8], row: &[u8]) -> Result<(), Refused> {
        let written = table.insert(key, &image(row), &self.sight())?;
        self.written.push((table.clone(), written));
        Ok(())
    }

    fn change(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        row: Option<&[u8]>,
    ) -> Result<bool, Refused> {
        let Some(written) = table.change(key, row.map(image).as_ref(), &self.sight())? else {
            return Ok(false);
        };
        self.written.push((table.clone(), written));
        Ok(true)
    }

    fn get(&self, table: &Table, key: &[u8]) -> Option<Vec<u8>> {
        table.get(key, &self.sight(), |row, _| row.to_vec())
    }

    fn all(&self, table: &Table, reverse: bool) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.range(table, Bound::Unbounded, Bound::Unbounded, reverse)
    }

    fn range(
        &self,
        table: &Table,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        reverse: bool,
    ) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        let mut cursor = Cursor::range(table, lower, upper, reverse);
        let sight = self.sight();
        while table.step(&mut cursor, &sight, |k, r, _| rows.push((k.to_vec(), r.to_vec()))) {}
        rows
    }

    fn over(&self) {
        let mut snapshots = self.world.snapshots.lock();
        if let Some(n) = snapshots.get_mut(&self.snapshot) {
            *n -= 1;
            if *n == 0 {
                snapshots.remove(&self.snapshot);
            }
        }
    }

    fn commit(self) -> u64 {
        self.world.states.lock().insert(self.xid, XidStatus::Committing);
        let csn = self.world.clock.fetch_add(8, SeqCst);
        self.world.states.lock().insert(self.xid, XidStatus::Committed(Lsn(csn)));
        for (table, written) in &self.written {
            table.stamp(*written, Xid(self.xid), Lsn(csn), &Pin::new());
        }
        self.over();
        csn
    }

    fn abort(mut self) {
        self.take_back(0);
        self.world.states.lock().insert(self.xid, XidStatus::Aborted);
        self.over();
    }

    fn take_back(&mut self, to: usize) {
        while self.written.len() > to {
            if let Some((table, written)) = self.written.pop() {
                table.take_back(written);
            }
        }
    }
}

fn both() -> [Arc<Table>; 2] {
    let hash = Kind::Hash { buckets: 16, tailed: false };
    [Arc::new(Table::new(Kind::Range)), Arc::new(Table::new(hash))]
}

/// Tells what the log is to say of a change, whose row is listed then.
fn log_image(
    table: &Table,
    written: Written,
    xid: u64,
    tell: impl FnOnce(&[u8], Option<&Kept<'_>>),
) {
    let mut listing = RowsToList::default();
    table.log_image(written, Xid(xid), &mut listing, &Pin::new(), tell);
    table.put_into_lists(&mut listing);
}

#[test]
fn a_snapshot_sees_what_was_committed_before_it() {
    for table in both() {
        let world = World::new();
        let mut a = world.begin();
        a.insert(&table, b"k", b"1").unwrap();
        assert_eq!(a.get(&table, b"k").as_deref(), Some(&b"1"[..]));
        let early = world.begin();
        assert_eq!(early.get(&table, b"k"), None);
        a.commit();
        assert_eq!(early.get(&table, b"k"), None);
        let mut b = world.begin();
        assert!(b.change(&table, b"k", Some(b"2")).unwrap());
        assert!(b.change(&table, b"k", Some(b"3")).unwrap());
        let middle = world.begin();
        b.commit();
        let mut c = world.begin();
        assert!(c.change(&table, b"k", None).unwrap());
        c.commit();
        assert_eq!(early.get(&table, b"k"), None);
        assert_eq!(middle.get(&table, b"k").as_deref(), Some(&b"1"[..]));
        assert_eq!(world.begin().get(&table, b"k"), None);
        // What nobody sees goes, what somebody sees stays.
        table.clean(&world, &world);
        assert_eq!(middle.get(&table, b"k").as_deref(), Some(&b"1"[..]));
        middle.over();
        early.over();
        world.snapshots.lock().clear();
        world.clock.fetch_add(8, SeqCst);
        table.clean(&world, &world);
        table.clean(&world, &world);
        assert_eq!(table.bytes(), table.index_bytes(), "something was left behind");
        let mut d = world.begin();
        d.insert(&table, b"k", b"9").unwrap();
        d.commit();
    }
}

#[test]
fn a_write_meets_another() {
    for table in both() {
        let world = World::new();
        let mut a = world.begin();
        a.insert(&table, b"k", b"1").unwrap();
        a.commit();
        let (mut b, mut c) = (world.begin(), world.begin());
        assert!(b.change(&table, b"k", Some(b"2")).unwrap());
        // First of two writers wins, while it goes on and after it has committed.
        assert_eq!(c.change(&table, b"k", Some(b"3")), Err(Refused::Conflict));
        b.insert(&table, b"new", b"x").unwrap();
        assert_eq!(c.insert(&table, b"new", b"y"), Err(Refused::Race));
        assert_eq!(c.insert(&table, b"k", b"y"), Err(Refused::Duplicate));
        assert_eq!(b.insert(&table, b"k", b"y"), Err(Refused::Duplicate));
        b.commit();
        assert_eq!(c.change(&table, b"k", None), Err(Refused::Conflict));
        assert_eq!(c.insert(&table, b"new", b"y"), Err(Refused::Race));
        assert_eq!(c.change(&table, b"new", None), Ok(false));
        c.abort();
        let mut d = world.begin();
        assert!(d.change(&table, b"k", Some(b"4")).unwrap());
        d.abort();
        assert_eq!(world.begin().get(&table, b"k").as_deref(), Some(&b"2"[..]));
    }
}

#[test]
fn changes_are_taken_back_and_told_of_once() {
    for table in both() {
        let world = World::new();
        let mut a = world.begin();
        a.insert(&table, b"old", b"1").unwrap();
        a.commit();
        let mut b = world.begin();
        b.change(&table, b"old", Some(b"2")).unwrap();
        let mark = b.written.len();
        b.change(&table, b"old", None).unwrap();
        b.insert(&table, b"old", b"3").unwrap();
        b.insert(&table, b"gone", b"4").unwrap();
        b.take_back(mark);
        b.insert(&table, b"new", b"5").unwrap();
        b.insert(&table, b"brief", b"5").unwrap();
        b.change(&table, b"brief", None).unwrap();
        b.change(&table, b"old", Some(b"6")).unwrap();
        let mut told = Vec::new();
        for (table, written) in &b.written {
            log_image(table, *written, b.xid, |key, row| {
                told.push((key.to_vec(), row.map(|row| row.to_vec())));
            });
        }
        assert_eq!(
            told,
            [(b"new".to_vec(), Some(b"5".to_vec())), (b"old".to_vec(), Some(b"6".to_vec()))]
        );
        b.commit();
        let rows = world.begin();
        let mut all = rows.all(&table, false);
        all.sort();
        assert_eq!(all, [(b"new".to_vec(), b"5".to_vec()), (b"old".to_vec(), b"6".to_vec())]);
        rows.over();
        world.clock.fetch_add(8, SeqCst);
        table.clean(&world, &world);
        table.clean(&world, &world);
        assert_eq!(world.begin().all(&table, false).len(), 2);
    }
}

#[test]
fn what_was_read_has_changed() {
    for table in both() {
        let world = World::new();
        let mut a = world.begin();
        a.insert(&table, b"k", b"1").unwrap();
        a.commit();
        let reader = world.begin();
        let within = |sight: &Sight<'_, World>| {
            let mut all = Cursor::range(&table, Bound::Unbounded, Bound::Unbounded, false);
            table.changed_within(&mut all, sight)
        };
        assert_eq!(within(&reader.sight()), Changed::No);
        let mut b = world.begin();
        b.insert(&table, b"new", b"2").unwrap();
        assert_eq!(within(&reader.sight()), Changed::No);
        b.commit();
        assert_eq!(within(&reader.sight()), Changed::Phantom);
        assert_eq!(table.changed(b"k", &reader.sight()), Changed::No);
        let mut c = world.begin();
        c.change(&table, b"k", None).unwrap();
        c.commit();
        assert_eq!(table.changed(b"k", &reader.sight()), Changed::Row);
    }
}

#[test]
fn rows_are_in_order_both_ways() {
    let world = World::new();
    let table = Arc::new(Table::new(Kind::Range));
    let mut model = BTreeMap::new();
    let mut seed = 12345u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    for round in 0..40u64 {
        let mut txn = world.begin();
        for i in 0..500 {
            // A third at the end, the rest anywhere.
            let n = if i % 3 == 0 { 1 << 40 | round << 20 | i } else { next(20_000) };
            let key = n.to_be_bytes();
            match next(4) {
                0 => {
                    let there = txn.change(&table, &key, None).unwrap();
                    assert_eq!(there, model.remove(&key).is_some());
                }
                _ => {
                    let came = txn.insert(&table, &key, &n.to_le_bytes()).is_ok();
                    assert_eq!(came, model.insert(key, n.to_le_bytes()).is_none());
                }
            }
        }
        txn.commit();
        table.clean(&world, &world);
    }
    let txn = world.begin();
    let rows: Vec<_> = model.iter().map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
    assert_eq!(txn.all(&table, false), rows);
    let mut back = rows.clone();
    back.reverse();
    assert_eq!(txn.all(&table, true), back);
    for _ in 0..200 {
        let (a, b) = (next(20_000).to_be_bytes(), next(20_000).to_be_bytes());
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            continue;
        }
        let expect: Vec<_> = model.range(a..b).map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
        let bounds = (Bound::Included(&a[..]), Bound::Excluded(&b[..]));
        assert_eq!(txn.range(&table, bounds.0, bounds.1, false), expect);
        let mut back = txn.range(&table, bounds.0, bounds.1, true);
        back.reverse();
        assert_eq!(back, expect);
        let bounds = (Bound::Excluded(&a[..]), Bound::Included(&b[..]));
        let expect: Vec<_> = model
            .range((Bound::Excluded(a), Bound::Included(b)))
            .map(|(k, _)| k.to_vec())
            .collect();
        let got: Vec<_> =
            txn.range(&table, bounds.0, bounds.1, false).into_iter().map(|(k, _)| k).collect();
        assert_eq!(got, expect);
    }
}

#[test]
fn rows_of_one_hashed_value() {
    let world = World::new();
    let table = Arc::new(Table::new(Kind::Hash { buckets: 8, tailed: true }));
    let key =
        |value: &[u8], tail: &[u8]| [value, tail, &(tail.len() as u16).to_be_bytes()].concat();
    let mut txn = world.begin();
    for (value, tail) in [(b"aa", &b"1"[..]), (b"aa", b"22"), (b"bb", b"1"), (b"cc", b"")] {
        txn.insert(&table, &key(value, tail), b"row").unwrap();
    }
    let mut cursor = Cursor::value(&table, b"aa", Bound::Excluded(b"ab"));
    let mut met = 0;
    let sight = txn.sight();
    while table.step(&mut cursor, &sight, |_, _, _| met += 1) {}
    assert_eq!(met, 2);
}

/// Accounts between which money moves: every snapshot sees the same sum, whatever is cleaned; rows come and go.
#[test]
fn many_threads_keep_the_sum() {
    const ACCOUNTS: u64 = 64;
    for table in both() {
        let world = World::new();
        let mut txn = world.begin();
        for n in 0..ACCOUNTS {
            txn.insert(&table, &n.to_be_bytes(), &100u64.to_le_bytes()).unwrap();
        }
        txn.commit();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for worker in 0..3u64 {
                let (world, table) = (&world, &table);
                scope.spawn(move || {
                    let mut seed = worker + 1;
                    let mut next = |below: u64| {
                        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(99);
                        (seed >> 33) % below
                    };
                    let mut moved = 0;
                    for _ in 0..6_000 {
                        let (from, to) = (next(ACCOUNTS), next(ACCOUNTS));
                        let mut txn = world.begin();
                        let read = |txn: &Txn<'_>, n: u64| {
                            let row = txn.get(table, &n.to_be_bytes()).unwrap_or_default();
                            row.try_into().map_or(0, u64::from_le_bytes)
                        };
                        let (a, b) = (read(&txn, from), read(&txn, to));
                        if from == to || a == 0 {
                            txn.abort();
                            continue;
                        }
                        // An account of nothing is not there.
                        let left = (a > 1).then(|| (a - 1).to_le_bytes());
                        let left = left.as_ref().map(|l| &l[..]);
                        let done = txn.change(table, &from.to_be_bytes(), left).and_then(|_| {
                            let row = (b + 1).to_le_bytes();
                            match b {
                                0 => txn.insert(table, &to.to_be_bytes(), &row),
                                _ => txn
                                    .change(table, &to.to_be_bytes(), Some(&row))
                                    .map(|found| assert!(found)),
                            }
                        });
                        match done {
                            Ok(()) if next(10) > 0 => {
                                txn.commit();
                                moved += 1;
                            }
                            _ => txn.abort(),
                        }
                    }
                    assert!(moved > 0);
                });
            }
            let (world, table, stop) = (&world, &table, &stop);
            scope.spawn(move || {
                while !stop.load(SeqCst) {
                    table.clean(world, world);
                    std::thread::yield_now();
                }
            });
            let reader = scope.spawn(move || {
                for _ in 0..300 {
                    let txn = world.begin();
                    for reverse in [false, true] {
                        let rows = txn.all(table, reverse);
                        let sum: u64 = rows
                            .iter()
                            .map(|(_, row)| row[..].try_into().map_or(0, u64::from_le_bytes))
                            .sum();
                        assert_eq!(sum, ACCOUNTS * 100);
                    }
                    txn.over();
                }
            });
            assert!(reader.join().is_ok());
            stop.store(true, SeqCst);
        });
        world.clock.fetch_add(8, SeqCst);
        for _ in 0..3 {
            table.clean(&world, &world);
        }
        assert_eq!(table.to_clean(), 0);
    }
}

/// What is counted when somebody asks is what is there.
#[test]
fn a_census_counts_rows_nodes_and_doings() {
    const ROWS: u64 = 3_000;
    let filled = |kind| {
        let table = Table::new(kind);
        for n in 0..ROWS {
            assert!(table.load(&n.to_be_bytes(), Some(&[1; 20]), true, true));
        }
        table
    };
    let hash = filled(Kind::Hash { buckets: 1024, tailed: false });
    let IndexCensus::Hash(chains) = hash.census() else { panic!("a hash index") };
    assert_eq!((chains.buckets, chains.rows), (1024, ROWS));
    assert!(chains.empty < 1024 && chains.longest >= 3);
    assert_eq!(hash.measured_index_bytes(), 1024 * 8);
    // A key of 8 bytes, a row of 20 and their links, as an allocator gives them.
    let each = hash.row_bytes() / ROWS;
    assert!((64..=160).contains(&each), "{each} bytes a row");
    let range = filled(Kind::Range);
    let IndexCensus::Range(nodes) = range.census() else { panic!("a range index") };
    assert_eq!(nodes.leaves, nodes.leaf_splits + 1);
    assert!(nodes.leaves >= ROWS / 64 && nodes.inner >= 1);
    assert!(range.measured_index_bytes() > ROWS * 16);
    let world = World::new();
    let table = Arc::new(filled(Kind::Range));
    let mut txn = world.begin();
    txn.insert(&table, b"new", b"row").unwrap();
    assert!(txn.change(&table, &1u64.to_be_bytes(), Some(b"other")).unwrap());
    assert!(txn.change(&table, &2u64.to_be_bytes(), None).unwrap());
    txn.commit();
    let doings = table.doings();
    assert_eq!((doings.inserts, doings.updates, doings.deletes), (1, 1, 1));
    let queued: u64 = table.queues().iter().map(|queue| queue.depth).sum();
    assert_eq!(queued, 2);
    table.clean(&world, &world);
    let taken: u64 = table.queues().iter().map(|queue| queue.dequeued).sum();
    assert_eq!(taken, 2);
}

/// A long run of one byte takes no memory, and the row comes back whole, wherever the run was.
#[test]
fn a_run_is_kept_as_its_length() {
    let world = World::new();
    for (offset, len) in [(0, 200), (0, 100), (7, 150), (100, 100), (5, 1), (200, 0)] {
        let mut row: Vec<u8> = (0..200).map(|i| i as u8).collect();
        let (from, to) = (usize::from(offset), usize::from(offset + len));
        row[from..to].fill(b' ');
        let image = RowImage::with_run(&row, Run { offset, len, byte: b' ' });
        let table = Table::new(Kind::Hash { buckets: 4, tailed: false });
        let before = table.bytes();
        let txn = world.begin();
        let written = table.insert(b"key", &image, &txn.sight()).expect("a new key");
        assert!(table.bytes() - before < 100 + 200 - u64::from(len));
        assert_eq!(txn.get(&table, b"key").as_deref(), Some(&row[..]));
        let mut images = ImageWriter::default();
        log_image(&table, written, txn.xid, |key, kept| images.add(77, key, kept));
        assert!(images.bytes().len() < 50 + 200 - usize::from(len));
        let read: Vec<_> = Images::of(images.bytes()).map(Option::unwrap).collect();
        assert_eq!((read.len(), read[0].tree, read[0].key), (1, 77, &b"key"[..]));
        assert_eq!(read[0].row.map(|row| row.to_vec()).as_deref(), Some(&row[..]));
        table.each_newest(|newest| assert_eq!(newest, row));
    }
}
