//! A file read from its beginning, some of it at a time.
//!
//! ```text
//!        base                      next (where the file is read from)
//! file ...[ row at hand ... | not looked at yet ]..........
//!          ^start            ^at
//! ```

use device::File;
use std::io;
use std::sync::Arc;
use telemetry::WaitType;

/// Read at once.
const CHUNK_BYTES: usize = 256 << 10;

/// The part of a file that is at hand.
pub struct Window {
    file: Arc<dyn File>,
    len: u64,
    next: u64,
    bytes: Vec<u8>,
    /// Where the row at hand begins.
    start: usize,
    /// What is looked at next.
    at: usize,
}

impl Window {
    /// Of an open file.
    pub fn new(file: Arc<dyn File>) -> io::Result<Window> {
        let len = file.len()?;
        Ok(Window { file, len, next: 0, bytes: Vec::new(), start: 0, at: 0 })
    }

    /// All of a file; None where it is longer than `max`. Suspends.
    pub fn whole(file: Arc<dyn File>, max: u64) -> io::Result<Option<Vec<u8>>> {
        let mut window = Window::new(file)?;
        if window.len > max {
            return Ok(None);
        }
        while window.fill()? {}
        Ok(Some(window.bytes))
    }

    /// What stands at the place looked at, at least `n` bytes of it unless the file ends before. Suspends.
    pub(crate) fn ahead(&mut self, n: usize) -> io::Result<&[u8]> {
        while self.bytes.len() - self.at < n && self.fill()? {}
        Ok(&self.bytes[self.at..])
    }

    /// What is at hand beyond the place looked at.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    pub(crate) fn starts_with(&mut self, what: &[u8]) -> io::Result<bool> {
        Ok(self.ahead(what.len())?.starts_with(what))
    }

    pub(crate) fn step(&mut self, n: usize) {
        self.at += n;
        debug_assert!(self.at <= self.bytes.len(), "stepped over what was never read");
    }

    /// The row ends here and another begins.
    pub(crate) fn mark(&mut self) {
        self.start = self.at;
    }

    /// Where in the file the row at hand begins.
    pub(crate) fn row_offset(&self) -> u64 {
        self.next - (self.bytes.len() - self.start) as u64
    }

    /// The row at hand as far as it has been looked at.
    pub(crate) fn row(&self) -> &[u8] {
        &self.bytes[self.start..self.at]
    }

    /// More of the file. False: there is no more.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        let n = (self.len - self.next).min(CHUNK_BYTES as u64) as usize;
        if n == 0 {
            return Ok(false);
        }
        self.bytes.drain(..self.start);
        self.at -= self.start;
        self.start = 0;
        let had = self.bytes.len();
        self.bytes.resize(had + n, 0);
        self.file.read_exact_at(self.next, &mut self.bytes[had..], WaitType::IoCompletion)?;
        self.next += n as u64;
        Ok(true)
    }
}
