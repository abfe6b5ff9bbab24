//! A change of the one row that a unique key names: UPDATE t SET ... WHERE key = ... AND ..., and DELETE likewise.
//!
//! What does not change from one run to the next is made once, with the plan: how the row is found ([`Spot`]), how the new
//! one comes out of its bytes, the writer of a table with indexes or constraints. A run finds the row and changes it with
//! one descent.
//!
//! Where the statement is a transaction of its own, the row is looked up without a lock and changed only if nothing has come
//! between (engine's `found.rs`). Begin, change, what changes in indexes and commit are then one log record, where nothing
//! is in the way (`together.rs`). The way with a lock is the fallback, the way within a transaction, and that of a row which
//! others refer to.
//!
//! Promise: what is seen, locked, asked and changed is what the general plan would, whose every case this need not know:
//! [`PointChange::new`] takes only plans of this kind.

use crate::keys::keys_stay;
use crate::last_writer::LastWriter;
use crate::setter::{Bench, Setter};
use crate::spot::{LOOKS_MAX, Spot};
use crate::write::TableWriter;
use catalog::TableDef;
use engine::Looked;
use executor::{Cx, SqlError};
use ir::{Expr, TableHints, UpdateSet};
use planner::{DeletePlan, Op, Plan, UpdatePlan};
use std::sync::Arc;

/// See the file's first lines.
pub struct PointChange {
    spot: Spot,
    /// Slots of the table's columns.
    old: Vec<u32>,
    /// None: the row is deleted.
    setter: Option<Setter>,
    /// The row has no entries elsewhere and nothing is asked of it.
    plain: bool,
    /// Made at the first run.
    writer: LastWriter,
    bench: Bench,
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
        let setter = Setter::new(&plan.table, &plan.set);
        if special || !keys_stay(&plan.table, &setter.columns) {
            return None;
        }
        let values: Vec<&Expr> = plan.set.iter().map(UpdateSet::value).collect();
        PointChange::new(&plan.table, &plan.source, &plan.old, Some(setter), &values, db)
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
        PointChange::new(&plan.table, &plan.source, &plan.old, None, &[], db)
    }

    fn new(
        table: &Arc<TableDef>,
        source: &Plan,
        old: &[u32],
        setter: Option<Setter>,
        values: &[&Expr],
        db: &Arc<engine::Database>,
    ) -> Option<PointChange> {
        if !source.subplans.is_empty() || source.param_count > 0 {
            return None;
        }
        let Op::Scan(scan) = &source.root.op else { return None };
        Some(PointChange {
            spot: Spot::of(scan, table, 0, values, db)?,
            old: old.to_vec(),
            plain: table.is_plain(),
            writer: LastWriter::default(),
            bench: Bench::default(),
            setter,
        })
    }

    /// Whether it deletes.
    pub fn deletes(&self) -> bool {
        self.setter.is_none()
    }

    /// Whether a transaction of this statement alone may be one log record: see [`engine::Txn::fuse`]. Of a table that is
    /// not plain this is known after the first run.
    pub fn may_fuse(&self) -> bool {
        // What assigns variables too would do it twice, were it to look twice.
        !self.setter.as_ref().is_some_and(|setter| setter.assigns)
            && !self.spot.table.is_memory()
            && (self.plain || self.writer.stands_alone())
    }

    /// Whether, as a transaction of its own, it may look the row up without a lock although it writes more than that. Known
    /// after the first run.
    pub fn may_pass_locks(&self) -> bool {
        !self.setter.as_ref().is_some_and(|setter| setter.assigns) && self.writer.passes_locks()
    }

    /// Whether all that it does is done to the table, what follows from its row and the rows that refer to it, so that no
    /// bracket of a statement is needed but the engine's. Of a table that is not plain this is known after the first run.
    #[inline]
    pub fn is_alone(&self) -> bool {
        self.plain || (!self.spot.table.is_memory() && self.writer.runs_alone())
    }

    /// Whether the row is in memory.
    #[inline]
    pub fn is_in_memory(&self) -> bool {
        self.spot.table.is_memory()
    }

    /// Changes the row. Returns how many there were: 0 or 1. The statement has begun.
    pub fn run(&mut self, cx: &mut Cx<'_>) -> Result<u64, SqlError> {
        Ok(u64::from(self.find_and_change(cx)?))
    }

    fn find_and_change(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if !self.spot.encode_key(cx)? {
            return Ok(false);
        }
        self.spot.tree.note_change();
        if self.spot.table.is_memory() {
            return Ok(self.spot.read_in_memory(cx)? && self.change(cx)?);
        }
        if cx.txn.as_deref().is_some_and(engine::Txn::passes_locks) {
            for _ in 0..LOOKS_MAX {
                match self.spot.look(cx)? {
                    Looked::Nothing => return Ok(false),
                    Looked::Busy => break,
                    Looked::Row => {}
                }
                if !self.spot.qualifies(cx)? {
                    return Ok(false);
                }
                if self.change(cx)? {
                    return Ok(true);
                }
                // What it entails may ask for a lock after all.
                if !cx.txn.as_deref().is_some_and(engine::Txn::passes_locks) {
                    break;
                }
            }
            if let Some(txn) = cx.txn.as_deref_mut() {
                txn.unfuse();
            }
        }
        Ok(self.spot.lock(cx)? && self.change(cx)?)
    }

    /// Changes the row found. False: it is to be found again; of a row that is locked: it is gone.
    fn change(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let mut writer = self.writer.take(|| {
            let writer = TableWriter::new(&self.spot.table, cx)?;
            Ok(match &self.setter {
                Some(setter) => writer.statement("UPDATE").only_changing(setter.columns.clone()),
                None => writer.statement("DELETE"),
            })
        })?;
        let changed = match &self.setter {
            Some(setter) => {
                self.bench.update(&mut self.spot, &self.old, setter, &mut writer, cx)?
            }
            None => self.bench.delete(&self.spot, &self.old, &mut writer, cx)?,
        };
        writer.finish(cx)?;
        let suits = writer.is_keepable() && (self.setter.is_none() || writer.patches_rows());
        if suits && !self.spot.is_narrow() {
            self.spot.narrow(writer.needed());
        }
        self.writer.keep(writer);
        Ok(changed)
    }
}
