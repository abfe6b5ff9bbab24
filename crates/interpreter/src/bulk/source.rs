//! The file of a BULK INSERT as rows of values, and what is told of rows that are none.

use super::fields::{csv, delimited, described, native, window};
use super::rejects::Rejects;
use super::{Column, TYPE_MISMATCH, unfit};
use crate::vm::Vm;
use bulk_file::{CodePage, ReadError, Row, Rows, Step, Storage};
use executor::{Reach, ResultSink, SqlError, SqlMessage};
use session_state::{code_page, load_error};
use std::io;
use syntax::ast::BulkInsert;
use types::{Len, SqlType, TypeError, Value, convert};

/// Rows that may be bad, unless MAXERRORS says otherwise.
const ERRORS_MAX: u64 = 10;

pub(super) struct Source {
    pub columns: Vec<Column>,
    /// Columns that take values; else their fields are read and left.
    wanted: Vec<bool>,
    /// Columns where NULL becomes something else.
    has_default: Vec<bool>,
    /// Rows of which an error was told.
    pub told: u64,
    pub last_told: i32,
    path: String,
    rows: Rows,
    row: Row,
    /// For each field, the column that it belongs to.
    of_field: Vec<Option<usize>>,
    page: CodePage,
    first: u64,
    last: u64,
    errors_max: u64,
    errors: u64,
    rejects: Option<Rejects>,
    /// Rows of the batch that may still come.
    left: u64,
    is_over: bool,
    /// DATEFORMAT.
    style: i32,
    /// In a TRY block bad rows are passed over in silence.
    guarded: bool,
    line: u32,
}

impl Source {
    /// Opens the files. 4860, 4861, 4820 to 4829, 4868, 4882. Suspends.
    pub fn open(
        vm: &mut Vm<'_>,
        bulk: &BulkInsert,
        columns: Vec<Column>,
        line: u32,
        guarded: bool,
    ) -> Result<Source, SqlError> {
        let path = bulk.from.clone();
        let mut page = code_page(bulk.text("CODEPAGE"))?;
        let mut window = window(vm.host, &path, 1)?;
        let read = |e: io::Error| load_error(4862, "read", &path, &e);
        let is_wide = Rows::skip_mark(&mut window, b"\xff\xfe").map_err(read)?;
        if !is_wide && Rows::skip_mark(&mut window, b"\xef\xbb\xbf").map_err(read)? {
            page = CodePage::Utf8;
        }
        let (fields, of_field, csv) = match bulk.text("FORMATFILE") {
            Some(format) => {
                let (fields, of_field) = described(vm.host, format, &columns)?;
                (fields, of_field, csv(bulk, false))
            }
            None => {
                let kind = bulk.text("DATAFILETYPE").unwrap_or("CHAR");
                let mut tell = |number, from: &str, to: &str, has: &str| {
                    let text = format!(
                        "Bulk load: DataFileType was incorrectly specified as {from}. DataFileType will be assumed to \
                         be {to} because the data file {has} a Unicode signature."
                    );
                    vm.sink.message(&SqlMessage::info(number, line, text));
                };
                match (kind, is_wide) {
                    ("CHAR", true) => tell(4830, "char", "widechar", "has"),
                    ("WIDECHAR", false) => tell(4831, "widechar", "char", "does not have"),
                    _ => {}
                }
                let fields = match kind {
                    "NATIVE" | "WIDENATIVE" => native(&columns, kind == "WIDENATIVE")?,
                    _ => delimited(bulk, &columns, is_wide)?,
                };
                (fields, (0..columns.len()).map(Some).collect(), csv(bulk, is_wide))
            }
        };
        let rejects = match bulk.text("ERRORFILE") {
            Some(path) => Some(Rejects::create(vm.host, path)?),
            None => None,
        };
        let keeps_identity = bulk.has("KEEPIDENTITY");
        let wanted = |c: &Column| !c.is_made && (keeps_identity || !c.is_identity);
        Ok(Source {
            wanted: columns.iter().map(wanted).collect(),
            has_default: vec![false; columns.len()],
            columns,
            told: 0,
            last_told: 0,
            path: path.clone(),
            rows: Rows::new(window, fields, csv),
            row: Row::default(),
            of_field,
            page,
            first: bulk.number("FIRSTROW").unwrap_or(1),
            last: bulk.number("LASTROW").filter(|last| *last > 0).unwrap_or(u64::MAX),
            errors_max: bulk.number("MAXERRORS").unwrap_or(ERRORS_MAX),
            errors: 0,
            rejects,
            left: 0,
            is_over: false,
            style: vm.state.options.date_style(),
            guarded,
            line,
        })
    }

