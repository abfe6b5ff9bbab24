//! Rows read for statistics: as they lie in the tree or in memory, whoever wrote them, without locks.
//!
//! Promise: nobody waits for who reads so, and who reads so waits for nobody's transaction.

use crate::memory::MemoryTree;
use crate::{EngineError, Tree};
use std::ops::Bound;
use std::sync::Arc;
use storage::RandomLeaf;
use storage::memory::{Places, RandomPlace};

/// Takes rows that lie together, at random: a leaf of a tree, or what is side by side in a memory-optimised table.
pub struct Sampler<'t> {
    tree: &'t Tree,
    memory: Option<(&'t Arc<MemoryTree>, Places)>,
}

/// Rows that lie together.
pub struct Place {
    rows: Rows,
    /// Which one it is: the same may be taken twice.
    pub number: u64,
    /// Places that there are, as this one has it; the mean over several is nearer.
    pub places: f64,
}

enum Rows {
    Leaf(RandomLeaf),
    InMemory(RandomPlace),
}

impl Place {
    /// The newest versions of its rows, whoever wrote them, but for deleted ones.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        let (leaf, memory) = match &self.rows {
            Rows::Leaf(leaf) => (Some(leaf.rows()), None),
            Rows::InMemory(place) => (None, Some(place.rows())),
        };
        leaf.into_iter().flatten().chain(memory.into_iter().flatten())
    }
}

impl Sampler<'_> {
    /// Whether there are places of few rows to take; else the table had better be read whole.
    pub fn has_places(&self) -> bool {
        self.memory.is_none_or(|(_, by)| !by.crowded)
    }

    /// A place, all with about one chance; `below(n)` gives numbers from 0 to n - 1. Suspends.
    pub fn next(&self, below: &mut dyn FnMut(u64) -> u64) -> Result<Place, EngineError> {
        Ok(match self.memory {
            Some((memory, by)) => {
                let place = memory.table.random_place(by, below);
                Place { number: place.place, places: place.places, rows: Rows::InMemory(place) }
            }
            None => {
                let leaf = self.tree.inner.tree.random_leaf(below)?;
                Place { number: leaf.page.0, places: leaf.leaves, rows: Rows::Leaf(leaf) }
            }
        })
    }
}

impl Tree {
    /// To take some of its rows.
    pub fn sampler(&self) -> Sampler<'_> {
        let memory = self.memory().map(|memory| (memory, memory.table.places()));
        Sampler { tree: self, memory }
    }

    /// Every row that is not deleted, a tree's in the order of its keys. Suspends.
    pub fn each_row(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), EngineError> {
        if let Some(memory) = self.memory() {
            memory.table.each_newest(|row| each(row));
            return Ok(());
        }
        let mut scan = self.inner.tree.scan(Bound::Unbounded, Bound::Unbounded, false);
        loop {
            runtime::task::maybe_yield();
            match scan.next()? {
                Some((stamp, _, row)) if !stamp.is_ghost() => each(row),
                Some(_) => {}
                None => return Ok(()),
            }
        }
    }
}
