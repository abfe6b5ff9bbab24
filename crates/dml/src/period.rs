//! PERIOD FOR SYSTEM_TIME: when a row is valid, and where it goes when it no longer is.
//!
//! Promises: a row is valid from the begin of the transaction that wrote it on; its former version, which ends there, is
//! written to the history table in the same transaction, after the row. Times are UTC, cut to the columns' precision,
//! so that no row begins in the future. A transaction that began before the row that it changes did is refused.
//!
//! Source: SQL Server's documentation of temporal tables ("How does temporal work?").

use crate::rows::{all_columns, each_row};
use crate::write::TableWriter;
use catalog::{TableDef, Temporal};
use engine::InsertHint;
use executor::{Cx, SqlError, row_bytes};
use std::sync::Arc;
use types::datetime::{DateTime2, datetime2_from_unix_ns, days_from_civil};
use types::{SqlType, Value};

/// Of a table with a period, for one statement.
pub(crate) struct Period {
    start: usize,
    end: usize,
    /// When the transaction began.
    now: Value,
    /// The end of what has none.
    max: Value,
    history: Option<TableWriter>,
    hint: InsertHint,
}

impl Period {
    /// None for a table without one.
    pub fn of(table: &TableDef, cx: &Cx<'_>) -> Option<Period> {
        let (start, end) = table.period()?;
        let began = cx.txn.as_deref().map(|txn| txn.begun_unix_ns());
        let began = began.unwrap_or_else(runtime::clock::unix_ns);
        let ty = table.columns[start].ty;
        Some(Period {
            start,
            end,
            now: cut(datetime2_from_unix_ns(began), ty),
            max: cut(forever(), table.columns[end].ty),
            history: None,
            hint: InsertHint::default(),
        })
    }

    /// Rows are about to change: their former versions are kept where the table is versioned. Whether it is.
    pub fn keep_history(&mut self, table: &TableDef, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let Temporal::Versioned { history, .. } = table.temporal else { return Ok(false) };
        let Some(history) = cx.env.table(history) else {
            // It is about to be published that the table is no longer versioned.
            let mut error = SqlError::new(208, 16, format!("Invalid object id {history}."));
            error.stale = true;
            return Err(error);
        };
        self.history = Some(TableWriter::new(&history, cx)?);
        Ok(true)
    }

    /// Fills the columns in; those of a row that only moves stay.
    pub fn complete(&self, row: &mut [Value], moving: bool) {
        for (at, value) in [(self.start, &self.now), (self.end, &self.max)] {
            if !moving || row[at].is_null() {
                row[at] = value.clone();
            }
        }
    }

    /// What a row was; 13535.
    pub fn keep_version(
        &mut self,
        table: &TableDef,
        old: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let Some(history) = &mut self.history else { return Ok(()) };
        if instant(&old[self.start]) > instant(&self.now) {
            let text = format!(
                "Data modification failed on system-versioned table '{}' because transaction time was earlier than \
                 period start time for affected records.",
                shown(table, cx)
            );
            return Err(SqlError::new(13535, 16, text));
        }
        let mut row = old.to_vec();
        row[self.end] = self.now.clone();
        history.insert(&row, &mut self.hint, cx).map(|_| ())
    }

    /// The statement is over.
    pub fn finish(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        match &mut self.history {
            Some(history) => history.finish(cx),
            None => Ok(()),
        }
    }
}

/// `database.schema.table`
fn shown(table: &TableDef, cx: &Cx<'_>) -> String {
    format!("{}.{}.{}", cx.env.database_name(), table.schema, table.name)
}

/// The last moment there is.
fn forever() -> DateTime2 {
    DateTime2 { days: days_from_civil(9999, 12, 31), ticks: 863_999_999_999 }
}

/// A moment in a column's precision, later digits cut off.
fn cut(moment: DateTime2, ty: SqlType) -> Value {
    let scale = match ty {
        SqlType::DateTime2(scale) => u32::from(scale),
        _ => 7,
    };
    let unit = 10u64.pow(7u32.saturating_sub(scale));
    Value::DateTime2(DateTime2 { ticks: moment.ticks - moment.ticks % unit, ..moment })
}

