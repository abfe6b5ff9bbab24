//! SQLite itself, in this process: every work, both durabilities, both queues, with rows counted.

use crate::database::{Sqlite, options};
use crate::gauge::CHECKPOINT_BYTES;
use rival_harness::{Crew, Job, Rival, Start, Work};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn start(name: &str) -> (Start, PathBuf) {
    let data = std::env::temp_dir().join(format!("rival-sqlite-{name}-{}", std::process::id()));
    let start = Start {
        data: data.clone(),
        keep: false,
        cpus: Vec::new(),
        buffer_pool_bytes: 64 << 20,
        sessions_max: 4,
    };
    (start, data)
}

/// Runs a cell to the end of its shares, and returns the rows acknowledged.
fn run(rival: &mut Sqlite, job: Job, share: u64) -> u64 {
    rival.prepare(&job).expect("a table");
    let shares = vec![Some(share); job.sessions];
    let crew = Crew::assemble(rival.connector(&job), job, shares).expect("sessions");
    rival.watch().expect("a sampler");
    crew.start();
    let until = Instant::now() + Duration::from_secs(60);
    while !crew.has_ended() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    let latency = crew.latency();
    let (_, commits) = crew.done();
    let rows = crew.stop().expect("no session failed");
    rival.unwatch();
    match job.work {
        Work::Procedure { commit_every, .. } => {
            assert_eq!(commits, share.div_ceil(commit_every) * job.sessions as u64);
            assert_eq!(latency.count(), commits, "each commit is timed");
        }
        Work::RoundtripInsert => assert_eq!((commits, latency.count()), (rows, rows)),
        Work::RoundtripRead { .. } => assert_eq!((commits, latency.count()), (0, rows)),
        Work::ProcedureRead { .. } => assert_eq!(commits, 0),
    }
    rows
}

#[test]
fn inserts_are_all_found_whatever_the_settings() {
    let (start, data) = start("inserts");
    for queue in ["", "queue=busy", "page=1024"] {
        let mut rival = Sqlite::start(queue, &start).expect("SQLite");
        for delayed in [true, false] {
            for work in [
                Work::Procedure { commit_every: 1, rows_per_insert: 1 },
                Work::Procedure { commit_every: 20, rows_per_insert: 5 },
                Work::RoundtripInsert,
            ] {
                let job = Job { work, sessions: 3, delayed };
                let rows = run(&mut rival, job, 100);
                assert_eq!(rows, 300, "{job:?}");
                assert_eq!(rival.count().expect("a count"), rows, "{job:?}");
                let told = rival.statistics().expect("statistics");
                let commits = match work {
                    Work::Procedure { commit_every, .. } => 300 / commit_every,
                    _ => 300,
                };
                let flushes = told.log_flushes.expect("SQLite's are known");
                assert_eq!(flushes, if delayed { 0 } else { commits }, "{job:?}");
                assert!(told.log_bytes.expect("known") >= commits * 1024, "{job:?}");
                let level = if delayed { "1" } else { "2" };
                assert_eq!(rival.settings()["synchronous"], level);
                assert_eq!(rival.settings()["journal_mode"], "wal");
                rival.clear().expect("cleared");
            }
        }
        Box::new(rival).close().expect("closed");
    }
    assert!(!data.exists(), "nothing is left behind");
}

#[test]
fn reads_find_every_row() {
    let (start, data) = start("reads");
    let mut rival = Sqlite::start("", &start).expect("SQLite");
    for work in [Work::ProcedureRead { rows: 1000 }, Work::RoundtripRead { rows: 1000 }] {
        let job = Job { work, sessions: 2, delayed: true };
        assert_eq!(run(&mut rival, job, 500), 1000);
        assert_eq!(rival.count().expect("a count"), 1000, "reading changes nothing");
        rival.clear().expect("cleared");
    }
    Box::new(rival).close().expect("closed");
    assert!(!data.exists());
}

#[test]
fn the_log_is_copied_when_it_is_long() {
    let (start, _) = start("checkpoint");
    let mut rival = Sqlite::start("", &start).expect("SQLite");
    let work = Work::Procedure { commit_every: 1, rows_per_insert: 1 };
    // Each commit writes a page at least.
    run(&mut rival, Job { work, sessions: 1, delayed: true }, CHECKPOINT_BYTES / 4096 + 10);
    let told = rival.statistics().expect("statistics");
    assert!(told.counters["checkpoints"] >= 1.0, "{told:?}");
    assert!(told.log_flushes.expect("known") >= 1);
    rival.clear().expect("cleared");
}

#[test]
fn options_that_are_not_there_are_refused() {
    assert_eq!(options("").expect("the defaults"), (true, 4096));
    assert_eq!(options("queue=busy&page=1024").expect("the others"), (false, 1024));
    for (text, what) in [
        ("queue=none", "no queue `none`"),
        ("port=1", "no option `port`"),
        ("page=1000", "no size of a page"),
        ("page=131072", "no size of a page"),
    ] {
        let error = options(text).expect_err(text).to_string();
        assert!(error.contains(what) && error.contains("what to do"), "{error}");
    }
    let (start, _) = start("cpus");
    let error =
        Sqlite::start("", &Start { cpus: vec![0], ..start }).map(drop).expect_err("refused");
    assert!(error.to_string().contains("in the lab's process"), "{error}");
}
