//! The files that are written: made full, opened once for each carrier, and removed while open.

use super::{Carrier, Way, file_system, stamp};
use crate::LabError;
use device::{File, FileSystem, OpenOptions, RealFs};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that stands for the log; its space is written in turn.
pub(super) const LOG_BYTES: u64 = 64 << 20;
/// A file that stands for the data.
pub(super) const DATA_BYTES: u64 = 128 << 20;
/// A write is at most this long; both files are multiples of it.
pub(super) const WRITE_BYTES_MAX: u64 = 1 << 20;

const _: () = assert!(LOG_BYTES.is_multiple_of(WRITE_BYTES_MAX));

/// What a rung cannot have, and why.
pub(super) type Refused = String;

pub(super) struct Files {
    folder: PathBuf,
    systems: HashMap<Carrier, Result<Arc<RealFs>, Refused>>,
    open: HashMap<(Way, Carrier), Arc<dyn File>>,
    data: HashMap<Carrier, Arc<dyn File>>,
}

impl Files {
    pub fn new(folder: &Path) -> Files {
        Files {
            folder: folder.to_owned(),
            systems: HashMap::new(),
            open: HashMap::new(),
            data: HashMap::new(),
        }
    }

    /// The log written in this way, or why it cannot be.
    pub fn log(
        &mut self,
        way: Way,
        carrier: Carrier,
    ) -> Result<Result<Arc<dyn File>, Refused>, LabError> {
        let fs = match self.system(carrier) {
            Ok(fs) => fs,
            Err(refused) => return Ok(Err(refused)),
        };
        let file = match self.open.get(&(way, carrier)) {
            Some(file) => file.clone(),
            None => {
                let options = options(way);
                let file = make(&*fs, &self.folder, "log", options, LOG_BYTES)?;
                self.open.insert((way, carrier), file.clone());
                file
            }
        };
        if way.is_direct() && file.align() == 1 {
            return Ok(Err("the file system refuses O_DIRECT".to_owned()));
        }
        Ok(Ok(file))
    }

    /// The data file that a checkpoint writes. Only for a carrier whose [`Self::log`] was granted.
    pub fn data(&mut self, carrier: Carrier) -> Result<Arc<dyn File>, LabError> {
        if let Some(file) = self.data.get(&carrier) {
            return Ok(file.clone());
        }
        let fs = self.system(carrier).map_err(LabError::Options)?;
        let file =
            make(&*fs, &self.folder, "data", OpenOptions::create_new().direct(), DATA_BYTES)?;
        self.data.insert(carrier, file.clone());
        Ok(file)
    }

    fn system(&mut self, carrier: Carrier) -> Result<Arc<RealFs>, Refused> {
        self.systems.entry(carrier).or_insert_with(|| file_system(carrier)).clone()
    }
}

fn options(way: Way) -> OpenOptions {
    OpenOptions {
        direct: way.is_direct(),
        dsync: matches!(way, Way::DirectODsync | Way::CachedODsync),
        ..OpenOptions::create_new()
    }
}

/// A file full of zeros, already without a name. It is filled through a handle without O_DSYNC.
fn make(
    fs: &dyn FileSystem,
    folder: &Path,
    what: &str,
    options: OpenOptions,
    bytes: u64,
) -> Result<Arc<dyn File>, LabError> {
    let path = folder.join(format!("log-device-{what}-{}.tmp", stamp()));
    let plain = fs.open(&path, OpenOptions { dsync: false, ..options })?;
    let filled = plain.allocate(0, bytes);
    let file = fs.open(&path, OpenOptions { create_new: false, create: false, ..options });
    let removed = fs.remove(&path);
    filled?;
    removed?;
    Ok(file?)
}
