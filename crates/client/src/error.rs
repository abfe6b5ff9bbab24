//! What ends a connection, or keeps it from beginning.

use std::fmt;
use std::io;

/// Why there is no connection, or none any more.
#[derive(Debug)]
pub enum ClientError {
    /// The address makes no sense.
    Address(String),
    /// The socket.
    Io(io::Error),
    /// TLS: the certificate is not trusted, say.
    Tls(String),
    /// What the server sent is no TDS.
    Protocol(String),
    /// The server refused the login; its messages.
    Refused(String),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Address(what) => f.write_str(what),
            ClientError::Io(error) => write!(f, "the connection: {error}"),
            ClientError::Tls(what) => write!(f, "TLS: {what}"),
            ClientError::Protocol(what) => write!(f, "the server does not speak TDS: {what}"),
            ClientError::Refused(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> ClientError {
        ClientError::Io(error)
    }
}

impl From<tds::ProtocolError> for ClientError {
    fn from(error: tds::ProtocolError) -> ClientError {
        ClientError::Protocol(error.to_string())
    }
}

impl From<rustls::Error> for ClientError {
    fn from(error: rustls::Error) -> ClientError {
        ClientError::Tls(error.to_string())
    }
}
