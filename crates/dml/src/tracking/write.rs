//! Rows on their way into a tracked table, noted as they come, change and go.
//!
//! Promise: nothing is written for a table that is not tracked, and of a statement that changes no row nothing either.
//! The row itself is changed first, so its lock orders all that is noted of its key.

use catalog::{TableDef, Tracking};
use engine::{EngineError, InsertHint, ReadOptions, RowImage, Tree};
use executor::tracking::{Change, TrackedKey, corrupt, txn};
use executor::{Cx, SqlError, engine_error};
use runtime::task::Many;
use types::Value;

/// Of a tracked table, for one statement.
pub(crate) struct Tracker {
    tracking: Tracking,
    key: TrackedKey,
    changes: Tree,
    by_key: Tree,
    commits: Tree,
    /// What an UPDATE of this statement does.
    update: Change,
    context: Option<Vec<u8>>,
    /// Keys that rows have got in their places: noted when all others have given theirs up.
    late: Many<Vec<Value>>,
    values: Vec<Value>,
    bytes: Vec<u8>,
    row: Vec<u8>,
    hints: [InsertHint; 2],
}

impl Tracker {
    /// None for a table that is not tracked.
    pub fn of(table: &TableDef, cx: &Cx<'_>) -> Option<Tracker> {
        let tracking = table.tracking?;
        let db = cx.txn.as_deref()?.database();
        let update = Change {
            before: true,
            after: true,
            all: true,
            numbering: tracking.numbering,
            ..Change::default()
        };
        Some(Tracker {
            tracking,
            key: TrackedKey::of(table),
            changes: db.tree(tracking.changes),
            by_key: db.tree(tracking.by_key),
            commits: db.tree(tracking.commits),
            update,
            context: cx.tracking_context().map(<[u8]>::to_vec),
            late: Many::new(),
            values: Vec::new(),
            bytes: Vec::new(),
            row: Vec::new(),
            hints: Default::default(),
        })
    }

    /// Columns of a row as it was that must be known.
    pub fn needed(&self) -> &[usize] {
        &self.key.columns
    }

    /// Which columns an UPDATE sets. All of them but the key's: nothing is said of any.
    pub fn changing(&mut self, table: &TableDef, columns: &[usize]) {
        if !self.tracking.columns {
            return;
        }
        let is_given = |i: usize| !table.columns[i].is_made();
        let mut others = (0..table.columns.len()).filter(|i| !self.key.columns.contains(i));
        if others.all(|i| !is_given(i) || columns.contains(&i)) {
            return;
        }
        let set = columns.iter().filter(|i| is_given(**i)).map(|i| *i as u16 + 1);
        self.update.columns = set.collect();
        self.update.columns.sort_unstable();
        self.update.columns.dedup();
        self.update.all = self.update.columns.is_empty();
    }

    /// A row has come.
    pub fn inserted(
        &mut self,
        table: &TableDef,
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let change = Change { after: true, inserted: true, ..Change::default() };
        self.take_key(row);
        self.note(table, change, cx)
    }

    /// A row has gone.
    pub fn deleted(
        &mut self,
        table: &TableDef,
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        self.take_key(row);
        self.note(table, Change { before: true, ..Change::default() }, cx)
    }

    /// A row has changed in its place.
    pub fn updated(
        &mut self,
        table: &TableDef,
        old: &[Value],
        new: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        self.take_key(old);
        let was = self.key.key.encode(&self.values)?;
        self.take_key(new);
        if was == self.key.key.encode(&self.values)? {
            return self.note(table, self.update.clone(), cx);
        }
        self.deleted(table, old, cx)?;
        self.take_key(new);
        cx.hold(executor::row_bytes(&self.values))?;
        self.late.push(self.values.clone());
        Ok(())
    }

    /// The statement is over.
    pub fn finish(&mut self, table: &TableDef, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        for values in std::mem::take(&mut self.late) {
            self.values = values;
            let change = Change { after: true, inserted: true, ..Change::default() };
            self.note(table, change, cx)?;
        }
        Ok(())
    }

    fn take_key(&mut self, row: &[Value]) {
        self.values.clear();
        self.values.extend(self.key.columns.iter().map(|i| row[*i].clone()));
    }

    /// Writes down what has been done to the row whose key is in `values`.
    fn note(
        &mut self,
        table: &TableDef,
        mut change: Change,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        change.context.clone_from(&self.context);
        let id = txn(cx)?.tracking_id();
        self.bytes.clear();
        self.key.key.encode_into(&self.values, &mut self.bytes)?;
        // The same behind the transaction's number.
        let mut key = id.to_be_bytes().to_vec();
        key.extend_from_slice(&self.bytes);
        let mut columns = Vec::new();
        self.key.row.encode(&self.values, &mut columns)?;
        change.encode(&columns, &mut self.row);
        let image = RowImage::new(&self.row);
        let first = txn(cx)?.insert(&self.changes, &key, &image, &mut self.hints[0]);
        let told = match first {
            Ok(()) => true,
            Err(EngineError::Duplicate) => self.add(table, &key, change, &columns, cx)?,
            Err(e) => return Err(engine_error(e, Some(table), cx)),
        };
        if told {
            let number = !txn(cx)?.database().next_stamp();
            self.bytes.extend_from_slice(&number.to_be_bytes());
            self.row.clear();
            self.row.extend_from_slice(&id.to_le_bytes());
            if let Some(context) = &self.context {
                self.row.push(1);
                self.row.extend_from_slice(context);
            }
            let image = RowImage::new(&self.row);
            let noted = txn(cx)?.insert(&self.by_key, &self.bytes, &image, &mut self.hints[1]);
            noted.map_err(|e| engine_error(e, Some(table), cx))?;
        }
        let commits = self.commits.clone();
        txn(cx)?.track(&commits, Some(self.changes.id()));
        Ok(())
    }

    /// The transaction has changed the row before. Whether it has done so in another context.
    #[cold]
    fn add(
        &mut self,
        table: &TableDef,
        key: &[u8],
        change: Change,
        columns: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let failed = |e, cx: &Cx<'_>| engine_error(e, Some(table), cx);
        let mut row = Vec::new();
        // Nobody else writes under the transaction's number.
        let found = txn(cx)?.get_with(&self.changes, key, ReadOptions::nolock(), &mut row);
        if !found.map_err(|e| failed(e, cx))? {
            return Err(corrupt());
        }
        let mut all = Change::decode(&row)?.0;
        let other_context = all.context != change.context;
        all.then(change);
        all.encode(columns, &mut self.row);
        let image = RowImage::new(&self.row);
        let updated = txn(cx)?.update(&self.changes, key, &image);
        updated.map_err(|e| failed(e, cx))?;
        Ok(other_context)
    }
}
