//! Statistics: made for a query before it is planned, and by CREATE, UPDATE and DROP STATISTICS, sp_updatestats; shown
//! by DBCC SHOW_STATISTICS.
//!
//! Promise: what cannot be known costs a query nothing but a worse plan: no error of making statistics reaches it.
//! ALTER DATABASE SET AUTO_CREATE_STATISTICS, AUTO_UPDATE_STATISTICS and AUTO_UPDATE_STATISTICS_ASYNC are followed.
//!
//! UPDATE STATISTICS WITH ROWCOUNT holds until rows are counted again, at the next opening of the database at the latest.
//!
//! Sources: SQL Server's documentation of these statements, of DBCC SHOW_STATISTICS and of "Statistics" (when they are
//! made and made anew); numbers and texts of errors are those of sys.messages.

use crate::Commands;
use catalog::{
    Catalog, Extent, ObjectRef, Statistic, StatisticSpec, StatisticsSwitch, TableDef, same_name,
};
use executor::{ColumnMeta, Command, SqlError, SqlMessage};
use ir::StmtKind;
use planner::Wish;
use security::Permission;
use session_state::{OpenDatabase, messages};
use std::sync::Arc;
use syntax::ast::{
    Ident, ObjectName, StatisticsOptions, StatisticsSample, StatisticsStatement as Statement,
};
use types::{Len, SqlType, Value};

/// Where no table of a statement has as many rows, none gets statistics unless somebody asks for them by name: reading
/// them is as quick. Beside a larger one it matters how many rows of a small one remain.
const ROWS_MIN: f64 = 500.0;

/// A plan is looked at again for changed rows after so many ns.
const LOOK_AGAIN_NS: u64 = 1_000_000_000;

/// What a plan was made upon.
#[derive(Default)]
pub struct Watch {
    tables: Vec<Watched>,
    /// For one run: whoever has run it does not keep it.
    pub once: bool,
    /// When changes were counted last.
    looked_unix_ns: u64,
}

struct Watched {
    table: Arc<TableDef>,
    version: u64,
    changes: u64,
    /// Changes after which the plan is made anew.
    threshold: u64,
}

impl Watch {
    /// Whether statistics have been made since, or enough rows have changed that they should be.
    pub fn is_outdated(&mut self, database: &engine::Database) -> bool {
        if self.once || self.tables.is_empty() {
            return false;
        }
        if self.tables.iter().any(|w| w.table.statistics.version() != w.version) {
            return true;
        }
        let now = runtime::clock::coarse_unix_ns();
        if now.saturating_sub(self.looked_unix_ns) < LOOK_AGAIN_NS {
            return false;
        }
        self.looked_unix_ns = now;
        let changed = |w: &Watched| {
            let changes = database.tree(w.table.tree).changes();
            changes.saturating_sub(w.changes) > w.threshold
        };
        self.tables.iter().any(changed)
    }
}

