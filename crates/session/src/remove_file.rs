//! ALTER DATABASE REMOVE FILE and REMOVE FILEGROUP: what SQL Server refuses, and what goes.
//!
//! A container of memory-optimised data is a name, and goes. A data file stays: the log may have records of its pages, and
//! filegroups are known by their place in the list. Both are refused by name when nothing else stands against it.

use catalog::{DatabaseDef, FileDef, same_name};
use executor::SqlError;
use session_state::OpenDatabase;

use crate::errors::engine_error;

/// Takes a file out of the definition: 5009, 5020, 5031, 5042, 41802. Suspends.
pub(crate) fn remove(
    open: &OpenDatabase,
    def: &mut DatabaseDef,
    name: &str,
) -> Result<(), SqlError> {
    for group in &mut def.filegroups {
        let Some(containers) = &mut group.memory else { continue };
        let Some(at) = containers.iter().position(|(n, _)| same_name(n, name)) else { continue };
        if containers.len() == 1 {
            let name = &containers[at].0;
            let text = format!("Cannot drop the last memory-optimized container '{name}'.");
            return Err(SqlError::new(41802, 16, text));
        }
        containers.remove(at);
        return Ok(());
    }
    let is = |file: &FileDef| same_name(&file.name, name);
    if is(&def.log) || def.data_files().any(|file| file.file_id == 1 && is(file)) {
        let text = "The primary data or log file cannot be removed from a database.";
        return Err(SqlError::new(5020, 16, text));
    }
    let Some(group) = def.filegroups.iter().find(|group| group.files.iter().any(is)) else {
        let text = "One or more files listed in the statement could not be found or could not be initialized.";
        return Err(SqlError::new(5009, 16, text));
    };
    let others = group.files.iter().filter(|file| !is(file)).count();
    let Some(file) = group.files.iter().find(|file| is(file)) else { return Ok(()) };
    let space = open.engine.file_space(file.file_id).map_err(engine_error)?;
    if space.is_some_and(|space| space.used_pages > 0) {
        let text = format!("The file '{}' cannot be removed because it is not empty.", file.name);
        return Err(SqlError::new(5042, 16, text));
    }
    if group.is_default && others == 0 {
        let text = format!(
            "Cannot remove the file '{}' because it is the only file in the DEFAULT filegroup.",
            file.name
        );
        return Err(SqlError::new(5031, 16, text));
    }
    Err(SqlError::unsupported("ALTER DATABASE REMOVE FILE of an empty data file"))
}

/// 5042 of a filegroup with files.
pub(crate) fn check_filegroup(def: &DatabaseDef, name: &str) -> Result<(), SqlError> {
    let found = def.filegroups.iter().find(|group| same_name(&group.name, name));
    if let Some(group) = found
        && (!group.files.is_empty() || group.memory.as_ref().is_some_and(|m| !m.is_empty()))
    {
        let text =
            format!("The filegroup '{}' cannot be removed because it is not empty.", group.name);
        return Err(SqlError::new(5042, 16, text));
    }
    Err(SqlError::unsupported("ALTER DATABASE REMOVE FILEGROUP"))
}
