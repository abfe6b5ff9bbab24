//! What a plan would do several times, done once: subtrees that are the same and cost more than their rows do to keep.
//!
//! ```text
//! HashJoin                     HashJoin
//!   Aggregate                    Spool 0          spool 0: Aggregate
//!     ...                -->     Spool 0                     ...
//!   Aggregate
//!     ...
//! ```
//!
//! What below nested loops reads nothing of the outer row, and so gives the same rows for each, is such a thing as well.
//!
//! A common table expression that is named twice is planned twice, each time with what is asked of its rows there; a
//! view and a derived table likewise, and what was made of a subquery. What came out the same is found here by its form
//! (hash-consing: equal subtrees have one number), whatever it came from. SQL Server calls the operator a common
//! subexpression spool.
//!
//! Promises: the plan's rows are the same with and without. A shared subtree reads no row around it, no table under
//! locks of its own, and nothing that has another value the second time. Its rows are computed as they are asked for:
//! who wants few has few computed.
//!
//! Invariant: [`Spools::replace`] goes through a tree in the order in which [`Numbering`] went.

use std::collections::HashMap;
use std::fmt::Write;

use ir::{Expr, ExprKind, ParamId, SortKey, SubPlanId};

use crate::plan::*;

/// Rows that need not be looked at again, for a spool to be worth it.
const SAVED_MIN: f64 = 10_000.0;
/// What a row costs that is kept, and each time that it is read again, in rows that an operator looks at.
const KEEP_ROW: f64 = 2.0;
/// A spool may make others possible in what it is made of, and so on.
const ROUNDS_MAX: usize = 8;

/// Takes out of the plan what it has several times; the operators that are left read [`Plan::spools`] by number.
pub(crate) fn share(root: &mut Node, subplans: &mut [SubPlan]) -> Vec<Node> {
    let mut spools: Vec<Node> = Vec::new();
    if !reads_twice(root, subplans) && !repeats(root) && !subplans.iter().any(repeats_whole) {
        return spools;
    }
    for _ in 0..ROUNDS_MAX {
        let trees = Trees::of(root, subplans, &spools);
        let mut found = Spools::new(&trees, spools.len());
        found.replace(root, &trees.root, &mut 0);
        // What the root has several times may leave others of these trees to nobody: they are looked at when it is known.
        if found.spools.is_empty() {
            for (sub, parts) in subplans.iter_mut().zip(&trees.subplans) {
                found.replace(&mut sub.node, parts, &mut 0);
            }
            for (spool, parts) in spools.iter_mut().zip(&trees.spools) {
                found.replace_below(spool, parts, &mut 0);
            }
        }
        if found.spools.is_empty() {
            break;
        }
        spools.append(&mut found.spools);
    }
    put_back(root, subplans, &mut spools);
    spools
}

/// Puts what is read but once by now in its place. Nothing is left of its spool, nor of one that nobody reads.
fn put_back(root: &mut Node, subplans: &mut [SubPlan], spools: &mut [Node]) {
    let trees = Trees::of(root, subplans, spools);
    // Trees that somebody asks for.
    let asked: Vec<bool> = trees.subplans.iter().map(|parts| !parts.is_empty()).collect();
    let read: Vec<bool> = trees.spools.iter().map(|parts| !parts.is_empty()).collect();
    for id in (0..spools.len()).filter(|id| trees.reads[*id] < 2.0) {
        let mut whole = Some(spools[id].take());
        put_in(root, id, &mut whole);
        let of_subplans = subplans.iter_mut().zip(&asked).filter(|(_, asked)| **asked);
        of_subplans.for_each(|(sub, _)| put_in(&mut sub.node, id, &mut whole));
        let of_spools = spools.iter_mut().zip(&read).filter(|(_, read)| **read);
        of_spools.for_each(|(spool, _)| put_in(spool, id, &mut whole));
    }
}

