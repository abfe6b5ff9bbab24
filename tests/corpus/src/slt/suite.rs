//! Files run one after the other, each on an engine of its own, and their figures.

use super::{Record, Values, matches, records};
use crate::embedded::{self, End, Lane};
use crate::groups::{Groups, without_particulars};
use crate::script;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What to run, and what to print.
pub struct Options {
    /// Words in paths that are left out.
    pub exclude: Vec<String>,
    /// Of every so many files the first is run.
    pub every: usize,
    /// Each failure, as it is met.
    pub verbose: bool,
    /// So many causes at the end.
    pub most: usize,
}

/// Records by what became of them.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    /// As expected.
    pub passed: usize,
    /// Another answer, an error, or none in time.
    pub failed: usize,
    /// Not for this engine.
    pub skipped: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Of those that were run, in percent.
    pub fn share(&self) -> f64 {
        100.0 * self.passed as f64 / (self.passed + self.failed).max(1) as f64
    }
}

/// Runs the `.test` files under `root`.
pub fn run(root: &Path, options: &Options) -> io::Result<Tally> {
    let mut total = Tally::default();
    let mut failures = Groups::default();
    let files = script::find(root, &["test"], &options.exclude)?;
    for path in files.iter().step_by(options.every.max(1)) {
        let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let shown = if shown.is_empty() { path.display().to_string() } else { shown };
        let start = Instant::now();
        let (tally, found) = run_file(path.clone(), shown.clone(), options.verbose)?;
        println!(
            "{shown}: {} passed, {} failed, {} skipped ({:.1} s)",
            tally.passed,
            tally.failed,
            tally.skipped,
            start.elapsed().as_secs_f64()
        );
        total.add(tally);
        failures.merge(found);
    }
    failures.print("failures", options.most);
    println!(
        "in all: {} passed, {} failed, {} skipped: {:.3}% of those run",
        total.passed,
        total.failed,
        total.skipped,
        total.share()
    );
    Ok(total)
}

fn run_file(path: PathBuf, shown: String, verbose: bool) -> io::Result<(Tally, Groups)> {
    let text = script::decode(&std::fs::read(path)?);
    Ok(embedded::with_lane(move |lane| {
        let mut file =
            File { tally: Tally::default(), failures: Groups::default(), shown, verbose };
        for record in records(&text) {
            match record {
                Record::Halt => break,
                Record::Skipped => file.tally.skipped += 1,
                record => file.record(lane, record),
            }
        }
        (file.tally, file.failures)
    }))
}

struct File {
    tally: Tally,
    failures: Groups,
    shown: String,
    verbose: bool,
}

impl File {
    fn record(&mut self, lane: &mut Lane, record: Record) {
        let (sql, line) = match &record {
            Record::Statement { sql, line, .. } | Record::Query { sql, line, .. } => {
                (sql.clone(), *line)
            }
            Record::Skipped | Record::Halt => return,
        };
        let Err((cause, detail)) = self.outcome(lane, record) else {
            self.tally.passed += 1;
            return;
        };
        self.tally.failed += 1;
        if self.verbose {
            println!("{}:{line}: {detail}\n{sql}\n", self.shown);
        }
        let shown = &self.shown;
        self.failures.add(&cause, || {
            let one_line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
            let one_line: String = one_line.chars().take(200).collect();
            format!("{shown}:{line}: {one_line}")
        });
    }

    /// `Err`: the cause under which the failure is counted, and what happened.
    fn outcome(&self, lane: &mut Lane, record: Record) -> Result<(), (String, String)> {
        let failed = |values: &Values, end: End| -> Option<(String, String)> {
            if end == End::Stopped {
                return Some(("stopped: it ran too long".into(), "it ran too long".into()));
            }
            let error = values.error.as_ref()?;
            let cause = format!("{} {}", error.number, without_particulars(&error.text));
            Some((cause, error.to_string()))
        };
        match record {
            Record::Statement { ok, sql, .. } => {
                let mut values = Values::new(&[]);
                let end = lane.run(&sql, &mut values);
                match failed(&values, end) {
                    Some(cause) if ok || end != End::Whole => Err(cause),
                    None if !ok => Err(("no error".into(), "an error was expected".into())),
                    _ => Ok(()),
                }
            }
            Record::Query { types, sort, sql, expected, .. } => {
                let mut values = Values::new(&types);
                let end = lane.run(&sql, &mut values);
                if let Some(cause) = failed(&values, end) {
                    return Err(cause);
                }
                let columns = values.columns();
                if columns != types.len() {
                    let text = format!("{columns} columns instead of {}", types.len());
                    return Err(("wrong number of columns".into(), text));
                }
                matches(values.values, columns, sort, &expected)
                    .map_err(|detail| ("another answer".into(), detail))
            }
            Record::Skipped | Record::Halt => Ok(()),
        }
    }
}
