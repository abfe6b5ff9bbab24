//! Babelfish's portable inputs, run here and written as its JDBC harness writes them, so that its expected files can be
//! compared.
//!
//! The form is that of `CompareResults.java` and `batch_run.java` in babelfish_extensions (test/JDBC): the batch, GO,
//! then each result set, row count above zero and error. Values look as mssql-jdbc's `getString` shows them.

mod apart;
mod compare;

use crate::embedded::{self, Lane};
use crate::groups::{Groups, without_particulars};
use crate::script;
use session::{ColumnMeta, Done, ResultSink, SqlMessage};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use types::{SqlType, Value, format};

/// Runs the inputs that `list` names (one a line, without extension), on one engine, `-prepare` before `-verify` before
/// `-cleanup`, which run also when only another of the three is named; an output file for each goes to `out`. With the
/// folder of expected files the named ones are compared.
pub fn run(
    inputs: &Path,
    list: &Path,
    out: &Path,
    expected: Option<&Path>,
    most: usize,
) -> io::Result<()> {
    let files = script::find(inputs, &["sql"], &[])?;
    let named = fs::read_to_string(list)?;
    let mut scripts = Vec::new();
    let listed: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
    let mut names = listed.clone();
    // What a named file needs before it, and what tidies up behind it, runs too.
    for name in names.clone() {
        for phase in ["-prepare", "-cleanup"] {
            let other = format!("{}{phase}", base(&name));
            let exists = files.iter().any(|p| p.file_stem().is_some_and(|stem| *stem == *other));
            if exists && !names.contains(&other) {
                names.push(other);
            }
        }
    }
    for name in &names {
        let found = files.iter().find(|path| path.file_stem().is_some_and(|stem| *stem == **name));
        match found {
            Some(path) => scripts.push((name.to_owned(), script::decode(&fs::read(path)?))),
            None => println!("{name}: no such input"),
        }
    }
    scripts.sort_by_key(|(name, _)| (base(name), phase(name)));
    let (texts, errors) = embedded::with_lane(move |lane| {
        let mut errors = Groups::default();
        let texts: Vec<(String, String)> = scripts
            .into_iter()
            .map(|(name, text)| {
                // A connection of its own for each file.
                lane.log_in();
                let text = run_file(lane, &name, &text, &mut errors);
                (name, text)
            })
            .collect();
        (texts, errors)
    });
    fs::create_dir_all(out)?;
    for (name, text) in &texts {
        fs::write(out.join(format!("{name}.out")), text)?;
    }
    errors.print("errors (those that were expected too)", most);
    println!("{} files written to {}", texts.len(), out.display());
    match expected {
        Some(expected) => compare::compare(&names, &listed, out, expected),
        None => Ok(()),
    }
}

/// The place of a file among those of its name.
fn phase(name: &str) -> u8 {
    match name {
        _ if name.ends_with("cleanup") => 2,
        _ if name.ends_with("prepare") => 0,
        _ => 1,
    }
}

/// The name without its phase.
fn base(name: &str) -> String {
    let phases = ["-prepare", "-verify", "-cleanup"];
    phases.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
}

fn run_file(lane: &mut Lane, name: &str, text: &str, errors: &mut Groups) -> String {
    let mut out = String::new();
    let mut batch = String::new();
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        if !line.trim().eq_ignore_ascii_case("go") {
            batch.push_str(line);
            batch.push('\n');
            continue;
        }
        let _ = writeln!(out, "{batch}{}", line.trim());
        let mut sink = Writer { out: &mut out, types: Vec::new(), open: false, failed: Vec::new() };
        let _ = lane.run(&batch, &mut sink);
        sink.close();
        for error in std::mem::take(&mut sink.failed) {
            let cause = match error.number {
                102 | 156 | 40510 => format!("{} {}", error.number, error.text),
                number => format!("{number} {}", without_particulars(&error.text)),
            };
            errors.add(&cause, || {
                let one_line = batch.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("{name}: {}", one_line.chars().take(160).collect::<String>())
            });
        }
        out.push('\n');
        batch.clear();
    }
    out
}

struct Writer<'a> {
    out: &'a mut String,
    types: Vec<SqlType>,
    /// Within a result set.
    open: bool,
    failed: Vec<SqlMessage>,
}

impl Writer<'_> {
    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            self.out.push_str("~~END~~\n\n");
        }
    }

    fn line(&mut self, cells: &[String]) {
        self.out.push_str(&cells.join("#!#"));
        self.out.push('\n');
    }
}

