//! The door: whoever knocks in TDS, and knows a password, gets a session.
//!
//! ```text
//! listener -> connection -> login -> request -> session
//!                 |  io (TLS)          sink  <- results
//!              reactor
//! ```
//!
//! With MARS, several streams of requests come in one connection (`mars`); one session serves them in turn.
//!
//! It promises: a connection holds no task while it has nothing to say, and a few kilobytes; a request that the client
//! gives up, or whose client is gone, stops within 100 ms wherever it waits; a client that does not read makes its own
//! session wait and nobody else's; what comes from strangers (garbage, half a message, too much, too slowly, nothing at
//! all) costs them their connection and the others nothing; off loopback nothing is said in the clear.
//!
//! It knows nothing of T-SQL, of the bytes of TDS (`tds` does) or of how a password is kept.
#![forbid(unsafe_code)]

mod bulk;
mod certificate;
mod connection;
mod endpoint;
mod io;
mod limits;
mod listener;
mod login;
mod mars;
mod recovery;
mod request;
mod server;
mod sink;
mod validity;

pub use certificate::{CertificateError, Origin};
pub use endpoint::{Endpoint, overlap};
pub use limits::Limits;
pub use server::{Config, Server, StartError};
