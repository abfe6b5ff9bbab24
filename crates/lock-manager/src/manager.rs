//! The lock manager of one database.

use crate::graph::{Graph, Target, WaitRecord};
use crate::held::HeldTable;
use crate::rows::RowTable;
use crate::tables::{TableLocks, bucket_of};
use crate::wait::{Verdict, WaitNode};
use crate::{Held, Owner, RowKey, RowMode, TableMode};
use parking_lot::Mutex;
use runtime::{clock, task};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use telemetry::{Counter, WaitType, counters};

/// Why a lock was not granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockError {
    /// 1205.
    Deadlock,
    /// 1222.
    Timeout,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LockError::Deadlock => "chosen as the deadlock victim",
            LockError::Timeout => "lock request time out period exceeded",
        })
    }
}

impl std::error::Error for LockError {}

/// One row of `sys.dm_tran_locks`. Intent locks of the fast path are counted, not listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockInfo {
    pub owner: Owner,
    pub tree: u64,
    /// `None` for a table lock.
    pub key_hash: Option<u64>,
    pub mode: &'static str,
    pub granted: bool,
}

const END_SHARDS: usize = 16;
/// How often a strong table request looks whether intent locks have drained.
const DRAIN_POLL_NS: u64 = 1_000_000;
/// How often a waiter looks for a deadlock again. The check at the beginning finds them all; this one costs nothing.
const RECHECK_NS: u64 = 250_000_000;

/// See the crate.
pub struct LockManager {
    pub(crate) rows: RowTable,
    pub(crate) tables: TableLocks,
    graph: Graph,
    /// Who waits for the end of which transaction.
    ends: [Mutex<HashMap<u64, Vec<Arc<WaitNode>>>>; END_SHARDS],
    end_waiters: AtomicUsize,
}

impl Default for LockManager {
    fn default() -> Self {
        Self::new()
    }
}

impl LockManager {
    /// No locks.
    pub fn new() -> LockManager {
        LockManager {
            rows: RowTable::new(),
            tables: TableLocks::new(),
            graph: Graph::default(),
            ends: Default::default(),
            end_waiters: AtomicUsize::new(0),
        }
    }

    /// Locks a row until [`LockManager::release_all`] (or [`LockManager::release_row`]). Suspends; waits at most
    /// `timeout_ns`. True when the lock is new to the owner or has become stronger.
    pub fn lock_row(
        &self,
        held: &mut Held,
        key: RowKey,
        mode: RowMode,
        timeout_ns: Option<u64>,
    ) -> Result<bool, LockError> {
        let before = held.rows.iter().rev().take(4).position(|(k, _)| *k == key);
        let before = before.map(|back| held.rows.len() - 1 - back);
        if let Some(i) = before
            && held.rows[i].1 >= mode
        {
            return Ok(false);
        }
        // An older lock of ours is not worth a search of the list: the table knows.
        let (known, mode) = match before {
            Some(i) => (Some(i), mode),
            None => match self.held_mode(key, held.owner) {
                Some(m) if m >= mode => return Ok(false),
                Some(_) => (held.rows.iter().position(|(k, _)| *k == key), mode),
                None => (None, mode),
            },
        };
        if !self.rows.request(key, held.owner, mode, Some(&held.node)) {
            let end = |owner| self.rows.withdraw(key, owner);
            self.wait(held, Target::Row(key), mode.wait_type(), timeout_ns, end, || {})?;
        }
        match known {
            Some(i) => held.rows[i].1 = mode,
            None => held.rows.push((key, mode)),
        }
        Ok(true)
    }

    fn held_mode(&self, key: RowKey, owner: Owner) -> Option<RowMode> {
        let shard = self.rows.shard(key).lock();
        shard.get(&key)?.holders().find(|&(o, _)| o == owner).map(|(_, m)| m)
    }

    /// Gives the row lock taken last back before the transaction ends: the row turned out not to matter.
    pub fn release_last_row(&self, held: &mut Held) {
        if let Some((key, _)) = held.rows.pop() {
            self.rows.release(key, held.owner);
        }
    }

