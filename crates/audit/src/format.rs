//! An audit file to the byte (docs/formats/audit.md shows the same).
//!
//! ```text
//! file header, 64 bytes, little endian
//!    0 u64 magic "MILLAUD\n"   8 u32 version 1   12 u32 crc32c of the 64 bytes with this field zero
//!   16 16 bytes id of the audit   32 u64 created, ns since 1970   40 u32 number of the file, from 0   44.. zero
//!
//! frame, as long as it is
//!    0 u32 magic "AREC"   4 u32 bytes of the body   8 u32 crc32c of the body   12 u32 crc32c of 0..12   16.. body: a record
//! ```
//! Promise: a frame's head verifies by itself, so that a reader steps over a body that is damaged. Zeros where a frame
//! could begin are nobody's: room that was reserved.

pub(crate) const HEADER_BYTES: usize = 64;
pub(crate) const HEAD_BYTES: usize = 16;
/// Largest body: two texts of 4,000 units, the names, and more than enough.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;

const VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"MILLAUD\n";
pub(crate) const FRAME_MAGIC: [u8; 4] = *b"AREC";

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) audit: [u8; 16],
    pub(crate) created_unix_ns: u64,
    pub(crate) number: u32,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[16..32].copy_from_slice(&self.audit);
        out[32..40].copy_from_slice(&self.created_unix_ns.to_le_bytes());
        out[40..44].copy_from_slice(&self.number.to_le_bytes());
        let crc = crc32c::crc32c(&out);
        out[12..16].copy_from_slice(&crc.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<Header> {
        let mut unsummed = *bytes;
        unsummed[12..16].fill(0);
        let number = |at: usize| word(&bytes[at..at + 4]);
        if bytes[..8] != MAGIC || number(8) != VERSION || number(12) != crc32c::crc32c(&unsummed) {
            return None;
        }
        let mut audit = [0; 16];
        audit.copy_from_slice(&bytes[16..32]);
        let created_unix_ns = u64::from(number(32)) | u64::from(number(36)) << 32;
        Some(Header { audit, created_unix_ns, number: number(40) })
    }
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) bytes: usize,
    crc: u32,
}

impl Head {
    pub(crate) fn decode(bytes: &[u8]) -> Option<Head> {
        let bytes = bytes.get(..HEAD_BYTES)?;
        let sound = bytes[..4] == FRAME_MAGIC
            && word(&bytes[12..16]) == crc32c::crc32c(&bytes[..12])
            && word(&bytes[4..8]) as usize <= BODY_BYTES_MAX;
        sound.then(|| Head { bytes: word(&bytes[4..8]) as usize, crc: word(&bytes[8..12]) })
    }

    pub(crate) fn fits(&self, body: &[u8]) -> bool {
        crc32c::crc32c(body) == self.crc
    }
}

/// A frame around what `body` appends.
pub(crate) fn frame(body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = vec![0; HEAD_BYTES];
    body(&mut out);
    let (length, crc) = ((out.len() - HEAD_BYTES) as u32, crc32c::crc32c(&out[HEAD_BYTES..]));
    out[..4].copy_from_slice(&FRAME_MAGIC);
    out[4..8].copy_from_slice(&length.to_le_bytes());
    out[8..12].copy_from_slice(&crc.to_le_bytes());
    let crc = crc32c::crc32c(&out[..12]);
    out[12..16].copy_from_slice(&crc.to_le_bytes());
    out
}

fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}
