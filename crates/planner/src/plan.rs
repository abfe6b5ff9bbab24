//! Physical plans: how a query is answered, operator by operator.
//!
//! Rows are positional. An operator's expressions read its input row by [`ir::ExprKind::Slot`];
//! a join's row is the left row followed by the right row (semi and anti joins: the left row alone).
//! Correlation goes through one array of parameters per statement ([`Plan::param_count`]): whoever
//! opens a correlated inner plan first evaluates its `binds` in the outer row and stores them; inner
//! expressions read them by [`ir::ExprKind::Param`], at any depth.

use runtime::task::Many;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use catalog::TableDef;
use ir::ObjectName;
use ir::{
    AggFunc, Expr, Fires, Joining, MergeAction, MergeClause, OutputColumn, ParamId, Sample,
    SerializeSpec, SetOp, SortKey, SystemView, TableFunc, TableHints, UpdateSet, VarId,
    WindowFrame, WindowFunc,
};
use types::SqlType;

use crate::show::Measured;

/// A whole statement's plan.
#[derive(Debug, Clone)]
pub struct Plan {
    pub root: Node,
    /// The result: the first `output.len()` slots of the root's rows, in order.
    pub output: Vec<OutputColumn>,
    /// Size of the array of correlation parameters.
    pub param_count: usize,
    /// Plans of subqueries used as expressions, by `SubPlanId`.
    pub subplans: Vec<SubPlan>,
    /// What several operators read, computed once: by the numbers of [`Op::Spool`].
    pub spools: Vec<Node>,
}

/// A subquery inside an expression. Its value is asked for through `ExprKind::SubPlan`; the first
/// slot of its rows is the value.
#[derive(Debug, Clone)]
pub struct SubPlan {
    pub node: Node,
    /// Stored before each evaluation, from the row of the asking expression. Empty: the result is the
    /// same for the whole statement and may be kept.
    pub binds: Vec<(ParamId, Expr)>,
}

/// An operator, with what is known of its rows.
#[derive(Debug, Clone)]
pub struct Node {
    pub op: Op,
    /// Types of the slots of its rows.
    pub types: Vec<SqlType>,
    /// Estimated rows.
    pub rows: f64,
}

