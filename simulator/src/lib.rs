//! Crash states tried on a simulated device, against a model.
//!
//! Promise: a case is a number. The same number runs the same sessions, in the same order, on the same simulated
//! device, loses power at the same moment and finds the same disk afterwards, so what went wrong once goes wrong
//! again under a debugger. What is checked is in [`crash`] (loss of power) and
//! [`bitflip`] (bits that change).
//!
//! Knows the engine only through its front door.

#![forbid(unsafe_code)]

pub mod bitflip;
pub mod crash;
