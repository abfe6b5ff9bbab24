//! Databases, files and the instance itself.
//!
//! Source of the properties' names: SQL Server's documentation of SERVERPROPERTY, DATABASEPROPERTYEX, FILEPROPERTY,
//! FILEGROUPPROPERTY and COLLATIONPROPERTY.

use super::{Args, shown};
use crate::catalog_views::databases::{PAGE, files_of};
use crate::context::{COLLATION, Context, PRODUCT_VERSION, TEMPDB};
use catalog::{ModuleKind, StatisticsSwitch, same_name};
use ir::ServerFigure;
use telemetry::{Counter, counters};
use types::Value;

/// DB_ID([name]).
pub fn db_id(context: &Context<'_>, args: Args<'_>) -> Value {
    if args.count() == 0 {
        return Value::SmallInt(context.database.id as i16);
    }
    if args.text(0).is_some_and(|name| same_name(name, "tempdb")) {
        return Value::SmallInt(TEMPDB as i16);
    }
    let found = args
        .text(0)
        .and_then(|name| context.server.databases().into_iter().find(|d| same_name(&d.name, name)));
    found.map_or(Value::Null, |d| Value::SmallInt(d.id as i16))
}

/// DB_NAME([id]).
pub fn db_name(context: &Context<'_>, args: Args<'_>) -> Value {
    match args.number(0) {
        None if args.count() == 0 => Value::str(&context.database.name),
        None => Value::Null,
        // As in SQL Server, 0 is the current one.
        Some(0) => Value::str(&context.database.name),
        Some(id) if id == TEMPDB as i64 => Value::str("tempdb"),
        Some(id) => {
            let found = context.server.databases().into_iter().find(|d| d.id as i64 == id);
            found.map_or(Value::Null, |d| Value::str(&d.name))
        }
    }
}

/// FILE_ID(name): a smallint, which the number of a container is not.
pub fn small_file_id(context: &Context<'_>, args: Args<'_>) -> Value {
    let id = file_id(context, args).as_i64().and_then(|id| i16::try_from(id).ok());
    id.map_or(Value::Null, Value::SmallInt)
}

/// FILE_IDEX(name).
pub fn file_id(context: &Context<'_>, args: Args<'_>) -> Value {
    let files = files_of(&context.database_entry());
    let found = args.text(0).and_then(|name| files.into_iter().find(|f| same_name(&f.name, name)));
    found.map_or(Value::Null, |f| Value::Int(f.id))
}

/// FILE_NAME(id).
pub fn file_name(context: &Context<'_>, args: Args<'_>) -> Value {
    let files = files_of(&context.database_entry());
    let found = args.number(0).and_then(|id| files.into_iter().find(|f| f.id as i64 == id));
    found.map_or(Value::Null, |f| Value::str(&f.name))
}

/// FILEPROPERTY(name, property).
pub fn file_property(context: &Context<'_>, args: Args<'_>) -> Value {
    let (Some(name), Some(property)) = (args.text(0), args.text(1)) else { return Value::Null };
    let files = files_of(&context.database_entry());
    let Some(file) = files.into_iter().find(|f| same_name(&f.name, name.trim_end())) else {
        return Value::Null;
    };
    let engine = &context.database.engine;
    let value = match property.trim().to_ascii_lowercase().as_str() {
        "isreadonly" => 0,
        "isprimaryfile" => i32::from(file.id == 1),
        "islogfile" => i32::from(file.is_log()),
        "spaceused" if file.is_container => return Value::Null,
        "spaceused" if file.is_log() => (engine.stats().log_used_bytes / PAGE) as i32,
        "spaceused" => match engine.file_space(file.id as u16) {
            Ok(Some(space)) => (space.pages - space.free_pages) as i32,
            _ => return Value::Null,
        },
        _ => return Value::Null,
    };
    Value::Int(value)
}

/// FILEGROUPPROPERTY(name, property).
pub fn filegroup_property(context: &Context<'_>, args: Args<'_>) -> Value {
    let (Some(name), Some(property)) = (args.text(0), args.text(1)) else { return Value::Null };
    let groups = context.database.catalog.filegroups();
    let found = groups.iter().enumerate().find(|(_, g)| same_name(&g.name, name.trim_end()));
    let Some((place, group)) = found else { return Value::Null };
    match property.trim().to_ascii_lowercase().as_str() {
        "isreadonly" => Value::Int(0),
        "isuserdefinedfg" => Value::Int(i32::from(place > 0)),
        "isdefault" => Value::Int(i32::from(group.is_default)),
        _ => Value::Null,
    }
}

