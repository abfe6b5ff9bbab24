//! Changes of rows in another database: `INSERT other.dbo.t SELECT ...`.
//!
//! Such a statement is bound where it stands, and runs where its target is: triggers, constraints, defaults and computed
//! columns are the target's. So what it reads here is named with this database, and what asks about this database
//! (DB_NAME(), a function of the user's ...) is evaluated here, before: its value goes along as a variable.
//!
//! Promise: nothing means an object of the other database that was meant for one of this, or the other way round. What
//! cannot be told apart so is refused by name.

use std::sync::Arc;

use catalog::same_name;
use syntax::ast;

use crate::context::{Away, Binder};
use crate::error::{BindError, Result};
use crate::ir::*;
use crate::names::ObjectName;

/// Variables from this number on are the values that go along.
const BROUGHT: u32 = 1 << 30;

impl Binder<'_> {
    /// The statement changes a table of that database, if of another one.
    pub fn goes_to(&mut self, database: Option<Arc<str>>) {
        if let Some(database) = database {
            self.away = Some(Away { database, here: Vec::new() });
        }
    }

    /// The database that a name names, when it is not the current one and the table is no session's own.
    pub fn other_database(&self, name: &ast::ObjectName) -> Option<Arc<str>> {
        let wanted = self.meant(name);
        let database: Arc<str> = self.elsewhere(&wanted)?.into();
        self.table(&wanted).filter(|table| !table.is_private()).map(|_| database)
    }

    /// Something that is asked of the target's database, not of this one.
    pub fn at_target<R>(&mut self, ask: impl FnOnce(&mut Self) -> R) -> R {
        let Some(away) = &self.away else { return ask(self) };
        let names = self.names;
        names.ask_in(Some(&away.database.clone()));
        let answer = ask(self);
        names.ask_in(None);
        answer
    }

    /// An expression of the statement's own, as it is to be evaluated over there.
    pub fn bring(&mut self, e: &mut Expr) -> Result<()> {
        let Some(mut away) = self.away.take() else { return Ok(()) };
        let done =
            Bringing { here: &self.names.database(), away: &mut away, line: self.line }.expr(e);
        self.away = Some(away);
        done
    }

    /// A bound statement, as it is to run: over there, where its target is.
    pub fn there(&mut self, mut change: StmtKind) -> Result<StmtKind> {
        let Some(mut away) = self.away.take() else { return Ok(change) };
        let here = self.names.database();
        let mut bringing = Bringing { here: &here, away: &mut away, line: self.line };
        bringing.change(&mut change)?;
        let Away { database, here } = away;
        Ok(StmtKind::There(Box::new(There { database, here, change })))
    }

    /// A statement that makes a table in another database: SELECT INTO.
    pub fn makes_in(&mut self, name: &ObjectName) {
        if !crate::define::is_private(&name.name) {
            let database = self.elsewhere(name).map(Arc::from);
            self.goes_to(database);
        }
    }

    /// What a DEFAULT of the other database may not be: bound here, it would mean an object of this one.
    pub fn check_defaults(&self, row: &[Expr]) -> Result<()> {
        if self.away.is_none() {
            return Ok(());
        }
        let mut asks = |e: &Expr| {
            matches!(e.kind, ExprKind::Func { func: FuncId::User(_) | FuncId::NextValue(_), .. })
        };
        match row.iter().any(|e| e.any(&mut asks)) {
            true => {
                let what = "a default that calls a function or a sequence of another database";
                Err(BindError::unsupported(what, self.line))
            }
            false => Ok(()),
        }
    }
}

/// Makes what is bound here mean the same over there.
struct Bringing<'b> {
    here: &'b str,
    away: &'b mut Away,
    line: u32,
}

