//! Circles of files within a crate: files that know each other, directly or around a corner.
//!
//! A file knows another one when a path in it (`crate::`, `super::`, `self::`, or `use` of a child) leads to that file's
//! module; tests at its end, its `mod` lines, and what a parent hands on (`pub use`) do not count. The numbers below are a ratchet: how
//! many files of a crate stand in circles. They may only fall, and whoever makes one fall is asked to write the new one here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Files in circles, by crate; a crate that is not here has none.
const FILES_IN_CIRCLES: &[(&str, usize)] = &[
    ("buffer-pool", 2),
    ("catalog", 9),
    ("dml", 6),
    ("executor", 7),
    ("interpreter", 9),
    ("ir", 2),
    ("lab", 14),
    ("lab-report", 2),
    ("lock-manager", 2),
    ("log-manager", 4),
    ("mariadb", 3),
    ("millrace", 2),
    ("native", 2),
    ("planner", 5),
    ("postgres", 3),
    ("recovery", 2),
    ("runtime", 5),
    ("scheduler", 3),
    ("server", 8),
    ("session", 10),
    ("simulator", 5),
    ("storage", 9),
    ("syntax", 4),
    ("system-views", 10),
    ("telemetry", 4),
    ("types", 4),
    ("xml", 5),
];

/// A file's module, from the crate's root; the root itself has no parts.
type Module = Vec<String>;

/// Tells what is more, or less, than the ratchet says.
pub fn check(name: &str, directory: &Path, problems: &mut Vec<String>) {
    let files = modules(&directory.join("src"));
    let found = circles(&files);
    let count: usize = found.iter().map(Vec::len).sum();
    let most = FILES_IN_CIRCLES.iter().find(|(known, _)| *known == name).map_or(0, |(_, n)| *n);
    if count > most {
        let shown: Vec<String> = found
            .iter()
            .map(|circle| circle.iter().map(|m| m.join("::")).collect::<Vec<_>>().join(" "))
            .collect();
        problems.push(format!(
            "{name}: {count} files stand in circles, {most} did: one of them has come to know what knows it ({})",
            shown.join("; ")
        ));
    } else if count < most {
        println!(
            "xtask: {name}: {count} files stand in circles, fewer than the {most} in xtask/src/tidy/circles.rs: \
             write it there"
        );
    }
}

fn modules(source: &Path) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    for path in super::rust_files(source) {
        let Ok(inner) = path.strip_prefix(source) else { continue };
        let mut module: Module =
            inner.with_extension("").iter().map(|part| part.to_string_lossy().into()).collect();
        match module.last().map(String::as_str) {
            Some("tests") => continue,
            Some("lib" | "main" | "mod") => drop(module.pop()),
            _ => {}
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let end = text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(text.len());
        found.insert(module, code_alone(&text[..end]));
    }
    found
}

/// The text without comments and what stands in quotes.
fn code_alone(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    while at < bytes.len() {
        let rest = &text[at..];
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with('"') {
            quoted(rest)
        } else if rest.starts_with("r\"") || rest.starts_with("r#\"") {
            let hashes = rest[1..].bytes().take_while(|b| *b == b'#').count();
            let end = format!("\"{}", "#".repeat(hashes));
            let body = 2 + hashes;
            rest[body..].find(&end).map_or(rest.len(), |i| body + i + end.len())
        } else if rest.starts_with("'\\") {
            rest[3..].find('\'').map_or(rest.len(), |i| 3 + i + 1)
        } else if rest.starts_with("'\"'") {
            3
        } else {
            0
        };
        if skipped > 0 {
            at += skipped;
        } else {
            let c = rest.chars().next().unwrap_or(' ');
            out.push(c);
            at += c.len_utf8();
        }
    }
    out
}

