//! tempdb, model and msdb: databases like any other, but made when somebody goes there first (USE, or a login).
//!
//! What is in tempdb is gone at the next start. `#t` is the session's own, in memory, wherever it is made; msdb has what
//! `msdb.rs` makes there. Invariant: their ids are SQL Server's.

use crate::Instance;
use crate::create;
use crate::msdb;
use crate::options::system_options;
use catalog::{Catalog, DatabaseDef, DatabaseState, FileDef, FilegroupDef};
use engine::Database;
use session_state::OpenDatabase;
use std::sync::Arc;
use system_views::SYSTEM_DATABASES;

const MSDB: u16 = 4;

/// The name and id of a database of the system that is not master.
pub(crate) fn named(name: &str) -> Option<(&'static str, i32)> {
    SYSTEM_DATABASES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
}

impl Instance {
    /// The open database of that name; one of the system's is made when it is not there. Suspends.
    pub(crate) fn enter_database(self: &Arc<Self>, name: &str) -> Option<Arc<OpenDatabase>> {
        let open = match self.database(name) {
            Some(open) => open,
            None => self.make_system_database(name)?,
        };
        if open.id == MSDB && !msdb::is_furnished(&open) {
            let _passage = self.databases_gate.enter();
            // An error leaves it as it is: what is not there is said by whoever asks for it.
            if !msdb::is_furnished(&open)
                && let Err(said) = msdb::furnish(self, &open)
            {
                said.iter().for_each(|message| crate::recovering::say(&message.to_string()));
            }
        }
        Some(open)
    }

    fn make_system_database(&self, name: &str) -> Option<Arc<OpenDatabase>> {
        let (name, id) = named(name)?;
        let _passage = self.databases_gate.enter();
        if let Some(made) = self.database(name) {
            return Some(made);
        }
        let def = self.server.add_system(definition(name, id)).ok()?;
        let built = self.build_system_database(&def);
        if built.is_none() {
            create::remove_files(&self.config, &def);
            let _ = self.server.remove(name);
        }
        built
    }

    fn build_system_database(&self, def: &DatabaseDef) -> Option<Arc<OpenDatabase>> {
        let config = &self.config;
        let files = create::files_of(config, def);
        let engine = Database::create(config.fs.clone(), &files, system_options(config)).ok()?;
        let catalog = Catalog::create(&engine).ok()?;
        catalog.set_filegroups(&def.filegroups).ok()?;
        let online = DatabaseDef { state: DatabaseState::Online, ..def.clone() };
        self.server.update(online).ok()?;
        let (id, name) = (def.database_id as u16, def.name.to_string());
        self.add_database(OpenDatabase { id, name, engine, catalog });
        self.database(&def.name)
    }
}

fn definition(name: &str, id: i32) -> DatabaseDef {
    // As SQL Server calls their files.
    let (data, log) = match name {
        "tempdb" => ("tempdev", "templog"),
        "model" => ("modeldev", "modellog"),
        _ => ("MSDBData", "MSDBLog"),
    };
    let file = |file_id: u16, name: &str, path: String| FileDef {
        file_id,
        name: name.into(),
        path: path.into(),
        size_bytes: 0,
        max_bytes: None,
    };
    DatabaseDef {
        database_id: id,
        name: name.into(),
        state: DatabaseState::Creating,
        options: Vec::new(),
        log: file(2, log, format!("{name}_log.ldf")),
        filegroups: vec![FilegroupDef {
            name: "PRIMARY".into(),
            is_default: true,
            memory: None,
            files: vec![file(1, data, format!("{name}.mdf"))],
        }],
        created_unix_ns: runtime::clock::unix_ns(),
    }
}
