//! Dynamic data masking: a bound statement as it is for somebody who lacks UNMASK.
//!
//! A value is followed from its column to where it leaves the statement: as a result, into a variable, into a row that is
//! written. There, and nowhere below, a function is put over it; what is compared, joined, grouped or sorted is the real
//! value. A column that arrives as it is has its own function; anything computed from one has `default()` of its type;
//! arms of CASE and sides of UNION have the one that all of those that are masked share.
//!
//! Promise: a statement over tables without a masked column is left as it is. New columns have ids that the statement
//! does not use.
//!
//! Source: SQL Server's documentation, "Dynamic data masking".

use std::collections::HashMap;
use std::sync::Arc;

use catalog::TableDef;
use types::{Mask, SqlType};

use crate::*;

/// The function by which a column of a table is shown, for whoever runs the statement.
pub type Shown<'a> = &'a dyn Fn(&TableDef, usize) -> Option<Arc<Mask>>;

/// Whether a statement reads a table with masked columns.
pub fn reads_masked(kind: &StmtKind) -> bool {
    let mut found = false;
    each_rel(kind, &mut |rel| found = found || rel_reads_masked(rel));
    each_value(kind, &mut |expr| found = found || expr_reads_masked(expr));
    found || matches!(kind.data(), Data::Insert(i) if i.output.is_some() && i.table.is_masked())
}

/// The same of an expression with subqueries.
pub fn expr_reads_masked(expr: &Expr) -> bool {
    expr.any(&mut |e| match &e.kind {
        ExprKind::Subquery { query, .. } => tables_masked(&query.rel),
        _ => false,
    })
}

fn rel_reads_masked(rel: &Rel) -> bool {
    let mut found = tables_masked(rel);
    rel.walk_exprs(&mut |e| found = found || expr_reads_masked(e));
    found
}

fn tables_masked(rel: &Rel) -> bool {
    let mut found = false;
    rel.walk_tables(&mut |table| found = found || table.is_masked());
    found
}

/// The statement with functions over what it gives away.
pub fn mask_statement(kind: &mut StmtKind, shown: Shown<'_>) {
    let mut next = 0;
    let mut note = |id: ColId| next = next.max(id.0 + 1);
    each_rel(kind, &mut |rel| ids_of(rel, &mut note));
    each_value(kind, &mut |expr| ids_in(expr, &mut note));
    let mut masking = Masking { shown, masks: HashMap::new(), next };
    masking.statement(kind);
}

/// The relational trees of a statement itself.
pub fn each_rel(kind: &StmtKind, f: &mut dyn FnMut(&Rel)) {
    match kind.data() {
        Data::Select(select) => f(&select.query.rel),
        Data::Insert(insert) => match &insert.source {
            InsertSource::Query { query, .. } => f(&query.rel),
            InsertSource::Changed(from) => each_rel(&from.change, f),
            InsertSource::Values(_) | InsertSource::Exec { .. } => {}
        },
        Data::Update(update) => f(&update.query.rel),
        Data::Delete(delete) => f(&delete.query.rel),
        Data::Merge(merge) => f(&merge.query.rel),
        Data::Cursor(cursor) => {
            if let Some(definition) = cursor.definition() {
                f(&definition.query.rel);
                definition.again.iter().for_each(|again| f(&again.rel));
            }
        }
        Data::SetVars(_) | Data::Return(_) | Data::None => {}
    }
}

/// The expressions over them, or beside them, whose values leave the statement.
pub fn each_value(kind: &StmtKind, f: &mut dyn FnMut(&Expr)) {
    let mut output = |output: &Option<Output>| {
        output.iter().flat_map(Output::exprs).for_each(&mut *f);
    };
    match kind.data() {
        Data::Select(select) => {
            if let SelectTarget::Vars(sets) = &select.target {
                sets.iter().for_each(|(_, e)| f(e));
            }
        }
        Data::Insert(insert) => {
            output(&insert.output);
            match &insert.source {
                InsertSource::Values(rows) => rows.iter().flatten().for_each(f),
                InsertSource::Query { row, .. } | InsertSource::Exec { row, .. } => {
                    row.iter().for_each(f);
                }
                InsertSource::Changed(from) => {
                    each_value(&from.change, f);
                    from.filter.iter().chain(&from.row).for_each(f);
                }
            }
        }
        Data::Update(update) => {
            output(&update.output);
            update.set.iter().for_each(|set| f(set.value()));
        }
        Data::Delete(delete) => output(&delete.output),
        Data::Merge(merge) => {
            output(&merge.output);
            merge.for_each_expr(&mut |e| f(e));
        }
        Data::SetVars(sets) => sets.iter().for_each(|(_, e)| f(e)),
        Data::Return(e) => f(e),
        // A cursor gives its rows away when it is fetched.
        Data::Cursor(_) | Data::None => {}
    }
}

