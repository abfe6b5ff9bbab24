//! `millrace sql`: a shell on an embedded engine.

use std::process::ExitCode;

/// Run T-SQL on an embedded data folder.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the shell.
pub fn run(_args: Args) -> ExitCode {
    eprintln!("millrace sql is not built yet");
    ExitCode::FAILURE
}
