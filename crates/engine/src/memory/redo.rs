//! Memory trees as their database is opened: rows from the tree beside, and what the log has of them since.
//!
//! The log's images are read by tree: analysis has noted where they are. They are applied in their order over what the tree
//! beside has, which may be older or newer (`beside.rs`): a row ends as its last image says. Rows of images are listed for the tree
//! beside again, since nobody knows whether it has them.

use crate::{Database, EngineError, Lsn, ReadOptions, ScanOptions, Tree};
use std::collections::HashMap;
use std::ops::Bound;
use std::sync::Arc;
use storage::memory::{Images, Table};
use transaction::{Bug, Envelope, planted};

/// Bytes of log read at a time.
const READ_BYTES: usize = 256 << 10;

/// The last that the log says of rows, by key; none: the row is gone.
type Last = HashMap<Vec<u8>, Option<Vec<u8>>>;

impl Database {
    /// Fills a durable memory tree that nobody has used. From where on the log has what the tree beside may lack. Suspends.
    pub(super) fn load_memory(
        self: &Arc<Self>,
        tree: &Tree,
        table: &Table,
    ) -> Result<Lsn, EngineError> {
        let places = self.unread_rows.lock().get(&tree.number()).cloned().unwrap_or_default();
        let mut last = self.read_images(tree, &places)?;
        let mut txn = self.begin(Default::default());
        txn.begin_statement();
        let options =
            ScanOptions { read: ReadOptions::versions(), reverse: false, one_value: false };
        let mut scan = txn.scan(tree, Bound::Unbounded, Bound::Unbounded, options)?;
        if planted(Bug::LostRow) {
            scan.next(&mut txn)?;
        }
        while let Some((key, row)) = scan.next(&mut txn)? {
            match last.remove(key) {
                Some(later) => table.load(key, later.as_deref(), true, false),
                None => table.load(key, Some(row), true, true),
            };
        }
        drop(scan);
        txn.end_statement();
        txn.rollback()?;
        for (key, row) in last {
            if let Some(row) = row {
                table.load(&key, Some(&row), false, false);
            }
            runtime::task::maybe_yield();
        }
        Ok(places.first().copied().unwrap_or(Lsn::MAX))
    }

    fn read_images(&self, tree: &Tree, places: &[Lsn]) -> Result<Last, EngineError> {
        let mut last = Last::new();
        let Some(&first) = places.first() else { return Ok(last) };
        let mut reader = self.shared.log.reader_by(first, READ_BYTES);
        let newest = if planted(Bug::LostDelta) { 1 } else { 0 };
        for &at in &places[..places.len() - newest] {
            let corrupt = || EngineError::LogCorrupt {
                what: format!("the log has no rows at {at}, where it had some"),
            };
            reader.seek(at);
            let record = reader.next_record()?.filter(|record| record.start == at);
            let record = record.ok_or_else(corrupt)?;
            let envelope = Envelope::decode(record.payload).ok_or_else(corrupt)?;
            for image in Images::of(envelope.body) {
                let image = image.ok_or_else(corrupt)?;
                if image.tree == tree.number() {
                    last.insert(image.key.to_vec(), image.row.map(|row| row.to_vec()));
                }
            }
            runtime::task::maybe_yield();
        }
        Ok(last)
    }
}
