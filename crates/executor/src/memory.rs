//! Memory of sorts and hash tables: one pool for an instance, a grant for each statement that needs one.
//!
//! A statement begins with a little that nobody counts, then asks for its grant and waits for it, first come first
//! served, under RESOURCE_SEMAPHORE (8645 when it takes too long). A grant grows on demand and without waiting, up to
//! a share of the pool; where it may not, the operator spills, or the statement fails with 701 if it cannot.
//!
//! Resource Governor divides it: a workload group says how much one of its statements may have, and a resource pool how
//! much all of its statements together ([`Bounds`]). Who waits because his resource pool is full holds up nobody of
//! another one.
//!
//! Invariants: granted bytes never exceed the pool, nor those of a resource pool its part (but after it was made smaller);
//! nobody's grant grows while somebody waits for his first; a part of the pool is kept for first grants. Each grant goes
//! back when its statement ends, however it ends.

use crate::Bounds;
use crate::message::{SqlError, cancelled};
use parking_lot::Mutex;
use runtime::task::{self, Waker};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use telemetry::WaitType;
use types::Value;

/// What a statement may hold before it needs a grant, in bytes.
pub(crate) const FREE_BYTES: usize = 128 << 10;
/// The first grant, in bytes, or the pool's share if that is less.
const FIRST_BYTES: usize = 1 << 20;
/// This part of the pool is kept for first grants.
const KEPT: usize = 16;
/// The least that a grant grows by, in bytes, if there is as much.
const GROWTH_BYTES: usize = 1 << 20;
/// How long a statement waits for its first grant ('query wait (s)' of a cheap query), in ns.
const TIMEOUT_NS: u64 = 25_000_000_000;
/// A cancelled statement leaves the queue within so many ns.
const LOOK_NS: u64 = 50_000_000;

/// What may be held by the statements of an instance together.
#[derive(Debug)]
pub struct MemoryPool {
    /// In bytes.
    size: AtomicUsize,
    timeout_ns: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    granted: usize,
    next: u64,
    waiting: VecDeque<Waiting>,
    rows: BTreeMap<u64, Arc<Row>>,
    timeouts: u64,
    /// By resource pool.
    pools: BTreeMap<i32, OfPool>,
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    pool: i32,
    waker: Waker,
}

#[derive(Debug, Default)]
struct OfPool {
    granted: usize,
    grants: u64,
    timeouts: u64,
}

impl State {
    /// Nobody of that resource pool waits before.
    fn is_first(&self, pool: i32, id: Option<u64>) -> bool {
        self.waiting.iter().find(|w| w.pool == pool).is_none_or(|w| Some(w.id) == id)
    }

    fn granted_of(&self, pool: i32) -> usize {
        self.pools.get(&pool).map_or(0, |of| of.granted)
    }
}

/// What is known of one grant, or of a request for one.
#[derive(Debug, Default)]
struct Row {
    session: u32,
    pool: i32,
    requested_ns: u64,
    /// 0 while it waits.
    granted_ns: AtomicUsize,
    granted: AtomicUsize,
    used: AtomicUsize,
    used_max: AtomicUsize,
}

/// One row of sys.dm_exec_query_memory_grants. Bytes; times on the monotonic clock, in ns.
#[derive(Clone, Debug)]
pub struct GrantRow {
    pub session: u32,
    /// Id of the resource pool.
    pub pool: i32,
    pub requested_ns: u64,
    /// None while it waits.
    pub granted_ns: Option<u64>,
    pub granted_bytes: usize,
    pub used_bytes: usize,
    pub used_bytes_max: usize,
}

/// The pool as a whole: sys.dm_exec_query_resource_semaphores. Bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolFigures {
    pub target_bytes: usize,
    pub granted_bytes: usize,
    pub used_bytes: usize,
    pub grantees: usize,
    pub waiters: usize,
    pub timeouts: u64,
}

impl MemoryPool {
    /// A pool of so many bytes; at least 1 MiB.
    pub fn new(bytes: usize) -> Arc<MemoryPool> {
        Self::with_timeout(bytes, TIMEOUT_NS)
    }