/// The first reader of a spool becomes what that holds.
fn put_in(node: &mut Node, id: usize, whole: &mut Option<Node>) {
    if matches!(node.op, Op::Spool { id: own } if own == id) {
        if let Some(whole) = whole.take() {
            *node = whole;
        }
        return;
    }
    node.inputs_mut().into_iter().for_each(|input| put_in(input, id, whole));
}

/// Whether any table is read at two places: if none is, there is nothing to look for.
fn reads_twice(root: &Node, subplans: &[SubPlan]) -> bool {
    fn tables(node: &Node, seen: &mut Vec<i32>) -> bool {
        if let Op::Scan(scan) = &node.op {
            if seen.contains(&scan.table.object_id) {
                return true;
            }
            seen.push(scan.table.object_id);
        }
        node.inputs().into_iter().any(|input| tables(input, seen))
    }
    let mut seen = Vec::new();
    tables(root, &mut seen) || subplans.iter().any(|sub| tables(&sub.node, &mut seen))
}

/// A subquery asked for each row, or what is in it.
fn repeats_whole(sub: &SubPlan) -> bool {
    !sub.binds.is_empty() && gathers(&sub.node) || repeats(&sub.node)
}

/// Whether something that takes more than its rows runs again for each row of something else.
fn repeats(node: &Node) -> bool {
    let again = match &node.op {
        Op::NestedLoops { right, binds, .. } => !binds.is_empty() && gathers(right),
        Op::Recursive { step, .. } => gathers(step),
        _ => false,
    };
    again || node.inputs().into_iter().any(repeats)
}

/// Whether it reads many rows, by its form, before it gives one.
fn gathers(node: &Node) -> bool {
    let gathers_itself = matches!(
        node.op,
        Op::Aggregate { .. }
            | Op::HashJoin { .. }
            | Op::MergeJoin { .. }
            | Op::Sort { .. }
            | Op::TopN { .. }
            | Op::Distinct { .. }
            | Op::Window { .. }
            | Op::HashSetOp { .. }
    );
    gathers_itself || node.inputs().into_iter().any(gathers)
}

/// What is known of a subtree.
#[derive(Clone, Copy, Default)]
struct Part {
    /// Equal subtrees have equal numbers.
    id: u32,
    /// Nodes in it, itself included.
    size: usize,
    /// It may be run once for all.
    fit: bool,
    /// Rows that its operators look at, about, each time that it runs.
    work: f64,
    /// How often it runs, about.
    runs: f64,
}

/// Of each tree the parts, in pre-order. A subplan that nobody asks for has none.
struct Trees {
    root: Vec<Part>,
    subplans: Vec<Vec<Part>>,
    spools: Vec<Vec<Part>>,
    /// Of each spool how often it is read, about.
    reads: Vec<f64>,
}

impl Trees {
    fn of(root: &Node, subplans: &[SubPlan], spools: &[Node]) -> Trees {
        let mut numbering = Numbering {
            subplans,
            asked: vec![None; subplans.len()],
            of_subplans: vec![Vec::new(); subplans.len()],
            spools,
            of_spools: vec![Vec::new(); spools.len()],
            reads: vec![0.0; spools.len()],
            ids: HashMap::new(),
            around: Vec::new(),
            asks: 1.0,
        };
        let mut of_root = Vec::new();
        numbering.node(root, 1.0, &mut of_root);
        let Numbering { of_subplans, of_spools, reads, .. } = numbering;
        Trees { root: of_root, subplans: of_subplans, spools: of_spools, reads }
    }

    fn all(&self) -> impl Iterator<Item = &Part> {
        self.root.iter().chain(self.subplans.iter().flatten()).chain(self.spools.iter().flatten())
    }
}

/// What an expression or a subtree reads around it.
#[derive(Clone, Copy)]
struct Reads {
    /// Of how many of the rows around it, counted from the innermost, it may read some: 0 for none.
    around: usize,
    /// See [`Part`].
    fit: bool,
    work: f64,
}

