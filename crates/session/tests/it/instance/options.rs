//! Options of sp_configure that wait for the next start.

use super::{config, run_fine};
use device::SimFs;
use session::Instance;
use types::Value;

const MADE: &[&str] = &[
    "USE shop CREATE TABLE full_later (id int PRIMARY KEY, a int, b int, INDEX by_b (b))
     CREATE INDEX by_a ON full_later (a)
     CREATE TABLE said (id int NOT NULL, a int, INDEX by_a (a) WITH (FILLFACTOR = 90))
     ALTER TABLE said ADD CONSTRAINT key_of_said PRIMARY KEY (id)",
    "SELECT OBJECT_NAME(object_id), index_id, fill_factor FROM sys.indexes WHERE index_id > 0
     AND OBJECT_NAME(object_id) IN ('full_later', 'said') ORDER BY 1, 2",
];

#[test]
fn the_fill_factor_is_that_of_indexes_made_after_the_next_start() {
    let fs = SimFs::new(1);
    let told = |batches| {
        let instance = Instance::open(config(&fs)).expect("opens");
        let said = run_fine(&instance, batches);
        instance.shutdown().expect("closes");
        let rows = said.sets.last().expect("rows").rows.clone();
        rows.iter().map(|row| row.last().and_then(Value::as_i64)).collect::<Vec<_>>()
    };
    let before = told(&[
        "CREATE DATABASE shop",
        "EXEC sp_configure 'show advanced options', 1 RECONFIGURE",
        "EXEC sp_configure 'fill factor (%)', 70 RECONFIGURE",
        "USE shop CREATE TABLE t (id int PRIMARY KEY)",
        "SELECT fill_factor FROM sys.indexes WHERE object_id = OBJECT_ID('t')",
    ]);
    assert_eq!(before, [Some(0)], "it is not dynamic");
    let some = |percents: [i64; 5]| percents.map(Some);
    assert_eq!(told(MADE), some([70, 70, 70, 70, 90]));
}
