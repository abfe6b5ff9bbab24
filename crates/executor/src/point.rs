//! A change of the one row that a unique key names: UPDATE t SET ... WHERE key = ... AND ..., and DELETE likewise.
//!
//! What does not change from one run to the next is made once, with the plan: the recipe of the key, which columns are
//! decoded, how the new row comes out of the old one's bytes, the writer of a table with indexes or constraints. A run
//! finds the row and changes it with one descent.
//!
//! Where the row stands for itself and the statement is a transaction of its own, the row is looked up without a lock
//! and changed only if nothing has come between (engine's `found.rs`): begin, change and commit are one log record. The
//! way with a lock is the fallback, and the way within a transaction.
//!
//! Promise: what is seen, locked, asked and changed is what the general plan would, whose every case this need not know:
//! [`PointChange::new`] takes only plans of this kind.

use crate::change::assign;
use crate::cx::Cx;
use crate::error::engine_error;
use crate::eval::{eval, holds, qualified};
use crate::isolation;
use crate::lob;
use crate::message::SqlError;
use crate::ops::engine_tree;
use crate::write::{TableWriter, image, key_columns, null_error};
use binder::ir::{Expr, ExprKind, FuncId, TableHints, UpdateSet};
use catalog::TableDef;
use engine::{Change, Found, Isolation, Looked, ReadOptions, RowLock, Use};
use planner::{DeletePlan, Op, Plan, Scan, UpdatePlan};
use std::sync::Arc;
use types::{KeyPart, RowLayout, Value, key};

/// Looks without a lock, after which a row that others keep changing is locked.
const LOOKS_MAX: u32 = 4;

/// See the file's first lines.
pub struct PointChange {
    table: Arc<TableDef>,
    tree: engine::Tree,
    /// The key's parts, as they are given.
    key: Vec<(Expr, KeyPart)>,
    /// Slot and column of what is decoded of the row; the other slots stay NULL.
    decoded: Vec<(usize, usize)>,
    /// The slot of the row's own key, where anything asks for it (WHERE CURRENT OF).
    locator: Option<usize>,
    /// What else the row must be.
    predicate: Option<Expr>,
    /// Slots of the table's columns.
    old: Vec<u32>,
    action: Action,
    /// The row has no entries elsewhere and nothing is asked of it.
    plain: bool,
    /// Of a table that is not plain; made at the first run.
    writer: Option<Box<TableWriter>>,
    key_bytes: Vec<u8>,
    found: Found,
    slots: Vec<Value>,
    values: Vec<Value>,
    row: Vec<u8>,
}

enum Action {
    Update {
        set: Vec<UpdateSet>,
        /// The columns set.
        columns: Vec<usize>,
        /// All of them lie at fixed places: the old row's bytes are patched.
        patches: bool,
        /// It assigns variables too, which a second look would do twice.
        assigns: bool,
    },
    Delete,
}

impl PointChange {
    /// An UPDATE's plan, where it is of this kind.
    pub fn of_update(plan: &UpdatePlan, db: &Arc<engine::Database>) -> Option<PointChange> {
        let special = plan.output.is_some()
            || plan.fires.is_some()
            || plan.block.is_some()
            || plan.check.is_some()
            || plan.tracking_context.is_some()
            || plan.hints != TableHints::default();
        let mut columns = Vec::new();
        for set in &plan.set {
            if let UpdateSet::Column { ordinal, .. } | UpdateSet::Both { ordinal, .. } = set {
                columns.push(*ordinal);
            }
        }
        columns.sort_unstable();
        let keys = key_columns(&plan.table);
        // A row that moves leaves its place first.
        let moves = |i: usize| {
            keys.contains(&i)
                || plan.table.unique.iter().any(|k| k.columns.iter().any(|c| c.0 == i))
        };
        let made_key = keys.iter().any(|i| plan.table.columns[*i].is_made());
        if special || made_key || columns.iter().any(|i| moves(*i)) {
            return None;
        }
        let layout = &plan.table.layout;
        let patches = columns.iter().all(|i| layout.fixed_offset(*i).is_some());
        let assigns = plan.set.iter().any(|set| !matches!(set, UpdateSet::Column { .. }));
        let action = Action::Update { set: plan.set.clone(), columns, patches, assigns };
        PointChange::new(&plan.table, &plan.source, &plan.old, action, db)
    }

