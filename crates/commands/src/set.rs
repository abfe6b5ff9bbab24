//! SET: what each option does, and what is only remembered.
//!
//! ```text
//! effective    NOCOUNT XACT_ABORT QUOTED_IDENTIFIER IMPLICIT_TRANSACTIONS FMTONLY NOEXEC ROWCOUNT LOCK_TIMEOUT
//!              DEADLOCK_PRIORITY DATEFIRST DATEFORMAT LANGUAGE CONTEXT_INFO IDENTITY_INSERT, isolation levels,
//!              SHOWPLAN_* and STATISTICS * (showplan.rs)
//! remembered   the ANSI and arithmetic switches (@@OPTIONS shows them), TEXTSIZE
//! when read    PARSEONLY, heeded as a batch is read (the interpreter's)
//! refused      NUMERIC_ROUNDABORT, when set ON
//! ```

use crate::Commands;
use crate::refusals::no_object;
use catalog::{ObjectRef, TableDef};
use executor::{EnvironmentChange, SqlError, SqlMessage};
use ir::{Expr, SetOption};
use session_state::IdentityInsert;
use session_state::languages::{self, LANGUAGES};
use std::sync::Arc;
use types::convert::DateOrder;
use types::{Bytes, SqlType, Value, convert};

/// The bit of @@OPTIONS of a switch that is only remembered.
fn bit(name: &str) -> Option<u32> {
    Some(match name {
        "DISABLE_DEF_CNST_CHK" => 1,
        "CURSOR_CLOSE_ON_COMMIT" => 4,
        "ANSI_WARNINGS" => 8,
        "ANSI_PADDING" => 16,
        "ANSI_NULLS" => 32,
        "ARITHABORT" => 64,
        "ARITHIGNORE" => 128,
        "ANSI_NULL_DFLT_ON" => 1024,
        "ANSI_NULL_DFLT_OFF" => 2048,
        "CONCAT_NULL_YIELDS_NULL" => 4096,
        "NUMERIC_ROUNDABORT" => 8192,
        _ => return None,
    })
}

