//! Scripts run as `sqlcmd` would: batch after batch on one session, errors counted and grouped.

use crate::embedded::{self, End, Lane};
use crate::groups::{Groups, without_particulars};
use crate::script;
use session::{ColumnMeta, Done, ResultSink, SqlMessage};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use syntax::split_batches;
use types::Value;

/// What became of the batches.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    /// Without an error.
    pub passed: usize,
    /// With one.
    pub failed: usize,
}

/// Keeps the first error.
#[derive(Default)]
struct FirstError {
    error: Option<SqlMessage>,
}

impl ResultSink for FirstError {
    fn columns(&mut self, _: &[ColumnMeta]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() && self.error.is_none() {
            self.error = Some(message.clone());
        }
    }
}

/// Runs `files` one after the other on one engine.
pub fn run(
    files: &[PathBuf],
    variables: &BTreeMap<String, String>,
    verbose: bool,
    most: usize,
) -> io::Result<Tally> {
    let mut scripts = Vec::new();
    for path in files {
        scripts.push((path.display().to_string(), script::read(path, variables)?.text));
    }
    let (tally, failures) = embedded::with_lane(move |lane| {
        let mut failures = Groups::default();
        let mut total = Tally::default();
        for (name, text) in &scripts {
            let tally = run_script(lane, name, text, verbose, &mut failures);
            println!("{name}: {} batches passed, {} failed", tally.passed, tally.failed);
            total.passed += tally.passed;
            total.failed += tally.failed;
        }
        (total, failures)
    });
    failures.print("failures", most);
    println!("in all: {} batches passed, {} failed", tally.passed, tally.failed);
    Ok(tally)
}

fn run_script(
    lane: &mut Lane,
    name: &str,
    text: &str,
    verbose: bool,
    failures: &mut Groups,
) -> Tally {
    let mut tally = Tally::default();
    for batch in split_batches(text) {
        for _ in 0..batch.count {
            let mut sink = FirstError::default();
            let end = lane.run(batch.text, &mut sink);
            let (cause, line) = match (end, sink.error) {
                (End::Stopped, _) => ("stopped: it ran too long".to_owned(), 1),
                (_, Some(error)) => {
                    if verbose {
                        println!("{name}:{}: {error}", batch.line);
                    }
                    let text = match error.number {
                        102 | 156 | 40510 => error.text.clone(),
                        _ => without_particulars(&error.text),
                    };
                    (format!("{} {text}", error.number), error.line)
                }
                (_, None) => {
                    tally.passed += 1;
                    continue;
                }
            };
            tally.failed += 1;
            failures.add(&cause, || {
                let line = batch.line + line.max(1) - 1;
                let source = text.lines().nth(line as usize - 1).unwrap_or("").trim();
                let source: String = source.chars().take(100).collect();
                format!("{}:{line}: {source}", Path::new(name).display())
            });
        }
    }
    tally
}
