//! `millrace lab ledger`: the load of the kill test.

use ::lab::ledger::{self, Load, Tables};
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
    /// disk, memory, mixed (one row of a transaction each): where the rows go. Else a third of the sessions each.
    #[arg(long)]
    tables: Option<Tables>,
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
            let Args { sessions, cycle, transactions, tables, .. } = *args;
            ledger::run(config, Load { sessions, cycle, transactions, tables })
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
