//! The lab checks itself: refusals, figures, and a small run of each shape.

mod experiments;

use crate::document::MarkKind;
use crate::embedded::Embedded;
use crate::{
    Cell, Durability, Ended, LabError, Procedure, Progress, Run, Settings, Table, Target, table,
};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Shows nothing; presses Ctrl-C when the window has rows, if asked to.
#[derive(Default)]
struct Quiet<'a> {
    presses: Option<&'a AtomicBool>,
    /// Rows at the window's first tick.
    first: Option<u64>,
}

impl Progress for Quiet<'_> {
    fn begin(&mut self, _: usize, _: usize, _: &str) {}
    fn step(&mut self, _: &str) {}
    fn tick(&mut self, _: f64, rows: u64, _: f64, warm: bool) {
        if let Some(flag) = self.presses.filter(|_| warm) {
            let first = *self.first.get_or_insert(rows);
            flag.fetch_or(rows > first, Relaxed);
        }
    }
    fn end(&mut self, _: &Cell) {}
}

fn settings(name: &str) -> Settings {
    let data = std::env::temp_dir().join(format!("lab-test-{name}-{}", std::process::id()));
    Settings {
        data,
        sessions: vec![2],
        rows: Some(500),
        buffer_pool_bytes: Some(32 << 20),
        ..Settings::default()
    }
}

fn run(settings: &Settings, interrupted: &AtomicBool, presses: bool) -> Ended {
    let experiment = crate::find("singleton-insert").expect("it is there");
    let mut targets: Vec<Box<dyn Target>> = vec![Box::new(Embedded::default())];
    let mut quiet = Quiet { presses: presses.then_some(interrupted), first: None };
    crate::run(experiment, settings, &mut targets, "millrace lab run", interrupted, &mut quiet)
}

fn whole(settings: &Settings) -> Run {
    let ended = run(settings, &AtomicBool::new(false), false);
    if let Some(error) = ended.error {
        panic!("{settings:?}: {error}");
    }
    ended.run
}

fn switch(name: &str, values: &[&str]) -> (String, Vec<String>) {
    (name.to_owned(), values.iter().map(|&value| value.to_owned()).collect())
}

#[test]
fn contradictions_are_refused() {
    let cases = [
        Settings { sessions: vec![0], ..Settings::default() },
        Settings { rows_per_insert: vec![2], commit_every: vec![3], ..Settings::default() },
        Settings { rows_per_insert: vec![0], ..Settings::default() },
        Settings { seconds: 0.0, ..Settings::default() },
        Settings { rows: Some(0), ..Settings::default() },
        Settings { mode: crate::Mode::Roundtrip, ..Settings::default() },
        // No machine has this one.
        Settings { cpus: vec![0, 99_999], ..settings("cpus") },
        Settings { switches: [switch("elsewhere", &["x"])].into(), ..settings("unknown") },
        Settings { switches: [switch("log_reserve", &["neither"])].into(), ..settings("refused") },
    ];
    for settings in cases {
        let ended = run(&settings, &AtomicBool::new(false), false);
        assert!(matches!(ended.error, Some(LabError::Options(_))), "{settings:?}");
        assert!(ended.run.cells.is_empty() && ended.run.cut_short);
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
        settings("delayed"),
        Settings { durability: vec![Durability::Full, Durability::Delayed], ..settings("both") },
        Settings {
            commit_every: vec![100],
            switches: [switch("log_reserve", &["lanes", "spinlock"])].into(),
            ..settings("batch")
        },
        Settings {
            rows_per_insert: vec![2],
            commit_every: vec![2],
            switches: [switch("log_writer", &["dedicated"])].into(),
            ..settings("pairs")
        },
        Settings { tables: vec![Table::Memory], ..settings("memory") },
        Settings {
            tables: vec![Table::Memory],
            commit_every: vec![100],
            ..settings("memory-batch")
        },
        Settings {
            tables: vec![Table::MemorySchemaOnly],
            procedures: vec![Procedure::Native],
            // The last block of each session is shorter.
            commit_every: vec![30],
            ..settings("native")
        },
    ];
    for shape in shapes {
        let run = whole(&shape);
        let wanted =
            shape.durability.len() * shape.switches.values().map(Vec::len).product::<usize>();
        assert_eq!(run.cells.len(), wanted, "{shape:?}");
        assert!(!run.cut_short && run.machine.cpus > 0);
        assert_eq!(run.targets[0].name, "embedded");
        for cell in &run.cells {
            assert_eq!((cell.rows, cell.rows_verified), (500, 500), "{shape:?}");
            assert!(cell.spins.contains_key("LOGCACHE_ACCESS"));
            assert_eq!(cell.label.is_empty(), wanted == 1, "{}", cell.label);
        }
        let json = serde_json::to_value(run.cells[0].brief()).expect("plain figures");
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
        let document = serde_json::to_vec(&run).expect("plain data");
        let read: Run = serde_json::from_slice(&document).expect("a document");
        // Numbers may lose their last digit in text.
        assert_eq!((&read.machine, &read.targets), (&run.machine, &run.targets));
        assert_eq!(read.cells.len(), run.cells.len());
        assert_eq!(read.cells[0].waits.len(), run.cells[0].waits.len());
        let _ = std::fs::remove_dir_all(&shape.data);
        assert!(table::render(&run.cells).contains("rows/s"));
    }
}

