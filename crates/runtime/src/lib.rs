//! The one door to threads, clock, randomness, waiting and sockets.
//!
//! Everything above asks here for the time, for random bytes and for a wait, so that the same code
//! runs on coroutines, on plain OS threads, and on one simulated thread from one seed ([`sim`]).
//!
//! Knows nothing of databases or files, nor of who schedules: a scheduler installs itself by
//! [`task::install_hooks`].

#[cfg_attr(loom, allow(dead_code, reason = "only the lock is built for the model checker"))]
mod raw_spin;
mod sync;

// Under loom only the lock above is built.
#[cfg(not(loom))]
pub mod backoff;
#[cfg(not(loom))]
pub mod chunks;
#[cfg(not(loom))]
pub mod clock;
#[cfg(not(loom))]
pub mod memory;
#[cfg(not(loom))]
pub mod net;
#[cfg(not(loom))]
pub mod numa;
#[cfg(not(loom))]
pub mod pages;
#[cfg(not(loom))]
pub mod random;
#[cfg(not(loom))]
pub mod shortage;
#[cfg(not(loom))]
pub mod signals;
#[cfg(not(loom))]
pub mod sim;
#[cfg(not(loom))]
pub mod spin;
#[cfg(not(loom))]
pub mod task;
#[cfg(not(loom))]
pub mod threads;
#[cfg(not(loom))]
pub mod workers;

#[cfg(all(test, not(loom)))]
mod tests;
