//! Experiments about where the sessions run and where memory lies: posts 1, 2, 3 and 5.

mod numa_sweep;
mod one_node;
mod parallel_insert;
mod remote_memory;
mod shards;
mod sockets;

pub use numa_sweep::NumaSweep;
pub use parallel_insert::ParallelInsert;
pub use remote_memory::RemoteMemory;
pub use shards::Shards;
pub use sockets::Sockets;

use crate::bench::Bench;
use crate::error::LabError;
use topology::{Cpu, Topology};

/// What a setting of these experiments is called in a cell.
const ARM: &str = "placement";

/// The CPUs that the run may use, node by node, ascending.
fn nodes(bench: &Bench<'_>) -> Result<Vec<Vec<Cpu>>, LabError> {
    let machine = Topology::machine()
        .ok_or_else(|| LabError::Options("the system does not tell its CPUs".to_owned()))?;
    let chosen = &bench.settings().cpus;
    let mut all: Vec<Vec<Cpu>> = Vec::new();
    for node in &machine.nodes {
        let own =
            machine.cpus_of(node.id).filter(|cpu| chosen.is_empty() || chosen.contains(&cpu.id));
        let own: Vec<Cpu> = own.cloned().collect();
        if !own.is_empty() {
            all.push(own);
        }
    }
    Ok(all)
}

fn ids(cpus: &[Cpu]) -> Vec<usize> {
    cpus.iter().map(|cpu| cpu.id).collect()
}

/// Values of an own option, or its default.
fn values(bench: &Bench<'_>, name: &str, default: &str) -> Vec<String> {
    let given = bench.settings().own.get(name).cloned();
    given.unwrap_or_else(|| default.split(',').map(str::to_owned).collect())
}

/// The same as numbers from 1 on.
fn numbers(bench: &Bench<'_>, name: &str, default: &str) -> Result<Vec<u64>, LabError> {
    let number = |text: String| match text.parse::<u64>() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(LabError::Options(format!("{name} takes numbers from 1 on, and not {text}"))),
    };
    values(bench, name, default).into_iter().map(number).collect()
}
