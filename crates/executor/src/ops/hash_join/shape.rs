//! What the plan says of a hash join, and what a row of the probing side makes with its candidates.

use super::table::Table;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::{holds, operand};
use crate::message::SqlError;
use crate::ops::hash::KeyEncoder;
use crate::rowcode;
use ir::Expr;
use planner::PhysicalJoin;
use types::{SqlType, Value};

/// What the plan says.
pub(super) struct Shape<'p> {
    pub kind: PhysicalJoin,
    pub left_width: usize,
    pub right_width: usize,
    pub left_keys: &'p [Expr],
    pub right_keys: &'p [Expr],
    pub residual: Option<&'p Expr>,
    pub encoder: KeyEncoder,
    /// Slots of the joined row that are read above or by the residual; others come as NULL.
    pub needed: Vec<bool>,
    pub types: Vec<SqlType>,
}

/// Where the matching of a probe row stands.
pub(super) struct Going<'g> {
    pub candidate: &'g mut u32,
    pub matched: &'g mut bool,
    pub scratch: &'g mut Vec<Value>,
}

impl<'p> Shape<'p> {
    /// Whether its rows have both sides.
    pub fn emits_pairs(&self) -> bool {
        matches!(self.kind, PhysicalJoin::Inner | PhysicalJoin::Left | PhysicalJoin::Full)
    }

    /// Slots of its rows.
    pub fn out_width(&self) -> usize {
        self.left_width + if self.emits_pairs() { self.right_width } else { 0 }
    }

    /// The key of a row; false when a part is NULL.
    pub fn key(
        &self,
        left: bool,
        row: &[Value],
        out: &mut Vec<u8>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        out.clear();
        self.push_key(left, row, out, cx)
    }

    /// Appends the key of a row to `out`; false, and part of it, when a part is NULL.
    pub fn push_key(
        &self,
        left: bool,
        row: &[Value],
        out: &mut Vec<u8>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let keys = if left { self.left_keys } else { self.right_keys };
        for (i, key) in keys.iter().enumerate() {
            let value = operand(key, row, cx)?;
            if value.is_null() {
                return Ok(false);
            }
            self.encoder.push(i, &value, out);
        }
        Ok(true)
    }

    /// [`Shape::needed`] of a side.
    pub fn needed_of(&self, left: bool) -> &[bool] {
        let (of_left, of_right) = self.needed.split_at(self.left_width);
        if left { of_left } else { of_right }
    }

    /// A row as it is kept: only what is needed, the rest NULL.
    pub fn kept(&self, left: bool, row: &[Value], out: &mut Vec<u8>) {
        out.clear();
        for (value, needed) in row.iter().zip(self.needed_of(left)) {
            if *needed {
                rowcode::encode_value(value, out);
            } else {
                out.push(0);
            }
        }
    }

    /// Appends the pair of a probe row and a built one to `out`; false when the residual refuses it.
    pub fn pair(
        &self,
        by_left: bool,
        probe: &[Value],
        built: &[u8],
        out: &mut Batch,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let values = out.values_mut();
        if by_left {
            self.copy_needed(true, probe, values);
            rowcode::decode(built, self.right_width, values);
        } else {
            rowcode::decode(built, self.left_width, values);
            self.copy_needed(false, probe, values);
        }
        out.finish_row();
        match self.residual {
            Some(residual) if !holds(residual, out.last(), cx)? => {
                out.pop();
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    #[inline]
    pub fn copy_needed(&self, left: bool, row: &[Value], out: &mut Vec<Value>) {
        let value = |(value, needed): (&Value, &bool)| match needed {
            true => value.clone(),
            false => Value::Null,
        };
        out.extend(row.iter().zip(self.needed_of(left)).map(value));
    }

    /// A left row with NULLs, or alone, as the kind has it.
    pub fn push_left(&self, row: &[Value], out: &mut Batch) {
        if self.emits_pairs() { out.push_joined(row, None) } else { out.push(row) }
    }

    /// A built left row, likewise.
    pub fn push_built_left(&self, built: &[u8], out: &mut Batch) {
        let values = out.values_mut();
        rowcode::decode(built, self.left_width, values);
        if self.emits_pairs() {
            values.resize(values.len() + self.right_width, Value::Null);
        }
        out.finish_row();
    }

    /// A right row without a partner.
    pub fn push_right(&self, built: &[u8], out: &mut Batch) {
        let values = out.values_mut();
        values.resize(values.len() + self.left_width, Value::Null);
        rowcode::decode(built, self.right_width, values);
        out.finish_row();
    }
}

impl Shape<'_> {
    /// Pairs of a probe row with its candidates. False when `out` is full before the last.
    pub fn candidates(
        &self,
        by_left: bool,
        row: &[Value],
        table: &mut Table,
        going: Going<'_>,
        cx: &mut Cx<'_>,
        out: &mut Batch,
    ) -> Result<bool, SqlError> {
        let pairs = self.emits_pairs();
        let (side, matched) = table.parts();
        while *going.candidate != 0 {
            let index = *going.candidate as usize - 1;
            let built = side.rows[index];
            *going.candidate = built.next;
            let values = side.arena.get(built.values);
            if !pairs && !by_left {
                let met = &mut matched[index];
                if *met {
                    continue;
                }
                *met = match self.residual {
                    Some(residual) => {
                        going.scratch.clear();
                        rowcode::decode(values, self.left_width, going.scratch);
                        going.scratch.extend_from_slice(row);
                        holds(residual, going.scratch, cx)?
                    }
                    None => true,
                };
                if *met && self.kind == PhysicalJoin::Semi {
                    self.push_built_left(values, out);
                    if out.is_full() {
                        return Ok(false);
                    }
                }
                continue;
            }
            if pairs {
                if !self.pair(by_left, row, values, out, cx)? {
                    continue;
                }
                *going.matched = true;
                if let Some(met) = matched.get_mut(index) {
                    *met = true;
                }
                if out.is_full() {
                    return Ok(false);
                }
                continue;
            }
            *going.matched = match self.residual {
                Some(residual) => {
                    going.scratch.clear();
                    going.scratch.extend_from_slice(row);
                    rowcode::decode(values, self.right_width, going.scratch);
                    holds(residual, going.scratch, cx)?
                }
                None => true,
            };
            if *going.matched {
                *going.candidate = 0;
            }
        }
        Ok(true)
    }
}
