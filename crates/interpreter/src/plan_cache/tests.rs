//! The shared plans stay within their memory, and those used lately stay longest.

use super::*;

fn plan(number: u64) -> Arc<CachedPlan> {
    let setting = Setting { database: 1, options: 0 };
    Arc::new(CachedPlan::new(number, crate::compile::nothing(), Weak::new(), setting, 0))
}

fn insert(shard: &mut Shard, plan: &Arc<CachedPlan>, bytes_max: usize) {
    shard.make_room(plan.bytes, bytes_max, &mut Vec::new());
    shard.round.push_back(plan.number);
    shard.bytes += plan.bytes;
    shard.plans.insert(plan.number, plan.clone());
}

/// Numbers of the plans that are left.
fn left(shard: &Shard) -> Vec<u64> {
    let mut left: Vec<u64> = shard.plans.keys().copied().collect();
    left.sort_unstable();
    left
}

#[test]
fn plans_go_that_nobody_meets_nor_holds() {
    let mut shard = Shard::default();
    let bytes = plan(0).bytes;
    let bytes_max = 4 * bytes;
    let held = plan(1);
    insert(&mut shard, &held, bytes_max);
    for number in 2..=4 {
        insert(&mut shard, &plan(number), bytes_max);
    }
    assert_eq!(left(&shard), [1, 2, 3, 4]);
    // All were met when they came in; after a round 2 goes, since 1 is held.
    insert(&mut shard, &plan(5), bytes_max);
    assert_eq!(left(&shard), [1, 3, 4, 5]);
    shard.plans[&3].met.store(true, Relaxed);
    insert(&mut shard, &plan(6), bytes_max);
    assert_eq!(left(&shard), [1, 3, 5, 6]);
    assert_eq!(shard.bytes, 4 * bytes);
    assert_eq!(shard.round.len(), 4);
}

#[test]
fn where_all_are_held_the_oldest_is_forgotten() {
    let mut shard = Shard::default();
    let all: Vec<_> = (0..4).map(plan).collect();
    let bytes_max = 3 * all[0].bytes;
    for plan in &all {
        insert(&mut shard, plan, bytes_max);
    }
    assert_eq!(left(&shard), [1, 2, 3]);
    assert!(!all[0].gone.load(Relaxed), "its sessions go on with it");
    assert_eq!(shard.bytes, bytes_max);
}

#[test]
fn where_memory_is_short_what_nobody_holds_is_given() {
    let cache = PlanCache::default();
    let held = plan(3);
    for number in 0..100 {
        let plan = if number == 3 { held.clone() } else { plan(number) };
        insert(&mut cache.shards[number as usize % SHARDS].lock(), &plan, BYTES_MAX);
    }
    let other = cache.shards[5].lock();
    assert!(!cache.has_more());
    // Nothing is counted here, so that all is asked for.
    cache.give(1 << 20);
    assert_eq!(other.plans.len(), 6, "who holds a lock is not waited for");
    drop(other);
    cache.give(1 << 20);
    let left: Vec<u64> = cache.plans().iter().map(|plan| plan.number).collect();
    assert_eq!(left, [3]);
    assert_eq!(cache.shards[3].lock().bytes, held.bytes);
}

#[test]
fn figures_outlive_the_sessions_that_made_them() {
    let plan = plan(1);
    let (a, b) = (Meter::of(&plan, 0), Meter::of(&plan, 0));
    a.note_use();
    a.note_use();
    b.note_use();
    assert_eq!((plan.uses(), plan.holders()), (3, 3));
    drop(a);
    assert_eq!((plan.uses(), plan.holders()), (3, 2));
}
