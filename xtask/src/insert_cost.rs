//! What an insert costs, against an earlier commit.

use crate::pairs::{self, Options, Side};
use crate::run::{Failure, Step, cargo, target_directory};

/// Builds the commit in a work tree of its own below the target folder, and this tree, and compares them.
pub fn run(against: &str, options: &Options) -> Result<(), Failure> {
    options.check()?;
    let folder = target_directory().join("against");
    let tree = folder.join("tree").display().to_string();
    let git = |promise: &str, arguments: &[&str]| {
        Step::new(promise, "git").args(arguments.iter().copied()).run()
    };
    if folder.join("tree").exists() {
        git("the earlier work tree is removed", &["worktree", "remove", "--force", &tree])?;
    }
    git("the commit's work tree", &["worktree", "add", "--quiet", "--detach", &tree, against])?;
    let build = ["build", "--release", "--quiet", "--package", "millrace"];
    let manifest = folder.join("tree/Cargo.toml").display().to_string();
    let built = cargo("the commit's release binary", &build)
        .args(["--manifest-path", &manifest])
        .env("CARGO_TARGET_DIR", folder.display().to_string())
        .run();
    git("the work tree is removed", &["worktree", "remove", "--force", &tree])?;
    built?;
    cargo("this tree's release binary", &build).run()?;
    let sides = [
        Side { name: "this tree".to_owned(), binary: target_directory().join("release/millrace") },
        Side { name: against.to_owned(), binary: folder.join("release/millrace") },
    ];
    pairs::compare(&sides, options)
}
