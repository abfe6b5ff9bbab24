//! Gather: the input run by several branches at once, each a task of its own, their rows put together here.
//!
//! ```text
//! branch 1: operators over the parts of the table that it takes --\
//! branch 2: the same                                             ---> a bounded queue of batches --> this task
//! ```
//!
//! Promise: the rows are those of the input, in any order, as of the statement's snapshot. A branch reads in a
//! transaction of its own that takes no locks: the statement's holds them. An error in one branch, a cancelled
//! statement, or nobody wanting more rows stops all; none outlives this operator. Where the statement's transaction has
//! changed rows, or reads by locks, or the server has but one processor for it, the input runs here.
//!
//! Where a grouping takes the rows, branches group theirs first and hand over tables of groups ([`groups`]).
//!
//! Joins in the input are built here, once, and probed by each branch. Where the input groups rows as they come, the table is
//! cut where the first column of its key changes, so that a group is one branch's. Nested loops have branches of their own
//! kind ([`loops`]).
//!
//! Waits: a branch with no room for its batch is in CXPACKET, this task without a batch in CXCONSUMER.

mod environment;
mod groups;
mod loops;
mod queue;

use super::Operator;
use super::join_filter::JoinFilter;
use super::shared::{Grouped, Groups};
use super::simple::Source;
use crate::batch::Batch;
use crate::columns::{Columns, Kind};
use crate::cx::{Cx, Lent};
use crate::error::engine_error;
use crate::message::SqlError;
use crate::warnings::Warnings;
use environment::BranchEnvironment;
pub(super) use loops::{Loops, LoopsSpec};
use planner::{Node, Op, Scan};
use queue::{Exchange, Piece};
use runtime::task;
use scheduler::JoinHandle;
use session_table::PrivateTables;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use types::Value;

/// What a plan says of a gathering.
pub(super) struct Spec<'p> {
    pub input: &'p Node,
    pub maxdop: u32,
    pub forced: bool,
    pub cost: f64,
    /// A grouping above may be done by the branches.
    pub groups: bool,
}

pub(super) struct Gather<'p> {
    spec: Spec<'p>,
    state: State<'p>,
    /// See [`Operator::narrow`].
    filters: Vec<JoinFilter>,
    /// Slots that somebody above reads; None: all.
    needed: Option<Vec<bool>>,
    /// The grouping that branches are to do.
    grouped: Option<Arc<Grouped>>,
}

enum State<'p> {
    Start,
    /// There are no branches.
    Here(Source<'p>),
    Branches(Branches<'p>),
    End,
}

/// Branches at work.
struct Branches<'p> {
    exchange: Arc<Exchange>,
    handles: Vec<JoinHandle<Finished>>,
    /// The input's operators, where joins in it were built for the branches: the memory is theirs.
    built: Option<Source<'p>>,
}

