//! BACKUP and RESTORE as a session says them: names and values worked out, permissions checked; the host does the rest.

use crate::Commands;
use crate::refusals::database_denied;
use crate::refusals::no_database;
use executor::{Command, SqlError, SqlMessage};
use ir::{Backup, Expr, Media, Restore};
use security::Permission;
use session_state::MediaOrder;
use syntax::ast::RestoreKind;
use types::Value;

impl Commands<'_> {
    /// BACKUP DATABASE or LOG; 3013 follows what went wrong.
    pub(crate) fn backup(
        &mut self,
        backup: &Backup,
        line: u32,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let what = if backup.log { "BACKUP LOG" } else { "BACKUP DATABASE" };
        let mut order = self.media_order(&backup.media, frame)?;
        if order.database.is_empty() {
            order.database = self.state.database.name.clone();
        }
        // The database named is nearly always the current one; another needs the server's word.
        let permission =
            if backup.log { Permission::BackupLog } else { Permission::BackupDatabase };
        match order.database.eq_ignore_ascii_case(&self.state.database.name) {
            true => self.check_database(permission)?,
            false => self.check_server(Permission::AlterAnyDatabase)?,
        }
        let possible =
            self.no_backup_in_transaction().and_then(|()| no_logical(&backup.media, &order));
        self.terminated(what, line, possible)?;
        let nul = |device: &String| matches!(device.to_uppercase().as_str(), "NUL" | "NUL:");
        if backup.log && order.devices.iter().all(nul) {
            let done = self.log_to_nowhere(&order.database, line);
            return self.terminated(what, line, done);
        }
        if order.database.eq_ignore_ascii_case("tempdb") {
            return self.terminated(what, line, Err(not_of_tempdb()));
        }
        if backup.log && order.database.eq_ignore_ascii_case("master") {
            let text =
                "Cannot back up the log of the master database. Use BACKUP DATABASE instead.";
            return self.terminated(what, line, Err(SqlError::new(4212, 16, text)));
        }
        let sink = &mut *self.sink;
        let mut tell = |mut message: SqlMessage| {
            message.line = line;
            sink.message(&message);
        };
        let done = self.host.backup(backup.log, &order, &mut tell);
        self.terminated(what, line, done)
    }

    /// BACKUP LOG TO DISK = 'NUL': under any recovery model, with or without a full backup, the log up to now need not
    /// be kept.
    fn log_to_nowhere(&mut self, name: &str, line: u32) -> Result<(), SqlError> {
        let Some(open) = self.host.database(name) else { return Err(no_database(self.host, name)) };
        let failed = |e| executor::from_engine(e, None, &open.name);
        open.engine.checkpoint().map_err(failed)?;
        open.engine.backup_log_nul().map_err(failed)?;
        let text = format!("BACKUP LOG successfully processed the log of '{}'.", open.name);
        self.sink.message(&SqlMessage::info(3014, line, text));
        Ok(())
    }

    /// RESTORE in its forms.
    pub(crate) fn restore(
        &mut self,
        restore: &Restore,
        line: u32,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let what = match restore.kind {
            RestoreKind::Database => "RESTORE DATABASE",
            RestoreKind::Log => "RESTORE LOG",
            RestoreKind::VerifyOnly => "VERIFY DATABASE",
            RestoreKind::HeaderOnly => "RESTORE HEADERONLY",
            RestoreKind::FileListOnly => "RESTORE FILELIST",
            RestoreKind::LabelOnly => "RESTORE LABELONLY",
        };
        let order = self.media_order(&restore.media, frame)?;
        if !self.may_create_database() {
            return Err(match order.database.is_empty() {
                true => database_denied("CREATE DATABASE", "master"),
                false => SqlError::new(
                    3110,
                    14,
                    format!(
                        "User does not have permission to RESTORE database '{}'.",
                        order.database
                    ),
                ),
            });
        }
        let possible =
            self.no_backup_in_transaction().and_then(|()| no_logical(&restore.media, &order));
        self.terminated(what, line, possible)?;
        if order.database.eq_ignore_ascii_case("tempdb") {
            return self.terminated(what, line, Err(not_of_tempdb()));
        }
        let master = order.database.eq_ignore_ascii_case("master");
        if !order.database.is_empty()
            && !master
            && order.database.eq_ignore_ascii_case(&self.state.database.name)
        {
            let error = SqlError::new(
                3102,
                16,
                format!(
                    "RESTORE cannot process database '{}' because it is in use by this session. It is recommended that \
                     the master database be used when performing this operation.",
                    order.database
                ),
            );
            return self.terminated(what, line, Err(error));
        }
        let sink = &mut *self.sink;
        let mut tell = |mut message: SqlMessage| {
            message.line = line;
            sink.message(&message);
        };
        match self.host.restore(restore.kind, &order, &mut tell) {
            Ok(None) => Ok(()),
            Ok(Some(answer)) => {
                self.sink.columns(&answer.columns);
                answer.rows.iter().for_each(|row| self.sink.row(row));
                self.tell_done(Command::Other, Some(answer.rows.len() as u64));
                Ok(())
            }
            Err(error) => self.terminated(what, line, Err(error)),
        }
    }

    /// 3013 is the statement's error; what led to it is told before.
    fn terminated(
        &mut self,
        what: &str,
        line: u32,
        done: Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let Err(error) = done else { return Ok(()) };
        if error.number == 40510 {
            return Err(error);
        }
        self.sink.message(&error.at_line(line).to_message());
        Err(SqlError::new(3013, 16, format!("{what} is terminating abnormally.")))
    }

    fn no_backup_in_transaction(&self) -> Result<(), SqlError> {
        if self.state.trancount() == 0 {
            return Ok(());
        }
        Err(SqlError::new(
            3021,
            16,
            "Cannot perform a backup or restore operation within a transaction.",
        ))
    }

    fn media_order(&mut self, media: &Media, frame: &mut [Value]) -> Result<MediaOrder, SqlError> {
        let mut text = |vm: &mut Self, expr: &Expr| -> Result<String, SqlError> {
            let value = vm.value(expr, frame)?;
            Ok(value.as_str().unwrap_or("").to_owned())
        };
        let database = match &media.database {
            Some(name) => text(self, name)?,
            None => String::new(),
        };
        let mut devices = Vec::new();
        for device in &media.devices {
            devices.push(text(self, device)?);
        }
        let mut options = Vec::new();
        for option in &media.options {
            let to = option.to.as_ref().map(|to| text(self, to)).transpose()?;
            options.push((option.name.clone(), None, to));
        }
        for (option, told) in media.options.iter().zip(&mut options) {
            if let Some(value) = &option.value {
                told.1 = Some(self.value(value, frame)?);
            }
        }
        Ok(MediaOrder { database, devices, options, user: self.state.user_name() })
    }
}

/// 3147.
fn not_of_tempdb() -> SqlError {
    let text = "Backup and restore operations are not allowed on database tempdb.";
    SqlError::new(3147, 16, text).with_state(3)
}

/// 3206: there are no logical devices. `NUL` is nobody's name.
fn no_logical(media: &Media, order: &MediaOrder) -> Result<(), SqlError> {
    let mut named = order.devices.iter().zip(&media.logical).filter(|(_, logical)| **logical);
    match named.find(|(device, _)| !device.eq_ignore_ascii_case("nul")) {
        Some((device, _)) => Err(session_state::messages::error(3206, &[device])),
        None => Ok(()),
    }
}
