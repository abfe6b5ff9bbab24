//! Which CPUs an arm gets: divided by node and core, and not by number, since Linux numbers the second threads of cores
//! after all of the first ones.
//!
//! Promise: the threads of a core go to one part, wherever there are cores enough.

use std::cmp::Reverse;
use topology::{Cpu, Topology};

/// What is known of CPUs by number; one of which nothing is known is a core of node 0.
pub(crate) fn known(ids: &[usize]) -> Vec<Cpu> {
    let machine = Topology::machine();
    let unknown = |id: usize| Cpu { id, node: 0, core: id, package: 0 };
    let of = |id: &usize| machine.and_then(|m| m.cpu(*id)).cloned().unwrap_or(unknown(*id));
    ids.iter().map(of).collect()
}

/// Cores by node, package and number, each with its threads.
fn cores(cpus: &[Cpu]) -> Vec<Vec<usize>> {
    let mut all: Vec<&Cpu> = cpus.iter().collect();
    let core = |cpu: &&Cpu| (cpu.node, cpu.package, cpu.core);
    all.sort_unstable_by_key(|cpu| (core(cpu), cpu.id));
    all.chunk_by(|a, b| core(a) == core(b))
        .map(|of| of.iter().map(|cpu| cpu.id).collect())
        .collect()
}

/// As many parts as asked for, as even as they go, each with at least one CPU: of as many nodes each, where the nodes can be
/// shared out so; else of neighbouring cores; and where there are fewer cores than parts, of neighbouring threads.
///
/// # Panics
/// With more parts than CPUs, or none.
pub(crate) fn cut(cpus: &[Cpu], parts: usize) -> Vec<Vec<usize>> {
    assert!(parts > 0 && parts <= cpus.len(), "each part has a CPU");
    let mut sorted = cpus.to_vec();
    sorted.sort_by_key(|cpu| cpu.node);
    let nodes: Vec<&[Cpu]> = sorted.chunk_by(|a, b| a.node == b.node).collect();
    let each = parts / nodes.len();
    let by_node = parts.is_multiple_of(nodes.len()) && nodes.iter().all(|node| node.len() >= each);
    if by_node && nodes.len() > 1 {
        return nodes.iter().flat_map(|node| cut(node, each)).collect();
    }
    let whole = cores(cpus);
    let units = match whole.len() >= parts {
        true => whole,
        false => whole.concat().into_iter().map(|cpu| vec![cpu]).collect(),
    };
    let part = |at: usize| &units[units.len() * at / parts..units.len() * (at + 1) / parts];
    (0..parts).map(|at| ascending(part(at).concat())).collect()
}

fn ascending(mut cpus: Vec<usize>) -> Vec<usize> {
    cpus.sort_unstable();
    cpus
}

/// The cores of some CPUs, those with most threads first.
pub(crate) struct Cores(Vec<Vec<usize>>);

