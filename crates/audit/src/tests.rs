//! Trails on a simulated disk: what is kept is found, what is torn is told, what is full or gone fails.

use crate::*;
use device::{FileSystem, OpenOptions, SimFs};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const GUID: [u8; 16] = [7; 16];

fn options(folder: &str) -> TrailOptions {
    TrailOptions {
        name: "who/did it".into(),
        guid: GUID,
        folder: PathBuf::from(folder),
        bytes_max: None,
        rollover_max: i32::MAX as u32,
        files_max: 0,
        reserve: false,
        delay_ms: 0,
        on_failure: OnFailure::Continue,
    }
}

fn record(statement: &str) -> Record {
    Record {
        statement: Some(statement.into()),
        server_principal_sid: Some([1].into()),
        object_id: -5,
        session_id: 51,
        ..Record::new(b"CR  ", b"U ")
    }
}

/// Runs a trail on a thread of its own while `body` uses it.
fn with_trail(fs: &Arc<dyn FileSystem>, options: TrailOptions, body: impl FnOnce(&Trail)) {
    let (trail, _) = Trail::start(options, fs.clone(), Box::new(|_| ()));
    std::thread::scope(|scope| {
        scope.spawn(|| trail.run());
        body(&trail);
        trail.stop();
    });
}

fn files(fs: &Arc<dyn FileSystem>, folder: &str) -> Vec<PathBuf> {
    fs.list(Path::new(folder)).unwrap()
}

fn statements(fs: &Arc<dyn FileSystem>, path: &Path) -> (Vec<String>, Vec<u64>) {
    let mut reader = Reader::open(&**fs, path, None).unwrap();
    let (mut texts, mut skipped) = (Vec::new(), Vec::new());
    while let Some(found) = reader.next().unwrap() {
        match found {
            Ok(found) => texts.push(found.record.statement.unwrap_or_default().into()),
            Err(gap) => skipped.push(gap.offset),
        }
    }
    (texts, skipped)
}

fn sim() -> Arc<dyn FileSystem> {
    let fs: Arc<dyn FileSystem> = SimFs::new(1);
    fs.create_dir_all(Path::new("/audits")).unwrap();
    fs
}

#[test]
fn a_record_comes_back_as_it_was() {
    let mut bytes = Vec::new();
    let kept = record("CREATE TABLE t (i int)");
    kept.encode(&mut bytes);
    assert_eq!(Record::decode(&bytes), Some(kept.clone()));
    for cut in 0..bytes.len() {
        assert_eq!(Record::decode(&bytes[..cut]), None, "cut at {cut}");
    }
    assert_eq!(kept.shown("object_id"), Some(Shown::Number(-5)));
    assert_eq!(kept.shown("statement"), Some(Shown::Text("CREATE TABLE t (i int)")));
    assert_eq!(kept.shown("schema_name"), Some(Shown::Null));
    assert_eq!(kept.shown("file_name"), None);
}

#[test]
fn a_long_statement_is_several_records_of_one_group() {
    let text = "\u{1F600}x".repeat(3000);
    let parts = record(&text).parts();
    assert_eq!(parts.iter().map(|p| p.sequence_number).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(parts.iter().all(|p| p.sequence_group == parts[0].sequence_group));
    assert_ne!(parts[0].sequence_group, [0; 16]);
    let whole: String = parts.iter().filter_map(|p| p.statement.as_deref()).collect();
    assert_eq!(whole, text);
    let units = |p: &Record| p.statement.as_deref().unwrap_or("").encode_utf16().count();
    assert!(parts.iter().all(|p| units(p) <= STATEMENT_UNITS_MAX));
    assert_eq!(record("short").parts().len(), 1);
}

#[test]
fn what_is_kept_is_durable_and_in_order() {
    let fs = sim();
    with_trail(&fs, options("/audits"), |trail| {
        for i in 0..50 {
            trail.keep(record(&format!("s{i}"))).unwrap();
            let status = trail.status();
            let reader = Reader::open(&*trail.fs, &status.file.unwrap(), Some(status.file_bytes));
            assert_eq!(reader.unwrap().audit(), GUID);
        }
    });
    let all = files(&fs, "/audits");
    assert_eq!(all.len(), 1);
    let name = all[0].file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("who%2Fdid it_07070707-"), "{name}");
    assert!(belongs_to(name, &GUID).is_some() && belongs_to(name, &[8; 16]).is_none());
    let expected: Vec<String> = (0..50).map(|i| format!("s{i}")).collect();
    assert_eq!(statements(&fs, &all[0]), (expected, vec![]));
}

