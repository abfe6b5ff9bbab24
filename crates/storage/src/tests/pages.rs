//! Slotted pages, file headers, allocation, damage.

use super::kit::*;
use crate::slotted::{self, Identity, LEAF, Space};
use crate::*;
use buffer_pool::{DamageKind, PageBuf, PageId, PageWords, PoolError};
use device::{FileSystem, OpenOptions};
use std::collections::BTreeMap;
use std::path::Path;
use stdx::Prng;

#[test]
fn a_page_against_a_map() {
    for seed in 0..20 {
        let mut rng = Prng::new(seed);
        let id = Identity { page: PageId(9), owner: PageId(7), kind: LEAF, level: 0 };
        let mut p = slotted::shell(id, b"k", Some(b"kz"), PageId::NONE);
        let mut model: BTreeMap<Vec<u8>, (u64, Vec<u8>)> = BTreeMap::new();
        for step in 0..3_000 {
            let len = rng.below(14) as usize;
            let mut key = b"k".to_vec();
            key.extend((0..len).map(|_| b'a' + rng.below(3) as u8));
            let row = vec![step as u8; rng.below(120) as usize];
            let space = Space::of(&p);
            match slotted::search(&p, &key) {
                Err(pos) => {
                    assert!(!model.contains_key(&key));
                    let bytes = slotted::entry_bytes(key.len(), row.len()) + 8;
                    if space.gap() + space.dead >= bytes {
                        if space.gap() < bytes {
                            slotted::compact(&mut p);
                        }
                        let space = Space::of(&p);
                        slotted::insert_at(&mut p, space, pos, step, &key, &row);
                        model.insert(key, (step, row));
                    }
                }
                Ok(i) if rng.one_in(2) => {
                    slotted::remove_at(&mut p, i);
                    assert!(model.remove(&key).is_some());
                }
                Ok(i) => {
                    if slotted::replace_at(&mut p, i, step, &row) {
                        model.insert(key, (step, row));
                    }
                }
            }
            slotted::check(&p).unwrap();
        }
        assert!(model.len() > 20);
        let image = slotted::image_of(&p);
        let mut p = slotted::page_of_image(&image).unwrap();
        let keep = model.len() / 2;
        let sep = model.keys().nth(keep).unwrap().clone();
        slotted::truncate(&mut p, keep, &sep, PageId(3));
        slotted::check(&p).unwrap();
        let kept: Vec<_> = (0..Space::of(&p).slots).map(|i| slotted::entry(&p, i)).collect();
        let expect: Vec<_> =
            model.iter().take(keep).map(|(k, (h, r))| (*h, k.as_slice(), r.as_slice())).collect();
        assert_eq!(kept, expect);
        assert_eq!(slotted::upper_fence(&p), Some(sep.as_slice()));
    }
}

#[test]
fn a_row_that_shrinks_keeps_its_room() {
    let id = Identity { page: PageId(9), owner: PageId(7), kind: LEAF, level: 0 };
    let mut p = slotted::shell(id, b"k", Some(b"l"), PageId::NONE);
    let mut n = 0;
    while Space::of(&p).gap() > 200 {
        let space = Space::of(&p);
        slotted::insert_at(&mut p, space, n, 1, format!("k{n:03}").as_bytes(), &[7; 100]);
        n += 1;
    }
    let (top, places): (usize, Vec<usize>) =
        (Space::of(&p).top, (0..n).map(|i| slotted::slot(&p, i).at).collect());
    for len in [3, 60, 0, 100, 97, 8, 104, 1] {
        for i in 0..n {
            assert!(slotted::replace_at(&mut p, i, len as u64, &vec![len as u8; len]));
            slotted::check(&p).unwrap();
        }
    }
    let after: Vec<usize> = (0..n).map(|i| slotted::slot(&p, i).at).collect();
    assert_eq!((Space::of(&p).top, &after), (top, &places), "no entry has moved");
    // One that outgrows its room leaves, and leaves the room behind; what is squeezed has none.
    assert!(slotted::replace_at(&mut p, 0, 1, &[1; 140]));
    slotted::check(&p).unwrap();
    assert_ne!(slotted::slot(&p, 0).at, places[0]);
    slotted::compact(&mut p);
    slotted::check(&p).unwrap();
    assert_eq!(Space::of(&p).dead, 0);
    assert!((0..n).all(|i| room(&p, i) == 0));
    // A page is filled to the last byte by rows that grow where they are, one after the other.
    for i in (1..n).cycle().take(4 * n) {
        let row = slotted::entry(&p, i).2.len() + 40;
        slotted::replace_at(&mut p, i, 2, &vec![2; row]);
        slotted::check(&p).unwrap();
    }
    assert!(Space::of(&p).gap() + Space::of(&p).dead < 200);
}

