//! RESTORE VERIFYONLY, HEADERONLY, FILELISTONLY, LABELONLY: what a backup file says of itself.
//!
//! Columns: those of SQL Server's documentation of each statement that mean something here, in its order.

use crate::instance::Instance;
use crate::media::{backup_error, check_options};
use crate::restore::{media, position};
use ::backup::{SetInfo, SetKind};
use executor::{ColumnMeta, SqlError, SqlMessage};
use session_state::{MediaOrder, MediaRows};
use syntax::ast::RestoreKind;
use types::datetime::datetime_from_unix_ns;
use types::{Decimal, Len, SqlType, Value};

const NAME: SqlType = SqlType::NVarChar(Len::N(128));
const PATH: SqlType = SqlType::NVarChar(Len::N(260));
const LSN: SqlType = SqlType::numeric(25, 0);
const SIZE: SqlType = SqlType::numeric(20, 0);
const GUID: SqlType = SqlType::UniqueIdentifier;
const TIME: SqlType = SqlType::DateTime;

/// Carries out a RESTORE that only reads. Suspends.
pub(crate) fn inspect(
    instance: &Instance,
    kind: RestoreKind,
    order: &MediaOrder,
    tell: &mut dyn FnMut(SqlMessage),
) -> Result<Option<MediaRows>, SqlError> {
    check_options(order, "RESTORE", &["FILE", "STATS"])?;
    let media = media(instance, order)?;
    let rows = |cells: Vec<Vec<Cell>>| {
        let columns = cells.first().map_or_else(Vec::new, |row| {
            row.iter().map(|(name, ty, _)| ColumnMeta::new(*name, *ty, true)).collect()
        });
        let rows = cells.into_iter().map(|r| r.into_iter().map(|(_, _, v)| v).collect()).collect();
        Ok(Some(MediaRows { columns, rows }))
    };
    match kind {
        RestoreKind::HeaderOnly => {
            let sets = media.sets().map_err(backup_error)?;
            if sets.is_empty() {
                return Err(SqlError::new(3254, 16, "The volume on the device is empty."));
            }
            rows(sets.iter().map(header_row).collect())
        }
        RestoreKind::FileListOnly => {
            let set = media.set(position(order)).map_err(backup_error)?;
            rows(file_rows(set.info()))
        }
        RestoreKind::LabelOnly => {
            let made = datetime_from_unix_ns(media.created_us() * 1000);
            rows(vec![vec![
                ("MediaName", NAME, Value::Null),
                ("MediaSetId", GUID, Value::Guid(media.uuid())),
                ("FamilyCount", SqlType::Int, Value::Int(1)),
                ("FamilySequenceNumber", SqlType::Int, Value::Int(1)),
                ("MediaFamilyId", GUID, Value::Guid(media.uuid())),
                ("MediaSequenceNumber", SqlType::Int, Value::Int(1)),
                ("MediaLabelPresent", SqlType::TinyInt, Value::TinyInt(0)),
                ("MediaDescription", NAME, Value::Null),
                ("SoftwareName", NAME, Value::str("Millrace")),
                ("SoftwareVendorId", SqlType::Int, Value::Int(0)),
                ("MediaDate", TIME, Value::DateTime(made)),
                ("MirrorCount", SqlType::Int, Value::Int(1)),
                ("IsCompressed", SqlType::Bit, Value::Bit(false)),
            ]])
        }
        _ => {
            let mut set = media.set(position(order)).map_err(backup_error)?;
            while set.next_part().map_err(backup_error)?.is_some() {
                runtime::task::maybe_yield();
            }
            let text = format!("The backup set on file {} is valid.", set.info().position);
            tell(SqlMessage::info(3262, 1, text));
            Ok(None)
        }
    }
}

type Cell = (&'static str, SqlType, Value);

fn number(n: u64) -> Value {
    Value::Decimal(Decimal::from_i64(n as i64))
}

fn text(s: Option<&str>) -> Value {
    s.map_or(Value::Null, Value::str)
}

fn moment(us: u64) -> Value {
    Value::DateTime(datetime_from_unix_ns(us * 1000))
}

fn guid(hex: &str) -> Value {
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).unwrap_or("0");
        *byte = u8::from_str_radix(pair, 16).unwrap_or(0);
    }
    Value::Guid(bytes)
}

