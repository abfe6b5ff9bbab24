//! A model of the engine's contention points, for machines that are not at hand: post figures beside it, as modelled.
//!
//! [`machine`] is what runs ('2x10@2.3', or a copy of a machine's /sys), [`simulation`] what happens on it, event by
//! event: the log's tail or its spinlock with back-off ([`line`]), lanes, the queue of flushes ([`log`]), the device
//! ([`flush_times`]), schedulers, cache lines that cost more the farther they come. [`experiment`] measures the parameters
//! here, by micro-benchmarks ([`costs`], [`flush_times`]) and calibration cells of one session each ([`calibration`]);
//! nothing is fitted to what is predicted. It is then held against cells that it has not seen ([`judged`]), and against the
//! posts ([`posts`]).

mod calibration;
mod costs;
mod experiment;
mod flush_times;
mod judged;
mod line;
mod log;
mod machine;
mod parameters;
mod posts;
mod quiet;
mod simulation;

pub use experiment::Predict;
pub use flush_times::FlushTimes;
pub use machine::Machine;
pub use parameters::{Load, Outcome, Parameters, Piece, Reserve, Writer};
pub use simulation::simulate;
