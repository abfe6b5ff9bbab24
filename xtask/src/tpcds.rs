//! TPC-DS: its data, its 99 queries as T-SQL, every answer held against another engine's, and times beside it.
//!
//! The queries run in turn on each engine, so that a slow minute of the machine falls on all. An answer that differs, or
//! that an engine refuses, makes the command fail at its end; what the rules of two dialects leave open is no difference
//! (`answers.rs`). Texts of this data sort alike by the server's collation and, elsewhere, by their bytes.

mod answers;
mod data;
mod dialects;

use crate::beside::{Dialect, Engine, Setup, engines};
use crate::run::Failure;
use dialects::{limit, spoken};
use std::path::{Path, PathBuf};

/// What to run.
#[derive(clap::Args)]
pub struct Options {
    /// 1: 2.9 million rows of store_sales, 20 million rows in all, about 1.2 gigabytes.
    #[arg(long, default_value_t = 0.1)]
    scale: f64,
    /// Only these queries: 1,19.
    #[arg(long, value_delimiter = ',')]
    only: Vec<usize>,
    /// What the rows of sales and returns lie by in our engine; PostgreSQL's lie by date, as they are loaded.
    #[arg(long, value_enum, default_value = "key")]
    clustered: data::Clustering,
    /// None of these queries.
    #[arg(long, value_delimiter = ',')]
    without: Vec<usize>,
    /// The degree of parallelism.
    #[arg(long, default_value_t = 1)]
    maxdop: u32,
    /// What our engine may use, three quarters of it for pages.
    #[arg(long, default_value_t = 8192)]
    memory_mb: u64,
    /// postgres and duckdb (the shell in PATH, or the one that DUCKDB names); answers are compared with theirs.
    #[arg(long, value_delimiter = ',')]
    beside: Vec<String>,
    /// Of which the median counts, after one that warms up; 0: only the one.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Where the databases are made; removed at the end.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Examples `timed` of the crate session that are built already, as NAME=FILE or FILE; the first is what others are
    /// compared with.
    #[arg(long)]
    program: Vec<String>,
    /// Processor time of the engine's processes in place of the time on the wall, for a machine that others use too; it
    /// is counted in hundredths of a second.
    #[arg(long)]
    cpu: bool,
    /// The seconds after which PostgreSQL gives a query up; 0: never.
    #[arg(long, default_value_t = 0)]
    limit_s: u32,
    /// Print the answers.
    #[arg(long)]
    answers: bool,
}

const QUERIES: &str = include_str!("tpcds/queries.sql");

/// The texts of the queries, the first at 0.
fn queries() -> Vec<String> {
    let text = |part: &str| {
        let lines = part.lines().skip(1).map(str::trim).collect::<Vec<_>>().join(" ");
        lines.trim().to_owned()
    };
    QUERIES.split("\n-- Q").skip(1).map(text).collect()
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let folder = match &options.data {
        Some(data) => data.clone(),
        None => std::env::temp_dir().join(format!("tpcds-{}", std::process::id())),
    };
    let files = folder.join("rows");
    std::fs::create_dir_all(&files).map_err(|error| Failure(error.to_string()))?;
    let setup = Setup {
        database: "tpcds",
        memory_mb: options.memory_mb,
        programs: &options.program,
        beside: &options.beside,
        folder: &folder,
    };
    let result = data::generate(options.scale, &files).and_then(|()| {
        let mut engines = engines(&setup)?;
        let result = compare(options, &mut engines, &files);
        engines.into_iter().for_each(Engine::stop);
        result
    });
    let _ = std::fs::remove_dir_all(&folder);
    result
}

/// What one engine said to a query, and how long each time took, in seconds.
#[derive(Default)]
struct Told {
    answer: String,
    refusal: Option<String>,
    seconds: Vec<f64>,
}

