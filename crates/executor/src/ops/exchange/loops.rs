//! Nested loops in branches: left rows are handed out, joined ones come back.
//!
//! ```text
//! this task: the left side --> a queue of left rows --> branch 1: each joined with the right side --\
//!                                                  --> branch 2: the same                          ---> this task
//! ```
//!
//! Promise: the rows are those of nested loops, in any order. Who they are for decides when it begins, by the number of left
//! rows and what one of them costs; where there are no branches the loops run here. Branches read as those of a
//! [`super::Gather`] do; what the right side may be says [`planner::joins_anywhere`].

use super::super::Operator;
use super::super::join::NestedLoops;
use super::super::simple::{Empty, Source};
use super::queue::{Exchange, Next, Piece};
use super::{Branches, Job, enter, may_branch};
use crate::batch::Batch;
use crate::cx::Cx;
use crate::message::SqlError;
use ir::{Expr, ParamId};
use planner::{Node, Op, PhysicalJoin, Scan, Spread};
use std::sync::Arc;

/// Left rows that are handed out at a time, more where the left side gives more at once: few enough that all branches get
/// some, of which a look ahead knows several.
const ROWS_HANDED: usize = 256;

/// Nested loops of a plan.
pub(crate) struct LoopsSpec<'p> {
    pub kind: PhysicalJoin,
    pub right: &'p Node,
    /// Of the left and of the right side.
    pub widths: (usize, usize),
    pub binds: &'p [(ParamId, Expr)],
    pub predicate: Option<&'p Expr>,
    /// None: no branches.
    pub spread: Option<&'p Spread>,
}

/// The same, to be taken along by branches.
pub(super) struct Plan {
    kind: PhysicalJoin,
    right: Node,
    widths: (usize, usize),
    binds: Vec<(ParamId, Expr)>,
    predicate: Option<Expr>,
}

/// See the file's first lines.
pub(crate) struct Loops<'p> {
    spec: LoopsSpec<'p>,
    left: Source<'p>,
    /// Left rows, as many as there are or are thought to be.
    rows: f64,
    state: State<'p>,
    /// The loops that run here, kept for the next time.
    here: Option<NestedLoops<'p>>,
}

enum State<'p> {
    Start,
    Here,
    Branches(Branches<'p>),
    End,
}

impl<'p> Loops<'p> {
    /// So many left rows are expected.
    pub fn new(spec: LoopsSpec<'p>, left: Source<'p>, rows: f64) -> Loops<'p> {
        Loops { spec, left, rows, state: State::Start, here: None }
    }

    /// Starts with left rows, of which there are so many; those before have been forgotten.
    pub fn begin(&mut self, left: Source<'p>, rows: usize) {
        self.state = State::Start;
        self.left = left;
        self.rows = rows as f64;
    }

    /// The left rows are let go of.
    pub fn forget(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.end_branches(cx)?;
        self.begin(Box::new(Empty), 0);
        if let Some(here) = &mut self.here {
            here.begin(Box::new(Empty));
        }
        Ok(())
    }

    fn start(&mut self, cx: &mut Cx<'_>) -> Result<State<'p>, SqlError> {
        if let Some(branches) = self.start_branches(cx)? {
            return Ok(State::Branches(branches));
        }
        let left = std::mem::replace(&mut self.left, Box::new(Empty));
        match &mut self.here {
            Some(here) => here.begin(left),
            None => {
                let LoopsSpec { kind, right, widths, binds, predicate, .. } = self.spec;
                let right = super::super::build(right);
                self.here =
                    Some(NestedLoops::new(kind, left, right, widths, binds, predicate, false));
            }
        }
        Ok(State::Here)
    }

    /// Starts branches, if there are to be any.
    fn start_branches(&self, cx: &mut Cx<'_>) -> Result<Option<Branches<'p>>, SqlError> {
        let LoopsSpec { kind, right, widths, binds, predicate, spread } = self.spec;
        let (Some(spread), Some(workspace)) = (spread, cx.env.workspace()) else { return Ok(None) };
        // Each branch is to have more than what is handed out at a time.
        let degree_max = (self.rows / (2 * ROWS_HANDED) as f64) as usize;
        let cost = if spread.forced { f64::MAX } else { self.rows * spread.row_cost };
        let degree =
            workspace.degree(spread.maxdop, cx.env.bounds().max_degree, cost).min(degree_max);
        // Since the planner has looked, a part of the right side may have become a spool.
        if degree < 2 || !may_branch(cx) || !planner::joins_anywhere(right) {
            return Ok(None);
        }
        let mut scans = Vec::new();
        scans_of(right, &mut scans);
        for scan in scans {
            if !enter(scan, cx)? {
                return Ok(None);
            }
        }
        let exchange = Arc::new(Exchange::of(degree));
        let plan = Arc::new(Plan {
            kind,
            right: right.clone(),
            widths,
            binds: binds.to_vec(),
            predicate: predicate.cloned(),
        });
        let job = || Job::Loops(plan.clone());
        Branches::begin(degree, &exchange, None, &job, cx).map(Some)
    }

    /// The next joined rows of branches; false at their end.
    fn take(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let State::Branches(branches) = &self.state else { return Ok(false) };
        let exchange = branches.exchange.clone();
        loop {
            match exchange.next_of_loops(std::mem::take(out), cx)? {
                Next::Joined(batch) => {
                    *out = batch;
                    return Ok(true);
                }
                Next::Left(mut batch) => {
                    batch.set_target(ROWS_HANDED);
                    let more = self.left.next(cx, &mut batch)?;
                    exchange.hand_out(more.then_some(batch));
                }
                Next::End => return Ok(false),
            }
            cx.breathe()?;
        }
    }

    fn end_branches(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let State::Branches(branches) = &mut self.state else { return Ok(()) };
        let ended = branches.end(Some(cx));
        self.state = State::End;
        ended
    }
}

impl Operator for Loops<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if let State::Start = self.state {
            self.state = self.start(cx)?;
        }
        if let (State::Here, Some(here)) = (&self.state, &mut self.here) {
            return here.next(cx, out);
        }
        let target = out.target();
        let more = self.take(cx, out);
        out.set_target(target);
        if !matches!(more, Ok(true)) {
            let ended = self.end_branches(cx);
            out.start(0);
            more?;
            ended?;
            return Ok(false);
        }
        Ok(true)
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.end_branches(cx)?;
        if let (State::Here, Some(here)) = (&self.state, &mut self.here) {
            return here.rewind(cx);
        }
        self.state = State::Start;
        self.left.rewind(cx)
    }
}

