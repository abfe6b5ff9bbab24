//! CREATE INDEX on a view: whether its rows can be kept, and what they look like.
//!
//! A view can be indexed whose rows follow from the rows of its tables one by one, so that what a change of one table adds
//! to it and takes from it is the view's own query over the changed rows ([`crate::view_change`]): inner joins of
//! different tables, WHERE, expressions that are deterministic, and over these GROUP BY with COUNT_BIG(*) and SUM.
//!
//! Promises: the text is looked at as it is written, so that what it says in vain (a hint, an ORDER BY) is told by its
//! name; the tree that it is bound to is looked at for what expressions are. Errors: 1937, 1939 to 1942, 1947, 1949 to
//! 1952, 1962, 1963, 1976, 1985, 1990, 8660 to 8662, 8668, 10100 to 10144, 10610. Source: SQL Server's documentation,
//! "Create indexed views", and the texts of these messages.

use std::sync::Arc;

use catalog::{ColumnSpec, IndexSpec, ProcedureDef, TableDef, same_name};
use syntax::ast;
use types::SqlType;

use crate::context::*;
use crate::ddl::IndexView;
use crate::deterministic::is_deterministic_function;
use crate::error::{BindError, Result};
use crate::ir::*;
use crate::kept;
use crate::names::{Names, ObjectName};

/// What an output column of an indexed view with GROUP BY is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewPart {
    Group,
    /// COUNT_BIG(*).
    Count,
    Sum,
}

