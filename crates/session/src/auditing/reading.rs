//! sys.fn_get_audit_file: the records of the files that a pattern names.
//!
//! Promises: of the server's own files none is looked at, whatever links lead there (`own_files.rs`); behind a wildcard only
//! names of audit files are, so that others may lie beside them; files come in the order of their making, whichever audit
//! they are of; what is being written is read up to where it is durable.

use crate::instance::Instance;
use crate::own_files;
use ::audit::{FILE_ENDING, FoundRecord, ReadError, Reader, Skipped};
use executor::SqlError;
use runtime::task::Breath;
use session_state::AuditFileRows;
use std::path::{Path, PathBuf};
use system_views::{AuditRow, audit_file_row};
use types::Value;

/// Steps that a record counts for.
const RECORD_STEPS: usize = 200;

fn refuse<T>(number: i32, severity: u8, text: String) -> Result<T, SqlError> {
    Err(SqlError::new(number, severity, text))
}

impl Instance {
    /// Of a session that may. Suspends.
    pub(crate) fn audit_file(&self, args: &[Value]) -> Result<AuditFileRows, SqlError> {
        let text = |at: usize| args.get(at).and_then(Value::as_str).filter(|t| !t.is_empty());
        let (pattern, initial) = (text(0).unwrap_or(""), text(1));
        let offset = args.get(2).and_then(Value::as_i64);
        let mut files = self.audit_files(pattern)?;
        if files.is_empty() {
            return refuse(
                33224,
                16,
                "The specified pattern did not return any files or does not represent a valid file share. Verify the pattern \
                 parameter and rerun the command."
                    .into(),
            );
        }
        if let Some(initial) = initial {
            let first = self.place_of(initial, pattern)?;
            let Some(at) = files.iter().position(|file| *file == first) else {
                return no_place();
            };
            files.drain(..at);
        } else if offset.is_some() {
            return no_place();
        }
        let mut found = AuditFileRows::default();
        let mut breath = Breath::new();
        let mut start = offset;
        for file in files {
            let written = self.auditor.written(&file);
            let opened = Reader::open(&*self.config.fs, &file, written);
            let mut reader = opened.map_err(|error| unreadable(pattern, error))?;
            if let Some(offset) = start.take() {
                let at = u64::try_from(offset).ok();
                let behind = at.map_or(Ok(false), |at| reader.go_behind(at));
                if !behind.map_err(|error| unreadable(pattern, error))? {
                    return no_place();
                }
            }
            let name = file.display().to_string();
            while let Some(next) = reader.next().map_err(|error| unreadable(pattern, error))? {
                breath.steps(RECORD_STEPS)?;
                match next {
                    Ok(FoundRecord { offset, record }) => {
                        found.rows.push(audit_file_row(&AuditRow { record, file: &name, offset }));
                    }
                    Err(Skipped { offset }) => found.skipped.push((name.clone(), offset)),
                }
            }
        }
        Ok(found)
    }

    /// The files of a pattern, the oldest first.
    fn audit_files(&self, pattern: &str) -> Result<Vec<PathBuf>, SqlError> {
        let place = crate::options::absolute(&self.config.data_dir, pattern);
        let (Some(folder), Some(name)) = (place.parent(), last_part(pattern)) else {
            return Ok(Vec::new());
        };
        let Some((before, after)) = name.split_once('*') else {
            let file = self.place_of(pattern, pattern)?;
            let there = self.config.fs.exists(&file).unwrap_or(false);
            return Ok(if there { vec![file] } else { Vec::new() });
        };
        let Ok(listed) = self.config.fs.list(folder) else { return Ok(Vec::new()) };
        let mut files = Vec::new();
        for path in listed {
            let Some(file) = path.file_name().and_then(|file| file.to_str()) else { continue };
            let fits = file.len() >= before.len() + after.len()
                && file.starts_with(before)
                && file.ends_with(after)
                && file.ends_with(FILE_ENDING);
            if fits && let Some(full) = path.to_str() {
                let own = self.place_of(full, pattern)?;
                files.push((time_of(file), own));
            }
        }
        files.sort();
        Ok(files.into_iter().map(|(_, path)| path).collect())
    }

    fn place_of(&self, path: &str, pattern: &str) -> Result<PathBuf, SqlError> {
        own_files::of_user(self, path)
            .map_err(|error| unreadable(pattern, ReadError::Io(error.to_string())))
    }
}

/// What stands behind the last separator; none where nothing does.
fn last_part(pattern: &str) -> Option<&str> {
    let name = pattern.rsplit('/').next()?;
    (!name.is_empty() && Path::new(name).file_name().is_some()).then_some(name)
}

/// The time in a file's name; others come first.
fn time_of(file: &str) -> u64 {
    let stem = file.strip_suffix(FILE_ENDING).unwrap_or(file);
    stem.rsplit('_').next().and_then(|time| time.parse().ok()).unwrap_or(0)
}

/// 33225.
fn no_place<T>() -> Result<T, SqlError> {
    refuse(
        33225,
        16,
        "The specified values for initial_file_name and audit_record_offset do not represent a valid location within the \
         audit file set. Verify the file name and offset location, and then rerun the command."
            .into(),
    )
}

/// 33201.
fn unreadable(pattern: &str, _: ReadError) -> SqlError {
    let text = format!(
        "An error occurred in reading from the audit file or file-pattern: '{pattern}'. The SQL service account may not \
         have Read permission on the files, or the pattern may be returning one or more corrupt files."
    );
    SqlError::new(33201, 17, text)
}
