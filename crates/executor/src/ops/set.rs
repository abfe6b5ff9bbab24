//! DISTINCT, EXCEPT and INTERSECT: rows as keys, NULL equal to NULL.

use super::Operator;
use super::hash::{KeyEncoder, KeyMap};
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::message::SqlError;
use binder::ir::SetOp;
use types::SqlType;

/// The first of the rows that are equal in their first values.
pub(super) struct Distinct<'p> {
    input: Source<'p>,
    encoder: KeyEncoder,
    seen: KeyMap<()>,
    key: Vec<u8>,
}

impl<'p> Distinct<'p> {
    pub fn new(input: Source<'p>, types: &[SqlType]) -> Self {
        Distinct {
            input,
            encoder: KeyEncoder::new(types.iter().copied()),
            seen: KeyMap::default(),
            key: Vec::new(),
        }
    }
}

impl Operator for Distinct<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        while self.input.next(cx, out)? {
            cx.breathe()?;
            let (seen, encoder, key) = (&mut self.seen, &self.encoder, &mut self.key);
            out.retain(|row| {
                key.clear();
                encoder.encode(&row[..encoder.len()], key);
                if seen.contains_key(&key[..]) {
                    return Ok(false);
                }
                cx.hold(key.len() + 48)?;
                seen.insert(key.as_slice().into(), ());
                Ok::<bool, SqlError>(true)
            })?;
            if !out.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.seen.clear();
        self.input.rewind(cx)
    }
}

/// Distinct rows of the left that the right has (INTERSECT) or has not (EXCEPT).
pub(super) struct HashSetOp<'p> {
    keep_present: bool,
    left: Source<'p>,
    right: Source<'p>,
    encoder: KeyEncoder,
    /// Rows of the right; true once the left has given one like it.
    table: Option<KeyMap<bool>>,
    key: Vec<u8>,
}

impl<'p> HashSetOp<'p> {
    pub fn new(op: SetOp, left: Source<'p>, right: Source<'p>, types: &[SqlType]) -> Self {
        HashSetOp {
            keep_present: op == SetOp::Intersect,
            left,
            right,
            encoder: KeyEncoder::new(types.iter().copied()),
            table: None,
            key: Vec::new(),
        }
    }
}

impl Operator for HashSetOp<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if self.table.is_none() {
            let mut table = KeyMap::default();
            let mut batch = Batch::new();
            while self.right.next(cx, &mut batch)? {
                for row in batch.rows() {
                    self.key.clear();
                    self.encoder.encode(row, &mut self.key);
                    cx.hold(self.key.len() + 48)?;
                    table.insert(self.key.as_slice().into(), false);
                }
            }
            self.table = Some(table);
        }
        while self.left.next(cx, out)? {
            let Some(table) = &mut self.table else { break };
            let (encoder, key, keep_present) = (&self.encoder, &mut self.key, self.keep_present);
            out.retain(|row| {
                key.clear();
                encoder.encode(row, key);
                if keep_present {
                    return Ok(match table.get_mut(&key[..]) {
                        Some(given) => !std::mem::replace(given, true),
                        None => false,
                    });
                }
                // EXCEPT: a row given is remembered as if the right had it.
                if table.contains_key(&key[..]) {
                    return Ok(false);
                }
                cx.hold(key.len() + 48)?;
                table.insert(key.as_slice().into(), true);
                Ok::<bool, SqlError>(true)
            })?;
            if !out.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.table = None;
        self.right.rewind(cx)?;
        self.left.rewind(cx)
    }
}
