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
use ir::*;
use syntax::ast;

use crate::context::{Away, Binder};
use semantics::{BindError, Result};

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
        if !semantics::names::is_private(&name.name) {
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
        if change.inner_change().is_some() {
            return Err(self.refuse("a nested change"));
        }
        if !matches!(
            change,
            StmtKind::Insert(_)
                | StmtKind::Update(_)
                | StmtKind::Delete(_)
                | StmtKind::Merge(_)
                | StmtKind::Select(_)
        ) {
            return Err(self.refuse("this statement"));
        }
        let into = change.output().and_then(|output| output.into.as_ref());
        if into.is_some_and(|(table, _)| !table.is_private()) {
            return Err(self.refuse("OUTPUT INTO a table that is not the session's own"));
        }
        // What an INSERT makes its rows of was brought already, or is a default over there; EXEC runs here.
        let (rel, exprs) = There::parts(change);
        rel.map_or(Ok(()), |rel| self.rel(rel))?;
        exprs.into_iter().try_for_each(|e| self.expr(e))
    }

    fn expr(&mut self, e: &mut Expr) -> Result<()> {
        if let ExprKind::Func { func, args } = &e.kind
            && func.asks_database(args.len())
        {
            if reads_row(e) {
                return Err(self.refuse("a function that asks this database for every row"));
            }
            let brought = VarId(There::BROUGHT + self.away.here.len() as u32);
            let kind = std::mem::replace(&mut e.kind, ExprKind::Var(brought));
            self.away.here.push(Expr::new(kind, e.ty, e.nullable));
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
