//! System procedures that are built in: one list of them.

mod applock;
pub mod arguments;
mod autostats;
mod bindings;
mod configure;
mod files;
mod memory_pool;
mod messages;
mod prepared_xml;
mod properties;
mod recompile;
mod rename;
mod texts;
pub mod tracking;

pub use arguments::Argument;
pub(crate) use rename::constraint_table;

use crate::Commands;
use crate::refusals::{REFUSED_PROCEDURES, no_database, no_procedure};
use crate::statement::Site;
use catalog::{ModuleKind, ObjectRef};
use executor::{ColumnMeta, Command, SqlError, SqlMessage};
use ir::ObjectName;
use security::Permission;
use session_state::Halted;
use session_state::OpenDatabase;
use std::sync::Arc;
use types::{Len, SqlType, Value, Variant};

impl Commands<'_> {
    /// Runs a built-in procedure of that name, which begins with sp_ or xp_; None when there is none. Its errors carry
    /// its name.
    pub fn system_procedure(
        &mut self,
        name: &ObjectName,
        args: &[Argument],
        site: &Site<'_>,
        frame: &mut [Value],
    ) -> Result<Option<i32>, Halted> {
        let ran = self.run_system_procedure(name, args, site, frame);
        ran.map_err(|halted| match halted {
            Halted::Error(mut error) if error.procedure.is_none() && error.number != 2812 => {
                let lower = name.name.to_ascii_lowercase();
                // Both leave it to another procedure.
                let own = match lower.as_str() {
                    "sp_getapplock" | "sp_releaseapplock" => "xp_userlock".to_owned(),
                    _ => lower,
                };
                error.procedure = Some(own);
                Halted::Error(error)
            }
            other => other,
        })
    }

    fn run_system_procedure(
        &mut self,
        name: &ObjectName,
        args: &[Argument],
        site: &Site<'_>,
        frame: &mut [Value],
    ) -> Result<Option<i32>, Halted> {
        let lower = name.name.to_ascii_lowercase();
        match lower.as_str() {
            "sp_flush_log" => {
                let database = &self.state.database;
                database
                    .engine
                    .flush_log()
                    .map_err(|e| executor::from_engine(e, None, &database.name))?;
                Ok(Some(0))
            }
            "sp_flush_ct_internal_table_on_demand" => {
                self.flush_tracked(args, 1)?;
                Ok(Some(0))
            }
            "sp_getapplock" => Ok(Some(self.get_applock(args)?)),
            "sp_releaseapplock" => Ok(Some(self.release_applock(args)?)),
            "sp_addmessage" => {
                self.add_message(args)?;
                Ok(Some(0))
            }
            "sp_altermessage" => {
                self.alter_message(args)?;
                Ok(Some(0))
            }
            "sp_dropmessage" => {
                self.drop_message(args)?;
                Ok(Some(0))
            }
            "xp_sprintf" => {
                self.sprintf(args, site.vars, frame)?;
                Ok(Some(0))
            }
            "xp_sscanf" => {
                self.sscanf(args, site.vars, frame)?;
                Ok(Some(0))
            }
            "xp_fileexist" => {
                self.file_exists(args, site.vars, frame)?;
                Ok(Some(0))
            }
            "xp_dirtree" => {
                self.folder_tree(args)?;
                Ok(Some(0))
            }
            "xp_create_subdir" => {
                self.create_folder(args)?;
                Ok(Some(0))
            }
            // What is turned on runs nothing either.
            "xp_cmdshell" if self.host.option_in_use("xp_cmdshell") == Some(1) => {
                Err(SqlError::unsupported("xp_cmdshell (commands of the operating system)").into())
            }
            "xp_cmdshell" => {
                let text = "SQL Server blocked access to procedure 'sys.xp_cmdshell' of component 'xp_cmdshell' because \
                            this component is turned off as part of the security configuration for this server. A system \
                            administrator can enable the use of 'xp_cmdshell' by using sp_configure. For more \
                            information about enabling 'xp_cmdshell', search for 'xp_cmdshell' in SQL Server Books \
                            Online.";
                Err(SqlError::new(15281, 16, text).into())
            }
            refused if REFUSED_PROCEDURES.contains(&refused) => {
                Err(SqlError::unsupported(refused).into())
            }
            "sp_configure" => {
                self.configure(args)?;
                Ok(Some(0))
            }
            "sp_helptext" => {
                self.help_text(args)?;
                Ok(Some(0))
            }
            "sp_set_session_context" => {
                self.set_session_context(args)?;
                Ok(Some(0))
            }
            "sp_addrolemember"
            | "sp_droprolemember"
            | "sp_addsrvrolemember"
            | "sp_dropsrvrolemember"
            | "sp_addlogin"
            | "sp_droplogin"
            | "sp_grantdbaccess"
            | "sp_adduser"
            | "sp_revokedbaccess"
            | "sp_dropuser"
            | "sp_addrole"
            | "sp_droprole"
            | "sp_addapprole"
            | "sp_approlepassword"
            | "sp_dropapprole"
            | "sp_changedbowner" => {
                self.principal_procedure(&lower, args, frame)?;
                Ok(Some(0))
            }
            "sp_setapprole" => {
                self.set_application_role(args, site, frame)?;
                Ok(Some(0))
            }
            "sp_unsetapprole" => {
                self.unset_application_role(args, site)?;
                Ok(Some(0))
            }
            "sp_addtype" => {
                self.add_type(args, frame)?;
                Ok(Some(0))
            }
            "sp_droptype" => {
                self.remove_type(args, frame)?;
                Ok(Some(0))
            }
            "sp_bindrule" => {
                self.bind(ModuleKind::Rule, args, frame)?;
                Ok(Some(0))
            }
            "sp_bindefault" => {
                self.bind(ModuleKind::Default, args, frame)?;
                Ok(Some(0))
            }
            "sp_unbindrule" => {
                self.unbind(ModuleKind::Rule, args, frame)?;
                Ok(Some(0))
            }
            "sp_unbindefault" => {
                self.unbind(ModuleKind::Default, args, frame)?;
                Ok(Some(0))
            }
            "sp_xml_preparedocument" => {
                self.prepare_xml(args, site.vars, frame)?;
                Ok(Some(0))
            }
            "sp_xml_removedocument" => {
                self.remove_xml(args)?;
                Ok(Some(0))
            }
            "sp_sequence_get_range" => {
                self.sequence_range(args, site.vars, frame)?;
                Ok(Some(0))
            }
            "sp_addextendedproperty" | "sp_updateextendedproperty" | "sp_dropextendedproperty" => {
                self.property_procedure(name, args, frame)?;
                Ok(Some(0))
            }
            "sp_settriggerorder" => {
                let text =
                    |i: usize, name: &str| arguments::text(args, i, name).unwrap_or_default();
                let (name, order) = (text(0, "@triggername"), text(1, "@order"));
                let namespace = arguments::text(args, 3, "@namespace");
                self.set_trigger_order(name, order, text(2, "@stmttype"), namespace, frame)?;
                Ok(Some(0))
            }
            "sp_rename" => {
                let home = self.enter_database_of(name)?;
                let renamed = self.rename(args, frame, site.guarded);
                self.come_home(home);
                renamed?;
                Ok(Some(0))
            }
            "sp_detach_db" => {
                self.check_server(Permission::AlterAnyDatabase)?;
                let wanted = arguments::needed("sp_detach_db", args, 0, "@dbname")?;
                if wanted.eq_ignore_ascii_case(&self.state.database.name) {
                    let text = format!(
                        "Cannot detach the database '{wanted}' because it is currently in use."
                    );
                    return Err(SqlError::new(3703, 16, text).into());
                }
                self.host.detach_database(wanted)?;
                Ok(Some(0))
            }
            "sp_updatestats" => {
                if !self.state.identity.access().is_unlimited() {
                    let text = "User does not have permission to perform this action.";
                    return Err(SqlError::new(15247, 16, text).into());
                }
                self.update_all_statistics()?;
                Ok(Some(0))
            }
            "sp_autostats" => {
                self.autostats(args)?;
                Ok(Some(0))
            }
            "sp_xtp_bind_db_resource_pool" => {
                self.bind_pool(args)?;
                Ok(Some(0))
            }
            "sp_xtp_unbind_db_resource_pool" => {
                self.unbind_pool(args)?;
                Ok(Some(0))
            }
            "sp_recompile" => {
                self.recompile(args)?;
                Ok(Some(0))
            }
            _ => Ok(None),
        }
    }

    /// A built-in procedure runs in the database that its name names (`EXEC other..sp_tables`): goes there, and
    /// gives the database to come back to.
    pub fn enter_database_of(
        &mut self,
        name: &ObjectName,
    ) -> Result<Option<Arc<OpenDatabase>>, SqlError> {
        let Some(wanted) = &name.database else { return Ok(None) };
        let home = self.state.database.clone();
        // An extended procedure (`EXEC master..xp_msver`) is the server's and reads no database.
        let extended = name.name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("xp_"));
        let here = catalog::same_name(wanted, &home.name) || catalog::same_name(wanted, "tempdb");
        if here || extended && catalog::same_name(wanted, "master") {
            return Ok(None);
        }
        let Some(there) = self.host.enter_database(wanted) else {
            return Err(no_procedure(&name.to_string()));
        };
        self.go_to(there)?;
        Ok(Some(home))
    }

    /// The same for a statement or a text that is to run in the database of that name, tempdb as any other: 911.
    pub fn enter_database(&mut self, name: &str) -> Result<Option<Arc<OpenDatabase>>, SqlError> {
        let home = self.state.database.clone();
        if catalog::same_name(name, &home.name) {
            return Ok(None);
        }
        let Some(there) = self.host.enter_database(name) else {
            return Err(no_database(self.host, name));
        };
        self.go_to(there)?;
        Ok(Some(home))
    }

    /// Does something in the database of that name, if there is one named.
    pub(crate) fn in_database<T, E: From<SqlError>>(
        &mut self,
        database: Option<&str>,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let home = match database {
            Some(database) => self.enter_database(database)?,
            None => None,
        };
        let done = work(self);
        self.come_home(home);
        done
    }

    fn go_to(&mut self, there: Arc<OpenDatabase>) -> Result<(), SqlError> {
        self.state.check_entry(&*self.host, &there)?;
        self.use_database(there);
        self.state.follow_identity(&*self.host);
        Ok(())
    }

    /// After [`Commands::enter_database_of`] and [`Commands::enter_database`].
    pub fn come_home(&mut self, home: Option<Arc<OpenDatabase>>) {
        if let Some(home) = home {
            self.use_database(home);
            self.state.follow_identity(&*self.host);
        }
    }

    /// sp_set_session_context @key, @value [, @read_only]; 15664 for a key that was made read-only.
    fn set_session_context(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        let given = |i: usize, name: &str| {
            let named = args.iter().find(|a| {
                a.name
                    .as_deref()
                    .is_some_and(|n| n.trim_start_matches('@').eq_ignore_ascii_case(name))
            });
            named.or_else(|| args.get(i).filter(|a| a.name.is_none()))
        };
        let value = |i, name| given(i, name).and_then(|a| a.value.as_ref());
        let Some(key) = value(0, "key").and_then(Value::as_str) else {
            return Err(SqlError::new(
                15600,
                15,
                "An invalid parameter or option was specified for procedure 'sys.sp_set_session_context'.",
            ));
        };
        let read_only = value(2, "read_only").and_then(Value::as_i64) == Some(1);
        let wrap = |a: &Argument| Variant::wrap(a.value.clone().unwrap_or_default(), a.ty);
        let all = &mut self.state.session_context;
        let count = all.len();
        let old = all.iter_mut().find(|(k, ..)| k.eq_ignore_ascii_case(key));
        if old.as_ref().is_some_and(|(.., read_only)| *read_only) {
            return Err(SqlError::new(
                15664,
                16,
                format!(
                    "Cannot set key '{key}' in the session context. The key has been set as read_only for this session."
                ),
            ));
        }
        let new = given(1, "value").map(wrap).transpose()?.unwrap_or_default();
        match old {
            Some(old) => (old.1, old.2) = (new, read_only),
            None if count < 1000 => all.push((key.into(), new, read_only)),
            None => {
                return Err(SqlError::new(
                    15665,
                    16,
                    "The value was not set for this key because the total size of keys and values in the session \
                     context would exceed its limit.",
                ));
            }
        }
        Ok(())
    }

    fn help_text(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        let given = args.first().and_then(|a| a.value.as_ref()).and_then(Value::as_str);
        let name = given.unwrap_or("").to_string();
        let mut parts = session_state::name_parts(&name).into_iter().rev();
        let bare = parts.next().unwrap_or_default();
        let schema = parts.next().filter(|s| !s.is_empty());
        let scope = self.state.transaction.scope();
        let found = self.state.database.catalog.object(scope, schema.as_deref(), &bare);
        let is_object = found.is_some();
        let found = found.filter(|f| match f {
            ObjectRef::Procedure(m) => !matches!(
                m.kind,
                ModuleKind::Sequence | ModuleKind::Synonym | ModuleKind::SecurityPolicy
            ),
            ObjectRef::Table(_) => false,
        });
        // A trigger of the database has a name without a schema, and is no object.
        let own = || {
            let catalog = &self.state.database.catalog;
            let found = catalog.module(scope, None, &bare, ModuleKind::DatabaseTrigger);
            found.filter(|_| schema.is_none()).map(ObjectRef::Procedure)
        };
        let no_text = || SqlError::new(15197, 16, format!("There is no text for object '{name}'."));
        // One of the system's that is a text; what is no text is no object here.
        let built_in = || {
            let wanted = ObjectName { database: None, schema: schema.clone(), name: bare.clone() };
            self.host.system_procedure(&wanted).map(ObjectRef::Procedure)
        };
        let is_built_in = |o: &ObjectRef| matches!(o, ObjectRef::Procedure(p) if p.object_id < 0);
        let found = found.or_else(own).or_else(|| if is_object { None } else { built_in() });
        let is_readable = found.as_ref().is_some_and(is_built_in);
        let Some(ObjectRef::Procedure(found)) = found else {
            if is_object {
                return Err(no_text());
            }
            return Err(SqlError::new(
                15009,
                16,
                format!(
                    "The object '{name}' does not exist in database '{}' or is invalid for this operation.",
                    self.state.database.name
                ),
            ));
        };
        if self.state.identity.is_limited() && !is_readable {
            let access = self.state.identity.access();
            let directory = access.database();
            let schema = directory.schema(&found.schema).map_or(security::SCHEMA_DBO, |s| s.id);
            let parent = found.trigger.map(|t| t.parent).filter(|parent| *parent > 0);
            let id = parent.unwrap_or(found.object_id);
            let target = security::Target::Object { id, schema, owner: None };
            if !access.allows(security::Permission::ViewDefinition, target) {
                return Err(no_text());
            }
        }
        if semantics::native::has_option(&found, "ENCRYPTION") {
            let text = format!("The text for object '{name}' is encrypted.");
            self.sink.message(&SqlMessage::info(15471, 1, text));
            return Ok(());
        }
        let ty = SqlType::NVarChar(Len::N(255));
        self.sink.columns(&[ColumnMeta::new("Text", ty, true)]);
        let mut rows = 0;
        for line in found.text.lines() {
            self.sink.row(&[Value::str(line)]);
            rows += 1;
        }
        self.tell_done(Command::Select, Some(rows));
        Ok(())
    }
}
