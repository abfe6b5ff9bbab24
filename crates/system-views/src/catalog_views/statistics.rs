//! Statistics of tables: what there are, of which columns, how old, and their histograms.
//!
//! Columns and types: SQL Server 2022's documentation of each view. The statistics of an index are there from its
//! beginning; they are made when a query first asks about its key, and until then have no properties.

use super::indexes::{Index, all};
use super::principals::access;
use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use crate::object;
use catalog::{Statistic, Step, TableDef};
use executor::SqlError;
use security::{Permission, Target, database_role};
use std::sync::Arc;
use types::{SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&STATS, &STATS_COLUMNS, &PROPERTIES, &HISTOGRAM];

/// A statistic, or an index that has none yet.
pub struct Known {
    table: Arc<TableDef>,
    id: i32,
    name: String,
    filter: Option<String>,
    made: Option<Arc<Statistic>>,
    /// Ordinals.
    columns: Vec<usize>,
    changes: i64,
}

impl Known {
    fn flag(&self, of: impl Fn(&Statistic) -> bool) -> bool {
        self.made.as_ref().is_some_and(|s| of(s))
    }
}

/// All statistics of the database's tables and indexed views, by object and id.
fn known(context: &Context<'_>) -> Vec<Known> {
    let mut found: Vec<Known> = all(context)
        .into_iter()
        .filter(|index| index.id > 0 && index.columnstore().is_none())
        .map(|index: Index| Known {
            id: index.id,
            name: index.name.clone().unwrap_or_default(),
            filter: index.def.as_ref().and_then(|d| d.filter.as_deref()).map(str::to_string),
            made: None,
            columns: index.keys.iter().map(|(ordinal, _)| *ordinal).collect(),
            changes: 0,
            table: index.table,
        })
        .collect();
    let objects = object::user_objects(context);
    for table in objects.iter().filter_map(|o| o.rows()) {
        for statistic in table.statistics.all().into_iter().filter(|s| s.is_of(table)) {
            let changes = context.database.catalog.changes_since(table, &statistic) as i64;
            let same =
                |k: &&mut Known| k.table.object_id == table.object_id && k.id == statistic.id;
            if let Some(index) = found.iter_mut().find(same) {
                index.made = Some(statistic);
                index.changes = changes;
                continue;
            }
            found.push(Known {
                table: table.clone(),
                id: statistic.id,
                name: statistic.name.to_string(),
                filter: None,
                columns: statistic.columns.iter().map(|(ordinal, ..)| *ordinal).collect(),
                made: Some(statistic),
                changes,
            });
        }
    }
    found.sort_by_key(|k| (k.table.object_id, k.id));
    found
}

/// The one of these ids.
pub fn find(context: &Context<'_>, object: Option<i64>, id: Option<i64>) -> Option<Known> {
    let (object, id) = (object?, id?);
    let same = |k: &Known| i64::from(k.table.object_id) == object && i64::from(k.id) == id;
    known(context).into_iter().find(same)
}

/// STATS_DATE.
pub fn date(context: &Context<'_>, object: Option<i64>, id: Option<i64>) -> Value {
    let made = find(context, object, id).and_then(|k| k.made);
    made.map_or(Value::Null, |s| Value::DateTime(moment(s.updated_unix_ns)))
}

fn stats(context: &Context<'_>, _: &[Value]) -> Result<Vec<Known>, SqlError> {
    Ok(known(context))
}

view! {
    STATS = "sys.stats" of Known as s, rows stats;
    object_id int = s.table.object_id;
    name sysname null = &s.name;
    stats_id int = s.id;
    auto_created bit null = s.flag(|s| s.auto_created);
    user_created bit null = s.flag(|s| s.user_created);
    no_recompute bit null =
        s.flag(|s| s.no_recompute) || s.table.index_options(s.id).no_recompute;
    has_filter bit null = s.filter.is_some();
    filter_definition nvarchar(max) null = s.filter.as_deref();
    is_temporary bit null = false;
    is_incremental bit null = false;
    has_persisted_sample bit null = false;
    stats_generation_method int = 0;
    stats_generation_method_desc varchar(80) = "Sort based statistics";
    auto_drop bit null = false;
}

/// A column of a statistic.
pub struct StatColumn {
    object_id: i32,
    stats_id: i32,
    place: i32,
    column_id: i32,
}

fn stats_columns(context: &Context<'_>, _: &[Value]) -> Result<Vec<StatColumn>, SqlError> {
    let of = |k: Known| {
        let (object_id, stats_id) = (k.table.object_id, k.id);
        let columns = k.columns.into_iter().zip(1..);
        let column = move |(ordinal, place): (usize, i32)| StatColumn {
            object_id,
            stats_id,
            place,
            column_id: ordinal as i32 + 1,
        };
        columns.map(column).collect::<Vec<_>>()
    };
    Ok(known(context).into_iter().flat_map(of).collect())
}

