//! What does not fit into memory, in files that nobody needs a moment later.
//!
//! A [`SpillSpace`] is a folder of an instance; a file lives as long as the operator that writes it, and whatever is
//! found in the folder at the start is rubbish. Within a file any number of [`Stream`]s and [`Extent`]s take turns block
//! by block. A failure to write or read fails the statement and nothing else: 1105 when there is no room, 823 else.
//!
//! Files are not encrypted and never synced. Knows nothing of rows: a stream is a sequence of entries of bytes.

use crate::message::SqlError;
use device::{File, FileSystem, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use stdx::AlignedBuf;
use telemetry::WaitType;

/// Bytes written and read at a time.
pub(crate) const BLOCK_BYTES: usize = 64 << 10;

/// The folder of an instance's files.
pub struct SpillSpace {
    fs: Arc<dyn FileSystem>,
    dir: PathBuf,
    next: AtomicU64,
}

impl SpillSpace {
    /// Files will be in `dir`, which is made when the first is needed; what lies there is removed.
    pub fn open(fs: Arc<dyn FileSystem>, dir: &Path) -> io::Result<SpillSpace> {
        if fs.exists(dir)? {
            for path in fs.list(dir)? {
                fs.remove(&path)?;
            }
        }
        Ok(SpillSpace { fs, dir: dir.to_owned(), next: AtomicU64::new(1) })
    }
}

/// A file, removed when the last of its streams is gone.
pub struct SpillFile {
    space: Arc<SpillSpace>,
    file: Arc<dyn File>,
    path: PathBuf,
    blocks: AtomicU64,
}

impl SpillFile {
    /// An empty one.
    pub fn create(space: &Arc<SpillSpace>) -> Result<Arc<SpillFile>, SqlError> {
        let number = space.next.fetch_add(1, Relaxed);
        let path = space.dir.join(format!("{number}.spill"));
        let open = || {
            if number == 1 || !space.fs.exists(&space.dir)? {
                space.fs.create_dir_all(&space.dir)?;
            }
            space.fs.open(&path, OpenOptions { truncate: true, ..OpenOptions::create() }.direct())
        };
        let file = open().map_err(|e| failed("creating", &path, &e))?;
        Ok(Arc::new(SpillFile { space: space.clone(), file, path, blocks: AtomicU64::new(0) }))
    }
}

/// Where bytes lie that were written at once.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// In blocks.
    first: u64,
    /// In bytes.
    len: usize,
}

impl SpillFile {
    /// Writes bytes in blocks of their own. Suspends.
    pub fn write(&self, bytes: &[u8]) -> Result<Extent, SqlError> {
        let blocks = bytes.len().div_ceil(BLOCK_BYTES).max(1);
        let first = self.blocks.fetch_add(blocks as u64, Relaxed);
        let mut padded = AlignedBuf::zeroed(blocks * BLOCK_BYTES);
        padded[..bytes.len()].copy_from_slice(bytes);
        self.file
            .write_all_at(first * BLOCK_BYTES as u64, &padded, false, WaitType::IoCompletion)
            .map_err(|e| failed("writing", &self.path, &e))?;
        Ok(Extent { first, len: bytes.len() })
    }

    /// Reads what was written, in place of what `out` holds. Suspends.
    pub fn read(&self, at: Extent, out: &mut Vec<u8>) -> Result<(), SqlError> {
        let blocks = at.len.div_ceil(BLOCK_BYTES).max(1);
        let mut padded = AlignedBuf::zeroed(blocks * BLOCK_BYTES);
        self.file
            .read_exact_at(at.first * BLOCK_BYTES as u64, &mut padded, WaitType::IoCompletion)
            .map_err(|e| failed("reading", &self.path, &e))?;
        out.clear();
        out.extend_from_slice(&padded[..at.len]);
        Ok(())
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        // What stays behind goes at the next start.
        let _ = self.space.fs.remove(&self.path);
    }
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> SqlError {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    if matches!(error.kind(), StorageFull | QuotaExceeded) {
        return SqlError::new(
            1105,
            17,
            "Could not allocate space for object 'dbo.WORKFILE' in database 'tempdb' because the 'PRIMARY' filegroup \
             is full due to lack of storage space or database files reaching the maximum allowed size. Create space by \
             dropping unnecessary files or objects.",
        );
    }
    SqlError::new(
        823,
        24,
        format!(
            "The operating system returned error {error} while {doing} file '{}'.",
            path.display()
        ),
    )
}

/// Entries, written once and then read any number of times.
pub(crate) struct Stream {
    file: Arc<SpillFile>,
    /// Where its full blocks lie in the file, in blocks.
    blocks: Vec<u64>,
    /// What has not been written yet; after [`Stream::finish`] nothing.
    buffer: Vec<u8>,
    bytes: u64,
    entries: u64,
}

impl Stream {
    pub fn new(file: &Arc<SpillFile>) -> Stream {
        let file = file.clone();
        Stream { file, blocks: Vec::new(), buffer: Vec::new(), bytes: 0, entries: 0 }
    }

    /// Entries in it.
    pub fn len(&self) -> u64 {
        self.entries
    }

