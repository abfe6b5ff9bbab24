//! Older versions of rows, in memory, for readers whose snapshot is older than the row in place.
//!
//! Versions of a key are in a chain: newest first. A version knows by whom it was replaced, and goes when no
//! snapshot lies between its own commit and that of the replacement: one long reader keeps the versions that it would
//! read, one per row, and not those that came and went since. Versions are pushed while the page is latched and before
//! it changes, so a reader that meets the new row finds the old one here. A version is one piece of memory, which its
//! shard uses again. A transaction that ends while nobody reads by a snapshot takes its versions along
//! ([`VersionStore::forget`]), so that in the common case the store is small and what it uses is in the caches; what is left
//! is collected in the background. After a rollback the version that came back in place stays here too
//! (until the horizon has passed the rollback), for readers that had seen the row in between.

use crate::{Ghosts, InUse, XidTable};
use log_manager::Lsn;
use mvcc::{Stamp, Visibility, Xid, XidStatus, visible};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::*};
use stdx::CachePadded;

const SHARDS: usize = 64;

/// Memory of versions that are gone, kept by a shard for those to come: so many pieces, each of so many bytes at most.
const SPARE_MAX: usize = 512;
const SPARE_BYTES_MAX: usize = 512;

/// A shard with room for so many times as many keys as it has gives the room back.
const SPARSE: usize = 8;
/// But not for less than this.
const SPARSE_KEYS: usize = 1024;

struct Version {
    tree: u64,
    stamp: Stamp,
    /// Who replaced it: an active stamp, or a committed one; a ghost's, if it was deleted.
    by: Stamp,
    /// The key, and behind it the row.
    bytes: Vec<u8>,
    key_len: usize,
    /// The version before it; with it, perhaps, those of keys that have the same hash.
    older: Option<Box<Version>>,
}

/// Versions by the hash of their key, the newest first. Its bits are mixed already.
type Chains = HashMap<u64, Version, BuildHasherDefault<AsItIs>>;

#[derive(Default)]
struct Shard {
    chains: Chains,
    spare: Vec<Vec<u8>>,
}

#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.0 = self.0.rotate_left(8) ^ u64::from(*b));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

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
    fn is_of(&self, tree: u64, key: &[u8]) -> bool {
        self.tree == tree && self.key() == key
    }

    fn key(&self) -> &[u8] {
        &self.bytes[..self.key_len]
    }

    fn row(&self) -> &[u8] {
        &self.bytes[self.key_len..]
    }

    fn bytes(&self) -> u64 {
        self.bytes.len() as u64 + VERSION_BYTES
    }

    /// It goes, and its memory to `spare`; its key to `ghosts`, if it was the last version of a row that was deleted.
    fn leave(&mut self, is_last: bool, ghosts: &Ghosts, spare: &mut Vec<Vec<u8>>) {
        if is_last && self.by.is_ghost() {
            ghosts.note(self.tree, self.key());
        }
        if self.bytes.capacity() <= SPARE_BYTES_MAX && spare.len() < SPARE_MAX {
            let mut bytes = std::mem::take(&mut self.bytes);
            bytes.clear();
            spare.push(bytes);
        }
    }

    /// It, leaving one of nothing.
    fn take(&mut self) -> Version {
        let nothing = Version {
            tree: 0,
            stamp: Stamp::frozen(),
            by: Stamp::frozen(),
            bytes: Vec::new(),
            key_len: 0,
            older: None,
        };
        std::mem::replace(self, nothing)
    }

    /// It and those before it, parted into a chain of what is to stay, in the same order, and the others.
    fn parted(self, stays: impl Fn(&Version) -> bool) -> (Option<Box<Version>>, Vec<Version>) {
        let (mut kept, mut went) = (None, Vec::new());
        let mut last = &mut kept;
        let mut next = Some(Box::new(self));
        while let Some(mut version) = next {
            next = version.older.take();
            if stays(&version) {
                last = &mut last.insert(version).older;
            } else {
                went.push(*version);
            }
        }
        (kept, went)
    }

    /// Whether a chain has a version of the same row.
    fn is_in(&self, chain: Option<&Version>) -> bool {
        chain.is_some_and(|newest| newest.chain().any(|v| v.is_of(self.tree, self.key())))
    }

    /// It, and those before it.
    fn chain(&self) -> impl Iterator<Item = &Version> {
        std::iter::successors(Some(self), |version| version.older.as_deref())
    }
}

