//! What BACKUP and RESTORE share: the device and the options of a statement, progress, the closing messages.

use crate::instance::Instance;
use crate::own_files;
use backup::BackupError;
use executor::{SqlError, SqlMessage};
use session_state::MediaOrder;
use std::path::PathBuf;
use types::{DateTime2, SqlType, Value, convert};

/// Read and without effect here: every set is checked, and nothing rewinds.
const WITHOUT_EFFECT: &[&str] = &[
    "CHECKSUM",
    "NO_CHECKSUM",
    "STOP_ON_ERROR",
    "NOINIT",
    "NOFORMAT",
    "SKIP",
    "NOSKIP",
    "REWIND",
    "NOREWIND",
    "UNLOAD",
    "NOUNLOAD",
    "BUFFERCOUNT",
    "MAXTRANSFERSIZE",
    "BLOCKSIZE",
    "MEDIANAME",
    "MEDIADESCRIPTION",
    "NO_COMPRESSION",
    "RETAINDAYS",
    "EXPIREDATE",
    "RESTART",
    "LOADHISTORY",
];

/// Refuses options that are neither `known` nor without effect, by name.
pub(crate) fn check_options(
    order: &MediaOrder,
    what: &str,
    known: &[&str],
) -> Result<(), SqlError> {
    for (name, _, _) in &order.options {
        if !known.contains(&name.as_str()) && !WITHOUT_EFFECT.contains(&name.as_str()) {
            return Err(SqlError::unsupported(format!("{what} WITH {name}")));
        }
    }
    Ok(())
}

/// The one device; None for NUL. A path without a folder is in the data folder.
pub(crate) fn device(instance: &Instance, order: &MediaOrder) -> Result<Option<PathBuf>, SqlError> {
    match &order.devices[..] {
        [one] if matches!(one.to_uppercase().as_str(), "NUL" | "NUL:") => Ok(None),
        [one] if one.is_empty() => {
            Err(SqlError::new(3044, 16, "Invalid zero-length device name. Reissue the statement."))
        }
        [one] => own_files::of_user(instance, one).map(Some).map_err(|error| {
            let (path, what) = (one.clone(), error.to_string());
            backup_error(BackupError::CannotOpen { path, what })
        }),
        _ => Err(SqlError::unsupported("BACKUP or RESTORE with several devices")),
    }
}

pub(crate) fn backup_error(error: BackupError) -> SqlError {
    SqlError::new(error.number(), 16, error.to_string())
}

/// STATS: a message every so many percent.
pub(crate) struct Stats {
    every: u64,
    told: u64,
}

impl Stats {
    /// None: nothing is told on the way.
    pub(crate) fn of(order: &MediaOrder) -> Stats {
        let every = match order.has("STATS") {
            false => 0,
            true => order.value("STATS").and_then(Value::as_i64).unwrap_or(10).clamp(1, 100) as u64,
        };
        Stats { every, told: 0 }
    }

    pub(crate) fn tell(&mut self, done: u64, all: u64, tell: &mut dyn FnMut(SqlMessage)) {
        if self.every == 0 || all == 0 {
            return;
        }
        let percent = (done * 100 / all).min(100);
        let reached = percent / self.every * self.every;
        if reached > self.told || (percent == 100 && self.told < 100) {
            self.told = if percent == 100 { 100 } else { reached };
            tell(SqlMessage::info(3211, 1, format!("{} percent processed.", self.told)));
        }
    }
}

/// "Processed n pages ..." for each file, and what became of all.
pub(crate) fn closing(
    what: &str,
    database: &str,
    position: u32,
    files: &[(String, u64)],
    elapsed_ns: u64,
    tell: &mut dyn FnMut(SqlMessage),
) {
    let mut all = 0;
    for (file, pages) in files {
        all += pages;
        let text = format!(
            "Processed {pages} pages for database '{database}', file '{file}' on file {position}."
        );
        tell(SqlMessage::info(4035, 1, text));
    }
    let seconds = elapsed_ns as f64 / 1e9;
    let rate = all as f64 * 8192.0 / f64::from(1 << 20) / seconds.max(1e-9);
    let text = format!(
        "{what} successfully processed {all} pages in {seconds:.3} seconds ({rate:.3} MB/sec)."
    );
    tell(SqlMessage::info(3014, 1, text));
}

/// A point in time as microseconds since 1970; GETDATE() and the log are in UTC.
pub(crate) fn moment_us(value: &Value) -> Result<u64, SqlError> {
    let ty = SqlType::DateTime2(7);
    let value = convert::cast(value, value.natural_type(), ty, 0).map_err(SqlError::from)?;
    match value {
        Value::DateTime2(DateTime2 { days, ticks, .. }) => {
            let since = types::datetime::days_from_civil(1970, 1, 1);
            let whole = i64::from(days - since) * 86_400_000_000;
            Ok((whole + (ticks / 10) as i64).max(0) as u64)
        }
        _ => Err(SqlError::new(241, 16, "STOPAT needs a date and a time.")),
    }
}
