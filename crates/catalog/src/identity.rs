//! The next values of IDENTITY columns.
//!
//! Values are handed out from memory; a row of `identities` holds the last value that is reserved,
//! and moves on by [`BLOCK`] values at a time in a transaction of its own. So no value is
//! given twice, also not after a crash, and a crash or a rollback leaves gaps, as in SQL Server.
//! The reservation stands before the rows that use it in the one log, so it need not be hard.
//!
//! A counter belongs to (object, tree): TRUNCATE makes a new tree, and with it a new counter at the
//! seed; a rollback of the TRUNCATE finds the old one.

use crate::catalog::Catalog;
use crate::def::{Identity, TableDef};
use crate::system::corrupt;
use crate::{CatalogError, TreeId, Txn};
use engine::{Durability, PageId, TxnOptions};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use types::{TypeError, Value};

/// Values reserved by one write.
const BLOCK: i64 = 1000;

#[derive(Default)]
pub(crate) struct Identities {
    /// Guards the map only; never held while suspended.
    counters: RwLock<HashMap<(i32, TreeId), Arc<Counter>>>,
}

struct Counter {
    /// Held for a few instructions, never while suspended.
    state: Mutex<State>,
}

struct State {
    /// The next value to give.
    next: i128,
    /// The last value that is reserved; one step before the seed at first.
    reserved: i128,
}

impl Identities {
    /// From a row of `identities`: all up to `reserved` may have been given.
    pub(crate) fn load(&self, object_id: i32, tree: TreeId, increment: i64, reserved: i64) {
        let reserved = reserved as i128;
        let state = State { next: reserved + increment as i128, reserved };
        let counter = Arc::new(Counter { state: Mutex::new(state) });
        self.counters.write().insert((object_id, tree), counter);
    }

    pub(crate) fn forget(&self, object_id: i32) {
        self.counters.write().retain(|(id, _), _| *id != object_id);
    }

    fn counter(&self, table: &TableDef, identity: Identity) -> Arc<Counter> {
        let seed = identity.seed as i128;
        self.counter_at((table.object_id, table.tree), seed, seed)
    }

    fn counter_at(&self, key: (i32, TreeId), next: i128, reserved: i128) -> Arc<Counter> {
        if let Some(counter) = self.counters.read().get(&key) {
            return counter.clone();
        }
        let fresh = || Arc::new(Counter { state: Mutex::new(State { next, reserved }) });
        self.counters.write().entry(key).or_insert_with(fresh).clone()
    }
}

impl Catalog {
    /// Takes `count` values of a table's identity column: (first, increment). Never given twice;
    /// gaps after a rollback or a crash, as in SQL Server. 8115 at the end of bigint. Suspends once
    /// in a thousand values.
    pub fn next_identity(&self, table: &TableDef, count: u64) -> Result<(i64, i64), CatalogError> {
        let Some(identity) = table.identity().and_then(|i| table.columns[i].identity) else {
            return Err(corrupt("no identity column"));
        };
        let step = identity.increment as i128;
        let counter = self.identities.counter(table, identity);
        loop {
            let wanted = {
                let mut state = counter.state.lock();
                let after = state.next + step * count as i128;
                let last = after - step;
                if i64::try_from(last).is_err() {
                    return Err(TypeError::Overflow { from: "IDENTITY", to: "bigint" }.into());
                }
                if !further(last, state.reserved, step) {
                    let first = state.next as i64;
                    state.next = after;
                    return Ok((first, identity.increment));
                }
                (last + step * BLOCK as i128).clamp(i64::MIN as i128, i64::MAX as i128)
            };
            self.reserve((table.object_id, table.tree), &counter, wanted, step)?;
        }
    }

    /// A value was given explicitly (IDENTITY_INSERT): the numbers go on past it. Suspends once in a thousand values.
    pub fn note_identity(&self, table: &TableDef, value: i64) -> Result<(), CatalogError> {
        let Some(identity) = table.identity().and_then(|i| table.columns[i].identity) else {
            return Ok(());
        };
        let (value, step) = (value as i128, identity.increment as i128);
        let counter = self.identities.counter(table, identity);
        loop {
            let wanted = {
                let mut state = counter.state.lock();
                if !further(value, state.next - step, step) {
                    return Ok(());
                }
                if !further(value, state.reserved, step) {
                    state.next = value + step;
                    return Ok(());
                }
                (value + step * BLOCK as i128).clamp(i64::MIN as i128, i64::MAX as i128)
            };
            self.reserve((table.object_id, table.tree), &counter, wanted, step)?;
        }
    }

