//! Cases in which tables live in memory: of three seeds one has none, one has table 1 there, one has both. So transactions
//! over both kinds of table, and over memory alone, meet every loss of power.

use super::index::INDEX;
use super::model::{TABLES, TABLES_TREE, key, writer};
use engine::{
    Database, EngineError, MemoryForm, MemoryKind, PageId, ReadOptions, ScanOptions, TreeId,
    TxnOptions,
};
use std::ops::Bound;
use std::sync::Arc;

/// Which tables of a case live in memory.
#[derive(Clone, Copy, Debug)]
pub struct InMemory(u64);

impl InMemory {
    pub fn of(seed: u64) -> InMemory {
        InMemory(seed % 3)
    }

    pub fn has(self, table: u64) -> bool {
        self.0 == 2 || (self.0 == 1 && table == 1)
    }

    pub fn has_any(self) -> bool {
        self.0 > 0
    }

    /// A tree of a table that has just been made, or that was opened.
    pub fn keep(self, db: &Arc<Database>, table: u64, tree: TreeId) -> Result<(), EngineError> {
        if !self.has(table % INDEX) {
            return Ok(());
        }
        // Rows are found by the order of their keys, entries of the index by a hash.
        let kind = match table >= INDEX {
            true => MemoryKind::Hash { buckets: 16, tailed: false },
            false => MemoryKind::Range,
        };
        db.keep_in_memory(tree, MemoryForm { kind, durable: true })
    }

    /// All of them, of a database that was opened, before anybody uses them.
    pub fn load(self, db: &Arc<Database>) -> Result<(), EngineError> {
        if !self.has_any() {
            return Ok(());
        }
        let mut txn = db.begin(TxnOptions::default());
        let mut named = Vec::new();
        let options =
            ScanOptions { read: ReadOptions::versions(), reverse: false, one_value: false };
        let tables = db.tree(db.system_tree(TABLES_TREE));
        txn.begin_statement();
        let mut scan = txn.scan(&tables, Bound::Unbounded, Bound::Unbounded, options)?;
        while let Some((name, row)) = scan.next(&mut txn)? {
            named.push((name.to_vec(), writer(row)));
        }
        drop(scan);
        txn.end_statement();
        txn.rollback()?;
        for table in (0..TABLES as u64).flat_map(|table| [table, INDEX + table]) {
            let tree = named.iter().find(|(name, _)| name[..] == key(table));
            if let Some((_, tree)) = tree {
                self.keep(db, table, TreeId(PageId(*tree)))?;
            }
        }
        Ok(())
    }
}
