//! Who gets the CPU when several groups of tasks want it: weights, and caps.
//!
//! Two levels: pools share a scheduler by their weights, and the groups of a pool share what it gets by theirs. Each has
//! a virtual time that runs faster the less it weighs; the group of the pool that is furthest behind has the next turn
//! (start-time fair queueing, as in the kernel's schedulers: who comes back after a rest starts where the others are and
//! has saved nothing up). A pool may have a cap beside: after a turn it waits until that turn is no more than its part of
//! the time that has passed.
//!
//! [`Shares`] is what the owner of a set of schedulers says; [`Turns`] is one scheduler's queue, of its own thread alone.
//!
//! Invariants: without [`Shares::set`] nothing here is ever looked at but one flag. A task that belongs to no group counts
//! to group 0 of pool 0, which nobody can weigh down. A capped pool is passed over, never forgotten: whoever sleeps does
//! so until [`Turns::next_ns`] at most.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

/// Groups, and pools, that can be told apart; group and pool 0 are the server's own.
pub const SHARES_MAX: usize = 256;
/// Weight of who has no limit.
pub const FULL_WEIGHT: u32 = 100;

/// A pool behind by so much virtual time takes the CPU from the one that runs: half a millisecond of a full weight, and a
/// hundredth of that of the least.
const AHEAD: u64 = 500_000;
/// A capped pool that has rested may use so much at once, in nanoseconds.
const BURST_NS: u64 = 20_000_000;

/// What a set of schedulers goes by.
#[derive(Debug)]
pub struct Shares {
    on: AtomicBool,
    /// By group: pool in the upper half, weight within it in the lower.
    groups: Box<[AtomicU64]>,
    /// By pool: cap in percent in the upper half (0: none), weight in the lower.
    pools: Box<[AtomicU64]>,
}

impl Default for Shares {
    fn default() -> Shares {
        let all = |each: u64| (0..SHARES_MAX).map(|_| AtomicU64::new(each)).collect();
        Shares {
            on: AtomicBool::new(false),
            groups: all(FULL_WEIGHT.into()),
            pools: all(FULL_WEIGHT.into()),
        }
    }
}

impl Shares {
    /// From now on turns go by groups; or not any more.
    pub fn set(&self, on: bool) {
        self.on.store(on, Release);
    }

    /// A group's pool, and its weight among the groups of that.
    pub fn set_group(&self, group: usize, pool: usize, weight: u32) {
        self.groups[group].store((pool as u64) << 32 | u64::from(weight.max(1)), Relaxed);
    }

    /// A pool's weight among pools, and the part of each scheduler's time that it never has more of, in percent.
    pub fn set_pool(&self, pool: usize, weight: u32, cap_percent: Option<u32>) {
        let cap = cap_percent.filter(|cap| *cap < 100).unwrap_or(0);
        self.pools[pool].store(u64::from(cap) << 32 | u64::from(weight.max(1)), Relaxed);
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Relaxed)
    }

    fn group(&self, group: usize) -> (usize, u64) {
        let told = self.groups[group].load(Relaxed);
        ((told >> 32) as usize, told & 0xffff_ffff)
    }

    fn pool(&self, pool: usize) -> (u64, u64) {
        let told = self.pools[pool].load(Relaxed);
        (told >> 32, told & 0xffff_ffff)
    }
}

#[derive(Default)]
struct Group {
    queue: VecDeque<u32>,
    virtual_ns: u64,
}

#[derive(Clone, Copy, Default)]
struct Pool {
    virtual_ns: u64,
    /// Virtual time of its group that was served last.
    clock: u64,
    queued: usize,
    /// It is capped, and has had its part until then.
    free_at_ns: u64,
}

/// The tasks of one scheduler that wait for their turn.
pub(crate) struct Turns {
    groups: Vec<Group>,
    pools: Vec<Pool>,
    queued: usize,
    /// Some pool has a cap: the clock counts.
    capped: bool,
    /// Virtual time of the pool that was served last.
    clock: u64,
    /// The group that runs, and since when.
    running: Option<(usize, u64)>,
}

impl Turns {
    /// Nobody waits.
    pub const NONE: Turns = Turns {
        groups: Vec::new(),
        pools: Vec::new(),
        queued: 0,
        capped: false,
        clock: 0,
        running: None,
    };

    pub fn is_empty(&self) -> bool {
        self.queued == 0
    }

