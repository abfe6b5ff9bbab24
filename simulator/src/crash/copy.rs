//! Backups that were taken while sessions worked, restored after the power was lost: each whole set is readable, and
//! what it restores is one moment of the database's history.

use super::case::inspect;
use super::memory::InMemory;
use super::model::Model;
use backup::{FileFacts, Media, SetHeader, SetInfo, SetKind};
use device::{FileSystem, SimFs};
use engine::{BackupRequest, Database, DbOptions, RestoreRequest, restore_database, restore_log};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stdx::Prng;

const MEDIA: &str = "/db/crash.bak";
const COPY: &str = "/copy/crash.mdf";

fn header(kind: SetKind, compressed: bool) -> SetHeader {
    SetHeader { server: "simulator".into(), compressed, ..SetHeader::new(kind, "crash") }
}

/// Takes a backup; whether it failed for another reason than that there is nothing to back up.
pub fn back_up(db: &Database, kind: SetKind, rng: &mut Prng) -> bool {
    let request = BackupRequest {
        path: Some(MEDIA.into()),
        init: rng.one_in(8),
        header: header(kind, rng.one_in(2)),
        progress: &mut |_, _| {},
    };
    db.backup(request).is_err_and(|e| ![4208, 4214].contains(&e.number()))
}

/// Sets of earlier rounds go.
pub fn forget(fs: &SimFs) {
    if fs.remove(Path::new(MEDIA)).is_ok() {
        // Else a loss of power could bring it back.
        let _ = fs.sync_dir(Path::new("/db"));
    }
}

/// Restores what the file holds; how many log sets were restored, or what is wrong.
pub fn restore(
    fs: &Arc<SimFs>,
    options: &DbOptions,
    model: &Model,
    rng: &mut Prng,
    memory: InMemory,
) -> Result<Option<u64>, String> {
    if !fs.exists(Path::new(MEDIA)).map_err(|e| e.to_string())? {
        return Ok(None);
    }
    let said = |e: backup::BackupError| format!("the backup file: {e}");
    let media = Media::open(&**fs, Path::new(MEDIA)).map_err(said)?;
    let sets: Vec<SetInfo> =
        media.sets().map_err(said)?.into_iter().filter(|s| s.end.is_some()).collect();
    let full: Vec<&SetInfo> = sets.iter().filter(|s| s.header.kind == SetKind::Database).collect();
    if full.is_empty() {
        return Ok(None);
    }
    let base = full[rng.below(full.len() as u64) as usize].position;
    let place = |f: &FileFacts| PathBuf::from(if f.is_log() { "/copy/crash.ldf" } else { COPY });
    let mut logs = 0;
    for set in sets.iter().filter(|s| s.position >= base) {
        let first = set.position == base;
        if !first && (set.header.kind == SetKind::Database || rng.one_in(10)) {
            continue;
        }
        let mut reader = media.set(set.position).map_err(said)?;
        let request = RestoreRequest {
            fs: fs.clone() as Arc<dyn FileSystem>,
            place: &place,
            options,
            stop_at_us: None,
            progress: &mut |_, _| {},
        };
        let restored = match first {
            true => restore_database(&mut reader, request),
            false => restore_log(Path::new(COPY), &mut reader, request),
        };
        match restored {
            Ok(_) => logs += u64::from(!first),
            // One was left out, or backed up into nowhere.
            Err(e) if !first && [4305, 4326].contains(&e.number()) => {}
            Err(e) => return Err(format!("set {} of {}: {e}", set.position, sets.len())),
        }
    }
    let copy = fs.clone() as Arc<dyn FileSystem>;
    let copy = Database::recover_restored(copy, Path::new(COPY), options.clone())
        .map_err(|e| format!("the copy is not recovered: {e}"))?;
    memory.load(&copy).map_err(|e| format!("the copy's rows in memory: {e}"))?;
    let (survivors, state, differ) = inspect(&copy).map_err(|e| format!("the copy: {e}"))?;
    drop(copy);
    if let Some(what) = differ {
        return Err(format!("the copy: {what}"));
    }
    for path in fs.list(Path::new("/copy")).unwrap_or_default() {
        let _ = fs.remove(&path);
    }
    match model.judge_copy(&survivors, &state) {
        None => Ok(Some(logs)),
        Some(odd) => Err(format!("the copy: {odd}")),
    }
}
