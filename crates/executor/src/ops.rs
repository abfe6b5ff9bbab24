//! Operators: each pulls batches of rows from its inputs.
//!
//! Promise: `next` fills the batch with up to its target and says whether there is any row; after `false` it
//! keeps saying `false` until `rewind`. `rewind` makes the operator start over, with whatever the correlation
//! parameters hold then.

mod accumulate;
mod aggregate;
mod by_column;
mod distinct;
mod elsewhere;
mod exact;
mod exchange;
mod fold;
mod frame;
mod group_table;
mod grouping;
mod grouping_sets;
mod hash;
mod hash_join;
mod join;
mod join_filter;
mod keep;
mod key_columns;
mod merge_join;
mod metered;
mod project;
mod put_off;
mod raw_filter;
mod raw_layout;
mod reader;
mod recursive;
mod rollup;
mod row_store;
mod rowset;
mod scan;
mod serialize;
mod set;
mod shared;
mod simple;
mod slots;
mod sort;
mod spool;
mod stored;
mod stream_aggregate;
mod texts;
mod window;
mod window_values;

use crate::batch::Batch;
use crate::columns::Columns;
use crate::cx::Cx;
use crate::message::SqlError;
use join_filter::JoinFilter;
use planner::{AggStrategy, Node, Op};
use shared::{Grouped, Groups, SharedJoin};
use types::StoredCells;

pub(crate) use exchange::Parts;
pub(crate) use hash::KeyEncoder;
pub use hash::KeyMap;
pub use scan::{as_slice, engine_tree, past};
pub use simple::{percentage, row_count};
pub(crate) use spool::Spooled;

/// A running operator.
pub(crate) trait Operator {
    /// The next rows into `out` (emptied first). False at the end.
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError>;
    /// Starts over.
    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError>;
    /// It will be started so many times more, with the parameters that `set` sets for each: a scan sees to it that what it will
    /// read is near. False: that is not worth it, and nothing was set.
    fn foresee(&mut self, times: usize, set: &dyn Fn(usize, &mut Cx<'_>), cx: &mut Cx<'_>) -> bool {
        let _ = (times, set, cx);
        false
    }
    /// Whether rows are to be had by [`Operator::next_columns`], and then not by `next`, until `rewind`. Asked before the
    /// first of them.
    fn has_columns(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let _ = cx;
        Ok(false)
    }
    /// The next rows as columns, up to [`crate::columns::COLUMN_ROWS`] of them. False at the end.
    fn next_columns(&mut self, cx: &mut Cx<'_>, out: &mut Columns) -> Result<bool, SqlError> {
        let _ = (cx, out);
        stdx::fatal!("rows are asked for as columns of who has none")
    }
    /// Whether rows are to be had as they are stored, by [`Operator::next_stored`], and then by nothing else, until `rewind`.
    /// Asked before the first of them.
    fn has_stored(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let _ = cx;
        Ok(false)
    }
    /// Shows the next rows to `each`, which may not wait for anything: they lie where the table has them. False at the end;
    /// there may be none before it.
    fn next_stored(
        &mut self,
        cx: &mut Cx<'_>,
        each: &mut dyn FnMut(&dyn StoredCells),
    ) -> Result<bool, SqlError> {
        let _ = (cx, each);
        stdx::fatal!("rows are asked for as they are stored of who has none")
    }
    /// Has its rows grouped where they are made, if that can be (`how` gives None where not): from then on there are groups, by
    /// [`Operator::next_groups`], and no rows, until `rewind`. Asked before anything else.
    fn group_by(
        &mut self,
        how: &dyn Fn() -> Option<Grouped>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let _ = (how, cx);
        Ok(false)
    }
    /// The next of them; some may come several times.
    fn next_groups(&mut self, cx: &mut Cx<'_>) -> Result<Option<Groups>, SqlError> {
        let _ = cx;
        Ok(None)
    }
    /// Builds what branches that run the same operators have in common, into `shared`; false where that cannot be, and this one
    /// is to be run by itself. Asked before anything else.
    fn share(&mut self, cx: &mut Cx<'_>, shared: &mut Vec<SharedJoin>) -> Result<bool, SqlError> {
        let _ = (cx, shared);
        Ok(false)
    }
    /// In a branch: takes over what was built.
    fn take_over(&mut self, shared: &mut dyn Iterator<Item = &SharedJoin>) {
        let _ = shared;
    }
    /// From now on rows that do not pass the filter may be left out: whoever asks has no use for them. None: all are
    /// wanted again. Who does not know how does nothing.
    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        let _ = filter;
    }
}

/// The operator tree of a plan.
pub(crate) fn build<'p>(node: &'p Node) -> Box<dyn Operator + 'p> {
    build_for(node, None)
}

