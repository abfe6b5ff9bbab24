//! A little of each experiment: its cells are there, checked, and tell what it promises.

use super::{Quiet, settings, switch};
use crate::embedded::Embedded;
use crate::{Durability, Experiment, Run, Settings, Target};
use std::sync::atomic::AtomicBool;

fn run(name: &str, change: impl FnOnce(Settings) -> Settings) -> Run {
    let experiment: &dyn Experiment = crate::find(name).expect("it is there");
    let small = settings(name);
    let small = Settings {
        data: small.data.clone(),
        rows: small.rows,
        sessions: small.sessions,
        buffer_pool_bytes: small.buffer_pool_bytes,
        ..experiment.defaults()
    };
    let settings = change(small);
    let mut targets: Vec<Box<dyn Target>> = Vec::new();
    if experiment.has_target() {
        targets.push(Box::new(Embedded::default()));
    }
    let going = AtomicBool::new(false);
    let ended = crate::run(experiment, &settings, &mut targets, "", &going, &mut Quiet::default());
    if let Some(error) = ended.error {
        panic!("{name}: {error}");
    }
    let _ = std::fs::remove_dir(&settings.data);
    assert!(!settings.data.exists(), "{name} leaves nothing");
    assert!(!ended.run.published.is_empty() && !ended.run.posts.is_empty());
    ended.run
}

#[test]
fn commit_batch_has_a_cell_for_each_form() {
    let run = run("commit-batch", |s| Settings {
        durability: vec![Durability::Delayed],
        commit_every: vec![20],
        rows: Some(2 * 1000),
        ..s
    });
    let forms: Vec<&str> =
        run.cells.iter().map(|cell| cell.settings["index_statistics"].as_str()).collect();
    assert_eq!(forms, ["scheduler", "spinlock", "off"]);
    for cell in &run.cells {
        assert_eq!((cell.rows, cell.rows_verified), (2000, 2000));
        assert_eq!(cell.settings["last_row"], "alone");
        // Nineteen rows, and one: two commits for every twenty.
        let commits = (cell.commits_per_s * cell.seconds).round() as u64;
        assert_eq!(commits, 2000 / 20 * 2);
        assert!(cell.spins.contains_key("OPT_IDX_STATS"));
    }
}

#[test]
fn writelog_measures_each_durability_and_depth() {
    let run = run("writelog", |s| Settings {
        switches: [switch("log_queue_depth", &["8", "112"])].into(),
        ..s
    });
    assert_eq!(run.cells.len(), 4);
    for cell in &run.cells {
        assert_eq!((cell.rows_per_insert, cell.rows_verified), (2, 500));
        let waited = cell.figures.get("WRITELOG wait, ms");
        assert_eq!(waited.is_some(), cell.waits["WRITELOG"].waiting_tasks_count > 0);
        if cell.durability == "full" {
            assert!(cell.log_flushes_per_s > 0.0 && cell.device_flush.is_some());
        }
    }
}

#[test]
fn the_writer_is_placed_where_the_machine_allows() {
    let run = run("log-writer-placement", |s| Settings {
        switches: [switch("log_reserve", &["spinlock"])].into(),
        ..s
    });
    let told = |name: &str| run.cells.iter().any(|c| c.settings["placement"].contains(name));
    assert!(told("no writer") && told("anywhere") && told("in the workers") && told("scheduler"));
    for cell in &run.cells {
        assert_eq!(cell.rows_verified, 500, "{:?}", cell.settings);
        assert!(cell.figures.contains_key("LOGCACHE_ACCESS spins per row"));
        if cell.settings["placement"].contains("out of") {
            let workers = cell.settings["cpus"].split(' ').count();
            assert!(workers == cell.schedulers && workers < run.machine.cpus);
            let place = cell.settings["log_writer_place"].strip_prefix("cpu ").expect("a CPU");
            assert!(!cell.settings["cpus"].split(' ').any(|cpu| cpu == place));
        }
    }
    let several = run.machine.cores > 1;
    assert!(told("out of") || !several || !run.cannot_show.is_empty());
}

#[test]
fn native_inserts_are_measured_at_each_place_of_the_writer() {
    let run = run("native-insert", |s| Settings {
        switches: [switch("log_reserve", &["spinlock"])].into(),
        commit_every: vec![40],
        ..s
    });
    assert!(run.cells.iter().any(|cell| cell.settings["placement"].contains("own thread")));
    for cell in &run.cells {
        assert_eq!((cell.rows, cell.rows_verified), (500, 500));
        let told = [&cell.settings["table"], &cell.settings["procedure"]];
        assert_eq!(told, ["memory", "native"]);
        assert!(cell.figures.contains_key("LOGCACHE_ACCESS spins per row"));
    }
}