#[derive(Debug, Clone)]
pub enum Op {
    /// One row without slots.
    OneRow,
    /// No rows (a predicate that is never true).
    Empty,
    Values {
        rows: Vec<Vec<Expr>>,
    },
    Scan(Box<Scan>),
    /// Rows of a system view or function; `columns` are ordinals of the view.
    System {
        view: Arc<SystemView>,
        args: Vec<Expr>,
        columns: Vec<usize>,
    },
    Filter {
        input: Box<Node>,
        predicate: Expr,
    },
    /// Slot i is `exprs[i]`.
    Project {
        input: Box<Node>,
        exprs: Vec<Expr>,
    },
    /// For each left row the right side runs. With `binds` empty it is the same every time: keep its
    /// rows (`spool`) unless it is cheap to run again.
    NestedLoops {
        kind: PhysicalJoin,
        left: Box<Node>,
        right: Box<Node>,
        binds: Vec<(ParamId, Expr)>,
        /// Over left row ++ right row.
        predicate: Option<Expr>,
        spool: bool,
        /// Its rows may come in any order, from several branches.
        spread: Option<Spread>,
    },
    /// Builds a table of the right side, probes with the left. NULL keys never match.
    HashJoin {
        kind: PhysicalJoin,
        left: Box<Node>,
        right: Box<Node>,
        /// Over the left row and the right row respectively, pairwise of one type.
        left_keys: Vec<Expr>,
        right_keys: Vec<Expr>,
        /// Over left row ++ right row.
        residual: Option<Expr>,
        /// An adaptive join's other way.
        seeks: Option<Box<Seeks>>,
    },
    /// Reads both sides side by side; both come in the order of their keys. NULL keys never match.
    MergeJoin {
        kind: PhysicalJoin,
        left: Box<Node>,
        right: Box<Node>,
        /// Over the left row, in the order in which its rows come.
        left_keys: Vec<SortKey>,
        /// Over the right row, pairwise of one type with the left's, and in the same order.
        right_keys: Vec<Expr>,
        /// Over left row ++ right row.
        residual: Option<Expr>,
        /// Several left rows may have the same keys.
        many: bool,
    },
    /// Slots: the group's keys, then the aggregates, then with `sets` their mask. `scalar`: one row even for no input.
    Aggregate {
        input: Box<Node>,
        group: Vec<Expr>,
        aggs: Vec<Agg>,
        scalar: bool,
        /// See [`ir::GroupingSets`]; hash only.
        sets: Option<Vec<u64>>,
        strategy: AggStrategy,
        /// The slot that says for how many rows a row stands (see `Fold`).
        weight: Option<u32>,
    },
    /// The input, run by several branches at once where that pays; its rows in any order. A table in it is read in
    /// parts, each by whichever branch is free.
    Gather {
        input: Box<Node>,
        /// OPTION (MAXDOP n); 0: as the server is set.
        maxdop: u32,
        /// The plan is to be parallel whatever it costs.
        forced: bool,
        /// What the input costs, in SQL Server's unit.
        cost: f64,
        /// The grouping above may be done by the branches, each for its rows: all that it asks can be asked anywhere.
        groups: bool,
    },
    /// Equal rows, by the slots `keys`, folded into fewer; one more slot, the last, says for how many rows each stands.
    /// The other slots are NULL.
    Fold {
        input: Box<Node>,
        keys: Vec<u32>,
    },
    /// The anchor's rows, and for each row so found those of the step, to whose parameters that row is bound first.
    Recursive {
        anchor: Box<Node>,
        step: Box<Node>,
        binds: Vec<(ParamId, Expr)>,
        /// Levels below the anchor after which it fails (530); 0: none.
        max: u32,
    },
    /// A table-valued function; its rows have as many slots as `types`.
    Function {
        func: TableFunc,
        args: Vec<Expr>,
    },
    Sort {
        input: Box<Node>,
        keys: Vec<SortKey>,
    },
    /// The rows of a spool of the plan, in their order; whoever asks first for a row has it computed.
    Spool {
        id: usize,
    },
    /// Sort that keeps only the first rows.
    TopN {
        input: Box<Node>,
        keys: Vec<SortKey>,
        few: Few,
    },
    /// First `count` rows (bigint), or per cent (float); `ties`: and those equal to the last by these
    /// keys (the input is sorted by them).
    Top {
        input: Box<Node>,
        count: Expr,
        percent: bool,
        ties: Option<Vec<SortKey>>,
    },
    Offset {
        input: Box<Node>,
        offset: Expr,
        fetch: Option<Expr>,
    },
    /// One row of each set of rows equal in all slots below `keys`.
    Distinct {
        input: Box<Node>,
        keys: usize,
    },
    /// Adds a slot per function. The input is sorted by partition, then order, unless `ordered` is
    /// false: then partition and order are empty and functions number rows as they come.
    Window {
        input: Box<Node>,
        partition: Vec<Expr>,
        order: Vec<SortKey>,
        funcs: Vec<WindowCall>,
    },
    /// One input after the other, slot by slot.
    Concat {
        inputs: Many<Node>,
    },
    /// All rows as one text (FOR XML, FOR JSON); the input's slots are the spec's columns.
    Serialize {
        input: Box<Node>,
        spec: Arc<SerializeSpec>,
    },
    /// The input, with what it does counted (SET STATISTICS IO, PROFILE and XML): see [`Plan::metered`].
    Metered {
        input: Box<Node>,
        figures: Arc<NodeFigures>,
    },
    /// EXCEPT and INTERSECT: distinct rows of the left (absent from, present in) the right; NULLs
    /// are equal.
    HashSetOp {
        op: SetOp,
        left: Box<Node>,
        right: Box<Node>,
    },
}

/// What an adaptive join does instead where its left side turns out to have few rows: nested loops over seeks.
#[derive(Debug, Clone)]
pub struct Seeks {
    /// The rows of the right side that one left row meets; its slots are those of the side that is read whole.
    pub right: Node,
    /// Stored for each left row.
    pub binds: Vec<(ParamId, Expr)>,
    /// Left rows up to which this costs less.
    pub rows_max: f64,
    /// They may be sought by several branches.
    pub spread: Option<Spread>,
}

/// Nested loops that several branches may run, each for some of the left rows, where that pays.
#[derive(Debug, Clone)]
pub struct Spread {
    /// OPTION (MAXDOP n); 0: as the server is set.
    pub maxdop: u32,
    /// The plan is to be parallel whatever it costs.
    pub forced: bool,
    /// What a left row costs, in SQL Server's unit.
    pub row_cost: f64,
}

