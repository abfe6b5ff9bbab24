//! Samples of real threads and of coroutines; where sampling is forbidden, the refusal says what to do.

use super::*;
use runtime::clock;
use scheduler::{Config, Schedulers};

#[inline(never)]
fn innermost_of_the_test(until_ns: u64) -> u64 {
    let mut n = 0_u64;
    while std::hint::black_box(clock::now_ns()) < until_ns {
        n = std::hint::black_box(n.wrapping_mul(31).wrapping_add(7));
    }
    n
}

#[inline(never)]
fn caller_in_the_coroutine(until_ns: u64) -> u64 {
    std::hint::black_box(innermost_of_the_test(until_ns)) + 1
}

#[test]
fn the_stack_of_a_coroutine_is_walked() {
    let mut profiler = match Profiler::start() {
        Ok(profiler) => profiler,
        Err(why) => {
            assert!(why.contains("perf_event_paranoid"), "{why}");
            eprintln!("not sampled: {why}");
            return;
        }
    };
    let config = Config { count: Some(1), pin: false, ..Config::default() };
    let schedulers = Schedulers::start(config).expect("one thread");
    // Until enough of it was seen, however slow the machine.
    let began_ns = clock::now_ns();
    while profiler.samples < 200 && clock::now_ns() - began_ns < 60_000_000_000 {
        let until_ns = clock::now_ns() + 50_000_000;
        let task = schedulers.spawn("busy", None, move || caller_in_the_coroutine(until_ns));
        profiler.drain();
        task.join().expect("it counts");
        profiler.drain();
    }
    schedulers.stop();
    let profile = profiler.finish().profile(&[("WRITELOG".to_owned(), "log write", 5)]);
    let found = profile.folded.iter().any(|(stack, _)| {
        let inner = stack.find("innermost_of_the_test");
        let caller = stack.find("caller_in_the_coroutine");
        caller.zip(inner).is_some_and(|(caller, inner)| caller < inner)
    });
    let most: Vec<_> = profile.folded.iter().take(5).collect();
    assert!(found, "{} samples, {} lost: {most:#?}", profile.samples, profile.lost);
    assert!(profile.flame_svg.contains("innermost_of_the_test"));
    assert!(profile.functions.iter().any(|f| f.name.contains("innermost_of_the_test")));
    assert_eq!(profile.off_cpu, vec![("log write;WRITELOG".to_owned(), 5)]);
}
