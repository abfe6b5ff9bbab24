//! CREATE DATABASE: from what the statement says to files, and back from the list in `master` to files.
//!
//! Invariant: filegroup number = its place in [`DatabaseDef::filegroups`], from 1 (PRIMARY); file 1 is the primary
//! data file, 2 the log, further data files count on from 3.

use crate::config::InstanceConfig;
use crate::options::absolute;
use catalog::{DatabaseDef, DatabaseState, FileDef, FilegroupDef};
use engine::{DataFile, Database, DbFiles};
use executor::SqlError;
use runtime::clock;
use std::collections::BTreeSet;
use std::path::{Component, Path};
use syntax::ast::{CreateDatabase, FileGrowth, FileSpec, MaxSize};

/// SIZE of a data file when none is said.
const DATA_BYTES: u64 = 8 << 20;
/// FILEGROWTH when none is said.
const GROWTH_BYTES: u64 = 64 << 20;

/// What a CREATE DATABASE asks for, checked.
pub(crate) fn define(statement: &CreateDatabase) -> Result<DatabaseDef, SqlError> {
    let name = &statement.name.value;
    check_name(name)?;
    let collation = statement.collation.as_ref();
    let collation =
        collation.map(|name| crate::database_options::collation_named(&name.value)).transpose()?;
    let mut next_file_id = 3;
    let mut logical = BTreeSet::new();
    let mut filegroups: Vec<FilegroupDef> = Vec::new();
    let primary_first = statement.filegroups.iter().filter(|g| g.name.is_none());
    let then_others = statement.filegroups.iter().filter(|g| g.name.is_some());
    for group in primary_first.chain(then_others) {
        let group_name = group.name.as_ref().map_or("PRIMARY", |n| &n.value);
        if filegroups.is_empty() && group.name.is_some() {
            filegroups.push(primary(name, &mut logical)?);
        }
        if group.memory_optimized {
            if filegroups.iter().any(|g| g.memory.is_some()) {
                return Err(one_memory_filegroup());
            }
            let mut memory = Vec::new();
            for spec in &group.files {
                memory.push(container(spec, &mut logical)?);
            }
            filegroups.push(FilegroupDef {
                name: group_name.into(),
                is_default: false,
                memory: Some(memory),
                files: Vec::new(),
            });
            continue;
        }
        let mut files = Vec::new();
        for spec in &group.files {
            let first = filegroups.is_empty() && files.is_empty();
            let id = if first { 1 } else { next_file_id };
            next_file_id += u16::from(!first);
            files.push(file(name, spec, id, &mut logical)?);
        }
        if filegroups.is_empty() && files.is_empty() {
            filegroups.push(primary(name, &mut logical)?);
            continue;
        }
        filegroups.push(FilegroupDef {
            name: group_name.into(),
            is_default: group.default,
            memory: None,
            files,
        });
    }
    if filegroups.is_empty() {
        filegroups.push(primary(name, &mut logical)?);
    }
    if !filegroups.iter().any(|g| g.is_default) {
        filegroups[0].is_default = true;
    }
    let log = match &statement.log_files[..] {
        [] => FileDef {
            file_id: 2,
            name: format!("{name}_log").into(),
            path: format!("{name}_log.ldf").into(),
            size_bytes: 0,
            max_bytes: None,
        },
        [one] => file(name, one, 2, &mut logical)?,
        _ => return Err(SqlError::unsupported("LOG ON with several files")),
    };
    let mut def = DatabaseDef {
        database_id: 0,
        name: name.as_str().into(),
        state: DatabaseState::Creating,
        options: Vec::new(),
        log,
        filegroups,
        created_unix_ns: clock::unix_ns(),
    };
    for option in &statement.options {
        crate::database_options::set_option(&mut def, option)?;
    }
    if let Some(collation) = collation {
        let option = crate::database_options::COLLATION;
        crate::database_options::note_option(&mut def, option, &collation.name());
    }
    Ok(def)
}

/// One more file of a database (ALTER DATABASE ADD FILE).
pub(crate) fn one_more_file(def: &DatabaseDef, spec: &FileSpec) -> Result<FileDef, SqlError> {
    let id = def.data_files().map(|f| f.file_id).max().unwrap_or(1).max(2) + 1;
    let mut logical = def.data_files().map(|f| f.name.to_lowercase()).collect();
    file(&def.name, spec, id, &mut logical)
}

/// The same in the engine's terms.
pub(crate) fn data_file(config: &InstanceConfig, filegroup: u16, def: &FileDef) -> DataFile {
    DataFile {
        filegroup,
        file_id: def.file_id,
        path: absolute(&config.data_dir, &def.path),
        initial_bytes: def.size_bytes.max(DATA_BYTES),
        growth_bytes: GROWTH_BYTES,
        max_bytes: def.max_bytes,
    }
}

/// All files of a database in the engine's terms.
pub(crate) fn files_of(config: &InstanceConfig, def: &DatabaseDef) -> DbFiles {
    let groups = def.filegroups.iter().zip(1u16..);
    let data = groups
        .flat_map(|(group, number)| group.files.iter().map(move |f| (number, f)))
        .map(|(number, f)| data_file(config, number, f))
        .collect();
    DbFiles { data, log: absolute(&config.data_dir, &def.log.path) }
}

