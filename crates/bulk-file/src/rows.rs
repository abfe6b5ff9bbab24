//! Where rows and their fields end.
//!
//! A field with a prefix is as long as it says; one with a terminator ends where that stands, whatever else stands
//! before it, line ends too; any other has a length of its own. At the end of the file the last field of a row needs no
//! terminator; when it is empty there is no such row. CSV has rules of its own ([`Csv`]).

use crate::window::Window;
use crate::{Field, ReadError};
use std::ops::Range;

/// FORMAT = 'CSV' (RFC 4180).
#[derive(Clone, Debug)]
pub struct Csv {
    /// In the file's form.
    pub quote: Vec<u8>,
    /// In front of any character: it stands for itself.
    pub escape: Option<Vec<u8>>,
    /// Bytes of a character: 1, or 2 in UTF-16.
    pub unit: usize,
}

/// The fields of a row as they stand in the file.
#[derive(Default)]
pub struct Row {
    data: Vec<u8>,
    fields: Vec<Option<Range<usize>>>,
}

impl Row {
    /// A field from 0; None: NULL.
    pub fn field(&self, i: usize) -> Option<&[u8]> {
        self.fields[i].clone().map(|range| &self.data[range])
    }
}

/// What came of reading on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Row,
    End,
}

/// Reads rows.
pub struct Rows {
    window: Window,
    fields: Vec<Field>,
    csv: Option<Csv>,
    /// Rows read, also those that were passed over.
    count: u64,
}

impl Rows {
    /// From the place that the window looks at.
    pub fn new(window: Window, fields: Vec<Field>, csv: Option<Csv>) -> Rows {
        assert!(!fields.is_empty(), "rows have fields");
        Rows { window, fields, csv, count: 0 }
    }

    /// Steps over a mark at the beginning of a file, if it is there. Suspends.
    pub fn skip_mark(window: &mut Window, mark: &[u8]) -> std::io::Result<bool> {
        let found = window.starts_with(mark)?;
        if found {
            window.step(mark.len());
            window.mark();
        }
        Ok(found)
    }

    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The number of the row read last, from 1.
    pub fn number(&self) -> u64 {
        self.count
    }

    /// Where in the file it begins.
    pub fn offset(&self) -> u64 {
        self.window.row_offset()
    }

    /// It as it stands there.
    pub fn raw(&self) -> &[u8] {
        self.window.row()
    }

    /// The next row. Suspends.
    pub fn next(&mut self, row: &mut Row) -> Result<Step, ReadError> {
        self.window.mark();
        row.data.clear();
        row.fields.clear();
        if self.window.ahead(1)?.is_empty() {
            return Ok(Step::End);
        }
        self.count += 1;
        for i in 0..self.fields.len() {
            let goes_on = match &self.csv {
                None => self.field(i, row)?,
                Some(_) => self.csv_field(i, row)?,
            };
            if !goes_on {
                self.count -= 1;
                return Ok(Step::End);
            }
        }
        Ok(Step::Row)
    }

    /// One field. False: the file ends in front of the last one.
    fn field(&mut self, i: usize, row: &mut Row) -> Result<bool, ReadError> {
        let field = &self.fields[i];
        let window = &mut self.window;
        let is_last = i + 1 == self.fields.len();
        let length = match field.prefix {
            0 if !field.terminator.is_empty() => {
                let Some((length, ended)) = to_terminator(window, field, is_last, i)? else {
                    return Ok(false);
                };
                let unit = if field.storage.is_wide() { 2 } else { 1 };
                let is_line = field.is_line && field.terminator.len() == unit;
                let but = if is_line { ends_line(window, field, length) } else { 0 };
                push(row, window, length, but);
                window.step(length + ended);
                return Ok(true);
            }
            0 => Some(field.length),
            n => prefix(window, usize::from(n))?,
        };
        match length {
            None => row.fields.push(None),
            Some(length) if length > field.max => return Err(ReadError::TooLong { field: i + 1 }),
            Some(length) => {
                if window.ahead(length)?.len() < length {
                    return Err(ReadError::UnexpectedEnd);
                }
                push(row, window, length, 0);
                window.step(length);
            }
        }
        if !field.terminator.is_empty() {
            if !window.starts_with(&field.terminator)? {
                return Err(ReadError::TooLong { field: i + 1 });
            }
            window.step(field.terminator.len());
        }
        Ok(true)
    }