/// The room behind an entry, as the page has it.
fn room(p: &PageBuf, i: usize) -> usize {
    use buffer_pool::PageWords;
    (p.word(slotted::slot(p, i).at + 1) >> 32) as usize
}

#[test]
fn rooms_that_an_older_version_forgets_stay_dead() {
    use buffer_pool::{PageWords, PageWordsMut};
    let mut rng = Prng::new(11);
    let id = Identity { page: PageId(9), owner: PageId(7), kind: LEAF, level: 0 };
    let mut p = slotted::shell(id, b"", None, PageId::NONE);
    for i in 0..50u8 {
        let space = Space::of(&p);
        slotted::insert_at(&mut p, space, i as usize, 1, &[i], &[i; 60]);
    }
    for _ in 0..2_000 {
        let i = rng.below(50) as usize;
        slotted::replace_at(&mut p, i, 1, &vec![3; rng.below(140) as usize]);
        if rng.one_in(3) {
            // What a version without rooms writes there.
            let i = rng.below(50) as usize;
            let at = slotted::slot(&p, i).at + 1;
            let lens = p.word(at) & 0xffff_ffff;
            p.set_word(at, lens);
        }
        slotted::check(&p).unwrap();
    }
}

/// A change of a page, as replay makes it.
enum Step {
    Insert(Vec<u8>, Vec<u8>),
    Replace(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
}

impl Step {
    fn make(&self, p: &mut PageBuf) {
        match self {
            Step::Insert(key, row) => {
                let pos = slotted::search(p, key).unwrap_err();
                crate::leaf::room_for_known(p, slotted::entry_bytes(key.len(), row.len()));
                slotted::insert_at(p, Space::of(p), pos, 1, key, row);
            }
            Step::Replace(key, row) => {
                let i = slotted::search(p, key).unwrap();
                assert!(slotted::replace_at(p, i, 1, row), "it has room in every layout");
            }
            Step::Remove(key) => {
                let i = slotted::search(p, key).unwrap();
                slotted::remove_at(p, i);
            }
        }
    }
}

/// Pages that were taken from an image at some moment, squeezed then or not, with the rooms forgotten or not: whatever fits on
/// one fits on all.
#[test]
fn what_fits_does_not_depend_on_how_entries_lie() {
    use buffer_pool::{PageWords, PageWordsMut};
    let content = |p: &PageBuf| -> Vec<(Vec<u8>, Vec<u8>)> {
        let entries = (0..Space::of(p).slots).map(|i| slotted::entry(p, i));
        entries.map(|(_, key, row)| (key.to_vec(), row.to_vec())).collect()
    };
    let free = |p: &PageBuf| Space::of(p).gap() + Space::of(p).dead;
    for seed in 0..6 {
        let mut rng = Prng::new(seed);
        let id = Identity { page: PageId(9), owner: PageId(7), kind: LEAF, level: 0 };
        let mut live = slotted::shell(id, b"k", Some(b"l"), PageId::NONE);
        let mut others: Vec<PageBuf> = Vec::new();
        for step in 0..2_000u64 {
            let key = format!("k{:02}", rng.below(90)).into_bytes();
            let row = vec![step as u8; rng.below(160) as usize];
            let (bytes, fence) =
                (slotted::entry_bytes(key.len(), row.len()), slotted::pad8(key.len()));
            let step = match slotted::search(&live, &key) {
                Err(_) if free(&live) < bytes + 8 + fence => continue,
                Err(_) => Step::Insert(key, row),
                Ok(_) if rng.one_in(6) => Step::Remove(key),
                Ok(i) => {
                    let old = slotted::slot(&live, i).bytes;
                    if bytes > old && free(&live) + old < bytes + fence {
                        continue;
                    }
                    Step::Replace(key, row)
                }
            };
            step.make(&mut live);
            slotted::check(&live).unwrap();
            for other in &mut others {
                step.make(other);
                slotted::check(other).unwrap();
                assert_eq!(content(other), content(&live));
                assert_eq!(free(other), free(&live));
            }
            if rng.one_in(400) {
                let mut other = slotted::page_of_image(&slotted::image_of(&live)).unwrap();
                if rng.one_in(2) {
                    slotted::compact(&mut other);
                }
                if rng.one_in(2) {
                    for i in 0..Space::of(&other).slots {
                        let at = slotted::slot(&other, i).at + 1;
                        let lens = other.word(at) & 0xffff_ffff;
                        other.set_word(at, lens);
                    }
                }
                others.push(other);
            }
        }
        assert!(!others.is_empty());
    }
}

#[test]
fn a_search_finds_what_a_walk_finds() {
    let mut rng = Prng::new(5);
    for round in 0..400u32 {
        let id = Identity { page: PageId(9), owner: PageId(7), kind: LEAF, level: 0 };
        // Lengths, alphabets and beginnings of all kinds: short keys, ones that begin alike, an empty one.
        let (shared, letters, longest) =
            (rng.below(14) as usize, 1 + rng.below(255), 1 + rng.below(20));
        let any = |rng: &mut Prng| {
            let mut key = vec![0x80; shared];
            let len = rng.below(longest) as usize;
            key.extend((0..len).map(|_| rng.below(letters) as u8));
            key
        };
        let mut keys: Vec<Vec<u8>> = (0..rng.below(90)).map(|_| any(&mut rng)).collect();
        if rng.one_in(3) {
            keys.push(Vec::new());
        }
        keys.sort();
        keys.dedup();
        let upper = [vec![0x80; shared], vec![255; 22]].concat();
        let lower = if keys.first().is_some_and(|key| key.len() < shared) { 0 } else { shared };
        let fenced = round.is_multiple_of(2);
        let (lower, upper) =
            if fenced { (&upper[..lower], Some(&upper[..])) } else { (&b""[..], None) };
        let mut p = slotted::shell(id, lower, upper, PageId::NONE);
        for (i, key) in keys.iter().enumerate() {
            let space = Space::of(&p);
            slotted::insert_at(&mut p, space, i, 1, key, b"row");
        }
        slotted::check(&p).unwrap();
        for _ in 0..200 {
            let key = match rng.below(3) {
                0 if !keys.is_empty() => keys[rng.below(keys.len() as u64) as usize].clone(),
                1 if !fenced => Vec::new(),
                _ => any(&mut rng),
            };
            assert_eq!(
                slotted::search(&p, &key),
                keys.binary_search(&key),
                "{key:x?} in {keys:x?}"
            );
        }
    }
}

#[test]
fn garbage_pages_lead_no_reader_astray() {
    let mut rng = Prng::new(3);
    for _ in 0..2_000 {
        let mut p = PageBuf::zeroed();
        p.words_mut().iter_mut().for_each(|w| *w = rng.next_u64());
        let key = rng.next_u64().to_be_bytes();
        let mut out = Vec::new();
        let _ = slotted::below_upper(&p, &key);
        let _ = slotted::above_lower(&p, &key);
        let _ = crate::node::child_for(&p, crate::node::Target::Key(&key));
        let (Ok(i) | Err(i)) = slotted::search(&p, &key);
        slotted::read_row(&p, i, &mut out);
        slotted::read_key(&p, i, &mut out);
    }
}

#[test]
fn separators_are_short_and_apart() {
    for (low, high, sep) in [
        (&b"abc"[..], &b"abd"[..], &b"abd"[..]),
        (b"abc", b"b", b"b"),
        (b"abc", b"abcd", b"abcd"),
        (b"", b"x", b"x"),
        (b"aaa", b"zzz", b"z"),
    ] {
        assert_eq!(slotted::separator(low, high), sep);
    }
}

#[test]
fn one_torn_header_is_survived() {
    let kit = kit(64);
    let path = Path::new(FILE);
    let file = kit.fs.open(path, OpenOptions::create()).unwrap();
    assert_eq!(read_header(&*file).unwrap(), header());
    let mut newer = header();
    newer.boot = b"second".to_vec();
    write_header(&*file, &newer).unwrap();
    assert_eq!(read_header(&*file).unwrap(), newer);
    // Damage either copy: the other says the same.
    for at in [100, 8192 + 100] {
        kit.fs.damage(path, at).unwrap();
        assert_eq!(read_header(&*file).unwrap(), newer);
        kit.fs.damage(path, at).unwrap();
    }
    kit.fs.damage(path, 100).unwrap();
    kit.fs.damage(path, 8292).unwrap();
    assert!(matches!(read_header(&*file), Err(StorageError::File(_))));
}

#[test]
fn freed_extents_are_used_again() {
    let kit = kit(512);
    let mut sizes = Vec::new();
    let file = kit.fs.open(Path::new(FILE), OpenOptions::create()).unwrap();
    for round in 0..6 {
        let tree = kit.store.create_tree(1).unwrap();
        let mut txn = kit.txn();
        let mut hint = LeafHint::default();
        for i in 0..4_000 {
            let r = row(i, round, 300);
            tree.insert(&mut txn, &key(i), &RowImage::new(&r), &mut hint).unwrap();
        }
        verify(&tree).unwrap();
        assert_eq!(kit.store.owner_of(tree.id().0).unwrap(), Some(tree.id()));
        kit.store.free_tree(tree.id()).unwrap();
        assert_eq!(kit.store.owner_of(tree.id().0).unwrap(), None);
        sizes.push(file.len().unwrap());
    }
    assert!(sizes.iter().all(|s| *s == sizes[0]), "{sizes:?}");
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_lost() {
    let kit = kit(512);
    let tree = kit.store.create_tree(1).unwrap();
    kit.fs.set_capacity(20 << 20);
    let mut txn = kit.txn();
    let mut hint = LeafHint::default();
    let mut n = 0;
    let e = loop {
        let r = row(n, 0, 1_000);
        match tree.insert(&mut txn, &key(n), &RowImage::new(&r), &mut hint) {
            Ok(()) => n += 1,
            Err(e) => break e,
        }
        assert!(n < 100_000);
    };
    assert_eq!(e.number(), 1105, "{e}");
    assert_eq!(verify(&tree).unwrap().rows, n);
    kit.fs.set_capacity(1 << 40);
    let r = row(n, 0, 1_000);
    tree.insert(&mut txn, &key(n), &RowImage::new(&r), &mut hint).unwrap();
}

#[test]
fn a_damaged_page_is_named() {
    let kit = kit(256);
    let tree = kit.store.create_tree(1).unwrap();
    let mut txn = kit.txn();
    let mut hint = LeafHint::default();
    for i in 0..2_000 {
        let r = row(i, 0, 200);
        tree.insert(&mut txn, &key(i), &RowImage::new(&r), &mut hint).unwrap();
    }
    kit.store.pool().flush_all().unwrap();
    let after = open(kit.fs.crash(3), kit.log.clone(), 256);
    let root = tree.id().0;
    after.fs.damage(Path::new(FILE), u64::from(root.page_no()) * 8192 + 4_000).unwrap();
    let tree = after.store.tree(tree.id(), 1);
    let e = tree.lookup(&key(5), &mut Vec::new()).unwrap_err();
    assert_eq!(e.number(), 824);
    match e {
        StorageError::Pool(PoolError::Checksum { page, kind }) => {
            assert_eq!((page, kind), (root, DamageKind::Checksum));
        }
        e => panic!("{e}"),
    }
    assert!(e_is_stable(&tree), "and again");
}

fn e_is_stable(tree: &Tree) -> bool {
    tree.lookup(&key(5), &mut Vec::new()).is_err_and(|e| e.number() == 824)
}

#[test]
fn files_of_a_filegroup_fill_alike() {
    let kit = kit(1_024);
    let path = Path::new("/db/second.ndf");
    let file = kit.fs.open(path, OpenOptions::create()).unwrap();
    let h = FileHeader { file_id: 2, ..header() };
    Store::format_file(&*file, &h, 4 << 20).unwrap();
    kit.store.add_file(2, 1, file, None).unwrap();
    let tree = kit.store.create_tree(1).unwrap();
    let mut txn = kit.txn();
    let mut hint = LeafHint::default();
    for i in 0..6_000 {
        let r = row(i, 0, 400);
        tree.insert(&mut txn, &key(i), &RowImage::new(&r), &mut hint).unwrap();
    }
    verify(&tree).unwrap();
    let of = |f: u16| {
        (0..63u32)
            .filter(|e| {
                let page = PageId::new(f, e * 8);
                kit.store.owner_of(page).unwrap() == Some(tree.id())
            })
            .count()
    };
    let (a, b) = (of(1), of(2));
    assert!(a.abs_diff(b) <= 1 && a > 5, "{a} {b}");
}

#[test]
fn searches_side_by_side_end_where_each_ends() {
    let mut rng = Prng::new(11);
    let ids = |kind| Identity { page: PageId(9), owner: PageId(7), kind, level: 0 };
    let pages: Vec<(PageBuf, BTreeMap<Vec<u8>, u64>)> = (0..16)
        .map(|n| {
            let mut p = slotted::shell(ids(LEAF), b"", None, PageId::NONE);
            let mut model = BTreeMap::new();
            for head in 0..rng.below(if n == 0 { 1 } else { 90 }) {
                // Heads that differ, and in some pages such as say nothing.
                let key = match n % 4 {
                    3 => [&[0; 4][..], &(rng.next_u64() as u32).to_be_bytes()].concat(),
                    _ => (rng.next_u64() as u32).to_be_bytes().to_vec(),
                };
                if let Err(at) = slotted::search(&p, &key) {
                    let space = Space::of(&p);
                    slotted::insert_at(&mut p, space, at, head, &key, b"row");
                    model.insert(key, head);
                }
            }
            (p, model)
        })
        .collect();
    for round in 0..500 {
        let keys: Vec<Vec<u8>> = (pages.iter())
            .map(|(_, model)| match model.keys().nth(rng.below(90) as usize) {
                Some(key) if round % 2 == 0 => key.clone(),
                _ => (rng.next_u64() as u32).to_be_bytes().to_vec(),
            })
            .collect();
        let each: Vec<_> =
            pages.iter().zip(&keys).map(|((p, _), key)| (p.copied(), &key[..])).collect();
        let found = slotted::search_side_by_side(&each);
        for (((p, _), key), found) in pages.iter().zip(&keys).zip(found) {
            let expected = match slotted::search(p, key) {
                Ok(at) => Some(at),
                Err(at) => at.checked_sub(1),
            };
            assert_eq!(found, expected, "{key:?}");
        }
    }
}
