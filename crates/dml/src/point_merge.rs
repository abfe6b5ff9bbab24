//! MERGE of one row into the row that a whole unique key names: the upsert.
//!
//! The source is a row of expressions (a SELECT without FROM, one row of VALUES), and ON gives each column of the target's
//! key a value. Such a MERGE finds its row as an UPDATE by key does, and does with one descent what the general plan does
//! with a join: see [`Spot`] and `point.rs`. What the clause that applies asks for is done by a writer that stays with the
//! plan, one for rows that change, which looks at nothing that is about other columns, and one for rows that come or go;
//! where nothing else is written for the row and the statement is a transaction of its own, in one log record.
//!
//! Promise: what is seen, locked, asked and changed is what the general plan would, which is still there for the levels
//! at which that reads otherwise ([`PointMerge::applies`]).

use crate::keys::keys_stay;
use crate::last_writer::LastWriter;
use crate::setter::{Bench, Setter};
use crate::spot::{LOOKS_MAX, Spot};
use crate::write::TableWriter;
use engine::{InsertHint, Isolation, Looked};
use executor::{Cx, SqlError, eval, holds};
use ir::{Expr, MergeAction, MergeWhen, ParamId, TableHints, UpdateSet};
use planner::{MergePlan, Node, Op, PhysicalJoin};
use std::sync::Arc;
use types::Value;

/// See the file's first lines.
pub struct PointMerge {
    spot: Spot,
    /// The source's row: the expressions of each step read the row of the one before.
    steps: Vec<Vec<Expr>>,
    binds: Vec<(ParamId, Expr)>,
    params: usize,
    /// Slots of the source's columns come first.
    width: usize,
    /// Slots of the table's columns.
    old: Vec<u32>,
    clauses: Vec<Clause>,
    /// Columns that an UPDATE sets.
    set: Vec<usize>,
    /// Some clause assigns variables, which a second look would do twice.
    assigns: bool,
    /// Of rows that change.
    changer: LastWriter,
    /// Of rows that come or go.
    writer: LastWriter,
    hint: InsertHint,
    bench: Bench,
    values: Vec<Value>,
}

struct Clause {
    when: MergeWhen,
    condition: Option<Expr>,
    action: Action,
}

enum Action {
    Update(Setter),
    Delete,
    /// An expression for each column of the table.
    Insert(Vec<Expr>),
}

impl PointMerge {
    /// The plan as one of this kind, if it is.
    pub fn of(plan: &MergePlan, db: &Arc<engine::Database>) -> Option<PointMerge> {
        let table = &plan.table;
        let special = plan.output.is_some()
            || !plan.fires.is_empty()
            || plan.block.is_some()
            || plan.top.is_some()
            || plan.explicit_identity
            || plan.tracking_context.is_some()
            || plan.hints != TableHints::default()
            || !plan.source.subplans.is_empty()
            // Rows in memory are not found in order to be changed in their place.
            || table.is_memory()
            || table.ignores_dup_key()
            || table.indexes.iter().any(|index| index.ignore_dup_key);
        let set = plan.set_columns();
        if special || !keys_stay(table, &set) {
            return None;
        }
        let Op::NestedLoops { kind, left, right, binds, predicate: None, .. } =
            &plan.source.root.op
        else {
            return None;
        };
        let Op::Scan(scan) = &right.op else { return None };
        if !matches!(kind, PhysicalJoin::Left | PhysicalJoin::Inner) || scan.predicate.is_some() {
            return None;
        }
        let mut steps = Vec::new();
        one_row(left, &mut steps)?;
        let width = left.types.len();
        let mut exprs: Vec<&Expr> =
            steps.iter().flatten().chain(binds.iter().map(|b| &b.1)).collect();
        let (mut assigns, mut clauses) = (false, Vec::new());
        for clause in &plan.clauses {
            exprs.extend(&clause.condition);
            let action = match &clause.action {
                MergeAction::Update(items) => {
                    exprs.extend(items.iter().map(UpdateSet::value));
                    let setter = Setter::new(table, items);
                    assigns |= setter.assigns;
                    Action::Update(setter)
                }
                MergeAction::Insert(row) => {
                    exprs.extend(row);
                    Action::Insert(row.clone())
                }
                MergeAction::Delete => Action::Delete,
            };
            clauses.push(Clause { when: clause.when, condition: clause.condition.clone(), action });
        }
        let spot = Spot::of(scan, table, width, &exprs, db)?;
        Some(PointMerge {
            spot,
            binds: binds.clone(),
            params: plan.source.param_count,
            width,
            old: plan.old.clone(),
            clauses,
            set,
            assigns,
            changer: LastWriter::default(),
            writer: LastWriter::default(),
            hint: InsertHint::default(),
            bench: Bench::default(),
            values: Vec::new(),
            steps,
        })
    }

    /// Whether it is the same as the general plan where the transaction reads at this level: others read, or lock, what is
    /// not there.
    pub fn applies(level: Isolation) -> bool {
        !matches!(level, Isolation::Serializable | Isolation::Snapshot)
    }

    /// As [`crate::PointChange::may_fuse`]; what the clause asks for that applies may still forbid it.
    pub fn may_fuse(&self) -> bool {
        !self.assigns && (self.changer.stands_alone() || self.writer.comes_alone())
    }

    /// As [`crate::PointChange::is_alone`].
    #[inline]
    pub fn is_alone(&self) -> bool {
        // What one writer knows of the table the other will find, too.
        let known = || self.changer.runs_alone() || self.writer.runs_alone();
        let table = &self.spot.table;
        table.is_plain() || (!table.is_memory() && known())
    }

