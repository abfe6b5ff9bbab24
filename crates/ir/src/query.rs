//! Relational trees: what a query asks for, before anyone decides how.

use runtime::task::Step;
use std::sync::Arc;

use catalog::TableDef;
use types::SqlType;

use super::expr::{ColId, Expr};
use super::serialize::SerializeSpec;
use super::through::Through;

/// In [`Query::maxdop`]: USE HINT ('ENABLE_PARALLEL_PLAN_PREFERENCE').
pub const PREFER_PARALLEL: u32 = 1 << 31;

/// A bound query: a tree and the columns of it that are the result, in order. The tree may produce
/// more columns than the result shows (hidden sort keys).
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub rel: Rel,
    pub output: Vec<OutputColumn>,
    /// `OPTION (MAXDOP n)`: 0 = unset; and [`PREFER_PARALLEL`].
    pub maxdop: u32,
    /// What OPTION, and joins written with a method, ask of the planner.
    pub hints: QueryHints,
}

/// Hints of a statement that the planner follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueryHints {
    /// FORCE ORDER, or a method at a join: tables meet in the order of the text.
    pub force_order: bool,
    /// LOOP JOIN.
    pub loop_join: bool,
    /// HASH JOIN.
    pub hash_join: bool,
    /// MERGE JOIN.
    pub merge_join: bool,
    /// RECOMPILE: planned for this run alone, by the values that all variables have.
    pub recompile: bool,
    /// OPTIMIZE FOR UNKNOWN: not by the parameters' values.
    pub unknown: bool,
    /// The order is that of the text only because a join names a method, which is told (8625).
    pub local_join: bool,
    /// The query is a security policy's: nobody needs a permission for what it reads.
    pub policy: bool,
}

impl QueryHints {
    /// Whether inner rows may be looked for outer row by outer row: no other method is named, or this one too.
    pub fn allows_loops(&self) -> bool {
        self.loop_join || !(self.hash_join || self.merge_join)
    }

    /// See [`QueryHints::allows_loops`].
    pub fn allows_hash(&self) -> bool {
        self.hash_join || !(self.loop_join || self.merge_join)
    }

