//! The works that `cargo xtask loops` runs: their tables, their rows, the body of their loops, in T-SQL and in PL/pgSQL.
//!
//! A work's words are T-SQL's; [`translated`] gives PostgreSQL's, and where a statement has another shape there, not only other
//! words, the work says it.

use super::block;
use crate::beside::Dialect;

/// Rows of a session in the tables whose rows are changed; a power of two, so that the walk below meets each.
pub const ROWS: u64 = 8192;

/// One kind of work.
pub struct Work {
    pub name: &'static str,
    /// Statements that make its tables; `{t}` is its own name for them.
    pub(super) tables: &'static [&'static str],
    /// Rows of the table to begin with: the columns of a row whose key is `k`; empty for none.
    pub(super) rows: &'static str,
    /// The loop's body, for the repetition `@i`; `@k` is then a key that no other session has: one of the rows above,
    /// or a new one where there are none.
    pub(super) body: &'static str,
    /// Repetitions between two commits; 1: each statement by itself.
    pub(super) commit_every: u32,
    /// The tables are memory-optimised, and the loop between two commits is an atomic block of a natively compiled
    /// procedure, which the loop around it calls. Of these PostgreSQL has none.
    pub(super) native: bool,
}

const PLAIN: &str = "create table {t} (k bigint not null primary key, a int not null, b int not null, c char(40) not null \
                     default 'x', v varchar(60) null, d datetime not null default getdate())";
pub(super) const ROW: &str = "k, 1, 2, 'x', 'a text of some length', getdate()";

/// Those of tables on disk.
pub const WORKS: &[Work] = &[
    Work {
        name: "insert",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-1000",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1000,
        native: false,
    },
    Work {
        name: "insert-text",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b, v) values (@k, @i, 7, @v)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-check",
        tables: &[PLAIN, "alter table {t} add constraint {t}_c check (b > 0 and a >= 0)"],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-computed",
        tables: &[
            "create table {t} (k bigint not null primary key, a int not null, b int not null, s as a + b persisted)",
        ],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-index",
        tables: &[PLAIN, "create index {t}_a on {t} (a)"],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-2-indexes",
        tables: &[PLAIN, "create index {t}_a on {t} (a)", "create index {t}_b on {t} (b, a)"],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, @i % 100)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-unique",
        tables: &[
            "create table {t} (k bigint not null primary key, u bigint not null unique, a int not null)",
        ],
        rows: "",
        body: "insert {t} (k, u, a) values (@k, @k, @i)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-fk",
        tables: &[
            "create table {t}_p (k int not null primary key, a int not null)",
            "insert {t}_p select n, n from numbers where n < 1000",
            "create table {t} (k bigint not null primary key, p int not null references {t}_p (k), a int not null)",
        ],
        rows: "",
        body: "insert {t} (k, p, a) values (@k, @i % 1000, @i)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-identity-fk-check",
        tables: &[
            "create table {t}_p (k int not null primary key, a int not null)",
            "insert {t}_p select n, n from numbers where n < 1000",
            "create table {t} (id bigint identity not null primary key, p int not null references {t}_p (k), a int not \
             null check (a >= 0))",
        ],
        rows: "",
        body: "insert {t} (p, a) values (@i % 1000, @i)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-trigger",
        tables: &[
            PLAIN,
            "exec('create trigger {t}_g on {t} after insert as begin set nocount on; declare @c int; select @c = \
             count(*) from inserted end')",
        ],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-output",
        tables: &[PLAIN],
        rows: "",
        body: "delete @told; insert {t} (k, a, b) output inserted.k into @told values (@k, @i, 7)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-3-values",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b) values (3 * @k, @i, 7), (3 * @k + 1, @i, 7), (3 * @k + 2, @i, 7)",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "update",
        tables: &[PLAIN],
        rows: ROW,
        body: "update {t} set a = a + 1 where k = @k",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "update-1000",
        tables: &[PLAIN],
        rows: ROW,
        body: "update {t} set a = a + 1 where k = @k",
        commit_every: 1000,
        native: false,
    },
    Work {
        name: "update-3",
        tables: &[PLAIN],
        rows: ROW,
        body: "update {t} set a = a + b, b = @i, d = getdate() where k = @k and a >= 0",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "update-text",
        tables: &[PLAIN],
        rows: ROW,
        body: "update {t} set v = case @i % 2 when 0 then @v else 'short' end where k = @k",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "update-beside-index",
        tables: &[PLAIN, "create index {t}_b on {t} (b)"],
        rows: ROW,
        body: "update {t} set a = a + 1 where k = @k",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "update-indexed",
        tables: &[PLAIN, "create index {t}_a on {t} (a)"],
        rows: ROW,
        body: "update {t} set a = @i where k = @k",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "insert-delete",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7); delete {t} where k = @k",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "merge",
        tables: &[PLAIN],
        rows: ROW,
        body: "merge {t} as t using (select @k + (@i & 1) * 4096 as k, @i as a) as s on t.k = s.k when matched then \
               update set a = s.a when not matched then insert (k, a, b) values (s.k, s.a, 7);",
        commit_every: 1,
        native: false,
    },
    Work {
        name: "new-order",
        tables: &[
            "create table {t}_d (k bigint not null primary key, next int not null, ytd money not null)",
            "insert {t}_d select n, 1, 0 from numbers where n < 64",
            "create table {t}_i (k int not null primary key, price money not null, name varchar(24) not null)",
            "insert {t}_i select n, n % 100 + 1, 'item' from numbers where n < 1000",
            "create table {t}_o (d bigint not null, o int not null, c int not null, at datetime not null, lines tinyint \
             not null, primary key (d, o))",
            "create index {t}_oc on {t}_o (d, c, o)",
            "create table {t}_n (d bigint not null, o int not null, primary key (d, o))",
            "create table {t}_l (d bigint not null, o int not null, n tinyint not null, i int not null, quantity \
             smallint not null, amount money not null, dist char(24) not null, primary key (d, o, n))",
            "create table {t} (k bigint not null primary key, quantity int not null, ytd int not null, orders int not \
             null, dist char(24) not null, data varchar(50) not null)",
        ],
        rows: "k, 50, 0, 0, 'dist', 'some data of the stock'",
        body: "begin tran; update {t}_d set @o = next, next = next + 1 where k = @s; insert {t}_o (d, o, c, at, lines) \
               values (@s, @o, @i % 3000, getdate(), 9); insert {t}_n (d, o) values (@s, @o); set @l = 1; while @l <= 9 \
               begin set @j = (@i * 9 + @l) * 331 % 1000; select @p = price from {t}_i where k = @j; set @m = @first + \
               (@i * 9 + @l) * 331 % 8192; update {t} set quantity = case when quantity >= 15 then quantity - 5 else \
               quantity + 86 end, ytd = ytd + 5, orders = orders + 1, @dist = dist where k = @m; insert {t}_l (d, o, n, \
               i, quantity, amount, dist) values (@s, @o, @l, @j, 5, 5 * @p, @dist); set @l += 1 end; commit",
        commit_every: 1,
        native: false,
    },
];