impl Binder<'_> {
    /// The first index of a view, which must be unique and clustered. See the file's first lines.
    pub(crate) fn index_view(
        &mut self,
        view: &Arc<ProcedureDef>,
        create: &ast::CreateIndex,
        spec: IndexSpec,
    ) -> Result<IndexView> {
        let mut of = self.refusing(view, create.index.span.line.max(1));
        check_bound_view(view, &of)?;
        check_kind(&spec, &create.index, &of)?;
        let Indexable { tables, bound, names } = self.indexable(view, &spec.name, &mut of)?;
        let source = self.expose_as(bound.clone(), &view.name, &view.name, &names)?;
        let columns = source.tables.into_iter().flat_map(|table| table.columns);
        let columns: Vec<ColumnSpec> = columns
            .map(|column| ColumnSpec {
                nullable: Some(column.nullable),
                collation: self.collation_of_column(column.id),
                ..ColumnSpec::new(column.name.as_deref().unwrap_or_default(), column.ty)
            })
            .collect();
        check_key(&spec, &columns, &view_parts(&bound), &of)?;
        let tables = tables.iter().map(|table| table.object_id).collect();
        Ok(IndexView { view: view.clone(), columns, tables, spec })
    }

    fn refusing<'v>(&self, view: &'v ProcedureDef, line: u32) -> Refusing<'v> {
        let full = format!("{}.{}.{}", self.names.database(), view.schema, view.name);
        let (functions, deterministic) = (Vec::new(), Vec::new());
        Refusing { line, view: &view.name, full, functions, deterministic }
    }

    /// What is asked of the view, whatever its key is to be.
    fn indexable(
        &mut self,
        view: &ProcedureDef,
        index: &str,
        of: &mut Refusing<'_>,
    ) -> Result<Indexable> {
        let Some(ast::StatementKind::CreateView(text)) = kept::definition(view) else {
            return Err(of.error(208, format!("Invalid object name '{}'.", view.name)));
        };
        let schema: Option<Arc<str>> = Some(view.schema.as_ref().into());
        let tables = self.in_schema(schema.clone(), |b| b.tables_of_text(&text.query, of))?;
        let bound = self.in_schema(schema, |b| b.view_query(&text))?;
        (of.functions, of.deterministic) = self.functions_in(&bound);
        check_bound(&bound, of)?;
        check_grouping(&bound, index, of)?;
        if bound.output.iter().any(|c| c.is_long() || c.ty == SqlType::Xml) {
            let why = "It contains text, ntext, image, FILESTREAM or xml columns.";
            return Err(of.error(1942, format!("Cannot create index on view '{}'. {why}", of.view)));
        }
        Ok(Indexable { tables, bound, names: text.columns.clone() })
    }

    /// The functions of users that a query calls, and those of them that are deterministic.
    fn functions_in(&self, bound: &Query) -> (Vec<(i32, Box<str>)>, Vec<i32>) {
        let mut ids = Vec::new();
        bound.rel.walk_exprs(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Func { func: FuncId::User(called), .. } = &e.kind {
                    ids.push(called.object_id);
                }
            });
        });
        let name = |id: &i32| Some((*id, self.names.function_by_id(*id)?.name.clone()));
        let functions = ids.iter().filter_map(name).collect();
        ids.retain(|id| is_deterministic_function(*id, self.names));
        (functions, ids)
    }

    /// The tables that the query names, each once; what it may not say.
    fn tables_of_text(
        &mut self,
        query: &ast::Query,
        of: &Refusing<'_>,
    ) -> Result<Vec<Arc<TableDef>>> {
        if let Some(cte) = query.with.first() {
            let name = &cte.name.value;
            return Err(of.refuse(
                10137,
                format!(
                    "because it references common table expression \"{name}\". Views referencing common table \
                     expressions cannot be indexed. Consider not indexing the view, or removing the common table \
                     expression from the view definition."
                ),
            ));
        }
        let mut body = &query.body;
        while let ast::QueryBody::Nested(inner) = body {
            body = inner;
        }
        let ast::QueryBody::Select(select) = body else {
            return Err(of.refuse_in(
                10116,
                "because it contains one or more UNION, INTERSECT, or EXCEPT operators. Consider creating a separate \
                 indexed view for each query that is an input to the UNION, INTERSECT, or EXCEPT operators of the \
                 original view.",
            ));
        };
        check_select(select, query, of)?;
        let mut tables = Vec::new();
        for item in &select.from {
            self.tables_of(item, of, &mut tables)?;
        }
        if tables.is_empty() {
            return Err(BindError::unsupported("an index on a view of no table", of.line));
        }
        Ok(tables)
    }

    fn tables_of(
        &mut self,
        item: &ast::TableRef,
        of: &Refusing<'_>,
        tables: &mut Vec<Arc<TableDef>>,
    ) -> Result<()> {
        use ast::TableRef as T;
        let (name, hints) = match item {
            T::Named { name, hints, time: None, .. } => (name, hints),
            T::Named { time: Some(_), .. } => {
                return Err(BindError::unsupported("an index on a view FOR SYSTEM_TIME", of.line));
            }
            T::Join { kind, hint, left, right, .. } => {
                check_join(*kind, hint.is_some(), of)?;
                self.tables_of(left, of, tables)?;
                return self.tables_of(right, of, tables);
            }
            other => return Err(of.source(other)),
        };
        if !hints.is_empty() {
            let why = "because the view contains a table hint. Consider removing the hint.";
            return Err(of.refuse_in(10140, why));
        }
        let wanted = self.meant(name);
        let Some(table) = self.table(&wanted) else {
            return Err(match self.names.view(&wanted) {
                None => BindError::invalid_object(name, of.line),
                Some(other) => {
                    let text = format!(
                        "Cannot create index on view '{}' because it references another view '{}'. Consider expanding \
                         referenced view's definition by hand in indexed view definition.",
                        of.view, other.name
                    );
                    of.error(1937, text)
                }
            });
        };
        if tables.iter().any(|known| known.object_id == table.object_id) {
            let other = format!("{}.{}.{}", self.names.database(), table.schema, table.name);
            let text = format!(
                "Cannot create index on view \"{}\". The view contains a self join on \"{other}\".",
                of.full
            );
            return Err(of.error(1947, text));
        }
        if table.is_memory() {
            let refused = catalog::not_in_memory("operation", "CREATE INDEX on a view");
            return Err(BindError::of_catalog(refused, of.line));
        }
        if !self.names.predicates(None, table.object_id).is_empty() {
            let what = "an index on a view of a table that a security policy filters";
            return Err(BindError::unsupported(what, of.line));
        }
        tables.push(table);
        Ok(())
    }
}

