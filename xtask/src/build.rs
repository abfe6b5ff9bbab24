//! Which build of the programs a check runs.
//!
//! `cargo xtask test` runs the dev build throughout: its optimised code is what the unit tests were linked of, so that
//! nothing is compiled twice, and overflow checks and debug assertions are on while processes are killed and disks
//! fail. The deeper commands run the release build, which is what users have.

use std::path::PathBuf;

use crate::run::{Failure, cargo, target_directory};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    Dev,
    Release,
}

/// The option of the commands that run one of our programs.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Choice {
    /// The dev build, not the release build.
    #[arg(long)]
    dev: bool,
}

impl From<Choice> for Build {
    fn from(choice: Choice) -> Build {
        Build::release_if(!choice.dev)
    }
}

impl Build {
    /// The release build if it is asked for.
    pub fn release_if(release: bool) -> Build {
        if release { Build::Release } else { Build::Dev }
    }

    /// The server and the lab, built.
    pub fn millrace(self) -> Result<PathBuf, Failure> {
        self.binary("millrace", "millrace")
    }

    /// A binary of a package, built.
    pub fn binary(self, package: &str, name: &str) -> Result<PathBuf, Failure> {
        self.make(package, ["--bin", name])?;
        Ok(self.folder().join(name))
    }

    /// An example of a package, built.
    pub fn example(self, package: &str, name: &str) -> Result<PathBuf, Failure> {
        self.make(package, ["--example", name])?;
        Ok(self.folder().join("examples").join(name))
    }

    /// The dev build has the workspace's choice of features: so what the tests were built of is taken.
    fn make(self, package: &str, target: [&str; 2]) -> Result<(), Failure> {
        let whose = match self {
            Build::Dev => ["--workspace", "--profile", "dev"].to_vec(),
            Build::Release => ["--package", package, "--profile", "release"].to_vec(),
        };
        let promise = format!("the {} build of {}", self.name(), target[1]);
        cargo(&promise, &["build", "--quiet"]).args(whose).args(target).run()
    }

    fn folder(self) -> PathBuf {
        target_directory().join(match self {
            Build::Dev => "debug",
            Build::Release => "release",
        })
    }

    fn name(self) -> &'static str {
        match self {
            Build::Dev => "dev",
            Build::Release => "release",
        }
    }
}
