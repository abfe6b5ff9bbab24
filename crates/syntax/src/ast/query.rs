//! Queries: SELECT and what may stand in its clauses.

use super::{
    AssignOp, ChangeTable, ColumnRef, Expr, FulltextRows, FunctionCall, Ident, Literal, ObjectName,
    Over, Span, Statement, TypeName, Variable,
};
use runtime::task::Step;

/// A query: `[WITH ctes] body [ORDER BY ...] [OFFSET ... FETCH ...] [OPTION (...)]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Common table expressions, each may use those before it (and itself: recursion).
    pub with: Vec<Cte>,
    /// SELECT or a set operation.
    pub body: QueryBody,
    /// Belongs to the whole body.
    pub order_by: Vec<OrderItem>,
    /// OFFSET n ROWS.
    pub offset: Option<Expr>,
    /// FETCH NEXT n ROWS ONLY.
    pub fetch: Option<Expr>,
    /// FOR XML or FOR JSON.
    pub for_clause: Option<ForClause>,
    /// OPTION (...): at statement level only.
    pub option: Vec<QueryHint>,
    /// Where.
    pub span: Span,
}

/// `FOR XML mode, ...` or `FOR JSON mode, ...`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ForClause {
    /// FOR XML; else FOR JSON.
    pub xml: bool,
    /// RAW, AUTO, PATH or EXPLICIT.
    pub mode: ForMode,
    /// The element of a row: RAW('x'), PATH('x').
    pub row: Option<String>,
    /// ROOT, ROOT('x').
    pub root: Option<String>,
    /// ELEMENTS.
    pub elements: bool,
    /// ELEMENTS XSINIL, INCLUDE_NULL_VALUES: NULLs are shown.
    pub nulls: bool,
    /// TYPE: the result is of type xml.
    pub typed: bool,
    /// BINARY BASE64.
    pub base64: bool,
    /// WITHOUT_ARRAY_WRAPPER.
    pub bare: bool,
    /// WITH XMLNAMESPACES: prefix, empty for the default one, and URI.
    pub namespaces: Vec<(String, String)>,
    /// Where.
    pub span: Span,
}

/// How FOR XML and FOR JSON shape rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum ForMode {
    #[default]
    Raw,
    Auto,
    Path,
    Explicit,
}

/// A column of OPENJSON's WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonColumn {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeName,
    /// Where its value lies; `$.name` when none is given.
    pub path: Option<String>,
    /// AS JSON: an object or array, as text.
    pub as_json: bool,
}

/// `name [(columns)] AS (query)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cte {
    /// Name.
    pub name: Ident,
    /// New column names; empty when none were given.
    pub columns: Vec<Ident>,
    /// Its query.
    pub query: Box<Query>,
}

/// What a query is made of. INTERSECT binds tighter than UNION and EXCEPT.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryBody {
    /// SELECT.
    Select(Box<Select>),
    /// Two bodies and an operation.
    SetOperation {
        /// Which.
        op: SetOperator,
        /// UNION ALL.
        all: bool,
        /// Left side.
        left: Box<QueryBody>,
        /// Right side.
        right: Box<QueryBody>,
    },
    /// A body in parentheses.
    Nested(Box<QueryBody>),
    /// `VALUES (..), (..)` as the query of a derived table.
    Values(Vec<Vec<Expr>>),
}

/// Set operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum SetOperator {
    Union,
    Except,
    Intersect,
}

/// SELECT ... FROM ... WHERE ... GROUP BY ... HAVING.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// SELECT DISTINCT.
    pub distinct: bool,
    /// TOP.
    pub top: Option<Top>,
    /// At least one.
    pub items: Vec<SelectItem>,
    /// SELECT ... INTO new_table.
    pub into: Option<SelectInto>,
    /// Comma-separated items, each perhaps a tree of joins. Empty without FROM.
    pub from: Vec<TableRef>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY: what is grouped is each combination of the items' sets.
    pub group_by: Vec<GroupItem>,
    /// GROUP BY ALL: groups of which WHERE leaves no row are there too.
    pub group_all: bool,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW name AS (...).
    pub windows: Vec<NamedWindow>,
    /// Where.
    pub span: Span,
    /// Queries of a UNION are as many as the text has room for.
    pub step: Step,
}

/// One item of GROUP BY.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupItem {
    /// `a`.
    Expr(Expr),
    /// `(a, b)`, `()`: inside GROUPING SETS, ROLLUP and CUBE, and `()` also by itself.
    Composite(Vec<Expr>),
    /// `(a, ROLLUP (b, c))`, `((a, b), c)` inside GROUPING SETS: the items' sets multiply.
    Product(Vec<GroupItem>),
    /// ROLLUP (a, (b, c)), or GROUP BY ... WITH ROLLUP.
    Rollup(Vec<GroupItem>),
    /// CUBE (a, (b, c)), or GROUP BY ... WITH CUBE.
    Cube(Vec<GroupItem>),
    /// GROUPING SETS (a, (b, c), ROLLUP (d), ()).
    Sets(Vec<GroupItem>),
}

/// One window of the WINDOW clause.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedWindow {
    /// Its name.
    pub name: Ident,
    /// What it stands for.
    pub over: Over,
}

/// INTO of a SELECT.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectInto {
    /// The table to be made.
    pub table: ObjectName,
    /// ON filegroup.
    pub filegroup: Option<Ident>,
}

/// `TOP n`, `TOP (expr) [PERCENT] [WITH TIES]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    /// How many rows.
    pub count: Box<Expr>,
    /// PERCENT.
    pub percent: bool,
    /// WITH TIES.
    pub with_ties: bool,
}

