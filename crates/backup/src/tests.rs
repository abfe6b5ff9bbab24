//! Sets written and read back; every bit changed; files cut at every length.

use super::*;
use device::{FileSystem, OpenOptions, SimFs};
use std::path::Path;
use std::sync::Arc;
use stdx::Prng;
use telemetry::WaitType;

const PATH: &str = "/b/x.bak";

fn header(compressed: bool, name: &str) -> SetHeader {
    SetHeader {
        kind: SetKind::Database,
        set_id: "0".repeat(32),
        name: Some(name.into()),
        description: None,
        database: "d".into(),
        server: "s".into(),
        user: "u".into(),
        copy_only: false,
        compressed,
        started_us: 1,
        created_unix_ns: 2,
        family: "f".into(),
        fork: "g".into(),
        recovery_model: "FULL".into(),
        first_lsn: 8,
        checkpoint_lsn: 8,
        database_backup_lsn: 0,
        files: Vec::new(),
        boot: "00".into(),
        options: Vec::new(),
    }
}

fn end() -> SetEnd {
    SetEnd {
        last_lsn: 4032,
        finished_us: 3,
        pages: 0,
        blocks: 0,
        raw_bytes: 0,
        files: Vec::new(),
        boot: "00".into(),
    }
}

fn page(n: u64) -> Vec<u8> {
    let mut rng = Prng::new(n);
    // Half of it compresses.
    (0..PAGE_BYTES).map(|i| if i % 2 == 0 { 7 } else { rng.next_u64() as u8 }).collect()
}

const PAGES: [u64; 7] = [3, 4, 5, 9, 10, 8, 1 << 32];

fn write(fs: &Arc<dyn FileSystem>, init: bool, compressed: bool, name: &str) -> u32 {
    let mut w = Writer::create(fs, Path::new(PATH), init).unwrap();
    w.begin(&header(compressed, name)).unwrap();
    for n in PAGES {
        w.page(n, &page(n)).unwrap();
    }
    for n in 5..400 {
        w.log_block(n, n as u32, &vec![n as u8; LOG_PAYLOAD_BYTES]).unwrap();
    }
    let end = w.end(end()).unwrap();
    assert_eq!(end.pages, PAGES.len() as u64);
    w.position()
}

/// Reads a set in whole: names of the pages and log blocks found, all of which are as they were written.
fn read(media: &Media, position: u32) -> Result<(Vec<u64>, Vec<u64>), BackupError> {
    let mut set = media.set(position)?;
    let (mut pages, mut log, mut ended) = (Vec::new(), Vec::new(), false);
    while let Some(part) = set.next_part()? {
        match part {
            Part::Pages { first, bytes } => {
                for (n, bytes) in (first..).zip(bytes.chunks_exact(PAGE_BYTES)) {
                    assert!(bytes == page(n), "page {n}");
                    pages.push(n);
                }
            }
            Part::Log { first, entries } => {
                for (n, entry) in (first..).zip(entries.iter()) {
                    assert_eq!(entry.marks, n as u32);
                    assert!(entry.payload.iter().all(|&b| b == n as u8), "log block {n}");
                    log.push(n);
                }
            }
            Part::End(_) => ended = true,
        }
    }
    assert!(ended);
    Ok((pages, log))
}

fn whole(fs: &Arc<dyn FileSystem>, position: u32) -> Result<(), BackupError> {
    let media = Media::open(&**fs, Path::new(PATH))?;
    let (pages, log) = read(&media, position)?;
    assert_eq!(pages, PAGES);
    assert_eq!(log, (5..400).collect::<Vec<_>>());
    Ok(())
}

fn new_fs() -> (Arc<SimFs>, Arc<dyn FileSystem>) {
    let fs = SimFs::new(1);
    fs.create_dir_all(Path::new("/b")).unwrap();
    (fs.clone(), fs as Arc<dyn FileSystem>)
}

