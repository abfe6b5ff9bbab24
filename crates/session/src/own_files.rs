//! Which files are the server's own: no BACKUP, BULK INSERT, ERRORFILE, RESTORE ... MOVE or file of a new database may
//! name one of them.
//!
//! Promise: a path that a statement brings is followed through `.`, `..` and links before it is judged, so a file has no
//! other name that would get by. The files are those of every database on the server's list (with what stands beside
//! each, the double-write area and the lock), those in the data folder that belong to no database, and those that the
//! process was told to keep to itself ([`InstanceConfig::private_files`]). SQL Server answers as its system does for a
//! file that another process has open; ours says that access is denied.

use crate::instance::Instance;
use crate::options::absolute;
use std::io;
use std::path::{Path, PathBuf};

/// In the data folder, of no database that is on the list.
const IN_DATA_FOLDER: &[&str] = &[
    "master.mdf",
    "master.making",
    "master_log.ldf",
    "millrace.lock",
    "server-certificate.pem",
    "server-key.pem",
];
/// Files of scratch space, whatever their names are.
const SCRATCH_FOLDER: &str = "spill";
/// What stands beside the file of a database, by its ending.
const BESIDE: &[&str] = &["dwb", "lock", "making"];
/// The number of "permission denied" (errno.h).
const ACCESS_DENIED: i32 = 13;

/// The place that a statement's path means: one without a folder is in the data folder. An error for a file of the
/// server's own.
pub(crate) fn of_user(instance: &Instance, path: &str) -> io::Result<PathBuf> {
    let path = absolute(&instance.config.data_dir, path);
    match is_own(instance, &path)? {
        true => Err(io::Error::from_raw_os_error(ACCESS_DENIED)),
        false => Ok(path),
    }
}

/// The same for a file that is to become one of the database `database_id`, whose files it may have already.
pub(crate) fn of_database(
    instance: &Instance,
    path: &Path,
    database_id: Option<i32>,
) -> io::Result<()> {
    let own = instance.server.databases().into_iter().find(|d| Some(d.database_id) == database_id);
    let belongs = own.is_some_and(|def| {
        def.files().any(|file| absolute(&instance.config.data_dir, &file.path) == path)
    });
    match !belongs && is_own(instance, path)? {
        true => Err(io::Error::from_raw_os_error(ACCESS_DENIED)),
        false => Ok(()),
    }
}

fn is_own(instance: &Instance, path: &Path) -> io::Result<bool> {
    let config = &instance.config;
    let real = |path: &Path| config.fs.canonical(path);
    let path = real(path)?;
    let data_dir = real(&config.data_dir)?;
    if path.starts_with(data_dir.join(SCRATCH_FOLDER)) {
        return Ok(true);
    }
    let main = match path.extension().and_then(|ending| ending.to_str()) {
        Some(ending) if BESIDE.contains(&ending) => path.with_extension(""),
        _ => path.clone(),
    };
    let is = |other: &Path| other == path || other == main;
    if IN_DATA_FOLDER.iter().any(|name| is(&data_dir.join(name))) {
        return Ok(true);
    }
    for private in &config.private_files {
        if is(&real(private)?) {
            return Ok(true);
        }
    }
    for database in instance.server.databases() {
        for file in database.files() {
            if is(&real(&absolute(&config.data_dir, &file.path))?) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
