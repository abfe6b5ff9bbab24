//! The operators that keep no more than a batch: constants, filter, top, offset, concat; and the rows of system views.

use super::Operator;
use super::join_filter::JoinFilter;
use super::row_store::RowStore;
use super::shared::SharedJoin;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::{eval, holds};
use crate::message::{Reach, SqlError};
use ir::{Expr, SortKey, SystemView};
use runtime::task::{Many, Rest};
use types::{StoredCells, Value};

/// A boxed input.
pub(super) type Source<'p> = Box<dyn Operator + 'p>;

/// One row without values.
#[derive(Default)]
pub(super) struct OneRow {
    done: bool,
}

impl Operator for OneRow {
    fn next(&mut self, _: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(0);
        if !self.done {
            out.push(&[]);
        }
        Ok(!std::mem::replace(&mut self.done, true))
    }

    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        self.done = false;
        Ok(())
    }
}

/// No row.
pub(super) struct Empty;

impl Operator for Empty {
    fn next(&mut self, _: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(0);
        Ok(false)
    }

    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        Ok(())
    }
}

/// Rows of constants.
pub(super) struct Values<'p> {
    rows: &'p [Vec<Expr>],
    width: usize,
    at: usize,
    late: Option<SqlError>,
}

impl<'p> Values<'p> {
    pub fn new(rows: &'p [Vec<Expr>], width: usize) -> Self {
        Values { rows, width, at: 0, late: None }
    }
}

impl Operator for Values<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if let Some(error) = self.late.take() {
            return Err(error);
        }
        out.start(self.width);
        while self.at < self.rows.len() && !out.is_full() {
            for expr in &self.rows[self.at] {
                match eval(expr, &[], cx) {
                    Ok(value) => out.values_mut().push(value),
                    Err(error) => return put_off(error, &mut self.late, out),
                }
            }
            out.finish_row();
            self.at += 1;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        (self.at, self.late) = (0, None);
        Ok(())
    }
}

/// Rows of a system view, taken from the session at the first call.
pub(super) struct SystemRows<'p> {
    view: &'p SystemView,
    args: &'p [Expr],
    columns: &'p [usize],
    rows: Option<Rest<Vec<Value>>>,
}

impl<'p> SystemRows<'p> {
    pub fn new(view: &'p SystemView, args: &'p [Expr], columns: &'p [usize]) -> Self {
        SystemRows { view, args, columns, rows: None }
    }
}

impl Operator for SystemRows<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.columns.len());
        if self.rows.is_none() {
            let mut args = Vec::with_capacity(self.args.len());
            for arg in self.args {
                args.push(eval(arg, &[], cx)?);
            }
            let rows = match self.view.function {
                Some(called) => {
                    cx.env.function_rows(called.object_id, &args, cx.txn.as_deref_mut())?
                }
                None if functions::openjson::is_openjson(self.view) => {
                    functions::openjson::rows(self.view, &args)?
                }
                None if functions::openxml::is_openxml(self.view) => {
                    functions::openxml::rows(self.view, &args, &|handle| {
                        cx.env.prepared_xml(handle)
                    })?
                }
                None => cx.env.view_rows(self.view, &args)?,
            };
            self.rows = Some(Many::from(rows).into_iter());
        }
        let Some(rows) = &mut self.rows else { return Ok(false) };
        while !out.is_full() {
            let Some(row) = rows.next() else { break };
            for i in self.columns {
                out.values_mut().push(row.get(*i).cloned().unwrap_or_default());
            }
            out.finish_row();
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        self.rows = None;
        Ok(())
    }
}

/// Puts an error off until the rows before the one that failed have gone on: they are the answer so far.
pub(super) fn put_off(
    error: SqlError,
    late: &mut Option<SqlError>,
    out: &mut Batch,
) -> Result<bool, SqlError> {
    out.drop_open_row();
    if out.is_empty() || !is_of_a_row(&error) {
        return Err(error);
    }
    *late = Some(error);
    Ok(true)
}

/// Whether an error is one row's, so that the rows before it are still an answer.
pub(super) fn is_of_a_row(error: &SqlError) -> bool {
    matches!(error.reach, Reach::Statement | Reach::Batch) && !error.stale
}

/// Rows for which a predicate is true.
pub(super) struct Filter<'p> {
    input: Source<'p>,
    predicate: &'p Expr,
    late: Option<SqlError>,
}

