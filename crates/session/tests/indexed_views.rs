//! An indexed view is what its definition says, whatever has been done to its tables: statements made at random, by one
//! session and by several at a time, and after them each view's rows against its query run anew.

use device::SimFs;
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use session::{Instance, InstanceConfig, Session};
use types::{Value, format};

#[derive(Default)]
struct Answer {
    types: Vec<types::SqlType>,
    rows: Vec<String>,
    errors: Vec<(i32, String)>,
}

impl ResultSink for Answer {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types = columns.iter().map(|column| column.ty).collect();
    }
    fn row(&mut self, row: &[Value]) {
        let cells = row.iter().zip(&self.types).map(|(value, ty)| format::shell(value, *ty));
        self.rows.push(cells.collect::<Vec<_>>().join("|"));
    }
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.errors.push((message.number, message.to_string()));
        }
    }
}

/// Errors that statements at random may meet: references, duplicates, deadlocks, conflicts of snapshots.
const EXPECTED: [i32; 8] = [547, 2627, 2601, 1205, 3960, 3621, 3903, 3902];

/// Runs a batch; whether it met no error.
fn run(session: &mut Session, text: &str) -> bool {
    let mut answer = Answer::default();
    let _ = session.execute(text, &mut answer);
    for (number, error) in &answer.errors {
        assert!(EXPECTED.contains(number), "{text}: {error}");
    }
    answer.errors.is_empty()
}

fn rows(session: &mut Session, text: &str) -> Vec<String> {
    let mut answer = Answer::default();
    let _ = session.execute(text, &mut answer);
    assert!(answer.errors.is_empty(), "{text}: {:?}", answer.errors);
    answer.rows.sort();
    answer.rows
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = stdx::mix64(self.0.wrapping_add(0x9E37_79B9_7F4A_7C15));
        self.0 % n
    }
}

/// A number of the environment, for other runs than the usual one.
fn asked(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

const SETUP: &[&str] = &[
    "CREATE DATABASE t",
    "USE t",
    "CREATE TABLE dbo.customers (id int NOT NULL PRIMARY KEY, region int NULL, name nvarchar(20) NOT NULL)
     CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, customer int NULL
         REFERENCES dbo.customers (id) ON DELETE CASCADE ON UPDATE SET NULL,
         amount decimal(9, 2) NOT NULL, quantity int NOT NULL, note nvarchar(20) NULL)
     CREATE INDEX orders_customer ON dbo.orders (customer)
     CREATE TABLE dbo.notes (note nvarchar(20) NOT NULL PRIMARY KEY, weight int NOT NULL)
     INSERT dbo.notes VALUES (N'a', 1), (N'b', 10), (N'c', 100)",
    "CREATE VIEW dbo.by_region WITH SCHEMABINDING AS
     SELECT c.region, COUNT_BIG(*) AS n, SUM(o.amount) AS amount, SUM(o.quantity) AS quantity
     FROM dbo.orders o JOIN dbo.customers c ON c.id = o.customer GROUP BY c.region",
    "CREATE VIEW dbo.flat WITH SCHEMABINDING AS
     SELECT o.id, c.name, o.quantity * 2 AS twice, o.note, o.amount
     FROM dbo.orders o JOIN dbo.customers c ON c.id = o.customer WHERE o.quantity > 2",
    "CREATE VIEW dbo.by_note WITH SCHEMABINDING AS
     SELECT o.note, o.quantity % 3 AS rest, COUNT_BIG(*) AS n, SUM(ISNULL(o.customer, 0)) AS customers
     FROM dbo.orders o GROUP BY o.note, o.quantity % 3",
    "CREATE VIEW dbo.weighed WITH SCHEMABINDING AS
     SELECT n.note, c.region, COUNT_BIG(*) AS n, SUM(n.weight * o.quantity) AS weight
     FROM dbo.notes n JOIN dbo.orders o ON o.note = n.note JOIN dbo.customers c ON c.id = o.customer
     GROUP BY n.note, c.region",
    "CREATE UNIQUE CLUSTERED INDEX i ON dbo.by_region (region)
     CREATE INDEX more ON dbo.by_region (n) INCLUDE (amount)
     CREATE UNIQUE CLUSTERED INDEX i ON dbo.flat (id)
     CREATE UNIQUE INDEX other ON dbo.flat (name, id)
     CREATE UNIQUE CLUSTERED INDEX i ON dbo.by_note (rest, note)
     CREATE UNIQUE CLUSTERED INDEX i ON dbo.weighed (note, region DESC)",
];

