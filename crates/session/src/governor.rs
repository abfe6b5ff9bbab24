//! Resource Governor: who gets how much of the CPU and of memory for queries, by workload group and pool.
//!
//! ```text
//! statements ──► definition in master ──RECONFIGURE──► groups in force ──► a session's group, by the classifier at login
//!  (rules)           (catalog)                             (groups)     ──► each request: its place, its turns, its bounds
//! ```
//!
//! In force are: the CPU's weights and caps ([`scheduler::Shares`]), GROUP_MAX_REQUESTS, MAX_DOP, memory grants in percent,
//! their time-out, a pool's part of all grants, and of databases bound to it (databases). The limits of I/O and MIN_MEMORY_PERCENT are kept and shown, no more.
//!
//! Invariants: while the governor is off, and until somebody defines something, every session is in `default` and the
//! schedulers know no groups. A group with sessions in it is never dropped, nor moved to another pool (10904).

mod databases;
mod groups;
mod rules;

pub(crate) use groups::Member;

use groups::{Group, Settings};

use crate::Instance;
use catalog::{DEFAULT_GROUP, GovernorDef, GroupDef, INTERNAL_GROUP, PoolDef};
use engine::MemoryQuota;
use executor::SqlError;
use parking_lot::RwLock;
use scheduler::{FULL_WEIGHT, SHARES_MAX, Shares};
use std::collections::BTreeMap;
use std::sync::Arc;
use syntax::ast::{AlterGovernor, GovernorStatement};
use system_views::{GovernorFacts, GroupFigures};

/// What importance weighs within a pool: LOW, MEDIUM, HIGH.
const IMPORTANCE: [u32; 3] = [1, 3, 9];

/// What is in force.
pub(crate) struct Governor {
    state: RwLock<State>,
}

struct State {
    /// As it was at the last RECONFIGURE or DISABLE, or at the start.
    def: Arc<GovernorDef>,
    groups: BTreeMap<i32, Arc<Group>>,
    /// Of the pools that databases are bound to.
    quotas: BTreeMap<i32, Arc<MemoryQuota>>,
}

impl Governor {
    /// At the start of an instance.
    pub fn new(def: Arc<GovernorDef>, shares: &Shares) -> Governor {
        let state = State { def: Arc::default(), groups: BTreeMap::new(), quotas: BTreeMap::new() };
        let governor = Governor { state: RwLock::new(state) };
        governor.put(def, shares);
        governor
    }

    /// The definition in force.
    pub fn def(&self) -> Arc<GovernorDef> {
        self.state.read().def.clone()
    }

    /// What the rows of databases bound to a pool are bounded by; `name`: the pool's.
    fn quota(&self, pool: i32, name: &str) -> Arc<MemoryQuota> {
        let mut state = self.state.write();
        state.quotas.entry(pool).or_insert_with(|| Arc::new(MemoryQuota::new(name))).clone()
    }

    fn quotas(&self) -> Vec<(i32, Arc<MemoryQuota>)> {
        self.state.read().quotas.iter().map(|(id, quota)| (*id, quota.clone())).collect()
    }

    /// What its groups have used, by id.
    fn figures(&self) -> Vec<GroupFigures> {
        let state = self.state.read();
        let of = |group: &Arc<Group>| {
            let (def, f) = (group.settings().def.clone(), group.figures());
            GroupFigures {
                effective_max_dop: def.max_dop as i32,
                def,
                since_unix_ns: f.since_unix_ns,
                requests: f.ended,
                queued: f.queued,
                active: f.active.max(0) as u32,
                waiting: f.waiting,
                cpu_violations: f.cpu_violations,
                cpu_ns: f.cpu_ns,
                cpu_ns_max: f.cpu_ns_max,
            }
        };
        state.groups.values().map(of).collect()
    }

    /// A session goes into the group of that name, or into `default`; the group's id.
    pub fn enter(&self, name: Option<&str>) -> (i32, Member) {
        let def = self.def();
        let named = name.and_then(|name| def.group_named(name));
        // Nobody is classified into the server's own.
        let named = named.filter(|group| group.id != INTERNAL_GROUP);
        self.enter_by_id(named.map_or(DEFAULT_GROUP, |group| group.id))
    }

