//! `millrace lab ledger`: the load of the kill test.

use ::lab::ledger;
use device::{IoMode, RealFs};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    /// The data folder, kept from run to run.
    #[arg(long)]
    data: PathBuf,
    #[arg(long, default_value_t = 8)]
    sessions: u32,
    /// Goes into every row, so that runs can be told apart.
    #[arg(long, default_value_t = 1)]
    cycle: u32,
    /// End after so many transactions a session.
    #[arg(long)]
    transactions: Option<u64>,
    /// Print the rows instead.
    #[arg(long)]
    dump: bool,
}

pub fn run(args: &Args) -> ExitCode {
    let result = RealFs::new(IoMode::Auto).map_err(|error| error.to_string()).and_then(|fs| {
        let config = ledger::config(&args.data, fs);
        if args.dump {
            ledger::dump(config)
        } else {
            ledger::run(config, args.sessions, args.cycle, args.transactions)
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
