//! `corpus`: scripts parsed, scripts run, sqllogictest. `cargo xtask parse`, `slt` and `scripts` call it.

use clap::{Parser, Subcommand};
use corpus::{babelfish, generate, parse, run, script, slt};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "corpus", about = "Other people's scripts and tests on the embedded engine")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// How much of a folder of scripts the parser takes.
    Parse {
        dir: PathBuf,
        /// Leave out files with this in their path (may be given several times).
        #[arg(long)]
        exclude: Vec<String>,
        /// Tell every failure and everything that is refused.
        #[arg(long)]
        verbose: bool,
        /// So many causes.
        #[arg(long, default_value_t = 30)]
        top: usize,
    },
    /// Run scripts, one after the other, on one engine.
    Scripts {
        /// Files, or folders whose .sql files are run in the order of their names.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// A variable of SQLCMD: NAME=VALUE.
        #[arg(long = "variable", short = 'v')]
        variables: Vec<String>,
        #[arg(long)]
        exclude: Vec<String>,
        #[arg(long)]
        verbose: bool,
        #[arg(long, default_value_t = 30)]
        top: usize,
    },
    /// Run sqllogictest files in their mssql reading.
    Slt {
        dir: PathBuf,
        #[arg(long)]
        exclude: Vec<String>,
        /// Of every so many files only the first.
        #[arg(long, default_value_t = 1)]
        every: usize,
        #[arg(long)]
        verbose: bool,
        #[arg(long, default_value_t = 30)]
        top: usize,
        /// Fail below this share of the records that were run, in percent.
        #[arg(long, default_value_t = 100.0)]
        least: f64,
    },
    /// Run Babelfish's inputs and write their outputs as its harness does.
    Babelfish {
        /// The folder `test/JDBC/input`.
        inputs: PathBuf,
        /// Names of files, one a line.
        list: PathBuf,
        /// Where the outputs go.
        out: PathBuf,
        /// The folder `test/JDBC/expected`: outputs are compared with it.
        #[arg(long)]
        expected: Option<PathBuf>,
        #[arg(long, default_value_t = 30)]
        top: usize,
    },
    /// Generated statements, valid and broken, and queries that check each other (TLP, NoREC).
    Generate {
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[arg(long, default_value_t = 200_000)]
        statements: u64,
        #[arg(long)]
        verbose: bool,
        #[arg(long, default_value_t = 30)]
        top: usize,
    },
}

fn main() -> ExitCode {
    match command(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("corpus: {error}");
            ExitCode::FAILURE
        }
    }
}

fn command(command: Command) -> io::Result<bool> {
    Ok(match command {
        Command::Parse { dir, exclude, verbose, top } => {
            parse::run(&dir, &exclude, verbose, top)?.failed == 0
        }
        Command::Scripts { paths, variables, exclude, verbose, top } => {
            let mut files = Vec::new();
            for path in paths {
                files.extend(script::find(&path, &["sql"], &exclude)?);
            }
            let pairs = variables.iter().filter_map(|text| text.split_once('='));
            let variables: BTreeMap<String, String> =
                pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
            run::run(&files, &variables, verbose, top)?.failed == 0
        }
        Command::Slt { dir, exclude, every, verbose, top, least } => {
            let options = slt::Options { exclude, every, verbose, most: top };
            slt::run(&dir, &options)?.share() >= least
        }
        Command::Babelfish { inputs, list, out, expected, top } => {
            babelfish::run(&inputs, &list, &out, expected.as_deref(), top)?;
            true
        }
        Command::Generate { seed, statements, verbose, top } => {
            generate::run(seed, statements, verbose, top).failures == 0
        }
    })
}
