//! Register bytecode.
//!
//! A frame is a flat array of values: the program's variables first, then constants and temporaries in the order
//! in which the compiler asked for them. [`Code::template`] is a frame ready to run; an instruction names its
//! operands by their places.
//!
//! Invariants: every register is below `template.len()`; every target is at most `ops.len()`; statements' spans are
//! sorted, do not overlap and cover every instruction that can fail.

use crate::atomic::Atomic;
use crate::machine_code::MachineCode;
use crate::scalar::When;
use binder::ir;
use catalog::TableDef;
use commands::RunsAs;
use planner::ExprPlan;
use std::sync::Arc;
use types::{SqlType, Value};

/// A place in the frame.
pub(crate) type Reg = u32;
/// An index into [`Code::ops`].
pub(crate) type Pc = u32;

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    /// d = s
    Move {
        d: Reg,
        s: Reg,
    },
    /// d = NULL
    Null {
        d: Reg,
    },
    /// d = a op b: see [`crate::scalar`].
    AddInt {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    SubInt {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    MulInt {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    DivInt {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    ModInt {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    AndInt {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    OrInt {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    XorInt {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// The same with a constant; of division neither 0 nor -1.
    AddIntBy {
        d: Reg,
        a: Reg,
        c: i32,
    },
    MulIntBy {
        d: Reg,
        a: Reg,
        c: i32,
    },
    DivIntBy {
        d: Reg,
        a: Reg,
        c: i32,
    },
    ModIntBy {
        d: Reg,
        a: Reg,
        c: i32,
    },
    AddBig {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    SubBig {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    MulBig {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    DivBig {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    ModBig {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    AndBig {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    OrBig {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    XorBig {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    AddFloat {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    SubFloat {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    MulFloat {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    DivFloat {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// d = s as that type, from any integer.
    ToBit {
        d: Reg,
        s: Reg,
    },
    ToInt {
        d: Reg,
        s: Reg,
    },
    ToBig {
        d: Reg,
        s: Reg,
    },
    ToFloat {
        d: Reg,
        s: Reg,
    },
    /// d = expression
    Eval {
        d: Reg,
        expr: u32,
    },
    /// Go on there.
    Jump {
        to: Pc,
    },
    /// Go back: yields when the quantum is over, stops when cancelled.
    Loop {
        to: Pc,
    },
    /// Go there unless the comparison of two integers of at most int is true.
    UnlessInt {
        when: When,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    /// The same with a constant.
    UnlessIntIs {
        when: When,
        a: Reg,
        c: i32,
        to: Pc,
    },
    /// Of two integers.
    UnlessBig {
        when: When,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    /// Of numbers as floats.
    UnlessFloat {
        when: When,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    /// Of two values of one type.
    UnlessValue {
        when: When,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    /// Go there if the comparison is true.
    IfInt {
        when: When,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    IfIntIs {
        when: When,
        a: Reg,
        c: i32,
        to: Pc,
    },
    IfBig {
        when: When,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    IfFloat {
        when: When,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    IfValue {
        when: When,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    /// Go there if `s` is NULL.
    IfNull {
        s: Reg,
        to: Pc,
    },
    /// Go there unless it is.
    UnlessNull {
        s: Reg,
        to: Pc,
    },
    /// Go there unless the predicate is true. One that may ask for @@ROWCOUNT or @@ERROR sets both, as its statement does.
    UnlessExpr {
        expr: u32,
        to: Pc,
        resets: bool,
    },
    /// Go there if it is.
    IfExpr {
        expr: u32,
        to: Pc,
    },
    /// The same for a predicate over tables, bound again when the catalog has moved.
    UnlessCondition {
        condition: u32,
        to: Pc,
    },
    /// @@ROWCOUNT = rows, @@ERROR = 0: a statement that sets variables is over, or a condition is asked.
    Done {
        rows: u8,
    },
    /// BEGIN TRANSACTION without a name.
    Begin,
    /// COMMIT.
    Commit {
        delayed: Option<bool>,
    },
    /// Any other statement.
    Statement {
        index: u32,
    },
    /// INSERT of rows, followed by COMMIT: both in one log record where that may be, then the COMMIT is skipped.
    InsertCommit {
        index: u32,
        delayed: Option<bool>,
    },
    /// RETURN; the status is in a register.
    Return {
        status: Option<Reg>,
    },
    /// The end of a CATCH block: its error is no longer current.
    EndCatch,
    /// 515 where `d`, a variable declared NOT NULL, is NULL: it is what it was before, which is in `saved`.
    NotNull {
        d: Reg,
        saved: Reg,
    },
}

impl Op {
    /// Whether it is one of [`crate::scalar`].
    pub fn is_scalar(self) -> bool {
        !matches!(
            self,
            Op::Eval { .. }
                | Op::UnlessExpr { .. }
                | Op::IfExpr { .. }
                | Op::UnlessCondition { .. }
                | Op::Begin
                | Op::Commit { .. }
                | Op::Statement { .. }
                | Op::InsertCommit { .. }
                | Op::Return { .. }
                | Op::EndCatch
                | Op::NotNull { .. }
        )
    }

    /// Where it may go besides on.
    pub fn target(&mut self) -> Option<&mut Pc> {
        match self {
            Op::Jump { to }
            | Op::Loop { to }
            | Op::UnlessInt { to, .. }
            | Op::UnlessIntIs { to, .. }
            | Op::UnlessBig { to, .. }
            | Op::UnlessFloat { to, .. }
            | Op::UnlessValue { to, .. }
            | Op::IfInt { to, .. }
            | Op::IfIntIs { to, .. }
            | Op::IfBig { to, .. }
            | Op::IfFloat { to, .. }
            | Op::IfValue { to, .. }
            | Op::IfNull { to, .. }
            | Op::UnlessNull { to, .. }
            | Op::UnlessExpr { to, .. }
            | Op::IfExpr { to, .. }
            | Op::UnlessCondition { to, .. } => Some(to),
            _ => None,
        }
    }
}

// An instruction is read whole from one line of the cache.
const _: () = assert!(std::mem::size_of::<Op>() <= 16);

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
