//! CREATE, UPDATE and DROP STATISTICS.

use super::{Ident, ObjectName};

/// A statement about statistics.
#[derive(Clone, Debug, PartialEq)]
pub enum StatisticsStatement {
    /// CREATE STATISTICS name ON table (columns) [WITH ...].
    Create {
        /// Of the new one.
        name: Ident,
        /// Whose columns.
        table: ObjectName,
        /// In order.
        columns: Vec<Ident>,
        /// There is a WHERE.
        filtered: bool,
        /// WITH.
        options: StatisticsOptions,
    },
    /// UPDATE STATISTICS table [name | (names)] [WITH ...].
    Update {
        /// Whose.
        table: ObjectName,
        /// Statistics or indexes; none: all.
        names: Vec<Ident>,
        /// WITH.
        options: StatisticsOptions,
    },
    /// DROP STATISTICS table.name, ...: each with the table as its schema, the table's schema as its database and the table's
    /// database as its server.
    Drop(Vec<ObjectName>),
}

/// How much is read for a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum StatisticsSample {
    /// The server's choice; RESAMPLE too.
    #[default]
    Default,
    /// FULLSCAN.
    FullScan,
    /// SAMPLE n PERCENT.
    Percent(u64),
    /// SAMPLE n ROWS.
    Rows(u64),
}

/// WITH, after a statement about statistics.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct StatisticsOptions {
    /// FULLSCAN, SAMPLE.
    pub sample: StatisticsSample,
    /// NORECOMPUTE.
    pub no_recompute: bool,
    /// COLUMNS: not those of indexes.
    pub columns_only: bool,
    /// INDEX: those of indexes.
    pub index_only: bool,
    /// RESAMPLE ON PARTITIONS (...).
    pub on_partitions: bool,
    /// ROWCOUNT =: the table is to be taken for one of so many rows.
    pub rows: Option<u64>,
    /// PAGECOUNT =: and of so many pages.
    pub pages: Option<u64>,
}
