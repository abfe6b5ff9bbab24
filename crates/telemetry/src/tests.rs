//! The statistics are process-wide, so each test keeps to names that no other test touches.

use crate::*;

fn wait(name: &str) -> waits::WaitStat {
    waits::snapshot().into_iter().find(|w| w.name == name).expect("a known wait type")
}

#[test]
fn threads_add_up_and_ended_threads_count() {
    let before = counters::get(Counter::LazyWrites);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| (0..1000).for_each(|_| counters::add(Counter::LazyWrites, 2)))
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().expect("no panic"));
    assert_eq!(counters::get(Counter::LazyWrites) - before, 8000);
}

#[test]
fn clear_subtracts_and_resets_the_maximum() {
    waits::record(WaitType::Waitfor, 500, 50);
    waits::record(WaitType::Waitfor, 900, 10);
    let w = wait("WAITFOR");
    assert_eq!((w.waiting_tasks_count, w.wait_time_ns, w.signal_wait_time_ns), (2, 1400, 60));
    assert_eq!(w.max_wait_time_ns, 900);
    waits::clear();
    let w = wait("WAITFOR");
    assert_eq!((w.waiting_tasks_count, w.wait_time_ns, w.max_wait_time_ns), (0, 0, 0));
    waits::record(WaitType::Waitfor, 7, 0);
    let w = wait("WAITFOR");
    assert_eq!((w.waiting_tasks_count, w.wait_time_ns, w.max_wait_time_ns), (1, 7, 7));
}

#[test]
fn spins_and_latches_likewise() {
    spins::record(SpinClass::Test, 1, 250, 1, 10);
    let find = || spins::snapshot().into_iter().find(|s| s.name == "SBS_DISPATCH").expect("there");
    assert_eq!((find().collisions, find().spins, find().backoffs), (1, 250, 1));
    spins::clear();
    assert_eq!((find().collisions, find().spins, find().sleep_time_ns), (0, 0, 0));

    latches::record(LatchClass::LogManager, 5);
    let find = || latches::snapshot().into_iter().find(|s| s.name == "LOG_MANAGER").expect("there");
    assert_eq!((find().waiting_tasks_count, find().wait_time_ns), (1, 5));
    latches::clear();
    assert_eq!((find().waiting_tasks_count, find().max_wait_time_ns), (0, 0));
}

#[test]
fn names_are_distinct() {
    let mut names: Vec<_> = WaitType::ALL.iter().map(|w| w.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), WaitType::ALL.len());
}

#[test]
fn singleton_inserts_are_transactions_of_both_kinds_and_take_a_lock() {
    let objects = || locks::snapshot()[LockKind::Object as usize];
    let before = (
        counters::get(Counter::Transactions),
        counters::get(Counter::WriteTransactions),
        objects(),
    );
    counters::add(Counter::SingletonInserts, 3);
    assert_eq!(counters::get(Counter::Transactions) - before.0, 3);
    assert_eq!(counters::get(Counter::WriteTransactions) - before.1, 3);
    assert_eq!(objects().requests - before.2.requests, 3);
    locks::waited(LockKind::Key, 40, locks::Ended::TimedOut);
    locks::waited(LockKind::Key, 2, locks::Ended::Deadlock);
    let keys = locks::snapshot()[LockKind::Key as usize];
    assert_eq!((keys.waits, keys.wait_ns, keys.timeouts, keys.deadlocks), (2, 42, 1, 1));
}