    /// A DELETE's plan, likewise.
    pub fn of_delete(plan: &DeletePlan, db: &Arc<engine::Database>) -> Option<PointChange> {
        let special = plan.output.is_some()
            || plan.fires.is_some()
            || plan.block.is_some()
            || plan.tracking_context.is_some()
            || plan.hints != TableHints::default();
        if special {
            return None;
        }
        PointChange::new(&plan.table, &plan.source, &plan.old, Action::Delete, db)
    }

    fn new(
        table: &Arc<TableDef>,
        source: &Plan,
        old: &[u32],
        action: Action,
        db: &Arc<engine::Database>,
    ) -> Option<PointChange> {
        let scan = point_scan(source, table)?;
        let parts = table.key_layout.parts();
        let range = scan.range.as_ref()?;
        let key: Vec<_> = range.prefix.iter().cloned().zip(parts.iter().copied()).collect();
        let mut exprs: Vec<&Expr> = key.iter().map(|(e, _)| e).chain(&scan.predicate).collect();
        if let Action::Update { set, .. } = &action {
            exprs.extend(set.iter().map(UpdateSet::value));
        }
        // A function of the user's reads in the transaction that is at work here.
        let is_users = |e: &Expr| matches!(e.kind, ExprKind::Func { func: FuncId::User(_), .. });
        if exprs.iter().any(|e| e.any(&mut |e: &Expr| is_users(e))) {
            return None;
        }
        let plain = table.is_plain();
        let whole = match &action {
            Action::Update { patches, .. } => !plain || !patches,
            Action::Delete => !plain,
        };
        let mut decoded: Vec<(usize, usize)> = Vec::new();
        for (slot, column) in scan.columns.iter().enumerate() {
            let wanted = |e: &Expr| matches!(e.kind, ExprKind::Slot(i) if i as usize == slot);
            if whole || exprs.iter().any(|e| e.any(&mut |e: &Expr| wanted(e))) {
                decoded.push((slot, *column));
            }
        }
        let own_key = scan.columns.len();
        let is_own_key = |e: &Expr| matches!(e.kind, ExprKind::Slot(i) if i as usize == own_key);
        let asks = exprs.iter().any(|e| e.any(&mut |e: &Expr| is_own_key(e)));
        Some(PointChange {
            locator: asks.then_some(own_key),
            tree: engine_tree(db, table),
            key,
            decoded,
            predicate: scan.predicate.clone(),
            old: old.to_vec(),
            action,
            plain,
            writer: None,
            key_bytes: Vec::new(),
            found: Found::default(),
            slots: vec![Value::Null; scan.columns.len() + 1],
            values: Vec::new(),
            row: Vec::new(),
            table: table.clone(),
        })
    }

    /// Whether it deletes.
    pub fn deletes(&self) -> bool {
        matches!(self.action, Action::Delete)
    }

    /// Whether a transaction of this statement alone may be one log record: see [`engine::Txn::fuse`].
    pub fn may_fuse(&self) -> bool {
        let assigns = matches!(self.action, Action::Update { assigns: true, .. });
        self.plain && !self.table.is_memory() && !assigns
    }

    /// Changes the row. Returns how many there were: 0 or 1. The statement has begun.
    pub fn run(&mut self, cx: &mut Cx<'_>) -> Result<u64, SqlError> {
        let changed = match self.find_and_change(cx) {
            Ok(changed) => changed,
            Err(e) => {
                // It may be in the middle of something.
                self.writer = None;
                return Err(e);
            }
        };
        Ok(u64::from(changed))
    }

