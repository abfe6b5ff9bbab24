//! One private table: rows of values under byte keys, and the keys of its UNIQUE constraints.
//!
//! Invariants: every row has one value per column of the definition; for each UNIQUE constraint there is exactly one
//! entry per row; `bytes` is the sum of [`row_bytes`] of all rows.

use crate::key::Key;
use catalog::{Identity, KeyDef, TableDef};
use runtime::task::{Breath, Stopped, let_go};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use types::{KeyLayout, KeyPart, TypeError, Value};

/// A row: a value per column, each of its column's type.
pub type Row = Box<[Value]>;

/// Why a row was not written. The table is as before.
#[derive(Debug, PartialEq)]
pub enum TableError {
    /// A row with this key is there. `unique` is the position of the UNIQUE constraint; none: the primary key.
    Duplicate { unique: Option<usize> },
    /// The session's private tables hold all they may (1105).
    Full,
    /// There is no such table in this session (any more).
    Missing,
    /// A key that cannot be (1946).
    Key(TypeError),
    /// IDENTITY has no next value (8115).
    IdentityOverflow,
    /// The request is to stop.
    Stopped(Stopped),
}

impl From<Stopped> for TableError {
    fn from(stopped: Stopped) -> TableError {
        TableError::Stopped(stopped)
    }
}

impl From<TypeError> for TableError {
    fn from(error: TypeError) -> TableError {
        TableError::Key(error)
    }
}

/// A private table with its rows.
#[derive(Debug)]
pub struct Table {
    def: Arc<TableDef>,
    rows: BTreeMap<Key, Row>,
    unique: Vec<Unique>,
    next_row_id: u64,
    /// None: the seed.
    next_identity: Option<i128>,
    /// A value of it has been given.
    identity_given: bool,
    bytes: usize,
}

impl Clone for Table {
    /// Millions of rows are copied step by step. One by one: a map that is collected is sorted and built in one breath.
    fn clone(&self) -> Table {
        let mut breath = Breath::new();
        let mut copy = |key: &Key| {
            // To the end, whether the request is to stop or not.
            breath.goes_on_by(ROW_STEPS);
            key.clone()
        };
        let mut rows = BTreeMap::new();
        for (key, row) in &self.rows {
            rows.insert(copy(key), row.clone());
        }
        let mut unique = Vec::with_capacity(self.unique.len());
        for of in &self.unique {
            let mut keys = BTreeSet::new();
            for key in &of.keys {
                keys.insert(copy(key));
            }
            let (columns, layout) = (of.columns.clone(), of.layout.clone());
            unique.push(Unique { columns, layout, keys });
        }
        Table {
            def: self.def.clone(),
            rows,
            unique,
            next_row_id: self.next_row_id,
            next_identity: self.next_identity,
            identity_given: self.identity_given,
            bytes: self.bytes,
        }
    }
}

impl Drop for Table {
    /// Millions of rows are freed step by step.
    fn drop(&mut self) {
        let_go(std::mem::take(&mut self.rows));
        self.unique.iter_mut().for_each(|unique| let_go(std::mem::take(&mut unique.keys)));
    }
}

#[derive(Debug)]
struct Unique {
    columns: Vec<usize>,
    layout: KeyLayout,
    keys: BTreeSet<Key>,
}

/// Bookkeeping per row beside its values, in bytes: node, key, length.
const ROW_OVERHEAD_BYTES: usize = 64;
/// Steps that a row's copy counts for.
const ROW_STEPS: usize = 16;
/// Texts and binaries up to this length live inside their value.
const INLINE_BYTES: usize = 22;

/// Memory that a row takes, in bytes.
pub fn row_bytes(key: &[u8], row: &[Value]) -> usize {
    let mut bytes = size_of_val(row) + ROW_OVERHEAD_BYTES + key.len().saturating_sub(INLINE_BYTES);
    for value in row {
        bytes += match value {
            Value::Str(text) if text.as_bytes().len() > INLINE_BYTES => text.as_bytes().len(),
            Value::Binary(b) if b.len() > INLINE_BYTES => b.len(),
            _ => 0,
        };
    }
    bytes
}