/// What an operator did, counted while it runs; in several branches by all of them.
#[derive(Debug, Default)]
pub struct NodeFigures {
    /// Rows given.
    pub rows: AtomicU64,
    /// Times started.
    pub executions: AtomicU64,
    /// Time in it and below, ns.
    pub elapsed_ns: AtomicU64,
    /// Pages looked up in it and below, and those of them that came from files.
    pub logical_reads: AtomicU64,
    /// See `logical_reads`.
    pub physical_reads: AtomicU64,
}

impl NodeFigures {
    /// As of now.
    pub fn measured(&self) -> Measured {
        Measured {
            rows: self.rows.load(Relaxed),
            executions: self.executions.load(Relaxed),
            elapsed_ns: self.elapsed_ns.load(Relaxed),
            logical_reads: self.logical_reads.load(Relaxed),
            physical_reads: self.physical_reads.load(Relaxed),
        }
    }
}

/// The nodes below an operator, in the order in which plans show them: by reference or by mutable reference, as `$op` is
/// one; `$iter` goes through a list of them likewise, and `$borrow` borrows one.
macro_rules! inputs {
    ($op:expr, $iter:ident, $($borrow:tt)+) => {
        match $op {
            Op::OneRow
            | Op::Empty
            | Op::Values { .. }
            | Op::Scan(_)
            | Op::System { .. }
            | Op::Spool { .. }
            | Op::Function { .. } => Vec::new(),
            Op::Recursive { anchor, step, .. } => vec![anchor, step],
            Op::Filter { input, .. }
            | Op::Project { input, .. }
            | Op::Fold { input, .. }
            | Op::Gather { input, .. }
            | Op::Aggregate { input, .. }
            | Op::Sort { input, .. }
            | Op::TopN { input, .. }
            | Op::Top { input, .. }
            | Op::Offset { input, .. }
            | Op::Distinct { input, .. }
            | Op::Serialize { input, .. }
            | Op::Window { input, .. }
            | Op::Metered { input, .. } => vec![input],
            Op::HashJoin { left, right, seeks: Some(seeks), .. } => {
                vec![left, right, $($borrow)+ seeks.right]
            }
            Op::NestedLoops { left, right, .. }
            | Op::HashJoin { left, right, seeks: None, .. }
            | Op::MergeJoin { left, right, .. }
            | Op::HashSetOp { left, right, .. } => vec![left, right],
            Op::Concat { inputs } => inputs.$iter().collect(),
        }
    };
}

impl Node {
    /// Its inputs, in the order in which plans show them.
    pub fn inputs(&self) -> Vec<&Node> {
        inputs!(&self.op, iter, &)
    }

    pub(crate) fn inputs_mut(&mut self) -> Vec<&mut Node> {
        inputs!(&mut self.op, iter_mut, &mut)
    }

    /// The node itself, to be put somewhere else; nothing is left in its place.
    pub(crate) fn take(&mut self) -> Node {
        std::mem::replace(self, Node { op: Op::Empty, types: Vec::new(), rows: 0.0 })
    }

    /// The same with every operator in it counted.
    fn metered(mut self) -> Node {
        for input in self.inputs_mut() {
            *input = input.take().metered();
        }
        let (types, rows) = (self.types.clone(), self.rows);
        let figures = Arc::default();
        Node { op: Op::Metered { input: Box::new(self), figures }, types, rows }
    }

    /// Calls `each` for every scan below with its figures, where they are counted.
    pub fn each_scan<'a>(&'a self, each: &mut dyn FnMut(&'a Scan, &'a NodeFigures)) {
        if let Op::Metered { input, figures } = &self.op
            && let Op::Scan(scan) = &input.op
        {
            each(scan, figures);
        }
        self.inputs().into_iter().for_each(|input| input.each_scan(each));
    }
}

impl SubPlan {
    /// See [`Plan::metered`].
    pub fn metered(self) -> SubPlan {
        SubPlan { node: self.node.metered(), ..self }
    }
}

impl Plan {
    /// The same plan with every operator in it counted.
    pub fn metered(self) -> Plan {
        Plan {
            root: self.root.metered(),
            subplans: self.subplans.into_iter().map(SubPlan::metered).collect(),
            spools: self.spools.into_iter().map(Node::metered).collect(),
            ..self
        }
    }

