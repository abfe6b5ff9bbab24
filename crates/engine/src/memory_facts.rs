//! What memory trees tell of themselves: the views of In-Memory OLTP are made of it.
//!
//! Promise: telling changes nothing and waits for nobody. Figures are of what has been done since the database was opened.

use crate::{Database, Tree};
use std::sync::atomic::Ordering::Relaxed;
use storage::memory::{Doings, IndexCensus, QueueFigures};

/// A memory tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryFacts {
    /// Bytes that its rows take, with their keys and versions, and those of the index over them.
    pub row_bytes: u64,
    pub index_bytes: u64,
    pub doings: Doings,
    /// Writes refused because another transaction had changed the row, or was about to.
    pub conflicts: u64,
    /// Rows refused because one of that key is there.
    pub duplicates: u64,
}

/// Taking out what nobody needs any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryCleaning {
    /// Rows that were looked at.
    pub examined: u64,
    /// Versions and rows taken out by transactions as they ended, and by the background.
    pub by_transactions: u64,
    pub by_background: u64,
}

impl Tree {
    /// What it is like; nothing, if it does not live in memory. Goes through the nodes of a range index.
    pub fn memory_facts(&self) -> Option<MemoryFacts> {
        let memory = self.memory()?;
        let table = &memory.table;
        Some(MemoryFacts {
            row_bytes: table.row_bytes(),
            index_bytes: table.measured_index_bytes(),
            doings: table.doings(),
            conflicts: memory.conflicts.load(Relaxed),
            duplicates: memory.duplicates.load(Relaxed),
        })
    }

    /// How its index looks. Goes through all of it.
    pub fn memory_census(&self) -> Option<IndexCensus> {
        Some(self.memory()?.table.census())
    }
}

impl Database {
    /// Cleaning since the database was opened, of trees that are still there.
    pub fn memory_cleaning(&self) -> MemoryCleaning {
        MemoryCleaning {
            examined: self.memory_queues().iter().map(|queue| queue.dequeued).sum(),
            by_transactions: self.figures.cleaned_by_transactions.load(Relaxed),
            by_background: self.figures.cleaned_by_background.load(Relaxed),
        }
    }

    /// Rows that wait to be cleaned, by the slot that has listed them.
    pub fn memory_queues(&self) -> Vec<QueueFigures> {
        let mut all: Vec<QueueFigures> = Vec::new();
        for tree in self.memory_trees() {
            let Some(memory) = tree.memory() else { continue };
            let queues = memory.table.queues();
            all.resize(all.len().max(queues.len()), QueueFigures::default());
            all.iter_mut().zip(&queues).for_each(|(sum, queue)| sum.add(queue));
        }
        all
    }
}