const VIEWS: [&str; 4] = ["by_region", "flat", "by_note", "weighed"];

fn change(dice: &mut Dice) -> String {
    let (id, customer, n) = (dice.below(60), dice.below(12), dice.below(9));
    let note = ["N'a'", "N'b'", "NULL", "N'A'", "N'c'"][dice.below(5) as usize];
    let region = ["NULL", "1", "2", "3"][dice.below(4) as usize];
    match dice.below(16) {
        0..=3 => format!(
            "INSERT dbo.orders VALUES ({id}, {customer}, {n}.{customer}, {n}, {note})"
        ),
        4 => format!(
            "INSERT dbo.orders SELECT id + 60, customer, amount * 2, quantity + 1, {note} FROM dbo.orders
             WHERE id BETWEEN {id} AND {} AND id + 60 NOT IN (SELECT id FROM dbo.orders)",
            id + 5
        ),
        5 => format!("UPDATE dbo.orders SET quantity = {n}, amount += 1.25 WHERE id % 7 = {}", n % 7),
        6 => format!("UPDATE dbo.orders SET customer = {customer} WHERE id BETWEEN {id} AND {}", id + 3),
        7 => format!("UPDATE dbo.orders SET id += 200 WHERE id = {id}"),
        8 => format!("UPDATE dbo.orders SET note = {note} WHERE quantity = {n}"),
        9 => format!("DELETE dbo.orders WHERE id % 11 = {} OR id > 200", n),
        10 => format!("UPDATE dbo.customers SET region = {region}, name = CONCAT(N'n', {n}) WHERE id % 3 = {}", n % 3),
        11 => format!("DELETE dbo.customers WHERE id = {customer}"),
        12 | 13 => format!("INSERT dbo.customers VALUES ({customer}, {region}, CONCAT(N'm', {n}))"),
        14 => format!(
            "MERGE dbo.orders AS o USING (SELECT value AS id FROM GENERATE_SERIES({id}, {})) AS s ON o.id = s.id
             WHEN MATCHED AND o.quantity > 4 THEN DELETE
             WHEN MATCHED THEN UPDATE SET quantity += 3, note = {note}
             WHEN NOT MATCHED AND s.id < 60 THEN INSERT VALUES (s.id, NULL, 1.5, {n}, {note});",
            id + 4
        ),
        _ => match dice.below(3) {
            0 => format!("UPDATE dbo.notes SET weight += {n}"),
            1 => format!("UPDATE dbo.customers SET id += 20 WHERE id = {customer} AND id < 20"),
            _ => format!("UPDATE dbo.customers SET id -= 20 WHERE id = {}", customer + 20),
        },
    }
}

/// What a session does in one go.
fn step(dice: &mut Dice) -> String {
    match dice.below(6) {
        0 => format!(
            "BEGIN TRANSACTION {} SAVE TRANSACTION s {} ROLLBACK TRANSACTION s {} COMMIT",
            change(dice),
            change(dice),
            change(dice)
        ),
        1 => format!("BEGIN TRANSACTION {} {} ROLLBACK", change(dice), change(dice)),
        2 => format!("BEGIN TRANSACTION {} {} {} COMMIT", change(dice), change(dice), change(dice)),
        _ => change(dice),
    }
}

