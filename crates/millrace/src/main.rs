//! The binary: one word says what to do. Each subcommand has a file of its own; this one only sends there.
#![forbid(unsafe_code)]

mod doctor;
mod lab;
mod log;
mod password;
mod serve;
mod sql;
mod switches;
mod topology;

use clap::{Parser, Subcommand};
use std::alloc::System;
use std::process::ExitCode;

/// Counts what every session takes: see `runtime::memory`.
#[global_allocator]
static MEMORY: runtime::memory::Counting<System> = runtime::memory::Counting(System);

/// An OLTP engine that speaks T-SQL, and a lab that shows where every cycle goes.
#[derive(Parser)]
#[command(name = "millrace", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The server: T-SQL for SQL Server's clients.
    Serve(serve::Args),
    /// A T-SQL shell, on an embedded engine.
    Sql(sql::Args),
    /// Experiments: list them, run them.
    Lab(lab::Args),
    /// CPUs, nodes and memory of this machine.
    Topology(topology::Args),
    /// What this machine can and cannot measure, and why.
    Doctor(doctor::Args),
}

fn main() -> ExitCode {
    runtime::memory::settle();
    match Cli::parse().command {
        Command::Serve(args) => serve::run(args),
        Command::Sql(args) => sql::run(args),
        Command::Lab(args) => lab::run(args),
        Command::Topology(args) => topology::run(args),
        Command::Doctor(args) => doctor::run(args),
    }
}
