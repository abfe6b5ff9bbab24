//! Statements that have no plan: those that run programs, cursors and files of rows here, the others as commands.

use crate::code::Code;
use crate::plan::Called;
use crate::vm::Vm;
use commands::Site;
use ir::StmtKind;
use session_state::Halted;
use types::Value;

impl Code {
    /// Where one of its statements stands.
    pub(crate) fn site(&self, line: u32, guarded: bool) -> Site<'_> {
        let module = self.name.as_ref();
        Site { module, object_id: self.object_id, vars: &self.vars, line, guarded }
    }
}

impl Vm<'_> {
    /// Runs a statement straight from the IR.
    pub fn other(
        &mut self,
        kind: &StmtKind,
        code: &Code,
        line: u32,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), Halted> {
        match kind {
            StmtKind::Cursor(statement) => self.cursor(statement, code, frame),
            StmtKind::Exec(exec) => {
                self.execute(exec, code, frame, guarded, &mut Called::default())
            }
            StmtKind::ExecString { text } => {
                let text = self.commands().value(text, frame)?;
                self.execute_text(text.as_str().unwrap_or(""), guarded)
            }
            StmtKind::BulkInsert(bulk) => self.bulk_insert(bulk, line, frame, guarded),
            other => self.commands().run(other, &code.site(line, guarded), frame),
        }
    }
}
