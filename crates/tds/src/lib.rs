//! Every conversation with SQL Server starts with a knock in big-endian and goes on in little-endian.
//!
//! This crate speaks the Tabular Data Stream, MS-TDS versions 7.2 to 7.4 and 8.0, as plain functions
//! from bytes to structures and back. It promises: whatever bytes come in, the answer is a structure, a
//! [`ProtocolError`] with SQL Server's number, or "more bytes, please"; never a panic, never an allocation
//! larger than what has already arrived. Rows of the common types are encoded without allocation.
//!
//! It knows nothing of sockets, TLS, clocks, sessions, SQL text or who may log in. Windows
//! authentication, federated authentication and distributed transactions are read far enough to be refused
//! by name.
//!
//! Server: [`Framer`] turns received bytes into messages; [`prelogin`], [`login7`], [`request`], [`rpc`] and
//! [`bulk`] read them; [`TokenWriter`] writes the answer. The other direction is [`client`].
#![forbid(unsafe_code)]

pub mod bulk;
mod charset;
pub mod client;
mod decode;
mod encode;
mod error;
mod framer;
#[cfg(any(debug_assertions, test))]
mod guard;
mod headers;
pub mod login7;
mod packet;
pub mod prelogin;
mod reader;
pub mod recovery;
pub mod request;
pub mod rpc;
mod smp;
mod table;
pub mod token;
mod token_writer;
mod type_info;
mod version;

pub use charset::Collation;
pub use encode::EncodeError;
pub use error::ProtocolError;
pub use framer::{Frame, Framer, Phase};
pub use headers::AllHeaders;
pub use packet::{
    HEADER_BYTES, Header, PACKET_BYTES_DEFAULT, PACKET_BYTES_MAX, PACKET_BYTES_MIN, PacketType,
    Status, negotiate_packet_size,
};
pub use smp::{SMP_FIRST_WINDOW, SMP_HEADER_BYTES, SmpHeader, SmpKind};
pub use table::{Table, TableColumn};
pub use token::{
    Column, ColumnInfo, Done, DoneKind, DoneStatus, EnvChange, Message, ReturnValue, Updatable,
};
pub use token_writer::TokenWriter;
pub use version::Version;

#[cfg(test)]
mod tests;
