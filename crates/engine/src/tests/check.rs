//! What a check finds: pages damaged on disk, structure damaged under a good checksum.

use super::*;
use crate::Finding;
use ::buffer_pool::PageBuf;
use device::OpenOptions;
use std::collections::HashSet;
use telemetry::WaitType;

const ROWS: u64 = 900;

/// A closed database with one tree of three levels' worth of pages, and one small one.
fn closed() -> (Arc<SimFs>, Vec<TreeId>) {
    let fs = SimFs::new(40);
    let db = create(&fs, small_options());
    let (large, small) = (make_tree(&db), make_tree(&db));
    for n in 0..ROWS {
        put_commit(&db, &large, n * 2, &[n as u8; 200]).unwrap();
    }
    put_commit(&db, &small, 1, b"one").unwrap();
    let trees = vec![large.id(), small.id()];
    db.close().unwrap();
    (fs, trees)
}

fn findings(db: &Arc<Database>, trees: &[TreeId]) -> Vec<Finding> {
    let mut all = Vec::new();
    let system = db.system_tree_numbers();
    let known: HashSet<u64> = trees.iter().map(|t| t.0.0).chain(system.iter().copied()).collect();
    let counts = db.check_files(&known, &mut |f| all.push(f));
    assert!(counts.files == 1 && counts.extents > 16, "{counts:?}");
    for id in trees.iter().copied().chain(system.into_iter().map(|n| TreeId(PageId(n)))) {
        db.tree(id).check(db.log().tail(), &mut |_, _| None, &mut |f| all.push(f));
    }
    all
}

fn all(db: &Arc<Database>, trees: &[TreeId]) -> Vec<Vec<(u64, Vec<u8>)>> {
    trees.iter().map(|id| all_rows(db, &db.tree(*id))).collect()
}

#[test]
fn a_sound_database_has_no_findings_at_rest_and_at_work() {
    let (fs, trees) = closed();
    let db = reopen(&fs, small_options()).unwrap();
    assert_eq!(findings(&db, &trees), []);
    let other = make_tree(&db);
    std::thread::scope(|scope| {
        let (db, other) = (&db, &other);
        let writer = scope.spawn(move || {
            for n in 0..1500 {
                put_commit(db, other, n, &[n as u8; 400]).unwrap();
                if n % 100 == 0 {
                    db.checkpoint().unwrap();
                }
            }
        });
        while !writer.is_finished() {
            // Its own pages are written meanwhile: none is taken for damaged.
            assert_eq!(findings(db, &trees), []);
        }
    });
}

#[test]
fn a_damaged_page_on_disk_is_found_though_memory_has_it_right() {
    let (fs, trees) = closed();
    let db = reopen(&fs, small_options()).unwrap();
    let before = all(&db, &trees);
    let len = fs.open("/db/t.mdf".as_ref(), OpenOptions::read_only()).unwrap().len().unwrap();
    let mut used = HashSet::new();
    for file in db.store.store_files() {
        for extent in db.store.used_extents(&file).unwrap() {
            used.insert(extent.first.page_no() / 8);
        }
    }
    let mut file = PageBuf::boxed();
    let (mut found, mut harmless) = (0, 0);
    for page in 0..(len / 8192) as u32 {
        let handle = fs.open("/db/t.mdf".as_ref(), OpenOptions::read_only()).unwrap();
        handle
            .read_exact_at(u64::from(page) * 8192, file.bytes_mut(), WaitType::IoCompletion)
            .unwrap();
        let at = u64::from(page) * 8192 + u64::from(page * 37 % 8192);
        fs.damage("/db/t.mdf".as_ref(), at).unwrap();
        let wrong = findings(&db, &trees);
        match wrong.is_empty() {
            // Nobody reads what is in no extent in use, or beside the map page.
            true => {
                harmless += 1;
                assert!(!used.contains(&(page / 8)) || (3..8).contains(&page), "page {page}");
            }
            false => {
                found += 1;
                assert!(
                    wrong.iter().all(|f| f.page.is_some_and(|p| p.page_no() == page)),
                    "{wrong:?}"
                );
            }
        }
        fs.damage("/db/t.mdf".as_ref(), at).unwrap();
    }
    assert!(found > 40 && harmless > 0, "{found} {harmless}");
    assert_eq!(all(&db, &trees), before);
}

/// Changes a page under a good checksum: what a checksum cannot find, the structure must.
#[test]
fn a_page_that_lies_about_its_structure_is_found() {
    let (fs, trees) = closed();
    let db = reopen(&fs, small_options()).unwrap();
    let before = all(&db, &trees);
    let root = trees[0].0;
    // A root above leaves, the first leaves, and a lone leaf.
    let pages: Vec<u32> =
        vec![root.page_no(), root.page_no() + 1, root.page_no() + 2, trees[1].0.page_no()];
    db.close().unwrap();
    drop(db);
    let mut rng = stdx::Prng::new(9);
    let (mut found, mut harmless) = (0, 0);
    for case in 0..240 {
        let world = fs.crash(case);
        let page = pages[rng.below(pages.len() as u64) as usize];
        let file = world.open("/db/t.mdf".as_ref(), OpenOptions::existing().direct()).unwrap();
        let mut p = PageBuf::boxed();
        let at = u64::from(page) * 8192;
        file.read_exact_at(at, p.bytes_mut(), WaitType::IoCompletion).unwrap();
        // Type and level, owner, space, sibling, fences, prefix; slots.
        let word = [0, 3, 4, 5, 6, 7, 8, 9, 10, 11][rng.below(10) as usize];
        let bit = match word {
            0 => 32 + rng.below(16),
            _ => rng.below(64),
        };
        p.words_mut()[word] ^= 1 << bit;
        p.seal();
        file.write_all_at(at, p.bytes(), true, WaitType::IoCompletion).unwrap();
        let db = reopen(&world, small_options()).unwrap();
        let wrong = findings(&db, &trees);
        if wrong.is_empty() {
            harmless += 1;
            assert_eq!(all(&db, &trees), before, "page {page}, word {word}, bit {bit}");
        } else {
            found += 1;
        }
    }
    assert!(found > 100, "{found} found, {harmless} harmless");
}