    /// The columns that are inserted, by their place among all, in the order of their fields.
    pub fn listed(&self) -> Vec<usize> {
        self.of_field.iter().flatten().copied().filter(|c| self.wanted[*c]).collect()
    }

    /// Which of [`Source::listed`] have a default that a NULL becomes.
    pub fn note_defaults(&mut self, has_default: &[bool]) {
        for (column, has_default) in self.listed().into_iter().zip(has_default) {
            self.has_default[column] = *has_default;
        }
    }

    pub fn begin_batch(&mut self, rows: u64) {
        self.left = rows;
    }

    /// The file is at its end, or LASTROW has been read.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next row that can be read: a value for each column of [`Source::listed`]. Suspends.
    pub fn next(
        &mut self,
        values: &mut Vec<Value>,
        sink: &mut dyn ResultSink,
    ) -> Result<bool, SqlError> {
        if self.left == 0 {
            return Ok(false);
        }
        loop {
            if self.rows.number() >= self.last {
                self.is_over = true;
                return Ok(false);
            }
            match self.rows.next(&mut self.row) {
                Ok(Step::Row) => {}
                Ok(Step::End) => {
                    self.is_over = true;
                    return Ok(false);
                }
                Err(error) => return Err(self.broken(error, sink)),
            }
            if self.rows.number() < self.first {
                continue;
            }
            match self.values(values) {
                Ok(()) => {
                    self.left -= 1;
                    return Ok(true);
                }
                Err(error) => self.reject(error, sink)?,
            }
        }
    }

    /// The row at hand as values.
    fn values(&self, values: &mut Vec<Value>) -> Result<(), SqlError> {
        values.clear();
        for (i, field) in self.rows.fields().iter().enumerate() {
            let Some(at) = self.of_field[i].filter(|c| self.wanted[*c]) else { continue };
            let column = &self.columns[at];
            let value = match (self.row.field(i), field.prefix) {
                (None, _) => Ok(Value::Null),
                (Some(bytes), 0) => field.storage.value(bytes, self.page),
                (Some(bytes), _) => field.storage.prefixed(bytes, self.page),
            };
            let value = value.map_err(|_| Misfit::Type);
            let value = value.and_then(|v| fit(v, column.ty, field.storage, self.style));
            let value = value.map_err(|misfit| misfit.error(self.rows.number(), i + 1, column))?;
            if value.is_null() && !column.nullable && !self.has_default[at] {
                let text = format!(
                    "The bulk load failed. Unexpected NULL value in data file row {}, column {}. The destination \
                     column ({}) is defined as NOT NULL.",
                    self.rows.number(),
                    i + 1,
                    column.name
                );
                return Err(SqlError::new(4869, 16, text));
            }
            values.push(value);
        }
        Ok(())
    }

    /// A row that is left out; one too many is the end: 4865.
    fn reject(&mut self, error: SqlError, sink: &mut dyn ResultSink) -> Result<(), SqlError> {
        if let Some(rejects) = &mut self.rejects {
            rejects.add(&self.rows)?;
        }
        self.tell(error, sink);
        self.errors += 1;
        if self.errors <= self.errors_max {
            return Ok(());
        }
        let text = format!(
            "Cannot bulk load because the maximum number of errors ({}) was exceeded.",
            self.errors_max
        );
        Err(self.failed(SqlError::new(4865, 16, text), sink))
    }

    /// Why no more rows can be read.
    fn broken(&mut self, error: ReadError, sink: &mut dyn ResultSink) -> SqlError {
        let row = self.rows.number();
        let error = match error {
            ReadError::Io(error) => load_error(4862, "read", &self.path, &error),
            ReadError::BadCsv { .. } if row < self.first => {
                let text = "Cannot obtain the required interface (\"IID_IColumnsInfo\") from OLE DB provider \"BULK\" \
                            for linked server \"(null)\".";
                return SqlError::new(7301, 16, text).with_state(2).with_reach(Reach::Batch);
            }
            ReadError::UnexpectedEnd => SqlError::new(
                4832,
                16,
                "Bulk load: An unexpected end of file was encountered in the data file.",
            ),
            ReadError::TooLong { field } => SqlError::new(
                4866,
                16,
                format!(
                    "The bulk load failed. The column is too long in the data file for row {row}, column {field}. \
                     Verify that the field terminator and row terminator are specified correctly."
                ),
            ),
            ReadError::BadCsv { field } => SqlError::new(
                4879,
                16,
                format!(
                    "Bulk load failed due to invalid column value in CSV data file {} in row {row}, column {field}.",
                    self.path
                ),
            ),
        };
        self.failed(error, sink)
    }

