//! Expressions and conditions share one type; the parser lets conditions stand only where T-SQL
//! has them (WHERE, ON, IF, CASE WHEN ...), so [`Expr::is_condition`] needs no checking elsewhere.

use super::{Fulltext, Ident, ObjectName, OrderItem, Query, Span, TypeName, Variable};
use runtime::task::{Many, Step};

/// An expression or a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What.
    pub kind: ExprKind,
    /// Where. Parentheres around an expression belong to its span.
    pub span: Span,
    /// A tree of them is as large as the text: copying or dropping it lets others go first.
    pub step: Step,
}

/// The forms of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// `c`, `t.c`, `dbo.t.c`, `db.dbo.t.c`; also bare words such as the date part of DATEADD.
    Column(ColumnRef),
    /// `@v`.
    Variable(Variable),
    /// `@@SPID`: the name upper case, with both `@`.
    SystemVariable(String),
    /// `-x`, `+x`, `~x`, `NOT c`.
    Unary {
        /// Operator.
        op: UnaryOp,
        /// Operand.
        expr: Box<Expr>,
    },
    /// Arithmetic, bits, comparison, AND, OR.
    Binary {
        /// Operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `a + b - c + ...`, a run too long for a tree of [`ExprKind::Binary`]: from left to right.
    Chain {
        /// The first operand.
        first: Box<Expr>,
        /// The others, each with the operator before it: `+`, `-`, `&`, `|`, `^`.
        rest: Many<(BinaryOp, Expr)>,
    },
    /// `x [NOT] LIKE p [ESCAPE e]`.
    Like {
        /// NOT LIKE.
        negated: bool,
        /// Text.
        expr: Box<Expr>,
        /// Pattern.
        pattern: Box<Expr>,
        /// Escape character.
        escape: Option<Box<Expr>>,
    },
    /// `x [NOT] BETWEEN low AND high`.
    Between {
        /// NOT BETWEEN.
        negated: bool,
        /// Tested value.
        expr: Box<Expr>,
        /// Lower bound, included.
        low: Box<Expr>,
        /// Upper bound, included.
        high: Box<Expr>,
    },
    /// `x [NOT] IN (a, b, ...)`.
    InList {
        /// NOT IN.
        negated: bool,
        /// Tested value.
        expr: Box<Expr>,
        /// At least one.
        list: Many<Expr>,
    },
    /// `x [NOT] IN (SELECT ...)`.
    InSubquery {
        /// NOT IN.
        negated: bool,
        /// Tested value.
        expr: Box<Expr>,
        /// Query of one column.
        query: Box<Query>,
    },
    /// `EXISTS (SELECT ...)`.
    Exists(Box<Query>),
    /// `x > ANY (SELECT ...)`, `x = ALL (SELECT ...)`.
    Quantified {
        /// Comparison.
        op: BinaryOp,
        /// ALL, otherwise ANY or SOME.
        all: bool,
        /// Left operand.
        left: Box<Expr>,
        /// Query of one column.
        query: Box<Query>,
    },
    /// `x IS [NOT] NULL`.
    IsNull {
        /// IS NOT NULL.
        negated: bool,
        /// Tested value.
        expr: Box<Expr>,
    },
    /// `x IS [NOT] DISTINCT FROM y`.
    IsDistinct {
        /// IS NOT DISTINCT FROM.
        negated: bool,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `(SELECT ...)` as a value.
    Subquery(Box<Query>),
    /// Simple CASE (with `operand`) or searched CASE.
    Case {
        /// `CASE operand WHEN value`.
        operand: Option<Box<Expr>>,
        /// At least one branch.
        branches: Vec<CaseBranch>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// CAST, CONVERT and their TRY_ forms.
    Cast(Box<Cast>),
    /// `f(...)`, aggregates, window functions; also CURRENT_TIMESTAMP, CURRENT_USER, SYSTEM_USER,
    /// SESSION_USER and USER, which are written without parentheses.
    Function(Box<FunctionCall>),
    /// CONTAINS, FREETEXT.
    Fulltext(Box<Fulltext>),
    /// `x COLLATE name`.
    Collate {
        /// Text.
        expr: Box<Expr>,
        /// Collation.
        collation: Ident,
    },
}

/// `WHEN when THEN then`.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseBranch {
    /// A value under a simple CASE, a condition under a searched one.
    pub when: Expr,
    /// Result.
    pub then: Expr,
}

/// CAST(expr AS ty), CONVERT(ty, expr [, style]), TRY_CAST, TRY_CONVERT.
#[derive(Clone, Debug, PartialEq)]
pub struct Cast {
    /// Operand.
    pub expr: Expr,
    /// Wanted type.
    pub ty: TypeName,
    /// Third argument of CONVERT.
    pub style: Option<Expr>,
    /// TRY_ form: NULL in place of an error.
    pub try_: bool,
    /// Written as CONVERT (char and binary without length then mean 30 either way).
    pub convert: bool,
    /// PARSE, TRY_PARSE: `style` is the culture.
    pub parse: bool,
}

/// A constant. Numbers keep their digits: the type follows from how they are written.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// NULL.
    Null,
    /// Whole number that fits `int`.
    Int(i32),
    /// Whole number beyond `int`, or with a point: digits as written (`10000000000`, `1.50`, `.5`).
    /// Its type is decimal with just enough precision and scale.
    Decimal(String),
    /// With an exponent: `1e3`. Type float.
    Float(f64),
    /// `$1.25`: digits without the sign.
    Money(String),
    /// `0x0102`.
    Binary(Vec<u8>),
    /// `'...'`, or `N'...'`, with doubled quotes undone.
    String {
        /// Text.
        value: String,
        /// Written with N: nvarchar.
        national: bool,
    },
}

