//! The trees beside durable memory trees, brought up to date by checkpoints; and from where on the log must stay for what
//! they lack.
//!
//! Why nothing is lost. A checkpoint first notes from where on the log has what unfinished transactions may log (`from`),
//! then takes a tree's lists, then writes the newest committed state of each row. A transaction that had committed when
//! `from` was noted had listed its rows before: they are in the lists, or were written before. One that had not has
//! logged nothing below `from`. So below `from` the log has nothing of the tree that is not beside it.
//!
//! What is written has committed, and its record comes before the record of the writing in the same log. A crash between two
//! rows leaves the tree beside with some rows newer than others: recovery takes them, and then all images from the log's
//! beginning on, in their order, so that each row ends as its last image says, or as the tree beside has it where the log
//! has none.

use super::room::room_for;
use super::{MemoryTree, Xids};
use crate::{
    Database, EngineError, Finding, InsertHint, Lsn, RowImage, ScanOptions, Tree, Txn, TxnOptions,
};
use lock_manager::TableMode;
use runtime::task;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use storage::StorageError;
use storage::memory::{Held, Table};
use transaction::{Bug, Settling, Shared, planted};

/// Rows that are put in order at a time: what takes no longer than a task may.
const SORTED: usize = 4096;

impl Database {
    /// Brings the trees beside memory trees up to date, as far as nobody is defining their tables anew. One at a time:
    /// under the lock of checkpoints. Suspends.
    pub(crate) fn write_memory(&self) -> Result<(), EngineError> {
        let durable = |tree: &Tree| tree.memory().is_some_and(|memory| memory.durable);
        let trees: Vec<Tree> = self.memory_trees().into_iter().filter(durable).collect();
        if trees.is_empty() {
            return Ok(());
        }
        let aside = self.room_aside.take();
        let from = self.nothing_unwritten_below();
        let mut written = Ok(());
        let mut left = 0;
        for tree in &trees {
            // What fails with one tree need not fail with the next; the log keeps what is not written.
            written = written.and(self.write_tree(tree, from, &mut left));
        }
        // What comes into the lists meanwhile sets aside for itself.
        let kept = left.min(aside);
        self.room_aside.put_back(kept, left - kept);
        self.shared.log.give_up_aside(aside - kept);
        written
    }

    /// The same for one tree, whose rows nobody may be changing: `txn` keeps others away. Suspends.
    pub fn write_memory_of(&self, tree: &Tree, txn: &mut Txn) -> Result<(), EngineError> {
        let Some(memory) = tree.memory().filter(|memory| memory.durable) else { return Ok(()) };
        let _one = self.checkpointing.lock(telemetry::WaitType::CheckpointQueue);
        let from = self.nothing_unwritten_below();
        write_rows(tree, memory, txn, &mut 0)?;
        memory.logged_from.fetch_max(from.0, AcqRel);
        Ok(())
    }

    /// No transaction that is unfinished now, or to come, logs anything below.
    fn nothing_unwritten_below(&self) -> Lsn {
        self.shared.xids.oldest_first_lsn(self.shared.log.tail())
    }

    /// To `left` is added what the records of rows that are not written yet will take.
    fn write_tree(&self, tree: &Tree, from: Lsn, left: &mut u64) -> Result<(), EngineError> {
        let Some(memory) = tree.memory() else { return Ok(()) };
        let Some(db) = self.me.upgrade() else { return Ok(()) };
        let mut txn = db.begin(TxnOptions::default());
        txn.wait_as(true);
        // Whoever defines the table anew has it alone, and may be waiting for this checkpoint to make room in the log.
        if txn.enter(tree, TableMode::SchemaStability).is_err() {
            txn.rollback()?;
            let table = &memory.table;
            put_back(table, table.take_unwritten().into_iter(), left);
            return self.check();
        }
        let written = write_rows(tree, memory, &mut txn, left);
        txn.rollback()?;
        written?;
        memory.logged_from.fetch_max(from.0, AcqRel);
        Ok(())
    }

    /// From where on the log has what memory trees lack beside them; [`Lsn::MAX`]: there is none.
    pub(crate) fn memory_needs(&self) -> Lsn {
        let unread = self.unread_rows.lock().values().filter_map(|at| at.first().copied()).min();
        let from = |tree: &Tree| {
            let memory = tree.memory().filter(|memory| memory.durable)?;
            Some(Lsn(memory.logged_from.load(Acquire)))
        };
        self.memory_trees().iter().filter_map(from).chain(unread).min().unwrap_or(Lsn::MAX)
    }

    /// Writes rows without a checkpoint where many are deleted and wait for the tree beside alone. Suspends.
    pub(crate) fn write_memory_if_due(&self) -> Result<(), EngineError> {
        if !self.rows_left_behind.load(Relaxed) {
            return Ok(());
        }
        let Some(_one) = self.checkpointing.try_lock() else { return Ok(()) };
        self.rows_left_behind.store(false, Relaxed);
        self.write_memory()
    }
}

