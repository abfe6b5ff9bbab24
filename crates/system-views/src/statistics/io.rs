//! Files: what was read and written, how long it took, what is on its way.
//!
//! Columns and types: SQL Server's documentation of sys.dm_io_virtual_file_stats, sys.dm_io_pending_io_requests,
//! sys.dm_os_volume_stats and sys.dm_db_file_space_usage;
//! each queued stall stands behind its stall (reference/dmv.md). Figures begin when a database is opened; DBCC SQLPERF
//! does not clear them, as in SQL Server. A write is counted when it is over, a sync never.

use super::snapshot::{Address, Scheduler, Snapshot, io_number};
use crate::catalog_views::databases::{self, files_of};
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::facts::VolumeFacts;
use engine::{FileFigures, FileSpace, IoOp, PendingIo};
use executor::SqlError;
use runtime::clock;
use std::path::PathBuf;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&FILES, &PENDING, &SPACE, &VOLUMES];

/// A file of a database.
pub struct File {
    database: i32,
    figures: FileFigures,
}

fn all_files(context: &Context<'_>) -> Vec<File> {
    let open = context.server.databases().into_iter();
    open.filter_map(|d| d.open.map(|open| (d.id, open)))
        .flat_map(|(database, open)| {
            open.engine.file_figures().into_iter().map(move |figures| File { database, figures })
        })
        .collect()
}

fn files(context: &Context<'_>, args: &[Value]) -> Result<Vec<File>, SqlError> {
    let wanted = |i: usize| args.get(i).and_then(Value::as_i64);
    let (database, file) = (wanted(0), wanted(1));
    let mut all = all_files(context);
    all.retain(|f| {
        database.is_none_or(|id| id == i64::from(f.database))
            && file.is_none_or(|id| id == i64::from(f.figures.file_id))
    });
    Ok(all)
}

fn ms(ns: u64) -> i64 {
    (ns / 1_000_000) as i64
}

view! {
    FILES = "sys.dm_io_virtual_file_stats" of File as f, rows files, params (int, int);
    database_id smallint = f.database as i16;
    file_id smallint = f.figures.file_id as i16;
    sample_ms bigint = ms(clock::now_ns());
    num_of_reads bigint = f.figures.stats.reads as i64;
    num_of_bytes_read bigint = f.figures.stats.read_bytes as i64;
    io_stall_read_ms bigint = ms(f.figures.stats.read_ns);
    io_stall_queued_read_ms bigint = 0i64;
    num_of_writes bigint = f.figures.stats.writes as i64;
    num_of_bytes_written bigint = f.figures.stats.write_bytes as i64;
    io_stall_write_ms bigint = ms(f.figures.stats.write_ns);
    io_stall_queued_write_ms bigint = 0i64;
    io_stall bigint = ms(f.figures.stats.read_ns + f.figures.stats.write_ns);
    size_on_disk_bytes bigint = f.figures.size_bytes as i64;
    file_handle varbinary(8) = Address::File(f.database, f.figures.file_id).value();
}

/// A file, and where it lies.
pub struct Place {
    file: databases::File,
    volume: VolumeFacts,
}

fn volumes(context: &Context<'_>, args: &[Value]) -> Result<Vec<Place>, SqlError> {
    let wanted = |i: usize| args.get(i).and_then(Value::as_i64);
    let (Some(database), Some(file)) = (wanted(0), wanted(1)) else { return Ok(Vec::new()) };
    let asked = |f: &databases::File| {
        i64::from(f.database_id) == database && i64::from(f.id) == file && !f.is_container
    };
    let all = databases::all_files(context, &[])?.into_iter().filter(asked);
    Ok(all
        .filter_map(|file| {
            let volume = context.server.volume(&file.path)?;
            Some(Place { file, volume })
        })
        .collect())
}

