//! Blocks of a backup file to the byte (docs/formats/backup.md shows the same).
//!
//! ```text
//! media header, 4096 bytes, little endian
//!    0 u64 magic "MILLBAK\n"   8 u32 version 1   12 u32 crc32c of the 4096 bytes with this field zero
//!   16 16 bytes uuid          32 u64 created, microseconds since 1970   40.. zero
//!
//! block, a multiple of 4096 long
//!    0 u32 magic "BKBL"       4 u8 kind (1 header, 2 pages, 3 log, 4 end)  5 u8 compression (0 none, 1 lz4)  6 u16 zero
//!    8 u64 tag of the set    16 u64 number in the set, from 0
//!   24 u64 first page id, or number of the first log block        32 u32 pages, or log blocks
//!   36 u32 bytes of the body before compression                   40 u32 bytes of the body as stored
//!   44 u32 crc32c of everything behind this header, padding included
//!   48 u64 zero   56 u32 zero   60 u32 crc32c of 0..60
//!   64.. body, then zeros
//! ```
//! Promise: a header verifies by itself, so that a reader can step over bodies; no byte of a block is unchecked.

/// Bytes of a page in a block of pages.
pub const PAGE_BYTES: usize = 8192;
/// Bytes of the stream that one log block carries.
pub const LOG_PAYLOAD_BYTES: usize = 4032;
/// Bytes of one log block in a body: its marks and its payload.
pub(crate) const LOG_ENTRY_BYTES: usize = 8 + LOG_PAYLOAD_BYTES;
/// What blocks begin and end at.
pub(crate) const UNIT: usize = 4096;
pub(crate) const HEAD_BYTES: usize = 64;
/// Largest body before compression.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;
pub(crate) const VERSION: u32 = 1;

const MEDIA_MAGIC: u64 = u64::from_le_bytes(*b"MILLBAK\n");
const BLOCK_MAGIC: u32 = u32::from_le_bytes(*b"BKBL");

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    Header = 1,
    Pages = 2,
    Log = 3,
    End = 4,
}

/// A block's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) compressed: bool,
    pub(crate) tag: u64,
    pub(crate) number: u64,
    pub(crate) first: u64,
    pub(crate) count: u32,
    pub(crate) raw: u32,
    pub(crate) stored: u32,
    pub(crate) body_crc: u32,
}

impl Head {
    /// Bytes of the whole block.
    pub(crate) fn total(&self) -> usize {
        total_of(self.stored as usize)
    }

    pub(crate) fn encode(&self, out: &mut [u8]) {
        out[..HEAD_BYTES].fill(0);
        out[0..4].copy_from_slice(&BLOCK_MAGIC.to_le_bytes());
        out[4] = self.kind as u8;
        out[5] = u8::from(self.compressed);
        out[8..16].copy_from_slice(&self.tag.to_le_bytes());
        out[16..24].copy_from_slice(&self.number.to_le_bytes());
        out[24..32].copy_from_slice(&self.first.to_le_bytes());
        out[32..36].copy_from_slice(&self.count.to_le_bytes());
        out[36..40].copy_from_slice(&self.raw.to_le_bytes());
        out[40..44].copy_from_slice(&self.stored.to_le_bytes());
        out[44..48].copy_from_slice(&self.body_crc.to_le_bytes());
        let crc = crc32c::crc32c(&out[..60]);
        out[60..64].copy_from_slice(&crc.to_le_bytes());
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Head> {
        if u32_at(bytes, 0) != BLOCK_MAGIC || u32_at(bytes, 60) != crc32c::crc32c(&bytes[..60]) {
            return None;
        }
        let kind = match bytes[4] {
            1 => Kind::Header,
            2 => Kind::Pages,
            3 => Kind::Log,
            4 => Kind::End,
            _ => return None,
        };
        let head = Head {
            kind,
            compressed: bytes[5] == 1,
            tag: u64_at(bytes, 8),
            number: u64_at(bytes, 16),
            first: u64_at(bytes, 24),
            count: u32_at(bytes, 32),
            raw: u32_at(bytes, 36),
            stored: u32_at(bytes, 40),
            body_crc: u32_at(bytes, 44),
        };
        let fits = head.raw as usize <= BODY_BYTES_MAX && head.stored as usize <= BODY_BYTES_MAX;
        fits.then_some(head)
    }
}

/// Bytes of a block whose body takes `stored`.
pub(crate) fn total_of(stored: usize) -> usize {
    (HEAD_BYTES + stored).next_multiple_of(UNIT)
}

pub(crate) fn media_header(uuid: [u8; 16], created_us: u64) -> [u8; UNIT] {
    let mut out = [0; UNIT];
    out[0..8].copy_from_slice(&MEDIA_MAGIC.to_le_bytes());
    out[8..12].copy_from_slice(&VERSION.to_le_bytes());
    out[16..32].copy_from_slice(&uuid);
    out[32..40].copy_from_slice(&created_us.to_le_bytes());
    let crc = crc32c::crc32c(&out);
    out[12..16].copy_from_slice(&crc.to_le_bytes());
    out
}

/// Why the first bytes of a file are not those of a backup.
pub(crate) enum NotMedia {
    Foreign,
    Later(u32),
    Damaged,
}

/// The uuid and the time of making.
pub(crate) fn read_media_header(bytes: &[u8]) -> Result<([u8; 16], u64), NotMedia> {
    if u64_at(bytes, 0) != MEDIA_MAGIC {
        return Err(NotMedia::Foreign);
    }
    let mut copy = bytes[..UNIT].to_vec();
    copy[12..16].fill(0);
    if u32_at(bytes, 12) != crc32c::crc32c(&copy) {
        return Err(NotMedia::Damaged);
    }
    match u32_at(bytes, 8) {
        VERSION => Ok((bytes[16..32].try_into().expect("sixteen bytes"), u64_at(bytes, 32))),
        later => Err(NotMedia::Later(later)),
    }
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