fn ids_of(rel: &Rel, note: &mut dyn FnMut(ColId)) {
    rel.columns().into_iter().for_each(&mut *note);
    match rel {
        Rel::Get(get) => get.columns.iter().copied().chain(get.locator).for_each(&mut *note),
        Rel::Recursive { iteration, .. } => iteration.iter().copied().for_each(&mut *note),
        _ => {}
    }
    rel.own_exprs(&mut |e| ids_in(e, note));
    rel.inputs().into_iter().for_each(|input| ids_of(input, note));
}

fn ids_in(expr: &Expr, note: &mut dyn FnMut(ColId)) {
    match &expr.kind {
        ExprKind::Col(id) => note(*id),
        ExprKind::Subquery { query, .. } => {
            ids_of(&query.rel, note);
            query.output.iter().for_each(|c| note(c.id));
        }
        _ => {}
    }
    expr.for_each_child(&mut |child| ids_in(child, note));
}

struct Masking<'a> {
    shown: Shown<'a>,
    /// The functions of columns that have one.
    masks: HashMap<ColId, Arc<Mask>>,
    next: u32,
}

impl Masking<'_> {
    fn statement(&mut self, kind: &mut StmtKind) {
        match kind.data_mut() {
            DataMut::Select(select) => match &mut select.target {
                SelectTarget::Vars(sets) => {
                    self.rel(&mut select.query.rel);
                    sets.iter_mut().for_each(|(_, e)| self.value(e));
                }
                SelectTarget::Client | SelectTarget::Into { .. } => self.query(&mut select.query),
            },
            DataMut::Insert(insert) => {
                match &mut insert.source {
                    InsertSource::Values(rows) => {
                        rows.iter_mut().flatten().for_each(|e| self.value(e));
                    }
                    InsertSource::Query { query, row } => {
                        self.rel(&mut query.rel);
                        row.iter_mut().for_each(|e| self.value(e));
                    }
                    InsertSource::Exec { .. } => {}
                    // What it puts out is masked as it would be for a client.
                    InsertSource::Changed(from) => self.statement(&mut from.change),
                }
                self.output(insert.output.as_mut(), &insert.table);
            }
            DataMut::Update(update) => {
                self.rel(&mut update.query.rel);
                self.sets(&mut update.set);
                self.output(update.output.as_mut(), &update.table);
            }
            DataMut::Delete(delete) => {
                self.rel(&mut delete.query.rel);
                self.output(delete.output.as_mut(), &delete.table);
            }
            DataMut::Merge(merge) => {
                self.rel(&mut merge.query.rel);
                for clause in &mut merge.clauses {
                    if let Some(condition) = &mut clause.condition {
                        self.mask(condition);
                    }
                    match &mut clause.action {
                        MergeAction::Update(sets) => self.sets(sets),
                        MergeAction::Insert(row) => row.iter_mut().for_each(|e| self.value(e)),
                        MergeAction::Delete => {}
                    }
                }
                self.output(merge.output.as_mut(), &merge.table);
            }
            DataMut::Cursor(cursor) => {
                if let Some(definition) = cursor.definition_mut() {
                    self.cursor(definition);
                }
            }
            DataMut::SetVars(sets) => sets.iter_mut().for_each(|(_, e)| self.value(e)),
            DataMut::Return(value) => self.value(value),
            DataMut::None => {}
        }
    }

    fn sets(&mut self, sets: &mut [UpdateSet]) {
        for set in sets {
            let (UpdateSet::Column { value, .. }
            | UpdateSet::Var { value, .. }
            | UpdateSet::Both { value, .. }) = set;
            self.value(value);
        }
    }

    fn output(&mut self, output: Option<&mut Output>, table: &TableDef) {
        let Some(output) = output else { return };
        for ids in [&output.inserted, &output.deleted] {
            for (ordinal, id) in ids.iter().enumerate() {
                self.note(*id, (self.shown)(table, ordinal));
            }
        }
        let exprs = output.columns.iter_mut().chain(&mut output.also);
        exprs.for_each(|(_, e)| self.value(e));
    }

    /// What is shown of a cursor's rows; by the columns behind that its place is found.
    fn cursor(&mut self, definition: &mut CursorDef) {
        let visible = definition.visible;
        self.top(&mut definition.query, visible);
        if let Some(again) = &mut definition.again {
            self.top(again, visible);
        }
    }

    fn query(&mut self, query: &mut Query) {
        let all = query.output.len();
        self.top(query, all);
    }

    /// The first `visible` columns of a query that gives its rows away.
    fn top(&mut self, query: &mut Query, visible: usize) {
        self.rel(&mut query.rel);
        // The values in such a text are masked already.
        if let Rel::Serialize { out, .. } = &query.rel {
            self.masks.remove(out);
        }
        let masked = |c: &OutputColumn| self.masks.contains_key(&c.id);
        if !query.output[..visible].iter().any(masked) {
            return;
        }
        let mut exprs = Vec::with_capacity(query.output.len());
        for (at, column) in query.output.iter_mut().enumerate() {
            let mut value = Expr::col(column.id, column.ty, column.nullable);
            if at < visible {
                self.value(&mut value);
            }
            column.id = self.new_col();
            exprs.push((column.id, value));
        }
        let input = Box::new(std::mem::replace(&mut query.rel, Rel::OneRow));
        query.rel = Rel::Project { input, exprs };
    }

    fn new_col(&mut self) -> ColId {
        self.next += 1;
        ColId(self.next - 1)
    }

    fn note(&mut self, id: ColId, mask: Option<Arc<Mask>>) {
        if let Some(mask) = mask {
            self.masks.insert(id, mask);
        }
    }

    /// Puts its function over a value that leaves the statement.
    fn value(&mut self, expr: &mut Expr) {
        let Some(mask) = self.mask(expr) else { return };
        let (ty, nullable) = (expr.ty, expr.nullable);
        let input = std::mem::replace(expr, Expr::constant(types::Value::Null, ty));
        let mut args = vec![input];
        for value in &mask.args {
            let ty = match value {
                types::Value::Int(_) => SqlType::Int,
                types::Value::Str(_) => SqlType::NVarChar(types::Len::Max),
                _ => ty,
            };
            args.push(Expr::constant(value.clone(), ty));
        }
        let func = FuncId::Mask(mask.function);
        *expr = Expr::new(ExprKind::Func { func, args }, ty, nullable);
    }

    /// The function of a value; subqueries in it are gone through.
    fn mask(&mut self, expr: &mut Expr) -> Option<Arc<Mask>> {
        let ty = expr.ty;
        match &mut expr.kind {
            ExprKind::Col(id) => self.masks.get(id).cloned(),
            ExprKind::Cast { input, .. } => {
                let same = input.ty == ty;
                let mask = self.mask(input)?;
                Some(if same { mask } else { default_mask() })
            }
            ExprKind::Case { branches, otherwise } => {
                let mut arms = Vec::new();
                for (condition, result) in branches {
                    self.mask(condition);
                    arms.extend(self.mask(result));
                }
                arms.extend(otherwise.as_mut().and_then(|e| self.mask(e)));
                shared(arms)
            }
            ExprKind::Subquery { kind, query } => {
                self.rel(&mut query.rel);
                match kind {
                    SubqueryKind::Scalar => {
                        let first = query.output.first()?;
                        self.masks.get(&first.id).cloned()
                    }
                    SubqueryKind::Exists => None,
                    SubqueryKind::In { needle } | SubqueryKind::Quantified { needle, .. } => {
                        self.mask(needle);
                        None
                    }
                }
            }
            ExprKind::Compare { .. }
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Not(_)
            | ExprKind::IsNull { .. }
            | ExprKind::Like { .. }
            | ExprKind::In { .. } => {
                expr.for_each_child_mut(&mut |child| {
                    self.mask(child);
                });
                None
            }
            _ => {
                let mut any = false;
                expr.for_each_child_mut(&mut |child| any |= self.mask(child).is_some());
                any.then(default_mask)
            }
        }
    }

    /// Follows columns through a tree, subqueries in its expressions included.
    fn rel(&mut self, rel: &mut Rel) {
        if let Rel::Recursive {
            anchor,
            anchor_columns,
            step,
            step_columns,
            iteration,
            columns,
            ..
        } = rel
        {
            self.rel(anchor);
            // What a step computes from what it found comes round: once more for what that masks.
            for _ in 0..2 {
                for i in 0..columns.len() {
                    let arms = [anchor_columns[i], step_columns[i]];
                    let mask = self.shared_by(&arms);
                    self.note(iteration[i], mask.clone());
                    self.note(columns[i], mask);
                }
                self.rel(step);
            }
            for i in 0..columns.len() {
                let mask = self.shared_by(&[anchor_columns[i], step_columns[i]]);
                self.note(columns[i], mask);
            }
            return;
        }
        for input in rel.inputs_mut() {
            self.rel(input);
        }
        match rel {
            Rel::Get(get) => {
                if get.table.is_masked() {
                    for (ordinal, id) in get.columns.iter().enumerate() {
                        self.note(*id, (self.shown)(&get.table, ordinal));
                    }
                }
            }
            Rel::Project { exprs, .. } => {
                for (id, e) in exprs {
                    let mask = self.mask(e);
                    self.note(*id, mask);
                }
            }
            Rel::Aggregate { group, aggs, .. } => {
                for (id, e) in group {
                    let mask = self.mask(e);
                    self.note(*id, mask);
                }
                for agg in aggs {
                    let mut any = false;
                    agg.for_each_arg_mut(&mut |e| any |= self.mask(e).is_some());
                    self.note(agg.out, any.then(default_mask));
                }
            }
            Rel::Window { windows, .. } => {
                for window in windows {
                    let mut any = false;
                    window.func.for_each_arg_mut(&mut |e| any |= self.mask(e).is_some());
                    self.note(window.out, any.then(default_mask));
                }
            }
            Rel::Values { rows, columns } => {
                let mut arms: Vec<Vec<Arc<Mask>>> = vec![Vec::new(); columns.len()];
                for row in rows {
                    for (e, arms) in row.iter_mut().zip(&mut arms) {
                        arms.extend(self.mask(e));
                    }
                }
                for (id, arms) in columns.iter().zip(arms) {
                    self.note(*id, shared(arms));
                }
            }
            Rel::SetOp { left_columns, right_columns, columns, .. } => {
                for (i, id) in columns.iter().enumerate() {
                    let mask = self.shared_by(&[left_columns[i], right_columns[i]]);
                    self.note(*id, mask);
                }
            }
            Rel::System { args, columns, .. } => {
                let columns = columns.clone();
                self.of_arguments(args, &columns);
            }
            Rel::Function { args, columns, .. } => {
                let columns: Vec<ColId> = columns.iter().map(|(id, _)| *id).collect();
                self.of_arguments(args, &columns);
            }
            Rel::Serialize { input, columns, out, spec } => {
                if columns.iter().any(|id| self.masks.contains_key(id)) {
                    let types: Vec<SqlType> = spec.columns.iter().map(|c| c.ty).collect();
                    let mut exprs = Vec::with_capacity(columns.len());
                    for (id, ty) in columns.iter_mut().zip(types) {
                        let mut value = Expr::col(*id, ty, true);
                        self.value(&mut value);
                        *id = self.new_col();
                        exprs.push((*id, value));
                    }
                    let below = Box::new(std::mem::replace(&mut **input, Rel::OneRow));
                    **input = Rel::Project { input: below, exprs };
                    self.note(*out, Some(default_mask()));
                }
            }
            _ => rel.own_exprs_mut(&mut |e| {
                self.mask(e);
            }),
        }
    }

    /// What a function makes of a masked argument is masked, all of it.
    fn of_arguments(&mut self, args: &mut [Expr], columns: &[ColId]) {
        let mut any = false;
        args.iter_mut().for_each(|e| any |= self.mask(e).is_some());
        if any {
            columns.iter().for_each(|id| self.note(*id, Some(default_mask())));
        }
    }

    fn shared_by(&self, ids: &[ColId]) -> Option<Arc<Mask>> {
        shared(ids.iter().filter_map(|id| self.masks.get(id).cloned()).collect())
    }
}

fn default_mask() -> Arc<Mask> {
    Arc::new(Mask::default_mask())
}

/// The function of what has several sources, of which these are masked.
fn shared(arms: Vec<Arc<Mask>>) -> Option<Arc<Mask>> {
    let first = arms.first()?;
    Some(if arms.iter().all(|arm| arm == first) { first.clone() } else { default_mask() })
}