view! {
    VOLUMES = "sys.dm_os_volume_stats" of Place as p, rows volumes, params (int, int);
    database_id int = p.file.database_id;
    file_id int = p.file.id;
    volume_mount_point nvarchar(512) null = &p.volume.mount_point;
    volume_id nvarchar(512) null = "";
    logical_volume_name nvarchar(512) null = "";
    file_system_type nvarchar(512) null = "";
    total_bytes bigint = p.volume.bytes as i64;
    available_bytes bigint = p.volume.free_bytes as i64;
    supports_compression tinyint null = 0u8;
    supports_alternate_streams tinyint null = 0u8;
    supports_sparse_files tinyint null = 1u8;
    is_read_only tinyint null = u8::from(p.volume.is_read_only);
    is_compressed tinyint null = 0u8;
    incurs_seek_penalty tinyint null = NULL;
}

/// An operation on its way.
pub struct Pending {
    database: i32,
    file: u16,
    path: PathBuf,
    io: PendingIo,
    scheduler: i32,
}

fn pending(context: &Context<'_>, _: &[Value]) -> Result<Vec<Pending>, SqlError> {
    // Whoever polls takes a completion: the log writer's place, else the first scheduler.
    let snapshot = Snapshot::take(context);
    let busiest = |s: &&Scheduler| s.pending_io > 0;
    let scheduler = snapshot.schedulers.iter().find(busiest).map_or(0, |s| s.id);
    let of_file = |f: File| {
        let ios = f.figures.stats.pending.clone();
        ios.into_iter().map(move |io| Pending {
            database: f.database,
            file: f.figures.file_id,
            path: f.figures.path.clone(),
            io,
            scheduler,
        })
    };
    let all = all_files(context).into_iter().flat_map(of_file);
    Ok(all.filter(|p| matches!(p.io.op, IoOp::Read | IoOp::Write | IoOp::WriteDurable)).collect())
}

view! {
    PENDING = "sys.dm_io_pending_io_requests" of Pending as p, rows pending;
    io_completion_request_address varbinary(8) =
        Address::Io(io_number(p.database, p.file, p.io.ticket)).value();
    io_type nvarchar(60) = "disk";
    io_pending_ms_ticks bigint = ms(clock::now_ns().saturating_sub(p.io.submitted_ns));
    io_pending int = 1;
    io_completion_routine_address varbinary(8) null = NULL;
    io_user_data_address varbinary(8) null = NULL;
    scheduler_address varbinary(8) = Address::Scheduler(p.scheduler).value();
    io_handle varbinary(8) null = Address::File(p.database, p.file).value();
    io_offset bigint = p.io.offset as i64;
    io_handle_path nvarchar(256) null = p.path.display().to_string().chars().take(256).collect::<String>();
}

/// How full a data file is.
pub struct Space {
    database_id: i16,
    file: i16,
    filegroup: i16,
    space: FileSpace,
}

fn space(context: &Context<'_>, _: &[Value]) -> Result<Vec<Space>, SqlError> {
    let engine = &context.database.engine;
    let mut all = Vec::new();
    for file in files_of(&context.database_entry()).into_iter().filter(|f| !f.is_container) {
        let space = engine.file_space(file.id as u16);
        let space = space.map_err(|e| executor::from_engine(e, None, &context.database.name))?;
        let (database_id, file, filegroup) =
            (context.database.id as i16, file.id as i16, file.filegroup as i16);
        all.extend(space.map(|space| Space { database_id, file, filegroup, space }));
    }
    Ok(all)
}

view! {
    SPACE = "sys.dm_db_file_space_usage" of Space as s, rows space;
    database_id smallint null = s.database_id;
    file_id smallint null = s.file;
    filegroup_id smallint null = s.filegroup;
    total_page_count bigint null = s.space.pages as i64;
    allocated_extent_page_count bigint null = (s.space.pages - s.space.free_pages) as i64;
    unallocated_extent_page_count bigint null = s.space.free_pages as i64;
    version_store_reserved_page_count bigint null = 0i64;
    user_object_reserved_page_count bigint null = (s.space.pages - s.space.free_pages) as i64;
    internal_object_reserved_page_count bigint null = 0i64;
    mixed_extent_page_count bigint null = 0i64;
    modified_extent_page_count bigint null = NULL;
}
