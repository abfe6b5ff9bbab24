//! Loads whose outcome is known beforehand, and parameters that are wrong on purpose.

use super::*;
use crate::model::flush_times::FlushTimes;

fn parameters() -> Parameters {
    Parameters {
        single: Piece { ns: 400.0, bytes: 200.0 },
        row: Piece { ns: 500.0, bytes: 180.0 },
        commit: Piece { ns: 600.0, bytes: 40.0 },
        copy_ns: 40.0,
        lock_ns: 20.0,
        line_ns: 60.0,
        taken_ns: 20.0,
        read_ns: 15.0,
        spin_ns: 10.0,
        turn_ns: 200.0,
        turn_other_ns: 500.0,
        flushes: FlushTimes::constant(100_000.0),
        buffer_bytes: 64e6,
        buffer_is_cached: false,
        queue_depth: 32,
        quantum_ns: 4e6,
        sibling: 1.0,
    }
}

fn load(sessions: usize, cpus: usize, reserve: Reserve) -> Load {
    Load {
        sessions,
        cpus: (0..cpus).collect(),
        durable: false,
        commit_every: 1,
        reserve,
        writer: Writer::Leader,
    }
}

fn machine(shape: &str) -> Machine {
    Machine::parse(shape).expect("a machine")
}

fn near(told: f64, wanted: f64, within: f64) {
    assert!((told / wanted - 1.0).abs() <= within, "{told} and not {wanted}");
}

#[test]
fn one_session_takes_what_its_pieces_take() {
    let p = parameters();
    let told = simulate(&machine("1x4"), &p, &load(1, 1, Reserve::Lanes), 0.02);
    near(told.rows_per_s, 1e9 / (400.0 + 40.0), 0.02);
    assert_eq!(told.spins_per_row, 0.0);
    assert!(told.busy > 0.99);
    let lock = simulate(&machine("1x4"), &p, &load(1, 1, Reserve::Spinlock), 0.02);
    near(lock.rows_per_s, 1e9 / (400.0 + 40.0 + 20.0), 0.02);
    // Ten rows and a commit, each with a record.
    let ten = Load { commit_every: 10, ..load(1, 1, Reserve::Lanes) };
    let told = simulate(&machine("1x4"), &p, &ten, 0.02);
    near(told.rows_per_s, 1e9 / (540.0 + 640.0 / 10.0), 0.02);
}

#[test]
fn the_tail_serves_one_at_a_time() {
    // More CPUs than the line can serve: one change each way of the line, whatever the work.
    let told = simulate(&machine("1x32"), &parameters(), &load(32, 32, Reserve::Lanes), 0.01);
    near(told.rows_per_s, 1e9 / 60.0, 0.05);
    // And few: the work, and the line's way almost each time.
    let told = simulate(&machine("1x32"), &parameters(), &load(4, 4, Reserve::Lanes), 0.02);
    let alone = 4e9 / 440.0;
    let always = 4e9 / 500.0;
    assert!(told.rows_per_s < alone && told.rows_per_s > 0.95 * always, "{told:?}");
}

#[test]
fn a_lock_that_is_never_free_gives_one_hold_after_the_other() {
    let (p, n) = (parameters(), 16.0);
    let told = simulate(&machine("1x16"), &p, &load(16, 16, Reserve::Spinlock), 0.02);
    // All but the holder and those at work spin. A hand-over is a look, others' looks, two lines, the hold, and its line back.
    let spinners = n - 1.0 - told.rows_per_s * 400.0 / 1e9;
    let look = LOOK_EVERY * p.spin_ns / (spinners + 1.0);
    let others = p.line_ns * (spinners - 1.0) / 2.0;
    let hold = look + others + 2.0 * p.line_ns + 60.0 + p.line_ns;
    near(told.rows_per_s, 1e9 / hold, 0.05);
    // Every CPU spins when it neither works nor holds.
    near(told.spinning, spinners / n, 0.05);
}

