//! The lock manager of one database.

use crate::graph::{Graph, WaitRecord};
use crate::held::HeldTable;
use crate::keys::{KeyTable, Request};
use crate::report::{Deadlock, LockInfo, LockResource, WaitInfo};
use crate::tables::TableLocks;
use crate::wait::{Verdict, WaitNode};
use crate::{APPLICATION, END_OF_TABLE, Held, KeyMode, Owner, RowKey, TableMode};
use parking_lot::Mutex;
use runtime::{clock, task};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, OnceLock};
use telemetry::locks::{self, Ended};
use telemetry::{Counter, LockKind, WaitType, counters};

/// Why a lock was not granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockError {
    /// 1205.
    Deadlock,
    /// 1222.
    Timeout,
    /// 3617: the waiter was told to give up.
    Cancelled,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LockError::Deadlock => "chosen as the deadlock victim",
            LockError::Timeout => "lock request time out period exceeded",
            LockError::Cancelled => "cancelled while waiting for a lock",
        })
    }
}

impl std::error::Error for LockError {}

/// What a request for a key lock has changed. To be handed back by [`LockManager::unlock_key`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Gained {
    /// Held before, in a mode that covers the wanted one, or covered by a lock on the table.
    Nothing,
    /// The owner held this before ([`KeyMode::NONE`]: nothing).
    From(KeyMode),
}

impl Gained {
    /// Whether anything has changed.
    pub fn any(self) -> bool {
        self != Gained::Nothing
    }
}

/// What somebody waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Key(RowKey, KeyMode),
    Table(u64, TableMode),
    /// The end of the owner's transaction with this id, to get that mode of a row.
    End(Owner, u64, KeyMode),
}

impl Target {
    /// What it is, for the statistics.
    fn kind(self) -> LockKind {
        match self {
            Target::Key(key, _) => kind_of(key),
            Target::Table(..) => LockKind::Object,
            Target::End(..) => LockKind::Xact,
        }
    }

    pub(crate) fn describe(self) -> (LockResource, &'static str, WaitType) {
        match self {
            Target::Key(key, mode) => (resource_of(key), mode.name(), mode.wait_type()),
            Target::Table(tree, mode) => {
                (LockResource::Table { tree }, mode.name(), mode.wait_type())
            }
            Target::End(_, xid, mode) => {
                (LockResource::Transaction { xid }, mode.name(), mode.wait_type())
            }
        }
    }
}

fn resource_of(key: RowKey) -> LockResource {
    let RowKey { tree, hash } = key;
    match (tree, hash) {
        (APPLICATION, _) => LockResource::Application { hash },
        (_, END_OF_TABLE) => LockResource::EndOfTable { tree },
        _ => LockResource::Key { tree, hash },
    }
}

const END_SHARDS: usize = 16;
/// How often a strong table request looks whether intent locks have drained.
const DRAIN_POLL_NS: u64 = 1_000_000;
/// How often a waiter looks for a deadlock again. The check at the beginning finds them all; this one costs nothing.
const RECHECK_NS: u64 = 250_000_000;
/// How often a waiter that may be cancelled looks whether it is.
const CANCEL_POLL_NS: u64 = 50_000_000;
/// How many reports of deadlocks are kept.
pub(crate) const DEADLOCKS_KEPT: usize = 64;

/// Is told of every deadlock, by the task whose wait closed it.
pub type DeadlockHook = Box<dyn Fn(&Deadlock) + Send + Sync>;

