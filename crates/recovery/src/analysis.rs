//! One pass over the log, forwards: which transactions were unfinished, and which records each page may lack. Changes
//! nothing.
//!
//! The pass begins at or below the first record of every transaction that was unfinished at the last checkpoint, so
//! no table of transactions need be saved: they all show themselves.

use crate::pending::Pending;
use log_manager::{LogError, LogReader, Lsn};
use mvcc::Xid;
use std::collections::HashMap;
use std::fmt;
use storage::{PageOp, StorageError};
use transaction::{Envelope, Kind};

/// What the log said.
#[derive(Debug, Default)]
pub struct Analysis {
    /// Unfinished transactions.
    pub losers: HashMap<Xid, Loser>,
    /// Trees whose drop is committed and not yet carried out.
    pub drops: Vec<u64>,
    /// Records read, and those that a page may lack.
    pub records: u64,
    pub ops: u64,
    /// Transactions that committed.
    pub commits: u64,
    /// The highest epoch of a transaction id seen; 0 when there was none.
    pub epoch: u64,
    dropping: Vec<(Xid, u64)>,
}

/// An unfinished transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loser {
    /// Its first record, and its newest.
    pub first: Lsn,
    pub last: Lsn,
    /// The trees that it has changed, each once.
    pub trees: Vec<u64>,
    /// It has made or dropped trees.
    pub shapes: bool,
}

/// Why recovery stops.
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

/// Reads `reader` to its end. Records that end at or below `redo_from` are on their pages already. The list of what
/// pages lack takes about `list_bytes` at most: whenever it is full, `drain` gets it, and is to see to it that no page
/// lacks any of it, before the pass goes on. Suspends.
pub fn analyse(
    reader: &mut LogReader,
    redo_from: Lsn,
    list_bytes: u64,
    drain: &mut dyn FnMut(Pending) -> Result<(), RecoveryError>,
) -> Result<(Analysis, Pending), RecoveryError> {
    let mut found = Analysis::default();
    let mut pending = Pending::from(redo_from.max(reader.position()));
    while let Some(record) = reader.next_record()? {
        let bad = || RecoveryError::BadRecord { at: record.start };
        let envelope = Envelope::decode(record.payload).ok_or_else(bad)?;
        found.records += 1;
        if envelope.kind.has_xid() {
            found.epoch = found.epoch.max(transaction::epoch_of(envelope.xid));
        }
        found.note(&envelope, record.start);
        if matches!(envelope.kind, Kind::System | Kind::Compensation | Kind::Fused | Kind::Op) {
            match PageOp::decode(envelope.body) {
                Some(op) => {
                    found.note_op(&envelope, &op);
                    if record.end > redo_from {
                        found.ops += 1;
                        pending.note(&op, record.start, record.end);
                    }
                }
                // A compensation of something that was no op of storage.
                None if envelope.kind == Kind::Compensation && envelope.body.len() <= 8 => {}
                None => return Err(bad()),
            }
        }
        if found.records.is_multiple_of(64) {
            runtime::task::maybe_yield();
        }
        if pending.bytes() > list_bytes || pending.is_full() {
            let from = record.end;
            drain(std::mem::replace(&mut pending, Pending::from(from)))?;
        }
    }
    Ok((found, pending))
}

impl Analysis {
    fn loser(&mut self, xid: Xid, at: Lsn) -> &mut Loser {
        let loser = self.losers.entry(xid).or_insert_with(|| Loser {
            first: at,
            last: at,
            trees: Vec::new(),
            shapes: false,
        });
        loser.last = at;
        loser
    }

    fn note(&mut self, record: &Envelope<'_>, start: Lsn) {
        match record.kind {
            Kind::System | Kind::Checkpoint => {}
            Kind::Fused => self.commits += 1,
            Kind::Op => {
                self.loser(record.xid, start);
            }
            Kind::TreeCreated => self.loser(record.xid, start).shapes = true,
            Kind::TreeDropped => {
                self.loser(record.xid, start).shapes = true;
                self.dropping.extend(record.tree().map(|t| (record.xid, t)));
            }
            Kind::Compensation => {
                self.loser(record.xid, start);
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

    fn note_op(&mut self, record: &Envelope<'_>, op: &PageOp<'_>) {
        if let PageOp::FormatRoot { tree } = op {
            // Pages of a dropped tree that have a new owner of the same name: the drop had been carried out.
            self.drops.retain(|t| *t != tree.0.0);
        }
        if record.kind.has_xid()
            && let Some(loser) = self.losers.get_mut(&record.xid)
        {
            let tree = op.tree().0.0;
            if loser.trees.last() != Some(&tree) && !loser.trees.contains(&tree) {
                loser.trees.push(tree);
            }
        }
    }
}
