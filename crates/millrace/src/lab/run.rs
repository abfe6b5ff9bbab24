//! `millrace lab run`: flags to settings, and the run from its first cell to the report.

use super::rivals::RIVALS;
use super::terminal::Terminal;
use crate::switches::SwitchLists;
use ::lab::embedded::EmbeddedKind;
use ::lab::remote::RemoteKind;
use ::lab::{
    Durability, EXPERIMENTS, Ended, Experiment, LabError, Mode, Procedure, Settings, Table, Target,
    TargetKind, table,
};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Kinds of target that every build has; the rivals come after them.
static TARGETS: &[&dyn TargetKind] =
    &[&EmbeddedKind, &RemoteKind(crate::password::from_environment)];

fn kinds() -> impl Iterator<Item = &'static &'static dyn TargetKind> {
    TARGETS.iter().chain(RIVALS)
}

#[derive(clap::Args, Default)]
pub struct Args {
    /// Which one; see `millrace lab list`.
    #[arg(value_parser = known_experiment)]
    experiment: String,
    /// Concurrent sessions; a list runs a cell for each. Several lists: their product.
    #[arg(long, value_delimiter = ',', value_name = "N[,N...]")]
    sessions: Option<Vec<usize>>,
    /// Length of the measured window [default: 10].
    #[arg(long, conflicts_with = "rows")]
    seconds: Option<f64>,
    /// Seconds cut before the window, exactly [default: until throughput and waits are steady, between a fifth of the
    /// window (at most 2) and four times that].
    #[arg(long, value_name = "SECONDS", conflicts_with = "rows")]
    warmup: Option<f64>,
    /// Insert so many rows in all, instead of for a time.
    #[arg(long)]
    rows: Option<u64>,
    /// Whether a commit waits for the device [default: delayed].
    #[arg(long, value_enum, value_delimiter = ',')]
    durability: Option<Vec<Durable>>,
    /// Rows of a transaction [default: those of one INSERT].
    #[arg(long, value_delimiter = ',', value_name = "N[,N...]")]
    commit_every: Option<Vec<u64>>,
    /// Rows of one INSERT [default: 1].
    #[arg(long, value_delimiter = ',', value_name = "N[,N...]")]
    rows_per_insert: Option<Vec<u64>>,
    /// What the rows are kept in [default: disk].
    #[arg(long, value_enum, value_delimiter = ',')]
    table: Option<Vec<Kept>>,
    /// Who inserts: a loop of an ordinary procedure, or a natively compiled one that it calls for each transaction
    /// (memory-optimised tables only) [default: interpreted].
    #[arg(long, value_enum, value_delimiter = ',')]
    procedure: Option<Vec<Inserts>>,
    /// How the database is asked.
    #[arg(long, value_enum)]
    mode: Option<How>,
    /// The databases under test, one after the other: `embedded`, or
    /// mssql://[USER[:PASSWORD]@]HOST[:PORT][?encrypt=no|yes|strict][&certificate=FILE][&trust=any].
    /// Without a password there, MILLRACE_SA_PASSWORD or MSSQL_SA_PASSWORD is taken. In a build with `--features rivals`
    /// also postgres, mariadb, sqlite (docs/rivals.md) [default: embedded].
    #[arg(long, value_delimiter = ',', value_name = "TARGET[,TARGET...]")]
    target: Option<Vec<String>>,
    /// Interleaved pairs of the cells that the other flags make: each one's ratio to the first, with its interval (of
    /// several targets: to the first target's cell of the same load).
    #[arg(long, value_name = "N")]
    pairs: Option<usize>,
    /// An option of the experiment's own; see `millrace lab list`.
    #[arg(long, value_name = "NAME=VALUE[,VALUE...]", value_parser = own_option)]
    set: Vec<(String, Vec<String>)>,
    /// Sample the CPU in the window: flame graph, inverted graph, share of each spinlock.
    #[arg(long)]
    profile: bool,
    /// Where report.html and run.json go [default: report].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object per cell on standard output, and nothing else.
    #[arg(long)]
    json: bool,
    /// A fresh folder for the database is made in here, and removed at the end [default: data].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Leave the database's folder.
    #[arg(long)]
    keep: bool,
    /// Megabytes of the buffer pool [default: 4096, or half of the memory].
    #[arg(long, value_name = "MB")]
    buffer_pool_mb: Option<u64>,
    /// CPUs to run on, one scheduler each [default: all].
    #[arg(long, value_delimiter = ',', value_name = "CPU[,CPU...]")]
    cpus: Vec<usize>,
    /// Take the machine as one node, as trace flag 8015 has it, and end when standard input does: for the lab itself, whose
    /// cells under that flag have a process of their own.
    #[arg(long, hide = true)]
    one_node: bool,
    #[command(flatten)]
    switches: SwitchLists,
}

