//! The instructions of a program, and what they name: registers, places, orders.
//!
//! Invariant: an instruction has at most 16 bytes, so that it is read whole from one line of the cache.

use ir::CompareOp;
use std::cmp::Ordering;

/// A place in the frame.
pub(crate) type Reg = u32;
/// An index into a program's instructions.
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
    /// d = a op b: see `scalar.rs`.
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
    ToTiny {
        d: Reg,
        s: Reg,
    },
    ToSmall {
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
    /// Whether it is one of those over numbers (`scalar.rs`).
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

const _: () = assert!(std::mem::size_of::<Op>() <= 16);

/// The orders of two operands for which a comparison is true, one bit each: less, equal, greater.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct When(u8);

impl When {
    pub fn of(op: CompareOp) -> When {
        let (less, equal, greater) = (1, 2, 4);
        When(match op {
            CompareOp::Eq => equal,
            CompareOp::Ne => less | greater,
            CompareOp::Lt => less,
            CompareOp::Le => less | equal,
            CompareOp::Gt => greater,
            CompareOp::Ge => greater | equal,
        })
    }

    /// The comparison.
    pub fn op(self) -> CompareOp {
        match self.0 {
            1 => CompareOp::Lt,
            2 => CompareOp::Eq,
            3 => CompareOp::Le,
            4 => CompareOp::Gt,
            5 => CompareOp::Ne,
            _ => CompareOp::Ge,
        }
    }

    #[inline(always)]
    pub fn holds(self, order: Ordering) -> bool {
        self.0 >> (order as i8 + 1) & 1 != 0
    }
}

impl std::fmt::Debug for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(["never", "<", "=", "<=", ">", "<>", ">=", "always"][self.0 as usize & 7])
    }
}
