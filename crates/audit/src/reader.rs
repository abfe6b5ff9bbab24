//! Reads an audit file from the front, record by record.
//!
//! Promises: what is torn or damaged is told by its place and stepped over, and what lies behind it is found; no more of
//! the file is in memory than a window and the record at hand, whatever the file says of itself.

use crate::format::{BODY_BYTES_MAX, FRAME_MAGIC, HEAD_BYTES, HEADER_BYTES, Head, Header};
use crate::record::Record;
use device::{File, FileSystem, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use telemetry::WaitType;

const WINDOW_BYTES: usize = 256 << 10;

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It is no audit file of this server.
    NotAnAudit,
    Io(String),
}

/// A record, and where its frame begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRecord {
    pub offset: u64,
    pub record: Record,
}

/// What begins here is no whole record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub offset: u64,
}

/// See the file's first lines.
pub struct Reader {
    file: Arc<dyn File>,
    /// Bytes of it that are looked at.
    len: u64,
    at: u64,
    audit: [u8; 16],
    window: Vec<u8>,
    window_at: u64,
}

impl Reader {
    /// Opens a file; of one that is being written, `written` says up to where. Suspends.
    pub fn open(
        fs: &dyn FileSystem,
        path: &Path,
        written: Option<u64>,
    ) -> Result<Reader, ReadError> {
        let io = |error: std::io::Error| ReadError::Io(error.to_string());
        let file = fs.open(path, OpenOptions::read_only()).map_err(io)?;
        let len = file.len().map_err(io)?.min(written.unwrap_or(u64::MAX));
        let mut reader =
            Reader { file, len, at: 0, audit: [0; 16], window: Vec::new(), window_at: 0 };
        let first = reader.bytes(0, HEADER_BYTES)?.ok_or(ReadError::NotAnAudit)?;
        let header = first.try_into().ok().and_then(Header::decode);
        reader.audit = header.ok_or(ReadError::NotAnAudit)?.audit;
        reader.at = HEADER_BYTES as u64;
        Ok(reader)
    }

    /// The id of the audit that wrote it.
    pub fn audit(&self) -> [u8; 16] {
        self.audit
    }

    /// Goes on behind a record that begins at `offset`; false: none begins there.
    pub fn go_behind(&mut self, offset: u64) -> Result<bool, ReadError> {
        let head = match offset >= HEADER_BYTES as u64 {
            true => self.bytes(offset, HEAD_BYTES)?.and_then(Head::decode),
            false => None,
        };
        let Some(head) = head else { return Ok(false) };
        self.at = offset + (HEAD_BYTES + head.bytes) as u64;
        Ok(true)
    }

    /// The next record, or a place that holds none. None: that was all. Suspends.
    #[allow(clippy::should_implement_trait, reason = "it reads, and may fail")]
    pub fn next(&mut self) -> Result<Option<Result<FoundRecord, Skipped>>, ReadError> {
        let offset = self.at;
        if offset >= self.len {
            return Ok(None);
        }
        let head = self.bytes(offset, HEAD_BYTES)?.and_then(Head::decode);
        if let Some(head) = head {
            let body_at = offset + HEAD_BYTES as u64;
            if let Some(body) = self.bytes(body_at, head.bytes)? {
                let record = if head.fits(body) { Record::decode(body) } else { None };
                self.at = body_at + head.bytes as u64;
                return Ok(Some(match record {
                    Some(record) => Ok(FoundRecord { offset, record }),
                    None => Err(Skipped { offset }),
                }));
            }
        }
        let (next, blank) = self.next_head(offset)?;
        self.at = next;
        match blank && next >= self.len {
            // Room that was reserved.
            true => Ok(None),
            false => Ok(Some(Err(Skipped { offset }))),
        }
    }

    /// Where behind `from` a frame with a good head begins, or the file's end; and whether only zeros are before it.
    fn next_head(&mut self, from: u64) -> Result<(u64, bool), ReadError> {
        let (mut at, mut blank) = (from, true);
        while at < self.len {
            let n = WINDOW_BYTES.min((self.len - at) as usize);
            let Some(window) = self.bytes(at, n)? else { break };
            let mut found = Vec::new();
            for (i, four) in window.windows(4).enumerate() {
                if four == FRAME_MAGIC && (i > 0 || at > from) {
                    found.push(at + i as u64);
                }
            }
            let blank_until = window.iter().position(|byte| *byte != 0);
            blank &= blank_until.is_none();
            for place in found {
                if self.bytes(place, HEAD_BYTES)?.and_then(Head::decode).is_some() {
                    return Ok((place, blank));
                }
            }
            runtime::task::maybe_yield();
            // A magic may lie across two windows.
            at += n.saturating_sub(3).max(1) as u64;
        }
        Ok((self.len, blank))
    }

    /// Bytes of the file; None where it ends before.
    fn bytes(&mut self, at: u64, n: usize) -> Result<Option<&[u8]>, ReadError> {
        if n > BODY_BYTES_MAX || at + n as u64 > self.len {
            return Ok(None);
        }
        let inside =
            at >= self.window_at && at + n as u64 <= self.window_at + self.window.len() as u64;
        if !inside {
            let want = n.max(WINDOW_BYTES).min((self.len - at) as usize);
            self.window.clear();
            self.window.resize(want, 0);
            let read = self.file.read_exact_at(at, &mut self.window, WaitType::IoCompletion);
            read.map_err(|error| ReadError::Io(error.to_string()))?;
            self.window_at = at;
        }
        let from = (at - self.window_at) as usize;
        Ok(Some(&self.window[from..from + n]))
    }
}
