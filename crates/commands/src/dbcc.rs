//! DBCC: which statement it is, who may, and the closing message.

mod checkconstraints;
mod checkdb;
mod session;
mod statistics;
pub mod trace_flags;

use crate::Commands;
use crate::refusals::dbcc_denied;
use executor::{SqlError, SqlMessage};
use security::Permission;
use session_state::{EvictedPlans, Halted};
use statistics::sqlperf_permission;
use types::Value;

/// Commands of SQL Server's that this engine does not have.
const NOT_BUILT: &[&str] = &[
    "CHECKFILEGROUP",
    "CLONEDATABASE",
    "DBREPAIR",
    "HELP",
    "IND",
    "INDEXDEFRAG",
    "LOG",
    "MEMORYSTATUS",
    "OUTPUTBUFFER",
    "PAGE",
    "PROCCACHE",
    "SHOWCONTIG",
    "SHRINKDATABASE",
    "SHRINKLOG",
];

fn incorrect() -> SqlError {
    let text = "Incorrect DBCC statement. Check the documentation for the correct DBCC syntax and options.";
    SqlError::new(2526, 16, text).with_state(3)
}

/// 2583.
fn wrong_count() -> SqlError {
    let text = "An incorrect number of parameters was given to the DBCC statement.";
    SqlError::new(2583, 16, text)
}

impl Commands<'_> {
    pub(crate) fn dbcc(
        &mut self,
        name: &str,
        args: &[Value],
        options: &[String],
        line: u32,
        guarded: bool,
    ) -> Result<(), Halted> {
        let quiet = options.iter().any(|o| o == "NO_INFOMSGS");
        let needed = match name {
            "SQLPERF" => Some(sqlperf_permission(args)),
            "LOGINFO" => Some(Permission::ViewServerState),
            "TRACEON" | "TRACEOFF" | "FLUSHAUTHCACHE" | "PINTABLE" | "UNPINTABLE" => {
                Some(Permission::ControlServer)
            }
            "DROPCLEANBUFFERS" | "FREEPROCCACHE" | "FREESYSTEMCACHE" | "FREESESSIONCACHE" => {
                Some(Permission::AlterServerState)
            }
            _ => None,
        };
        if needed.is_some_and(|permission| !self.may_on_server(permission)) {
            return Err(dbcc_denied(&self.state.user_name(), name).into());
        }
        let plain = matches!(name, "TRACEON" | "TRACEOFF" | "TRACESTATUS" | "DROPCLEANBUFFERS");
        if plain && options.iter().any(|o| o != "NO_INFOMSGS") {
            return Err(incorrect().into());
        }
        match name {
            "CHECKIDENT" => self.check_identity(args, (!quiet).then_some(line), guarded)?,
            "USEROPTIONS" => self.user_options(),
            "OPENTRAN" => self.open_transaction(args, options, line)?,
            "SQLPERF" => self.sqlperf(args)?,
            "LOGINFO" => self.log_info(args)?,
            "INPUTBUFFER" => self.input_buffer(args)?,
            "TRACEON" | "TRACEOFF" => {
                self.set_trace_flags(args, name == "TRACEON", (!quiet).then_some(line))?;
            }
            "TRACESTATUS" => self.trace_status(args)?,
            "SHRINKFILE" => self.shrink_file(args)?,
            "CHECKDB" | "CHECKTABLE" | "CHECKALLOC" | "CHECKCATALOG" => {
                self.dbcc_check(name, args, options, line)?;
            }
            "CHECKCONSTRAINTS" => self.check_constraints(args, options, guarded)?,
            "SHOW_STATISTICS" => self.show_statistics(args, options)?,
            "FREEPROCCACHE" => self.free_procedure_cache(args)?,
            "FREESYSTEMCACHE" => drop(self.machine.evict_plans(EvictedPlans::All)),
            "DROPCLEANBUFFERS" if !args.is_empty() => return Err(wrong_count().into()),
            "DROPCLEANBUFFERS" => {
                for (_, name) in self.host.databases() {
                    if let Some(open) = self.host.database(&name) {
                        open.engine.drop_clean_buffers();
                    }
                }
            }
            "CLEANTABLE" => self.clean_table(args)?,
            "DBREINDEX" => self.rebuild_indexes(args)?,
            // No page is held for a table, and no list of rights for a login.
            "UPDATEUSAGE" | "FREESESSIONCACHE" | "FLUSHAUTHCACHE" | "PINTABLE" | "UNPINTABLE" => {}
            known if NOT_BUILT.contains(&known) => {
                return Err(SqlError::unsupported(format!("DBCC {name}")).into());
            }
            _ => return Err(incorrect().into()),
        }
        if !quiet {
            let text = "DBCC execution completed. If DBCC printed error messages, contact your \
                        system administrator.";
            self.sink.message(&SqlMessage::info(2528, line, text));
        }
        Ok(())
    }
}
