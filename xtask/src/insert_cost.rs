//! What an insert costs, against an earlier commit.

use crate::pairs::{self, Options, Side};
use crate::run::{Failure, Step, cargo, target_directory};
use std::path::{Path, PathBuf};

const BUILD: [&str; 5] = ["build", "--release", "--quiet", "--package", "millrace"];

/// Compares this tree's release binary with another: of a commit, built in a work tree of its own below the target folder,
/// or one that is there.
pub fn run(against: &str, options: &Options) -> Result<(), Failure> {
    options.check()?;
    let other = match Path::new(against) {
        file if file.is_file() => file.to_owned(),
        _ => build_of(against)?,
    };
    cargo("this tree's release binary", &BUILD).run()?;
    let here = target_directory().join("release/millrace");
    let sides = [
        Side { name: "this tree".to_owned(), binary: here },
        Side { name: against.to_owned(), binary: other },
    ];
    pairs::compare(&sides, options)
}

/// The release binary of a commit.
fn build_of(commit: &str) -> Result<PathBuf, Failure> {
    let folder = target_directory().join("against");
    let tree = folder.join("tree").display().to_string();
    let git = |promise: &str, arguments: &[&str]| {
        Step::new(promise, "git").args(arguments.iter().copied()).run()
    };
    if folder.join("tree").exists() {
        git("the earlier work tree is removed", &["worktree", "remove", "--force", &tree])?;
    }
    git("the commit's work tree", &["worktree", "add", "--quiet", "--detach", &tree, commit])?;
    let manifest = folder.join("tree/Cargo.toml").display().to_string();
    let built = cargo("the commit's release binary", &BUILD)
        .args(["--manifest-path", &manifest])
        .env("CARGO_TARGET_DIR", folder.display().to_string())
        .run();
    git("the work tree is removed", &["worktree", "remove", "--force", &tree])?;
    built?;
    Ok(folder.join("release/millrace"))
}
