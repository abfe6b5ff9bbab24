//! Generated T-SQL: statements valid and broken that the engine must survive, and queries whose answers check each
//! other.
//!
//! Two oracles need no second engine. TLP (ternary logic partitioning; Rigger and Su, OOPSLA 2020): the rows of a query
//! are those where a condition holds, those where it does not, and those where it is unknown. NoREC (Rigger and Su,
//! ESEC/FSE 2020): as many rows pass WHERE, which the planner may turn into seeks, as have 1 in a CASE of the same
//! condition, which it may not.
//!
//! Promise: a seed gives the same statements on every machine. Valid statements may fail only with the errors that data
//! can cause ([`DATA_ERRORS`]); broken ones with any error that leaves the session alive.

mod expression;
mod random;
mod schema;
mod statement;

use crate::embedded::{self, End, Lane};
use crate::groups::{Groups, without_particulars};
use random::Random;
use schema::Schema;
use session::{ColumnMeta, Done, ResultSink, SqlMessage};
use types::{SqlType, Value, format};

/// What values may do to a valid statement: overflow (220, 232, 8115), division by zero (8134), conversions (241, 245,
/// 8114), dates out of range (517, 9810), keys and NULLs (515, 2601, 2627), truncation (2628, 8152), a length below
/// zero (536, 537); and a constant in the ORDER BY of OVER (5308, 5309).
pub const DATA_ERRORS: &[i32] = &[
    220, 232, 241, 245, 515, 517, 536, 537, 2601, 2627, 2628, 5308, 5309, 8114, 8115, 8134, 8152,
    9810,
];

/// A new schema after so many statements.
const ROUND: u64 = 500;

/// What was tried.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    /// Valid statements, and those of them that failed as data may make them.
    pub valid: u64,
    /// See `valid`.
    pub data_errors: u64,
    /// Broken statements.
    pub broken: u64,
    /// Pairs and triples of queries compared.
    pub checks: u64,
    /// Checks that data errors made worthless.
    pub void: u64,
    /// Differences, panics, errors that nothing explains.
    pub failures: u64,
}

/// Tries `count` statements (checks among them count once) from `seed` on.
pub fn run(seed: u64, count: u64, verbose: bool, most: usize) -> Tally {
    let (tally, failures) = embedded::with_lane(move |lane| {
        let mut trial =
            Trial { tally: Tally::default(), failures: Groups::default(), verbose, seed: 0 };
        let mut done = 0;
        let mut round = seed;
        while done < count {
            trial.round(lane, round, ROUND.min(count - done));
            done += ROUND;
            round += 1;
        }
        (trial.tally, trial.failures)
    });
    failures.print("failures", most);
    println!(
        "seeds {seed}..{}: {} valid statements ({} failed on their data), {} broken ones, {} checks by TLP and NoREC \
         ({} void), {} failures",
        seed + count.div_ceil(ROUND),
        tally.valid,
        tally.data_errors,
        tally.broken,
        tally.checks,
        tally.void,
        tally.failures
    );
    tally
}

struct Trial {
    tally: Tally,
    failures: Groups,
    verbose: bool,
    /// Of the present round.
    seed: u64,
}

/// Rows as texts, sorted by need; and the first error.
#[derive(Default)]
struct Rows {
    types: Vec<SqlType>,
    rows: Vec<String>,
    error: Option<SqlMessage>,
}

impl ResultSink for Rows {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types = columns.iter().map(|column| column.ty).collect();
    }

    fn row(&mut self, row: &[Value]) {
        let cells: Vec<String> =
            row.iter().zip(&self.types).map(|(value, ty)| format::shell(value, *ty)).collect();
        self.rows.push(cells.join("|"));
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() && self.error.is_none() {
            self.error = Some(message.clone());
        }
    }
}

impl Trial {
    fn round(&mut self, lane: &mut Lane, seed: u64, count: u64) {
        self.seed = seed;
        let mut random = Random::new(seed);
        let schema = Schema::generate(&mut random);
        self.prepare(lane, &schema);
        for _ in 0..count {
            match random.below(10) {
                0 => self.partitioned(lane, &schema, &mut random),
                1 => self.counted(lane, &schema, &mut random),
                2..=4 => {
                    let text = statement::any(&schema, &mut random);
                    let text = statement::broken(&text, &mut random);
                    self.broken(lane, &text);
                    // It may have dropped or emptied a table.
                    if random.chance(10) {
                        self.prepare(lane, &schema);
                    }
                }
                _ => {
                    let text = statement::any(&schema, &mut random);
                    self.valid(lane, &schema, &text);
                }
            }
        }
    }

