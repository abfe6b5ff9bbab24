//! The fields of a data file, by the options of BULK INSERT or by a format file, and the files themselves.

use super::Column;
use bulk_file::{Csv, Field, FormatError, Storage, Window, native_prefix, read_format, terminator};
use executor::SqlError;
use session_state::{Host, load_error, open_to_load};
use std::io;
use syntax::ast::BulkInsert;
use types::SqlType;

/// Bytes of a field whose column has no (max) type.
const FIELD_BYTES_MAX: usize = 16_000;
const FORMAT_BYTES_MAX: u64 = 1 << 20;

/// Fields that end at terminators, one for each column.
pub(super) fn delimited(
    bulk: &BulkInsert,
    columns: &[Column],
    wide: bool,
) -> Result<Vec<Field>, SqlError> {
    let mark = |option: &str, default: &'static str| {
        let text = bulk.text(option).unwrap_or(default);
        let bytes = terminator(text, wide).filter(|bytes| !bytes.is_empty());
        bytes.ok_or_else(|| SqlError::new(102, 15, format!("Incorrect syntax near '{text}'.")))
    };
    let between = mark("FIELDTERMINATOR", if bulk.has("FORMAT") { "," } else { "\t" })?;
    let last = mark("ROWTERMINATOR", "\n")?;
    // '0x0a' is the byte and nothing else.
    let told = bulk.text("ROWTERMINATOR").unwrap_or("\n");
    let ends_line = told.ends_with("\\n") || told.ends_with('\n');
    let is_line = ends_line && !told.ends_with("\\r\\n") && !told.ends_with("\r\n");
    let storage = if wide { Storage::Wide } else { Storage::Char };
    let field = |(i, column): (usize, &Column)| {
        let ends = i + 1 == columns.len();
        let terminator = if ends { last.clone() } else { between.clone() };
        let is_line = ends && is_line;
        Field { storage, prefix: 0, length: 0, terminator, is_line, max: longest(column) }
    };
    Ok(columns.iter().enumerate().map(field).collect())
}

/// Fields as bcp -n writes them.
pub(super) fn native(columns: &[Column], wide: bool) -> Result<Vec<Field>, SqlError> {
    let field = |column: &Column| {
        let (prefix, length) = native_prefix(column.ty, column.nullable);
        let storage = Storage::of(column.ty, wide);
        let storage = storage
            .ok_or_else(|| SqlError::unsupported("BULK INSERT of sql_variant in native form"))?;
        let terminator = Vec::new();
        Ok(Field { storage, prefix, length, terminator, is_line: false, max: longest(column) })
    };
    columns.iter().map(field).collect()
}

/// Fields as a format file has them, and their columns.
pub(super) fn described(
    host: &mut dyn Host,
    path: &str,
    columns: &[Column],
) -> Result<(Vec<Field>, Vec<Option<usize>>), SqlError> {
    let file = open_to_load(host, path, 3)?;
    let read = |e: io::Error| load_error(4862, "read", path, &e);
    let bytes = Window::whole(file, FORMAT_BYTES_MAX).map_err(read)?;
    let bytes = bytes.ok_or_else(|| format_error(path, FormatError::Count))?;
    let text = String::from_utf8_lossy(&bytes);
    let described = read_format(&text, FIELD_BYTES_MAX).map_err(|e| format_error(path, e))?;
    let (mut fields, mut of_field) = (Vec::new(), Vec::new());
    for (i, (mut field, column)) in described.into_iter().enumerate() {
        let column = column.checked_sub(1);
        let known = column.map(|c| columns.get(c));
        if known.is_some_and(|c| c.is_none()) || (column.is_some() && of_field.contains(&column)) {
            return Err(format_error(path, FormatError::Column(i + 1)));
        }
        if let Some(column) = known.flatten() {
            field.max = longest(column);
            // Fractions of seconds are told by the column.
            field.storage = match (field.storage, column.ty) {
                (Storage::Native(SqlType::Time(_)), ty @ SqlType::Time(_))
                | (Storage::Native(SqlType::DateTime2(_)), ty @ SqlType::DateTime2(_))
                | (Storage::Native(SqlType::DateTimeOffset(_)), ty @ SqlType::DateTimeOffset(_)) => {
                    Storage::Native(ty)
                }
                (storage, _) => storage,
            };
        }
        fields.push(field);
        of_field.push(column);
    }
    Ok((fields, of_field))
}

pub(super) fn csv(bulk: &BulkInsert, wide: bool) -> Option<Csv> {
    bulk.text("FORMAT")?;
    let bytes = |text: &str| match wide {
        true => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        false => text.as_bytes().to_vec(),
    };
    Some(Csv {
        quote: bytes(bulk.text("FIELDQUOTE").unwrap_or("\"")),
        escape: bulk.text("ESCAPECHAR").map(bytes),
        unit: if wide { 2 } else { 1 },
    })
}

/// Bytes that a field of a column may have.
fn longest(column: &Column) -> usize {
    if column.ty.is_max() { i32::MAX as usize } else { FIELD_BYTES_MAX }
}

pub(super) fn window(host: &mut dyn Host, path: &str, state: u8) -> Result<Window, SqlError> {
    let file = open_to_load(host, path, state)?;
    Window::new(file).map_err(|error| load_error(4861, "opened", path, &error))
}

fn format_error(path: &str, error: FormatError) -> SqlError {
    let of = |what: &str, i: usize| {
        format!(
            "Cannot bulk load. Invalid {what} for column number {i} in the format file \"{path}\"."
        )
    };
    let (number, text) = match error {
        FormatError::Version => {
            (4820, format!("Cannot bulk load. Unknown version of format file \"{path}\"."))
        }
        FormatError::NoCount => (
            4821,
            format!(
                "Cannot bulk load. Error reading the number of columns from the format file \"{path}\"."
            ),
        ),
        FormatError::Count => (
            4822,
            format!("Cannot bulk load. Invalid number of columns in the format file \"{path}\"."),
        ),
        FormatError::Number => (
            4823,
            format!("Cannot bulk load. Invalid column number in the format file \"{path}\"."),
        ),
        FormatError::Type(i) => (4824, of("data type", i)),
        FormatError::Prefix(i) => (4825, of("prefix", i)),
        FormatError::Length(i) => (4826, of("column length", i)),
        FormatError::Terminator(i) => (4827, of("column terminator", i)),
        FormatError::Column(i) => (
            4828,
            format!(
                "Cannot bulk load. Invalid destination table column number for source column {i} in the format file \
                 \"{path}\"."
            ),
        ),
        FormatError::Name(i) => (
            4829,
            format!(
                "Cannot bulk load. Error reading the destination table column name for source column {i} in the format \
                 file \"{path}\"."
            ),
        ),
        FormatError::Endless(i) => (
            4882,
            format!(
                "Cannot bulk load. A prefix length, field length, or terminator is required for the source column {i} \
                 in the format file \"{path}\"."
            ),
        ),
        FormatError::Refused(what) => return SqlError::unsupported(what),
    };
    SqlError::new(number, 16, text)
}