fn check(session: &mut Session, after: &str) {
    for view in VIEWS {
        let kept = rows(session, &format!("SELECT * FROM dbo.{view} WITH (NOEXPAND)"));
        let fresh = rows(session, &format!("SELECT * FROM dbo.{view}"));
        // Of a group by text either spelling may be shown.
        let (kept, fresh) = (kept.join("\n").to_lowercase(), fresh.join("\n").to_lowercase());
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&kept), sorted(&fresh), "{view} after {after}");
    }
}

fn setup(session: &mut Session) {
    for batch in SETUP {
        assert!(run(session, batch), "{batch}");
    }
}

fn join<T>(handle: scheduler::JoinHandle<T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[test]
fn a_view_follows_every_change() {
    let fs = SimFs::new(11);
    let open = || Instance::open(InstanceConfig::small("/data", fs.clone())).expect("an instance");
    let instance = open();
    join(instance.spawn_session("views", |session| {
        setup(session);
        let mut dice = Dice(asked("SEED", 20_261_128));
        let mut done = 0;
        for _ in 0..asked("STEPS", 400) {
            let text = step(&mut dice);
            done += usize::from(run(session, &text));
            let _ = run(session, "IF @@TRANCOUNT > 0 ROLLBACK");
            check(session, &text);
        }
        assert!(done > 200, "only {done} statements were done");
        let some = rows(session, "SELECT * FROM dbo.flat WITH (NOEXPAND)").len();
        assert!(some > 3, "only {some} rows are left");
    }));
    instance.shutdown().expect("a clean end");
    drop(instance);
    let instance = open();
    join(instance.spawn_session("again", |session| {
        assert!(run(session, "USE t"));
        check(session, "opening it again");
        let text = "UPDATE dbo.orders SET quantity += 1";
        assert!(run(session, text));
        check(session, text);
        assert!(rows(session, "DBCC CHECKDB WITH NO_INFOMSGS").is_empty());
    }));
    instance.shutdown().expect("a clean end");
}

#[test]
fn several_sessions_change_the_same_groups() {
    for level in ["READ COMMITTED", "SNAPSHOT", "SERIALIZABLE", "RCSI"] {
        let instance =
            Instance::open(InstanceConfig::small("/data", SimFs::new(13))).expect("an instance");
        join(instance.spawn_session("views", move |session| {
            setup(session);
            assert!(run(session, "INSERT dbo.customers SELECT value, value % 3, CONCAT(N'c', value) FROM GENERATE_SERIES(0, 11)"));
            match level {
                "SNAPSHOT" => assert!(run(session, "ALTER DATABASE t SET ALLOW_SNAPSHOT_ISOLATION ON")),
                "RCSI" => assert!(run(session, "ALTER DATABASE t SET READ_COMMITTED_SNAPSHOT ON")),
                _ => {}
            }
        }));
        let workers = (0..4u64).map(|n| {
            instance.spawn_session("changes", move |session| {
                assert!(run(session, "USE t"));
                let set = if level == "RCSI" { "READ COMMITTED" } else { level };
                assert!(run(session, &format!("SET TRANSACTION ISOLATION LEVEL {set}")));
                // A wait that nobody ends is an error (1222), and no test that never ends.
                assert!(run(session, "SET LOCK_TIMEOUT 15000"));
                let mut dice = Dice(n * 1000 + asked("SEED", 7));
                let mut done = 0;
                for _ in 0..80 {
                    let text = step(&mut dice);
                    done += usize::from(run(session, &text));
                    let _ = run(session, "IF @@TRANCOUNT > 0 ROLLBACK");
                }
                done
            })
        });
        let workers: Vec<_> = workers.collect();
        let done: usize = workers.into_iter().map(join).sum();
        assert!(done > 40, "only {done} were done at {level}");
        join(instance.spawn_session("check", move |session| {
            assert!(run(session, "USE t"));
            check(session, level);
        }));
        instance.shutdown().expect("a clean end");
    }
}
