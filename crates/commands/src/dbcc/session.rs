//! DBCC statements about identity columns, a session's settings and open transactions: CHECKIDENT, USEROPTIONS, OPENTRAN.
//!
//! Promise: a new identity value counts at once for everybody, and is taken back when the transaction that set it is.
//!
//! Source: SQL Server's documentation of the three; the numbers of their messages, and the names of OPENTRAN's rows, are
//! those that its tools show.

use crate::Commands;
use crate::dbcc::statistics::bad_parameter;
use catalog::{ObjectRef, TableDef};
use executor::{ColumnMeta, Command, SqlError, SqlMessage};
use security::Permission;
use session_state::Halted;
use session_state::is_temporary;
use session_state::languages::LANGUAGES;
use std::sync::Arc;
use syntax::ast::bracketed;
use types::convert::DateOrder;
use types::{Len, SqlType, Value, convert};

/// What CHECKIDENT is to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reseed {
    /// NORESEED.
    Never,
    /// To the greatest value of the column, if the numbers lag behind it.
    IfBehind,
    To(i64),
}

impl Commands<'_> {
    /// DBCC CHECKIDENT (table [, NORESEED | RESEED [, value]]), of another database's table too; 911, 2501, 7997, 2560.
    /// Tells what it found at `line`, if any.
    pub(crate) fn check_identity(
        &mut self,
        args: &[Value],
        line: Option<u32>,
        guarded: bool,
    ) -> Result<(), Halted> {
        let parts = session_state::name_parts(args.first().and_then(Value::as_str).unwrap_or(""));
        let is_private = parts.last().is_some_and(|name| is_temporary(name));
        let database = parts.iter().rev().nth(2).filter(|name| !name.is_empty() && !is_private);
        let database = database.map(String::as_str);
        self.in_database(database, |c| c.check_identity_here(args, line, guarded))
    }

    fn check_identity_here(
        &mut self,
        args: &[Value],
        line: Option<u32>,
        guarded: bool,
    ) -> Result<(), Halted> {
        let name = args.first().and_then(Value::as_str).ok_or_else(|| bad_parameter(1))?;
        let table = self.dbcc_table(name)?;
        let Some((column, identity)) =
            table.identity().and_then(|i| Some((&table.columns[i], table.columns[i].identity?)))
        else {
            let text = format!("'{}' does not contain an identity column.", table.name);
            return Err(SqlError::new(7997, 16, text).into());
        };
        let what = match (args.get(1).map(|word| word.as_str().unwrap_or("")), args.get(2)) {
            (None, _) => Reseed::IfBehind,
            (Some(word), None) if word.eq_ignore_ascii_case("NORESEED") => Reseed::Never,
            (Some(word), None) if word.eq_ignore_ascii_case("RESEED") => Reseed::IfBehind,
            (Some(word), Some(value)) if word.eq_ignore_ascii_case("RESEED") => {
                let value = whole(value, column.ty).ok_or_else(|| bad_parameter(3))?;
                Reseed::To(value)
            }
            _ => return Err(bad_parameter(2).into()),
        };
        let current = match table.is_private() {
            true => {
                let private = &self.state.transaction.private;
                private.get(table.place).and_then(|table| table.current_identity())
            }
            false => self.state.database.catalog.current_identity(&table),
        };
        let shown = |n: Option<i64>| n.map_or("NULL".to_owned(), |n| n.to_string());
        let mut text =
            format!("Checking identity information: current identity value '{}'", shown(current));
        let mut to = None;
        if let Reseed::To(value) = what {
            to = Some(value);
        } else {
            let last = self.last_in_column(&table, &column.name, identity.increment, guarded)?;
            text += &format!(", current column value '{}'", shown(last));
            let behind = match (current, last) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(current), Some(last)) if identity.increment > 0 => current < last,
                (Some(current), Some(last)) => current > last,
            };
            if behind && what == Reseed::IfBehind {
                to = last;
            }
        }
        if let Some(value) = to {
            self.reseed(&table, value, what == Reseed::IfBehind)?;
        }
        if let Some(line) = line {
            self.sink.message(&SqlMessage::info(7998, line, text + "."));
        }
        Ok(())
    }

    /// The table that a DBCC statement names; 2501.
    pub(super) fn dbcc_table(&self, name: &str) -> Result<Arc<TableDef>, SqlError> {
        let mut parts = session_state::name_parts(name);
        let last = parts.pop().unwrap_or_default();
        let schema = parts.pop().filter(|schema| !schema.is_empty());
        let found = match is_temporary(&last) {
            true => self.state.transaction.private.find(&last).cloned(),
            false => match self.state.find_object(schema.as_deref(), &last) {
                Some(object) => object.rows().cloned(),
                None => None,
            },
        };
        let may = |table: &Arc<TableDef>| {
            table.is_private() || self.may_change(&ObjectRef::of_rows(table.clone()), false)
        };
        found.filter(may).ok_or_else(|| {
            let text = format!(
                "Cannot find a table or object with the name \"{name}\". Check the system catalog."
            );
            SqlError::new(2501, 16, text).with_state(45)
        })
    }

    /// The identity column's value that lies furthest in the direction of its increment.
    fn last_in_column(
        &mut self,
        table: &TableDef,
        column: &str,
        increment: i64,
        guarded: bool,
    ) -> Result<Option<i64>, Halted> {
        let of = if increment > 0 { "MAX" } else { "MIN" };
        let text = format!(
            "DECLARE @last bigint SELECT @last = {of}({}) FROM {}.{}",
            bracketed(column),
            bracketed(&table.schema),
            bracketed(&table.name)
        );
        Ok(self.quietly(|vm| vm.value_of_text(&text, guarded))?.as_i64())
    }

    /// `last`: a value is known to be there, whatever is known of what was given.
    fn reseed(&mut self, table: &TableDef, value: i64, last: bool) -> Result<(), SqlError> {
        if table.is_private() {
            let private = &mut self.state.transaction.private;
            match last {
                true => private.note_identity(table.place, value),
                false => {
                    let set = private.reseed(table.place, value);
                    set.map_err(|e| executor::private_error(e, table))?;
                }
            }
            self.settle_private();
            return Ok(());
        }
        self.in_catalog(&mut [], |catalog, _, scope| {
            match last {
                true => catalog.note_identity(table, value)?,
                false => catalog.reseed(scope, table, value),
            }
            Ok(())
        })
    }

    /// DBCC USEROPTIONS: those that are set, with their values.
    pub(crate) fn user_options(&mut self) {
        let options = &self.state.options;
        let order = match options.date_order {
            DateOrder::Mdy => "mdy",
            DateOrder::Dmy => "dmy",
            DateOrder::Ymd => "ymd",
            DateOrder::Ydm => "ydm",
            DateOrder::Myd => "myd",
            DateOrder::Dym => "dym",
        };
        let mut rows = vec![
            ("textsize", options.textsize.to_string()),
            ("language", LANGUAGES[options.language as usize].name.to_owned()),
            ("dateformat", order.to_owned()),
            ("datefirst", options.datefirst.to_string()),
            ("lock_timeout", options.lock_timeout_ms.map_or("-1".to_owned(), |ms| ms.to_string())),
        ];
        if options.rowcount > 0 {
            rows.push(("rowcount", options.rowcount.to_string()));
        }
        let bits = options.bits();
        let switches = [
            (256, "quoted_identifier"),
            (2, "implicit_transactions"),
            (4, "cursor_close_on_commit"),
            (64, "arithabort"),
            (128, "arithignore"),
            (512, "nocount"),
            (16384, "xact_abort"),
            (1024, "ansi_null_dflt_on"),
            (2048, "ansi_null_dflt_off"),
            (8, "ansi_warnings"),
            (16, "ansi_padding"),
            (32, "ansi_nulls"),
            (4096, "concat_null_yields_null"),
        ];
        let set = switches.iter().filter(|(bit, _)| bits & bit != 0);
        rows.extend(set.map(|(_, name)| (*name, "SET".to_owned())));
        let level = match options.isolation {
            engine::Isolation::ReadUncommitted => "read uncommitted",
            engine::Isolation::ReadCommitted
                if self.state.database.engine.read_committed_snapshot() =>
            {
                "read committed snapshot"
            }
            engine::Isolation::ReadCommitted => "read committed",
            engine::Isolation::RepeatableRead => "repeatable read",
            engine::Isolation::Serializable => "serializable",
            engine::Isolation::Snapshot => "snapshot",
        };
        rows.push(("isolation level", level.to_owned()));
        let text = SqlType::NVarChar(Len::N(128));
        self.sink.columns(&["Set Option", "Value"].map(|name| ColumnMeta::new(name, text, true)));
        for (name, value) in &rows {
            self.sink.row(&[Value::str(name), Value::str(value)]);
        }
        self.tell_done(Command::Dbcc, Some(rows.len() as u64));
    }

    /// DBCC OPENTRAN [(database)] [WITH TABLERESULTS]: the oldest transaction that has written; 2520.
    pub(crate) fn open_transaction(
        &mut self,
        args: &[Value],
        options: &[String],
        line: u32,
    ) -> Result<(), SqlError> {
        let database = self.dbcc_database(args)?;
        match database.id == self.state.database.id {
            true => self.check_database(Permission::Control)?,
            false => self.check_server(Permission::ControlServer)?,
        }
        let all = database.engine.transactions().into_iter();
        let oldest = all.filter(|t| t.writes).min_by_key(|t| t.first_lsn);
        let figures = oldest.map(|t| {
            let lsn = t.first_lsn.0;
            let begun = Value::DateTime(types::datetime::datetime_from_unix_ns(t.begun_unix_ns));
            // `mon dd yyyy hh:mi:ss:mmmAM`.
            let begun = types::format::to_text(&begun, SqlType::DateTime, 9);
            [
                ("SPID", t.session.unwrap_or(0).to_string()),
                ("UID", "-1".to_owned()),
                ("NAME", "user_transaction".to_owned()),
                ("LSN", format!("({}:{}:{})", lsn >> 32, lsn >> 16 & 0xffff, lsn & 0xffff)),
                ("STARTTIME", begun.ok().flatten().unwrap_or_default()),
                ("SID", "0x01".to_owned()),
            ]
        });
        if options.iter().any(|o| o == "TABLERESULTS") {
            let text = SqlType::NVarChar(Len::N(128));
            self.sink.columns(&["", ""].map(|name| ColumnMeta::new(name, text, true)));
            let figures = figures.iter().flatten();
            for (name, value) in figures.clone() {
                self.sink.row(&[Value::str(&format!("OLDACT_{name}")), Value::str(value)]);
            }
            self.tell_done(Command::Dbcc, Some(figures.count() as u64));
            return Ok(());
        }
        let mut said = Vec::new();
        if let Some([(_, spid), (_, uid), (_, name), (_, lsn), (_, begun), (_, sid)]) = figures {
            said.push((7968, format!("Transaction information for database '{}'.", database.name)));
            said.push((7970, "\nOldest active transaction:".to_owned()));
            said.push((7971, format!("    SPID (server process ID): {spid}")));
            said.push((7972, format!("    UID (user ID) : {uid}")));
            said.push((7974, format!("    Name          : {name}")));
            said.push((7975, format!("    LSN           : {lsn}")));
            said.push((7977, format!("    Start time    : {begun}")));
            said.push((7978, format!("    SID           : {sid}")));
        } else {
            said.push((7969, "No active open transactions.".to_owned()));
        }
        for (number, text) in said {
            self.sink.message(&SqlMessage::info(number, line, text));
        }
        Ok(())
    }
}

/// A number as a value that an identity column of the type can have.
fn whole(value: &Value, ty: SqlType) -> Option<i64> {
    let value = value.as_i64()?;
    convert::cast(&Value::BigInt(value), SqlType::BigInt, ty, 0).ok().map(|_| value)
}
