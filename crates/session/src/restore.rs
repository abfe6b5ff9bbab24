//! RESTORE: which files go where, what may be written over, and what the list of databases says meanwhile.
//!
//! ```text
//! nothing, or a database that may be replaced --RESTORE DATABASE--> Restoring --RESTORE LOG*--> --RECOVERY--> Online
//! ```
//! Invariants: everything that can be refused is refused before the first file is touched. From then on the list says
//! "restoring" until recovery is over, durably, so that a loss of power leaves a database that is restoring and no half.

use crate::create::{self, check_name};
use crate::database_options::{note_option, noted};
use crate::errors::{catalog_error, engine_error};
use crate::instance::{CloseRefused, Instance};
use crate::media::{Stats, backup_error, check_options, closing, device, moment_us};
use crate::options::{absolute, options_of};
use crate::own_files;
use ::backup::{FileFacts, Media, SetEnd, SetHeader, SetKind};
use catalog::{Catalog, DatabaseDef, DatabaseState, FileDef, FilegroupDef};
use engine::{Database, RestoreReport, RestoreRequest, Stopped};
use executor::{SqlError, SqlMessage};
use session_state::{MediaOrder, OpenDatabase};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use types::Value;

const KNOWN: &[&str] = &["FILE", "MOVE", "REPLACE", "RECOVERY", "NORECOVERY", "STATS", "STOPAT"];

/// WITH FILE = n.
pub(crate) fn position(order: &MediaOrder) -> u32 {
    order.value("FILE").and_then(Value::as_i64).unwrap_or(1).clamp(0, i64::from(u32::MAX)) as u32
}

/// The device of a RESTORE.
pub(crate) fn media(instance: &Instance, order: &MediaOrder) -> Result<Media, SqlError> {
    let path = device(instance, order)?;
    let path = path.unwrap_or_else(|| PathBuf::from("NUL"));
    Media::open(&*instance.config.fs, &path).map_err(backup_error)
}

/// RESTORE DATABASE and RESTORE LOG. Suspends.
pub(crate) fn restore(
    instance: &Arc<Instance>,
    log: bool,
    order: &MediaOrder,
    tell: &mut dyn FnMut(SqlMessage),
) -> Result<(), SqlError> {
    check_options(order, "RESTORE", KNOWN)?;
    if order.has("RECOVERY") && order.has("NORECOVERY") {
        return Err(SqlError::new(
            3031,
            16,
            "Option 'norecovery' conflicts with option(s) 'recovery'. Remove the conflicting option and reissue the \
             statement.",
        ));
    }
    let _passage = instance.databases_gate.enter();
    let existing = instance.server.database(&order.database).ok();
    if order.database.eq_ignore_ascii_case("master") {
        return Err(SqlError::new(
            3108,
            16,
            "To restore the master database, the server must be running in single-user mode. That is not supported: \
             stop the server and put its files back.",
        ));
    }
    if order.devices.is_empty() {
        let def = existing.ok_or_else(|| unknown(&order.database))?;
        if def.state != DatabaseState::Restoring {
            return Err(SqlError::new(3153, 16, "The database is already fully recovered."));
        }
        return recover(instance, (*def).clone());
    }
    let stop_at_us = order.value("STOPAT").map(moment_us).transpose()?;
    let media = media(instance, order)?;
    let mut set = media.set(position(order)).map_err(backup_error)?;
    let info = set.info().clone();
    let mut stats = Stats::of(order);
    let job = Job { instance, order, stop_at_us };
    let (def, report) = match log {
        false => {
            check_name(&order.database)?;
            if info.header.kind != SetKind::Database {
                return Err(SqlError::new(
                    3118,
                    16,
                    format!(
                        "The database \"{}\" does not exist. RESTORE can only create a database when restoring either \
                         a full backup or a file backup of the primary file.",
                        order.database
                    ),
                ));
            }
            job.database(existing.as_deref(), &mut set, &mut |d, a| stats.tell(d, a, tell))?
        }
        true => {
            let def = existing.ok_or_else(|| unknown(&order.database))?;
            job.log(&def, &mut set, &mut |d, a| stats.tell(d, a, tell))?
        }
    };
    let what = if log { "RESTORE LOG" } else { "RESTORE DATABASE" };
    let files: Vec<(String, u64)> = report
        .pages
        .iter()
        .map(|(id, pages)| {
            let named = report.end.files.iter().find(|f| f.file_id == *id);
            (named.map_or_else(String::new, |f| f.logical_name.clone()), *pages)
        })
        .collect();
    let waits = log && report.stopped == Stopped::BeforeTime;
    if waits {
        let text = "This backup set contains records that were logged before the designated point in time. The database \
                    is being left in the restoring state so that more roll forward can be performed.";
        tell(SqlMessage::info(0, 1, text));
    } else if !order.has("NORECOVERY") {
        recover(instance, def)?;
    }
    closing(what, &order.database, info.position, &files, report.elapsed_ns, tell);
    Ok(())
}