#[test]
fn every_table_goes_with_the_procedures_that_it_may_have() {
    let run = run("memory-optimised", |s| s);
    let of = |name: &str| run.cells.iter().map(|c| c.settings[name].clone()).collect::<Vec<_>>();
    assert_eq!(
        of("table"),
        ["disk", "disk", "memory", "memory", "memory-schema-only", "memory-schema-only"]
    );
    assert_eq!(
        of("procedure"),
        ["interpreted", "interpreted", "interpreted", "native", "interpreted", "native"]
    );
    assert_eq!(of("transaction_ids")[..3], ["spinlock", "ranges", "ranges"]);
    for cell in &run.cells {
        assert_eq!((cell.rows, cell.rows_verified), (500, 500), "{:?}", cell.settings);
        let sampled = cell.profile.as_ref().is_some_and(|profile| profile.samples > 0);
        assert!(!sampled || cell.figures["CPU in the language, %"].value <= 100.0);
    }
}

#[test]
fn loads_that_check_themselves_tell_what_they_checked() {
    for (name, levels) in [("bank", 1), ("queue", 0), ("list-append", 2), ("ledger", 0)] {
        let experiment: &dyn Experiment = crate::find(name).expect("it is there");
        let small = settings(name);
        let own = ["snapshot".to_owned(), "serializable".to_owned()];
        let own = own.into_iter().take(levels).collect::<Vec<_>>();
        let settings = Settings {
            data: small.data.clone(),
            sessions: vec![4],
            seconds: 1.0,
            warmup_seconds: Some(0.05),
            buffer_pool_bytes: small.buffer_pool_bytes,
            own: if levels == 0 { [].into() } else { [("level".to_owned(), own)].into() },
            ..experiment.defaults()
        };
        let mut targets: Vec<Box<dyn Target>> = vec![Box::new(Embedded::default())];
        let going = AtomicBool::new(false);
        let ended =
            crate::run(experiment, &settings, &mut targets, "", &going, &mut Quiet::default());
        if let Some(error) = ended.error {
            panic!("{name}: {error}");
        }
        assert_eq!(ended.run.cells.len(), levels.max(1));
        for cell in &ended.run.cells {
            let figure = |name: &str| cell.figures[name].value;
            assert_eq!((figure("wrong"), figure("checked")), (0.0, cell.rows_verified as f64));
            assert!(cell.rows > 0 && cell.rows_verified >= cell.rows, "{name}");
            assert_eq!(cell.settings.contains_key("level"), levels > 0);
        }
    }
    let bank = crate::find("bank").expect("it is there");
    let own = [("level".to_owned(), vec!["read-committed".to_owned()])].into();
    let unsafe_level = Settings { own, ..bank.defaults() };
    let mut targets: Vec<Box<dyn Target>> = vec![Box::new(Embedded::default())];
    let going = AtomicBool::new(false);
    let ended = crate::run(bank, &unsafe_level, &mut targets, "", &going, &mut Quiet::default());
    assert!(matches!(ended.error, Some(crate::LabError::Options(_))));
}

#[test]
fn the_log_device_is_a_document_too() {
    let own = |name: &str, value: &str| (name.to_owned(), vec![value.to_owned()]);
    let run = run("log-device", |s| Settings {
        sessions: vec![1, 2],
        rows: None,
        seconds: 0.02,
        own: [
            own("bytes", "4096"),
            own("way", "fdatasync"),
            own("carrier", "threads"),
            own("beside", "alone"),
        ]
        .into(),
        ..s
    });
    assert_eq!(run.cells.iter().map(|c| c.sessions).collect::<Vec<_>>(), [1, 2]);
    for cell in &run.cells {
        assert!(cell.rows > 0 && cell.marks.is_empty() && cell.durability == "full");
        assert_eq!(cell.latency.count(), cell.rows);
        assert_eq!(cell.settings["way"], "fdatasync");
        assert!(cell.figures["log write stall, ms"].value > 0.0);
    }
    assert!(run.targets.is_empty() && !run.cut_short);
}

/// A window of some tenths of a second.
fn brief(s: Settings) -> Settings {
    Settings { rows: None, seconds: 0.3, warmup_seconds: Some(0.1), ..s }
}

