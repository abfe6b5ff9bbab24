//! Plans as text, an operator a line, inputs indented below: for tests. What users see is [`crate::show`].

use std::fmt::{self, Display, Write};

use ir::{Expr, WindowFunc};

use crate::plan::*;

impl Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        node(f, &self.root, 0)?;
        print_subplans(f, &self.subplans)?;
        for (i, spool) in self.spools.iter().enumerate() {
            writeln!(f, "spool {i}")?;
            node(f, spool, 1)?;
        }
        Ok(())
    }
}

/// Subquery plans, each under its number.
fn print_subplans(f: &mut fmt::Formatter<'_>, subplans: &[SubPlan]) -> fmt::Result {
    for (i, sub) in subplans.iter().enumerate() {
        write!(f, "plan {i}")?;
        bindings(f, &sub.binds)?;
        writeln!(f)?;
        node(f, &sub.node, 1)?;
    }
    Ok(())
}

impl Display for ExprPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.expr)?;
        print_subplans(f, &self.subplans)
    }
}

fn bindings(f: &mut fmt::Formatter<'_>, binds: &[(ir::ParamId, Expr)]) -> fmt::Result {
    for (param, e) in binds {
        write!(f, " ?{}={e}", param.0)?;
    }
    Ok(())
}

struct List<'a, T>(&'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

fn node(f: &mut fmt::Formatter<'_>, n: &Node, depth: usize) -> fmt::Result {
    for _ in 0..depth {
        f.write_str("  ")?;
    }
    let mut inputs: Vec<&Node> = Vec::new();
    match &n.op {
        Op::OneRow => f.write_str("OneRow")?,
        Op::Empty => f.write_str("Empty")?,
        Op::Values { rows } => write!(f, "Values {} rows", rows.len())?,
        Op::Scan(s) => scan(f, s)?,
        Op::System { view, args, .. } => {
            write!(f, "System {}", view.name)?;
            if !args.is_empty() {
                write!(f, "({})", List(args))?;
            }
        }
        Op::Filter { input, predicate } => {
            write!(f, "Filter {predicate}")?;
            inputs.push(input);
        }
        Op::Project { input, exprs } => {
            write!(f, "Project {}", List(exprs))?;
            inputs.push(input);
        }
        Op::NestedLoops { kind, left, right, binds, predicate, spool, spread } => {
            write!(f, "NestedLoops {kind:?}")?;
            bindings(f, binds)?;
            if let Some(p) = predicate {
                write!(f, " on {p}")?;
            }
            if *spool {
                f.write_str(" spool")?;
            }
            if spread.is_some() {
                f.write_str(" by branches")?;
            }
            inputs.extend([&**left, &**right]);
        }
        Op::HashJoin { kind, left, right, left_keys, right_keys, residual, seeks } => {
            write!(f, "HashJoin {kind:?} [{}] = [{}]", List(left_keys), List(right_keys))?;
            if let Some(p) = residual {
                write!(f, " on {p}")?;
            }
            inputs.extend([&**left, &**right]);
            if let Some(seeks) = seeks {
                write!(f, " or up to {} rows", seeks.rows_max)?;
                bindings(f, &seeks.binds)?;
                if seeks.spread.is_some() {
                    f.write_str(" by branches")?;
                }
                inputs.push(&seeks.right);
            }
        }
        Op::MergeJoin { kind, left, right, left_keys, right_keys, residual, many } => {
            write!(f, "MergeJoin {kind:?} [{}] = [{}]", List(left_keys), List(right_keys))?;
            if *many {
                f.write_str(" many")?;
            }
            if let Some(p) = residual {
                write!(f, " on {p}")?;
            }
            inputs.extend([&**left, &**right]);
        }
        Op::Aggregate { input, group, aggs, strategy, sets, weight, .. } => {
            write!(f, "Aggregate {strategy:?} [{}]", List(group))?;
            if let Some(sets) = sets {
                write!(f, " {} sets", sets.len())?;
            }
            if let Some(weight) = weight {
                write!(f, " by ${weight}")?;
            }
            for a in aggs {
                write!(f, " {}({}", a.func, if a.distinct { "DISTINCT " } else { "" })?;
                match &a.arg {
                    Some(e) => write!(f, "{e})")?,
                    None => f.write_str("*)")?,
                }
            }
            inputs.push(input);
        }
        Op::Gather { input, maxdop, .. } => {
            f.write_str("Gather")?;
            if *maxdop > 0 {
                write!(f, " {maxdop}")?;
            }
            inputs.push(input);
        }
        Op::Fold { input, keys } => {
            let slots: Vec<String> = keys.iter().map(|slot| format!("${slot}")).collect();
            write!(f, "Fold [{}]", slots.join(", "))?;
            inputs.push(input);
        }
        Op::Recursive { anchor, step, binds, .. } => {
            f.write_str("Recursive")?;
            bindings(f, binds)?;
            inputs.extend([&**anchor, &**step]);
        }
        Op::Function { func, args } => write!(f, "{func:?}({})", List(args))?,
        Op::Sort { input, keys } => {
            write!(f, "Sort {}", List(keys))?;
            inputs.push(input);
        }
        Op::TopN { input, keys, few } => {
            write!(f, "TopN {}", few.count)?;
            if let Some(passed) = &few.passed {
                write!(f, " after {passed}")?;
            }
            write!(f, " by {}", List(keys))?;
            inputs.push(input);
        }
        Op::Top { input, count, percent, ties } => {
            write!(f, "Top {count}")?;
            if *percent {
                f.write_str(" percent")?;
            }
            if let Some(keys) = ties {
                write!(f, " ties {}", List(keys))?;
            }
            inputs.push(input);
        }
        Op::Serialize { input, spec } => {
            f.write_str(if spec.xml { "Serialize XML" } else { "Serialize JSON" })?;
            inputs.push(input);
        }
        Op::Offset { input, offset, fetch } => {
            write!(f, "Offset {offset}")?;
            if let Some(fetch) = fetch {
                write!(f, " fetch {fetch}")?;
            }
            inputs.push(input);
        }
        Op::Distinct { input, keys } => {
            write!(f, "Distinct {keys}")?;
            inputs.push(input);
        }
        Op::Window { input, partition, order, funcs } => {
            write!(f, "Window")?;
            for w in funcs {
                write!(f, " {}", window_name(&w.func))?;
            }
            if !partition.is_empty() {
                write!(f, " partition {}", List(partition))?;
            }
            if !order.is_empty() {
                write!(f, " order {}", List(order))?;
            }
            inputs.push(input);
        }
        Op::Metered { input, .. } => {
            f.write_str("Metered")?;
            inputs.push(input);
        }
        Op::Concat { inputs: all } => {
            f.write_str("Concat")?;
            inputs.extend(all);
        }
        Op::Spool { id } => write!(f, "Spool {id}")?,
        Op::HashSetOp { op, left, right } => {
            write!(f, "{op:?}")?;
            inputs.extend([&**left, &**right]);
        }
    }
    writeln!(f)?;
    inputs.into_iter().try_for_each(|input| node(f, input, depth + 1))
}