/// One item of a select list.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectItem {
    /// `*`, `t.*`.
    Wildcard {
        /// What stands before `.*`.
        qualifier: Option<ObjectName>,
        /// Where.
        span: Span,
    },
    /// `expr`, `expr AS alias`, `alias = expr`, `expr 'alias'`.
    Expr {
        /// The value.
        expr: Expr,
        /// Its name, when given.
        alias: Option<Ident>,
    },
    /// `@v = expr`, `@v += expr`.
    Assign {
        /// The variable set.
        variable: Variable,
        /// How.
        op: AssignOp,
        /// The value.
        expr: Expr,
    },
}

/// FOR SYSTEM_TIME: which versions of a table's rows are read. The moments are constants or variables.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemTime {
    /// ALL.
    All,
    /// AS OF.
    AsOf(Expr),
    /// FROM a TO b: those valid at some time after a and before b.
    FromTo(Expr, Expr),
    /// BETWEEN a AND b: the same, and those that become valid at b.
    Between(Expr, Expr),
    /// CONTAINED IN (a, b): those that were valid only within that time.
    ContainedIn(Expr, Expr),
}

/// A source of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum TableRef {
    /// Table, view, CTE, or `inserted` / `deleted`.
    Named {
        /// Its name.
        name: ObjectName,
        /// AS.
        alias: Option<Ident>,
        /// WITH (NOLOCK), also the old style without WITH.
        hints: Vec<TableHint>,
        /// FOR SYSTEM_TIME.
        time: Option<Box<SystemTime>>,
    },
    /// `@t`.
    Variable {
        /// The table variable.
        name: Variable,
        /// AS.
        alias: Option<Ident>,
    },
    /// `(query) AS t (a, b)`; `(VALUES ...) AS t (a)` has a body [`QueryBody::Values`].
    Derived {
        /// The query.
        query: Box<Query>,
        /// AS (SQL Server insists on one; the parser too).
        alias: Ident,
        /// New column names; empty when none were given.
        columns: Vec<Ident>,
    },
    /// Table-valued function.
    Function {
        /// Its name.
        name: ObjectName,
        /// Its arguments.
        args: Vec<Expr>,
        /// WITH (...) of OPENJSON; empty for any other.
        schema: Vec<JsonColumn>,
        /// AS.
        alias: Option<Ident>,
        /// New column names.
        columns: Vec<Ident>,
    },
    /// `source PIVOT (SUM(a) FOR b IN ([x], [y])) AS p`.
    Pivot {
        /// What is turned.
        input: Box<TableRef>,
        /// The aggregate; its arguments are columns of the source.
        aggregate: Box<FunctionCall>,
        /// The column whose values become columns.
        column: ColumnRef,
        /// The values, as names of columns.
        values: Vec<Ident>,
        /// AS.
        alias: Ident,
    },
    /// `source UNPIVOT (a FOR b IN (x, y)) AS u`.
    Unpivot {
        /// What is turned.
        input: Box<TableRef>,
        /// The new column that has the values.
        value: Ident,
        /// The new column that has the names of the columns.
        name: Ident,
        /// The columns that become rows.
        columns: Vec<ColumnRef>,
        /// AS.
        alias: Ident,
    },
    /// A source with TABLESAMPLE behind it.
    Sampled {
        /// What is sampled.
        table: Box<TableRef>,
        /// How.
        sample: Box<TableSample>,
    },
    /// CHANGETABLE.
    Changes(Box<ChangeTable>),
    /// CONTAINSTABLE, FREETEXTTABLE.
    Fulltext(Box<FulltextRows>),
    /// `(UPDATE ... OUTPUT ...) AS t (a, b)`: the rows that a change puts out.
    Changed {
        /// INSERT, UPDATE, DELETE or MERGE.
        change: Box<Statement>,
        /// AS.
        alias: Ident,
        /// New column names; empty when none were given.
        columns: Vec<Ident>,
    },
    /// Two sources joined.
    Join {
        /// Which join.
        kind: JoinKind,
        /// LOOP, HASH, MERGE, REMOTE before JOIN, as written.
        hint: Option<Ident>,
        /// Left side.
        left: Box<TableRef>,
        /// Right side.
        right: Box<TableRef>,
        /// ON; absent for CROSS JOIN and the APPLYs.
        on: Option<Expr>,
    },
}

/// `TABLESAMPLE [SYSTEM] (n [PERCENT | ROWS]) [REPEATABLE (seed)]`.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSample {
    /// How much, in per cent or rows.
    pub size: Expr,
    /// ROWS.
    pub rows: bool,
    /// REPEATABLE.
    pub seed: Option<Expr>,
    /// Where.
    pub span: Span,
}

/// Joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    Cross,
    CrossApply,
    OuterApply,
}

/// One table hint: `NOLOCK`, `INDEX(i, 2)`, `FORCESEEK`.
#[derive(Clone, Debug, PartialEq)]
pub struct TableHint {
    /// Upper case.
    pub name: String,
    /// Arguments as written (INDEX), mostly empty.
    pub args: Vec<String>,
    /// Of FORCESEEK (index (columns)).
    pub columns: Vec<String>,
    /// Where.
    pub span: Span,
}

/// One query hint of OPTION: `MAXDOP 1`, `LOOP JOIN`, `RECOMPILE`, `USE HINT ('x')`.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryHint {
    /// Words in upper case, joined by one blank: `MAXDOP`, `LOOP JOIN`, `USE HINT`.
    pub name: String,
    /// Number or text after it (`1` of `MAXDOP 1`); several for USE HINT. OPTIMIZE FOR's are dropped.
    pub args: Vec<Literal>,
    /// Where.
    pub span: Span,
}

/// One item of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderItem {
    /// Expression, alias or position.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
}