/// Could a view have a clustered index?
pub(crate) fn is_indexable(view: &ProcedureDef, names: &dyn Names) -> bool {
    let frame = Frame::default();
    let mut binder = Binder::new(names, &frame, 1);
    let mut of = binder.refusing(view, 1);
    check_bound_view(view, &of).is_ok() && binder.indexable(view, "", &mut of).is_ok()
}

/// What is known of a view that can be indexed.
struct Indexable {
    tables: Vec<Arc<TableDef>>,
    bound: Query,
    /// Its columns' own names; nothing where they are the query's.
    names: Vec<ast::Ident>,
}

/// 1939.
fn check_bound_view(view: &ProcedureDef, of: &Refusing<'_>) -> Result<()> {
    if crate::has_option(view, "SCHEMABINDING") {
        return Ok(());
    }
    let why = "because the view is not schema bound.";
    Err(of.error(1939, format!("Cannot create index on view '{}' {why}", of.view)))
}

/// How what cannot be indexed is said.
pub(crate) struct Refusing<'a> {
    line: u32,
    view: &'a str,
    /// With its schema and database.
    full: String,
    /// The functions of users that the text may call: ids and names.
    functions: Vec<(i32, Box<str>)>,
    /// Those of them that give the same for the same arguments.
    deterministic: Vec<i32>,
}

impl Refusing<'_> {
    fn error(&self, number: i32, text: impl Into<String>) -> BindError {
        BindError::new(number, 16, self.line, text)
    }

    fn refuse(&self, number: i32, why: impl std::fmt::Display) -> BindError {
        self.error(number, format!("Cannot create index on view \"{}\" {why}", self.full))
    }

    /// Some messages put the name into other quotes.
    fn refuse_in(&self, number: i32, why: impl std::fmt::Display) -> BindError {
        self.error(number, format!("Cannot create index on view '{}' {why}", self.full))
    }

    fn clustered(&self, number: i32, index: &str, why: &str) -> BindError {
        let of = &self.full;
        let text =
            format!("Cannot create the clustered index \"{index}\" on view \"{of}\" because {why}");
        self.error(number, text)
    }

    /// A source of rows that is no table.
    fn source(&self, source: &ast::TableRef) -> BindError {
        use ast::TableRef as T;
        match source {
            T::Variable { name, .. } => self.refuse(
                10107,
                format!(
                    "because it uses table variable \"{}\". Consider not indexing this view or removing the reference to \
                     the table variable.",
                    name.name
                ),
            ),
            T::Derived { alias, .. } | T::Changed { alias, .. } => self.refuse(
                10109,
                format!(
                    "because it references derived table \"{}\" (defined by SELECT statement in FROM clause). Consider \
                     removing the reference to the derived table or not indexing the view.",
                    alias.value
                ),
            ),
            T::Pivot { .. } => self.refuse(
                10114,
                "because it uses the PIVOT operator. Consider not indexing this view.",
            ),
            T::Unpivot { .. } => self.refuse(
                10115,
                "because it uses the UNPIVOT operator. Consider not indexing this view.",
            ),
            T::Sampled { .. } => self.refuse(
                10102,
                "because it contains the TABLESAMPLE clause. Consider removing TABLESAMPLE or not indexing the view.",
            ),
            T::Changes(_) => self.refuse_in(10144, "because it uses the CHANGETABLE function."),
            T::Function { name, .. } if name.is_bare(crate::OPENROWSET) => self.refuse(
                10103,
                "because it uses OPENROWSET, OPENQUERY, or OPENDATASOURCE. Consider not indexing the view, or \
                 eliminating OPENQUERY, OPENROWSET, and OPENDATASOURCE.",
            ),
            T::Function { name, .. } if name.is_bare(crate::OPENXML) => self.refuse(
                10105,
                "because it uses the OPENXML rowset provider. Consider removing OPENXML or not indexing the view.",
            ),
            T::Function { name, .. } => self.refuse(
                10129,
                format!(
                    "because it references the inline or multistatement table-valued function \"{name}\". Consider \
                     expanding the function definition by hand in the view definition, or not indexing the view."
                ),
            ),
            T::Named { .. } | T::Join { .. } => BindError::unsupported("this source", self.line),
        }
    }
}

