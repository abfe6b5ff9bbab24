//! Mutated bytes against the protocol, for CI: needs no nightly compiler and no fuzzing library.
//!
//! `fuzz_tds TARGET [--seconds N] [--seed N]`. Starts from what stock clients sent (`fixtures/`) and from answers
//! with every type, changes them, and asks `checks.rs` what must hold of any bytes. A failure names its seed.

mod checks;
mod mutate;

use std::time::{Duration, Instant};
use stdx::Prng;
use tds::{Column, EnvChange, Message, TokenWriter};
use types::{DateTime, Len, SqlType, Value};

const CLIENTS: &[&str] = &[
    include_str!("../../fixtures/go.txt"),
    include_str!("../../fixtures/jdbc.txt"),
    include_str!("../../fixtures/mspy.txt"),
    include_str!("../../fixtures/pymssql.txt"),
    include_str!("../../fixtures/pytds.txt"),
    include_str!("../../fixtures/tedious.txt"),
];

/// A session's coroutine has 256 KiB; the protocol leaves most of it.
const STACK_BYTES: usize = 96 << 10;
/// Memory that any of this may have taken in the end.
const MEMORY_MAX_MB: u64 = 500;

fn main() {
    let usage = || -> ! {
        let names: Vec<&str> = checks::CHECKS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: fuzz_tds {} [--seconds N] [--seed N]", names.join("|"));
        std::process::exit(2);
    };
    let mut args = std::env::args().skip(1);
    let target = args.next().unwrap_or_default();
    let Some(&(name, check)) = checks::CHECKS.iter().find(|(name, _)| *name == target) else {
        usage()
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let (mut seconds, mut seed) = (20, now.map_or(1, |now| now.as_nanos() as u64));
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next().and_then(|value| value.parse().ok())) {
            ("--seconds", Some(value)) => seconds = value,
            ("--seed", Some(value)) => seed = value,
            _ => usage(),
        }
    }
    println!("fuzz_tds {name}: seed {seed}, {seconds} s");
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || run(name, check, Prng::new(seed), Duration::from_secs(seconds)))
        .expect("a thread");
    if worker.join().is_err() {
        eprintln!("fuzz_tds {name}: FAILED; repeat with --seed {seed}");
        std::process::exit(1);
    }
}

fn run(name: &str, check: checks::Check, mut random: Prng, time: Duration) {
    let seeds = seeds(name);
    assert!(!seeds.is_empty());
    let start = Instant::now();
    let (mut tried, mut read, mut bytes, mut slowest) = (0u64, 0u64, 0u64, Duration::ZERO);
    while start.elapsed() < time {
        for _ in 0..50 {
            let data = mutate::mutate(&seeds, &mut random);
            let begun = Instant::now();
            read += u64::from(check(&data));
            slowest = slowest.max(begun.elapsed());
            tried += 1;
            bytes += data.len() as u64;
        }
    }
    println!(
        "fuzz_tds {name}: {tried} inputs, {read} of them without an error, {} MB, the slowest {} us; no panic",
        bytes >> 20,
        slowest.as_micros()
    );
    assert!(tried > 0 && read > 0 && read < tried, "the inputs must be a mixture");
    if let Some(memory) = memory_mb() {
        assert!(memory < MEMORY_MAX_MB, "{memory} MB taken");
    }
}

/// The most memory this process has had, where the system tells.
fn memory_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? >> 10)
}

/// Good inputs of a target: packets with their headers, or the bodies of messages.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let messages: Vec<Vec<u8>> =
        CLIENTS.iter().flat_map(|text| text.lines()).filter_map(message).collect();
    let of = |kinds: &[u8]| {
        messages
            .iter()
            // What takes several packets would come without its inner headers: left to `packets`.
            .filter(|m| kinds.contains(&m[0]) && m[1] & 1 != 0)
            .map(|m| m[8..].to_vec())
            .collect()
    };
    match name {
        "packets" => messages
            .chunks(3)
            .map(|some| some.concat())
            .chain([answer(512), answer(4096)])
            .collect(),
        "prelogin" => of(&[0x12]),
        "login7" => of(&[0x10]),
        "requests" => of(&[0x01, 0x03, 0x0E]),
        "bulk" => of(&[0x07]),
        _ => vec![answer(32_767)[8..].to_vec()],
    }
}

/// A line of a fixture: hexadecimal, with `xx*N` for a run.
fn message(line: &str) -> Option<Vec<u8>> {
    if line.starts_with('#') {
        return None;
    }
    let hex = |text: &str| -> Vec<u8> {
        let digits: Vec<u8> =
            text.chars().map(|c| c.to_digit(16).expect("hexadecimal") as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    };
    let token = |token: &str| match token.split_once('*') {
        Some((run, count)) => hex(run).repeat(count.parse().expect("a count")),
        None => hex(token),
    };
    Some(line.split(' ').flat_map(token).collect())
}

/// An answer with most of what a server says.
fn answer(packet_bytes: u16) -> Vec<u8> {
    let mut writer = TokenWriter::new(51);
    writer.set_packet_size(packet_bytes);
    writer.env_change(&EnvChange::Database { new: "db", old: "master" });
    writer.env_change(&EnvChange::BeginTransaction(7));
    writer.env_change(&EnvChange::CommitTransaction(7));
    writer.message(&Message {
        number: 50_000,
        state: 1,
        class: 16,
        text: "é🐎",
        server: "s",
        procedure: "p",
        line: 3,
    });
    writer.login_ack("Microsoft SQL Server", (16, 0, 1000));
    writer.feature_ext_ack(&[(0x0A, &[1])]);
    let row = [
        (SqlType::Int, Value::Int(-1)),
        (SqlType::NVarChar(Len::Max), Value::str("chunks")),
        (SqlType::VarChar(Len::N(20)), Value::str("é")),
        (SqlType::decimal(38, 3), Value::Null),
        (SqlType::DateTime, Value::DateTime(DateTime { days: 1, ticks: 1 })),
        (SqlType::Time(3), Value::Time(10_000)),
        (SqlType::VarBinary(Len::Max), Value::binary(&[1; 300])),
    ];
    writer.columns(row.iter().map(|(ty, _)| Column::new("name", *ty)));
    let values = row.each_ref().map(|(_, value)| value.clone());
    writer.row(&values).expect("values of their types");
    writer.row(&[const { Value::Null }; 7]).expect("values of their types");
    writer.return_status(0);
    writer.finish();
    writer.take_full_packets()
}