/// What came of the attempt to start branches.
enum Started<'p> {
    Branches(Branches<'p>),
    /// None; what is built already is in these operators.
    Here(Option<Source<'p>>),
}

/// What a branch leaves.
struct Finished {
    reader: engine::Txn,
    lent: Lent,
    warnings: Warnings,
}

/// The parts of a table, each to be read by whichever branch is free.
pub(crate) struct Parts {
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
    cuts: Vec<Vec<u8>>,
    next: AtomicUsize,
}

/// The keys from one to another.
pub(crate) type KeyRange = (Bound<Vec<u8>>, Bound<Vec<u8>>);

impl Parts {
    /// A part that nobody has; `None` when all have been given.
    pub fn take(&self) -> Option<KeyRange> {
        let at = self.next.fetch_add(1, Relaxed);
        if at > self.cuts.len() {
            return None;
        }
        let lower = match at.checked_sub(1) {
            None => self.lower.clone(),
            Some(before) => Bound::Included(self.cuts[before].clone()),
        };
        let upper = match self.cuts.get(at) {
            None => self.upper.clone(),
            Some(cut) => Bound::Excluded(cut.clone()),
        };
        Some((lower, upper))
    }
}

/// Whether branches may be begun here at all: a branch of a branch would wait for what waits for it.
fn may_branch(cx: &Cx<'_>) -> bool {
    !cx.is_branch() && scheduler::current().is_some()
}

impl<'p> Branches<'p> {
    /// Starts so many branches, each with its job. The statement's transaction can have readers.
    fn begin(
        degree: usize,
        exchange: &Arc<Exchange>,
        built: Option<Source<'p>>,
        job: &dyn Fn() -> Job,
        cx: &mut Cx<'_>,
    ) -> Result<Branches<'p>, SqlError> {
        let mut branches = Branches { exchange: exchange.clone(), handles: Vec::new(), built };
        let workspace = cx.env.workspace();
        let Some((workspace, schedulers)) =
            workspace.as_ref().and_then(|w| Some((w, w.schedulers.as_ref()?)))
        else {
            stdx::fatal!("branches of a plan without schedulers");
        };
        let home = scheduler::current().unwrap_or(0);
        let online = schedulers.online_beside(home);
        for i in 0..degree {
            let Some(reader) = cx.txn.as_deref_mut().and_then(engine::Txn::reader) else {
                let text =
                    "Internal Query Processor Error: a statement that only reads has no reader.";
                return Err(SqlError::new(8630, 16, text));
            };
            let branch = Branch {
                job: job(),
                exchange: exchange.clone(),
                reader,
                vars: cx.vars.to_vec(),
                params: cx.params.clone(),
                now_unix_ns: cx.now_unix_ns(),
                grant: cx.share_grant()?,
                env: BranchEnvironment {
                    workspace: workspace.clone(),
                    session: cx.env.session(),
                    group: scheduler::group(),
                    database: cx.env.database_name(),
                    date_style: cx.env.date_style(),
                    language: cx.env.language(),
                    date_first: cx.env.date_first(),
                    arithmetic_yields_null: cx.env.arithmetic_yields_null(),
                    cuts_text: cx.env.cuts_text(),
                    private: PrivateTables::default(),
                    warnings: Warnings::default(),
                },
            };
            let on = online[i % online.len()];
            let handle = schedulers.spawn("parallel branch", Some(on), move || branch.run());
            branches.handles.push(handle);
        }
        Ok(branches)
    }
}

impl Branches<'_> {
    /// Stops what still runs, waits for it, and takes back what it was lent.
    fn end(&mut self, cx: Option<&mut Cx<'_>>) -> Result<(), SqlError> {
        self.exchange.stop();
        let mut finished = Vec::with_capacity(self.handles.len());
        let mut panicked = false;
        for handle in self.handles.drain(..) {
            match handle.join() {
                Ok(branch) => finished.push(branch),
                Err(_) => panicked = true,
            }
        }
        if let Some(cx) = cx {
            for branch in finished {
                if let Some(txn) = cx.txn.as_deref_mut() {
                    txn.take_back(branch.reader);
                }
                cx.join_branch(branch.lent);
                if !branch.warnings.is_empty() {
                    cx.env.warn(branch.warnings);
                }
            }
            if let Some(mut built) = self.built.take() {
                // It lets go of its tables.
                built.rewind(cx)?;
            }
        }
        if panicked {
            let text = "Internal Query Processor Error: a branch of a parallel plan has failed.";
            return Err(SqlError::new(8630, 16, text));
        }
        Ok(())
    }
}

impl Drop for Branches<'_> {
    fn drop(&mut self) {
        self.exchange.stop();
        if !self.handles.is_empty() && task::may_suspend() {
            let _ = self.end(None);
        }
    }
}

impl<'p> Gather<'p> {
    /// `needed`: the slots that somebody above reads; None: all.
    pub fn new(spec: Spec<'p>, needed: Option<&[bool]>) -> Self {
        let needed = needed.map(<[bool]>::to_vec);
        Gather { spec, state: State::Start, filters: Vec::new(), needed, grouped: None }
    }

