//! Reading the log from one end to the other, with big reads: for recovery.

use crate::{LogError, Lsn};

/// One record of the log.
#[derive(Debug, PartialEq, Eq)]
pub struct LogRecord<'a> {
    /// Where it begins.
    pub start: Lsn,
    /// One past its last byte, padding included: where the next begins.
    pub end: Lsn,
    pub payload: &'a [u8],
}

/// Reads records in order, from where it was opened to the end of the log as it was found then.
pub struct LogReader {
    end: Lsn,
}

impl LogReader {
    /// The next record, or `None` at the end. Suspends while it reads.
    pub fn next_record(&mut self) -> Result<Option<LogRecord<'_>>, LogError> {
        unimplemented!()
    }

    /// One past the last byte that may be read.
    pub fn end(&self) -> Lsn {
        self.end
    }

    /// Where the next record is looked for.
    pub fn position(&self) -> Lsn {
        unimplemented!()
    }

    /// Goes on from `at`, the start of a record (or of a block).
    pub fn seek(&mut self, at: Lsn) {
        let _ = at;
        unimplemented!()
    }
}
