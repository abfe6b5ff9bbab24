//! Joins, shown.

use super::{Show, Step, row_bytes, step, streams};
use crate::cost::{self, Cost};
use crate::plan::*;

impl<'a> Show<'a> {
    pub(super) fn join(&mut self, node: &'a Node, executions: f64) -> (Step, Vec<String>) {
        match &node.op {
            Op::NestedLoops { .. } => self.loops(node, executions),
            Op::HashJoin { .. } => self.hash_match(node, executions),
            Op::MergeJoin { .. } => self.merge_join(node, executions),
            _ => stdx::fatal!("no join"),
        }
    }

    fn loops(&mut self, node: &'a Node, executions: f64) -> (Step, Vec<String>) {
        let Op::NestedLoops { kind, left, right, binds, predicate, spool, spread } = &node.op
        else {
            stdx::fatal!("no nested loops");
        };
        let (mut left, mut slots) = self.node(left, executions);
        if spread.is_some() {
            let measured = left.measured;
            left = Step { measured, ..streams("Distribute Streams", left) };
        }
        let outer = self.bound(binds, &slots);
        let again = executions * left.rows.max(1.0);
        let (mut right, inner) = self.node(right, if *spool { executions } else { again });
        if *spool {
            let (rows, row_bytes, output) = (right.rows, right.row_bytes, right.output.clone());
            right = step(
                "Table Spool",
                "Lazy Spool",
                Vec::new(),
                Cost { io: 0.01, cpu: cost::pass(rows * again) },
                vec![right],
            );
            (right.rows, right.row_bytes, right.output) = (rows, row_bytes, output);
            right.executions = again;
        }
        if !matches!(kind, PhysicalJoin::Semi | PhysicalJoin::Anti) {
            slots.extend(inner.iter().cloned());
        }
        let mut arguments = Vec::new();
        if !outer.is_empty() {
            arguments.push(format!("OUTER REFERENCES:({})", outer.join(", ")));
        }
        if let Some(predicate) = predicate {
            let both: Vec<String> = match kind {
                PhysicalJoin::Semi | PhysicalJoin::Anti => {
                    slots.iter().chain(&inner).cloned().collect()
                }
                _ => slots.clone(),
            };
            arguments.push(format!("WHERE:({})", self.scalar(predicate, &both)));
        }
        let cost = Cost::cpu(cost::pairs(left.rows, right.rows));
        if spread.is_some() {
            right.spread();
        }
        let mut loops = step("Nested Loops", logical(*kind), arguments, cost, vec![left, right]);
        if spread.is_some() {
            loops.parallel = true;
            loops.rows = node.rows;
            loops.row_bytes = row_bytes(&node.types);
            loops.output.clone_from(&slots);
            loops.executions = executions;
            loops = streams("Gather Streams", loops);
        }
        (loops, slots)
    }

    fn hash_match(&mut self, node: &'a Node, executions: f64) -> (Step, Vec<String>) {
        let Op::HashJoin { kind, left, right, left_keys, right_keys, residual, seeks } = &node.op
        else {
            stdx::fatal!("no hash join");
        };
        if let Some(seeks) = seeks {
            return self.adaptive(node, seeks, executions);
        }
        let (left, mut slots) = self.node(left, executions);
        let (right, build) = self.node(right, executions);
        let mut arguments = vec![format!(
            "HASH:({})=({})",
            self.scalars(right_keys, &build),
            self.scalars(left_keys, &slots)
        )];
        let both: Vec<String> = slots.iter().chain(&build).cloned().collect();
        if let Some(residual) = residual {
            arguments.push(format!("RESIDUAL:({})", self.scalar(residual, &both)));
        }
        if !matches!(kind, PhysicalJoin::Semi | PhysicalJoin::Anti) {
            slots = both;
        }
        // Seen from the input that is built, which comes first.
        let logical = match kind {
            PhysicalJoin::Inner => "Inner Join",
            PhysicalJoin::Left => "Right Outer Join",
            PhysicalJoin::Semi => "Right Semi Join",
            PhysicalJoin::Anti => "Right Anti Semi Join",
            PhysicalJoin::Full => "Full Outer Join",
        };
        let cost = Cost::cpu(cost::hash(right.rows, left.rows));
        (step("Hash Match", logical, arguments, cost, vec![right, left]), slots)
    }