/// Comparable; what is no moment is before all.
fn instant(value: &Value) -> (i32, u64) {
    match value {
        Value::DateTime2(moment) => (moment.days, moment.ticks),
        _ => (i32::MIN, 0),
    }
}

/// Rows that are there when a period comes to be: 13542 for one that begins in the future, 13575 for one that ends.
pub(crate) fn verify_period(table: &TableDef, cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let Some((start, end)) = table.period() else { return Ok(()) };
    let now = instant(&Value::DateTime2(datetime2_from_unix_ns(runtime::clock::unix_ns())));
    let max = instant(&cut(forever(), table.columns[end].ty));
    each_row(table, cx, |_, row, cx| {
        let row = all_columns(table, row, cx)?;
        let failed = |number: i32, text: String| Err(SqlError::new(number, 16, text));
        if instant(&row[start]) > now {
            let text = format!(
                "ADD PERIOD FOR SYSTEM_TIME on table '{}' failed because there are open records with start of period \
                 set to a value in the future.",
                shown(table, cx)
            );
            return failed(13542, text);
        }
        if instant(&row[end]) != max {
            let text = format!(
                "ADD PERIOD FOR SYSTEM_TIME failed because table '{}' contains records where end of period is not \
                 equal to MAX datetime.",
                shown(table, cx)
            );
            return failed(13575, text);
        }
        Ok(())
    })
}

/// A row's key, and when it begins and ends to be valid.
type Version = (Vec<u8>, (i32, u64), (i32, u64));

/// Rows of a table that is to be a history (DATA_CONSISTENCY_CHECK): 13541 for one that ends before it begins, 13543 for
/// one that ends in the future, 13573 for two of one row that are valid at the same time.
pub(crate) fn verify_history(
    table: &TableDef,
    history: Option<&Arc<TableDef>>,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    let (Some(history), Some((start, end))) = (history, table.period()) else { return Ok(()) };
    let Some(key) = &table.primary_key else { return Ok(()) };
    let now = instant(&Value::DateTime2(datetime2_from_unix_ns(runtime::clock::unix_ns())));
    let failed = |number: i32, what: &str, cx: &Cx<'_>| {
        let text = format!(
            "Setting SYSTEM_VERSIONING to ON failed because history table '{}' contains {what}.",
            shown(history, cx)
        );
        Err(SqlError::new(number, 16, text))
    };
    let mut versions: Vec<Version> = Vec::new();
    each_row(history, cx, |_, row, cx| {
        let row = all_columns(history, row, cx)?;
        let (from, to) = (instant(&row[start]), instant(&row[end]));
        if to < from {
            return failed(13541, "invalid records with end of period set before start", cx);
        }
        if to > now {
            return failed(
                13543,
                "invalid records with end of period set to a value in the future",
                cx,
            );
        }
        let mut bytes = Vec::new();
        for (column, desc) in &key.columns {
            let of = &table.columns[*column];
            let part = types::KeyPart {
                ty: of.ty,
                nullable: false,
                desc: *desc,
                rule: of.collation.rule(),
            };
            types::key::encode_part(&part, &row[*column], &mut bytes);
        }
        cx.hold(bytes.len() + row_bytes(&[]) + 48)?;
        versions.push((bytes, from, to));
        Ok(())
    })?;
    versions.sort_unstable();
    let overlap = |pair: &[Version]| {
        let (before, after) = (&pair[0], &pair[1]);
        // A version of no length is valid at no time.
        before.0 == after.0 && after.1 < before.2 && after.1 != after.2
    };
    if versions.windows(2).any(overlap) {
        return failed(13573, "overlapping records", cx);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_cut_not_rounded() {
        let moment = DateTime2 { days: 5, ticks: 12_349_999 };
        let ticks = |scale| match cut(moment, SqlType::DateTime2(scale)) {
            Value::DateTime2(moment) => moment.ticks,
            other => panic!("{other:?}"),
        };
        assert_eq!((ticks(7), ticks(3), ticks(0)), (12_349_999, 12_340_000, 10_000_000));
        let end = cut(forever(), SqlType::DateTime2(0));
        assert_eq!(instant(&end).1, 863_990_000_000);
    }
}
