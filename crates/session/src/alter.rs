//! ALTER DATABASE.
//!
//! Invariants: one change of a database at a time (the gate), but nobody holds the gate while waiting for other sessions to
//! go; a change that is given up leaves everything as it was.

use crate::create;
use crate::database_options::{carry_out, note_option, noted, set_option};
use crate::errors::{catalog_error, engine_error, unknown_database};
use crate::host::InstanceHost;
use crate::instance::CloseRefused;
use catalog::{DatabaseDef, FilegroupDef};
use executor::SqlError;
use session_state::OpenDatabase;
use std::sync::Arc;
use syntax::ast::{AlterDatabase, AlterDatabaseAction, DatabaseOption, Ident, Termination};

/// Options for which nobody else may be in the database.
const ALONE: [&str; 4] = ["SINGLE_USER", "RESTRICTED_USER", "READ_ONLY", "READ_WRITE"];

impl InstanceHost {
    /// ALTER DATABASE; 5011 when it does not exist. Suspends.
    pub(crate) fn alter(
        &self,
        name: &str,
        alter: &AlterDatabase,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SqlError> {
        let instance = self.instance.clone();
        if let AlterDatabaseAction::Set(options) = &alter.action
            && name.eq_ignore_ascii_case("tempdb")
        {
            let option = options.first().map_or("", |option| &option.name);
            let text = format!("Option '{option}' cannot be set in database 'tempdb'.");
            return Err(SqlError::new(5058, 16, text));
        }
        let open = || {
            let closed = || instance.why_closed(name).unwrap_or_else(|| unknown_database(name));
            instance.database(name).ok_or_else(closed)
        };
        instance.check_single_user(name, self.spid)?;
        match &alter.action {
            AlterDatabaseAction::Set(options) => {
                if let [only] = &options[..]
                    && matches!(&*only.name, "ONLINE" | "OFFLINE")
                {
                    if only.name == "OFFLINE"
                        && alter.termination.is_some()
                        && let Some(open) = instance.database(name).filter(|open| open.id != 1)
                    {
                        instance.make_room(&open, self.spid, alter.termination, is_cancelled)?;
                    }
                    let _passage = instance.databases_gate.enter();
                    return crate::attach::set_online(&instance, name, only.name == "ONLINE");
                }
                let open = open()?;
                refuse_master(&open, &alter.action)?;
                if options.iter().any(|o| ALONE.contains(&o.name.as_str())) {
                    return self.set_alone(&open, options, alter.termination, is_cancelled);
                }
                let _passage = instance.databases_gate.enter();
                self.set(&open, options)
            }
            AlterDatabaseAction::Rename(new) => {
                let _passage = instance.databases_gate.enter();
                refuse_master(&*open()?, &alter.action)?;
                self.rename(name, new)
            }
            action => {
                let _passage = instance.databases_gate.enter();
                let open = open()?;
                refuse_master(&open, action)?;
                self.alter_files(&open, self.def(name)?, action)
            }
        }
    }

    fn set(&self, open: &OpenDatabase, options: &[DatabaseOption]) -> Result<(), SqlError> {
        let mut def = self.def(&open.name)?;
        options.iter().try_for_each(|option| set_option(&mut def, option))?;
        options.iter().try_for_each(|option| carry_out(open, option))?;
        self.store(def)
    }

    /// Options that the others must go for. SINGLE_USER and RESTRICTED_USER hold from the beginning, so that nobody comes
    /// while one waits.
    fn set_alone(
        &self,
        open: &Arc<OpenDatabase>,
        options: &[DatabaseOption],
        termination: Option<Termination>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SqlError> {
        let instance = &self.instance;
        let before = self.def(&open.name)?;
        let mut def = before.clone();
        options.iter().try_for_each(|option| set_option(&mut def, option))?;
        let access = |def: &DatabaseDef| noted(def, "user_access").map(str::to_owned);
        if access(&def) != access(&before) {
            let mut closing = before.clone();
            note_option(
                &mut closing,
                "user_access",
                noted(&def, "user_access").unwrap_or("MULTI_USER"),
            );
            self.store(closing)?;
        }
        let alone = instance.make_room(open, self.spid, termination, is_cancelled).and_then(|()| {
            let _passage = instance.databases_gate.enter();
            self.set(open, options)
        });
        if alone.is_err() {
            let mut again = self.def(&open.name)?;
            note_option(
                &mut again,
                "user_access",
                noted(&before, "user_access").unwrap_or("MULTI_USER"),
            );
            self.store(again)?;
        }
        alone
    }

    /// MODIFY NAME: 1801, and 5030 while somebody is in the database.
    fn rename(&self, name: &str, new: &Ident) -> Result<(), SqlError> {
        let instance = &self.instance;
        let mut def = self.def(name)?;
        let new = &new.value;
        if !catalog::same_name(name, new) {
            create::check_name(new)?;
            if instance.server.database(new).is_ok() {
                let text =
                    format!("The database '{new}' already exists. Specify a unique database name.");
                return Err(SqlError::new(1801, 16, text));
            }
        }
        match instance.close_database(name) {
            Ok(()) => {}
            Err(CloseRefused::Engine(error)) => return Err(engine_error(error)),
            Err(CloseRefused::InUse | CloseRefused::Unknown) => {
                return Err(SqlError::new(
                    5030,
                    16,
                    "The database could not be exclusively locked to perform the operation.",
                ));
            }
        }
        instance.plans.throw_out(|plan| i32::from(plan.database_id()) == def.database_id);
        let old = std::mem::replace(&mut def.name, new.as_str().into());
        let renamed = instance.server.update(def.clone()).map_err(catalog_error);
        if renamed.is_err() {
            def.name = old;
        }
        instance.bring_online(&def).and_then(|()| renamed.map(drop))
    }

    /// Files, filegroups, change tracking.
    fn alter_files(
        &self,
        open: &OpenDatabase,
        mut def: DatabaseDef,
        action: &AlterDatabaseAction,
    ) -> Result<(), SqlError> {
        let instance = &self.instance;
        match action {
            AlterDatabaseAction::AddFilegroup { name, memory_optimized } => {
                if def.filegroups.iter().any(|g| catalog::same_name(&g.name, &name.value)) {
                    return Err(SqlError::new(
                        5035,
                        16,
                        format!("Filegroup '{}' already exists in this database.", name.value),
                    ));
                }
                let group = FilegroupDef {
                    name: name.value.as_str().into(),
                    is_default: false,
                    memory: memory_optimized.then(Vec::new),
                    files: Vec::new(),
                };
                if *memory_optimized && def.filegroups.iter().any(|g| g.memory.is_some()) {
                    return Err(create::one_memory_filegroup());
                }
                def.filegroups.push(group);
                self.apply_filegroups(open, &def)?;
                self.store(def)
            }
            AlterDatabaseAction::AddFile { files, filegroup } => {
                let group = filegroup.as_ref().map_or("PRIMARY", |g| &g.value);
                let index = def
                    .filegroups
                    .iter()
                    .position(|g| catalog::same_name(&g.name, group))
                    .ok_or_else(|| {
                        SqlError::new(1921, 16, format!("Invalid filegroup '{group}' specified."))
                    })?;
                if def.filegroups[index].memory.is_some() {
                    let groups = def.filegroups.iter();
                    let containers = groups.filter_map(|g| g.memory.as_ref()).flatten();
                    let others = def.data_files().map(|f| f.name.to_lowercase());
                    let mut logical =
                        containers.map(|(n, _)| n.to_lowercase()).chain(others).collect();
                    let mut more = Vec::new();
                    for spec in files {
                        more.push(create::container(spec, &mut logical)?);
                    }
                    def.filegroups[index].memory.get_or_insert_default().extend(more);
                    self.apply_filegroups(open, &def)?;
                    return self.store(def);
                }
                for spec in files {
                    let file = create::one_more_file(&def, spec)?;
                    let data = create::data_file(&instance.config, index as u16 + 1, &file);
                    open.engine.add_file(data).map_err(engine_error)?;
                    def.filegroups[index].files.push(file);
                    self.apply_filegroups(open, &def)?;
                    self.store(def.clone())?;
                }
                Ok(())
            }
            AlterDatabaseAction::ModifyFilegroup { name, action, .. } if action == "DEFAULT" => {
                if !def.filegroups.iter().any(|g| catalog::same_name(&g.name, &name.value)) {
                    return Err(SqlError::new(
                        1921,
                        16,
                        format!("Invalid filegroup '{}' specified.", name.value),
                    ));
                }
                for group in &mut def.filegroups {
                    group.is_default = catalog::same_name(&group.name, &name.value);
                }
                self.apply_filegroups(open, &def)?;
                self.store(def)
            }
            AlterDatabaseAction::ModifyFile(spec) => {
                self.store(crate::modify_file::modify(open, def, spec)?)
            }
            AlterDatabaseAction::ChangeTracking(tracking) => {
                let spec = crate::tracking::spec(tracking);
                open.catalog.set_tracking(&open.name, &spec).map_err(catalog_error)?;
                instance.track_changes(&open.name);
                Ok(())
            }
            AlterDatabaseAction::Collate(name) => self.collate_database(open, &name.value),
            AlterDatabaseAction::RemoveFile(name) => {
                crate::remove_file::remove(open, &mut def, &name.value)?;
                self.apply_filegroups(open, &def)?;
                self.store(def)
            }
            AlterDatabaseAction::RemoveFilegroup(name) => {
                crate::remove_file::check_filegroup(&def, &name.value)
            }
            _ => Err(SqlError::unsupported("ALTER DATABASE with this clause")),
        }
    }
}

/// What `master` is not asked for.
fn refuse_master(open: &OpenDatabase, action: &AlterDatabaseAction) -> Result<(), SqlError> {
    if open.id != 1 {
        return Ok(());
    }
    if let AlterDatabaseAction::ChangeTracking(_) = action {
        let text = format!(
            "Database '{}' is a system database. Change tracking settings cannot be modified for system databases.",
            open.name
        );
        return Err(SqlError::new(5090, 16, text));
    }
    Err(SqlError::unsupported("ALTER DATABASE master"))
}
