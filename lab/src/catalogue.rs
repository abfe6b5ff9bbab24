//! The experiments by name. It knows them all, and none of them knows it.

use crate::checked::{SelfChecking, Which};
use crate::experiment::Experiment;

/// Every experiment there is, in the order of `lab list`.
pub static EXPERIMENTS: &[&dyn Experiment] = &[
    &crate::singleton_insert::SingletonInsert,
    &crate::commit_batch::CommitBatch,
    &crate::writelog::Writelog,
    &crate::native_insert::NativeInsert,
    &crate::memory_optimised::MemoryOptimised,
    &crate::log_writer_placement::LogWriterPlacement,
    &crate::placement::NumaSweep,
    &crate::placement::Sockets,
    &crate::placement::Shards,
    &crate::placement::RemoteMemory,
    &crate::placement::ParallelInsert,
    &crate::model::Predict,
    &crate::log_device::LogDevice,
    &crate::point_read::PointRead,
    &SelfChecking(Which::Bank),
    &SelfChecking(Which::Queue),
    &SelfChecking(Which::ListAppend),
    &SelfChecking(Which::Ledger),
];

/// The experiment of that name.
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    EXPERIMENTS.iter().copied().find(|experiment| experiment.name() == name)
}
