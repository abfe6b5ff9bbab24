//! Databases come and go as files: CREATE DATABASE FOR ATTACH, sp_detach_db, ALTER DATABASE SET OFFLINE and ONLINE.
//!
//! Invariant: files that were there before the statement are never removed by it, nor by what follows a loss of power
//! in the middle: an entry made on the way says "offline", not "being created".

use crate::create::check_name;
use crate::errors::{catalog_error, engine_error};
use crate::instance::{CloseRefused, Instance};
use crate::options::{absolute, decided, options_of};
use crate::restore::{into_service, shown};
use catalog::{Catalog, CatalogError, DatabaseDef, DatabaseState, FileDef};
use engine::Database;
use executor::SqlError;
use runtime::clock;
use std::path::PathBuf;
use std::sync::Arc;
use syntax::ast::CreateDatabase;

/// CREATE DATABASE FOR ATTACH. Suspends.
pub(crate) fn attach(instance: &Arc<Instance>, statement: &CreateDatabase) -> Result<(), SqlError> {
    let name = &statement.name.value;
    check_name(name)?;
    // A log that is there is not built anew: the database is the same with it.
    let known = |option: &str| matches!(option, "ATTACH" | "ATTACH_REBUILD_LOG");
    if let Some(option) = statement.options.iter().find(|o| !known(&o.name)) {
        return Err(SqlError::unsupported(format!(
            "CREATE DATABASE FOR ATTACH WITH {}",
            option.name
        )));
    }
    let config = &instance.config;
    let _passage = instance.databases_gate.enter();
    if instance.server.database(name).is_ok() {
        return Err(catalog_error(CatalogError::DatabaseExists { name: name.as_str().into() }));
    }
    let data = statement.filegroups.iter().flat_map(|g| &g.files);
    let named = data.chain(&statement.log_files).map(|f| f.filename.as_deref());
    let paths: Option<Vec<PathBuf>> =
        named.map(|f| f.map(|f| absolute(&config.data_dir, f))).collect();
    let Some([primary, others @ ..]) = paths.as_deref() else {
        return Err(SqlError::new(
            153,
            15,
            "CREATE DATABASE FOR ATTACH needs the FILENAME of the primary file.",
        ));
    };
    Database::relocate(&*config.fs, primary, others).map_err(engine_error)?;
    let mut def = DatabaseDef {
        database_id: 0,
        name: name.as_str().into(),
        state: DatabaseState::Offline,
        options: Vec::new(),
        log: FileDef {
            file_id: 2,
            name: format!("{name}_log").into(),
            path: "".into(),
            size_bytes: 0,
            max_bytes: None,
        },
        filegroups: Vec::new(),
        created_unix_ns: clock::unix_ns(),
    };
    let decided = decided(&instance.server);
    let options = engine::DbOptions { decided, ..options_of(config, &def) };
    let engine = Database::open(config.fs.clone(), primary, options).map_err(engine_error)?;
    // The names are in its own catalog, the places in its boot record.
    let files = engine.files();
    def.log.path = shown(&config.data_dir, &files.log);
    let result = (|| {
        let catalog = Catalog::open(&engine).map_err(catalog_error)?;
        def.filegroups = catalog.filegroups();
        if catalog.collation() != types::Collation::default() {
            let (option, name) = (crate::database_options::COLLATION, catalog.collation().name());
            crate::database_options::note_option(&mut def, option, &name);
        }
        for group in &mut def.filegroups {
            for file in &mut group.files {
                if let Some(now) = files.data.iter().find(|f| f.file_id == file.file_id) {
                    file.path = shown(&config.data_dir, &now.path);
                }
            }
        }
        drop(catalog);
        instance.server.add(def).map_err(catalog_error)
    })();
    match result {
        Ok(def) => into_service(instance, (*def).clone(), engine),
        Err(error) => {
            let _ = engine.close();
            Err(error)
        }
    }
}

/// sp_detach_db: the files stay. Suspends.
pub(crate) fn detach(instance: &Arc<Instance>, name: &str) -> Result<(), SqlError> {
    let _passage = instance.databases_gate.enter();
    if name.eq_ignore_ascii_case("master") {
        return Err(SqlError::new(
            7940,
            16,
            "System databases master, model, msdb, and tempdb cannot be detached.",
        ));
    }
    if instance.server.database(name).is_err() {
        return Err(SqlError::new(
            15010,
            16,
            format!(
                "The database '{name}' does not exist. Supply a valid database name. To see available databases, use \
                 sys.databases."
            ),
        ));
    }
    close(instance, name, 3703, "Cannot detach the database")?;
    instance.forget_trouble(name);
    instance.server.remove(name).map_err(catalog_error)
}

/// ALTER DATABASE SET ONLINE or OFFLINE. The gate is held. Suspends.
pub(crate) fn set_online(
    instance: &Arc<Instance>,
    name: &str,
    online: bool,
) -> Result<(), SqlError> {
    if name.eq_ignore_ascii_case("master") {
        return Err(SqlError::unsupported("ALTER DATABASE master"));
    }
    let def = instance.server.database(name).map_err(catalog_error)?;
    if def.state == DatabaseState::Restoring {
        return Err(SqlError::new(
            5052,
            16,
            "ALTER DATABASE is not permitted while a database is in the Restoring state.",
        ));
    }
    let open = instance.database(name).is_some();
    match (online, open) {
        (true, true) => Ok(()),
        (true, false) => instance.bring_online(&def),
        (false, there) => {
            if there {
                close(
                    instance,
                    name,
                    5061,
                    "ALTER DATABASE failed because a lock could not be placed on database",
                )?;
            }
            instance.forget_trouble(name);
            let def = DatabaseDef { state: DatabaseState::Offline, ..(*def).clone() };
            instance.server.update(def).map(drop).map_err(catalog_error)
        }
    }
}

/// Takes a database out of service; `refusal` when sessions use it.
fn close(instance: &Arc<Instance>, name: &str, number: i32, refusal: &str) -> Result<(), SqlError> {
    match instance.close_database(name) {
        Ok(()) | Err(CloseRefused::Unknown) => Ok(()),
        Err(CloseRefused::InUse) => {
            let text = format!("{refusal} '{name}' because it is currently in use.");
            Err(SqlError::new(number, 16, text))
        }
        Err(CloseRefused::Engine(error)) => Err(engine_error(error)),
    }
}