fn window_name(func: &WindowFunc) -> String {
    match func {
        WindowFunc::RowNumber => "ROW_NUMBER".into(),
        WindowFunc::Rank => "RANK".into(),
        WindowFunc::DenseRank => "DENSE_RANK".into(),
        WindowFunc::NTile(n) => format!("NTILE({n})"),
        WindowFunc::Aggregate { func, arg: Some(arg) } => format!("{func}({arg})"),
        WindowFunc::Aggregate { func, arg: None } => format!("{func}(*)"),
        WindowFunc::Lag { arg, .. } => format!("LAG({arg})"),
        WindowFunc::Lead { arg, .. } => format!("LEAD({arg})"),
        WindowFunc::FirstValue { arg, .. } => format!("FIRST_VALUE({arg})"),
        WindowFunc::LastValue { arg, .. } => format!("LAST_VALUE({arg})"),
        WindowFunc::PercentRank => "PERCENT_RANK".into(),
        WindowFunc::CumeDist => "CUME_DIST".into(),
        WindowFunc::PercentileCont { at, .. } => format!("PERCENTILE_CONT({at})"),
        WindowFunc::PercentileDisc { at, .. } => format!("PERCENTILE_DISC({at})"),
    }
}

fn scan(f: &mut fmt::Formatter<'_>, s: &Scan) -> fmt::Result {
    let word = if s.range.is_some() { "Seek" } else { "Scan" };
    write!(f, "{word} ")?;
    if let Some(database) = &s.database {
        write!(f, "{database}.{}.", s.table.schema)?;
    }
    write!(f, "{}", s.table.name)?;
    if let Some(at) = s.index {
        write!(f, ".{}", s.table.indexes[at].name)?;
    }
    f.write_str(" (")?;
    for (i, ordinal) in s.columns.iter().enumerate() {
        write!(f, "{}{}", if i > 0 { ", " } else { "" }, s.table.columns[*ordinal].name)?;
    }
    f.write_str(")")?;
    if let Some(sample) = &s.sample {
        write!(f, " sample {:?}", sample.size)?;
    }
    if let Some(range) = &s.range {
        let mut text = String::new();
        let key = crate::key_range::scan_key(&s.table, s.index);
        let name = |i: usize| &s.table.columns[key[i].0].name;
        if let Some(row) = &range.row {
            write!(text, " row={row}")?;
        }
        for (i, e) in range.prefix.iter().enumerate() {
            write!(text, " {}={e}", name(i))?;
        }
        if let Some((e, inclusive)) = &range.lower {
            write!(
                text,
                " {}{}{e}",
                name(range.prefix.len()),
                if *inclusive { ">=" } else { ">" }
            )?;
        }
        if let Some((e, inclusive)) = &range.upper {
            write!(
                text,
                " {}{}{e}",
                name(range.prefix.len()),
                if *inclusive { "<=" } else { "<" }
            )?;
        }
        if range.null {
            write!(text, " {} is null", name(range.prefix.len()))?;
        }
        if let Some((pattern, escape)) = &range.starts {
            write!(text, " {} like {pattern}", name(range.prefix.len()))?;
            escape.iter().try_for_each(|e| write!(text, " escape {e}"))?;
        }
        write!(f, " key{text}")?;
    }
    if let Some(p) = &s.predicate {
        write!(f, " where {p}")?;
    }
    if s.index.is_some() && !s.covering {
        f.write_str(" lookup")?;
    }
    if s.locator {
        f.write_str(" locator")?;
    }
    if s.reverse {
        f.write_str(" backwards")?;
    }
    if s.hints.nolock {
        f.write_str(" nolock")?;
    }
    Ok(())
}