    /// See [`QueryHints::allows_loops`].
    pub fn allows_merge(&self) -> bool {
        self.merge_join || !(self.loop_join || self.hash_join)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct OutputColumn {
    /// Of a text.
    pub collation: types::Collation,
    /// None: "(No column name)".
    pub name: Option<String>,
    pub id: ColId,
    pub ty: SqlType,
    pub nullable: bool,
    /// The source is this table's identity column, or IDENTITY(...): SELECT INTO inherits the property.
    pub identity: Option<catalog::Identity>,
    /// It is a base table's column, seen as it is, that a client may write (not an identity).
    pub updatable: bool,
    /// What a client is told of the column behind it, where that is more than its type.
    pub base: Option<Arc<BaseColumn>>,
}

impl OutputColumn {
    /// Is it of text, ntext or image?
    pub fn is_long(&self) -> bool {
        self.base.as_ref().is_some_and(|base| base.long)
    }
}

/// What a client is told of the column of a table that a column of a result shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseColumn {
    /// The table's name in its parts, in browse mode and of an old long type; an expression has none. And the column's, in
    /// browse mode.
    pub table: Vec<String>,
    pub column: String,
    /// In browse mode: part of the key by which the rows can be found again, and added for that alone.
    pub key: bool,
    pub hidden: bool,
    pub computed: bool,
    pub rowversion: bool,
    /// It is text, ntext or image, whose values are those of the (max) type that the column is said to have.
    pub long: bool,
    /// The text was bound under SET NO_BROWSETABLE ON.
    pub browse: bool,
}

/// A relational operator and its inputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Rel {
    /// One row of no columns: a SELECT without FROM.
    OneRow,
    /// A base table; `columns[i]` is the id of the table's column i.
    Get(Box<Get>),
    /// A system view or table-valued system function, rows supplied from above.
    System {
        view: Arc<SystemView>,
        args: Vec<Expr>,
        columns: Vec<ColId>,
    },
    /// A table value constructor.
    Values {
        rows: Vec<Vec<Expr>>,
        columns: Vec<ColId>,
    },
    Filter {
        input: Box<Rel>,
        predicate: Expr,
    },
    /// Yields exactly these columns.
    Project {
        input: Box<Rel>,
        exprs: Vec<(ColId, Expr)>,
    },
    /// `on` is None for CROSS JOIN.
    Join {
        kind: JoinKind,
        left: Box<Rel>,
        right: Box<Rel>,
        on: Option<Expr>,
    },
    /// CROSS APPLY, or OUTER APPLY with `outer`: the right side may use the left's columns.
    Apply {
        outer: bool,
        left: Box<Rel>,
        right: Box<Rel>,
    },
    /// With no group and no GROUP BY clause (`scalar`), yields one row even for no input. With `sets`
    /// every row counts once for each of them.
    Aggregate {
        input: Box<Rel>,
        group: Vec<(ColId, Expr)>,
        aggs: Vec<Aggregate>,
        scalar: bool,
        sets: Option<GroupingSets>,
    },
    /// A recursive common table expression: the anchor's rows, and for each row so found those of
    /// the step, which reads that row's columns under the ids of `iteration`. Columns agree in number and type.
    Recursive {
        anchor: Box<Rel>,
        anchor_columns: Vec<ColId>,
        step: Box<Rel>,
        step_columns: Vec<ColId>,
        iteration: Vec<ColId>,
        columns: Vec<ColId>,
        /// Levels below the anchor after which the statement fails (530); 0: none.
        max: u32,
    },
    /// A table-valued function that needs nothing but its arguments.
    Function {
        func: TableFunc,
        args: Vec<Expr>,
        columns: Vec<(ColId, SqlType)>,
    },
    /// Adds a column per window function.
    Window {
        input: Box<Rel>,
        windows: Vec<Window>,
    },
    Sort {
        input: Box<Rel>,
        keys: Vec<SortKey>,
    },
    /// `count` is a bigint, or a float percentage; `ties` repeats the ORDER BY for WITH TIES.
    Top {
        input: Box<Rel>,
        count: Expr,
        percent: bool,
        ties: Option<Vec<SortKey>>,
    },
    Offset {
        input: Box<Rel>,
        offset: Expr,
        fetch: Option<Expr>,
    },
    /// Duplicates removed over all columns of `over`.
    Distinct {
        input: Box<Rel>,
        over: Vec<ColId>,
    },
    /// FOR XML, FOR JSON: all rows of the input as one text, in its order. `columns` are those of the input that
    /// count, `out` is the text; no row for no input.
    Serialize {
        input: Box<Rel>,
        spec: Arc<SerializeSpec>,
        columns: Vec<ColId>,
        out: ColId,
    },
    /// Inputs project the same number of columns of the same types; `columns` are the results.
    SetOp {
        op: SetOp,
        left: Box<Rel>,
        left_columns: Vec<ColId>,
        right: Box<Rel>,
        right_columns: Vec<ColId>,
        columns: Vec<ColId>,
        /// They are as many as the text has room for.
        step: Step,
    },
}

#[derive(Debug, Clone)]
pub struct Get {
    pub table: Arc<TableDef>,
    /// Another database than the session's, which the name has named.
    pub database: Option<Arc<str>>,
    pub columns: Vec<ColId>,
    /// The row's storage key as varbinary, asked for by UPDATE and DELETE.
    pub locator: Option<ColId>,
    pub hints: TableHints,
    /// TABLESAMPLE: only rows of some pages are read.
    pub sample: Option<Sample>,
    /// The view or inline function that reads it.
    pub through: Option<Arc<Through>>,
}

/// TABLESAMPLE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub size: SampleSize,
    /// REPEATABLE; without it each execution has its own.
    pub seed: Option<i64>,
}

/// How much of a table a sample has, about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SampleSize {
    /// From 0 to 100.
    Percent(f64),
    Rows(i64),
}

/// Of one statement, so the columns' ids tell two of them apart.
impl PartialEq for Get {
    fn eq(&self, other: &Get) -> bool {
        Arc::ptr_eq(&self.table, &other.table) && self.columns == other.columns
    }
}

/// A view or table-valued function whose rows come from the server's own state. Whoever resolves
/// names supplies it, whoever runs plans knows how to fill it (by name).
#[derive(Debug, Clone, PartialEq)]
pub struct SystemView {
    /// Lower case, with schema: `sys.dm_os_wait_stats`.
    pub name: String,
    /// The database that the name has named; None: the session's own.
    pub database: Option<String>,
    pub columns: Vec<SystemColumn>,
    /// Types of a function's arguments; None for a view.
    pub params: Option<Vec<SqlType>>,
    /// A user's table-valued function with statements, which is run for its rows.
    pub function: Option<super::func::Called>,
}

