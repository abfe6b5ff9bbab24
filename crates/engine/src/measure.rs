//! How a tree lies in its files, for who decides what to rebuild: see storage's `measure.rs`.

use crate::{Database, EngineError, Tree};
use storage::{LevelFigures, Measure, StorageError, TxnLog};
use transaction::FusedChange;

impl Database {
    /// Measures a tree, a level each, the leaves first; none: it is not there, or not on pages. `stop` is asked on the way,
    /// and what it ends is nothing to go by. Without locks: it waits for nobody. Suspends.
    pub fn measure(
        &self,
        tree: &Tree,
        how: Measure,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<LevelFigures>>, EngineError> {
        if tree.is_memory() || !tree.is_current() {
            return Ok(None);
        }
        let judge = FusedChange::new(&self.shared);
        let mut needed =
            |stamp, key: &[u8]| !judge.purgeable(stamp, tree.id(), &mut || key.to_vec());
        match tree.inner.tree.measure(how, &mut needed, stop) {
            Ok(levels) => Ok(Some(levels)),
            // Its pages have become another's meanwhile.
            Err(StorageError::Corrupt { .. }) if !tree.is_current() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