#[test]
fn files_roll_over_and_the_oldest_go() {
    let fs = sim();
    let small = TrailOptions { bytes_max: Some(2000), rollover_max: 2, ..options("/audits") };
    with_trail(&fs, small, |trail| {
        (0..60).for_each(|i| trail.keep(record(&format!("s{i}"))).unwrap());
    });
    let all = files(&fs, "/audits");
    assert_eq!(all.len(), 3, "{all:?}");
    let mut last = Vec::new();
    for path in &all {
        assert!(fs.open(path, OpenOptions::read_only()).unwrap().len().unwrap() <= 2000);
        last.extend(statements(&fs, path).0);
    }
    assert_eq!(last.last().map(String::as_str), Some("s59"));
    let numbers: Vec<u32> = last.iter().map(|s| s[1..].parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
}

#[test]
fn the_number_of_files_may_be_bounded() {
    let fs = sim();
    let few = TrailOptions {
        bytes_max: Some(2000),
        files_max: 2,
        on_failure: OnFailure::FailOperation,
        ..options("/audits")
    };
    with_trail(&fs, few, |trail| {
        let kept = (0..60).take_while(|i| trail.keep(record(&format!("s{i}"))).is_ok()).count();
        assert!(kept > 10 && kept < 60, "{kept}");
        assert!(!trail.is_well());
        assert!(trail.status().failure.unwrap().contains("MAX_FILES"));
    });
    assert_eq!(files(&fs, "/audits").len(), 2);
}

/// A batch that does not fit goes on where it was when there is room again.
#[test]
fn what_was_written_of_a_batch_is_not_written_again() {
    let fs = sim();
    let one = TrailOptions {
        bytes_max: Some(2000),
        files_max: 1,
        delay_ms: 100,
        on_failure: OnFailure::FailOperation,
        ..options("/audits")
    };
    with_trail(&fs, one, |trail| {
        (0..16).for_each(|i| trail.keep(record(&format!("s{i}"))).unwrap());
        let await_well = |well: bool| {
            while trail.is_well() != well {
                let soon = runtime::clock::now_ns() + 10_000_000;
                runtime::task::park(telemetry::WaitType::SleepTask, Some(soon));
            }
        };
        await_well(false);
        let full = files(&fs, "/audits").remove(0);
        let mut all = statements(&fs, &full).0;
        assert!(all.len() > 4 && all.len() < 16, "{all:?}");
        fs.remove(&full).unwrap();
        await_well(true);
        all.extend(statements(&fs, &files(&fs, "/audits")[0]).0);
        let expected: Vec<String> = (0..16).map(|i| format!("s{i}")).collect();
        assert_eq!(all, expected);
        assert_eq!(trail.status().lost, 0);
    });
}

/// A number at its end does not end the trail.
#[test]
fn a_file_may_be_called_anything() {
    let fs = sim();
    let base = file_base("x", &GUID);
    for name in [format!("{base}_{}_{}", u32::MAX, u64::MAX), format!("{base}_1_1")] {
        let path = PathBuf::from("/audits").join(name + FILE_ENDING);
        fs.open(&path, OpenOptions::create_new()).unwrap();
    }
    with_trail(&fs, options("/audits"), |trail| trail.keep(record("kept")).unwrap());
    let all = files(&fs, "/audits");
    assert_eq!(all.len(), 3);
    let written = all.iter().filter_map(|path| Reader::open(&*fs, path, None).ok()).count();
    assert_eq!(written, 1);
}

#[test]
fn a_folder_that_vanishes_fails_what_must_be_kept_and_is_taken_up_again() {
    let fs = sim();
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = told.clone();
    let strict = TrailOptions { on_failure: OnFailure::FailOperation, ..options("/audits") };
    let tell = Box::new(move |text: &str| heard.lock().push(text.to_owned()));
    let (trail, made) = Trail::start(strict, fs.clone(), tell);
    made.unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| trail.run());
        trail.keep(record("before")).unwrap();
        let file = files(&fs, "/audits").remove(0);
        fs.remove(&file).unwrap();
        // The file is gone, the folder is there: a new file is made.
        trail.keep(record("after")).unwrap();
        let file = files(&fs, "/audits").remove(0);
        assert_eq!(statements(&fs, &file).0, ["after"]);
        trail.stop();
    });
    assert!(told.lock().is_empty());
    assert_eq!(trail.keep(record("too late")), Ok(()), "it is off");
}

