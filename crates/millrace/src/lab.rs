//! `millrace lab`: the command line of the experiments.
//!
//! Progress goes to standard error; figures, and nothing else, to standard output.

use crate::switches::SwitchFlags;
use ::lab::singleton_insert::{self, Options};
use ::lab::{Cell, EXPERIMENTS, LabError, Progress, ledger, remote, report, table};
use client::Address;
use device::{IoMode, RealFs};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// The experiments there are.
    List,
    /// Run one.
    Run(Box<Run>),
    /// The load of the kill test: durable transactions, told line by line, until the process is killed.
    #[command(hide = true)]
    Ledger(Ledger),
}

#[derive(clap::Args)]
struct Ledger {
    /// The data folder, kept from run to run.
    #[arg(long)]
    data: PathBuf,
    #[arg(long, default_value_t = 8)]
    sessions: u32,
    /// Goes into every row, so that runs can be told apart.
    #[arg(long, default_value_t = 1)]
    cycle: u32,
    /// End after so many transactions a session.
    #[arg(long)]
    transactions: Option<u64>,
    /// Print the rows instead.
    #[arg(long)]
    dump: bool,
}

#[derive(clap::Args)]
struct Run {
    /// Which one; see `millrace lab list`.
    #[arg(value_parser = known_experiment)]
    experiment: String,
    /// Concurrent sessions; a list runs one cell for each.
    #[arg(long, value_delimiter = ',', default_value = "1,10", value_name = "N[,N...]")]
    sessions: Vec<usize>,
    /// Length of the measured window.
    #[arg(long, default_value_t = 10.0, conflicts_with = "rows")]
    seconds: f64,
    /// Seconds cut before the window [default: 2, less for short windows].
    #[arg(long, value_name = "SECONDS", conflicts_with = "rows")]
    warmup: Option<f64>,
    /// Insert so many rows in all, instead of for a time.
    #[arg(long)]
    rows: Option<u64>,
    /// Whether a commit waits for the device.
    #[arg(long, value_enum, default_value_t = Durability::Delayed)]
    durability: Durability,
    /// Rows of a transaction [default: those of one INSERT].
    #[arg(long, value_name = "N")]
    commit_every: Option<u64>,
    /// Rows of one INSERT.
    #[arg(long, default_value_t = 1, value_name = "N")]
    rows_per_insert: u64,
    /// How space in the log buffer is taken: `spinlock` is the classic LOGCACHE_ACCESS.
    #[arg(long, value_enum, default_value_t = LogReserve::Lanes)]
    log_reserve: LogReserve,
    /// Who writes the log: whoever commits, or a thread of its own.
    #[arg(long, value_enum, default_value_t = LogWriter::Leader)]
    log_writer: LogWriter,
    /// How rows are inserted.
    #[arg(long, value_enum, default_value_t = Mode::Procedure)]
    mode: Mode,
    /// The database under test: `embedded`, or
    /// mssql://[USER[:PASSWORD]@]HOST[:PORT][?encrypt=no|yes|strict][&certificate=FILE][&trust=any].
    /// Without a password there, MILLRACE_SA_PASSWORD or MSSQL_SA_PASSWORD is taken.
    #[arg(long, value_parser = target, default_value = "embedded", value_name = "TARGET")]
    target: Target,
    /// Where report.html and cells.json go.
    #[arg(long, default_value = "report", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON object per cell on standard output, and nothing else.
    #[arg(long)]
    json: bool,
    /// A fresh folder for the database is made in here, and removed at the end.
    #[arg(long, default_value = "data", value_name = "DIR")]
    data: PathBuf,
    /// Leave the database's folder.
    #[arg(long)]
    keep: bool,
    /// Megabytes of the buffer pool [default: 4096, or half of the memory].
    #[arg(long, value_name = "MB")]
    buffer_pool_mb: Option<u64>,
    /// CPUs to run on, one scheduler each [default: all].
    #[arg(long, value_delimiter = ',', value_name = "CPU[,CPU...]")]
    cpus: Vec<usize>,
    #[command(flatten)]
    switches: SwitchFlags,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Durability {
    Full,
    Delayed,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LogReserve {
    Lanes,
    Spinlock,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LogWriter {
    Leader,
    Dedicated,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// A loop in a T-SQL procedure.
    Procedure,
    /// One prepared statement per round trip of a client; for a server.
    Roundtrip,
}

#[derive(Clone)]
enum Target {
    /// An engine in this process.
    Embedded,
    /// A server.
    Server(Box<Address>),
}

fn target(text: &str) -> Result<Target, String> {
    if text == "embedded" {
        return Ok(Target::Embedded);
    }
    if !text.starts_with("mssql://") {
        return Err("a target is embedded, or mssql://HOST".to_owned());
    }
    let mut address = Address::parse(text).map_err(|error| error.to_string())?;
    if address.password.is_none() {
        address.password = crate::password::from_environment();
    }
    Ok(Target::Server(Box::new(address)))
}

fn known_experiment(name: &str) -> Result<String, String> {
    if EXPERIMENTS.iter().any(|e| e.name == name) {
        return Ok(name.to_owned());
    }
    let names: Vec<_> = EXPERIMENTS.iter().map(|e| e.name).collect();
    Err(format!("there is no such experiment; there is: {}", names.join(", ")))
}

pub fn run(args: Args) -> ExitCode {
    match args.command {
        Command::List => {
            let mut out = std::io::stdout().lock();
            for e in EXPERIMENTS {
                // A reader that has gone away wants no more.
                if writeln!(out, "{:18} {}", e.name, e.what).is_err() {
                    break;
                }
            }
            ExitCode::SUCCESS
        }
        Command::Run(run) => run_experiment(&run),
        Command::Ledger(ledger) => run_ledger(&ledger),
    }
}

fn run_ledger(args: &Ledger) -> ExitCode {
    let result = RealFs::new(IoMode::Auto).map_err(|error| error.to_string()).and_then(|fs| {
        let config = ledger::config(&args.data, fs);
        if args.dump {
            ledger::dump(config)
        } else {
            ledger::run(config, args.sessions, args.cycle, args.transactions)
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_experiment(run: &Run) -> ExitCode {
    let mut terminal = Terminal::new(run.json);
    let cells = match &run.target {
        Target::Embedded => run_embedded(run, &mut terminal),
        Target::Server(address) => run_remote(run, address, &mut terminal),
    };
    let cells = match cells {
        Ok(cells) => cells,
        Err(error) => {
            terminal.clear_line();
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    if !run.json {
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "{}", table::render(&cells));
    }
    match report::write(&run.out, &cells, &command_line()) {
        Ok(path) => {
            eprintln!("report: {}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: the report cannot be written to {}: {error}", run.out.display());
            ExitCode::FAILURE
        }
    }
}

fn run_remote(
    run: &Run,
    address: &Address,
    terminal: &mut Terminal,
) -> Result<Vec<Cell>, LabError> {
    if run.rows.is_some() {
        return Err(LabError::Options("a server is measured for a time: --seconds".to_owned()));
    }
    remote::run(
        &remote::Options {
            address: address.clone(),
            work: match run.experiment.as_str() {
                "point-read" => remote::Work::PointRead,
                _ => remote::Work::Insert,
            },
            mode: match run.mode {
                Mode::Procedure => remote::Mode::Procedure,
                Mode::Roundtrip => remote::Mode::Roundtrip,
            },
            sessions: run.sessions.clone(),
            seconds: run.seconds,
            warmup_seconds: run.warmup.unwrap_or_else(|| (run.seconds * 0.2).min(2.0)),
            delayed: run.durability == Durability::Delayed,
            commit_every: run.commit_every,
            rows_per_insert: run.rows_per_insert,
            keep: run.keep,
        },
        terminal,
    )
}

fn run_embedded(run: &Run, terminal: &mut Terminal) -> Result<Vec<Cell>, LabError> {
    if run.mode == Mode::Roundtrip || run.experiment != "singleton-insert" {
        return Err(LabError::Options(
            "a round trip needs a server: start `millrace serve` and give its address as \
             --target mssql://HOST:PORT"
                .to_owned(),
        ));
    }
    let options = Options {
        sessions: run.sessions.clone(),
        seconds: run.seconds,
        warmup_seconds: run.warmup.unwrap_or_else(|| (run.seconds * 0.2).min(2.0)),
        rows: run.rows,
        delayed: run.durability == Durability::Delayed,
        commit_every: run.commit_every,
        rows_per_insert: run.rows_per_insert,
        spinlock: run.log_reserve == LogReserve::Spinlock,
        dedicated: run.log_writer == LogWriter::Dedicated,
        data: run.data.clone(),
        keep: run.keep,
        buffer_pool_bytes: run.buffer_pool_mb.map(|mb| mb << 20),
        cpus: run.cpus.clone(),
        switches: run.switches.switches.clone(),
    };
    singleton_insert::run(&options, terminal)
}

/// As it was given, a password in an address left out: the report is for others to read.
fn command_line() -> String {
    let words: Vec<String> = std::env::args().skip(1).map(|word| without_password(&word)).collect();
    format!("millrace {}", words.join(" "))
}

fn without_password(word: &str) -> String {
    let Some((before, rest)) = word.split_once("mssql://") else { return word.to_owned() };
    let Some((who, place)) = rest.rsplit_once('@') else { return word.to_owned() };
    let user = who.split_once(':').map_or(who, |(user, _)| user);
    format!("{before}mssql://{user}@{place}")
}

/// Live progress on standard error: one line that changes on a terminal, a line a second elsewhere.
struct Terminal {
    json: bool,
    live: bool,
    /// The line on the screen is to be overwritten.
    dirty: bool,
    last_line_s: f64,
    title: String,
}

impl Terminal {
    fn new(json: bool) -> Terminal {
        let live = std::io::stderr().is_terminal();
        Terminal { json, live, dirty: false, last_line_s: 0.0, title: String::new() }
    }

    fn clear_line(&mut self) {
        if std::mem::take(&mut self.dirty) {
            eprint!("\r\x1b[K");
        }
    }

    fn line(&mut self, text: &str) {
        if self.live {
            eprint!("\r\x1b[K{}: {text}", self.title);
            self.dirty = true;
        } else {
            eprintln!("{}: {text}", self.title);
        }
    }
}

impl Progress for Terminal {
    fn begin(&mut self, index: usize, cells: usize, title: &str) {
        self.clear_line();
        self.title = format!("[{}/{cells}] {title}", index + 1);
        self.last_line_s = 0.0;
    }

    fn step(&mut self, what: &str) {
        self.line(what);
    }

    fn tick(&mut self, elapsed_s: f64, rows: u64, rows_per_s: f64, warm: bool) {
        if !self.live && elapsed_s - self.last_line_s < 0.95 {
            return;
        }
        self.last_line_s = elapsed_s;
        let text = format!(
            "{elapsed_s:5.1} s  {:>11} rows/s  {:>13} rows{}",
            table::grouped(rows_per_s),
            table::grouped(rows as f64),
            if warm { "" } else { "  (warm-up)" }
        );
        self.line(&text);
    }

    fn end(&mut self, cell: &Cell) {
        self.clear_line();
        if self.json {
            match serde_json::to_string(cell) {
                // A cell is told as soon as it is measured: a later failure does not take it back.
                Ok(json) => drop(writeln!(std::io::stdout(), "{json}")),
                Err(error) => eprintln!("error: {error}"),
            }
        } else {
            eprintln!("{}: {} rows/s", self.title, table::grouped(cell.rows_per_s));
        }
    }
}
