//! Older versions of rows, in memory, for readers whose snapshot is older than the row in place.
//!
//! A chain belongs to one key of one tree: newest first. A version knows by whom it was replaced, and goes when no
//! snapshot lies between its own commit and that of the replacement: one long reader keeps the versions that it would
//! read, one per row, and not those that came and went since. Versions are pushed while the page is latched and before it changes, so a reader
//! that meets the new row finds the old one here. After a rollback the version that came back in place stays here too
//! (until the horizon has passed the rollback), for readers that had seen the row in between.

use crate::{Ghosts, InUse, XidTable};
use log_manager::Lsn;
use mvcc::{Stamp, Visibility, Xid, XidStatus, visible};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::*};
use stdx::CachePadded;

const SHARDS: usize = 64;

struct Version {
    stamp: Stamp,
    /// Who replaced it: an active stamp, or a committed one; a ghost's, if it was deleted.
    by: Stamp,
    row: Box<[u8]>,
}

struct Chain {
    tree: u64,
    key: Box<[u8]>,
    versions: Vec<Version>,
}

type Shard = HashMap<u64, Vec<Chain>>;

/// What a reader found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VersionSeen {
    /// The row has been put into the buffer; it is stamped so.
    Row(Stamp),
    /// The row was not there for this reader.
    Nothing,
}

/// All older versions of a database.
pub struct VersionStore {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    count: AtomicU64,
    bytes: AtomicU64,
}

/// Memory of a version beside its row, about.
const VERSION_BYTES: u64 = std::mem::size_of::<Version>() as u64;

impl Version {
    fn bytes(&self) -> u64 {
        self.row.len() as u64 + VERSION_BYTES
    }
}

impl Default for VersionStore {
    fn default() -> Self {
        VersionStore {
            shards: (0..SHARDS).map(|_| CachePadded::new(Mutex::default())).collect(),
            count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }
}

impl VersionStore {
    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        &self.shards[(hash >> 32) as usize % SHARDS]
    }

    /// Keeps `row`, stamped `stamp`, which `by` replaces. `hash` is [`crate::key_hash`].
    pub fn push(&self, tree: u64, key: &[u8], hash: u64, stamp: Stamp, row: &[u8], by: Stamp) {
        let version = Version { stamp, by, row: row.into() };
        self.bytes.fetch_add(version.bytes(), Relaxed);
        let mut shard = self.shard(hash).lock();
        let chains = shard.entry(hash).or_default();
        match chains.iter_mut().find(|c| c.tree == tree && *c.key == *key) {
            Some(chain) => chain.versions.insert(0, version),
            None => chains.push(Chain { tree, key: key.into(), versions: vec![version] }),
        }
        self.count.fetch_add(1, Relaxed);
        telemetry::counters::add(telemetry::Counter::VersionsCreated, 1);
    }

    /// The newest older version that a reader sees, into `row`.
    pub fn read(
        &self,
        tree: u64,
        key: &[u8],
        snapshot: Lsn,
        own: Xid,
        status: impl Fn(Xid) -> XidStatus,
        row: &mut Vec<u8>,
    ) -> VersionSeen {
        let hash = crate::key_hash(tree, key);
        let shard = self.shard(hash).lock();
        let chain =
            shard.get(&hash).and_then(|c| c.iter().find(|c| c.tree == tree && *c.key == *key));
        for version in chain.iter().flat_map(|c| &c.versions) {
            loop {
                match visible(version.stamp, snapshot, own, &status) {
                    Visibility::Visible => {
                        row.clear();
                        row.extend_from_slice(&version.row);
                        return VersionSeen::Row(version.stamp);
                    }
                    Visibility::VisibleGhost => return VersionSeen::Nothing,
                    Visibility::Older => break,
                    Visibility::Spin => std::hint::spin_loop(),
                }
            }
        }
        VersionSeen::Nothing
    }

    /// Whether a row has older versions.
    pub fn has(&self, tree: u64, key: &[u8]) -> bool {
        let hash = crate::key_hash(tree, key);
        let shard = self.shard(hash).lock();
        shard.get(&hash).is_some_and(|c| c.iter().any(|c| c.tree == tree && *c.key == *key))
    }

    /// Drops what no snapshot needs; how many versions went. The keys of deleted rows of which nothing is left here go
    /// to `ghosts`.
    pub fn collect(&self, in_use: &InUse, xids: &XidTable, ghosts: &Ghosts) -> u64 {
        if self.count.load(Relaxed) == 0 {
            return 0;
        }
        let needed = |v: &Version| {
            let until = match v.by.xid() {
                None => v.by.csn().unwrap_or(Lsn::NONE),
                Some(xid) => match xids.status(xid) {
                    XidStatus::Committed(csn) => csn,
                    XidStatus::Active | XidStatus::Committing => return true,
                    // Who saw the row in between may still look for this one.
                    XidStatus::Aborted => return !xids.ended_below(xid, in_use.horizon),
                },
            };
            let since = match v.stamp.xid() {
                None => v.stamp.csn().unwrap_or(Lsn::NONE),
                Some(xid) => match xids.status(xid) {
                    XidStatus::Committed(csn) => csn,
                    _ => Lsn::NONE,
                },
            };
            in_use.needs(since, until)
        };
        let (mut gone, mut gone_bytes) = (0, 0);
        let mut places = Vec::new();
        for shard in &self.shards {
            runtime::task::maybe_yield();
            let mut shard = shard.lock();
            shard.retain(|_, chains| {
                chains.retain_mut(|chain| {
                    let before = chain.versions.len();
                    let deleted = chain.versions.first().is_some_and(|v| v.by.is_ghost());
                    chain.versions.retain(|version| {
                        let stays = needed(version);
                        gone_bytes += if stays { 0 } else { version.bytes() };
                        stays
                    });
                    gone += (before - chain.versions.len()) as u64;
                    if chain.versions.is_empty() && deleted {
                        places.push((chain.tree, std::mem::take(&mut chain.key)));
                    }
                    !chain.versions.is_empty()
                });
                !chains.is_empty()
            });
        }
        ghosts.put(places);
        self.count.fetch_sub(gone, Relaxed);
        self.bytes.fetch_sub(gone_bytes, Relaxed);
        telemetry::counters::add(telemetry::Counter::VersionsRemoved, gone);
        gone
    }

    /// Memory that they take, about.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// How many versions there are.
    pub fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }
}