/// Another index of a view that has its clustered one.
pub(crate) fn check_further(
    spec: &IndexSpec,
    index: &ast::IndexDefinition,
    rows: &TableDef,
) -> Result<()> {
    let line = index.span.line.max(1);
    let full = format!("{}.{}", rows.schema, rows.name);
    let (functions, deterministic) = (Vec::new(), Vec::new());
    let of = Refusing { line, view: &rows.name, full, functions, deterministic };
    check_options(spec, index, &of)?;
    if spec.clustered && spec.drop_existing {
        let what = "CREATE INDEX WITH DROP_EXISTING of a view's clustered index";
        return Err(BindError::unsupported(what, line));
    }
    Ok(())
}

/// 1940, 1941; and of any index of a view.
fn check_kind(spec: &IndexSpec, index: &ast::IndexDefinition, of: &Refusing<'_>) -> Result<()> {
    let view = of.view;
    if !spec.clustered && !index.columnstore && spec.filter.is_none() {
        let why = "It does not have a unique clustered index.";
        return Err(of.error(1940, format!("Cannot create index on view '{view}'. {why}")));
    }
    check_options(spec, index, of)?;
    if !spec.unique {
        let text = format!(
            "Cannot create nonunique clustered index on view '{view}' because only unique clustered indexes are allowed. \
             Consider creating unique clustered index instead."
        );
        return Err(of.error(1941, text));
    }
    Ok(())
}

/// 1990, 10610, 35305.
fn check_options(spec: &IndexSpec, index: &ast::IndexDefinition, of: &Refusing<'_>) -> Result<()> {
    let view = of.view;
    if index.columnstore || index.spatial.is_some() {
        let text = "The statement failed because a columnstore index cannot be created on a view. Consider creating a \
                    columnstore index on the base table or creating an index without the COLUMNSTORE keyword on the view.";
        return Err(match index.columnstore {
            true => of.error(35305, text),
            false => BindError::unsupported("a spatial index on a view", of.line),
        });
    }
    if spec.filegroup.as_ref().is_some_and(|space| !space.columns.is_empty()) {
        let what = "an index of a view on a partition scheme";
        return Err(BindError::unsupported(what, of.line));
    }
    if spec.filter.is_some() {
        let text = format!(
            "Filtered index '{}' cannot be created on object '{view}' because it is not a user table. Filtered indexes are \
             only supported on tables. If you are trying to create a filtered index on a view, consider creating an \
             indexed view with the filter expression incorporated in the view definition.",
            spec.name
        );
        return Err(of.error(10610, text));
    }
    if spec.ignore_dup_key {
        return Err(with_ignore_dup_key(of.line));
    }
    Ok(())
}

/// 1990.
fn with_ignore_dup_key(line: u32) -> BindError {
    let text = "Cannot define an index on a view with ignore_dup_key index option. Remove ignore_dup_key option and verify \
                that view definition does not allow duplicates, or do not index view.";
    BindError::new(1990, 16, line, text)
}