    /// Locks a table until [`LockManager::release_all`]. Suspends when it is not free.
    #[inline]
    pub fn lock_table(
        &self,
        held: &mut Held,
        tree: u64,
        mode: TableMode,
        timeout_ns: Option<u64>,
    ) -> Result<(), LockError> {
        if held.covers_table(tree, mode) {
            return Ok(());
        }
        if mode.is_fast() && self.tables.try_fast(tree, mode) {
            held.tables.push(HeldTable { tree, mode, fast: true });
            return Ok(());
        }
        self.lock_table_slow(held, tree, mode, timeout_ns)
    }

    #[cold]
    fn lock_table_slow(
        &self,
        held: &mut Held,
        tree: u64,
        mode: TableMode,
        timeout_ns: Option<u64>,
    ) -> Result<(), LockError> {
        if mode.is_strong() {
            self.tables.raise(tree, held);
        }
        let node = held.node.clone();
        if !self.tables.request(tree, held.owner, mode, Some(&node)) {
            let end = |owner| self.tables.withdraw(tree, owner);
            let poll = || self.tables.regrant(tree);
            let target = Target::Table(tree, mode);
            if let Err(e) = self.wait(held, target, mode.wait_type(), timeout_ns, end, poll) {
                if mode.is_strong() {
                    self.tables.lower(tree);
                }
                return Err(e);
            }
        }
        held.tables.push(HeldTable { tree, mode, fast: false });
        Ok(())
    }

    /// Takes a lock on a table if nobody is in the way: lock escalation.
    pub fn try_lock_table(&self, held: &mut Held, tree: u64, mode: TableMode) -> bool {
        if held.covers_table(tree, mode) {
            return true;
        }
        if mode.is_strong() {
            self.tables.raise(tree, held);
        }
        let granted = self.tables.request(tree, held.owner, mode, None);
        if granted {
            held.tables.push(HeldTable { tree, mode, fast: false });
        } else if mode.is_strong() {
            self.tables.lower(tree);
        }
        granted
    }

    /// An intent-exclusive lock for the moment of one change, without a `Held`. Pairs with
    /// [`LockManager::leave_table`] on the same slot. False when somebody wants the whole table: go the slow way.
    #[inline]
    pub fn try_enter_table(&self, tree: u64) -> bool {
        self.tables.try_fast(tree, TableMode::IntentExclusive)
    }

    /// See [`LockManager::try_enter_table`].
    #[inline]
    pub fn leave_table(&self, tree: u64) {
        self.tables.release_fast(tree, TableMode::IntentExclusive);
    }

    /// Waits for the end of transaction `xid`, which is `holder`'s, as long as `unfinished` says so. Suspends.
    pub fn wait_for_end(
        &self,
        held: &mut Held,
        xid: u64,
        holder: Owner,
        timeout_ns: Option<u64>,
        unfinished: impl Fn() -> bool,
    ) -> Result<(), LockError> {
        let ends = &self.ends[(stdx::mix64(xid) % END_SHARDS as u64) as usize];
        held.node.arm();
        ends.lock().entry(xid).or_default().push(held.node.clone());
        // The counter before the look at the state, against ended()'s state before the look at the counter.
        self.end_waiters.fetch_add(1, SeqCst);
        let node = held.node.clone();
        let withdraw = |_| {
            let mut ends = ends.lock();
            if let Some(nodes) = ends.get_mut(&xid) {
                nodes.retain(|n| !Arc::ptr_eq(n, &node));
                if nodes.is_empty() {
                    ends.remove(&xid);
                }
            }
            true
        };
        let result = if unfinished() {
            let poll = || {
                if !unfinished() {
                    node.grant();
                }
            };
            self.wait(held, Target::End(holder), WaitType::LckMX, timeout_ns, withdraw, poll)
        } else {
            withdraw(held.owner);
            Ok(())
        };
        self.end_waiters.fetch_sub(1, SeqCst);
        result
    }

    /// Transaction `xid` is over: wakes who waits for that. To be called after its state says so.
    #[inline]
    pub fn ended(&self, xid: u64) {
        std::sync::atomic::fence(SeqCst);
        if self.end_waiters.load(SeqCst) != 0 {
            self.wake_ended(xid);
        }
    }

