//! Sockets that never block, and the reactors that say when one is worth trying again.
//!
//! A [`Reactor`] belongs to one scheduler, which polls it in its turns and sleeps in it. A [`Source`]
//! registered there is told on that scheduler's thread, between two tasks, that its socket has become
//! readable or writable: an edge, told once. So the rule for whoever reads:
//!
//! 1. A read that fills less than the buffer it was given has emptied the socket; the next byte to
//!    arrive is a new edge. (So a request costs one read, not a second one to hear "would block".)
//! 2. A write that was cut short is followed by an edge when there is room again.
//! 3. Registering tells the readiness of that moment as a first edge.
//!
//! In a simulated world ([`crate::sim`]) listeners and streams are pipes in memory, reads and writes
//! are cut short by the seed, and edges come in an order that it chooses; the promises are the same.
//! [`Weather`] says what such a network does to connections: delay, resets at any byte, silence.
//!
//! Knows nothing of protocols, encryption or tasks.

mod blocking;
mod epoll;
mod reactor;
mod simulated;
mod stream;

pub use blocking::Waiting;
pub use epoll::Epoll;
pub use reactor::{Reactor, Ready, Source, Token, current, install};
pub(crate) use simulated::forget as forget_sim_network;
pub use simulated::{Weather, reset_all, set_weather};
pub use stream::{Listener, Stream};

#[cfg(test)]
mod tests;
