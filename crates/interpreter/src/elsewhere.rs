//! What runs in another database than the session is in: definitions of tables that name it (`CREATE TABLE other.dbo.t`),
//! changes of rows there (`INSERT other.dbo.t ...`), and the texts of `other.sys.sp_executesql`.
//!
//! Promises: the session goes there and comes home, so names, rights and triggers are those of that database; an open
//! transaction goes along (`session_state`'s branches). What a change reads of the database where it stands, and what it
//! asks of it, is of there (`ir::There`).

use crate::code::Code;
use crate::plan::{Body, CodeState, Planned, ThereBody};
use crate::statement::Outcome;
use crate::vm::Vm;
use executor::{Command, SqlError};
use ir::ddl::Ddl;
use ir::{StmtKind, There};
use planner::InsertSource;
use session_state::{Halted, NamesVersion};
use syntax::ast::ObjectName;
use types::Value;

impl Vm<'_> {
    /// Does something in the database of that name: 911.
    pub(crate) fn in_database<R>(
        &mut self,
        database: &str,
        run: impl FnOnce(&mut Self) -> Result<R, Halted>,
    ) -> Result<R, Halted> {
        let home = self.commands().enter_database(database)?;
        let done = run(self);
        self.commands().come_home(home);
        done
    }

    /// Runs a change of rows in another database.
    #[cold]
    pub(crate) fn change_there(
        &mut self,
        there: &mut ThereBody,
        code: &Code,
        index: usize,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<Outcome, Halted> {
        let mut wide = frame.to_vec();
        for plan in &there.here {
            wide.push(self.evaluate(plan, frame)?);
        }
        if let StmtKind::Insert(insert) = &there.bound.change
            && let ir::InsertSource::Exec { exec, columns, .. } = &insert.source
        {
            let (exec, columns, table) = (exec.clone(), columns.clone(), insert.table.clone());
            return self.in_one_statement(|vm| {
                let to = (&*table, &*columns);
                let rows = vm.rows_of_exec(&exec, to, code, frame, guarded)?;
                vm.planned_there(there, code, index, &mut wide, guarded, Some(rows))
            });
        }
        let outcome = self.planned_there(there, code, index, &mut wide, guarded, None);
        // UPDATE may have set variables.
        frame.clone_from_slice(&wide[..frame.len()]);
        outcome
    }

    fn planned_there(
        &mut self,
        there: &mut ThereBody,
        code: &Code,
        index: usize,
        frame: &mut [Value],
        guarded: bool,
        rows: Option<runtime::task::Many<Vec<Value>>>,
    ) -> Result<Outcome, Halted> {
        let ThereBody { bound, planned: kept, .. } = there;
        self.in_database(&bound.database, |vm| {
            let version = vm.names_version();
            let engine = &vm.state.database.engine;
            let current = kept.take_if(|planned| {
                planned.version == version && !planned.watch.is_outdated(engine)
            });
            let mut planned = match current {
                Some(planned) => planned,
                None => vm.plan_there(bound, version, code, frame)?,
            };
            let done = match (rows, &mut planned.body) {
                (Some(rows), Body::Insert(insert, kept)) => match &insert.source {
                    InsertSource::Exec { row, .. } => {
                        vm.insert_gathered(insert, row, &rows, &mut kept.hint, frame, guarded)
                    }
                    _ => stdx::fatal!("rows for an INSERT that has its own"),
                },
                _ => vm.run_planned(&mut planned, code, index, frame, guarded),
            };
            *kept = (!planned.watch.once).then_some(planned);
            done
        })
    }

    /// Plans a change where it runs. An error that asks for a new binding when its table has changed since.
    fn plan_there(
        &mut self,
        bound: &There,
        version: NamesVersion,
        code: &Code,
        frame: &[Value],
    ) -> Result<Box<Planned>, SqlError> {
        if let Some(table) = bound.target() {
            let known =
                self.state.database.catalog.table_by_id(self.state.definitions(), table.object_id);
            if !known.is_some_and(|known| std::sync::Arc::ptr_eq(&known, table)) {
                let name = format!("{}.{}.{}", bound.database, table.schema, table.name);
                let mut error = SqlError::new(208, 16, format!("Invalid object name '{name}'."));
                error.stale = true;
                return Err(error);
            }
        }
        // Modules here own nothing there.
        self.plan_bound(&bound.change, 0, (version, None), code, frame)
    }

    /// Runs statement `index`, which defines in another database: 2702, 3701.
    #[cold]
    pub(crate) fn definition_elsewhere(
        &mut self,
        database: &str,
        code: &Code,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), Halted> {
        if self.host.enter_database(database).is_none() && self.host.why_closed(database).is_none()
        {
            if let StmtKind::Ddl(ddl) = &code.statements[index].kind
                && let Ddl::Drop(drop) = &**ddl
            {
                let gone = |name: &ObjectName| {
                    commands::cannot_drop("table", &ir::ObjectName::from(name).to_string())
                };
                if let Some(name) = drop.names.first().filter(|_| !drop.if_exists) {
                    return Err(gone(name).into());
                }
                self.settle(Outcome::Nothing(Command::Other));
                return Ok(());
            }
            let text = format!("Database '{database}' does not exist.");
            return Err(SqlError::new(2702, 16, text).with_state(2).into());
        }
        self.in_database(database, |vm| vm.statement(code, learnt, index, frame, guarded))
    }
}
