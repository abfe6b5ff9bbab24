//! How much of the server a client, or a crowd of them, can take.
//!
//! A connection that has not logged in costs a descriptor and a few hundred bytes; it holds no task while it says
//! nothing. There may be [`Limits::before_login`] of them: a further one is taken, and the oldest one is closed, so
//! that a crowd of mute connections does not keep others out for longer than they need to log in. Whoever has not
//! logged in within [`Limits::login_ns`] is closed too. Sessions that are logged in are not touched by either.

use crate::connection::Connection;
use parking_lot::Mutex;
use runtime::clock;
use runtime::task::Waker;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Limits of one server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Sessions logged in at one time, where 'user connections' does not say less; one more is refused with 17809.
    pub connections: usize,
    /// Connections at one time that have not logged in.
    pub before_login: usize,
    /// Nanoseconds from the connection to the end of its login.
    pub login_ns: u64,
    /// Bytes of one message of a session (bulk load is read in pieces and not counted).
    pub message_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            // SQL Server's own.
            connections: 32_767,
            before_login: 1_024,
            login_ns: 15_000_000_000,
            message_bytes: 256 << 20,
        }
    }
}

#[derive(Default)]
struct Inside {
    all: BTreeMap<u64, Arc<Connection>>,
    /// Those that have not logged in, with their deadlines. Ids and deadlines ascend together.
    before_login: BTreeMap<u64, u64>,
    next_id: u64,
    /// Whoever watches the deadlines.
    watcher: Option<Waker>,
}

/// Every connection there is.
pub(crate) struct Registry {
    limits: Limits,
    inside: Mutex<Inside>,
    logged_in: AtomicUsize,
    /// Connections of each scheduler.
    by_scheduler: Vec<AtomicUsize>,
}

impl Registry {
    pub fn new(limits: Limits, schedulers: usize) -> Registry {
        Registry {
            limits,
            inside: Mutex::default(),
            logged_in: AtomicUsize::new(0),
            by_scheduler: (0..schedulers).map(|_| AtomicUsize::new(0)).collect(),
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The scheduler with the fewest connections, of those that `may` have one, or of all where none may.
    pub fn least_used(&self, may: impl Fn(usize) -> bool) -> usize {
        let all = || self.by_scheduler.iter().map(|count| count.load(Relaxed)).enumerate();
        let fewest = all().filter(|(index, _)| may(*index)).min_by_key(|(_, count)| *count);
        let fewest = fewest.or_else(|| all().min_by_key(|(_, count)| *count));
        fewest.map_or(0, |(index, _)| index)
    }

    pub fn moved(&self, from: usize, to: usize) {
        self.by_scheduler[from].fetch_sub(1, Relaxed);
        self.by_scheduler[to].fetch_add(1, Relaxed);
    }

    /// Takes a connection that `make` makes of its id. The oldest mute one may have to go for it: it is returned.
    pub fn enter(
        &self,
        on: usize,
        make: impl FnOnce(u64) -> Arc<Connection>,
    ) -> (Arc<Connection>, Option<Arc<Connection>>) {
        let mut inside = self.inside.lock();
        inside.next_id += 1;
        let id = inside.next_id;
        let oldest = match inside.before_login.len() >= self.limits.before_login {
            true => inside.before_login.pop_first().map(|(id, _)| id),
            false => None,
        };
        let oldest = oldest.and_then(|id| inside.all.get(&id).cloned());
        let connection = make(id);
        inside.all.insert(id, connection.clone());
        let first = inside.before_login.is_empty();
        inside.before_login.insert(id, clock::now_ns().saturating_add(self.limits.login_ns));
        self.by_scheduler[on].fetch_add(1, Relaxed);
        // Deadlines ascend: the watcher sleeps until one that is nearer.
        let watcher = inside.watcher.take_if(|_| first);
        drop(inside);
        if let Some(watcher) = watcher {
            watcher.wake();
        }
        (connection, oldest)
    }

    /// It has logged in; false: there are too many.
    pub fn log_in(&self, id: u64) -> bool {
        if self.logged_in.fetch_add(1, Relaxed) >= self.limits.connections {
            self.logged_in.fetch_sub(1, Relaxed);
            return false;
        }
        self.inside.lock().before_login.remove(&id);
        true
    }

    /// It is gone.
    pub fn leave(&self, id: u64, on: usize, logged_in: bool) {
        let mut inside = self.inside.lock();
        inside.before_login.remove(&id);
        let gone = inside.all.remove(&id);
        if gone.is_some() {
            self.by_scheduler[on].fetch_sub(1, Relaxed);
            if logged_in {
                self.logged_in.fetch_sub(1, Relaxed);
            }
        }
        drop(inside);
        drop(gone);
    }

    pub fn all(&self) -> Vec<Arc<Connection>> {
        self.inside.lock().all.values().cloned().collect()
    }

    pub fn count(&self) -> usize {
        self.inside.lock().all.len()
    }

    /// Those whose time to log in is over, and the next deadline. `watcher` is woken when there is one after none, and by
    /// [`Registry::wake_watcher`].
    pub fn overdue(&self, watcher: Waker) -> (Vec<Arc<Connection>>, Option<u64>) {
        let now = clock::now_ns();
        let mut inside = self.inside.lock();
        inside.watcher = Some(watcher);
        let mut overdue = Vec::new();
        while let Some((&id, &deadline)) = inside.before_login.first_key_value() {
            if deadline > now {
                return (overdue, Some(deadline));
            }
            inside.before_login.remove(&id);
            overdue.extend(inside.all.get(&id).cloned());
        }
        (overdue, None)
    }

    /// Wakes whoever watches.
    pub fn wake_watcher(&self) {
        let watcher = self.inside.lock().watcher.take();
        if let Some(watcher) = watcher {
            watcher.wake();
        }
    }
}
