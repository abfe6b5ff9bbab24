//! The lab checks itself: refusals, figures, and a small run of each shape.

use crate::singleton_insert::{self, Options};
use crate::{Cell, LabError, Progress, report, table};

struct Quiet;

impl Progress for Quiet {
    fn begin(&mut self, _: usize, _: usize, _: &str) {}
    fn step(&mut self, _: &str) {}
    fn tick(&mut self, _: f64, _: u64, _: f64, _: bool) {}
    fn end(&mut self, _: &Cell) {}
}

fn options(name: &str) -> Options {
    let data = std::env::temp_dir().join(format!("lab-test-{name}-{}", std::process::id()));
    Options {
        data,
        sessions: vec![2],
        rows: Some(500),
        buffer_pool_bytes: Some(32 << 20),
        ..Options::default()
    }
}

#[test]
fn contradictions_are_refused() {
    let cases = [
        Options { sessions: vec![0], ..Options::default() },
        Options { rows_per_insert: 2, commit_every: Some(3), ..Options::default() },
        Options { rows_per_insert: 0, ..Options::default() },
        Options { seconds: 0.0, ..Options::default() },
        Options { rows: Some(0), ..Options::default() },
    ];
    for options in cases {
        let refused = singleton_insert::run(&options, &mut Quiet);
        assert!(matches!(refused, Err(LabError::Options(_))), "{options:?}");
    }
}

#[test]
fn numbers_read_well() {
    assert_eq!(table::grouped(1_234_567.4), "1,234,567");
    assert_eq!(table::grouped(999.0), "999");
    assert_eq!(table::us(Some(1.234)), "1.23");
    assert_eq!(table::us(None), "-");
}

#[test]
fn a_small_run_of_each_shape_checks_itself() {
    let shapes = [
        options("delayed"),
        Options { delayed: false, ..options("full") },
        Options { commit_every: Some(100), spinlock: true, ..options("batch") },
        Options { rows_per_insert: 2, commit_every: Some(2), dedicated: true, ..options("pairs") },
    ];
    for shape in shapes {
        let cells = match singleton_insert::run(&shape, &mut Quiet) {
            Ok(cells) => cells,
            Err(error) => panic!("{shape:?}: {error}"),
        };
        assert_eq!(cells[0].rows_verified, 500, "{shape:?}");
        assert_eq!(cells[0].rows, 500);
        assert!(cells[0].spins.contains_key("LOGCACHE_ACCESS"));
        let json = serde_json::to_value(&cells[0]).expect("plain figures");
        for key in [
            "experiment",
            "target",
            "mode",
            "sessions",
            "durability",
            "rows_per_s",
            "commits_per_s",
            "p50_us",
            "p99_us",
            "cpu_s",
            "waits",
            "spins",
        ] {
            assert!(json.get(key).is_some(), "{key}");
        }
        assert!(json["spins"]["LOGCACHE_ACCESS"]["spins"].is_u64());
        let folder = shape.data.join("report");
        let html = report::write(&folder, &cells, "test").expect("written");
        assert!(std::fs::read_to_string(html).expect("there").contains("singleton-insert"));
        let _ = std::fs::remove_dir_all(&shape.data);
        assert!(table::render(&cells).contains("rows/s"));
    }
}
