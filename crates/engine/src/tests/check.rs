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

/// Reads a page of a file, lets `change` at it, and writes it under a good checksum.
fn edit(fs: &SimFs, page: u32, change: impl FnOnce(&mut PageBuf)) {
    let file = fs.open("/db/t.mdf".as_ref(), OpenOptions::existing().direct()).unwrap();
    let mut p = PageBuf::boxed();
    let at = u64::from(page) * 8192;
    file.read_exact_at(at, p.bytes_mut(), WaitType::IoCompletion).unwrap();
    change(&mut p);
    p.seal();
    file.write_all_at(at, p.bytes(), true, WaitType::IoCompletion).unwrap();
}

/// The numbers of what is found, and of allocation or not; each once.
fn numbers(found: &[Finding]) -> Vec<(i32, bool)> {
    let mut all: Vec<_> = found.iter().map(|f| (f.number, f.allocation)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

const MAP_PAGE: u32 = 2;

#[test]
fn a_damaged_copy_of_a_file_header_is_8946() {
    let (fs, trees) = closed();
    let db = reopen(&fs, small_options()).unwrap();
    for copy in [0, 1] {
        fs.damage("/db/t.mdf".as_ref(), copy * 8192 + 100).unwrap();
        let found = findings(&db, &trees);
        assert_eq!(numbers(&found), [(8946, false)], "{found:?}");
        assert_eq!(found[0].page, Some(PageId::new(1, copy as u32)));
        fs.damage("/db/t.mdf".as_ref(), copy * 8192 + 100).unwrap();
    }
}

#[test]
fn an_extent_of_no_tree_is_8905_and_one_of_another_tree_8936() {
    let (fs, trees) = closed();
    // The last extent of the file is free; its number is its word's place in the map page.
    let len = fs.open("/db/t.mdf".as_ref(), OpenOptions::read_only()).unwrap().len().unwrap();
    let last = (len / 8192 / 8) as u32 - 1;
    let world = fs.crash(1);
    edit(&world, MAP_PAGE, |map| {
        assert_eq!(map.words()[8 + last as usize], 0, "it is free");
        map.words_mut()[8 + last as usize] = PageId::new(1, last * 8 + 3).0;
    });
    let db = reopen(&world, small_options()).unwrap();
    let found = findings(&db, &trees);
    assert_eq!(numbers(&found), [(8905, true)], "{found:?}");
    assert_eq!(found[0].page, Some(PageId::new(1, last * 8)));
    drop(db);
    // The extent of the small tree's root is given to the large tree.
    let world = fs.crash(2);
    let (large, small) = (trees[0].0, trees[1].0);
    edit(&world, MAP_PAGE, |map| {
        let word = &mut map.words_mut()[8 + small.page_no() as usize / 8];
        assert_eq!(*word, small.0);
        *word = large.0;
    });
    let db = reopen(&world, small_options()).unwrap();
    let found = findings(&db, &trees);
    assert_eq!(numbers(&found), [(8936, false)], "{found:?}");
    assert_eq!(found[0].page, Some(small));
}

#[test]
fn a_damaged_map_page_is_824_of_allocation() {
    let (fs, trees) = closed();
    // Nobody has read it when it is damaged: the copy that may be in the double-write file mends it at the start only.
    let db = reopen(&fs, small_options()).unwrap();
    fs.damage("/db/t.mdf".as_ref(), u64::from(MAP_PAGE) * 8192 + 100).unwrap();
    let mut found = Vec::new();
    let known: HashSet<u64> = trees.iter().map(|t| t.0.0).collect();
    db.check_files(&known, &mut |f| found.push(f));
    assert_eq!(numbers(&found), [(824, true)], "{found:?}");
}

#[test]
fn a_page_that_a_tree_cannot_read_is_8928_and_one_that_lies_8936() {
    let (fs, trees) = closed();
    let leaf = trees[0].0.page_no() + 1;
    let world = fs.crash(1);
    world.damage("/db/t.mdf".as_ref(), u64::from(leaf) * 8192 + 4000).unwrap();
    let db = reopen(&world, small_options()).unwrap();
    let found = findings(&db, &trees);
    assert_eq!(numbers(&found), [(8928, false), (8939, false)], "{found:?}");
    assert!(found.iter().all(|f| f.page == Some(PageId::new(1, leaf))), "{found:?}");
    drop(db);
    let world = fs.crash(2);
    edit(&world, leaf, |page| page.words_mut()[5] ^= 1);
    let db = reopen(&world, small_options()).unwrap();
    let found = findings(&db, &trees);
    assert_eq!(numbers(&found), [(8936, false)], "{found:?}");
}

#[test]
fn a_file_that_was_cut_short_is_823() {
    let (fs, mut trees) = closed();
    let db = reopen(&fs, small_options()).unwrap();
    // Extents that nobody reads at the start.
    let late = make_tree(&db);
    for n in 0..400 {
        put_commit(&db, &late, n, &[7; 2000]).unwrap();
    }
    trees.push(late.id());
    assert_eq!(findings(&db, &trees), []);
    db.close().unwrap();
    drop((db, late));
    let file = fs.open("/db/t.mdf".as_ref(), OpenOptions::existing()).unwrap();
    let mut highest = 0;
    {
        let mut map = PageBuf::boxed();
        let at = u64::from(MAP_PAGE) * 8192;
        file.read_exact_at(at, map.bytes_mut(), WaitType::IoCompletion).unwrap();
        highest = (8..1024).rfind(|w| map.words()[*w] != 0).map_or(highest, |w| w - 8);
    }
    file.set_len(highest as u64 * 8 * 8192).unwrap();
    drop(file);
    let db = reopen(&fs, small_options()).unwrap();
    let found = findings(&db, &trees);
    assert!(numbers(&found).contains(&(823, false)), "{found:?}");
    let lost = found.iter().find(|f| f.number == 823).unwrap();
    assert_eq!(lost.page, Some(PageId::new(1, highest as u32 * 8)));
}

#[test]
fn damage_of_the_log_that_recovery_would_read_is_9004() {
    let (fs, trees) = closed();
    let db = reopen(&fs, small_options()).unwrap();
    put_commit(&db, &db.tree(trees[1]), 77, b"after the checkpoint").unwrap();
    db.flush_log().unwrap();
    let path = "/db/t_log.ldf".as_ref();
    let file = fs.open(path, OpenOptions::read_only()).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(0, &mut bytes, WaitType::IoCompletion).unwrap();
    let text = b"after the checkpoint";
    let at = bytes.windows(text.len()).position(|w| w == text).expect("in the log");
    for at in [at, 100, 4096 + 100] {
        fs.damage(path, at as u64).unwrap();
        let found = findings(&db, &trees);
        assert_eq!(numbers(&found), [(9004, false)], "{found:?}");
        fs.damage(path, at as u64).unwrap();
    }
    assert_eq!(findings(&db, &trees), []);
}

/// Of a tree of rows alone, which nothing else could say: the page is sound, and of yesterday.
#[test]
fn a_lost_write_is_8939_as_long_as_memory_has_the_page() {
    let (fs, trees) = closed();
    let db = reopen(&fs, small_options()).unwrap();
    let page = trees[1].0.page_no();
    let mut old = PageBuf::boxed();
    edit(&fs, page, |p| old.bytes_mut().copy_from_slice(p.bytes()));
    put_commit(&db, &db.tree(trees[1]), 2, b"of today").unwrap();
    // In memory alone: that is no damage.
    assert_eq!(findings(&db, &trees), []);
    db.checkpoint().unwrap();
    assert_eq!(findings(&db, &trees), []);
    edit(&fs, page, |p| p.bytes_mut().copy_from_slice(old.bytes()));
    let found = findings(&db, &trees);
    assert_eq!(numbers(&found), [(8939, false)], "{found:?}");
    assert_eq!(found[0].page, Some(PageId::new(1, page)));
}
