//! Extended procedures that look at the server's folders: xp_fileexist, xp_dirtree, xp_create_subdir.
//!
//! Promises: only who may control the server learns of files; a path means what it does to BULK INSERT (one without a
//! folder is in the data folder). What cannot be looked at is told as not there, as SQL Server does.
//!
//! They are not documented by themselves; columns are those that tools read.

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use executor::{ColumnMeta, Command, SqlError};
use security::Permission;
use session_state::FolderEntry;
use types::{Len, SqlType, Value, convert};

/// Folders below folders that xp_dirtree follows, and rows that it gives, whatever it is asked for.
const DEPTH_MAX: usize = 64;
const ROWS_MAX: usize = 1_000_000;

impl Commands<'_> {
    /// xp_fileexist path [, @result OUTPUT]: a row, or 1 or 0 in the variable.
    pub(crate) fn file_exists(
        &mut self,
        args: &[Argument],
        vars: &[SqlType],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.check_server(Permission::ControlServer)?;
        let path = arguments::needed("xp_fileexist", args, 0, "@filename")?;
        let facts = self.host.path_facts(path);
        if let Some(var) = args.get(1).and_then(|arg| arg.output) {
            let to = vars[var as usize];
            let found = Value::Int(i32::from(facts.is_file));
            frame[var as usize] = convert::cast(&found, SqlType::Int, to, 0)?;
            return Ok(());
        }
        let flag = |name| ColumnMeta::new(name, SqlType::TinyInt, false);
        self.sink.columns(&[
            flag("File Exists"),
            flag("File is a Directory"),
            flag("Parent Directory Exists"),
        ]);
        let cells = [facts.is_file, facts.is_folder, facts.has_parent];
        self.sink.row(&cells.map(|cell| Value::TinyInt(u8::from(cell))));
        self.tell_done(Command::Select, Some(1));
        Ok(())
    }

    /// xp_dirtree path [, depth [, file]]: depth 0 is all; files are listed when `file` is not 0.
    pub(crate) fn folder_tree(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        self.check_server(Permission::ControlServer)?;
        let path = arguments::needed("xp_dirtree", args, 0, "@path")?.to_string();
        let number = |i: usize| {
            let value = args.get(i).and_then(|arg| arg.value.as_ref());
            value.and_then(Value::as_i64).unwrap_or(0)
        };
        let with_files = number(2) != 0;
        let depth = match number(1) {
            n if n <= 0 => DEPTH_MAX,
            n => (n as usize).min(DEPTH_MAX),
        };
        let mut columns = vec![
            ColumnMeta::new("subdirectory", SqlType::NVarChar(Len::N(512)), true),
            ColumnMeta::new("depth", SqlType::Int, true),
        ];
        if with_files {
            columns.push(ColumnMeta::new("file", SqlType::Int, true));
        }
        self.sink.columns(&columns);
        let mut rows = 0u64;
        // Folders to look into, the next one last: what a folder has comes right behind it.
        let mut entries: Vec<(FolderEntry, usize)> = self.entries(&path, 1);
        while let Some((entry, level)) = entries.pop() {
            runtime::task::breathe()?;
            if entry.is_folder || with_files {
                let mut row = vec![Value::str(&entry.name), Value::Int(level as i32)];
                if with_files {
                    row.push(Value::Int(i32::from(!entry.is_folder)));
                }
                self.sink.row(&row);
                rows += 1;
            }
            if entry.is_folder && level < depth && entries.len() < ROWS_MAX {
                let below = self.entries(&entry.path, level + 1);
                entries.extend(below);
            }
        }
        self.tell_done(Command::Select, Some(rows));
        Ok(())
    }

    /// In falling order, as the last is taken first.
    fn entries(&mut self, path: &str, level: usize) -> Vec<(FolderEntry, usize)> {
        let mut entries = self.host.folder_entries(path);
        entries.sort_by(|a, b| b.name.cmp(&a.name));
        entries.into_iter().map(|entry| (entry, level)).collect()
    }

    /// xp_create_subdir path: the folder and those above it that lack; one that is there already is no error.
    pub(crate) fn create_folder(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        self.check_server(Permission::ControlServer)?;
        let path = arguments::needed("xp_create_subdir", args, 0, "@path")?;
        self.host.create_folder(path).map_err(|e| {
            let code = e.raw_os_error().unwrap_or(0);
            let text = format!("xp_create_subdir() returned error {code}, '{e}'");
            SqlError::new(22048, 16, text)
        })
    }
}
