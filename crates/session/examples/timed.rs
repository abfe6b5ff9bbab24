//! Batches from standard input, one per line, run on an embedded engine; each answered by its rows, the time it took
//! and a line `--end--`. `cargo xtask reporting` drives it beside other engines.
//!
//! Arguments: the data folder, the bytes of the buffer pool, and those that queries may hold.

use device::{IoMode, RealFs};
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use session::{Instance, InstanceConfig};
use std::io::{BufRead, Write};
use std::time::Instant;
use types::{SqlType, Value, format};

/// Prints rows as they come, columns apart by tabs.
#[derive(Default)]
struct Printer {
    types: Vec<SqlType>,
    failed: bool,
}

impl ResultSink for Printer {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types = columns.iter().map(|column| column.ty).collect();
    }

    fn row(&mut self, row: &[Value]) {
        let cells: Vec<String> =
            row.iter().zip(&self.types).map(|(value, ty)| format::shell(value, *ty)).collect();
        println!("{}", cells.join("\t"));
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.failed = true;
            println!("error: {message}");
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a data folder");
    let mut bytes = |what: &str| -> u64 {
        let text = arguments.next().unwrap_or_else(|| panic!("{what} is missing"));
        text.parse().unwrap_or_else(|_| panic!("{what} is a number of bytes"))
    };
    let fs = RealFs::new(IoMode::Auto).expect("a way to do I/O");
    let mut config = InstanceConfig::new(folder, fs);
    config.buffer_pool_bytes = bytes("the buffer pool");
    config.query_memory_bytes = bytes("the memory of queries");
    let instance = Instance::open(config).expect("opens");
    let ran = instance.spawn_session("timed", |session| {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let mut sink = Printer::default();
            let begun = Instant::now();
            let _ = session.execute(&line, &mut sink);
            println!("--end-- {:.6}", begun.elapsed().as_secs_f64());
            let _ = std::io::stdout().flush();
        }
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("closes");
}
