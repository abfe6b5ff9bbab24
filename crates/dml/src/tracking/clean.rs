//! Changes that are older than a database keeps them.
//!
//! First it is made known, in a transaction of its own, up to which version changes are gone: from then on nobody is told
//! of them, and clients that come later than that learn that they must begin anew. Then they go, some rows at a time,
//! each commit's number after what it has changed; so whatever ends this half-way, it is finished the next time. The
//! newest commit stays: it says how far versions have come.
//!
//! Promise: nobody is waited for. What is cleaned belongs to transactions that are over, and lies under keys that nobody
//! writes again; where somebody alters or checks a table meanwhile, the rest is left to the next time.

use catalog::{TableDef, Tracking};
use engine::{
    Database, Durability, EngineError, ReadOptions, TrackedCommit, Tree, TreeId, Txn, TxnOptions,
};
use executor::engine_tree;
use executor::tracking::scan_prefix;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows, and commits, that one transaction deletes; below the number at which locks become one of the whole table.
const AT_ONCE: usize = 1000;

/// What a cleaning has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    pub commits: u64,
    pub rows: u64,
}

/// Forgets the commits before that time (µs since 1970), and what they have changed in the tables that there are at each
/// moment, until `stop` is set. Suspends.
pub fn clean_commits(
    db: &Arc<Database>,
    commits: TreeId,
    tables: &dyn Fn() -> Vec<Arc<TableDef>>,
    before_unix_us: u64,
    stop: &AtomicBool,
) -> Result<Cleaned, EngineError> {
    let commits = db.tree(commits);
    let mut cleaned = Cleaned::default();
    loop {
        let old = in_transaction(db, |txn| announce(txn, &commits, before_unix_us))?;
        let mut rest = &old[..];
        if rest.is_empty() {
            return Ok(cleaned);
        }
        while !rest.is_empty() {
            if stop.load(Ordering::Acquire) {
                return Ok(cleaned);
            }
            match in_transaction(db, |txn| clean_some(txn, &commits, tables, rest)) {
                Ok((done, rows)) => {
                    rest = &rest[done..];
                    cleaned.commits += done as u64;
                    cleaned.rows += rows as u64;
                }
                Err(EngineError::NoSuchTree | EngineError::LockTimeout) => return Ok(cleaned),
                Err(e) => return Err(e),
            }
        }
    }
}

/// The next commits to forget, from the first; their changes count as gone from now on.
fn announce(
    txn: &mut Txn,
    commits: &Tree,
    before_unix_us: u64,
) -> Result<Vec<TrackedCommit>, EngineError> {
    let newest = txn.tracked_version(commits)?;
    let mut old = txn.tracked_commits(commits, 0, None, AT_ONCE)?;
    // Clocks go back at times; versions do not.
    let end = old.iter().position(|c| c.unix_us >= before_unix_us || c.version >= newest);
    old.truncate(end.unwrap_or(old.len()));
    if let Some(last) = old.last()
        && txn.cleaned_version(commits)? < last.version
    {
        txn.set_cleaned_version(commits, last.version)?;
    }
    Ok(old)
}

/// Deletes what the first of these commits have changed, and how many of them are done with: (commits, rows).
fn clean_some(
    txn: &mut Txn,
    commits: &Tree,
    tables: &dyn Fn() -> Vec<Arc<TableDef>>,
    old: &[TrackedCommit],
) -> Result<(usize, usize), EngineError> {
    let db = txn.database().clone();
    // The snapshot first: no tree that is dropped after it becomes another's while this lasts.
    txn.tracked_version(commits)?;
    let mut trackings = Vec::new();
    for table in tables() {
        let Some(tracking) = table.tracking else { continue };
        txn.enter_for_read(&engine_tree(&db, &table), ReadOptions::versions())?;
        trackings.push(tracking);
    }
    let mut rows = 0;
    for (done, commit) in old.iter().enumerate() {
        for tracking in &trackings {
            rows += clean_commit(txn, tracking, commit, AT_ONCE - rows)?;
            if rows == AT_ONCE {
                return Ok((done, rows));
            }
        }
        txn.forget_tracked(commits, commit)?;
    }
    Ok((old.len(), rows))
}

/// What one commit has changed in one table, at most so many rows.
fn clean_commit(
    txn: &mut Txn,
    tracking: &Tracking,
    commit: &TrackedCommit,
    most: usize,
) -> Result<usize, EngineError> {
    let db = txn.database().clone();
    let (changes, by_key) = (db.tree(tracking.changes), db.tree(tracking.by_key));
    let mut scan = scan_prefix(txn, &changes, &commit.id.to_be_bytes(), false)?;
    let mut keys = Vec::new();
    while keys.len() < most
        && let Some((key, _)) = scan.next(txn)?
    {
        keys.push(key.to_vec());
    }
    for key in &keys {
        // The oldest stand last.
        let mut scan = scan_prefix(txn, &by_key, &key[8..], true)?;
        let mut gone = Vec::new();
        while let Some((entry, row)) = scan.next(txn)? {
            if row.get(..8) != Some(&commit.id.to_le_bytes()[..]) {
                break;
            }
            gone.push(entry.to_vec());
        }
        for entry in &gone {
            txn.delete(&by_key, entry)?;
        }
        txn.delete(&changes, key)?;
    }
    Ok(keys.len())
}

fn in_transaction<T>(
    db: &Arc<Database>,
    work: impl FnOnce(&mut Txn) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let mut txn = db.begin(TxnOptions { lock_timeout_ms: Some(0), ..TxnOptions::default() });
    txn.begin_statement();
    match work(&mut txn) {
        Ok(done) => {
            txn.end_statement();
            txn.commit(Durability::Delayed)?;
            Ok(done)
        }
        Err(e) => {
            txn.rollback()?;
            Err(e)
        }
    }
}