    /// Merges the row. Returns how many rows were changed: 0 or 1. The statement has begun.
    pub fn run(&mut self, cx: &mut Cx<'_>) -> Result<u64, SqlError> {
        let table = self.spot.table.clone();
        let mut cx = cx.reborrow();
        cx.set_plan(&[], self.params);
        self.read_source(&mut cx)?;
        cx.table = Some(&table);
        let named = self.spot.encode_key(&mut cx)?;
        self.spot.tree.note_change();
        if cx.txn.as_deref().is_some_and(engine::Txn::fuses) {
            for _ in 0..LOOKS_MAX {
                let looked = if named { self.spot.look(&mut cx)? } else { Looked::Nothing };
                let there = match looked {
                    Looked::Busy => break,
                    Looked::Row => true,
                    Looked::Nothing => false,
                };
                let Some(clause) = self.clause_for(there, &mut cx)? else { return Ok(0) };
                if !self.stands_alone(clause) {
                    break;
                }
                if let Some(changed) = self.act(clause, &mut cx)? {
                    return Ok(u64::from(changed));
                }
                if !cx.txn.as_deref().is_some_and(engine::Txn::fuses) {
                    break;
                }
            }
            if let Some(txn) = cx.txn.as_deref_mut() {
                txn.unfuse();
            }
        }
        let there = named && self.spot.lock(&mut cx)?;
        let Some(clause) = self.clause_for(there, &mut cx)? else { return Ok(0) };
        Ok(u64::from(self.act(clause, &mut cx)? == Some(true)))
    }

    /// The source's row, and what the key's recipe asks of it.
    fn read_source(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let (mut row, mut next) = (Vec::new(), std::mem::take(&mut self.values));
        for step in &self.steps {
            next.clear();
            for expr in step {
                next.push(eval(expr, &row, cx)?);
            }
            std::mem::swap(&mut row, &mut next);
        }
        for (param, expr) in &self.binds {
            cx.params[param.0 as usize] = eval(expr, &row, cx)?;
        }
        for (slot, value) in self.spot.slots[..self.width].iter_mut().zip(row.drain(..)) {
            *slot = value;
        }
        self.values = row;
        Ok(())
    }

    /// The number of the first clause that applies.
    fn clause_for(&mut self, there: bool, cx: &mut Cx<'_>) -> Result<Option<usize>, SqlError> {
        let when = if there { MergeWhen::Matched } else { MergeWhen::NotMatched };
        if there {
            self.spot.qualifies(cx)?;
        } else {
            self.spot.slots[self.width..].fill(Value::Null);
        }
        for (number, clause) in self.clauses.iter().enumerate() {
            if clause.when == when
                && match &clause.condition {
                    Some(condition) => holds(condition, &self.spot.slots, cx)?,
                    None => true,
                }
            {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Whether what a clause asks for may be one log record, as far as that is known yet.
    fn stands_alone(&self, clause: usize) -> bool {
        match self.clauses[clause].action {
            Action::Update(_) => self.changer.stands_alone(),
            Action::Delete => self.writer.stands_alone(),
            Action::Insert(_) => self.writer.comes_alone(),
        }
    }

    /// Does what a clause asks for. None: the row is to be found again, which fuses with its transaction; false: there was
    /// nothing to do.
    fn act(&mut self, clause: usize, cx: &mut Cx<'_>) -> Result<Option<bool>, SqlError> {
        let (spot, bench) = (&mut self.spot, &mut self.bench);
        let action = &self.clauses[clause].action;
        if let Action::Update(setter) = action {
            let mut writer = self.changer.take(|| {
                let writer = TableWriter::new(&spot.table, cx)?.statement("MERGE");
                Ok(writer.only_changing(self.set.clone()))
            })?;
            let changed = bench.update(spot, &self.old, setter, &mut writer, cx)?;
            writer.finish(cx)?;
            if writer.is_keepable() && writer.patches_rows() && !spot.is_narrow() {
                spot.narrow(writer.needed());
            }
            self.changer.keep(writer);
            return Ok(changed.then_some(true));
        }
        let mut writer = self.writer.take(|| {
            let writer = TableWriter::new(&spot.table, cx)?.statement("MERGE");
            Ok(writer.changing(self.set.clone()))
        })?;
        let done = match action {
            Action::Insert(row) => {
                self.values.clear();
                for expr in row {
                    self.values.push(eval(expr, &spot.slots, cx)?);
                }
                Some(writer.insert(&self.values, &mut self.hint, cx)?)
            }
            _ => {
                // What a change need not know of a row its end may: entries of all indexes go.
                spot.decode_rest(cx)?;
                bench.delete(spot, &self.old, &mut writer, cx)?.then_some(true)
            }
        };
        writer.finish(cx)?;
        self.writer.keep(writer);
        Ok(done)
    }
}

/// The steps by which the one row of a plan is computed that reads no table.
fn one_row(node: &Node, steps: &mut Vec<Vec<Expr>>) -> Option<()> {
    match &node.op {
        Op::OneRow => {}
        Op::Values { rows } => match &rows[..] {
            [row] => steps.push(row.clone()),
            _ => return None,
        },
        Op::Project { input, exprs } => {
            one_row(input, steps)?;
            steps.push(exprs.clone());
        }
        _ => return None,
    }
    Some(())
}
