//! The next values of IDENTITY columns.
//!
//! Values are handed out from memory; a row of `identities` holds the first value that is not yet
//! reserved, and moves on by [`BLOCK`] values at a time in a transaction of its own. So no value is
//! given twice, also not after a crash, and a crash or a rollback leaves gaps, as in SQL Server.
//! The reservation stands before the rows that use it in the one log, so it need not be hard.
//!
//! A counter belongs to (object, tree): TRUNCATE makes a new tree, and with it a new counter at the
//! seed; a rollback of the TRUNCATE finds the old one.

use crate::catalog::Catalog;
use crate::def::{Identity, TableDef};
use crate::{CatalogError, TreeId};
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
    /// The first value that is not reserved.
    reserved: i128,
}

impl Identities {
    /// From a row of `identities`.
    pub(crate) fn load(&self, object_id: i32, tree: TreeId, next: i64) {
        let next = next as i128;
        let counter = Arc::new(Counter { state: Mutex::new(State { next, reserved: next }) });
        self.counters.write().insert((object_id, tree), counter);
    }

    pub(crate) fn forget(&self, object_id: i32) {
        self.counters.write().retain(|(id, _), _| *id != object_id);
    }

    fn counter(&self, table: &TableDef, identity: Identity) -> Arc<Counter> {
        let key = (table.object_id, table.tree);
        if let Some(counter) = self.counters.read().get(&key) {
            return counter.clone();
        }
        let seed = identity.seed as i128;
        let fresh =
            || Arc::new(Counter { state: Mutex::new(State { next: seed, reserved: seed }) });
        self.counters.write().entry(key).or_insert_with(fresh).clone()
    }
}

impl Catalog {
    /// Takes `count` values of a table's identity column: (first, increment). Never given twice;
    /// gaps after a rollback or a crash, as in SQL Server. 8115 at the end of bigint. Suspends once
    /// in a thousand values.
    pub fn next_identity(&self, table: &TableDef, count: u64) -> Result<(i64, i64), CatalogError> {
        let Some(identity) = table.identity().and_then(|i| table.columns[i].identity) else {
            return Err(crate::system::corrupt("no identity column"));
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
                let inside =
                    if step > 0 { after <= state.reserved } else { after >= state.reserved };
                if inside {
                    let first = state.next as i64;
                    state.next = after;
                    return Ok((first, identity.increment));
                }
                // Never beyond what a row can say; the end itself is kept by the check above.
                let block = after + step * BLOCK as i128;
                block.clamp(i64::MIN as i128, i64::MAX as i128)
            };
            if !self.reserve(table, &counter, wanted, step)? {
                return Err(TypeError::Overflow { from: "IDENTITY", to: "bigint" }.into());
            }
        }
    }

    /// Moves the reservation to `wanted` at least; `false` when it cannot move.
    fn reserve(
        &self,
        table: &TableDef,
        counter: &Counter,
        wanted: i128,
        step: i128,
    ) -> Result<bool, CatalogError> {
        // The row's lock lets one session through at a time.
        let mut txn = self.db.begin(TxnOptions::default());
        let row = [
            table.object_id.into(),
            Value::BigInt(table.tree.0.0 as i64),
            Value::BigInt(wanted as i64),
        ];
        let done = match self.tables.identities.put(&mut txn, &row) {
            Ok(()) => {
                let moved = {
                    let mut state = counter.state.lock();
                    let ahead = |a: i128, b: i128| if step > 0 { a > b } else { a < b };
                    if ahead(state.reserved, wanted) {
                        // Another session went further meanwhile; its row must stand.
                        None
                    } else {
                        let moved = state.reserved != wanted;
                        state.reserved = wanted;
                        Some(moved)
                    }
                };
                match moved {
                    Some(moved) => {
                        txn.commit(Durability::Delayed)?;
                        return Ok(moved);
                    }
                    None => Ok(true),
                }
            }
            Err(e) => Err(e),
        };
        txn.rollback()?;
        done
    }
}

/// Of a stored number.
pub(crate) fn tree_id(stored: i64) -> TreeId {
    TreeId(PageId(stored as u64))
}
