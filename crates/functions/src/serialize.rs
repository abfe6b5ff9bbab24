//! Rows as XML and JSON text: what FOR XML and FOR JSON write.
//!
//! Promise: the text is well-formed whatever the values are. Sources: SQL documentation, "FOR JSON" and "FOR XML" with
//! their pages on AUTO, PATH, RAW and EXPLICIT.

mod explicit;
mod json;
mod xml;

use crate::error::FunctionError;
use ::xml::binary::to_base64;
use ir::{Nesting, SerializeSpec};
use types::{SqlType, Value, format};

pub(crate) use json::scalar as json_scalar;
pub use xml::text as xml_text;
pub(crate) use xml::unknown;

/// A text in the making.
pub struct Writer<'s> {
    spec: &'s SerializeSpec,
    /// XML: namespaces as the outermost elements declare them.
    head: String,
    out: String,
    rows: usize,
    /// AUTO: the row before.
    last: Vec<Value>,
    /// AUTO: levels whose element or object is open.
    open: usize,
    /// EXPLICIT: elements that are open, outermost first.
    tags: Vec<explicit::Open>,
    /// PATH: what was written last is a value of a list (`data()`).
    in_list: bool,
}

impl<'s> Writer<'s> {
    pub fn new(spec: &'s SerializeSpec) -> Writer<'s> {
        let head = if spec.xml { xml::head(spec) } else { String::new() };
        Writer {
            spec,
            head,
            out: String::new(),
            rows: 0,
            last: Vec::new(),
            open: 0,
            tags: Vec::new(),
            in_list: false,
        }
    }

    /// Takes a row, whose values are the spec's columns.
    pub fn row(&mut self, row: &[Value]) -> Result<(), FunctionError> {
        match (self.spec.xml, &self.spec.nesting) {
            (true, Nesting::Tags(tags)) => explicit::row(self, tags, row)?,
            (true, Nesting::Levels) => xml::auto_row(self, row)?,
            (true, Nesting::Flat | Nesting::Paths) => xml::row(self, row)?,
            (false, Nesting::Levels) => json::auto_row(self, row)?,
            (false, _) => json::row(self, row)?,
        }
        self.rows += 1;
        Ok(())
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.out.len()
    }

    /// The whole; `None` without rows.
    pub fn finish(mut self) -> Result<Option<String>, FunctionError> {
        if self.rows == 0 {
            return Ok(None);
        }
        if self.spec.xml {
            explicit::close(&mut self, 0);
            xml::finish(&mut self)
        } else {
            json::finish(&mut self)
        }
        if self.spec.typed {
            xml::check(&self.out)?;
        }
        Ok(Some(self.out))
    }

    /// AUTO: the outermost level at which the row differs from the one before; the innermost one always does.
    fn first_new_level(&self, row: &[Value]) -> usize {
        let innermost = self.spec.levels.len() - 1;
        if self.rows == 0 {
            return 0;
        }
        (0..innermost)
            .find(|level| {
                self.spec
                    .columns
                    .iter()
                    .enumerate()
                    .any(|(i, c)| c.level == *level && row[i] != self.last[i])
            })
            .unwrap_or(innermost)
    }
}

/// A value as both forms write it, without quotes and escapes; NULL is `None`.
pub(super) fn plain(value: &Value, ty: SqlType) -> Result<Option<String>, FunctionError> {
    Ok(match value {
        Value::Null => None,
        Value::Variant(held) => plain(held.value(), held.ty())?,
        Value::Str(text) => Some(text.as_str().to_owned()),
        Value::Binary(bytes) => Some(to_base64(bytes)),
        // Sixteen digits, a real's own text by seven.
        Value::Float(_) | Value::Real(_) => {
            let style = if matches!(value, Value::Float(_)) { 2 } else { 1 };
            format::to_text(value, ty, style)?
        }
        Value::Money(_) => format::to_text(value, ty, 2)?,
        Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTime2(_)
        | Value::DateTimeOffset(_) => {
            let text = format::to_text(value, ty, 126)?;
            text.map(|t| if matches!(value, Value::DateTimeOffset(_)) { zulu(t) } else { t })
        }
        _ => format::to_text(value, ty, 0)?,
    })
}

/// An offset of nothing is `Z`.
fn zulu(text: String) -> String {
    match text.strip_suffix("+00:00") {
        Some(front) => format!("{front}Z"),
        None => text,
    }
}
