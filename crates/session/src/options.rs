//! How the engine opens a database: what the instance's configuration and the database's own definition say together.
//!
//! Promise: the same configuration and definition give the same options; nothing is opened here.

use crate::config::InstanceConfig;
use crate::database_options::noted;
use catalog::ServerCatalog;
use engine::{DbOptions, DelayedDurability, LogConfig, RecoveryModel, VLF_BYTES_MIN};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Pages that a system database needs.
const SYSTEM_POOL_BYTES: u64 = 4 << 20;

/// Pages that `master` may have at most.
const MASTER_POOL_BYTES_MAX: u64 = 256 << 20;

/// Of `master`: whoever looks at a server for the first time makes his tables there.
pub(crate) fn master_options(config: &InstanceConfig) -> DbOptions {
    let share = config.buffer_pool_bytes / 16;
    let buffer_pool_bytes = share.clamp(SYSTEM_POOL_BYTES, MASTER_POOL_BYTES_MAX);
    DbOptions { buffer_pool_bytes, ..system_options(config) }
}

/// Of the other system databases.
pub(crate) fn system_options(config: &InstanceConfig) -> DbOptions {
    DbOptions {
        log: LogConfig::small(),
        buffer_pool_bytes: SYSTEM_POOL_BYTES,
        memory_nodes: crate::memory::nodes(config),
        checkpoint_log_bytes: 1 << 20,
        ..DbOptions::default()
    }
}

/// Who knows how transactions ended that a crash found prepared.
pub(crate) fn decided(server: &Arc<ServerCatalog>) -> Option<engine::Decided> {
    let server = server.clone();
    Some(engine::Decided(Arc::new(move |transaction| server.is_decided(transaction))))
}

/// The engine's options for a user database.
pub(crate) fn options_of(config: &InstanceConfig, def: &catalog::DatabaseDef) -> DbOptions {
    let said = |name: &str| noted(def, name);
    DbOptions {
        log: log_of(config, &def.log),
        buffer_pool_bytes: pool_bytes(config),
        memory_nodes: crate::memory::nodes(config),
        large_pages: config.trace_flags.contains(&crate::trace_flags::LARGE_PAGES),
        lock_pages: config.lock_pages,
        checkpoint_log_bytes: config.checkpoint_log_bytes,
        delayed_durability: match said("delayed_durability") {
            Some("ALLOWED") => DelayedDurability::Allowed,
            Some("FORCED") => DelayedDurability::Forced,
            _ => DelayedDurability::Disabled,
        },
        recovery_model: match said("recovery") {
            Some("FULL") => RecoveryModel::Full,
            Some("BULK_LOGGED") => RecoveryModel::BulkLogged,
            _ => RecoveryModel::Simple,
        },
        read_committed_snapshot: said("read_committed_snapshot") != Some("OFF"),
        allow_snapshot_isolation: said("allow_snapshot_isolation") != Some("OFF"),
        recovery_tasks: crate::recovering::tasks(config),
        ..DbOptions::default()
    }
}

/// Bytes of the next database's pool: those of all databases together have five quarters of what the first may have,
/// and each a little more than nothing.
fn pool_bytes(config: &InstanceConfig) -> u64 {
    let most = config.buffer_pool_bytes;
    if config.memory_bytes.is_none() {
        return most;
    }
    let left = (most / 4 * 5).saturating_sub(runtime::memory::aside_bytes());
    most.min(left / 5 * 4).max(16 << 20)
}

/// The log of a database, as long as its definition has it. A log with a MAXSIZE has at least four virtual log files
/// below that, so that space comes back while some of it is in use.
fn log_of(config: &InstanceConfig, def: &catalog::FileDef) -> LogConfig {
    let mut log = config.log.clone();
    if let Some(max) = def.max_bytes {
        // In units of the least that they may have; one is for the file's headers.
        let units = (max / VLF_BYTES_MIN).saturating_sub(1) / 4;
        log.vlf_bytes = (units.max(1) * VLF_BYTES_MIN).min(log.vlf_bytes);
        log.max_bytes = Some(max);
    }
    if def.size_bytes > 0 || def.max_bytes.is_some() {
        let bytes = def.size_bytes.min(def.max_bytes.unwrap_or(u64::MAX));
        log.initial_vlfs = (bytes / log.vlf_bytes).clamp(2, 1 << 16) as u32;
    }
    log
}

/// Relative paths are below the data folder.
pub(crate) fn absolute(data_dir: &Path, path: &str) -> PathBuf {
    data_dir.join(path)
}