    /// The last value given of a table's identity column (IDENT_CURRENT); `None` before the first, and without such
    /// a column.
    pub fn current_identity(&self, table: &TableDef) -> Option<i64> {
        let identity = table.identity().and_then(|i| table.columns[i].identity)?;
        let counter = self.identities.counter(table, identity);
        let next = counter.state.lock().next;
        let last = next - identity.increment as i128;
        if next == identity.seed as i128 { None } else { i64::try_from(last).ok() }
    }

    /// Takes the next `count` of the numbers 0, 1, 2 ... under a key: the first of them. `None`: `fits` refuses the last.
    /// Suspends once in `block` numbers.
    pub(crate) fn take_numbers(
        &self,
        key: (i32, TreeId),
        count: i128,
        block: i128,
        fits: impl Fn(i128) -> bool,
    ) -> Result<Option<i128>, CatalogError> {
        let counter = self.identities.counter_at(key, 0, -1);
        loop {
            let wanted = {
                let mut state = counter.state.lock();
                let last = state.next + count - 1;
                if !fits(last) || i64::try_from(last).is_err() {
                    return Ok(None);
                }
                if last <= state.reserved {
                    let first = state.next;
                    state.next += count;
                    return Ok(Some(first));
                }
                (last + block - 1).min(i64::MAX as i128)
            };
            self.reserve(key, &counter, wanted, 1)?;
        }
    }

    /// How many of the numbers under a key were taken.
    pub(crate) fn numbers_taken(&self, key: (i32, TreeId)) -> i128 {
        self.identities.counter_at(key, 0, -1).state.lock().next
    }

    /// A table's rows move to another tree: the numbers go on there. Under the Sch-M lock.
    pub(crate) fn carry_identity(
        &self,
        txn: &mut Txn,
        old: &TableDef,
        new: &TableDef,
    ) -> Result<(), CatalogError> {
        let Some(identity) = old.identity().and_then(|i| old.columns[i].identity) else {
            return Ok(());
        };
        let (next, reserved) = {
            let counter = self.identities.counter(old, identity);
            let state = counter.state.lock();
            (state.next, state.reserved)
        };
        if next != identity.seed as i128 {
            self.write_reservation(
                txn,
                (new.object_id, new.tree),
                reserved,
                identity.increment as i128,
            )?;
        }
        let counter = Arc::new(Counter { state: Mutex::new(State { next, reserved }) });
        self.identities.counters.write().insert((new.object_id, new.tree), counter);
        Ok(())
    }

    /// Moves the reservation to `wanted` at least. The row only ever moves on, because it is read
    /// under its lock; memory follows it once the record is in the log.
    fn reserve(
        &self,
        key: (i32, TreeId),
        counter: &Counter,
        wanted: i128,
        step: i128,
    ) -> Result<(), CatalogError> {
        let mut txn = self.db.begin(TxnOptions::default());
        let reserved = match self.write_reservation(&mut txn, key, wanted, step) {
            Ok(reserved) => {
                txn.commit(Durability::Delayed)?;
                reserved
            }
            Err(e) => {
                txn.rollback()?;
                return Err(e);
            }
        };
        let mut state = counter.state.lock();
        if further(reserved, state.reserved, step) {
            state.reserved = reserved;
        }
        Ok(())
    }

    /// What is reserved when the transaction commits.
    fn write_reservation(
        &self,
        txn: &mut Txn,
        (object_id, tree): (i32, TreeId),
        wanted: i128,
        step: i128,
    ) -> Result<i128, CatalogError> {
        let row = [object_id.into(), Value::BigInt(tree.0.0 as i64), Value::BigInt(wanted as i64)];
        let rows = &self.tables.identities;
        loop {
            match rows.read_locked(txn, &row[..2])? {
                Some(old) => {
                    let old = old[2].as_i64().ok_or_else(|| corrupt("no reservation"))? as i128;
                    if !further(wanted, old, step) {
                        return Ok(old);
                    }
                    rows.update(txn, &row)?;
                    return Ok(wanted);
                }
                None if rows.insert(txn, &row)? => return Ok(wanted),
                // Another session has made the row meanwhile.
                None => {}
            }
        }
    }
}

/// Does `a` lie beyond `b` in the direction of the step?
fn further(a: i128, b: i128, step: i128) -> bool {
    if step > 0 { a > b } else { a < b }
}

/// Of a stored number.
pub(crate) fn tree_id(stored: i64) -> TreeId {
    TreeId(PageId(stored as u64))
}