    /// Starts branches, if there are to be any.
    fn start(&self, by_column: bool, cx: &mut Cx<'_>) -> Result<Started<'p>, SqlError> {
        let spec = &self.spec;
        let Some(workspace) = cx.env.workspace() else { return Ok(Started::Here(None)) };
        let Some(scan) = leaf(spec.input) else { return Ok(Started::Here(None)) };
        if !may_branch(cx) {
            return Ok(Started::Here(None));
        }
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(Started::Here(None)) };
        let tree = super::engine_tree(txn.database(), &scan.table);
        let mut cost = spec.cost;
        if !spec.forced {
            // Rows that came since the estimate count too.
            let bytes = (scan.table.layout.min_row_bytes() + scan.table.layout.max_row_bytes()) / 2;
            let rows = scan.table.statistics.rows(scan.table.tree, tree.net_rows());
            let rows = rows.unwrap_or_else(|| tree.net_rows().max(0) as f64);
            cost = cost.max(planner::cost::read(rows, bytes as f64).total());
        }
        let cost = if spec.forced { f64::MAX } else { cost };
        let degree = workspace.degree(spec.maxdop, cx.env.bounds().max_degree, cost);
        if degree < 2 || !enter(scan, cx)? {
            return Ok(Started::Here(None));
        }
        let Some((lower, upper)) = super::scan::range_of(scan, cx)? else {
            return Ok(Started::Here(None));
        };
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(Started::Here(None)) };
        let read = match scan.index {
            None => tree,
            Some(at) => txn.database().tree(scan.table.indexes[at].tree),
        };
        let cuts = read.boundaries(super::scan::as_slice(&lower), super::scan::as_slice(&upper));
        let mut cuts = cuts.map_err(|e| engine_error(e, Some(&scan.table), cx))?;
        if has_groups(spec.input) && !cut_between_groups(&mut cuts, scan, &lower) {
            return Ok(Started::Here(None));
        }
        let degree = degree.min(cuts.len() + 1);
        if degree < 2 {
            return Ok(Started::Here(None));
        }
        let (mut built, mut joins) = (None, Vec::new());
        if has_join(spec.input) {
            let mut input = super::build_for(spec.input, self.needed.as_deref());
            self.filters.iter().for_each(|filter| input.narrow(Some(filter)));
            if !input.share(cx, &mut joins)? {
                return Ok(Started::Here(Some(input)));
            }
            built = Some(input);
        }
        let parts = Arc::new(Parts { lower, upper, cuts, next: AtomicUsize::new(0) });
        let mut exchange = Exchange::of(degree);
        exchange.needed = self.needed.clone();
        exchange.by_column = by_column;
        exchange.grouped = self.grouped.clone();
        exchange.joins = joins;
        let exchange = Arc::new(exchange);
        if !self.filters.is_empty() {
            let _ = exchange.filters.set(self.filters.clone());
        }
        let node = Arc::new(spec.input.clone());
        let job = || Job::Pipeline { node: node.clone(), parts: parts.clone() };
        let branches = Branches::begin(degree, &exchange, built, &job, cx)?;
        Ok(Started::Branches(branches))
    }
}

/// Whether branches may read the table: the statement's transaction has then entered it, for all of them.
fn enter(scan: &Scan, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
    let options = super::scan::read_options(scan);
    let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
    if txn.has_written() || !(txn.reads_versions(options) || scan.hints.nolock) {
        return Ok(false);
    }
    let tree = super::engine_tree(txn.database(), &scan.table);
    txn.enter_for_read(&tree, options).map_err(|e| engine_error(e, Some(&scan.table), cx))?;
    Ok(true)
}

/// Whose rows an operator of a pipeline passes on.
fn source_of(node: &Node) -> Option<&Node> {
    match &node.op {
        Op::HashJoin { kind, left, right, .. } => {
            Some(if planner::probes_left(*kind, left.rows, right.rows) { left } else { right })
        }
        _ => match node.inputs()[..] {
            [input] => Some(input),
            _ => None,
        },
    }
}

/// The table at the end of a pipeline.
fn leaf(node: &Node) -> Option<&Scan> {
    match &node.op {
        Op::Scan(scan) => Some(scan),
        _ => leaf(source_of(node)?),
    }
}