impl Commands<'_> {
    /// Has at hand what a statement's planning asks for: rows of its tables, statistics of their columns. Suspends.
    pub fn prepare_statistics(&mut self, kind: &StmtKind) -> Watch {
        self.prepare_wishes(planner::wishes(kind))
    }

    /// The same for what a planner has asked for.
    pub fn prepare_wishes(&mut self, wishes: Vec<Wish>) -> Watch {
        let mut watch = Watch::default();
        let database = self.state.database.clone();
        let catalog = &database.catalog;
        let mut counted = Vec::with_capacity(wishes.len());
        for Wish { table, columns } in wishes {
            if table.is_private() {
                let rows = self.state.transaction.private.get(table.place).map_or(0, |t| t.len());
                table.statistics.note_rows(table.tree, rows as f64, 0);
                continue;
            }
            let changes = database.engine.tree(table.tree).changes();
            let Ok(rows) = catalog.row_count(&table) else { continue };
            counted.push((table, columns, rows, changes));
        }
        let matter = counted.iter().any(|(_, _, rows, _)| *rows >= ROWS_MIN);
        for (table, columns, rows, changes) in counted {
            if matter && rows >= 1.0 && !database.engine.is_read_only() {
                let Wanted { now, later } = wanted(catalog, &table, &columns);
                if !now.is_empty() {
                    // Whoever makes statistics of the table at this moment makes them for us too, next time.
                    let _ = catalog.gather_for_query(&table, &now);
                }
                if !later.is_empty() {
                    gather_later(database.clone(), table.clone(), later);
                }
            }
            let version = table.statistics.version();
            let root = (1_000.0 * rows).sqrt();
            let threshold = (500.0 + 0.2 * rows).min(root.max(500.0)) as u64;
            watch.tables.push(Watched { table, version, changes, threshold });
        }
        watch.looked_unix_ns = runtime::clock::coarse_unix_ns();
        watch
    }

    /// CREATE, UPDATE and DROP STATISTICS.
    pub(crate) fn statistics_statement(&mut self, statement: &Statement) -> Result<(), SqlError> {
        match statement {
            Statement::Create { name, table, columns, filtered, options } => {
                if *filtered {
                    return Err(SqlError::unsupported("CREATE STATISTICS WHERE"));
                }
                self.create_statistics(name, table, columns, options)
            }
            Statement::Update { table, names, options } => {
                self.update_statistics(table, names, options)
            }
            Statement::Drop(names) => names.iter().try_for_each(|name| self.drop_statistics(name)),
        }
    }

    /// The table of that name, if the session may alter it.
    fn statistics_table(&self, schema: Option<&str>, name: &str) -> Option<Arc<TableDef>> {
        let found = self.state.find_object(schema.filter(|s| !s.is_empty()), name)?;
        found.rows().filter(|_| self.may_change(&found, false)).cloned()
    }

    /// A temporary table, of which no statistics are kept: what asks for them is content with that.
    fn temporary_table(&self, name: &str) -> Option<Arc<TableDef>> {
        let found = self.state.transaction.private.find(name).filter(|_| name.starts_with('#'));
        found.cloned()
    }

    fn create_statistics(
        &mut self,
        name: &Ident,
        table: &ObjectName,
        columns: &[Ident],
        options: &StatisticsOptions,
    ) -> Result<(), SqlError> {
        let schema = table.schema.as_ref().map(|s| s.value.as_str());
        let temporary = self.temporary_table(&table.name.value);
        let kept = temporary.is_none();
        let Some(def) = temporary.or_else(|| self.statistics_table(schema, &table.name.value))
        else {
            return Err(crate::refusals::no_object(&table.name.value));
        };
        let named = |known: &str| same_name(known, &name.value);
        let taken = def.statistic_indexes().iter().any(|(_, n)| named(n))
            || def.statistics.all().iter().any(|s| named(&s.name));
        if taken {
            let text = format!(
                "There are already statistics on table '{}' named '{}'.",
                table.name.value, name.value
            );
            return Err(SqlError::new(1927, 16, text));
        }
        let mut ordinals: Vec<usize> = Vec::with_capacity(columns.len());
        for column in columns {
            let Some(ordinal) = def.column(&column.value) else {
                let text = format!(
                    "Column name '{}' does not exist in the target table or view.",
                    column.value
                );
                return Err(SqlError::new(1911, 16, text));
            };
            if ordinals.contains(&ordinal) {
                let text = format!(
                    "Cannot use duplicate column names in statistics. Column name '{}' listed more than once.",
                    column.value
                );
                return Err(SqlError::new(1909, 16, text));
            }
            ordinals.push(ordinal);
        }
        if !kept {
            return Ok(());
        }
        let spec = StatisticSpec {
            name: name.value.as_str().into(),
            columns: ordinals,
            auto_created: false,
            user_created: true,
            no_recompute: options.no_recompute,
            ..StatisticSpec::automatic(&def, 0)
        };
        let extent = extent(options.sample)?;
        Ok(self.state.database.catalog.gather(&def, &[spec], extent)?)
    }

    fn update_statistics(
        &mut self,
        table: &ObjectName,
        names: &[Ident],
        options: &StatisticsOptions,
    ) -> Result<(), SqlError> {
        let schema = table.schema.as_ref().map(|s| s.value.as_str());
        if self.temporary_table(&table.name.value).is_some() {
            return Ok(());
        }
        let Some(def) = self.statistics_table(schema, &table.name.value) else {
            let text = format!("Table '{}' does not exist.", table.name.value);
            return Err(SqlError::new(2706, 11, text).with_state(6));
        };
        let all = known(&def);
        let mut specs = Vec::new();
        if names.is_empty() {
            let of_index = |spec: &StatisticSpec| def.statistic_columns(spec.id).is_some();
            specs.extend(all.into_iter().filter(|spec| match of_index(spec) {
                true => !options.columns_only,
                false => !options.index_only,
            }));
        } else {
            for name in names {
                let found = all.iter().find(|spec| same_name(&spec.name, &name.value));
                let Some(spec) = found else { return Err(no_statistics(&name.value)) };
                specs.push(spec.clone());
            }
        }
        if options.on_partitions {
            // None are kept by partition.
            let text = "UPDATE STATISTICS ON PARTITIONS syntax is not supported for non-incremental statistics.";
            return Err(SqlError::new(9111, 16, text));
        }
        if options.rows.is_some() || options.pages.is_some() {
            // Nothing is read. Pages cost nothing here beside their rows.
            if let Some(rows) = options.rows {
                let counted = self.state.database.engine.tree(def.tree).net_rows();
                def.statistics.tell_rows(def.tree, rows as f64, counted);
            }
            return Ok(());
        }
        specs.iter_mut().for_each(|spec| spec.no_recompute = options.no_recompute);
        if specs.is_empty() {
            return Ok(());
        }
        let extent = extent(options.sample)?;
        Ok(self.state.database.catalog.gather(&def, &specs, extent)?)
    }

    fn drop_statistics(&mut self, name: &ObjectName) -> Result<(), SqlError> {
        let table = name.schema.as_ref().map_or("", |s| s.value.as_str());
        let schema = name.database.as_ref().map(|s| s.value.as_str());
        let shown = name.to_string();
        let cannot = || {
            let text = format!(
                "Cannot drop the statistics '{shown}', because it does not exist or you do not have permission."
            );
            SqlError::new(3701, 11, text).with_state(6)
        };
        let def = self.statistics_table(schema, table).ok_or_else(cannot)?;
        if def.statistic_indexes().iter().any(|(_, n)| same_name(n, &name.name.value)) {
            let text = format!(
                "Cannot DROP the index '{shown}' because it is not a statistics collection."
            );
            return Err(SqlError::new(3739, 11, text));
        }
        let all = def.statistics.all();
        let found = all.iter().find(|s| same_name(&s.name, &name.name.value));
        let id = found.ok_or_else(cannot)?.id;
        self.state.database.catalog.drop_statistic(&def, id)?;
        Ok(())
    }

    /// sp_updatestats: anew what has been left behind by any change; 15650 to 15653 tell of each table, 15005 ends it.
    pub(crate) fn update_all_statistics(&mut self) -> Result<(), SqlError> {
        let catalog = self.state.database.catalog.clone();
        let scope = self.state.transaction.scope();
        for object in catalog.objects_in(scope) {
            let Some(table) = object.rows() else { continue };
            if !self.may_change(&object, false) {
                continue;
            }
            catalog.row_count(table)?;
            let changed = |s: &Statistic| {
                let rows = catalog.row_count_known(table).unwrap_or(s.rows);
                !s.no_recompute && (catalog.changes_since(table, s) > 0 || rows != s.rows)
            };
            let all = table.statistics.all();
            let own: Vec<_> = all.iter().filter(|s| s.is_of(table)).collect();
            let stale: Vec<bool> = own.iter().map(|s| changed(s)).collect();
            let specs = own.iter().zip(&stale).filter(|(_, stale)| **stale);
            let specs: Vec<StatisticSpec> = specs.map(|(s, _)| StatisticSpec::again(s)).collect();
            if !specs.is_empty() {
                catalog.gather(table, &specs, Extent::Default)?;
            }
            let shown = syntax::ast::bracketed_in(&table.schema, &table.name);
            self.sink.message(&messages::info(15650, &[&shown]));
            for (statistic, stale) in own.iter().zip(&stale) {
                let number = if *stale { 15652 } else { 15653 };
                self.sink
                    .message(&messages::info(number, &[&syntax::ast::bracketed(&statistic.name)]));
            }
            let (renewed, others) = (specs.len(), own.len() - specs.len());
            let counts = [&*renewed.to_string(), &*others.to_string()];
            self.sink.message(&messages::info(15651, &counts));
            self.sink.message(&SqlMessage::info(0, 1, " "));
        }
        self.sink.message(&messages::info(15005, &[]));
        Ok(())
    }

    /// DBCC SHOW_STATISTICS (table, statistic) WITH STAT_HEADER, DENSITY_VECTOR, HISTOGRAM.
    pub(crate) fn show_statistics(
        &mut self,
        args: &[Value],
        options: &[String],
    ) -> Result<(), SqlError> {
        let text = |i: usize| args.get(i).and_then(Value::as_str).unwrap_or("").to_owned();
        let (table, name) = (text(0), text(1));
        let mut parts = session_state::name_parts(&table).into_iter().rev();
        let bare = parts.next().unwrap_or_default();
        let schema = parts.next();
        let may = |def: &TableDef| {
            let access = self.state.identity.access();
            !self.state.identity.is_limited()
                || access.allows(Permission::Select, self.table_target(def))
        };
        let found = self.state.find_object(schema.as_deref().filter(|s| !s.is_empty()), &bare);
        let def = match found.as_ref().and_then(ObjectRef::rows) {
            Some(def) if may(def) => def.clone(),
            _ => {
                let text = format!(
                    "Cannot find a table or object with the name \"{table}\". Check the system catalog."
                );
                return Err(SqlError::new(2501, 16, text).with_state(45));
            }
        };
        let spec = known(&def).into_iter().find(|spec| {
            let by_column = spec.auto_created
                && spec.columns.first().is_some_and(|c| same_name(&def.columns[*c].name, &name));
            same_name(&spec.name, &name) || by_column
        });
        let Some(spec) = spec else { return Err(no_statistics(&name)) };
        let of = |id: i32| def.statistics.all().into_iter().find(|s| s.id == id && s.is_of(&def));
        let statistic = match of(spec.id) {
            Some(statistic) => statistic,
            // That of an index nobody has asked about yet.
            None => {
                let id = spec.id;
                self.state.database.catalog.gather(&def, &[spec], Extent::Default)?;
                of(id).ok_or_else(|| no_statistics(&name))?
            }
        };
        let asked = |word: &str| options.iter().any(|o| o == word);
        let any = ["STAT_HEADER", "DENSITY_VECTOR", "HISTOGRAM"].into_iter().any(asked);
        if !any || asked("STAT_HEADER") {
            self.show_header(&statistic)?;
        }
        if !any || asked("DENSITY_VECTOR") {
            self.show_densities(&statistic);
        }
        if !any || asked("HISTOGRAM") {
            self.show_histogram(&statistic);
        }
        Ok(())
    }

    fn show_header(&mut self, statistic: &Statistic) -> Result<(), SqlError> {
        let name = SqlType::NVarChar(Len::N(128));
        self.sink.columns(&[
            ColumnMeta::new("Name", name, true),
            ColumnMeta::new("Updated", SqlType::NVarChar(Len::N(20)), true),
            ColumnMeta::new("Rows", SqlType::BigInt, true),
            ColumnMeta::new("Rows Sampled", SqlType::BigInt, true),
            ColumnMeta::new("Steps", SqlType::SmallInt, true),
            ColumnMeta::new("Density", SqlType::Real, true),
            ColumnMeta::new("Average key length", SqlType::Real, true),
            ColumnMeta::new("String Index", SqlType::Char(3), true),
            ColumnMeta::new("Filter Expression", SqlType::NVarChar(Len::Max), true),
            ColumnMeta::new("Unfiltered Rows", SqlType::BigInt, true),
            ColumnMeta::new("Persisted Sample Percent", SqlType::Float, true),
        ]);
        let updated =
            Value::DateTime(types::datetime::datetime_from_unix_ns(statistic.updated_unix_ns));
        let updated = types::format::to_text(&updated, SqlType::DateTime, 0)?.unwrap_or_default();
        let rows = Value::BigInt(statistic.rows as i64);
        let steps = &statistic.histogram.steps;
        // 1 / different values that are not ends of steps; documented as of no use since 2008.
        let inner: f64 = steps.iter().map(|s| s.distinct_range_rows).sum();
        let density = if inner > 0.0 { 1.0 / inner } else { 0.0 };
        self.sink.row(&[
            Value::str(&statistic.name),
            Value::str(&updated),
            rows.clone(),
            Value::BigInt(statistic.rows_sampled as i64),
            Value::SmallInt(steps.len() as i16),
            Value::Real(density as f32),
            Value::Real(statistic.average_bytes.iter().sum::<f64>() as f32),
            Value::str("NO "),
            Value::Null,
            rows,
            Value::Float(0.0),
        ]);
        self.tell_done(Command::Dbcc, Some(1));
        Ok(())
    }

    fn show_densities(&mut self, statistic: &Statistic) {
        self.sink.columns(&[
            ColumnMeta::new("All density", SqlType::Real, true),
            ColumnMeta::new("Average Length", SqlType::Real, true),
            ColumnMeta::new("Columns", SqlType::NVarChar(Len::N(4000)), true),
        ]);
        for (i, density) in statistic.densities.iter().enumerate() {
            let names: Vec<&str> =
                statistic.columns[..=i].iter().map(|(_, name, _)| &**name).collect();
            let bytes: f64 = statistic.average_bytes[..=i].iter().sum();
            let columns = names.join(", ");
            let row =
                [Value::Real(*density as f32), Value::Real(bytes as f32), Value::str(&columns)];
            self.sink.row(&row);
        }
        self.tell_done(Command::Dbcc, Some(statistic.densities.len() as u64));
    }

    fn show_histogram(&mut self, statistic: &Statistic) {
        self.sink.columns(&[
            ColumnMeta::new("RANGE_HI_KEY", statistic.columns[0].2, true),
            ColumnMeta::new("RANGE_ROWS", SqlType::Real, true),
            ColumnMeta::new("EQ_ROWS", SqlType::Real, true),
            ColumnMeta::new("DISTINCT_RANGE_ROWS", SqlType::BigInt, true),
            ColumnMeta::new("AVG_RANGE_ROWS", SqlType::Real, true),
        ]);
        for step in &statistic.histogram.steps {
            self.sink.row(&[
                step.high.clone(),
                Value::Real(step.range_rows as f32),
                Value::Real(step.equal_rows as f32),
                Value::BigInt(step.distinct_range_rows.round() as i64),
                Value::Real(step.average_range_rows() as f32),
            ]);
        }
        self.tell_done(Command::Dbcc, Some(statistic.histogram.steps.len() as u64));
    }
}

