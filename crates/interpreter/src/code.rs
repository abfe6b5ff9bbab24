//! Register bytecode.
//!
//! A frame is a flat array of values: the program's variables first, then constants and temporaries in the order
//! in which the compiler asked for them. [`Code::template`] is a frame ready to run; an instruction names its
//! operands by their places.
//!
//! Invariants: every register is below `template.len()`; every target is at most `ops.len()`; statements' spans are
//! sorted, do not overlap and cover every instruction that can fail.

use crate::block::Atomic;
use crate::compiled::MachineCode;
use crate::op::{Op, Pc, Reg};
use catalog::TableDef;
use commands::RunsAs;
use executor::SqlError;
use planner::ExprPlan;
use std::sync::Arc;
use types::{SqlType, Value};

/// The instructions of one statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub start: Pc,
    pub end: Pc,
    /// Where to go on when it fails.
    pub resume: Pc,
    pub line: u32,
}

/// A TRY block and its CATCH.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Handler {
    pub start: Pc,
    pub end: Pc,
    /// Where the CATCH begins, and where it ends.
    pub target: Pc,
    pub catch_end: Pc,
    /// CATCH blocks of the same code that stand around it.
    pub depth: usize,
}

/// A compiled batch or procedure. Immutable; what it learns at run time is in [`crate::plan::CodeState`].
#[derive(Default)]
pub(crate) struct Code {
    pub ops: Vec<Op>,
    pub template: Vec<Value>,
    /// Innermost first.
    pub handlers: Vec<Handler>,
    pub spans: Vec<Span>,
    pub exprs: Vec<ExprPlan>,
    pub statements: Vec<ir::Stmt>,
    pub conditions: Vec<ir::Condition>,
    /// Values of RETURN that read tables.
    pub returns: Vec<ir::Expr>,
    /// Types of the variables.
    pub vars: Vec<SqlType>,
    /// Types of all registers, the variables first; absent where a register holds values of several.
    pub types: Vec<Option<SqlType>>,
    pub params: Vec<ir::ProcParam>,
    /// Definitions of its table variables.
    pub tables: Vec<Arc<TableDef>>,
    /// To bind statements again.
    pub program: Arc<ir::Program>,
    /// The procedure's name, for messages and ERROR_PROCEDURE().
    pub name: Option<String>,
    /// @@PROCID.
    pub object_id: i32,
    /// Whom it runs as, if not as its caller.
    pub runs_as: Option<RunsAs>,
    /// Of a parameterised text: the declarations of its parameters.
    pub declarations: Option<Box<str>>,
    /// USE is among the statements.
    pub changes_database: bool,
    /// Of a natively compiled module: how its block runs.
    pub atomic: Option<Box<Atomic>>,
    /// And its machine code, once it has been called.
    pub machine_code: MachineCode,
}

impl Code {
    /// The statement to which an instruction belongs.
    pub fn span(&self, pc: Pc) -> Option<&Span> {
        let i = self.spans.partition_point(|span| span.start <= pc);
        self.spans[..i].last().filter(|span| pc < span.end)
    }

    /// The CATCH block for an error at an instruction.
    pub fn handler(&self, pc: Pc) -> Option<&Handler> {
        self.handlers.iter().find(|h| (h.start..h.end).contains(&pc))
    }

    /// CATCH blocks that an error at an instruction leaves on its way to its handler.
    pub fn catches_left(&self, pc: Pc, handler: &Handler) -> usize {
        let around = self.handlers.iter().filter(|h| (h.target..h.catch_end).contains(&pc)).count();
        around.saturating_sub(handler.depth)
    }

    /// A variable that may not be NULL is: it becomes what it was before. 515.
    #[cold]
    pub fn refuse_null(&self, frame: &mut [Value], d: Reg, saved: Reg) -> SqlError {
        frame[d as usize] = frame[saved as usize].clone();
        self.null_in(d as usize, "SET")
    }

    /// 515 for a variable or parameter in place of a column, its module in place of a table.
    #[cold]
    pub fn null_in(&self, var: usize, verb: &str) -> SqlError {
        let module = self.name.as_deref().unwrap_or("");
        dml::null_error(&self.program.vars[var].name, module, verb)
    }
}