view! {
    STATS_COLUMNS = "sys.stats_columns" of StatColumn as c, rows stats_columns;
    object_id int = c.object_id;
    stats_id int = c.stats_id;
    stats_column_id int null = c.place;
    column_id int null = c.column_id;
}

/// A statistic's properties.
pub struct Properties {
    object_id: i32,
    stats_id: i32,
    made: Option<Arc<Statistic>>,
    changes: i64,
}

impl Properties {
    fn of<T>(&self, get: impl Fn(&Statistic) -> T) -> Option<T> {
        self.made.as_deref().map(get)
    }
}

/// May the session see what is in a statistic: with SELECT of its columns, as the table's owner, or as `db_ddladmin`.
fn may_look(context: &Context<'_>, known: &Known) -> bool {
    let (access, table) = (access(context), &known.table);
    if access.is_unlimited() || table.is_private() {
        return true;
    }
    let (id, schema) = (table.object_id, context.schema_id(&table.schema));
    let column = |ordinal: &usize| Target::Column { id, schema, column: *ordinal as i32 + 1 };
    access.owns(Target::Object { id, schema, owner: None })
        || access.user_token().contains(&database_role::DDLADMIN)
        || known.columns.iter().all(|at| access.allows(Permission::Select, column(at)))
}

fn properties(context: &Context<'_>, args: &[Value]) -> Result<Vec<Properties>, SqlError> {
    let arg = |i: usize| args.get(i).and_then(Value::as_i64);
    let found = find(context, arg(0), arg(1)).filter(|known| may_look(context, known));
    let found = found.map(|k| Properties {
        object_id: k.table.object_id,
        stats_id: k.id,
        made: k.made,
        changes: k.changes,
    });
    Ok(found.into_iter().collect())
}

fn exact(unix_ns: u64) -> Value {
    let at = Value::DateTime(moment(unix_ns));
    types::convert::cast(&at, SqlType::DateTime, SqlType::DateTime2(7), 0).unwrap_or(NULL)
}

view! {
    PROPERTIES = "sys.dm_db_stats_properties" of Properties as p, rows properties, params (int, int);
    object_id int = p.object_id;
    stats_id int = p.stats_id;
    last_updated datetime2 null = p.of(|s| exact(s.updated_unix_ns));
    rows bigint null = p.of(|s| s.rows as i64);
    rows_sampled bigint null = p.of(|s| s.rows_sampled as i64);
    steps int null = p.of(|s| s.histogram.steps.len() as i32);
    unfiltered_rows bigint null = p.of(|s| s.rows as i64);
    modification_counter bigint null = p.of(|_| ()).map(|()| p.changes);
    persisted_sample_percent float null = p.of(|_| 0.0f64);
}

/// A step of a histogram.
pub struct NumberedStep {
    object_id: i32,
    stats_id: i32,
    number: i32,
    ty: SqlType,
    step: Step,
}

impl NumberedStep {
    /// NULL also for what no sql_variant may hold.
    fn high(&self) -> Value {
        types::Variant::wrap(self.step.high.clone(), self.ty).unwrap_or(NULL)
    }
}

fn histogram(context: &Context<'_>, args: &[Value]) -> Result<Vec<NumberedStep>, SqlError> {
    let arg = |i: usize| args.get(i).and_then(Value::as_i64);
    let found = find(context, arg(0), arg(1)).filter(|known| may_look(context, known));
    let Some(found) = found else { return Ok(Vec::new()) };
    let (object_id, stats_id) = (found.table.object_id, found.id);
    let Some(made) = found.made else { return Ok(Vec::new()) };
    let ty = made.columns[0].2;
    let steps = made.histogram.steps.iter().cloned().zip(1..);
    let numbered =
        steps.map(|(step, number)| NumberedStep { object_id, stats_id, number, ty, step });
    Ok(numbered.collect())
}

view! {
    HISTOGRAM = "sys.dm_db_stats_histogram" of NumberedStep as s, rows histogram, params (int, int);
    object_id int = s.object_id;
    stats_id int = s.stats_id;
    step_number int = s.number;
    range_high_key sql_variant null = s.high();
    range_rows real = s.step.range_rows as f32;
    equal_rows real = s.step.equal_rows as f32;
    distinct_range_rows bigint = s.step.distinct_range_rows.round() as i64;
    average_range_rows real = s.step.average_range_rows() as f32;
}