/// The statistics that a query's columns want made, or made anew, as far as the database's switches allow.
struct Wanted {
    /// Before the query is planned.
    now: Vec<StatisticSpec>,
    /// AUTO_UPDATE_STATISTICS_ASYNC: the query does not wait.
    later: Vec<StatisticSpec>,
}

fn wanted(catalog: &Catalog, table: &TableDef, columns: &[usize]) -> Wanted {
    let configuration = catalog.configuration();
    let on = |switch| configuration.statistics(switch);
    let (mut now, mut later): (Vec<StatisticSpec>, Vec<StatisticSpec>) = Default::default();
    for ordinal in columns {
        let known = table.statistics.of_column(table, *ordinal);
        match known {
            Some(known) if !catalog.is_stale(table, &known) => {}
            Some(_) if !on(StatisticsSwitch::AutoUpdate) => {}
            Some(known) => {
                let list = match on(StatisticsSwitch::AutoUpdateAsync) {
                    true => &mut later,
                    false => &mut now,
                };
                list.push(StatisticSpec::again(&known));
            }
            None => {
                let leads = |(id, _): &(i32, Box<str>)| {
                    table.statistic_columns(*id).is_some_and(|c| c.first() == Some(ordinal))
                };
                let index = table.statistic_indexes().into_iter().find(leads);
                let spec = match index.and_then(|(id, _)| StatisticSpec::of_index(table, id)) {
                    Some(spec) => spec,
                    // An index has its statistic whatever the switch says.
                    None if !on(StatisticsSwitch::AutoCreate) => continue,
                    None => {
                        let mut spec = StatisticSpec::automatic(table, *ordinal);
                        let taken = now.iter().map(|s| s.id).max().unwrap_or(0);
                        spec.id = spec.id.max(taken + 1);
                        spec
                    }
                };
                now.push(spec);
            }
        }
    }
    Wanted { now, later }
}

