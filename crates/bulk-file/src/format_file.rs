//! Format files that are not XML: a version, a number of fields, and a line for each.
//!
//! ```text
//! 14.0
//! 3
//! 1  SQLCHAR  0  7    ","     1  PersonID   ""
//! 2  SQLCHAR  0  25   ","     0  skipped    ""
//! 3  SQLINT   0  4    "\r\n"  3  Number     ""
//! ^order  type  prefix  length  terminator  column (0: none)  its name  collation
//! ```

use crate::native::Storage;
use crate::{Field, unescape};
use types::{Len, SqlType};

/// More fields than a table has columns.
const FIELDS_MAX: usize = 4096;

/// What is wrong with a format file; fields are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// 4820.
    Version,
    /// 4821.
    NoCount,
    /// 4822.
    Count,
    /// 4823.
    Number,
    /// 4824.
    Type(usize),
    /// 4825.
    Prefix(usize),
    /// 4826.
    Length(usize),
    /// 4827.
    Terminator(usize),
    /// 4828.
    Column(usize),
    /// 4829.
    Name(usize),
    /// 4882.
    Endless(usize),
    /// It is XML, or has a type of that name, which are not read here.
    Refused(&'static str),
}

/// Reads a format file: its fields, and the column (from 1) of each, 0 for none. `max` as in [`Field::max`].
pub fn read_format(text: &str, max: usize) -> Result<Vec<(Field, usize)>, FormatError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('<') {
        return Err(FormatError::Refused("FORMATFILE in XML"));
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let version = lines.next().map(str::trim).unwrap_or_default();
    let mut parts = version.split('.');
    let major = parts.next().and_then(|part| part.parse::<u32>().ok());
    if !major.is_some_and(|v| (6..=17).contains(&v))
        || parts.any(|part| part.parse::<u32>().is_err())
    {
        return Err(FormatError::Version);
    }
    let count = lines.next().ok_or(FormatError::NoCount)?.trim();
    let count: usize = count.parse().map_err(|_| FormatError::NoCount)?;
    if !(1..=FIELDS_MAX).contains(&count) {
        return Err(FormatError::Count);
    }
    let mut fields = Vec::with_capacity(count);
    for i in 1..=count {
        let line = lines.next().ok_or(FormatError::Count)?;
        fields.push(field(line, i, max)?);
    }
    Ok(fields)
}

fn field(line: &str, i: usize, max: usize) -> Result<(Field, usize), FormatError> {
    let mut words = Words(line);
    if words.next().and_then(|w| w.parse().ok()) != Some(i) {
        return Err(FormatError::Number);
    }
    let storage = storage(words.next().unwrap_or_default(), i)?;
    let prefix = words.next().and_then(|w| w.parse().ok());
    let prefix = prefix.filter(|p| matches!(p, 0 | 1 | 2 | 4 | 8)).ok_or(FormatError::Prefix(i))?;
    let length: usize = words.next().and_then(|w| w.parse().ok()).ok_or(FormatError::Length(i))?;
    let mark = words.quoted().ok_or(FormatError::Terminator(i))?;
    let mark = unescape(mark);
    // A text in UTF-16 spells its terminator out byte by byte: ",\0".
    let terminator: Vec<u8> = match mark.is_ascii() {
        true => mark.into_bytes(),
        false => return Err(FormatError::Terminator(i)),
    };
    let column = words.next().and_then(|w| w.parse().ok()).ok_or(FormatError::Column(i))?;
    words.next().ok_or(FormatError::Name(i))?;
    let fixed = match storage {
        Storage::Native(ty) => crate::native_prefix(ty, false).1,
        _ => 0,
    };
    // A fixed type is as long as it is, whatever the file says.
    let length = if prefix == 0 && terminator.is_empty() && fixed > 0 { fixed } else { length };
    if prefix == 0 && length == 0 && terminator.is_empty() {
        return Err(FormatError::Endless(i));
    }
    let is_line = false;
    Ok((Field { storage, prefix, length, terminator, is_line, max }, column))
}

fn storage(name: &str, i: usize) -> Result<Storage, FormatError> {
    let native = Storage::Native;
    Ok(match name.to_ascii_uppercase().as_str() {
        "SQLCHAR" | "SQLVARYCHAR" => Storage::Char,
        "SQLNCHAR" | "SQLNVARCHAR" => Storage::Wide,
        "SQLBINARY" | "SQLVARYBIN" => native(SqlType::VarBinary(Len::Max)),
        "SQLBIT" => native(SqlType::Bit),
        "SQLTINYINT" => native(SqlType::TinyInt),
        "SQLSMALLINT" => native(SqlType::SmallInt),
        "SQLINT" => native(SqlType::Int),
        "SQLBIGINT" => native(SqlType::BigInt),
        "SQLFLT4" => native(SqlType::Real),
        "SQLFLT8" => native(SqlType::Float),
        "SQLMONEY" => native(SqlType::Money),
        "SQLMONEY4" => native(SqlType::SmallMoney),
        "SQLDATETIME" => native(SqlType::DateTime),
        "SQLDATETIM4" => native(SqlType::SmallDateTime),
        "SQLDECIMAL" => native(SqlType::decimal(38, 0)),
        "SQLNUMERIC" => native(SqlType::numeric(38, 0)),
        "SQLUNIQUEID" => native(SqlType::UniqueIdentifier),
        "SQLDATE" => native(SqlType::Date),
        "SQLTIME" => native(SqlType::Time(7)),
        "SQLDATETIME2" => native(SqlType::DateTime2(7)),
        "SQLDATETIMEOFFSET" => native(SqlType::DateTimeOffset(7)),
        "SQLVARIANT" => return Err(FormatError::Refused("FORMATFILE with SQLVARIANT")),
        "SQLUDT" => return Err(FormatError::Refused("FORMATFILE with SQLUDT")),
        _ => return Err(FormatError::Type(i)),
    })
}

/// What is left of a line.
struct Words<'t>(&'t str);

impl<'t> Words<'t> {
    /// A word, or what stands in quotes.
    fn next(&mut self) -> Option<&'t str> {
        self.0 = self.0.trim_start();
        if self.0.starts_with('"') {
            return self.quoted();
        }
        let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// What stands in quotes; `\"` is one.
    fn quoted(&mut self) -> Option<&'t str> {
        let inner = self.0.trim_start().strip_prefix('"')?;
        let end =
            inner.match_indices('"').map(|(i, _)| i).find(|i| !inner[..*i].ends_with('\\'))?;
        self.0 = &inner[end + 1..];
        Some(&inner[..end])
    }
}
