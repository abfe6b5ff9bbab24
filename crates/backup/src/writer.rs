//! Writing a set: behind the sets that are there, or in place of them.
//!
//! A set that replaces others is written beside the file and takes its name when it is durable. One that is added
//! begins behind the last whole set; what lies there of a set that was cut short is written over.

use crate::block::{
    BODY_BYTES_MAX, HEAD_BYTES, Head, Kind, LOG_ENTRY_BYTES, LOG_PAYLOAD_BYTES, PAGE_BYTES, UNIT,
    media_header, total_of,
};
use crate::{BackupError, Media, SetEnd, SetHeader};
use device::{File, FileSystem, OpenOptions};
use runtime::{clock, random};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stdx::AlignedBuf;
use telemetry::WaitType;

/// Pages of one block at most.
const PAGES_MAX: usize = BODY_BYTES_MAX / PAGE_BYTES;
const LOG_BLOCKS_MAX: usize = BODY_BYTES_MAX / LOG_ENTRY_BYTES;

/// Where the bytes go; nowhere for NUL.
struct Target {
    fs: Arc<dyn FileSystem>,
    file: Arc<dyn File>,
    path: PathBuf,
    /// The file that this one replaces when it is whole.
    replaces: Option<PathBuf>,
}

/// Writes one set.
pub struct Writer {
    target: Option<Target>,
    name: String,
    position: u32,
    at: u64,
    tag: u64,
    number: u64,
    compress: bool,
    pages: u64,
    raw_bytes: u64,
    body: Vec<u8>,
    /// Kind, first number and count of what is in `body`.
    gathered: Option<(Kind, u64, u32)>,
    block: AlignedBuf,
    finished: bool,
}

impl Writer {
    /// A writer into nothing: BACKUP ... TO DISK = 'NUL'.
    pub fn nul() -> Writer {
        Writer::new(None, "NUL".into(), 1, UNIT as u64)
    }

    /// A writer into a file, made if it is not there. `init`: in place of the sets that it holds. A file that is there
    /// and no backup is refused. Suspends.
    pub fn create(
        fs: &Arc<dyn FileSystem>,
        path: &Path,
        init: bool,
    ) -> Result<Writer, BackupError> {
        let name = path.display().to_string();
        let refused = |e: std::io::Error| BackupError::open(&name, &e);
        let there = fs.exists(path).map_err(refused)?;
        let mut begin = (1, UNIT as u64);
        if there && !is_empty(&**fs, path) {
            let media = Media::open(&**fs, path)?;
            if !init {
                let whole: Vec<_> = media.sets()?.into_iter().filter(|s| s.end.is_some()).collect();
                let end = whole.last().map_or(UNIT as u64, |s| s.offset + s.bytes);
                begin = (whole.len() as u32 + 1, end);
            }
        }
        let adds = begin.1 > UNIT as u64;
        let partial = beside(path, ".partial");
        let written = if adds { path.to_path_buf() } else { partial };
        let mut options = OpenOptions::create().direct();
        options.truncate = !adds;
        let file = fs.open(&written, options).map_err(refused)?;
        if adds {
            file.set_len(begin.1).map_err(refused)?;
        }
        let replaces = (!adds).then(|| path.to_path_buf());
        let target = Target { fs: fs.clone(), file, path: written, replaces };
        let writer = Writer::new(Some(target), name, begin.0, begin.1);
        if !adds {
            let mut uuid = [0; 16];
            random::fill(&mut uuid);
            writer.write(0, &media_header(uuid, clock::unix_ns() / 1000))?;
        }
        Ok(writer)
    }

    fn new(target: Option<Target>, name: String, position: u32, at: u64) -> Writer {
        Writer {
            target,
            name,
            position,
            at,
            tag: random::next_u64(),
            number: 0,
            compress: false,
            pages: 0,
            raw_bytes: 0,
            body: Vec::new(),
            gathered: None,
            // What does not compress grows a little on the way.
            block: AlignedBuf::zeroed(total_of(lz4_flex::block::get_maximum_output_size(
                BODY_BYTES_MAX,
            ))),
            finished: false,
        }
    }

    /// Which set of its file this is, from 1.
    pub fn position(&self) -> u32 {
        self.position
    }

    /// Pages so far.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Bytes so far, before compression.
    pub fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Begins the set. First of all. Suspends.
    pub fn begin(&mut self, header: &SetHeader) -> Result<(), BackupError> {
        self.compress = header.compressed;
        let text = serde_json::to_vec(header).unwrap_or_default();
        self.put(Kind::Header, 0, 0, &text)
    }

    /// Adds a page. Pages need not be in order; neighbours share blocks. Suspends.
    pub fn page(&mut self, id: u64, bytes: &[u8]) -> Result<(), BackupError> {
        assert_eq!(bytes.len(), PAGE_BYTES, "a page has one size");
        self.gather(Kind::Pages, id, PAGES_MAX)?;
        self.body.extend_from_slice(bytes);
        self.pages += 1;
        Ok(())
    }