    /// The left side is counted first, so it comes first; then the side as it is read whole, and as it is sought.
    fn adaptive(
        &mut self,
        node: &'a Node,
        seeks: &'a Seeks,
        executions: f64,
    ) -> (Step, Vec<String>) {
        let Op::HashJoin { kind, left, right, left_keys, right_keys, residual, .. } = &node.op
        else {
            stdx::fatal!("no hash join");
        };
        let left_rows = left.rows;
        let (left, mut slots) = self.node(left, executions);
        let outer = self.bound(&seeks.binds, &slots);
        let (right, probe) = self.node(right, executions);
        // Estimated to be read whole.
        let (sought, _) = self.node(&seeks.right, 0.0);
        let mut arguments = vec![format!(
            "HASH:({})=({})",
            self.scalars(left_keys, &slots),
            self.scalars(right_keys, &probe)
        )];
        let both: Vec<String> = slots.iter().chain(&probe).cloned().collect();
        if let Some(residual) = residual {
            arguments.push(format!("RESIDUAL:({})", self.scalar(residual, &both)));
        }
        if !outer.is_empty() {
            arguments.push(format!("OUTER REFERENCES:({})", outer.join(", ")));
        }
        if !matches!(kind, PhysicalJoin::Semi | PhysicalJoin::Anti) {
            slots = both;
        }
        let cost = Cost::cpu(cost::hash(left_rows, right.rows));
        let inputs = vec![left, right, sought];
        let mut step = step("Adaptive Join", logical(*kind), arguments, cost, inputs);
        step.adaptive_rows = Some(seeks.rows_max);
        (step, slots)
    }

    fn merge_join(&mut self, node: &'a Node, executions: f64) -> (Step, Vec<String>) {
        let Op::MergeJoin { kind, left, right, left_keys, right_keys, residual, many } = &node.op
        else {
            stdx::fatal!("no merge join");
        };
        let right_slots: Option<Vec<u32>> = right_keys.iter().map(ir::Expr::as_slot).collect();
        let right_is_unique =
            right_slots.is_some_and(|slots| crate::merge::is_unique_by(right, &slots));
        let (left, mut slots) = self.node(left, executions);
        let (right, inner) = self.node(right, executions);
        let left_keys: Vec<String> =
            left_keys.iter().map(|key| self.scalar(&key.expr, &slots)).collect();
        let words = if *many && !right_is_unique { "MANY-TO-MANY MERGE" } else { "MERGE" };
        let keys = format!("({})=({})", left_keys.join(", "), self.scalars(right_keys, &inner));
        let mut arguments = vec![format!("{words}:{keys}")];
        let both: Vec<String> = slots.iter().chain(&inner).cloned().collect();
        if let Some(residual) = residual {
            arguments.push(format!("RESIDUAL:({})", self.scalar(residual, &both)));
        }
        if !matches!(kind, PhysicalJoin::Semi | PhysicalJoin::Anti) {
            slots = both;
        }
        let cost = Cost::cpu(cost::merge(left.rows, right.rows));
        (step("Merge Join", logical(*kind), arguments, cost, vec![left, right]), slots)
    }
}

/// The logical operator of a join that is seen from its left input.
fn logical(kind: PhysicalJoin) -> &'static str {
    match kind {
        PhysicalJoin::Inner => "Inner Join",
        PhysicalJoin::Left => "Left Outer Join",
        PhysicalJoin::Semi => "Left Semi Join",
        PhysicalJoin::Anti => "Left Anti Semi Join",
        PhysicalJoin::Full => "Full Outer Join",
    }
}