fn check_select(select: &ast::Select, query: &ast::Query, of: &Refusing<'_>) -> Result<()> {
    if select.distinct {
        return Err(of.refuse(
            10100,
            "because it contains the DISTINCT keyword. Consider removing DISTINCT from the view or not indexing the view. \
             Alternatively, consider replacing DISTINCT with GROUP BY or COUNT_BIG(*) to simulate DISTINCT on grouping \
             columns.",
        ));
    }
    if select.top.is_some() || query.offset.is_some() {
        return Err(of.refuse(
            10101,
            "because it contains the TOP or OFFSET keyword. Consider removing the TOP or OFFSET or not indexing the view.",
        ));
    }
    if query.for_clause.is_some() {
        return Err(BindError::unsupported("an index on a view with FOR XML or FOR JSON", of.line));
    }
    if select.items.iter().any(|item| matches!(item, ast::SelectItem::Wildcard { .. })) {
        return Err(of.refuse(
            10117,
            "because the view uses the \"*\" operator to select columns. Consider referencing columns by name instead.",
        ));
    }
    if select.group_all {
        return Err(of.refuse(
            10118,
            "because it contains a GROUP BY ALL. Consider using a GROUP BY instead.",
        ));
    }
    if select.group_by.iter().any(|item| !matches!(item, ast::GroupItem::Expr(_))) {
        return Err(of.refuse(
            10119,
            "because it contains a CUBE, ROLLUP, or GROUPING SETS operator. Consider not indexing this view.",
        ));
    }
    if select.having.is_some() {
        return Err(of.refuse(
            10121,
            "because it contains a HAVING clause. Consider removing the HAVING clause.",
        ));
    }
    Ok(())
}

fn check_join(kind: ast::JoinKind, hint: bool, of: &Refusing<'_>) -> Result<()> {
    use ast::JoinKind as J;
    Err(match kind {
        J::Left | J::Right | J::Full => of.refuse(
            10113,
            "because it uses a LEFT, RIGHT, or FULL OUTER join, and no OUTER joins are allowed in indexed views. Consider \
             using an INNER join instead.",
        ),
        J::OuterApply => of.refuse(
            10110,
            "because it contains an OUTER APPLY. Consider not indexing the view, or removing OUTER APPLY.",
        ),
        J::CrossApply => of.refuse(
            10142,
            "because it contains an APPLY. Consider not indexing the view, or removing APPLY.",
        ),
        J::Inner | J::Cross if hint => of.refuse_in(
            10112,
            "because it contains an INNER join that specifies a join hint. Consider removing the join hint.",
        ),
        J::Inner | J::Cross => return Ok(()),
    })
}

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    List,
    Where,
    Join,
    Group,
}

/// What is only seen when names and types are known.
fn check_bound(bound: &Query, of: &Refusing<'_>) -> Result<()> {
    let mut failed = Ok(());
    let mut each = |e: &Expr, place: Place| {
        if failed.is_ok() {
            failed = check_expr(e, place, of);
        }
    };
    let mut windows = false;
    each_rel(&bound.rel, &mut |rel| match rel {
        Rel::Window { .. } => windows = true,
        Rel::Join { on, .. } => on.iter().for_each(|on| each(on, Place::Join)),
        Rel::Filter { predicate, .. } => each(predicate, Place::Where),
        Rel::Aggregate { group, aggs, .. } => {
            group.iter().for_each(|(_, e)| each(e, Place::Group));
            aggs.iter().for_each(|agg| agg.for_each_arg(&mut |e| each(e, Place::List)));
        }
        Rel::Project { exprs, .. } => exprs.iter().for_each(|(_, e)| each(e, Place::List)),
        _ => {}
    });
    if windows {
        return Err(of.refuse(
            10143,
            "because it contains a ranking or aggregate window function. Remove the function from the view definition or, \
             alternatively, do not index the view.",
        ));
    }
    failed?;
    check_aggregates(bound, of)
}

fn each_rel<'r>(rel: &'r Rel, f: &mut dyn FnMut(&'r Rel)) {
    f(rel);
    rel.inputs().into_iter().for_each(|input| each_rel(input, f));
}

fn is_float(ty: SqlType) -> bool {
    matches!(ty, SqlType::Float | SqlType::Real)
}

