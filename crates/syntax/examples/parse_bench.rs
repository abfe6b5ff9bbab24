//! How long a parse takes: `cargo run --release -p syntax --example parse_bench`.

use std::time::Instant;
use syntax::{LexOptions, parse_batch, split_batches};

fn main() {
    for (name, script) in [
        ("inserts", include_str!("../seeds/inserts.sql")),
        ("reports", include_str!("../seeds/reports.sql")),
    ] {
        for batch in split_batches(script) {
            let mut times: Vec<u128> = (0..2000)
                .map(|_| {
                    let start = Instant::now();
                    std::hint::black_box(parse_batch(batch.text, &LexOptions::default()).is_ok());
                    start.elapsed().as_nanos()
                })
                .collect();
            times.sort_unstable();
            println!(
                "{name} line {:>3}: {:>5} bytes, median {:>6.1} us",
                batch.line,
                batch.text.len(),
                times[times.len() / 2] as f64 / 1000.0
            );
        }
    }
}
