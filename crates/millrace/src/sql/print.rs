//! Results as aligned tables.
//!
//! Widths come from the first rows, which are held back until they are known; later rows that need
//! more room take it.

use session::{ColumnMeta, Done, ResultSink, SqlMessage};
use std::io::{StdoutLock, Write};
use types::{SqlType, Value, format};

/// Rows looked at before a table's widths are settled.
const ROWS_HELD: usize = 1000;

/// Prints what a batch says.
pub struct Printer {
    /// Script and line on which the batch begins.
    place: Option<(String, u32)>,
    types: Vec<SqlType>,
    names: Vec<String>,
    held: Vec<Vec<String>>,
    /// Empty until they are settled.
    widths: Vec<usize>,
    in_table: bool,
    worst: u8,
}

impl Printer {
    pub fn new(place: Option<(String, u32)>) -> Printer {
        Printer {
            place,
            types: Vec::new(),
            names: Vec::new(),
            held: Vec::new(),
            widths: Vec::new(),
            in_table: false,
            worst: 0,
        }
    }

    /// An error was among the messages.
    pub fn failed(&self) -> bool {
        self.worst > 10
    }

    /// An error ended the session.
    pub fn ended(&self) -> bool {
        self.worst >= 20
    }

    /// Prints what is still held back.
    pub fn finish(&mut self) {
        if !self.in_table {
            return;
        }
        self.in_table = false;
        let out = &mut std::io::stdout().lock();
        self.settle(out);
    }

    /// Decides on the widths; prints the heading and the rows held back.
    fn settle(&mut self, out: &mut StdoutLock<'_>) {
        if !self.widths.is_empty() {
            return;
        }
        self.widths = self.names.iter().map(|name| name.chars().count().max(1)).collect();
        for row in &self.held {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        self.line(out, &self.names);
        let rule: Vec<String> = self.widths.iter().map(|width| "-".repeat(*width)).collect();
        self.line(out, &rule);
        for row in std::mem::take(&mut self.held) {
            self.line(out, &row);
        }
    }

    fn line(&self, out: &mut StdoutLock<'_>, cells: &[String]) {
        let mut text = String::new();
        let last = cells.len().saturating_sub(1);
        for (index, cell) in cells.iter().enumerate() {
            let width = self.widths[index];
            if index > 0 {
                text.push(' ');
            }
            if format::shell_right_aligned(self.types[index]) {
                text += &format!("{cell:>width$}");
            } else if index == last {
                text += cell;
            } else {
                text += &format!("{cell:<width$}");
            }
        }
        // A reader that has gone away wants no more.
        let _ = writeln!(out, "{text}");
    }
}

impl ResultSink for Printer {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.finish();
        self.in_table = true;
        self.types = columns.iter().map(|column| column.ty).collect();
        self.names = columns.iter().map(|column| column.name.clone()).collect();
        self.widths.clear();
    }

    fn row(&mut self, row: &[Value]) {
        let cells: Vec<String> = row
            .iter()
            .zip(&self.types)
            .map(|(value, ty)| format::shell(value, *ty).replace(['\n', '\r', '\t'], " "))
            .collect();
        if self.widths.is_empty() {
            self.held.push(cells);
            if self.held.len() >= ROWS_HELD {
                self.settle(&mut std::io::stdout().lock());
            }
        } else {
            self.line(&mut std::io::stdout().lock(), &cells);
        }
    }

    fn done(&mut self, done: Done) {
        let table = self.in_table;
        self.finish();
        let mut out = std::io::stdout().lock();
        let _ = match done.rows {
            Some(1) => writeln!(out, "\n(1 row affected)"),
            Some(rows) => writeln!(out, "\n({rows} rows affected)"),
            None if table => writeln!(out),
            None => Ok(()),
        };
    }

    fn message(&mut self, message: &SqlMessage) {
        self.worst = self.worst.max(message.severity);
        if !message.is_error() {
            self.finish();
            // What only informs comes without its number, as in sqlcmd.
            let _ = writeln!(std::io::stdout().lock(), "{}", message.text);
            return;
        }
        // A table that an error cuts short still shows what it had.
        self.finish();
        let _ = std::io::stdout().lock().flush();
        let text = message.to_string();
        match (&self.place, text.split_once('\n')) {
            (Some((name, line)), Some((head, rest))) if message.procedure.is_none() => {
                let line = line + message.line.saturating_sub(1);
                eprintln!("{head} ({name}:{line})\n{rest}");
            }
            _ => eprintln!("{text}"),
        }
    }
}