impl<'p> Filter<'p> {
    pub fn new(input: Source<'p>, predicate: &'p Expr) -> Self {
        Filter { input, predicate, late: None }
    }
}

impl Operator for Filter<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if let Some(error) = self.late.take() {
            return Err(error);
        }
        while self.input.next(cx, out)? {
            if let Err(error) = out.retain(|row| holds(self.predicate, row, cx)) {
                return put_off(error, &mut self.late, out);
            }
            if !out.is_empty() {
                return Ok(true);
            }
            cx.breathe()?;
        }
        Ok(false)
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
        self.input.narrow(filter);
    }
}

/// The count of TOP ... PERCENT: 1031.
pub fn percentage(count: &Value) -> Result<f64, SqlError> {
    let percent = match count {
        Value::Float(f) => *f,
        other => other.as_i64().unwrap_or(0) as f64,
    };
    match (0.0..=100.0).contains(&percent) {
        true => Ok(percent),
        false => Err(SqlError::new(1031, 15, "Percent values must be between 0 and 100.")),
    }
}

/// The count of a TOP: 1060, 127.
pub fn row_count(count: &Value) -> Result<u64, SqlError> {
    let Some(n) = count.as_i64() else {
        return Err(SqlError::new(
            1060,
            15,
            "The number of rows provided for a TOP or FETCH clauses row count parameter must be an \
             integer.",
        ));
    };
    u64::try_from(n)
        .map_err(|_| SqlError::new(127, 15, "A TOP N or FETCH rowcount value may not be negative."))
}

/// Rows of a TOP from which on they are taken as they are stored, where that can be.
const STORED_ROWS: u64 = 32;

/// The first rows: so many, or per cent, perhaps with ties.
pub(super) struct Top<'p> {
    input: Source<'p>,
    count: &'p Expr,
    percent: bool,
    ties: Option<&'p [SortKey]>,
    width: usize,
    left: Option<u64>,
    last: Option<Vec<Value>>,
    /// All rows, for a percentage, and how many of them have been given.
    kept: RowStore,
    given: usize,
}

