//! Rows read for statistics: as they lie in the tree, whoever wrote them, without locks.
//!
//! Promise: nobody waits for who reads so, and who reads so waits for nobody's transaction.

use crate::{EngineError, Tree};
use std::ops::Bound;
use storage::RandomLeaf;

impl Tree {
    /// A leaf, all with about one chance; `below(n)` gives numbers from 0 to n - 1. See [`RandomLeaf`]. Suspends.
    pub fn random_leaf(
        &self,
        below: &mut dyn FnMut(u64) -> u64,
    ) -> Result<RandomLeaf, EngineError> {
        Ok(self.inner.tree.random_leaf(below)?)
    }

    /// Every row that is not a ghost, in the order of the keys. Suspends.
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
