//! SHOWPLAN_XML: Microsoft's showplan schema of 2004/07, as far as our plans have what it asks for.

use super::{Measured, Object, Step};
use std::fmt::Write;

/// A statement of the document.
#[derive(Clone, Debug, Default)]
pub struct XmlStatement<'a> {
    /// Its text.
    pub text: &'a str,
    /// `SELECT`, `INSERT`, `DECLARE` ...
    pub kind: &'a str,
    /// From 1, within the batch.
    pub number: usize,
    /// None: it has no plan.
    pub plan: Option<&'a Step>,
}

/// The document of a batch.
pub fn document(statements: &[XmlStatement<'_>]) -> String {
    let mut out = String::from(
        "<ShowPlanXML xmlns=\"http://schemas.microsoft.com/sqlserver/2004/07/showplan\" Version=\"1.564\" \
         Build=\"16.0.1000.6\"><BatchSequence><Batch><Statements>",
    );
    for statement in statements {
        one(&mut out, statement);
    }
    out.push_str("</Statements></Batch></BatchSequence></ShowPlanXML>");
    out
}

fn one(out: &mut String, statement: &XmlStatement<'_>) {
    let n = statement.number;
    let _ = write!(
        out,
        "<StmtSimple StatementText=\"{}\" StatementId=\"{n}\" StatementCompId=\"{n}\"",
        escape(statement.text)
    );
    let _ = write!(out, " StatementType=\"{}\"", escape(statement.kind));
    let Some(plan) = statement.plan else {
        out.push_str("/>");
        return;
    };
    let _ = write!(
        out,
        " StatementSubTreeCost=\"{}\" StatementEstRows=\"{}\" StatementOptmLevel=\"FULL\"><QueryPlan \
         {}>",
        number(plan.subtree),
        number(plan.rows),
        // How many branches it has is known only when it runs.
        if plan.is_parallel() { "" } else { "DegreeOfParallelism=\"1\"" },
    );
    let mut node = 0;
    operator(out, plan, &mut node);
    out.push_str("</QueryPlan></StmtSimple>");
}

fn operator(out: &mut String, step: &Step, node: &mut usize) {
    let _ = write!(
        out,
        "<RelOp NodeId=\"{node}\" PhysicalOp=\"{}\" LogicalOp=\"{}\" EstimateRows=\"{}\" EstimateIO=\"{}\" \
         EstimateCPU=\"{}\" AvgRowSize=\"{}\" EstimatedTotalSubtreeCost=\"{}\" Parallel=\"{}\" \
         EstimateRebinds=\"{}\" EstimateRewinds=\"0\" EstimatedExecutionMode=\"Row\"{}>",
        step.physical,
        step.logical,
        number(step.rows),
        number(step.cost.io),
        number(step.cost.cpu),
        step.row_bytes,
        number(step.subtree),
        u8::from(step.parallel),
        number((step.executions - 1.0).max(0.0)),
        step.adaptive_rows.map_or(String::new(), |rows| format!(
            " IsAdaptive=\"1\" AdaptiveThresholdRows=\"{}\" EstimatedJoinType=\"Hash Match\"",
            number(rows)
        )),
    );
    *node += 1;
    out.push_str("<OutputList>");
    step.output.iter().for_each(|column| reference(out, column));
    out.push_str("</OutputList>");
    if let Some(measured) = &step.measured {
        run_time(out, measured);
    }
    let (element, attributes) = element(step);
    let _ = write!(out, "<{element}{attributes}>");
    // The schema has these in this order, before the inputs.
    if !step.defines.is_empty() || HAS_DEFINES.contains(&element) {
        out.push_str("<DefinedValues>");
        for (name, expression) in &step.defines {
            out.push_str("<DefinedValue>");
            reference(out, name);
            scalar(out, expression);
            out.push_str("</DefinedValue>");
        }
        out.push_str("</DefinedValues>");
    }
    for argument in &step.arguments {
        if argument.starts_with("OUTER REFERENCES:(") {
            out.push_str("<OuterReferences>");
            parts(argument).for_each(|column| reference(out, column));
            out.push_str("</OuterReferences>");
        }
        if argument.starts_with("ORDER BY:(") && element != "WindowAggregate" {
            out.push_str("<OrderBy>");
            for key in parts(argument) {
                let (column, ascending) = match key.strip_suffix(" DESC") {
                    Some(column) => (column, 0),
                    None => (key.strip_suffix(" ASC").unwrap_or(key), 1),
                };
                let _ = write!(out, "<OrderByColumn Ascending=\"{ascending}\">");
                reference(out, column);
                out.push_str("</OrderByColumn>");
            }
            out.push_str("</OrderBy>");
        }
        if argument.starts_with("GROUP BY:(") {
            out.push_str("<GroupBy>");
            parts(argument).for_each(|column| reference(out, column));
            out.push_str("</GroupBy>");
        }
        for (word, first, second) in KEYS_OF_SIDES {
            let Some(keys) = argument.strip_prefix(word) else { continue };
            let mut sides = keys.split(")=(");
            for (side, word) in [(sides.next(), first), (sides.next(), second)] {
                let Some(side) = side else { continue };
                let _ = write!(out, "<{word}>");
                let columns = side.trim_matches(['(', ')']).split(", ");
                columns.filter(|c| !c.is_empty()).for_each(|column| reference(out, column));
                let _ = write!(out, "</{word}>");
            }
        }
    }
    if let Some(object) = &step.object {
        described(out, object);
    }
    // A Filter's predicate stands behind its input.
    let is_filter = element == "Filter";
    if !is_filter {
        predicates(out, step);
    }
    step.inputs.iter().for_each(|input| operator(out, input, node));
    if is_filter {
        predicates(out, step);
    }
    let _ = write!(out, "</{element}></RelOp>");
}

fn predicates(out: &mut String, step: &Step) {
    for argument in &step.arguments {
        let text = argument.split(" ORDERED ").next().unwrap_or("").trim_end_matches(" LOOKUP");
        if let Some(rest) = text.strip_prefix("SEEK:(") {
            out.push_str("<SeekPredicates><SeekPredicateNew><SeekKeys><Prefix ScanType=\"EQ\">");
            out.push_str("<RangeColumns/><RangeExpressions>");
            scalar(out, rest.strip_suffix(')').unwrap_or(rest));
            out.push_str(
                "</RangeExpressions></Prefix></SeekKeys></SeekPredicateNew></SeekPredicates>",
            );
        }
        let residual = if step.physical == "Merge Join" { "Residual" } else { "ProbeResidual" };
        for (word, element) in
            [("WHERE:(", "Predicate"), ("RESIDUAL:(", residual), ("SET:(", "SetPredicate")]
        {
            if let Some(rest) = text.strip_prefix(word) {
                let _ = write!(out, "<{element}>");
                scalar(out, rest.strip_suffix(')').unwrap_or(rest));
                let _ = write!(out, "</{element}>");
            }
        }
        if let Some(rest) = text.strip_prefix("TOP EXPRESSION:(") {
            out.push_str("<TopExpression>");
            scalar(out, rest.strip_suffix(')').unwrap_or(rest));
            out.push_str("</TopExpression>");
        }
    }
}

/// Arguments that list the keys of two sides, and the elements of either side in the order of the argument.
const KEYS_OF_SIDES: [(&str, &str, &str); 3] = [
    ("HASH:", "HashKeysBuild", "HashKeysProbe"),
    ("MERGE:", "OuterSideJoinColumns", "InnerSideJoinColumns"),
    ("MANY-TO-MANY MERGE:", "OuterSideJoinColumns", "InnerSideJoinColumns"),
];

/// Elements that have the list even when it is empty.
const HAS_DEFINES: &[&str] = &[
    "IndexScan",
    "TableScan",
    "TableValuedFunction",
    "ComputeScalar",
    "StreamAggregate",
    "Concat",
];

/// The element of an operator, and its attributes.
fn element(step: &Step) -> (&'static str, String) {
    let backward = step.arguments.iter().any(|a| a.ends_with("ORDERED BACKWARD"));
    let ordered = step.arguments.iter().any(|a| a.contains(" ORDERED "));
    match step.physical {
        "Index Seek"
        | "Index Scan"
        | "Clustered Index Seek"
        | "Clustered Index Scan"
        | "RID Lookup" => {
            let lookup = if step.is_lookup { " Lookup=\"1\"" } else { "" };
            let direction = if backward { "BACKWARD" } else { "FORWARD" };
            let text = format!(
                "{lookup} Ordered=\"{}\" ScanDirection=\"{direction}\" ForcedIndex=\"0\" ForceSeek=\"0\" \
                 NoExpandHint=\"0\"",
                u8::from(ordered)
            );
            ("IndexScan", text)
        }
        "Table Scan" => ("TableScan", " Ordered=\"0\" ForcedIndex=\"0\" NoExpandHint=\"0\"".into()),
        "Nested Loops" => ("NestedLoops", " Optimized=\"0\"".into()),
        "Hash Match" => ("Hash", String::new()),
        "Adaptive Join" => ("AdaptiveJoin", " Optimized=\"0\"".into()),
        "Merge Join" => {
            let many = step.arguments.iter().any(|a| a.starts_with("MANY-TO-MANY"));
            ("Merge", format!(" ManyToMany=\"{}\"", u8::from(many)))
        }
        "Parallelism" => ("Parallelism", String::new()),
        "Stream Aggregate" => ("StreamAggregate", String::new()),
        "Sort" if step.logical == "TopN Sort" => ("TopSort", " Distinct=\"0\"".into()),
        "Sort" => ("Sort", " Distinct=\"0\"".into()),
        "Top" => {
            let percent = step.arguments.iter().any(|a| a.contains(" PERCENT"));
            ("Top", format!(" IsPercent=\"{}\"", u8::from(percent)))
        }
        "Filter" => ("Filter", " StartupExpression=\"0\"".into()),
        "Compute Scalar" => ("ComputeScalar", String::new()),
        "UDX" => {
            let xml = step.arguments.iter().any(|a| a.contains("FOR XML"));
            ("Extension", format!(" UDXName=\"{}\"", if xml { "FOR XML" } else { "FOR JSON" }))
        }
        "Sequence Project" => ("SequenceProject", String::new()),
        "Segment" => ("Segment", String::new()),
        "Window Aggregate" => ("WindowAggregate", String::new()),
        "Concatenation" => ("Concat", String::new()),
        "Constant Scan" => ("ConstantScan", String::new()),
        "Table Spool" | "Index Spool" => ("Spool", String::new()),
        "Table-valued function" => ("TableValuedFunction", String::new()),
        _ => ("Update", " DMLRequestSort=\"0\"".into()),
    }
}

fn run_time(out: &mut String, measured: &Measured) {
    let _ = write!(
        out,
        "<RunTimeInformation><RunTimeCountersPerThread Thread=\"0\" ActualRows=\"{}\" ActualEndOfScans=\"0\" \
         ActualExecutions=\"{}\" ActualElapsedms=\"{}\" ActualLogicalReads=\"{}\" ActualPhysicalReads=\"{}\"/>\
         </RunTimeInformation>",
        measured.rows,
        measured.executions,
        measured.elapsed_ns / 1_000_000,
        measured.logical_reads,
        measured.physical_reads,
    );
}

fn described(out: &mut String, object: &Object) {
    let _ = write!(
        out,
        "<Object Database=\"[{}]\" Schema=\"[{}]\" Table=\"[{}]\"",
        escape(&object.database),
        escape(&object.schema),
        escape(&object.table)
    );
    let kind = match (&object.index, object.clustered) {
        (Some(index), clustered) => {
            let _ = write!(out, " Index=\"[{}]\"", escape(index));
            if clustered { "Clustered" } else { "NonClustered" }
        }
        (None, _) => "Heap",
    };
    let _ = write!(out, " IndexKind=\"{kind}\" Storage=\"RowStore\"/>");
}

/// `[database].[schema].[table].[column]`, or as much of it as there is.
fn reference(out: &mut String, name: &str) {
    // What is computed on the spot has its text for a name.
    let is_column = name.starts_with('[') && name.ends_with(']') && !name.contains('(');
    let parts: Vec<&str> = match is_column {
        true => name[1..name.len() - 1].split("].[").collect(),
        false => vec![name],
    };
    out.push_str("<ColumnReference");
    if let [database, schema, table, _] = parts[..] {
        let (d, s, t) = (escape(database), escape(schema), escape(table));
        let _ = write!(out, " Database=\"[{d}]\" Schema=\"[{s}]\" Table=\"[{t}]\"");
    }
    let _ = write!(out, " Column=\"{}\"/>", escape(parts.last().copied().unwrap_or("")));
}

fn scalar(out: &mut String, text: &str) {
    let _ = write!(out, "<ScalarOperator ScalarString=\"{}\"/>", escape(text));
}

/// What an argument lists.
fn parts(argument: &str) -> impl Iterator<Item = &str> {
    let inner =
        argument.split_once('(').map_or("", |(_, rest)| rest.strip_suffix(')').unwrap_or(rest));
    inner.split(", ").filter(|part| !part.is_empty())
}

fn number(n: f64) -> String {
    format!("{}", (n * 1e7).round() / 1e7)
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#xd;"),
            '\n' => out.push_str("&#xa;"),
            '\t' => out.push_str("&#x9;"),
            // XML has no such characters.
            c if (c as u32) < 0x20 => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
