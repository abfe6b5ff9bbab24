//! The atomics that [`crate::raw_spin`] is built of: std's, or those of the model checker under `--cfg loom`.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::AtomicBool;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::AtomicBool;
pub(crate) use std::sync::atomic::Ordering;