/// Recovers a restored database and puts it into service. The gate is held. Suspends.
fn recover(instance: &Arc<Instance>, def: DatabaseDef) -> Result<(), SqlError> {
    let config = &instance.config;
    let primary = absolute(&config.data_dir, &def.filegroups[0].files[0].path);
    let options = options_of(config, &def);
    let engine =
        Database::recover_restored(config.fs.clone(), &primary, options).map_err(engine_error)?;
    into_service(instance, def, engine)
}

/// An engine that was recovered becomes a database of the instance. Suspends.
pub(crate) fn into_service(
    instance: &Arc<Instance>,
    mut def: DatabaseDef,
    engine: Arc<Database>,
) -> Result<(), SqlError> {
    let catalog = Catalog::open(&engine).map_err(catalog_error)?;
    catalog.set_filegroups(&def.filegroups).map_err(catalog_error)?;
    def.state = DatabaseState::Online;
    let model = engine.recovery_model().name();
    note_option(&mut def, "recovery", model);
    engine.set_read_only(noted(&def, "updateability") == Some("READ_ONLY"));
    let (id, name) = (def.database_id as u16, def.name.to_string());
    instance.server.update(def).map_err(catalog_error)?;
    instance.forget_trouble(&name);
    instance.add_database(OpenDatabase { id, name, engine, catalog });
    Ok(())
}

/// One RESTORE under way.
struct Job<'a> {
    instance: &'a Arc<Instance>,
    order: &'a MediaOrder,
    stop_at_us: Option<u64>,
}