    /// A session goes into the group of that id, or into `default`.
    pub fn enter_by_id(&self, id: i32) -> (i32, Member) {
        let state = self.state.read();
        let group = state.groups.get(&id).or_else(|| state.groups.get(&DEFAULT_GROUP));
        let Some(group) = group else { stdx::fatal!("the workload group 'default' is gone") };
        (group.id, Member::new(group.clone()))
    }

    /// 10904 if sessions are in groups that would go, or move.
    fn check(&self, def: &GovernorDef) -> Result<(), SqlError> {
        let state = self.state.read();
        let harmed = state.groups.values().any(|group| {
            let now = def.groups.iter().find(|g| g.id == group.id);
            let stays = now.is_some_and(|g| g.pool == group.settings().def.pool);
            !stays && group.figures().sessions > 0
        });
        match harmed {
            true => Err(SqlError::new(
                10904,
                16,
                "Resource governor configuration failed. There are active sessions in workload groups being dropped or \
                 moved to different resource pools. Disconnect all active sessions in the affected workload groups and \
                 try again.",
            )),
            false => Ok(()),
        }
    }

    fn put(&self, def: Arc<GovernorDef>, shares: &Shares) {
        let mut state = self.state.write();
        state.groups.retain(|id, _| def.groups.iter().any(|g| g.id == *id));
        let pool_of = |id: i32| def.pool(id).cloned().unwrap_or_else(|| PoolDef::new(id, ""));
        for group in &def.groups {
            let (def, pool) = match def.enabled {
                true => (group.clone(), pool_of(group.pool)),
                // Off: none of its limits is in force.
                false => (
                    GroupDef::new(group.id, &group.name, group.pool),
                    PoolDef::new(group.pool, &pool_of(group.pool).name),
                ),
            };
            let settings = Settings::new(def, &pool);
            match state.groups.get(&group.id) {
                Some(there) => there.set(settings),
                None => {
                    let taken: Vec<usize> = state.groups.values().map(|g| g.share).collect();
                    // Those beyond what can be told apart share the last place.
                    let share = match group.id {
                        INTERNAL_GROUP => 0,
                        _ => (1..SHARES_MAX - 1)
                            .find(|at| !taken.contains(at))
                            .unwrap_or(SHARES_MAX - 1),
                    };
                    state.groups.insert(group.id, Arc::new(Group::new(share, settings)));
                }
            }
        }
        let weights = weights(&def.pools);
        for (at, (pool, weight)) in def.pools.iter().zip(&weights).enumerate() {
            // The server's own is at 0, as pools are in the order of their ids.
            shares.set_pool(at, *weight, Some(pool.cap_cpu));
            for group in def.groups.iter().filter(|group| group.pool == pool.id) {
                if let Some(there) = state.groups.get(&group.id) {
                    shares.set_group(there.share, at, IMPORTANCE[group.importance.min(2) as usize]);
                }
            }
        }
        // Two that nobody has told anything share as if there were none.
        let plain = def.groups.len() <= 2 && weights.iter().all(|w| *w == FULL_WEIGHT);
        let uncapped = def.pools.iter().all(|pool| pool.cap_cpu == 100);
        shares.set(def.enabled && !(plain && uncapped));
        state.def = def;
    }
}

/// The weight of each pool: its maximum, but that no pool with a minimum gets less than that when all want the CPU.
fn weights(pools: &[PoolDef]) -> Vec<u32> {
    let mut weights: Vec<f64> = pools.iter().map(|pool| f64::from(pool.max_cpu)).collect();
    // The server's own takes what it needs, which is little, and does not count among those that share.
    let users = || pools.iter().enumerate().filter(|(_, pool)| pool.id != INTERNAL_GROUP);
    let mut raised = vec![false; pools.len()];
    loop {
        let sum: f64 = users().map(|(at, _)| weights[at]).sum();
        let short = users().find(|(at, pool)| {
            !raised[*at] && weights[*at] * 100.0 < f64::from(pool.min_cpu) * sum
        });
        let Some((at, _)) = short else { break };
        raised[at] = true;
        let min: f64 = users().filter(|(i, _)| raised[*i]).map(|(_, p)| f64::from(p.min_cpu)).sum();
        let rest: f64 = users().filter(|(i, _)| !raised[*i]).map(|(i, _)| weights[i]).sum();
        // Those raised have their minimums of the whole, and the others what is left.
        for (i, pool) in users().filter(|(i, _)| raised[*i]) {
            weights[i] = f64::from(pool.min_cpu) * rest / (100.0 - min).max(1.0);
        }
    }
    let most = users().map(|(at, _)| weights[at]).fold(1.0, f64::max);
    let of_full = |(pool, weight): (&PoolDef, &f64)| match pool.id {
        INTERNAL_GROUP => FULL_WEIGHT,
        _ => ((weight * f64::from(FULL_WEIGHT) / most) as u32).max(1),
    };
    pools.iter().zip(&weights).map(of_full).collect()
}