    fn with_timeout(bytes: usize, timeout_ns: u64) -> Arc<MemoryPool> {
        let size = AtomicUsize::new(bytes.max(1 << 20));
        Arc::new(MemoryPool { size, timeout_ns, state: Mutex::default() })
    }

    fn size(&self) -> usize {
        self.size.load(Relaxed)
    }

    /// From now on it is of so many bytes; what is granted stays so.
    pub fn set_size(&self, bytes: usize) {
        self.size.store(bytes.max(1 << 20), Relaxed);
        wake_first(&self.state.lock());
    }

    /// The most that the statements of a resource pool of so many percent may have together.
    pub fn part(&self, pool_percent: u32) -> usize {
        percent(self.size(), pool_percent)
    }

    /// The most that one statement may have: a quarter as a rule.
    fn share(&self, bounds: &Bounds) -> usize {
        percent(self.part(bounds.pool_percent), bounds.grant_percent)
    }

    /// Grants and time-outs of a resource pool since the start.
    pub fn counts_of(&self, pool: i32) -> (u64, u64) {
        self.state.lock().pools.get(&pool).map_or((0, 0), |of| (of.grants, of.timeouts))
    }

    fn fits(&self, state: &State, bounds: &Bounds, bytes: usize) -> bool {
        state.granted + bytes <= self.size()
            && state.granted_of(bounds.pool) + bytes <= self.part(bounds.pool_percent)
    }

    /// A first grant. Waits; 8645, or the error of a cancelled statement. A statement that has a grant already and runs
    /// another inside does not wait behind others for what they cannot have before it ends: it is asked for again, and
    /// fails by its time like any other.
    pub(crate) fn acquire(
        self: &Arc<Self>,
        session: u32,
        bounds: Bounds,
        cancel: &AtomicBool,
    ) -> Result<Arc<Grant>, SqlError> {
        let begun = runtime::clock::now_ns();
        let bytes = FIRST_BYTES.min(self.share(&bounds));
        let pool = bounds.pool;
        let row = Arc::new(Row { session, pool, requested_ns: begun, ..Row::default() });
        let id = {
            let mut state = self.state.lock();
            let id = state.next;
            state.next += 1;
            state.rows.insert(id, row.clone());
            if state.is_first(pool, None) && self.fits(&state, &bounds, bytes) {
                return Ok(self.give(&mut state, id, row, bounds, bytes));
            }
            state.waiting.push_back(Waiting { id, pool, waker: task::current_waker() });
            id
        };
        loop {
            let now = runtime::clock::now_ns();
            task::park(WaitType::ResourceSemaphore, Some(now + LOOK_NS));
            let mut state = self.state.lock();
            if state.is_first(pool, Some(id)) && self.fits(&state, &bounds, bytes) {
                state.waiting.retain(|other| other.id != id);
                let grant = self.give(&mut state, id, row, bounds, bytes);
                wake_first(&state);
                return Ok(grant);
            }
            let stopped = cancel.load(Relaxed);
            let timeout_ns = match bounds.grant_timeout_ns {
                0 => self.timeout_ns,
                said => said,
            };
            let late = runtime::clock::now_ns().saturating_sub(begun) >= timeout_ns;
            if stopped || late {
                state.waiting.retain(|other| other.id != id);
                state.rows.remove(&id);
                state.timeouts += late as u64;
                state.pools.entry(pool).or_default().timeouts += late as u64;
                wake_first(&state);
                drop(state);
                return Err(if stopped { cancelled() } else { timed_out(&bounds) });
            }
        }
    }

    fn give(
        self: &Arc<Self>,
        state: &mut State,
        id: u64,
        row: Arc<Row>,
        bounds: Bounds,
        bytes: usize,
    ) -> Arc<Grant> {
        state.granted += bytes;
        let of_pool = state.pools.entry(bounds.pool).or_default();
        of_pool.granted += bytes;
        of_pool.grants += 1;
        row.granted.store(bytes, Relaxed);
        row.granted_ns.store(runtime::clock::now_ns().max(1) as usize, Relaxed);
        Arc::new(Grant { pool: self.clone(), id, row, bounds })
    }