impl Drop for Version {
    /// One by one: a chain may be longer than a stack is deep.
    fn drop(&mut self) {
        let mut next = self.older.take();
        while let Some(mut version) = next {
            next = version.older.take();
        }
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
        let mut guard = self.shard(hash).lock();
        let shard = &mut *guard;
        let mut bytes = shard.spare.pop().unwrap_or_default();
        bytes.reserve_exact(key.len() + row.len());
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(row);
        let mut version = Version { tree, stamp, by, bytes, key_len: key.len(), older: None };
        self.bytes.fetch_add(version.bytes(), Relaxed);
        match shard.chains.entry(hash) {
            Entry::Vacant(place) => {
                place.insert(version);
            }
            Entry::Occupied(place) => {
                let newest = place.into_mut();
                std::mem::swap(newest, &mut version);
                newest.older = Some(Box::new(version));
            }
        }
        drop(guard);
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
        let chain = shard.chains.get(&hash).into_iter().flat_map(Version::chain);
        for version in chain.filter(|version| version.is_of(tree, key)) {
            loop {
                match visible(version.stamp, snapshot, own, &status) {
                    Visibility::Visible => {
                        row.clear();
                        row.extend_from_slice(version.row());
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
        let newest = shard.chains.get(&hash);
        newest.is_some_and(|newest| newest.chain().any(|version| version.is_of(tree, key)))
    }

    /// Drops the versions that `xid` has replaced, of keys with these hashes: it has committed, and whoever reads sees that.
    /// The keys of rows that it has deleted go to `ghosts`.
    pub fn forget(&self, xid: Xid, hashes: &[u64], ghosts: &Ghosts) {
        let (mut gone, mut gone_bytes) = (0, 0);
        for hash in hashes {
            let mut guard = self.shard(*hash).lock();
            let Shard { chains, spare } = &mut *guard;
            let Entry::Occupied(mut place) = chains.entry(*hash) else { continue };
            let newest = place.get_mut();
            let goes = |version: &Version| version.by.xid() == Some(xid);
            // Most chains are of one version.
            if newest.older.is_none() {
                if goes(newest) {
                    (gone, gone_bytes) = (gone + 1, gone_bytes + newest.bytes());
                    newest.leave(true, ghosts, spare);
                    place.remove();
                }
                continue;
            }
            let (kept, went) = newest.take().parted(|version| !goes(version));
            for mut version in went {
                (gone, gone_bytes) = (gone + 1, gone_bytes + version.bytes());
                version.leave(!version.is_in(kept.as_deref()), ghosts, spare);
            }
            match kept {
                Some(newest) => *place.get_mut() = *newest,
                None => {
                    place.remove();
                }
            }
        }
        self.count.fetch_sub(gone, Relaxed);
        self.bytes.fetch_sub(gone_bytes, Relaxed);
        telemetry::counters::add(telemetry::Counter::VersionsRemoved, gone);
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
        for shard in &self.shards {
            runtime::task::maybe_yield();
            let mut shard = shard.lock();
            let Shard { chains, spare } = &mut *shard;
            chains.retain(|_, newest| {
                // Most chains are of one version, which stays or goes.
                if newest.older.is_none() {
                    let stays = needed(newest);
                    if !stays {
                        (gone, gone_bytes) = (gone + 1, gone_bytes + newest.bytes());
                        newest.leave(true, ghosts, spare);
                    }
                    return stays;
                }
                let (kept, went) = newest.take().parted(needed);
                for mut version in went {
                    (gone, gone_bytes) = (gone + 1, gone_bytes + version.bytes());
                    version.leave(!version.is_in(kept.as_deref()), ghosts, spare);
                }
                match kept {
                    Some(chain) => {
                        *newest = *chain;
                        true
                    }
                    None => false,
                }
            });
            // After a great transaction, or a long reader.
            if chains.capacity() > SPARSE_KEYS.max(SPARSE * chains.len()) {
                chains.shrink_to(2 * chains.len());
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two keys that share a hash, and one whose chain is long.
    #[test]
    fn versions_of_keys_with_one_hash_are_told_apart() {
        let (store, xids, ghosts) =
            (VersionStore::default(), XidTable::new(1, 8), Ghosts::default());
        let at = |n: u64| Stamp::committed(Lsn(8 * n));
        let hash = crate::key_hash(1, b"a");
        for n in 1..=3 {
            store.push(1, b"a", hash, at(n), &[n as u8; 5], at(n + 1));
            store.push(1, b"bb", hash, at(n), &[10 + n as u8; 3], at(n + 1));
        }
        store.push(2, b"a", hash, at(1), b"other", at(9).ghost());
        let read = |key: &[u8], at: u64| {
            let mut row = Vec::new();
            let status = |_| XidStatus::Committed(Lsn::NONE);
            let shard = store.shard(hash).lock();
            let chain = shard.chains.get(&hash).into_iter().flat_map(Version::chain);
            let seen = chain
                .filter(|v| v.is_of(1, key))
                .find(|v| visible(v.stamp, Lsn(at), Xid::NONE, status) == Visibility::Visible);
            row.extend_from_slice(seen.map_or(&[], Version::row));
            row
        };
        assert_eq!(read(b"a", 8 * 2 + 1), [2; 5]);
        assert_eq!(read(b"bb", 8 * 2 + 1), [12; 3]);
        assert_eq!(store.count(), 7);
        // One reader in between: it keeps what it sees, and the rest goes.
        let snapshot = 8 * 2 + 1;
        let in_use = InUse::for_test(8 * 100, &[(snapshot, snapshot)]);
        assert_eq!(store.collect(&in_use, &xids, &ghosts), 4);
        assert_eq!(read(b"a", snapshot), [2; 5]);
        assert_eq!(read(b"bb", snapshot), [12; 3]);
        let in_use = InUse::for_test(8 * 100, &[]);
        assert_eq!(store.collect(&in_use, &xids, &ghosts), 3);
        assert_eq!((store.count(), store.bytes()), (0, 0));
        assert_eq!(ghosts.take(9), [(2, b"a"[..].into())], "the one that was deleted");
        for n in 0..200_000 {
            store.push(1, b"a", hash, at(n), b"row", at(n + 1));
        }
        // A chain as long as that ends without a stack as deep.
        drop(store);
    }
}