#[test]
fn sockets_measures_the_arms_that_there_are_and_names_the_others() {
    let run = run("sockets", |s| s);
    let nodes = topology::Topology::machine().map_or(1, |machine| machine.nodes.len());
    assert!(run.cells.iter().any(|cell| cell.settings["placement"] == "one node"));
    assert_eq!(nodes < 4, run.cannot_show.iter().any(|why| why.contains("no 4 nodes")));
    assert!(run.cells.iter().all(|cell| cell.rows_verified == 500));
    for cell in &run.cells {
        // What was asked for is what the kernel has.
        let told: Vec<String> = cell.scheduler_cpus.iter().map(usize::to_string).collect();
        assert_eq!(told.join(" "), cell.settings["cpus"]);
        assert!(!cell.scheduler_nodes.is_empty());
    }
}

#[test]
fn shards_are_counted_together_and_one_by_one() {
    let cpus = runtime::threads::process_affinity().len();
    let run = run("shards", |s| Settings {
        switches: [switch("log_reserve", &["lanes"])].into(),
        sessions: vec![cpus.max(2)],
        // In each shard at least one row, whatever else the machine does.
        seconds: 1.0,
        ..brief(s)
    });
    let of = |shards: &str| run.cells.iter().find(|cell| cell.settings["shards"] == shards);
    let one = of("1").expect("one instance");
    assert!(!one.figures.contains_key("slowest shard"));
    if cpus > 1 {
        let all = of(&cpus.to_string()).expect("a shard for each CPU");
        assert!(all.figures["slowest shard"].value > 0.0 && all.rows > 0);
        assert_eq!(all.schedulers, cpus);
        // Each shard's threads have CPUs of their own.
        assert_eq!(all.scheduler_cpus, runtime::threads::process_affinity());
        assert!(all.rows_verified >= all.rows);
    }
}

#[test]
fn more_shards_than_cpus_are_refused() {
    let shards = crate::find("shards").expect("it is there");
    let own = [("shards".to_owned(), vec!["5000".to_owned()])].into();
    let settings = Settings { own, ..brief(settings("too-many")) };
    let mut targets: Vec<Box<dyn Target>> = vec![Box::new(Embedded::default())];
    let going = AtomicBool::new(false);
    let ended = crate::run(shards, &settings, &mut targets, "", &going, &mut Quiet::default());
    assert!(matches!(ended.error, Some(crate::LabError::Options(_))) && ended.run.cells.is_empty());
}

#[test]
fn remote_memory_proves_where_the_pages_were() {
    let own = [("size".to_owned(), vec!["3000".to_owned()])].into();
    let run = run("remote-memory", |s| Settings { own, ..brief(s) });
    let several = topology::Topology::machine().is_some_and(|machine| machine.nodes.len() > 1);
    for cell in &run.cells {
        let looked = |which: &str| cell.figures[&format!("page look-ups, {which}")].value;
        assert!(cell.rows > 0 && cell.rows % 3000 == 0);
        match cell.settings["placement"].starts_with("from the node") {
            true => assert!(looked("local") > 0.0 && looked("remote") == 0.0, "{:?}", cell.figures),
            false => assert!(looked("remote") > 0.0),
        }
    }
    assert!(several || run.cannot_show.iter().any(|why| why.contains("CPUs of one node")));
}

#[test]
fn parallel_insert_and_the_sweep_have_a_cell_for_each_combination() {
    let own = [("maxdop".to_owned(), vec!["1".to_owned(), "2".to_owned()])].into();
    let inserts = run("parallel-insert", |s| Settings { own, sessions: vec![1], ..brief(s) });
    let dops: Vec<&str> = inserts.cells.iter().map(|c| c.settings["maxdop"].as_str()).collect();
    assert_eq!(dops, ["1", "2"]);
    assert!(inserts.cells.iter().all(|cell| cell.rows > 0 && cell.rows % 5000 == 0));
    let own = [("trace-flags", vec!["none", "2330"]), ("mask", vec!["all"])]
        .map(|(name, values)| (name.to_owned(), values.into_iter().map(str::to_owned).collect()))
        .into();
    let sweep = run("numa-sweep", |s| Settings {
        own,
        sessions: vec![1, 2],
        switches: [switch("log_reserve", &["lanes"])].into(),
        ..s
    });
    let flags: Vec<&str> = sweep.cells.iter().map(|c| c.settings["trace_flags"].as_str()).collect();
    assert_eq!(flags, ["none", "none", "2330", "2330"]);
}