/// FULLTEXTCATALOGPROPERTY(name, property): no words are kept, so nothing is ever being filled in or merged; what could be
/// found by the catalog are the rows of its tables.
pub fn fulltext_catalog_property(context: &Context<'_>, args: Args<'_>) -> Value {
    let (Some(name), Some(property)) = (args.text(0), args.text(1)) else { return Value::Null };
    let (scope, kind) = (context.scope(), ModuleKind::FulltextCatalog);
    let all = context.database.catalog.modules_of_kind(scope, kind);
    let found = all.into_iter().find(|c| same_name(&c.name, name.trim_end()));
    let Some((module, catalog)) = found.and_then(|c| Some((c.object_id, c.fulltext_catalog()?)))
    else {
        return Value::Null;
    };
    let value = match property.trim().to_ascii_lowercase().as_str() {
        "accentsensitivity" => i64::from(catalog.is_accent_sensitive),
        "itemcount" => {
            let indexes = context.database.catalog.fulltext_indexes(scope);
            let own = indexes
                .iter()
                .filter(|(_, index)| index.fulltext_index().is_some_and(|i| i.catalog == module));
            own.map(|(table, _)| context.rows_of(table)).sum()
        }
        "indexsize"
        | "importstatus"
        | "logsize"
        | "mergestatus"
        | "populatecompletionage"
        | "populatestatus"
        | "uniquekeycount" => 0,
        _ => return Value::Null,
    };
    Value::Int(i32::try_from(value).unwrap_or(i32::MAX))
}

/// FILEGROUP_ID(name).
pub fn filegroup_id(context: &Context<'_>, args: Args<'_>) -> Value {
    let groups = context.database.catalog.filegroups();
    let place = args.text(0).and_then(|name| groups.iter().position(|g| same_name(&g.name, name)));
    place.map_or(Value::Null, |i| Value::Int(i as i32 + 1))
}

/// FILEGROUP_NAME(id).
pub fn filegroup_name(context: &Context<'_>, args: Args<'_>) -> Value {
    let groups = context.database.catalog.filegroups();
    let place = args.number(0).and_then(|id| usize::try_from(id - 1).ok());
    place.and_then(|i| groups.get(i)).map_or(Value::Null, |g| Value::str(&g.name))
}

/// DATABASEPROPERTYEX(name, property), as text.
pub fn database_property(context: &Context<'_>, args: Args<'_>) -> Value {
    let (Some(name), Some(property)) = (args.text(0), args.text(1)) else { return Value::Null };
    let found = context.server.databases().into_iter().find(|d| same_name(&d.name, name.trim()));
    let Some(database) = found else { return Value::Null };
    let on = |option: &str| shown(i64::from(database.is_on(option)));
    match property.trim().to_ascii_lowercase().as_str() {
        "collation" => Value::str(&database.collation().name()),
        "comparisonstyle" => shown(i64::from(database.collation().comparison_style())),
        "lcid" => shown(i64::from(database.collation().locale())),
        "sqlsortorder" => shown(i64::from(database.collation().to_wire()[4])),
        "status" => Value::str(database.state().1),
        "updateability" => {
            Value::str(if database.is_read_only() { "READ_ONLY" } else { "READ_WRITE" })
        }
        "useraccess" => Value::str(database.user_access().1),
        "recovery" => Value::str(database.recovery().1),
        "version" => shown(957),
        "isansinulldefault" => on("ansi_null_default"),
        "isansinullsenabled" => on("ansi_nulls"),
        "isansipaddingenabled" => on("ansi_padding"),
        "isansiwarningsenabled" => on("ansi_warnings"),
        "isarithmeticabortenabled" => on("arithabort"),
        "isautoclose" => on("auto_close"),
        "isautoshrink" => on("auto_shrink"),
        "isnullconcat" => on("concat_null_yields_null"),
        "isparameterizationforced" => {
            shown(i64::from(database.option("parameterization") == Some("FORCED")))
        }
        "isquotedidentifiersenabled" => on("quoted_identifier"),
        "ismemoryoptimizedelevatetosnapshotenabled" => on("memory_optimized_elevate_to_snapshot"),
        "isxtpsupported" => shown(1),
        "isautocreatestatistics" => {
            shown(i64::from(database.statistics(StatisticsSwitch::AutoCreate)))
        }
        "isautoupdatestatistics" => {
            shown(i64::from(database.statistics(StatisticsSwitch::AutoUpdate)))
        }
        "isfulltextenabled" => shown(i64::from(database.id > 4)),
        "istornpagedetectionenabled" => shown(i64::from(database.page_verify().0 == 1)),
        "isautocreatestatisticsincremental"
        | "isclone"
        | "isclosecursorsoncommitenabled"
        | "isinstandby"
        | "islocalcursorsdefault"
        | "ismergepublished"
        | "isnumericroundabortenabled"
        | "ispublished"
        | "isrecursivetriggersenabled"
        | "issubscribed"
        | "issyncwithbackup"
        | "isverifiedclone"
        | "isdatabasesuspendedforsnapshotbackup" => shown(0),
        _ => Value::Null,
    }
}