fn header_row(set: &SetInfo) -> Vec<Cell> {
    let (h, end) = (&set.header, set.end.as_ref());
    let small = |n: u8| Value::TinyInt(n);
    let kind = if h.kind == SetKind::Database { 1 } else { 2 };
    let lsn = |n: u64| if n == 0 { Value::Null } else { number(n) };
    let said = h.options.iter().find(|(name, _)| *name == crate::database_options::COLLATION);
    let collation = said.map_or("SQL_Latin1_General_CP1_CI_AS", |(_, name)| name.as_str());
    let raw = end.map_or(0, |e| e.raw_bytes);
    vec![
        (
            "BackupName",
            NAME,
            match end {
                Some(_) => text(h.name.as_deref()),
                None => Value::str("*** INCOMPLETE ***"),
            },
        ),
        ("BackupDescription", SqlType::NVarChar(Len::N(255)), text(h.description.as_deref())),
        ("BackupType", SqlType::SmallInt, Value::SmallInt(kind)),
        ("ExpirationDate", TIME, Value::Null),
        ("Compressed", SqlType::TinyInt, small(u8::from(h.compressed))),
        ("Position", SqlType::SmallInt, Value::SmallInt(set.position as i16)),
        ("DeviceType", SqlType::TinyInt, small(2)),
        ("UserName", NAME, Value::str(&h.user)),
        ("ServerName", NAME, Value::str(&h.server)),
        ("DatabaseName", NAME, Value::str(&h.database)),
        ("DatabaseVersion", SqlType::Int, Value::Int(957)),
        ("DatabaseCreationDate", TIME, moment(h.created_unix_ns / 1000)),
        ("BackupSize", SIZE, number(raw)),
        ("FirstLSN", LSN, lsn(h.first_lsn)),
        ("LastLSN", LSN, end.map_or(Value::Null, |e| lsn(e.last_lsn))),
        ("CheckpointLSN", LSN, lsn(h.checkpoint_lsn)),
        ("DatabaseBackupLSN", LSN, lsn(h.database_backup_lsn)),
        ("BackupStartDate", TIME, moment(h.started_us)),
        ("BackupFinishDate", TIME, end.map_or(Value::Null, |e| moment(e.finished_us))),
        ("SortOrder", SqlType::SmallInt, Value::SmallInt(52)),
        ("CodePage", SqlType::SmallInt, Value::SmallInt(0)),
        ("UnicodeLocaleId", SqlType::Int, Value::Int(1033)),
        ("UnicodeComparisonStyle", SqlType::Int, Value::Int(196_609)),
        ("CompatibilityLevel", SqlType::TinyInt, small(160)),
        ("SoftwareVendorId", SqlType::Int, Value::Int(0)),
        ("SoftwareVersionMajor", SqlType::Int, Value::Int(16)),
        ("SoftwareVersionMinor", SqlType::Int, Value::Int(0)),
        ("SoftwareVersionBuild", SqlType::Int, Value::Int(1000)),
        ("MachineName", NAME, Value::str(&h.server)),
        ("Flags", SqlType::Int, Value::Int(512)),
        ("BindingID", GUID, guid(&h.fork)),
        ("RecoveryForkID", GUID, guid(&h.fork)),
        ("Collation", NAME, Value::str(collation)),
        ("FamilyGUID", GUID, guid(&h.family)),
        ("HasBulkLoggedData", SqlType::Bit, Value::Bit(false)),
        ("IsSnapshot", SqlType::Bit, Value::Bit(false)),
        ("IsReadOnly", SqlType::Bit, Value::Bit(false)),
        ("IsSingleUser", SqlType::Bit, Value::Bit(false)),
        ("HasBackupChecksums", SqlType::Bit, Value::Bit(true)),
        ("IsDamaged", SqlType::Bit, Value::Bit(false)),
        ("BeginsLogChain", SqlType::Bit, Value::Bit(false)),
        ("HasIncompleteMetaData", SqlType::Bit, Value::Bit(false)),
        ("IsForceOffline", SqlType::Bit, Value::Bit(false)),
        ("IsCopyOnly", SqlType::Bit, Value::Bit(h.copy_only)),
        ("FirstRecoveryForkID", GUID, guid(&h.fork)),
        ("ForkPointLSN", LSN, Value::Null),
        (
            "RecoveryModel",
            SqlType::NVarChar(Len::N(60)),
            Value::str(&h.recovery_model.replace('_', "-")),
        ),
        ("DifferentialBaseLSN", LSN, Value::Null),
        ("DifferentialBaseGUID", GUID, Value::Null),
        (
            "BackupTypeDescription",
            SqlType::NVarChar(Len::N(60)),
            Value::str(match kind {
                1 => "Database",
                _ => "Transaction Log",
            }),
        ),
        ("BackupSetGUID", GUID, guid(&h.set_id)),
        ("CompressedBackupSize", SqlType::BigInt, Value::BigInt(set.bytes as i64)),
        ("Containment", SqlType::TinyInt, small(0)),
    ]
}

fn file_rows(set: &SetInfo) -> Vec<Vec<Cell>> {
    let files = set.end.as_ref().map_or(&set.header.files, |e| &e.files);
    let row = |f: &::backup::FileFacts| -> Vec<Cell> {
        let kind = if f.is_log() { "L" } else { "D" };
        let group = if f.is_log() { Value::Null } else { Value::str(&f.filegroup_name) };
        vec![
            ("LogicalName", NAME, Value::str(&f.logical_name)),
            ("PhysicalName", PATH, Value::str(&f.path)),
            ("Type", SqlType::Char(1), Value::str(kind)),
            ("FileGroupName", NAME, group),
            ("Size", SIZE, number(f.bytes)),
            ("MaxSize", SIZE, number(f.max_bytes.unwrap_or(35_184_372_080_640))),
            ("FileId", SqlType::BigInt, Value::BigInt(i64::from(f.file_id))),
            ("CreateLSN", LSN, number(0)),
            ("DropLSN", LSN, Value::Null),
            ("UniqueId", GUID, Value::Null),
            ("ReadOnlyLSN", LSN, Value::Null),
            ("ReadWriteLSN", LSN, Value::Null),
            ("BackupSizeInBytes", SqlType::BigInt, Value::BigInt(f.bytes as i64)),
            ("SourceBlockSize", SqlType::Int, Value::Int(4096)),
            ("FileGroupId", SqlType::Int, Value::Int(i32::from(f.filegroup))),
            ("LogGroupGUID", GUID, Value::Null),
            ("DifferentialBaseLSN", LSN, Value::Null),
            ("DifferentialBaseGUID", GUID, Value::Null),
            ("IsReadOnly", SqlType::Bit, Value::Bit(false)),
            ("IsPresent", SqlType::Bit, Value::Bit(true)),
            ("TDEThumbprint", SqlType::VarBinary(Len::N(32)), Value::Null),
            ("SnapshotUrl", PATH, Value::Null),
        ]
    };
    files.iter().map(row).collect()
}
