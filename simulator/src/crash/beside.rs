//! Users beside recovery: they change what no loser has changed, meet what one has, and take all of it back. So it must
//! not matter to what the database holds afterwards, and nothing but a loser's row may make them wait.

use super::model::{self, TABLES, TABLES_TREE, key};
use engine::{Database, EngineError, InsertHint, Isolation, PageId, RowImage, TreeId, TxnOptions};
use std::sync::Arc;
use stdx::Prng;

/// What became of their statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Beside {
    pub done: u64,
    /// A loser had been there.
    pub refused: u64,
}

/// A transaction in each table whose keys are below `keys`, rolled back.
pub fn work(db: &Arc<Database>, rng: &mut Prng, keys: u64) -> Result<Beside, EngineError> {
    let mut sum = Beside::default();
    let levels = [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
    for table in 0..TABLES as u64 {
        let isolation = levels[rng.below(3) as usize];
        // Nobody else is here, so a lock is a loser's.
        let options = TxnOptions { isolation, lock_timeout_ms: Some(0), ..TxnOptions::default() };
        let mut txn = db.begin(options);
        let mut row = Vec::new();
        let named = txn.get(&db.tree(db.system_tree(TABLES_TREE)), &key(table), &mut row);
        let tree = match named {
            Ok(true) => db.tree(TreeId(PageId(model::writer(&row)))),
            Ok(false) | Err(EngineError::LockTimeout) => {
                txn.rollback()?;
                continue;
            }
            Err(e) => return Err(e),
        };
        for _ in 0..12 {
            let (n, mut found) = (key(rng.below(keys)), Vec::new());
            let change = [7; 300];
            let change = RowImage::new(&change[..8 + rng.below(292) as usize]);
            let done = match rng.below(4) {
                0 => txn.get(&tree, &n, &mut found).map(drop),
                1 => txn.update(&tree, &n, &change).map(drop),
                2 => txn.delete(&tree, &n).map(drop),
                _ => txn.insert(&tree, &n, &change, &mut InsertHint::default()),
            };
            match done {
                Ok(()) | Err(EngineError::Duplicate) => sum.done += 1,
                Err(EngineError::LockTimeout) => sum.refused += 1,
                Err(e) => return Err(e),
            }
        }
        txn.rollback()?;
    }
    Ok(sum)
}