    /// A task of `group` is ready.
    pub fn push(&mut self, shares: &Shares, group: usize, task: u32) {
        let (pool, _) = shares.group(group);
        if self.groups.len() <= group {
            self.groups.resize_with(group + 1, Group::default);
        }
        if self.pools.len() <= pool {
            self.pools.resize(pool + 1, Pool::default());
        }
        let runs = self.running.is_some_and(|(running, _)| shares.group(running).0 == pool);
        let p = &mut self.pools[pool];
        if p.queued == 0 && !runs {
            p.virtual_ns = p.virtual_ns.max(self.clock);
        }
        p.queued += 1;
        self.queued += 1;
        if self.groups[group].queue.is_empty() {
            // Among the groups of its pool it starts where that is: what it did not ask for is not kept for it.
            let g = &mut self.groups[group];
            g.virtual_ns = g.virtual_ns.max(self.pools[pool].clock);
        }
        self.groups[group].queue.push_back(task);
    }

    /// The group whose turn it is at `now_ns`; none may have it, or none is ready.
    fn first(&self, shares: &Shares, now_ns: u64) -> Option<usize> {
        let ready = self.groups.iter().enumerate().filter(|(_, g)| !g.queue.is_empty());
        let ready = ready.map(|(at, g)| (at, shares.group(at), g.virtual_ns));
        let ready = ready.filter(|(_, (pool, _), _)| self.pools[*pool].free_at_ns <= now_ns);
        let first = ready.min_by_key(|(_, (pool, _), virtual_ns)| {
            let (_, weight) = shares.pool(*pool);
            // Of two that are level the heavier one.
            (self.pools[*pool].virtual_ns, u64::MAX - weight, *virtual_ns)
        });
        first.map(|(at, ..)| at)
    }

    /// Takes the task whose turn it is.
    pub fn pop(&mut self, shares: &Shares, now_ns: u64) -> Option<u32> {
        if self.queued == 0 {
            return None;
        }
        let group = self.first(shares, now_ns)?;
        let task = self.groups[group].queue.pop_front()?;
        let pool = shares.group(group).0;
        let p = &mut self.pools[pool];
        p.queued -= 1;
        p.clock = p.clock.max(self.groups[group].virtual_ns);
        self.queued -= 1;
        self.clock = self.clock.max(p.virtual_ns);
        Some(task)
    }

    /// `group` has the CPU from now on.
    pub fn started(&mut self, group: usize, now_ns: u64) {
        self.running = Some((group, now_ns));
    }

    /// Who runs gives the CPU away, or is another group's from here on.
    pub fn ended(&mut self, shares: &Shares, now_ns: u64) {
        let Some((group, since_ns)) = self.running.take() else { return };
        let ran = now_ns.saturating_sub(since_ns);
        let (pool, weight) = shares.group(group);
        let (cap, pool_weight) = shares.pool(pool);
        if self.groups.len() <= group {
            self.groups.resize_with(group + 1, Group::default);
        }
        if self.pools.len() <= pool {
            self.pools.resize(pool + 1, Pool::default());
        }
        self.groups[group].virtual_ns += ran * u64::from(FULL_WEIGHT) / weight;
        let p = &mut self.pools[pool];
        p.virtual_ns += ran * u64::from(FULL_WEIGHT) / pool_weight;
        self.capped |= cap > 0;
        p.free_at_ns = match cap {
            0 => 0,
            cap => p.free_at_ns.max(since_ns.saturating_sub(BURST_NS)) + ran * 100 / cap,
        };
    }

    /// Whether who runs has less than a full weight, or a cap: others need not wait until its quantum is over.
    pub fn is_light(&self, shares: &Shares) -> bool {
        self.running.is_some_and(|(group, _)| {
            let (cap, weight) = shares.pool(shares.group(group).0);
            cap > 0 || weight < u64::from(FULL_WEIGHT)
        })
    }

    /// Whether who runs should let another pool go first, or has had what its cap allows.
    pub fn gives_way(&self, shares: &Shares, now_ns: u64) -> bool {
        let Some((group, since_ns)) = self.running else { return false };
        let ran = now_ns.saturating_sub(since_ns);
        let (pool, _) = shares.group(group);
        let (cap, weight) = shares.pool(pool);
        let mine = self.pools.get(pool).copied().unwrap_or_default();
        if let Some(part) = (ran * 100).checked_div(cap) {
            let from_ns = mine.free_at_ns.max(since_ns.saturating_sub(BURST_NS));
            if from_ns + part > now_ns {
                return true;
            }
        }
        let reached = mine.virtual_ns + ran * u64::from(FULL_WEIGHT) / weight;
        self.first(shares, now_ns).is_some_and(|first| {
            let (other, _) = shares.group(first);
            other != pool && self.pools[other].virtual_ns + AHEAD < reached
        })
    }

