//! Rows computed from rows, or columns from columns.
//!
//! Promise: rows before one that fails go on before the error is told. By column, slots are handed on as they are, what
//! `exact.rs` knows is computed for a whole batch, and what else there is row by row.

use super::Operator;
use super::exact::Exact;
use super::join_filter::JoinFilter;
use super::shared::SharedJoin;
use super::simple::{Source, is_of_a_row, put_off};
use crate::batch::Batch;
use crate::columns::{Columns, Kind};
use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use ir::{Expr, ExprKind};
use types::Value;

/// See the file's first lines.
pub(super) struct Project<'p> {
    input: Source<'p>,
    exprs: &'p [Expr],
    batch: Batch,
    columns: Columns,
    /// How each expression is had by column.
    ways: Vec<Way>,
    row: Vec<Value>,
    late: Option<SqlError>,
}

enum Way {
    Slot(u32),
    /// And whether the batch at hand could be computed so.
    Exact(Exact, bool),
    ByRow,
}

impl Way {
    fn of(e: &Expr) -> Way {
        match e.kind {
            ExprKind::Slot(slot) => Way::Slot(slot),
            _ => Exact::new(e).map_or(Way::ByRow, |exact| Way::Exact(exact, false)),
        }
    }

    fn is_by_row(&self) -> bool {
        matches!(self, Way::ByRow | Way::Exact(_, false))
    }
}

impl<'p> Project<'p> {
    pub fn new(input: Source<'p>, exprs: &'p [Expr]) -> Self {
        Project {
            input,
            exprs,
            batch: Batch::new(),
            columns: Columns::default(),
            ways: Vec::new(),
            row: Vec::new(),
            late: None,
        }
    }

    /// Computes what is computed row by row; the rows before the one that fails.
    fn compute_rows(&mut self, cx: &mut Cx<'_>, out: &mut Columns) -> (usize, Option<SqlError>) {
        let rows = self.columns.len();
        if !self.ways.iter().any(Way::is_by_row) {
            return (rows, None);
        }
        let columns = out.add_rows(0);
        for row in 0..rows {
            self.row.clear();
            self.columns.push_row(row, &mut self.row);
            for ((way, e), column) in self.ways.iter().zip(self.exprs).zip(columns.iter_mut()) {
                if way.is_by_row() {
                    match eval(e, &self.row, cx) {
                        Ok(value) => column.push_value(value),
                        Err(error) => {
                            columns.iter_mut().for_each(|column| column.truncate(row));
                            return (row, Some(error));
                        }
                    }
                }
            }
        }
        (rows, None)
    }
}

impl Operator for Project<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if let Some(error) = self.late.take() {
            return Err(error);
        }
        out.start(self.exprs.len());
        self.batch.set_target(out.target());
        if !self.input.next(cx, &mut self.batch)? {
            return Ok(false);
        }
        for row in self.batch.rows() {
            for expr in self.exprs {
                match eval(expr, row, cx) {
                    Ok(value) => out.values_mut().push(value),
                    Err(error) => return put_off(error, &mut self.late, out),
                }
            }
            out.finish_row();
        }
        Ok(true)
    }

    fn has_columns(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let has = self.input.has_columns(cx)?;
        if has && self.ways.is_empty() {
            self.ways.extend(self.exprs.iter().map(Way::of));
        }
        Ok(has)
    }

    fn next_columns(&mut self, cx: &mut Cx<'_>, out: &mut Columns) -> Result<bool, SqlError> {
        if let Some(error) = self.late.take() {
            return Err(error);
        }
        if !self.input.next_columns(cx, &mut self.columns)? {
            return Ok(false);
        }
        for way in &mut self.ways {
            if let Way::Exact(exact, fits) = way {
                *fits = exact.load(&self.columns);
            }
        }
        out.start(self.exprs.len(), |i| match self.ways[i] {
            Way::Slot(slot) => self.columns.column(slot).kind(),
            _ => Kind::Computed(self.exprs[i].ty),
        });
        let (rows, error) = self.compute_rows(cx, out);
        if let Some(error) = error {
            if rows == 0 || !is_of_a_row(&error) {
                return Err(error);
            }
            self.late = Some(error);
        }
        for (way, column) in self.ways.iter().zip(out.add_rows(rows)) {
            match way {
                Way::Slot(slot) => column.gather(self.columns.column(*slot), (0..rows).map(Some)),
                Way::Exact(exact, true) => (0..rows).for_each(|row| match exact.get(row) {
                    Some(units) => column.push_units(units),
                    None => column.push_null(),
                }),
                Way::Exact(..) | Way::ByRow => {}
            }
        }
        Ok(true)
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.late = None;
        self.input.rewind(cx)
    }

    fn share(&mut self, cx: &mut Cx<'_>, shared: &mut Vec<SharedJoin>) -> Result<bool, SqlError> {
        self.input.share(cx, shared)
    }

    fn take_over(&mut self, shared: &mut dyn Iterator<Item = &SharedJoin>) {
        self.input.take_over(shared);
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        let Some(filter) = filter else { return self.input.narrow(None) };
        if let Some(below) = filter.below(self.exprs) {
            self.input.narrow(Some(&below));
        }
    }
}