    /// The load is over: what went wrong is told, then 7399; 7330 is the statement's error.
    fn failed(&mut self, cause: SqlError, sink: &mut dyn ResultSink) -> SqlError {
        self.tell(cause, sink);
        let text = "The OLE DB provider \"BULK\" for linked server \"(null)\" reported an error. The provider did not \
                    give any information about the error.";
        self.tell(SqlError::new(7399, 16, text), sink);
        let text = "Cannot fetch a row from OLE DB provider \"BULK\" for linked server \"(null)\".";
        SqlError::new(7330, 16, text).with_state(2).with_reach(Reach::Batch)
    }

    fn tell(&mut self, error: SqlError, sink: &mut dyn ResultSink) {
        if self.guarded {
            return;
        }
        self.told += 1;
        self.last_told = error.number;
        sink.message(&error.at_line(self.line).to_message());
    }

    /// Writes what ERRORFILE is to have. Suspends.
    pub fn close(&mut self) -> Result<(), SqlError> {
        self.rejects.as_mut().map_or(Ok(()), Rejects::close)
    }
}

/// Why a value is none of its column.
#[derive(Clone, Copy)]
enum Misfit {
    Type,
    Truncation,
    Overflow,
}

impl Misfit {
    fn error(self, row: u64, field: usize, column: &Column) -> SqlError {
        let (number, what) = match self {
            Misfit::Truncation => (4863, "truncation"),
            Misfit::Type => (4864, TYPE_MISMATCH),
            Misfit::Overflow => (4867, "overflow"),
        };
        unfit(number, what, row, field, column)
    }
}

/// A field's value as one of its column's type. Text is read more strictly than CAST reads it: bits are 0 and 1, binary
/// is hexadecimal digits without 0x, and so is a type of the CLR, as bcp writes it.
fn fit(value: Value, ty: SqlType, storage: Storage, style: i32) -> Result<Value, Misfit> {
    let from = value.natural_type();
    if let Value::Str(text) = &value {
        let text: &str = text;
        match ty {
            SqlType::Bit => {
                return match text {
                    "0" => Ok(Value::Bit(false)),
                    "1" => Ok(Value::Bit(true)),
                    _ => Err(Misfit::Type),
                };
            }
            SqlType::Binary(_) | SqlType::VarBinary(_) => {
                let bytes = Value::binary(&convert::from_hex(text).ok_or(Misfit::Type)?);
                let from = SqlType::VarBinary(Len::Max);
                return convert::assign(&bytes, from, ty).map_err(|_| Misfit::Truncation);
            }
            SqlType::Clr(_) => {
                let bytes = Value::binary(&convert::from_hex(text).ok_or(Misfit::Type)?);
                let from = SqlType::VarBinary(Len::Max);
                return convert::assign(&bytes, from, ty).map_err(|_| Misfit::Type);
            }
            _ if !ty.is_character() && text.trim().is_empty() => return Err(Misfit::Type),
            _ => {}
        }
    }
    convert::assign_style(&value, from, ty, style).map_err(|error| match error {
        // As SQL Server has it: a char field is converted to UTF-16 first, and that fails.
        TypeError::Truncated { .. } => match (storage, ty) {
            (Storage::Char, SqlType::NChar(_) | SqlType::NVarChar(_)) => Misfit::Type,
            _ => Misfit::Truncation,
        },
        TypeError::Overflow { .. } if matches!(ty, SqlType::Decimal { .. }) => Misfit::Truncation,
        TypeError::Overflow { .. }
        | TypeError::OverflowValue { .. }
        | TypeError::OverflowFloat { .. }
        | TypeError::OverflowString { .. } => Misfit::Overflow,
        _ => Misfit::Type,
    })
}