impl Instance {
    /// For the views. A group without a bound of its own has that of the server.
    pub(crate) fn governor_facts(&self) -> GovernorFacts {
        let online = self.schedulers().count();
        let set =
            self.settings.lock().get("max degree of parallelism").map_or(0, |(_, in_use)| in_use);
        let usual = if set > 0 { online.min(set as usize) } else { online } as i32;
        let mut groups = self.governor.figures();
        for group in &mut groups {
            let bound = group.effective_max_dop;
            group.effective_max_dop = if bound > 0 { bound.min(usual) } else { usual };
        }
        let (defined, in_force) = (self.server.governor(), self.governor.def());
        GovernorFacts { defined, in_force, groups, quotas: self.quota_figures() }
    }

    /// A statement of Resource Governor, of somebody who may. `classifier`: the id of the function that it names.
    pub(crate) fn govern(
        &self,
        statement: &GovernorStatement,
        classifier: i32,
    ) -> Result<(), SqlError> {
        let server = &self.server;
        match statement {
            GovernorStatement::Alter(AlterGovernor::Reconfigure) => {
                let mut next = GovernorDef::clone(&server.governor());
                next.enabled = true;
                self.governor.check(&next)?;
                let def = server.change_governor(|def| {
                    def.enabled = true;
                    Ok::<(), SqlError>(())
                })?;
                self.governor.put(def, self.schedulers().shares());
                self.fit_quotas();
            }
            GovernorStatement::Alter(AlterGovernor::Disable) => {
                server.change_governor(|def| {
                    def.enabled = false;
                    Ok::<(), SqlError>(())
                })?;
                // Sessions stay where they are, without limits; what was defined meanwhile waits for a RECONFIGURE.
                let mut now = GovernorDef::clone(&self.governor.def());
                now.enabled = false;
                self.governor.put(Arc::new(now), self.schedulers().shares());
                self.fit_quotas();
            }
            GovernorStatement::Alter(AlterGovernor::ResetStatistics) => {
                self.governor.state.read().groups.values().for_each(|group| group.reset());
            }
            GovernorStatement::Alter(AlterGovernor::Classifier(_)) => {
                server.change_governor(|def| {
                    def.classifier = classifier;
                    Ok::<(), SqlError>(())
                })?;
            }
            GovernorStatement::Alter(AlterGovernor::MaxOutstandingIo(_)) => {
                return Err(SqlError::unsupported(
                    "ALTER RESOURCE GOVERNOR WITH (MAX_OUTSTANDING_IO_PER_VOLUME)",
                ));
            }
            other => {
                if let GovernorStatement::DropPool(name) = other {
                    self.check_unbound(&name.value)?;
                }
                server.change_governor(|def| rules::change(def, other))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_is_kept_against_any_number_of_others() {
        let pool = |id, min_cpu, max_cpu| PoolDef { min_cpu, max_cpu, ..PoolDef::new(id, "p") };
        assert_eq!(weights(&[pool(1, 0, 100), pool(2, 0, 100)]), [100, 100]);
        assert_eq!(weights(&[pool(1, 0, 100), pool(2, 0, 100), pool(256, 0, 10)]), [100, 100, 10]);
        // Half for 256, and the other half in equal parts.
        let pools = [pool(1, 0, 100), pool(2, 0, 100), pool(256, 50, 100), pool(257, 0, 100)];
        assert_eq!(weights(&pools), [100, 50, 100, 50]);
    }
}
