//! What a state may lack, and what it may not.

use super::*;
use crate::guest::write_log::test_log;

/// Of a disk, behind what the file system keeps for itself.
const FIRST: usize = 8;

/// Sector 1 by a plain write, a flush; sector 2 with FUA and its mark, sectors 3 and 4 plain, a flush; sector 5 plain. All
/// counted from [`FIRST`].
fn log(name: &str) -> WriteLog {
    let write = |sector: u64, sectors: u64, fua: bool| {
        (
            [FIRST as u64 + sector, sectors, if fua { 2 } else { 0 }, 0],
            Vec::new(),
            vec![sector as u8; 512 * sectors as usize],
        )
    };
    let flush = || ([0, 0, 1, 0], Vec::new(), Vec::new());
    let mark = ([0, 0, 8, 5], b"1:1:1".to_vec(), Vec::new());
    let entries = [
        write(1, 1, false),
        flush(),
        write(2, 1, true),
        mark,
        write(3, 2, false),
        flush(),
        write(5, 1, false),
    ];
    test_log(name, &entries)
}

fn image(name: &str) -> Image {
    let path = std::env::temp_dir().join(format!("image-{name}-{}", std::process::id()));
    std::fs::write(&path, [0u8; 64 * SECTOR]).unwrap();
    let image = Image::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    image
}

#[test]
fn a_state_lacks_only_what_no_flush_and_no_fua_kept() {
    let log = log("states");
    let mut plans = plan(&log, 200, 1);
    assert_eq!(plans.len(), 200);
    Maker::order(&mut plans);
    let mut maker = Maker::new(&log, image("states"));
    let file = std::env::temp_dir().join(format!("state-{}", std::process::id()));
    let (mut distinct, mut halves) = (std::collections::BTreeSet::new(), 0);
    for plan in &plans {
        let made = maker.make(plan, |image| image.save(&file)).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let sector = |i: usize| bytes[(FIRST + i) * SECTOR];
        assert_eq!(sector(5), 0, "what met no flush is in no state: the log has no end after it");
        let told = made.known.get(&1).map(|known| known.progress.sure);
        if plan.epoch > 1 || matches!(plan.kind, Kind::Replayed(end) if end > 2) {
            assert_eq!(sector(1), 1, "{plan:?}: a flush kept it");
            assert_eq!(sector(2), 2, "{plan:?}: FUA kept it");
        }
        assert_eq!(
            told.is_some(),
            sector(2) == 2 && !matches!(plan.kind, Kind::Replayed(3)),
            "{plan:?}"
        );
        halves += u32::from(sector(3) != 0 && sector(4) == 0);
        distinct.insert((made.hash, sector(1), sector(2), sector(3), sector(4)));
    }
    std::fs::remove_file(&file).unwrap();
    assert!(halves > 0, "some are torn");
    let hashes: std::collections::BTreeSet<u64> = distinct.iter().map(|d| d.0).collect();
    assert_eq!(hashes.len(), distinct.len(), "one hash for one state");
}

#[test]
fn the_file_systems_own_head_is_whole_or_not_there() {
    let flush = || ([0, 0, 1, 0], Vec::new(), Vec::new());
    let entries = [flush(), ([1, 4, 0, 0], Vec::new(), vec![7; 4 * SECTOR]), flush()];
    let log = test_log("head", &entries);
    let mut plans = plan(&log, 200, 1);
    Maker::order(&mut plans);
    let mut maker = Maker::new(&log, image("head"));
    let mut seen = std::collections::BTreeSet::new();
    for plan in &plans {
        let show = |image: &Image| {
            seen.insert([1, 2, 3, 4].map(|i| image.bytes[i * SECTOR]));
            Ok(())
        };
        maker.make(plan, show).unwrap();
    }
    assert!(seen.iter().all(|[_, a, b, _]| a == b), "{seen:?}");
    assert!(seen.len() > 4, "torn elsewhere: {seen:?}");
}

/// A session's marks, with one durable write between them, then with two.
#[test]
fn a_planted_state_lacks_one_durable_write_that_was_promised() {
    let write = |sector: u64| ([sector, 1, 2, 0], Vec::new(), vec![sector as u8; SECTOR]);
    let mark = |sure: usize| {
        let text = format!("1:{sure}:{sure}").into_bytes();
        ([0, 0, 8, text.len() as u64], text, Vec::new())
    };
    let entries = [mark(1), write(1), mark(2), write(2), write(3), mark(3), write(4), mark(3)];
    let log = test_log("planted", &entries);
    let mut plans = planted(&log, 10, 1);
    assert_eq!(plans.len(), 2, "a mark that promises nothing new is none");
    assert_eq!(plans[0].planted(), Some(true));
    assert_eq!(plans[1].planted(), Some(false));
    Maker::order(&mut plans);
    let mut maker = Maker::new(&log, image("planted"));
    let mut sectors = Vec::new();
    for plan in &plans {
        let show = |image: &Image| {
            sectors.push([1, 2, 3, 4].map(|i| image.bytes[i * SECTOR]));
            Ok(())
        };
        let made = maker.make(plan, show).unwrap();
        let sure = made.known[&1].progress.sure;
        assert_eq!(sure, if plan.planted() == Some(true) { 2 } else { 3 });
    }
    sectors.sort_unstable();
    assert_eq!(sectors, [[0, 0, 0, 0], [1, 2, 0, 0]]);
}
