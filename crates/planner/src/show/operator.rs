//! A step of a shown plan, and its line as SHOWPLAN_TEXT and SHOWPLAN_ALL have it.

use crate::cost::Cost;

/// An operator, shown.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// `PhysicalOp`.
    pub physical: &'static str,
    /// `LogicalOp`.
    pub logical: &'static str,
    /// What stands in the parentheses of a text plan, in its parts: `OBJECT:(...)`, `SEEK:(...)`.
    pub arguments: Vec<String>,
    /// `DefinedValues`: name and expression.
    pub defines: Vec<(String, String)>,
    /// `OutputList`.
    pub output: Vec<String>,
    /// Estimated rows of one execution.
    pub rows: f64,
    /// Of one row, in bytes.
    pub row_bytes: u32,
    /// Of all executions.
    pub cost: Cost,
    /// With all below.
    pub subtree: f64,
    /// Estimated.
    pub executions: f64,
    /// What it reads or writes.
    pub object: Option<Object>,
    /// Of a lookup.
    pub is_lookup: bool,
    /// Several branches may run it.
    pub parallel: bool,
    /// Rows of the first input of an adaptive join from which it hashes.
    pub adaptive_rows: Option<f64>,
    /// The spool that it reads, where several do.
    pub spool: Option<usize>,
    /// What was measured, where it was.
    pub measured: Option<Measured>,
    /// Its inputs.
    pub inputs: Vec<Step>,
}

/// What an operator reads or writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// Without brackets, as all here.
    pub database: String,
    /// See `database`.
    pub schema: String,
    /// See `database`.
    pub table: String,
    /// None: a heap's rows.
    pub index: Option<String>,
    /// The index is the clustered one.
    pub clustered: bool,
}

impl Object {
    pub(super) fn text(&self) -> String {
        let index = self.index.as_ref().map_or(String::new(), |i| format!(".[{i}]"));
        format!("OBJECT:([{}].[{}].[{}]{index})", self.database, self.schema, self.table)
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Rows given.
    pub rows: u64,
    /// Times started.
    pub executions: u64,
    /// Time in it and below, ns.
    pub elapsed_ns: u64,
    /// Pages looked up in it and below.
    pub logical_reads: u64,
    /// Pages read from files in it and below.
    pub physical_reads: u64,
}

/// A line of SHOWPLAN_ALL, and of SHOWPLAN_TEXT.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// `  |--Clustered Index Scan(...)`.
    pub text: String,
    /// Number of the step, from 1, in the order of the lines; that of the one above, 0 for the first.
    pub number: usize,
    /// See `number`.
    pub parent: usize,
    /// The step itself.
    pub step: &'a Step,
}

impl Step {
    /// It and what is below run in several branches.
    pub(super) fn spread(&mut self) {
        self.parallel = true;
        self.inputs.iter_mut().for_each(Step::spread);
    }

    /// Whether any step runs in several branches.
    pub fn is_parallel(&self) -> bool {
        self.parallel || self.inputs.iter().any(Step::is_parallel)
    }

    /// Its lines, and those below.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        self.add_lines(&mut lines, 0, "", true);
        lines
    }

    fn add_lines<'a>(&'a self, lines: &mut Vec<Line<'a>>, parent: usize, bars: &str, last: bool) {
        let number = lines.len() + 1;
        let text = format!("{bars}  |--{}", self.headline());
        lines.push(Line { text, number, parent, step: self });
        // The bar goes on beside the inputs while there are siblings below.
        let bars = format!("{bars}  {}", if last { "   " } else { "|  " });
        for (i, input) in self.inputs.iter().enumerate() {
            input.add_lines(lines, number, &bars, i + 1 == self.inputs.len());
        }
    }

    /// `Clustered Index Scan(OBJECT:(...))`.
    pub fn headline(&self) -> String {
        let mut parts = Vec::new();
        if self.logical != self.physical && !NO_LOGICAL.contains(&self.physical) {
            parts.push(self.logical.to_owned());
        }
        parts.extend(self.arguments.iter().cloned());
        if let Some(defines) = self.define_text() {
            parts.push(format!("DEFINE:({defines})"));
        }
        match parts.is_empty() {
            true => self.physical.to_owned(),
            false => format!("{}({})", self.physical, parts.join(", ")),
        }
    }

    /// `[Expr1001]=...`, all of them.
    pub fn define_text(&self) -> Option<String> {
        let all: Vec<String> = self.defines.iter().map(|(n, e)| format!("{n}={e}")).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// The column `Argument`.
    pub fn argument_text(&self) -> Option<String> {
        (!self.arguments.is_empty()).then(|| self.arguments.join(", "))
    }
}

/// Operators whose line does not name the logical one.
const NO_LOGICAL: &[&str] = &[
    "Sort",
    "Stream Aggregate",
    "Table Insert",
    "Clustered Index Insert",
    "Table Update",
    "Clustered Index Update",
    "Table Delete",
    "Clustered Index Delete",
];