/// SERVERPROPERTY(name), as text.
pub fn server_property(context: &Context<'_>, args: Args<'_>) -> Value {
    let facts = context.server.facts();
    let mut version = PRODUCT_VERSION.split('.');
    match args.text(0).unwrap_or("").trim().to_ascii_lowercase().as_str() {
        "collation" => Value::str(COLLATION),
        "collationid" => shown(872_468_488),
        "comparisonstyle" => shown(196_609),
        "computernamephysicalnetbios" | "machinename" => Value::str(&facts.machine),
        "servername" => Value::str(&facts.name),
        // The default instance has no name.
        "instancename" => Value::Null,
        "edition" => Value::str("Developer Edition (64-bit)"),
        "editionid" => shown(-2_117_995_310),
        "engineedition" => shown(3),
        "productversion" => Value::str(PRODUCT_VERSION),
        "productmajorversion" => version.next().map_or(Value::Null, Value::str),
        "productminorversion" => version.nth(1).map_or(Value::Null, Value::str),
        "productbuild" => version.nth(2).map_or(Value::Null, Value::str),
        "productlevel" => Value::str("RTM"),
        "productbuildtype"
        | "productupdatelevel"
        | "productupdatereference"
        | "numlicenses"
        | "filestreamsharename"
        | "buildclrversion" => Value::Null,
        "resourceversion" => Value::str("16.00.1000"),
        "resourcelastupdatedatetime" => Value::str("2022-10-08T06:31:57.240"),
        "licensetype" => Value::str("DISABLED"),
        "lcid" => shown(1033),
        "pathseparator" => Value::str("/"),
        "processid" => shown(std::process::id() as i64),
        "sqlcharset" => shown(1),
        "sqlcharsetname" => Value::str("iso_1"),
        "sqlsortorder" => shown(52),
        "sqlsortordername" => Value::str("nocase_iso"),
        "instancedefaultdatapath" | "instancedefaultlogpath" | "instancedefaultbackuppath" => {
            Value::str(&format!("{}/", facts.data_dir.trim_end_matches('/')))
        }
        "hadrmanagerstatus" => shown(2),
        "isfulltextinstalled" | "isxtpsupported" => shown(1),
        "filestreamconfiguredlevel"
        | "filestreameffectivelevel"
        | "isadvancedanalyticsinstalled"
        | "isbigdatacluster"
        | "isclustered"
        | "isexternalauthenticationonly"
        | "isexternalgovernanceenabled"
        | "ishadrenabled"
        | "isintegratedsecurityonly"
        | "islocaldb"
        | "ispolybaseinstalled"
        | "isserversuspendedforsnapshotbackup"
        | "issingleuser"
        | "istempdbmetadatamemoryoptimized"
        | "suspendeddatabasecount" => shown(0),
        _ => Value::Null,
    }
}

/// COLLATIONPROPERTY(collation, property), as text.
pub fn collation_property(args: Args<'_>) -> Value {
    let Some(found) = args.text(0).and_then(|name| types::Collation::of_name(name.trim())) else {
        return Value::Null;
    };
    match args.text(1).unwrap_or("").trim().to_ascii_lowercase().as_str() {
        "codepage" => shown(found.code_page().into()),
        "lcid" => shown(found.locale().into()),
        "comparisonstyle" => shown(found.comparison_style().into()),
        "version" => shown(found.version().into()),
        "tdscollation" => {
            let wire = found.to_wire().map(|byte| format!("{byte:02X}"));
            Value::str(&format!("0x{}", wire.concat()))
        }
        _ => Value::Null,
    }
}

/// Nanoseconds of a tick, which @@TIMETICKS gives in microseconds.
const TICK_NS: u64 = 31_250_000;

/// What @@CONNECTIONS and its like have counted since the server began; of packets those of the connections that are open.
pub fn figure(context: &Context<'_>, figure: ServerFigure) -> Value {
    let server = context.server;
    let schedulers = |of: fn(&scheduler::Stats) -> u64| {
        server.schedulers().iter().map(of).sum::<u64>() / TICK_NS
    };
    let packets = |of: fn((u64, u64)) -> u64| -> u64 {
        let sessions = server.sessions().into_iter();
        let traffic = sessions.filter_map(|s| s.connection?.traffic);
        traffic.map(|traffic| of(traffic.counts())).sum()
    };
    let files = |of: fn(&engine::FileFigures) -> u64| -> u64 {
        let open = server.databases().into_iter().filter_map(|d| d.open);
        open.flat_map(|d| d.engine.file_figures()).map(|figures| of(&figures)).sum()
    };
    let number = match figure {
        ServerFigure::Connections => counters::get(Counter::Logins),
        ServerFigure::CpuBusy => schedulers(|s| s.busy_ns),
        ServerFigure::Idle => schedulers(|s| s.idle_ns),
        ServerFigure::PacketsReceived => packets(|(reads, _)| reads),
        ServerFigure::PacketsSent => packets(|(_, writes)| writes),
        ServerFigure::TotalRead => files(|f| f.stats.reads),
        ServerFigure::TotalWrite => files(|f| f.stats.writes),
        // Nobody waits on a CPU for I/O, a connection with an error is closed, and a failed write stops its database.
        ServerFigure::IoBusy | ServerFigure::PacketErrors | ServerFigure::TotalErrors => 0,
    };
    Value::Int(number.min(i32::MAX as u64) as i32)
}