    #[cold]
    fn wake_ended(&self, xid: u64) {
        let nodes = self.ends[(stdx::mix64(xid) % END_SHARDS as u64) as usize].lock().remove(&xid);
        for node in nodes.into_iter().flatten() {
            node.grant();
        }
    }

    /// Releases everything.
    pub fn release_all(&self, held: &mut Held) {
        for (key, _) in held.rows.drain(..) {
            self.rows.release(key, held.owner);
        }
        let owner = held.owner;
        for t in held.tables.drain(..).rev() {
            self.tables.release(t, owner);
        }
    }

    /// Releases the Sch-S locks: the statement is over.
    #[inline]
    pub fn release_stability(&self, held: &mut Held) {
        let owner = held.owner;
        held.tables.retain(|t| {
            let goes = t.mode == TableMode::SchemaStability;
            if goes {
                self.tables.release(*t, owner);
            }
            !goes
        });
    }

    /// Releases the row locks in a tree, after a lock on the whole table has made them unnecessary.
    pub fn release_rows_of(&self, held: &mut Held, tree: u64) {
        let owner = held.owner;
        held.rows.retain(|(key, _)| {
            let goes = key.tree == tree;
            if goes {
                self.rows.release(*key, owner);
            }
            !goes
        });
    }

    /// What is held and waited for, but for intent locks of the fast path.
    pub fn list(&self) -> Vec<LockInfo> {
        let mut all = Vec::new();
        self.tables.each(|tree, owner, mode, granted| {
            all.push(LockInfo { owner, tree, key_hash: None, mode: mode.name(), granted });
        });
        self.rows.each(|key, owner, mode, granted| {
            let key_hash = Some(key.hash);
            all.push(LockInfo { owner, tree: key.tree, key_hash, mode: mode.name(), granted });
        });
        all
    }

    /// Parks until the node is granted, condemned or out of time. `withdraw` takes the owner out of its queue and
    /// says false when it was granted meanwhile.
    fn wait(
        &self,
        held: &Held,
        target: Target,
        wait_type: WaitType,
        timeout_ns: Option<u64>,
        withdraw: impl Fn(Owner) -> bool,
        poll: impl Fn(),
    ) -> Result<(), LockError> {
        let owner = held.owner;
        let node = &held.node;
        let begun = clock::now_ns();
        let deadline = timeout_ns.map(|t| begun.saturating_add(t));
        counters::add(Counter::LockWaits, 1);
        if timeout_ns == Some(0) {
            // A poll may find it free already.
            poll();
            if node.verdict() != Verdict::Granted && withdraw(owner) {
                counters::add(Counter::LockTimeouts, 1);
                return Err(LockError::Timeout);
            }
            return Ok(());
        }
        let fast =
            held.tables.iter().filter(|t| t.fast).map(|t| (bucket_of(t.tree), t.mode)).collect();
        self.graph
            .begin(owner, WaitRecord { target, priority: held.priority, node: node.clone(), fast });
        self.graph.check(owner, self);
        let period = match target {
            Target::Table(_, mode) if mode.is_strong() => DRAIN_POLL_NS,
            _ => RECHECK_NS,
        };
        let mut next_check = begun + RECHECK_NS;
        let result = loop {
            match node.verdict() {
                Verdict::Granted => break Ok(()),
                Verdict::Victim => {
                    withdraw(owner);
                    break Err(LockError::Deadlock);
                }
                Verdict::Waiting => {}
            }
            let now = clock::now_ns();
            if deadline.is_some_and(|d| now >= d) {
                if withdraw(owner) && node.verdict() != Verdict::Granted {
                    counters::add(Counter::LockTimeouts, 1);
                    break Err(LockError::Timeout);
                }
                break Ok(());
            }
            if now >= next_check {
                self.graph.check(owner, self);
                next_check = now + RECHECK_NS;
            }
            let until = (now + period).min(deadline.unwrap_or(u64::MAX));
            task::park(wait_type, Some(until));
            poll();
        };
        self.graph.end(owner);
        result
    }
}
