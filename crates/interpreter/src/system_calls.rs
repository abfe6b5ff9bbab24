//! Calls of built-in procedures: those that run programs here, the others as commands.

use crate::code::Code;
use crate::cursor::is_of_cursors;
use crate::vm::Vm;
use commands::Argument;
use ir::ObjectName;
use session_state::Halted;
use types::Value;

/// Whether a built-in procedure may have that name.
#[inline]
pub(crate) fn may_be_system(name: &ObjectName) -> bool {
    let begins = |with| name.name.get(..3).is_some_and(|p| p.eq_ignore_ascii_case(with));
    begins("sp_") || begins("xp_")
}

impl Vm<'_> {
    /// Runs a built-in procedure of that name; None when there is none.
    pub fn system_procedure(
        &mut self,
        name: &ObjectName,
        args: &[Argument],
        code: &Code,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<Option<i32>, Halted> {
        // Most calls are of users' procedures.
        if !may_be_system(name) {
            return Ok(None);
        }
        let lower = name.name.to_ascii_lowercase();
        if let Some(command) = self.state.command.take() {
            return self.procedure_with_events(&lower, args, &command, guarded, |vm| {
                vm.system_procedure(name, args, code, frame, guarded)
            });
        }
        match lower.as_str() {
            "sp_executesql" => {
                let mut run = |vm: &mut Self| vm.execute_sql(args, code, frame, guarded);
                return match &name.database {
                    Some(database) => self.in_database(database, run),
                    None => run(self),
                }
                .map(Some);
            }
            "sp_prepare" | "sp_execute" | "sp_prepexec" | "sp_unprepare" => {
                return self.prepared_call(&lower, args, code, frame, guarded).map(Some);
            }
            cursor if is_of_cursors(cursor) => {
                return self.cursor_call(cursor, args, code, frame, guarded).map(Some);
            }
            "sp_describe_first_result_set" => self.describe_first_result(args)?,
            "sp_describe_undeclared_parameters" => self.describe_parameters(args)?,
            "sp_describe_parameter_encryption" => self.describe_encryption(args)?,
            _ => {
                let site = code.site(0, guarded);
                return self.commands().system_procedure(name, args, &site, frame);
            }
        }
        Ok(Some(0))
    }
}
