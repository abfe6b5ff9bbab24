//! Figures of a table: what is told of its index, of what was done with it, and of what waits to be cleaned; and what a piece of
//! memory takes. Knows nothing of what it is about.

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

/// What a piece of memory takes of so many bytes asked for: with glibc's header, in its steps of 16.
pub(crate) fn taken(bytes: usize) -> usize {
    ((bytes + 8).next_multiple_of(16)).max(32)
}