impl Told {
    fn median(&mut self) -> f64 {
        self.seconds.sort_by(f64::total_cmp);
        self.seconds.get(self.seconds.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

fn ask(options: &Options, engines: &mut [Engine], query: &str) -> Result<Vec<Told>, Failure> {
    let mut told: Vec<Told> = engines.iter().map(|_| Told::default()).collect();
    // The first round warms up, and makes statistics.
    for round in 0..=options.rounds {
        for (engine, told) in engines.iter_mut().zip(&mut told) {
            if told.refusal.is_some() {
                continue;
            }
            engine.spread(options.maxdop)?;
            let before = engine.cpu()?;
            match engine.run(&spoken(query, engine.dialect, options.maxdop)) {
                Ok((answer, seconds)) => {
                    told.answer = answer;
                    let seconds = if options.cpu { engine.cpu()? - before } else { seconds };
                    if round > 0 || options.rounds == 0 {
                        told.seconds.push(seconds);
                    }
                }
                Err(Failure(what)) => told.refusal = Some(what),
            }
        }
    }
    Ok(told)
}

/// Whether an engine answers as the first does; if TOP chooses among rows of one rank, all rows are asked for.
fn agree(
    options: &Options,
    engines: &mut [Engine],
    query: &str,
    told: &[Told],
    n: usize,
) -> Result<(), String> {
    // DuckDB divides decimals in binary, and rounds what that makes of a half.
    let rounds = engines[n].dialect == Dialect::Duck && query.contains("round(");
    let slack = if rounds { 0.01 } else { 0.0 };
    let differs = match answers::same(&told[0].answer, &told[n].answer, slack) {
        Ok(()) => return Ok(()),
        Err(what) => what,
    };
    let Some((all, top)) = limit(query) else { return Err(differs) };
    let mut whole = |n: usize| {
        let engine = &mut engines[n];
        let text = spoken(&all, engine.dialect, options.maxdop);
        engine.run(&text).map(|(rows, _)| rows).map_err(|Failure(what)| what)
    };
    let (ours, theirs) = (whole(0)?, whole(n)?);
    answers::same(&ours, &theirs, slack).map_err(|what| format!("{what} (without TOP)"))?;
    let passed = told[0].answer.lines().count();
    match passed == ours.lines().count().min(top) {
        true => Ok(()),
        false => Err(format!("{passed} rows of TOP {top}")),
    }
}

fn compare(options: &Options, engines: &mut [Engine], files: &Path) -> Result<(), Failure> {
    for engine in &mut *engines {
        let seconds = data::load(engine, files, options.clustered)?;
        println!("{:<12} loaded scale {} in {seconds:.1} s", engine.name, options.scale);
        if engine.dialect == Dialect::Postgres {
            engine.run(&format!("set statement_timeout = '{} s'", options.limit_s))?;
        }
    }
    let of = if options.cpu { "seconds of processors" } else { "seconds" };
    println!("\nMAXDOP {}; {of}, medians of {}", options.maxdop, options.rounds.max(1));
    print!("query");
    engines.iter().for_each(|engine| print!(" {:>12}", engine.name));
    println!("   rows");
    let mut sums = vec![0.0; engines.len()];
    let mut wrong = Vec::new();
    for (i, query) in queries().iter().enumerate() {
        let number = i + 1;
        let chosen = options.only.is_empty() || options.only.contains(&number);
        if !chosen || options.without.contains(&number) {
            continue;
        }
        let mut told = ask(options, engines, query)?;
        print!("Q{number:<4}");
        for (told, sum) in told.iter_mut().zip(&mut sums) {
            let median = told.median();
            if told.refusal.is_none() {
                *sum += median;
            }
            print!(" {median:>12.4}");
        }
        println!(" {:>6}", told[0].answer.lines().count());
        if options.answers {
            println!("{}", told[0].answer);
        }
        for n in 0..engines.len() {
            let name = engines[n].name.clone();
            let what = match (&told[n].refusal, &told[0].refusal) {
                (Some(what), _) => Err(format!("{name} refuses: {what}")),
                (None, Some(_)) => Ok(()),
                (None, None) if n == 0 => Ok(()),
                (None, None) => agree(options, engines, query, &told, n)
                    .map_err(|what| format!("{name} answers otherwise: {what}")),
            };
            if let Err(what) = what {
                println!("      {what}");
                wrong.push(format!("Q{number} ({name})"));
            }
        }
    }
    print!("sum  ");
    sums.iter().for_each(|sum| print!(" {sum:>12.4}"));
    println!();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Failure(format!("refused, or answered otherwise: {}", wrong.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_99_queries_and_other_dialects_know_their_words() {
        let all = queries();
        assert_eq!(all.len(), 99);
        for query in all {
            assert!(query.starts_with("select ") || query.starts_with("with "), "{query}");
            let spoken = spoken(&query, Dialect::Postgres, 1);
            for word in ["dateadd", " top ", "stdev(", "' +"] {
                assert!(!spoken.contains(word), "{spoken}");
            }
        }
    }
}
