//! Plans as SQL Server shows them: operators under its names, as a tree of steps; from it the lines of SHOWPLAN_TEXT and
//! SHOWPLAN_ALL and the document of SHOWPLAN_XML.
//!
//! Promises: each step stands for one operator of our plan, or for a part of one that SQL Server has apart (a lookup, a
//! spool, a segment); a projection that computes nothing is no step. A subquery inside an expression is shown as the
//! nested loop that it is. In a hash match the input that is built comes first.
//!
//! It shows what the planner decided; it decides nothing.

mod join;
mod nested;
mod operator;
mod scalar;
mod scan;
mod spool;
mod xml;

use crate::cost::{self, Cost};
use crate::plan::*;
use catalog::TableDef;
use ir::{Expr, ExprKind, SetOp, SortKey, WindowFunc};
use std::collections::HashMap;
use types::SqlType;

pub use operator::{Line, Measured, Object, Step};
pub use xml::{XmlStatement, document};

/// What is needed to show plans of a statement: its variables' names, and the database's.
pub struct Show<'a> {
    database: &'a str,
    vars: &'a [&'a str],
    subplans: &'a [SubPlan],
    spools: &'a [Node],
    /// Of spools that are read so far, by number, what fills them and the names of their slots.
    spooled: HashMap<usize, (Step, Vec<String>)>,
    /// What each correlation parameter is.
    params: HashMap<u32, String>,
    /// Subqueries named by expressions of the step at hand.
    asked: Vec<(u32, Vec<String>)>,
    last_expr: u32,
}