impl ResultSink for Writer<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.close();
        self.open = true;
        self.types = columns.iter().map(|column| column.ty).collect();
        self.out.push_str("~~START~~\n");
        let names: Vec<String> = self.types.iter().map(|ty| type_name(*ty).to_owned()).collect();
        self.line(&names);
    }

    fn row(&mut self, row: &[Value]) {
        let cells: Vec<String> =
            row.iter().zip(&self.types).map(|(value, ty)| as_jdbc(value, *ty)).collect();
        self.line(&cells);
    }

    fn done(&mut self, done: Done) {
        if self.open {
            return self.close();
        }
        if let Some(rows) = done.rows
            && rows > 0
        {
            let _ = write!(self.out, "~~ROW COUNT: {rows}~~\n\n");
        }
    }

    fn message(&mut self, message: &SqlMessage) {
        if !message.is_error() {
            return;
        }
        // The harness's reader of rows throws: the end of the set is not written.
        self.open = false;
        let _ = write!(self.out, "~~ERROR (Code: {})~~\n\n", message.number);
        let _ = write!(self.out, "~~ERROR (Message: {})~~\n\n", message.text);
        self.failed.push(message.clone());
    }
}

fn type_name(ty: SqlType) -> &'static str {
    match ty {
        SqlType::Decimal { .. } => "numeric",
        _ => ty.name(),
    }
}

fn as_jdbc(value: &Value, ty: SqlType) -> String {
    let text = match value {
        Value::Null => return "<NULL>".into(),
        // The object that the driver makes of it, as Java shows it.
        Value::Variant(variant) => match (variant.value(), variant.ty()) {
            (Value::Bit(bit), _) => bit.to_string(),
            (value @ Value::DateTime2(_), ty) => timestamp(&format::shell(value, ty)),
            (value, ty) => return as_jdbc(value, ty),
        },
        Value::Float(number) => java(*number, &format!("{number:e}")),
        Value::Real(number) => java(f64::from(*number), &format!("{number:e}")),
        Value::DateTime(_) => timestamp(&format::shell(value, SqlType::DateTime)),
        Value::Binary(_) => format::shell(value, ty).trim_start_matches("0x").to_owned(),
        _ => format::shell(value, ty),
    };
    let mut out = String::new();
    let mut breaks = false;
    for c in text.chars() {
        match c {
            '\r' | '\n' => breaks = true,
            _ => {
                if std::mem::take(&mut breaks) {
                    out.push_str("<newline>");
                }
                out.push(c);
            }
        }
    }
    if breaks {
        out.push_str("<newline>");
    }
    out
}

/// Timestamp.toString: no trailing zeros, one digit at least.
fn timestamp(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let fraction = fraction.trim_end_matches('0');
    format!("{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
}

/// Double.toString: plain from 1e-3 up to 1e7, otherwise `d.dE±n`; `scientific` is the shortest such text.
fn java(number: f64, scientific: &str) -> String {
    let (digits, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let magnitude = number.abs();
    if number == 0.0 || (1e-3..1e7).contains(&magnitude) {
        // The shortest digits, moved by the exponent.
        let negative = digits.starts_with('-');
        let plain: String = digits.chars().filter(char::is_ascii_digit).collect();
        let point = exponent.parse::<i32>().unwrap_or(0) + 1;
        let text = if point <= 0 {
            format!("0.{}{plain}", "0".repeat(point.unsigned_abs() as usize))
        } else if plain.len() as i32 <= point {
            format!("{plain}{}.0", "0".repeat(point as usize - plain.len()))
        } else {
            format!("{}.{}", &plain[..point as usize], &plain[point as usize..])
        };
        return format!("{}{text}", if negative { "-" } else { "" });
    }
    let dot = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{dot}E{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_java_writes_them() {
        let shown = |number: f64| java(number, &format!("{number:e}"));
        assert_eq!(shown(-35.0), "-35.0");
        assert_eq!(shown(-3651.460524421296), "-3651.460524421296");
        assert_eq!(shown(0.0), "0.0");
        assert_eq!(shown(0.001), "0.001");
        assert_eq!(shown(1234567.0), "1234567.0");
        assert_eq!(shown(1e7), "1.0E7");
        assert_eq!(shown(1.5e-5), "1.5E-5");
    }
}
