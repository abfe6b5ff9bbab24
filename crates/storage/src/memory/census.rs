//! What a table is made of, counted when somebody asks: chains of a hash index, nodes of a range index, and what slots
//! have noted of reads, changes and cleaning.
//!
//! Promise: counting keeps nobody waiting and nothing from being freed for longer than a step takes, so the figures are of
//! no one moment.

use crate::memory::clean::List;
use crate::memory::table::{Index, Table};
use parking_lot::Mutex;
use runtime::task::MAX_SLOTS;
use std::sync::atomic::Ordering::Relaxed;

/// How an index looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexCensus {
    Hash(Chains),
    Range(Nodes),
}

/// The buckets of a hash index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Chains {
    pub buckets: u64,
    pub empty: u64,
    /// In all buckets; those taken out of use and not yet out of their chain are among them.
    pub rows: u64,
    pub longest: u64,
}

/// The nodes of a range index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nodes {
    pub leaves: u64,
    pub inner: u64,
    /// Times that a node's right half has become a node of its own: of leaves, and of those above.
    pub leaf_splits: u64,
    pub inner_splits: u64,
    /// Memory that all of it takes.
    pub bytes: u64,
}

/// What has been done with an index since it was made, by whoever commits or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Doings {
    /// Look-ups of a key, and scans.
    pub scans: u64,
    /// Rows that they have shown.
    pub returned: u64,
    pub inserts: u64,
    pub updates: u64,
    pub deletes: u64,
}

/// The list of rows to clean of one slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueFigures {
    pub enqueued: u64,
    pub dequeued: u64,
    pub depth: u64,
    /// As deep as it was when somebody took it.
    pub depth_max: u64,
    /// When that was last done, by the monotonic clock; 0: never.
    pub served_ns: u64,
    /// Memory of the list itself.
    pub bytes: u64,
}

impl QueueFigures {
    /// The list of the same slot of another table.
    pub fn add(&mut self, other: &QueueFigures) {
        self.enqueued += other.enqueued;
        self.dequeued += other.dequeued;
        self.depth += other.depth;
        self.depth_max += other.depth_max;
        self.served_ns = self.served_ns.max(other.served_ns);
        self.bytes += other.bytes;
    }
}

impl Table {
    /// Goes through the index; of a hash index through all rows.
    pub fn census(&self) -> IndexCensus {
        match &self.index {
            Index::Hash(hash) => {
                let mut chains = Chains { buckets: hash.buckets() as u64, ..Chains::default() };
                for bucket in 0..hash.buckets() {
                    let rows = hash.chain(bucket);
                    chains.rows += rows;
                    chains.empty += u64::from(rows == 0);
                    chains.longest = chains.longest.max(rows);
                    if bucket % 1024 == 1023 {
                        runtime::task::maybe_yield();
                    }
                }
                IndexCensus::Hash(chains)
            }
            Index::Range(range) => IndexCensus::Range(range.census()),
        }
    }

    /// Bytes that the index takes, as of now.
    pub fn measured_index_bytes(&self) -> u64 {
        match &self.index {
            Index::Hash(_) => self.index_bytes(),
            Index::Range(range) => range.census().bytes,
        }
    }

    /// What has been done with it.
    pub fn doings(&self) -> Doings {
        let mut all = Doings::default();
        for slot in &self.slots {
            all.scans += slot.scans.load(Relaxed);
            all.returned += slot.returned.load(Relaxed);
            all.inserts += slot.inserts.load(Relaxed);
            all.updates += slot.updates.load(Relaxed);
            all.deletes += slot.deletes.load(Relaxed);
        }
        all
    }

    /// The lists of rows to clean, by slot.
    pub fn queues(&self) -> Vec<QueueFigures> {
        let of = |list: &Mutex<List>| {
            let list = list.lock();
            QueueFigures {
                enqueued: list.taken + list.rows.len() as u64,
                dequeued: list.taken,
                depth: list.rows.len() as u64,
                depth_max: list.depth_max.max(list.rows.len()) as u64,
                served_ns: list.served_ns,
                bytes: (list.rows.capacity() * size_of::<usize>()) as u64,
            }
        };
        self.queue.lists.iter().take(MAX_SLOTS).map(|list| of(list)).collect()
    }
}
