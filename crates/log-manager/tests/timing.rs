//! Where the time of commits goes, in a simulated world: its clock is exact, so sums must be, too. A program of its
//! own, with one test, because statistics are the whole process's.
#![cfg(not(loom))]

use device::{FileSystem, SimFs};
use log_manager::{FlushQueueKind, Lease, Log, LogConfig, Lsn, record_bytes};
use scheduler::sim;
use std::path::Path;
use std::sync::Arc;
use stdx::Prng;
use telemetry::{LogPhase, LogScope, WaitType, log_timing, waits};

const COMMITTERS: u64 = 12;
const COMMITS: u64 = 30;

/// Runs committers in one simulated world.
fn commits(seed: u64, kind: FlushQueueKind, depth: usize) -> u64 {
    sim::run(seed, move |world| {
        let fs: Arc<dyn FileSystem> = SimFs::new(seed);
        fs.create_dir_all(Path::new("/db")).unwrap();
        let cfg = LogConfig {
            ring_bytes: 1 << 20,
            vlf_bytes: 1 << 20,
            queue_depth: depth,
            flush_queue: kind,
            ..LogConfig::default()
        };
        let log = Log::create(&*fs, Path::new("/db/log.ldf"), cfg, Lsn::NONE).unwrap();
        assert_eq!(log.queue_depth(), depth);
        let committers: Vec<_> = (0..COMMITTERS)
            .map(|n| {
                let log = log.clone();
                world.spawn("committer", move || {
                    let mut prng = Prng::new(seed * 100 + n);
                    for _ in 0..COMMITS {
                        let bytes = vec![n as u8; 8 + prng.below(400) as usize];
                        log.ensure_lease(record_bytes(bytes.len()), Lease::Normal).unwrap();
                        let at = log.append(&[&bytes]);
                        match prng.below(5) {
                            0 => log.note_delayed(),
                            _ => log.wait_durable(at.end).unwrap(),
                        }
                    }
                })
            })
            .collect();
        for committer in committers {
            assert!(committer.join().is_ok());
        }
        log.close().unwrap();
        log.stats().flushes
    })
}

fn writelog_ns() -> u64 {
    let all = waits::snapshot();
    let found = all.iter().find(|w| w.name == WaitType::WriteLog.name());
    found.map_or(0, |w| w.wait_time_ns)
}

#[test]
fn the_phases_of_a_wait_add_up_to_writelog() {
    let mut queue_share = Vec::new();
    for (kind, depth) in [
        (FlushQueueKind::LockFree, 32),
        (FlushQueueKind::LockFree, 1),
        (FlushQueueKind::Spinlock, 112),
        (FlushQueueKind::Spinlock, 1),
    ] {
        let mut sums = [0u64; LogPhase::ALL.len()];
        for seed in 1..=8 {
            let (before, waited_before) = (log_timing::snapshot(), writelog_ns());
            let flushes = commits(seed, kind, depth);
            let timing = log_timing::snapshot().since(&before);
            let of = |scope, phase| timing.get(scope, phase).sum_ns();
            for scope in [LogScope::Write, LogScope::WriteLog] {
                let parts = [LogPhase::Queue, LogPhase::Submit, LogPhase::Device, LogPhase::Wake];
                let parts: u64 = parts.iter().map(|&phase| of(scope, phase)).sum();
                assert_eq!(parts, of(scope, LogPhase::Total), "{scope:?} {kind:?} {depth} {seed}");
            }
            assert_eq!(
                of(LogScope::WriteLog, LogPhase::Total),
                writelog_ns() - waited_before,
                "{kind:?} {depth} seed {seed}: the histogram against WRITELOG"
            );
            assert_eq!(timing.get(LogScope::Write, LogPhase::Total).count(), flushes);
            assert_eq!(timing.unexplained, 0);
            assert!(timing.get(LogScope::WriteLog, LogPhase::Total).count() > COMMITTERS);
            for (sum, &phase) in sums.iter_mut().zip(LogPhase::ALL) {
                *sum += of(LogScope::WriteLog, phase);
            }
        }
        queue_share
            .push(sums[LogPhase::Queue as usize] as f64 / sums[LogPhase::Total as usize] as f64);
    }
    // A queue of one is full most of the time: commits wait before their write is on its way.
    assert!(queue_share[3] > queue_share[2], "{queue_share:?}");
    assert!(queue_share[3] > 0.1, "{queue_share:?}");
}
