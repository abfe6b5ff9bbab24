//! Files of rows that come from elsewhere: bcp's character and native forms, CSV, and the format files that describe
//! them.
//!
//! ```text
//! File -> Window (some 256 KiB of it) -> Rows: where the fields of a row end -> Storage::value: what a field says
//! ```
//!
//! Promises: a file is read once, from its beginning on, and never more of it is in memory than a window and the row
//! at hand; a field longer than [`Field::max`] ends the reading, so no file can ask for more than that.
//!
//! Knows nothing of tables: which column a field belongs to is a number that the caller gave, and a value is as the
//! file has it; converting it to a column's type is the caller's.

#![forbid(unsafe_code)]

mod code_page;
mod format_file;
mod native;
mod rows;
mod window;

#[cfg(test)]
mod tests;

pub use code_page::CodePage;
pub use format_file::{FormatError, read_format};
pub use native::{BadField, Storage, native_prefix};
pub use rows::{Csv, Row, Rows, Step};
pub use window::Window;

/// Where a field ends and what its bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub storage: Storage,
    /// Bytes of the length in front of the field: 0, 1, 2, 4 or 8. All of them 0xFF: NULL.
    pub prefix: u8,
    /// Bytes, where neither prefix nor terminator say it.
    pub length: usize,
    /// What follows it in the file; empty for nothing.
    pub terminator: Vec<u8>,
    /// The terminator is a line feed, and a carriage return in front of it belongs to it.
    pub is_line: bool,
    /// More bytes than these are a terminator that was missed.
    pub max: usize,
}

/// Why reading cannot go on.
#[derive(Debug)]
pub enum ReadError {
    /// 4862.
    Io(std::io::Error),
    /// 4832: the file ends inside a row.
    UnexpectedEnd,
    /// 4866: a field (from 1) that does not end.
    TooLong { field: usize },
    /// 4879: a field (from 1) that no CSV has.
    BadCsv { field: usize },
}

impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> ReadError {
        ReadError::Io(error)
    }
}

/// The bytes of a terminator as BULK INSERT writes it: `\t`, `\n`, `\r`, `\0`, `\\` and `0x` with digits; `wide`: in
/// UTF-16. None: digits that are none.
pub fn terminator(text: &str, wide: bool) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let bytes = match digits {
        Some(digits) if !digits.is_empty() => {
            let bytes = types::convert::from_hex(digits)?;
            return Some(match wide {
                true => bytes.iter().flat_map(|b| [*b, 0]).collect(),
                false => bytes,
            });
        }
        _ => unescape(text),
    };
    Some(match wide {
        true => bytes.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        false => bytes.into_bytes(),
    })
}

/// A text without its escapes.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let plain = match (c, chars.peek()) {
            ('\\', Some('t')) => '\t',
            ('\\', Some('n')) => '\n',
            ('\\', Some('r')) => '\r',
            ('\\', Some('0')) => '\0',
            ('\\', Some('\\')) => '\\',
            _ => {
                out.push(c);
                continue;
            }
        };
        chars.next();
        out.push(plain);
    }
    out
}
