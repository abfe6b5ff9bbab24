//! BACKUP DATABASE and BACKUP LOG of an open database.

use crate::errors::engine_error;
use crate::instance::Instance;
use crate::media::{Stats, check_options, closing, device};
use ::backup::{FileFacts, SetHeader, SetKind};
use catalog::DatabaseDef;
use engine::BackupRequest;
use executor::{SqlError, SqlMessage};
use session_state::{MediaOrder, OpenDatabase};
use std::sync::Arc;

const KNOWN: &[&str] =
    &["INIT", "FORMAT", "COMPRESSION", "COPY_ONLY", "NAME", "DESCRIPTION", "STATS"];

/// Carries a BACKUP out. Suspends.
pub(crate) fn backup(
    instance: &Arc<Instance>,
    log: bool,
    open: &Arc<OpenDatabase>,
    order: &MediaOrder,
    tell: &mut dyn FnMut(SqlMessage),
) -> Result<(), SqlError> {
    let what = if log { "BACKUP LOG" } else { "BACKUP DATABASE" };
    check_options(order, what, KNOWN)?;
    let path = device(instance, order)?;
    let def = instance.server.database(&open.name).ok();
    let header = header(instance, log, open, def.as_deref(), order);
    let mut stats = Stats::of(order);
    let request = BackupRequest {
        path,
        init: order.has("INIT") || order.has("FORMAT"),
        header,
        progress: &mut |done, all| stats.tell(done, all, tell),
    };
    let report = open.engine.backup(request).map_err(engine_error)?;
    let name_of = |id: u16| {
        let file = report.header.files.iter().find(|f| f.file_id == id);
        file.map_or_else(String::new, |f| f.logical_name.clone())
    };
    let files: Vec<_> = report.pages.iter().map(|(id, pages)| (name_of(*id), *pages)).collect();
    closing(what, &open.name, report.position, &files, report.elapsed_ns, tell);
    let device = order.devices.first().map_or("", |device| device.as_str());
    if crate::msdb::note_backup(instance, &report, device).is_err() {
        let text = "Could not insert a backup or restore history/detail record in the msdb database. This may indicate a \
                    problem with the msdb database. The backup/restore operation was still successful.";
        tell(SqlMessage::info(3009, 1, text));
    }
    Ok(())
}

/// What the instance knows of a set.
fn header(
    instance: &Instance,
    log: bool,
    open: &OpenDatabase,
    def: Option<&DatabaseDef>,
    order: &MediaOrder,
) -> SetHeader {
    let groups = def.map_or_else(|| open.catalog.filegroups(), |d| d.filegroups.clone());
    let mut files = Vec::new();
    for (group, number) in groups.iter().zip(1u16..) {
        for file in &group.files {
            files.push(FileFacts {
                file_id: file.file_id,
                filegroup: number,
                filegroup_name: group.name.to_string(),
                filegroup_is_default: group.is_default,
                logical_name: file.name.to_string(),
                path: file.path.to_string(),
                bytes: 0,
                initial_bytes: file.size_bytes,
                growth_bytes: 0,
                max_bytes: file.max_bytes,
            });
        }
    }
    files.push(FileFacts {
        file_id: 2,
        filegroup: 0,
        filegroup_name: String::new(),
        filegroup_is_default: false,
        logical_name: def.map_or_else(|| format!("{}_log", open.name), |d| d.log.name.to_string()),
        path: def.map_or_else(String::new, |d| d.log.path.to_string()),
        bytes: 0,
        initial_bytes: 0,
        growth_bytes: 0,
        max_bytes: def.and_then(|d| d.log.max_bytes),
    });
    let options = def.map_or_else(Vec::new, |d| d.options.clone());
    let kind = if log { SetKind::Log } else { SetKind::Database };
    SetHeader {
        name: order.text("NAME"),
        description: order.text("DESCRIPTION"),
        server: instance.name(),
        user: order.user.clone(),
        copy_only: order.has("COPY_ONLY"),
        compressed: order.has("COMPRESSION"),
        created_unix_ns: def.map_or(0, |d| d.created_unix_ns),
        files,
        options: options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        ..SetHeader::new(kind, &*open.name)
    }
}
