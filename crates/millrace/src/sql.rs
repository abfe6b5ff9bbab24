//! `millrace sql`: a shell on an embedded engine, or on a server.
//!
//! Results and information go to standard output, errors to standard error; a script that met an
//! error of severity 11 or more ends with status 1. An embedded session lives on a scheduler, as every
//! session does; this thread reads batches and hands them over one at a time.

mod desk;
mod print;
mod remote;

use crate::switches::SwitchFlags;
use client::Address;
use desk::{Desk, Done};
use device::{IoMode, RealFs};
use session::{Instance, InstanceConfig};
use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use syntax::{BatchText, go_count, is_unfinished, split_batches};

/// Run T-SQL on an embedded data folder, or on a server.
#[derive(clap::Args)]
pub struct Args {
    /// The data folder; made if it is not there. One process at a time can open it.
    #[arg(long, value_name = "DIR", default_value = "data/sql")]
    data: PathBuf,
    /// A server instead of a folder:
    /// [USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?encrypt=no|yes|strict][&certificate=FILE][&trust=any].
    /// Without a password there, MILLRACE_SA_PASSWORD or MSSQL_SA_PASSWORD is taken.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["data", "buffer_pool_mb"])]
    server: Option<String>,
    /// Run this text and leave.
    #[arg(short = 'q', long, value_name = "T-SQL", conflicts_with = "file")]
    query: Option<String>,
    /// Run this script and leave; `-` is standard input. Without it, and without -q: a prompt.
    file: Option<PathBuf>,
    /// Megabytes of each database's buffer pool.
    #[arg(long, value_name = "MB", default_value_t = 512)]
    buffer_pool_mb: u64,
    #[command(flatten)]
    switches: SwitchFlags,
}

/// Where batches come from.
enum Source {
    /// A whole script, and what errors call it.
    Script { text: String, name: Option<String> },
    /// A person.
    Prompt,
}

/// Something that runs batches and prints what they say.
trait Runs {
    /// Runs a batch `count` times; `place`: script and line on which it begins.
    fn run(&mut self, text: &str, count: u32, place: Option<(String, u32)>)
    -> Result<Done, String>;
    /// Ends the session.
    fn close(self) -> Result<(), String>;
}

/// Runs the shell.
pub fn run(args: Args) -> ExitCode {
    let result = source(&args).and_then(|source| {
        if let Some(server) = &args.server {
            if args.switches.switches != Default::default() {
                return Err("the switches are for an engine in this process; on a server, use ALTER SERVER \
                            CONFIGURATION SET MILLRACE (...)"
                    .to_owned());
            }
            let mut address = Address::parse(server).map_err(|error| error.to_string())?;
            if address.password.is_none() {
                address.password = crate::password::from_environment();
            }
            return run_source(remote::Remote::open(&address)?, source);
        }
        let instance = open(&args)?;
        let failed = run_source(Desk::open(&instance), source);
        let closed = instance
            .shutdown()
            .map_err(|error| format!("the databases did not close cleanly: {error}"));
        failed.and_then(|failed| closed.map(|()| failed))
    });
    match result {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn source(args: &Args) -> Result<Source, String> {
    if let Some(text) = &args.query {
        return Ok(Source::Script { text: text.clone(), name: None });
    }
    let Some(path) = &args.file else {
        if std::io::stdin().is_terminal() {
            return Ok(Source::Prompt);
        }
        return standard_input();
    };
    if path == Path::new("-") {
        return standard_input();
    }
    let bytes = std::fs::read(path)
        .map_err(|error| format!("the script {} cannot be read: {error}", path.display()))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("the script {} is not UTF-8 text", path.display()))?;
    Ok(Source::Script { text, name: Some(path.display().to_string()) })
}

fn standard_input() -> Result<Source, String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("standard input cannot be read: {error}"))?;
    Ok(Source::Script { text, name: None })
}

fn open(args: &Args) -> Result<Arc<Instance>, String> {
    let fs = RealFs::new(IoMode::Auto).map_err(|error| format!("no way to do I/O: {error}"))?;
    let mut config = InstanceConfig::new(&args.data, fs);
    config.buffer_pool_bytes = args.buffer_pool_mb.clamp(16, 1 << 24) << 20;
    config.switches = args.switches.switches.clone();
    Instance::open(config).map_err(|error| error.to_string())
}

/// Whether a script failed; a person sees for himself.
fn run_source(mut desk: impl Runs, source: Source) -> Result<bool, String> {
    let outcome = match source {
        Source::Script { text, name } => script(&mut desk, &text, name.as_deref()),
        Source::Prompt => prompt(&mut desk).map(|()| false),
    };
    desk.close()?;
    outcome
}

fn script(desk: &mut impl Runs, text: &str, name: Option<&str>) -> Result<bool, String> {
    let mut failed = false;
    // A byte order mark is no part of the text.
    for batch in split_batches(text.trim_start_matches('\u{feff}')) {
        let place = name.map(|name| (name.to_owned(), batch.line));
        let done = desk.run(batch.text, batch.count, place)?;
        failed |= done.failed;
        if done.ended {
            break;
        }
    }
    Ok(failed)
}

fn prompt(desk: &mut impl Runs) -> Result<(), String> {
    println!("millrace {}: GO runs what you wrote, QUIT leaves.", env!("CARGO_PKG_VERSION"));
    let mut lines = std::io::stdin().lock().lines();
    let mut written = String::new();
    loop {
        print!("{}> ", written.matches('\n').count() + 1);
        // Without a terminal's echo there is nobody to wait for.
        let _ = std::io::stdout().flush();
        let Some(line) = lines.next() else {
            println!();
            return Ok(());
        };
        let line = line.map_err(|error| format!("standard input cannot be read: {error}"))?;
        let word = line.trim().trim_end_matches(';');
        let at_start = written.trim().is_empty();
        if at_start && ["quit", "exit"].iter().any(|leave| word.eq_ignore_ascii_case(leave)) {
            return Ok(());
        }
        match go_count(&line).filter(|_| !is_unfinished(&written)) {
            None => {
                written.push_str(&line);
                written.push('\n');
            }
            Some(count) => {
                let batch = BatchText { text: &written, line: 1, count };
                if !at_start && desk.run(batch.text, batch.count, None)?.ended {
                    return Ok(());
                }
                written.clear();
            }
        }
    }
}
