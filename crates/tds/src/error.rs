//! What can be wrong with a stream of bytes, with SQL Server's number and text.
//!
//! Invariant: an error of framing or login ends the connection ([`ProtocolError::is_fatal`]); an error inside
//! the parameters of a well-framed request ends the request only.

use runtime::task::Stopped;
use std::fmt;

/// Why bytes are not a message of this protocol, or are one that is not spoken here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// 17836: a packet header with a length outside 8 to 32,767, or a message beyond its limit.
    PacketLength { length: usize, limit: usize },
    /// 17832 before login, 4002 after: a packet of a type that does not belong here.
    PacketType { found: u8, login: bool },
    /// 17832: the login or prelogin message contradicts itself.
    Login { what: &'static str },
    /// 4002: a message ends in the middle of something.
    Truncated { what: &'static str },
    /// 4002: a message says something that cannot be.
    Malformed { what: &'static str },
    /// 8009: a type token that is not one.
    UnknownType { token: u8 },
    /// 8016: a length or other metadata that the type cannot have.
    BadTypeInfo { token: u8 },
    /// 8023: a value that is not one of its type.
    BadValue { ty: &'static str },
    /// 8003: more than 2,100 parameters.
    TooManyParameters,
    /// 8018..8057, kept as 8057 here: a table-valued parameter that contradicts itself.
    BadTable { what: &'static str },
    /// 4804, 4815, 4816: a bulk load row that ends early, or has a bad length or type.
    BulkRow { column: u16, what: &'static str },
    /// 40510: a part of the protocol that SQL Server has and this server does not speak.
    NotSupported { what: &'static str },
    /// 40510: characters in a code page that is not spoken here, by its locale.
    CodePage { locale: u32 },
    /// 701: what the message says takes more memory than there is.
    NoMemory,
}

impl ProtocolError {
    /// SQL Server's message number.
    pub fn number(&self) -> i32 {
        match self {
            ProtocolError::PacketLength { .. } => 17836,
            ProtocolError::PacketType { login: true, .. } | ProtocolError::Login { .. } => 17832,
            ProtocolError::PacketType { .. }
            | ProtocolError::Truncated { .. }
            | ProtocolError::Malformed { .. } => 4002,
            ProtocolError::UnknownType { .. } => 8009,
            ProtocolError::BadTypeInfo { .. } => 8016,
            ProtocolError::BadValue { .. } => 8023,
            ProtocolError::TooManyParameters => 8003,
            ProtocolError::NoMemory => 701,
            ProtocolError::BadTable { .. } => 8057,
            ProtocolError::BulkRow { column: 0, .. } => 4804,
            ProtocolError::BulkRow { .. } => 4815,
            ProtocolError::NotSupported { .. } | ProtocolError::CodePage { .. } => 40510,
        }
    }

    /// SQL Server's severity.
    pub fn severity(&self) -> u8 {
        match self {
            ProtocolError::NoMemory => 17,
            _ if self.is_fatal() => 20,
            _ => 16,
        }
    }

    /// Whether the connection cannot go on: where the next message starts, or who speaks, is unknown.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            ProtocolError::PacketLength { .. }
                | ProtocolError::PacketType { .. }
                | ProtocolError::Login { .. }
        )
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const STREAM: &str = "The incoming tabular data stream (TDS) protocol stream is incorrect.";
        const RPC: &str = "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol \
                           stream is incorrect.";
        match self {
            ProtocolError::PacketLength { length, limit } => write!(
                f,
                "Length specified in network packet payload did not match number of bytes read; the \
                 connection has been closed. ({length} bytes, the limit is {limit}.)"
            ),
            ProtocolError::PacketType { found, login: true } => write!(
                f,
                "The login packet used to open the connection is structurally invalid; the connection \
                 has been closed. (Packet type 0x{found:02X}.)"
            ),
            ProtocolError::Login { what } => write!(
                f,
                "The login packet used to open the connection is structurally invalid; the connection \
                 has been closed. ({what}.)"
            ),
            ProtocolError::PacketType { found, .. } => {
                write!(f, "{STREAM} Packet type 0x{found:02X} is not expected.")
            }
            ProtocolError::Truncated { what } => {
                write!(f, "{STREAM} The stream ended unexpectedly. ({what}.)")
            }
            ProtocolError::Malformed { what } => write!(f, "{STREAM} ({what}.)"),
            ProtocolError::UnknownType { token } => {
                write!(f, "{RPC} Data type 0x{token:02X} is unknown.")
            }
            ProtocolError::BadTypeInfo { token } => write!(
                f,
                "{RPC} Data type 0x{token:02X} has an invalid data length or metadata length."
            ),
            ProtocolError::BadValue { ty } => write!(
                f,
                "{RPC} The supplied value is not a valid instance of data type {ty}. Check the source \
                 data for invalid values. An example of an invalid value is data of numeric type with \
                 scale greater than precision."
            ),
            ProtocolError::NoMemory => Stopped::NoMemory.fmt(f),
            ProtocolError::TooManyParameters => f.write_str(
                "The incoming request has too many parameters. The server supports a maximum of 2100 \
                 parameters. Reduce the number of parameters and resend the request.",
            ),
            ProtocolError::BadTable { what } => {
                write!(f, "{RPC} Table-valued parameter: {what}.")
            }
            ProtocolError::BulkRow { column: 0, .. } => f.write_str(
                "While reading current row from host, a premature end-of-message was encountered--an \
                 incoming data stream was interrupted when the server expected to see more data. The \
                 host program may have terminated.",
            ),
            ProtocolError::BulkRow { column, what } => write!(
                f,
                "Received an invalid column length from the bcp client for colid {column}. ({what}.)"
            ),
            ProtocolError::NotSupported { what } => {
                write!(f, "{what} is not supported in this version.")
            }
            ProtocolError::CodePage { locale } => write!(
                f,
                "Characters of the collation with locale 0x{locale:04X} are not supported in this \
                 version; send Unicode."
            ),
        }
    }
}

impl std::error::Error for ProtocolError {}