    /// Every grant and request.
    pub fn rows(&self) -> Vec<GrantRow> {
        let state = self.state.lock();
        let row = |row: &Arc<Row>| GrantRow {
            session: row.session,
            pool: row.pool,
            requested_ns: row.requested_ns,
            granted_ns: Some(row.granted_ns.load(Relaxed) as u64).filter(|ns| *ns > 0),
            granted_bytes: row.granted.load(Relaxed),
            used_bytes: row.used.load(Relaxed),
            used_bytes_max: row.used_max.load(Relaxed),
        };
        state.rows.values().map(row).collect()
    }

    /// The sums.
    pub fn figures(&self) -> PoolFigures {
        let used_bytes = self.rows().iter().map(|row| row.used_bytes).sum();
        let state = self.state.lock();
        PoolFigures {
            target_bytes: self.size(),
            granted_bytes: state.granted,
            used_bytes,
            grantees: state.rows.len() - state.waiting.len(),
            waiters: state.waiting.len(),
            timeouts: state.timeouts,
        }
    }
}

/// Those who wait first, each in his resource pool.
fn wake_first(state: &State) {
    for waiting in state.waiting.iter().filter(|w| state.is_first(w.pool, Some(w.id))) {
        waiting.waker.wake();
    }
}

fn timed_out(bounds: &Bounds) -> SqlError {
    let text = format!(
        "A timeout occurred while waiting for memory resources to execute the query in resource pool '{}' ({}). Rerun \
         the query.",
        bounds.pool_name, bounds.pool
    );
    SqlError::new(8645, 17, text)
}

fn percent(bytes: usize, of: u32) -> usize {
    (bytes as u128 * u128::from(of) / 100) as usize
}

/// What one statement may hold, all its branches together.
#[derive(Debug)]
pub(crate) struct Grant {
    pool: Arc<MemoryPool>,
    id: u64,
    row: Arc<Row>,
    bounds: Bounds,
}

impl Grant {
    /// Takes bytes of the grant, which grows if it must and can.
    pub fn take(&self, bytes: usize) -> bool {
        let row = &*self.row;
        let used = row.used.fetch_add(bytes, Relaxed) + bytes;
        if used > row.granted.load(Relaxed) && !self.grow(used) {
            row.used.fetch_sub(bytes, Relaxed);
            return false;
        }
        row.used_max.fetch_max(used, Relaxed);
        true
    }

    /// Takes bytes that cannot be done without, whatever is granted: buffers of an operator that spills.
    pub fn force(&self, bytes: usize) {
        let used = self.row.used.fetch_add(bytes, Relaxed) + bytes;
        self.row.used_max.fetch_max(used, Relaxed);
    }

    pub fn give_back(&self, bytes: usize) {
        let _ =
            self.row.used.fetch_update(Relaxed, Relaxed, |used| Some(used.saturating_sub(bytes)));
    }

    #[cold]
    fn grow(&self, used: usize) -> bool {
        let pool = &*self.pool;
        let mut state = pool.state.lock();
        let granted = self.row.granted.load(Relaxed);
        if used <= granted {
            return true;
        }
        let room = (pool.size() - pool.size() / KEPT).saturating_sub(state.granted);
        let room = room.min(pool.share(&self.bounds).saturating_sub(granted));
        let of_pool =
            pool.part(self.bounds.pool_percent).saturating_sub(state.granted_of(self.bounds.pool));
        let room = room.min(of_pool);
        let least = used - granted;
        if !state.waiting.is_empty() || room < least {
            return false;
        }
        let more = least.max(granted / 2).max(GROWTH_BYTES).min(room);
        state.granted += more;
        state.pools.entry(self.bounds.pool).or_default().granted += more;
        self.row.granted.store(granted + more, Relaxed);
        true
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock();
        let granted = self.row.granted.load(Relaxed);
        state.granted -= granted;
        state.pools.entry(self.bounds.pool).or_default().granted -= granted;
        state.rows.remove(&self.id);
        wake_first(&state);
    }
}

