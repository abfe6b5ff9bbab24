//! What the statistics cost: this binary against one that records nothing.

use crate::pairs::{self, Options, Side};
use crate::run::{Failure, cargo, target_directory};
use std::path::Path;

pub fn run(options: &Options) -> Result<(), Failure> {
    options.check()?;
    let build = |promise: &str, folder: &Path, features: &[&str]| {
        cargo(promise, &["build", "--release", "--quiet", "--package", "millrace"])
            .args(features.iter().copied())
            .env("CARGO_TARGET_DIR", folder.display().to_string())
            .run()
            .map(|()| folder.join("release/millrace"))
    };
    let with = build("the release binary", &target_directory(), &[])?;
    let folder = target_directory().join("no-stats");
    let without = build("the same without statistics", &folder, &["--features", "no-stats"])?;
    let side = |name: &str, binary| Side { name: name.to_owned(), binary };
    pairs::compare(&[side("with", with), side("without", without)], options)
}