const NOTHING: Reads = Reads { around: 0, fit: true, work: 0.0 };

impl Reads {
    fn and(&mut self, other: Reads) {
        self.around = self.around.max(other.around);
        self.fit &= other.fit;
        self.work += other.work;
    }

    /// Seen from outside of what binds the innermost row.
    fn bound(self) -> Reads {
        Reads { around: self.around.saturating_sub(1), ..self }
    }
}

/// Gives equal subtrees one number.
struct Numbering<'a> {
    subplans: &'a [SubPlan],
    /// Of each subplan that an expression has asked for so far, its number and what it reads.
    asked: Vec<Option<(u32, Reads)>>,
    of_subplans: Vec<Vec<Part>>,
    spools: &'a [Node],
    of_spools: Vec<Vec<Part>>,
    reads: Vec<f64>,
    ids: HashMap<String, u32>,
    /// The parameters bound around the node at hand, by who binds them; the innermost comes last. A parameter is named by
    /// where among these it is: equal subtrees have parameters of their own.
    around: Vec<Vec<ParamId>>,
    /// How often the expressions at hand are evaluated.
    asks: f64,
}

impl<'a> Numbering<'a> {
    fn id(&mut self, text: String) -> u32 {
        let next = self.ids.len() as u32;
        *self.ids.entry(text).or_insert(next)
    }

    fn within(
        &mut self,
        binds: &[(ParamId, Expr)],
        node: &Node,
        runs: f64,
        parts: &mut Vec<Part>,
    ) -> (u32, Reads) {
        self.around.push(binds.iter().map(|(param, _)| *param).collect());
        let (id, reads) = self.node(node, runs, parts);
        self.around.pop();
        (id, reads.bound())
    }

    /// The number of a subtree that runs so often, and what that reads; its parts are appended.
    fn node(&mut self, node: &Node, runs: f64, parts: &mut Vec<Part>) -> (u32, Reads) {
        let at = parts.len();
        parts.push(Part::default());
        if let Op::Spool { id } = node.op {
            self.reads[id] += runs;
            let id = self.spool(id);
            parts[at] = Part { id, size: 1, fit: true, work: 0.0, runs };
            return (id, NOTHING);
        }
        let mut text = format!("{:?}", node.types);
        let mut reads = NOTHING;
        let mut below = Vec::new();
        for (i, input) in node.inputs().into_iter().enumerate() {
            let (id, of_input) = match (&node.op, i) {
                (Op::NestedLoops { binds, spool, left, .. }, 1) => {
                    // The join keeps what is the same for each row.
                    let times = if *spool { 1.0 } else { left.rows.max(1.0) };
                    let (id, inner) = self.within(binds, input, runs * times, parts);
                    (id, Reads { work: inner.work * times, ..inner })
                }
                (Op::HashJoin { seeks: Some(seeks), .. }, 2) => {
                    let (id, inner) = self.within(&seeks.binds, input, runs, parts);
                    // One of two ways: the other counts.
                    (id, Reads { work: 0.0, ..inner })
                }
                (Op::Recursive { binds, .. }, 1) => {
                    self.within(binds, input, runs * node.rows.max(1.0), parts)
                }
                _ => self.node(input, runs, parts),
            };
            reads.and(of_input);
            reads.work += input.rows;
            below.push(id);
        }
        let rows = node.inputs().iter().map(|input| input.rows).fold(1.0, f64::max);
        self.asks =
            runs * if let Op::Scan(scan) = &node.op { scan.rows_read.max(1.0) } else { rows };
        self.own(&node.op, &mut text, &mut reads);
        let _ = write!(text, " of {below:?}");
        let id = self.id(text);
        let fit = reads.fit && reads.around == 0;
        parts[at] = Part { id, size: parts.len() - at, fit, work: reads.work, runs };
        (id, reads)
    }