#[test]
fn torn_and_damaged_records_are_told_and_stepped_over() {
    let fs = sim();
    with_trail(&fs, options("/audits"), |trail| {
        (0..5).for_each(|i| trail.keep(record(&format!("s{i}"))).unwrap());
    });
    let path = files(&fs, "/audits").remove(0);
    let file = fs.open(&path, OpenOptions::existing()).unwrap();
    let mut offsets = Vec::new();
    let mut reader = Reader::open(&*fs, &path, None).unwrap();
    while let Some(Ok(found)) = reader.next().unwrap() {
        offsets.push(found.offset);
    }
    // A head that cannot be read, then a body.
    let wait = telemetry::WaitType::IoCompletion;
    file.write_all_at(offsets[1], &[9; 8], true, wait).unwrap();
    file.write_all_at(offsets[3] + 40, &[9; 8], true, wait).unwrap();
    assert_eq!(
        statements(&fs, &path),
        (vec!["s0".into(), "s2".into(), "s4".into()], vec![offsets[1], offsets[3]])
    );
    let len = file.len().unwrap();
    file.set_len(len - 3).unwrap();
    assert_eq!(statements(&fs, &path).1, [offsets[1], offsets[3], offsets[4]]);
    // Room that was reserved is nobody's.
    file.set_len(offsets[4]).unwrap();
    file.set_len(offsets[4] + 5000).unwrap();
    assert_eq!(statements(&fs, &path).1, [offsets[1], offsets[3]]);
    let mut reader = Reader::open(&*fs, &path, None).unwrap();
    assert!(reader.go_behind(offsets[0]).unwrap());
    assert_eq!(reader.next().unwrap(), Some(Err(Skipped { offset: offsets[1] })));
    assert!(!reader.go_behind(offsets[0] + 1).unwrap());
    let junk = fs.open(Path::new("/audits/junk"), OpenOptions::create()).unwrap();
    junk.write_all_at(0, &[1; 100], true, wait).unwrap();
    let opened = Reader::open(&*fs, Path::new("/audits/junk"), None);
    assert!(matches!(opened, Err(ReadError::NotAnAudit)));
}

#[test]
fn many_at_once_are_all_there() {
    let fs = sim();
    with_trail(&fs, options("/audits"), |trail| {
        std::thread::scope(|scope| {
            for t in 0..8 {
                scope.spawn(move || {
                    (0..100).for_each(|i| trail.keep(record(&format!("{t} {i}"))).unwrap());
                });
            }
        });
    });
    let (all, skipped) = statements(&fs, &files(&fs, "/audits").remove(0));
    assert_eq!((all.iter().collect::<BTreeSet<_>>().len(), skipped.len()), (800, 0));
}

#[test]
fn groups_and_actions_hold_together() {
    let names: BTreeSet<_> = GROUPS.iter().map(|group| group.name).collect();
    let ids: BTreeSet<_> = GROUPS.iter().map(|group| group.id).collect();
    assert_eq!((names.len(), ids.len()), (GROUPS.len(), GROUPS.len()));
    for group in GROUPS.iter().filter_map(|facts| facts.group) {
        assert_eq!(group.facts().group, Some(group));
        assert!(ACTIONS.iter().copied().flatten().any(|a| a.group == group), "{group:?}");
    }
    assert!(GROUPS.iter().all(|group| group.id.len() == 4));
    assert!(ACTIONS.iter().copied().flatten().all(|a| a.id.len() == 4));
    assert!(CLASSES.windows(2).all(|pair| pair[0].class < pair[1].class));
}