impl Table {
    /// An empty table.
    pub fn new(def: Arc<TableDef>) -> Table {
        let unique = def.unique.iter().map(|key| Unique::new(key, &def)).collect();
        Table {
            def,
            rows: BTreeMap::new(),
            unique,
            next_row_id: 1,
            next_identity: None,
            identity_given: false,
            bytes: 0,
        }
    }

    /// Its definition.
    pub fn def(&self) -> &Arc<TableDef> {
        &self.def
    }

    /// Rows in it.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No rows in it.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Memory that its rows take, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The row under a key.
    pub fn get(&self, key: &[u8]) -> Option<&[Value]> {
        self.rows.get(key).map(|row| &**row)
    }

    /// Rows between two keys, in order of the keys.
    pub fn range<'t>(
        &'t self,
        lower: Bound<&'t [u8]>,
        upper: Bound<&'t [u8]>,
    ) -> impl DoubleEndedIterator<Item = (&'t Key, &'t Row)> {
        // Bounds that cross mean no row; the map would rather panic.
        let crossed = match (lower, upper) {
            (Bound::Included(a), Bound::Included(b)) => a > b,
            (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
                a >= b
            }
            _ => false,
        };
        let bounds = if crossed { None } else { Some((lower, upper)) };
        bounds.into_iter().flat_map(|bounds| self.rows.range::<[u8], _>(bounds))
    }

    /// All rows, for a copy into another table.
    pub fn rows(&self) -> impl Iterator<Item = &[Value]> {
        self.rows.values().map(|row| &**row)
    }

    /// Inserts a row; the key under which it lies.
    pub(crate) fn insert(&mut self, row: Row) -> Result<Key, TableError> {
        let key = match self.key_of(&row)? {
            Some(key) => key,
            None => {
                let id = self.next_row_id;
                self.next_row_id += 1;
                Key::new(&id.to_be_bytes())
            }
        };
        self.put(key.clone(), row)?;
        Ok(key)
    }

    /// Texts compare by their columns' collations from now on.
    fn rule(&self, row: &mut Row) {
        for (value, column) in row.iter_mut().zip(&self.def.columns) {
            if let Value::Str(text) = value
                && text.rule() != column.collation.rule()
            {
                *text = text.clone().with_rule(column.collation.rule());
            }
        }
    }

    /// Puts a row under a key that is free.
    pub(crate) fn put(&mut self, key: Key, mut row: Row) -> Result<(), TableError> {
        self.rule(&mut row);
        if self.rows.contains_key(&key) {
            return Err(TableError::Duplicate { unique: None });
        }
        self.claim_unique(&row)?;
        self.bytes += row_bytes(key.as_bytes(), &row);
        self.rows.insert(key, row);
        Ok(())
    }

    /// Replaces the row under a key; the old one, or none when there is none. The primary key's columns are as before.
    pub(crate) fn replace(&mut self, key: &[u8], mut row: Row) -> Result<Option<Row>, TableError> {
        self.rule(&mut row);
        let Some(old) = self.rows.get_mut(key) else { return Ok(None) };
        let old = std::mem::take(old);
        self.free_unique(&old);
        if let Err(error) = self.claim_unique(&row) {
            // What was free a moment ago is free still.
            let _ = self.claim_unique(&old);
            if let Some(slot) = self.rows.get_mut(key) {
                *slot = old;
            }
            return Err(error);
        }
        self.bytes += row_bytes(key, &row);
        self.bytes -= row_bytes(key, &old);
        if let Some(slot) = self.rows.get_mut(key) {
            *slot = row;
        }
        Ok(Some(old))
    }

    /// Takes the row under a key away.
    pub(crate) fn remove(&mut self, key: &[u8]) -> Option<(Key, Row)> {
        let (key, row) = self.rows.remove_entry(key)?;
        self.bytes -= row_bytes(key.as_bytes(), &row);
        self.free_unique(&row);
        Some((key, row))
    }

    /// An empty table of the same definition, its identity at the seed.
    pub(crate) fn emptied(&self) -> Table {
        Table::new(self.def.clone())
    }

    /// The same rows under another definition, each changed by `row`.
    pub(crate) fn redefined(
        &self,
        def: Arc<TableDef>,
        mut row: impl FnMut(&[Value]) -> Vec<Value>,
    ) -> Result<Table, TableError> {
        let mut new = Table::new(def);
        new.next_identity = self.next_identity;
        new.identity_given = self.identity_given;
        let mut breath = Breath::new();
        for (key, old) in &self.rows {
            breath.steps(ROW_STEPS + 4 * old.len())?;
            let values = row(old).into_boxed_slice();
            match new.key_of(&values)? {
                Some(key) => new.put(key, values)?,
                None if self.def.is_heap() => new.put(key.clone(), values)?,
                None => {
                    new.insert(values)?;
                }
            }
        }
        new.next_row_id = new.next_row_id.max(self.next_row_id);
        Ok(new)
    }

    /// The next value of the identity column.
    pub(crate) fn next_identity(&mut self, identity: Identity) -> Result<i64, TableError> {
        let next = self.next_identity.unwrap_or(identity.seed as i128);
        let value = i64::try_from(next).map_err(|_| TableError::IdentityOverflow)?;
        self.next_identity = Some(next + identity.increment as i128);
        self.identity_given = true;
        Ok(value)
    }

    /// The last value given of the identity column, if one was.
    pub fn current_identity(&self) -> Option<i64> {
        let identity = self.def.identity().and_then(|i| self.def.columns[i].identity)?;
        let last = self.next_identity? - identity.increment as i128;
        if self.identity_given { i64::try_from(last).ok() } else { None }
    }

    /// The last value given is this one; the first one to give, when none was.
    pub(crate) fn reseed(&mut self, value: i64) {
        let Some(identity) = self.def.identity().and_then(|i| self.def.columns[i].identity) else {
            return;
        };
        let step = if self.identity_given { identity.increment as i128 } else { 0 };
        self.next_identity = Some(value as i128 + step);
    }

    /// A value given explicitly: the next one lies beyond it.
    pub(crate) fn note_identity(&mut self, identity: Identity, value: i64) {
        self.identity_given = true;
        let beyond = value as i128 + identity.increment as i128;
        let next = self.next_identity.unwrap_or(identity.seed as i128);
        self.next_identity =
            Some(if identity.increment > 0 { next.max(beyond) } else { next.min(beyond) });
    }

    /// The primary key's bytes; none for a table without one.
    pub fn key_of(&self, row: &[Value]) -> Result<Option<Key>, TableError> {
        let Some(primary) = &self.def.primary_key else { return Ok(None) };
        let values: Vec<Value> = primary.columns.iter().map(|(i, _)| row[*i].clone()).collect();
        Ok(Some(Key::new(&self.def.key_layout.encode(&values)?)))
    }

    fn claim_unique(&mut self, row: &[Value]) -> Result<(), TableError> {
        for i in 0..self.unique.len() {
            let claimed = match self.unique[i].key(row) {
                Err(error) => error.into(),
                Ok(key) => {
                    if self.unique[i].keys.insert(key) {
                        continue;
                    }
                    TableError::Duplicate { unique: Some(i) }
                }
            };
            for unique in &mut self.unique[..i] {
                unique.forget(row);
            }
            return Err(claimed);
        }
        Ok(())
    }

    fn free_unique(&mut self, row: &[Value]) {
        self.unique.iter_mut().for_each(|unique| unique.forget(row));
    }
}

impl Unique {
    fn new(key: &KeyDef, def: &TableDef) -> Unique {
        let part = |&(i, desc): &(usize, bool)| {
            let column = &def.columns[i];
            KeyPart {
                ty: column.ty,
                nullable: column.nullable,
                desc,
                rule: column.collation.rule(),
            }
        };
        Unique {
            columns: key.columns.iter().map(|(i, _)| *i).collect(),
            layout: KeyLayout::new(key.columns.iter().map(part).collect()),
            keys: BTreeSet::new(),
        }
    }

    fn key(&self, row: &[Value]) -> Result<Key, TypeError> {
        let values: Vec<Value> = self.columns.iter().map(|i| row[*i].clone()).collect();
        Ok(Key::new(&self.layout.encode(&values)?))
    }

    fn forget(&mut self, row: &[Value]) {
        // A key that could not be encoded was never there.
        if let Ok(key) = self.key(row) {
            self.keys.remove(&key);
        }
    }
}
