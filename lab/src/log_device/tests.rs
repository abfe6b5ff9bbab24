//! The ladder checks itself: what is measured, what is refused, and that nothing stays.

use super::*;
use std::collections::HashSet;
use std::path::Path;

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("lab-log-device-{name}-{}", std::process::id()))
}

fn names_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

fn short(name: &str) -> Options {
    Options { data: folder(name), rung_seconds: 0.02, bytes_max: 256 << 20, ..Options::default() }
}

#[test]
fn the_plan_varies_one_axis_at_a_time() {
    let o = Options::default();
    let axes = plan(&o);
    assert_eq!(axes.len(), axes.iter().collect::<HashSet<_>>().len(), "each rung once");
    let base = Axis {
        bytes: 4096,
        way: Way::DirectRwfDsync,
        depth: 1,
        carrier: Carrier::IoUring,
        beside: Beside::Alone,
    };
    assert!(axes.contains(&base));
    for bytes in SIZES {
        assert!(Way::ALL.iter().all(|&way| axes.contains(&Axis { bytes, way, ..base })));
        assert!(axes.contains(&Axis { bytes, beside: Beside::Checkpoint, ..base }));
    }
    for depth in DEPTHS {
        for bytes in [4096, 61440] {
            assert!(
                Carrier::ALL
                    .iter()
                    .all(|&c| { axes.contains(&Axis { bytes, depth, carrier: c, ..base }) })
            );
        }
    }
    let all = plan(&Options { product: true, ..o });
    assert_eq!(all.len(), 8 * 7 * 6 * 2 * 2);
    assert!(axes.len() < 120, "{} rungs", axes.len());
    let few = Options {
        sizes: vec![8192],
        ways: vec![Way::CachedFsync],
        depths: vec![2],
        carriers: vec![Carrier::Threads],
        beside: vec![Beside::Checkpoint],
        ..Options::default()
    };
    assert_eq!(plan(&few).len(), 1, "a list of one is what is measured");
}

#[test]
fn what_makes_no_ladder_is_refused() {
    let cases = [
        Options { sizes: vec![0], ..Options::default() },
        Options { sizes: vec![513], ..Options::default() },
        Options { sizes: vec![2 << 20], ..Options::default() },
        Options { depths: vec![0], ..Options::default() },
        Options { ways: Vec::new(), ..Options::default() },
        Options { rung_seconds: f64::NAN, ..Options::default() },
    ];
    for options in cases {
        let refused = run(&options, |_, _, _| true);
        assert!(matches!(refused, Err(LabError::Options(_))), "{options:?}");
    }
}

#[test]
fn every_way_is_measured_or_refused_and_leaves_nothing() {
    let options = Options { sizes: vec![512, 4096], depths: vec![1, 4], ..short("ways") };
    let rungs = run(&options, |_, _, _| true).expect("measured");
    assert_eq!(rungs.len(), plan(&options).len());
    assert_eq!(names_in(&options.data), 0, "every file is removed");
    for r in &rungs {
        match &r.refused {
            Some(why) => {
                let expected = ["O_DIRECT", "io_uring"];
                assert!(expected.iter().any(|word| why.contains(word)), "{why}");
                assert!(r.writes == 0 && r.latency.is_none());
            }
            None => {
                let l = r.latency.expect("written");
                assert!(l.p10_us <= l.p50_us && l.p50_us <= l.p99_us && l.p99_us <= l.max_us);
                assert!(r.writes > 0 && r.seconds > 0.0);
                assert_eq!(r.buckets.iter().map(|(_, n)| n).sum::<u64>(), r.writes);
                assert!(r.buckets.is_sorted_by(|a, b| a.0 < b.0));
                let mb_per_s = r.writes_per_s * r.axis.bytes as f64 / 1e6;
                assert!((r.mb_per_s - mb_per_s).abs() <= mb_per_s * 1e-9);
                let beside = r.axis.beside == Beside::Checkpoint;
                assert_eq!(r.checkpoint_mb_per_s.is_some(), beside);
            }
        }
    }
    // Threads and the page cache are everywhere.
    let plain = |r: &&Rung| r.axis.carrier == Carrier::Threads;
    assert!(rungs.iter().filter(plain).any(|r| r.refused.is_none()) || refuses_direct(&rungs));
    let _ = std::fs::remove_dir(&options.data);
}

fn refuses_direct(rungs: &[Rung]) -> bool {
    rungs.iter().any(|r| r.refused.as_deref().is_some_and(|why| why.contains("refuses O_DIRECT")))
}

#[test]
fn bytes_are_bounded_and_a_run_can_be_cut_short() {
    let options = Options {
        sizes: vec![4096],
        ways: vec![Way::CachedODsync],
        depths: vec![1, 2],
        carriers: vec![Carrier::Threads],
        beside: vec![Beside::Alone],
        rung_seconds: 30.0,
        bytes_max: 2 * 50 * 4096,
        ..short("bytes")
    };
    let mut seen = 0;
    let rungs = run(&options, |index, of, _| {
        assert_eq!((index, of), (seen, 2));
        seen += 1;
        true
    });
    let rungs = rungs.expect("measured");
    assert_eq!(seen, 2);
    for r in &rungs {
        // All but the tenth that is warm-up.
        assert!((45..=50).contains(&r.writes), "{r:?}");
    }
    let cut = run(&options, |_, _, _| false).expect("measured");
    assert_eq!(cut.len(), 1);
    assert_eq!(names_in(&options.data), 0);
    let _ = std::fs::remove_dir(&options.data);
}