impl Commands<'_> {
    /// Runs a SET; @@ROWCOUNT is 0 after it.
    pub fn set(
        &mut self,
        option: &SetOption,
        line: u32,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.state.rowcount = 0;
        match option {
            SetOption::Switch { names, on } => {
                names.iter().try_for_each(|name| self.switch(name, *on))
            }
            SetOption::Value { name, value } => self.set_value(name, value, line, frame),
            SetOption::Isolation(level) => self.set_isolation(*level),
            SetOption::IdentityInsert { table, on } => self.set_identity_insert(table, *on),
        }
    }

    fn switch(&mut self, name: &str, on: bool) -> Result<(), SqlError> {
        let options = &mut self.state.options;
        match name {
            "NOCOUNT" => options.nocount = on,
            "XACT_ABORT" => options.xact_abort = on,
            "QUOTED_IDENTIFIER" => options.quoted_identifier = on,
            "IMPLICIT_TRANSACTIONS" => options.implicit_transactions = on,
            "FMTONLY" => options.fmtonly = on,
            "NOEXEC" => options.noexec = on,
            "NO_BROWSETABLE" => {
                options.browse = on;
                self.machine.forget_procedures();
            }
            "ANSI_DEFAULTS" => {
                // All of the standard's settings at once.
                const BITS: u32 = 4 | 8 | 16 | 32 | 1024;
                options.switches =
                    if on { options.switches | BITS } else { options.switches & !BITS };
                options.quoted_identifier = on;
                options.implicit_transactions = on;
            }
            // It is heeded when a batch is read.
            "PARSEONLY" => {}
            _ if options.telling.set(name, on) => {}
            _ => {
                if let Some(bit) = bit(name) {
                    if name == "NUMERIC_ROUNDABORT" && on {
                        return Err(SqlError::unsupported("SET NUMERIC_ROUNDABORT ON"));
                    }
                    let meaning = options.meaning();
                    options.switches =
                        if on { options.switches | bit } else { options.switches & !bit };
                    // Each of the two turns the other off.
                    match name {
                        "ANSI_NULL_DFLT_ON" if on => options.switches &= !2048,
                        "ANSI_NULL_DFLT_OFF" if on => options.switches &= !1024,
                        _ => {}
                    }
                    if options.meaning() != meaning {
                        // What was compiled under the other setting is looked for anew.
                        self.machine.forget_procedures();
                    }
                }
            }
        }
        Ok(())
    }

    fn set_value(
        &mut self,
        name: &str,
        value: &Expr,
        line: u32,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let given = self.value(value, frame)?;
        let number = given.as_i64();
        let options = &mut self.state.options;
        match name {
            "LOCK_TIMEOUT" => {
                options.lock_timeout_ms = number.and_then(|ms| u64::try_from(ms).ok());
            }
            "ROWCOUNT" => match number.and_then(|rows| u64::try_from(rows).ok()) {
                Some(rows) => options.rowcount = rows,
                None => {
                    let text = "Invalid argument for SET ROWCOUNT. Must be a non-null non-negative integer.";
                    return Err(SqlError::new(507, 16, text).with_state(2));
                }
            },
            "TEXTSIZE" => {
                // -1 is all there is; 0 is the default of 4 KB.
                options.textsize = match number.unwrap_or(-1) {
                    0 => 4096,
                    n => n.clamp(-1, i32::MAX as i64) as i32,
                };
            }
            "DATEFIRST" => match number {
                Some(day @ 1..=7) => options.datefirst = day as u8,
                _ => {
                    let shown = number.map_or("NULL".to_owned(), |n| n.to_string());
                    return Err(SqlError::new(
                        2742,
                        16,
                        format!("SET DATEFIRST {shown} is out of range."),
                    ));
                }
            },
            "DATEFORMAT" => {
                let word = given.as_str().unwrap_or("");
                match DateOrder::of_name(word) {
                    Some(order) => options.date_order = order,
                    None => {
                        return Err(SqlError::new(
                            2741,
                            16,
                            format!("SET DATEFORMAT date order '{word}' is invalid."),
                        ));
                    }
                }
            }
            "LANGUAGE" => self.set_language(given.as_str().unwrap_or(""), line)?,
            "DEADLOCK_PRIORITY" => {
                let word = given.as_str().map(str::to_ascii_uppercase);
                options.deadlock_priority = match (word.as_deref(), number) {
                    (Some("LOW"), _) => -5,
                    (Some("NORMAL"), _) => 0,
                    (Some("HIGH"), _) => 5,
                    (None, None) if given.is_null() => 0,
                    (None, Some(number @ -10..=10)) => number as i8,
                    _ => {
                        let text = "SET DEADLOCK_PRIORITY option is invalid. Valid options are {HIGH | NORMAL | LOW | \
                                    [-10 ... 10] of type integer}.";
                        return Err(SqlError::new(2755, 16, text));
                    }
                };
            }
            "CONTEXT_INFO" => {
                let ty = SqlType::VarBinary(types::Len::N(128));
                let Value::Binary(bytes) = convert::cast(&given, value.ty, ty, 0)? else {
                    return Err(SqlError::new(
                        206,
                        16,
                        "SET CONTEXT_INFO option requires varbinary (128) NOT NULL parameter.",
                    ));
                };
                let mut padded = [0; 128];
                padded[..bytes.len()].copy_from_slice(&bytes);
                self.state.context_info = Some(Bytes::new(&padded));
            }
            // What is below 0 is no limit.
            "QUERY_GOVERNOR_COST_LIMIT" => {
                let limit = number.map_or(0, |limit| limit.clamp(0, i32::MAX.into()));
                options.own_cost_limit = Some(limit as u32);
            }
            // The others are read and have no effect.
            _ => {}
        }
        Ok(())
    }

    /// SET LANGUAGE; 5703 tells it.
    pub fn set_language(&mut self, name: &str, line: u32) -> Result<(), SqlError> {
        let Some(found) = languages::find(name) else {
            return Err(SqlError::new(
                2740,
                16,
                format!(
                    "SET LANGUAGE failed because '{name}' is not an official language name or a language alias on this \
                     SQL Server."
                ),
            ));
        };
        let options = &mut self.state.options;
        let old = LANGUAGES[options.language as usize].name;
        let new = &LANGUAGES[found as usize];
        options.language = found;
        options.date_order = new.order;
        options.datefirst = new.first;
        self.sink.environment(EnvironmentChange::Language { old, new: new.name });
        let text = languages::changed(new);
        self.sink.message(&SqlMessage::info(5703, line, text));
        Ok(())
    }

    /// SET IDENTITY_INSERT, of a table of another database too: 911, 1088, 8106, 8107.
    fn set_identity_insert(&mut self, table: &ir::ObjectName, on: bool) -> Result<(), SqlError> {
        let database = table.database.as_deref();
        let database = database.filter(|_| !session_state::is_temporary(&table.name));
        self.in_database(database, |c| c.set_identity_insert_here(table, on))
    }

    fn set_identity_insert_here(
        &mut self,
        table: &ir::ObjectName,
        on: bool,
    ) -> Result<(), SqlError> {
        let found = if session_state::is_temporary(&table.name) {
            self.state.transaction.private.find(&table.name).cloned()
        } else {
            match self.state.find_object(table.schema.as_deref(), &table.name) {
                Some(ObjectRef::Table(found)) => Some(found),
                _ => None,
            }
        };
        let may = |found: &Arc<TableDef>| {
            found.is_private() || self.may_change(&ObjectRef::Table(found.clone()), false)
        };
        let Some(found) = found.filter(may) else {
            return Err(no_object(&table.to_string()));
        };
        if found.identity().is_none() {
            return Err(SqlError::new(
                8106,
                16,
                format!(
                    "Table '{table}' does not have the identity property. Cannot perform SET operation."
                ),
            ));
        }
        if !on {
            if self.state.takes_identity(&found) {
                self.state.identity_insert = None;
            }
            return Ok(());
        }
        // One that has been dropped since is none.
        let is_there = |other: &IdentityInsert| {
            let database = &self.state.database;
            other.database != 0
                && (other.database != database.id
                    || database.catalog.object_by_id(other.object).is_some())
        };
        if let Some(other) = self.state.identity_insert.as_ref().filter(|other| is_there(other))
            && !self.state.takes_identity(&found)
        {
            return Err(SqlError::new(
                8107,
                16,
                format!(
                    "IDENTITY_INSERT is already ON for table '{}'. Cannot perform SET operation for table '{table}'.",
                    other.shown
                ),
            ));
        }
        let shown = format!("{}.{}.{}", self.state.database.name, found.schema, found.name);
        self.state.identity_insert = Some(IdentityInsert {
            database: self.state.home_of(&found),
            object: found.object_id,
            shown: shown.into(),
        });
        Ok(())
    }
}
