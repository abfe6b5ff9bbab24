//! The next values of IDENTITY columns.
//!
//! Values are handed out from memory; a row of `identities` holds the last value that is reserved,
//! and moves on by [`BLOCK`] values at a time in a transaction of its own. So no value is
//! given twice, also not after a crash, and a crash or a rollback leaves gaps, as in SQL Server.
//! The reservation stands before the rows that use it in the one log, so it need not be hard.
//!
//! DBCC CHECKIDENT sets a counter anew in its transaction: a rollback restores it, a commit writes its row.
//!
//! A counter belongs to (object, tree): TRUNCATE makes a new tree, and with it a new counter at the
//! seed; a rollback of the TRUNCATE finds the old one.

use crate::catalog::Catalog;
use crate::def::{Identity, TableDef};
use crate::scope::{Change, DdlScope};
use crate::system::corrupt;
use crate::{CatalogError, TreeId, Txn};
use engine::{Durability, TxnOptions};
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stdx::NumberMap;
use types::{TypeError, Value};

/// Values reserved by one write.
const BLOCK: i64 = 1000;

#[derive(Default)]
pub(crate) struct Identities {
    /// Guards the map only; never held while suspended.
    counters: RwLock<NumberMap<(i32, TreeId), Arc<Counter>>>,
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
    /// A value has been given.
    given: bool,
    /// Counts how often the counter was set anew: a reservation of before is not one of after.
    epoch: u32,
}

impl State {
    fn new(next: i128, reserved: i128, given: bool) -> State {
        State { next, reserved, given, epoch: 0 }
    }
}

/// A counter that was set anew in a transaction. Dropped without a commit, it puts the counter back.
#[derive(Clone)]
pub(crate) struct Reseed {
    key: (i32, TreeId),
    step: i128,
    undo: Arc<Undo>,
}

struct Undo {
    counter: Arc<Counter>,
    before: (i128, bool),
    kept: AtomicBool,
}

impl Drop for Undo {
    fn drop(&mut self) {
        if !self.kept.load(Ordering::Relaxed) {
            let mut state = self.counter.state.lock();
            (state.next, state.given) = self.before;
        }
    }
}

