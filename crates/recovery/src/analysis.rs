//! One pass over the log, forwards: which transactions were unfinished, and which records each page may lack. Changes
//! nothing.
//!
//! The pass begins at or below the first record of every transaction that was unfinished at the last checkpoint, so
//! no table of transactions need be saved: they all show themselves.

use crate::pending::Pending;
use log_manager::{LogError, LogReader, Lsn};
use mvcc::Xid;
use std::fmt;
use stdx::NumberMap;
use storage::memory::Images;
use storage::{PageOp, StorageError};
use transaction::{Bug, Envelope, Kind, planted};

/// Lists kept for transactions to come.
const SPARE: usize = 1024;

/// Transactions, by their ids.
pub type XidMap<V> = stdx::NumberMap<Xid, V>;

/// What the log said.
#[derive(Debug, Default)]
pub struct Analysis {
    /// Unfinished transactions.
    pub losers: XidMap<Loser>,
    /// Trees whose drop is committed and not yet carried out.
    pub drops: Vec<u64>,
    /// Records read, and those that a page may lack.
    pub records: u64,
    pub ops: u64,
    /// Transactions that committed.
    pub commits: u64,
    /// Where committed transactions say what they have made of rows in memory, by tree.
    rows: NumberMap<u64, Vec<Lsn>>,
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
    /// The number under which its end is decided, if it was prepared.
    pub decision: Option<u128>,
    /// What it says of rows in memory: of which tree, and where.
    pub rows: Vec<(u64, Lsn)>,
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

/// Analysis on its way.
///
/// Records that end at or below `redo_from` are on their pages already. The list of what pages lack takes about
/// `list_bytes` at most.
pub struct Pass {
    found: Analysis,
    pending: Pending,
    redo_from: Lsn,
    list_bytes: u64,
    /// Lists of trees of losers that are none, for the next ones.
    spare: Vec<Vec<u64>>,
}

impl Pass {
    /// Over the log from `scan_from` on.
    pub fn new(scan_from: Lsn, redo_from: Lsn, list_bytes: u64) -> Pass {
        Pass {
            found: Analysis::default(),
            pending: Pending::from(redo_from.max(scan_from)),
            redo_from,
            list_bytes,
            spare: Vec::new(),
        }
    }

    /// Reads on, to the end of `reader` or until the list is full: then that is handed out, and whoever gets it sees to
    /// it that no page lacks any of it, before he calls again. Suspends.
    pub fn run(&mut self, reader: &mut LogReader) -> Result<Option<Pending>, RecoveryError> {
        let Pass { found, pending, redo_from, list_bytes, spare } = self;
        while let Some(record) = reader.next_record()? {
            let bad = || RecoveryError::BadRecord { at: record.start };
            let envelope = Envelope::decode(record.payload).ok_or_else(bad)?;
            found.records += 1;
            if envelope.kind.has_xid() {
                found.epoch = found.epoch.max(transaction::epoch_of(envelope.xid));
            }
            if matches!(envelope.kind, Kind::Rows | Kind::RowsCommit)
                && Images::of(envelope.body).any(|image| image.is_none())
            {
                return Err(bad());
            }
            found.note(&envelope, record.start, spare);
            if matches!(envelope.kind, Kind::System | Kind::Compensation | Kind::Fused | Kind::Op) {
                match PageOp::decode(envelope.body) {
                    Some(op) => {
                        found.note_op(&envelope, &op);
                        if record.end > *redo_from {
                            found.ops += 1;
                            pending.note(&op, record.start, record.end);
                        }
                    }
                    // A compensation of something that was no op of storage.
                    None if envelope.kind == Kind::Compensation && envelope.body.len() <= 8 => {}
                    None => return Err(bad()),
                }
            }
            if envelope.kind == Kind::FusedMany {
                for op in transaction::ops_together(envelope.body) {
                    let op = op.ok_or_else(bad)?;
                    found.note_op(&envelope, &op);
                    if record.end > *redo_from {
                        found.ops += 1;
                        pending.note(&op, record.start, record.end);
                    }
                }
            }
            if found.records.is_multiple_of(64) {
                runtime::task::maybe_yield();
            }
            if pending.bytes() > *list_bytes || pending.is_full() {
                let from = record.end;
                return Ok(Some(std::mem::replace(pending, Pending::from(from))));
            }
        }
        Ok(None)
    }