#[test]
fn pairs_alternate_and_are_compared() {
    let settings = Settings {
        pairs: 3,
        rows: Some(200),
        switches: [switch("log_reserve", &["lanes", "spinlock"])].into(),
        ..settings("alternate")
    };
    let run = whole(&settings);
    let arms: Vec<&str> = run.cells.iter().map(|cell| cell.label.as_str()).collect();
    assert_eq!(arms, ["lanes", "spinlock", "spinlock", "lanes", "lanes", "spinlock"]);
    let rounds: Vec<_> = run.cells.iter().filter_map(|cell| cell.round).collect();
    assert_eq!(rounds.iter().map(|r| r.pair).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
    let compared = &run.comparisons[0];
    assert_eq!((compared.figure.as_str(), compared.pairs), ("rows_per_s", 3));
    assert!(compared.a.contains("lanes") && compared.b.contains("spinlock"));
    assert!(compared.low <= compared.ratio && compared.ratio <= compared.high);
    assert!(table::comparisons(&run.comparisons).contains("least effect"));
    // Of four cells each is compared with the first.
    let four = Settings { sessions: vec![1, 2], ..settings };
    let run = whole(&four);
    let sessions: Vec<usize> = run.cells.iter().map(|cell| cell.sessions).collect();
    assert_eq!(sessions, [1, 2, 1, 2, 2, 1, 2, 1, 1, 2, 1, 2]);
    let rows = run.comparisons.iter().filter(|c| c.figure == "rows_per_s");
    let names: Vec<(&str, &str)> = rows.map(|c| (c.a.as_str(), c.b.as_str())).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.iter().all(|(a, b)| *a == names[0].0 && a != b), "{names:?}");
    // One cell is no pair.
    let one = Settings { sessions: vec![1], switches: Default::default(), ..four };
    let ended = self::run(&one, &AtomicBool::new(false), false);
    assert!(ended.error.is_some_and(|error| error.to_string().contains("--pairs")));
}

#[test]
fn a_server_that_is_not_there_says_what_to_do() {
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
    let text = format!("mssql://sa@{}", free.expect("a port"));
    let parsed = crate::TargetKind::parse(&crate::remote::RemoteKind(|| None), &text);
    let mut targets = vec![parsed.expect("its kind").expect("an address")];
    let experiment = crate::find("singleton-insert").expect("it is there");
    let settings = Settings { rows: None, ..settings("nowhere") };
    let flag = AtomicBool::new(false);
    let ended = crate::run(experiment, &settings, &mut targets, "", &flag, &mut Quiet::default());
    let told = ended.error.map(|error| error.to_string()).unwrap_or_default();
    assert!(told.contains("millrace serve"), "{told}");
}

#[test]
fn ctrl_c_leaves_what_was_measured() {
    let settings = Settings {
        sessions: vec![1, 2],
        rows: None,
        seconds: 600.0,
        warmup_seconds: Some(0.2),
        ..settings("interrupt")
    };
    let interrupted = AtomicBool::new(false);
    let Ended { run, error } = run(&settings, &interrupted, true);
    assert!(error.is_none(), "{error:?}");
    assert!(run.cut_short && run.marks[0].kind == MarkKind::CutShort);
    let [cell] = &run.cells[..] else { panic!("{} cells", run.cells.len()) };
    assert!(cell.is_marked(MarkKind::CutShort));
    assert!(cell.rows > 0 && cell.rows_verified >= cell.rows && cell.seconds < 300.0);
    assert!(!settings.data.exists(), "the folder is left behind");
}

#[test]
fn a_folder_that_cannot_be_made_says_what_to_do() {
    let file = std::env::temp_dir().join(format!("lab-test-file-{}", std::process::id()));
    std::fs::write(&file, "in the way").expect("written");
    let settings = Settings { data: file.join("data"), ..settings("folder") };
    let ended = run(&settings, &AtomicBool::new(false), false);
    let told = ended.error.map(|error| error.to_string()).unwrap_or_default();
    assert!(told.contains("--data"), "{told}");
    let _ = std::fs::remove_file(file);
}
