//! A model of the engine's contention points, for machines that are not at hand: post figures beside it, as modelled.
//!
//! [`machine`] is what runs ('2x10@2.3', or a copy of a machine's /sys), [`simulation`] what happens on it, event by
//! event: the log's tail or its spinlock with back-off, lanes, the queue of flushes, the device, schedulers, cache lines
//! that cost more the farther they come. [`experiment`] measures the parameters here, by micro-benchmarks and two
//! calibration cells of one session each; nothing is fitted to what is predicted. It is then held against cells that it
//! has not seen, and against the posts.

mod experiment;
mod machine;
mod posts;
mod simulation;

pub use experiment::Predict;
pub use machine::Machine;
pub use simulation::{Load, Outcome, Parameters, Reserve, Writer, simulate};
