//! The work of applications as procedures with a loop: what a change costs, a commit after each unless said otherwise.
//!
//! The engine runs as a child (`crates/session/examples/timed.rs`), embedded, with delayed durability. Each work has a
//! table of its own and a procedure that runs it `@n` times from `@from` on; it runs in turn with the others, and in
//! turn on every program given, so that a slow minute of the machine falls on all. Printed are the medians, by one
//! session and by several at once: repetitions a second, and CPU nanoseconds for each, of the whole process (what others
//! take of a shared machine is not among these).

use crate::run::{Failure, cargo, target_directory};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Only the works whose names begin with one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Numbers of sessions, one after the other.
    #[arg(long, value_delimiter = ',', default_value = "1,10")]
    sessions: Vec<u32>,
    /// Of a run, about.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Builds of the example `timed` to compare, as NAME=FILE; without one: this tree's.
    #[arg(long)]
    program: Vec<String>,
    /// Where the databases are made; removed at the end.
    #[arg(long)]
    data: Option<PathBuf>,
}

/// Rows of a session in the tables whose rows are changed; a power of two, so that the walk below meets each.
const ROWS: u64 = 8192;

/// One kind of work.
struct Work {
    name: &'static str,
    /// Statements that make its tables; `{t}` is its own name for them.
    tables: &'static [&'static str],
    /// Rows of the table to begin with: the columns of a row whose key is `k`; empty for none.
    rows: &'static str,
    /// The loop's body, for the repetition `@i`; `@k` is then a key that no other session has: one of the rows above,
    /// or a new one where there are none.
    body: &'static str,
    /// Repetitions between two commits; 1: each statement by itself.
    commit_every: u32,
}

const PLAIN: &str = "create table {t} (k bigint not null primary key, a int not null, b int not null, c char(40) not null \
                     default 'x', v varchar(60) null, d datetime not null default getdate())";
const ROW: &str = "k, 1, 2, 'x', 'a text of some length', getdate()";

const WORKS: &[Work] = &[
    Work {
        name: "insert",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1,
    },
    Work {
        name: "insert-1000",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1000,
    },
    Work {
        name: "insert-text",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b, v) values (@k, @i, 7, @v)",
        commit_every: 1,
    },
    Work {
        name: "insert-check",
        tables: &[PLAIN, "alter table {t} add constraint {t}_c check (b > 0 and a >= 0)"],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1,
    },
    Work {
        name: "insert-computed",
        tables: &[
            "create table {t} (k bigint not null primary key, a int not null, b int not null, s as a + b persisted)",
        ],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1,
    },
    Work {
        name: "insert-index",
        tables: &[PLAIN, "create index {t}_a on {t} (a)"],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7)",
        commit_every: 1,
    },
    Work {
        name: "insert-2-indexes",
        tables: &[PLAIN, "create index {t}_a on {t} (a)", "create index {t}_b on {t} (b, a)"],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, @i % 100)",
        commit_every: 1,
    },
    Work {
        name: "insert-unique",
        tables: &[
            "create table {t} (k bigint not null primary key, u bigint not null unique, a int not null)",
        ],
        rows: "",
        body: "insert {t} (k, u, a) values (@k, @k, @i)",
        commit_every: 1,
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
    },
    Work {
        name: "insert-output",
        tables: &[PLAIN],
        rows: "",
        body: "delete @told; insert {t} (k, a, b) output inserted.k into @told values (@k, @i, 7)",
        commit_every: 1,
    },
    Work {
        name: "insert-3-values",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b) values (3 * @k, @i, 7), (3 * @k + 1, @i, 7), (3 * @k + 2, @i, 7)",
        commit_every: 1,
    },
    Work {
        name: "update",
        tables: &[PLAIN],
        rows: ROW,
        body: "update {t} set a = a + 1 where k = @k",
        commit_every: 1,
    },
    Work {
        name: "update-1000",
        tables: &[PLAIN],
        rows: ROW,
        body: "update {t} set a = a + 1 where k = @k",
        commit_every: 1000,
    },
    Work {
        name: "update-3",
        tables: &[PLAIN],
        rows: ROW,
        body: "update {t} set a = a + b, b = @i, d = getdate() where k = @k and a >= 0",
        commit_every: 1,
    },
    Work {
        name: "update-text",
        tables: &[PLAIN],
        rows: ROW,
        body: "update {t} set v = case @i % 2 when 0 then @v else 'short' end where k = @k",
        commit_every: 1,
    },
    Work {
        name: "update-beside-index",
        tables: &[PLAIN, "create index {t}_b on {t} (b)"],
        rows: ROW,
        body: "update {t} set a = a + 1 where k = @k",
        commit_every: 1,
    },
    Work {
        name: "update-indexed",
        tables: &[PLAIN, "create index {t}_a on {t} (a)"],
        rows: ROW,
        body: "update {t} set a = @i where k = @k",
        commit_every: 1,
    },
    Work {
        name: "insert-delete",
        tables: &[PLAIN],
        rows: "",
        body: "insert {t} (k, a, b) values (@k, @i, 7); delete {t} where k = @k",
        commit_every: 1,
    },
    Work {
        name: "merge",
        tables: &[PLAIN],
        rows: ROW,
        body: "merge {t} as t using (select @k + (@i & 1) * 4096 as k, @i as a) as s on t.k = s.k when matched then \
               update set a = s.a when not matched then insert (k, a, b) values (s.k, s.a, 7);",
        commit_every: 1,
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
    },
];