#[test]
fn the_lock_is_a_ceiling_that_more_cpus_lower() {
    let rate = |cpus: usize, reserve| {
        simulate(&machine("2x10"), &parameters(), &load(40, cpus, reserve), 0.02).rows_per_s
    };
    let (few, many) = (rate(4, Reserve::Spinlock), rate(20, Reserve::Spinlock));
    assert!(many < few, "20 CPUs {many}, 4 CPUs {few}");
    assert!(rate(20, Reserve::Lanes) > 2.0 * many);
}

#[test]
fn a_durable_commit_waits_for_the_device_and_shares_it() {
    let durable = |sessions| {
        let load = Load { durable: true, ..load(sessions, 2, Reserve::Lanes) };
        simulate(&machine("1x2"), &parameters(), &load, 0.5)
    };
    let one = durable(1);
    near(one.rows_per_s, 1e9 / 100_440.0, 0.02);
    // Two writes may be on the way, each with whoever came while both were: 64 sessions in two writes.
    let many = durable(64);
    near(many.flushes_per_s, 2.0 * one.flushes_per_s, 0.2);
    assert!(many.rows_per_s > 40.0 * one.rows_per_s, "{many:?}");
}

#[test]
fn writes_that_share_the_device_take_longer_and_take_the_cpus() {
    use crate::model::flush_times::Point;
    let constant = parameters();
    let mut points = Vec::new();
    for busy in [false, true] {
        points.push(Point::constant(4096.0, 1.0, busy, 100_000.0));
        points.push(Point { cpu_ns: 1_000.0, ..Point::constant(4096.0, 2.0, busy, 200_000.0) });
    }
    let flushes = FlushTimes::new(points).expect("a grid");
    let shared = Parameters { flushes, ..parameters() };
    let durable = Load { durable: true, ..load(10, 2, Reserve::Lanes) };
    let rate = |p: &Parameters| simulate(&machine("1x2"), p, &durable, 0.5).rows_per_s;
    near(rate(&constant) / rate(&shared), 2.0, 0.15);
}

#[test]
fn a_write_is_kept_waiting_by_who_computes_all_the_while() {
    use crate::model::flush_times::Point;
    let mut points = Vec::new();
    for in_flight in [1.0, 2.0] {
        points.push(Point::constant(4096.0, in_flight, false, 100_000.0));
        points.push(Point::constant(4096.0, in_flight, true, 2_000_000.0));
    }
    let flushes = FlushTimes::new(points).expect("a grid");
    let p = Parameters { flushes, ..parameters() };
    // Both are woken by the same write, again and again, and go on for some hundred nanoseconds side by side.
    let durable = Load { durable: true, ..load(2, 2, Reserve::Lanes) };
    let rate = simulate(&machine("1x2"), &p, &durable, 0.5).rows_per_s;
    let alone = simulate(&machine("1x2"), &parameters(), &durable, 0.5).rows_per_s;
    near(rate / alone, 1.0, 0.15);
    // Rows that take a millisecond keep it waiting.
    let long = |p: Parameters| {
        let p = Parameters { single: Piece { ns: 1e6, bytes: 200.0 }, ..p };
        simulate(&machine("1x2"), &p, &durable, 2.0).rows_per_s
    };
    let (kept, free) = (long(p), long(parameters()));
    assert!(kept < 0.75 * free, "{kept} {free}");
}

#[test]
fn a_device_that_is_behind_is_what_delayed_commits_get() {
    let slow = Parameters {
        flushes: FlushTimes::constant(10e6),
        buffer_bytes: 2e6,
        queue_depth: 1,
        ..parameters()
    };
    let told = simulate(&machine("1x2"), &slow, &load(4, 2, Reserve::Lanes), 2.0);
    // A write takes 256 blocks at most.
    near(told.rows_per_s, 256.0 * 4032.0 / 0.010 / 200.0, 0.1);
}