fn is_moment(ty: SqlType) -> bool {
    use SqlType::*;
    matches!(ty, DateTime | SmallDateTime | Date | Time(_) | DateTime2(_) | DateTimeOffset(_))
}

fn check_expr(e: &Expr, place: Place, of: &Refusing<'_>) -> Result<()> {
    let full = &of.full;
    let mut found = None;
    e.walk(&mut |e| {
        if found.is_some() {
            return;
        }
        found = match &e.kind {
            ExprKind::Subquery { .. } => Some(of.refuse(
                10127,
                "because it contains one or more subqueries. Consider changing the view to use only joins instead of \
                 subqueries. Alternatively, consider not indexing this view.",
            )),
            ExprKind::Xml { .. } => Some(of.error(
                1985,
                format!(
                    "Cannot create index on view '{full}'. It contains one or more XML data type methods."
                ),
            )),
            ExprKind::Func { func: FuncId::User(called), .. }
                if of.deterministic.contains(&called.object_id) =>
            {
                None
            }
            ExprKind::Func { func: FuncId::User(called), .. } => Some(of.error(
                1956,
                format!(
                    "Cannot create index on the '{full}' view because it uses the nondeterministic user-defined function \
                     '{}'. Remove the reference to the function, or make it deterministic.",
                    of.function(called.object_id)
                ),
            )),
            ExprKind::Func { func, .. } if !func.is_deterministic() => {
                Some(of.nondeterministic(&format!("{func:?}")))
            }
            ExprKind::Sys(var) => Some(of.nondeterministic(&format!("@@{var:?}"))),
            ExprKind::Cast { input, mode, style: None }
                if input.ty.is_character() && is_moment(e.ty) && !input.is_null_constant() =>
            {
                Some(match mode {
                    CastMode::Implicit | CastMode::Store { .. } => of.refuse_in(
                        10139,
                        "because the view uses an implicit conversion from string to datetime or smalldatetime. Use an \
                         explicit CONVERT with a deterministic style value.",
                    ),
                    _ => of.imprecise_convert(),
                })
            }
            ExprKind::Cast { input, style: None, .. }
                if e.ty.is_character()
                    && matches!(input.ty, SqlType::DateTime | SqlType::SmallDateTime) =>
            {
                Some(of.imprecise_convert())
            }
            _ if !is_float(e.ty) => None,
            ExprKind::Col(_) if matches!(place, Place::Where | Place::Group) => Some(of.error(
                1962,
                format!(
                    "Cannot create index on view '{full}' because a column that is referenced by the view in the WHERE or \
                     GROUP BY clause is imprecise. Consider eliminating the column from the view, or altering the column \
                     to be precise."
                ),
            )),
            _ => of.imprecise(place),
        };
    });
    found.map_or(Ok(()), Err)
}

impl Refusing<'_> {
    fn function(&self, id: i32) -> &str {
        self.functions.iter().find(|(of, _)| *of == id).map_or("?", |(_, name)| name)
    }

    fn nondeterministic(&self, function: &str) -> BindError {
        let name = function.split('(').next().unwrap_or(function).to_lowercase();
        let text = format!(
            "Cannot create index on view '{}'. The function '{name}' yields nondeterministic results. Use a deterministic \
             system function, or modify the user-defined function to return deterministic results.",
            self.full
        );
        self.error(1949, text)
    }

    fn imprecise_convert(&self) -> BindError {
        let text = format!(
            "Cannot create index on view \"{}\". The view contains a convert that is imprecise or non-deterministic.",
            self.full
        );
        self.error(1963, text)
    }

    fn imprecise(&self, place: Place) -> Option<BindError> {
        let (number, what) = match place {
            Place::List => return None,
            Place::Group => (1950, "a GROUP BY clause"),
            Place::Where => (1951, "the WHERE clause."),
            Place::Join => (1952, "a join."),
        };
        let text = format!(
            "Index on view '{}' cannot be created because the view contains an imprecise expression in {what}",
            self.full
        );
        Some(self.error(number, text))
    }
}