/// A work whose statements have another shape in PL/pgSQL.
struct Shape {
    name: &'static str,
    tables: Option<&'static [&'static str]>,
    body: Option<&'static str>,
}

const SHAPES: &[Shape] = &[
    Shape {
        name: "insert-trigger",
        tables: Some(&[
            PLAIN,
            "create function {t}_f() returns trigger language plpgsql as $$ declare c int; begin select count(*) into c \
             from inserted; return null; end $$",
            "create trigger {t}_g after insert on {t} referencing new table as inserted for each statement execute \
             function {t}_f()",
        ]),
        body: None,
    },
    Shape {
        name: "insert-output",
        tables: None,
        body: Some("insert {t} (k, a, b) values (@k, @i, 7) returning k into @told"),
    },
    Shape {
        name: "new-order",
        tables: None,
        body: Some(
            "update {t}_d set next = next + 1 where k = @s returning next - 1 into @o; insert {t}_o (d, o, c, at, lines) \
             values (@s, @o, @i % 3000, getdate(), 9); insert {t}_n (d, o) values (@s, @o); @l := 1; while @l <= 9 loop \
             @j := (@i * 9 + @l) * 331 % 1000; select price into @p from {t}_i where k = @j; @m := @first + (@i * 9 + @l) \
             * 331 % 8192; update {t} set quantity = case when quantity >= 15 then quantity - 5 else quantity + 86 end, \
             ytd = ytd + 5, orders = orders + 1 where k = @m returning dist into @dist; insert {t}_l (d, o, n, i, \
             quantity, amount, dist) values (@s, @o, @l, @j, 5, 5 * @p, @dist); @l := @l + 1; end loop",
        ),
    },
];

/// A statement of these works in PostgreSQL's words.
fn translated(text: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("insert {t}", "insert into {t}"),
        ("merge {t}", "merge into {t}"),
        ("delete {t}", "delete from {t}"),
        ("bigint identity", "bigint generated always as identity"),
        ("s as a + b persisted", "s int generated always as (a + b) stored"),
        ("getdate()", "clock_timestamp()"),
        ("datetime", "timestamp"),
        ("tinyint", "smallint"),
        ("money", "numeric(19, 4)"),
        // MERGE ends with its own.
        (";;", ";"),
        ("@", "v_"),
    ];
    WORDS.iter().fold(text.to_owned(), |text, (ours, theirs)| text.replace(ours, theirs))
}