impl Database {
    /// Whether the tree beside a durable memory tree has its rows and no others, once it is up to date
    /// ([`Database::write_memory_of`]). Nobody may be changing them: `txn` keeps others away. Suspends.
    pub fn compare_memory(
        &self,
        tree: &Tree,
        txn: &mut Txn,
    ) -> Result<Option<Finding>, EngineError> {
        if tree.memory().is_none_or(|memory| !memory.durable) {
            return Ok(None);
        }
        let (mut there, mut here) = (Sum::default(), Sum::default());
        let mut beside = tree.inner.tree.scan(Bound::Unbounded, Bound::Unbounded, false);
        while let Some((stamp, key, row)) = beside.next()? {
            if !stamp.is_ghost() {
                there.add(key, row);
            }
            task::maybe_yield();
        }
        let mut scan =
            txn.scan(tree, Bound::Unbounded, Bound::Unbounded, ScanOptions::default())?;
        while let Some((key, row)) = scan.next(txn)? {
            here.add(key, row);
        }
        Ok((there != here).then(|| Finding {
            number: 8970,
            allocation: false,
            page: Some(tree.id().0),
            what: format!(
                "the pages have {} rows, memory has {}, and they differ",
                there.rows, here.rows
            ),
        }))
    }
}

/// Rows in any order: how many, and the sum of what each hashes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sum {
    rows: u64,
    hashes: u64,
}

impl Sum {
    fn add(&mut self, key: &[u8], row: &[u8]) {
        let mut hash = stdx::mix64(key.len() as u64);
        for part in [key, row] {
            for piece in part.chunks(8) {
                let mut bytes = [0; 8];
                bytes[..piece.len()].copy_from_slice(piece);
                hash = stdx::mix64(hash ^ u64::from_le_bytes(bytes)).rotate_left(7);
            }
        }
        self.rows += 1;
        self.hashes = self.hashes.wrapping_add(hash);
    }
}

/// A row on its way.
#[derive(Default)]
struct RowBytes {
    key: Vec<u8>,
    row: Vec<u8>,
}

/// Writes all rows of a tree that wait.
fn write_rows(
    tree: &Tree,
    memory: &MemoryTree,
    txn: &mut Txn,
    left: &mut u64,
) -> Result<(), EngineError> {
    let table = &memory.table;
    let (hint, row) = (InsertHint::default(), RowBytes::default());
    let shared = txn.shared.clone();
    let mut writing = Writing { tree, table, txn, shared, hint, row, left };
    let mut rows = table.take_unwritten();
    if planted(Bug::ForgottenRow) {
        rows.pop();
    }
    let mut result = Ok(());
    while result.is_ok() && !rows.is_empty() {
        let mut some = rows.split_off(rows.len().saturating_sub(SORTED));
        table.sort_unwritten(&mut some);
        let mut some = some.into_iter();
        for held in some.by_ref() {
            result = writing.write(held);
            if result.is_err() {
                break;
            }
            task::maybe_yield();
        }
        put_back(table, some, writing.left);
    }
    put_back(table, rows.into_iter(), writing.left);
    result
}

/// Rows that were taken and that nobody has looked at.
fn put_back(table: &Table, rows: impl Iterator<Item = Held>, left: &mut u64) {
    for held in rows {
        *left += room_for(1, table.bytes_of(&held) as u64);
        table.put_back_unseen(held);
        task::maybe_yield();
    }
}

/// The rows of one tree, in the order of their keys.
struct Writing<'a> {
    tree: &'a Tree,
    table: &'a Table,
    txn: &'a mut Txn,
    shared: Arc<Shared>,
    hint: InsertHint,
    row: RowBytes,
    /// What the records of rows will take that go back into the lists.
    left: &'a mut u64,
}

impl Writing<'_> {
    fn write(&mut self, held: Held) -> Result<(), EngineError> {
        let table = self.table;
        let bytes = &mut self.row;
        let xids = Xids(&self.txn.shared.xids);
        let ((is_row, run, was_there), is_unfinished) = table.newest(&held, &xids, |newest| {
            bytes.key.clear();
            bytes.key.extend_from_slice(newest.key);
            bytes.row.clear();
            let mut run = None;
            if let Some(row) = newest.row {
                row.append_to(&mut bytes.row);
                run = row.parts().1;
            }
            (newest.row.is_some(), run, newest.is_there)
        });
        if is_unfinished {
            *self.left += room_for(1, table.bytes_of(&held) as u64);
            table.put_back(&held);
        }
        let image = RowImage { bytes: &self.row.row, run };
        match write_one(
            self.tree,
            self.txn,
            &self.shared,
            &self.row.key,
            is_row.then_some(&image),
            was_there,
            &mut self.hint,
        ) {
            Ok(()) => {
                table.written(held, is_row);
                Ok(())
            }
            Err(e) => {
                *self.left += room_for(1, table.bytes_of(&held) as u64);
                table.put_back(&held);
                table.written(held, was_there);
                Err(e)
            }
        }
    }
}

/// What has become of one row, in the tree beside.
fn write_one(
    tree: &Tree,
    txn: &mut Txn,
    shared: &Shared,
    key: &[u8],
    row: Option<&RowImage<'_>>,
    was_there: bool,
    hint: &mut InsertHint,
) -> Result<(), EngineError> {
    let beside = &tree.inner.tree;
    let mut log = Settling(shared);
    let done = match (row, was_there) {
        (None, false) => Ok(true),
        (None, true) => beside.mark_ghost(&mut log, key),
        (Some(row), true) => beside.update(&mut log, key, row),
        (Some(row), false) => beside.insert(&mut log, key, row, hint).map(|()| true),
    };
    match done {
        Ok(true) => Ok(()),
        Ok(false) | Err(StorageError::Duplicate) => {
            txn.db.fail("rows in memory and those beside them differ");
            Err(txn.db.check().err().unwrap_or(EngineError::Doomed))
        }
        Err(e) => Err(txn.refuse(tree, e)),
    }
}
