//! A sample stands for its table, however its index is made.

use super::World;
use crate::memory::{Kind, Table};
use std::sync::Arc;

const ROWS: u64 = 20_000;
const WALKS: usize = 400;

/// Rows at a place and places, in the mean.
fn sampled(kind: Kind) -> (f64, f64) {
    let (world, table) = (World::new(), Arc::new(Table::new(kind)));
    let mut txn = world.begin();
    for row in 0..ROWS {
        txn.insert(&table, &stdx::mix64(row).to_be_bytes(), b"a row").unwrap();
    }
    txn.commit();
    let mut txn = world.begin();
    for row in (0..ROWS).step_by(2) {
        txn.change(&table, &stdx::mix64(row).to_be_bytes(), None).unwrap();
    }
    txn.commit();
    let places = table.places();
    let mut state = 7u64;
    let mut below = |n: u64| {
        state = stdx::mix64(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
        state % n
    };
    let (mut met, mut estimated) = (0, 0.0);
    for _ in 0..WALKS {
        let place = table.random_place(places, &mut below);
        assert!(place.rows().all(|row| row == b"a row"));
        met += place.rows().count();
        estimated += place.places;
    }
    (met as f64 / WALKS as f64, estimated / WALKS as f64)
}

#[test]
fn places_times_their_rows_are_the_rows_that_are_not_deleted() {
    let hash = |buckets| Kind::Hash { buckets, tailed: false };
    for kind in [hash(16), hash(64), hash(16_384), hash(1 << 20), Kind::Range] {
        let (a_place, places) = sampled(kind);
        let rows = a_place * places;
        assert!((8_500.0..11_500.0).contains(&rows), "{kind:?}: {a_place} at {places}");
        assert!(a_place > 8.0, "{kind:?}: {a_place} rows at a place");
    }
}

#[test]
fn chains_that_are_far_too_long_are_told() {
    let filled = |buckets| {
        let (world, table) =
            (World::new(), Arc::new(Table::new(Kind::Hash { buckets, tailed: false })));
        let mut txn = world.begin();
        for row in 0..ROWS {
            txn.insert(&table, &stdx::mix64(row).to_be_bytes(), b"a row").unwrap();
        }
        txn.commit();
        table.places().crowded
    };
    assert!(filled(1) && filled(8));
    assert!(!filled(64) && !filled(16_384));
}
