//! The other end of the line: requests out, tokens in.
//!
//! For the shell, the lab and the tests. A client reads with a [`Framer`](crate::Framer) in
//! [`Phase::Client`](crate::Phase::Client), gives the packets' data to a [`TokenReader`], and sends what a
//! [`RequestWriter`] has written.

mod request_writer;
mod token_reader;

pub use request_writer::RequestWriter;
pub use token_reader::{
    Change, ColumnInfo, LoginAck, ReturnedValue, ServerMessage, Token, TokenReader,
};

#[cfg(test)]
mod tests;
