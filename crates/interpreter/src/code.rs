//! Register bytecode.
//!
//! A frame is a flat array of values: the program's variables first, then constants and temporaries in the order
//! in which the compiler asked for them. [`Code::template`] is a frame ready to run; an instruction names its
//! operands by their places.
//!
//! Invariants: every register is below `template.len()`; every target is at most `ops.len()`; statements' spans are
//! sorted, do not overlap and cover every instruction that can fail.

use crate::atomic::Atomic;
use binder::ir::{self, CompareOp};
use catalog::TableDef;
use planner::ExprPlan;
use std::sync::Arc;
use types::{ArithOp, SqlType, Value};

/// A place in the frame.
pub(crate) type Reg = u32;
/// An index into [`Code::ops`].
pub(crate) type Pc = u32;

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    /// d = s
    Move { d: Reg, s: Reg },
    /// d = a + b, both int or both bigint
    Add { d: Reg, a: Reg, b: Reg },
    /// d = a - b
    Sub { d: Reg, a: Reg, b: Reg },
    /// d = a * b
    Mul { d: Reg, a: Reg, b: Reg },
    /// d = a op b, for the other operators, both int or both bigint
    Arith { op: ArithOp, d: Reg, a: Reg, b: Reg },
    /// d = s as bigint, from a smaller integer
    Widen { d: Reg, s: Reg },
    /// d = expression
    Eval { d: Reg, expr: u32 },
    /// Go on there.
    Jump { to: Pc },
    /// Go back: yields when the quantum is over, stops when cancelled.
    Loop { to: Pc },
    /// Go there unless the comparison of two values of one type is true.
    Unless { compare: CompareOp, a: Reg, b: Reg, to: Pc },
    /// Go there unless the predicate is true.
    UnlessExpr { expr: u32, to: Pc },
    /// The same for a predicate over tables, bound again when the catalog has moved.
    UnlessCondition { condition: u32, to: Pc },
    /// A statement that sets variables is over: @@ROWCOUNT = rows, @@ERROR = 0.
    Done { rows: u8 },
    /// BEGIN TRANSACTION without a name.
    Begin,
    /// COMMIT.
    Commit { delayed: Option<bool> },
    /// Any other statement.
    Statement { index: u32 },
    /// INSERT of rows, followed by COMMIT: both in one log record where that may be, then the COMMIT is skipped.
    InsertCommit { index: u32, delayed: Option<bool> },
    /// RETURN; the status is in a register.
    Return { status: Option<Reg> },
    /// The end of a CATCH block: its error is no longer current.
    EndCatch,
    /// 515 where `d`, a variable declared NOT NULL, is NULL: it is what it was before, which is in `saved`.
    NotNull { d: Reg, saved: Reg },
}

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
    pub target: Pc,
}

/// A compiled batch or procedure. Immutable; what it learns at run time is in [`crate::plan::CodeState`].
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
}

/// EXECUTE AS as a clause of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunsAs {
    /// The owner of its schema.
    Owner,
    /// A user by name; SELF of a module that dbo has defined is `dbo`.
    User(Box<str>),
    /// A login by name, of a trigger of the server.
    Login(Box<str>),
}

impl RunsAs {
    /// Of the options of a module; none for CALLER.
    pub fn of(options: &[String]) -> Option<RunsAs> {
        options.iter().find_map(|option| match option.as_str() {
            "EXECUTE AS OWNER" => Some(RunsAs::Owner),
            "EXECUTE AS SELF" => Some(RunsAs::User("dbo".into())),
            other => {
                let name = other.strip_prefix("EXECUTE AS '")?.strip_suffix('\'')?;
                Some(RunsAs::User(name.into()))
            }
        })
    }
}

impl RunsAs {
    /// The same of a trigger of the server, where names are of logins.
    pub fn of_server(options: &[String]) -> Option<RunsAs> {
        let of = RunsAs::of(options);
        match of {
            Some(RunsAs::User(name)) if !options.iter().any(|o| o == "EXECUTE AS SELF") => {
                Some(RunsAs::Login(name))
            }
            other => other,
        }
    }
}

impl Code {
    /// A program of nothing: the caller of what has no caller.
    pub fn empty() -> Code {
        let program = ir::Program {
            vars: Vec::new(),
            params: Vec::new(),
            tables: Vec::new(),
            cursors: Vec::new(),
            body: Vec::new(),
            labels: Vec::new(),
            text: Arc::from(""),
            result: None,
            catalog_version: 0,
            aliases: false,
            settings: Vec::new(),
            schema: None,
            parent: None,
            atomic: None,
        };
        crate::compile::compile(Arc::new(program), None, 0)
    }

    /// The statement to which an instruction belongs.
    pub fn span(&self, pc: Pc) -> Option<&Span> {
        let i = self.spans.partition_point(|span| span.start <= pc);
        self.spans[..i].last().filter(|span| pc < span.end)
    }

    /// The CATCH block for an error at an instruction.
    pub fn handler(&self, pc: Pc) -> Option<Pc> {
        self.handlers.iter().find(|h| (h.start..h.end).contains(&pc)).map(|h| h.target)
    }
}