impl Job<'_> {
    fn database(
        &self,
        existing: Option<&DatabaseDef>,
        set: &mut ::backup::SetReader<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(DatabaseDef, RestoreReport), SqlError> {
        let header = set.info().header.clone();
        let end = set.info().end.clone();
        let Some(end) = end else { return Err(unknown(&self.order.database)) };
        engine::check_version(&header).map_err(engine_error)?;
        let replace = self.order.has("REPLACE");
        let places = self.places(existing, &header, &end)?;
        self.check_places(existing, &places, replace)?;
        if let Some(existing) = existing {
            self.may_replace(existing, &header, replace)?;
        }
        if self.stop_at_us.is_some_and(|at| at < end.finished_us) {
            return Err(SqlError::new(
                4338,
                16,
                "The STOPAT clause specifies a point too early to allow this backup set to be restored. Choose a \
                 different stop point or use RESTORE DATABASE WITH RECOVERY to recover at the current point.",
            ));
        }
        let mut def = self.define(&header, &end, &places);
        // From here on the old database is gone.
        let server = &self.instance.server;
        let def = match existing {
            None => (*server.add(def).map_err(catalog_error)?).clone(),
            Some(existing) => {
                match self.instance.close_database(&existing.name) {
                    Ok(()) | Err(CloseRefused::Unknown) => {}
                    Err(CloseRefused::InUse) => {
                        return Err(SqlError::new(
                            3101,
                            16,
                            "Exclusive access could not be obtained because the database is in use.",
                        ));
                    }
                    // It could not be closed in order, and is about to be written over.
                    Err(CloseRefused::Engine(_)) => {}
                }
                def.database_id = existing.database_id;
                def.name = existing.name.clone();
                let def = (*server.update(def).map_err(catalog_error)?).clone();
                create::remove_files(&self.instance.config, existing);
                self.instance.forget_trouble(&existing.name);
                def
            }
        };
        let fs = &self.instance.config.fs;
        for path in places.values() {
            if fs.exists(path).map_err(|e| cannot_write(path, &e))? {
                fs.remove(path).map_err(|e| cannot_write(path, &e))?;
            }
        }
        let place = |f: &FileFacts| places.get(&f.file_id).cloned().unwrap_or_default();
        let request = RestoreRequest {
            fs: self.instance.config.fs.clone(),
            place: &place,
            options: &options_of(&self.instance.config, &def),
            stop_at_us: self.stop_at_us,
            progress,
        };
        match engine::restore_database(set, request) {
            Ok(report) => Ok((def, report)),
            Err(error) => {
                if existing.is_none() {
                    // Nobody was told that it exists; what was written goes again.
                    create::remove_files(&self.instance.config, &def);
                    let _ = server.remove(&def.name);
                }
                Err(engine_error(error))
            }
        }
    }

    fn log(
        &self,
        def: &DatabaseDef,
        set: &mut ::backup::SetReader<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(DatabaseDef, RestoreReport), SqlError> {
        if def.state != DatabaseState::Restoring {
            return Err(SqlError::new(
                3117,
                16,
                "The log or differential backup cannot be restored because no files are ready to rollforward.",
            ));
        }
        let header = set.info().header.clone();
        let Some(end) = set.info().end.clone() else { return Err(unknown(&def.name)) };
        let config = &self.instance.config;
        let places = self.places(Some(def), &header, &end)?;
        let known = |id: u16| id == 2 || def.data_files().any(|f| f.file_id == id);
        let new: BTreeMap<u16, PathBuf> =
            places.iter().filter(|(id, _)| !known(**id)).map(|(i, p)| (*i, p.clone())).collect();
        self.check_places(Some(def), &new, false)?;
        let primary = absolute(&config.data_dir, &def.filegroups[0].files[0].path);
        let place = |f: &FileFacts| places.get(&f.file_id).cloned().unwrap_or_default();
        let request = RestoreRequest {
            fs: config.fs.clone(),
            place: &place,
            options: &options_of(config, def),
            stop_at_us: self.stop_at_us,
            progress,
        };
        let report = engine::restore_log(&primary, set, request).map_err(engine_error)?;
        let mut later = self.define(&header, &end, &places);
        later.database_id = def.database_id;
        later.name = def.name.clone();
        let later = self.instance.server.update(later).map_err(catalog_error)?;
        Ok(((*later).clone(), report))
    }

    /// Where each file of the set goes.
    fn places(
        &self,
        existing: Option<&DatabaseDef>,
        header: &SetHeader,
        end: &SetEnd,
    ) -> Result<BTreeMap<u16, PathBuf>, SqlError> {
        let moves: Vec<(&str, &str)> = self
            .order
            .options
            .iter()
            .filter(|(name, _, _)| name == "MOVE")
            .filter_map(|(_, file, to)| Some((file.as_ref()?.as_str()?, to.as_deref()?)))
            .collect();
        let all = || header.files.iter().chain(&end.files);
        for (file, _) in &moves {
            if !all().any(|f| f.logical_name.eq_ignore_ascii_case(file)) {
                return Err(SqlError::new(
                    3234,
                    16,
                    format!(
                        "Logical file '{file}' is not part of database '{}'. Use RESTORE FILELISTONLY to list the \
                         logical file names.",
                        self.order.database
                    ),
                ));
            }
        }
        let data_dir = &self.instance.config.data_dir;
        let mut places = BTreeMap::new();
        for file in all() {
            let moved = moves.iter().find(|(name, _)| file.logical_name.eq_ignore_ascii_case(name));
            let kept = existing.and_then(|def| {
                def.files().find(|f| f.name.eq_ignore_ascii_case(&file.logical_name))
            });
            let path = match (moved, kept) {
                (Some((_, to)), _) => absolute(data_dir, to),
                (None, Some(kept)) => absolute(data_dir, &kept.path),
                (None, None) => absolute(data_dir, &file.path),
            };
            places.insert(file.file_id, path);
        }
        Ok(places)
    }

    /// No two files in one place, none of another database, none that nobody said may be written over.
    fn check_places(
        &self,
        existing: Option<&DatabaseDef>,
        places: &BTreeMap<u16, PathBuf>,
        replace: bool,
    ) -> Result<(), SqlError> {
        let config = &self.instance.config;
        let mut seen: Vec<&Path> = Vec::new();
        for path in places.values() {
            if seen.contains(&&**path) {
                return Err(SqlError::new(
                    3176,
                    16,
                    format!(
                        "File '{}' is claimed by several files of the database. The WITH MOVE clause can be used to \
                         relocate one or more files.",
                        path.display()
                    ),
                ));
            }
            seen.push(path);
            let belongs = |def: &DatabaseDef| {
                def.files().any(|f| absolute(&config.data_dir, &f.path) == **path)
            };
            let others = self.instance.server.databases();
            let other = others
                .iter()
                .find(|d| existing.is_none_or(|e| e.database_id != d.database_id) && belongs(d));
            let masters =
                ["master.mdf", "master_log.ldf"].iter().any(|f| config.data_dir.join(f) == **path);
            if other.is_some() || masters {
                let name = other.map_or("master", |d| &*d.name);
                return Err(SqlError::new(
                    1834,
                    16,
                    format!(
                        "The file '{}' cannot be overwritten. It is being used by database '{name}'.",
                        path.display()
                    ),
                ));
            }
            own_files::of_database(self.instance, path, existing.map(|e| e.database_id))
                .map_err(|e| cannot_write(path, &e))?;
            let there = config.fs.exists(path).map_err(|e| cannot_write(path, &e))?;
            if there && !replace && !existing.is_some_and(belongs) {
                return Err(SqlError::new(
                    3142,
                    16,
                    format!(
                        "File \"{0}\" cannot be restored over the existing \"{0}\". Reissue the RESTORE statement using \
                         WITH REPLACE to overwrite pre-existing files, or WITH MOVE to identify an alternate location.",
                        path.display()
                    ),
                ));
            }
        }
        Ok(())
    }

    /// 3154, 3159.
    fn may_replace(
        &self,
        existing: &DatabaseDef,
        header: &SetHeader,
        replace: bool,
    ) -> Result<(), SqlError> {
        if replace || existing.state == DatabaseState::Restoring {
            return Ok(());
        }
        let open = self.instance.database(&existing.name);
        let open = open.ok_or_else(|| {
            self.instance.why_closed(&existing.name).unwrap_or_else(|| unknown(&existing.name))
        })?;
        if open.engine.family() != header.family {
            return Err(SqlError::new(
                3154,
                16,
                format!(
                    "The backup set holds a backup of a database other than the existing '{}' database.",
                    existing.name
                ),
            ));
        }
        if open.engine.keeps_log_for_backup() {
            return Err(SqlError::new(
                3159,
                16,
                format!(
                    "The tail of the log for the database \"{}\" has not been backed up. Use BACKUP LOG to backup the log \
                     if it contains work you do not want to lose. Use the WITH REPLACE clause of the RESTORE statement to \
                     just overwrite the contents of the log.",
                    existing.name
                ),
            ));
        }
        Ok(())
    }

    /// The entry in the list: restoring.
    fn define(
        &self,
        header: &SetHeader,
        end: &SetEnd,
        places: &BTreeMap<u16, PathBuf>,
    ) -> DatabaseDef {
        let file = |f: &FileFacts| FileDef {
            file_id: f.file_id,
            name: f.logical_name.as_str().into(),
            path: shown(&self.instance.config.data_dir, &places[&f.file_id]),
            size_bytes: f.initial_bytes,
            max_bytes: f.max_bytes,
        };
        let mut filegroups: Vec<FilegroupDef> = Vec::new();
        for f in end.files.iter().filter(|f| !f.is_log()) {
            while filegroups.len() < usize::from(f.filegroup) {
                let name = format!("FG{}", filegroups.len() + 1).into();
                filegroups.push(FilegroupDef {
                    name,
                    is_default: false,
                    memory: None,
                    files: Vec::new(),
                });
            }
            let group = &mut filegroups[usize::from(f.filegroup.max(1)) - 1];
            group.name = f.filegroup_name.as_str().into();
            group.is_default |= f.filegroup_is_default;
            group.files.push(file(f));
        }
        let log = end.files.iter().find(|f| f.is_log()).map(file);
        let options = header.options.iter().map(|(k, v)| (k.as_str().into(), v.as_str().into()));
        DatabaseDef {
            database_id: 0,
            name: self.order.database.as_str().into(),
            state: DatabaseState::Restoring,
            options: options.collect(),
            log: log.unwrap_or_else(|| FileDef {
                file_id: 2,
                name: "log".into(),
                path: shown(&self.instance.config.data_dir, &places[&2]),
                size_bytes: 0,
                max_bytes: None,
            }),
            filegroups,
            created_unix_ns: header.created_unix_ns,
        }
    }
}

/// A path as the list keeps it: relative where it lies in the data folder.
pub(crate) fn shown(data_dir: &Path, path: &Path) -> Box<str> {
    path.strip_prefix(data_dir).unwrap_or(path).to_string_lossy().into()
}

fn unknown(name: &str) -> SqlError {
    SqlError::new(
        911,
        16,
        format!("Database '{name}' does not exist. Make sure that the name is entered correctly."),
    )
}

fn cannot_write(path: &Path, error: &std::io::Error) -> SqlError {
    SqlError::new(
        3634,
        16,
        format!(
            "The operating system returned the error '{error}' while attempting to remove '{}'.",
            path.display()
        ),
    )
}
