//! Versions of commits, for change tracking: a tree that says which commit was the how manieth to change what is
//! tracked.
//!
//! ```text
//! 0 | version u64 BE  ->  xid u64 | commit time, µs since 1970, u64 | trees u64 ...     (little-endian)
//! 1 | xid u64 BE      ->  version u64
//! 2                   ->  the version up to which changes have been cleaned up, u64
//! ```
//! A transaction that has changed tracked rows writes its two rows last, holding one lock of the whole database from
//! before it draws its number until its commit record is in the log. So versions are in the order of commits, and
//! without a gap but for a commit that failed at its very end; what changes are written down elsewhere names the
//! transaction by its xid and needs no second visit.
//!
//! Why not the commit number that the log gives for nothing (`mvcc`: the LSN of the commit record): a row's stamp keeps
//! the xid of its writer, and what an xid's commit number was is forgotten when nobody's snapshot needs it, and with the
//! process. These rows are rows: they are there after a crash exactly when the commit is, and in a backup.
//!
//! Invariants: the newest row of kind 0 is never deleted, since the next version is counted from it; the lock is the last
//! one that a transaction takes, and its holder waits for nobody, so it is in no deadlock.

use crate::gaps::name_of;
use crate::{EngineError, InsertHint, ReadOptions, RowImage, ScanOptions, Tree, TreeId, Txn};
use lock_manager::KeyMode;
use std::ops::Bound;
use std::sync::atomic::Ordering::*;

/// What a transaction has to write when it commits.
pub(crate) struct Tracked {
    commits: Tree,
    /// Numbers of the trees that it has written changes into.
    trees: Vec<u64>,
}

/// A commit that has changed tracked rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackedCommit {
    pub version: u64,
    /// [`Txn::tracking_id`] of the transaction.
    pub id: u64,
    pub unix_us: u64,
}

const BY_VERSION: u8 = 0;
const BY_ID: u8 = 1;
const CLEANED: u8 = 2;

fn key(kind: u8, number: u64) -> [u8; 9] {
    let mut key = [kind; 9];
    key[1..].copy_from_slice(&number.to_be_bytes());
    key
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(found) = bytes.get(at * 8..at * 8 + 8) {
        word.copy_from_slice(found);
    }
    u64::from_le_bytes(word)
}

impl Txn {
    /// The transaction's name in what it writes down of its changes. It must have written.
    pub fn tracking_id(&self) -> u64 {
        self.context.xid().0
    }

    /// The transaction has written a change into that tree, or has changed what is tracked in another way
    /// (`None`): its commit gets a version, in `commits`.
    pub fn track(&mut self, commits: &Tree, tree: Option<TreeId>) {
        let tracked = self.tracked.get_or_insert_with(|| {
            Box::new(Tracked { commits: commits.clone(), trees: Vec::new() })
        });
        if let Some(tree) = tree.map(|tree| tree.0.0)
            && !tracked.trees.contains(&tree)
        {
            tracked.trees.push(tree);
        }
    }

    /// The last rows of a transaction whose commit record comes next.
    #[cold]
    pub(crate) fn write_version(&mut self, tracked: &Tracked) -> Result<(), EngineError> {
        // Whoever got so far waits as long as it takes.
        let cancel = self.held.cancel.take();
        let timeout = self.options.lock_timeout_ms.take();
        let written = self.write_version_rows(tracked);
        self.options.lock_timeout_ms = timeout;
        self.held.cancel = cancel;
        written
    }

    fn write_version_rows(&mut self, tracked: &Tracked) -> Result<(), EngineError> {
        let name = name_of(tracked.commits.number(), &[]);
        let _: lock_manager::Gained = self.lock_name(&tracked.commits, name, KeyMode::EXCLUSIVE)?;
        let last = match self.db.tracked_version.load(Acquire) {
            0 => self.newest_version(&tracked.commits)?,
            last => last,
        };
        let version = last + 1;
        let id = self.tracking_id();
        let mut row = id.to_le_bytes().to_vec();
        row.extend_from_slice(&(runtime::clock::unix_ns() / 1000).to_le_bytes());
        for tree in &tracked.trees {
            row.extend_from_slice(&tree.to_le_bytes());
        }
        let mut hint = InsertHint::default();
        let (by_version, by_id) = (key(BY_VERSION, version), key(BY_ID, id));
        self.insert(&tracked.commits, &by_version, &RowImage::new(&row), &mut hint)?;
        let row = version.to_le_bytes();
        self.insert(&tracked.commits, &by_id, &RowImage::new(&row), &mut InsertHint::default())?;
        self.db.tracked_version.store(version, Release);
        Ok(())
    }

