//! The rules of the house that no compiler checks.
//!
//! - A crate depends on its own floor or lower ones, never higher; the floor is `package.metadata.millrace.floor`.
//!   The crates outside the house (`lab`, `lab-report`, `rivals/`, `simulator`, `workloads`) may use any floor below the binary's.
//! - `unsafe` stays in the crates named here; every other crate forbids it on its front page.
//! - A source file is at most 1,000 lines: past that, one of its nouns wants a home of its own.
//! - Every crate's front page, and every file, opens with what it promises (`//!`).
//! - The files of a crate stand in no more circles than they did (`circles.rs`).
//! - A number that a site raises is in the list of messages (`messages.rs`).
//! - Threads, clocks and files have one door each, and who goes around it is named with the reason (`doors.rs`).
//! - What we build on is under a licence that allows it, and docs/dependencies.md says why it is there (`licences.rs`).
//! - ARCHITECTURE's table says what the manifests say, and links in the docs lead somewhere (`pages.rs`).

mod circles;
mod doors;
mod licences;
mod messages;
mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{Failure, workspace};

const UNSAFE_CRATES: &[&str] =
    &["stdx", "runtime", "scheduler", "device", "log-manager", "buffer-pool", "storage", "native"];
const FILE_LINES_MAX: usize = 1_000;

struct Manifest {
    floor: Option<u32>,
    dependencies: Vec<String>,
    directory: PathBuf,
}

pub fn check() -> Result<(), Failure> {
    println!("xtask: the house is tidy");
    let root = workspace();
    let manifests = manifests(&root)?;
    let mut problems = Vec::new();
    let listed = messages::listed(&root);
    for (name, manifest) in &manifests {
        floors(name, manifest, &manifests, &mut problems);
        front_page(name, manifest, &mut problems);
        circles::check(name, &manifest.directory, &mut problems);
        for file in rust_files(&manifest.directory) {
            source_file(&root, &file, &listed, &mut problems);
        }
    }
    pages::floors(&root, &manifests, &mut problems);
    pages::links(&root, &mut problems);
    licences::check(&root, &mut problems)?;
    if problems.is_empty() {
        println!("xtask: the house is tidy: {} crates passed", manifests.len());
        return Ok(());
    }
    for problem in &problems {
        eprintln!("tidy: {problem}");
    }
    Err(Failure(format!("{} tidy problems", problems.len())))
}

fn floors(
    name: &str,
    manifest: &Manifest,
    all: &BTreeMap<String, Manifest>,
    problems: &mut Vec<String>,
) {
    let Some(floor) = manifest.floor else { return };
    for dependency in &manifest.dependencies {
        if let Some(Manifest { floor: Some(theirs), .. }) = all.get(dependency)
            && *theirs > floor
        {
            problems
                .push(format!("{name} (floor {floor}) looks up to {dependency} (floor {theirs})"));
        }
    }
}

fn front_page(name: &str, manifest: &Manifest, problems: &mut Vec<String>) {
    let page = ["lib.rs", "main.rs"]
        .iter()
        .map(|file| manifest.directory.join("src").join(file))
        .find_map(|path| fs::read_to_string(path).ok());
    let Some(text) = page else {
        problems.push(format!("{name} has no src/lib.rs or src/main.rs"));
        return;
    };
    let forbids = text.contains("#![forbid(unsafe_code)]");
    let may = UNSAFE_CRATES.contains(&name);
    if may && !forbids && !holds_unsafe(&manifest.directory) {
        problems.push(format!(
            "{name} has no unsafe code: it can forbid it, and leave the list of those that may"
        ));
    }
    let rival = manifest.directory.components().any(|part| part.as_os_str() == "rivals");
    let outside = !rival && manifest.floor.is_none() || name == "millrace";
    if !may && !forbids && !outside {
        problems.push(format!("{name} must say #![forbid(unsafe_code)] on its front page"));
    }
}

