//! `Lsn`: a position in the stream of payload bytes, and the arithmetic between positions and blocks.
//!
//! Headers of blocks have no positions: LSN `n` lies in block `n / PAYLOAD_BYTES`, at offset
//! `n % PAYLOAD_BYTES` of its payload. Records begin at multiples of 8.

use std::fmt;

/// Bytes of a block on disk: the unit of writing, checking and sealing.
pub const BLOCK_BYTES: usize = 4096;
/// Bytes of a block's header.
pub const HEADER_BYTES: usize = 64;
/// Bytes of the stream that one block carries.
pub const PAYLOAD_BYTES: usize = BLOCK_BYTES - HEADER_BYTES;

/// A position in the log's stream of payload bytes. A multiple of 8; 0 means "none".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Lsn(pub u64);

impl Lsn {
    /// No position: below every record.
    pub const NONE: Lsn = Lsn(0);
    /// Above every record.
    pub const MAX: Lsn = Lsn(u64::MAX);

    /// True of [`Lsn::NONE`].
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Number of the block that holds this position.
    #[inline]
    pub const fn block(self) -> u64 {
        self.0 / PAYLOAD_BYTES as u64
    }

    /// Offset of this position in its block's payload, in bytes.
    #[inline]
    pub const fn offset(self) -> usize {
        (self.0 % PAYLOAD_BYTES as u64) as usize
    }

    /// First position of block `number`.
    #[inline]
    pub const fn of_block(number: u64) -> Lsn {
        Lsn(number * PAYLOAD_BYTES as u64)
    }

    /// The first position of a block that is not below this one.
    #[inline]
    pub const fn next_block(self) -> Lsn {
        Lsn(self.0.div_ceil(PAYLOAD_BYTES as u64) * PAYLOAD_BYTES as u64)
    }
}

impl fmt::Display for Lsn {
    /// `block:offset` in hexadecimal, as log tools like it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}:{:04x}", self.block(), self.offset())
    }
}

impl fmt::Debug for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lsn({})", self.0)
    }
}
