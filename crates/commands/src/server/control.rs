//! Control of sessions and the server: KILL, SETUSER, SHUTDOWN, EXECUTE AS with more than a name; those that are answered as by
//! a server that lacks what they ask for; and SENSITIVITY CLASSIFICATION.
//!
//! Sources: SQL Server's documentation of KILL, SETUSER, SHUTDOWN, EXECUTE AS, REVERT and ADD SENSITIVITY CLASSIFICATION; numbers and texts
//! of errors are those of sys.messages.

use crate::Commands;
use crate::statement::Site;
use catalog::{Classification, ObjectRef, TableDef};
use executor::{Reach, SqlError, SqlMessage};
use ir::{ExecuteAsEnd, Expr, ObjectName, Rare};
use security::Permission;
use session_state::End;
use session_state::Halted;
use std::sync::Arc;
use syntax::ast::{self, Ident, KillWith, SensitivityField, SensitivityStatement};
use types::{Bytes, SqlType, Value, convert};

/// Bytes of the cookie that EXECUTE AS WITH COOKIE hands out.
const COOKIE_BYTES: usize = 100;
/// Characters of a classification's text at most: a sysname's.
const CLASSIFICATION_CHARS_MAX: usize = 128;

impl Commands<'_> {
    #[cold]
    #[inline(never)]
    pub(crate) fn control(
        &mut self,
        rare: &Rare,
        line: u32,
        frame: &mut [Value],
    ) -> Result<(), Halted> {
        match rare {
            Rare::Nothing => {}
            Rare::InsertBulk => {
                let text =
                    "Bulk load data was expected but not sent. The batch will be terminated.";
                return Err(SqlError::new(4022, 16, text).with_reach(Reach::Scope).into());
            }
            Rare::BeginDistributed => {
                let server = self.host.server_name();
                let text = format!("MSDTC on server '{server}' is unavailable.");
                return Err(SqlError::new(8501, 16, text).into());
            }
            Rare::SetUser { name: None, .. } => self.state.end_set_user(&*self.host),
            Rare::SetUser { name: Some(name), no_reset } => {
                let name = self.value(name, frame)?;
                let name = name.as_str().unwrap_or("");
                self.state.set_user(&*self.host, name, *no_reset)?;
            }
            Rare::Shutdown { no_wait } => self.shutdown(*no_wait, line)?,
            Rare::Governor(statement) => self.govern(statement)?,
            Rare::Audit(statement) => self.define_audit(statement)?,
            Rare::PutXmlSchemas { add, name, text } => {
                self.put_xml_schemas(*add, name, text, frame)?;
            }
            Rare::DropXmlSchemas(name) => self.drop_xml_schemas(name, frame)?,
            Rare::Fulltext(statement) => self.define_fulltext(statement, frame)?,
            Rare::Sensitivity(statement) => self.classify_columns(statement, frame)?,
        }
        Ok(())
    }

    /// ADD and DROP SENSITIVITY CLASSIFICATION: of all the columns or of none. The documentation names no errors: a table that
    /// is not there is 1088 here, a column 207, a text longer than a sysname 103; one that is not there can be dropped.
    #[cold]
    #[inline(never)]
    fn classify_columns(
        &mut self,
        statement: &SensitivityStatement,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.check_database(Permission::AlterAnySensitivityClassification)?;
        let said = match &statement.said {
            Some(fields) => Some(classification(fields)?),
            None => None,
        };
        let mut columns = Vec::new();
        for (table, column) in &statement.columns {
            let table = self.table_to_classify(table)?;
            place_of(&table, column)?;
            columns.push((table, column));
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            for (table, column) in &columns {
                let held = catalog.hold_object(txn, scope, &ObjectRef::Table(table.clone()))?;
                // Its columns may be others since it was found.
                let now = catalog.object_in(Some(scope), table.object_id).filter(|_| held);
                let Some(ObjectRef::Table(now)) = now else {
                    return Err(no_table(&table.name));
                };
                let column = place_of(&now, column)?;
                catalog.classify(txn, scope, now.object_id, column, said.clone())?;
            }
            Ok(())
        })
    }

    fn table_to_classify(&self, name: &ast::ObjectName) -> Result<Arc<TableDef>, SqlError> {
        let wanted = ObjectName::from(name);
        match self.state.find_object(wanted.schema.as_deref(), &wanted.name) {
            Some(ObjectRef::Table(table)) if !catalog::is_global_name(&table.name) => Ok(table),
            _ => Err(no_table(&wanted)),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn kill(
        &mut self,
        target: &Expr,
        with: KillWith,
        line: u32,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        if !self.may_on_server(Permission::AlterAnyConnection) {
            let text = "User does not have permission to use the KILL statement.";
            return Err(SqlError::new(6102, 14, text));
        }
        let inside =
            || SqlError::new(6115, 16, "KILL command cannot be used inside user transactions.");
        let value = self.value(target, frame)?;
        if matches!(value, Value::Str(_)) {
            let unit = convert::cast(&value, target.ty, SqlType::UniqueIdentifier, 0)?;
            if self.state.trancount() > 0 {
                return Err(inside());
            }
            // No transaction here is a part of one elsewhere.
            let unit = types::format::to_text(&unit, SqlType::UniqueIdentifier, 0)?;
            let unit = unit.unwrap_or_default();
            let (number, text) = match with {
                KillWith::StatusOnly => (
                    6121,
                    format!(
                        "Status report cannot be obtained. Rollback operation for UOW {{{unit}}} is not in progress."
                    ),
                ),
                KillWith::Nothing | KillWith::Outcome => (
                    6110,
                    format!("The distributed transaction with UOW {{{unit}}} does not exist."),
                ),
            };
            return Err(SqlError::new(number, 16, text));
        }
        let number = self.whole(target, frame)?;
        if with == KillWith::Outcome {
            let text = "KILL SPID WITH COMMIT/ROLLBACK is not supported by Microsoft SQL Server. Use KILL UOW WITH \
                        COMMIT/ROLLBACK to resolve in-doubt distributed transactions involving Microsoft Distributed \
                        Transaction Coordinator (MS DTC).";
            return Err(SqlError::new(6108, 16, text));
        }
        if self.state.trancount() > 0 {
            return Err(inside());
        }
        let Some(spid) = u16::try_from(number).ok().filter(|n| (1..=SPID_MAX).contains(n)) else {
            let text = format!(
                "Process ID {number} is not a valid process ID. Choose a number between 1 and {SPID_MAX}."
            );
            return Err(SqlError::new(6101, 16, text));
        };
        if with == KillWith::StatusOnly {
            let report = self.host.rollback_report(spid)?;
            self.sink.message(&SqlMessage::info(0, line, report));
            return Ok(());
        }
        if i64::from(spid) == i64::from(self.state.spid) {
            return Err(SqlError::new(6104, 16, "Cannot use KILL to kill your own process."));
        }
        self.host.kill(spid)
    }

    /// EXECUTE AS: 15590 within a module where it says how it ends.
    pub(crate) fn execute_as(
        &mut self,
        login: bool,
        name: &str,
        end: ExecuteAsEnd,
        site: &Site<'_>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        if end != ExecuteAsEnd::Revert && site.object_id != 0 {
            let text = "Can only use the 'No Revert' or 'Cookie' options with the 'Execute As' statement at the adhoc \
                        level.";
            return Err(SqlError::new(15590, 16, text));
        }
        let end = match end {
            ExecuteAsEnd::Revert => End::Revert,
            ExecuteAsEnd::NoRevert => End::Never,
            ExecuteAsEnd::Cookie(var) => {
                let mut cookie = [0; COOKIE_BYTES];
                runtime::random::fill(&mut cookie);
                let (var, value) = (var.0 as usize, Value::Binary(Bytes::new(&cookie)));
                let ty = SqlType::VarBinary(types::Len::N(COOKIE_BYTES as u16));
                self.state.execute_as(&*self.host, login, name, End::Cookie(cookie.into()))?;
                frame[var] = convert::cast(&value, ty, site.vars[var], 0)?;
                return Ok(());
            }
        };
        self.state.execute_as(&*self.host, login, name, end)
    }

    /// SHUTDOWN: 6004, 6007; what goes on is waited for unless WITH NOWAIT.
    fn shutdown(&mut self, no_wait: bool, line: u32) -> Result<(), SqlError> {
        if !self.may_on_server(Permission::Shutdown) {
            let text = "User does not have permission to perform this action.";
            return Err(SqlError::new(6004, 14, text));
        }
        if self.state.trancount() > 0 || self.state.nesting > 0 {
            let text = "The SHUTDOWN statement cannot be executed within a transaction or by a stored procedure.";
            return Err(SqlError::new(6007, 16, text));
        }
        let login = self.state.login_name();
        let (sink, cancel) = (&mut *self.sink, self.cancel);
        let mut waits = |others: usize| {
            let text = format!("SHUTDOWN is waiting for {others} process(es) to complete.");
            sink.message(&SqlMessage::info(6001, line, text));
        };
        let is_cancelled = || cancel.load(std::sync::atomic::Ordering::Relaxed);
        self.host.shutdown(no_wait, self.state.spid, &mut waits, &is_cancelled)?;
        let how = if no_wait { "NOWAIT request" } else { "request" };
        let text = format!("Server shut down by {how} from login {login}.");
        self.sink.message(&SqlMessage::info(6006, line, text));
        Ok(())
    }
}

