//! A test asked of many stored rows, one after the other in one loop: what it is and how the column is stored is found out
//! once.
//!
//! Promise: the rows for which [`Test::holds`], in their order.

use super::{Form, Number, Test, word};
use crate::ops::keep::keep;
use crate::ops::raw_layout::RawLayout;
use engine::Spot;
use ir::CompareOp;
use types::RowLayout;

impl Test {
    /// Leaves those of the rows for which the test holds; `whole`: they have all columns of the layout.
    pub(super) fn retain(
        &self,
        layout: &RawLayout<'_>,
        bytes: &[u8],
        rows: &mut Vec<Spot>,
        whole: bool,
    ) {
        match self {
            Test::Number { column, within, negated } if whole => {
                let (within, negated) = (*within, *negated);
                column.retain(layout, bytes, rows, |n| within.has(n) != negated);
            }
            Test::NumberIn { column, list, negated } if whole => {
                column.retain(layout, bytes, rows, |n| list.binary_search(&n).is_ok() != *negated);
            }
            Test::Numbers { left, op, right } if whole && left.is_plain() && right.is_plain() => {
                let rows = (bytes, rows);
                match op {
                    CompareOp::Eq => left.retain_pairs(right, rows, |a, b| a == b),
                    CompareOp::Ne => left.retain_pairs(right, rows, |a, b| a != b),
                    CompareOp::Lt => left.retain_pairs(right, rows, |a, b| a < b),
                    CompareOp::Le => left.retain_pairs(right, rows, |a, b| a <= b),
                    CompareOp::Gt => left.retain_pairs(right, rows, |a, b| a > b),
                    CompareOp::Ge => left.retain_pairs(right, rows, |a, b| a >= b),
                }
            }
            _ => keep(rows, |row| {
                let row = row.of(bytes);
                self.holds(layout, row, RowLayout::row_columns(row))
            }),
        }
    }
}

impl Number {
    /// There is a number in every row that has all columns.
    fn is_plain(&self) -> bool {
        !self.column.nullable
    }

    /// Leaves the rows whose number `passes` lets pass; they have all columns.
    #[inline]
    fn retain(
        &self,
        layout: &RawLayout<'_>,
        bytes: &[u8],
        rows: &mut Vec<Spot>,
        passes: impl Fn(i64) -> bool,
    ) {
        let at = self.offset;
        if !self.is_plain() {
            return keep(rows, |row| {
                let row = row.of(bytes);
                !self.column.is_null(layout, row) && passes(self.of_cell(&row[at..]))
            });
        }
        match self.form {
            Form::I32 => keep(rows, |row| passes(four(bytes, row, at))),
            Form::I64 => keep(rows, |row| passes(eight(bytes, row, at))),
            _ => keep(rows, |row| passes(self.of_cell(&row.of(bytes)[at..]))),
        }
    }

    #[inline]
    fn retain_pairs(
        &self,
        other: &Number,
        (bytes, rows): (&[u8], &mut Vec<Spot>),
        passes: impl Fn(i64, i64) -> bool,
    ) {
        let (a, b) = (self.offset, other.offset);
        match (self.form, other.form) {
            (Form::I32, Form::I32) => {
                keep(rows, |row| passes(four(bytes, row, a), four(bytes, row, b)));
            }
            _ => keep(rows, |row| {
                let row = row.of(bytes);
                passes(self.of_cell(&row[a..]), other.of_cell(&row[b..]))
            }),
        }
    }
}

#[inline]
fn four(bytes: &[u8], row: Spot, offset: usize) -> i64 {
    i64::from(word(&bytes[row.at as usize + offset..][..4]) as i32)
}

#[inline]
fn eight(bytes: &[u8], row: Spot, offset: usize) -> i64 {
    super::super::reader::eight(&bytes[row.at as usize + offset..][..8])
}
