//! Changing a file of an open database: how long it is, how long it may become.
//!
//! Promise: what is changed is durable at return. A limit below a file's length takes nothing away from it.

use crate::figures::LOG_FILE_ID;
use crate::{Database, EngineError};

impl Database {
    /// How far a file may grow; none: as far as the disk has room. The limit of the log is the caller's to keep, as one
    /// of [`crate::DbOptions`]. Suspends.
    pub fn set_max_bytes(&self, file_id: u16, max: Option<u64>) -> Result<(), EngineError> {
        self.check()?;
        if file_id == LOG_FILE_ID {
            self.shared.log.set_max_bytes(max);
            return Ok(());
        }
        self.change_boot(|boot| {
            for file in boot.data.iter_mut().filter(|f| f.file_id == file_id) {
                file.max_bytes = max;
            }
        })?;
        self.store.set_max_bytes(file_id, max);
        Ok(())
    }

    /// Makes a file at least so long, or as long as it may become; its length then. [`EngineError::FilegroupFull`] when
    /// the disk is full. Suspends.
    pub fn grow_file(&self, file_id: u16, bytes: u64) -> Result<u64, EngineError> {
        self.check()?;
        if file_id == LOG_FILE_ID {
            if !self.shared.log.grow_to(bytes)? {
                return Err(EngineError::FilegroupFull { filegroup: 0 });
            }
        } else {
            self.store.grow_file_to(file_id, bytes)?;
        }
        let figures = self.file_figures();
        Ok(figures.iter().find(|f| f.file_id == file_id).map_or(0, |f| f.size_bytes))
    }
}