/// The greatest number that a session may have.
const SPID_MAX: u16 = 32767;

fn no_table(name: impl std::fmt::Display) -> SqlError {
    let text = format!(
        "Cannot find the object \"{name}\" because it does not exist or you do not have permissions."
    );
    SqlError::new(1088, 16, text)
}

/// From 1; 207.
fn place_of(table: &TableDef, column: &Ident) -> Result<i32, SqlError> {
    let missing = || SqlError::new(207, 16, format!("Invalid column name '{}'.", column.value));
    table.column(&column.value).map(|ordinal| ordinal as i32 + 1).ok_or_else(missing)
}

fn classification(fields: &[(SensitivityField, String)]) -> Result<Classification, SqlError> {
    let mut made = Classification::default();
    for (field, text) in fields {
        if text.encode_utf16().count() > CLASSIFICATION_CHARS_MAX {
            let shown: String = text.chars().take(CLASSIFICATION_CHARS_MAX).collect();
            let text = format!(
                "The character string that starts with '{shown}' is too long. Maximum length is {CLASSIFICATION_CHARS_MAX}."
            );
            return Err(SqlError::new(103, 15, text));
        }
        let place = match field {
            SensitivityField::Label => &mut made.label,
            SensitivityField::LabelId => &mut made.label_id,
            SensitivityField::InformationType => &mut made.information_type,
            SensitivityField::InformationTypeId => &mut made.information_type_id,
            SensitivityField::Rank => &mut made.rank,
        };
        *place = Some(text.as_str().into());
    }
    Ok(made)
}