impl std::fmt::Debug for Reseed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reseed").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Identities {
    /// From a row of `identities`: all up to `reserved` may have been given.
    pub(crate) fn load(&self, object_id: i32, tree: TreeId, increment: i64, reserved: i64) {
        let reserved = reserved as i128;
        let state = State::new(reserved + increment as i128, reserved, true);
        let counter = Arc::new(Counter { state: Mutex::new(state) });
        self.counters.write().insert((object_id, tree), counter);
    }

    pub(crate) fn forget(&self, object_id: i32) {
        self.counters.write().retain(|(id, _), _| *id != object_id);
    }

    /// A tree is new: whatever had its number before is gone, or never came to be.
    pub(crate) fn begin_tree(&self, object_id: i32, tree: TreeId) {
        self.counters.write().remove(&(object_id, tree));
    }

    fn counter(&self, table: &TableDef, identity: Identity) -> Arc<Counter> {
        let seed = identity.seed as i128;
        // Not even the seed is reserved: the first value must not be given twice either.
        let reserved = seed - identity.increment as i128;
        self.counter_at((table.object_id, table.tree), seed, reserved)
    }

    fn counter_at(&self, key: (i32, TreeId), next: i128, reserved: i128) -> Arc<Counter> {
        if let Some(counter) = self.counters.read().get(&key) {
            return counter.clone();
        }
        let fresh = || Arc::new(Counter { state: Mutex::new(State::new(next, reserved, false)) });
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
                    state.given = true;
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
                    state.given = true;
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
        let state = counter.state.lock();
        let last = state.next - identity.increment as i128;
        if state.given { i64::try_from(last).ok() } else { None }
    }

    /// The value that the first row will get, while none has been given: the seed, or what DBCC CHECKIDENT said.
    pub fn first_identity(&self, table: &TableDef) -> Option<i64> {
        let identity = table.identity().and_then(|i| table.columns[i].identity)?;
        let next = self.identities.counter(table, identity).state.lock().next;
        i64::try_from(next).ok()
    }

    /// DBCC CHECKIDENT (t, RESEED, value): the last value given is `value`, or the first one to give when there was none.
    /// Undone when the scope forgets it.
    pub fn reseed(&self, scope: &mut DdlScope, table: &TableDef, value: i64) {
        let Some(identity) = table.identity().and_then(|i| table.columns[i].identity) else {
            return;
        };
        let step = identity.increment as i128;
        let counter = self.identities.counter(table, identity);
        let before = {
            let mut state = counter.state.lock();
            let before = (state.next, state.given);
            state.next = if state.given { value as i128 + step } else { value as i128 };
            before
        };
        let undo = Arc::new(Undo { counter, before, kept: AtomicBool::new(false) });
        scope.changes.push(Change::Reseed(Reseed {
            key: (table.object_id, table.tree),
            step,
            undo,
        }));
    }

    /// The transaction that set a counter anew has committed: what is reserved starts from there. Should the row not be
    /// written, numbers go on where they would have after the next start. Suspends.
    pub(crate) fn keep_reseed(&self, reseed: &Reseed) {
        let Reseed { key, step, undo } = reseed;
        undo.kept.store(true, Ordering::Relaxed);
        let mut txn = self.db.begin(TxnOptions::default());
        let written = self.write_reseed(&mut txn, *key, *step, &undo.counter);
        let _ = match written {
            Ok(()) => txn.commit(Durability::Delayed).map(drop),
            Err(_) => txn.rollback(),
        };
    }

    fn write_reseed(
        &self,
        txn: &mut Txn,
        key: (i32, TreeId),
        step: i128,
        counter: &Counter,
    ) -> Result<(), CatalogError> {
        let (object_id, tree) = key;
        let row = |last: i128| {
            [object_id.into(), Value::BigInt(tree.0.0 as i64), Value::BigInt(last as i64)]
        };
        let rows = &self.tables.identities;
        loop {
            // Whoever wants to reserve waits for the row from here on.
            let there = rows.read_locked(txn, &row(0)[..2])?.is_some();
            let last = {
                let mut state = counter.state.lock();
                state.epoch += 1;
                state.reserved = (state.next - step).clamp(i64::MIN as i128, i64::MAX as i128);
                state.reserved
            };
            if there {
                rows.update(txn, &row(last))?;
                return Ok(());
            }
            if rows.insert(txn, &row(last))? {
                return Ok(());
            }
        }
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

    /// A table's rows move to another tree: the numbers go on there. Under the Sch-M lock. What is reserved is written in a
    /// transaction of its own, as everywhere: a row under the mover's lock would have it wait for itself at its next
    /// reservation. Should the move be rolled back, the row is of a tree that nothing has.
    pub(crate) fn carry_identity(
        &self,
        old: &TableDef,
        new: &TableDef,
    ) -> Result<(), CatalogError> {
        let Some(identity) = old.identity().and_then(|i| old.columns[i].identity) else {
            return Ok(());
        };
        let (next, reserved, given) = {
            let counter = self.identities.counter(old, identity);
            let state = counter.state.lock();
            (state.next, state.reserved, state.given)
        };
        let (key, step) = ((new.object_id, new.tree), identity.increment as i128);
        let state = State::new(next, next - step, given);
        let counter = Arc::new(Counter { state: Mutex::new(state) });
        self.identities.counters.write().insert(key, counter.clone());
        match given || next != identity.seed as i128 {
            true => self.reserve(key, &counter, reserved, step),
            false => Ok(()),
        }
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
        let epoch = counter.state.lock().epoch;
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
        if state.epoch == epoch && further(reserved, state.reserved, step) {
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
