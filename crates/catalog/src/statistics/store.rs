//! Statistics in system table 19: `object_id, stats_id, part | name, flags, bytes`.
//!
//! The bytes of the parts, one after the other, little-endian:
//!
//! ```text
//! u8   format, 1
//! f64  rows, u64 rows sampled, u64 updated (ns since 1970)
//! u16  columns; each: u16 ordinal, u16 + name in UTF-8, u8 + u16 + u8 + u8 type (id, length, precision, scale),
//!      f64 density up to it, f64 mean bytes
//! u16  steps; each: f64 range rows, f64 equal rows, f64 distinct, u16 + value as a row of one column
//! ```
//!
//! A statistic that does not read is left out: it is made again when it is wanted.

use super::{Histogram, Statistic, Step};
use crate::def::TableDef;
use crate::system::Cells;
use crate::{Catalog, CatalogError};
use engine::{Durability, TxnOptions};
use std::collections::BTreeMap;
use types::{RowColumn, RowLayout, SqlType, Value};

/// Bytes of a part, so that a row fits a page.
const PART_BYTES: usize = 6_000;
const FORMAT: u8 = 1;

const AUTO: u8 = 1;
const USER: u8 = 2;
const NO_RECOMPUTE: u8 = 4;

/// Name, flags and bytes.
type Stored = (Box<str>, u8, Vec<u8>);

impl Catalog {
    /// Durable soon; in a transaction of its own.
    pub(super) fn store_statistic(
        &self,
        table: &TableDef,
        statistic: &Statistic,
    ) -> Result<(), CatalogError> {
        let bytes = encode(statistic)?;
        let flags = u8::from(statistic.auto_created) * AUTO
            + u8::from(statistic.user_created) * USER
            + u8::from(statistic.no_recompute) * NO_RECOMPUTE;
        let mut txn =
            self.db.begin(TxnOptions { lock_timeout_ms: Some(0), ..TxnOptions::default() });
        txn.begin_statement();
        let rows = &self.tables.statistics;
        let key = [Value::Int(table.object_id), Value::Int(statistic.id)];
        let old = rows.scan(&mut txn, &key)?.len();
        let parts: Vec<&[u8]> = bytes.chunks(PART_BYTES).collect();
        for (i, part) in parts.iter().enumerate() {
            let mut row = key.to_vec();
            row.push(Value::Int(i as i32));
            row.push(Value::str(&statistic.name));
            row.push(Value::TinyInt(flags));
            row.push(Value::binary(part));
            rows.put(&mut txn, &row)?;
        }
        for i in parts.len()..old {
            rows.delete(&mut txn, &[key[0].clone(), key[1].clone(), Value::Int(i as i32)])?;
        }
        txn.end_statement();
        txn.commit(Durability::Delayed)?;
        Ok(())
    }

    /// Gives a statistic that no index makes another name. Durable soon; in a transaction of its own. Suspends.
    pub fn rename_statistic(
        &self,
        table: &TableDef,
        id: i32,
        to: &str,
    ) -> Result<(), CatalogError> {
        let all = table.statistics.all();
        let Some(old) = all.iter().find(|s| s.id == id) else { return Ok(()) };
        let renamed = Statistic { name: to.into(), ..(**old).clone() };
        self.store_statistic(table, &renamed)?;
        table.statistics.put(renamed);
        Ok(())
    }

    /// Those of a table, or one of them.
    pub(super) fn erase_statistics(
        &self,
        object_id: i32,
        id: Option<i32>,
    ) -> Result<(), CatalogError> {
        let mut txn =
            self.db.begin(TxnOptions { lock_timeout_ms: Some(5_000), ..TxnOptions::default() });
        txn.begin_statement();
        let mut key = vec![Value::Int(object_id)];
        key.extend(id.map(Value::Int));
        for row in self.tables.statistics.scan(&mut txn, &key)? {
            self.tables.statistics.delete(&mut txn, &row[..3])?;
        }
        txn.end_statement();
        txn.commit(Durability::Delayed)?;
        Ok(())
    }

    /// All statistics, by object.
    pub(crate) fn load_statistics(
        &self,
        txn: &mut engine::Txn,
    ) -> Result<BTreeMap<i32, Vec<Statistic>>, CatalogError> {
        let mut whole: BTreeMap<(i32, i32), Stored> = BTreeMap::new();
        for row in self.tables.statistics.scan(txn, &[])? {
            let mut cells = Cells::new(row);
            let (object, id, _) = (cells.int()? as i32, cells.int()? as i32, cells.int()?);
            let (name, flags) = (cells.text()?, cells.int()? as u8);
            let bytes = cells.opt_bytes()?.unwrap_or_default();
            whole.entry((object, id)).or_insert((name, flags, Vec::new())).2.extend(bytes);
        }
        let mut found: BTreeMap<i32, Vec<Statistic>> = BTreeMap::new();
        for ((object, id), (name, flags, bytes)) in whole {
            if let Some(mut statistic) = decode(&bytes) {
                statistic.id = id;
                statistic.name = name;
                statistic.auto_created = flags & AUTO != 0;
                statistic.user_created = flags & USER != 0;
                statistic.no_recompute = flags & NO_RECOMPUTE != 0;
                found.entry(object).or_default().push(statistic);
            }
        }
        Ok(found)
    }
}