    /// The number of what a spool holds, so that whatever equals it can read it too.
    fn spool(&mut self, at: usize) -> u32 {
        if let Some(whole) = self.of_spools[at].first() {
            return whole.id;
        }
        let spools = self.spools;
        // It reads no row around it, and runs once.
        let around = std::mem::take(&mut self.around);
        let mut parts = Vec::new();
        let (id, _) = self.node(&spools[at], 1.0, &mut parts);
        self.around = around;
        self.of_spools[at] = parts;
        id
    }

    /// What an operator is beside its inputs.
    fn own(&mut self, op: &Op, text: &mut String, reads: &mut Reads) {
        match op {
            Op::OneRow => text.push_str("OneRow"),
            Op::Empty => text.push_str("Empty"),
            Op::Values { rows } => {
                text.push_str("Values");
                rows.iter().for_each(|row| {
                    text.push(';');
                    self.exprs(row, text, reads);
                });
            }
            Op::Scan(scan) => self.scan(scan, text, reads),
            // What they give may differ from one moment to the next.
            Op::System { .. } | Op::Function { .. } | Op::Metered { .. } => {
                let _ = write!(text, "apart {}", self.ids.len());
                reads.fit = false;
            }
            Op::Filter { predicate, .. } => self.named("Filter", [predicate], text, reads),
            Op::Project { exprs, .. } => self.named("Project", exprs, text, reads),
            Op::NestedLoops { kind, binds, predicate, spool, .. } => {
                let _ = write!(text, "NestedLoops {kind:?} {spool}");
                self.exprs(binds.iter().map(|(_, bound)| bound), text, reads);
                self.named(" on", predicate, text, reads);
            }
            Op::HashJoin { kind, left_keys, right_keys, residual, seeks, .. } => {
                let _ = write!(text, "HashJoin {kind:?}");
                self.exprs(left_keys, text, reads);
                self.named(" =", right_keys, text, reads);
                self.named(" on", residual, text, reads);
                if let Some(seeks) = seeks {
                    text.push_str(" or");
                    self.exprs(seeks.binds.iter().map(|(_, bound)| bound), text, reads);
                }
            }
            Op::MergeJoin { kind, left_keys, right_keys, residual, many, .. } => {
                let _ = write!(text, "MergeJoin {kind:?} {many}");
                self.keys(left_keys, text, reads);
                self.named(" =", right_keys, text, reads);
                self.named(" on", residual, text, reads);
            }
            Op::Aggregate { group, aggs, scalar, sets, strategy, weight, .. } => {
                let _ = write!(text, "Aggregate {scalar} {sets:?} {strategy:?} {weight:?}");
                self.exprs(group, text, reads);
                for agg in aggs {
                    let _ =
                        write!(text, " {:?} {} {} {:?}", agg.func, agg.distinct, agg.warns, agg.ty);
                    self.exprs(&agg.arg, text, reads);
                    if let Some(joining) = &agg.joining {
                        self.exprs([&joining.separator], text, reads);
                        self.keys(&joining.order, text, reads);
                    }
                }
            }
            Op::Gather { maxdop, forced, .. } => {
                let _ = write!(text, "Gather {maxdop} {forced}");
            }
            Op::Fold { keys, .. } => {
                let _ = write!(text, "Fold {keys:?}");
            }
            Op::Recursive { binds, max, .. } => {
                let _ = write!(text, "Recursive {max}");
                self.exprs(binds.iter().map(|(_, bound)| bound), text, reads);
            }
            Op::Spool { .. } => stdx::fatal!("a spool has the number of what it holds"),
            Op::Sort { keys, .. } => {
                text.push_str("Sort");
                self.keys(keys, text, reads);
            }
            Op::TopN { keys, few: Few { count, passed }, .. } => {
                self.named("TopN", [count], text, reads);
                self.named(" after", passed, text, reads);
                self.keys(keys, text, reads);
            }
            Op::Top { count, percent, ties, .. } => {
                let _ = write!(text, "Top {percent} {}", ties.is_some());
                self.exprs([count], text, reads);
                self.keys(ties.iter().flatten(), text, reads);
            }
            Op::Offset { offset, fetch, .. } => {
                self.named("Offset", [offset], text, reads);
                self.named(" fetch", fetch, text, reads);
            }
            Op::Distinct { keys, .. } => {
                let _ = write!(text, "Distinct {keys}");
            }
            Op::Window { partition, order, funcs, .. } => {
                self.named("Window", partition, text, reads);
                self.keys(order, text, reads);
                for call in funcs {
                    // Its arguments are written with it, and once more for their parameters.
                    let _ = write!(text, " {:?} {:?} {:?}", call.func, call.frame, call.ty);
                    let mut args = Vec::new();
                    call.func.for_each_arg(&mut |arg| args.push(arg));
                    self.exprs(args, text, reads);
                }
            }
            Op::Concat { .. } => text.push_str("Concat"),
            Op::Serialize { spec, .. } => {
                let _ = write!(text, "Serialize {spec:?}");
            }
            Op::HashSetOp { op, .. } => {
                let _ = write!(text, "HashSetOp {op:?}");
            }
        }
    }