/// `millrace lab predict`: the experiment of that name, by its own flags.
#[derive(clap::Args)]
pub struct Prediction {
    /// `SOCKETSxCORES[xTHREADS][@GHZ]`, or a folder with a copy of a machine's /sys; several for several.
    #[arg(long, value_name = "MACHINE", value_delimiter = ',', default_value = "2x10x2@2.3")]
    machine: Vec<String>,
    /// Rounds of all cells, whose medians count [default: 3].
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Length of each cell's window [default: 1].
    #[arg(long)]
    seconds: Option<f64>,
    /// Where report.html and run.json go [default: report].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object per cell on standard output, and nothing else.
    #[arg(long)]
    json: bool,
    /// A fresh folder for each database is made in here [default: data].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// CPUs that cells run on, and all that the model is told is measured on [default: all].
    #[arg(long, value_delimiter = ',', value_name = "CPU[,CPU...]")]
    cpus: Vec<usize>,
}

impl From<Prediction> for Args {
    fn from(p: Prediction) -> Args {
        let mut set = vec![("machine".to_owned(), p.machine)];
        set.extend(p.rounds.map(|n| ("rounds".to_owned(), vec![n.to_string()])));
        Args {
            experiment: "predict".to_owned(),
            set,
            seconds: p.seconds,
            out: p.out,
            json: p.json,
            data: p.data,
            cpus: p.cpus,
            ..Args::default()
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Durable {
    Full,
    Delayed,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kept {
    /// Pages of the buffer pool.
    Disk,
    /// A memory-optimised table, SCHEMA_AND_DATA.
    Memory,
    /// A memory-optimised table, SCHEMA_ONLY.
    MemorySchemaOnly,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Inserts {
    Interpreted,
    Native,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum How {
    /// A loop in a procedure.
    Procedure,
    /// One prepared statement per round trip of a client; for a server.
    Roundtrip,
}

/// Flags that an experiment may take or not ([`Experiment::takes`]); the others belong to all.
#[cfg(test)]
pub const FLAGS: &[&str] = &[
    "sessions",
    "rows",
    "durability",
    "commit-every",
    "rows-per-insert",
    "switches",
    "table",
    "procedure",
    "mode",
    "target",
    "pairs",
    "buffer-pool-mb",
];

fn known_experiment(name: &str) -> Result<String, String> {
    if ::lab::find(name).is_some() {
        return Ok(name.to_owned());
    }
    let names: Vec<_> = EXPERIMENTS.iter().map(|e| e.name()).collect();
    Err(format!("there is no such experiment; there is: {}", names.join(", ")))
}

fn own_option(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = text.split_once('=').ok_or("an option is NAME=VALUE[,VALUE...]")?;
    Ok((name.to_owned(), values.split(',').map(str::to_owned).collect()))
}

impl Args {
    /// The flags that were given, of those that not every experiment takes.
    fn given(&self) -> Vec<&'static str> {
        let all = [
            ("sessions", self.sessions.is_some()),
            ("rows", self.rows.is_some()),
            ("durability", self.durability.is_some()),
            ("commit-every", self.commit_every.is_some()),
            ("rows-per-insert", self.rows_per_insert.is_some()),
            ("switches", !self.switches.lists.is_empty()),
            ("table", self.table.is_some()),
            ("procedure", self.procedure.is_some()),
            ("mode", self.mode.is_some()),
            ("target", self.target.is_some()),
            ("pairs", self.pairs.is_some()),
            ("buffer-pool-mb", self.buffer_pool_mb.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }

    /// What was given, over the experiment's defaults.
    fn settings(&self, experiment: &dyn Experiment) -> Result<Settings, LabError> {
        let takes = experiment.takes();
        if let Some(flag) = self.given().into_iter().find(|flag| !takes.contains(flag)) {
            let flags: Vec<String> = takes.iter().map(|flag| format!("--{flag}")).collect();
            let text = format!(
                "{} does not take --{flag}; it takes {}",
                experiment.name(),
                flags.join(", ")
            );
            return Err(LabError::Options(text));
        }
        let mut own = BTreeMap::new();
        for (name, values) in &self.set {
            if !experiment.own_options().iter().any(|option| option.name == name) {
                let names: Vec<_> = experiment.own_options().iter().map(|o| o.name).collect();
                let has = match names.is_empty() {
                    true => "it has none".to_owned(),
                    false => format!("it has {}", names.join(", ")),
                };
                let text = format!("{} has no option {name}; {has}", experiment.name());
                return Err(LabError::Options(text));
            }
            own.insert(name.clone(), values.clone());
        }
        let mut s = Settings { own, ..experiment.defaults() };
        // A flag that is a list replaces the default as a whole.
        fn put<T: Clone>(to: &mut T, given: &Option<T>) {
            if let Some(value) = given {
                to.clone_from(value);
            }
        }
        put(&mut s.sessions, &self.sessions);
        put(&mut s.seconds, &self.seconds);
        put(&mut s.commit_every, &self.commit_every);
        put(&mut s.rows_per_insert, &self.rows_per_insert);
        put(&mut s.pairs, &self.pairs);
        put(&mut s.data, &self.data);
        s.warmup_seconds = self.warmup.or(s.warmup_seconds);
        s.rows = self.rows.or(s.rows);
        s.buffer_pool_bytes = self.buffer_pool_mb.map(|mb| mb << 20).or(s.buffer_pool_bytes);
        if let Some(list) = &self.durability {
            let named = |d: &Durable| match d {
                Durable::Full => Durability::Full,
                Durable::Delayed => Durability::Delayed,
            };
            s.durability = list.iter().map(named).collect();
        }
        if let Some(list) = &self.table {
            let named = |table: &Kept| match table {
                Kept::Disk => Table::Disk,
                Kept::Memory => Table::Memory,
                Kept::MemorySchemaOnly => Table::MemorySchemaOnly,
            };
            s.tables = list.iter().map(named).collect();
        }
        if let Some(list) = &self.procedure {
            let named = |procedure: &Inserts| match procedure {
                Inserts::Interpreted => Procedure::Interpreted,
                Inserts::Native => Procedure::Native,
            };
            s.procedures = list.iter().map(named).collect();
        }
        if let Some(mode) = self.mode {
            s.mode = match mode {
                How::Procedure => Mode::Procedure,
                How::Roundtrip => Mode::Roundtrip,
            };
        }
        s.switches.extend(self.switches.lists.clone());
        s.keep = self.keep;
        s.profile |= self.profile;
        s.cpus.clone_from(&self.cpus);
        Ok(s)
    }

    fn targets(&self, experiment: &dyn Experiment) -> Result<Vec<Box<dyn Target>>, LabError> {
        if !experiment.has_target() {
            return Ok(Vec::new());
        }
        let default = vec!["embedded".to_owned()];
        let mut all: Vec<Box<dyn Target>> = Vec::new();
        for text in self.target.as_ref().unwrap_or(&default) {
            let made = kinds().find_map(|kind| kind.parse(text)).unwrap_or_else(|| {
                let known: Vec<_> = kinds().map(|kind| kind.help().0).collect();
                Err(LabError::Options(format!(
                    "{text} is no target that this build knows; it knows {}",
                    known.join(", ")
                )))
            })?;
            if all.iter().any(|target| target.name() == made.name()) {
                let text = format!("two targets of one run are both named {}", made.name());
                return Err(LabError::Options(text));
            }
            all.push(made);
        }
        Ok(all)
    }
}

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The first Ctrl-C ends the run with a report, the second the process.
fn watch_for_ctrl_c() {
    let watch = || {
        loop {
            if runtime::signals::wait() != runtime::signals::Signal::Terminate {
                continue;
            }
            if INTERRUPTED.swap(true, Relaxed) {
                std::process::exit(130);
            }
            eprintln!("\nending: the cell is closed and told as cut short; again to end at once");
        }
    };
    // Without it Ctrl-C ends the process at once, as everywhere.
    if runtime::signals::hold().is_ok() {
        drop(runtime::threads::spawn("signals", watch));
    }
}

/// The end of standard input is a Ctrl-C.
fn watch_for_end_of_input() {
    let watch = || {
        // Nothing comes by it.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        INTERRUPTED.store(true, Relaxed);
    };
    drop(runtime::threads::spawn("rope", watch));
}

pub fn run(args: &Args) -> ExitCode {
    if args.one_node && !topology::Topology::take_as_one_node() {
        let why = "the machine was looked at before it was to be one node".to_owned();
        return failed(&LabError::Options(why));
    }
    let Some(experiment) = ::lab::find(&args.experiment) else {
        return failed(&LabError::Options(format!("there is no experiment {}", args.experiment)));
    };
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("report"));
    let prepared = args.settings(experiment).and_then(|settings| {
        let targets = args.targets(experiment)?;
        // Found out before the run and not after it.
        let made = std::fs::create_dir_all(&out);
        made.map_err(|error| LabError::Folder { folder: out.clone(), error })?;
        Ok((settings, targets))
    });
    let (settings, mut targets) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return failed(&error),
    };
    watch_for_ctrl_c();
    if args.one_node {
        // After signals are held, which its thread then holds too.
        watch_for_end_of_input();
    }
    let mut terminal = Terminal::new(args.json);
    let Ended { run, error } = ::lab::run(
        experiment,
        &settings,
        &mut targets,
        &command_line(),
        &INTERRUPTED,
        &mut terminal,
    );
    terminal.clear_line();
    if !run.cells.is_empty() {
        if !args.json {
            let mut out = std::io::stdout().lock();
            let _ = write!(out, "{}", table::render(&run.cells));
            let _ = write!(out, "{}", table::comparisons(&run.comparisons));
            let _ = write!(out, "{}", lab_report::published(&run));
            let _ = run.marks.iter().try_for_each(|mark| writeln!(out, "marked: {}", mark.text));
        }
        match lab_report::write(&out, &run) {
            Ok(path) => eprintln!("report: {}", path.display()),
            Err(error) => return failed(&LabError::Folder { folder: out, error }),
        }
    }
    match error {
        Some(error) => failed(&error),
        None if run.cut_short => ExitCode::from(130),
        None => ExitCode::SUCCESS,
    }
}

fn failed(error: &LabError) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

/// As it was given, a password in an address left out: the report is for others to read.
fn command_line() -> String {
    let words: Vec<String> = std::env::args().skip(1).map(|word| without_password(&word)).collect();
    format!("millrace {}", words.join(" "))
}

/// Every address of a list loses its password, whatever kind of database it names and whatever is in the password.
fn without_password(word: &str) -> String {
    let mut parts = word.split("://");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("://");
        // Up to the last @ before the next address: a password may have one too.
        out.push_str(&match part.rsplit_once('@') {
            None => part.to_owned(),
            Some((who, place)) => {
                let user = who.split_once(':').map_or(who, |(user, _)| user);
                format!("{user}@{place}")
            }
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_goes_into_the_report() {
        for (word, shown) in [
            ("mssql://sa:secret@host:1433", "mssql://sa@host:1433"),
            ("--target=mssql://sa:a@b@host", "--target=mssql://sa@host"),
            ("embedded,postgres://u:p@h/db,x", "embedded,postgres://u@h/db,x"),
            ("mssql://sa:a,b@h,mysql://u:p@k", "mssql://sa@h,mysql://u@k"),
            ("mssql://host", "mssql://host"),
            ("--sessions=1,2", "--sessions=1,2"),
        ] {
            assert_eq!(without_password(word), shown);
        }
    }

    #[test]
    fn flags_that_an_experiment_does_not_take_are_refused() {
        let insert = ::lab::find("singleton-insert").expect("it is there");
        let read = ::lab::find("point-read").expect("it is there");
        let args = Args { rows: Some(5), pairs: Some(3), ..Args::default() };
        assert!(args.settings(insert).is_ok_and(|s| s.rows == Some(5) && s.pairs == 3));
        let refused = args.settings(read).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|text| text.contains("--rows")));
        let own = Args { set: vec![("depth".to_owned(), Vec::new())], ..Args::default() };
        assert!(own.settings(insert).is_err());
    }

    #[test]
    fn an_unknown_target_names_those_there_are() {
        let insert = ::lab::find("singleton-insert").expect("it is there");
        let asked = |text: &str| Args { target: Some(vec![text.to_owned()]), ..Args::default() };
        let told = asked("oracle").targets(insert).err().map(|error| error.to_string());
        assert!(told.is_some_and(|text| text.contains("embedded") && text.contains("mssql://")));
        assert!(asked("embedded").targets(insert).is_ok_and(|all| all[0].name() == "embedded"));
    }
}
