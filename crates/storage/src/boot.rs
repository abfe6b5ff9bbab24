//! The first two pages of a data file: who it is, and a little room for whoever must boot from it.

use crate::StorageError;
use buffer_pool::FileId;
use device::File;

/// Bytes of [`FileHeader::boot`].
pub const BOOT_DATA_BYTES: usize = 4096;

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

/// Reads the newer intact of the two copies.
pub fn read_header(file: &dyn File) -> Result<FileHeader, StorageError> {
    let _ = file;
    unimplemented!()
}

/// Writes the header durably over the older copy.
pub fn write_header(file: &dyn File, header: &FileHeader) -> Result<(), StorageError> {
    let _ = (file, header);
    unimplemented!()
}
