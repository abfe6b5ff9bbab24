//! What runs in another database than the session is in: definitions of tables that name it (`CREATE TABLE other.dbo.t`), and
//! the texts of `other.sys.sp_executesql`.
//!
//! Promises: the session goes there and comes home, so names, rights and triggers are those of that database. As one
//! transaction does not span databases, nothing of this runs in one (40510).

use crate::code::Code;
use crate::plan::CodeState;
use crate::statement::Outcome;
use crate::vm::Vm;
use binder::ddl::Ddl;
use binder::ir::StmtKind;
use executor::{Command, SqlError};
use session_state::Halted;
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
        self.commands().come_home(home)?;
        done
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
                    commands::cannot_drop("table", &binder::ObjectName::from(name).to_string())
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
