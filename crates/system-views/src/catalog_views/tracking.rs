//! Change tracking: databases, tables, and the commits that have changed what is tracked.
//!
//! Columns and types: SQL Server 2022's documentation of each view.

use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use crate::object;
use catalog::{DatabaseTracking, Tracking};
use engine::{EngineError, TrackedCommit, Txn, TxnOptions};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&TRACKED_DATABASES, &TRACKED_TABLES, &COMMITS];

/// A database that tracks changes.
pub struct Tracked {
    id: i32,
    tracking: DatabaseTracking,
}

fn databases(context: &Context<'_>, _: &[Value]) -> Result<Vec<Tracked>, SqlError> {
    let all = context.server.databases().into_iter().filter_map(|database| {
        let tracking = database.open?.catalog.configuration().tracking()?;
        tracking.on.then_some(Tracked { id: database.id, tracking })
    });
    Ok(all.collect())
}

view! {
    TRACKED_DATABASES = "sys.change_tracking_databases" of Tracked as d, rows databases;
    database_id int = d.id;
    is_auto_cleanup_on bit null = d.tracking.auto_cleanup;
    retention_period int null = d.tracking.retention;
    retention_period_units_desc nvarchar(60) null = match d.tracking.unit {
        1 => "MINUTES",
        2 => "HOURS",
        _ => "DAYS",
    };
    retention_period_units tinyint null = d.tracking.unit;
}

/// A table whose changes are tracked.
pub struct TrackedTable {
    id: i32,
    tracking: Tracking,
    /// Of the database: changes up to this version are gone.
    cleaned: u64,
}

/// Reads as of now, apart from the session's transaction.
fn read<T>(
    context: &Context<'_>,
    body: impl FnOnce(&mut Txn) -> Result<T, EngineError>,
) -> Result<T, SqlError> {
    let failed = |e| executor::from_engine(e, None, &context.database.name);
    let mut txn = context.database.engine.begin(TxnOptions::default());
    txn.begin_statement();
    let found = body(&mut txn);
    txn.end_statement();
    // What it has seen is durable before it is told.
    txn.commit(engine::Durability::Full).map_err(failed)?;
    found.map_err(failed)
}

fn tables(context: &Context<'_>, _: &[Value]) -> Result<Vec<TrackedTable>, SqlError> {
    let tables = object::tables(context);
    let tracked = tables.iter().filter_map(|o| Some((o.id, o.table()?.tracking?)));
    let tracked: Vec<(i32, Tracking)> = tracked.collect();
    let Some((_, first)) = tracked.first() else { return Ok(Vec::new()) };
    let cleaned = read(context, |txn| {
        let commits = txn.database().tree(first.commits);
        txn.cleaned_version(&commits)
    })?;
    let row = |(id, tracking)| TrackedTable { id, tracking, cleaned };
    Ok(tracked.into_iter().map(row).collect())
}

view! {
    TRACKED_TABLES = "sys.change_tracking_tables" of TrackedTable as t, rows tables;
    object_id int = t.id;
    is_track_columns_updated_on bit null = t.tracking.columns;
    min_valid_version bigint null = t.tracking.begin_version.max(t.cleaned) as i64;
    begin_version bigint null = t.tracking.begin_version as i64;
    cleanup_version bigint null = t.cleaned as i64;
}

fn commits(context: &Context<'_>, _: &[Value]) -> Result<Vec<TrackedCommit>, SqlError> {
    let Some(tracking) = context.database.catalog.configuration().tracking() else {
        return Ok(Vec::new());
    };
    read(context, |txn| {
        let commits = txn.database().tree(tracking.commits);
        txn.tracked_commits(&commits, 0, None, usize::MAX)
    })
}

view! {
    /// Where in the log a commit lies is not kept with its version.
    COMMITS = "sys.dm_tran_commit_table" of TrackedCommit as c, rows commits;
    commit_ts bigint null = c.version as i64;
    xdes_id bigint null = c.id as i64;
    commit_lbn bigint null = NULL;
    commit_csn bigint null = NULL;
    commit_time datetime null = moment(c.unix_us * 1000);
}