    /// One field of CSV.
    fn csv_field(&mut self, i: usize, row: &mut Row) -> Result<bool, ReadError> {
        let Some(csv) = &self.csv else { return Ok(true) };
        let field = &self.fields[i];
        let window = &mut self.window;
        let is_last = i + 1 == self.fields.len();
        let bad = || ReadError::BadCsv { field: i + 1 };
        let from = row.data.len();
        let quoted = window.starts_with(&csv.quote)?;
        if quoted {
            window.step(csv.quote.len());
        }
        let row_end = &self.fields[self.fields.len() - 1].terminator;
        let mut closed = false;
        loop {
            let open = quoted && !closed;
            if window.ahead(csv.unit)?.len() < csv.unit {
                // The end of the file ends the last field.
                if open || !is_last {
                    return Err(if open { bad() } else { ReadError::UnexpectedEnd });
                }
                if row.data.len() == from && !quoted && self.fields.len() > 1 {
                    return Ok(false);
                }
                break;
            }
            if let Some(escape) = &csv.escape
                && window.starts_with(escape)?
                && window.ahead(2 * csv.unit)?.len() >= 2 * csv.unit
            {
                window.step(csv.unit);
                row.data.extend_from_slice(&window.rest()[..csv.unit]);
                window.step(csv.unit);
                continue;
            }
            if window.starts_with(&csv.quote)? {
                if !quoted || closed {
                    return Err(bad());
                }
                window.step(csv.quote.len());
                if window.starts_with(&csv.quote)? {
                    row.data.extend_from_slice(&csv.quote);
                    window.step(csv.quote.len());
                } else {
                    closed = true;
                }
                continue;
            }
            if !open {
                if window.starts_with(&field.terminator)? {
                    window.step(field.terminator.len());
                    break;
                }
                let line = line_end(window, &self.fields[self.fields.len() - 1])?;
                if line > 0 {
                    // Too few fields, or the last one's end behind a carriage return.
                    if !is_last {
                        return Err(bad());
                    }
                    window.step(line);
                    break;
                }
                if closed {
                    return Err(bad());
                }
                if is_last
                    && self.fields.len() > 1
                    && &self.fields[0].terminator != row_end
                    && window.starts_with(&self.fields[0].terminator)?
                {
                    return Err(bad());
                }
            }
            if row.data.len() - from >= field.max {
                return Err(ReadError::TooLong { field: i + 1 });
            }
            row.data.extend_from_slice(&window.rest()[..csv.unit]);
            window.step(csv.unit);
        }
        row.fields.push(Some(from..row.data.len()));
        Ok(true)
    }
}

/// Bytes of a line's end, with the carriage return in front of it where that belongs to it; 0 where there is none.
fn line_end(window: &mut Window, last: &Field) -> std::io::Result<usize> {
    if window.starts_with(&last.terminator)? {
        return Ok(last.terminator.len());
    }
    let unit = if last.storage.is_wide() { 2 } else { 1 };
    if !last.is_line || last.terminator.len() != unit {
        return Ok(0);
    }
    let n = last.terminator.len();
    let mut both = vec![0; n];
    both[0] = b'\r';
    both.extend_from_slice(&last.terminator);
    Ok(if window.starts_with(&both)? { both.len() } else { 0 })
}

/// How many bytes stand before a field's terminator, and how long that is. At the end of the file those that are left,
/// where the field is the last one; None: none are.
fn to_terminator(
    window: &mut Window,
    field: &Field,
    is_last: bool,
    i: usize,
) -> Result<Option<(usize, usize)>, ReadError> {
    let unit = if field.storage.is_wide() { 2 } else { 1 };
    let mark = &field.terminator;
    // `&|\n` is `&|\r\n` too.
    let mut returned = Vec::new();
    if field.is_line && mark.len() > unit {
        let (front, line) = mark.split_at(mark.len() - unit);
        let wide = if unit == 2 { &b"\r\0"[..] } else { b"\r" };
        returned = [front, wide, line].concat();
    }
    let mut looked = 0;
    loop {
        let here = window.rest();
        while here.len() >= looked + mark.len() {
            match here[looked..].iter().position(|b| *b == mark[0]) {
                None => {
                    looked = here.len().next_multiple_of(unit);
                    break;
                }
                Some(n) => looked += n,
            }
            if !looked.is_multiple_of(unit) {
                looked += 1;
            } else if let Some(ended) = [mark, &returned]
                .into_iter()
                .find(|mark| !mark.is_empty() && here[looked..].starts_with(mark))
            {
                return match looked > field.max {
                    true => Err(ReadError::TooLong { field: i + 1 }),
                    false => Ok(Some((looked, ended.len()))),
                };
            } else if returned.starts_with(&here[looked..]) {
                // It may go on where the window ends.
                break;
            } else if here.len() < looked + mark.len() {
                break;
            } else {
                looked += unit;
            }
        }
        if looked > field.max {
            return Err(ReadError::TooLong { field: i + 1 });
        }
        if !window.fill()? {
            let left = window.rest().len();
            return match (is_last, left) {
                (true, 0) => Ok(None),
                (true, n) => Ok(Some((n, 0))),
                (false, _) => Err(ReadError::UnexpectedEnd),
            };
        }
    }
}

/// Bytes of a carriage return at the end of a field of so many bytes.
fn ends_line(window: &Window, field: &Field, length: usize) -> usize {
    let unit = if field.storage.is_wide() { 2 } else { 1 };
    let text = &window.rest()[..length];
    let has = if unit == 2 { text.ends_with(b"\r\0") } else { text.ends_with(b"\r") };
    if has { unit } else { 0 }
}

/// Keeps a field of so many bytes but for the last of them.
fn push(row: &mut Row, window: &Window, length: usize, but: usize) {
    let from = row.data.len();
    row.data.extend_from_slice(&window.rest()[..length - but]);
    row.fields.push(Some(from..row.data.len()));
}

/// The length in front of a field; None: NULL.
fn prefix(window: &mut Window, n: usize) -> Result<Option<usize>, ReadError> {
    let bytes = window.ahead(n)?.get(..n).ok_or(ReadError::UnexpectedEnd)?;
    let mut wide = [0; 8];
    wide[..n].copy_from_slice(bytes);
    let is_null = bytes.iter().all(|b| *b == 0xff);
    window.step(n);
    let length = usize::try_from(u64::from_le_bytes(wide)).unwrap_or(usize::MAX);
    Ok((!is_null).then_some(length))
}