impl Work {
    fn table(&self) -> String {
        format!("t_{}", self.name.replace('-', "_"))
    }

    /// The statements that make everything, for so many sessions.
    fn set_up(&self, sessions: u32) -> Vec<String> {
        let table = self.table();
        let named = |text: &str| text.replace("{t}", &table);
        let mut all: Vec<String> = self.tables.iter().map(|text| named(text)).collect();
        let key = match self.rows {
            "" => "@s * 1000000000 + @from + @i".to_owned(),
            row => {
                for session in 0..sessions {
                    let first = u64::from(session) * 1_000_000_000;
                    all.push(format!(
                        "insert {table} select {row} from (select {first} + n as k from numbers where n < {ROWS}) as r"
                    ));
                }
                // An odd step: every row comes, and neighbours in time are none in the table.
                format!("@first + (@from + @i) * 3571 % {ROWS}")
            }
        };
        let body = named(self.body);
        let (begin, end) = match self.commit_every {
            1 => (String::new(), String::new()),
            n => (
                format!("if @i % {n} = 0 begin tran; "),
                format!("; if @i % {n} = {n} - 1 or @i = @n - 1 commit"),
            ),
        };
        all.push(format!(
            "create procedure {table}_run @s bigint, @from bigint, @n int as begin set nocount on; declare @i int = 0, @k \
             bigint, @first bigint = @s * 1000000000, @v varchar(60) = 'a text of some other and greater length', @l \
             tinyint, @o int, @j int, @m bigint, @p money, @dist char(24); declare @told table (k bigint); while @i < @n \
             begin set @k = {key}; {begin}{body}{end}; set @i += 1 end end"
        ));
        all
    }
}

/// A build of the engine that is running.
struct Engine {
    name: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    fn start(name: &str, program: &PathBuf, folder: &PathBuf) -> Result<Engine, Failure> {
        let cannot = |what: String| Failure(format!("{name}: {what}"));
        let mut command = Command::new(program);
        command.arg(folder).args([(4u64 << 30).to_string(), (1u64 << 30).to_string()]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| cannot(format!("cannot start {}: {error}", program.display())))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(cannot("has no pipes".into()));
        };
        let output = BufReader::new(output);
        let mut engine = Engine { name: name.to_owned(), child, input, output };
        engine.run(1, "create database loops")?;
        engine.run(1, "alter database loops set delayed_durability = forced")?;
        engine.run(1, "use loops create table numbers (n int not null primary key)")?;
        engine.run(
            1,
            "use loops; with d(n) as (select n from (values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) as d(n)) insert \
             numbers select a.n + 10 * b.n + 100 * c.n + 1000 * d.n from d a, d b, d c, d d",
        )?;
        Ok(engine)
    }

    /// Runs a text on so many sessions at once; the seconds it took.
    fn run(&mut self, sessions: u32, text: &str) -> Result<f64, Failure> {
        let failed = |what: &str| Failure(format!("{}: {what}: {text}", self.name));
        writeln!(self.input, "\\{sessions} {text}")
            .and_then(|()| self.input.flush())
            .map_err(|error| failed(&error.to_string()))?;
        loop {
            let mut line = String::new();
            match self.output.read_line(&mut line) {
                Ok(0) => return Err(failed("ended")),
                Ok(_) => {}
                Err(error) => return Err(failed(&error.to_string())),
            }
            if let Some(seconds) = line.strip_prefix("--end-- ") {
                return seconds.trim().parse().map_err(|_| failed("told no time"));
            }
            if line.starts_with("error:") {
                return Err(failed(line.trim()));
            }
        }
    }

    /// CPU time of the process so far, user's and system's, in seconds.
    fn cpu(&self) -> Result<f64, Failure> {
        const TICKS_PER_S: f64 = 100.0;
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(&path).map_err(|e| Failure(format!("{path}: {e}")))?;
        // The name, in brackets, may have blanks; user and system time are the 12th and 13th field behind it.
        let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: f64 = fields.skip(11).take(2).filter_map(|f| f.parse::<f64>().ok()).sum();
        Ok(ticks / TICKS_PER_S)
    }

    fn stop(self) {
        let Engine { mut child, input, .. } = self;
        drop(input);
        let _ = child.wait();
    }
}

