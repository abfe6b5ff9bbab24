//! Readings of tables, shown: what costs is what is read, not what is given.

use super::{Show, Step, row_bytes, step};
use crate::cost::{self, Cost};
use crate::plan::*;
use types::{Value, compare::like_start};

impl<'a> Show<'a> {
    pub(super) fn scan(
        &mut self,
        scan: &'a Scan,
        node: &Node,
        executions: f64,
    ) -> (Step, Vec<String>) {
        let table = &*scan.table;
        let mut slots: Vec<String> =
            scan.columns.iter().map(|c| self.column(table, &table.columns[*c].name)).collect();
        if scan.locator {
            slots.push("[Bmk1000]".to_owned());
        }
        let object = self.object(table, scan.index);
        let is_seek = scan.range.is_some();
        let (physical, ordered) = match (scan.index.is_some(), object.clustered, is_seek) {
            (true, _, true) => ("Index Seek", true),
            (true, _, false) => ("Index Scan", true),
            (_, true, true) => ("Clustered Index Seek", true),
            (_, true, false) => ("Clustered Index Scan", scan.reverse),
            _ => ("Table Scan", false),
        };
        let mut arguments = vec![object.text()];
        if let Some(range) = &scan.range {
            arguments.push(format!("SEEK:({})", self.range(scan, range)));
        }
        let predicate =
            scan.predicate.as_ref().map(|p| format!("WHERE:({})", self.scalar(p, &slots)));
        let looks_up = scan.index.is_some() && !scan.covering;
        if let Some(predicate) = predicate.as_ref().filter(|_| !looks_up) {
            arguments.push(predicate.clone());
        }
        if ordered && let Some(last) = arguments.last_mut() {
            last.push_str(if scan.reverse { " ORDERED BACKWARD" } else { " ORDERED FORWARD" });
        }
        let mut cost = cost::read(scan.rows_read, scan.stored_bytes());
        if executions > 1.0 {
            cost.cpu += cost::seek_again() * (executions - 1.0);
        }
        let mut found = step(physical, physical, arguments, cost, Vec::new());
        found.object = Some(object);
        found.executions = executions;
        found.rows = if looks_up { scan.rows_read } else { node.rows };
        if !looks_up {
            return (found, slots);
        }
        // Entries, and the row of each.
        let by_row_id = table.is_heap();
        let key: Vec<String> = match by_row_id {
            true => vec!["[Bmk1000]".to_owned()],
            false => {
                let key = table.clustered_key().iter();
                key.map(|(c, _)| self.column(table, &table.columns[*c].name)).collect()
            }
        };
        found.output = key.clone();
        found.row_bytes = 16;
        let object = self.object(table, None);
        let seek: Vec<String> = key.iter().map(|k| format!("{k}={k}")).collect();
        let mut arguments = vec![object.text(), format!("SEEK:({})", seek.join(" AND "))];
        arguments.extend(predicate);
        if let Some(last) = arguments.last_mut() {
            last.push_str(" LOOKUP ORDERED FORWARD");
        }
        let physical = if by_row_id { "RID Lookup" } else { "Clustered Index Seek" };
        let again = executions * scan.rows_read.max(1.0);
        let cost = Cost { io: cost::RANDOM_PAGE, cpu: cost::seek_again() * again };
        let mut lookup = step(physical, physical, arguments, cost, Vec::new());
        lookup.object = Some(object);
        lookup.is_lookup = true;
        (lookup.rows, lookup.executions) = (1.0, again);
        lookup.row_bytes = row_bytes(&node.types);
        lookup.output = slots.clone();
        let outer = vec![format!("OUTER REFERENCES:({})", key.join(", "))];
        let cost = Cost::cpu(cost::pairs(scan.rows_read, 1.0));
        (step("Nested Loops", "Inner Join", outer, cost, vec![found, lookup]), slots)
    }

    fn range(&mut self, scan: &Scan, range: &KeyRange) -> String {
        let key = crate::key_range::scan_key(&scan.table, scan.index);
        let mut parts = Vec::new();
        for (i, value) in range.prefix.iter().enumerate() {
            let name = self.column(&scan.table, &scan.table.columns[key[i].0].name);
            parts.push(format!("{name}={}", self.scalar(value, &[])));
        }
        let bounds = [(&range.lower, ">"), (&range.upper, "<")];
        for (bound, op) in bounds {
            let Some((value, inclusive)) = bound else { continue };
            let name =
                self.column(&scan.table, &scan.table.columns[key[range.prefix.len()].0].name);
            let equal = if *inclusive { "=" } else { "" };
            parts.push(format!("{name} {op}{equal} {}", self.scalar(value, &[])));
        }
        if range.null {
            let name =
                self.column(&scan.table, &scan.table.columns[key[range.prefix.len()].0].name);
            parts.push(format!("{name}=NULL"));
        }
        if let Some((pattern, escape)) = &range.starts {
            let name =
                self.column(&scan.table, &scan.table.columns[key[range.prefix.len()].0].name);
            let start = match (&pattern.kind, escape) {
                (ir::ExprKind::Const(Value::Str(text)), None) => like_start(text, None),
                _ => String::new(),
            };
            let ends = match next_text(&start) {
                Some(next) => [start, next].map(|text| self.text(pattern, &text)),
                // As SQL Server shows a pattern that it learns when it runs.
                None => ["Start", "End"]
                    .map(|end| format!("LikeRange{end}({})", self.scalar(pattern, &[]))),
            };
            parts.push(format!("{name} >= {} AND {name} < {}", ends[0], ends[1]));
        }
        parts.join(" AND ")
    }

    fn text(&mut self, like: &ir::Expr, text: &str) -> String {
        self.scalar(&ir::Expr::constant(Value::str(text), like.ty), &[])
    }
}

/// The text after all that begin so: its last character is the next one.
fn next_text(text: &str) -> Option<String> {
    let mut chars: Vec<char> = text.chars().collect();
    let last = chars.last_mut()?;
    *last = char::from_u32(*last as u32 + 1)?;
    Some(chars.into_iter().collect())
}
