//! Concurrent transactions, driven in process: a [`Stage`] with one [`Session`](session::Session) per actor, steps that
//! block or do not, and histories under load with a checker of their anomalies.
//!
//! Promise: a step is called blocked only when its session stands in the lock manager's list of waiters; nothing here
//! guesses by time.

#![forbid(unsafe_code)]

pub mod history;
pub mod schedule;
pub mod stage;
pub mod tables;

pub use schedule::{Run, Scenario, Step};
pub use stage::{Actor, Answer, Level, Stage, Stepped};
pub use tables::Tables;
