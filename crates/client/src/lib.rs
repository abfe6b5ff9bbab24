//! The other end of the wire: connections to Millrace or any SQL Server, for the shell and the lab.
//!
//! Promise: a [`Connection`] signs in by SQL authentication, runs batches and calls one at a time, and tells everything
//! that the server says to a [`ResultSink`](executor::ResultSink), as an embedded session does. A server that breaks
//! the protocol, or the connection, is a [`ClientError`] and ends it; an error of T-SQL is told to the sink and does not.
//!
//! It waits wherever its [`Wire`] waits: a plain thread on a blocking socket, or a task on its scheduler's reactor.
//!
//! Knows nothing of what is asked, nor of experiments. No connection pool, no cancellation.
#![forbid(unsafe_code)]

mod address;
mod connection;
mod error;
mod trust;
mod wire;

pub use address::{Address, Encrypt};
pub use connection::{Connection, Prepared};
pub use error::ClientError;
pub use wire::Wire;

#[cfg(test)]
mod tests;
