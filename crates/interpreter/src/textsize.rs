//! SET TEXTSIZE: large values of a result set are cut on their way to the client.
//!
//! Promise: only columns of (max) types are touched; a text is cut between two characters. Who has no limit does not
//! come by here.

use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use types::{Len, SqlType, Value, collation};

/// Stands between a SELECT and its client.
pub(crate) struct Cut<'a> {
    to: &'a mut dyn ResultSink,
    bytes: usize,
    types: Vec<SqlType>,
    row: Vec<Value>,
}

impl<'a> Cut<'a> {
    /// `bytes`: the session's TEXTSIZE, if it is a limit.
    pub fn limit(bytes: i32) -> Option<usize> {
        usize::try_from(bytes).ok().filter(|bytes| *bytes < i32::MAX as usize)
    }

    pub fn new(to: &'a mut dyn ResultSink, bytes: usize) -> Cut<'a> {
        Cut { to, bytes, types: Vec::new(), row: Vec::new() }
    }

    fn cut(&self, value: &Value, ty: SqlType) -> Value {
        let shorter = |text: &str, cut: fn(&mut String, usize), limit| {
            let mut text = text.to_owned();
            cut(&mut text, limit);
            Value::str(&text)
        };
        match (value, ty) {
            (Value::Str(text), SqlType::VarChar(Len::Max)) if text.len() > self.bytes => {
                shorter(text, collation::truncate_chars, self.bytes)
            }
            (Value::Str(text), SqlType::NVarChar(Len::Max)) if text.len() > self.bytes / 2 => {
                shorter(text, collation::truncate_units, self.bytes / 2)
            }
            (Value::Binary(all), SqlType::VarBinary(Len::Max)) if all.len() > self.bytes => {
                Value::binary(&all[..self.bytes])
            }
            _ => value.clone(),
        }
    }
}

impl ResultSink for Cut<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types = columns.iter().map(|column| column.ty).collect();
        self.to.columns(columns);
    }

    fn row(&mut self, row: &[Value]) {
        let cut = row.iter().zip(&self.types).map(|(value, ty)| self.cut(value, *ty)).collect();
        self.row = cut;
        self.to.row(&self.row);
    }

    fn done(&mut self, done: Done) {
        self.to.done(done);
    }

    fn message(&mut self, message: &SqlMessage) {
        self.to.message(message);
    }
}