    fn scan(&mut self, scan: &Scan, text: &mut String, reads: &mut Reads) {
        let Scan { table, database, index, covering, columns, locator, range, .. } = scan;
        // The definition itself: a plan knows one of each table.
        let _ = write!(
            text,
            "Scan {:p} {} {database:?} {index:?} {covering} {columns:?} {} {:?} {locator} {:?} {}",
            std::sync::Arc::as_ptr(table),
            table.object_id,
            scan.reverse,
            scan.hints,
            scan.sample,
            scan.for_update,
        );
        if let Some(range) = range {
            self.named(" prefix", &range.prefix, text, reads);
            for (what, bound) in [(" lower", &range.lower), (" upper", &range.upper)] {
                if let Some((bound, inclusive)) = bound {
                    let _ = write!(text, "{inclusive}");
                    self.named(what, [bound], text, reads);
                }
            }
            if range.null {
                text.push_str(" null");
            }
            if let Some((pattern, escape)) = &range.starts {
                self.named(" starts", [pattern], text, reads);
                self.named(" escape", escape, text, reads);
            }
            self.named(" row", &range.row, text, reads);
        }
        self.named(" where", &scan.predicate, text, reads);
        let own = scan.for_update || *locator || scan.sample.is_some() || database.is_some();
        reads.fit &= !own && !scan.hints.asks_for_locks();
        reads.work += scan.rows_read;
    }