    /// The trees of which it consists; the root's comes first.
    pub fn trees(&self) -> impl Iterator<Item = &Node> {
        let subplans = self.subplans.iter().map(|sub| &sub.node);
        std::iter::once(&self.root).chain(subplans).chain(&self.spools)
    }

    /// See [`Node::each_scan`].
    pub fn each_scan<'a>(&'a self, each: &mut dyn FnMut(&'a Scan, &'a NodeFigures)) {
        self.trees().for_each(|tree| tree.each_scan(each));
    }
}

/// The first `count` rows (bigint), and as many more as whoever reads them passes over.
#[derive(Debug, Clone)]
pub struct Few {
    pub count: Expr,
    pub passed: Option<Expr>,
}

/// Reads a table through the order of its key or of an index.
#[derive(Debug, Clone)]
pub struct Scan {
    pub table: Arc<TableDef>,
    /// Another database than the session's.
    pub database: Option<Arc<str>>,
    /// The secondary index by which rows are found, by its place in the table's list; none: the table itself.
    pub index: Option<usize>,
    /// The index's entries have all columns that are read: no row is looked up.
    pub covering: bool,
    /// Ordinals of the columns that become slots, in order.
    pub columns: Vec<usize>,
    /// The storage key as varbinary in one more slot, after the columns.
    pub locator: bool,
    /// None: the whole table.
    pub range: Option<KeyRange>,
    /// Over the slots; checked for every row (also what the range already promises, where it does not
    /// promise all).
    pub predicate: Option<Expr>,
    pub hints: TableHints,
    /// TABLESAMPLE: by neither a range nor an index.
    pub sample: Option<Sample>,
    /// Rows are about to be changed: read the newest committed version under a U or X row lock.
    pub for_update: bool,
    /// Rows arrive in descending key order.
    pub reverse: bool,
    /// Estimated rows, or entries, that are read for those that it gives.
    pub rows_read: f64,
}

impl Scan {
    /// Whether the range is all that a hash index finds by one value.
    pub fn is_one_value(&self) -> bool {
        let columns = crate::key_range::scan_key(&self.table, self.index).len();
        self.table.buckets(self.index).is_some()
            && self.range.as_ref().is_some_and(|range| range.is_point(columns))
    }

    /// Bytes that a row, or an entry of the index, takes where it is stored, about.
    pub(crate) fn stored_bytes(&self) -> f64 {
        let table = &self.table;
        match self.index {
            Some(at) => crate::estimate::width(table, table.indexes[at].stored.iter().copied()),
            None => crate::estimate::width(table, 0..table.columns.len()),
        }
    }
}

/// A range of the key that the scan goes by, in terms of the columns' order (a descending key column swaps the
/// bounds when they are encoded). Expressions are free of slots and have the key columns' types; a
/// bound that evaluates to NULL means no row.
#[derive(Debug, Clone)]
pub struct KeyRange {
    /// Equality with the first key columns.
    pub prefix: Vec<Expr>,
    /// Bounds of the next key column, with inclusive or not.
    pub lower: Option<(Expr, bool)>,
    pub upper: Option<(Expr, bool)>,
    /// In place of bounds: the pattern of a LIKE and its escape. What stands before the pattern's first wildcard is what texts
    /// of the next key column begin with.
    pub starts: Option<(Expr, Option<Expr>)>,
    /// In place of bounds: the next key column is NULL.
    pub null: bool,
    /// The locator of a heap's row; then there is nothing else.
    pub row: Option<Expr>,
}

impl KeyRange {
    /// At most one row: every column of a unique key is given.
    pub fn is_point(&self, key_columns: usize) -> bool {
        self.prefix.len() == key_columns
    }