/// Moves cuts down to where the first column of the key changes, and joins those that are one then. False where that is not
/// known of its type.
fn cut_between_groups(cuts: &mut Vec<Vec<u8>>, scan: &Scan, lower: &Bound<Vec<u8>>) -> bool {
    let layout = match scan.index {
        None => &scan.table.key_layout,
        Some(at) => &scan.table.indexes[at].key_layout,
    };
    let Some(first) = layout.parts().first() else { return false };
    for cut in &mut *cuts {
        let Some(bytes) = first.bytes_of_first(cut) else { return false };
        cut.truncate(bytes);
    }
    cuts.dedup();
    if let Bound::Included(lower) | Bound::Excluded(lower) = lower {
        // What is below the range stays outside.
        cuts.retain(|cut| cut > lower);
    }
    true
}

/// Rows are grouped as they come: each group is to be one branch's.
fn has_groups(node: &Node) -> bool {
    matches!(node.op, Op::Aggregate { .. }) || source_of(node).is_some_and(has_groups)
}

fn has_join(node: &Node) -> bool {
    match &node.op {
        Op::HashJoin { .. } => true,
        _ => node.inputs().into_iter().any(has_join),
    }
}

/// What a branch does.
enum Job {
    /// Runs the operators over those parts of their table that nobody else has.
    Pipeline { node: Arc<Node>, parts: Arc<Parts> },
    /// Joins the left rows that it is handed.
    Loops(Arc<loops::Plan>),
}

/// All that a branch takes along.
struct Branch {
    job: Job,
    exchange: Arc<Exchange>,
    reader: engine::Txn,
    vars: Vec<Value>,
    params: Vec<Value>,
    now_unix_ns: u64,
    grant: Arc<crate::memory::Grant>,
    env: BranchEnvironment,
}

/// Tells the exchange that a branch has ended, even one that panics.
struct Ending(Arc<Exchange>, Option<Result<(), SqlError>>);

impl Drop for Ending {
    fn drop(&mut self) {
        let panicked = || Err(SqlError::new(8630, 16, "Internal Query Processor Error."));
        self.0.end(self.1.take().unwrap_or_else(panicked));
    }
}

impl Branch {
    fn run(self) -> Finished {
        let Branch { job, exchange, mut reader, mut vars, params, env, .. } = self;
        let mut env = env;
        scheduler::set_session(env.session);
        scheduler::set_group(env.group);
        let _under = task::under(exchange.stop.clone(), 0);
        let mut ending = Ending(exchange.clone(), None);
        let lent = {
            let mut cx = Cx::new(&mut vars, &mut env, Some(&mut reader), &exchange.stop);
            cx.params = params;
            cx.begin_branch(self.grant, self.now_unix_ns);
            let result = match (job, &exchange.grouped) {
                (Job::Pipeline { node, parts }, grouped) => {
                    cx.keep().parts = Some(parts);
                    match grouped {
                        Some(grouped) => groups::run(&node, &exchange, grouped, &mut cx),
                        None => run_branch(&node, &exchange, &mut cx),
                    }
                }
                (Job::Loops(plan), _) => loops::run(&plan, &exchange, &mut cx),
            };
            ending.1 = Some(result);
            cx.lent()
        };
        drop(ending);
        Finished { reader, lent, warnings: env.warnings }
    }
}

fn run_branch(node: &Node, exchange: &Exchange, cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let mut operator = super::build_for(node, exchange.needed.as_deref());
    operator.take_over(&mut exchange.joins.iter());
    let mut piece = match exchange.by_column && operator.has_columns(cx)? {
        true => Piece::Columns(Columns::default()),
        false => Piece::Rows(Batch::new()),
    };
    let mut told = false;
    loop {
        exchange.tell_filters(&mut told, &mut operator);
        let more = match &mut piece {
            Piece::Rows(batch) => operator.next(cx, batch)?,
            Piece::Columns(columns) => operator.next_columns(cx, columns)?,
            Piece::Groups(_) => stdx::fatal!("a branch that gives rows has made groups"),
        };
        if !more {
            break;
        }
        let seen = cx.txn.as_deref().map(engine::Txn::has_seen);
        if !exchange.put(&mut piece, seen) {
            break;
        }
    }
    Ok(())
}