/// A work by so many sessions on one engine.
struct Lane {
    /// Repetitions so far, of a session.
    done: u64,
    /// Repetitions of a run, of a session.
    count: u64,
    /// Per repetition, all sessions together: nanoseconds, and those of CPUs.
    ns: Vec<(f64, f64)>,
}

impl Lane {
    fn run(&mut self, engine: &mut Engine, work: &Work, sessions: u32) -> Result<f64, Failure> {
        let (from, count) = (self.done, self.count);
        let text = format!("use loops exec {}_run {{session}}, {from}, {count}", work.table());
        self.done += count;
        engine.run(sessions, &text)
    }
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let mut programs = Vec::new();
    for program in &options.program {
        let Some((name, file)) = program.split_once('=') else {
            return Err(Failure(format!("{program} is not NAME=FILE")));
        };
        programs.push((name.to_owned(), PathBuf::from(file)));
    }
    if programs.is_empty() {
        let line = ["build", "--release", "--quiet", "--package", "session", "--example", "timed"];
        cargo("the engine, embedded", &line).run()?;
        programs.push(("this tree".to_owned(), target_directory().join("release/examples/timed")));
    }
    let folder = match &options.data {
        Some(data) => data.clone(),
        None => std::env::temp_dir().join(format!("loops-{}", std::process::id())),
    };
    std::fs::create_dir_all(&folder).map_err(|e| Failure(e.to_string()))?;
    let mut engines = Vec::new();
    let mut result = Ok(());
    for (at, (name, program)) in programs.iter().enumerate() {
        match Engine::start(name, program, &folder.join(at.to_string())) {
            Ok(engine) => engines.push(engine),
            Err(failure) => result = Err(failure),
        }
    }
    let result = result.and_then(|()| compare(options, &mut engines));
    engines.into_iter().for_each(Engine::stop);
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn compare(options: &Options, engines: &mut [Engine]) -> Result<(), Failure> {
    let wanted = |work: &&Work| {
        options.only.is_empty() || options.only.iter().any(|name| work.name.starts_with(name))
    };
    let most = options.sessions.iter().copied().max().unwrap_or(1);
    let works: Vec<&Work> = WORKS.iter().filter(wanted).collect();
    // Lanes of a work are in order of the number of sessions, and of the engines.
    let mut lanes: Vec<Vec<Lane>> = Vec::new();
    for work in &works {
        let mut of_work = Vec::new();
        for engine in &mut *engines {
            for statement in work.set_up(most) {
                let text = match statement.strip_prefix("create procedure") {
                    // Alone in its batch.
                    Some(_) => format!("use loops exec('{}')", statement.replace('\'', "''")),
                    None => format!("use loops; {statement}"),
                };
                engine.run(1, &text)?;
            }
        }
        for (at, &sessions) in options.sessions.iter().enumerate() {
            for engine in &mut *engines {
                let mut lane = Lane { done: at as u64 * 300_000_000, count: 1000, ns: Vec::new() };
                // Compiles and warms up; then as many as the time takes.
                lane.run(engine, work, sessions)?;
                let seconds = lane.run(engine, work, sessions)?;
                let count = options.seconds / seconds.max(1e-6) * lane.count as f64;
                lane.count = ((count / 1000.0).ceil() as u64 * 1000).clamp(1000, 2_000_000);
                of_work.push(lane);
            }
        }
        lanes.push(of_work);
    }
    for _ in 0..options.rounds {
        for (work, lanes) in works.iter().zip(&mut lanes) {
            for (at, lane) in lanes.iter_mut().enumerate() {
                let sessions = options.sessions[at / engines.len()];
                let engine = &mut engines[at % engines.len()];
                let cpu = engine.cpu()?;
                let seconds = lane.run(engine, work, sessions)?;
                let each = 1e9 / (lane.count * u64::from(sessions)) as f64;
                lane.ns.push((seconds * each, (engine.cpu()? - cpu) * each));
            }
        }
    }
    print!("{:<28}", "repetitions/s (CPU ns each)");
    for sessions in &options.sessions {
        for engine in &*engines {
            print!("{:>26}", format!("{} x {sessions}", engine.name));
        }
    }
    println!();
    for (work, lanes) in works.iter().zip(&lanes) {
        print!("{:<28}", work.name);
        for lane in lanes {
            let median = |mut all: Vec<f64>| {
                all.sort_by(f64::total_cmp);
                all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
            };
            let ns = median(lane.ns.iter().map(|(ns, _)| *ns).collect());
            let cpu = median(lane.ns.iter().map(|(_, cpu)| *cpu).collect());
            print!("{:>26}", format!("{:.0} k ({cpu:.0})", 1e6 / ns));
        }
        println!();
    }
    Ok(())
}
