//! Operators: each pulls batches of rows from its inputs.
//!
//! Promise: `next` fills the batch with up to its target and says whether there is any row; after `false` it
//! keeps saying `false` until `rewind`. `rewind` makes the operator start over, with whatever the correlation
//! parameters hold then.

mod accumulate;
mod aggregate;
mod elsewhere;
mod frame;
mod hash;
mod join;
mod metered;
mod recursive;
mod rowset;
mod scan;
mod serialize;
mod set;
mod simple;
mod sort;
mod window;

use crate::batch::Batch;
use crate::cx::Cx;
use crate::message::SqlError;
use planner::{AggStrategy, Node, Op};

pub(crate) use hash::KeyMap;
pub(crate) use scan::engine_tree;
pub(crate) use simple::row_count;

/// A running operator.
pub(crate) trait Operator {
    /// The next rows into `out` (emptied first). False at the end.
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError>;
    /// Starts over.
    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError>;
}

/// The operator tree of a plan.
pub(crate) fn build<'p>(node: &'p Node) -> Box<dyn Operator + 'p> {
    let width = node.types.len();
    match &node.op {
        Op::OneRow => Box::new(simple::OneRow::default()),
        Op::Empty => Box::new(simple::Empty),
        Op::Values { rows } => Box::new(simple::Values::new(rows, width)),
        Op::Scan(scan) => match &scan.database {
            None => Box::new(scan::TableScan::new(scan)),
            Some(database) => Box::new(elsewhere::Elsewhere::new(scan, database)),
        },
        Op::System { view, args, columns } => {
            Box::new(simple::SystemRows::new(view, args, columns))
        }
        Op::Filter { input, predicate } => Box::new(simple::Filter::new(build(input), predicate)),
        Op::Project { input, exprs } => Box::new(simple::Project::new(build(input), exprs)),
        Op::NestedLoops { kind, left, right, binds, predicate, spool } => {
            Box::new(join::NestedLoops::new(
                *kind,
                build(left),
                build(right),
                (left.types.len(), right.types.len()),
                binds,
                predicate.as_ref(),
                *spool,
            ))
        }
        Op::HashJoin { kind, left, right, left_keys, right_keys, residual } => {
            Box::new(join::HashJoin::new(
                *kind,
                build(left),
                build(right),
                (left.types.len(), right.types.len()),
                left_keys,
                right_keys,
                residual.as_ref(),
            ))
        }
        Op::Recursive { anchor, step, binds, max } => {
            Box::new(recursive::Recursive::new(build(anchor), build(step), binds, *max, width))
        }
        Op::Function { func, args } => Box::new(rowset::Function::new(*func, args, &node.types)),
        Op::Aggregate { input, group, aggs, scalar, sets, strategy } => {
            let source = build(input);
            match (strategy, sets) {
                (_, Some(sets)) => {
                    Box::new(aggregate::SetsAggregate::new(source, group, aggs, sets))
                }
                (AggStrategy::Hash, None) => {
                    Box::new(aggregate::HashAggregate::new(source, group, aggs, *scalar))
                }
                (AggStrategy::Stream, None) => {
                    Box::new(aggregate::StreamAggregate::new(source, group, aggs, *scalar))
                }
            }
        }
        Op::Sort { input, keys } => Box::new(sort::Sort::new(build(input), keys, None, width)),
        Op::TopN { input, keys, count } => {
            Box::new(sort::Sort::new(build(input), keys, Some(count), width))
        }
        Op::Top { input, count, percent, ties } => {
            Box::new(simple::Top::new(build(input), count, *percent, ties.as_deref(), width))
        }
        Op::Offset { input, offset, fetch } => {
            Box::new(simple::Offset::new(build(input), offset, fetch.as_ref()))
        }
        Op::Distinct { input, keys } => {
            Box::new(set::Distinct::new(build(input), &input.types[..*keys]))
        }
        Op::Window { input, partition, order, funcs } => {
            Box::new(window::Window::new(build(input), partition, order, funcs, width))
        }
        Op::Metered { input, figures } => Box::new(metered::Metered::new(build(input), figures)),
        Op::Concat { inputs } => Box::new(simple::Concat::new(inputs.iter().map(build).collect())),
        Op::Serialize { input, spec } => {
            Box::new(serialize::Serialize::new(build(input), spec, input.types.len()))
        }
        Op::HashSetOp { op, left, right } => {
            Box::new(set::HashSetOp::new(*op, build(left), build(right), &left.types))
        }
    }
}