impl Bringing<'_> {
    fn refuse(&self, what: &str) -> BindError {
        let database = &self.away.database;
        BindError::unsupported(
            format!("{what} in a change of another database ({database})"),
            self.line,
        )
    }

    fn change(&mut self, change: &mut StmtKind) -> Result<()> {
        match change {
            StmtKind::Insert(insert) => {
                match &mut insert.source {
                    // Its rows are made of what was brought already, and of defaults over there.
                    InsertSource::Values(_) => {}
                    InsertSource::Query { query, .. } => self.rel(&mut query.rel)?,
                    // It runs here.
                    InsertSource::Exec { .. } => {}
                    InsertSource::Changed(_) => return Err(self.refuse("a nested change")),
                }
                insert.tracking_context.iter_mut().try_for_each(|e| self.expr(e))?;
                self.output(insert.output.as_mut())
            }
            StmtKind::Update(update) => {
                self.rel(&mut update.query.rel)?;
                self.set(&mut update.set)?;
                update.tracking_context.iter_mut().try_for_each(|e| self.expr(e))?;
                self.output(update.output.as_mut())
            }
            StmtKind::Delete(delete) => {
                self.rel(&mut delete.query.rel)?;
                delete.tracking_context.iter_mut().try_for_each(|e| self.expr(e))?;
                self.output(delete.output.as_mut())
            }
            StmtKind::Merge(merge) => {
                self.rel(&mut merge.query.rel)?;
                merge.top.iter_mut().try_for_each(|e| self.expr(e))?;
                for clause in &mut merge.clauses {
                    clause.condition.iter_mut().try_for_each(|e| self.expr(e))?;
                    match &mut clause.action {
                        MergeAction::Update(set) => self.set(set)?,
                        MergeAction::Insert(row) => {
                            row.iter_mut().try_for_each(|e| self.expr(e))?
                        }
                        MergeAction::Delete => {}
                    }
                }
                merge.tracking_context.iter_mut().try_for_each(|e| self.expr(e))?;
                self.output(merge.output.as_mut())
            }
            StmtKind::Select(select) => self.rel(&mut select.query.rel),
            _ => Err(self.refuse("this statement")),
        }
    }

    fn set(&mut self, set: &mut [UpdateSet]) -> Result<()> {
        set.iter_mut().try_for_each(|set| match set {
            UpdateSet::Column { value, .. }
            | UpdateSet::Var { value, .. }
            | UpdateSet::Both { value, .. } => self.expr(value),
        })
    }

    fn output(&mut self, output: Option<&mut Output>) -> Result<()> {
        let Some(output) = output else { return Ok(()) };
        if output.into.as_ref().is_some_and(|(table, _)| !table.is_private()) {
            return Err(self.refuse("OUTPUT INTO a table that is not the session's own"));
        }
        let exprs = output.columns.iter_mut().chain(&mut output.also);
        exprs.map(|(_, e)| e).try_for_each(|e| self.expr(e))
    }

    fn expr(&mut self, e: &mut Expr) -> Result<()> {
        if let ExprKind::Func { func, args } = &e.kind
            && func.asks_database(args.len())
        {
            if reads_row(e) {
                return Err(self.refuse("a function that asks this database for every row"));
            }
            let brought = VarId(BROUGHT + self.away.here.len() as u32);
            let kind = std::mem::replace(&mut e.kind, ExprKind::Var(brought));
            self.away.here.push(Expr { kind, ty: e.ty, nullable: e.nullable });
            return Ok(());
        }
        if let ExprKind::Subquery { query, .. } = &mut e.kind {
            self.rel(&mut query.rel)?;
        }
        let mut done = Ok(());
        e.for_each_child_mut(&mut |child| {
            if done.is_ok() {
                done = self.expr(child);
            }
        });
        done
    }

    fn rel(&mut self, rel: &mut Rel) -> Result<()> {
        match rel {
            Rel::Get(get) if !get.table.is_private() => {
                get.database = match get.database.take() {
                    None => Some(self.here.into()),
                    Some(named) if same_name(&named, &self.away.database) => None,
                    named => named,
                };
            }
            Rel::System { view, .. } => {
                if view.function.is_some() {
                    return Err(self.refuse("a table-valued function of this database"));
                }
                let database = match &view.database {
                    None => Some(self.here.to_owned()),
                    Some(named) if same_name(named, &self.away.database) => None,
                    named => named.clone(),
                };
                *view = Arc::new(SystemView { database, ..(**view).clone() });
            }
            _ => {}
        }
        let mut done = Ok(());
        rel.own_exprs_mut(&mut |e| {
            if done.is_ok() {
                done = self.expr(e);
            }
        });
        done?;
        rel.inputs_mut().into_iter().try_for_each(|input| self.rel(input))
    }
}