/// OPENJSON in [`Rel::System`]: the name of the view that stands for it.
pub const OPENJSON: &str = "openjson";

/// Likewise OPENXML.
pub const OPENXML: &str = "openxml";

/// Likewise OPENROWSET(BULK ..., SINGLE_...). Its arguments: the path, the word, and the code page, empty where none is
/// said.
pub const OPENROWSET: &str = "openrowset";

#[derive(Debug, Clone, PartialEq)]
pub struct SystemColumn {
    pub name: String,
    pub ty: SqlType,
    pub nullable: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    Cross,
    /// Rows of the left side with a match; made by the planner.
    Semi,
    /// Rows of the left side without a match; made by the planner.
    Anti,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOp {
    UnionAll,
    Union,
    Except,
    Intersect,
}

impl SetOp {
    /// As messages write it.
    pub fn name(self) -> &'static str {
        match self {
            SetOp::UnionAll => "UNION ALL",
            SetOp::Union => "UNION",
            SetOp::Except => "EXCEPT",
            SetOp::Intersect => "INTERSECT",
        }
    }
}

/// Table-valued functions of the language.
#[derive(Debug, Clone, PartialEq)]
pub enum TableFunc {
    /// nodes() of an xml, and what its query takes from outside: a row for each node.
    XmlNodes(Arc<xml::Query>),
    /// STRING_SPLIT(text, separator): the pieces, and their numbers from 1.
    StringSplit,
    /// GENERATE_SERIES(start, stop, step).
    GenerateSeries,
    /// CHANGETABLE(CHANGES ...) of the table of that object id: the version after which they are asked for.
    Changes(i32),
    /// CHANGETABLE(VERSION ...): the values of the primary key, in its order.
    RowVersion(i32),
}

/// GROUPING SETS, ROLLUP, CUBE.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupingSets {
    /// Bit i of a set: it groups by expression i; the columns of the others are NULL.
    pub sets: Vec<u64>,
    /// A bigint column: bit i is set in rows of the sets that do not group by expression i.
    pub mask: ColId,
}

/// STRING_AGG's second argument and WITHIN GROUP.
#[derive(Debug, Clone, PartialEq)]
pub struct Joining {
    /// Reads no row.
    pub separator: Expr,
    /// Empty: rows as they come.
    pub order: Vec<SortKey>,
}

/// One aggregate of a grouping. `arg` is None for COUNT(*).
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    pub out: ColId,
    pub func: AggFunc,
    pub distinct: bool,
    pub arg: Option<Expr>,
    /// Of those in an order of their own alone.
    pub joining: Option<Box<Joining>>,
    /// NULLs that it passes over are worth a warning.
    pub warns: bool,
    /// Result type: SUM and AVG of int are int, of bigint bigint, of decimal decimal(38, s) ...
    pub ty: SqlType,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggFunc {
    Count,
    CountBig,
    Sum,
    Avg,
    Min,
    Max,
    StDev,
    StDevP,
    Var,
    VarP,
    /// XOR of ints, under CHECKSUM_AGG.
    ChecksumAgg,
    StringAgg,
    /// APPROX_PERCENTILE_CONT and _DISC, which are exact here.
    PercentileCont,
    PercentileDisc,
    /// Of a type of the CLR: all values of a group in one.
    Clr(types::ClrType, types::clr::Aggregate),
}

impl AggFunc {
    /// Is a NULL that it passes over worth a warning (ANSI_WARNINGS)?
    pub fn warns_of_null(self) -> bool {
        !self.is_ordered() && !matches!(self, AggFunc::ChecksumAgg | AggFunc::Clr(..))
    }

    /// Can what was made of some of a group's values be put together with what was made of the others?
    pub fn has_parts(self) -> bool {
        match self {
            AggFunc::Count
            | AggFunc::CountBig
            | AggFunc::Sum
            | AggFunc::Avg
            | AggFunc::Min
            | AggFunc::Max
            | AggFunc::StDev
            | AggFunc::StDevP
            | AggFunc::Var
            | AggFunc::VarP
            | AggFunc::ChecksumAgg => true,
            AggFunc::StringAgg
            | AggFunc::PercentileCont
            | AggFunc::PercentileDisc
            | AggFunc::Clr(..) => false,
        }
    }

