//! What groupings have in common, by hash, in a stream or over sets: their keys, and how a row is taken.

use super::accumulate::{Accumulator, Spec};
use super::exact::Exact;
use super::hash::KeyEncoder;
use super::join_filter::JoinFilter;
use super::shared::Grouped;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::{eval, operand};
use crate::memory::row_bytes;
use crate::message::SqlError;
use crate::warnings::Warnings;
use ir::{AggFunc, Expr};
use planner::Agg;
use std::cell::Cell;
use types::Value;

/// What all forms share.
pub(super) struct Grouping<'p> {
    pub(super) group: &'p [Expr],
    pub(super) aggs: &'p [Agg],
    pub(super) specs: Vec<Spec>,
    pub(super) encoder: KeyEncoder,
    /// The slot that says how many rows a row stands for.
    pub(super) weight: Option<u32>,
}

/// About what a state takes, in bytes.
pub(super) const STATE_BYTES: usize = size_of::<Accumulator>();

impl<'p> Grouping<'p> {
    pub(super) fn new(group: &'p [Expr], aggs: &'p [Agg]) -> Self {
        let spec = |agg: &Agg| Spec {
            func: agg.func,
            distinct: agg.distinct,
            arg: agg.arg.as_ref().map(|e| e.ty),
            ty: agg.ty,
            passed_null: Cell::default(),
        };
        Grouping {
            group,
            aggs,
            specs: aggs.iter().map(spec).collect(),
            encoder: KeyEncoder::new(group.iter().map(|e| e.ty)),
            weight: None,
        }
    }

    /// As a branch takes it along. None where parts of it cannot be put together: DISTINCT, and what needs all values of a
    /// group.
    pub(super) fn in_parts(&self, scalar: bool) -> Option<Grouped> {
        let whole = self.aggs.iter().any(|agg| agg.distinct || !agg.func.has_parts());
        (!whole).then(|| Grouped {
            group: self.group.to_vec(),
            aggs: self.aggs.to_vec(),
            weight: self.weight,
            scalar,
        })
    }

    /// Slots of the rows that it gives.
    pub(super) fn width(&self) -> usize {
        self.group.len() + self.aggs.len()
    }

    /// The row's group as bytes, into `key`.
    pub(super) fn key(
        &self,
        row: &[Value],
        key: &mut Vec<u8>,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        key.clear();
        for (i, expr) in self.group.iter().enumerate() {
            let value = operand(expr, row, cx)?;
            self.encoder.push(i, &value, key);
        }
        Ok(())
    }

    pub(super) fn fresh(&self) -> impl Iterator<Item = Accumulator> {
        self.specs.iter().map(Accumulator::new)
    }

