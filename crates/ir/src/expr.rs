//! Scalar expressions, typed. See [the front page](crate) for the invariants.

use std::sync::Arc;

use runtime::task::{Many, Step};
use types::{SqlType, Value};

pub use types::ArithOp;

use super::func::FuncId;
use super::query::Query;

/// A scalar expression with its resolved type.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    /// The type of every value this expression yields (NULL aside).
    pub ty: SqlType,
    /// False only if it can never yield NULL.
    pub nullable: bool,
    /// A tree of them is as large as a text makes it: copying or dropping it lets others go first.
    pub step: Step,
}

/// A column of one statement; unique within the statement, subqueries included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColId(pub u32);

/// Index into the frame of variables of a batch or procedure (`Program::vars`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// Index into a statement's array of correlation parameters (`Plan::param_count` slots). Whoever
/// opens a correlated inner plan stores the outer row's values there first; the inner plan reads
/// them, at any depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub u32);

/// Index into `Plan::subplans`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubPlanId(pub u32);

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Const(Value),
    /// Before planning: a column by its id; an id no input produces belongs to an outer query.
    Col(ColId),
    /// After planning: position in the operator's input row (joins: left row, then right row).
    Slot(u32),
    /// After planning: a value of an outer row.
    Param(ParamId),
    Var(VarId),
    Sys(SysVar),
    /// `-x`
    Neg(Box<Expr>),
    /// `~x`
    BitNot(Box<Expr>),
    /// Numbers and bits: integers, money, float and real have both operands and the result of one
    /// type; decimals have each operand its own precision and scale and the result that of
    /// [`types::Decimal::result`]. Dates: `datetime + number`, see [`types::arith::binary`].
    Arith {
        op: ArithOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// String or binary `+`, both (n)(var)char or both binary. NULL if either is NULL. The result is
    /// cut to the node's type.
    Concat {
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// A long run of operators, in parts: each but the first begins with [`ExprKind::Total`], the value of the one before
    /// it, and the last has the value of all. So a run of thousands is no tree of thousands of levels.
    Steps(Many<Expr>),
    /// In a part of [`ExprKind::Steps`], as the operand that is evaluated first: what the part before it has come to.
    Total,
    Compare {
        op: CompareOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    /// `x IS NULL`; `IS NOT NULL` with `negated`. Never UNKNOWN.
    IsNull {
        input: Box<Expr>,
        negated: bool,
    },
    Like {
        input: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
        negated: bool,
    },
    /// `x IN (list)`: Kleene OR of equalities.
    In {
        input: Box<Expr>,
        list: Many<Expr>,
        negated: bool,
    },
    /// Searched CASE (simple CASE is rewritten); branches already share the node's type. A missing
    /// ELSE yields NULL. Conditions are evaluated in order, results only when chosen.
    Case {
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// Conversion to the node's type.
    Cast {
        input: Box<Expr>,
        mode: CastMode,
        style: Option<i32>,
    },
    Func {
        func: FuncId,
        args: Vec<Expr>,
    },
    /// A method of xml: the xml, then what its query takes from outside.
    Xml {
        method: XmlMethod,
        args: Vec<Expr>,
    },
    /// Before planning.
    Subquery {
        kind: SubqueryKind,
        query: Box<Query>,
    },
    /// After planning. Uncorrelated subplans (`binds` empty) may be evaluated once per statement.
    SubPlan {
        kind: SubqueryKind,
        plan: SubPlanId,
    },
    /// The next value of the target table's identity column (only in rows of an INSERT).
    NextIdentity,
}

/// A method of xml, compiled.
#[derive(Debug, Clone, PartialEq)]
pub enum XmlMethod {
    /// The first item as the node's type.
    Value(Arc<xml::Query>),
    Query(Arc<xml::Query>),
    Exist(Arc<xml::Query>),
    /// The changed xml; and the name of what changes, for errors.
    Modify(Arc<xml::Change>, String),
}

impl XmlMethod {
    /// Its name and its query.
    pub fn shown(&self) -> (&'static str, &str) {
        match self {
            XmlMethod::Value(q) => ("value", q.source()),
            XmlMethod::Query(q) => ("query", q.source()),
            XmlMethod::Exist(q) => ("exist", q.source()),
            XmlMethod::Modify(c, _) => ("modify", c.source()),
        }
    }
}

/// What is asked of a subquery. `needle` is evaluated in the outer row.
#[derive(Debug, Clone, PartialEq)]
pub enum SubqueryKind {
    /// First column of the only row; NULL for none; error 512 for more than one.
    Scalar,
    Exists,
    /// `needle IN (subquery)`; negation is a `Not` around it.
    In {
        needle: Box<Expr>,
    },
    /// `needle op ANY|ALL (subquery)`.
    Quantified {
        needle: Box<Expr>,
        op: CompareOp,
        all: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastMode {
    /// CAST or CONVERT: strings are cut silently, numbers that do not fit are errors.
    Explicit,
    /// TRY_CAST, TRY_CONVERT: NULL instead of an error.
    Try,
    /// An operand brought to the common type, or a variable assigned: as `Explicit`.
    Implicit,
    /// A bound of a range, of a wider type, in the type of the key: [`types::convert::nearest`]. Only the planner makes it.
    Nearest,
    /// The last moment of a day in the type of the key, likewise: [`types::convert::latest`].
    Latest,
    /// A value stored in a column: a string that does not fit is error 2628, naming the table of
    /// the statement and the column at this ordinal.
    Store { column: u16 },
}

impl CastMode {
    /// A conversion as a text has it, written or not: neither a column's nor the planner's.
    pub fn is_of_text(self) -> bool {
        matches!(self, CastMode::Explicit | CastMode::Try | CastMode::Implicit)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl CompareOp {
    /// The operator with its operands exchanged.
    pub fn flip(self) -> CompareOp {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            same => same,
        }
    }

    /// The operator's name inside messages.
    pub fn message_name(self) -> &'static str {
        match self {
            CompareOp::Eq => "equal to",
            CompareOp::Ne => "not equal to",
            CompareOp::Lt => "less than",
            CompareOp::Le => "less than or equal to",
            CompareOp::Gt => "greater than",
            CompareOp::Ge => "greater than or equal to",
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "=",
            CompareOp::Ne => "<>",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}

/// The operator as written.
pub fn arith_symbol(op: ArithOp) -> &'static str {
    match op {
        ArithOp::Add => "+",
        ArithOp::Sub => "-",
        ArithOp::Mul => "*",
        ArithOp::Div => "/",
        ArithOp::Mod => "%",
        ArithOp::BitAnd => "&",
        ArithOp::BitOr => "|",
        ArithOp::BitXor => "^",
    }
}

/// The `@@` variables, read from the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SysVar {
    Spid,
    RowCount,
    TranCount,
    Error,
    Identity,
    FetchStatus,
    ProcId,
    NestLevel,
    DateFirst,
    LockTimeout,
    Options,
    MaxConnections,
    Version,
    ServerName,
    ServiceName,
    Language,
    TextSize,
    LangId,
    MaxPrecision,
    MicrosoftVersion,
    CursorRows,
}

impl Expr {
    pub fn new(kind: ExprKind, ty: SqlType, nullable: bool) -> Expr {
        Expr { kind, ty, nullable, step: Step::default() }
    }

    pub fn constant(value: Value, ty: SqlType) -> Expr {
        let nullable = value.is_null();
        Expr::new(ExprKind::Const(value), ty, nullable)
    }

    /// The slot of the row at hand that it is, if it is one.
    pub fn as_slot(&self) -> Option<u32> {
        match self.kind {
            ExprKind::Slot(slot) => Some(slot),
            _ => None,
        }
    }

    pub fn int(value: i32) -> Expr {
        Expr::constant(Value::Int(value), SqlType::Int)
    }

    pub fn col(id: ColId, ty: SqlType, nullable: bool) -> Expr {
        Expr::new(ExprKind::Col(id), ty, nullable)
    }

    /// A method or property of a type of the CLR.
    pub fn is_method(&self) -> bool {
        matches!(self.kind, ExprKind::Func { func: FuncId::Clr(_), .. })
    }

    /// The constant NULL, which takes any type.
    pub fn is_null_constant(&self) -> bool {
        matches!(self.kind, ExprKind::Const(Value::Null))
    }

    /// A predicate from two comparable operands.
    pub fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
        let nullable = left.nullable || right.nullable;
        let kind = ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) };
        Expr::new(kind, SqlType::Bit, nullable)
    }

    pub fn and(left: Expr, right: Expr) -> Expr {
        let nullable = left.nullable || right.nullable;
        Expr::new(ExprKind::And(Box::new(left), Box::new(right)), SqlType::Bit, nullable)
    }

    pub fn or(left: Expr, right: Expr) -> Expr {
        let nullable = left.nullable || right.nullable;
        Expr::new(ExprKind::Or(Box::new(left), Box::new(right)), SqlType::Bit, nullable)
    }

    /// All of them, as a tree of little height; None for an empty list.
    pub fn all(list: Vec<Expr>) -> Option<Expr> {
        balanced(list, Expr::and)
    }

    /// Any of them, likewise.
    pub fn any_of(list: Vec<Expr>) -> Option<Expr> {
        balanced(list, Expr::or)
    }

    pub fn negate(input: Expr) -> Expr {
        let nullable = input.nullable;
        Expr::new(ExprKind::Not(Box::new(input)), SqlType::Bit, nullable)
    }

    pub fn is_null(input: Expr, negated: bool) -> Expr {
        let kind = ExprKind::IsNull { input: Box::new(input), negated };
        Expr::new(kind, SqlType::Bit, false)
    }
}

/// Joins neighbours in pairs until one is left: walks over the result recurse log(n) deep.
fn balanced(mut list: Vec<Expr>, join: fn(Expr, Expr) -> Expr) -> Option<Expr> {
    while list.len() > 1 {
        let mut pairs = Vec::with_capacity(list.len().div_ceil(2));
        let mut rest = list.into_iter();
        while let Some(first) = rest.next() {
            pairs.push(match rest.next() {
                Some(second) => join(first, second),
                None => first,
            });
        }
        list = pairs;
    }
    list.pop()
}
