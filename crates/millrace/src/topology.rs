//! `millrace topology`: the machine, as tables.

use std::fmt::Write;
use std::process::ExitCode;
use topology::Topology;

#[derive(clap::Args)]
pub struct Args {
    /// Read a folder in the shape of / (with sys/ in it) instead of this machine.
    #[arg(long, value_name = "DIR")]
    root: Option<std::path::PathBuf>,
}

pub fn run(args: Args) -> ExitCode {
    let found = match &args.root {
        Some(root) => Topology::from_sysfs(root),
        None => Topology::discover(),
    };
    match found {
        Ok(topology) => {
            print!("{}", render(&topology));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: the machine cannot be read: {error}");
            ExitCode::FAILURE
        }
    }
}

fn render(t: &Topology) -> String {
    let mut out = String::new();
    if let Some(model) = &t.model_name {
        let _ = writeln!(out, "processor: {model}");
    }
    let quota = t.quota_cpus.map(|quota| format!("{quota} CPUs' worth of time"));
    let _ = writeln!(out, "control group: {}", quota.as_deref().unwrap_or("no limit"));
    let _ = writeln!(out, "\n{:>4}  {:>4}  {:>4}  {:>7}", "CPU", "node", "core", "package");
    for c in &t.cpus {
        let _ = writeln!(out, "{:>4}  {:>4}  {:>4}  {:>7}", c.id, c.node, c.core, c.package);
    }
    let _ = writeln!(out, "\n{:>4}  {:>10}  {:24}  distances", "node", "memory MiB", "CPUs");
    for n in &t.nodes {
        let cpus: Vec<_> = n.cpus.iter().map(|c| c.to_string()).collect();
        let distances: Vec<_> = n.distances.iter().map(|d| d.to_string()).collect();
        let _ = writeln!(
            out,
            "{:>4}  {:>10}  {:24}  {}",
            n.id,
            n.memory_bytes >> 20,
            cpus.join(","),
            distances.join(" ")
        );
    }
    out
}
