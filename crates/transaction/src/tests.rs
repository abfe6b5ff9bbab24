//! The parts that need no database: envelopes, states, versions. The engine's tests drive the rest.

use crate::envelope::{long, short};
use crate::*;
use lock_manager::Owner;
use log_manager::Lsn;
use mvcc::{Stamp, Xid, XidStatus};

#[test]
fn envelopes_come_back_as_they_went() {
    let mut record = long(Kind::Commit, 1_767_225_600_000_000, Xid(77), Lsn(4096)).to_vec();
    record.extend_from_slice(b"body");
    let e = Envelope::decode(&record).unwrap();
    assert_eq!(
        (e.kind, e.wall_us, e.xid, e.prev),
        (Kind::Commit, 1_767_225_600_000_000, Xid(77), Lsn(4096))
    );
    assert_eq!(e.body, b"body");
    let fused = short(Kind::Fused, 5);
    let e = Envelope::decode(&fused).unwrap();
    assert_eq!((e.kind, e.wall_us, e.xid, e.body.len()), (Kind::Fused, 5, Xid::NONE, 0));
    assert!(Envelope::decode(&record[..20]).is_none(), "cut short");
    assert!(Envelope::decode(&[99; 24]).is_none(), "no such kind");
}

#[test]
fn states_are_told_until_everybody_is_past_them() {
    let xids = XidTable::new(1, 8);
    let first = xids.begin(Owner(5), Lsn(80), Lsn::NONE).unwrap();
    assert_eq!(xids.status(first), XidStatus::Active);
    assert_eq!(xids.owner(first), Some(Owner(5)));
    assert_eq!(xids.oldest_first_lsn(Lsn(800)), Lsn(80));
    xids.committing(first);
    assert_eq!(xids.status(first), XidStatus::Committing);
    xids.committed(first, Lsn(104));
    assert_eq!(xids.status(first), XidStatus::Committed(Lsn(104)));
    assert_eq!(xids.oldest_first_lsn(Lsn(800)), Lsn(800));
    assert!(!xids.ended_below(first, Lsn(104)) && xids.ended_below(first, Lsn(112)));
    // More than the ring holds, while the horizon is low: nothing is forgotten.
    let mut all = vec![(first, XidStatus::Committed(Lsn(104)))];
    for i in 0..30u64 {
        let xid = xids.begin(Owner(6), Lsn(200), Lsn(100)).unwrap();
        let at = Lsn(1000 + i * 8);
        if i % 3 == 0 {
            xids.aborted(xid, at);
            all.push((xid, XidStatus::Aborted));
        } else {
            xids.committed(xid, at);
            all.push((xid, XidStatus::Committed(at)));
        }
    }
    for (xid, status) in &all {
        assert_eq!(xids.status(*xid), *status);
    }
    let horizon = Lsn(1 << 20);
    xids.trim(horizon);
    let active: Vec<Xid> =
        (0..8).map(|_| xids.begin(Owner(7), Lsn(1 << 20), horizon).unwrap()).collect();
    assert_eq!(xids.begin(Owner(7), Lsn(1 << 20), horizon), Err(TooManyTransactions));
    for (xid, _) in &all {
        assert_eq!(xids.status(*xid), XidStatus::Committed(Lsn::NONE), "forgotten: visible to all");
        assert!(xids.ended_below(*xid, horizon));
    }
    assert_eq!(xids.unfinished().len(), 8);
    assert!(active.iter().all(|x| xids.is_unfinished(*x)));
    assert_eq!(
        XidTable::new(2, 8).status(active[0]),
        XidStatus::Committed(Lsn::NONE),
        "of an older epoch"
    );
}

#[test]
fn the_version_that_a_snapshot_sees_is_found() {
    let (store, ghosts) = (VersionStore::default(), Ghosts::default());
    let xids = XidTable::new(1, 8);
    let writer = xids.begin(Owner(1), Lsn(400), Lsn::NONE).unwrap();
    let (tree, key) = (8, &b"k"[..]);
    let hash = key_hash(tree, key);
    let at = |n: u64| Stamp::committed(Lsn(n));
    store.push(tree, key, hash, at(80), b"first", at(160));
    store.push(tree, key, hash, at(160).ghost(), b"", at(240));
    store.push(tree, key, hash, at(240), b"third", Stamp::active(writer));
    let read = |snapshot| {
        let mut row = Vec::new();
        let seen = store.read(tree, key, Lsn(snapshot), Xid::NONE, |_| XidStatus::Active, &mut row);
        (matches!(seen, VersionSeen::Row(_)), row)
    };
    assert_eq!(read(300), (true, b"third".to_vec()));
    assert!(!read(240).0, "deleted then");
    assert_eq!(read(88), (true, b"first".to_vec()));
    assert!(!read(80).0, "not there yet");
    let all = InUse::for_test(168, &[]);
    assert_eq!(store.collect(&all, &xids, &ghosts), 1, "only the first is seen by nobody");
    assert_eq!(store.count(), 2);
    assert_eq!(read(300), (true, b"third".to_vec()));
    assert_eq!(store.collect(&InUse::for_test(1000, &[]), &xids, &ghosts), 1, "one may come back");
    xids.committed(writer, Lsn(800));
    assert_eq!(store.collect(&InUse::for_test(1000, &[]), &xids, &ghosts), 1);
    assert_eq!(store.count(), 0);
    assert!(!store.has(tree, key));
    assert!(ghosts.is_empty(), "what replaced the last one is no ghost");
    // Deleted: when the row that it was goes, its ghost may.
    store.push(tree, key, hash, at(800), b"fourth", at(1600).ghost());
    assert_eq!(store.collect(&InUse::for_test(1600, &[]), &xids, &ghosts), 0);
    assert!(ghosts.is_empty());
    assert_eq!(store.collect(&InUse::for_test(2000, &[]), &xids, &ghosts), 1);
    assert_eq!(ghosts.take(9), [(tree, Box::from(key))]);
}

