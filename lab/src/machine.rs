//! What the machine says of itself, for the document.
//!
//! Promise: what cannot be read is left empty; nothing here fails.

use crate::document::{Device, Machine, Node};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The machine, and the device that `data` lies (or will lie) on.
pub fn describe(data: &Path) -> Machine {
    let mine = runtime::threads::affinity();
    let topology = topology::Topology::discover().ok();
    let cpus = topology.iter().flat_map(|t| &t.cpus).filter(|cpu| mine.contains(&cpu.id));
    let cores: BTreeSet<_> = cpus.clone().map(|cpu| (cpu.package, cpu.core)).collect();
    let packages: BTreeSet<_> = cpus.map(|cpu| cpu.package).collect();
    let nodes: Vec<Node> = topology
        .iter()
        .flat_map(|t| &t.nodes)
        .map(|n| Node {
            id: n.id,
            cpus: n.cpus.clone(),
            memory_bytes: n.memory_bytes,
            distances: n.distances.clone(),
        })
        .collect();
    let cpu0 = mine.first().copied().unwrap_or(0);
    let governor = format!("/sys/devices/system/cpu/cpu{cpu0}/cpufreq/scaling_governor");
    let load = read("/proc/loadavg").unwrap_or_default();
    let mut load = load.split_whitespace().map(|word| word.parse().unwrap_or(0.0));
    Machine {
        cpu_model: topology.as_ref().and_then(|t| t.model_name.clone()).unwrap_or_default(),
        cpus: mine.len(),
        cores: cores.len(),
        packages: packages.len(),
        memory_bytes: nodes.iter().map(|n| n.memory_bytes).sum(),
        nodes,
        quota_cpus: topology.as_ref().and_then(|t| t.quota_cpus),
        kernel: format!(
            "{} {}",
            read("/proc/sys/kernel/ostype").unwrap_or_default(),
            read("/proc/sys/kernel/osrelease").unwrap_or_default()
        )
        .trim()
        .to_owned(),
        architecture: std::env::consts::ARCH.to_owned(),
        governor: read(governor).unwrap_or_default(),
        clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .unwrap_or_default(),
        virtual_machine: read("/proc/cpuinfo").is_some_and(|t| t.contains("hypervisor")),
        transparent_huge_pages: read("/sys/kernel/mm/transparent_hugepage/enabled")
            .as_deref()
            .and_then(chosen)
            .unwrap_or_default(),
        device: device(data),
        load_average: std::array::from_fn(|_| load.next().unwrap_or(0.0)),
    }
}

/// `always [madvise] never` has `madvise` chosen.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word.to_owned())
}

fn device(data: &Path) -> Device {
    let folder = existing(data);
    let mut device = Device { folder: folder.display().to_string(), ..Device::default() };
    let mounts = read("/proc/self/mountinfo").unwrap_or_default();
    let Some(mount) = mount_of(&folder, &mounts) else { return device };
    device.file_system = mount.file_system;
    device.source = mount.source;
    device.mount_options = mount.options;
    let queue = PathBuf::from("/sys/dev/block").join(&mount.number);
    // A partition has its queue in the disk's folder above it.
    let queue = fs::canonicalize(queue).ok().and_then(|at| {
        [Some(&*at), at.parent()]
            .into_iter()
            .flatten()
            .map(|at| at.join("queue"))
            .find(|q| q.exists())
    });
    if let Some(queue) = queue {
        device.io_scheduler = read(queue.join("scheduler"))
            .map(|text| chosen(&text).unwrap_or(text))
            .unwrap_or_default();
        device.rotational = read(queue.join("rotational")).map(|text| text == "1");
        device.write_cache = read(queue.join("write_cache")).unwrap_or_default();
    }
    device
}

/// The folder, or the nearest one above it that exists.
fn existing(data: &Path) -> PathBuf {
    let absolute = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
    let there = absolute.ancestors().find_map(|at| fs::canonicalize(at).ok());
    there.unwrap_or(absolute)
}

#[derive(Debug, PartialEq)]
struct Mount {
    number: String,
    file_system: String,
    source: String,
    options: String,
}

/// The mount that a folder lies on: the last of those with the longest path above it.
///
/// A line of mountinfo: `36 35 98:0 /root /mount options [optional ...] - type source super-options`.
fn mount_of(folder: &Path, mountinfo: &str) -> Option<Mount> {
    let lines = mountinfo.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let before: Vec<&str> = before.split(' ').collect();
        let after: Vec<&str> = after.split(' ').collect();
        let path = PathBuf::from(before.get(4)?.replace("\\040", " "));
        let mount = Mount {
            number: (*before.get(2)?).to_owned(),
            options: (*before.get(5)?).to_owned(),
            file_system: (*after.first()?).to_owned(),
            source: (*after.get(1)?).to_owned(),
        };
        folder.starts_with(&path).then(|| (path.as_os_str().len(), mount))
    });
    lines.max_by_key(|(length, _)| *length).map(|(_, mount)| mount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_mount_above_a_folder_is_its_own() {
        let mounts = "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                      30 22 0:25 / /tmp rw,nosuid - tmpfs tmpfs rw,size=1g\n\
                      31 22 8:17 / /data\\040x rw shared:3 - xfs /dev/sdb1 rw";
        let at = |path: &str| mount_of(Path::new(path), mounts).expect("a mount").source;
        assert_eq!(at("/home/x"), "/dev/vda");
        assert_eq!(at("/tmp/lab"), "tmpfs");
        assert_eq!(at("/tmpx"), "/dev/vda");
        assert_eq!(at("/data x/lab"), "/dev/sdb1");
        assert_eq!(mount_of(Path::new("/"), ""), None);
    }

    #[test]
    fn this_machine_has_a_cpu_and_a_kernel() {
        let machine = describe(Path::new("not/there/yet"));
        assert!(machine.cpus > 0 && !machine.architecture.is_empty());
        assert!(machine.kernel.starts_with("Linux"), "{}", machine.kernel);
        assert!(Path::new(&machine.device.folder).is_dir(), "{}", machine.device.folder);
    }

    #[test]
    fn the_chosen_word_stands_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("none"), None);
    }
}
