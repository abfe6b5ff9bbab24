//! What numbers of the process stand for: each collection of schemas has one, as long as somebody holds it.
//!
//! A type of a column or variable is a few bytes that are copied everywhere; the number in it leads here. Numbers are not
//! given twice. What a number stands for grows when the collection is altered ([`Registered::publish`]).
//!
//! Fields: `KNOWN` is guarded by its lock, which is held for a look or an entry and never while suspended.

use crate::model::Schema;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

struct Entry {
    /// The collection's id in its database.
    owner: i32,
    schema: Arc<Schema>,
}

static KNOWN: RwLock<BTreeMap<u32, Entry>> = RwLock::new(BTreeMap::new());
static LAST: AtomicU32 = AtomicU32::new(0);

/// A number, which is free when the last of those who hold it is gone.
#[derive(Debug)]
struct Number(u32);

impl Drop for Number {
    fn drop(&mut self) {
        let gone = KNOWN.write().remove(&self.0);
        // A large schema is dropped outside of the lock.
        drop(gone);
    }
}

/// A collection that has a number.
#[derive(Clone, Debug)]
pub struct Registered {
    number: Arc<Number>,
    schema: Arc<Schema>,
}

impl Registered {
    /// A new number for a collection, whose id in its database is `owner`.
    pub fn new(owner: i32, schema: Arc<Schema>) -> Registered {
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        KNOWN.write().insert(number, Entry { owner, schema: schema.clone() });
        Registered { number: Arc::new(Number(number)), schema }
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        self.number.0
    }

    /// This version of the collection.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The same collection with more in it; the number stands for what it did, until [`Registered::publish`].
    pub fn altered(&self, schema: Arc<Schema>) -> Registered {
        Registered { number: self.number.clone(), schema }
    }

    /// From now on the number stands for this version.
    pub fn publish(&self) {
        let mut known = KNOWN.write();
        let former = known
            .get_mut(&self.number.0)
            .map(|entry| std::mem::replace(&mut entry.schema, self.schema.clone()));
        drop(known);
        drop(former);
    }
}

/// What a number stands for now.
pub fn current(number: u32) -> Option<Arc<Schema>> {
    KNOWN.read().get(&number).map(|entry| entry.schema.clone())
}

/// The id that the collection of a number has in its database.
pub fn owner_of(number: u32) -> Option<i32> {
    KNOWN.read().get(&number).map(|entry| entry.owner)
}
