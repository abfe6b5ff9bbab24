//! Secondary indexes, unique keys and foreign keys while others are at work, at every isolation level; and definitions
//! that change under those who wait.

use isolation::{Actor, Level, Stage, Stepped};

const LEVELS: [Level; 4] = [
    Level::ReadCommittedSnapshot,
    Level::ReadCommittedLocking,
    Level::Snapshot,
    Level::Serializable,
];

fn make(stage: &Stage, database: &str) {
    stage.direct(&format!(
        "USE {database};
         IF OBJECT_ID('child') IS NOT NULL DROP TABLE child;
         IF OBJECT_ID('test') IS NOT NULL DROP TABLE test;
         CREATE TABLE test (id int PRIMARY KEY, value int, note int);
         CREATE INDEX by_value ON test (value);
         CREATE UNIQUE INDEX by_note ON test (note) WHERE note IS NOT NULL;
         CREATE TABLE child (id int PRIMARY KEY, test int NULL REFERENCES test (id));
         CREATE INDEX by_test ON child (test);
         INSERT INTO test VALUES (10, 1, NULL), (20, 2, NULL), (30, 3, 7)"
    ));
}

fn begin(stage: &Stage, actor: &mut Actor, level: Level) {
    let batch = format!("SET TRANSACTION ISOLATION LEVEL {}; BEGIN TRANSACTION", level.sql());
    stage.step(actor, &batch).answer();
}

/// One does something in a transaction, the other something that waits for it; then the first ends. The errors of the
/// second.
fn meet(stage: &Stage, level: Level, first: &str, second: &str, end: &str) -> Vec<i32> {
    make(stage, level.database());
    let (mut one, mut two) = (stage.actor(level.database()), stage.actor(level.database()));
    begin(stage, &mut one, level);
    let done = stage.step(&mut one, first).answer();
    assert!(done.errors.is_empty(), "{first}: {:?}", done.errors);
    begin(stage, &mut two, level);
    assert!(stage.step(&mut two, second) == Stepped::Blocked, "{level:?}: {first} / {second}");
    stage.step(&mut one, end).answer();
    let late = stage.finish(&mut two);
    if stage.step(&mut two, "IF @@TRANCOUNT > 0 COMMIT").answer().errors.is_empty() {
        assert_consistent(stage, level.database());
    }
    late.errors
}

/// No child without its row, and every index says what its table says.
fn assert_consistent(stage: &Stage, database: &str) {
    let count = |query: &str| {
        let answer = stage.direct(&format!("USE {database}; {query}"));
        isolation_count(&answer.rows)
    };
    assert_eq!(
        count(
            "SELECT COUNT(*) FROM child c WHERE c.test IS NOT NULL AND NOT EXISTS (SELECT 1 FROM test t WHERE t.id = c.test)"
        ),
        0
    );
    for index in ["by_value", "0"] {
        assert_eq!(
            count(&format!("SELECT COUNT(*) FROM test WITH (INDEX({index}))")),
            count("SELECT COUNT(*) FROM test"),
            "{index}"
        );
    }
    assert_eq!(
        count("SELECT COUNT(*) FROM test WITH (INDEX(by_note)) WHERE note IS NOT NULL"),
        count("SELECT COUNT(*) FROM test WITH (INDEX(0)) WHERE note IS NOT NULL")
    );
}

fn isolation_count(rows: &[Vec<types::Value>]) -> i64 {
    rows[0][0].as_i64().expect("a count")
}

#[test]
fn a_row_is_not_deleted_from_under_a_new_reference() {
    let stage = Stage::new();
    for level in LEVELS {
        let insert = "INSERT INTO child VALUES (1, 20)";
        let delete = "DELETE FROM test WHERE id = 20";
        assert_eq!(meet(&stage, level, insert, delete, "COMMIT"), [547], "{level:?}");
        assert!(meet(&stage, level, insert, delete, "ROLLBACK").is_empty(), "{level:?}");
        assert_eq!(meet(&stage, level, delete, insert, "COMMIT"), [547], "{level:?}");
        assert!(meet(&stage, level, delete, insert, "ROLLBACK").is_empty(), "{level:?}");
    }
}

#[test]
fn of_two_equal_values_one_stays() {
    let stage = Stage::new();
    for level in LEVELS {
        let (one, two) =
            ("INSERT INTO test VALUES (40, 4, 9)", "INSERT INTO test VALUES (50, 4, 9)");
        assert_eq!(meet(&stage, level, one, two, "COMMIT"), [2601], "{level:?}");
        assert!(meet(&stage, level, one, two, "ROLLBACK").is_empty(), "{level:?}");
        let free = "UPDATE test SET note = NULL WHERE id = 30";
        let take = "INSERT INTO test VALUES (60, 1, 7)";
        assert_eq!(meet(&stage, level, free, take, "ROLLBACK"), [2601], "{level:?}");
    }
}