    /// The largest version in the tree, whoever wrote it and whatever becomes of it.
    fn newest_version(&self, commits: &Tree) -> Result<u64, EngineError> {
        let (from, to) = (Bound::Included(&[BY_VERSION][..]), Bound::Excluded(&[BY_ID][..]));
        let mut scan = commits.inner.tree.scan(from, to, true);
        Ok(scan.next()?.map_or(0, |(_, key, _)| version_of(key)))
    }

    /// The version of the last commit that this transaction sees; 0 before the first.
    pub fn tracked_version(&mut self, commits: &Tree) -> Result<u64, EngineError> {
        let (from, to) = (Bound::Included(&[BY_VERSION][..]), Bound::Excluded(&[BY_ID][..]));
        let options =
            ScanOptions { read: ReadOptions::versions(), reverse: true, one_value: false };
        let mut scan = self.scan(commits, from, to, options)?;
        Ok(scan.next(self)?.map_or(0, |(key, _)| version_of(key)))
    }

    /// The commits after a version, in their order, as far as this transaction sees them: those that have written into a
    /// tree (`None`: all), and so many at most.
    pub fn tracked_commits(
        &mut self,
        commits: &Tree,
        after: u64,
        tree: Option<TreeId>,
        most: usize,
    ) -> Result<Vec<TrackedCommit>, EngineError> {
        let from = key(BY_VERSION, after);
        let (from, to) = (Bound::Excluded(&from[..]), Bound::Excluded(&[BY_ID][..]));
        let options =
            ScanOptions { read: ReadOptions::versions(), reverse: false, one_value: false };
        let mut scan = self.scan(commits, from, to, options)?;
        let mut found = Vec::new();
        while found.len() < most
            && let Some((key, row)) = scan.next(self)?
        {
            let mut trees = (2..row.len() / 8).map(|at| word(row, at));
            if tree.is_some_and(|tree| trees.all(|number| number != tree.0.0)) {
                continue;
            }
            found.push(TrackedCommit {
                version: version_of(key),
                id: word(row, 0),
                unix_us: word(row, 1),
            });
        }
        Ok(found)
    }

    /// The version of a transaction's commit; none when it has not committed, or so long ago that it was cleaned up.
    pub fn version_of_tracked(
        &mut self,
        commits: &Tree,
        id: u64,
    ) -> Result<Option<u64>, EngineError> {
        let mut row = Vec::new();
        let found = self.get_with(commits, &key(BY_ID, id), ReadOptions::versions(), &mut row)?;
        Ok(found.then(|| word(&row, 0)))
    }

    /// The version up to which changes have been cleaned up.
    pub fn cleaned_version(&mut self, commits: &Tree) -> Result<u64, EngineError> {
        let mut row = Vec::new();
        let found = self.get_with(commits, &[CLEANED], ReadOptions::versions(), &mut row)?;
        Ok(if found { word(&row, 0) } else { 0 })
    }

    /// From now on changes up to that version are taken to be gone.
    pub fn set_cleaned_version(&mut self, commits: &Tree, version: u64) -> Result<(), EngineError> {
        let row = version.to_le_bytes();
        let image = RowImage::new(&row);
        if self.update(commits, &[CLEANED], &image)? {
            return Ok(());
        }
        self.insert(commits, &[CLEANED], &image, &mut InsertHint::default())
    }

    /// Forgets a commit whose changes are gone. Not the newest one.
    pub fn forget_tracked(
        &mut self,
        commits: &Tree,
        commit: &TrackedCommit,
    ) -> Result<(), EngineError> {
        self.delete(commits, &key(BY_VERSION, commit.version))?;
        self.delete(commits, &key(BY_ID, commit.id)).map(|_| ())
    }
}

fn version_of(key: &[u8]) -> u64 {
    let mut word = [0; 8];
    if let Some(found) = key.get(1..9) {
        word.copy_from_slice(found);
    }
    u64::from_be_bytes(word)
}
