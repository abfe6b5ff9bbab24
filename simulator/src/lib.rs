//! Crash states tried on a simulated device, against a model; and whole worlds, wire to device.
//!
//! Promise: a case is a number. The same number runs the same sessions, in the same order, on the same simulated
//! device, loses power at the same moment and finds the same disk afterwards, so what went wrong once goes wrong
//! again under a debugger. What is checked is in [`crash`] (loss of power) and
//! [`bitflip`] (bits that change), by sessions on the engine; and in [`world`], by clients of the whole server, with a
//! network and a clock that fail as well.
//!
//! Knows the engine, and the server, only through their front doors.

#![forbid(unsafe_code)]

pub mod bitflip;
pub mod crash;
#[cfg(debug_assertions)]
mod planted;
pub mod world;
