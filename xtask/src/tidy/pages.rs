//! What pages say of the house, held against it: ARCHITECTURE's table against the manifests, links in the docs.

use super::Manifest;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate stands in the table, on its own floor and no other.
pub fn floors(root: &Path, manifests: &BTreeMap<String, Manifest>, problems: &mut Vec<String>) {
    let Ok(text) = fs::read_to_string(root.join("ARCHITECTURE.md")) else {
        problems.push("ARCHITECTURE.md cannot be read".to_owned());
        return;
    };
    problems.extend(held_against(&text, manifests));
}

fn held_against(text: &str, manifests: &BTreeMap<String, Manifest>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut shown: BTreeMap<&str, u32> = BTreeMap::new();
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (Some(floor), Some(names)) = (cells.next(), cells.next()) else { continue };
        let Some(floor) = floor.split(' ').next().and_then(|n| n.parse().ok()) else { continue };
        for name in names.split('`').filter(|name| !name.trim().is_empty()) {
            shown.insert(name, floor);
        }
    }
    for (name, manifest) in manifests {
        match (manifest.floor, shown.get(name.as_str())) {
            (Some(floor), None) => problems.push(format!(
                "ARCHITECTURE.md: {name} (floor {floor}) is missing from the table of floors"
            )),
            (Some(floor), Some(other)) if floor != *other => problems.push(format!(
                "ARCHITECTURE.md: {name} stands on floor {other}; its manifest says {floor}"
            )),
            _ => {}
        }
    }
    for name in shown.keys().filter(|name| !manifests.contains_key(**name)) {
        problems.push(format!("ARCHITECTURE.md: there is no crate {name}"));
    }
    problems
}

/// Every link to a file leads to one.
pub fn links(root: &Path, problems: &mut Vec<String>) {
    let pages = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")).collect()
    };
    let mut all = pages(root);
    all.extend(pages(&root.join("docs")));
    all.extend(pages(&root.join("docs/decisions")));
    for page in all {
        let Ok(text) = fs::read_to_string(&page) else { continue };
        let Some(folder) = page.parent() else { continue };
        for target in targets(&text) {
            if !folder.join(target).exists() {
                let shown = page.strip_prefix(root).unwrap_or(&page).display();
                problems.push(format!("{shown}: the link to {target} leads nowhere"));
            }
        }
    }
}

/// The files that a page's links name.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("](").filter_map(move |(at, _)| {
        let target = text[at + 2..].split(')').next()?.split('#').next()?;
        let is_file = !target.is_empty() && !target.contains("://") && !target.contains(' ');
        (is_file && !target.starts_with("mailto:")).then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_on_a_wrong_floor_and_one_that_is_missing_are_told() {
        let manifest =
            |floor| Manifest { floor, dependencies: Vec::new(), directory: PathBuf::new() };
        let all = [("a", Some(1)), ("b", Some(2)), ("c", Some(2)), ("lab", None)];
        let all = all.map(|(name, floor)| (name.to_owned(), manifest(floor)));
        let text = "| floor | crates |\n|---|---|\n| 1 machine | `a` `b` |\n| 3 | `gone` |\n";
        assert_eq!(
            held_against(text, &all.into_iter().collect()),
            [
                "ARCHITECTURE.md: b stands on floor 1; its manifest says 2",
                "ARCHITECTURE.md: c (floor 2) is missing from the table of floors",
                "ARCHITECTURE.md: there is no crate gone",
            ]
        );
    }

    #[test]
    fn links_to_files_are_found() {
        let text = "[a](docs/a.md) [b](https://x.y/b) [c](#here) ![d](d.svg#top)";
        assert_eq!(targets(text).collect::<Vec<_>>(), ["docs/a.md", "d.svg"]);
    }
}