    fn find_and_change(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if !self.encode_key(cx)? {
            return Ok(false);
        }
        self.tree.note_use(Use::Seek);
        self.tree.note_use(Use::Update);
        if self.table.is_memory() {
            return self.change_in_memory(cx);
        }
        if cx.txn.as_deref().is_some_and(engine::Txn::fuses) {
            for _ in 0..LOOKS_MAX {
                match self.look(cx)? {
                    Looked::Nothing => return Ok(false),
                    Looked::Busy => break,
                    Looked::Row => {}
                }
                if !self.qualifies(cx)? {
                    return Ok(false);
                }
                self.make(cx)?;
                if self.change_found(cx)? {
                    return Ok(true);
                }
            }
            if let Some(txn) = cx.txn.as_deref_mut() {
                txn.unfuse();
            }
        }
        self.change_locked(cx)
    }

    /// The key's bytes; false where a part is NULL, to which nothing is equal.
    fn encode_key(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.key_bytes.clear();
        for (expr, part) in &self.key {
            let value = eval(expr, &[], cx)?;
            if value.is_null() {
                return Ok(false);
            }
            key::encode_part(part, &value, &mut self.key_bytes);
        }
        Ok(true)
    }

    fn look(&mut self, cx: &mut Cx<'_>) -> Result<Looked, SqlError> {
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a row is changed without a transaction");
        };
        let looked = txn.look(&self.tree, &self.key_bytes, &mut self.found);
        looked.map_err(|e| engine_error(e, Some(&self.table), cx))
    }

    /// Decodes the row found; whether it is one to be changed.
    fn qualifies(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        for &(slot, column) in &self.decoded {
            self.slots[slot] = lob::column(&self.table, &self.found.row, column, cx)?;
        }
        if let Some(slot) = self.locator {
            self.slots[slot] = Value::binary(&self.key_bytes);
        }
        match &self.predicate {
            Some(predicate) => holds(predicate, &self.slots, cx),
            None => Ok(true),
        }
    }

    /// Makes the new row of a plain table out of the one found.
    fn make(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let Action::Update { set, columns, patches, .. } = &self.action else { return Ok(()) };
        let table = &*self.table;
        let layout = &table.layout;
        let mut cx = cx.reborrow();
        cx.table = Some(table);
        // A row older than the last columns has no place for them.
        if *patches && RowLayout::row_columns(&self.found.row) == layout.columns().len() {
            self.row.clear();
            self.row.extend_from_slice(&self.found.row);
            for set in set {
                let (UpdateSet::Column { value, .. }
                | UpdateSet::Var { value, .. }
                | UpdateSet::Both { value, .. }) = set;
                let value = eval(value, &self.slots, &mut cx)?;
                if let UpdateSet::Column { ordinal, .. } | UpdateSet::Both { ordinal, .. } = set {
                    layout.patch(&mut self.row, *ordinal, &value);
                }
                if let UpdateSet::Var { var, .. } | UpdateSet::Both { var, .. } = set {
                    cx.vars[var.0 as usize] = value;
                }
            }
            for ordinal in columns {
                check_null(table, *ordinal, layout.is_null(&self.row, *ordinal), &cx)?;
            }
            return Ok(());
        }
        self.values.clear();
        for column in 0..table.columns.len() {
            self.values.push(lob::column(table, &self.found.row, column, &mut cx)?);
        }
        assign(set, &self.slots, &mut self.values, &mut cx)?;
        for ordinal in columns {
            check_null(table, *ordinal, self.values[*ordinal].is_null(), &cx)?;
        }
        self.row.clear();
        Ok(layout.encode(&self.values, &mut self.row)?)
    }

    /// Puts the row made in the place of the one found, or takes that away. False: it is to be found again.
    fn change_found(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let change = match &self.action {
            Action::Update { .. } => Change::To(image(&self.table, &self.row)),
            Action::Delete => Change::Gone,
        };
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
        let changed = txn.change_found(&self.tree, &self.key_bytes, &self.found, change);
        changed.map_err(|e| engine_error(e, Some(&self.table), cx))
    }

    /// The way with a lock: what cannot qualify is not locked, as in a scan.
    fn change_locked(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
        let gaps = txn.options().isolation == Isolation::Serializable;
        if gaps || self.predicate.is_some() {
            let options = ReadOptions { lock: RowLock::Exclusive, ..ReadOptions::default() };
            let row = &mut self.found.row;
            let there = txn.get_with(&self.tree, &self.key_bytes, options, row);
            if !there.map_err(|e| engine_error(e, Some(&self.table), cx))? || !self.qualifies(cx)? {
                return Ok(false);
            }
        }
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
        let there = txn.lock_found(&self.tree, &self.key_bytes, &mut self.found);
        if !there.map_err(|e| engine_error(e, Some(&self.table), cx))? || !self.qualifies(cx)? {
            return Ok(false);
        }
        if !self.plain {
            return self.change_kept(cx);
        }
        self.make(cx)?;
        if self.change_found(cx)? {
            return Ok(true);
        }
        // The leaf is full, or somebody else has changed it too: by its key, which is locked.
        self.change_by_key(cx)
    }

    /// Puts the row made in the place of the one under the key, or takes that away.
    fn change_by_key(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
        let changed = match &self.action {
            Action::Update { .. } => {
                txn.update(&self.tree, &self.key_bytes, &image(&self.table, &self.row))
            }
            Action::Delete => txn.delete(&self.tree, &self.key_bytes),
        };
        changed.map_err(|e| engine_error(e, Some(&self.table), cx))
    }

    /// A row in memory has no leaf to come back to, and no lock: it is read, and whoever has written it since is told by
    /// the change (41302).
    fn change_in_memory(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
        let level = txn.options().isolation;
        isolation::check(&TableHints::default(), level, cx.env.memory_access())?;
        let options = ReadOptions { lock: RowLock::Exclusive, ..ReadOptions::default() };
        let there = txn.get_with(&self.tree, &self.key_bytes, options, &mut self.found.row);
        if !there.map_err(|e| engine_error(e, Some(&self.table), cx))? || !self.qualifies(cx)? {
            return Ok(false);
        }
        if !self.plain {
            return self.change_kept(cx);
        }
        self.make(cx)?;
        self.change_by_key(cx)
    }

    /// Of a table with indexes, constraints or columns that are made.
    fn change_kept(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let mut writer = match self.writer.take() {
            Some(mut writer) => {
                writer.restart();
                writer
            }
            None => {
                let writer = TableWriter::new(&self.table, cx)?;
                Box::new(match &self.action {
                    Action::Update { columns, .. } => {
                        writer.statement("UPDATE").changing(columns.clone())
                    }
                    Action::Delete => writer.statement("DELETE"),
                })
            }
        };
        let slots = &self.slots;
        let old: Vec<Value> = self.old.iter().map(|slot| slots[*slot as usize].clone()).collect();
        let changed = match &self.action {
            Action::Update { set, .. } => {
                self.values.clear();
                self.values.extend_from_slice(&old);
                let mut cx = cx.reborrow();
                cx.table = Some(&self.table);
                assign(set, &self.slots, &mut self.values, &mut cx)?;
                writer.update_from(&self.key_bytes, old, &self.values, &mut cx)?
            }
            Action::Delete => writer.delete_of(&self.key_bytes, old, cx)?,
        };
        writer.finish(cx)?;
        if writer.is_keepable() {
            self.writer = Some(writer);
        }
        Ok(changed)
    }
}

/// The scan of one row by the whole key of the table, if that is all that the source is.
fn point_scan<'p>(source: &'p Plan, table: &TableDef) -> Option<&'p Scan> {
    if !source.subplans.is_empty() || source.param_count > 0 {
        return None;
    }
    let Op::Scan(scan) = &source.root.op else { return None };
    let parts = table.key_layout.parts();
    let special = scan.table.object_id != table.object_id
        || scan.index.is_some()
        || table.has_uniquifier()
        || table.is_private()
        || table.lob.is_some()
        || !scan.locator
        || !scan.for_update
        || scan.sample.is_some()
        || scan.database.is_some()
        || scan.hints != TableHints::default();
    let range = scan.range.as_ref()?;
    (!special && !parts.is_empty() && range.is_point(parts.len())).then_some(scan)
}

/// 515.
fn check_null(
    table: &TableDef,
    ordinal: usize,
    is_null: bool,
    cx: &Cx<'_>,
) -> Result<(), SqlError> {
    let column = &table.columns[ordinal];
    if column.nullable || !is_null {
        return Ok(());
    }
    Err(null_error(&column.name, &qualified(table, cx), "UPDATE"))
}