/// Columns, and what they are.
type Columns<'q> = &'q [(ColId, Expr)];

/// The grouping of a view (what rows are grouped by, and aggregates), and what its list makes of it.
fn grouping(bound: &Query) -> Option<(Columns<'_>, &[Aggregate], Columns<'_>)> {
    let mut rel = &bound.rel;
    if let Rel::Sort { input, .. } = rel {
        rel = input;
    }
    let Rel::Project { input, exprs } = rel else { return None };
    match &**input {
        Rel::Aggregate { group, aggs, .. } => Some((group, aggs, exprs)),
        _ => None,
    }
}

/// What each output column of a view with GROUP BY is; nothing without one. None of them: an expression over these.
pub(crate) fn view_parts(bound: &Query) -> Vec<Option<ViewPart>> {
    let Some((group, aggs, exprs)) = grouping(bound) else { return Vec::new() };
    let part = |column: &OutputColumn| {
        let (_, e) = exprs.iter().find(|(id, _)| *id == column.id)?;
        let ExprKind::Col(id) = e.kind else { return None };
        if group.iter().any(|(of, _)| *of == id) {
            return Some(ViewPart::Group);
        }
        let agg = aggs.iter().find(|agg| agg.out == id)?;
        match (agg.func, &agg.arg) {
            (AggFunc::CountBig, None) => Some(ViewPart::Count),
            (AggFunc::Sum, Some(_)) => Some(ViewPart::Sum),
            _ => None,
        }
    };
    bound.output.iter().map(part).collect()
}

/// 10125, 10126, 10136, 10138.
fn check_aggregates(bound: &Query, of: &Refusing<'_>) -> Result<()> {
    let Some((_, aggs, _)) = grouping(bound) else { return Ok(()) };
    for agg in aggs {
        let name = match agg.func {
            AggFunc::CountBig => "COUNT_BIG".to_owned(),
            AggFunc::ChecksumAgg => "CHECKSUM_AGG".to_owned(),
            AggFunc::StringAgg => "STRING_AGG".to_owned(),
            other => format!("{other:?}").to_uppercase(),
        };
        if agg.distinct {
            return Err(of.refuse(
                10126,
                format!(
                    "because it uses aggregate \"{name}\" with the DISTINCT keyword. Consider not indexing this view or \
                     eliminating DISTINCT. Consider use of a GROUP BY or COUNT_BIG(*) view to simulate DISTINCT on grouping \
                     columns."
                ),
            ));
        }
        match (agg.func, &agg.arg) {
            (AggFunc::CountBig, None) | (AggFunc::Sum, Some(_)) => {}
            (AggFunc::Count, _) => {
                let why = "because it uses the aggregate COUNT. Use COUNT_BIG instead.";
                return Err(of.refuse(10136, why));
            }
            _ => {
                return Err(of.refuse(
                    10125,
                    format!(
                        "because it uses aggregate \"{name}\". Consider eliminating the aggregate, not indexing the view, or \
                         using alternate aggregates. For example, for AVG substitute SUM and COUNT_BIG, or for COUNT, \
                         substitute COUNT_BIG."
                    ),
                ));
            }
        }
    }
    if !view_parts(bound).contains(&Some(ViewPart::Count)) {
        return Err(of.refuse_in(
            10138,
            "because its select list does not include a proper use of COUNT_BIG. Consider adding COUNT_BIG(*) to select \
             list.",
        ));
    }
    Ok(())
}

