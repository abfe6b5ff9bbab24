//! The boot record: what must be known before the log can be read. In the header pages of the primary file, written
//! durably and alternately, so one intact copy is always there.
//!
//! ```text
//! version u32 | state u8 (1 being made, 2 usable) | delayed durability u8 | recovery model u8
//! | flags u8 (1: READ_COMMITTED_SNAPSHOT is off, 2: ALLOW_SNAPSHOT_ISOLATION is off)
//! epoch u64 | scan from LSN u64 | redo from LSN u64 | backed-up LSN u64
//! system trees: count u64, ids u64... | data files: count u64, then each: id u64, filegroup u64, initial, growth,
//! max (0 none) u64, path | log path          (a path: length u64, bytes; relative to the primary file's folder)
//! then, in files written since there are backups: family 16 bytes | fork 16 bytes | log file's uuid 16 bytes
//! | flags u64 (1: being restored) | restored to LSN u64 | restored to, us since 1970 u64 | last full backup LSN u64
//! | target recovery time, seconds u64
//! ```

use crate::{DataFile, DelayedDurability, EngineError, RecoveryModel, SYSTEM_TREES};
use log_manager::Lsn;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;
/// What databases of this build say of themselves: it grows with the record's form and with the number of system trees.
/// Older ones are brought up to it when they are opened; newer ones are refused.
pub(crate) const DATABASE_VERSION: u32 = version_of(VERSION, SYSTEM_TREES);

const fn version_of(form: u32, trees: usize) -> u32 {
    form * 100 + trees as u32
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Boot {
    /// False until the database has been made completely.
    pub(crate) usable: bool,
    pub(crate) delayed_durability: DelayedDurability,
    pub(crate) recovery_model: RecoveryModel,
    pub(crate) read_committed_snapshot: bool,
    pub(crate) allow_snapshot_isolation: bool,
    /// Of transaction ids; one more at each opening.
    pub(crate) epoch: u64,
    /// Where recovery begins to read: no unfinished transaction has a record below.
    pub(crate) scan_from: Lsn,
    /// No page lacks a record that ends at or below.
    pub(crate) redo_from: Lsn,
    /// FULL recovery model: the log below has been backed up; none: there was no full backup yet, and log need not be
    /// kept for one.
    pub(crate) backed_up: Lsn,
    pub(crate) system_trees: Vec<u64>,
    pub(crate) data: Vec<DataFile>,
    pub(crate) log: PathBuf,
    pub(crate) history: History,
}

/// Where the database comes from, and how far it has been restored.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct History {
    /// The same for all copies of a database; zero: the database's own uuid.
    pub(crate) family: [u8; 16],
    /// Which line of history: a new one begins when a restored database is recovered.
    pub(crate) fork: [u8; 16],
    /// Which log file belongs to it; zero in files from before this was kept.
    pub(crate) log_uuid: [u8; 16],
    /// Not to be opened: more may be restored.
    pub(crate) restoring: bool,
    /// While restoring: what has been restored, exactly, and the time of the last of it.
    pub(crate) restored_to: Lsn,
    pub(crate) restored_us: u64,
    /// Where the log of the last full backup began.
    pub(crate) last_full: Lsn,
    /// TARGET_RECOVERY_TIME; 0: as the options say.
    pub(crate) target_recovery_s: u64,
}

impl Boot {
    pub(crate) fn encode(&self, folder: &Path) -> Vec<u8> {
        let mut w = Vec::with_capacity(512);
        w.extend_from_slice(&VERSION.to_le_bytes());
        w.push(if self.usable { 2 } else { 1 });
        w.push(self.delayed_durability as u8);
        w.push(self.recovery_model as u8);
        let off = |on: bool, bit: u8| if on { 0 } else { bit };
        w.push(off(self.read_committed_snapshot, 1) | off(self.allow_snapshot_isolation, 2));
        let mut put = |n: u64| w.extend_from_slice(&n.to_le_bytes());
        [self.epoch, self.scan_from.0, self.redo_from.0, self.backed_up.0]
            .into_iter()
            .for_each(&mut put);
        put(self.system_trees.len() as u64);
        self.system_trees.iter().copied().for_each(&mut put);
        put(self.data.len() as u64);
        for file in &self.data {
            let numbers = [
                u64::from(file.file_id),
                u64::from(file.filegroup),
                file.initial_bytes,
                file.growth_bytes,
            ];
            numbers.iter().for_each(|n| w.extend_from_slice(&n.to_le_bytes()));
            w.extend_from_slice(&file.max_bytes.unwrap_or(0).to_le_bytes());
            put_path(&mut w, &file.path, folder);
        }
        put_path(&mut w, &self.log, folder);
        let h = &self.history;
        [&h.family, &h.fork, &h.log_uuid].iter().for_each(|id| w.extend_from_slice(*id));
        let numbers = [
            u64::from(h.restoring),
            h.restored_to.0,
            h.restored_us,
            h.last_full.0,
            h.target_recovery_s,
        ];
        numbers.iter().for_each(|n| w.extend_from_slice(&n.to_le_bytes()));
        w
    }

