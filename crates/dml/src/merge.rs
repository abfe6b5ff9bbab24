//! MERGE.
//!
//! Promise: what is to be done is known for every row before any is changed; a target row changes once (8672). Rows go
//! before others take their places: deletes, updates, inserts.

use crate::last_writer::Kept;
use crate::statement::{
    Output, assign, begin_writing, check_after, check_all, is_elsewhere, note_context,
    note_identity, of_target,
};
use crate::write::TableWriter;
use executor::{
    Changed, Cx, KeyMap, ResultSink, SqlError, SqlMessage, eval, for_each_batch, holds, percentage,
    row_bytes, row_count,
};
use ir::{Expr, ExprKind, MergeAction, MergeClause, MergeWhen};
use planner::{BlockPlan, MergePlan, OutputPlan};
use runtime::task::Many;
use types::Value;

/// What is to be done to target rows, in the order in which it is found.
#[derive(Default)]
struct Work {
    deletes: Many<Change>,
    updates: Many<Change>,
    /// Rows of the source, with the number of the clause.
    inserts: Many<(usize, Vec<Value>)>,
    touched: KeyMap<()>,
}

impl Work {
    fn count(&self) -> u64 {
        self.lengths().iter().sum::<usize>() as u64
    }

    fn lengths(&self) -> [usize; 3] {
        [self.deletes.len(), self.updates.len(), self.inserts.len()]
    }

    fn truncate(&mut self, [deletes, updates, inserts]: [usize; 3]) {
        self.deletes.truncate(deletes);
        self.updates.truncate(updates);
        self.inserts.truncate(inserts);
    }
}

/// TOP ... PERCENT: its count is a float.
fn is_percentage(top: &Expr) -> bool {
    top.ty == types::SqlType::Float
}

struct Change {
    locator: Vec<u8>,
    new: Vec<Value>,
    row: Vec<Value>,
    /// It has left its place: what it was, as far as that matters.
    moving: Option<Vec<Value>>,
}

/// What a MERGE has done, for triggers.
#[derive(Default)]
pub struct Merged {
    pub inserted: Changed,
    pub updated: Changed,
    pub deleted: Changed,
}

impl Merged {
    /// What was done by an action of that kind.
    pub fn by(&self, event: catalog::Event) -> &Changed {
        match event {
            catalog::Event::Insert => &self.inserted,
            catalog::Event::Update => &self.updated,
            catalog::Event::Delete => &self.deleted,
        }
    }
}

/// Runs a MERGE. Returns the rows inserted, updated and deleted; what they were and are is noted where triggers ask.
pub fn merge<'a>(
    plan: &'a MergePlan,
    mut noted: Option<&mut Merged>,
    kept: &mut Kept,
    cx: &mut Cx<'a>,
    sink: &mut dyn ResultSink,
) -> Result<u64, SqlError> {
    note_context(plan.tracking_context.as_deref(), cx)?;
    let mut writer = kept.writer(|| {
        let writer = TableWriter::new(&plan.table, cx)?.statement("MERGE");
        Ok(writer.changing(plan.set_columns()))
    })?;
    begin_writing(&writer, &plan.table, &plan.hints, cx)?;
    writer.may_put_off(may_put_off(plan));
    let mut output = Output::new(plan.output.as_ref(), &plan.table, cx)?;
    let mut work = Work::default();
    cx.set_plan(&plan.source.subplans, plan.source.param_count);
    let most = match &plan.top {
        Some(top) if !is_percentage(top) => row_count(&eval(top, &[], cx)?)?,
        _ => u64::MAX,
    };
    let share = match &plan.top {
        Some(top) if is_percentage(top) => Some(percentage(&eval(top, &[], cx)?)?),
        _ => None,
    };
    // After each row that is to change, how many changes there are of each kind: a percentage is of all of them.
    let mut steps = Vec::new();
    for_each_batch(&plan.source, cx, |batch, cx| {
        for row in batch.rows() {
            if work.count() < most {
                let before = work.count();
                decide(plan, row, &mut work, cx)?;
                if share.is_some() && work.count() > before {
                    steps.push(work.lengths());
                }
            }
        }
        cx.breathe()
    })?;
    if let Some(share) = share {
        let kept = (steps.len() as f64 * share / 100.0).ceil() as usize;
        work.truncate(kept.checked_sub(1).map_or([0; 3], |last| steps[last]));
    }

    let none = BlockPlan::default();
    let block = plan.block.as_deref().unwrap_or(&none);
    let mut hint = kept.hint;
    let mut count = 0;
    for change in &mut work.deletes {
        check_all(&block.before_delete, &change.row, &plan.table, cx)?;
        if writer.delete(&change.locator, cx)? {
            count += 1;
            if let Some(noted) = &mut noted {
                note(&mut noted.deleted, None, Some(of_target(&plan.old, &change.row)), cx)?;
            }
            change.row.push(Value::str("DELETE"));
            output.changed(&plan.old, None, &change.row, cx, sink)?;
        }
    }
    for change in &mut work.updates {
        check_all(&block.before_update, &change.row, &plan.table, cx)?;
        let old = |i: usize| change.row[plan.old[i] as usize].clone();
        if !writer.same_key(&change.new, old, &change.locator, cx)? {
            change.moving = writer.leave(&change.locator, cx)?;
        } else if writer.update(&change.locator, &change.new, cx)? {
            count += 1;
            let new = writer.written(&change.new);
            check_after(&block.after_update, &change.row, new, &plan.table, cx)?;
            if let Some(noted) = &mut noted {
                let (new, old) = (writer.written(&change.new), of_target(&plan.old, &change.row));
                note(&mut noted.updated, Some(new), Some(old), cx)?;
            }
            change.row.push(Value::str("UPDATE"));
            output.changed(&plan.old, Some(writer.written(&change.new)), &change.row, cx, sink)?;
        }
    }
    for change in &mut work.updates {
        let Some(old) = &change.moving else { continue };
        writer.arrive(old, &change.new, &mut hint, cx)?;
        count += 1;
        let new = writer.written(&change.new);
        check_after(&block.after_update, &change.row, new, &plan.table, cx)?;
        if let Some(noted) = &mut noted {
            let (new, old) = (writer.written(&change.new), of_target(&plan.old, &change.row));
            note(&mut noted.updated, Some(new), Some(old), cx)?;
        }
        change.row.push(Value::str("UPDATE"));
        output.changed(&plan.old, Some(writer.written(&change.new)), &change.row, cx, sink)?;
    }
    let mut values = Vec::with_capacity(plan.table.columns.len());
    for (clause, row) in &mut work.inserts {
        let MergeAction::Insert(exprs) = &plan.clauses[*clause].action else { continue };
        cx.table = Some(&plan.table);
        values.clear();
        for expr in exprs {
            values.push(eval(expr, row, cx)?);
        }
        if !writer.insert(&values, &mut hint, cx)? {
            continue;
        }
        count += 1;
        check_after(&block.after_insert, row, writer.written(&values), &plan.table, cx)?;
        if plan.explicit_identity {
            note_identity(&plan.table, &values, cx)?;
        }
        if let Some(noted) = &mut noted {
            note(&mut noted.inserted, Some(writer.written(&values)), None, cx)?;
        }
        row.push(Value::str("INSERT"));
        output.row(Some(writer.written(&values)), None, row, cx, sink)?;
    }
    writer.finish(cx)?;
    if writer.take_ignored() {
        sink.message(&SqlMessage::info(3604, 1, "Duplicate key was ignored.".to_string()));
    }
    output.finish(cx, sink)?;
    kept.hint = hint;
    kept.keep(writer);
    Ok(count)
}

