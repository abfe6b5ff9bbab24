//! Each number that a site of the server raises by a literal has its line in the crate `messages`.
//!
//! A site is a call of one of [`CALLS`] whose first argument is a number from 100 to 49,999.
//! What stands in tests is not looked at.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const LIST: &str = "crates/messages/src/english.txt";
/// By these an error is made all over the house; a file's own helpers are not looked at.
const CALLS: &[&str] = &[
    "Error::new(",
    "Error::refused(",
    "self.error(",
    "refuse(",
    "refused(",
    "misplaced(",
    "invalid(",
    "load_error(",
    "unfit(",
];

/// The numbers that the list has.
pub fn listed(root: &Path) -> BTreeSet<u32> {
    let text = fs::read_to_string(root.join(LIST)).unwrap_or_default();
    text.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
}

pub fn check(file: &str, text: &str, listed: &BTreeSet<u32>, problems: &mut Vec<String>) {
    if file.contains("/tests/") || file.ends_with("/tests.rs") || !file.starts_with("crates/") {
        return;
    }
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    for number in raised(text) {
        if !listed.contains(&number) {
            problems.push(format!("{file}: raises {number}, which {LIST} has not"));
        }
    }
}

fn raised(text: &str) -> BTreeSet<u32> {
    let mut numbers = BTreeSet::new();
    for call in CALLS {
        for (at, _) in text.match_indices(call) {
            let rest = text[at + call.len()..].trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if rest[end..].starts_with(',')
                && let Ok(number) = rest[..end].parse()
                && (100..50_000).contains(&number)
            {
                numbers.insert(number);
            }
        }
    }
    numbers
}