fn layout(ty: SqlType) -> RowLayout {
    // The rule of a text is the column's: see `TableStatistics::loaded`.
    RowLayout::new(&[RowColumn { ty, nullable: true, rule: types::collation::Rule::CiAs }])
}

fn encode(statistic: &Statistic) -> Result<Vec<u8>, CatalogError> {
    let mut out = vec![FORMAT];
    out.extend(statistic.rows.to_le_bytes());
    out.extend(statistic.rows_sampled.to_le_bytes());
    out.extend(statistic.updated_unix_ns.to_le_bytes());
    out.extend((statistic.columns.len() as u16).to_le_bytes());
    for (i, (ordinal, name, ty)) in statistic.columns.iter().enumerate() {
        out.extend((*ordinal as u16).to_le_bytes());
        out.extend((name.len() as u16).to_le_bytes());
        out.extend(name.as_bytes());
        let (id, length, precision, scale) = ty.to_parts();
        out.push(id);
        out.extend(length.to_le_bytes());
        out.extend([precision, scale]);
        out.extend(statistic.densities.get(i).copied().unwrap_or(1.0).to_le_bytes());
        out.extend(statistic.average_bytes.get(i).copied().unwrap_or(0.0).to_le_bytes());
    }
    let layout = layout(statistic.columns[0].2);
    out.extend((statistic.histogram.steps.len() as u16).to_le_bytes());
    for step in &statistic.histogram.steps {
        out.extend(step.range_rows.to_le_bytes());
        out.extend(step.equal_rows.to_le_bytes());
        out.extend(step.distinct_range_rows.to_le_bytes());
        let mut row = Vec::new();
        layout.encode(std::slice::from_ref(&step.high), &mut row)?;
        out.extend((row.len() as u16).to_le_bytes());
        out.extend(row);
    }
    Ok(out)
}

/// A reader that runs dry instead of failing.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }
}

fn decode(bytes: &[u8]) -> Option<Statistic> {
    let mut bytes = Bytes(bytes);
    if bytes.array()? != [FORMAT] {
        return None;
    }
    let (rows, rows_sampled, updated_unix_ns) = (bytes.f64()?, bytes.u64()?, bytes.u64()?);
    let (mut columns, mut densities, mut average_bytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bytes.u16()? {
        let ordinal = usize::from(bytes.u16()?);
        let len = usize::from(bytes.u16()?);
        let name = std::str::from_utf8(bytes.take(len)?).ok()?;
        let [id] = bytes.array()?;
        let length = i32::from_le_bytes(bytes.array()?);
        let [precision, scale] = bytes.array()?;
        columns.push((
            ordinal,
            name.into(),
            SqlType::from_parts(id, i64::from(length), precision, scale)?,
        ));
        densities.push(bytes.f64()?);
        average_bytes.push(bytes.f64()?);
    }
    let layout = layout(columns.first()?.2);
    let mut steps = Vec::new();
    for _ in 0..bytes.u16()? {
        let (range_rows, equal_rows, distinct_range_rows) =
            (bytes.f64()?, bytes.f64()?, bytes.f64()?);
        let len = usize::from(bytes.u16()?);
        let row = bytes.take(len)?;
        layout.check(row).ok()?;
        let high = layout.decode_column(row, 0)?;
        steps.push(Step { high, range_rows, equal_rows, distinct_range_rows });
    }
    Some(Statistic {
        id: 0,
        name: "".into(),
        columns,
        auto_created: false,
        user_created: false,
        no_recompute: false,
        updated_unix_ns,
        rows,
        rows_sampled,
        histogram: Histogram { steps },
        densities,
        average_bytes,
        changes_then: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statistic_comes_back_as_it_went() {
        let step = |value: Value| Step {
            high: value,
            range_rows: 1.5,
            equal_rows: 2.0,
            distinct_range_rows: 1.0,
        };
        let statistic = Statistic {
            id: 0,
            name: "".into(),
            columns: vec![
                (3, "größe".into(), SqlType::NVarChar(types::Len::N(20))),
                (0, "d".into(), SqlType::decimal(9, 2)),
            ],
            auto_created: false,
            user_created: false,
            no_recompute: false,
            updated_unix_ns: 7,
            changes_then: 0,
            rows: 1e9,
            rows_sampled: 12,
            histogram: Histogram { steps: vec![step(Value::Null), step(Value::str("añb"))] },
            densities: vec![0.5, 0.25],
            average_bytes: vec![8.0, 5.0],
        };
        let bytes = encode(&statistic).expect("it encodes");
        assert_eq!(decode(&bytes), Some(statistic));
        for cut in 0..bytes.len() {
            assert_eq!(decode(&bytes[..cut]), None, "cut at {cut}");
        }
    }
}