fn scans_of<'n>(node: &'n Node, found: &mut Vec<&'n Scan>) {
    if let Op::Scan(scan) = &node.op {
        found.push(scan);
    }
    node.inputs().into_iter().for_each(|input| scans_of(input, found));
}

/// The left rows that a branch is handed.
struct HandedOut<'a>(&'a Exchange);

impl Operator for HandedOut<'_> {
    fn next(&mut self, _: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        Ok(self.0.take_left(out))
    }

    /// Branches end with their operators.
    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        Ok(())
    }
}

/// What a branch does.
pub(super) fn run(plan: &Plan, exchange: &Exchange, cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let (left, right) = (Box::new(HandedOut(exchange)), super::super::build(&plan.right));
    let predicate = plan.predicate.as_ref();
    let mut loops =
        NestedLoops::new(plan.kind, left, right, plan.widths, &plan.binds, predicate, false);
    let mut piece = Piece::Rows(Batch::new());
    loop {
        let Piece::Rows(batch) = &mut piece else {
            stdx::fatal!("nested loops in branches give rows")
        };
        if !loops.next(cx, batch)? {
            return Ok(());
        }
        let seen = cx.txn.as_deref().map(engine::Txn::has_seen);
        if !exchange.put(&mut piece, seen) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::simple::Values;
    use super::*;
    use crate::calls::tests::NoSession;
    use types::{SqlType, Value};

    fn rows(values: &[i32]) -> Vec<Vec<Expr>> {
        let one = |value: &i32| vec![Expr::constant(Value::Int(*value), SqlType::Int)];
        values.iter().map(one).collect()
    }

    /// All rows, or the first so many calls' worth.
    fn read(loops: &mut Loops<'_>, calls: usize, cx: &mut Cx<'_>) -> Vec<Vec<Value>> {
        let mut found = Vec::new();
        let mut batch = Batch::new();
        for _ in 0..calls {
            batch.set_target(3);
            if !loops.next(cx, &mut batch).expect("joins") {
                break;
            }
            found.extend(batch.rows().map(<[Value]>::to_vec));
        }
        found
    }

    #[test]
    fn rewound_before_midway_and_at_the_end_they_give_the_same_rows() {
        let (left, right) = (rows(&[1, 2, 3, 4, 5]), rows(&[7, 8]));
        let node = Node { op: Op::Values { rows: right }, types: vec![SqlType::Int], rows: 2.0 };
        let spec = LoopsSpec {
            kind: PhysicalJoin::Inner,
            right: &node,
            widths: (1, 1),
            binds: &[],
            predicate: None,
            spread: None,
        };
        let (mut vars, mut session) = (Vec::new(), NoSession::default());
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let mut cx = Cx::new(&mut vars, &mut session, None, &cancel);
        let mut loops = Loops::new(spec, Box::new(Values::new(&left, 1)), 5.0);
        loops.rewind(&mut cx).expect("rewound");
        let all = read(&mut loops, 100, &mut cx);
        assert_eq!(all.len(), 10);
        for calls in [2, 100] {
            loops.rewind(&mut cx).expect("rewound");
            assert_eq!(read(&mut loops, calls, &mut cx), all[..all.len().min(3 * calls)]);
        }
        loops.rewind(&mut cx).expect("rewound");
        assert_eq!(read(&mut loops, 100, &mut cx), all);
        // Other left rows.
        loops.forget(&mut cx).expect("forgotten");
        assert!(read(&mut loops, 100, &mut cx).is_empty());
        loops.begin(Box::new(Values::new(&left[..1], 1)), 1);
        assert_eq!(read(&mut loops, 100, &mut cx), all[..2]);
    }
}