impl<'a> Show<'a> {
    /// In a database, with the names of the frame's variables (with the `@`).
    pub fn new(database: &'a str, vars: &'a [&'a str]) -> Show<'a> {
        Show {
            database,
            vars,
            subplans: &[],
            spools: &[],
            spooled: HashMap::new(),
            params: HashMap::new(),
            asked: Vec::new(),
            last_expr: 1000,
        }
    }

    /// A query.
    pub fn plan(&mut self, plan: &'a Plan) -> Step {
        (self.subplans, self.spools) = (&plan.subplans, &plan.spools);
        let mut step = self.node(&plan.root, 1.0).0;
        self.fill_spools(&mut step);
        step.total(1.0);
        step
    }

    /// INSERT.
    pub fn insert(&mut self, insert: &'a InsertPlan) -> Option<Step> {
        let (step, columns) = match &insert.source {
            InsertSource::Values { rows, subplans, .. } => {
                self.subplans = subplans;
                let names = self.columns_of(&insert.table);
                match &rows[..] {
                    [row] => {
                        let set: Vec<String> = row.iter().map(|e| self.scalar(e, &[])).collect();
                        (self.scan_of_nothing(1.0), names.into_iter().zip(set).collect())
                    }
                    rows => {
                        let step = self.values(rows);
                        let set = (0..names.len()).map(|i| format!("[Union{}]", 1001 + i));
                        (step, names.clone().into_iter().zip(set).collect::<Vec<_>>())
                    }
                }
            }
            InsertSource::Query { plan, row } => {
                (self.subplans, self.spools) = (&plan.subplans, &plan.spools);
                let (step, slots) = self.node(&plan.root, 1.0);
                let names = self.columns_of(&insert.table);
                let set: Vec<String> = row.iter().map(|e| self.scalar(e, &slots)).collect();
                (step, names.into_iter().zip(set).collect())
            }
            InsertSource::Exec { .. } => return None,
            InsertSource::Changed(from) => self.changed_rows(&insert.table, from)?,
        };
        let step = self.with_subqueries(step);
        Some(self.change("Insert", &insert.table, &columns, step))
    }

    /// UPDATE.
    pub fn update(&mut self, update: &'a UpdatePlan) -> Step {
        use ir::UpdateSet;
        self.subplans = &update.source.subplans;
        let (step, slots) = self.node(&update.source.root, 1.0);
        let names = self.columns_of(&update.table);
        let mut set = Vec::new();
        for one in &update.set {
            if let UpdateSet::Column { ordinal, value } | UpdateSet::Both { ordinal, value, .. } =
                one
            {
                set.push((names[*ordinal].clone(), self.scalar(value, &slots)));
            }
        }
        let step = self.with_subqueries(step);
        self.change("Update", &update.table, &set, step)
    }

    /// DELETE.
    pub fn delete(&mut self, delete: &'a DeletePlan) -> Step {
        self.subplans = &delete.source.subplans;
        let step = self.node(&delete.source.root, 1.0).0;
        self.change("Delete", &delete.table, &[], step)
    }

    fn change(
        &mut self,
        what: &'static str,
        table: &TableDef,
        set: &[(String, String)],
        input: Step,
    ) -> Step {
        let physical = match (what, table.is_heap()) {
            ("Insert", true) => "Table Insert",
            ("Insert", _) => "Clustered Index Insert",
            ("Update", true) => "Table Update",
            ("Update", _) => "Clustered Index Update",
            (_, true) => "Table Delete",
            _ => "Clustered Index Delete",
        };
        let mut object = self.object(table, None);
        let mut arguments = vec![object.text()];
        for index in table.secondary() {
            object.index = Some(index.name.to_string());
            arguments.push(object.text());
        }
        if !set.is_empty() {
            let all: Vec<String> =
                set.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            arguments.push(format!("SET:({})", all.join(", ")));
        }
        let rows = input.rows;
        let mut step = Step {
            physical,
            logical: what,
            arguments,
            rows,
            row_bytes: 9,
            executions: 1.0,
            cost: Cost { io: 0.01 * rows.max(1.0).log2().max(1.0), cpu: 0.000_001 * rows },
            object: Some(self.object(table, None)),
            inputs: vec![input],
            ..Step::default()
        };
        self.fill_spools(&mut step);
        step.total(1.0);
        step
    }

    /// A node and below: the step, and the names of its slots.
    fn node(&mut self, node: &'a Node, executions: f64) -> (Step, Vec<String>) {
        let outside = std::mem::take(&mut self.asked);
        let (mut step, slots) = self.bare(node, executions);
        if step.executions == 0.0 {
            step.executions = executions;
        }
        if step.rows == 0.0 {
            step.rows = node.rows;
        }
        if step.row_bytes == 0 {
            step.row_bytes = row_bytes(&node.types);
        }
        if step.output.is_empty() {
            step.output = slots.iter().filter(|s| s.starts_with('[')).cloned().collect();
        }
        let step = self.with_subqueries(step);
        self.asked = outside;
        (step, slots)
    }

    /// What is bound to parameters of an inner side, which from here on are shown as that.
    fn bound(&mut self, binds: &'a [(ir::ParamId, Expr)], slots: &[String]) -> Vec<String> {
        let one = |(param, expr): &'a (ir::ParamId, Expr)| {
            let text = self.scalar(expr, slots);
            self.params.insert(param.0, text.clone());
            text
        };
        binds.iter().map(one).collect()
    }

    /// The nested loops that evaluate what the expressions of a step asked for.
    fn with_subqueries(&mut self, mut step: Step) -> Step {
        for (id, slots) in std::mem::take(&mut self.asked) {
            let Some(sub) = self.subplans.get(id as usize) else { continue };
            let outer = self.bound(&sub.binds, &slots);
            let executions = if outer.is_empty() { 1.0 } else { step.rows.max(1.0) };
            let inner = self.node(&sub.node, executions).0;
            let arguments = match outer.is_empty() {
                true => Vec::new(),
                false => vec![format!("OUTER REFERENCES:({})", outer.join(", "))],
            };
            step = Step {
                physical: "Nested Loops",
                logical: "Left Outer Join",
                arguments,
                output: step.output.clone(),
                rows: step.rows,
                row_bytes: step.row_bytes,
                executions: step.executions,
                cost: Cost::cpu(cost::pass(step.rows)),
                inputs: vec![step, inner],
                ..Step::default()
            };
        }
        step
    }

    /// The name of a subquery's value; it is noted for the step at hand.
    fn subquery(&mut self, id: u32, slots: &[String]) -> String {
        if !self.asked.iter().any(|(other, _)| *other == id) {
            self.asked.push((id, slots.to_vec()));
        }
        format!("[Subquery{}]", id + 1)
    }

    fn next_expr(&mut self) -> String {
        self.last_expr += 1;
        format!("[Expr{}]", self.last_expr)
    }

    fn bare(&mut self, node: &'a Node, executions: f64) -> (Step, Vec<String>) {
        let rows = node.rows;
        match &node.op {
            Op::Metered { input, figures } => {
                let (mut step, slots) = self.node(input, executions);
                // A projection that is no step has its measure on the step below, which has one already.
                let measured = figures.measured();
                if let (Op::NestedLoops { spread: Some(_), .. }, [loops]) =
                    (&input.op, &mut step.inputs[..])
                {
                    // Above them stands the step that gathers their rows.
                    loops.measured = Some(measured);
                }
                step.measured.get_or_insert(measured);
                (step, slots)
            }
            Op::OneRow => (self.scan_of_nothing(rows), Vec::new()),
            // It has columns, whose names nobody knows any more.
            Op::Empty => (self.scan_of_nothing(rows), vec!["NULL".to_owned(); node.types.len()]),
            Op::Values { rows } => {
                let slots = (0..node.types.len()).map(|i| format!("[Union{}]", 1001 + i)).collect();
                (self.values(rows), slots)
            }
            Op::Scan(scan) => self.scan(scan, node, executions),
            Op::System { view, args, columns } => {
                let (schema, name) = view.name.split_once('.').unwrap_or(("sys", &view.name));
                let args = self.scalars(args, &[]);
                let arguments = match args.is_empty() {
                    true => vec![format!("OBJECT:([{}].[{schema}].[{name}])", self.database)],
                    false => {
                        vec![format!("OBJECT:([{}].[{schema}].[{name}]({args}))", self.database)]
                    }
                };
                let slots = columns
                    .iter()
                    .map(|c| format!("[{schema}].[{name}].[{}]", view.columns[*c].name))
                    .collect();
                let cost = cost::read(rows, 100.0);
                let step = Step {
                    physical: "Table-valued function",
                    logical: "Table-valued function",
                    arguments,
                    cost,
                    ..Step::default()
                };
                (step, slots)
            }
            Op::Function { func, args } => {
                let args = self.scalars(args, &[]);
                let arguments = vec![format!("OBJECT:([{func:?}]({args}))")];
                let slots = (0..node.types.len()).map(|_| self.next_expr()).collect();
                let what = "Table-valued function";
                (step(what, what, arguments, cost::read(rows, 100.0), Vec::new()), slots)
            }
            Op::Recursive { anchor, step: below, .. } => {
                let (anchor, slots) = self.node(anchor, executions);
                let (below, _) = self.node(below, rows);
                let cost = Cost::cpu(cost::pass(rows));
                let both = step(
                    "Concatenation",
                    "Concatenation",
                    Vec::new(),
                    Cost::cpu(cost::pass(rows)),
                    vec![anchor, below],
                );
                let with = vec!["WITH STACK".to_owned()];
                (step("Index Spool", "Lazy Spool", with, cost, vec![both]), slots)
            }
            Op::Filter { input, predicate } => {
                let (input, slots) = self.node(input, executions);
                let text = self.scalar(predicate, &slots);
                let cost = Cost::cpu(input.rows * 0.000_000_48);
                (
                    step("Filter", "Filter", vec![format!("WHERE:({text})")], cost, vec![input]),
                    slots,
                )
            }
            Op::Project { input, exprs } => self.project(input, exprs, executions),
            Op::NestedLoops { .. } | Op::HashJoin { .. } | Op::MergeJoin { .. } => {
                self.join(node, executions)
            }
            Op::Aggregate { .. } => self.aggregation(node, executions),
            Op::Gather { input, .. } => {
                let (mut input, slots) = self.node(input, executions);
                input.spread();
                (streams("Gather Streams", input), slots)
            }
            Op::Fold { input, keys } => {
                let (input, mut slots) = self.node(input, executions);
                let by: Vec<String> = keys.iter().map(|i| slots[*i as usize].clone()).collect();
                let cost = Cost::cpu(cost::hash(rows, input.rows));
                let arguments = vec![format!("HASH:({})", by.join(", "))];
                let mut step =
                    step("Hash Match", "Partial Aggregate", arguments, cost, vec![input]);
                let name = self.next_expr().replace("Expr", "partialagg");
                slots.push(name.clone());
                step.defines = vec![(name, "COUNT(*)".to_owned())];
                (step, slots)
            }
            Op::Sort { input, keys } => {
                let (input, slots) = self.node(input, executions);
                let by = format!("ORDER BY:({})", self.keys(keys, &slots));
                (step("Sort", "Sort", vec![by], cost::sort(input.rows), vec![input]), slots)
            }
            Op::TopN { input, keys, few: Few { count, passed } } => {
                let (input, slots) = self.node(input, executions);
                let mut bare = |e| self.scalar(e, &[]).trim_matches(['(', ')']).to_owned();
                let top = match passed {
                    Some(passed) => format!("TOP {} + {}", bare(passed), bare(count)),
                    None => format!("TOP {}", bare(count)),
                };
                let by = format!("ORDER BY:({})", self.keys(keys, &slots));
                let cost = cost::sort(input.rows.min(rows.max(2.0)));
                (step("Sort", "TopN Sort", vec![top, by], cost, vec![input]), slots)
            }
            Op::Top { input, count, percent, ties } => {
                let (input, slots) = self.node(input, executions);
                let mut text = format!("TOP EXPRESSION:({})", self.scalar(count, &[]));
                if *percent {
                    text += " PERCENT";
                }
                if ties.is_some() {
                    text += " WITH TIES";
                }
                (step("Top", "Top", vec![text], Cost::cpu(cost::pass(rows)), vec![input]), slots)
            }
            Op::Offset { input, offset, fetch } => {
                let (input, slots) = self.node(input, executions);
                let mut text = format!("OFFSET EXPRESSION:({})", self.scalar(offset, &[]));
                if let Some(fetch) = fetch {
                    text += &format!(",TOP EXPRESSION:({})", self.scalar(fetch, &[]));
                }
                (step("Top", "Top", vec![text], Cost::cpu(cost::pass(rows)), vec![input]), slots)
            }
            Op::Serialize { input, spec } => {
                let (input, _) = self.node(input, executions);
                let name = self.next_expr();
                let what = if spec.xml { "FOR XML" } else { "FOR JSON" };
                let cost = Cost::cpu(cost::pass(input.rows));
                let mut step =
                    step("UDX", "UDX", vec![format!("NAME:({what})")], cost, vec![input]);
                step.output = vec![name.clone()];
                (step, vec![name])
            }
            Op::Distinct { input, keys } => {
                let (input, slots) = self.node(input, executions);
                let hash = format!("HASH:({})", slots[..*keys].join(", "));
                let cost = Cost::cpu(cost::hash(rows, input.rows));
                (step("Hash Match", "Aggregate", vec![hash], cost, vec![input]), slots)
            }
            Op::Window { input, partition, order, funcs } => {
                self.window(input, partition, order, funcs, executions)
            }
            Op::Concat { inputs } => {
                let (mut names, mut known) = (Vec::new(), false);
                let mut steps = Vec::new();
                for input in inputs {
                    let (step, slots) = self.node(input, executions);
                    // Those of an input that has no rows only where no other has any.
                    let has_rows = !has_no_rows(input);
                    if names.is_empty() || (has_rows && !known) {
                        (names, known) = (slots, has_rows);
                    }
                    steps.push(step);
                }
                let cost = Cost::cpu(cost::pass(rows));
                (step("Concatenation", "Concatenation", Vec::new(), cost, steps), names)
            }
            Op::Spool { id } => self.spool(*id, rows),
            Op::HashSetOp { op, left, right } => {
                let (left, slots) = self.node(left, executions);
                let (right, build) = self.node(right, executions);
                let logical = match op {
                    SetOp::Except => "Right Anti Semi Join",
                    _ => "Right Semi Join",
                };
                let hash = format!("HASH:({})=({})", build.join(", "), slots.join(", "));
                let cost = Cost::cpu(cost::hash(right.rows, left.rows));
                (step("Hash Match", logical, vec![hash], cost, vec![right, left]), slots)
            }
        }
    }

    fn scan_of_nothing(&self, rows: f64) -> Step {
        let mut step = step(
            "Constant Scan",
            "Constant Scan",
            Vec::new(),
            Cost::cpu(0.000_001_157),
            Vec::new(),
        );
        step.rows = rows;
        step
    }

    fn values(&mut self, rows: &[Vec<Expr>]) -> Step {
        const SHOWN: usize = 20;
        let mut shown: Vec<String> =
            rows.iter().take(SHOWN).map(|row| format!("({})", self.scalars(row, &[]))).collect();
        if rows.len() > SHOWN {
            shown.push("...".to_owned());
        }
        let mut step = self.scan_of_nothing(rows.len() as f64);
        step.arguments = vec![format!("VALUES:({})", shown.join(", "))];
        step
    }

    fn project(&mut self, input: &'a Node, exprs: &[Expr], executions: f64) -> (Step, Vec<String>) {
        let (input, below) = self.node(input, executions);
        let mut defines = Vec::new();
        let mut slots = Vec::with_capacity(exprs.len());
        for e in exprs {
            if let ExprKind::Slot(i) = e.kind {
                slots.push(below[i as usize].clone());
                continue;
            }
            let text = self.scalar(e, &below);
            let name = self.next_expr();
            slots.push(name.clone());
            defines.push((name, text));
        }
        if defines.is_empty() {
            let mut input = input;
            input.output = slots.iter().filter(|s| s.starts_with('[')).cloned().collect();
            return (input, slots);
        }
        let cost = Cost::cpu(cost::pass(input.rows));
        let mut step = step("Compute Scalar", "Compute Scalar", Vec::new(), cost, vec![input]);
        step.defines = defines;
        (step, slots)
    }

    fn aggregation(&mut self, node: &'a Node, executions: f64) -> (Step, Vec<String>) {
        let Op::Aggregate { input, group, aggs, strategy, sets, .. } = &node.op else {
            stdx::fatal!("no aggregate");
        };
        let (input, below) = self.node(input, executions);
        let keys: Vec<String> = group.iter().map(|e| self.scalar(e, &below)).collect();
        let mut slots = keys.clone();
        let mut defines = Vec::new();
        for agg in aggs {
            let text = self.aggregate(agg.func, agg.distinct, agg.arg.as_ref(), &below);
            let name = self.next_expr();
            slots.push(name.clone());
            defines.push((name, text));
        }
        if sets.is_some() {
            slots.push(self.next_expr());
        }
        let (physical, word, cost) = match strategy {
            AggStrategy::Stream => {
                ("Stream Aggregate", "GROUP BY", cost::stream_aggregate(input.rows))
            }
            AggStrategy::Hash => ("Hash Match", "HASH", cost::hash(node.rows, input.rows)),
        };
        let arguments = match keys.is_empty() {
            true => Vec::new(),
            false => vec![format!("{word}:({})", keys.join(", "))],
        };
        let mut step = step(physical, "Aggregate", arguments, Cost::cpu(cost), vec![input]);
        step.defines = defines;
        (step, slots)
    }

    fn window(
        &mut self,
        input: &'a Node,
        partition: &[Expr],
        order: &[SortKey],
        funcs: &[WindowCall],
        executions: f64,
    ) -> (Step, Vec<String>) {
        let (input, mut slots) = self.node(input, executions);
        let (rows, row_bytes) = (input.rows, input.row_bytes);
        let cost = Cost::cpu(cost::pass(rows));
        let by: Vec<String> = partition.iter().map(|e| self.scalar(e, &slots)).collect();
        let below = match by.is_empty() {
            true => Vec::new(),
            false => vec![format!("GROUP BY:({})", by.join(", "))],
        };
        let mut segment = step("Segment", "Segment", below, cost, vec![input]);
        (segment.rows, segment.row_bytes, segment.executions) = (rows, row_bytes, executions);
        let below = slots.clone();
        let mut defines = Vec::new();
        for call in funcs {
            let text = self.window_function(&call.func, &below);
            let name = self.next_expr();
            slots.push(name.clone());
            defines.push((name, text));
        }
        let is_ranking = |call: &WindowCall| {
            use WindowFunc::{DenseRank, NTile, Rank, RowNumber};
            matches!(call.func, RowNumber | Rank | DenseRank | NTile(_))
        };
        let (physical, logical) = match funcs.iter().all(is_ranking) {
            true => ("Sequence Project", "Compute Scalar"),
            false => ("Window Aggregate", "Window Aggregate"),
        };
        let mut arguments = Vec::new();
        if physical == "Window Aggregate" && !order.is_empty() {
            arguments.push(format!("ORDER BY:({})", self.keys(order, &below)));
        }
        let mut step = step(physical, logical, arguments, cost, vec![segment]);
        step.defines = defines;
        (step, slots)
    }

    fn keys(&mut self, keys: &[SortKey], slots: &[String]) -> String {
        let all: Vec<String> = keys
            .iter()
            .map(|k| {
                format!("{} {}", self.scalar(&k.expr, slots), if k.desc { "DESC" } else { "ASC" })
            })
            .collect();
        all.join(", ")
    }

    fn columns_of(&self, table: &TableDef) -> Vec<String> {
        table.columns.iter().map(|c| self.column(table, &c.name)).collect()
    }

    fn column(&self, table: &TableDef, column: &str) -> String {
        match table.place {
            catalog::Place::Database => {
                format!("[{}].[{}].[{}].[{column}]", self.database, table.schema, table.name)
            }
            _ => format!("[{}].[{column}]", table.name),
        }
    }

    fn object(&self, table: &TableDef, index: Option<usize>) -> Object {
        let index_name = match index {
            Some(at) => Some(&*table.indexes[at].name),
            None => table.clustered_name(),
        };
        Object {
            database: match table.is_private() {
                true => "tempdb".to_owned(),
                false => self.database.to_owned(),
            },
            schema: table.schema.to_string(),
            table: table.name.to_string(),
            index: index_name.map(|name| name.to_string()),
            clustered: index.is_none() && index_name.is_some(),
        }
    }
}

fn step(
    physical: &'static str,
    logical: &'static str,
    arguments: Vec<String>,
    cost: Cost,
    inputs: Vec<Step>,
) -> Step {
    Step { physical, logical, arguments, cost, inputs, ..Step::default() }
}

/// Rows of the input on their way to branches, or from them.
fn streams(logical: &'static str, input: Step) -> Step {
    let cost = Cost::cpu(0.028_5 + 5.0 * cost::pass(input.rows));
    let (rows, row_bytes, output) = (input.rows, input.row_bytes, input.output.clone());
    let step = step("Parallelism", logical, Vec::new(), cost, vec![input]);
    Step { parallel: true, rows, row_bytes, output, ..step }
}

impl Step {
    /// Fills in what is left out, and the sums.
    fn total(&mut self, executions: f64) -> f64 {
        if self.executions == 0.0 {
            self.executions = executions;
        }
        let executions = self.executions;
        let below: f64 = self.inputs.iter_mut().map(|input| input.total(executions)).sum();
        self.subtree = self.cost.total() + below;
        self.subtree
    }
}

/// The bytes of a row at a guess: a text is half full.
fn row_bytes(types: &[SqlType]) -> u32 {
    let of = |ty: &SqlType| match (types::row::fixed_bytes(*ty), ty) {
        (Some(bytes), _) => bytes as u32,
        (None, SqlType::NVarChar(len)) => len.limit().min(4_000) as u32 + 2,
        (None, SqlType::VarChar(len) | SqlType::VarBinary(len)) => {
            len.limit().min(8_000) as u32 / 2 + 2
        }
        (None, _) => 16,
    };
    types.iter().map(of).sum::<u32>() + 9
}

/// Whether it is known to have none.
fn has_no_rows(node: &Node) -> bool {
    match &node.op {
        Op::Metered { input, .. } | Op::Project { input, .. } | Op::Filter { input, .. } => {
            has_no_rows(input)
        }
        op => matches!(op, Op::Empty),
    }
}