    /// Adds a log block. Suspends.
    pub fn log_block(
        &mut self,
        number: u64,
        marks: u32,
        payload: &[u8],
    ) -> Result<(), BackupError> {
        assert_eq!(payload.len(), LOG_PAYLOAD_BYTES, "a log block has one size");
        self.gather(Kind::Log, number, LOG_BLOCKS_MAX)?;
        self.body.extend_from_slice(&marks.to_le_bytes());
        self.body.extend_from_slice(&[0; 4]);
        self.body.extend_from_slice(payload);
        Ok(())
    }

    /// Makes room for one more of `kind` with the number `n`.
    fn gather(&mut self, kind: Kind, n: u64, max: usize) -> Result<(), BackupError> {
        if let Some((k, first, count)) = &mut self.gathered {
            if *k == kind && *first + u64::from(*count) == n && (*count as usize) < max {
                *count += 1;
                return Ok(());
            }
            self.flush()?;
        }
        self.gathered = Some((kind, n, 1));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), BackupError> {
        let Some((kind, first, count)) = self.gathered.take() else { return Ok(()) };
        let body = std::mem::take(&mut self.body);
        let done = self.put(kind, first, count, &body);
        self.body = body;
        self.body.clear();
        done
    }

    /// Ends the set, whose numbers of pages, blocks and bytes are filled in; durable when it returns. Suspends.
    pub fn end(&mut self, mut end: SetEnd) -> Result<SetEnd, BackupError> {
        self.flush()?;
        end.pages = self.pages;
        end.blocks = self.number;
        end.raw_bytes = self.raw_bytes;
        if let Some(target) = &self.target {
            // What the end vouches for is on disk before the end is.
            self.sync(target)?;
        }
        let text = serde_json::to_vec(&end).unwrap_or_default();
        self.put(Kind::End, 0, 0, &text)?;
        self.finished = true;
        let Some(target) = &self.target else { return Ok(end) };
        self.sync(target)?;
        let failed = |e: std::io::Error| self.failed(&e);
        if let Some(path) = &target.replaces {
            target.fs.rename(&target.path, path).map_err(failed)?;
        }
        let folder = match target.path.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        target.fs.sync_dir(folder).map_err(failed)?;
        Ok(end)
    }

    fn put(&mut self, kind: Kind, first: u64, count: u32, body: &[u8]) -> Result<(), BackupError> {
        if body.len() > BODY_BYTES_MAX {
            return Err(BackupError::Write {
                path: self.name.clone(),
                what: "what a set says of itself is too long".into(),
            });
        }
        self.raw_bytes += body.len() as u64;
        let room = &mut self.block[HEAD_BYTES..];
        let mut stored = None;
        if self.compress && body.len() > 1024 {
            // Only where it saves something.
            let most = body.len() - body.len() / 16;
            stored = lz4_flex::block::compress_into(body, room).ok().filter(|n| *n <= most);
        }
        let compressed = stored.is_some();
        let stored = stored.unwrap_or_else(|| {
            room[..body.len()].copy_from_slice(body);
            body.len()
        });
        let total = total_of(stored);
        self.block[HEAD_BYTES + stored..total].fill(0);
        let head = Head {
            kind,
            compressed,
            tag: self.tag,
            number: self.number,
            first,
            count,
            raw: body.len() as u32,
            stored: stored as u32,
            body_crc: crc32c::crc32c(&self.block[HEAD_BYTES..total]),
        };
        head.encode(&mut self.block[..HEAD_BYTES]);
        self.number += 1;
        let at = self.at;
        self.at += total as u64;
        let Some(target) = &self.target else { return Ok(()) };
        target
            .file
            .write_all_at(at, &self.block[..total], false, WaitType::Backup)
            .map_err(|e| self.failed(&e))
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), BackupError> {
        let Some(target) = &self.target else { return Ok(()) };
        let done = target.file.write_all_at(at, bytes, false, WaitType::Backup);
        done.map_err(|e| self.failed(&e))
    }

    fn sync(&self, target: &Target) -> Result<(), BackupError> {
        target.file.sync(WaitType::Backup).map_err(|e| self.failed(&e))
    }

    fn failed(&self, e: &std::io::Error) -> BackupError {
        BackupError::Write { path: self.name.clone(), what: e.to_string() }
    }
}

impl Drop for Writer {
    /// What was begun beside the file goes; what was added to it stays, is no set, and is written over next time.
    fn drop(&mut self) {
        if let Some(target) = &self.target
            && !self.finished
            && target.replaces.is_some()
        {
            let _ = target.fs.remove(&target.path);
        }
    }
}

fn is_empty(fs: &dyn FileSystem, path: &Path) -> bool {
    fs.open(path, OpenOptions::read_only()).and_then(|f| f.is_empty()).unwrap_or(false)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
