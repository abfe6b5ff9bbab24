//! One pass over the log, forwards: repeats history on the pages and finds out which transactions were unfinished.
//!
//! The pass begins at or below the first record of every transaction that was unfinished at the last checkpoint, so
//! no table of transactions need be saved: they all show themselves.

use log_manager::{LogError, LogReader, Lsn};
use mvcc::{Stamp, Xid};
use std::collections::HashMap;
use std::fmt;
use storage::{PageOp, StorageError, Store};
use transaction::{Envelope, Kind};

/// What the log said.
#[derive(Debug, Default)]
pub struct Analysis {
    /// Unfinished transactions and the newest record of each.
    pub losers: HashMap<Xid, Lsn>,
    /// Trees whose drop is committed and not yet carried out.
    pub drops: Vec<u64>,
    /// Records read, and those applied to a page at least by name.
    pub records: u64,
    pub ops: u64,
    /// Transactions that committed.
    pub commits: u64,
    /// The highest epoch of a transaction id seen; 0 when there was none.
    pub epoch: u64,
    dropping: Vec<(Xid, u64)>,
}

/// Why recovery stops. The database is then not opened.
#[derive(Debug)]
pub enum RecoveryError {
    Log(LogError),
    Storage(StorageError),
    /// A record that nobody wrote so.
    BadRecord {
        at: Lsn,
    },
}

impl fmt::Display for RecoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecoveryError::Log(e) => e.fmt(f),
            RecoveryError::Storage(e) => e.fmt(f),
            RecoveryError::BadRecord { at } => write!(f, "the log record at {at} makes no sense"),
        }
    }
}

impl std::error::Error for RecoveryError {}

impl From<LogError> for RecoveryError {
    fn from(e: LogError) -> Self {
        RecoveryError::Log(e)
    }
}

impl From<StorageError> for RecoveryError {
    fn from(e: StorageError) -> Self {
        RecoveryError::Storage(e)
    }
}

/// Reads `reader` to its end. Records that end at or below `redo_from` are on their pages already. Suspends.
pub fn replay(
    reader: &mut LogReader,
    store: &Store,
    redo_from: Lsn,
) -> Result<Analysis, RecoveryError> {
    let mut found = Analysis::default();
    while let Some(record) = reader.next_record()? {
        let bad = || RecoveryError::BadRecord { at: record.start };
        let envelope = Envelope::decode(record.payload).ok_or_else(bad)?;
        found.records += 1;
        found.epoch = found.epoch.max(transaction::epoch_of(envelope.xid));
        found.note(&envelope, record.start, record.end);
        let stamp = match envelope.kind {
            Kind::System | Kind::Compensation => Stamp::frozen(),
            Kind::Fused => Stamp::committed(record.start),
            Kind::Op => Stamp::active(envelope.xid),
            _ => continue,
        };
        let Some(op) = PageOp::decode(envelope.body) else {
            // A compensation of something that was no op of storage.
            if envelope.kind == Kind::Compensation && envelope.body.len() <= 8 {
                continue;
            }
            return Err(bad());
        };
        found.note_op(&op);
        if record.end > redo_from {
            store.redo(stamp, record.start, record.end, &op)?;
            found.ops += 1;
        }
        runtime::task::maybe_yield();
    }
    store.end_redo()?;
    Ok(found)
}

impl Analysis {
    fn note(&mut self, record: &Envelope<'_>, start: Lsn, _end: Lsn) {
        match record.kind {
            Kind::System | Kind::Checkpoint => {}
            Kind::Fused => self.commits += 1,
            Kind::Op | Kind::TreeCreated => {
                self.losers.insert(record.xid, start);
            }
            Kind::TreeDropped => {
                self.losers.insert(record.xid, start);
                self.dropping.extend(record.tree().map(|t| (record.xid, t)));
            }
            Kind::Compensation => {
                self.losers.insert(record.xid, start);
                // A body of 8 bytes takes the drop of that tree back.
                if let (8, Some(tree)) = (record.body.len(), record.tree()) {
                    self.dropping.retain(|&(x, t)| x != record.xid || t != tree);
                }
            }
            Kind::Commit => {
                self.commits += 1;
                self.losers.remove(&record.xid);
                let drops = &mut self.drops;
                self.dropping.retain(|&(x, t)| {
                    if x == record.xid {
                        drops.push(t);
                    }
                    x != record.xid
                });
            }
            Kind::Abort => {
                self.losers.remove(&record.xid);
                self.dropping.retain(|&(x, _)| x != record.xid);
            }
            Kind::DropPending => {
                let new = record.tree().filter(|t| !self.drops.contains(t));
                self.drops.extend(new);
            }
            Kind::DropDone => self.drops.retain(|t| Some(*t) != record.tree()),
        }
    }

    /// Pages of a dropped tree that have a new owner of the same name: the drop had been carried out.
    fn note_op(&mut self, op: &PageOp<'_>) {
        if let PageOp::FormatRoot { tree } = op {
            self.drops.retain(|t| *t != tree.0.0);
        }
    }
}