impl<'p> Top<'p> {
    pub fn new(
        input: Source<'p>,
        count: &'p Expr,
        percent: bool,
        ties: Option<&'p [SortKey]>,
        width: usize,
    ) -> Self {
        Top {
            input,
            count,
            percent,
            ties,
            width,
            left: None,
            last: None,
            kept: RowStore::new(width),
            given: 0,
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>) -> Result<u64, SqlError> {
        let wanted = eval(self.count, &[], cx)?;
        if !self.percent {
            return row_count(&wanted);
        }
        let percent = percentage(&wanted)?;
        let mut batch = Batch::new();
        while self.input.next(cx, &mut batch)? {
            for row in batch.rows() {
                self.kept.push(row, cx)?;
            }
        }
        Ok((self.kept.len() as f64 * percent / 100.0).ceil() as u64)
    }

    /// The next input rows: of those kept for a percentage, else of the input.
    fn pull(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if !self.percent {
            return self.input.next(cx, out);
        }
        out.start(self.width);
        while self.given < self.kept.len() && !out.is_full() {
            out.push(self.kept.row(self.given)?);
            self.given += 1;
        }
        Ok(!out.is_empty())
    }

    fn is_tie(&mut self, row: &[Value], cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let (Some(ties), Some(last)) = (self.ties, &self.last) else { return Ok(false) };
        for key in ties {
            let a = eval(&key.expr, last, cx)?;
            let b = eval(&key.expr, row, cx)?;
            if types::compare::sort_order(&a, &b).is_ne() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Operator for Top<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let left = match self.left {
            Some(left) => left,
            None => {
                let left = self.start(cx)?;
                self.left = Some(left);
                left
            }
        };
        if left == 0 && (self.ties.is_none() || self.last.is_none()) {
            out.start(self.width);
            return Ok(false);
        }
        let target = out.target();
        if self.ties.is_none() && (left as usize) < target {
            out.set_target(left as usize);
        }
        let more = self.pull(cx, out);
        out.set_target(target);
        if !more? {
            self.left = Some(0);
            self.last = None;
            return Ok(false);
        }
        let mut keep = (left as usize).min(out.len());
        if self.ties.is_some() {
            if keep > 0 {
                self.last = Some(out.row(keep - 1).to_vec());
            }
            if left as usize <= out.len() {
                while keep < out.len() && self.is_tie(out.row(keep), cx)? {
                    keep += 1;
                }
                if keep < out.len() {
                    self.last = None;
                }
            }
        }
        out.shorten(keep);
        self.left = Some(left.saturating_sub(keep as u64));
        Ok(!out.is_empty())
    }

    fn has_stored(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if self.percent || self.ties.is_some() {
            return Ok(false);
        }
        let left = self.start(cx)?;
        self.left = Some(left);
        // Of a leaf that is shown, few rows would be wanted.
        Ok(left >= STORED_ROWS && self.input.has_stored(cx)?)
    }

    fn next_stored(
        &mut self,
        cx: &mut Cx<'_>,
        each: &mut dyn FnMut(&dyn StoredCells),
    ) -> Result<bool, SqlError> {
        let mut left = self.left.unwrap_or(0);
        let more = left > 0
            && self.input.next_stored(cx, &mut |row| {
                if left > 0 {
                    left -= 1;
                    each(row);
                }
            })?;
        self.left = Some(left);
        Ok(more && left > 0)
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.left = None;
        self.last = None;
        self.kept.clear(cx);
        self.given = 0;
        self.input.rewind(cx)
    }
}

/// OFFSET and FETCH.
pub(super) struct Offset<'p> {
    input: Source<'p>,
    offset: &'p Expr,
    fetch: Option<&'p Expr>,
    /// Rows still to skip and to give.
    state: Option<(u64, u64)>,
}

impl<'p> Offset<'p> {
    pub fn new(input: Source<'p>, offset: &'p Expr, fetch: Option<&'p Expr>) -> Self {
        Offset { input, offset, fetch, state: None }
    }
}

impl Operator for Offset<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let (mut skip, mut left) = match self.state {
            Some(state) => state,
            None => {
                let skip = eval(self.offset, &[], cx)?.as_i64().unwrap_or(-1);
                let left = match self.fetch {
                    Some(fetch) => eval(fetch, &[], cx)?.as_i64().unwrap_or(-1),
                    None => i64::MAX,
                };
                if left < 1 {
                    return Err(SqlError::new(
                        10744,
                        15,
                        "The number of rows provided for a FETCH clause must be greater then zero.",
                    ));
                }
                if skip < 0 {
                    return Err(SqlError::new(
                        10742,
                        15,
                        "The offset specified in a OFFSET clause may not be negative.",
                    ));
                }
                (skip as u64, left as u64)
            }
        };
        let target = out.target();
        while left > 0 {
            let wanted = usize::try_from(skip.saturating_add(left)).unwrap_or(usize::MAX);
            out.set_target(wanted.min(target));
            let more = self.input.next(cx, out);
            out.set_target(target);
            if !more? {
                break;
            }
            let mut index = 0u64;
            let dropped = skip.min(out.len() as u64);
            out.retain(|_| {
                index += 1;
                Ok::<bool, SqlError>(index > dropped)
            })?;
            skip -= dropped;
            if !out.is_empty() {
                out.shorten(left.min(usize::MAX as u64) as usize);
                left -= out.len() as u64;
                self.state = Some((skip, left));
                return Ok(true);
            }
        }
        self.state = Some((skip, 0));
        out.start(0);
        Ok(false)
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.state = None;
        self.input.rewind(cx)
    }
}

/// Inputs one after the other.
pub(super) struct Concat<'p> {
    inputs: Many<Source<'p>>,
    /// Whether an input's rows have the very types of all.
    alike: Vec<bool>,
    at: usize,
}

impl<'p> Concat<'p> {
    pub fn new(inputs: Many<Source<'p>>, alike: Vec<bool>) -> Self {
        Concat { inputs, alike, at: 0 }
    }
}

impl Operator for Concat<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        while let Some(input) = self.inputs.get_mut(self.at) {
            if input.next(cx, out)? {
                return Ok(true);
            }
            self.at += 1;
        }
        Ok(false)
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.at = 0;
        self.inputs.iter_mut().try_for_each(|input| input.rewind(cx))
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        for (input, alike) in self.inputs.iter_mut().zip(&self.alike) {
            input.narrow(filter.filter(|_| *alike));
        }
    }
}
