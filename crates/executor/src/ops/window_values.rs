//! What window functions make of a partition.
//!
//! Promise: a function's values are written in the order of the rows; rows, arguments and values may lie in files, so each
//! function moves forward over them. Only the tails of a frame that slides ([`Sliding`]) are in memory, 701 if they do
//! not fit.

use super::accumulate::{Accumulator, Spec};
use super::frame::{Peers, Sliding};
use super::row_store::RowStore;
use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use crate::warnings::Warnings;
use ir::{Expr, FrameBound, WindowFrame, WindowFunc};
use planner::WindowCall;
use std::cell::Cell;
use types::Value;

/// Rows between two looks at the cancel flag.
const ROWS_AT_ONCE: usize = 1024;

/// The rows of a partition.
pub(super) struct Partition {
    rows: RowStore,
    /// The first row of each group of peers: rows equal in the order.
    starts: RowStore,
}

const WHOLE: WindowFrame = WindowFrame {
    range: false,
    start: FrameBound::UnboundedPreceding,
    end: FrameBound::UnboundedFollowing,
};

impl Partition {
    /// Of rows of `width` values.
    pub fn new(width: usize) -> Partition {
        Partition { rows: RowStore::new(width), starts: RowStore::new(1) }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Row `i`.
    pub fn row(&mut self, i: usize) -> Result<&[Value], SqlError> {
        self.rows.row(i)
    }

    /// Adds a row, which may differ in the order from the one before.
    pub fn push(&mut self, row: &[Value], differs: bool, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if differs || self.len() == 0 {
            self.starts.push_value(Value::BigInt(self.len() as i64), cx)?;
        }
        self.rows.push(row, cx)
    }

    pub fn clear(&mut self, cx: &mut Cx<'_>) {
        self.rows.clear(cx);
        self.starts.clear(cx);
    }

    /// One function's value for each row, into `out`.
    pub fn compute(
        &mut self,
        call: &WindowCall,
        out: &mut RowStore,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        match &call.func {
            WindowFunc::RowNumber
            | WindowFunc::Rank
            | WindowFunc::DenseRank
            | WindowFunc::PercentRank
            | WindowFunc::CumeDist => self.rank(&call.func, out, cx),
            WindowFunc::NTile(groups) => self.tiles(groups, out, cx),
            WindowFunc::Lag { arg, offset, default, ignore_nulls }
            | WindowFunc::Lead { arg, offset, default, ignore_nulls } => {
                let shift = Shift {
                    back: matches!(call.func, WindowFunc::Lag { .. }),
                    offset: offset.as_ref(),
                    default: default.as_ref(),
                    ignore_nulls: *ignore_nulls,
                };
                let mut args = self.arguments(arg, cx)?;
                let done = shift.values(&mut args, &mut self.rows, out, cx);
                args.clear(cx);
                done
            }
            WindowFunc::FirstValue { arg, ignore_nulls }
            | WindowFunc::LastValue { arg, ignore_nulls } => {
                let first = matches!(call.func, WindowFunc::FirstValue { .. });
                let frame = call.frame.unwrap_or(WHOLE);
                let mut args = self.arguments(arg, cx)?;
                self.ends(&mut args, first, *ignore_nulls, frame, out, cx)?;
                args.clear(cx);
                Ok(())
            }
            WindowFunc::PercentileCont { at, arg } | WindowFunc::PercentileDisc { at, arg } => {
                let at = functions::real(&eval(at, &[], cx)?);
                if !(0.0..=1.0).contains(&at) {
                    return Err(super::accumulate::percentile_out_of_range());
                }
                let interpolates = matches!(call.func, WindowFunc::PercentileCont { .. });
                let mut args = self.arguments(arg, cx)?;
                let value = percentile(&mut args, at, interpolates)?;
                args.clear(cx);
                for i in 0..self.len() {
                    breathe(i, cx)?;
                    out.push_value(value.clone(), cx)?;
                }
                Ok(())
            }
            WindowFunc::Aggregate { func, arg } => {
                let arg_type = arg.as_ref().map(|a| a.ty);
                let spec = Spec {
                    func: *func,
                    distinct: false,
                    arg: arg_type,
                    ty: call.ty,
                    passed_null: Cell::default(),
                };
                let mut args = match arg {
                    Some(arg) => Some(self.arguments(arg, cx)?),
                    None => None,
                };
                let frame = call.frame.unwrap_or(WHOLE);
                if frame.start == FrameBound::UnboundedPreceding {
                    self.running(&spec, frame, args.as_mut(), out, cx)?;
                } else {
                    self.sliding(&spec, frame, args.as_mut(), out, cx)?;
                }
                if spec.passed_null.get() && func.warns_of_null() {
                    cx.env.warn(Warnings::NULL_ELIMINATED);
                }
                if let Some(mut args) = args {
                    args.clear(cx);
                }
                Ok(())
            }
        }
    }

    /// An argument's value in each row.
    fn arguments(&mut self, arg: &Expr, cx: &mut Cx<'_>) -> Result<RowStore, SqlError> {
        let mut args = RowStore::new(1);
        for i in 0..self.len() {
            breathe(i, cx)?;
            let value = eval(arg, self.rows.row(i)?, cx)?;
            args.push_value(value, cx)?;
        }
        Ok(args)
    }

    fn rank(
        &mut self,
        func: &WindowFunc,
        out: &mut RowStore,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let count = self.len();
        let mut peers = Peers::new(&mut self.starts, count)?;
        for i in 0..count {
            breathe(i, cx)?;
            let (first, next) = peers.of(i)?;
            let value = match func {
                WindowFunc::RowNumber => Value::BigInt(i as i64 + 1),
                WindowFunc::Rank => Value::BigInt(first as i64 + 1),
                WindowFunc::DenseRank => Value::BigInt(peers.group() as i64 + 1),
                WindowFunc::PercentRank => Value::Float(first as f64 / (count - 1).max(1) as f64),
                _ => Value::Float(next as f64 / count as f64),
            };
            out.push_value(value, cx)?;
        }
        Ok(())
    }

    fn tiles(
        &mut self,
        groups: &Expr,
        out: &mut RowStore,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let groups = eval(groups, &[], cx)?.as_i64().unwrap_or(0);
        if groups < 1 {
            return Err(SqlError::new(
                4116,
                16,
                "The function 'ntile' takes only a positive int or bigint expression as its input.",
            ));
        }
        let count = self.len() as i64;
        let (size, longer) = (count / groups, count % groups);
        for i in 0..count {
            breathe(i as usize, cx)?;
            let edge = longer * (size + 1);
            let tile = if i < edge { i / (size + 1) } else { longer + (i - edge) / size.max(1) };
            out.push_value(Value::BigInt(tile + 1), cx)?;
        }
        Ok(())
    }

    /// FIRST_VALUE and LAST_VALUE.
    fn ends(
        &mut self,
        args: &mut RowStore,
        first: bool,
        ignore_nulls: bool,
        frame: WindowFrame,
        out: &mut RowStore,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let count = self.len();
        let mut peers = Peers::new(&mut self.starts, count)?;
        // The first row from the frame's start on whose value is known; and of the rows before `seen` the last such.
        let (mut next_known, mut last_known, mut seen) = (0, None, 0);
        for i in 0..count {
            breathe(i, cx)?;
            let (start, end) = peers.frame(frame, i)?;
            let at = match (ignore_nulls, first) {
                (false, true) => Some(start),
                (false, false) => end.checked_sub(1),
                (true, true) => {
                    next_known = next_known.max(start);
                    while next_known < count && args.value(next_known)?.is_null() {
                        next_known += 1;
                    }
                    Some(next_known)
                }
                (true, false) => {
                    while seen < end {
                        if !args.value(seen)?.is_null() {
                            last_known = Some(seen);
                        }
                        seen += 1;
                    }
                    last_known
                }
            };
            let value = match at.filter(|at| (start..end).contains(at)) {
                Some(at) => args.value(at)?.clone(),
                None => Value::Null,
            };
            out.push_value(value, cx)?;
        }
        Ok(())
    }

    /// An aggregate over frames that all begin with the partition.
    fn running(
        &mut self,
        spec: &Spec,
        frame: WindowFrame,
        mut args: Option<&mut RowStore>,
        out: &mut RowStore,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let count = self.len();
        let mut peers = Peers::new(&mut self.starts, count)?;
        let mut running = Accumulator::new(spec);
        let (mut taken, mut value) = (0, running.value(spec)?);
        for i in 0..count {
            breathe(i, cx)?;
            let (_, end) = peers.frame(frame, i)?;
            if taken < end {
                while taken < end {
                    breathe(taken, cx)?;
                    match &mut args {
                        Some(args) => running.add(spec, args.value(taken)?)?,
                        None => running.add_rows(1),
                    }
                    taken += 1;
                }
                value = running.value(spec)?;
            }
            out.push_value(value.clone(), cx)?;
        }
        Ok(())
    }

    /// An aggregate over frames whose beginning moves.
    fn sliding(
        &mut self,
        spec: &Spec,
        frame: WindowFrame,
        mut args: Option<&mut RowStore>,
        out: &mut RowStore,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let count = self.len();
        let mut peers = Peers::new(&mut self.starts, count)?;
        let mut sliding = Sliding::new(spec);
        let mut held = 0;
        for i in 0..count {
            breathe(i, cx)?;
            let (start, end) = peers.frame(frame, i)?;
            let value = sliding.value(start, end, args.as_deref_mut())?;
            if sliding.bytes() > held {
                cx.hold(sliding.bytes() - held)?;
                held = sliding.bytes();
            }
            out.push_value(value, cx)?;
        }
        cx.release(held);
        Ok(())
    }
}

/// Once in a while somebody else may have the processor, and a cancelled statement ends.
#[inline]
fn breathe(i: usize, cx: &Cx<'_>) -> Result<(), SqlError> {
    if i.is_multiple_of(ROWS_AT_ONCE) { cx.breathe() } else { Ok(()) }
}

/// Of values that come in their order, in which NULLs are first or last.
fn percentile(args: &mut RowStore, at: f64, interpolates: bool) -> Result<Value, SqlError> {
    let (mut first, mut count) = (None, 0);
    for i in 0..args.len() {
        if !args.value(i)?.is_null() {
            first.get_or_insert(i);
            count += 1;
        }
    }
    let Some(first) = first else { return Ok(Value::Null) };
    let most = count - 1;
    if !interpolates {
        let index = (at * count as f64).ceil() as usize;
        return Ok(args.value(first + index.saturating_sub(1).min(most))?.clone());
    }
    let place = at * most as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    let a = functions::real(args.value(first + low)?);
    let b = functions::real(args.value(first + high)?);
    Ok(Value::Float(a + (b - a) * (place - place.floor())))
}

/// LAG and LEAD.
struct Shift<'e> {
    back: bool,
    offset: Option<&'e Expr>,
    default: Option<&'e Expr>,
    ignore_nulls: bool,
}

