//! What is configured for one database: ALTER DATABASE SCOPED CONFIGURATION, and the switches of its statistics.
//!
//! Kept in system table 18 of the database itself, so it goes along when the database is detached, backed up and
//! restored: `name | value, value for secondaries`; a value that is NULL was never set (of a secondary: PRIMARY).
//!
//! Promises: only names of [`SCOPED_OPTIONS`], of [`StatisticsSwitch`], those of change tracking (`tracking.rs`) and
//! of the collation (`collation.rs`), and those of messages (`messages.rs`) and of audit specifications (`audits.rs`) are kept; a change is durable when it returns, and is no part of the session's transaction; plans made before it are stale after it.
//!
//! Sources: SQL Server's documentation of ALTER DATABASE SCOPED CONFIGURATION and sys.database_scoped_configurations.

use crate::system::{Cells, text_or_null};
use crate::{Catalog, CatalogError};
use std::collections::BTreeMap;
use types::Value;

/// What values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopedKind {
    /// ON, OFF: 1 and 0.
    Switch,
    /// A whole number between these.
    Number(i64, i64),
    /// OFF, WHEN_SUPPORTED, FAIL_UNSUPPORTED.
    Elevation,
}

/// An option of ALTER DATABASE SCOPED CONFIGURATION.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopedOption {
    /// configuration_id.
    pub id: i32,
    /// In capitals.
    pub name: &'static str,
    /// What it takes.
    pub kind: ScopedKind,
    /// Until it is set.
    pub default: &'static str,
    /// Something here follows it.
    pub has_effect: bool,
}

const fn option(
    id: i32,
    name: &'static str,
    kind: ScopedKind,
    default: &'static str,
) -> ScopedOption {
    ScopedOption { id, name, kind, default, has_effect: false }
}

const fn switch(id: i32, name: &'static str, default: &'static str) -> ScopedOption {
    option(id, name, ScopedKind::Switch, default)
}

const fn followed(option: ScopedOption) -> ScopedOption {
    ScopedOption { has_effect: true, ..option }
}

/// SQL Server 2022's options, by id.
pub const SCOPED_OPTIONS: &[ScopedOption] = &[
    followed(option(1, "MAXDOP", ScopedKind::Number(0, 32_767), "0")),
    switch(2, "LEGACY_CARDINALITY_ESTIMATION", "0"),
    followed(switch(3, "PARAMETER_SNIFFING", "1")),
    switch(4, "QUERY_OPTIMIZER_HOTFIXES", "0"),
    switch(6, "IDENTITY_CACHE", "1"),
    switch(7, "INTERLEAVED_EXECUTION_TVF", "1"),
    switch(8, "BATCH_MODE_MEMORY_GRANT_FEEDBACK", "1"),
    switch(9, "BATCH_MODE_ADAPTIVE_JOINS", "1"),
    switch(10, "TSQL_SCALAR_UDF_INLINING", "1"),
    option(11, "ELEVATE_ONLINE", ScopedKind::Elevation, "OFF"),
    option(12, "ELEVATE_RESUMABLE", ScopedKind::Elevation, "OFF"),
    switch(13, "OPTIMIZE_FOR_AD_HOC_WORKLOADS", "0"),
    switch(14, "XTP_PROCEDURE_EXECUTION_STATISTICS", "0"),
    switch(15, "XTP_QUERY_EXECUTION_STATISTICS", "0"),
    switch(16, "ROW_MODE_MEMORY_GRANT_FEEDBACK", "1"),
    switch(17, "ISOLATE_SECURITY_POLICY_CARDINALITY", "0"),
    switch(18, "BATCH_MODE_ON_ROWSTORE", "1"),
    switch(19, "DEFERRED_COMPILATION_TV", "1"),
    switch(20, "ACCELERATED_PLAN_FORCING", "1"),
    switch(21, "GLOBAL_TEMPORARY_TABLE_AUTO_DROP", "1"),
    switch(22, "LIGHTWEIGHT_QUERY_PROFILING", "1"),
    switch(23, "VERBOSE_TRUNCATION_WARNINGS", "1"),
    switch(24, "LAST_QUERY_PLAN_STATS", "0"),
    option(
        25,
        "PAUSED_RESUMABLE_INDEX_ABORT_DURATION_MINUTES",
        ScopedKind::Number(0, 71_582),
        "1440",
    ),
    option(26, "DW_COMPATIBILITY_LEVEL", ScopedKind::Number(0, 9_000), "0"),
    switch(27, "EXEC_QUERY_STATS_FOR_SCALAR_FUNCTIONS", "1"),
    switch(28, "PARAMETER_SENSITIVE_PLAN_OPTIMIZATION", "1"),
    switch(29, "ASYNC_STATS_UPDATE_WAIT_AT_LOW_PRIORITY", "0"),
    switch(31, "CE_FEEDBACK", "1"),
    switch(33, "MEMORY_GRANT_FEEDBACK_PERSISTENCE", "1"),
    switch(34, "MEMORY_GRANT_FEEDBACK_PERCENTILE_GRANT", "1"),
    switch(35, "OPTIMIZED_PLAN_FORCING", "1"),
    switch(37, "DOP_FEEDBACK", "0"),
    switch(39, "FORCE_SHOWPLAN_RUNTIME_PARAMETER_COLLECTION", "0"),
];

