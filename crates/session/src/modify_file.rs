//! ALTER DATABASE MODIFY FILE: SIZE, MAXSIZE, FILEGROWTH = 0, NEWNAME.
//!
//! Promise: what is refused changes nothing, but that a file for which the disk had no room may be longer than it was.

use crate::create::{max_bytes_of, max_size_error, name_in_use};
use crate::errors::{catalog_error, engine_error};
use catalog::{DatabaseDef, same_name};
use engine::EngineError;
use executor::SqlError;
use session_state::OpenDatabase;
use syntax::ast::{FileGrowth, FileSpec};

/// Changes the file of an open database; its definition then, which the caller keeps. 5041, 5039, 5149, 1842,
/// 1828. Suspends.
pub(crate) fn modify(
    open: &OpenDatabase,
    mut def: DatabaseDef,
    spec: &FileSpec,
) -> Result<DatabaseDef, SqlError> {
    if spec.filename.is_some() {
        return Err(SqlError::unsupported("ALTER DATABASE MODIFY FILE with FILENAME"));
    }
    let name = spec.name.as_deref().unwrap_or_default();
    let taken =
        |new: &str| def.files().any(|f| same_name(&f.name, new) && !same_name(&f.name, name));
    if let Some(new) = spec.new_name.as_deref().filter(|new| taken(new)) {
        return Err(name_in_use(new));
    }
    let data = def.filegroups.iter_mut().flat_map(|g| &mut g.files);
    let Some(file) = data.chain([&mut def.log]).find(|f| same_name(&f.name, name)) else {
        let text = format!("MODIFY FILE failed. File '{name}' does not exist.");
        return Err(SqlError::new(5041, 16, text));
    };
    let id = file.file_id;
    let figures = open.engine.file_figures();
    let now = figures.iter().find(|f| f.file_id == id).map_or(0, |f| f.size_bytes);
    if spec.size_bytes.is_some_and(|size| size <= now) {
        let text = "MODIFY FILE failed. Specified size is less than or equal to current size.";
        return Err(SqlError::new(5039, 16, text));
    }
    let size = spec.size_bytes.unwrap_or(now);
    let grows = !matches!(spec.growth, None | Some(FileGrowth::Bytes(0) | FileGrowth::Percent(0)));
    let max = match (spec.max_size, spec.growth) {
        (None, None) => file.max_bytes,
        // It may grow again, where it could not by an earlier FILEGROWTH = 0.
        (None, Some(_)) if grows => file.max_bytes.filter(|max| *max > now),
        _ => max_bytes_of(spec, size),
    };
    if max.is_some_and(|max| max < size) {
        return Err(max_size_error());
    }
    if max != file.max_bytes {
        open.engine.set_max_bytes(id, max).map_err(engine_error)?;
    }
    if size > now {
        match open.engine.grow_file(id, size) {
            Ok(bytes) => file.size_bytes = bytes,
            Err(error) => {
                open.engine.set_max_bytes(id, file.max_bytes).map_err(engine_error)?;
                return Err(match error {
                    EngineError::FilegroupFull { .. } => no_room(&file.path),
                    other => engine_error(other),
                });
            }
        }
    }
    file.max_bytes = max;
    if let Some(new) = &spec.new_name {
        file.name = new.as_str().into();
    }
    open.catalog.set_filegroups(&def.filegroups).map_err(catalog_error)?;
    Ok(def)
}

/// 5149.
fn no_room(path: &str) -> SqlError {
    let text = format!(
        "MODIFY FILE encountered operating system error 112(There is not enough space on the disk.) while attempting to \
         expand the physical file '{path}'."
    );
    SqlError::new(5149, 16, text)
}
