//! Spools that several operators read: what fills one is shown below the reader that is shown first.

use super::{Show, Step, step};
use crate::cost::Cost;

impl Show<'_> {
    /// A reader, with nothing below it for now.
    pub(super) fn spool(&mut self, id: usize, rows: f64) -> (Step, Vec<String>) {
        if !self.spooled.contains_key(&id) {
            let spools = self.spools;
            let filled = self.node(&spools[id], 1.0);
            self.spooled.insert(id, filled);
        }
        let slots = self.spooled[&id].1.clone();
        let cost = Cost::cpu(0.000_1 + rows * 0.000_000_2);
        let mut reader = step("Table Spool", "Lazy Spool", Vec::new(), cost, Vec::new());
        reader.spool = Some(id);
        (reader, slots)
    }

    /// Puts what fills each spool below its first reader, as the tree is shown.
    pub(super) fn fill_spools(&mut self, shown: &mut Step) {
        if self.spooled.is_empty() {
            return;
        }
        if let Some((filled, _)) = shown.spool.and_then(|id| self.spooled.remove(&id)) {
            shown.cost.io += 0.01;
            shown.inputs.push(filled);
        }
        shown.inputs.iter_mut().for_each(|input| self.fill_spools(input));
    }
}
