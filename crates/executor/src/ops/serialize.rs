//! FOR XML and FOR JSON: all rows of the input as one text.

use super::Operator;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::message::SqlError;
use functions::serialize::Writer;
use ir::SerializeSpec;
use runtime::task::Breath;
use types::Value;

/// UTF-16 units of a row, as SQL Server sends them.
const CHUNK_UNITS: usize = 2033;

/// Yields the text as one row, in pieces where the client gets it; no row for no input.
pub(super) struct Serialize<'p> {
    input: Box<dyn Operator + 'p>,
    spec: &'p SerializeSpec,
    width: usize,
    /// Pieces still to come; `None` before the input was read.
    pieces: Option<std::vec::IntoIter<Value>>,
}

impl<'p> Serialize<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, spec: &'p SerializeSpec, width: usize) -> Self {
        debug_assert_eq!(width, spec.columns.len());
        Serialize { input, spec, width, pieces: None }
    }

    fn read(&mut self, cx: &mut Cx<'_>) -> Result<Vec<Value>, SqlError> {
        let mut writer = Writer::new(self.spec);
        let mut batch = Batch::new();
        batch.start(self.width);
        let mut held = 0;
        let mut breath = Breath::new();
        while self.input.next(cx, &mut batch)? {
            for row in batch.rows() {
                breath.steps(64)?;
                writer.row(row)?;
            }
            let bytes = writer.bytes();
            cx.hold(bytes - held)?;
            held = bytes;
            cx.breathe()?;
        }
        let text = writer.finish()?;
        cx.release(held);
        let Some(text) = text else { return Ok(Vec::new()) };
        if !self.spec.chunked {
            return Ok(vec![Value::Str(text.into())]);
        }
        let mut pieces = Vec::new();
        let (mut start, mut units) = (0, 0);
        for (at, c) in text.char_indices() {
            breath.step()?;
            if units + c.len_utf16() > CHUNK_UNITS {
                pieces.push(Value::str(&text[start..at]));
                (start, units) = (at, 0);
            }
            units += c.len_utf16();
        }
        pieces.push(Value::str(&text[start..]));
        Ok(pieces)
    }
}

impl Operator for Serialize<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if self.pieces.is_none() {
            self.pieces = Some(self.read(cx)?.into_iter());
        }
        out.start(1);
        let Some(pieces) = &mut self.pieces else { return Ok(false) };
        while !out.is_full() {
            let Some(piece) = pieces.next() else { break };
            out.push(&[piece]);
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.pieces = None;
        self.input.rewind(cx)
    }
}
