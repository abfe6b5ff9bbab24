//! The main experiment: singleton inserts into a durable table, from a loop in a procedure or over the wire.

use crate::bench::Bench;
use crate::document::Published;
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::published::POST_3;
use crate::workload::Kind;

/// `singleton-insert`.
pub struct SingletonInsert;

impl Experiment for SingletonInsert {
    fn name(&self) -> &'static str {
        "singleton-insert"
    }

    fn what(&self) -> &'static str {
        "N sessions insert row after row into a clustered table, each row its own transaction, from a loop in a \
         procedure, or one prepared statement per round trip. Shows how many transactions a second the log, the \
         B+tree and the transaction manager let through, what each waits and spins for, and what a commit takes. \
         Vary the sessions, the durability, the rows of an INSERT and of a transaction, the table (on disk, in memory), the \
         procedure (interpreted, native), and the classic switches."
    }

    fn posts(&self) -> &'static [u8] {
        &[1, 3, 4, 5]
    }

    fn published(&self) -> Vec<Published> {
        let of_post_3 = |arm: &str, sessions: &str, published: &str, value: f64| {
            Published::of(POST_3, arm, "rows/s", published)
                .with_value(value)
                .beside([("durability", "delayed"), ("sessions", sessions)])
        };
        vec![
            of_post_3("40 sessions, all CPUs", "40", "186,915/s", 186_915.0),
            of_post_3("38 sessions, the log writer's core removed", "38", "436,781/s", 436_781.0),
            of_post_3("36 sessions, trace flag 8015", "36", "over 500,000/s", 500_000.0),
        ]
    }

    fn takes(&self) -> &'static [&'static str] {
        &[
            "sessions",
            "target",
            "mode",
            "table",
            "procedure",
            "rows",
            "durability",
            "commit-every",
            "rows-per-insert",
            "switches",
            "buffer-pool-mb",
            "pairs",
        ]
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        bench.measure(Kind::Insert)
    }
}