impl Work {
    /// Whether there is such a thing in a dialect.
    pub fn is_in(&self, dialect: Dialect) -> bool {
        !self.native || dialect == Dialect::Tsql
    }

    fn table(&self) -> String {
        format!("t_{}", self.name.replace('-', "_"))
    }

    /// The statements, one a text, that make everything for so many sessions.
    pub fn set_up(&self, dialect: Dialect, sessions: u32) -> Vec<String> {
        let shape = match dialect {
            Dialect::Tsql => None,
            _ => SHAPES.iter().find(|shape| shape.name == self.name),
        };
        let tables = shape.and_then(|shape| shape.tables).unwrap_or(self.tables);
        let body = shape.and_then(|shape| shape.body).unwrap_or(self.body);
        let mut all: Vec<String> = tables.iter().map(|text| (*text).to_owned()).collect();
        let key = match self.rows {
            "" => "@s * 1000000000 + @from + @i".to_owned(),
            row => {
                for session in 0..sessions {
                    let first = u64::from(session) * 1_000_000_000;
                    all.push(format!(
                        "insert {{t}} select {row} from (select {first} + n as k from numbers where n < {ROWS}) as r"
                    ));
                }
                // An odd step: every row comes, and neighbours in time are none in the table.
                format!("@first + (@from + @i) * 3571 % {ROWS}")
            }
        };
        let procedure = match dialect {
            Dialect::Tsql if self.native => {
                all.iter_mut().for_each(|text| text.insert_str(0, "use loops; "));
                let [block, run] = block::procedures(&key, body, self.commit_every);
                all.push(format!("use loops exec('{}')", block.replace('\'', "''")));
                format!("use loops exec('{}')", run.replace('\'', "''"))
            }
            Dialect::Tsql => {
                all.iter_mut().for_each(|text| text.insert_str(0, "use loops; "));
                format!("use loops exec('{}')", self.in_tsql(&key, body).replace('\'', "''"))
            }
            _ => {
                all.iter_mut().for_each(|text| *text = translated(text));
                all.push("analyze {t}".into());
                translated(&self.in_plpgsql(&key, body))
            }
        };
        all.push(procedure);
        all.iter().map(|text| text.replace("{t}", &self.table())).collect()
    }

    fn in_tsql(&self, key: &str, body: &str) -> String {
        let (begin, end) = match self.commit_every {
            1 => (String::new(), String::new()),
            n => (
                format!("if @i % {n} = 0 begin tran; "),
                format!("; if @i % {n} = {n} - 1 or @i = @n - 1 commit"),
            ),
        };
        format!(
            "create procedure {{t}}_run @s bigint, @from bigint, @n int as begin set nocount on; declare @i int = 0, @k \
             bigint, @first bigint = @s * 1000000000, @v varchar(60) = 'a text of some other and greater length', @l \
             tinyint, @o int, @j int, @m bigint, @p money, @dist char(24); declare @told table (k bigint); while @i < @n \
             begin set @k = {key}; {begin}{body}{end}; set @i += 1 end end"
        )
    }

    /// In the words that [`translated`] takes.
    fn in_plpgsql(&self, key: &str, body: &str) -> String {
        let commit = match self.commit_every {
            1 => "commit".to_owned(),
            n => format!("if @i % {n} = {n} - 1 or @i = @n - 1 then commit; end if"),
        };
        format!(
            "create procedure {{t}}_run(@s bigint, @from bigint, @n int) language plpgsql as $$ declare @i int := 0; @k \
             bigint; @first bigint := @s * 1000000000; @v varchar(60) := 'a text of some other and greater length'; @l \
             tinyint; @o int; @j int; @m bigint; @p money; @dist char(24); @told bigint; begin while @i < @n loop @k := \
             {key}; {body}; {commit}; @i := @i + 1; end loop; end $$"
        )
    }

    /// The text that runs it, for the session whose number takes the place of `{session}`.
    pub fn call(&self, dialect: Dialect, from: u64, count: u64) -> String {
        let table = self.table();
        match dialect {
            Dialect::Tsql => format!("use loops exec {table}_run {{session}}, {from}, {count}"),
            _ => format!("call {table}_run({{session}}, {from}, {count})"),
        }
    }
}

/// What the works have in common: the numbers from 0 to 9,999.
pub fn numbers(dialect: Dialect) -> [&'static str; 2] {
    match dialect {
        Dialect::Tsql => [
            "use loops create table numbers (n int not null primary key)",
            "use loops; with d(n) as (select n from (values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) as d(n)) insert \
             numbers select a.n + 10 * b.n + 100 * c.n + 1000 * d.n from d a, d b, d c, d d",
        ],
        _ => [
            "create table numbers (n int not null primary key)",
            "insert into numbers select generate_series(0, 9999)",
        ],
    }
}
