//! Values too large for a row: chunks under their number in a tree of their own.
//!
//! A large value is written once, as rows `(number, chunk) -> bytes` of a tree that belongs to the table, and never
//! changed: the row that names it is what changes. Chunks are ordinary rows. They are logged, undone, versioned, purged
//! and recovered as such, so a snapshot that still sees the row that named them finds them too, and a rollback brings
//! both back. docs/decisions/0006-large-values.md says why.
//!
//! Chunks take no row locks: whoever writes or deletes them holds the lock (or the unfinished stamp) of the row that
//! names them, and nobody else knows their number.

use crate::locking::{Reads, Walk};
use crate::{EngineError, InsertHint, Lsn, ReadOptions, RowImage, Scan, Tree, Txn};
use lock_manager::{KeyMode, TableMode};
use std::ops::Bound;
use storage::StorageError;

/// Bytes of a large value in one row of its tree: one chunk fills a page.
pub const LOB_CHUNK_BYTES: usize = 8000;

/// The longest large value, in bytes (7119 beyond).
pub const LOB_BYTES_MAX: u64 = i32::MAX as u64;

type Key = [u8; 12];

fn key(number: u64, chunk: u32) -> Key {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&number.to_be_bytes());
    key[8..].copy_from_slice(&chunk.to_be_bytes());
    key
}

impl Txn {
    /// Writes a large value into a table's tree for them; the number under which it lies. Suspends.
    pub fn put_lob(&mut self, tree: &Tree, bytes: &[u8]) -> Result<u64, EngineError> {
        let number = tree.next_row_id()?;
        let mut hint = InsertHint::default();
        for (chunk, part) in bytes.chunks(LOB_CHUNK_BYTES).enumerate() {
            runtime::task::maybe_yield();
            self.insert(tree, &key(number, chunk as u32), &RowImage::new(part), &mut hint)?;
        }
        Ok(number)
    }

    /// Large values that exist now can be read until the statement ends, whoever deletes them. For a reader by locks,
    /// before it reads rows and lets go of them; readers by versions have their snapshot anyway.
    pub fn keep_large_values(&mut self) {
        self.snapshot();
    }

    /// Appends a large value of `len` bytes to `out`: as the statement's snapshot sees it, else as it is now (the row
    /// that named it was read under its lock, or dirtily). A value never changes, so whichever is whole is the one.
    /// False when it is not there whole, which only who does not hold the row can meet. Suspends.
    pub fn read_lob(
        &mut self,
        tree: &Tree,
        number: u64,
        len: u64,
        out: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        self.enter(tree, TableMode::SchemaStability)?;
        let before = out.len();
        out.reserve(len.min(LOB_BYTES_MAX) as usize);
        for reads in [Reads::Versions, Reads::Dirty] {
            let mut scan = self.scan_lob(tree, number, reads)?;
            while let Some((_, part)) = scan.next(self)? {
                out.extend_from_slice(part);
            }
            if (out.len() - before) as u64 == len {
                return Ok(true);
            }
            out.truncate(before);
        }
        Ok(false)
    }

    /// Whatever the isolation level: chunks are not locked.
    fn scan_lob(&mut self, tree: &Tree, number: u64, reads: Reads) -> Result<Scan, EngineError> {
        let (low, high) = (key(number, 0), key(number, u32::MAX));
        let bounds = (Bound::Included(&low[..]), Bound::Included(&high[..]));
        let memory = match tree.memory() {
            None => None,
            Some(memory) => {
                let options = crate::ScanOptions::default();
                Some(Box::new(self.memory_scan(tree, memory, bounds, options)?))
            }
        };
        Ok(Scan {
            memory,
            inner: tree.inner.tree.scan(bounds.0, bounds.1, false),
            tree: tree.clone(),
            reads,
            options: ReadOptions::default(),
            reverse: false,
            snapshot: if reads == Reads::Versions { self.snapshot() } else { Lsn::MAX },
            upper: Bound::Unbounded,
            walk: Walk::default(),
            key: Vec::new(),
            row: Vec::new(),
            spots: Vec::new(),
        })
    }

    /// Deletes a large value; the row that named it is locked by this transaction. Suspends.
    pub fn delete_lob(&mut self, tree: &Tree, number: u64, len: u64) -> Result<(), EngineError> {
        self.enter(tree, TableMode::IntentExclusive)?;
        let chunks = len.div_ceil(LOB_CHUNK_BYTES as u64) as u32;
        for chunk in 0..chunks {
            runtime::task::maybe_yield();
            if let Some(memory) = tree.memory() {
                self.memory_change(tree, memory, &key(number, chunk), None)?;
                continue;
            }
            self.prepare_write()?;
            loop {
                match tree.inner.tree.mark_ghost(&mut self.context, &key(number, chunk)) {
                    Ok(found) => {
                        tree.count_rows(-i64::from(found));
                        break;
                    }
                    Err(StorageError::WaitFor(xid)) => {
                        self.wait_for(tree, xid, KeyMode::EXCLUSIVE)?
                    }
                    Err(e) => return Err(self.refuse(tree, e)),
                }
            }
        }
        Ok(())
    }
}
