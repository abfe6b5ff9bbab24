//! The packet header (MS-TDS 2.2.3.1).
//!
//! ```text
//!  0  type      1 byte
//!  1  status    1 byte   0x01 last of its message, 0x02 ignore this message, 0x08 and 0x10 reset the connection
//!  2  length    2 bytes, big-endian, header included: 8 to 32,767
//!  4  SPID      2 bytes, big-endian; the client's is not looked at
//!  6  packet id 1 byte, counts up and wraps; the client's is not looked at
//!  7  window    1 byte, 0
//! ```

use crate::ProtocolError;

pub const HEADER_BYTES: usize = 8;
/// Until LOGIN7 has settled another.
pub const PACKET_BYTES_DEFAULT: u16 = 4096;
pub const PACKET_BYTES_MIN: u16 = 512;
pub const PACKET_BYTES_MAX: u16 = 32_767;

/// What a message is. The server's answers are all [`PacketType::Reply`], that to PRELOGIN too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketType {
    Batch = 0x01,
    /// The login of TDS 4.2, refused.
    OldLogin = 0x02,
    Rpc = 0x03,
    Reply = 0x04,
    Attention = 0x06,
    BulkLoad = 0x07,
    FedAuthToken = 0x08,
    TransactionManager = 0x0E,
    Login7 = 0x10,
    Sspi = 0x11,
    /// PRELOGIN, and the TLS handshake inside TDS 7.x.
    Prelogin = 0x12,
}

impl PacketType {
    pub fn from_byte(byte: u8) -> Option<PacketType> {
        Some(match byte {
            0x01 => PacketType::Batch,
            0x02 => PacketType::OldLogin,
            0x03 => PacketType::Rpc,
            0x04 => PacketType::Reply,
            0x06 => PacketType::Attention,
            0x07 => PacketType::BulkLoad,
            0x08 => PacketType::FedAuthToken,
            0x0E => PacketType::TransactionManager,
            0x10 => PacketType::Login7,
            0x11 => PacketType::Sspi,
            0x12 => PacketType::Prelogin,
            _ => return None,
        })
    }
}

/// The status byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Status(pub u8);

impl Status {
    pub const END_OF_MESSAGE: u8 = 0x01;
    pub const IGNORE: u8 = 0x02;
    pub const RESET_CONNECTION: u8 = 0x08;
    pub const RESET_CONNECTION_SKIP_TRANSACTION: u8 = 0x10;

    pub fn is_last(self) -> bool {
        self.0 & Status::END_OF_MESSAGE != 0
    }
    /// The client gave up sending; nothing is to be done with the message.
    pub fn is_ignored(self) -> bool {
        self.0 & Status::IGNORE != 0
    }
    /// A pooled connection changes hands: reset the session before this request, and answer ENVCHANGE 18.
    pub fn resets(self) -> bool {
        self.0 & (Status::RESET_CONNECTION | Status::RESET_CONNECTION_SKIP_TRANSACTION) != 0
    }
    /// The reset leaves the open transaction alone.
    pub fn keeps_transaction(self) -> bool {
        self.0 & Status::RESET_CONNECTION_SKIP_TRANSACTION != 0
    }
}

/// A packet header, read and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// As received: [`PacketType::from_byte`].
    pub kind: u8,
    pub status: Status,
    /// Header included, 8 to 32,767.
    pub length: u16,
    pub spid: u16,
    pub packet_id: u8,
}

impl Header {
    /// 17836 when the length cannot be.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Header, ProtocolError> {
        let length = u16::from_be_bytes([bytes[2], bytes[3]]);
        if (length as usize) < HEADER_BYTES || length > PACKET_BYTES_MAX {
            return Err(ProtocolError::PacketLength {
                length: length as usize,
                limit: PACKET_BYTES_MAX as usize,
            });
        }
        Ok(Header {
            kind: bytes[0],
            status: Status(bytes[1]),
            length,
            spid: u16::from_be_bytes([bytes[4], bytes[5]]),
            packet_id: bytes[6],
        })
    }

    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let [length_hi, length_lo] = self.length.to_be_bytes();
        let [spid_hi, spid_lo] = self.spid.to_be_bytes();
        [self.kind, self.status.0, length_hi, length_lo, spid_hi, spid_lo, self.packet_id, 0]
    }
}

/// The packet size for a connection, from the one in LOGIN7: 0 leaves it to the server (4,096), others are brought
/// into 512 to 32,767.
pub fn negotiate_packet_size(asked: u32) -> u16 {
    match asked {
        0 => PACKET_BYTES_DEFAULT,
        _ => asked.clamp(PACKET_BYTES_MIN as u32, PACKET_BYTES_MAX as u32) as u16,
    }
}

/// Cuts a whole message into packets behind what `out` has.
pub(crate) fn put_message(
    out: &mut Vec<u8>,
    kind: PacketType,
    status: u8,
    packet_bytes: u16,
    body: &[u8],
) {
    let room = packet_bytes as usize - HEADER_BYTES;
    let count = body.len().div_ceil(room).max(1);
    for number in 0..count {
        let part = &body[number * room..body.len().min((number + 1) * room)];
        let last = if number + 1 == count { Status::END_OF_MESSAGE } else { 0 };
        let reset = if number == 0 { status } else { 0 };
        let header = Header {
            kind: kind as u8,
            status: Status(last | reset),
            length: (part.len() + HEADER_BYTES) as u16,
            spid: 0,
            packet_id: (number + 1) as u8,
        };
        out.extend_from_slice(&header.encode());
        out.extend_from_slice(part);
    }
}
