//! Workload groups as they run: what a group's requests may have, how many there are, and what they have used.
//!
//! Invariants: a request counts in one group from its beginning to its end, also when the group is altered meanwhile. At
//! most GROUP_MAX_REQUESTS of a group run at a time, but for those of sessions that have a transaction open, for whose
//! locks the others may wait, and for those that began while there was no limit.
//!
//! A request of a group without that limit writes to no memory that another scheduler writes to: counts are in shards, and
//! a session looks at the settings again when their version has moved.

use catalog::{GroupDef, PoolDef};
use executor::Bounds;
use parking_lot::Mutex;
use runtime::task::{self, Waker};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::*};
use stdx::CachePadded;
use telemetry::WaitType;

/// A request that waits for its place looks whether it was cancelled so often.
const LOOK_NS: u64 = 50_000_000;
const SHARDS: usize = 16;

/// What is in force for a group. Those of `default` are in force for all while the governor is off.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub def: GroupDef,
    bounds: Bounds,
}

impl Settings {
    pub fn new(def: GroupDef, pool: &PoolDef) -> Settings {
        let bounds = Bounds {
            max_degree: def.max_dop,
            grant_percent: def.memory_grant_percent,
            grant_timeout_ns: u64::from(def.grant_timeout_sec) * 1_000_000_000,
            pool: pool.id,
            pool_name: (&*pool.name).into(),
            pool_percent: pool.max_memory,
        };
        Settings { def, bounds }
    }
}

/// One workload group.
#[derive(Debug)]
pub(crate) struct Group {
    pub id: i32,
    /// Its place among the schedulers' shares.
    pub share: usize,
    settings: Mutex<Arc<Settings>>,
    /// Of `settings`.
    version: AtomicU64,
    places: Mutex<Places>,
    /// Sessions in it.
    sessions: AtomicI64,
    since_unix_ns: AtomicU64,
    shards: [CachePadded<Counts>; SHARDS],
}

/// Requests that count against the limit, and those that wait.
#[derive(Debug, Default)]
struct Places {
    taken: u32,
    waiting: VecDeque<(u64, Waker)>,
    next: u64,
}

/// Of requests: those that run, and since the start or RESET STATISTICS those that have run.
#[derive(Debug, Default)]
struct Counts {
    active: AtomicI64,
    ended: AtomicU64,
    queued: AtomicU64,
    cpu_violations: AtomicU64,
    cpu_ns: AtomicU64,
    cpu_ns_max: AtomicU64,
}

/// All shards together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub sessions: i64,
    pub since_unix_ns: u64,
    pub active: i64,
    pub waiting: usize,
    pub ended: u64,
    pub queued: u64,
    pub cpu_violations: u64,
    pub cpu_ns: u64,
    pub cpu_ns_max: u64,
}

impl Group {
    pub fn new(share: usize, settings: Settings) -> Group {
        Group {
            id: settings.def.id,
            share,
            settings: Mutex::new(Arc::new(settings)),
            version: AtomicU64::new(0),
            places: Mutex::default(),
            sessions: AtomicI64::new(0),
            since_unix_ns: AtomicU64::new(runtime::clock::unix_ns()),
            shards: Default::default(),
        }
    }

    pub fn settings(&self) -> Arc<Settings> {
        self.settings.lock().clone()
    }

    /// From each session's next request on.
    pub fn set(&self, settings: Settings) {
        *self.settings.lock() = Arc::new(settings);
        self.version.fetch_add(1, Release);
        // There may be more places now.
        self.places.lock().waiting.iter().for_each(|(_, waker)| waker.wake());
    }

    /// RESET STATISTICS.
    pub fn reset(&self) {
        self.since_unix_ns.store(runtime::clock::unix_ns(), Relaxed);
        for c in &self.shards {
            for count in [&c.ended, &c.queued, &c.cpu_violations, &c.cpu_ns, &c.cpu_ns_max] {
                count.store(0, Relaxed);
            }
        }
    }

    pub fn figures(&self) -> Figures {
        let mut figures = Figures {
            sessions: self.sessions.load(Relaxed),
            since_unix_ns: self.since_unix_ns.load(Relaxed),
            waiting: self.places.lock().waiting.len(),
            ..Figures::default()
        };
        for c in &self.shards {
            figures.active += c.active.load(Relaxed);
            figures.ended += c.ended.load(Relaxed);
            figures.queued += c.queued.load(Relaxed);
            figures.cpu_violations += c.cpu_violations.load(Relaxed);
            figures.cpu_ns += c.cpu_ns.load(Relaxed);
            figures.cpu_ns_max = figures.cpu_ns_max.max(c.cpu_ns_max.load(Relaxed));
        }
        figures
    }
}

