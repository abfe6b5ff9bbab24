//! The latency ladder of a log's device: durable writes by size, by way of making them durable, by how many are in
//! flight, by how they reach the kernel, alone and beside the writes of a checkpoint (post 5).
//!
//! A *rung* is one combination. The plan varies one axis at a time from the engine's own way of writing its log, so it
//! stays short; every combination is run only if asked for. What the machine refuses (direct I/O, io_uring, a write
//! smaller than direct I/O allows) is told as refused and measured no further.
//!
//! Invariants:
//! 1. Time and bytes are bounded: each rung ends by its seconds, or by its share of the bytes.
//! 2. Files are removed as soon as they are open, so nothing stays, however the process ends.
//! 3. Only space that was written before is written, as in a log file: no rung pays for growth.
//!
//! Knows of the engine only its `device` and its schedulers, which carry the log's writes there too.

mod experiment;
mod files;
mod plan;
mod rung;

pub use experiment::LogDevice;
pub use plan::{Axis, plan};
pub use rung::{Latency, Rung};

use crate::LabError;
use device::{IoMode, RealFs};
use files::Files;
use runtime::clock;
use scheduler::{Config, Schedulers};
use serde::Serialize;
use std::path::PathBuf;

/// How a write is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// O_DIRECT, each write with RWF_DSYNC: what the engine's log does.
    DirectRwfDsync,
    /// O_DIRECT and O_DSYNC.
    DirectODsync,
    /// O_DIRECT, and fdatasync after each write.
    DirectFdatasync,
    /// Through the page cache, with O_DSYNC.
    CachedODsync,
    /// Through the page cache, and fdatasync after each write.
    CachedFdatasync,
    /// Through the page cache, and fsync after each write.
    CachedFsync,
    /// O_DIRECT and nothing else: not durable. What the flush costs is the difference.
    DirectVolatile,
}

impl Way {
    pub const ALL: [Way; 7] = [
        Way::DirectRwfDsync,
        Way::DirectODsync,
        Way::DirectFdatasync,
        Way::CachedODsync,
        Way::CachedFdatasync,
        Way::CachedFsync,
        Way::DirectVolatile,
    ];

    /// As the command line and the tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Way::DirectRwfDsync => "direct+rwf_dsync",
            Way::DirectODsync => "direct+o_dsync",
            Way::DirectFdatasync => "direct+fdatasync",
            Way::CachedODsync => "o_dsync",
            Way::CachedFdatasync => "fdatasync",
            Way::CachedFsync => "fsync",
            Way::DirectVolatile => "direct",
        }
    }

    pub fn is_direct(self) -> bool {
        !matches!(self, Way::CachedODsync | Way::CachedFdatasync | Way::CachedFsync)
    }

    pub fn is_durable(self) -> bool {
        self != Way::DirectVolatile
    }
}

/// How operations reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    IoUring,
    /// A pool of threads that block.
    Threads,
}

impl Carrier {
    pub const ALL: [Carrier; 2] = [Carrier::IoUring, Carrier::Threads];

    pub fn name(self) -> &'static str {
        match self {
            Carrier::IoUring => "io_uring",
            Carrier::Threads => "threads",
        }
    }

    fn mode(self) -> IoMode {
        match self {
            Carrier::IoUring => IoMode::Uring,
            Carrier::Threads => IoMode::Threads,
        }
    }
}

/// What else the device has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Beside {
    Alone,
    /// Writes like a checkpoint's in a second file of the same folder: eight in flight, a sequential 1 MiB (the
    /// double-write area), 16 scattered ones of 64 KiB, a sync, and again.
    Checkpoint,
}

impl Beside {
    pub const ALL: [Beside; 2] = [Beside::Alone, Beside::Checkpoint];

    pub fn name(self) -> &'static str {
        match self {
            Beside::Alone => "alone",
            Beside::Checkpoint => "checkpoint",
        }
    }
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// A folder on the device; a file or two of [`files::LOG_BYTES`] are made there and removed at once.
    pub data: PathBuf,
    /// Bytes of a write: 512 to 1 MiB, powers of two or multiples of 4 KiB.
    pub sizes: Vec<u64>,
    pub ways: Vec<Way>,
    /// Writes in flight: 1 to 256.
    pub depths: Vec<usize>,
    pub carriers: Vec<Carrier>,
    pub beside: Vec<Beside>,
    /// Run every combination, not one axis at a time.
    pub product: bool,
    /// Length of a rung.
    pub rung_seconds: f64,
    /// What all rungs together may write, the checkpoint's writes included.
    pub bytes_max: u64,
    /// CPUs to run on; empty: all.
    pub cpus: Vec<usize>,
}

