//! The tree of a query, names resolved.

use super::atom::{Atom, AtomType};

/// What a query takes from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// sql:column; else sql:variable.
    pub column: bool,
    /// Its name as written.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Atom(Atom),
    Sequence(Vec<Expr>),
    /// `/`
    Root,
    /// `.`
    Context,
    Path(Box<Expr>, Vec<Step>),
    /// `(e)[...]`
    Filter(Box<Expr>, Vec<Expr>),
    Var(usize),
    External(usize),
    Call(Func, Vec<Expr>),
    Or(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    /// `=` and its like, true if any pair is; `eq` and its like, of single values.
    Compare {
        op: Op,
        general: bool,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `is`, `<<`, `>>`
    Order {
        op: Op,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Arith {
        op: Arith,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Negate(Box<Expr>),
    If(Box<[Expr; 3]>),
    Flwor(Box<Flwor>),
    Quantified {
        every: bool,
        binds: Vec<(usize, Expr)>,
        test: Box<Expr>,
    },
    Element(Box<Element>),
    Attribute {
        name: QName,
        value: Box<Expr>,
    },
    Text(Box<Expr>),
    Comment(String),
    Cast(Box<Expr>, AtomType),
    InstanceOf(Box<Expr>, AtomType),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub axis: Axis,
    pub test: Test,
    pub predicates: Vec<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Own,
    Attribute,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// `None` is any.
    Name {
        uri: Option<String>,
        local: Option<String>,
    },
    Node,
    Text,
    Comment,
    Instruction(Option<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QName {
    pub prefix: String,
    pub local: String,
    pub uri: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flwor {
    pub clauses: Vec<Clause>,
    pub filter: Option<Expr>,
    /// Keys, and whether descending.
    pub order: Vec<(Expr, bool)>,
    pub result: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Clause {
    For { slot: usize, input: Expr },
    Let { slot: usize, input: Expr },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Element {
    pub name: QName,
    pub namespaces: Vec<(String, String)>,
    pub attributes: Vec<(QName, Vec<Expr>)>,
    pub content: Vec<Content>,
}

/// What stands in a constructor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Text(String),
    Expr(Expr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Func {
    Text,
    Number,
    Data,
    Count,
    Sum,
    Min,
    Max,
    Avg,
    Contains,
    Substring,
    StringLength,
    Concat,
    Not,
    True,
    False,
    Position,
    Last,
    LocalName,
    NamespaceUri,
    Empty,
    DistinctValues,
    Round,
    Floor,
    Ceiling,
    UpperCase,
    LowerCase,
}

impl Func {
    /// By name, with the least and most arguments.
    pub fn of(name: &str) -> Option<(Func, usize, usize)> {
        use Func::*;
        Some(match name {
            "string" => (Text, 0, 1),
            "number" => (Number, 0, 1),
            "data" => (Data, 1, 1),
            "count" => (Count, 1, 1),
            "sum" => (Sum, 1, 1),
            "min" => (Min, 1, 1),
            "max" => (Max, 1, 1),
            "avg" => (Avg, 1, 1),
            "contains" => (Contains, 2, 2),
            "substring" => (Substring, 2, 3),
            "string-length" => (StringLength, 0, 1),
            "concat" => (Concat, 2, 64),
            "not" => (Not, 1, 1),
            "true" => (True, 0, 0),
            "false" => (False, 0, 0),
            "position" => (Position, 0, 0),
            "last" => (Last, 0, 0),
            "local-name" => (LocalName, 0, 1),
            "namespace-uri" => (NamespaceUri, 0, 1),
            "empty" => (Empty, 1, 1),
            "distinct-values" => (DistinctValues, 1, 1),
            "round" => (Round, 1, 1),
            "floor" => (Floor, 1, 1),
            "ceiling" => (Ceiling, 1, 1),
            "upper-case" => (UpperCase, 1, 1),
            "lower-case" => (LowerCase, 1, 1),
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        use Func::*;
        match self {
            Text => "string",
            Number => "number",
            Data => "data",
            Count => "count",
            Sum => "sum",
            Min => "min",
            Max => "max",
            Avg => "avg",
            Contains => "contains",
            Substring => "substring",
            StringLength => "string-length",
            Concat => "concat",
            Not => "not",
            True => "true",
            False => "false",
            Position => "position",
            Last => "last",
            LocalName => "local-name",
            NamespaceUri => "namespace-uri",
            Empty => "empty",
            DistinctValues => "distinct-values",
            Round => "round",
            Floor => "floor",
            Ceiling => "ceiling",
            UpperCase => "upper-case",
            LowerCase => "lower-case",
        }
    }

    /// Must each argument be one item at most?
    pub fn takes_singletons(self) -> bool {
        use Func::*;
        !matches!(self, Data | Count | Sum | Min | Max | Avg | Empty | DistinctValues | Not)
    }
}
