//! Blocks and records to the byte (docs/formats/log.md shows the same).
//!
//! ```text
//! block, 4096 bytes, little endian
//!    0  u32  magic "MBLK"          32  u32  incarnation: which opening of the log wrote it
//!    4  u32  crc32c of 8..4096     36  u16  offset in the payload of the first record that begins here; 0xFFFF: none
//!    8  u64  salt of the file      38  u16  flags: 1 = first block of its incarnation
//!   16  u64  number                40  u64  sequence of the VLF
//!   24  u64  durable LSN then      48  ...  zero up to 64; then 4032 bytes of the stream
//!
//! record, a multiple of 8 long, beginning at a multiple of 8
//!    0  u32  bytes of payload       4  u32  tag: kind xor (LSN / 8)
//!    8  payload, then zeros
//! ```
//!
//! Promises: a sealed block verifies only at its own number and in its own file; a record's tag verifies only at its
//! own position.

use crate::lsn::{BLOCK_BYTES, HEADER_BYTES, Lsn, PAYLOAD_BYTES};
use crate::record_bytes;

const MAGIC: u32 = u32::from_le_bytes(*b"MBLK");
const RECORD: u32 = u32::from_le_bytes(*b"reco");
const PAD: u32 = u32::from_le_bytes(*b"pad ");
const NO_RECORD: u16 = u16::MAX;
const FRESH: u16 = 1;

/// What a block says about itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BlockHeader {
    pub(crate) salt: u64,
    pub(crate) number: u64,
    /// Everything below was durable when this block was sealed.
    pub(crate) durable: Lsn,
    pub(crate) incarnation: u32,
    /// Offset of the first record that begins here.
    pub(crate) first: Option<usize>,
    /// The first block of its incarnation: a record unfinished before it stays unfinished.
    pub(crate) fresh: bool,
    pub(crate) vlf_sequence: u64,
}

impl BlockHeader {
    /// Fills in the header and the checksum of `block`, whose payload is there.
    pub(crate) fn seal(&self, block: &mut [u8; BLOCK_BYTES]) {
        block[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        block[8..16].copy_from_slice(&self.salt.to_le_bytes());
        block[16..24].copy_from_slice(&self.number.to_le_bytes());
        block[24..32].copy_from_slice(&self.durable.0.to_le_bytes());
        block[32..36].copy_from_slice(&self.incarnation.to_le_bytes());
        let first = self.first.map_or(NO_RECORD, |offset| offset as u16);
        block[36..38].copy_from_slice(&first.to_le_bytes());
        let flags = if self.fresh { FRESH } else { 0 };
        block[38..40].copy_from_slice(&flags.to_le_bytes());
        block[40..48].copy_from_slice(&self.vlf_sequence.to_le_bytes());
        block[48..HEADER_BYTES].fill(0);
        let crc = crc32c::crc32c(&block[8..]);
        block[4..8].copy_from_slice(&crc.to_le_bytes());
    }

    /// The header of a whole block with a good checksum.
    pub(crate) fn verify(block: &[u8]) -> Option<BlockHeader> {
        debug_assert_eq!(block.len(), BLOCK_BYTES);
        if u32_at(block, 0) != MAGIC || u32_at(block, 4) != crc32c::crc32c(&block[8..]) {
            return None;
        }
        let first = u16::from_le_bytes([block[36], block[37]]);
        if first != NO_RECORD && usize::from(first) >= PAYLOAD_BYTES {
            return None;
        }
        Some(BlockHeader {
            salt: u64_at(block, 8),
            number: u64_at(block, 16),
            durable: Lsn(u64_at(block, 24)),
            incarnation: u32_at(block, 32),
            first: (first != NO_RECORD).then_some(usize::from(first)),
            fresh: block[38] & FRESH as u8 != 0,
            vlf_sequence: u64_at(block, 40),
        })
    }
}

/// A record's first eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecordHeader {
    /// Bytes of payload.
    pub(crate) len: usize,
    /// Only fills up a block.
    pub(crate) pad: bool,
}

impl RecordHeader {
    /// The header word of a record of `len` payload bytes at `at`.
    #[inline(always)]
    pub(crate) fn encode(at: Lsn, len: usize, pad: bool) -> u64 {
        let kind = if pad { PAD } else { RECORD };
        let tag = kind ^ (at.0 >> 3) as u32;
        len as u64 | u64::from(tag) << 32
    }

    /// The header in `word`, if it belongs to `at`.
    pub(crate) fn decode(at: Lsn, word: u64) -> Option<RecordHeader> {
        let kind = (word >> 32) as u32 ^ (at.0 >> 3) as u32;
        let header = RecordHeader { len: word as u32 as usize, pad: kind == PAD };
        let fits = header.total() <= crate::RECORD_BYTES_MAX;
        ((kind == PAD || kind == RECORD) && fits).then_some(header)
    }

    /// Bytes of the stream that it takes.
    pub(crate) fn total(&self) -> usize {
        record_bytes(self.len)
    }
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_block_says_what_it_was_told_and_no_bit_may_change() {
        let header = BlockHeader {
            salt: 7,
            number: 11,
            durable: Lsn(13 * 8),
            incarnation: 17,
            first: Some(24),
            fresh: true,
            vlf_sequence: 19,
        };
        let mut block = [0xA5u8; BLOCK_BYTES];
        header.seal(&mut block);
        assert_eq!(BlockHeader::verify(&block), Some(header));
        for byte in [0, 4, 8, 20, 37, 47, 63, 64, 2000, 4095] {
            block[byte] ^= 4;
            assert_eq!(BlockHeader::verify(&block), None, "byte {byte}");
            block[byte] ^= 4;
        }
        assert_eq!(BlockHeader::verify(&[0u8; BLOCK_BYTES]), None);
    }

    #[test]
    fn a_record_header_belongs_to_its_position() {
        let word = RecordHeader::encode(Lsn(4032), 100, false);
        assert_eq!(
            RecordHeader::decode(Lsn(4032), word),
            Some(RecordHeader { len: 100, pad: false })
        );
        assert_eq!(RecordHeader::decode(Lsn(4040), word), None);
        assert_eq!(RecordHeader::decode(Lsn(4032), 0), None);
        let pad = RecordHeader::encode(Lsn(8), 0, true);
        assert_eq!(RecordHeader::decode(Lsn(8), pad), Some(RecordHeader { len: 0, pad: true }));
    }
}