/// 60 KiB is the largest block that SQL Server writes to its log.
pub const SIZES: [u64; 8] = [512, 4096, 8192, 16384, 61440, 65536, 262_144, 1_048_576];
pub const DEPTHS: [usize; 6] = [1, 2, 4, 8, 16, 32];

impl Default for Options {
    fn default() -> Self {
        Options {
            data: PathBuf::from("data"),
            sizes: SIZES.to_vec(),
            ways: Way::ALL.to_vec(),
            depths: DEPTHS.to_vec(),
            carriers: Carrier::ALL.to_vec(),
            beside: Beside::ALL.to_vec(),
            product: false,
            rung_seconds: 0.3,
            bytes_max: 16 << 30,
            cpus: Vec::new(),
        }
    }
}

const DEPTH_MAX: usize = 256;
const RUNGS_MAX: usize = 2_000;

impl Options {
    fn check(&self) -> Result<(), LabError> {
        let refuse = |what: String| Err(LabError::Options(what));
        let fits = |size: u64| {
            (512..=files::WRITE_BYTES_MAX).contains(&size)
                && (size.is_power_of_two() || size.is_multiple_of(4096))
        };
        if let Some(&size) = self.sizes.iter().find(|&&size| !fits(size)) {
            return refuse(format!(
                "a write of {size} bytes is not one of the ladder: 512 to 1048576 bytes, a power of two or a \
                 multiple of 4096"
            ));
        }
        if let Some(&depth) = self.depths.iter().find(|&&depth| !(1..=DEPTH_MAX).contains(&depth)) {
            return refuse(format!("{depth} writes in flight: there are 1 to {DEPTH_MAX}"));
        }
        if self.sizes.is_empty()
            || self.ways.is_empty()
            || self.depths.is_empty()
            || self.carriers.is_empty()
            || self.beside.is_empty()
        {
            return refuse("a ladder without rungs shows nothing".to_owned());
        }
        if !(0.01..=60.0).contains(&self.rung_seconds) {
            return refuse("a rung takes 0.01 to 60 seconds".to_owned());
        }
        Ok(())
    }
}

/// Runs every rung; `told` hears of each as soon as it is measured, and ends the run by returning false.
pub fn run(
    options: &Options,
    mut told: impl FnMut(usize, usize, &Rung) -> bool,
) -> Result<Vec<Rung>, LabError> {
    options.check()?;
    let axes = plan(options);
    if axes.len() > RUNGS_MAX {
        return Err(LabError::Options(format!(
            "{} combinations: a run has at most {RUNGS_MAX}",
            axes.len()
        )));
    }
    std::fs::create_dir_all(&options.data)?;
    let schedulers = Schedulers::start(Config {
        cpus: options.cpus.clone(),
        // One writes the log; the other, where there is one, has the checkpoint.
        count: Some(2),
        ..Config::default()
    })?;
    let mut files = Files::new(&options.data);
    let share = options.bytes_max / axes.len() as u64;
    let mut rungs = Vec::new();
    for (index, &axis) in axes.iter().enumerate() {
        let rung = rung::measure(&schedulers, &mut files, axis, options.rung_seconds, share)?;
        let on = told(index, axes.len(), &rung);
        rungs.push(rung);
        if !on {
            break;
        }
    }
    schedulers.stop();
    // Only if nothing else is in it.
    let _ = std::fs::remove_dir(&options.data);
    Ok(rungs)
}

/// A carrier's file system; the text says why there is none.
fn file_system(carrier: Carrier) -> Result<std::sync::Arc<RealFs>, String> {
    RealFs::new(carrier.mode()).map_err(|error| format!("the kernel refuses io_uring: {error}"))
}

/// Names files of this run apart from those of others.
fn stamp() -> String {
    format!("{}-{}", std::process::id(), clock::unix_ns() / 1_000)
}

#[cfg(test)]
mod tests;
