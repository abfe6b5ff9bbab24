//! Which parts of a join an expression reads.
//!
//! Promise: a question costs what the expression is long, however many parts there are.

use std::collections::HashMap;

use ir::{ColId, Expr};

use crate::columns::Needed;

/// The part of a join that each column comes from.
pub(crate) struct Parts {
    of: HashMap<ColId, usize>,
    count: usize,
}

impl Parts {
    pub fn new<'p>(parts: impl IntoIterator<Item = &'p Needed>) -> Parts {
        let (mut of, mut count) = (HashMap::new(), 0);
        for (part, columns) in parts.into_iter().enumerate() {
            of.extend(columns.iter().map(|id| (*id, part)));
            count = part + 1;
        }
        Parts { of, count }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// The part that has a column.
    pub fn of(&self, id: ColId) -> Option<usize> {
        self.of.get(&id).copied()
    }

    /// The parts that an expression reads, in order.
    pub fn read(&self, e: &Expr) -> Vec<usize> {
        let mut ids = Vec::new();
        e.columns(&mut ids);
        let mut read: Vec<usize> = ids.into_iter().filter_map(|id| self.of(id)).collect();
        read.sort_unstable();
        read.dedup();
        read
    }
}