    /// Bytes of its entries.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends an entry of two parts. Suspends.
    pub fn push(&mut self, head: &[u8], tail: &[u8]) -> Result<(), SqlError> {
        let before = self.buffer.len();
        self.buffer.extend_from_slice(&(head.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(&(tail.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(head);
        self.buffer.extend_from_slice(tail);
        self.bytes += (self.buffer.len() - before) as u64;
        self.entries += 1;
        if self.buffer.len() >= BLOCK_BYTES { self.write_full() } else { Ok(()) }
    }

    #[cold]
    fn write_full(&mut self) -> Result<(), SqlError> {
        let mut from = 0;
        while self.buffer.len() - from >= BLOCK_BYTES {
            self.write(from, BLOCK_BYTES)?;
            from += BLOCK_BYTES;
        }
        self.buffer.drain(..from);
        Ok(())
    }

    fn write(&mut self, from: usize, len: usize) -> Result<(), SqlError> {
        let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
        block[..len].copy_from_slice(&self.buffer[from..from + len]);
        let at = self.file.blocks.fetch_add(1, Relaxed);
        self.file
            .file
            .write_all_at(at * BLOCK_BYTES as u64, &block, false, WaitType::IoCompletion)
            .map_err(|e| failed("writing", &self.file.path, &e))?;
        self.blocks.push(at);
        Ok(())
    }

    /// Writes what is left and lets go of the buffer.
    pub fn finish(&mut self) -> Result<(), SqlError> {
        if !self.buffer.is_empty() {
            self.write_full()?;
            let rest = self.buffer.len();
            if rest > 0 {
                self.write(0, rest)?;
            }
        }
        self.buffer = Vec::new();
        Ok(())
    }

    /// Reads it from its beginning; after [`Stream::finish`].
    pub fn read(&self) -> Reader {
        debug_assert!(self.buffer.is_empty());
        Reader { at: 0, buffer: Vec::new(), from: 0, left: self.bytes }
    }
}

/// The two parts of an entry.
pub(crate) type Entry<'r> = (&'r [u8], &'r [u8]);

/// Where a reading of a stream stands.
pub(crate) struct Reader {
    /// The next block.
    at: usize,
    buffer: Vec<u8>,
    from: usize,
    /// Bytes of entries not yet given.
    left: u64,
}

impl Reader {
    /// The next entry's parts, good until the next call. Suspends.
    pub fn next<'r>(&'r mut self, stream: &Stream) -> Result<Option<Entry<'r>>, SqlError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.fill(8, stream)?;
        let word = |at: usize| -> usize {
            let bytes = &self.buffer[self.from + at..][..4];
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize
        };
        let (head, tail) = (word(0), word(4));
        self.fill(8 + head + tail, stream)?;
        let from = self.from + 8;
        self.from = from + head + tail;
        self.left -= (8 + head + tail) as u64;
        Ok(Some((&self.buffer[from..from + head], &self.buffer[from + head..self.from])))
    }

    /// Sees to it that so many bytes are there.
    fn fill(&mut self, need: usize, stream: &Stream) -> Result<(), SqlError> {
        while self.buffer.len() - self.from < need {
            self.buffer.drain(..self.from);
            self.from = 0;
            let Some(&block) = stream.blocks.get(self.at) else {
                stdx::fatal!("a stream of a spill ends within an entry");
            };
            self.at += 1;
            let mut bytes = AlignedBuf::zeroed(BLOCK_BYTES);
            let (file, path) = (&stream.file.file, &stream.file.path);
            file.read_exact_at(block * BLOCK_BYTES as u64, &mut bytes, WaitType::IoCompletion)
                .map_err(|e| failed("reading", path, &e))?;
            self.buffer.extend_from_slice(&bytes);
        }
        Ok(())
    }
}

/// What a statement has written to files for want of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpillFigures {
    /// Sorts and windows that spilled, and the 8 KiB pages that they wrote (SQL Server's Worktable).
    pub sorts: u64,
    pub sort_pages: u64,
    /// Hash joins and aggregates that spilled, and the pages that they wrote (Workfile).
    pub hashes: u64,
    pub hash_pages: u64,
}

impl SpillFigures {
    /// Operators that spilled.
    pub fn operators(&self) -> u64 {
        self.sorts + self.hashes
    }

    pub fn add(&mut self, other: &SpillFigures) {
        self.sorts += other.sorts;
        self.sort_pages += other.sort_pages;
        self.hashes += other.hashes;
        self.hash_pages += other.hash_pages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::SimFs;

    #[test]
    fn streams_of_one_file_come_back_whole_and_the_file_goes() {
        let fs: Arc<dyn FileSystem> = SimFs::new(1);
        let dir = Path::new("/data/spill");
        fs.create_dir_all(dir).unwrap();
        fs.open(&dir.join("7.spill"), OpenOptions::create()).unwrap();
        let space = Arc::new(SpillSpace::open(fs.clone(), dir).unwrap());
        assert!(fs.list(dir).unwrap().is_empty(), "what was left behind is gone");
        let file = SpillFile::create(&space).unwrap();
        let mut streams = [Stream::new(&file), Stream::new(&file)];
        let entry = |i: usize| vec![i as u8; i * 37 % 5_000 + usize::from(i == 77) * 200_000];
        for i in 0..400 {
            streams[i % 2].push(&i.to_le_bytes(), &entry(i)).unwrap();
        }
        for stream in &mut streams {
            stream.finish().unwrap();
        }
        for _ in 0..2 {
            for (odd, stream) in streams.iter().enumerate() {
                let mut reader = stream.read();
                for i in (odd..400).step_by(2) {
                    let (head, tail) = reader.next(stream).unwrap().expect("an entry");
                    assert_eq!((head, tail), (&i.to_le_bytes()[..], &entry(i)[..]));
                }
                assert!(reader.next(stream).unwrap().is_none());
            }
        }
        assert_eq!(fs.list(dir).unwrap().len(), 1);
        drop((file, streams));
        assert!(fs.list(dir).unwrap().is_empty());
    }
}