/// The same for somebody who reads only the slots marked in `needed`.
fn build_for<'p>(node: &'p Node, needed: Option<&[bool]>) -> Box<dyn Operator + 'p> {
    let width = node.types.len();
    match &node.op {
        Op::OneRow => Box::new(simple::OneRow::default()),
        Op::Empty => Box::new(simple::Empty),
        Op::Values { rows } => Box::new(simple::Values::new(rows, width)),
        Op::Scan(scan) => match &scan.database {
            None => Box::new(scan::TableScan::new(scan, needed)),
            Some(database) => Box::new(elsewhere::Elsewhere::new(scan, database)),
        },
        Op::System { view, args, columns } => {
            Box::new(simple::SystemRows::new(view, args, columns))
        }
        Op::Filter { input, predicate } => {
            let needed = needed.map(|needed| {
                let mut all = needed.to_vec();
                slots::mark(predicate, &mut all);
                all
            });
            Box::new(simple::Filter::new(build_for(input, needed.as_deref()), predicate))
        }
        Op::Project { input, exprs } => {
            let needed = slots::of_exprs(exprs.iter(), input.types.len());
            Box::new(project::Project::new(build_for(input, Some(&needed)), exprs))
        }
        Op::Gather { input, maxdop, forced, cost, groups } => {
            let spec = exchange::Spec {
                input,
                maxdop: *maxdop,
                forced: *forced,
                cost: *cost,
                groups: *groups,
            };
            Box::new(exchange::Gather::new(spec, needed))
        }
        Op::Fold { input, keys } => {
            let from = match &input.op {
                Op::Scan(scan) if scan.database.is_none() => {
                    fold::Input::Table(Box::new(scan::TableScan::new(scan, None)))
                }
                _ => fold::Input::Any(build(input)),
            };
            Box::new(fold::Fold::new(from, keys, width))
        }
        Op::NestedLoops { kind, left, right, binds, predicate, spool, spread } => {
            let (kind, predicate) = (*kind, predicate.as_ref());
            let widths = (left.types.len(), right.types.len());
            let source = build(left);
            if let Some(spread) = spread {
                let spread = Some(spread);
                let spec = exchange::LoopsSpec { kind, right, widths, binds, predicate, spread };
                return Box::new(exchange::Loops::new(spec, source, left.rows));
            }
            let right = build(right);
            Box::new(join::NestedLoops::new(kind, source, right, widths, binds, predicate, *spool))
        }
        Op::HashJoin { kind, left, right, left_keys, right_keys, residual, seeks } => {
            let sides = needed.map(|needed| slots::of_sides(node, needed));
            let (of_left, of_right) = match &sides {
                Some((left, right)) => (Some(&left[..]), Some(&right[..])),
                None => (None, None),
            };
            let mut join = hash_join::HashJoin::new(
                *kind,
                build_for(left, of_left),
                build_for(right, of_right),
                (left, right),
                left_keys,
                right_keys,
                residual.as_ref(),
                needed,
            );
            if let Some(seeks) = seeks {
                let spec = exchange::LoopsSpec {
                    kind: *kind,
                    right: &seeks.right,
                    widths: (left.types.len(), right.types.len()),
                    binds: &seeks.binds,
                    predicate: None,
                    spread: seeks.spread.as_ref(),
                };
                let loops = exchange::Loops::new(spec, Box::new(simple::Empty), 0.0);
                join.seek_up_to(seeks.rows_max, &seeks.binds, loops);
            }
            Box::new(join)
        }
        Op::MergeJoin { kind, left, right, left_keys, right_keys, residual, many } => {
            let (kind, many, residual) = (*kind, *many, residual.as_ref());
            let spec = merge_join::Spec { kind, left_keys, right_keys, residual, many };
            let widths = (left.types.len(), right.types.len());
            Box::new(merge_join::MergeJoin::new(&spec, build(left), build(right), widths))
        }
        Op::Recursive { anchor, step, binds, max } => {
            Box::new(recursive::Recursive::new(build(anchor), build(step), binds, *max, width))
        }
        Op::Function { func, args } => Box::new(rowset::Function::new(func, args, &node.types)),
        Op::Aggregate { input, group, aggs, scalar, sets, strategy, weight } => {
            let needed = slots::of_grouping(group, aggs, *weight, input.types.len());
            let source = build_for(input, Some(&needed));
            match (strategy, sets) {
                (_, Some(sets)) if planner::rolls_up(aggs, sets) => {
                    Box::new(rollup::Rollup::new(source, group, aggs, sets, *weight))
                }
                (_, Some(sets)) => {
                    Box::new(grouping_sets::SetsAggregate::new(source, group, aggs, sets))
                }
                (AggStrategy::Hash, None) => {
                    Box::new(aggregate::HashAggregate::new(source, group, aggs, *weight, *scalar))
                }
                (AggStrategy::Stream, None) => Box::new(stream_aggregate::StreamAggregate::new(
                    source, group, aggs, *weight, *scalar,
                )),
            }
        }
        Op::Sort { input, keys } => Box::new(sort::Sort::new(build(input), keys, None, width)),
        Op::TopN { input, keys, few } => {
            Box::new(sort::Sort::new(build(input), keys, Some(few), width))
        }
        Op::Top { input, count, percent, ties } => {
            Box::new(simple::Top::new(build(input), count, *percent, ties.as_deref(), width))
        }
        Op::Offset { input, offset, fetch } => {
            Box::new(simple::Offset::new(build(input), offset, fetch.as_ref()))
        }
        Op::Distinct { input, keys } => {
            Box::new(distinct::Distinct::new(build(input), &input.types[..*keys], width))
        }
        Op::Window { input, partition, order, funcs } => {
            Box::new(window::Window::new(build(input), partition, order, funcs, width))
        }
        Op::Metered { input, figures } => {
            Box::new(metered::Metered::new(build_for(input, needed), figures))
        }
        Op::Concat { inputs } => {
            let alike = inputs.iter().map(|input| input.types == node.types).collect();
            Box::new(simple::Concat::new(inputs.iter().map(build).collect(), alike))
        }
        Op::Serialize { input, spec } => {
            Box::new(serialize::Serialize::new(build(input), spec, input.types.len()))
        }
        Op::Spool { id } => Box::new(spool::Spool::new(*id, width)),
        Op::HashSetOp { op, left, right } => {
            Box::new(set::HashSetOp::new(*op, build(left), build(right), &left.types))
        }
    }
}