#[test]
fn sets_are_added_and_replaced() {
    let (_, fs) = new_fs();
    assert_eq!(write(&fs, false, false, "a"), 1);
    assert_eq!(write(&fs, false, true, "b"), 2);
    assert_eq!(write(&fs, false, true, "c"), 3);
    (1..=3).for_each(|n| whole(&fs, n).unwrap());
    let media = Media::open(&*fs, Path::new(PATH)).unwrap();
    let names: Vec<_> = media.sets().unwrap().into_iter().filter_map(|s| s.header.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(matches!(media.set(4).err(), Some(BackupError::NoSuchSet { sets: 3, .. })));
    assert_eq!(write(&fs, true, true, "d"), 1);
    let media = Media::open(&*fs, Path::new(PATH)).unwrap();
    assert_eq!(media.sets().unwrap().len(), 1);
}

#[test]
fn compression_saves_bytes() {
    let (_, fs) = new_fs();
    let len = || fs.open(Path::new(PATH), OpenOptions::read_only()).unwrap().len().unwrap();
    write(&fs, true, false, "a");
    let plain = len();
    write(&fs, true, true, "a");
    assert!(len() * 2 < plain, "{} {plain}", len());
}

#[test]
fn a_set_cut_short_is_no_set_and_harms_none() {
    let (_, fs) = new_fs();
    write(&fs, false, true, "a");
    let mut w = Writer::create(&fs, Path::new(PATH), false).unwrap();
    w.begin(&header(false, "b")).unwrap();
    (0..300).for_each(|n| w.page(n, &page(n)).unwrap());
    drop(w);
    whole(&fs, 1).unwrap();
    let media = Media::open(&*fs, Path::new(PATH)).unwrap();
    assert!(matches!(media.set(2).err(), Some(BackupError::Incomplete { position: 2, .. })));
    assert_eq!(write(&fs, false, true, "c"), 2);
    (1..=2).for_each(|n| whole(&fs, n).unwrap());
    // One that was to replace them leaves them.
    let mut w = Writer::create(&fs, Path::new(PATH), true).unwrap();
    w.begin(&header(false, "d")).unwrap();
    drop(w);
    whole(&fs, 2).unwrap();
}

#[test]
fn another_file_is_no_backup_and_is_not_written_over() {
    let (_, fs) = new_fs();
    let file = fs.open(Path::new(PATH), OpenOptions::create()).unwrap();
    file.write_all_at(0, &[7; 10_000], true, WaitType::IoCompletion).unwrap();
    for init in [false, true] {
        let e = Writer::create(&fs, Path::new(PATH), init).err().unwrap();
        assert_eq!(e.number(), 3241, "{e}");
    }
    assert_eq!(Media::open(&*fs, Path::new("/b/none")).err().unwrap().number(), 3201);
}

#[test]
fn every_changed_byte_is_noticed() {
    let (sim, fs) = new_fs();
    write(&fs, true, true, "a");
    let len = fs.open(Path::new(PATH), OpenOptions::read_only()).unwrap().len().unwrap();
    let mut rng = Prng::new(5);
    let heads = (0..len / 4096).flat_map(|unit| (0..64).map(move |i| unit * 4096 + i));
    let heads: Vec<u64> = heads.filter(|_| rng.one_in(16)).collect();
    let others: Vec<u64> = (0..1500).map(|_| rng.below(len)).collect();
    for at in heads.into_iter().chain(others) {
        sim.damage(Path::new(PATH), at).unwrap();
        let read = whole(&fs, 1);
        assert!(read.is_err(), "byte {at} of {len}");
        sim.damage(Path::new(PATH), at).unwrap();
    }
    whole(&fs, 1).unwrap();
}

#[test]
fn a_file_of_any_shorter_length_is_incomplete() {
    let (_, fs) = new_fs();
    write(&fs, true, true, "a");
    let file = fs.open(Path::new(PATH), OpenOptions::existing()).unwrap();
    let mut len = file.len().unwrap();
    while len > 0 {
        len -= len.min(3000);
        file.set_len(len).unwrap();
        assert!(whole(&fs, 1).is_err(), "{len}");
    }
}