/// Whether nothing that is evaluated, once rows are being written, may read the table: what becomes of rows that are there
/// was found out before.
fn may_put_off(plan: &MergePlan) -> bool {
    let asks =
        |e: &Expr| e.calls_users() || e.any(&mut |e| matches!(e.kind, ExprKind::SubPlan { .. }));
    let of_clause = |clause: &MergeClause| match &clause.action {
        MergeAction::Insert(exprs) => exprs.iter().any(asks),
        MergeAction::Update(_) | MergeAction::Delete => false,
    };
    let output = plan.output.as_ref();
    let of_output = |output: &OutputPlan| {
        let into = output.into.iter().flat_map(|(_, exprs)| exprs);
        output.columns.iter().chain(&output.also).map(|(_, e)| e).chain(into).any(asks)
    };
    plan.block.is_none()
        && is_elsewhere(output, &plan.table)
        && !output.is_some_and(of_output)
        && !plan.clauses.iter().any(of_clause)
}

/// Keeps a row for triggers.
fn note(
    changed: &mut Changed,
    inserted: Option<&[Value]>,
    deleted: Option<Vec<Value>>,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    cx.hold(inserted.map_or(0, row_bytes) + deleted.as_deref().map_or(0, row_bytes))?;
    changed.inserted.extend(inserted.map(<[Value]>::to_vec));
    changed.deleted.extend(deleted);
    Ok(())
}

/// Finds the clause for a row and notes what it asks for: 8672.
fn decide<'a>(
    plan: &'a MergePlan,
    row: &[Value],
    work: &mut Work,
    cx: &mut Cx<'a>,
) -> Result<(), SqlError> {
    let locator = match &row[plan.locator as usize] {
        Value::Binary(locator) => Some(locator),
        _ => None,
    };
    let when = match (locator, row[plan.present as usize].is_null()) {
        (Some(_), false) => MergeWhen::Matched,
        (Some(_), true) => MergeWhen::NotMatchedBySource,
        (None, _) => MergeWhen::NotMatched,
    };
    for (number, MergeClause { when: asked, condition, action }) in plan.clauses.iter().enumerate()
    {
        if *asked != when {
            continue;
        }
        if let Some(condition) = condition
            && !holds(condition, row, cx)?
        {
            continue;
        }
        cx.hold(row_bytes(row))?;
        let (Some(locator), false) = (locator, matches!(action, MergeAction::Insert(_))) else {
            work.inserts.push((number, row.to_vec()));
            return Ok(());
        };
        if work.touched.insert(locator[..].into(), ()).is_some() {
            return Err(SqlError::new(
                8672,
                16,
                "The MERGE statement attempted to UPDATE or DELETE the same row more than once. \
                 This happens when a target row matches more than one source row. A MERGE statement \
                 cannot UPDATE/DELETE the same row of the target table multiple times. Refine the \
                 ON clause to ensure a target row matches at most one source row, or use the GROUP \
                 BY clause to group the source rows.",
            ));
        }
        cx.table = Some(&plan.table);
        let mut change =
            Change { locator: locator.to_vec(), new: Vec::new(), row: row.to_vec(), moving: None };
        match action {
            MergeAction::Update(set) => {
                change.new.extend(plan.old.iter().map(|slot| row[*slot as usize].clone()));
                assign(set, row, &mut change.new, cx)?;
                cx.hold(row_bytes(&change.new) + 2 * locator.len())?;
                work.updates.push(change);
            }
            _ => work.deletes.push(change),
        }
        return Ok(());
    }
    Ok(())
}