/// ALTER DATABASE SET AUTO_CREATE_STATISTICS and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatisticsSwitch {
    /// Statistics of columns that a query asks about are made; ON until it is set.
    AutoCreate,
    /// Statistics that changes have left behind are made anew; ON until it is set.
    AutoUpdate,
    /// The query that finds them left behind does not wait for that; OFF until it is set.
    AutoUpdateAsync,
}

impl StatisticsSwitch {
    /// In capitals.
    pub fn name(self) -> &'static str {
        match self {
            StatisticsSwitch::AutoCreate => "AUTO_CREATE_STATISTICS",
            StatisticsSwitch::AutoUpdate => "AUTO_UPDATE_STATISTICS",
            StatisticsSwitch::AutoUpdateAsync => "AUTO_UPDATE_STATISTICS_ASYNC",
        }
    }

    /// By its name in capitals.
    pub fn of_name(name: &str) -> Option<StatisticsSwitch> {
        use StatisticsSwitch::*;
        [AutoCreate, AutoUpdate, AutoUpdateAsync].into_iter().find(|s| s.name() == name)
    }
}

/// A value, and the one for secondaries.
type Values = (Option<Box<str>>, Option<Box<str>>);

/// By name in capitals.
pub(crate) type Entries = BTreeMap<Box<str>, Values>;

/// What has been set, by name in capitals: for the database, and for its secondaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    pub(crate) set: Entries,
}

impl Configuration {
    /// As it was set, or the default.
    pub fn value<'c>(&'c self, option: &'c ScopedOption) -> &'c str {
        let set = self.set.get(option.name).and_then(|(value, _)| value.as_deref());
        set.unwrap_or(option.default)
    }

    /// For secondaries; none: PRIMARY.
    pub fn secondary(&self, option: &ScopedOption) -> Option<&str> {
        self.set.get(option.name).and_then(|(_, secondary)| secondary.as_deref())
    }

    /// Of an option that is a number; 0 for a name that is none.
    pub fn number(&self, name: &str) -> i64 {
        let option = SCOPED_OPTIONS.iter().find(|option| option.name == name);
        option.and_then(|option| self.value(option).parse().ok()).unwrap_or(0)
    }

    /// As it was set, under any name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.set.get(name).and_then(|(value, _)| value.as_deref())
    }

    /// Whether a switch of the statistics is on.
    pub fn statistics(&self, switch: StatisticsSwitch) -> bool {
        match self.set.get(switch.name()).and_then(|(value, _)| value.as_deref()) {
            Some(value) => value == "1",
            None => switch != StatisticsSwitch::AutoUpdateAsync,
        }
    }
}

impl Catalog {
    /// What is configured.
    pub fn configuration(&self) -> std::sync::Arc<Configuration> {
        self.defs.read().configuration.clone()
    }

    /// Sets an option, whose value is known to be one of its kind; of a secondary `None` is PRIMARY. Durable when this
    /// returns. Suspends.
    pub fn configure(
        &self,
        name: &str,
        secondary: bool,
        value: Option<&str>,
    ) -> Result<(), CatalogError> {
        self.in_transaction(|catalog, txn| {
            let table = &catalog.tables.configuration;
            let old = table.read_locked(txn, &[Value::str(name)])?;
            let mut row = match old {
                Some(row) => row,
                None => vec![Value::str(name), Value::Null, Value::Null],
            };
            row[1 + usize::from(secondary)] = text_or_null(value);
            table.put(txn, &row)
        })?;
        self.publish_configured(name, secondary, value);
        Ok(())
    }

    /// What has been committed is known from now on.
    pub(crate) fn publish_configured(&self, name: &str, secondary: bool, value: Option<&str>) {
        let mut defs = self.defs.write();
        let mut configuration = (*defs.configuration).clone();
        let set = configuration.set.entry(name.into()).or_default();
        *(if secondary { &mut set.1 } else { &mut set.0 }) = value.map(Into::into);
        defs.configuration = std::sync::Arc::new(configuration);
        drop(defs);
        self.publish();
    }

    pub(crate) fn load_configuration(
        &self,
        txn: &mut crate::Txn,
    ) -> Result<Configuration, CatalogError> {
        let mut configuration = Configuration::default();
        for row in self.tables.configuration.scan(txn, &[])? {
            let mut cells = Cells::new(row);
            let name = cells.text()?;
            configuration.set.insert(name, (cells.opt_text()?, cells.opt_text()?));
        }
        Ok(configuration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_names_and_ids_of_their_own_and_defaults_of_their_kind() {
        for (i, option) in SCOPED_OPTIONS.iter().enumerate() {
            let others = &SCOPED_OPTIONS[..i];
            assert!(others.iter().all(|o| o.id < option.id && o.name != option.name));
            let fits = match option.kind {
                ScopedKind::Switch => matches!(option.default, "0" | "1"),
                ScopedKind::Elevation => option.default == "OFF",
                ScopedKind::Number(low, high) => {
                    option.default.parse().is_ok_and(|n: i64| (low..=high).contains(&n))
                }
            };
            assert!(fits, "{}", option.name);
            assert!(StatisticsSwitch::of_name(option.name).is_none());
        }
    }
}
