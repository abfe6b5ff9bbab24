//! Values as sqllogictest writes them, and the comparison with what a file expects.

use super::{Expected, Sort};
use md5::{Digest, Md5};
use session::{ColumnMeta, Done, ResultSink, SqlMessage};
use std::fmt::Write;
use types::{SqlType, Value, format};

/// Takes the answer of one batch: the first result set's values as text, and the first error.
pub struct Values {
    letters: Vec<u8>,
    types: Vec<SqlType>,
    sets: usize,
    columns: usize,
    /// Row after row.
    pub values: Vec<String>,
    /// The first error.
    pub error: Option<SqlMessage>,
}

impl Values {
    /// Values are written as these letters say: `I` whole numbers, `R` three decimals, `T` texts.
    pub fn new(letters: &[u8]) -> Values {
        let letters = letters.to_vec();
        Values { letters, types: Vec::new(), sets: 0, columns: 0, values: Vec::new(), error: None }
    }

    /// Columns of the first result set; 0 without one.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

impl ResultSink for Values {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.sets += 1;
        if self.sets == 1 {
            self.columns = columns.len();
            self.types = columns.iter().map(|column| column.ty).collect();
        }
    }

    fn row(&mut self, row: &[Value]) {
        if self.sets != 1 {
            return;
        }
        for (at, value) in row.iter().enumerate() {
            let letter = self.letters.get(at).copied().unwrap_or(b'T');
            let ty = self.types.get(at).copied().unwrap_or(SqlType::Int);
            self.values.push(written(value, ty, letter));
        }
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() && self.error.is_none() {
            self.error = Some(message.clone());
        }
    }
}

fn written(value: &Value, ty: SqlType, letter: u8) -> String {
    if value.is_null() {
        return "NULL".into();
    }
    match letter {
        b'I' => match value.as_i64() {
            Some(number) => number.to_string(),
            None => (number(value, ty) as i64).to_string(),
        },
        b'R' => format!("{:.3}", number(value, ty)),
        _ => {
            let text = match value {
                Value::Float(number) => format!("{number:.3}"),
                Value::Real(number) => format!("{number:.3}"),
                _ => format::shell(value, ty),
            };
            if text.is_empty() {
                return "(empty)".into();
            }
            text.chars().map(|c| if (' '..='~').contains(&c) { c } else { '@' }).collect()
        }
    }
}

/// As C's `atof` would read it: the longest prefix that is a number, else 0.
fn number(value: &Value, ty: SqlType) -> f64 {
    match value {
        Value::Float(number) => *number,
        Value::Real(number) => f64::from(*number),
        _ => {
            let text = format::shell(value, ty);
            let text = text.trim_start();
            let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
            let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
            (0..=end).rev().find_map(|end| text[..end].parse().ok()).unwrap_or(0.0)
        }
    }
}

/// Whether `values`, rows of `columns` each, are what was expected. `Err` says what was found instead.
pub fn matches(
    values: Vec<String>,
    columns: usize,
    sort: Sort,
    expected: &Expected,
) -> Result<(), String> {
    let values = match sort {
        Sort::No => values,
        Sort::Values => {
            let mut values = values;
            values.sort();
            values
        }
        Sort::Rows => {
            let mut rows: Vec<&[String]> = values.chunks(columns.max(1)).collect();
            rows.sort();
            rows.concat()
        }
    };
    match expected {
        Expected::Anything => Ok(()),
        Expected::Values(expected) if *expected == values => Ok(()),
        Expected::Values(expected) => {
            let shown = |values: &[String]| {
                let more = if values.len() > 12 { ", ..." } else { "" };
                format!("{}{more}", values[..values.len().min(12)].join(", "))
            };
            Err(format!("expected [{}], found [{}]", shown(expected), shown(&values)))
        }
        Expected::Hash { count, md5 } => {
            let mut hasher = Md5::new();
            for value in &values {
                hasher.update(value.as_bytes());
                hasher.update(b"\n");
            }
            let found = hasher.finalize().iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
            if values.len() == *count && found == *md5 {
                return Ok(());
            }
            Err(format!("expected {count} values ({md5}), found {} ({found})", values.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_as_the_format_writes_them() {
        let int = SqlType::Int;
        let text = SqlType::VarChar(types::Len::Max);
        assert_eq!(written(&Value::Null, int, b'I'), "NULL");
        assert_eq!(written(&Value::Int(-3), int, b'I'), "-3");
        assert_eq!(written(&Value::Int(2), int, b'R'), "2.000");
        assert_eq!(written(&Value::Float(2.9), SqlType::Float, b'I'), "2");
        assert_eq!(written(&Value::str("12abc"), text, b'I'), "12");
        assert_eq!(written(&Value::str(""), text, b'T'), "(empty)");
        assert_eq!(written(&Value::str("a\tb"), text, b'T'), "a@b");
    }

    #[test]
    fn hashes_and_orders() {
        let values = |list: &[&str]| list.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
        let expected = Expected::Values(values(&["1", "2", "3", "0"]));
        assert!(matches(values(&["3", "0", "1", "2"]), 2, Sort::Rows, &expected).is_ok());
        assert!(matches(values(&["3", "0", "1", "2"]), 2, Sort::No, &expected).is_err());
        // printf '1\n2\n' | md5sum
        let expected = Expected::Hash { count: 2, md5: "6ddb4095eb719e2a9f0a3f95677d24e0".into() };
        assert_eq!(matches(values(&["2", "1"]), 1, Sort::Values, &expected), Ok(()));
        assert!(matches(values(&["2", "2"]), 1, Sort::Values, &expected).is_err());
    }
}
