//! A few histories over tables in memory; `cargo xtask histories` has the rest.

use isolation::history::run::{Shape, generate};
use isolation::history::{check, forbidden};
use isolation::{Level, Stage, Tables};

#[test]
fn nothing_forbidden_is_seen_of_tables_in_memory() {
    let stage = Stage::new();
    let levels = [Level::Snapshot, Level::RepeatableRead, Level::Serializable];
    let in_memory = levels.map(|level| (Tables::Memory, level)).into_iter();
    for (tables, level) in in_memory.chain([(Tables::Mixed, Level::ReadCommittedSnapshot)]) {
        // Found by a hash, and by the order of keys.
        for seed in [2, 3] {
            let shape = Shape { level, tables, seed, sessions: 3, transactions: 20, keys: 3 };
            let history = generate(&stage, shape);
            let committed = history.iter().filter(|transaction| transaction.committed).count();
            assert!(committed > 20, "{tables:?}, {level:?}: {committed} committed");
            let found = check(&history);
            let wrong: Vec<_> =
                forbidden(tables, level).iter().filter(|a| found.contains(a)).collect();
            assert!(wrong.is_empty(), "{tables:?}, {level:?}: {wrong:?} in {history:#?}");
        }
    }
}

#[test]
fn where_tables_live_is_read_as_it_is_written() {
    for tables in Tables::ALL {
        assert_eq!(tables.name().parse(), Ok(tables));
    }
    assert!("disc".parse::<Tables>().is_err());
}