/// See the crate.
pub struct LockManager {
    pub(crate) keys: KeyTable,
    pub(crate) tables: TableLocks,
    graph: Graph,
    /// Who waits for the end of which transaction.
    ends: [Mutex<HashMap<u64, Vec<Arc<WaitNode>>>>; END_SHARDS],
    end_waiters: AtomicUsize,
    hook: OnceLock<DeadlockHook>,
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
            keys: KeyTable::new(),
            tables: TableLocks::new(),
            graph: Graph::default(),
            ends: Default::default(),
            end_waiters: AtomicUsize::new(0),
            hook: OnceLock::new(),
        }
    }

    /// Sets who is told of deadlocks; once.
    pub fn set_deadlock_hook(&self, hook: DeadlockHook) {
        let _ = self.hook.set(hook);
    }

    /// Locks a key until [`LockManager::release_all`] or [`LockManager::unlock_key`]. Suspends; waits at most
    /// `timeout_ns`.
    pub fn lock_key(
        &self,
        held: &mut Held,
        key: RowKey,
        mode: KeyMode,
        timeout_ns: Option<u64>,
    ) -> Result<Gained, LockError> {
        if let Some((_, before)) = held.keys.iter().rev().take(4).find(|(k, _)| *k == key)
            && before.covers(mode)
        {
            return Ok(Gained::Nothing);
        }
        if held.covers_key(key.tree, mode) {
            return Ok(Gained::Nothing);
        }
        locks::request(kind_of(key));
        let before = match self.keys.request(key, held.owner, mode, Some(&held.node)) {
            Request::Covered => return Ok(Gained::Nothing),
            Request::Granted(before) => before,
            Request::Blocked(before) => {
                let begun = clock::now_ns();
                let waited = self.wait_for_key(held, key, before.union(mode), timeout_ns);
                held.note_wait(begun);
                waited?;
                before
            }
        };
        note(held, key, before, mode);
        Ok(Gained::From(before))
    }

    /// Waits in the queue of a key, where the owner's node is.
    pub(crate) fn wait_for_key(
        &self,
        held: &Held,
        key: RowKey,
        mode: KeyMode,
        timeout_ns: Option<u64>,
    ) -> Result<(), LockError> {
        let end = |owner| self.keys.withdraw(key, owner);
        self.wait(held, Target::Key(key, mode), timeout_ns, end, || {})
    }

    /// Locks a key if that can be had at once; `None` when somebody is in the way. READPAST.
    pub fn try_lock_key(&self, held: &mut Held, key: RowKey, mode: KeyMode) -> Option<Gained> {
        if held.covers_key(key.tree, mode) {
            return Some(Gained::Nothing);
        }
        locks::request(kind_of(key));
        match self.keys.request(key, held.owner, mode, None) {
            Request::Covered => Some(Gained::Nothing),
            Request::Granted(before) => {
                note(held, key, before, mode);
                Some(Gained::From(before))
            }
            Request::Blocked(_) => None,
        }
    }

    /// Gives back what a request has gained: the row turned out not to matter.
    pub fn unlock_key(&self, held: &mut Held, key: RowKey, gained: Gained) {
        let Gained::From(before) = gained else { return };
        let Some(at) = held.keys.iter().rposition(|(k, _)| *k == key) else { return };
        if before == KeyMode::NONE {
            held.keys.remove(at);
            held.count(key.tree, -1);
        } else {
            held.keys[at].1 = before;
        }
        self.keys.weaken(key, held.owner, before);
    }

    /// Whether anybody holds a lock on a key or waits for one. Nobody who locks it after the answer has seen less than
    /// was done before.
    #[inline]
    pub fn is_key_locked(&self, key: RowKey) -> bool {
        self.keys.is_used(key)
    }

    /// What the owner holds on a key, but for what locks on the table cover.
    pub fn key_mode(&self, held: &Held, key: RowKey) -> KeyMode {
        if held.keys.is_empty() && held.app.is_empty() {
            return KeyMode::NONE;
        }
        self.keys.mode_of(key, held.owner)
    }

    /// Locks a table until [`LockManager::release_all`]; a `brief` lock (and every Sch-S lock) until
    /// [`LockManager::release_brief`]. Suspends when it is not free.
    #[inline]
    pub fn lock_table(
        &self,
        held: &mut Held,
        tree: u64,
        mode: TableMode,
        brief: bool,
        timeout_ns: Option<u64>,
    ) -> Result<(), LockError> {
        let brief = brief || mode == TableMode::SchemaStability;
        if if brief {
            held.covers_table(tree, mode)
        } else {
            held.covers_table_to_the_end(tree, mode)
        } {
            return Ok(());
        }
        self.take_table(held, tree, mode, brief, timeout_ns)
    }

    /// The same where nothing that is held makes the lock unnecessary.
    #[inline]
    pub fn take_table(
        &self,
        held: &mut Held,
        tree: u64,
        mode: TableMode,
        brief: bool,
        timeout_ns: Option<u64>,
    ) -> Result<(), LockError> {
        locks::request(LockKind::Object);
        if mode.is_fast() && self.tables.try_fast(tree, mode) {
            held.tables.push(HeldTable { tree, mode, fast: true, brief });
            return Ok(());
        }
        self.lock_table_slow(held, tree, mode, brief, timeout_ns)
    }

    #[cold]
    fn lock_table_slow(
        &self,
        held: &mut Held,
        tree: u64,
        mode: TableMode,
        brief: bool,
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
            if let Err(e) = self.wait(held, target, timeout_ns, end, poll) {
                if mode.is_strong() {
                    self.tables.lower(tree);
                }
                return Err(e);
            }
        }
        held.tables.push(HeldTable { tree, mode, fast: false, brief });
        Ok(())
    }

    /// Takes a lock on a table if nobody is in the way: lock escalation.
    pub fn try_lock_table(&self, held: &mut Held, tree: u64, mode: TableMode) -> bool {
        if held.covers_table_to_the_end(tree, mode) {
            return true;
        }
        locks::request(LockKind::Object);
        if mode.is_strong() {
            self.tables.raise(tree, held);
        }
        let granted = self.tables.request(tree, held.owner, mode, None);
        if granted {
            held.tables.push(HeldTable { tree, mode, fast: false, brief: false });
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

    /// A Sch-S lock for as long as one look takes, without a `Held`, during which nobody may be waited for. Pairs with
    /// [`LockManager::leave_visited_table`] on the same slot. False as for [`LockManager::try_enter_table`].
    #[inline]
    pub fn try_visit_table(&self, tree: u64) -> bool {
        locks::request(LockKind::Object);
        self.tables.try_fast(tree, TableMode::SchemaStability)
    }

    /// See [`LockManager::try_visit_table`].
    #[inline]
    pub fn leave_visited_table(&self, tree: u64) {
        self.tables.release_fast(tree, TableMode::SchemaStability);
    }

    /// Waits for the end of transaction `xid`, which is `holder`'s, as long as `unfinished` says so: to get `mode` of
    /// a row that it has changed. Suspends.
    pub fn wait_for_end(
        &self,
        held: &mut Held,
        xid: u64,
        holder: Owner,
        mode: KeyMode,
        timeout_ns: Option<u64>,
        unfinished: impl Fn() -> bool,
    ) -> Result<(), LockError> {
        locks::request(LockKind::Xact);
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
            let begun = clock::now_ns();
            let end = Target::End(holder, xid, mode);
            let waited = self.wait(held, end, timeout_ns, withdraw, poll);
            held.note_wait(begun);
            waited
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

    /// Releases everything that belongs to the transaction.
    #[inline]
    pub fn release_all(&self, held: &mut Held) {
        let owner = held.owner;
        for (key, _) in held.keys.drain(..) {
            self.keys.weaken(key, owner, KeyMode::NONE);
        }
        held.counts.clear();
        for t in held.tables.drain(..).rev() {
            self.tables.release(t, owner);
        }
        if !held.app.is_empty() {
            self.release_app(held, false);
        }
    }

    /// Releases the locks that are brief: the statement is over.
    #[inline]
    pub fn release_brief(&self, held: &mut Held) {
        let owner = held.owner;
        held.tables.retain(|t| {
            if t.brief {
                self.tables.release(*t, owner);
            }
            !t.brief
        });
    }

    /// Releases the key locks in a tree, after a lock on the whole table has made them unnecessary.
    pub fn release_keys_of(&self, held: &mut Held, tree: u64) {
        let owner = held.owner;
        held.keys.retain(|(key, _)| {
            let goes = key.tree == tree;
            if goes {
                self.keys.weaken(*key, owner, KeyMode::NONE);
            }
            !goes
        });
        held.counts.retain(|(t, _)| *t != tree);
    }

    /// What is held and waited for, but for intent locks of the fast path whose owners run.
    pub fn list(&self) -> Vec<LockInfo> {
        let mut all = Vec::new();
        self.tables.each(|tree, owner, mode, granted| {
            let resource = LockResource::Table { tree };
            all.push(LockInfo { owner, resource, mode: mode.name(), granted });
        });
        self.keys.each(|key, owner, mode, granted| {
            all.push(LockInfo { owner, resource: resource_of(key), mode: mode.name(), granted });
        });
        self.graph.each(|owner, record| {
            for (tree, mode) in &record.fast {
                let resource = LockResource::Table { tree: *tree };
                all.push(LockInfo { owner, resource, mode: mode.name(), granted: true });
            }
        });
        all
    }

    /// Who waits, for what, and who is in the way.
    pub fn waits(&self) -> Vec<WaitInfo> {
        let now = clock::now_ns();
        let mut all = Vec::new();
        self.graph.each(|owner, record| {
            let (resource, mode, wait_type) = record.target.describe();
            let blocker = match record.target {
                Target::Key(key, _) => self.keys.first_blocker(key, owner),
                Target::Table(tree, _) => self.tables.first_blocker(tree, owner),
                Target::End(holder, ..) => Some(holder),
            };
            let wait_ns = now.saturating_sub(record.since_ns);
            all.push(WaitInfo { owner, resource, mode, wait_type, wait_ns, blocker });
        });
        all
    }

    /// The last deadlocks, oldest first.
    pub fn deadlocks(&self) -> Vec<Arc<Deadlock>> {
        self.graph.deadlocks.lock().iter().cloned().collect()
    }

    fn look_for_deadlock(&self, owner: Owner) {
        if let (Some(report), Some(hook)) = (self.graph.check(owner, self), self.hook.get()) {
            hook(&report);
        }
    }

    /// Parks until the node is granted, condemned, cancelled or out of time. `withdraw` takes the owner out of its
    /// queue and says false when it was granted meanwhile.
    fn wait(
        &self,
        held: &Held,
        target: Target,
        timeout_ns: Option<u64>,
        withdraw: impl Fn(Owner) -> bool,
        poll: impl Fn(),
    ) -> Result<(), LockError> {
        let owner = held.owner;
        let node = &held.node;
        let begun = clock::now_ns();
        let deadline = timeout_ns.map(|t| begun.saturating_add(t));
        let (_, _, wait_type) = target.describe();
        counters::add(Counter::LockWaits, 1);
        if timeout_ns == Some(0) {
            // A poll may find it free already.
            poll();
            if node.verdict() != Verdict::Granted && withdraw(owner) {
                counters::add(Counter::LockTimeouts, 1);
                locks::waited(target.kind(), 0, Ended::TimedOut);
                return Err(LockError::Timeout);
            }
            return Ok(());
        }
        let record = WaitRecord {
            target,
            priority: held.priority,
            cost: held.cost,
            since_ns: begun,
            node: node.clone(),
            fast: held.tables.iter().filter(|t| t.fast).map(|t| (t.tree, t.mode)).collect(),
        };
        self.graph.begin(owner, record);
        self.look_for_deadlock(owner);
        let period = match target {
            Target::Table(_, mode) if mode.is_strong() => DRAIN_POLL_NS,
            _ if held.cancel.is_some() => CANCEL_POLL_NS,
            _ => RECHECK_NS,
        };
        let mut next_check = begun + RECHECK_NS;
        let mut parked = false;
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
            let cancelled = held.cancel.as_ref().is_some_and(|c| c.load(Relaxed));
            let late = deadline.is_some_and(|d| now >= d);
            if cancelled || late {
                if withdraw(owner) && node.verdict() != Verdict::Granted {
                    if cancelled {
                        break Err(LockError::Cancelled);
                    }
                    counters::add(Counter::LockTimeouts, 1);
                    break Err(LockError::Timeout);
                }
                break Ok(());
            }
            if now >= next_check {
                self.look_for_deadlock(owner);
                next_check = now + RECHECK_NS;
            }
            let until = (now + period).min(deadline.unwrap_or(u64::MAX));
            task::park_part(wait_type, Some(until), begun);
            parked = true;
            poll();
        };
        self.graph.end(owner);
        let ended = match &result {
            Ok(()) => Ended::Granted,
            Err(LockError::Timeout) => Ended::TimedOut,
            Err(LockError::Deadlock) => Ended::Deadlock,
            Err(LockError::Cancelled) => Ended::Cancelled,
        };
        let waited_ns = clock::now_ns().saturating_sub(begun);
        if parked {
            // One wait, however often it looked around.
            telemetry::waits::record(wait_type, waited_ns, 0);
        }
        locks::waited(target.kind(), waited_ns, ended);
        result
    }
}

fn kind_of(key: RowKey) -> LockKind {
    if key.tree == APPLICATION { LockKind::Application } else { LockKind::Key }
}

/// Enters a key lock, new or strengthened, into the owner's list.
fn note(held: &mut Held, key: RowKey, before: KeyMode, mode: KeyMode) {
    if before == KeyMode::NONE {
        held.keys.push((key, mode));
        held.count(key.tree, 1);
    } else if let Some(entry) = held.keys.iter_mut().rev().find(|(k, _)| *k == key) {
        entry.1 = before.union(mode);
    }
}
