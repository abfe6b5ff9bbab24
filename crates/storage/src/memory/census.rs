//! What a table is made of, counted when somebody asks: chains of a hash index, nodes of a range index, and what slots
//! have noted of reads, changes and cleaning.
//!
//! Promise: counting keeps nobody waiting and nothing from being freed for longer than a step takes, so the figures are of
//! no one moment.

use crate::memory::clean::List;
use crate::memory::figures::{Chains, Doings, IndexCensus, QueueFigures};
use crate::memory::table::{Index, Table};
use parking_lot::Mutex;
use runtime::task::MAX_SLOTS;
use std::sync::atomic::Ordering::Relaxed;

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
