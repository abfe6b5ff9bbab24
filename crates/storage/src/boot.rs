//! The first two pages of a data file: who it is, and a little room for whoever must boot from it.
//!
//! ```text
//! word 0  checksum u32 | type 4 u8 | 0         word 1  page id           word 2  sequence number
//! word 3  magic "millrace"                     word 4, 5  database uuid
//! word 6  file id u16 | filegroup u16 | boot bytes u32
//! byte 64..  boot data
//! ```
//! Invariants: pages 0 and 1 are copies; the intact one with the higher sequence counts; a write goes over the other
//! first and then over this one, each durably. So a torn write loses at most the write, and damage to one copy
//! later loses nothing. They are not in the buffer pool.

use crate::StorageError;
use buffer_pool::{FileId, PAGE_BYTES, PageBuf, PageId, header};
use device::File;
use std::io;
use telemetry::WaitType;

/// Bytes of [`FileHeader::boot`].
pub const BOOT_DATA_BYTES: usize = 4096;

const MAGIC: u64 = u64::from_le_bytes(*b"millrace");
pub(crate) const HEADER: u8 = 4;

/// What the first pages of a data file say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// Identity of the database.
    pub database_uuid: [u8; 16],
    /// Number of the file.
    pub file_id: FileId,
    /// Its filegroup.
    pub filegroup: u16,
    /// For the floors above (checkpoint LSN, file list...), at most [`BOOT_DATA_BYTES`].
    pub boot: Vec<u8>,
}

/// Both copies' sequence numbers and contents, where intact.
fn copies(file: &(dyn File + 'static)) -> Result<[Option<(u64, FileHeader)>; 2], StorageError> {
    let mut found = [None, None];
    for (i, slot) in found.iter_mut().enumerate() {
        let mut p = PageBuf::boxed();
        let at = (i * PAGE_BYTES) as u64;
        match file.read_exact_at(at, p.bytes_mut(), WaitType::IoCompletion) {
            Ok(()) => *slot = parse(&p),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(e) => return Err(StorageError::File(e)),
        }
    }
    Ok(found)
}

fn parse(p: &PageBuf) -> Option<(u64, FileHeader)> {
    let w = p.words();
    if w[3] != MAGIC || !p.is_sealed() {
        return None;
    }
    let len = (w[6] >> 32) as usize;
    let header = FileHeader {
        database_uuid: p.bytes()[32..48].try_into().ok()?,
        file_id: w[6] as u16,
        filegroup: (w[6] >> 16) as u16,
        boot: p.bytes().get(64..64 + len)?.to_vec(),
    };
    Some((w[2], header))
}

/// Reads the newer intact of the two copies.
pub fn read_header(file: &(dyn File + 'static)) -> Result<FileHeader, StorageError> {
    let [a, b] = copies(file)?;
    let newer = [a, b].into_iter().flatten().max_by_key(|(sequence, _)| *sequence);
    newer.map(|(_, h)| h).ok_or_else(|| {
        let what = "neither copy of the file header is intact";
        StorageError::File(io::Error::new(io::ErrorKind::InvalidData, what))
    })
}

/// Which of the two copies are intact: both, unless a write was cut short or one was damaged since.
pub fn header_copies(file: &(dyn File + 'static)) -> Result<[bool; 2], StorageError> {
    Ok(copies(file)?.map(|copy| copy.is_some()))
}

/// Writes the header durably, over the older copy first. One writer at a time.
pub fn write_header(file: &(dyn File + 'static), h: &FileHeader) -> Result<(), StorageError> {
    assert!(h.boot.len() <= BOOT_DATA_BYTES);
    let [a, b] = copies(file)?.map(|c| c.map(|(sequence, _)| sequence));
    let (first, sequence) = match (a, b) {
        (Some(a), Some(b)) => (usize::from(a > b), a.max(b) + 1),
        (Some(a), None) => (1, a + 1),
        (None, b) => (0, b.unwrap_or(0) + 1),
    };
    write_copy(file, h, first, sequence)?;
    write_copy(file, h, 1 - first, sequence + 1)
}

fn write_copy(
    file: &(dyn File + 'static),
    h: &FileHeader,
    target: usize,
    sequence: u64,
) -> Result<(), StorageError> {
    let mut p = PageBuf::boxed();
    let w = p.words_mut();
    w[header::KIND] = u64::from(HEADER) << 32;
    w[header::PAGE_ID] = PageId::new(h.file_id, target as u32).0;
    w[2] = sequence;
    w[3] = MAGIC;
    w[6] = u64::from(h.file_id) | u64::from(h.filegroup) << 16 | (h.boot.len() as u64) << 32;
    p.bytes_mut()[32..48].copy_from_slice(&h.database_uuid);
    p.bytes_mut()[64..64 + h.boot.len()].copy_from_slice(&h.boot);
    p.seal();
    file.write_all_at((target * PAGE_BYTES) as u64, p.bytes(), true, WaitType::WriteCompletion)
        .map_err(StorageError::File)
}