    pub(crate) fn decode(bytes: &[u8], primary: &Path) -> Result<Boot, EngineError> {
        let folder = primary.parent().unwrap_or(Path::new(""));
        if let Some(version) = newer_version(bytes) {
            return Err(EngineError::backup(
                948,
                format!(
                    "The database '{}' cannot be opened because it is version {version}. This server supports version \
                     {DATABASE_VERSION} and earlier. A downgrade path is not supported.",
                    primary.display()
                ),
            ));
        }
        parse(bytes, folder).ok_or_else(|| EngineError::CannotOpen {
            path: primary.display().to_string(),
            what: "the boot record is not one of this version".into(),
        })
    }
}

/// The version of a database that a later build has made; `None` of all others.
pub(crate) fn newer_version(bytes: &[u8]) -> Option<u32> {
    let form = u32::from_le_bytes(bytes.first_chunk().copied()?);
    // Of another form only the form itself can be read; 100 and up is not this record at all.
    let trees = match form {
        VERSION => Reader(bytes.get(8 + 4 * 8..)?).number()?,
        _ => 0,
    };
    let newer =
        (VERSION + 1..100).contains(&form) || (SYSTEM_TREES as u64 + 1..100).contains(&trees);
    newer.then(|| version_of(form, trees as usize))
}

fn put_path(w: &mut Vec<u8>, path: &Path, folder: &Path) {
    let path = path.strip_prefix(folder).unwrap_or(path).as_os_str().as_bytes();
    w.extend_from_slice(&(path.len() as u64).to_le_bytes());
    w.extend_from_slice(path);
}

/// Reads numbers and paths one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (n, rest) = self.0.split_at_checked(8)?;
        self.0 = rest;
        Some(u64::from_le_bytes(n.try_into().ok()?))
    }

    fn id(&mut self) -> Option<[u8; 16]> {
        let (id, rest) = self.0.split_at_checked(16)?;
        self.0 = rest;
        id.try_into().ok()
    }

    fn history(&mut self) -> Option<History> {
        if self.0.is_empty() {
            return Some(History::default());
        }
        Some(History {
            family: self.id()?,
            fork: self.id()?,
            log_uuid: self.id()?,
            restoring: self.number()? & 1 != 0,
            restored_to: Lsn(self.number()?),
            restored_us: self.number()?,
            last_full: Lsn(self.number()?),
            target_recovery_s: self.number()?,
        })
    }

    fn path(&mut self, folder: &Path) -> Option<PathBuf> {
        let len = usize::try_from(self.number()?).ok()?;
        let (path, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(folder.join(OsStr::from_bytes(path)))
    }
}

fn parse(bytes: &[u8], folder: &Path) -> Option<Boot> {
    let (head, rest) = bytes.split_at_checked(8)?;
    if head[..4] != VERSION.to_le_bytes() {
        return None;
    }
    let mut r = Reader(rest);
    let (epoch, scan_from, redo_from) = (r.number()?, Lsn(r.number()?), Lsn(r.number()?));
    let backed_up = Lsn(r.number()?);
    let trees = r.number()?;
    let system_trees = (0..trees).map(|_| r.number()).collect::<Option<Vec<u64>>>()?;
    let mut data = Vec::new();
    for _ in 0..r.number()? {
        data.push(DataFile {
            file_id: u16::try_from(r.number()?).ok()?,
            filegroup: u16::try_from(r.number()?).ok()?,
            initial_bytes: r.number()?,
            growth_bytes: r.number()?,
            max_bytes: Some(r.number()?).filter(|n| *n != 0),
            path: r.path(folder)?,
        });
    }
    Some(Boot {
        usable: head[4] == 2,
        delayed_durability: match head[5] {
            0 => DelayedDurability::Disabled,
            1 => DelayedDurability::Allowed,
            _ => DelayedDurability::Forced,
        },
        recovery_model: match head[6] {
            0 => RecoveryModel::Simple,
            1 => RecoveryModel::Full,
            _ => RecoveryModel::BulkLogged,
        },
        read_committed_snapshot: head[7] & 1 == 0,
        allow_snapshot_isolation: head[7] & 2 == 0,
        epoch,
        scan_from,
        redo_from,
        backed_up,
        system_trees,
        data,
        log: r.path(folder)?,
        history: r.history()?,
    })
}