    /// Does it take its values in an order of its own?
    pub fn is_ordered(self) -> bool {
        matches!(self, AggFunc::StringAgg | AggFunc::PercentileCont | AggFunc::PercentileDisc)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub out: ColId,
    pub func: WindowFunc,
    pub partition: Vec<Expr>,
    /// Empty, or only constants, when the order is of no importance (`ORDER BY (SELECT NULL)`).
    pub order: Vec<SortKey>,
    /// None where the function has none; the default is spelled out.
    pub frame: Option<WindowFrame>,
    pub ty: SqlType,
}

impl Window {
    /// Functions over the same partition and order are computed in one pass over the rows.
    pub fn shares_pass(&self, other: &Window) -> bool {
        self.partition == other.partition && self.order == other.order
    }
}

/// The rows around the present one that a window function sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowFrame {
    /// RANGE: CURRENT ROW stands for all its peers. ROWS otherwise.
    pub range: bool,
    pub start: FrameBound,
    pub end: FrameBound,
}

/// One end of a frame, in the order in which they lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(u64),
    CurrentRow,
    Following(u64),
    UnboundedFollowing,
}

#[derive(Debug, Clone, PartialEq)]
pub enum WindowFunc {
    RowNumber,
    Rank,
    DenseRank,
    NTile(Expr),
    PercentRank,
    CumeDist,
    /// `at` is a float from 0 to 1; `arg` is also the order.
    PercentileCont {
        at: Expr,
        arg: Expr,
    },
    PercentileDisc {
        at: Expr,
        arg: Expr,
    },
    /// Over the frame.
    Aggregate {
        func: AggFunc,
        arg: Option<Expr>,
    },
    Lag {
        arg: Expr,
        offset: Option<Expr>,
        default: Option<Expr>,
        ignore_nulls: bool,
    },
    Lead {
        arg: Expr,
        offset: Option<Expr>,
        default: Option<Expr>,
        ignore_nulls: bool,
    },
    FirstValue {
        arg: Expr,
        ignore_nulls: bool,
    },
    LastValue {
        arg: Expr,
        ignore_nulls: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct SortKey {
    pub expr: Expr,
    pub desc: bool,
}

/// Hints with an effect. The others of SQL Server are accepted: `semantics::hints`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableHints {
    /// NOLOCK, READUNCOMMITTED: dirty reads.
    pub nolock: bool,
    /// TABLOCK: table S lock for reads, X for bulk inserts into heaps, else IX.
    pub tablock: bool,
    /// TABLOCKX: table X lock to the end of the transaction.
    pub tablockx: bool,
    /// UPDLOCK: rows are locked as if about to be changed.
    pub updlock: bool,
    /// XLOCK: rows are locked as if changed.
    pub xlock: bool,
    /// READCOMMITTED for this table.
    pub readcommitted: bool,
    /// REPEATABLEREAD for this table.
    pub repeatableread: bool,
    /// HOLDLOCK, SERIALIZABLE for this table: locks on rows and gaps, kept to the end of the transaction.
    pub holdlock: bool,
    /// NOWAIT: 1222 instead of waiting for a lock.
    pub nowait: bool,
    /// READPAST: rows locked by others are skipped.
    pub readpast: bool,
    /// READCOMMITTEDLOCK: locks instead of row versions for this table.
    pub readcommittedlock: bool,
    /// SNAPSHOT, of a table in memory.
    pub snapshot: bool,
    /// INDEX: the id of the only index to be used; 0 and 1 are the table itself.
    pub index: Option<u16>,
    /// FORCESEEK: a range of some key rather than all rows.
    pub forceseek: bool,
    /// Rows whose locators are asked for are only read: a cursor's.
    pub unlocked: bool,
}

impl TableHints {
    /// Rows, or the table, are locked otherwise than the transaction's level has it, or passed over where they are.
    pub fn asks_for_locks(&self) -> bool {
        self.updlock
            || self.xlock
            || self.tablock
            || self.tablockx
            || self.holdlock
            || self.repeatableread
            || self.readcommittedlock
            || self.readpast
    }
}
