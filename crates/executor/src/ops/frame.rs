//! Frames of window functions, and aggregates over them.
//!
//! Promise: both ends of a frame move forward only, so an aggregate over all frames of a partition costs a constant
//! number of steps a row: what leaves is never subtracted (that would not be exact for floats), see [`Sliding`].

use super::accumulate::{Accumulator, Spec};
use crate::message::SqlError;
use binder::ir::{FrameBound, WindowFrame};
use types::Value;

/// For each row of a partition its first and last peer: rows equal in the order.
pub(super) struct Peers {
    first: Vec<usize>,
    last: Vec<usize>,
}

impl Peers {
    /// From the rows' order keys.
    pub fn of(orders: &[Vec<u8>]) -> Peers {
        let count = orders.len();
        let mut first = vec![0; count];
        let mut last = vec![count.saturating_sub(1); count];
        for i in 1..count {
            first[i] = if orders[i] == orders[i - 1] { first[i - 1] } else { i };
        }
        for i in (0..count.saturating_sub(1)).rev() {
            last[i] = if orders[i] == orders[i + 1] { last[i + 1] } else { i };
        }
        Peers { first, last }
    }

    pub fn first(&self, row: usize) -> usize {
        self.first[row]
    }

    pub fn last(&self, row: usize) -> usize {
        self.last[row]
    }

    /// The frame of a row: its first row and the one after its last; empty when they meet.
    pub fn frame(&self, frame: WindowFrame, row: usize) -> (usize, usize) {
        let count = self.first.len();
        let before = |n: u64| row.saturating_sub(usize::try_from(n).unwrap_or(usize::MAX));
        let after = |n: u64| row.saturating_add(usize::try_from(n).unwrap_or(usize::MAX));
        let start = match frame.start {
            FrameBound::UnboundedPreceding => 0,
            FrameBound::Preceding(n) => before(n),
            FrameBound::CurrentRow if frame.range => self.first[row],
            FrameBound::CurrentRow => row,
            FrameBound::Following(n) => after(n),
            FrameBound::UnboundedFollowing => count,
        };
        let end = match frame.end {
            FrameBound::UnboundedPreceding => 0,
            // n rows before the first there is nothing.
            FrameBound::Preceding(n) if n > row as u64 => 0,
            FrameBound::Preceding(n) => before(n) + 1,
            FrameBound::CurrentRow if frame.range => self.last[row] + 1,
            FrameBound::CurrentRow => row + 1,
            FrameBound::Following(n) => after(n).saturating_add(1),
            FrameBound::UnboundedFollowing => count,
        };
        let end = end.min(count);
        (start.min(end), end)
    }
}

/// An aggregate over a stretch of rows that moves forward.
///
/// The stretch is cut in two: of the rows before the cut every tail's aggregate is known, of those after it the
/// aggregate of all. When the stretch has left the first part, the second one becomes the first.
pub(super) struct Sliding<'s> {
    spec: &'s Spec,
    /// `tails[i]` is over rows `from + i .. cut`.
    tails: Vec<Accumulator>,
    from: usize,
    cut: usize,
    /// Over rows `cut .. end`.
    rest: Accumulator,
    end: usize,
}

impl<'s> Sliding<'s> {
    pub fn new(spec: &'s Spec) -> Sliding<'s> {
        Sliding { spec, tails: Vec::new(), from: 0, cut: 0, rest: Accumulator::new(spec), end: 0 }
    }

    /// The value over rows `start .. end`; neither is less than before. `values` are the arguments, None for COUNT(*).
    pub fn value(
        &mut self,
        start: usize,
        end: usize,
        values: Option<&[Value]>,
    ) -> Result<Value, SqlError> {
        if start >= end {
            return Accumulator::new(self.spec).value(self.spec);
        }
        while self.end < end {
            self.take(self.end, values)?;
        }
        if start >= self.cut {
            self.turn(start, values)?;
        }
        let mut whole = self.tails[start - self.from].clone();
        whole.absorb(self.spec, &self.rest)?;
        whole.value(self.spec)
    }

    fn take(&mut self, row: usize, values: Option<&[Value]>) -> Result<(), SqlError> {
        match values {
            Some(values) => self.rest.add(self.spec, &values[row])?,
            None => self.rest.add_rows(1),
        }
        self.end = row + 1;
        Ok(())
    }

    /// Makes rows `start .. end` the first part.
    fn turn(&mut self, start: usize, values: Option<&[Value]>) -> Result<(), SqlError> {
        self.tails.clear();
        let mut tail = Accumulator::new(self.spec);
        for row in (start..self.end).rev() {
            match values {
                Some(values) => tail.add(self.spec, &values[row])?,
                None => tail.add_rows(1),
            }
            self.tails.push(tail.clone());
        }
        self.tails.reverse();
        (self.from, self.cut) = (start, self.end);
        self.rest = Accumulator::new(self.spec);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use binder::ir::AggFunc;
    use types::SqlType;

    #[test]
    fn sliding_sums_are_those_of_each_stretch() {
        let values: Vec<Value> = (0..50).map(|n| Value::Int(n * 7 % 13)).collect();
        for func in [AggFunc::Sum, AggFunc::Min, AggFunc::Max, AggFunc::Count] {
            let spec = Spec { func, distinct: false, arg: Some(SqlType::Int), ty: SqlType::Int };
            for (before, after) in [(0i64, 0i64), (3, 0), (0, 4), (5, 5), (4, -2), (-1, 6)] {
                let mut sliding = Sliding::new(&spec);
                for i in 0..values.len() as i64 {
                    let start = (i - before).clamp(0, values.len() as i64) as usize;
                    let end = (i + after + 1).clamp(0, values.len() as i64) as usize;
                    let got = sliding.value(start.min(end), end, Some(&values)).unwrap();
                    let mut plain = Accumulator::new(&spec);
                    for value in &values[start.min(end)..end] {
                        plain.add(&spec, value).unwrap();
                    }
                    assert_eq!(got, plain.value(&spec).unwrap(), "{func:?} {before} {after} {i}");
                }
            }
        }
    }

    #[test]
    fn frames_end_with_the_partition() {
        let orders: Vec<Vec<u8>> = [1, 1, 2, 3, 3].iter().map(|n| vec![*n]).collect();
        let peers = Peers::of(&orders);
        let frame = |range, start, end| WindowFrame { range, start, end };
        use FrameBound::*;
        assert_eq!(peers.frame(frame(true, UnboundedPreceding, CurrentRow), 0), (0, 2));
        assert_eq!(peers.frame(frame(true, CurrentRow, UnboundedFollowing), 4), (3, 5));
        assert_eq!(peers.frame(frame(false, Preceding(1), Following(1)), 0), (0, 2));
        assert_eq!(peers.frame(frame(false, Preceding(2), Preceding(1)), 0), (0, 0));
        assert_eq!(peers.frame(frame(false, Following(1), Following(9)), 4), (5, 5));
        assert_eq!(peers.frame(frame(false, Following(1), Following(u64::MAX)), 3), (4, 5));
    }
}
