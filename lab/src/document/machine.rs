//! The machine a run was measured on.

use serde::{Deserialize, Serialize};

/// What the figures depend on. A field that the machine does not tell is empty or null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub cpu_model: String,
    /// That this process may run on.
    pub cpus: usize,
    /// Cores that those are threads of; packages that those are in.
    pub cores: usize,
    pub packages: usize,
    pub nodes: Vec<Node>,
    /// CPUs' worth of time that the control group allows, where it says so.
    pub quota_cpus: Option<f64>,
    pub memory_bytes: u64,
    /// Name and release.
    pub kernel: String,
    pub architecture: String,
    /// The frequency governor; empty in most virtual machines.
    pub governor: String,
    pub clock_source: String,
    pub virtual_machine: bool,
    pub transparent_huge_pages: String,
    /// Where the data folder lies.
    pub device: Device,
    /// 1, 5 and 15 minutes, when the run began: what else was running.
    pub load_average: [f64; 3],
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    pub id: usize,
    pub cpus: Vec<usize>,
    pub memory_bytes: u64,
    /// To each node, as the firmware tells it (10 is local).
    pub distances: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// The data folder.
    pub folder: String,
    pub file_system: String,
    /// The mount's source: a device, or whatever stands there.
    pub source: String,
    pub mount_options: String,
    /// `none`, `mq-deadline` ...; empty when the source is no block device of this machine.
    pub io_scheduler: String,
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    pub write_cache: String,
}