/// The length of a text in quotes at the beginning.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (i, b) in text.bytes().enumerate().skip(1) {
        match b {
            b'\\' if !escaped => escaped = true,
            b'"' if !escaped => return i + 1,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The modules of the crate that a file's paths lead to.
fn known_by(module: &Module, code: &str, all: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let words = words(code);
    let mut known = BTreeSet::new();
    let mut i = 0;
    while i < words.len() {
        let starts = i == 0 || words[i - 1] != "::";
        let child = || {
            let mut child = module.clone();
            child.push(words[i].to_owned());
            let used = i > 0 && words[i - 1] == "use";
            // `pub use`, `pub(crate) use`: handed on.
            let handed_on = i > 1 && matches!(words[i - 2], "pub" | ")");
            used && !handed_on && all.contains_key(&child)
        };
        let is_path = words.get(i + 1) == Some(&"::");
        if starts && is_path && (matches!(words[i], "crate" | "super" | "self") || child()) {
            let base = if child() { module.clone() } else { Module::new() };
            i = follow(module, base, &words, i, all, &mut known);
        } else {
            i += 1;
        }
    }
    known.remove(module);
    known.remove(&Module::new());
    known
}

/// Follows a path, and the lists in it, from word `i` on; where it ends.
fn follow(
    module: &Module,
    mut base: Module,
    words: &[&str],
    mut i: usize,
    all: &BTreeMap<Module, String>,
    known: &mut BTreeSet<Module>,
) -> usize {
    let mut within = true;
    while i < words.len() {
        match words[i] {
            "crate" => base.clear(),
            "self" if base.is_empty() => base.clone_from(module),
            "self" => {}
            "super" => {
                if base.is_empty() {
                    base.clone_from(module);
                }
                base.pop();
            }
            "{" => {
                i += 1;
                while i < words.len() && words[i] != "}" {
                    i = match words[i] {
                        "," => i + 1,
                        _ => follow(module, base.clone(), words, i, all, known),
                    };
                }
                return i + 1;
            }
            word => {
                base.push(word.to_owned());
                if !within || !all.contains_key(&base) {
                    base.pop();
                    within = false;
                }
            }
        }
        i += 1;
        if words.get(i) != Some(&"::") {
            break;
        }
        i += 1;
    }
    if all.contains_key(&base) {
        known.insert(base);
    }
    i
}

/// Names, `::`, and single signs.
fn words(code: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut rest) = (Vec::new(), code.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if is_name(c) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        out.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    out
}

/// The circles of a crate: sets of files each of which leads to all others.
fn circles(all: &BTreeMap<Module, String>) -> Vec<Vec<Module>> {
    let known: BTreeMap<&Module, BTreeSet<Module>> =
        all.iter().map(|(module, code)| (module, known_by(module, code, all))).collect();
    let reach: BTreeMap<&Module, BTreeSet<&Module>> =
        known.keys().map(|module| (*module, reached(module, &known))).collect();
    let mut found: Vec<Vec<Module>> = Vec::new();
    for (module, reached) in &reach {
        if !reached.contains(module) || found.iter().any(|c| c.contains(module)) {
            continue;
        }
        let circle = reached.iter().filter(|other| reach[**other].contains(module));
        found.push(circle.map(|other| (*other).clone()).collect());
    }
    found
}

/// What a file leads to, itself only around a circle.
fn reached<'a>(
    from: &'a Module,
    known: &'a BTreeMap<&'a Module, BTreeSet<Module>>,
) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Module> = vec![from];
    while let Some(module) = open.pop() {
        for next in &known[module] {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> BTreeMap<Module, String> {
        let module = |path: &str| -> Module {
            path.split("::").filter(|p| !p.is_empty()).map(str::to_owned).collect()
        };
        files.iter().map(|(path, text)| (module(path), code_alone(text))).collect()
    }

    fn shown(files: &[(&str, &str)]) -> Vec<String> {
        let found = circles(&crate_of(files));
        found.iter().map(|c| c.iter().map(|m| m.join("::")).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_circle_around_a_corner_is_found() {
        let files = [
            ("", "mod a; mod b; mod c;"),
            ("a", "use crate::b::{self, B};"),
            ("b", "fn f() { crate::c::g() }"),
            ("c", "use super::a::A;"),
            ("c::d", "use super::C;"),
        ];
        assert_eq!(shown(&files), ["a b c"]);
    }

    #[test]
    fn comments_texts_and_the_root_make_none() {
        let files = [
            ("", "pub use a::A;"),
            ("a", "// crate::b\nlet s = \"crate::b::x\"; let c = '\"'; use crate::B;"),
            ("b", "use crate::a::A;"),
        ];
        assert!(shown(&files).is_empty());
    }

    #[test]
    fn a_child_that_its_parent_uses_and_that_uses_it_is_a_circle() {
        let files = [("a", "mod b; use b::B;"), ("a::b", "use super::A;")];
        assert_eq!(shown(&files), ["a a::b"]);
    }
}