/// Reference to a column through up to three qualifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnRef {
    /// What stands before the last point: alias, table, schema.table ... empty when none.
    pub qualifier: Vec<Ident>,
    /// The column. `$IDENTITY`, `$ROWGUID`, `$PARTITION` and `$ACTION` come here with their `$`.
    pub name: Ident,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-x`
    Minus,
    /// `+x`
    Plus,
    /// `~x`
    BitNot,
    /// `NOT condition`
    Not,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    /// `<>` and `!=`
    NotEq,
    Lt,
    /// `<=` and `!>`
    LtEq,
    Gt,
    /// `>=` and `!<`
    GtEq,
    And,
    Or,
}

impl BinaryOp {
    /// `+`, `-`, and the bitwise operators, which bind alike.
    pub fn is_additive(self) -> bool {
        use BinaryOp::{Add, BitAnd, BitOr, BitXor, Sub};
        matches!(self, Add | Sub | BitAnd | BitOr | BitXor)
    }

    /// `=`, `<>`, `<`, `<=`, `>`, `>=`.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | NotEq | Lt | LtEq | Gt | GtEq)
    }

    /// As messages write it (`add` in "The data types x and y are incompatible in the add operator").
    pub fn name(self) -> &'static str {
        use BinaryOp::*;
        match self {
            Add => "add",
            Sub => "subtract",
            Mul => "multiply",
            Div => "divide",
            Mod => "modulo",
            BitAnd => "'&'",
            BitOr => "'|'",
            BitXor => "'^'",
            Eq => "equal to",
            NotEq => "not equal to",
            Lt => "less than",
            LtEq => "less than or equal to",
            Gt => "greater than",
            GtEq => "greater than or equal to",
            And => "AND",
            Or => "OR",
        }
    }
}

/// A call. Whether the name is a function, and of what kind, is the binder's business.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    /// `COUNT`, `dbo.f`.
    pub name: ObjectName,
    /// Arguments; empty for `COUNT(*)`.
    pub args: Vec<Expr>,
    /// `COUNT(*)`.
    pub star: bool,
    /// `COUNT(DISTINCT x)`.
    pub distinct: bool,
    /// `IGNORE NULLS` of LAG, LEAD, FIRST_VALUE and LAST_VALUE.
    pub ignore_nulls: bool,
    /// `OVER (...)`.
    pub over: Option<Over>,
    /// `WITHIN GROUP (ORDER BY ...)` of STRING_AGG; empty when absent.
    pub within_group: Vec<OrderItem>,
}

impl FunctionCall {
    /// A call and nothing besides.
    pub fn new(name: ObjectName, args: Vec<Expr>) -> FunctionCall {
        FunctionCall {
            name,
            args,
            star: false,
            distinct: false,
            ignore_nulls: false,
            over: None,
            within_group: Vec::new(),
        }
    }
}

/// `OVER (PARTITION BY ... ORDER BY ... ROWS ...)`, `OVER w`, `OVER (w ...)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// The window of the WINDOW clause that this one begins with.
    pub window: Option<Ident>,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// ROWS or RANGE.
    pub frame: Option<Frame>,
}