fn reads_row(e: &Expr) -> bool {
    e.any(&mut |e| {
        matches!(
            e.kind,
            ExprKind::Col(_)
                | ExprKind::Slot(_)
                | ExprKind::Param(_)
                | ExprKind::Subquery { .. }
                | ExprKind::SubPlan { .. }
                | ExprKind::Total
        )
    })
}

impl There {
    /// Puts the values that go along into the variables from `first` on.
    pub fn place(&mut self, first: u32) {
        fn expr(e: &mut Expr, first: u32) {
            if let ExprKind::Var(var) = &mut e.kind
                && var.0 >= BROUGHT
            {
                var.0 = var.0 - BROUGHT + first;
            }
            if let ExprKind::Subquery { query, .. } = &mut e.kind {
                query.rel.walk_exprs_mut(&mut |e| expr(e, first));
            }
            e.for_each_child_mut(&mut |child| expr(child, first));
        }
        let each = &mut |e: &mut Expr| expr(e, first);
        let set = |set: &mut [UpdateSet], each: &mut dyn FnMut(&mut Expr)| {
            for set in set {
                match set {
                    UpdateSet::Column { value, .. }
                    | UpdateSet::Var { value, .. }
                    | UpdateSet::Both { value, .. } => each(value),
                }
            }
        };
        let output = |output: &mut Option<Output>, each: &mut dyn FnMut(&mut Expr)| {
            if let Some(output) = output {
                let exprs = output.columns.iter_mut().chain(&mut output.also);
                exprs.for_each(|(_, e)| each(e));
            }
        };
        match &mut self.change {
            StmtKind::Insert(insert) => {
                match &mut insert.source {
                    InsertSource::Values(rows) => rows.iter_mut().flatten().for_each(&mut *each),
                    InsertSource::Query { query, row } => {
                        query.rel.walk_exprs_mut(each);
                        row.iter_mut().for_each(&mut *each);
                    }
                    InsertSource::Exec { .. } | InsertSource::Changed(_) => {}
                }
                insert.tracking_context.iter_mut().for_each(|e| each(e));
                output(&mut insert.output, each);
            }
            StmtKind::Update(update) => {
                update.query.rel.walk_exprs_mut(each);
                set(&mut update.set, each);
                update.tracking_context.iter_mut().for_each(|e| each(e));
                output(&mut update.output, each);
            }
            StmtKind::Delete(delete) => {
                delete.query.rel.walk_exprs_mut(each);
                delete.tracking_context.iter_mut().for_each(|e| each(e));
                output(&mut delete.output, each);
            }
            StmtKind::Merge(merge) => {
                merge.query.rel.walk_exprs_mut(each);
                merge.top.iter_mut().for_each(&mut *each);
                for clause in &mut merge.clauses {
                    clause.condition.iter_mut().for_each(&mut *each);
                    match &mut clause.action {
                        MergeAction::Update(changes) => set(changes, each),
                        MergeAction::Insert(row) => row.iter_mut().for_each(&mut *each),
                        MergeAction::Delete => {}
                    }
                }
                merge.tracking_context.iter_mut().for_each(|e| each(e));
                output(&mut merge.output, each);
            }
            StmtKind::Select(select) => select.query.rel.walk_exprs_mut(each),
            _ => {}
        }
    }

    /// The table that is changed; none of SELECT INTO.
    pub fn target(&self) -> Option<&Arc<catalog::TableDef>> {
        match &self.change {
            StmtKind::Insert(insert) => Some(&insert.table),
            StmtKind::Update(update) => Some(&update.table),
            StmtKind::Delete(delete) => Some(&delete.table),
            StmtKind::Merge(merge) => Some(&merge.table),
            _ => None,
        }
    }
}