impl Shift<'_> {
    fn values(
        &self,
        args: &mut RowStore,
        rows: &mut RowStore,
        out: &mut RowStore,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        // With IGNORE NULLS the rows that count; `before`: how many of them lie before the row.
        let mut counted = RowStore::new(1);
        for i in 0..if self.ignore_nulls { args.len() } else { 0 } {
            breathe(i, cx)?;
            if !args.value(i)?.is_null() {
                counted.push_value(Value::BigInt(i as i64), cx)?;
            }
        }
        let count = if self.ignore_nulls { counted.len() } else { args.len() };
        let mut before = 0usize;
        for i in 0..args.len() {
            breathe(i, cx)?;
            let by = match self.offset {
                Some(offset) => eval(offset, rows.row(i)?, cx)?.as_i64().unwrap_or(1),
                None => 1,
            };
            let Ok(by) = usize::try_from(by) else {
                return Err(SqlError::new(
                    8730,
                    16,
                    "Offset parameter for Lag and Lead functions cannot be a negative value.",
                ));
            };
            let own = !self.ignore_nulls || !args.value(i)?.is_null();
            let place = match (by, self.back) {
                (0, _) => None,
                (_, true) => before.checked_sub(by),
                (_, false) => Some((before + usize::from(own)).saturating_add(by - 1)),
            };
            before += usize::from(own);
            let found = match place.filter(|at| *at < count) {
                _ if by == 0 => Some(i),
                Some(at) if self.ignore_nulls => {
                    Some(counted.value(at)?.as_i64().unwrap_or(0) as usize)
                }
                place => place,
            };
            let value = match (found, self.default) {
                (Some(at), _) => args.value(at)?.clone(),
                (None, Some(default)) => eval(default, rows.row(i)?, cx)?,
                (None, None) => Value::Null,
            };
            out.push_value(value, cx)?;
        }
        counted.clear(cx);
        Ok(())
    }
}
