//! Requests out, in packets of the negotiated size.
//!
//! Invariant: what [`RequestWriter::take`] gives is whole messages. The transaction that the server has announced
//! goes into every request's headers.

use crate::encode::EncodeError;
use crate::headers::AllHeaders;
use crate::login7::Login7;
use crate::packet::{PACKET_BYTES_DEFAULT, PacketType, Status, put_message};
use crate::prelogin::Prelogin;
use crate::request::{Batch, TransactionRequest};
use crate::rpc::Rpc;

/// Writes a client's messages.
pub struct RequestWriter {
    out: Vec<u8>,
    /// The message at hand, before it is cut into packets.
    body: Vec<u8>,
    packet_bytes: u16,
    transaction: u64,
    reset: u8,
}

impl RequestWriter {
    /// A writer of packets of 4,096 bytes.
    pub fn new() -> RequestWriter {
        RequestWriter {
            out: Vec::new(),
            body: Vec::new(),
            packet_bytes: PACKET_BYTES_DEFAULT,
            transaction: 0,
            reset: 0,
        }
    }

    /// The size that ENVCHANGE 4 announced; 512 to 32,767.
    pub fn set_packet_size(&mut self, bytes: u16) {
        assert!((crate::PACKET_BYTES_MIN..=crate::PACKET_BYTES_MAX).contains(&bytes));
        self.packet_bytes = bytes;
    }

    /// The transaction that ENVCHANGE 8 began; 0 after 9 and 10.
    pub fn set_transaction(&mut self, transaction: u64) {
        self.transaction = transaction;
    }

    /// The next request resets the session first, and leaves its transaction alone or not.
    pub fn reset_connection(&mut self, keep_transaction: bool) {
        self.reset = if keep_transaction {
            Status::RESET_CONNECTION_SKIP_TRANSACTION
        } else {
            Status::RESET_CONNECTION
        };
    }

    pub fn prelogin(&mut self, prelogin: &Prelogin) {
        prelogin.encode(&mut self.body);
        self.send(PacketType::Prelogin);
    }

    /// Bytes of the TLS handshake inside TDS 7.x.
    pub fn tls_handshake(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
        self.send(PacketType::Prelogin);
    }

    pub fn login(&mut self, login: &Login7) {
        login.encode(&mut self.body);
        self.send(PacketType::Login7);
    }

    /// A batch of T-SQL.
    pub fn batch(&mut self, text: &str) {
        Batch::encode(&mut self.body, &AllHeaders::of_transaction(self.transaction), text);
        self.send_request(PacketType::Batch);
    }

    /// Calls, in one message. On an error nothing is sent.
    pub fn calls(&mut self, calls: &[Rpc]) -> Result<(), EncodeError> {
        AllHeaders::of_transaction(self.transaction).encode(&mut self.body);
        for (i, call) in calls.iter().enumerate() {
            if i > 0 {
                Rpc::separate(&mut self.body);
            }
            if let Err(error) = call.encode(&mut self.body) {
                self.body.clear();
                return Err(error);
            }
        }
        self.send_request(PacketType::Rpc);
        Ok(())
    }

    pub fn transaction(&mut self, request: &TransactionRequest) {
        request.encode(&mut self.body, &AllHeaders::of_transaction(self.transaction));
        self.send_request(PacketType::TransactionManager);
    }

    /// The rows of a bulk load: a body in the form of 2.2.6.1.
    pub fn bulk(&mut self, body: &[u8]) {
        self.body.extend_from_slice(body);
        self.send(PacketType::BulkLoad);
    }

    /// Stop what is running; the server answers DONE_ATTN.
    pub fn attention(&mut self) {
        self.send(PacketType::Attention);
    }

    /// What is to go to the socket.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn send_request(&mut self, kind: PacketType) {
        let reset = std::mem::take(&mut self.reset);
        put_message(&mut self.out, kind, reset, self.packet_bytes, &self.body);
        self.body.clear();
    }

    fn send(&mut self, kind: PacketType) {
        put_message(&mut self.out, kind, 0, self.packet_bytes, &self.body);
        // LOGIN7 has a password in it.
        self.body.fill(0);
        std::hint::black_box(&mut self.body);
        self.body.clear();
    }
}

impl Default for RequestWriter {
    fn default() -> Self {
        RequestWriter::new()
    }
}
