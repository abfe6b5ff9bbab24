//! Secondary indexes against their table: an entry for each row, with the row's columns, under the key of those.
//!
//! Rows and entries come in different orders, and there may be more of them than memory has room for: of each side a
//! fingerprint is kept. Columns of a (max) type are not compared. Of an index with a filter only the entries themselves
//! are looked at.

use catalog::{IndexDef, TableDef};
use engine::{EngineError, Finding, Lsn, Tree, Txn};
use std::hash::{DefaultHasher, Hasher};
use types::{SqlType, Value, key};

/// What there is, in whatever order it comes: two sets with one fingerprint are the same but by a chance of 1 in 2^64.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Fingerprint {
    count: u64,
    sum: u64,
}

impl Fingerprint {
    fn add(&mut self, bytes: &[u8]) {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        self.count += 1;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }
}

/// An index being checked: first all rows are added, then it is read.
pub(super) struct IndexCheck<'t> {
    pub index: &'t IndexDef,
    /// Columns of an entry that are compared.
    compared: Vec<usize>,
    rows: Fingerprint,
    /// Rows with a column outside of the row that the index has: storage key, row.
    put_off: Vec<(Vec<u8>, Vec<u8>)>,
    values: Vec<Value>,
    entry: Vec<u8>,
    bytes: Vec<u8>,
}

impl<'t> IndexCheck<'t> {
    /// `physical`: the rows' columns may be anything.
    pub fn new(table: &TableDef, index: &'t IndexDef, physical: bool) -> IndexCheck<'t> {
        let stored = index.stored.iter().enumerate();
        let compared = stored.filter(|(_, o)| !physical && !is_max(table.columns[**o].ty));
        IndexCheck {
            index,
            compared: std::iter::once(0).chain(compared.map(|(i, _)| i + 1)).collect(),
            rows: Fingerprint::default(),
            put_off: Vec::new(),
            values: Vec::new(),
            entry: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// The ordinals in the table of what is compared.
    fn ordinals(&self) -> impl Iterator<Item = usize> {
        self.compared[1..].iter().map(|i| self.index.stored[i - 1])
    }

    /// Notes the entry that a row must have.
    pub fn add_row(&mut self, table: &TableDef, locator: &[u8], row: &[u8]) {
        if self.index.filter.is_some() {
            return;
        }
        if self.ordinals().any(|o| table.layout.external(row, o).is_some()) {
            self.put_off.push((locator.to_vec(), row.to_vec()));
            return;
        }
        self.add(locator, |o| table.layout.decode_column(row, o), table);
    }

    /// The rows of which a part has to be fetched first. Suspends.
    pub fn add_rows_put_off(
        &mut self,
        table: &TableDef,
        lobs: &Tree,
        txn: &mut Txn,
    ) -> Result<(), EngineError> {
        for (locator, row) in std::mem::take(&mut self.put_off) {
            let mut fetched = Vec::new();
            for o in self.ordinals() {
                if let Some(external) = table.layout.external(&row, o) {
                    let mut bytes = Vec::new();
                    // One that is not whole has been told of, and makes the entry another one.
                    txn.read_lob(lobs, external.id, external.len, &mut bytes)?;
                    fetched.push((o, table.layout.decode_variable(o, &bytes)));
                }
            }
            let value = |o| match fetched.iter().find(|(of, _)| *of == o) {
                Some((_, value)) => Some(value.clone()),
                None => table.layout.decode_column(&row, o),
            };
            self.add(&locator, value, table);
        }
        Ok(())
    }

    fn add(&mut self, locator: &[u8], value: impl Fn(usize) -> Option<Value>, table: &TableDef) {
        self.values.clear();
        self.values.push(Value::binary(locator));
        for (i, ordinal) in self.index.stored.iter().enumerate() {
            self.values.push(match self.compared.contains(&(i + 1)) {
                true => value(*ordinal).unwrap_or_else(|| table.columns[*ordinal].absent.clone()),
                false => Value::Null,
            });
        }
        self.entry.clear();
        self.bytes.clear();
        // What cannot be laid out cannot be in the index.
        if self.index.layout.encode(&self.values, &mut self.entry).is_ok() {
            self.index.layout.raw_key(&self.entry, &self.compared, &mut self.bytes);
        }
        self.rows.add(&self.bytes);
    }

    /// Reads the index: 8951, and 8970 for an entry that is none.
    pub fn check(self, tree: &Tree, tail: Lsn, findings: &mut Vec<Finding>) {
        let IndexCheck { index, compared, rows, mut bytes, .. } = self;
        let mut entries = Fingerprint::default();
        let mut own = Vec::new();
        let mut entry = |key: &[u8], entry: &[u8]| {
            if let Err(what) = index.layout.check(entry) {
                return Some(format!("an entry of index '{}': {what}", index.name));
            }
            bytes.clear();
            index.layout.raw_key(entry, &compared, &mut bytes);
            entries.add(&bytes);
            own.clear();
            for ((ordinal, _), part) in index.columns.iter().zip(index.key_layout.parts()) {
                let at = index.position(*ordinal)?;
                key::encode_part(part, &index.layout.decode_column(entry, at)?, &mut own);
            }
            if !index.unique {
                let locator = index.layout.raw(entry, 0);
                own.extend_from_slice(locator);
                // Of a hash index what is hashed ends before it.
                if index.buckets.is_some() {
                    own.extend_from_slice(&(locator.len() as u16).to_be_bytes());
                }
            }
            (own != key).then(|| {
                format!("an entry of index '{}' lies under a key that is not its own", index.name)
            })
        };
        tree.check(tail, &mut entry, &mut |f| findings.push(f));
        if index.filter.is_none() && entries != rows {
            let what = format!(
                "index '{}' has {} entries for {} rows, or entries that are not their rows'",
                index.name, entries.count, rows.count
            );
            findings.push(Finding { number: 8951, allocation: false, page: None, what });
        }
    }
}

fn is_max(ty: SqlType) -> bool {
    ty.is_max()
}