    /// All that it is bounded by.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let bounds = [&self.lower, &self.upper].into_iter().flatten().map(|(bound, _)| bound);
        let starts =
            self.starts.iter().flat_map(|(pattern, escape)| std::iter::once(pattern).chain(escape));
        self.prefix.iter().chain(bounds).chain(starts).chain(&self.row)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhysicalJoin {
    Inner,
    /// Left rows without a match appear with NULLs on the right.
    Left,
    /// Left rows with a match.
    Semi,
    /// Left rows without one.
    Anti,
    /// Both sides preserved (not by nested loops).
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggStrategy {
    Hash,
    /// The input arrives grouped (or there is no group).
    Stream,
}

#[derive(Debug, Clone)]
pub struct Agg {
    pub func: AggFunc,
    pub distinct: bool,
    /// None: COUNT(*).
    pub arg: Option<Expr>,
    /// Of STRING_AGG.
    pub joining: Option<Box<Joining>>,
    /// NULLs that it passes over are worth a warning.
    pub warns: bool,
    pub ty: SqlType,
}

#[derive(Debug, Clone)]
pub struct WindowCall {
    pub func: WindowFunc,
    pub frame: Option<WindowFrame>,
    pub ty: SqlType,
}

/// SELECT, with its target over the root's slots.
#[derive(Debug, Clone)]
pub struct SelectPlan {
    pub plan: Plan,
    pub target: SelectTarget,
}

/// Where rows go; see [`ir::SelectTarget`]. Expressions read the root's slots.
#[derive(Debug, Clone)]
pub enum SelectTarget {
    Client,
    Vars(Vec<(VarId, Expr)>),
    Into { name: ObjectName, spec: Box<catalog::TableSpec> },
}

/// INSERT.
#[derive(Debug, Clone)]
pub struct InsertPlan {
    pub table: Arc<TableDef>,
    /// WITH CHANGE_TRACKING_CONTEXT.
    pub tracking_context: Option<Box<Expr>>,
    pub hints: TableHints,
    pub source: InsertSource,
    pub explicit_identity: bool,
    pub output: Option<OutputPlan>,
    /// Triggers, fired by whoever runs the plan.
    pub fires: Option<Arc<Fires>>,
    pub block: Option<Box<BlockPlan>>,
    /// What each new row must answer to (550), over the slots of the row.
    pub check: Option<Arc<Expr>>,
    /// Some expression calls a function of the user's, which may read what is being changed.
    pub calls: bool,
}

/// What security policies ask of changes: predicates that must be true. `before` read the source's row, `after` that row
/// (of INSERT nothing) and behind it the row as it is to be.
#[derive(Debug, Clone, Default)]
pub struct BlockPlan {
    pub after_insert: Vec<Expr>,
    pub after_update: Vec<Expr>,
    pub before_update: Vec<Expr>,
    pub before_delete: Vec<Expr>,
}

/// Where an INSERT's rows come from. Rows have one expression per column of the table.
#[derive(Debug, Clone)]
pub enum InsertSource {
    /// Row constructors; expressions without slots. Subqueries in them are in `subplans`.
    Values { rows: Vec<Vec<Expr>>, subplans: Vec<SubPlan>, param_count: usize },
    /// `row` reads the root's slots.
    Query { plan: Box<Plan>, row: Vec<Expr> },
    /// `row` reads the result row of the procedure, whose columns have been converted to `columns`.
    Exec { exec: Box<ir::Exec>, columns: Vec<OutputColumn>, row: Vec<Expr> },
    /// The rows that another change puts out.
    Changed(Box<ChangedRows>),
}

/// A change whose OUTPUT an INSERT takes its rows from; what that leaves out is in [`OutputPlan::reader`].
#[derive(Debug, Clone)]
pub struct ChangedRows {
    pub change: ChangePlan,
    /// `row` reads the columns of OUTPUT.
    pub row: Vec<Expr>,
}

/// A change that puts out rows for an INSERT around it.
#[derive(Debug, Clone)]
pub enum ChangePlan {
    Insert(InsertPlan),
    Update(UpdatePlan),
    Delete(DeletePlan),
    Merge(MergePlan),
}

impl ChangePlan {
    /// What is changed.
    pub fn table(&self) -> &Arc<TableDef> {
        match self {
            ChangePlan::Insert(insert) => &insert.table,
            ChangePlan::Update(update) => &update.table,
            ChangePlan::Delete(delete) => &delete.table,
            ChangePlan::Merge(merge) => &merge.table,
        }
    }

    /// Its OUTPUT clause.
    pub fn output_mut(&mut self) -> Option<&mut OutputPlan> {
        match self {
            ChangePlan::Insert(insert) => insert.output.as_mut(),
            ChangePlan::Update(update) => update.output.as_mut(),
            ChangePlan::Delete(delete) => delete.output.as_mut(),
            ChangePlan::Merge(merge) => merge.output.as_mut(),
        }
    }
}

/// UPDATE: the plan's rows carry the target's locator and old columns.
#[derive(Debug, Clone)]
pub struct UpdatePlan {
    pub table: Arc<TableDef>,
    /// WITH CHANGE_TRACKING_CONTEXT.
    pub tracking_context: Option<Box<Expr>>,
    pub hints: TableHints,
    pub source: Plan,
    /// Slot of the storage key.
    pub locator: u32,
    /// Slots of the target's columns, by ordinal.
    pub old: Vec<u32>,
    /// Over the root's slots, in order.
    pub set: Vec<UpdateSet>,
    pub output: Option<OutputPlan>,
    pub fires: Option<Arc<Fires>>,
    pub block: Option<Box<BlockPlan>>,
    /// As [`InsertPlan::check`].
    pub check: Option<Arc<Expr>>,
    /// Some expression calls a function of the user's, which may read what is being changed.
    pub calls: bool,
}

/// DELETE.
#[derive(Debug, Clone)]
pub struct DeletePlan {
    pub table: Arc<TableDef>,
    /// WITH CHANGE_TRACKING_CONTEXT.
    pub tracking_context: Option<Box<Expr>>,
    pub hints: TableHints,
    pub source: Plan,
    pub locator: u32,
    pub old: Vec<u32>,
    pub output: Option<OutputPlan>,
    pub fires: Option<Arc<Fires>>,
    pub block: Option<Box<BlockPlan>>,
    /// Some expression calls a function of the user's, which may read what is being changed.
    pub calls: bool,
}

/// MERGE: the plan's rows carry the target's locator (or NULL) and old columns, and the source's marker.
#[derive(Debug, Clone)]
pub struct MergePlan {
    pub table: Arc<TableDef>,
    /// WITH CHANGE_TRACKING_CONTEXT.
    pub tracking_context: Option<Box<Expr>>,
    pub hints: TableHints,
    pub source: Plan,
    pub locator: u32,
    /// Slot that is NULL where there is no source row.
    pub present: u32,
    pub old: Vec<u32>,
    /// Rows that are changed at most.
    pub top: Option<Expr>,
    /// Expressions read the root's slots.
    pub clauses: Vec<MergeClause>,
    pub explicit_identity: bool,
    /// The source row that it reads has one more slot: the action's name.
    pub output: Option<OutputPlan>,
    pub fires: Vec<Arc<Fires>>,
    pub block: Option<Box<BlockPlan>>,
}

impl MergePlan {
    /// Ordinals of the columns that its UPDATE sets.
    pub fn set_columns(&self) -> Vec<usize> {
        let mut out = Vec::new();
        for clause in &self.clauses {
            if let MergeAction::Update(items) = &clause.action {
                out.extend(items.iter().filter_map(|item| match item {
                    UpdateSet::Column { ordinal, .. } | UpdateSet::Both { ordinal, .. } => {
                        Some(*ordinal)
                    }
                    UpdateSet::Var { .. } => None,
                }));
            }
        }
        out
    }
}

/// OUTPUT. Expressions read a row made of: the inserted (new) columns of the table, its deleted
/// (old) columns, then the slots of the source plan. INSERT has NULLs for deleted and no source
/// slots; DELETE has NULLs for inserted.
#[derive(Debug, Clone)]
pub struct OutputPlan {
    pub columns: Vec<(OutputColumn, Expr)>,
    /// OUTPUT INTO: one expression per column of that table, reading the row of `columns`.
    pub into: Option<(Arc<TableDef>, Vec<Expr>)>,
    /// What the client gets beside INTO.
    pub also: Vec<(OutputColumn, Expr)>,
    /// An INSERT around the change keeps its rows.
    pub reader: Option<OutputReader>,
}

/// Whoever keeps the rows of an OUTPUT until the change is done.
#[derive(Debug, Clone)]
pub struct OutputReader {
    /// The rows that it wants, over the row of the OUTPUT's columns.
    pub filter: Option<Expr>,
}

impl OutputPlan {
    /// What the client gets, if it gets anything.
    pub fn told(&self) -> Option<&[(OutputColumn, Expr)]> {
        ir::told(&self.columns, self.into.is_some(), &self.also)
    }
}

/// An expression by itself (SET, IF, PRINT ...), with the plans of its subqueries.
#[derive(Debug, Clone)]
pub struct ExprPlan {
    pub expr: Expr,
    pub subplans: Vec<SubPlan>,
    pub param_count: usize,
}