/// Window frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// RANGE, otherwise ROWS.
    pub range: bool,
    /// BETWEEN's first bound, or the only one.
    pub start: FrameBound,
    /// BETWEEN's second bound; absent means CURRENT ROW.
    pub end: Option<FrameBound>,
}

/// One end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameBound {
    /// UNBOUNDED PRECEDING
    UnboundedPreceding,
    /// n PRECEDING
    Preceding(u64),
    /// CURRENT ROW
    CurrentRow,
    /// n FOLLOWING
    Following(u64),
    /// UNBOUNDED FOLLOWING
    UnboundedFollowing,
}

impl Expr {
    /// One that stands there.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span, step: Step::default() }
    }

    /// Of `c.modify(...)` in an UPDATE's SET, where `c` has no qualifier: the method, `set modify`, and its arguments.
    pub fn change_of_itself(&self) -> Option<(&str, &[Expr])> {
        let ExprKind::Function(call) = &self.kind else { return None };
        let name =
            call.name.name.value.strip_prefix('.').filter(|name| name.starts_with("set "))?;
        let (of, args) = call.args.split_first()?;
        let alone = matches!(&of.kind, ExprKind::Column(column) if column.qualifier.is_empty());
        alone.then_some((name, args))
    }

    /// The expressions right below; those of queries in it are not among them.
    pub fn for_each_child<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        runtime::task::stepped();
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Variable(_)
            | ExprKind::SystemVariable(_)
            | ExprKind::Exists(_)
            | ExprKind::Subquery(_) => {}
            ExprKind::Unary { expr, .. }
            | ExprKind::InSubquery { expr, .. }
            | ExprKind::IsNull { expr, .. }
            | ExprKind::Collate { expr, .. } => f(expr),
            ExprKind::Binary { left, right, .. } | ExprKind::IsDistinct { left, right, .. } => {
                f(left);
                f(right);
            }
            ExprKind::Quantified { left, .. } => f(left),
            ExprKind::Chain { first, rest } => {
                f(first);
                rest.each(|(_, e)| f(e));
            }
            ExprKind::Like { expr, pattern, escape, .. } => {
                f(expr);
                f(pattern);
                escape.iter().for_each(|e| f(e));
            }
            ExprKind::Between { expr, low, high, .. } => {
                f(expr);
                f(low);
                f(high);
            }
            ExprKind::InList { expr, list, .. } => {
                f(expr);
                list.each(f);
            }
            ExprKind::Case { operand, branches, otherwise } => {
                operand.iter().for_each(|e| f(e));
                for branch in branches {
                    f(&branch.when);
                    f(&branch.then);
                }
                otherwise.iter().for_each(|e| f(e));
            }
            ExprKind::Cast(cast) => {
                f(&cast.expr);
                cast.style.iter().for_each(f);
            }
            ExprKind::Function(call) => call.args.iter().for_each(f),
            ExprKind::Fulltext(ask) => {
                f(&ask.condition);
                ask.language.iter().for_each(f);
            }
        }
    }

    /// True or false (or unknown), as opposed to a value.
    pub fn is_condition(&self) -> bool {
        match &self.kind {
            ExprKind::Unary { op, .. } => *op == UnaryOp::Not,
            ExprKind::Binary { op, .. } => {
                op.is_comparison() || matches!(op, BinaryOp::And | BinaryOp::Or)
            }
            ExprKind::Fulltext(ask) => !ask.ranks,
            ExprKind::Like { .. }
            | ExprKind::Between { .. }
            | ExprKind::InList { .. }
            | ExprKind::InSubquery { .. }
            | ExprKind::Exists(_)
            | ExprKind::Quantified { .. }
            | ExprKind::IsDistinct { .. }
            | ExprKind::IsNull { .. } => true,
            _ => false,
        }
    }
}