/// Makes statistics behind the back of the query that has found them left behind. The database stays open meanwhile.
fn gather_later(database: Arc<OpenDatabase>, table: Arc<TableDef>, specs: Vec<StatisticSpec>) {
    let gather = move || {
        // Nobody waits for it, and nobody could be told: the next query tries again.
        let _ = database.catalog.gather_for_query(&table, &specs);
    };
    match scheduler::current() {
        Some(_) => scheduler::spawn_here("statistics", gather),
        None => gather(),
    }
}

/// All statistics that a table has or, by its indexes, should have.
pub(crate) fn known(table: &TableDef) -> Vec<StatisticSpec> {
    let indexes = table.statistic_indexes();
    let of_index = |(id, _): &(i32, Box<str>)| StatisticSpec::of_index(table, *id);
    let mut all: Vec<StatisticSpec> = indexes.iter().filter_map(of_index).collect();
    for statistic in table.statistics.all() {
        let is_indexes = indexes.iter().any(|(id, _)| *id == statistic.id);
        if !is_indexes && statistic.is_of(table) {
            all.push(StatisticSpec::again(&statistic));
        }
    }
    all
}

/// 1043 for a share above 100 per cent.
fn extent(sample: StatisticsSample) -> Result<Extent, SqlError> {
    Ok(match sample {
        StatisticsSample::Default => Extent::Default,
        StatisticsSample::FullScan => Extent::Whole,
        StatisticsSample::Percent(n) if n <= 100 => Extent::Percent(n as f64),
        StatisticsSample::Percent(n) => {
            let text = format!("Invalid sampling rate {n}: it must be between 0 and 100 percent.");
            return Err(SqlError::new(1043, 15, text));
        }
        StatisticsSample::Rows(n) => Extent::Rows(n),
    })
}

/// 2767.
fn no_statistics(name: &str) -> SqlError {
    let text = format!("Could not locate statistics '{name}' in the system catalogs.");
    SqlError::new(2767, 16, text)
}