/// A file that is there already does not become one of a new database: 5170, and 1802 behind it.
pub(crate) fn check_new(config: &InstanceConfig, def: &DatabaseDef) -> Result<(), SqlError> {
    let files = files_of(config, def);
    let mut paths = files.data.iter().map(|file| &file.path).chain([&files.log]);
    match paths.find(|path| config.fs.exists(path).unwrap_or(false)) {
        None => Ok(()),
        Some(path) => {
            let path = path.display().to_string();
            Err(not_created(crate::errors::engine_error(engine::EngineError::Exists { path })))
        }
    }
}

/// 1802 behind what is wrong with a file of a new database.
pub(crate) fn not_created(file: SqlError) -> SqlError {
    let text = "CREATE DATABASE failed. Some file names listed could not be created. Check related errors.";
    let ahead = executor::SqlMessage { line: 0, ..file.to_message() };
    SqlError::new(1802, 16, text).with_state(4).with_ahead(vec![ahead])
}

/// Removes what is left of a database.
pub(crate) fn remove_files(config: &InstanceConfig, def: &DatabaseDef) {
    // A creation that did not end may have left some of its files, or none: what is missing is no error.
    let _ = Database::remove(&*config.fs, &files_of(config, def));
}

fn primary(database: &str, logical: &mut BTreeSet<String>) -> Result<FilegroupDef, SqlError> {
    let spec = FileSpec::default();
    let file = file(database, &spec, 1, logical)?;
    Ok(FilegroupDef { name: "PRIMARY".into(), is_default: false, memory: None, files: vec![file] })
}

/// 10797.
pub(crate) fn one_memory_filegroup() -> SqlError {
    let text = "Only one MEMORY_OPTIMIZED_DATA filegroup is allowed per database.";
    SqlError::new(10797, 15, text)
}

/// A container of MEMORY_OPTIMIZED_DATA: its name and path. What durable tables hold lies with the database's other data,
/// so nothing is made there (docs/compatibility.md). 5173, 1828.
pub(crate) fn container(
    spec: &FileSpec,
    logical: &mut BTreeSet<String>,
) -> Result<(Box<str>, Box<str>), SqlError> {
    let (Some(name), Some(path)) = (&spec.name, &spec.filename) else {
        let text = "The file must have a name and a path: NAME and FILENAME.";
        return Err(SqlError::new(5173, 16, text));
    };
    if !logical.insert(name.to_lowercase()) {
        return Err(name_in_use(name));
    }
    Ok((name.as_str().into(), path.as_str().into()))
}

fn file(
    database: &str,
    spec: &FileSpec,
    file_id: u16,
    logical: &mut BTreeSet<String>,
) -> Result<FileDef, SqlError> {
    let name = match (&spec.name, file_id) {
        (Some(name), _) => name.clone(),
        (None, 1) => database.to_owned(),
        (None, 2) => format!("{database}_log"),
        (None, n) => format!("{database}_{n}"),
    };
    if !logical.insert(name.to_lowercase()) {
        return Err(name_in_use(&name));
    }
    let path = spec.filename.clone().unwrap_or_else(|| match file_id {
        1 => format!("{name}.mdf"),
        2 => format!("{name}.ldf"),
        _ => format!("{name}.ndf"),
    });
    let size_bytes = spec.size_bytes.unwrap_or(DATA_BYTES);
    let max_bytes = max_bytes_of(spec, size_bytes);
    if max_bytes.is_some_and(|max| max < size_bytes) {
        return Err(max_size_error());
    }
    Ok(FileDef { file_id, name: name.into(), path: path.into(), size_bytes, max_bytes })
}

/// How far a file of that size may grow: to its MAXSIZE, and not at all by FILEGROWTH = 0.
pub(crate) fn max_bytes_of(spec: &FileSpec, size_bytes: u64) -> Option<u64> {
    match (spec.max_size, spec.growth) {
        (Some(MaxSize::Bytes(max)), _) if max < size_bytes => Some(max),
        (_, Some(FileGrowth::Bytes(0) | FileGrowth::Percent(0))) => Some(size_bytes),
        (Some(MaxSize::Bytes(max)), _) => Some(max),
        (None | Some(MaxSize::Unlimited), _) => None,
    }
}

/// 1828.
pub(crate) fn name_in_use(name: &str) -> SqlError {
    let text =
        format!("The logical file name \"{name}\" is already in use. Choose a different name.");
    SqlError::new(1828, 16, text)
}

/// 1842.
pub(crate) fn max_size_error() -> SqlError {
    SqlError::new(
        1842,
        16,
        "The file size, max size cannot be greater than 2147483647 in units of a page size, and the max size cannot be \
         smaller than the size.",
    )
}

/// A name becomes part of a path: it may not lead out of the folder.
pub(crate) fn check_name(name: &str) -> Result<(), SqlError> {
    let mut parts = Path::new(name).components();
    let plain = matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none();
    let reserved =
        ["master", "tempdb", "model", "msdb"].iter().any(|taken| name.eq_ignore_ascii_case(taken));
    if reserved {
        return Err(SqlError::new(
            1801,
            16,
            format!("Database '{name}' already exists. Choose a different database name."),
        ));
    }
    if !plain || name.contains('/') || name.contains('\0') || name.len() > 123 {
        return Err(SqlError::new(
            5135,
            16,
            format!("The name '{name}' cannot be used for the files of a database."),
        ));
    }
    Ok(())
}