impl Gather<'_> {
    /// Starts the branches, or the input where there are none.
    fn begin(&mut self, by_column: bool, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if let State::Start = self.state {
            cx.breathe()?;
            self.state = match self.start(by_column, cx)? {
                Started::Branches(branches) => State::Branches(branches),
                Started::Here(Some(input)) => State::Here(input),
                Started::Here(None) => {
                    let mut input = super::build_for(self.spec.input, self.needed.as_deref());
                    self.filters.iter().for_each(|filter| input.narrow(Some(filter)));
                    State::Here(input)
                }
            };
        }
        Ok(())
    }
}

impl Gather<'_> {
    /// The next piece of the branches; false at their end.
    fn take(&mut self, piece: &mut Option<Piece>, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let State::Branches(branches) = &mut self.state else { return Ok(false) };
        let taken = branches.exchange.take(piece, cx);
        if !matches!(taken, Ok(true)) {
            let ended = branches.end(Some(cx));
            self.state = State::End;
            taken?;
            ended?;
            return Ok(false);
        }
        task::maybe_yield();
        Ok(true)
    }
}

impl Operator for Gather<'_> {
    fn has_columns(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.begin(true, cx)?;
        match &mut self.state {
            State::Here(input) => input.has_columns(cx),
            State::Branches(_) => Ok(true),
            State::Start | State::End => Ok(false),
        }
    }

    fn next_columns(&mut self, cx: &mut Cx<'_>, out: &mut Columns) -> Result<bool, SqlError> {
        if let State::Here(input) = &mut self.state {
            return input.next_columns(cx, out);
        }
        let mut piece = Some(Piece::Columns(std::mem::take(out)));
        let more = self.take(&mut piece, cx)?;
        match piece {
            Some(Piece::Groups(_)) => stdx::fatal!("groups come to who asks for rows"),
            Some(Piece::Columns(columns)) => *out = columns,
            // A branch that had none.
            Some(Piece::Rows(batch)) => {
                let types = &self.spec.input.types;
                out.start(types.len(), |i| Kind::Computed(types[i]));
                for row in batch.rows() {
                    let columns = out.add_row().iter_mut();
                    columns.zip(row).for_each(|(column, value)| column.push_value(value.clone()));
                }
            }
            None => {}
        }
        Ok(more)
    }

    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        self.begin(false, cx)?;
        if let State::Here(input) = &mut self.state {
            return input.next(cx, out);
        }
        let target = out.target();
        let mut piece = Some(Piece::Rows(std::mem::take(out)));
        let more = self.take(&mut piece, cx);
        if let Some(Piece::Rows(batch)) = piece {
            *out = batch;
        }
        out.set_target(target);
        if !matches!(more, Ok(true)) {
            out.start(0);
        }
        more
    }

    fn group_by(
        &mut self,
        how: &dyn Fn() -> Option<Grouped>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        if !self.spec.groups || !matches!(self.state, State::Start) {
            return Ok(false);
        }
        self.grouped = how().map(Arc::new);
        if self.grouped.is_some() {
            self.begin(true, cx)?;
        }
        Ok(self.grouped.is_some() && matches!(self.state, State::Branches(_)))
    }

    fn next_groups(&mut self, cx: &mut Cx<'_>) -> Result<Option<Groups>, SqlError> {
        let mut piece = None;
        self.take(&mut piece, cx)?;
        match piece {
            Some(Piece::Groups(groups)) => Ok(Some(Box::new(groups))),
            Some(_) => stdx::fatal!("rows come to who asks for groups"),
            None => Ok(None),
        }
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if let State::Branches(branches) = &mut self.state {
            branches.end(Some(cx))?;
        }
        self.state = State::Start;
        self.grouped = None;
        Ok(())
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        match filter {
            Some(filter) => self.filters.push(filter.clone()),
            None => self.filters.clear(),
        }
        match (&mut self.state, filter) {
            (State::Here(input), filter) => input.narrow(filter),
            (State::Branches(branches), Some(_)) => {
                let _ = branches.exchange.filters.set(self.filters.clone());
            }
            _ => {}
        }
    }
}
