//! `numa_maps` of a process or of a thread (linux Documentation/filesystems/proc.rst): where its memory lies.
//!
//! An area that somebody bound (mbind) has a policy of its own; of another the kernel shows that of the thread whose file is
//! read. The first thread of a server has none: `default`.

use std::collections::BTreeMap;

/// Of the memory that prefers a node: pages there, and pages elsewhere.
pub fn pages_preferred(maps: &str, node: usize) -> (u64, u64) {
    let wanted = format!("prefer:{node}");
    let (mut there, mut elsewhere) = (0, 0);
    for line in maps.lines().filter(|line| policy(line) == Some(wanted.as_str())) {
        for (of, pages) in nodes(line) {
            match of == node {
                true => there += pages,
                false => elsewhere += pages,
            }
        }
    }
    (there, elsewhere)
}

/// KiB on each node of what nobody bound. Of the file of a process whose first thread has no policy.
pub fn unbound_kb(maps: &str) -> BTreeMap<usize, i64> {
    let mut all = BTreeMap::new();
    for line in maps.lines().filter(|line| policy(line) == Some("default")) {
        let size = line.split_whitespace().find_map(|w| w.strip_prefix("kernelpagesize_kB="));
        let page_kb = size.and_then(|kb| kb.parse::<i64>().ok()).unwrap_or(4);
        for (node, pages) in nodes(line) {
            *all.entry(node).or_default() += pages as i64 * page_kb;
        }
    }
    all
}

/// The policy of the thread whose file it is: nobody binds the stack that the process began with.
pub fn policy_of_thread(maps: &str) -> Option<&str> {
    let is_stack = |line: &&str| line.split_whitespace().any(|word| word == "stack");
    maps.lines().find(is_stack).and_then(policy)
}

fn policy(line: &str) -> Option<&str> {
    line.split_whitespace().nth(1)
}

/// `N0=2 N1=5`: pages by node.
fn nodes(line: &str) -> impl Iterator<Item = (usize, u64)> {
    line.split_whitespace().filter_map(|word| {
        let (node, pages) = word.strip_prefix('N')?.split_once('=')?;
        Some((node.parse().ok()?, pages.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "7f00 prefer:1 anon=7 dirty=7 N0=2 N1=5 kernelpagesize_kB=4\n\
                        7f10 default anon=3 N0=3\n7f20 prefer:1 anon=1 N1=1\n7f30 prefer:0 anon=4 N0=4\n\
                        7f40 default huge anon=1 N1=2 kernelpagesize_kB=2048\n\
                        7ffc default stack anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4";

    #[test]
    fn areas_are_read_by_their_policy() {
        assert_eq!(pages_preferred(MAPS, 1), (6, 2));
        assert_eq!(pages_preferred(MAPS, 0), (4, 0));
        assert_eq!(pages_preferred(MAPS, 2), (0, 0));
        assert_eq!(unbound_kb(MAPS), [(0, 16), (1, 4096 + 8)].into());
    }

    #[test]
    fn a_thread_has_the_policy_of_what_nobody_binds() {
        assert_eq!(policy_of_thread(MAPS), Some("default"));
        assert_eq!(policy_of_thread("7ffc prefer:3 stack anon=3 N3=3"), Some("prefer:3"));
        assert_eq!(policy_of_thread("7f00 prefer:1 anon=7 N1=7"), None);
    }
}