impl Cores {
    pub fn of(cpus: &[Cpu]) -> Cores {
        let mut all = cores(cpus);
        all.sort_by_key(|threads| Reverse(threads.len()));
        Cores(all)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Threads that each of the first `cores` has.
    pub fn threads(&self, cores: usize) -> usize {
        self.0.iter().take(cores).map(Vec::len).min().unwrap_or(0)
    }

    /// So many threads of each of the first `cores`, ascending.
    pub fn take(&self, cores: usize, threads: usize) -> Vec<usize> {
        let own = self.0.iter().take(cores).flat_map(|core| core.iter().take(threads));
        ascending(own.copied().collect())
    }
}

/// The same number of cores of both, with the same number of threads: as many as both have.
pub(crate) fn alike(a: &[Cpu], b: &[Cpu]) -> (Vec<usize>, Vec<usize>) {
    let (a, b) = (Cores::of(a), Cores::of(b));
    let cores = a.count().min(b.count());
    let threads = a.threads(cores).min(b.threads(cores));
    (a.take(cores, threads), b.take(cores, threads))
}

/// The CPUs of a machine of `crates/topology/tests/machines`, ascending.
#[cfg(test)]
pub(crate) fn fixture(machine: &str) -> Vec<Cpu> {
    let mut rows = machine.lines().skip_while(|line| !line.starts_with("socket "));
    rows.next();
    let mut all: Vec<Cpu> = rows
        .map_while(|row| {
            let words: Vec<&str> = row.split_whitespace().collect();
            let number = |at: usize| words.get(at)?.parse::<usize>().ok();
            let place = (number(0)?, number(1)?, number(2)?);
            let ids = topology::parse_cpulist(words.get(3)?)?;
            let (package, node, core) = place;
            Some(ids.into_iter().map(move |id| Cpu { id, node, core, package }))
        })
        .flatten()
        .collect();
    all.sort_unstable_by_key(|cpu| cpu.id);
    all
}

/// Post 3's machine: two sockets of ten cores, of two threads each; CPU 20 is the second thread of the core of CPU 0.
#[cfg(test)]
pub(crate) fn haswell() -> Vec<Cpu> {
    fixture(include_str!("../../crates/topology/tests/machines/haswell-2x10.txt"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use topology::format_cpulist;

    fn told(parts: &[Vec<usize>]) -> Vec<String> {
        parts.iter().map(|part| format_cpulist(part)).collect()
    }

    #[test]
    fn parts_are_nodes_then_cores_then_threads() {
        let all = haswell();
        assert_eq!((all.len(), all[39].node, all[20].core), (40, 1, 0));
        assert_eq!(told(&cut(&all, 1)), ["0-39"]);
        assert_eq!(told(&cut(&all, 2)), ["0-9,20-29", "10-19,30-39"]);
        assert_eq!(told(&cut(&all, 4)), ["0-4,20-24", "5-9,25-29", "10-14,30-34", "15-19,35-39"]);
        // Three nodes' worth of two: neighbouring cores.
        assert_eq!(told(&cut(&all, 3)), ["0-5,20-25", "6-12,26-32", "13-19,33-39"]);
        let cores = cut(&all, 20);
        assert!(cores.iter().enumerate().all(|(core, of)| *of == [core, core + 20]));
        assert_eq!(cut(&all, 40).concat().len(), 40);
    }

    #[test]
    fn every_cpu_is_in_one_part_and_no_core_in_two() {
        for (name, all) in [
            ("haswell", haswell()),
            (
                "westmere",
                fixture(include_str!("../../crates/topology/tests/machines/westmere-2x6.txt")),
            ),
            ("uneven", fixture(include_str!("../../crates/topology/tests/machines/uneven.txt"))),
        ] {
            let whole = cores(&all);
            for parts in 1..=all.len() {
                let cut = cut(&all, parts);
                assert_eq!((cut.len(), cut.iter().any(Vec::is_empty)), (parts, false), "{name}");
                let mut found = cut.concat();
                found.sort_unstable();
                assert_eq!(found, all.iter().map(|cpu| cpu.id).collect::<Vec<_>>(), "{name}");
                let is_whole = |core: &&Vec<usize>| {
                    cut.iter().any(|part| core.iter().all(|cpu| part.contains(cpu)))
                };
                if name != "uneven" && parts <= whole.len() {
                    assert_eq!(
                        whole.iter().filter(is_whole).count(),
                        whole.len(),
                        "{name} {parts}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_shard_for_each_node_also_where_nodes_are_not_even() {
        let all = fixture(include_str!("../../crates/topology/tests/machines/uneven.txt"));
        assert_eq!(told(&cut(&all, 2)), ["0-3,8-9", "4-7"]);
    }

    #[test]
    fn what_is_compared_has_as_many_cores_and_threads() {
        let all = haswell();
        // The writer's core is taken out of the second node.
        let (near, far): (Vec<Cpu>, Vec<Cpu>) =
            all.into_iter().filter(|cpu| cpu.id % 20 != 19).partition(|cpu| cpu.node == 1);
        let (near, far) = alike(&near, &far);
        assert_eq!(told(&[near, far]), ["10-18,30-38", "0-8,20-28"]);
        // One thread of a core was left out: whole cores go first.
        let part: Vec<Cpu> =
            haswell().into_iter().filter(|cpu| [0, 1, 21].contains(&cpu.id)).collect();
        assert_eq!(Cores::of(&part).take(1, 2), [1, 21]);
        assert_eq!((Cores::of(&part).threads(1), Cores::of(&part).threads(2)), (2, 1));
        assert_eq!(known(&[99_999])[0].core, 99_999);
    }
}
