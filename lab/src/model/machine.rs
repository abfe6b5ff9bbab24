//! The machine of the model: logical CPUs by core and node, and how far nodes are from each other.

use std::path::Path;
use topology::Topology;

/// Where a logical CPU is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    pub core: usize,
    pub node: usize,
}

/// See the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub name: String,
    pub cpus: Vec<Cpu>,
    /// From node to node, 1 within one.
    pub distances: Vec<Vec<f64>>,
    /// Of its clock, where it was said.
    pub ghz: Option<f64>,
    /// A cache line from core to core within a node, in nanoseconds, where somebody has measured such a machine.
    pub line_ns: Option<f64>,
}

/// ACPI's for another socket, where nothing else is known, over that of the node itself.
const FAR: f64 = 2.1;

impl Machine {
    /// `SOCKETSxCORES[xTHREADS][@GHZ]`, or a folder with a machine's `sys/`.
    pub fn parse(text: &str) -> Result<Machine, String> {
        if Path::new(text).join("sys").is_dir() {
            let topology =
                Topology::from_sysfs(Path::new(text)).map_err(|e| format!("{text}: {e}"))?;
            return Ok(Machine::of(&topology, text));
        }
        let refuse = || {
            format!(
                "{text} is no machine: give a folder with a copy of /sys, or SOCKETSxCORES[xTHREADS][@GHZ], as 2x10@2.3"
            )
        };
        let (shape, ghz) = match text.split_once('@') {
            Some((shape, ghz)) => {
                let ghz = ghz.parse::<f64>().ok().filter(|ghz| (0.1..=20.0).contains(ghz));
                (shape, Some(ghz.ok_or_else(refuse)?))
            }
            None => (text, None),
        };
        let numbers: Vec<usize> =
            shape.split('x').map(|n| n.parse().map_err(|_| refuse())).collect::<Result<_, _>>()?;
        let (sockets, cores, threads) = match numbers[..] {
            [sockets, cores] => (sockets, cores, 1),
            [sockets, cores, threads] => (sockets, cores, threads),
            _ => return Err(refuse()),
        };
        if sockets == 0 || cores == 0 || threads == 0 || sockets * cores * threads > 4096 {
            return Err(refuse());
        }
        let cpu = |i: usize| Cpu { core: i / threads, node: i / (cores * threads) };
        let far = |a: usize, b: usize| if a == b { 1.0 } else { FAR };
        Ok(Machine {
            name: text.to_owned(),
            cpus: (0..sockets * cores * threads).map(cpu).collect(),
            distances: (0..sockets).map(|a| (0..sockets).map(|b| far(a, b)).collect()).collect(),
            ghz,
            line_ns: None,
        })
    }

    /// With what a line takes from core to core, within a node and from another, in nanoseconds.
    pub fn with_lines(mut self, near_ns: f64, far_ns: f64) -> Machine {
        let far = |(a, b): (usize, usize)| if a == b { 1.0 } else { far_ns / near_ns };
        let nodes = self.distances.len();
        self.distances = (0..nodes).map(|a| (0..nodes).map(|b| far((a, b))).collect()).collect();
        self.line_ns = Some(near_ns);
        self
    }

    /// The same of what the kernel says.
    pub fn of(topology: &Topology, name: &str) -> Machine {
        let place = |node: usize| topology.nodes.iter().position(|n| n.id == node).unwrap_or(0);
        let mut cores: Vec<(usize, usize)> = Vec::new();
        let cpus = topology.cpus.iter().map(|cpu| {
            let key = (cpu.package, cpu.core);
            let core = cores.iter().position(|known| *known == key).unwrap_or_else(|| {
                cores.push(key);
                cores.len() - 1
            });
            Cpu { core, node: place(cpu.node) }
        });
        Machine {
            name: name.to_owned(),
            cpus: cpus.collect(),
            distances: topology
                .nodes
                .iter()
                .map(|node| node.distances.iter().map(|d| f64::from(*d) / 10.0).collect())
                .collect(),
            ghz: None,
            line_ns: None,
        }
    }

    /// Between two CPUs: 0 on one core, 1 within a node.
    pub fn distance(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (self.cpus[a], self.cpus[b]);
        if a.core == b.core {
            return 0.0;
        }
        let known = self.distances.get(a.node).and_then(|row| row.get(b.node));
        known.copied().unwrap_or(1.0).max(1.0)
    }

    /// Physical cores.
    pub fn cores(&self) -> usize {
        self.cpus.iter().map(|cpu| cpu.core + 1).max().unwrap_or(0)
    }

    /// CPUs of a node.
    pub fn cpus_of(&self, node: usize) -> Vec<usize> {
        (0..self.cpus.len()).filter(|cpu| self.cpus[*cpu].node == node).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_spelt() {
        let two = Machine::parse("2x10x2@2.3").expect("a machine");
        assert_eq!((two.cpus.len(), two.ghz), (40, Some(2.3)));
        assert_eq!((two.distance(0, 1), two.distance(0, 2), two.distance(0, 20)), (0.0, 1.0, FAR));
        assert_eq!(two.cpus_of(1), (20..40).collect::<Vec<_>>());
        assert_eq!(Machine::parse("1x2").expect("a machine").ghz, None);
        let measured = two.with_lines(40.0, 100.0);
        assert_eq!((measured.distance(0, 2), measured.distance(0, 20)), (1.0, 2.5));
        assert_eq!(measured.line_ns, Some(40.0));
        for wrong in ["", "x", "2", "0x4", "2x10@", "2x10@fast", "2x10x2x2", "99x99x99", "2x-1"] {
            assert!(Machine::parse(wrong).is_err(), "{wrong}");
        }
    }
}
