//! What others wrote and we build on: under which licence, from where, and that docs/dependencies.md says why.
//!
//! Asks `cargo metadata` for what is built on this machine by default, which needs no network once it has been built. Features
//! of the rivals, and advisories of security, are not looked at.

use crate::run::Failure;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Licences that a program under MIT and Apache-2.0 may be built from and given away with.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Tells of packages under another licence or from elsewhere than the registry, and of direct dependencies without a line.
pub fn check(root: &Path, problems: &mut Vec<String>) -> Result<(), Failure> {
    let told = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", &host()?])
        .current_dir(root)
        .output()
        .map_err(|error| Failure(format!("cargo metadata: {error}")))?;
    if !told.status.success() {
        let text = String::from_utf8_lossy(&told.stderr);
        return Err(Failure(format!("cargo metadata: {}", text.trim())));
    }
    let told: Value = serde_json::from_slice(&told.stdout)
        .map_err(|error| Failure(format!("cargo metadata: {error}")))?;
    let page = fs::read_to_string(root.join("docs/dependencies.md"))
        .map_err(|error| Failure(format!("docs/dependencies.md: {error}")))?;
    let named: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let mut direct = BTreeSet::new();
    for package in told["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or("");
        match package["source"].as_str() {
            // Ours.
            None => {
                direct.extend(package["dependencies"].as_array().into_iter().flatten().filter_map(
                    |dependency| dependency["source"].as_str().and(dependency["name"].as_str()),
                ))
            }
            Some(source) => {
                if !source.starts_with("registry+") {
                    problems.push(format!("{name} comes from {source}, not from the registry"));
                }
                let licence = package["license"].as_str().unwrap_or("");
                if !allows(licence) {
                    problems
                        .push(format!("{name} is under '{licence}', which is not allowed here"));
                }
            }
        }
    }
    for name in direct.iter().filter(|name| !named.contains(**name)) {
        problems.push(format!("docs/dependencies.md has no line for `{name}`"));
    }
    Ok(())
}

/// The platform that the compiler runs on.
fn host() -> Result<String, Failure> {
    let told = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| Failure(format!("rustc -vV: {error}")))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let found = told.lines().find_map(|line| line.strip_prefix("host: "));
    found.map(str::to_owned).ok_or_else(|| Failure("rustc -vV tells no host".to_owned()))
}

/// Can an SPDX expression be met with allowed licences alone? `/` is the old way to write OR; nothing said is refused.
fn allows(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any(&mut words);
    met && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any(words: &mut Words<'_>) -> bool {
    let mut met = all(words);
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words);
    }
    met
}

fn all(words: &mut Words<'_>) -> bool {
    let mut met = one(words);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words);
    }
    met
}

fn one(words: &mut Words<'_>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let met = any(words);
        return words.next_if_eq(&")").is_some() && met;
    }
    let Some(licence) = words.next() else { return false };
    match words.next_if_eq(&"WITH") {
        Some(_) => {
            let exception = words.next().unwrap_or("");
            ALLOWED.contains(&format!("{licence} WITH {exception}").as_str())
        }
        None => ALLOWED.contains(&licence),
    }
}

#[cfg(test)]
mod tests {
    use super::allows;

    #[test]
    fn an_expression_is_met_by_what_is_allowed() {
        for met in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
        ] {
            assert!(allows(met), "{met}");
        }
        for refused in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT",
            "MIT Apache-2.0",
            "MIT AND (GPL-2.0-only OR LGPL-2.1-only)",
            "Apache-2.0 WITH Classpath-exception-2.0",
        ] {
            assert!(!allows(refused), "{refused}");
        }
    }
}
