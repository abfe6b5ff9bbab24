//! Machine code for programs over typed registers.
//!
//! A [`Program`] is a list of [`Step`]s over a frame of values, as the interpreter runs it: a step is arithmetic,
//! comparison or a jump over integers, bits and floats, which becomes machine code ([`compile`], by Cranelift), or
//! something that the [`Host`] does, which becomes a call to it. The machine code keeps numbers in registers of the
//! processor and writes each to the frame when it changes, so that between two steps the frame is what the interpreter
//! would have made of it.
//!
//! Promises: whatever does not go the usual way (an overflow, a division by zero, a value of another kind than its
//! register's) changes nothing and is left to the host: machine code ends at that step, and the host does it and says
//! what an error is. Memory with code is never writable and executable at once. Machine code holds a frame of a few
//! hundred bytes and calls nothing but the host; a host's panic waits until the machine code has returned. A loop asks
//! the host each [`Program::turns`] turns whether it may go on.
//!
//! Knows nothing of T-SQL's statements, of sessions and tables.

#![deny(unsafe_op_in_unsafe_fn)]
// `unsafe` is in `run` (calls into and out of machine code, its memory) and `layout` (the tag of a value): see there.

mod emit;
mod layout;
mod perf;
mod program;
mod run;
#[cfg(test)]
mod tests;

pub use emit::compile;
pub use program::{Arith, Compare, Family, Kind, Operand, Program, Step, Unavailable, Writes};
pub use run::{Compiled, Exit, Host};
