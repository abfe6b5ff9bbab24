//! The atomics that [`crate::reservation`] is built of: std's, or those of the model checker under `--cfg loom`.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize};

pub(crate) use std::sync::atomic::Ordering;
