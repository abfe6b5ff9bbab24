//! What threads take and others free is counted, though each of them ends before it has told of it. A program of its own, because
//! the allocator is the process's.

use runtime::memory::{self, Counting, FLUSH_BYTES};
use std::alloc::System;
use std::cell::RefCell;

#[global_allocator]
static MEMORY: Counting<System> = Counting(System);

const THREADS: usize = 100;
/// Less than a thread tells of.
const EACH: usize = 100 << 10;
const ALL: i64 = (THREADS * EACH) as i64;

thread_local! {
    static LAST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Each begun when the one before has ended.
fn in_threads<T: Send + 'static>(of: impl Fn() -> Box<dyn FnOnce() -> T + Send>) -> Vec<T> {
    let one = |_| runtime::threads::spawn("test", of()).expect("begun").join().expect("no panic");
    (0..THREADS).map(one).collect()
}

/// By how much the process has more than before, to within what this thread and the test's own have not told.
fn grown(since: u64) -> i64 {
    memory::heap_bytes() as i64 - since as i64
}

#[test]
fn what_threads_have_taken_is_told_when_they_end() {
    let before = memory::heap_bytes();
    let kept = in_threads(|| Box::new(|| vec![1u8; EACH]));
    assert!((grown(before) - ALL).abs() < 4 * FLUSH_BYTES, "{}", grown(before));

    // What is freed by destructors of a thread.
    let mut kept: Vec<Vec<u8>> = kept;
    while let Some(last) = kept.pop() {
        let give = move || LAST.with(|of| *of.borrow_mut() = last);
        runtime::threads::spawn("test", give).expect("begun").join().expect("no panic");
    }
    assert!(grown(before).abs() < 4 * FLUSH_BYTES, "{}", grown(before));

    // And nothing adds up.
    let before = memory::heap_bytes();
    for _ in 0..20 {
        in_threads(|| Box::new(|| LAST.with(|of| of.borrow().len())));
    }
    assert!(grown(before).abs() < 2 * FLUSH_BYTES, "{}", grown(before));
}