    fn keys<'e>(
        &mut self,
        keys: impl IntoIterator<Item = &'e SortKey>,
        text: &mut String,
        reads: &mut Reads,
    ) {
        for key in keys {
            text.push_str(if key.desc { " desc" } else { " asc" });
            self.exprs([&key.expr], text, reads);
        }
    }

    fn named<'e>(
        &mut self,
        name: &str,
        exprs: impl IntoIterator<Item = &'e Expr>,
        text: &mut String,
        reads: &mut Reads,
    ) {
        text.push_str(name);
        self.exprs(exprs, text, reads);
    }

    fn exprs<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
        text: &mut String,
        reads: &mut Reads,
    ) {
        for expr in exprs {
            let mut expr = expr.clone();
            self.name(&mut expr, reads);
            let _ = write!(text, " {expr:?}");
            // By which rule a constant is compared is not shown.
            expr.any(&mut |e| {
                if let ExprKind::Const(types::Value::Str(constant)) = &e.kind {
                    let _ = write!(text, " {:?}", constant.rule());
                }
                false
            });
        }
    }

    /// Puts for parameters where they are bound, for subplans their numbers; says what the expression reads.
    fn name(&mut self, expr: &mut Expr, reads: &mut Reads) {
        match &mut expr.kind {
            ExprKind::Param(param) => {
                let by = self.around.iter().rev().enumerate().find_map(|(distance, params)| {
                    let place = params.iter().position(|one| one == param)?;
                    Some((distance, place))
                });
                match by {
                    Some((distance, place)) => {
                        reads.around = reads.around.max(distance + 1);
                        // Not a parameter of the statement: a name for this one.
                        *param = ParamId((distance as u32) << 16 | place as u32);
                    }
                    None => reads.fit = false,
                }
            }
            ExprKind::SubPlan { plan, .. } => {
                let (id, of_subplan) = self.subplan(*plan);
                *plan = SubPlanId(id);
                reads.and(of_subplan);
            }
            ExprKind::Sys(_) | ExprKind::NextIdentity | ExprKind::Subquery { .. } => {
                reads.fit = false
            }
            ExprKind::Func { func, .. } => reads.fit &= func.is_parallel_safe(),
            _ => {}
        }
        expr.for_each_child_mut(&mut |child| self.name(child, reads));
    }

    fn subplan(&mut self, id: SubPlanId) -> (u32, Reads) {
        let at = id.0 as usize;
        if let Some(known) = self.asked[at] {
            return known;
        }
        let subplans = self.subplans;
        let sub = &subplans[at];
        let (mut text, mut reads) = ("subplan".to_owned(), NOTHING);
        self.exprs(sub.binds.iter().map(|(_, bound)| bound), &mut text, &mut reads);
        let mut parts = Vec::new();
        // Without parameters its value is kept.
        let asks = self.asks;
        let runs = if sub.binds.is_empty() { 1.0 } else { asks };
        let (below, of_node) = self.within(&sub.binds, &sub.node, runs, &mut parts);
        self.asks = asks;
        self.of_subplans[at] = parts;
        reads.and(of_node);
        let _ = write!(text, " of {below}");
        let known = (self.id(text), reads);
        self.asked[at] = Some(known);
        known
    }
}

/// Puts spools in the place of what is shared.
struct Spools {
    /// How often parts of a number run, all together.
    runs: HashMap<u32, f64>,
    /// Spools by what they hold.
    made: HashMap<u32, usize>,
    /// Those made in this round.
    spools: Vec<Node>,
    /// How many there were before it.
    before: usize,
}

impl Spools {
    fn new(trees: &Trees, before: usize) -> Spools {
        let mut runs = HashMap::new();
        let fit = trees.all().filter(|part| part.fit);
        fit.for_each(|part| *runs.entry(part.id).or_default() += part.runs);
        let whole = |(at, parts): (usize, &Vec<Part>)| Some((parts.first()?.id, at));
        let made = trees.spools.iter().enumerate().filter_map(whole).collect();
        Spools { runs, made, spools: Vec::new(), before }
    }

    fn replace(&mut self, node: &mut Node, parts: &[Part], at: &mut usize) {
        let Some(part) = parts.get(*at).copied() else { return };
        if !self.pays(&part, node.rows) {
            return self.replace_below(node, parts, at);
        }
        *at += part.size;
        let next = self.before + self.spools.len();
        let id = *self.made.entry(part.id).or_insert(next);
        let (types, rows) = (node.types.clone(), node.rows);
        let whole = std::mem::replace(node, Node { op: Op::Spool { id }, types, rows });
        if id == next {
            self.spools.push(whole);
        }
    }

    fn replace_below(&mut self, node: &mut Node, parts: &[Part], at: &mut usize) {
        *at += 1;
        for input in node.inputs_mut() {
            self.replace(input, parts, at);
        }
    }

    fn pays(&self, part: &Part, rows: f64) -> bool {
        let runs = self.runs.get(&part.id).copied().unwrap_or(0.0);
        let saved = (runs - 1.0) * part.work;
        let kept = KEEP_ROW * rows * (runs + 1.0);
        part.fit && runs >= 2.0 && saved >= SAVED_MIN && saved >= kept
    }
}
