//! Frames of window functions, and aggregates over them.
//!
//! Promise: both ends of a frame move forward only, so an aggregate over all frames of a partition costs a constant
//! number of steps a row: what leaves is never subtracted (that would not be exact for floats), see [`Sliding`].

use super::accumulate::{Accumulator, Spec};
use super::row_store::RowStore;
use crate::message::SqlError;
use ir::{FrameBound, WindowFrame};
use types::Value;

/// Where rows equal in the order lie together, by the first of each such group: asked row by row, forward.
pub(super) struct Peers<'s> {
    starts: &'s mut RowStore,
    count: usize,
    group: usize,
    first: usize,
    /// The first row of the next group.
    next: usize,
}

impl<'s> Peers<'s> {
    /// Of a partition of so many rows.
    pub fn new(starts: &'s mut RowStore, count: usize) -> Result<Peers<'s>, SqlError> {
        let mut peers = Peers { starts, count, group: 0, first: 0, next: 0 };
        peers.next = peers.start(1)?;
        Ok(peers)
    }

    fn start(&mut self, group: usize) -> Result<usize, SqlError> {
        if group >= self.starts.len() {
            return Ok(self.count);
        }
        Ok(self.starts.value(group)?.as_i64().unwrap_or(0) as usize)
    }

    /// A row's first peer and the row after its last. No row before the one asked for last.
    pub fn of(&mut self, row: usize) -> Result<(usize, usize), SqlError> {
        while row >= self.next {
            self.group += 1;
            self.first = self.next;
            self.next = self.start(self.group + 1)?;
        }
        Ok((self.first, self.next))
    }

    /// The group of the row asked for last, from 0.
    pub fn group(&self) -> usize {
        self.group
    }

    /// The frame of a row: its first row and the one after its last; empty when they meet.
    pub fn frame(&mut self, frame: WindowFrame, row: usize) -> Result<(usize, usize), SqlError> {
        let peers = if frame.range { self.of(row)? } else { (row, row + 1) };
        Ok(frame_of(frame, row, peers, self.count))
    }
}

/// See [`Peers::frame`]; `peers`: the row's first peer and the row after its last.
fn frame_of(frame: WindowFrame, row: usize, peers: (usize, usize), count: usize) -> (usize, usize) {
    let before = |n: u64| row.saturating_sub(usize::try_from(n).unwrap_or(usize::MAX));
    let after = |n: u64| row.saturating_add(usize::try_from(n).unwrap_or(usize::MAX));
    let start = match frame.start {
        FrameBound::UnboundedPreceding => 0,
        FrameBound::Preceding(n) => before(n),
        FrameBound::CurrentRow => peers.0,
        FrameBound::Following(n) => after(n),
        FrameBound::UnboundedFollowing => count,
    };
    let end = match frame.end {
        FrameBound::UnboundedPreceding => 0,
        // n rows before the first there is nothing.
        FrameBound::Preceding(n) if n > row as u64 => 0,
        FrameBound::Preceding(n) => before(n) + 1,
        FrameBound::CurrentRow => peers.1,
        FrameBound::Following(n) => after(n).saturating_add(1),
        FrameBound::UnboundedFollowing => count,
    };
    let end = end.min(count);
    (start.min(end), end)
}

/// Values by row.
pub(super) trait Values {
    fn value(&mut self, row: usize) -> Result<&Value, SqlError>;
}

impl Values for RowStore {
    fn value(&mut self, row: usize) -> Result<&Value, SqlError> {
        RowStore::value(self, row)
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
    pub fn value<V: Values>(
        &mut self,
        start: usize,
        end: usize,
        mut values: Option<&mut V>,
    ) -> Result<Value, SqlError> {
        if start >= end {
            return Accumulator::new(self.spec).value(self.spec);
        }
        while self.end < end {
            self.take(self.end, values.as_deref_mut())?;
        }
        if start >= self.cut {
            self.turn(start, values)?;
        }
        let mut whole = self.tails[start - self.from].clone();
        whole.absorb(self.spec, &self.rest)?;
        whole.value(self.spec)
    }

    /// Memory that it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.tails.capacity() * size_of::<Accumulator>()
    }

    fn take<V: Values>(&mut self, row: usize, values: Option<&mut V>) -> Result<(), SqlError> {
        match values {
            Some(values) => self.rest.add(self.spec, values.value(row)?)?,
            None => self.rest.add_rows(1),
        }
        self.end = row + 1;
        Ok(())
    }

    /// Makes rows `start .. end` the first part.
    fn turn<V: Values>(
        &mut self,
        start: usize,
        mut values: Option<&mut V>,
    ) -> Result<(), SqlError> {
        self.tails.clear();
        let mut tail = Accumulator::new(self.spec);
        for row in (start..self.end).rev() {
            match &mut values {
                Some(values) => tail.add(self.spec, values.value(row)?)?,
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
    use ir::AggFunc;
    use types::SqlType;

    struct Few(Vec<Value>);

    impl Values for Few {
        fn value(&mut self, row: usize) -> Result<&Value, SqlError> {
            Ok(&self.0[row])
        }
    }

    #[test]
    fn sliding_sums_are_those_of_each_stretch() {
        let values: Vec<Value> = (0..50).map(|n| Value::Int(n * 7 % 13)).collect();
        for func in [AggFunc::Sum, AggFunc::Min, AggFunc::Max, AggFunc::Count] {
            let spec = Spec {
                func,
                distinct: false,
                arg: Some(SqlType::Int),
                ty: SqlType::Int,
                passed_null: Default::default(),
            };
            for (before, after) in [(0i64, 0i64), (3, 0), (0, 4), (5, 5), (4, -2), (-1, 6)] {
                let mut sliding = Sliding::new(&spec);
                for i in 0..values.len() as i64 {
                    let start = (i - before).clamp(0, values.len() as i64) as usize;
                    let end = (i + after + 1).clamp(0, values.len() as i64) as usize;
                    let mut few = Few(values.clone());
                    let got = sliding.value(start.min(end), end, Some(&mut few)).unwrap();
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
        // Of five rows the first two are peers, and the last two.
        let peers = [(0, 2), (0, 2), (2, 3), (3, 5), (3, 5)];
        let check = |range, start, end, row: usize, expected| {
            let own = if range { peers[row] } else { (row, row + 1) };
            assert_eq!(frame_of(WindowFrame { range, start, end }, row, own, 5), expected);
        };
        use FrameBound::*;
        check(true, UnboundedPreceding, CurrentRow, 0, (0, 2));
        check(true, CurrentRow, UnboundedFollowing, 4, (3, 5));
        check(false, Preceding(1), Following(1), 0, (0, 2));
        check(false, Preceding(2), Preceding(1), 0, (0, 0));
        check(false, Following(1), Following(9), 4, (5, 5));
        check(false, Following(1), Following(u64::MAX), 3, (4, 5));
    }
}
