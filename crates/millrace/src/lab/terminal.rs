//! Live progress on standard error, and figures on standard output.

use ::lab::{Cell, Progress, table};
use std::io::{IsTerminal, Write};

/// Live progress on standard error: one line that changes on a terminal, a line a second elsewhere.
pub struct Terminal {
    json: bool,
    live: bool,
    /// The line on the screen is to be overwritten.
    dirty: bool,
    last_line_s: f64,
    title: String,
}

impl Terminal {
    pub fn new(json: bool) -> Terminal {
        let live = std::io::stderr().is_terminal();
        Terminal { json, live, dirty: false, last_line_s: 0.0, title: String::new() }
    }

    pub fn clear_line(&mut self) {
        if std::mem::take(&mut self.dirty) {
            eprint!("\r\x1b[K");
        }
    }

    fn line(&mut self, text: &str) {
        if self.live {
            eprint!("\r\x1b[K{}: {text}", self.title);
            self.dirty = true;
        } else {
            eprintln!("{}: {text}", self.title);
        }
    }
}

impl Progress for Terminal {
    fn begin(&mut self, index: usize, cells: usize, title: &str) {
        self.clear_line();
        self.title = format!("[{}/{cells}] {title}", index + 1);
        self.last_line_s = 0.0;
    }

    fn step(&mut self, what: &str) {
        self.line(what);
    }

    fn tick(&mut self, elapsed_s: f64, rows: u64, rows_per_s: f64, warm: bool) {
        if !self.live && elapsed_s - self.last_line_s < 0.95 {
            return;
        }
        self.last_line_s = elapsed_s;
        let text = format!(
            "{elapsed_s:5.1} s  {:>11} rows/s  {:>13} rows{}",
            table::grouped(rows_per_s),
            table::grouped(rows as f64),
            if warm { "" } else { "  (warm-up)" }
        );
        self.line(&text);
    }

    fn end(&mut self, cell: &Cell) {
        self.clear_line();
        if self.json {
            match serde_json::to_string(&cell.brief()) {
                // A cell is told as soon as it is measured: a later failure does not take it back.
                Ok(json) => drop(writeln!(std::io::stdout(), "{json}")),
                Err(error) => eprintln!("error: {error}"),
            }
        } else {
            eprintln!("{}: {} rows/s", self.title, table::grouped(cell.rows_per_s));
        }
    }
}