    /// Takes a row. The memory counted for what is kept of it.
    #[inline]
    pub(super) fn add(
        &self,
        accumulators: &mut [Accumulator],
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<usize, SqlError> {
        self.add_at(accumulators, row, None, cx)
    }

    /// The same for a row of a batch whose arguments may have been computed.
    #[inline]
    pub(super) fn add_at(
        &self,
        accumulators: &mut [Accumulator],
        row: &[Value],
        at: Option<(&Arguments, usize)>,
        cx: &mut Cx<'_>,
    ) -> Result<usize, SqlError> {
        let mut held = 0;
        let weight = match self.weight {
            Some(slot) => row[slot as usize].as_i64().unwrap_or(1),
            None => 1,
        };
        let all = accumulators.iter_mut().zip(self.aggs).zip(&self.specs);
        for (n, ((accumulator, agg), spec)) in all.enumerate() {
            if let Some(units) = at.and_then(|(arguments, row)| arguments.get(n, row)) {
                match units {
                    Some(units) => accumulator.add_units(spec, units, weight)?,
                    None => spec.passed_null.set(true),
                }
                continue;
            }
            match &agg.arg {
                Some(arg) if agg.joining.is_some() => {
                    for _ in 0..weight {
                        held += self.join(accumulator, agg, arg, row, cx)?;
                    }
                }
                Some(arg) => accumulator.add_times(spec, &*operand(arg, row, cx)?, weight)?,
                None => accumulator.add_rows(weight),
            }
        }
        Ok(held)
    }

    /// Warns of NULLs that were passed over since it was called last.
    pub(super) fn warn(&self, cx: &mut Cx<'_>) {
        let mut nulls = false;
        for (agg, spec) in self.aggs.iter().zip(&self.specs) {
            nulls |= spec.passed_null.take() && agg.warns;
        }
        if nulls {
            cx.env.warn(Warnings::NULL_ELIMINATED);
        }
    }

    /// STRING_AGG takes a row. The memory counted for it.
    fn join(
        &self,
        accumulator: &mut Accumulator,
        agg: &Agg,
        arg: &Expr,
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<usize, SqlError> {
        let Some(joining) = &agg.joining else { return Ok(0) };
        let value = eval(arg, row, cx)?;
        if value.is_null() {
            return Ok(0);
        }
        let mut key = Vec::new();
        if !joining.order.is_empty() {
            let order = joining.order.iter().map(|k| (k.expr.ty, k.desc));
            let encoder = KeyEncoder::ordered(order);
            for (i, sort) in joining.order.iter().enumerate() {
                let value = operand(&sort.expr, row, cx)?;
                encoder.push(i, &value, &mut key);
            }
        }
        let bytes = row_bytes(std::slice::from_ref(&value)) + key.len() + 24;
        cx.hold(bytes)?;
        accumulator.join(&value, &key, || eval(&joining.separator, &[], cx))?;
        Ok(bytes)
    }

    /// Groups that nobody above has a use for need none of their rows.
    pub(super) fn narrow(&self, input: &mut Source<'p>, filter: Option<&JoinFilter>) {
        let Some(filter) = filter else { return input.narrow(None) };
        if let Some(below) = filter.below(self.group) {
            input.narrow(Some(&below));
        }
    }

    /// Appends the row of a group.
    pub(super) fn emit(
        &self,
        keys: &[Value],
        accumulators: &[Accumulator],
        out: &mut Batch,
    ) -> Result<(), SqlError> {
        self.push(keys, accumulators, out)?;
        out.finish_row();
        Ok(())
    }

    /// Appends the row of a group of one of several sets: behind it the mask of what that is not grouped by.
    pub(super) fn emit_of_set(
        &self,
        set: u64,
        keys: &[Value],
        accumulators: &[Accumulator],
        out: &mut Batch,
    ) -> Result<(), SqlError> {
        self.push(keys, accumulators, out)?;
        let all = (1u64 << self.group.len()) - 1;
        out.values_mut().push(Value::BigInt((all & !set) as i64));
        out.finish_row();
        Ok(())
    }

    fn push(
        &self,
        keys: &[Value],
        accumulators: &[Accumulator],
        out: &mut Batch,
    ) -> Result<(), SqlError> {
        out.values_mut().extend_from_slice(keys);
        for (accumulator, spec) in accumulators.iter().zip(&self.specs) {
            out.values_mut().push(accumulator.value(spec)?);
        }
        Ok(())
    }

    /// Appends a group of one of several sets as bytes that sort: values, a marker past all values where there is none, the
    /// set's place among them.
    pub(super) fn encode_of_set(&self, set: u64, place: u32, keys: &[Value], out: &mut Vec<u8>) {
        for (i, value) in keys.iter().enumerate() {
            if set >> i & 1 == 1 {
                out.push(0);
                self.encoder.push(i, value, out);
            } else {
                out.push(1);
            }
        }
        out.extend_from_slice(&place.to_be_bytes());
    }
}

/// The argument of a sum or an average, or what is computed to be counted, where it can be had for many rows at a time.
pub(super) fn exact_argument(agg: &Agg) -> Option<Exact> {
    let arg = agg.arg.as_ref().filter(|_| !agg.distinct && agg.joining.is_none())?;
    match agg.func {
        AggFunc::Sum | AggFunc::Avg => Exact::new(arg),
        AggFunc::Count | AggFunc::CountBig if arg.as_slot().is_none() => Exact::new(arg),
        _ => None,
    }
}

/// Arguments of sums, averages and counts, computed for a batch at a time where they can be.
#[derive(Default)]
pub(super) struct Arguments {
    all: Vec<Option<Exact>>,
    ready: Vec<bool>,
}

impl Arguments {
    pub(super) fn new(aggs: &[Agg]) -> Arguments {
        let all: Vec<Option<Exact>> = aggs.iter().map(exact_argument).collect();
        Arguments { ready: vec![false; all.len()], all }
    }

    /// Computes those of a batch.
    pub(super) fn load(&mut self, batch: &Batch) {
        for (exact, ready) in self.all.iter_mut().zip(&mut self.ready) {
            *ready = exact.as_mut().is_some_and(|exact| exact.load(batch));
        }
    }

    /// The value of an argument for a row of the batch, in units of its scale; inside None where it is NULL, None where
    /// it has not been computed.
    #[inline]
    fn get(&self, agg: usize, row: usize) -> Option<Option<i64>> {
        match (&self.all[agg], self.ready[agg]) {
            (Some(exact), true) => Some(exact.get(row)),
            _ => None,
        }
    }
}
