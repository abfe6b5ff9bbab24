//! The one door to threads, clock, randomness, waiting and sockets.
//!
//! Everything above asks here for the time, for random bytes and for a wait, so that the same code
//! runs on coroutines, on plain OS threads, and on one simulated thread from one seed ([`sim`]).
//!
//! Knows nothing of databases or files, nor of who schedules: a scheduler installs itself by
//! [`task::install_hooks`].

pub mod backoff;
pub mod clock;
pub mod net;
pub mod random;
pub mod signals;
pub mod sim;
pub mod spin;
pub mod task;
pub mod threads;

#[cfg(test)]
mod tests;
