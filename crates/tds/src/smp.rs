//! The Session Multiplex Protocol (MS-SMP): several streams of requests on one connection, for MARS.
//!
//! ```text
//!  0  0x53
//!  1  what          1 byte   0x01 SYN, 0x02 ACK, 0x04 FIN, 0x08 DATA
//!  2  stream        2 bytes
//!  4  length        4 bytes, header included
//!  8  sequence      4 bytes: DATA counts up from 1 in each direction; others repeat the last
//! 12  window        4 bytes: the peer may send DATA whose sequence is below
//! ```
//!
//! All little-endian. A packet of DATA carries one packet of TDS.

use crate::ProtocolError;
use crate::packet::PACKET_BYTES_MAX;

pub const SMP_HEADER_BYTES: usize = 16;
/// What each side may send before it has heard of the other.
pub const SMP_FIRST_WINDOW: u32 = 4;
const MARK: u8 = 0x53;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmpKind {
    /// A stream begins.
    Syn = 1,
    /// The window moves.
    Ack = 2,
    /// The stream ends.
    Fin = 4,
    Data = 8,
}

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmpHeader {
    pub kind: SmpKind,
    pub stream: u16,
    /// Header included.
    pub length: u32,
    pub sequence: u32,
    pub window: u32,
}

impl SmpHeader {
    /// Refused when no such packet can be.
    pub fn decode(bytes: &[u8; SMP_HEADER_BYTES]) -> Result<SmpHeader, ProtocolError> {
        let bad = ProtocolError::Malformed { what: "a multiplexed packet's header" };
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let kind = match bytes[1] {
            1 => SmpKind::Syn,
            2 => SmpKind::Ack,
            4 => SmpKind::Fin,
            8 => SmpKind::Data,
            _ => return Err(bad),
        };
        let length = number(4);
        let payload = length.wrapping_sub(SMP_HEADER_BYTES as u32);
        let fits = match kind {
            SmpKind::Data => (1..=u32::from(PACKET_BYTES_MAX)).contains(&payload),
            _ => payload == 0,
        };
        if bytes[0] != MARK || !fits {
            return Err(bad);
        }
        let stream = u16::from_le_bytes([bytes[2], bytes[3]]);
        Ok(SmpHeader { kind, stream, length, sequence: number(8), window: number(12) })
    }

    pub fn encode(self) -> [u8; SMP_HEADER_BYTES] {
        let mut bytes = [0; SMP_HEADER_BYTES];
        bytes[0] = MARK;
        bytes[1] = self.kind as u8;
        bytes[2..4].copy_from_slice(&self.stream.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[12..].copy_from_slice(&self.window.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_there_and_back_and_what_cannot_be() {
        let data =
            SmpHeader { kind: SmpKind::Data, stream: 0x0201, length: 24, sequence: 7, window: 11 };
        let bytes = data.encode();
        assert_eq!(bytes, [0x53, 8, 1, 2, 24, 0, 0, 0, 7, 0, 0, 0, 11, 0, 0, 0]);
        assert_eq!(SmpHeader::decode(&bytes).unwrap(), data);
        for (at, value) in
            [(0, 0x54), (1, 0), (1, 3), (1, 9), (1, 1), (4, 16), (4, 15), (4, 0), (7, 1), (5, 0x81)]
        {
            let mut wrong = bytes;
            wrong[at] = value;
            assert!(SmpHeader::decode(&wrong).is_err(), "byte {at} of {value}");
        }
    }
}