    /// What the log said, and the last list: the reader's end was reached.
    pub fn finish(self) -> (Analysis, Pending) {
        (self.found, self.pending)
    }
}

impl Analysis {
    fn loser(&mut self, xid: Xid, at: Lsn, spare: &mut Vec<Vec<u64>>) -> &mut Loser {
        let loser = self.losers.entry(xid).or_insert_with(|| Loser {
            first: at,
            last: at,
            trees: spare.pop().unwrap_or_default(),
            shapes: false,
            decision: None,
            rows: Vec::new(),
        });
        loser.last = at;
        loser
    }

    fn won(&mut self, xid: Xid, spare: &mut Vec<Vec<u64>>) {
        let Some(Loser { mut trees, rows, .. }) = self.losers.remove(&xid) else { return };
        self.note_rows(rows);
        if spare.len() < SPARE {
            trees.clear();
            spare.push(trees);
        }
    }

    /// A transaction that says so of rows in memory has committed.
    fn note_rows(&mut self, rows: impl IntoIterator<Item = (u64, Lsn)>) {
        for (tree, at) in rows {
            self.rows.entry(tree).or_default().push(at);
        }
    }

    fn committed(&mut self, xid: Xid) {
        self.commits += 1;
        let (drops, rows) = (&mut self.drops, &mut self.rows);
        self.dropping.retain(|&(x, t)| {
            if x == xid {
                drops.push(t);
                rows.remove(&t);
            }
            x != xid
        });
    }

    /// Where committed transactions say what they have made of rows in memory, by tree, in the order of the log. What is said
    /// of one row comes in the order of the commits: who changes it has seen the one before committed.
    pub fn take_rows(&mut self) -> NumberMap<u64, Vec<Lsn>> {
        let mut rows = std::mem::take(&mut self.rows);
        // A transaction of several records is noted where it commits.
        rows.values_mut().for_each(|at| at.sort_unstable());
        rows
    }

    /// Takes out of the losers those whose end was decided elsewhere: they have committed, and it is for the caller to
    /// say so in the log.
    pub fn take_decided(&mut self, decided: &dyn Fn(u128) -> bool) -> Vec<(Xid, Loser)> {
        let won = self.losers.extract_if(|_, loser| loser.decision.is_some_and(decided));
        let won: Vec<(Xid, Loser)> = won.collect();
        for (xid, loser) in &won {
            self.note_rows(loser.rows.iter().copied());
            self.committed(*xid);
        }
        won
    }

    fn note(&mut self, record: &Envelope<'_>, start: Lsn, spare: &mut Vec<Vec<u64>>) {
        match record.kind {
            Kind::System | Kind::Checkpoint => {}
            Kind::Fused | Kind::FusedMany => self.commits += 1,
            Kind::Op => {
                self.loser(record.xid, start, spare);
            }
            Kind::Prepared => {
                let decision = record.body.try_into().ok().map(u128::from_le_bytes);
                self.loser(record.xid, start, spare).decision = decision;
            }
            Kind::TreeCreated => self.loser(record.xid, start, spare).shapes = true,
            Kind::TreeDropped => {
                self.loser(record.xid, start, spare).shapes = true;
                self.dropping.extend(record.tree().map(|t| (record.xid, t)));
            }
            Kind::Compensation => {
                let known = self.losers.get(&record.xid).map(|loser| loser.last);
                let loser = self.loser(record.xid, start, spare);
                if let (Some(last), true) = (known, planted(Bug::UndoTwice)) {
                    loser.last = last;
                }
                // A body of 8 bytes takes the drop of that tree back.
                if let (8, Some(tree)) = (record.body.len(), record.tree()) {
                    self.dropping.retain(|&(x, t)| x != record.xid || t != tree);
                }
            }
            Kind::Rows => {
                let trees = trees_of(record.body);
                let loser = self.loser(record.xid, start, spare);
                loser.rows.extend(trees.into_iter().map(|tree| (tree, start)));
            }
            Kind::Commit | Kind::RowsCommit => {
                self.won(record.xid, spare);
                if record.kind == Kind::RowsCommit {
                    self.note_rows(trees_of(record.body).into_iter().map(|tree| (tree, start)));
                }
                self.committed(record.xid);
            }
            Kind::Abort => {
                if let Some(loser) = self.losers.get_mut(&record.xid) {
                    loser.rows.clear();
                }
                self.won(record.xid, spare);
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
            self.rows.remove(&tree.0.0);
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

/// The trees of whose rows a record tells, each once.
fn trees_of(images: &[u8]) -> Vec<u64> {
    let mut trees = Vec::new();
    for image in Images::of(images).flatten() {
        if trees.last() != Some(&image.tree) && !trees.contains(&image.tree) {
            trees.push(image.tree);
        }
    }
    trees
}
