//! How much of a folder of scripts the parser takes: by script and by batch, and what it does not take, grouped.

use crate::groups::{Groups, without_particulars};
use crate::scope;
use crate::script;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use syntax::{LexOptions, SyntaxError, parse_batch, split_batches};

/// What became of scripts or batches.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    /// Read whole, and everything in it has a form that the engine knows.
    pub parsed: usize,
    /// Read whole; some statement of it will answer "not supported", by its name.
    pub refused: usize,
    /// A syntax error.
    pub failed: usize,
    /// Read; what of it is refused is of another service than the engine (`scope`). Not among the shares.
    pub outside: usize,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Parsed => self.parsed += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Outside => self.outside += 1,
        }
    }

    fn print(&self, what: &str) {
        let total = (self.parsed + self.refused + self.failed).max(1);
        let share = |n: usize| 100.0 * n as f64 / total as f64;
        println!(
            "{what:<8} {total:>7}  parsed {} ({:.2}%)  refused by name {} ({:.2}%)  failed {} ({:.2}%)  \
             beside these of other services {}",
            self.parsed,
            share(self.parsed),
            self.refused,
            share(self.refused),
            self.failed,
            share(self.failed),
            self.outside
        );
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Parsed,
    Outside,
    Refused,
    Failed,
}

/// Parses every `.sql` file under `root`; returns the tally of its scripts.
pub fn run(root: &Path, exclude: &[String], verbose: bool, most: usize) -> io::Result<Tally> {
    let (mut scripts, mut batches) = (Tally::default(), Tally::default());
    let (mut refusals, mut failures) = (Groups::default(), Groups::default());
    let mut elsewhere = Groups::default();
    for path in script::find(root, &["sql"], exclude)? {
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let script = script::read(&path, &BTreeMap::new())?;
        let mut worst = Outcome::Parsed;
        // As a tool's connection begins, whatever the batch before has set.
        let mut options = LexOptions::default();
        for batch in split_batches(&script.text) {
            let outcome = match parse(batch.text, &mut options) {
                Ok(refused) if refused.is_empty() => Outcome::Parsed,
                Ok(refused) => {
                    let mut outcome = Outcome::Outside;
                    for what in refused {
                        let at = || format!("{shown}:{}", batch.line);
                        if scope::is_outside(&what) {
                            elsewhere.add(&what, at);
                        } else {
                            if verbose {
                                println!("{}: refused: {what}", at());
                            }
                            refusals.add(&what, at);
                            outcome = Outcome::Refused;
                        }
                    }
                    outcome
                }
                Err(error) => {
                    let line = batch.line + error.line - 1;
                    if verbose {
                        println!("{shown}:{line}: Msg {}: {}", error.number, error.message);
                    }
                    let source = script.text.lines().nth(line as usize - 1).unwrap_or("").trim();
                    let cause = match error.number {
                        102 | 156 => format!("{} near '{}'", error.number, error.near),
                        _ => format!("{} {}", error.number, without_particulars(&error.message)),
                    };
                    failures.add(&cause, || {
                        let source: String = source.chars().take(100).collect();
                        format!("{shown}:{line}: {source}")
                    });
                    Outcome::Failed
                }
            };
            batches.add(&outcome);
            worst = worst.max(outcome);
        }
        scripts.add(&worst);
    }
    elsewhere.print("of other services", most);
    refusals.print("refused by name", most);
    failures.print("failed", most);
    scripts.print("scripts");
    batches.print("batches");
    Ok(scripts)
}

/// The names of what the engine will refuse; SET QUOTED_IDENTIFIER of a batch holds for the next ones too.
fn parse(text: &str, options: &mut LexOptions) -> Result<Vec<String>, SyntaxError> {
    let batch = parse_batch(text, options).map_err(|mut errors| errors.remove(0))?;
    for statement in &batch.statements {
        if let syntax::ast::StatementKind::SetOption(syntax::ast::SetOption::Switch { names, on }) =
            &statement.kind
            && names.iter().any(|name| name == "QUOTED_IDENTIFIER")
        {
            options.quoted_identifier = *on;
        }
    }
    Ok(batch.unsupported().into_iter().map(str::to_owned).collect())
}
