//! Feeds the parser broken scripts: `cargo run --release -p syntax --example fuzz_parse -- --seconds 20`.
//!
//! Texts are mutations of the seeds and of the test cases; `--seed N` repeats a run. Beyond "no
//! panic" it checks that a parse fits the stack of a session's coroutine, that errors name a line of
//! the text, that statements lie within it in order, and that cutting at GO loses nothing.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};
use syntax::ast::Statement;
use syntax::{LexOptions, parse_batch, parse_expression, split_batches};

/// A session's coroutine has 256 KiB; the parser leaves a quarter.
const STACK_BYTES: usize = 512 << 10;

const SEEDS: &[&str] = &[
    include_str!("../seeds/inserts.sql"),
    include_str!("../seeds/reports.sql"),
    include_str!("../tests/trees/changes.txt"),
    include_str!("../tests/trees/control.txt"),
    include_str!("../tests/trees/definitions.txt"),
    include_str!("../tests/trees/expressions.txt"),
    include_str!("../tests/trees/mistakes.txt"),
    include_str!("../tests/trees/queries.txt"),
    include_str!("../tests/trees/security.txt"),
];

const PIECES: &[&str] = &[
    "(",
    ")",
    ",",
    ".",
    ";",
    "=",
    "<",
    ">",
    "!",
    "'",
    "\"",
    "[",
    "]",
    "--",
    "/*",
    "*/",
    "@",
    "@@",
    "$",
    "#",
    ":",
    "0x",
    "1e",
    "N'",
    "\n",
    "\r\n",
    "\nGO\n",
    " ",
    "\u{feff}",
    "é",
    "💡",
    "\0",
    "\u{a0}",
    "NOT ",
    "AND ",
    "OR ",
    "SELECT ",
    "FROM ",
    "WITH ",
    "AS ",
    "BEGIN ",
    "END ",
    "IF 1=1 ",
    "WHILE 1=1 ",
    "CASE ",
    "WHEN ",
    "UNION ALL ",
    "JOIN ",
    "ON ",
    "IN ",
    "EXISTS ",
    "VALUES ",
    "(SELECT ",
    "((",
    "))",
    "- ",
    "~",
    "1+",
    "a.",
    "CREATE PROC p AS ",
    "EXEC ",
    "DECLARE ",
    "SET ",
    "COLLATE x ",
    "OPTION (",
    "OVER (",
    "BEGIN TRY ",
    "99999999999",
    "ELSE ",
    "TOP ",
    "INSERT ",
    "UPDATE ",
];

fn main() {
    let mut seconds = 20;
    let mut seed = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let number = args.next().and_then(|value| value.parse::<u64>().ok());
        match (arg.as_str(), number) {
            ("--seconds", Some(value)) => seconds = value,
            ("--seed", Some(value)) => seed = Some(value),
            _ => {
                eprintln!("usage: fuzz_parse [--seconds N] [--seed N]");
                std::process::exit(2);
            }
        }
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = seed.unwrap_or_else(|| now.map_or(1, |now| now.as_nanos() as u64));
    println!("fuzz_parse: seed {seed}, {seconds} s");
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || run(Random(seed), Duration::from_secs(seconds)))
        .expect("a thread");
    if worker.join().is_err() {
        eprintln!("fuzz_parse: FAILED; repeat with --seed {seed}");
        std::process::exit(1);
    }
}

fn run(mut random: Random, time: Duration) {
    let mut batches: Vec<String> = Vec::new();
    for seed in SEEDS {
        for batch in split_batches(seed) {
            batches.extend(
                batch
                    .text
                    .split("====\n")
                    .map(|case| case.split("----\n").next().unwrap_or("").to_string()),
            );
        }
    }
    let start = Instant::now();
    let (mut tried, mut read, mut bytes, mut longest) = (0u64, 0u64, 0u64, Duration::ZERO);
    while start.elapsed() < time {
        for _ in 0..200 {
            let text = mutate(&batches, &mut random);
            let options = LexOptions { quoted_identifier: random.below(4) != 0 };
            let begun = Instant::now();
            let fine = check(&text, &options);
            longest = longest.max(begun.elapsed());
            tried += 1;
            read += u64::from(fine);
            bytes += text.len() as u64;
        }
    }
    println!(
        "fuzz_parse: {tried} texts, {read} of them without a mistake, {} MB, the slowest {} us; no panic",
        bytes >> 20,
        longest.as_micros()
    );
    assert!(tried > 0 && read > 0 && read < tried, "the texts must be a mixture");
}

fn check(text: &str, options: &LexOptions) -> bool {
    let cut: usize = split_batches(text).iter().map(|batch| batch.text.len()).sum();
    assert!(cut <= text.len(), "{text:?}");
    let _ = parse_expression(text, options);
    match parse_batch(text, options) {
        Ok(batch) => {
            within(&batch.statements, text);
            // Walks and drops the whole tree on this small stack.
            std::hint::black_box(batch.clone() == batch);
            true
        }
        Err(errors) => {
            let lines = lines(text);
            assert!(!errors.is_empty());
            for error in errors {
                assert!(lines.contains(&error.line), "line {} of {text:?}", error.line);
                assert!(!error.message.is_empty() && error.number > 0);
            }
            false
        }
    }
}

/// The lines that a mistake may be told in: those of the text, or of where LINENO says that it begins, which may be at
/// any number that is written in it.
fn lines(text: &str) -> RangeInclusive<u32> {
    let count = text.matches('\n').count() as u32 + 1;
    if !text.to_ascii_lowercase().contains("lineno") {
        return 1..=count;
    }
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok());
    0..=numbers.max().unwrap_or(0).saturating_add(count)
}

fn within(statements: &[Statement], text: &str) {
    let mut last = 0;
    for statement in statements {
        let (start, end) = (statement.span.start as usize, statement.span.end as usize);
        assert!(start >= last && start < end && end <= text.len(), "{statement:?} in {text:?}");
        assert!(text.is_char_boundary(start) && text.is_char_boundary(end));
        last = end;
    }
}

fn mutate(batches: &[String], random: &mut Random) -> String {
    let mut text = random.pick(batches).clone().into_bytes();
    for _ in 0..1 + random.below(4) {
        let at = random.below(text.len() + 1);
        let length = random.below(20).min(text.len() - at);
        match random.below(9) {
            0 => drop(text.drain(at..at + length)),
            1 => text.truncate(at),
            2 => {
                let piece = text[at..at + length].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            3 => {
                let other = random.pick(batches).as_bytes();
                let from = random.below(other.len() + 1);
                let piece = other[from..(from + random.below(60)).min(other.len())].to_vec();
                text.splice(at..at, piece);
            }
            4 => {
                // Depth: the same piece many times.
                let count = random.below(400);
                let piece = random.pick(PIECES).repeat(count);
                text.splice(at..at, piece.into_bytes());
            }
            5 if at < text.len() => text[at] = random.next() as u8,
            _ => {
                let piece = random.pick(PIECES).as_bytes().to_vec();
                text.splice(at..at, piece);
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