#[test]
fn a_writer_that_waits_for_a_quantum_holds_everybody_up() {
    let p = Parameters { buffer_bytes: 2e5, ..parameters() };
    let rate = |cpus: Vec<usize>, writer| {
        let load = Load { cpus, writer, ..load(8, 4, Reserve::Lanes) };
        simulate(&machine("1x4"), &p, &load, 0.2).rows_per_s
    };
    let inside = rate(vec![0, 1, 2, 3], Writer::On(3));
    let outside = rate(vec![0, 1, 2], Writer::On(3));
    assert!(outside > inside, "outside {outside}, inside {inside}");
}

#[test]
fn a_far_writer_makes_the_lock_longer_and_its_own_reading() {
    let p = Parameters { buffer_bytes: 2e6, buffer_is_cached: true, ..parameters() };
    let told = |writer: usize, taken_ns: f64| {
        let load = Load { writer: Writer::On(writer), ..load(6, 6, Reserve::Spinlock) };
        simulate(&machine("2x8"), &Parameters { taken_ns, ..p.clone() }, &load, 0.02)
    };
    let (near, far) = (told(7, 20.0), told(15, 20.0));
    assert!(near.rows_per_s > 1.1 * far.rows_per_s, "{near:?} {far:?}");
    assert!(far.spins_per_row > near.spins_per_row && far.writing > near.writing);
    // Without a way for the lines nothing of the record's is left, but the lock's and the writer's.
    assert!(told(15, 0.0).rows_per_s > 1.05 * far.rows_per_s);
}

#[test]
fn threads_of_one_core_slow_each_other() {
    let slowed = Parameters { sibling: 1.6, ..parameters() };
    let rate = |cpus: Vec<usize>| {
        let load = Load { cpus, ..load(2, 2, Reserve::Lanes) };
        simulate(&machine("1x2x2"), &slowed, &load, 0.02).rows_per_s
    };
    near(rate(vec![0, 1]), 2e9 / (640.0 + 40.0), 0.05);
    // On cores of their own the tail's line goes to and fro.
    near(rate(vec![0, 2]), 2e9 / (400.0 + 40.0 + 60.0), 0.05);
}

#[test]
fn the_same_load_has_the_same_outcome() {
    let load = load(16, 8, Reserve::Spinlock);
    let twice = [0; 2].map(|_| simulate(&machine("2x4"), &parameters(), &load, 0.01));
    assert_eq!(twice[0], twice[1]);
}

/// A model that is told something wrong must be seen to be wrong, by a load that feels it.
#[test]
fn a_planted_wrong_parameter_misses() {
    let right = parameters();
    let wrong: [(&str, Parameters, Load); 6] = [
        (
            "the device",
            Parameters { flushes: FlushTimes::constant(60_000.0), ..right.clone() },
            Load { durable: true, ..load(10, 2, Reserve::Lanes) },
        ),
        (
            "the row",
            Parameters { single: Piece { ns: 250.0, bytes: 200.0 }, ..right.clone() },
            load(2, 2, Reserve::Lanes),
        ),
        (
            "the commit",
            Parameters { commit: Piece { ns: 0.0, bytes: 40.0 }, ..right.clone() },
            Load { commit_every: 2, ..load(2, 2, Reserve::Lanes) },
        ),
        (
            "the line",
            Parameters { line_ns: 20.0, ..right.clone() },
            load(16, 16, Reserve::Spinlock),
        ),
        ("the copy", Parameters { copy_ns: 400.0, ..right.clone() }, load(8, 8, Reserve::Spinlock)),
        (
            "the turn",
            Parameters { turn_ns: 15_000.0, turn_other_ns: 15_000.0, ..right.clone() },
            Load { durable: true, ..load(64, 2, Reserve::Lanes) },
        ),
    ];
    for (what, p, load) in wrong {
        let seconds = if load.durable { 0.2 } else { 0.01 };
        let rate = |p| simulate(&machine("1x16"), p, &load, seconds).rows_per_s;
        let over = rate(&p) / rate(&right);
        assert!((over - 1.0).abs() > 0.2, "{what} is wrong, and the model says {over} of the rate");
    }
}
