//! What others wrote, parsed and run on the embedded engine (`tests/corpus`). Their files lie in a folder of the caller's
//! choice and are not part of this repository.

use crate::run::{Failure, cargo};
use std::path::Path;

/// `corpus <command> <arguments>`, built for release: some of these files hold millions of records.
pub fn run(command: &str, arguments: &[String]) -> Result<(), Failure> {
    let mut step = cargo(
        "what others wrote",
        &["run", "--release", "--quiet", "--package", "corpus", "--", command],
    );
    for argument in arguments {
        // The command runs in the workspace, whose folder need not be the caller's.
        let path = Path::new(argument);
        let absolute = if path.exists() { std::path::absolute(path).ok() } else { None };
        step =
            step.arg(absolute.map_or_else(|| argument.clone(), |path| path.display().to_string()));
    }
    step.run()
}