/// Texts and binaries up to this length live inside their value.
const INLINE_BYTES: usize = 22;

/// Memory of a row of values held, in bytes.
#[inline]
pub fn row_bytes(row: &[Value]) -> usize {
    let mut bytes = size_of_val(row) + 24;
    for value in row {
        bytes += match value {
            Value::Str(text) if text.as_bytes().len() > INLINE_BYTES => text.as_bytes().len(),
            Value::Binary(b) if b.len() > INLINE_BYTES => b.len(),
            _ => 0,
        };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_grows_to_its_share_and_goes_back() {
        let pool = MemoryPool::new(64 << 20);
        let cancel = AtomicBool::new(false);
        let grant = pool.acquire(51, Bounds::default(), &cancel).unwrap();
        assert!(grant.take(10 << 20));
        assert!(!grant.take(7 << 20), "a quarter of the pool is 16 MiB");
        assert!(grant.take(6 << 20));
        grant.give_back(16 << 20);
        assert!(grant.take(16 << 20));
        let figures = pool.figures();
        assert_eq!((figures.granted_bytes, figures.grantees), (16 << 20, 1));
        assert_eq!(pool.rows()[0].used_bytes_max, 16 << 20);
        drop(grant);
        assert_eq!(pool.figures().granted_bytes, 0);
    }

    #[test]
    fn who_asks_when_nothing_is_left_waits_for_whoever_has_it() {
        let pool = MemoryPool::new(1 << 20);
        let cancel = AtomicBool::new(false);
        // Four have a quarter each; the fifth waits.
        let mut four: Vec<_> =
            (0..4).map(|i| pool.acquire(i, Bounds::default(), &cancel).unwrap()).collect();
        std::thread::scope(|scope| {
            let fifth = scope.spawn(|| pool.acquire(5, Bounds::default(), &cancel).map(drop));
            while pool.figures().waiters == 0 {
                std::thread::yield_now();
            }
            four.pop();
            fifth.join().unwrap().unwrap();
        });
        assert_eq!(pool.figures().grantees, 3);
    }

    #[test]
    fn a_resource_pool_has_its_part_and_holds_up_no_other() {
        let pool = MemoryPool::new(100 << 20);
        let cancel = AtomicBool::new(false);
        let small = Bounds { pool: 256, pool_percent: 2, grant_percent: 50, ..Bounds::default() };
        let bytes = (100 << 20) / 100;
        let first = pool.acquire(51, small.clone(), &cancel).unwrap();
        assert!(first.take(bytes));
        assert!(!first.take(bytes), "half of two percent is one");
        let _second = pool.acquire(52, small.clone(), &cancel).unwrap();
        std::thread::scope(|scope| {
            let third = scope.spawn(|| pool.acquire(53, small.clone(), &cancel).map(drop));
            while pool.figures().waiters == 0 {
                std::thread::yield_now();
            }
            drop(pool.acquire(54, Bounds::default(), &cancel).unwrap());
            drop(first);
            third.join().unwrap().unwrap();
        });
        assert_eq!(pool.counts_of(256), (3, 0));
        assert_eq!(pool.counts_of(2), (1, 0));
    }

    #[test]
    fn a_wait_ends_with_8645_or_with_the_statement() {
        let pool = MemoryPool::with_timeout(1 << 20, 1);
        let cancel = AtomicBool::new(false);
        let _four: Vec<_> =
            (0..4).map(|i| pool.acquire(i, Bounds::default(), &cancel).unwrap()).collect();
        assert_eq!(pool.acquire(5, Bounds::default(), &cancel).unwrap_err().number, 8645);
        cancel.store(true, Relaxed);
        assert_eq!(
            pool.acquire(6, Bounds::default(), &cancel).unwrap_err().number,
            crate::message::CANCELLED
        );
        assert_eq!((pool.figures().waiters, pool.figures().timeouts), (0, 2));
    }
}