/// 8661, 1976.
fn check_key(
    spec: &IndexSpec,
    columns: &[ColumnSpec],
    parts: &[Option<ViewPart>],
    of: &Refusing<'_>,
) -> Result<()> {
    for (name, _) in &spec.columns {
        // One that is not there is told of by the catalog.
        let Some(at) = columns.iter().position(|c| same_name(&c.name, name)) else { continue };
        if parts.get(at).is_some_and(|part| *part != Some(ViewPart::Group)) {
            return Err(of.clustered(
                8661,
                &spec.name,
                "the index key includes columns that are not in the GROUP BY clause. Consider eliminating columns that are \
                 not in the GROUP BY clause from the index key.",
            ));
        }
        if is_float(columns[at].ty) {
            let text = format!(
                "Cannot create index or statistics '{}' on view '{}' because cannot verify key column '{name}' is precise \
                 and deterministic. Consider removing column from index or statistics key, marking column persisted in \
                 base table if it is computed, or using non-CLR-derived column in key.",
                spec.name, of.full
            );
            return Err(of.error(1976, text));
        }
    }
    Ok(())
}

/// Under the SET options of an indexed view an operator that fails is an error, and no NULL.
fn may_be_null(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Arith { left, right, .. } => may_be_null(left) || may_be_null(right),
        ExprKind::Neg(input) | ExprKind::BitNot(input) => may_be_null(input),
        ExprKind::Cast { input, mode, .. } if *mode != CastMode::Try => may_be_null(input),
        _ => e.nullable,
    }
}

/// 8660, 8662, 8668.
fn check_grouping(bound: &Query, index: &str, of: &Refusing<'_>) -> Result<()> {
    let Some((group, aggs, exprs)) = grouping(bound) else { return Ok(()) };
    if view_parts(bound).contains(&None) {
        let text = format!(
            "Cannot create the clustered index '{index}' on view '{}' because the select list of the view contains an \
             expression on result of aggregate function or grouping column. Consider removing expression on result of \
             aggregate function or grouping column from select list.",
            of.full
        );
        return Err(of.error(8668, text));
    }
    let shown = |id: &ColId| {
        let is = |(out, e): &(ColId, Expr)| {
            e.kind == ExprKind::Col(*id) && bound.output.iter().any(|column| column.id == *out)
        };
        exprs.iter().any(is)
    };
    if !group.iter().all(|(id, _)| shown(id)) {
        return Err(of.clustered(
            8660,
            index,
            "the select list of the view definition does not include all columns in the GROUP BY clause. Consider adding \
             these columns to the select list.",
        ));
    }
    if aggs.iter().any(|agg| agg.arg.as_ref().is_some_and(may_be_null)) {
        return Err(of.clustered(
            8662,
            index,
            "the view references an unknown value (SUM aggregate of nullable expression). Consider referencing only \
             non-nullable values in SUM. ISNULL() may be useful for this.",
        ));
    }
    Ok(())
}

impl Binder<'_> {
    /// The rows of an indexed view, for NOEXPAND; 8171 where there are none.
    pub(crate) fn unexpanded(
        &mut self,
        rows: Option<Arc<TableDef>>,
        name: &ast::ObjectName,
        alias: Option<&ast::Ident>,
        hints: &[ast::TableHint],
    ) -> Result<Source> {
        let Some(rows) = rows else {
            let text = format!("Hint 'noexpand' on object '{name}' is invalid.");
            return Err(BindError::new(8171, 16, name.span.line.max(1), text).with_state(2));
        };
        if rows.is_disabled_view() {
            let text = format!(
                "The query processor is unable to produce a plan because the index '{}' on table or view '{}' is disabled.",
                rows.clustered_name().unwrap_or_default(),
                rows.name
            );
            return Err(BindError::new(8655, 16, name.span.line.max(1), text));
        }
        let (get, mut scope) = self.get(rows, alias, hints)?;
        if alias.is_none() {
            scope.shown = name.to_string();
        }
        Ok(Source { rel: Rel::Get(Box::new(get)), tables: vec![scope] })
    }

    /// The rows of an indexed view that a statement about indexes names.
    pub(crate) fn indexed_rows(&self, name: &ObjectName) -> Option<Arc<TableDef>> {
        self.names.view(name)?.rows.clone()
    }
}