    fn prepare(&mut self, lane: &mut Lane, schema: &Schema) {
        // Whatever transaction or option a broken statement has left ends here.
        lane.renew();
        for text in schema.script() {
            let rows = self.run(lane, &text).1;
            if let Some(error) = rows.error {
                self.fail(&format!("schema: {}", error.number), &text, &error.to_string());
            }
        }
    }

    fn run(&mut self, lane: &mut Lane, text: &str) -> (End, Rows) {
        let mut rows = Rows::default();
        let end = lane.run(text, &mut rows);
        if end != End::Whole {
            let what = rows.error.as_ref().map_or_else(String::new, ToString::to_string);
            self.fail(&format!("{end:?} {}", without_particulars(&what)), text, &what);
        }
        (end, rows)
    }

    fn valid(&mut self, lane: &mut Lane, schema: &Schema, text: &str) {
        self.tally.valid += 1;
        let (end, rows) = self.run(lane, text);
        if lane.trancount() > 0 {
            self.run(lane, "ROLLBACK");
        }
        match rows.error {
            Some(_) if end != End::Whole => {}
            Some(error) if DATA_ERRORS.contains(&error.number) => self.tally.data_errors += 1,
            // A broken statement had taken a table away.
            Some(error) if matches!(error.number, 208 | 4902) => self.prepare(lane, schema),
            Some(error) => {
                let cause = format!("{} {}", error.number, without_particulars(&error.text));
                self.fail(&cause, text, &error.to_string());
            }
            None => {}
        }
    }

    fn broken(&mut self, lane: &mut Lane, text: &str) {
        self.tally.broken += 1;
        self.run(lane, text);
        if lane.trancount() > 0 {
            self.run(lane, "ROLLBACK");
        }
    }

    /// The rows of one query; None when data made it fail (or a table is gone).
    fn rows(&mut self, lane: &mut Lane, schema: &Schema, text: &str) -> Option<Vec<String>> {
        let (end, rows) = self.run(lane, text);
        match rows.error {
            None if end == End::Whole => Some(rows.rows),
            None => None,
            Some(error) if DATA_ERRORS.contains(&error.number) => None,
            Some(error) if error.number == 208 => {
                self.prepare(lane, schema);
                None
            }
            Some(error) => {
                let cause = format!("{} {}", error.number, without_particulars(&error.text));
                self.fail(&cause, text, &error.to_string());
                None
            }
        }
    }

    /// TLP.
    fn partitioned(&mut self, lane: &mut Lane, schema: &Schema, random: &mut Random) {
        self.tally.checks += 1;
        let query = statement::partitioned(schema, random);
        let Some(mut whole) = self.rows(lane, schema, &query.whole) else {
            self.tally.void += 1;
            return;
        };
        let mut parts = Vec::new();
        for part in &query.parts {
            match self.rows(lane, schema, part) {
                Some(rows) => parts.extend(rows),
                None => {
                    self.tally.void += 1;
                    return;
                }
            }
        }
        whole.sort();
        parts.sort();
        if whole != parts {
            let text = format!("{}\n{}", query.whole, query.parts.join("\n"));
            let found = format!("{} rows in all, {} in the parts", whole.len(), parts.len());
            self.fail("TLP: the parts are not the whole", &text, &found);
        }
    }

    /// NoREC.
    fn counted(&mut self, lane: &mut Lane, schema: &Schema, random: &mut Random) {
        self.tally.checks += 1;
        let (planned, plain) = statement::counted(schema, random);
        let (Some(planned_rows), Some(plain_rows)) =
            (self.rows(lane, schema, &planned), self.rows(lane, schema, &plain))
        else {
            self.tally.void += 1;
            return;
        };
        if planned_rows != plain_rows {
            let found = format!("{planned_rows:?} against {plain_rows:?}");
            self.fail("NoREC: the counts differ", &format!("{planned}\n{plain}"), &found);
        }
    }

    fn fail(&mut self, cause: &str, text: &str, detail: &str) {
        self.tally.failures += 1;
        let seed = self.seed;
        if self.verbose {
            println!("seed {seed}: {cause}: {detail}\n{text}\n");
        }
        self.failures.add(cause, || {
            let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("seed {seed}: {one_line}")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_statements_find_nothing() {
        let tally = run(1, 1_500, true, 20);
        assert_eq!(tally.failures, 0);
        assert!(tally.checks > 100 && tally.valid > 500 && tally.broken > 200);
        // Most checks must be worth something.
        assert!(tally.void * 2 < tally.checks, "{} of {} void", tally.void, tally.checks);
    }
}
