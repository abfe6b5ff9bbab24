//! What the lab's rivals have in common, whichever database it is.
//!
//! Promises:
//! - A server that is started here has a folder and a port of its own, listens on the loopback address only, is never
//!   run as root, dies with the process that started it, and is stopped by its own id ([`ServerProcess`]).
//! - Every session is one thread with one connection of its own; all begin together ([`Crew`]).
//! - Waits keep the rival's own names; beside each stands a [`WaitClass`], the same for every database.
//! - What cannot be done is a [`RivalError`]: what was wrong, and what to do.
//!
//! Knows nothing of any one database, nothing of the lab, and nothing of Millrace but its drawer of small things (`stdx`).
#![forbid(unsafe_code)]

mod crew;
mod error;
mod kind;
mod latency;
mod place;
mod process;
mod procfs;
mod rival;
mod sample;
mod wait;

pub use crew::Crew;
pub use error::RivalError;
pub use kind::{Made, RivalKind};
pub use latency::LatencySnapshot;
pub use place::{
    Account, Folder, Options, find_program, free_port, memory_bytes, program_version,
    random_password,
};
pub use process::{Launch, ServerProcess};
pub use procfs::{ThreadState, own_cpu_s, process_switches, thread_state};
pub use rival::{
    Connect, Job, Rival, Session, Settings, Start, Statistics, Work, read_seed, session_key,
};
pub use sample::{Look, Sampler, WaitTotals};
pub use wait::{ON_CPU, WaitClass, WaitTotal};
#[cfg(test)]
mod tests;
