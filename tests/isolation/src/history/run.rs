//! Makes histories: sessions on threads that run random transactions and note what they saw.
//!
//! What a transaction does follows from the seed; how transactions meet does not (threads do). The history is printed
//! when it is bad, so nothing needs to be found again.

use super::{NOTHING, Op, Transaction};
use crate::stage::{Answer, Level, MEMORY, Stage, integer};
use crate::tables::{IN_MEMORY, Tables, hint};
use session::Session;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

/// How a history is made.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub level: Level,
    /// Mixed: registers in memory, sets on disk.
    pub tables: Tables,
    pub seed: u64,
    pub sessions: usize,
    /// Transactions of each session.
    pub transactions: usize,
    /// Registers and sets.
    pub keys: u64,
}

impl Shape {
    fn database(&self) -> &'static str {
        match self.tables {
            Tables::Disk => self.level.database(),
            Tables::Memory | Tables::Mixed => MEMORY,
        }
    }

    /// The definitions of both tables. In memory rows are found by the order of their keys, by every second seed by a hash.
    fn definitions(&self) -> [String; 2] {
        let (registers, sets) =
            ("k bigint NOT NULL, v bigint NOT NULL", "k bigint NOT NULL, m bigint NOT NULL");
        let on_disk = [
            format!("CREATE TABLE registers ({registers}, PRIMARY KEY (k))"),
            format!("CREATE TABLE sets ({sets}, PRIMARY KEY (k, m))"),
        ];
        let hash = "NONCLUSTERED HASH";
        let in_memory = match self.seed.is_multiple_of(2) {
            true => [
                format!(
                    "CREATE TABLE registers ({registers}, PRIMARY KEY {hash} (k) WITH (BUCKET_COUNT = 8)){IN_MEMORY}"
                ),
                format!(
                    "CREATE TABLE sets ({sets}, PRIMARY KEY {hash} (k, m) WITH (BUCKET_COUNT = 64), \
                     INDEX by_key {hash} (k) WITH (BUCKET_COUNT = 8)){IN_MEMORY}"
                ),
            ],
            false => [
                format!(
                    "CREATE TABLE registers ({registers}, PRIMARY KEY NONCLUSTERED (k)){IN_MEMORY}"
                ),
                format!("CREATE TABLE sets ({sets}, PRIMARY KEY NONCLUSTERED (k, m)){IN_MEMORY}"),
            ],
        };
        match (self.tables, on_disk, in_memory) {
            (Tables::Disk, on_disk, _) => on_disk,
            (Tables::Memory, _, in_memory) => in_memory,
            (Tables::Mixed, [_, sets], [registers, _]) => [registers, sets],
        }
    }

    /// What statements say behind the names of registers and of sets.
    fn hints(&self) -> [&'static str; 2] {
        match self.tables {
            Tables::Disk => ["", ""],
            Tables::Memory => [hint(self.level); 2],
            Tables::Mixed => [hint(self.level), ""],
        }
    }
}

/// Runs transactions on fresh tables; what they did.
pub fn generate(stage: &Stage, shape: Shape) -> Vec<Transaction> {
    if shape.tables != Tables::Disk {
        stage.make_memory();
    }
    stage.direct(&format!(
        "USE {};
         IF OBJECT_ID('registers') IS NOT NULL DROP TABLE registers;
         IF OBJECT_ID('sets') IS NOT NULL DROP TABLE sets;
         {};
         DECLARE @i bigint = 0;
         WHILE @i < {} BEGIN INSERT INTO registers VALUES (@i, 0); SET @i = @i + 1 END",
        shape.database(),
        shape.definitions().join(";\n"),
        shape.keys
    ));
    let values = AtomicI64::new(1);
    std::thread::scope(|s| {
        let run = |session| {
            let values = &values;
            s.spawn(move || one_session(stage, shape, session, values))
        };
        let threads: Vec<_> = (0..shape.sessions).map(run).collect();
        threads.into_iter().flat_map(|t| t.join().expect("a session")).collect()
    })
}

fn one_session(
    stage: &Stage,
    shape: Shape,
    session: usize,
    values: &AtomicI64,
) -> Vec<Transaction> {
    let mut rng = stdx::Prng::new(shape.seed.wrapping_mul(1000) + session as u64);
    let mut client = stage.session(shape.database());
    let mut all = Vec::with_capacity(shape.transactions);
    let (level, hints) = (shape.tables.session_level(shape.level), shape.hints());
    run(&mut client, &format!("SET TRANSACTION ISOLATION LEVEL {level}; SET NOCOUNT ON"));
    for _ in 0..shape.transactions {
        let mut transaction = Transaction { session, ops: Vec::new(), committed: false };
        run(&mut client, "BEGIN TRANSACTION");
        let mut failed = false;
        for _ in 0..1 + rng.below(4) {
            pause(&mut rng);
            let key = rng.below(shape.keys) as i64;
            let value = values.fetch_add(1, Relaxed);
            let op = step(&mut client, hints, rng.below(5), key, value);
            let Some(op) = op else {
                failed = true;
                break;
            };
            transaction.ops.push(op);
        }
        pause(&mut rng);
        if failed || rng.one_in(10) {
            run(&mut client, "IF @@TRANCOUNT > 0 ROLLBACK");
        } else {
            transaction.committed = run(&mut client, "COMMIT").errors.is_empty();
            if !transaction.committed {
                run(&mut client, "IF @@TRANCOUNT > 0 ROLLBACK");
            }
        }
        all.push(transaction);
    }
    all
}

/// Lets the others come in between.
fn pause(rng: &mut stdx::Prng) {
    match rng.below(4) {
        0 => std::thread::sleep(Duration::from_micros(rng.below(200))),
        1 | 2 => std::thread::yield_now(),
        _ => {}
    }
}

/// What a statement on (key, value) did, from its answer.
type Noted = fn(i64, i64, &Answer) -> Op;

/// One statement; `None` when it failed (the transaction is over, or must be).
fn step(
    client: &mut Session,
    [registers, sets]: [&str; 2],
    kind: u64,
    key: i64,
    value: i64,
) -> Option<Op> {
    let (batch, op): (String, Noted) = match kind {
        0 | 1 => {
            (format!("SELECT v FROM registers{registers} WHERE k = {key}"), |key, _, answer| {
                Op::Read { key, value: value_of(answer) }
            })
        }
        2 => (
            format!("UPDATE registers{registers} SET v = {value} OUTPUT deleted.v WHERE k = {key}"),
            |key, value, answer| match value_of(answer) {
                NOTHING => Op::Read { key, value: NOTHING },
                before => Op::Write { key, before, value },
            },
        ),
        3 => (format!("SELECT m FROM sets{sets} WHERE k = {key}"), |key, _, answer| Op::Members {
            key,
            members: answer.rows.iter().map(|r| integer(&r[0])).collect(),
        }),
        _ => (format!("INSERT INTO sets VALUES ({key}, {value})"), |key, member, _| Op::Add {
            key,
            member,
        }),
    };
    let answer = run(client, &batch);
    answer.errors.is_empty().then(|| op(key, value, &answer))
}

fn value_of(answer: &Answer) -> i64 {
    answer.rows.first().map_or(NOTHING, |row| integer(&row[0]))
}

fn run(client: &mut Session, batch: &str) -> Answer {
    let mut answer = Answer::default();
    let _ = client.execute(batch, &mut answer);
    answer
}