    /// How many could have a turn at `now_ns`; that is asked for where caps count alone.
    pub fn ready(&self, now_ns: impl FnOnce() -> u64) -> usize {
        if !self.capped || self.queued == 0 {
            return self.queued;
        }
        let now_ns = now_ns();
        self.pools.iter().filter(|p| p.free_at_ns <= now_ns).map(|p| p.queued).sum()
    }

    /// When the next capped pool that has tasks may run again.
    pub fn next_ns(&self) -> Option<u64> {
        let waiting = self.pools.iter().filter(|p| self.capped && p.queued > 0);
        waiting.map(|p| p.free_at_ns).filter(|at| *at > 0).min()
    }

    /// Everything, when the scheduler ends.
    pub fn clear(&mut self) {
        *self = Turns::NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs always-ready tasks for a while, a millisecond a turn; the time that each group had.
    fn run(shares: &Shares, groups: &[usize], turns: usize) -> Vec<u64> {
        let mut queue = Turns::NONE;
        let mut had = vec![0; SHARES_MAX];
        let mut now = 1_000_000_000;
        groups.iter().for_each(|g| queue.push(shares, *g, *g as u32));
        for _ in 0..turns {
            let Some(task) = queue.pop(shares, now) else {
                now = queue.next_ns().expect("somebody waits for his cap");
                continue;
            };
            queue.started(task as usize, now);
            now += 1_000_000;
            queue.ended(shares, now);
            had[task as usize] += 1;
            queue.push(shares, task as usize, task);
        }
        groups.iter().map(|g| had[*g]).collect()
    }

    #[test]
    fn pools_share_by_weight_and_groups_within_them() {
        let shares = Shares::default();
        shares.set_pool(1, 80, None);
        shares.set_pool(2, 20, None);
        shares.set_group(1, 1, 9);
        shares.set_group(2, 1, 1);
        shares.set_group(3, 2, 1);
        assert_eq!(run(&shares, &[1, 2, 3], 1000), [720, 80, 200]);
    }

    #[test]
    fn a_cap_holds_when_nobody_else_wants_the_cpu() {
        let shares = Shares::default();
        shares.set_pool(1, 100, Some(25));
        shares.set_group(1, 1, 1);
        let mut queue = Turns::NONE;
        let (begun, mut now, mut ran) = (1_000_000_000u64, 1_000_000_000u64, 0);
        queue.push(&shares, 1, 7);
        while now < begun + 10_000_000_000 {
            match queue.pop(&shares, now) {
                Some(task) => {
                    queue.started(1, now);
                    now += 1_000_000;
                    queue.ended(&shares, now);
                    ran += 1;
                    assert!(queue.ready(|| now) == 0, "nobody is queued");
                    queue.push(&shares, 1, task);
                }
                None => now = queue.next_ns().unwrap(),
            }
        }
        assert!((2_450..2_550).contains(&ran), "{ran} ms of 10,000 are a quarter");
    }

    #[test]
    fn who_comes_back_has_saved_nothing_up_and_goes_first() {
        let shares = Shares::default();
        shares.set_pool(1, 10, None);
        shares.set_group(1, 1, 1);
        let mut queue = Turns::NONE;
        let mut now = 0;
        // A light pool alone for a second.
        queue.push(&shares, 1, 1);
        for _ in 0..1000 {
            assert_eq!(queue.pop(&shares, now), Some(1));
            queue.started(1, now);
            now += 1_000_000;
            queue.ended(&shares, now);
            queue.push(&shares, 1, 1);
        }
        assert_eq!(queue.pop(&shares, now), Some(1));
        queue.started(1, now);
        queue.push(&shares, 0, 2);
        assert!(!queue.gives_way(&shares, now));
        assert!(queue.gives_way(&shares, now + 60_000), "a light one gives way soon");
        queue.ended(&shares, now + 60_000);
        queue.push(&shares, 1, 1);
        // It has its ten times as much, and no second's worth.
        let mut heavy = 0;
        while queue.pop(&shares, now) == Some(2) {
            queue.started(0, now);
            now += 100_000;
            queue.ended(&shares, now);
            queue.push(&shares, 0, 2);
            heavy += 1;
        }
        assert!((5..=12).contains(&heavy), "{heavy} turns of 100 us against one of 60");
    }
}