#[test]
fn a_serializable_range_of_an_index_keeps_phantoms_out() {
    let stage = Stage::new();
    let level = Level::Serializable;
    let reads = [
        "SELECT id FROM test WITH (INDEX(by_value)) WHERE value = 2",
        "SELECT id, note FROM test WITH (INDEX(by_value)) WHERE value = 2",
    ];
    for read in reads {
        for write in [
            "INSERT INTO test VALUES (40, 2, NULL)",
            "UPDATE test SET value = 2 WHERE id = 10",
            "UPDATE test SET value = 5 WHERE id = 20",
            "DELETE FROM test WHERE id = 20",
        ] {
            assert!(meet(&stage, level, read, write, "COMMIT").is_empty(), "{read} / {write}");
        }
        make(&stage, level.database());
        let (mut one, mut two) = (stage.actor(level.database()), stage.actor(level.database()));
        begin(&stage, &mut one, level);
        stage.step(&mut one, read).answer();
        let free = stage.step(&mut two, "INSERT INTO test VALUES (5, 9, NULL)").answer();
        assert!(free.errors.is_empty(), "{:?}", free.errors);
        stage.step(&mut one, "COMMIT").answer();
    }
}

#[test]
fn who_waits_for_a_definition_writes_by_the_new_one() {
    let stage = Stage::new();
    let level = Level::ReadCommittedSnapshot;
    make(&stage, level.database());
    let mut actors: Vec<Actor> = (0..3).map(|_| stage.actor(level.database())).collect();
    let [one, two, three] = &mut actors[..] else { unreachable!() };
    begin(&stage, one, level);
    stage.step(one, "INSERT INTO test VALUES (40, 4, NULL)").answer();
    assert!(stage.step(two, "CREATE INDEX late ON test (note, value)") == Stepped::Blocked);
    assert!(stage.step(three, "INSERT INTO test VALUES (50, 5, NULL)") == Stepped::Blocked);
    stage.step(one, "COMMIT").answer();
    for actor in [two, three] {
        let late = stage.finish(actor);
        assert!(late.errors.is_empty(), "{:?}", late.errors);
    }
    let answer = stage
        .direct(&format!("USE {}; SELECT COUNT(*) FROM test WITH (INDEX(late))", level.database()));
    assert_eq!(isolation_count(&answer.rows), 5);
}

/// Many rows, whose entries are written some time after them; in the midst of it the statement waits for a row that a third
/// session has locked (of `held`), and another one does `second`. Its errors, once all are done.
fn meet_halfway(stage: &Stage, first: &str, held: &str, second: &str) -> Vec<i32> {
    let database = Level::ReadCommittedLocking.database();
    stage.direct(&format!(
        "USE {database};
         DROP TABLE IF EXISTS reference, referred, source;
         CREATE TABLE referred (id int PRIMARY KEY, key1 int NOT NULL, a int NOT NULL);
         CREATE UNIQUE INDEX by_key1 ON referred (key1);
         CREATE INDEX by_a ON referred (a);
         CREATE TABLE reference (id int PRIMARY KEY, key1 int NULL REFERENCES referred (key1) ON DELETE CASCADE, a int NOT NULL);
         CREATE INDEX by_key1 ON reference (key1);
         CREATE INDEX by_a ON reference (a);
         CREATE TABLE source (id int PRIMARY KEY, key1 int NOT NULL);
         INSERT INTO referred SELECT value, value, value % 7 FROM GENERATE_SERIES(1, 5000);
         INSERT INTO source SELECT value, CASE value WHEN 100 THEN 1 ELSE 2 END FROM GENERATE_SERIES(1, 5000);"
    ));
    let actor = || stage.actor(database);
    let (mut one, mut two, mut three) = (actor(), actor(), actor());
    let hold = format!("BEGIN TRANSACTION; UPDATE {held} SET key1 = key1 WHERE id = 4900");
    assert!(stage.step(&mut three, &hold).answer().errors.is_empty());
    assert!(stage.step(&mut one, first) == Stepped::Blocked, "{first}");
    let late = stage.step(&mut two, second);
    assert!(late == Stepped::Blocked, "{first} / {second}: {late:?}");
    stage.step(&mut three, "ROLLBACK").answer();
    assert!(stage.finish(&mut one).errors.is_empty(), "{first}");
    let errors = stage.finish(&mut two).errors;
    for index in ["by_a", "by_key1", "0"] {
        let orphans = format!(
            "USE {database};
             SELECT COUNT(*) FROM reference c WITH (INDEX({index}))
             WHERE NOT EXISTS (SELECT 1 FROM referred p WHERE p.key1 = c.key1)"
        );
        assert_eq!(isolation_count(&stage.direct(&orphans).rows), 0, "{index}");
    }
    errors
}

#[test]
fn a_reference_is_seen_as_soon_as_its_row_is_written() {
    let stage = Stage::new();
    let insert = "INSERT INTO reference SELECT id, key1, id % 5 FROM source";
    // It follows the reference that has come.
    assert!(meet_halfway(&stage, insert, "source", "DELETE FROM referred WHERE id = 1").is_empty());
}

#[test]
fn a_key_that_goes_is_missed_as_soon_as_its_row_has_gone() {
    let stage = Stage::new();
    let delete = "DELETE FROM referred WHERE id > 50";
    let insert = "INSERT INTO reference VALUES (1, 100, 1)";
    assert_eq!(meet_halfway(&stage, delete, "referred", insert), [547]);
}