/// A row changed a thousand times under one old reader keeps the version that the reader sees.
#[test]
fn a_long_reader_keeps_only_what_it_reads() {
    let xids = XidTable::new(1, 8);
    let (tree, key) = (8, &b"k"[..]);
    let fill = |store: &VersionStore| {
        for n in 1..=1000u64 {
            let (since, until) = (Lsn(n * 80), Lsn((n + 1) * 80));
            let (since, until) = (Stamp::committed(since), Stamp::committed(until));
            store.push(tree, key, key_hash(tree, key), since, &n.to_le_bytes(), until);
        }
    };
    let left = |ranges: &[(u64, u64)], from_now: u64| {
        let store = VersionStore::default();
        fill(&store);
        store.collect(&InUse::for_test(from_now, ranges), &xids, &Ghosts::default());
        let mut left: Vec<u64> = Vec::new();
        for n in 1..=1001u64 {
            let mut row = Vec::new();
            // As of just after version n was committed.
            let seen =
                store.read(tree, key, Lsn(n * 80 + 8), Xid::NONE, |_| XidStatus::Active, &mut row);
            if matches!(seen, VersionSeen::Row(s) if s == Stamp::committed(Lsn(n * 80))) {
                left.push(n);
            }
        }
        assert_eq!(store.count(), left.len() as u64);
        left
    };
    let now = 1001 * 80 + 8;
    assert_eq!(left(&[], now), [0u64; 0]);
    // A commit at 240 is not below a snapshot of 240.
    assert_eq!(left(&[(240, 240)], now), [2]);
    assert_eq!(left(&[(248, 248)], now), [3]);
    assert_eq!(left(&[(248, 248), (8_008, 8_008)], now), [3, 100]);
    assert_eq!(left(&[(248, 408)], now), [3, 4, 5], "a statement within a statement");
    assert_eq!(left(&[(0, u64::MAX)], now).len(), 1000, "somebody is about to take one");
    assert_eq!(left(&[], 999 * 80 + 8), [999, 1000], "a snapshot may still be taken there");
}

/// Readers on threads, a keeper that advances: what a reader has published is in use or not below what is to come.
#[test]
fn no_snapshot_escapes_the_keeper() {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
    let snapshots = Snapshots::default();
    let (log, stop) = (AtomicU64::new(8), AtomicBool::new(false));
    std::thread::scope(|s| {
        let keeper = s.spawn(|| {
            let mut last = Lsn::NONE;
            for _ in 0..20_000 {
                log.fetch_add(8, SeqCst);
                let in_use = snapshots.advance_from(|| Lsn(log.load(SeqCst)));
                assert!(in_use.horizon >= last);
                last = in_use.horizon;
            }
            stop.store(true, SeqCst);
        });
        for _ in 0..2 {
            s.spawn(|| {
                let cell = snapshots.register();
                while !stop.load(SeqCst) {
                    let old = cell.take(|| Lsn(log.load(SeqCst)));
                    assert!(snapshots.horizon() <= old);
                    let new = cell.take_another(|| Lsn(log.load(SeqCst)));
                    let in_use = snapshots.advance_from(|| Lsn(log.load(SeqCst)));
                    for seen in [old, new] {
                        assert!(
                            in_use.needs(Lsn(seen.0 - 8), seen),
                            "{seen} is in use: {in_use:?}"
                        );
                        assert!(snapshots.horizon() <= seen);
                    }
                    cell.clear();
                }
            });
        }
        keeper.join().unwrap();
    });
}

/// The second snapshot of a reader may be below the first: what is durable, after the log's tail.
#[test]
fn a_lower_snapshot_beside_a_higher_one_is_in_use() {
    let snapshots = Snapshots::default();
    let cell = snapshots.register();
    cell.take(|| Lsn(800));
    assert_eq!(snapshots.advance_from(|| Lsn(400)).horizon, Lsn(400));
    cell.take_another(|| Lsn(480));
    let in_use = snapshots.advance_from(|| Lsn(1600));
    assert_eq!(in_use.horizon, Lsn(480));
    assert!(in_use.needs(Lsn(472), Lsn(480)) && in_use.needs(Lsn(792), Lsn(800)));
    cell.clear();
    assert_eq!(snapshots.advance_from(|| Lsn(1600)).horizon, Lsn(1600));
}

#[test]
fn hashes_tell_keys_and_trees_apart() {
    let mut seen = std::collections::HashSet::new();
    for tree in [8, 16] {
        for key in [&b""[..], b"\0", b"\0\0", b"12345678", b"12345678\0", b"123456789"] {
            assert!(seen.insert(key_hash(tree, key)));
        }
    }
}
