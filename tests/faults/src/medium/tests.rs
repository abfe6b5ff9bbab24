//! What survives is what was synced; what was not is lost in every way that is allowed.

use super::*;
use std::collections::BTreeSet;

const MODE: u16 = 0o600;

fn prng(seed: u64) -> Prng {
    Prng::new(seed)
}

fn name(text: &str) -> &OsStr {
    OsStr::new(text)
}

/// A disk with a durable file of four sectors of `a`.
fn with_file() -> (Medium, u64) {
    let mut medium = Medium::default();
    let file = medium.create(ROOT, name("f"), MODE).unwrap();
    medium.write(file, 0, &[b'a'; 2048], false).unwrap();
    medium.sync(file).unwrap();
    medium.sync_folder(ROOT).unwrap();
    (medium, file)
}

/// The first letters of the sectors.
fn sectors(medium: &Medium, file: u64) -> String {
    let bytes = medium.read(file, 0, 1 << 20).unwrap();
    bytes
        .chunks(SECTOR)
        .map(|s| {
            assert!(s.iter().all(|b| *b == s[0]), "a sector is never torn");
            if s[0] == 0 { '-' } else { char::from(s[0]) }
        })
        .collect()
}

fn states(change: impl Fn(&mut Medium, u64)) -> BTreeSet<String> {
    (0..2_000)
        .map(|seed| {
            let (mut medium, file) = with_file();
            change(&mut medium, file);
            medium.cut(&mut prng(seed));
            sectors(&medium, file)
        })
        .collect()
}

#[test]
fn what_was_synced_survives_every_cut() {
    let seen = states(|medium, file| {
        medium.write(file, 512, &[b'b'; 1024], false).unwrap();
        medium.sync(file).unwrap();
    });
    assert_eq!(seen, BTreeSet::from(["abba".to_owned()]));
}

#[test]
fn what_was_not_synced_is_lost_kept_reordered_and_torn() {
    let seen = states(|medium, file| {
        medium.write(file, 0, &[b'b'; 1024], false).unwrap();
        medium.write(file, 1024, &[b'c'; 1024], false).unwrap();
    });
    for state in ["aaaa", "bbcc", "bbaa", "aacc", "baaa", "abca"] {
        assert!(seen.contains(state), "{state} is possible: {seen:?}");
    }
}

#[test]
fn a_durable_write_survives_older_volatile_ones_beneath_it() {
    let seen = states(|medium, file| {
        medium.write(file, 0, &[b'b'; 2048], false).unwrap();
        medium.write(file, 512, &[b'D'; 512], true).unwrap();
    });
    assert!(seen.iter().all(|s| s.as_bytes()[1] == b'D'), "{seen:?}");
    assert!(seen.contains("aDaa") && seen.contains("bDbb"));
}

#[test]
fn no_later_sync_saves_what_a_failed_one_covered() {
    let seen = states(|medium, file| {
        medium.write(file, 0, &[b'b'; 512], false).unwrap();
        medium.fail_sync(file);
        medium.write(file, 1024, &[b'c'; 512], false).unwrap();
        medium.sync(file).unwrap();
    });
    assert_eq!(seen, BTreeSet::from(["aaca".to_owned(), "baca".to_owned()]));
}

#[test]
fn a_length_is_volatile_too() {
    let seen = states(|medium, file| {
        medium.set_len(file, 512).unwrap();
        medium.set_len(file, 3072).unwrap();
    });
    for state in ["aaaa", "a-----", "aaaa--", "a"] {
        assert!(seen.contains(state), "{state} is possible: {seen:?}");
    }
}

#[test]
fn names_are_volatile_until_their_folder_is_synced() {
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let (mut medium, file) = with_file();
        let other = medium.create(ROOT, name("g"), MODE).unwrap();
        medium.sync(other).unwrap();
        medium.rename(ROOT, name("g"), ROOT, name("f")).unwrap();
        assert_eq!(medium.lookup(ROOT, name("f")), Ok(other));
        medium.cut(&mut prng(seed));
        let names = medium.list(ROOT).unwrap();
        let names: Vec<_> = names.iter().map(|(n, i)| (n.to_str().unwrap(), *i == file)).collect();
        seen.insert(format!("{names:?}"));
    }
    let old = r#"[("f", true)]"#.to_owned();
    let made = r#"[("f", true), ("g", false)]"#.to_owned();
    let new = r#"[("f", false)]"#.to_owned();
    assert_eq!(seen, BTreeSet::from([old, made, new]));
}

#[test]
fn a_synced_file_without_its_name_is_lost() {
    let lost = (0..100).filter(|&seed| {
        let (mut medium, _) = with_file();
        let folder = medium.make_folder(ROOT, name("d"), 0o755).unwrap();
        let file = medium.create(folder, name("x"), MODE).unwrap();
        medium.sync(file).unwrap();
        medium.sync_folder(folder).unwrap();
        medium.cut(&mut prng(seed));
        medium.lookup(ROOT, name("d")) == Err(libc::ENOENT)
    });
    let lost = lost.count();
    assert!(lost > 0 && lost < 100, "{lost}");
}

#[test]
fn the_fingerprint_tells_states_apart_and_not_histories() {
    let (mut a, file) = with_file();
    let (mut b, _) = with_file();
    assert_eq!(a.fingerprint(), b.fingerprint());
    a.write(file, 0, b"z", false).unwrap();
    assert_ne!(a.fingerprint(), b.fingerprint());
    b.write(file, 0, b"z", true).unwrap();
    assert_eq!(a.fingerprint(), b.fingerprint());
    b.set_len(file, 10_000).unwrap();
    assert_ne!(a.fingerprint(), b.fingerprint());
}
