//! A backup file as a list of sets.

use crate::block::{HEAD_BYTES, Head, Kind, NotMedia, UNIT, read_media_header};
use crate::{BackupError, SetEnd, SetHeader, SetReader};
use device::{File, FileSystem, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use stdx::AlignedBuf;
use telemetry::WaitType;

/// An existing backup file.
pub struct Media {
    pub(crate) file: Arc<dyn File>,
    pub(crate) path: String,
    /// Bytes of it.
    pub(crate) len: u64,
    uuid: [u8; 16],
    created_us: u64,
}

/// One set of a file.
#[derive(Clone, Debug)]
pub struct SetInfo {
    /// From 1, as in WITH FILE = n.
    pub position: u32,
    pub header: SetHeader,
    /// None: the backup was cut short.
    pub end: Option<SetEnd>,
    /// Where it lies in the file, in bytes.
    pub offset: u64,
    pub bytes: u64,
}

impl Media {
    /// Opens a file to read. Suspends.
    pub fn open(fs: &dyn FileSystem, path: &Path) -> Result<Media, BackupError> {
        let name = path.display().to_string();
        let file = fs
            .open(path, OpenOptions::read_only().direct())
            .map_err(|e| BackupError::open(&name, &e))?;
        let len = file.len().map_err(|e| BackupError::open(&name, &e))?;
        let not = |what: &str| BackupError::NotABackup { path: name.clone(), what: what.into() };
        if len < UNIT as u64 {
            return Err(not("the file is too short"));
        }
        let mut first = AlignedBuf::zeroed(UNIT);
        file.read_exact_at(0, &mut first, WaitType::IoCompletion)
            .map_err(|e| BackupError::Read { path: name.clone(), what: e.to_string() })?;
        match read_media_header(&first) {
            Ok((uuid, created_us)) => Ok(Media { file, path: name, len, uuid, created_us }),
            Err(NotMedia::Foreign) => Err(not("it is not a backup of this server")),
            Err(NotMedia::Damaged) => Err(not("its first block is damaged")),
            Err(NotMedia::Later(version)) => Err(BackupError::LaterVersion { path: name, version }),
        }
    }

    /// Identity of the file.
    pub fn uuid(&self) -> [u8; 16] {
        self.uuid
    }

    /// Microseconds since 1970.
    pub fn created_us(&self) -> u64 {
        self.created_us
    }

    /// The sets, in order. Headers and ends are verified, what lies between is stepped over. Suspends.
    pub fn sets(&self) -> Result<Vec<SetInfo>, BackupError> {
        let mut sets = Vec::new();
        let mut at = UNIT as u64;
        while at < self.len {
            // What a set that was cut short has left behind it is nothing.
            let Some(set) = self.look(at, sets.len() as u32 + 1)? else { break };
            at = set.offset + set.bytes;
            let whole = set.end.is_some();
            sets.push(set);
            if !whole {
                break;
            }
        }
        Ok(sets)
    }

    /// The set `position`, from 1. Suspends.
    pub fn set(&self, position: u32) -> Result<SetReader<'_>, BackupError> {
        let sets = self.sets()?;
        let count = sets.len() as u32;
        let found = sets.into_iter().find(|s| s.position == position);
        let info = found.ok_or_else(|| BackupError::NoSuchSet {
            path: self.path.clone(),
            position,
            sets: count,
        })?;
        if info.end.is_none() {
            return Err(BackupError::Incomplete { path: self.path.clone(), position });
        }
        Ok(SetReader::new(self, info))
    }

    /// Steps through the set at `offset`; None when none begins there and nothing behind says that one did.
    fn look(&self, offset: u64, position: u32) -> Result<Option<SetInfo>, BackupError> {
        let Some(head) = self.head(offset)?.filter(|h| h.kind == Kind::Header && h.number == 0)
        else {
            return match self.later_end(offset)? {
                false => Ok(None),
                true => Err(self.damaged(offset, "a backup set has no good header")),
            };
        };
        let mut reader = SetReader::at(self, offset, head.tag);
        let header = match reader.header() {
            Ok(header) => header,
            // Its first block was cut in two.
            Err(BackupError::Damaged { .. }) if !self.later_end(offset)? => return Ok(None),
            Err(e) => return Err(e),
        };
        let mut at = offset + head.total() as u64;
        let mut number = 1;
        let info =
            |end, to| SetInfo { position, header: header.clone(), end, offset, bytes: to - offset };
        loop {
            let next = self.head(at)?.filter(|h| h.tag == head.tag && h.number == number);
            let Some(next) = next else {
                if self.later_end(at)? {
                    return Err(self.damaged(at, "a block's header is damaged"));
                }
                return Ok(Some(info(None, at)));
            };
            if next.kind == Kind::End {
                return match reader.end_at(at, number) {
                    Ok(end) => Ok(Some(info(Some(end), at + next.total() as u64))),
                    // The end itself was cut in two: nobody was told that the set is whole.
                    Err(BackupError::Damaged { .. }) if !self.later_end(at)? => {
                        Ok(Some(info(None, at)))
                    }
                    Err(e) => Err(e),
                };
            }
            at += next.total() as u64;
            number += 1;
        }
    }

    /// Whether a good end of a set lies behind `from`: then what is at `from` was damaged. Other blocks may be there of a
    /// set that was cut short by a loss of power; an end is written when everything before it is durable.
    fn later_end(&self, from: u64) -> Result<bool, BackupError> {
        let mut at = from + UNIT as u64;
        let mut chunk = AlignedBuf::zeroed(64 * UNIT);
        while at < self.len {
            let n = (self.len - at).min(chunk.len() as u64) as usize / UNIT * UNIT;
            if n == 0 {
                break;
            }
            self.read(at, &mut chunk[..n])?;
            let units = (at..).step_by(UNIT).zip(chunk[..n].chunks_exact(UNIT));
            let heads = units.filter_map(|(at, c)| Some((at, Head::decode(&c[..HEAD_BYTES])?)));
            for (at, head) in heads.filter(|(_, head)| head.kind == Kind::End) {
                if SetReader::at(self, at, head.tag).end_at(at, head.number).is_ok() {
                    return Ok(true);
                }
            }
            at += n as u64;
        }
        Ok(false)
    }

    pub(crate) fn head(&self, at: u64) -> Result<Option<Head>, BackupError> {
        if at + UNIT as u64 > self.len {
            return Ok(None);
        }
        let mut unit = AlignedBuf::zeroed(UNIT);
        self.read(at, &mut unit)?;
        Ok(Head::decode(&unit[..HEAD_BYTES]))
    }

    pub(crate) fn read(&self, at: u64, out: &mut [u8]) -> Result<(), BackupError> {
        self.file
            .read_exact_at(at, out, WaitType::Backup)
            .map_err(|e| BackupError::Read { path: self.path.clone(), what: e.to_string() })
    }

    pub(crate) fn damaged(&self, offset: u64, what: &str) -> BackupError {
        BackupError::Damaged { path: self.path.clone(), offset, what: what.into() }
    }
}