fn holds_unsafe(directory: &Path) -> bool {
    let kinds = ["unsafe {", "unsafe fn ", "unsafe impl", "unsafe extern"];
    let holds = |text: &str| {
        let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.any(|line| kinds.iter().any(|kind| line.contains(kind)))
    };
    let files = rust_files(&directory.join("src"));
    files.iter().filter_map(|file| fs::read_to_string(file).ok()).any(|text| holds(&text))
}

fn source_file(root: &Path, path: &Path, listed: &BTreeSet<u32>, problems: &mut Vec<String>) {
    let shown = path.strip_prefix(root).unwrap_or(path).display();
    let Ok(text) = fs::read_to_string(path) else {
        problems.push(format!("{shown} cannot be read as UTF-8"));
        return;
    };
    if !text.trim_start().starts_with("//!") {
        problems.push(format!("{shown} does not open with its promise (//!)"));
    }
    let shown = shown.to_string();
    messages::check(&shown, &text, listed, problems);
    doors::check(&shown, &text, problems);
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        problems.push(format!("{shown} has {lines} lines; the most is {FILE_LINES_MAX}"));
    }
}

fn manifests(root: &Path) -> Result<BTreeMap<String, Manifest>, Failure> {
    let mut directories: Vec<PathBuf> =
        ["lab", "lab-report", "simulator", "xtask"].iter().map(|name| root.join(name)).collect();
    let crates = fs::read_dir(root.join("crates"))
        .map_err(|error| Failure(format!("crates/ cannot be listed: {error}")))?;
    directories.extend(crates.flatten().map(|entry| entry.path()));
    let rivals = fs::read_dir(root.join("rivals"))
        .map_err(|error| Failure(format!("rivals/ cannot be listed: {error}")))?;
    directories.extend(rivals.flatten().map(|entry| entry.path()));
    let mut manifests = BTreeMap::new();
    for directory in directories {
        let path = directory.join("Cargo.toml");
        let text = fs::read_to_string(&path)
            .map_err(|error| Failure(format!("{}: {error}", path.display())))?;
        let name = directory.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        manifests.insert(name, parse(&text, directory));
    }
    Ok(manifests)
}

/// Reads the few keys the checks need; a workspace manifest here is always written one key a line.
fn parse(text: &str, directory: PathBuf) -> Manifest {
    let mut manifest = Manifest { floor: None, dependencies: Vec::new(), directory };
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
        } else if section == "package.metadata.millrace"
            && let Some(floor) = line.strip_prefix("floor = ")
        {
            manifest.floor = floor.trim().parse().ok();
        } else if section == "dependencies"
            && let Some(end) = line.find(['.', ' ', '='])
        {
            manifest.dependencies.push(line[..end].to_owned());
        }
    }
    manifest
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "target") {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(floor: u32, dependencies: &[&str]) -> Manifest {
        Manifest {
            floor: Some(floor),
            dependencies: dependencies.iter().map(|d| (*d).to_owned()).collect(),
            directory: PathBuf::new(),
        }
    }

    #[test]
    fn a_look_upstairs_is_found() {
        let mut all = BTreeMap::new();
        all.insert("low".to_owned(), manifest(1, &["high"]));
        all.insert("high".to_owned(), manifest(3, &["low"]));
        let mut problems = Vec::new();
        for (name, one) in &all {
            floors(name, one, &all, &mut problems);
        }
        assert_eq!(problems, ["low (floor 1) looks up to high (floor 3)"]);
    }

    #[test]
    fn the_manifest_keys_are_read() {
        let text = "[package]\nname = \"x\"\n\n[package.metadata.millrace]\nfloor = 4\n\n\
                    [dependencies]\nstdx.workspace = true\nlibc = \"0.2\"\n\n[lints]\nworkspace = true\n";
        let read = parse(text, PathBuf::new());
        assert_eq!(read.floor, Some(4));
        assert_eq!(read.dependencies, ["stdx", "libc"]);
    }
}