/// A session's membership.
pub(crate) struct Member {
    group: Arc<Group>,
    settings: Arc<Settings>,
    version: u64,
}

impl Member {
    pub fn new(group: Arc<Group>) -> Member {
        group.sessions.fetch_add(1, Relaxed);
        let version = group.version.load(Acquire);
        Member { settings: group.settings(), group, version }
    }

    /// What its requests may have.
    pub fn bounds(&self) -> &Bounds {
        &self.settings.bounds
    }

    /// Looks at the settings again; whether they were changed.
    pub fn renew(&mut self) -> bool {
        let version = self.group.version.load(Acquire);
        if version == self.version {
            return false;
        }
        (self.settings, self.version) = (self.group.settings(), version);
        true
    }

    /// A request begins; waits for its place unless it `must` begin. One that is cancelled meanwhile begins as well, to
    /// hear of it. Suspends (RESMGR_THROTTLED).
    pub fn begin(&self, cancel: &AtomicBool, must: bool) -> Request<'_> {
        let placed = self.settings.def.max_requests > 0;
        if placed {
            self.take_place(cancel, must);
        }
        scheduler::set_group(self.group.share);
        let shard = task::slot() % SHARDS;
        self.group.shards[shard].active.fetch_add(1, Relaxed);
        Request {
            group: &self.group,
            shard,
            placed,
            cpu_limit_ns: u64::from(self.settings.def.cpu_time_sec) * 1_000_000_000,
            used_before_ns: scheduler::usage().cpu_ns,
        }
    }

    fn take_place(&self, cancel: &AtomicBool, must: bool) {
        let group = &self.group;
        let is_room = |places: &Places| match group.settings.lock().def.max_requests {
            0 => true,
            most => places.taken < most,
        };
        let ticket = {
            let mut places = group.places.lock();
            if must || (places.waiting.is_empty() && is_room(&places)) {
                places.taken += 1;
                return;
            }
            places.next += 1;
            let ticket = places.next;
            places.waiting.push_back((ticket, task::current_waker()));
            ticket
        };
        group.shards[task::slot() % SHARDS].queued.fetch_add(1, Relaxed);
        loop {
            task::park(WaitType::ResMgrThrottled, Some(runtime::clock::now_ns() + LOOK_NS));
            let mut places = group.places.lock();
            let first = places.waiting.front().is_some_and(|(front, _)| *front == ticket);
            if (first && is_room(&places)) || cancel.load(Relaxed) {
                places.waiting.retain(|(other, _)| *other != ticket);
                places.taken += 1;
                wake_next(&places);
                return;
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.group.sessions.fetch_sub(1, Relaxed);
    }
}

fn wake_next(places: &Places) {
    if let Some((_, waker)) = places.waiting.front() {
        waker.wake();
    }
}

/// A request under way; it has ended when this is dropped, on the task that it began on.
pub(crate) struct Request<'g> {
    group: &'g Group,
    shard: usize,
    /// It has a place that the limit counts.
    placed: bool,
    cpu_limit_ns: u64,
    used_before_ns: u64,
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        let used = scheduler::usage().cpu_ns.saturating_sub(self.used_before_ns);
        scheduler::set_group(0);
        let counts = &self.group.shards[self.shard];
        counts.active.fetch_sub(1, Relaxed);
        counts.ended.fetch_add(1, Relaxed);
        counts.cpu_ns.fetch_add(used, Relaxed);
        counts.cpu_ns_max.fetch_max(used, Relaxed);
        if self.cpu_limit_ns > 0 && used > self.cpu_limit_ns {
            counts.cpu_violations.fetch_add(1, Relaxed);
        }
        if self.placed {
            let mut places = self.group.places.lock();
            places.taken -= 1;
            wake_next(&places);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_request_waits_for_the_end_of_one() {
        let def = GroupDef { max_requests: 1, ..GroupDef::new(256, "g", 2) };
        let group = Arc::new(Group::new(1, Settings::new(def, &PoolDef::new(2, "default"))));
        let (member, cancel) = (Member::new(group.clone()), AtomicBool::new(false));
        let first = member.begin(&cancel, false);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| drop(member.begin(&cancel, false)));
            while group.figures().waiting == 0 {
                std::thread::yield_now();
            }
            // Who has a transaction open does not wait.
            drop(member.begin(&cancel, true));
            assert_eq!((group.figures().active, group.figures().waiting), (1, 1));
            drop(first);
            second.join().unwrap();
        });
        let figures = group.figures();
        assert_eq!((figures.active, figures.waiting), (0, 0));
        assert_eq!((figures.ended, figures.queued, figures.sessions), (3, 1, 1));
        drop(member);
        group.reset();
        let figures = group.figures();
        assert_eq!((figures.ended, figures.queued, figures.sessions), (0, 0, 0));
    }
}
